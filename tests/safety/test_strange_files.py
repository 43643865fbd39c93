"""Pipes and links in a folder of rulesets that came from somebody else."""

import os
from pathlib import Path

import pytest

from tests.support.command_line import rpgres

LISTS = (("sheet", "list"), ("scene", "list"), ("deck", "list"), ("ruleset", "list"), ("ruleset", "check", "fate"))


@pytest.fixture
def fate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("sheets", "scenes", "decks"):
        (tmp_path / "rulesets" / "fate" / folder).mkdir(parents=True)
    return tmp_path / "rulesets" / "fate"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of POSIX")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "place", ["sheets/p.toml", "scenes/p.toml", "decks/p.toml", "ruleset.toml", "../p/ruleset.toml"]
)
def test_no_list_waits_for_a_pipe(fate: Path, place: str) -> None:
    (fate / place).parent.mkdir(exist_ok=True)
    os.mkfifo(fate / place)
    assert [rpgres(*line).code for line in LISTS[:4]] == [0] * 4
    checked = rpgres("ruleset", "check", "fate")
    assert ("cannot be read: it is a pipe or a device" in checked.out) == place.startswith(("sheets", "scenes"))


@pytest.mark.parametrize("place", ["sheets/p.toml", "scenes/p.toml", "decks/p.toml", "ruleset.toml"])
@pytest.mark.parametrize("text", ["hidden:x:0\n", "# hidden:x:0\n"])
def test_no_error_and_no_list_quotes_what_a_link_leads_to(fate: Path, tmp_path: Path, place: str, text: str) -> None:
    target = tmp_path / "elsewhere"
    target.write_text(text, "utf-8")
    (fate / place).symlink_to(target)
    lines = (
        *LISTS,
        ("sheet", "check", "p", "--ruleset", "fate"),
        ("scene", "run", "fate/p"),
        ("deck", "show", "fate/p"),
    )
    assert not [ran for ran in [rpgres(*line) for line in lines] if "hidden" in ran.out + ran.err]
