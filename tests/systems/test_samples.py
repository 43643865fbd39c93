"""The sample rulesets of one file each: their exact odds against icepool, binomials and plain counting, and play."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import icepool
import pytest

from rpgres import odds as computed
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import preferred
from rpgres.engine.prepare import prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.errors import UsageError
from rpgres.odds.exact import OddsResult, outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from tests.support.effort import few, games


def odds(ruleset: str, action: str, switches: dict[str, str] | None = None, **inputs: Any) -> dict[str, Fraction]:
    rules = load_rules(find_ruleset(ruleset), switches=switches or {})
    found = outcome_odds(prepare(rules, action, inputs))
    assert found.open == 0
    return {band: mass for band, mass in found.masses.items() if mass}


def shares(die: icepool.Die[str]) -> dict[str, Fraction]:
    return {name: Fraction(weight, die.denominator()) for name, weight in die.items() if weight}


@pytest.mark.parametrize("edge", ["none", "with", "against"])
@pytest.mark.parametrize("trait", range(-3, 6))
def test_two_dice(edge: str, trait: int) -> None:
    pool = {"none": 2 @ icepool.d6, "with": icepool.d6.highest(3, 2), "against": icepool.d6.lowest(3, 2)}[edge]
    expected = (pool + trait).map(lambda total: "badly" if total < 7 else "price" if total < 10 else "well")
    assert odds("two-dice", "risk", trait=trait, edge=edge) == shares(expected)


@pytest.mark.parametrize("pool", range(-2, 8))
def test_highest_die(pool: int) -> None:
    def band(shown: tuple[int, ...]) -> str:
        if pool > 0 and shown.count(6) > 1:
            return "critical"
        best = max(shown) if pool > 0 else min(shown)
        return "failure" if best < 4 else "partial" if best < 6 else "success"

    expected = icepool.d6.pool(pool if pool > 0 else 2).expand().map(band)
    assert odds("highest-die", "check", pool=pool) == shares(expected)


@pytest.mark.parametrize("naturals", ["both", "twenty"])
@pytest.mark.parametrize("edge", ["none", "advantage", "disadvantage"])
@pytest.mark.parametrize("bonus", [-25, -3, 0, 5, 14, 30])
def test_twenty_sided(bonus: int, edge: str, naturals: str) -> None:
    die = {"none": icepool.d20, "advantage": icepool.d20.highest(2), "disadvantage": icepool.d20.lowest(2)}[edge]

    def band(natural: int) -> str:
        if natural == 20:
            return "critical"
        if natural == 1 and naturals == "both":
            return "fumble"
        return "hit" if natural + bonus >= 15 else "miss"

    found = odds("twenty-sided-advantage", "strike", {"naturals": naturals}, bonus=bonus, vs=15, advantage=edge)
    assert found == shares(die.map(band))


@pytest.mark.slow
@pytest.mark.parametrize("skill", few([*range(1, 101, 7), 49, 50, 99, 100, 130], 7))
def test_percentile_levels(skill: int) -> None:
    def band(shown: int) -> str:
        if shown == 1:
            return "critical"
        if shown == 100 or (shown >= 96 and skill < 50):
            return "fumble"
        if shown <= skill // 5:
            return "extreme"
        if shown <= skill // 2:
            return "hard"
        return "regular" if shown <= skill else "failure"

    for bonus in (-1, 0, 1, 2) if skill % 25 in (0, 24) else (-1, 0, 1):  # more dice take longer
        expected = percentile(bonus).map(band)
        assert odds("percentile-levels", "check", skill=skill, **{"bonus-dice": bonus}) == shares(expected), bonus


@cache
def percentile(bonus: int) -> icepool.Die[int]:
    """Return what percentile dice show: tens dice share the units, and 0 and 0 are 100."""
    best = min if bonus >= 0 else max
    return icepool.map(
        lambda unit, *tens: best(10 * ten + unit or 100 for ten in tens), *[icepool.z(10)] * (2 + abs(bonus))
    )


def successes(pool: int) -> dict[int, Fraction]:
    """Return the chances of each number of dice that show 8 or more; without a die, of a ten."""
    if pool <= 0:
        return {0: Fraction(9, 10), 1: Fraction(1, 10)}
    return {hits: Fraction(comb(pool, hits) * 3**hits * 7 ** (pool - hits), 10**pool) for hits in range(pool + 1)}


@pytest.mark.parametrize("pool", [-1, 0, 1, 2, 5, 9])
@pytest.mark.parametrize("vs", [1, 3, 8])
def test_contest_of_pools(pool: int, vs: int) -> None:
    expected: Counter[str] = Counter()
    for own, chance in successes(pool).items():
        for other, against in successes(vs).items():
            margin = own - other
            edges = (margin < 0, margin == 0, margin < 5, True)
            expected[("failure", "standoff", "success", "exceptional-success")[edges.index(True)]] += chance * against
    assert odds("again-pool", "contest", pool=pool, vs=vs) == dict(expected)


def _hoping(difficulty: int, dice: int) -> Fraction:
    """Return the chance of a feat die and so many success dice."""
    best = [0 if face == 11 else 99 if face == 12 else face for face in range(1, 13)]
    rolled = icepool.Die(best) + dice @ icepool.d6
    return Fraction(sum(weight for total, weight in rolled.items() if total >= difficulty), rolled.denominator())


def _omens(rating: int, bonus: int, left: int) -> Fraction:
    """Return the best chance of a d20 over a rating, with so many omens left."""
    return sum((_shown(face, rating, bonus, left) for face in range(1, 21)), Fraction(0)) / 20


def _shown(face: int, rating: int, bonus: int, left: int) -> Fraction:
    if face == 20 or (face > 1 and face + bonus >= rating):
        return Fraction(1)
    if not left:
        return Fraction(0)
    eased = _shown(face, rating - 4, bonus, left - 1) if face > 1 else Fraction(0)
    return max(eased, _omens(rating, bonus, left - 1))


SPENT: list[tuple[str, dict[str, Any], Fraction]] = [
    ("exploding-ten", {"sheet": "seven", "skill": "talk", "difficulty": 16}, Fraction(6, 10)),
    ("exploding-ten", {"sheet": "seven", "skill": "talk", "difficulty": 12}, Fraction(9, 10)),
    ("feat-and-success-dice", {"sheet": "hadric", "skill": "awe", "difficulty": 14}, _hoping(14, 2)),
    ("feat-and-success-dice", {"sheet": "hadric", "skill": "awe", "difficulty": 14, "inspired": True}, _hoping(14, 3)),
    ("twenty-over", {"sheet": "gall", "ability": "brawn", "difficulty_rating": 14}, _omens(14, 2, 2)),
    ("twenty-over", {"sheet": "gall", "ability": -3, "difficulty_rating": 18}, _omens(18, -3, 2)),
]


@pytest.mark.parametrize(("ruleset", "inputs", "wanted"), SPENT)
def test_points_are_spent_as_well_as_can_be(ruleset: str, inputs: dict[str, Any], wanted: Fraction) -> None:
    """Luck and hope come before any die, omens after it."""
    best = computed(ruleset, "check", decide="best", **inputs)
    assert isinstance(best, OddsResult)
    assert (
        sum(Fraction(best.outcomes[band].exact) for band in best.outcomes.keys() & {"failure", "fumble"}) == 1 - wanted
    )


def test_nobody_helps_themselves() -> None:
    told = "`helper`: 'needle' is the actor; name another character"
    with pytest.raises(UsageError, match=told):
        prepare(load_rules(find_ruleset("highest-die")), "check", {"sheet": "needle", "pool": 1, "helper": "needle"})


PLAYED: list[tuple[str, str, dict[str, Any]]] = [
    ("two-dice", "risk", {"trait": 1, "edge": "with"}),
    ("highest-die", "check", {"pool": 3}),
    ("hunger-pool", "check", {"pool": 5, "hunger": 2, "difficulty": 3}),
    ("again-pool", "check", {"pool": 5, "again": 9}),
    ("twenty-sided-advantage", "strike", {"bonus": 4, "vs": 14, "advantage": "disadvantage"}),
    ("percentile-levels", "check", {"skill": 42, "bonus-dice": 1}),
    ("again-pool", "contest", {"pool": 5, "vs": 4}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ruleset", "action", "inputs"), PLAYED, ids=[f"{name} {action}" for name, action, _ in PLAYED]
)
def test_playing_agrees_with_the_odds(ruleset: str, action: str, inputs: dict[str, Any]) -> None:
    prepared = prepare(load_rules(find_ruleset(ruleset)), action, inputs)
    found = outcome_odds(prepared, policies={"": preferred})
    masses = {band: mass for band, mass in found.masses.items() if mass}
    dealer, seats, runs = (
        SeededDealer(Streams("samples")),
        Seats(policies={"": preferred}),
        games(4000),
    )
    seen: Counter[str] = Counter()
    for run in range(runs):
        dealer.move_to(run)
        seen[play(prepared, dealer=dealer, players=seats)[0].band] += 1
    assert set(seen) <= set(masses)
    chi = sum((seen[band] - float(mass) * runs) ** 2 / (float(mass) * runs) for band, mass in masses.items())
    assert chi < 30, (seen, masses)  # with a fixed seed; up to 6 degrees of freedom, one in a hundred thousand
