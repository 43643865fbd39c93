"""What `import rpgres` gives to bots and scripts: the records of the commands' JSON, without a command line."""

from __future__ import annotations

import doctest
import importlib
import json
import subprocess
import sys
from fractions import Fraction

import icepool
import msgspec
import pytest

import rpgres
from tests.support.command_line import rpgres as command

TERMINAL = ("rich", "typer", "click", "prompt_toolkit", "readline", "curses", "termios")


@pytest.mark.parametrize("module", ["calls", "odds"])
def test_examples_of_docstrings(module: str) -> None:
    found = importlib.import_module(f"rpgres.library.{module}")
    done = doctest.testmod(found, extraglobs={"rpgres": rpgres})
    assert done.attempted
    assert not done.failed


def as_json(record: object) -> object:
    return json.loads(msgspec.json.encode(record))


@pytest.mark.parametrize(
    ("record", "line"),
    [
        pytest.param(lambda: rpgres.roll("4d6kh3", seed=7), "roll 4d6kh3 --seed 7", id="roll"),
        pytest.param(lambda: rpgres.roll("2d20 vs 15", seed="x"), "roll '2d20 vs 15' --seed x", id="roll-compared"),
        pytest.param(lambda: rpgres.odds("4d6kh3"), "odds 4d6kh3", id="odds-of-dice"),
        pytest.param(lambda: rpgres.odds("3d6", by="total"), "odds 3d6 --by total", id="odds-of-dice-by"),
        pytest.param(
            lambda: rpgres.odds("fate", "overcome", skill="3", vs=["2"]),
            "odds fate overcome --skill 3 --vs 2",
            id="odds",
        ),
        pytest.param(
            lambda: rpgres.odds("fate", "overcome", skill="3", vs=["4dF+1"], by="margin", note="n"),
            "odds fate overcome --skill 3 --vs 4dF+1 --by margin --note n",
            id="odds-by-margin",
        ),
        pytest.param(
            lambda: rpgres.odds("fate", "overcome", skill="burglary", sheet="mara", vs=["3"], auto=True),
            "odds fate overcome --skill burglary --sheet mara --vs 3 --auto",
            id="odds-auto",
        ),
        pytest.param(lambda: rpgres.odds("fate", "overcome", skill="3"), "odds fate overcome --skill 3", id="ladder"),
        pytest.param(
            lambda: rpgres.odds_table("fate", "overcome", {"skill": range(3), "vs": [1, "4dF"]}),
            "odds fate overcome --skill 0..2 --vary vs=1,4dF",
            id="grid",
        ),
    ],
)
def test_a_call_returns_what_the_command_prints(record: object, line: str) -> None:
    import shlex

    done = command(*shlex.split(line), "--json")
    assert done.code == 0, done.err
    assert as_json(record()) == json.loads(done.out)  # type: ignore[operator]


def test_odds_are_exact() -> None:
    law = icepool.d6.highest(4, 3)
    told = {int(value): Fraction(chance.exact) for value, chance in rpgres.odds("4d6kh3").outcomes.items()}
    assert told == {int(total): law.probability(total) for total in law}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rpgres.roll("4d"), rpgres.NotationError, "4d"),
        (lambda: rpgres.roll(5), rpgres.UsageError, "not 5"),  # type: ignore[arg-type]
        (lambda: rpgres.odds("fate", "overcom", skill=3), rpgres.UsageError, "overcome"),
        (lambda: rpgres.odds("fate", "overcome", skil=3, vs=2), rpgres.UsageError, "skill"),
        (lambda: rpgres.odds("fate", "overcome", skill=3, vs=2, decide="bes"), rpgres.UsageError, "best"),
        (lambda: rpgres.odds("fate", "overcome", skill=3, by="margin"), rpgres.UsageError, "vs"),
        (lambda: rpgres.odds("fate", "conflict"), rpgres.UsageError, "procedure"),
        (lambda: rpgres.odds("4d6", skill=3), rpgres.UsageError, "odds"),
        (lambda: rpgres.odds("nosuch", "overcome"), rpgres.UsageError, "nosuch"),
        (lambda: rpgres.odds_table("fate", "overcome", {"skil": [1]}, vs=2), rpgres.UsageError, "skill"),
        (lambda: rpgres.open_table("nowhere.db"), rpgres.TableError, "no table"),
    ],
)
def test_errors_are_typed(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()  # type: ignore[operator]


def modules_after(code: str) -> set[str]:
    """Return the modules of a fresh process after some code."""
    code = f"import rpgres\n{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


def test_no_call_brings_a_terminal_library() -> None:
    assert not {name for name in modules_after("") if name.startswith("rpgres.")} - {"rpgres.version"}
    used = "rpgres.roll('4dF'); rpgres.odds('fate', 'overcome', skill=3, vs=2); rpgres.odds('4d6')"
    assert not modules_after(f"{used}; rpgres.open_table, rpgres.resolve").intersection(TERMINAL)


def test_folders_of_the_house_do_not_take_the_place_of_functions() -> None:
    code = "import rpgres.odds.exact, rpgres.simulate, rpgres.rulesets\nprint(rpgres.odds('d6').mean)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "3.5\n"
