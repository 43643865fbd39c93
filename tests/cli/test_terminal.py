"""The command line at a terminal: pictures, colours, questions to a person. A pseudo-terminal stands in for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.cli.asking.prompt import Person
from rpgres.engine.players import NO, Question, View
from rpgres.lines.questions import matching
from rpgres.model.state import State, slug
from rpgres.render.lines import plain_text
from rpgres.render.questions import MARGIN, keyed, question_lines
from rpgres.rulesets import Option
from tests.support.command_line import CHECKING, FIXED, PROGRAM
from tests.support.terminal import END, ENTER, Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

FAILING = ["roll", "fate", "overcome", "--skill", "1", "--vs", "3", "--given", "roll=-0-0", "--seed", "7"]
QUESTION = """\
actor chooses (margin -4): Fail, or succeed at a serious cost?
   1. fail: You do not get what you wanted.
   2. cost: You get it, and it costs you dearly.
"""


def shown(*args: str, **environment: str) -> str:
    """Return what a command line that asks nothing shows."""
    code, text = Terminal(args, **environment).end()
    assert code == 0, text
    return text


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.slow
def test_dice_are_drawn() -> None:
    text = shown("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--given", "roll=+0+-", "--seed", "7")
    assert text == (
        "Overcome: Succeed\n"
        "  Great (+4) against Fair (+2), margin +2\n"
        "  roll: [+][ ][+][-] = +1\n"
        "  You get what you wanted.\n"
        "  * the goal is reached\n"
        "  seed: 7\n"
    )
    assert "[6][5][4]" in shown("roll", "3d6", "--given", "roll=6,5,4")


@pytest.mark.slow
def test_colours_unless_they_are_not_wanted() -> None:
    args = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--given", "roll=+0+-", "--seed", "7")
    coloured = shown(*args, NO_COLOR="")
    assert re.search(r"\x1b\[1;38;5;\d+mSucceed\x1b\[0m", coloured)
    assert without_colours(coloured) == shown(*args)
    assert "\x1b" not in shown(*args, "--plain", NO_COLOR="")
    assert "\x1b" not in shown(*args, NO_COLOR="", TERM="dumb")


@pytest.mark.slow
def test_plain_words_have_no_pictures() -> None:
    plain = shown("roll", "4dF", "--given", "roll=+0+-", "--seed", "7", "--plain")
    assert plain == "1\n  4dF: +0+-\n  seed: 7\n"
    bars = shown("odds", "fate", "overcome", "--skill", "3", "--vs", "2", "--plain")
    assert bars.splitlines()[1] == "  Fail                  18.52 %  5/27"


@pytest.mark.slow
def test_odds_are_a_bar_chart() -> None:
    lines = shown("odds", "fate", "overcome", "--skill", "3", "--vs", "4dF+2").splitlines()
    assert lines[3] == f"  Succeed             {'█' * 11 + '▌':<36}    32.36 %  2123/6561"
    lengths = [line.count("█") for line in shown("odds", "2d4").splitlines()[1:]]
    assert lengths == sorted(lengths[:4]) + sorted(lengths[:3], reverse=True)
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_ascii() -> None:
    text = shown("odds", "2d4", PYTHONIOENCODING="ascii")
    assert text.isascii()
    assert "########" in text


@pytest.mark.slow
def test_a_person_is_asked_and_answers() -> None:
    terminal = Terminal(FAILING)
    heading = "Overcome: skill 1, vs 3\n"
    assert terminal.until("> ") == heading + "  roll: [-][ ][-][ ] = -2\n" + QUESTION + "> "
    terminal.type("3" + ENTER)
    told = "  '3' is not offered. Type 1 to 2 or a name; ? lists the options; odds, why,\n    undo;"
    assert terminal.until("\n> ") == f"3\n{told} Ctrl-D leaves it unanswered.\n> "
    terminal.type("?" + ENTER)
    assert terminal.until("\n> ") == "?\n" + QUESTION + "> "
    terminal.type("1" + ENTER)
    assert terminal.end() == (
        0,
        "1\n"
        "Overcome: Fail\n"
        "  Poor (-1) against Good (+3), margin -4\n"
        "  roll: [-][ ][-][ ] = -2\n"
        "  price (actor): fail\n"
        "  You fall short.\n"
        "  You do not get what you wanted.\n"
        "  seed: 7\n",
    )


@pytest.mark.slow
def test_a_question_of_a_scene_stands_below_its_step(tmp_path: Path) -> None:
    scene = tmp_path / "scene.toml"
    scene.write_text(
        'ruleset = "fate"\nseed = "7"\n[characters.mara]\nskills = { will = 1 }\n'
        '[[steps]]\naction = "overcome"\nactor = "mara"\nwith = { skill = "will", vs = 3 }\n'
        'given = { roll = "----" }\n'
        '[[steps]]\naction = "overcome"\nactor = "mara"\nwith = { skill = "will", vs = 4 }\n'
        'given = { roll = "----" }\nchoose = { price = "fail" }\n',
        "utf-8",
    )
    terminal = Terminal(["scene", "run", str(scene)])
    asked = terminal.until("> ")
    order = ["1. Overcome\n", "  mara, overcome: skill will, vs 3\n", "roll (mara): [-][-][-][-]", "mara chooses"]
    assert sorted(order, key=asked.index) == order
    assert "2. Overcome" not in asked
    terminal.type("1" + ENTER)
    code, text = terminal.end()
    assert (code, text.count("1. Overcome"), text.count("2. Overcome")) == (0, 0, 1)
    assert "Price (Mara, asked): " in text


@pytest.mark.slow
def test_an_optional_moment_passes_with_enter() -> None:
    line = "roll fate overcome --sheet mara --skill fight --vs 1 --given roll=0+00 --seed 7"
    terminal = Terminal(line.split())
    assert "Invoke an aspect? [Enter: no] (1 point each)\n  1 " in terminal.until("> ")
    terminal.type(ENTER)
    code, text = terminal.end()
    assert code == 0
    assert "mara, overcome: Succeed\n" in text
    assert "invoke" not in text


@pytest.mark.slow
def test_the_end_of_the_input_leaves_it_undecided() -> None:
    terminal = Terminal(FAILING)
    terminal.until("> ")
    terminal.type(END)
    code, text = terminal.end()
    assert code == 3
    assert "Overcome: waiting\n" in text
    assert (
        "rpgres roll fate overcome --skill 1 --vs 3 --given roll=-0-0 --seed=7 \\\n      --choose price=fail\n" in text
    )


@pytest.mark.slow
def test_an_interrupt_exits_with_130() -> None:
    terminal = Terminal(FAILING)
    terminal.until("> ")
    code, text = terminal.interrupt()
    assert code == 130
    assert "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--auto", "--repeat=2"])
def test_nobody_is_asked_when_that_is_not_wanted(option: str) -> None:
    code, text = Terminal([*FAILING, option]).end()
    assert code == (0 if option == "--auto" else 3)
    assert "> " not in text


def test_nobody_is_asked_when_the_input_is_no_terminal() -> None:
    done = subprocess.run(
        [*PROGRAM, *FAILING], input="1\n", capture_output=True, text=True, env={**os.environ, **FIXED}
    )
    assert done.returncode == 3
    assert "waiting" in done.stdout


@pytest.mark.slow
def test_help_is_the_same_text_as_in_a_pipe() -> None:
    piped = subprocess.run(
        [*PROGRAM, "roll", "fate", "overcome", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, **FIXED},
        check=True,
    )
    assert shown("roll", "fate", "overcome", "--help") == piped.stdout


# ---------------------------------------------------------------------------------------------------------------------
# What is typed as an answer

CHOICE = Question("hit", "mara", (Option("full"), Option("full-and-more"), Option("boost")))
WINDOW = Question("invoke", "mara", (Option("fog"), Option("fog:reroll")), optional=True)
PRICED = Question(
    "invoke",
    "mara",
    (
        Option("the-fog", "The Fog: +2", brief="The Fog (1 point)", cost=1),
        Option("the-fog:reroll", "The Fog: new dice", cost=1),
        Option("crowd", "Crowd: +2", brief="Crowd (free)"),
    ),
    "Invoke?",
    optional=True,
    facts={"total": 1, MARGIN: -2},
)
CARDS = Question("play", "mara", (Option("H1"), Option("H13"), Option("S13", aliases=("S13+",))))

ENOUGH = Question("trump", "mara", (Option("stop", passes=True), Option("draw")), optional=True)


@pytest.mark.parametrize(
    ("question", "typed", "found"),
    [
        (CHOICE, "1", ["full"]),
        (CHOICE, "3", ["boost"]),
        (CHOICE, "0", []),
        (CHOICE, "4", []),
        (CHOICE, "99999999999999999999", []),
        (CHOICE, "", []),
        (CHOICE, "b", ["boost"]),
        (CHOICE, "BOOST", ["boost"]),
        (CARDS, "h1", ["H1"]),
        (CARDS, "H1", ["H1"]),
        (CARDS, "s", ["S13"]),
        (CARDS, "13H", []),
        (CARDS, "S13+", ["S13"]),
        (CHOICE, "full", ["full"]),
        (CHOICE, "ful", ["full", "full-and-more"]),
        (CHOICE, "no", []),
        (CHOICE, "²", []),
        (WINDOW, "", [NO]),
        (WINDOW, "0", [NO]),
        (WINDOW, "no", [NO]),
        (WINDOW, "Pass", [NO]),
        (CHOICE, "pass", []),
        (WINDOW, "fog", ["fog"]),
        (WINDOW, "fog:", ["fog:reroll"]),
        (WINDOW, "3", []),
        (WINDOW, "r1", ["fog:reroll"]),
        (WINDOW, "R1", ["fog:reroll"]),
        (WINDOW, "r2", []),
        (PRICED, "1", ["crowd"]),
        (PRICED, "2", ["the-fog"]),
        (PRICED, "r2", ["the-fog:reroll"]),
        (PRICED, "The Fog", ["the-fog"]),
        (PRICED, "the fo", ["the-fog"]),
        (PRICED, "fog", ["the-fog"]),
        (PRICED, "invoke the fog", ["the-fog"]),
        (PRICED, "nothing", [NO]),
        (ENOUGH, "1", ["draw"]),
        (ENOUGH, "2", []),
        (ENOUGH, "st", ["stop"]),
        (ENOUGH, "", [NO]),
    ],
)
def test_answers_by_number_name_or_beginning(question: Question, typed: str, found: list[str]) -> None:
    assert matching(question, typed) == found


def shown_in(question: Question, width: int) -> str:
    return plain_text(question_lines(question, width=width))


def test_a_question_stands_in_one_line_where_it_fits() -> None:
    assert shown_in(PRICED, 90) == (
        "mara, margin -2: Invoke? [Enter: no]  1 Crowd (free)  2 The Fog (1 point)  r2 reroll\n"
    )
    assert shown_in(PRICED, 80) == (
        "mara, margin -2: Invoke? [Enter: no]\n  1 Crowd (free)  2 The Fog (1 point)  r2 reroll\n"
    )
    assert shown_in(PRICED, 40) == (
        "mara, margin -2: Invoke? [Enter: no]\n  1 Crowd (free)  2 The Fog (1 point)\n  r2 reroll\n"
    )
    assert (
        shown_in(PRICED, 30)
        == shown_in(PRICED, 0)
        == (
            "mara chooses (total 1, margin -2): Invoke?\n"
            "   1. crowd: Crowd: +2\n"
            "   2. the-fog: The Fog: +2\n"
            "  r2. the-fog:reroll: The Fog: new dice\n"
            "  Enter: no\n"
        )
    )


@pytest.mark.parametrize("width", range(1, 130, 7))
def test_no_line_of_options_is_wider_than_the_terminal(width: int) -> None:
    lines = shown_in(PRICED, width).splitlines()
    assert max(map(len, lines)) <= width or lines[1].startswith("   1. ")


def test_ways_that_share_a_letter_are_typed_in_full() -> None:
    ways = Question("use", "mara", tuple(map(Option, ("a", "a:raise", "a:reroll", "b", "b:reroll", "c:raise"))))
    assert list(keyed(ways)) == ["1", "raise1", "reroll1", "2", "reroll2", "3"]


def test_the_things_of_others_stand_behind_their_names() -> None:
    owners = {"Fog": "edda", "Owl": "mara", "Crowd": "", "Lamp": "", "Wit": "edda"}
    options = [Option(slug(text), brief=text, cost=1, price="1 point", of=of) for text, of in owners.items()]
    free = Option("rain", brief="Rain", price="free", of="edda")
    asked = Question("use", "mara", (*options, free), optional=True)
    assert shown_in(asked, 80) == (
        "mara: use? [Enter: no] (1 point each)\n  1 Rain (free)  2 Owl  3 Crowd  4 Lamp\n  edda: 5 Fog  6 Wit\n"
    )
    assert plain_text(question_lines(asked, width=80, is_again=True)) == "mara: use? [Enter: no]  ? options\n"


def test_the_ways_of_many_options_are_one_entry() -> None:
    names = [f"{name}{way}" for name in "abcd" for way in ("", ":reroll")]
    told = shown_in(Question("use", "actor", tuple(map(Option, names)), optional=True), 80)
    assert told == "use? [Enter: no]  1 a  2 b  3 c  4 d  r1 to r4 reroll\n"


@pytest.mark.slow
@given(st.lists(st.sampled_from(["a", "b", "a:r", "b:r", "a:x", "c:r", "a:r:x"]), unique=True), st.booleans())
def test_every_option_has_a_key_that_chooses_it(names: list[str], optional: bool) -> None:
    question = Question("use", "mara", tuple(map(Option, names)), optional=optional)
    keys = keyed(question)
    assert sorted(option.name for option in keys.values()) == sorted(names)
    assert all(matching(question, key) == [option.name] for key, option in keys.items())


def test_one_way_to_pass_is_listed_by_its_own_name() -> None:
    shown = plain_text(question_lines(ENOUGH)).splitlines()[1:]
    assert shown == ["   1. draw", "  Enter: stop"]
    told = plain_text(question_lines(msgspec.structs.replace(ENOUGH, optional=False))).splitlines()[1:]
    assert told == ["   1. stop", "   2. draw"]


@pytest.mark.parametrize(("typed", "told"), [("13H", "Did you mean H13?"), ("13", "Did you mean H13 or S13?")])
def test_a_card_with_its_sign_behind_it_is_told_how_it_is_typed(
    typed: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter([typed, "S13"])
    person = Person(read=lambda _sign: next(lines))
    assert person.ask(View("mara", State()), CARDS) == "S13"
    assert f"  {told}\n" in capsys.readouterr().out


def test_a_person_who_left_is_not_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Iterator[str]:
        yield "ful"
        yield "boost"

    typed = lines()

    def read(_sign: str) -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    person: Any = Person(read=read)
    view = View("mara", State())
    assert person.ask(view, CHOICE) == "boost"
    assert "'ful' could be full or full-and-more." in capsys.readouterr().out
    assert person.ask(view, CHOICE) is None
    capsys.readouterr()
    assert person.ask(view, CHOICE) is None
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_checks_are_shown_while_they_run_and_coloured_when_they_have() -> None:
    code, shown = Terminal(["plugin", "check", "two-dice"], program=CHECKING, NO_COLOR="").end()
    assert code == 0
    assert re.search(r"checking two-dice: \S+( \.\.\.|: [\d,]+ paths) \(Ctrl-C stops\)\r\x1b\[K", shown)
    assert re.search("\x1b\\[[0-9;]*mpassed", shown)
    code, shown = Terminal(["plugin", "check", "two-dice", "--plain"], program=CHECKING).end()
    assert code == 0
    assert "Ctrl-C" not in shown
    assert "\x1b" not in shown
