"""The guide's first ruleset, typed at a terminal as the guide says, line by line: how much there is to type."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs import ASKED, blocks_of, change_file, commands_of, session
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres

PAGE = (ROOT / "rpgres" / "guide" / "rulesets.md").read_text("utf-8")
SECTION = PAGE.partition("## Five minutes\n")[2].partition("\n## ")[0]
LINES = 15  # at 20 seconds each these are five minutes


def typed_lines(language: str, text: str) -> int:
    """Count what a person types: commands, answers, and lines changed in an editor."""
    if language == "diff":
        return sum(line.startswith("+") for line in text.splitlines())
    return len(commands_of(text)) + sum(1 for _ in ASKED.finditer(text))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_first_ruleset_stands_after_few_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    begun, lines = time.monotonic(), 0
    for block in blocks_of(SECTION):
        assert block.language in ("session", "diff")
        lines += typed_lines(block.language, block.text)
        if block.language == "diff":
            change_file(block.text, folder=tmp_path)
        else:
            assert session(block.text, folder=tmp_path) == block.text
    record_property("lines typed", lines)
    record_property("seconds that the machine took", round(time.monotonic() - begun, 1))
    assert 5 <= lines <= LINES
    monkeypatch.chdir(tmp_path)
    assert rpgres("ruleset", "check", "bell").out == "bell: ok\n"
