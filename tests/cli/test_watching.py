"""`rpgres ruleset check --watch`: what has changed is checked again, whatever it is, until Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import FIXED, PROGRAM, rpgres
from tests.support.terminal import Terminal

CLEAR = "\x1b[H\x1b[2J"


@pytest.fixture
def ruleset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert rpgres("ruleset", "new", "bell", "--like", "success-levels").code == 0
    return Path("rulesets/bell")


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("is_plain", [False, True])
def test_at_a_terminal_each_change_is_checked(ruleset: Path, tmp_path: Path, is_plain: bool) -> None:
    main = ruleset / "ruleset.toml"
    for name in ("json", "msgspec", "rpgres"):  # of the user's own, which no run of the command takes for the real ones
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n", "utf-8")
    shown = Terminal(["ruleset", "check", "bell", "--watch", *(["--plain"] if is_plain else [])])
    told = [shown.until("bell: ok\n")]
    changed(main, '"level >= 6"', '"levl >= 6"')
    told.append(shown.until("did you mean `level`?\n"))
    changed(main, '"levl >= 6"', '"level >= 5"')
    told.append(shown.until("bell: ok\n"))
    code, last = shown.interrupt()
    assert code == 130, last
    assert [text.startswith(CLEAR) for text in told] == [not is_plain] * 3
    assert re.search(r"\d\d:\d\d:\d\d watching rulesets/bell; Ctrl-C ends\n", told[0])
    assert re.search(r"\d\d:\d\d:\d\d rulesets/bell/ruleset.toml changed\n", told[2])
    assert re.search(r"ruleset\.toml:\d+: define\.degree\.cases\.[\w-]+: the\s+ruleset has no number 'levl'", told[1])


@pytest.mark.slow
def test_in_a_pipe_an_overlay_that_comes_and_goes_is_checked(ruleset: Path) -> None:
    """House rules for a ruleset that ships are written while nothing was there before, then removed."""
    overlay = Path("rulesets/fate/ruleset.toml")
    with subprocess.Popen(
        [*PROGRAM, "ruleset", "check", "fate", "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **FIXED},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert "watching" in next(lines)
        assert next(lines) == "fate: ok\n"
        overlay.parent.mkdir()
        overlay.write_text("[switches.same_aspect]\ndefualt = 'stack'\n", encoding="utf-8")
        assert next(lines).endswith(f" {overlay} changed\n")
        assert next(lines) == f"fate: a problem (with {overlay.parent})\n"
        assert "did you mean `default`?" in next(lines)
        overlay.unlink()
        assert next(lines).endswith(f" {overlay} changed\n")
        assert next(lines).startswith("fate: ok")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
        assert "\x1b" not in "".join(lines)


@pytest.mark.slow
def test_schemas_follow_the_ruleset(ruleset: Path) -> None:
    shown = Terminal(["ruleset", "check", "rulesets/bell", "--watch"])
    shown.until("bell: ok\n")
    changed(
        ruleset / "ruleset.toml", "[sheet]", '[sheet]\nluck = { kind = "counter", help = "luck left", default = 3 }'
    )
    shown.until("ruleset.toml changed\n")
    while '"luck"' not in (ruleset / ".schemas/sheet-bell.json").read_text("utf-8"):
        shown._read(0.2)
    assert shown.interrupt()[0] == 130


@pytest.mark.slow
def test_only_text_can_be_watched(ruleset: Path) -> None:
    done = rpgres("ruleset", "check", "bell", "--watch", "--json")
    assert (done.code, done.out) == (2, "")
    assert "--watch shows text" in done.err
    assert rpgres("ruleset", "check", "bel", "--watch").code == 2
