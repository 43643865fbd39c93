"""Exact odds of actions with named dice, against every result of every die."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rpgres.engine.prepare import prepare
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from tests.support.effort import few
from tests.support.every_die import every_outcome

BOUNDED: list[tuple[str, str, dict[str, Any]]] = [
    ("twenty-sided-advantage", "attack", {"bonus": 3, "armor-class": 14, "critical-range": 18}),
    ("twenty-sided-advantage", "attack", {"bonus": 3, "advantage": "advantage", "armor-class": 18}),
    ("twenty-sided-advantage", "attack", {"bonus-dice": "1d4+1d6", "armor-class": 12}),
    ("twenty-sided-advantage", "check", {"advantage": "disadvantage", "difficulty-class": 12}),
    ("percentile-levels", "check", {"skill": 45}),
    ("percentile-levels", "check", {"skill": 45, "bonus-dice": 1}),
    ("percentile-levels", "check", {"skill": 65, "bonus-dice": -1, "difficulty": "hard"}),
    ("percentile-levels", "combined-check", {"skill": 60, "second-skill": 30}),
    ("hunger-pool", "check", {"pool": 3, "hunger": 2, "difficulty": 2}),
    ("hunger-pool", "check", {"pool": 3, "hunger": 1}),
    ("hunger-pool", "check", {"pool": 0, "difficulty": 1}),
    ("hits-and-glitches", "check", {"pool": 4, "limit": 1}),
    ("push-pool", "check", {"attribute": 1, "skill": -2, "gear": 1, "difficulty": 1}),
    ("push-pool", "step-check", {"attribute-die": 8, "skill-die": 6, "advantage": "advantage", "difficulty": 2}),
    ("feat-and-success-dice", "check", {"difficulty": 14, "skill": 2, "favoured": True, "weary": True}),
    ("feat-and-success-dice", "check", {"difficulty": 9, "skill": 1, "ill-favoured": True, "miserable": True}),
    ("feat-and-success-dice", "feat-die", {"favoured": True}),
    ("success-levels", "check", {"skill": 47}),
    ("success-levels", "attack", {"skill": 99}),
    ("success-levels", "hit-location", {}),
    ("exploding-ten", "check", {"skill": 6, "difficulty": 9}),
    ("three-dice-under", "check", {"skill": 15}),
    ("three-dice-under", "reaction", {"modifier": -2}),
    ("botch-pool", "check", {"pool": 3, "difficulty": 7, "tens": "double"}),
    ("percentile-fractions", "check", {"skill": 67}),
    ("percentile-fractions", "check", {"skill": 0}),
    ("percentile-fractions", "resistance", {"active": 12, "passive": 7, "modifier": 5}),
    ("percentile-fractions", "open-resistance", {"active": 12, "modifier": 10}),
    ("twenty-under", "check", {"skill": 25}),
    ("twenty-over", "check", {"ability": 2, "difficulty-rating": 12}),
    ("twenty-over", "morale", {"morale": 7}),
    ("percentile-doubles", "check", {"skill": 55}),
    ("highest-die", "check", {"pool": 4}),
    ("highest-die", "check", {"pool": 0}),
    ("action-and-challenge", "check", {"stat": 2, "adds": 1}),
    ("action-and-challenge", "check", {"momentum": -3}),
]

ENDLESS: list[tuple[str, str, dict[str, Any]]] = [
    ("hits-and-glitches", "check", {"pool": 2, "exploding": True, "limit": 1}),
    ("again-pool", "check", {"pool": 2, "again": 8}),
    ("again-pool", "check", {"pool": 0, "again": 8}),
    ("botch-pool", "check", {"pool": 2, "difficulty": 7, "tens": "again"}),
    ("botch-pool", "check", {"pool": 2, "difficulty": 7, "tens": "again-with-ones"}),
]


def _prepared(ruleset: str, action: str, inputs: dict[str, Any]) -> Any:
    return prepare(load_rules(find_ruleset(ruleset)), action, inputs)


def _cases(cases: list[tuple[str, str, dict[str, Any]]]) -> list[Any]:
    return [pytest.param(case, id=f"{case[0]} {case[1]} {case[2]}") for case in cases]


@pytest.mark.slow
@pytest.mark.parametrize("case", few(_cases(BOUNDED), 12))
def test_odds_are_those_of_every_die(case: tuple[str, str, dict[str, Any]]) -> None:
    prepared = _prepared(*case)
    found = outcome_odds(prepared)
    wanted, _ = every_outcome(prepared, is_decided=False)
    assert found.method == "exact"
    assert {band: mass for band, mass in found.masses.items() if mass} == wanted


@pytest.mark.slow
@pytest.mark.parametrize("case", _cases(ENDLESS))
def test_odds_of_dice_without_end_are_exact_all_the_same(case: tuple[str, str, dict[str, Any]]) -> None:
    prepared = _prepared(*case)
    found = outcome_odds(prepared)
    least, left = every_outcome(prepared, smallest=Fraction(1, 10**4), is_decided=False)
    assert found.method == "exact"
    assert sum(found.masses.values()) == 1
    for band, mass in found.masses.items():
        low = least.get(band, Fraction(0))
        assert low <= mass <= low + left


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        ("exploding-ten", "check", {"skill": 6}),
        ("twenty-sided-advantage", "damage", {"dice": 2, "sides": 6, "modifier": 3}),
        ("percentile-levels", "check", {"bonus-dice": 1}),
    ],
)
def test_odds_of_totals_are_those_of_every_die(case: tuple[str, str, dict[str, Any]]) -> None:
    prepared = _prepared(*case)
    wanted, _ = every_outcome(prepared, what="total", is_decided=False)
    assert outcome_odds(prepared, by="total").masses == wanted


def test_dice_that_bring_others_are_weighed_in_closed_form() -> None:
    # one die that is again on 10 and counts from 8 on: no success is 7/10, and k of them 3/10 over 10 to the (k - 1)
    found = outcome_odds(_prepared("again-pool", "check", {"pool": 1})).masses
    assert found["failure"] == Fraction(7, 10)
    # five or more: four tens, then a success
    assert found["exceptional-success"] == Fraction(3, 10) / 10**4
