"""Random described actions: their exact odds against every throw there is, played one by one."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rpgres.dice import Dice, Throw
from rpgres.engine.dealers import Dealer
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.errors import UsageError
from rpgres.lint.rulesets import data_diagnostics
from rpgres.odds.exact import outcome_odds
from rpgres.rulesets import Part, Rules, Ruleset, merge_parts
from rpgres.toml.reading import Source, parse
from tests.support.effort import examples

DICE = ["2d6", "3d4", "1d20", "2d8kh1", "3d6kl2", "{n}d4", "{max(n, 1)}d6", "3dF", "1d6-1d4", "{c}", "{b + f}d4"]
TOTALS = [
    "main",
    "main + a",
    "main - b + f",
    "highest(main) + half",
    "2 * count(main, face >= 3)",
    "max(main, a)",
    "sum",
]
VERSUS = ["", "{vs}", "{a}", "2d4", "{b}d4", "{vs} + {b}", "{half}"]
READ = ["total", "main", "highest(main)", "lowest(main)", "count(main, face >= 3)", "a", "half", "spread", "sum"]
COMPARED = ["margin", "opposition", "degrees"]
WORDS = ["", "", " and c = 'y'", " and f", " and house = 'q'", " and given(a)"]


class AllThrows(Dealer):
    """Answers with one throw after the other until there is no other: the place of each is what an odometer shows."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.sizes: list[int] = []
        self.asked = 0

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        table = dice.table
        assert table is not None
        if self.asked == len(self.places):
            self.places.append(0)
            self.sizes.append(0)
        self.sizes[self.asked] = len(table)
        self.asked += 1
        return table[self.places[self.asked - 1]]

    def chance(self) -> Fraction:
        """Return the chance of the run that just ended."""
        found = Fraction(1)
        for size in self.sizes[: self.asked]:
            found /= size
        return found

    def turn(self) -> bool:
        """Go on to the next throw; tell whether there is one."""
        del self.places[self.asked :], self.sizes[self.asked :]
        self.asked = 0
        while self.places and self.places[-1] + 1 == self.sizes[-1]:
            self.places.pop()
            self.sizes.pop()
        if self.places:
            self.places[-1] += 1
        return bool(self.places)


def counted(prepared: Prepared) -> dict[str, Fraction]:
    """Return the chance of every band by playing every throw to its end."""
    dealer, found = AllThrows(), dict[str, Fraction]()
    while True:
        outcome, _ = play(prepared, dealer=dealer, players=Seats())
        found[outcome.band] = found.get(outcome.band, Fraction(0)) + dealer.chance()
        if not dealer.turn():
            return found


@st.composite
def rulesets(draw: st.DrawFn) -> dict[str, Any]:
    vs = draw(st.sampled_from(VERSUS))
    read = st.sampled_from([*READ, *(COMPARED if vs else [])])
    numbers = {
        "half": draw(st.sampled_from(["a / 2", "max(up(a, 2), 1)", "min(a - 3, 2)"])),
        "spread": "highest(main) - lowest(main)",
        "sum": draw(st.sampled_from(["main + half", "if(f, main, lowest(main) + a)"])),
        "total": draw(st.sampled_from(TOTALS)),
        **({"degrees": "margin / 2"} if vs else {}),
    }
    compared = st.builds("{} {} {}".format, read, st.sampled_from(["<", ">=", "="]), st.integers(-2, 12) | read)
    conditions = st.builds("{}{}".format, compared, st.sampled_from(WORDS))
    names = draw(st.lists(st.sampled_from("stuv"), max_size=4, unique=True))
    found = {
        "standalone": True,
        "title": "Any",
        "summary": "Anything.",
        "version": "1",
        "bands": {name: {"title": name} for name in [*names, "rest"]},
        "actions": {
            "do": {
                "summary": "Do it.",
                "parameters": ["a", "b", "n", "f", "c", "vs"],
                "dice": {"main": draw(st.sampled_from(DICE)), **({"opposition": vs} if vs else {})},
                "numbers": numbers,
                "bands": {**{name: draw(conditions) for name in names}, "rest": "else"},
            }
        },
        "parameters": {
            "a": {"kind": "ability", "help": "a"},
            "b": {"kind": "integer", "help": "b"},
            "n": {"kind": "integer", "help": "n"},
            "f": {"kind": "flag", "help": "f"},
            "c": {
                "kind": "choice",
                "help": "c",
                "default": "x",
                "choices": {"x": "X", "y": "Y"},
                "values": {"x": "2d6", "y": "3d6kh2"},
            },
            "vs": {"kind": "opposition", "help": "vs", "rolls": "{rating}d4"},
        },
        "switches": {"house": {"help": "h", "default": "p", "source": "s", "choices": {"p": "P", "q": "Q"}}},
    }
    return without_unused(found)


def without_unused(data: dict[str, Any]) -> dict[str, Any]:
    """Return a ruleset without what nothing names, which would be told as slips."""
    action, said = data["actions"]["do"], ""
    while said != (said := json.dumps([action["dice"], action["numbers"], action["bands"]])):
        used = {name: re.findall(rf"\b{name}\b", said) for name in action["numbers"]}
        kept = {name for name, found in used.items() if len(found) > 1 or name == "total"}
        action["numbers"] = {name: text for name, text in action["numbers"].items() if name in kept}
    words = {*re.findall(r"[a-z]+", said.replace('"vs":', ""))}
    action["parameters"] = [name for name in action["parameters"] if name in words]
    data["parameters"] = {name: its for name, its in data["parameters"].items() if name in words}
    return data if "house" in words else {key: its for key, its in data.items() if key != "switches"}


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(
    data=rulesets(),
    inputs=st.fixed_dictionaries(
        {"b": st.integers(1, 2), "n": st.integers(-1, 3), "f": st.booleans(), "c": st.sampled_from("xy")},
        optional={"a": st.integers(-1, 6), "vs": st.sampled_from([3, 5, "2d4", "none"])},
    ),
    house=st.sampled_from("pq"),
)
def test_odds_are_what_all_throws_come_to(data: dict[str, Any], inputs: dict[str, Any], house: str) -> None:
    source = Source("ruleset.toml", tomli_w.dumps(data))
    part = Part(folder=Path("nowhere/any"), source=source, data=parse(source))
    rules = Rules(Ruleset("any", data=Path("nowhere/any")), file=merge_parts([part]), parts=[part])
    assume(not data_diagnostics(rules))  # such as a band that nothing comes to
    try:
        switches = {"house": house} if "switches" in data else {}
        taken = {name: value for name, value in inputs.items() if name in data["parameters"]}
        prepared = prepare(rules.with_switches(switches), "do", taken)
        expected = counted(prepared)
    except UsageError:
        assume(False)  # more dice kept than there are
    found = outcome_odds(prepared)
    assert found.open == 0
    assert {band: mass for band, mass in found.masses.items() if mass} == expected
