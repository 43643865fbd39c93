"""Outcomes that never come: a warning where odds of all inputs prove it."""

from __future__ import annotations

import pytest

from rpgres.conformance.unreached import unreached_outcomes
from tests.support.command_line import as_json, rpgres
from tests.support.declarative import head, here, rules, write

__all__ = ["here"]  # a fixture that every test here uses

POOL = (
    head("Pool", "Fives and sixes.", wonder=True, odd=True, good=True, bad=False)
    + """
[actions.try]
summary = "Try."
parameters = ["pool", "target"]
required = ["pool"]
dice = { own = "{pool}d6" }

[actions.try.numbers]
hits = "count(own, face >= 5)"
ones = "count(own, face = 1)"

[actions.try.bands]
wonder = "hits > pool"
odd = "hits + ones >= 2 and hits = 0 and ones < 2"
good = "hits >= target"
bad = "else"

[parameters]
pool = { kind = "integer", at-least = 1, at-most = 6, help = "dice" }
target = { kind = "integer", default = 1, at-least = 1, at-most = 3, help = "hits needed" }
"""
)


def found(*changes: tuple[str, str]) -> list[tuple[str, str]]:
    text = POOL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    write(text, name="pool")
    return [(one.severity, one.key.rpartition(".")[2]) for one in unreached_outcomes(rules("pool"))]


def test_what_no_input_can_bring_is_a_warning_at_its_line() -> None:
    assert found() == [("warning", "wonder"), ("warning", "odd")]
    ran = rpgres("ruleset", "check", "pool")
    line = 1 + POOL.splitlines().index('wonder = "hits > pool"')
    assert ran.code == 0
    assert f"warning: rulesets/pool/ruleset.toml:{line}: actions.try.bands.wonder: this band never comes" in ran.out
    (checked,) = as_json("ruleset", "check", "pool")["rulesets"]
    assert checked["ok"]
    assert [one["severity"] for one in checked["problems"]] == ["warning"] * 2


SHEET = ("[parameters]", '[sheet]\nwits = { kind = "counter", help = "wits" }\n\n[parameters]')


@pytest.mark.parametrize(
    "change",
    [
        ("at-most = 6", "at-most = 6000"),  # too many inputs for all of them
        ('pool = { kind = "integer", at-least = 1, at-most = 6, ', 'pool = { kind = "ability", '),
        ("hits > pool", "hits > pool + wits"),  # which a sheet may have below 0
        ('own = "{pool}d6"', 'own = "{pool + 500}d1000!"'),  # too many results for all of their odds
        ('own = "{pool}d6"', 'own = "{pool + 2000}d6"'),  # more dice than can be rolled at all
    ],
)
def test_what_other_inputs_might_bring_is_not_told(change: tuple[str, str]) -> None:
    assert found(SHEET, change) == []
    assert found(SHEET) == [("warning", "wonder"), ("warning", "odd")]


def test_what_a_decision_brings_is_reached() -> None:
    asked = '[actions.try.ask.charm]\ntext = "Charm?"\noptions.on = { text = "On." }\n\n[actions.try.numbers]'
    assert found(("[actions.try.numbers]", asked), ("hits > pool", "hits + times(charm) > pool")) == [
        ("warning", "odd")
    ]
