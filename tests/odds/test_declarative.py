"""Random described actions: their exact odds against every throw there is, played one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rpgres.dice import Dice, Reading, Throw
from rpgres.dice.readings import read_off
from rpgres.engine.players import Seats
from rpgres.engine.run import Prepared, play, prepare
from rpgres.errors import UsageError
from rpgres.lint.rulesets import data_diagnostics
from rpgres.odds.exact import outcome_odds
from rpgres.rulesets import Part, Rules, Ruleset, merge_parts
from rpgres.toml.reading import Source, parse

DICE = ["2d6", "3d4", "1d20", "2d8kh1", "3d6kl2", "{n}d4", "{n}d6>=4", "2d4*2", "3dF", "1d6-1d4", "{c}", "(2d6+{a})/2"]
MORE = ["", " + {a}", " - {b}", " + {a} - {f}"]
VERSUS = ["", "{vs}", "{a}", "2d4", "{b}d4", "{vs} + {b}", "{half}"]
READ = ["total", "natural", "highest", "lowest", "hits", "a", "half", "spread", "sum"]
COMPARED = ["margin", "opposition", "degrees"]


class AllThrows:
    """Answers with one throw after the other until there is no other: the place of each is what an odometer shows."""

    joint = False
    hand = None

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

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        throw = self.throw(dice, label, count)
        return throw, read_off(dice, throw, readings)

    def difference(self, own: Dice, other: Dice, label: str, count: int) -> int:
        raise AssertionError("only a joint dealer is asked")

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        raise AssertionError("nobody draws")

    def merge(self, key: object) -> None:
        raise AssertionError("nothing merges")

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
    names = [*READ, *(COMPARED if vs else [])]
    half = draw(st.sampled_from(["{a}/2", {"value": "{a}/2", "at-least": 1}, {"value": "{a} - 3", "at-most": 2}]))
    numbers: dict[str, Any] = {"half": half, "spread": "{highest} - {lowest}", "sum": "{natural} + {half}"}
    low, high = sorted(draw(st.lists(st.integers(-3, 14), min_size=2, max_size=2, unique=True)))
    bands: dict[str, Any] = {
        "low": {"title": "Low", "to": low},
        "mid": {"title": "Mid", "from": low + 1, "to": high},
        "high": {"title": "High", "from": high + 1, "unopposed": True},
    }
    for number in range(draw(st.integers(0, 3))):
        bands[f"e{number}"] = {"title": f"E{number}", "when": draw(conditions(names))}
    action: dict[str, Any] = {
        "summary": "Do it.",
        "parameters": ["a", "b", "n", "f", "c", "vs"],
        "roll": draw(st.sampled_from(DICE)) + draw(st.sampled_from(MORE)),
        "under": draw(st.booleans()),
        "counts": {"hits": ">=3"},
        "numbers": {**numbers, "degrees": "{margin}/2"} if vs else numbers,
        "by": draw(
            st.sampled_from(["", "", "total", "natural", "highest", "hits", "sum", *(["degrees"] if vs else [])])
        ),
    }
    if vs:
        action["vs"] = vs
    if draw(st.booleans()):
        when = draw(st.sampled_from([{"a-to": 0}, {"f": "yes"}, {"c": "y"}, {"half-from": 2}, {"house": "q"}]))
        action["instead"] = {"other": {"when": when, "roll": draw(st.sampled_from(["2d6kl1", "3d4", "1d8 + {a}"]))}}
    found = {
        "standalone": True,
        "title": "Any",
        "summary": "Anything.",
        "version": "1",
        "dice": "1d6",
        "bands": bands,
        "actions": {"do": action},
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
    """Return a ruleset without the parameters and the switch that nothing names, which would be told as slips."""
    action = data["actions"]["do"]
    said = json.dumps([{**action, "parameters": []}, data["bands"]])
    words = set(re.findall(r"[a-z]+", said.replace('"vs":', "").replace("-from", " ").replace("-to", " ")))
    action["parameters"] = [name for name in action["parameters"] if name in words]
    data["parameters"] = {name: its for name, its in data["parameters"].items() if name in words}
    return data if "house" in words else {key: its for key, its in data.items() if key != "switches"}


@st.composite
def conditions(draw: st.DrawFn, names: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)):
        side = draw(st.sampled_from(["", "-from", "-to"]))
        bound = st.one_of(st.integers(-2, 12), st.sampled_from(["half", "natural"]))
        found[name + side] = draw(bound if side else st.integers(0, 8) | st.just([1, 2, 3]))
    words = draw(st.sampled_from([{}, {}, {"c": "y"}, {"f": "yes"}, {"house": "q"}]))
    return {**found, **words}


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
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
    part = Part(Path("nowhere/any"), source, parse(source))
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
