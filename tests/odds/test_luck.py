"""A game of going on or stopping, as a ruleset in one file: optimal decisions against a recursion, and what is told."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from tests.support.command_line import as_json

PIG = """
standalone = true
title = "Pig"
summary = "Roll on, or keep what there is; a one loses all of it."
version = "1"

[bands.bust]
title = "Bust"
success = false
[bands.good]
title = "Good"
success = true

[actions.roll]
summary = "Roll."
dice = "1d6"
tell = ["shown", "parity"]

[actions.roll.numbers]
shown = "roll"
parity = "if(roll = 2 or roll = 4 or roll = 6, 1, 0)"
loss = "0 - pot"

[actions.roll.bands]
bust = "roll = 1"
good = "else"

[sheet.name]
kind = "text"
help = "name"
[sheet.pot]
kind = "counter"
help = "points"
[sheet.stopped]
kind = "counter"
help = "whether it is over"

[effects]
pot = { help = "points", does = "counter", counter = "pot" }
stopped = { help = "over", does = "counter", counter = "stopped" }

[outcomes.roll.bust]
effects = [{ kind = "pot", to = "actor", change = "loss" }, { kind = "stopped", to = "actor", change = 1 }]
[outcomes.roll.good]
effects = [{ kind = "pot", to = "actor", change = "shown" }]
[outcomes.roll.good.ask.more]
who = "actor"
text = "Go on?"
[outcomes.roll.good.ask.more.options]
on = { text = "On." }
stop = { text = "Stop.", effects = [{ kind = "stopped", to = "actor", change = 1 }] }
"""

SCENE = """
ruleset = "pig"
[characters.ann]
orders = [
    { ask = "more", when = { "facts.shown" = ">= 5" }, choose = "stop" },
    { ask = "more", choose = "on" },
]
[[steps]]
repeat = { until = { "characters.ann.counters.stopped" = ">= 1" }, at-most = 4 }
[[steps.steps]]
id = "roll"
actor = "ann"
action = "roll"
[ends.rich]
when = { "characters.ann.counters.pot" = ">= 11" }
[ends.poor]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rulesets" / "pig"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(PIG)
    (tmp_path / "pig.toml").write_text(SCENE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@cache
def best(pot: int, rolls: int) -> Fraction:
    """Return the greatest chance of eleven points, before so many rolls."""
    if not rolls:
        return Fraction(pot >= 11)
    return sum([max(Fraction(pot + face >= 11), best(pot + face, rolls - 1)) for face in range(2, 7)]) * Fraction(1, 6)


@cache
def by_orders(pot: int, rolls: int) -> Fraction:
    """Return the chance of eleven points, when it ends behind a five or a six."""
    if not rolls:
        return Fraction(pot >= 11)
    on = [by_orders(pot + face, rolls - 1) for face in range(2, 5)]
    return (sum(on) + sum([Fraction(pot + face >= 11) for face in (5, 6)])) * Fraction(1, 6)


def test_optimal_decisions_are_the_recursion_and_each_first_one_says_behind_which_roll() -> None:
    found = as_json("odds", "pig.toml", "--best", "ann", "--goal", "rich")
    assert Fraction(found["value"]["exact"]) == best(0, 4)
    assert {one["facts"]["shown"]: Fraction(one["options"][0]["value"]["exact"]) for one in found["decisions"]} == {
        face: best(face, 3) for face in range(2, 7)
    }


def test_orders_go_by_what_was_told_where_the_outcome_table_speaks_of_it() -> None:
    """Odds of scenes work nothing else out, so that nothing else is a fact."""
    found = as_json("odds", "pig.toml")
    assert Fraction(found["outcomes"]["rich"]["exact"]) == by_orders(0, 4)
    waiting = as_json("roll", "pig", "roll", "--given", "roll=4", "--seed", "1", code=3)
    assert waiting["question"]["facts"] == {"shown": 4}
