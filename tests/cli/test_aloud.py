"""What is told to be heard: `--plain` without pictures, `--dice-words` with dice and cards in words."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_widths import BARS, ODDS, ROLLED, SHOWN
from tests.support.command_line import on_screen, rpgres
from tests.support.effort import few
from tests.support.terminal import ENTER, Terminal

SUCCEED = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--given", "roll=-0++", "--seed", "7")
DRAWN = re.compile(r"\[[+\-x ]?\w*\]|\d+ of \d+ checked")  # dice, boxes, and how many of these are checked


@pytest.mark.slow
@pytest.mark.parametrize("typed", few([*ROLLED, *ODDS, *SHOWN], 22))
def test_plain_text_has_no_pictures_and_says_as_much(typed: str) -> None:
    words = shlex.split(typed)
    drawn, plain = (on_screen(*words, *more, columns=1000).out for more in ((), ("--plain",)))
    assert not re.search(rf"[{BARS}─┌└├]", plain)
    wanted, told = (set(re.sub(rf"[{BARS}]", " ", DRAWN.sub(" ", text)).split()) for text in (drawn, plain))
    assert wanted - {"*"} <= told  # what stands before effects would be read out as a star


def test_the_result_comes_first_and_dice_are_told_in_words() -> None:
    told = on_screen(*SUCCEED, "--plain", "--dice-words")
    assert told.out.splitlines()[:3] == [
        "Overcome: Succeed",
        "  Great (+4) against Fair (+2), margin +2",
        "  roll: minus, blank, plus, plus = +1",
    ]
    assert rpgres("--dice-words", "roll", "3d6", "--given", "roll=6,5,4", "--seed", "7").out == (
        "15\n  3d6: 6, 5, 4\n  seed: 7\n"
    )
    assert "roll: minus, blank, plus, plus = +1" in rpgres(*SUCCEED, RPGRES_DICE_WORDS="yes").out
    assert "  roll: -0++ = +1" in rpgres(*SUCCEED, "--no-dice-words", RPGRES_DICE_WORDS="yes").out


@pytest.mark.parametrize(
    "line",
    [
        "completions bash",
        "schema result",
        "config path",
        "table --plain path",
        "--plain sheet new mara --ruleset fate",
        "ruleset list",
        "--version",
        "help batch",
    ],
)
def test_every_command_takes_it(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)
    usual = rpgres(*(word for word in words if word != "--plain"))
    told = rpgres(*words, *([] if "--plain" in words else ["--plain", "--dice-words"]))
    assert (told.code, told.out, told.err) == (usual.code, usual.out, usual.err)


def test_a_line_that_goes_on_is_for_the_same_reader() -> None:
    told = rpgres("roll", "fate", "overcome", "--skill", "0", "--vs", "9", "--wait", "--dice-words", "--plain")
    assert told.code == 3
    assert "--plain --dice-words" in told.out


@pytest.mark.parametrize(("args", "environment"), [(("--plain",), {}), ((), {"RPGRES_PLAIN": "1"})])
def test_a_scene_tells_what_came_before_how_it_came_about(args: tuple[str, ...], environment: dict[str, str]) -> None:
    words = ("scene", "run", "fate/ambush", "--seed", "7", *args)
    told, usual = rpgres(*words, **environment).out, rpgres(*words[:5]).out
    assert "* " not in told
    assert "    * " in usual
    first, last = (re.search(rf"(?m)^ +{found}", told) for found in ("(Succeed|Fail|Tie)", "Roll "))
    assert first is not None
    assert last is not None
    assert first.start() < last.start()
    assert sorted(usual.replace("* ", "").split()) == sorted(told.split())


def test_cards_are_told_by_their_full_names() -> None:
    line = ("roll", "saga", "act", "--ability", "strength=8", "--vs", "average", "--hand", "St6n,Ag3-,Do8+")
    line = (*line, "--choose", "play=St6n", "--seed", "7")
    assert "play: St6n\n" in rpgres(*line).out
    assert "play: Strength 6n\n" in rpgres(*line, "--dice-words").out


def test_scenes_and_tables_tell_dice_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert re.search(r"Roll \(.*\): (plus|minus|blank), ", rpgres("scene", "run", "fate/bribe", "--dice-words").out)
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "7")
    act = ("table", "act", "overcome", "--actor", "mara", "--skill", "fight", "--vs", "0", "--given", "roll=+0+-")
    assert "plus, blank, plus, minus" in rpgres(*act, "--choose", "invoke=no", "--dice-words").out
    assert "plus, blank, plus, minus" in rpgres("table", "log", "--dice-words").out


@pytest.mark.slow
def test_an_evening_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "7")
    terminal = Terminal(["play", "--plain", "--dice-words"], TERM="xterm")
    terminal.until("> ")
    terminal.type("mara: overcome --skill fight --vs 0 --given roll=+0+- --choose invoke=no" + ENTER)
    told = terminal.until("> ")
    assert "plus, blank, plus, minus" in told
    assert "[+]" not in told
    terminal.type("quit" + ENTER)
    assert terminal.end()[0] == 0
