"""Fate's exact odds: against counts made by hand, against play, and how much better the policies do than chance."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import icepool
import pytest

from rpgres import Option, Outcome, Question, State, View, resolve
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.odds.exact import outcome_odds
from rpgres.odds.explorer import WalkDealer, explore
from rpgres.odds.optimal import best_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from tests.support.effort import few

BANDS = ("fail", "tie", "succeed", "style")
WAYS = Counter(map(sum, product((-1, 0, 1), repeat=4)))  # 81 throws of four Fate dice, by sum
PAIRS = Counter(a - b for a, b in product(WAYS.elements(), repeat=2))  # 6561 pairs, by difference


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules(find_ruleset("fate"))


def counted(ways: Counter[int], advantage: int) -> tuple[Fraction, ...]:
    """Return the chances of the four bands, counted: fail under 0, tie at 0, succeed to 2, style from 3."""
    found = Counter[str]()
    for value, number in ways.items():
        margin = value + advantage
        found["fail" if margin < 0 else "tie" if margin == 0 else "succeed" if margin < 3 else "style"] += number
    return tuple(Fraction(found[band], ways.total()) for band in BANDS)


def chances(rules: Rules, action: str = "overcome", /, **inputs: Any) -> tuple[Fraction, ...]:
    odds = outcome_odds(prepare(rules, action, inputs))
    assert odds.open == 0
    assert set(odds.masses) == set(BANDS)
    return tuple(odds.masses[band] for band in BANDS)


# By advantage, the acting rating less the opposition's: the table as printed in the project's digest of the rules.
PRINTED_PASSIVE = {
    -2: (66, 10, 5, 0),
    -1: (50, 16, 14, 1),
    0: (31, 19, 26, 5),
    1: (15, 16, 35, 15),
    2: (5, 10, 35, 31),
    3: (1, 4, 26, 50),
    4: (0, 1, 14, 66),
}
PRINTED_ACTIVE = {
    -2: (4850, 784, 770, 157),
    -1: (3834, 1016, 1288, 423),
    0: (2727, 1107, 1800, 927),
    1: (1711, 1016, 2123, 1711),
    2: (927, 784, 2123, 2727),
    3: (423, 504, 1800, 3834),
    4: (157, 266, 1288, 4850),
}


@pytest.mark.parametrize("advantage", range(-4, 7))
def test_against_a_number(rules: Rules, advantage: int) -> None:
    found = chances(rules, skill=2, vs=2 - advantage)
    assert found == counted(WAYS, advantage)
    if advantage in PRINTED_PASSIVE:
        assert found == tuple(Fraction(ways, 81) for ways in PRINTED_PASSIVE[advantage])


@pytest.mark.parametrize("advantage", range(-4, 7))
def test_against_dice(rules: Rules, advantage: int) -> None:
    found = chances(rules, skill=2, vs=f"4dF{2 - advantage:+d}")
    assert found == counted(PAIRS, advantage)
    if advantage in PRINTED_ACTIVE:
        assert found == tuple(Fraction(ways, 6561) for ways in PRINTED_ACTIVE[advantage])


@pytest.mark.parametrize("action", ["discover", "create-advantage", "attack", "defend"])
def test_every_action_stands_on_the_same_roll(rules: Rules, action: str) -> None:
    assert chances(rules, action, skill=3, vs="4dF+2") == counted(PAIRS, 1)
    assert chances(rules, action, skill=3, vs=2) == counted(WAYS, 1)


@pytest.mark.parametrize(("skill", "vs"), [(0, 4), (3, 2), (5, -1)])
def test_icepool_agrees(rules: Rules, skill: int, vs: int) -> None:
    fate = 4 @ icepool.Die([-1, 0, 1])
    difference = fate + skill - (fate + vs)
    expected = (
        difference.probability("<", 0),
        difference.probability("==", 0),
        difference.probability(">", 0) - difference.probability(">", 2),
        difference.probability(">", 2),
    )
    assert chances(rules, skill=skill, vs=f"4dF{vs:+d}") == expected


def test_the_highest_of_several_counts(rules: Rules) -> None:
    fate = 4 @ icepool.Die([-1, 0, 1])
    difference = fate + 3 - icepool.highest(fate + 1, fate + 2, icepool.Die([2]))
    found = chances(rules, skill=3, vs=["4dF+1", "4dF+2", 2])
    assert found[0] == difference.probability("<", 0)
    assert found[3] == difference.probability(">=", 3)


def test_what_is_added_moves_the_odds(rules: Rules) -> None:
    plain = {"sheet": "mara", "skill": "athletics", "vs": 2, "fate-points": 0}
    assert chances(rules, **plain) == counted(WAYS, 0)
    assert chances(rules, **plain, stunt="rooftop-runner") == counted(WAYS, 2)
    assert chances(rules, **plain, helpers=1) == counted(WAYS, 1)
    assert chances(rules, "attack", skill=2, vs="4dF+0", **{"full-defense": True}) == counted(PAIRS, 0)


def test_a_free_invocation_used_when_it_helps(rules: Rules) -> None:
    """`sensible` throws again at -2 or worse and takes +2 when that makes a success: counted by hand."""
    found = outcome_odds(
        prepare(rules, "overcome", {"skill": 2, "vs": 2, "aspect": "High Ground=1"}),
        policies={"": policy_of(rules, "sensible")},
    )
    expected = Fraction(0)
    for value, number in WAYS.items():
        if value <= -2:  # thrown again
            expected += Fraction(number, 81) * Fraction(sum(n for v, n in WAYS.items() if v > 0), 81)
        elif value + 2 > 0:
            expected += Fraction(number, 81)
    assert found.masses["succeed"] + found.masses["style"] == expected
    assert found.open == 0


# What a policy has to beat: chance of success against uniform answers, at least by this much. The figures are exact;
# they are the ones measured since nobody is asked where nothing better can come, rounded down.
SITUATIONS: list[tuple[dict[str, Any], dict[str, Fraction]]] = [
    (
        {"skill": 2, "vs": 3, "aspect": ["High Ground=1", "Rain"], "fate-points": 1},
        {"sensible": Fraction(45, 100), "thrifty": Fraction(16, 100)},
    ),
    (
        {"skill": 2, "vs": "4dF+3", "aspect": ["High Ground=1", "Rain=1"]},
        {"sensible": Fraction(38, 100), "thrifty": Fraction(38, 100)},
    ),
    (
        {"skill": 2, "vs": "4dF+4", "aspect": ["High Ground=1", "Rain"], "fate-points": 1},
        {"sensible": Fraction(41, 100), "thrifty": Fraction(8, 100)},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("inputs", "margins"), few(SITUATIONS, 2), ids=["number", "free", "dice"])
def test_policies_beat_uniform_answers(rules: Rules, inputs: dict[str, Any], margins: dict[str, Fraction]) -> None:
    prepared = prepare(rules, "overcome", inputs)

    def success(policy: str) -> Fraction:
        odds = outcome_odds(prepared, policies={"": policy_of(rules, policy)})
        assert odds.open == 0
        return odds.masses["succeed"] + odds.masses["style"]

    base = success("uniform")
    for policy, least in margins.items():
        assert success(policy) - base >= least


def test_a_policy_of_the_other_side_beats_uniform_answers(rules: Rules) -> None:
    prepared = prepare(rules, "overcome", {"skill": 3, "vs": 3, "aspect": ["Fog", "Dark"], "gm-points": 1})

    def failure(policy: str) -> Fraction:
        return outcome_odds(prepared, policies={"": policy_of(rules, policy)}).masses["fail"]

    assert failure("thrifty") == Fraction(31, 81)  # pays nothing, so nothing is invoked
    assert failure("sensible") - failure("uniform") >= Fraction(5, 100)
    assert failure("sensible") > failure("thrifty")


@pytest.mark.slow
def test_walked_paths_play_out_the_same_from_a_script(rules: Rules) -> None:
    """Every path of the walker, its answers given back as dice and choices, ends in the same outcome."""
    inputs = {"skill": 2, "vs": "4dF+2", "aspect": ["High Ground=1", "Rain=1"]}
    prepared = prepare(rules, "attack", inputs)
    policies = {"": policy_of(rules, "sensible")}
    paths: list[tuple[tuple[tuple[str, Any], ...], Outcome]] = []

    def once(dealer: WalkDealer) -> str:
        outcome, _ = play(prepared, dealer=dealer, players=Seats(policies=policies))
        paths.append((dealer.tape, outcome))
        return outcome.band

    odds = explore(once)
    assert len(paths) == odds.leaves > 81
    for tape, walked in paths:
        given: dict[str, list[str]] = {}
        for label, value in tape:
            if not label.startswith("policy:"):
                given.setdefault(label, []).append(faces(value - 2 if label == "opposition" else value))
        dealer = GivenDealer(given, then=SeededDealer(Streams("none")))
        outcome, table = play(prepared, dealer=dealer, players=Seats(policies=policies))
        assert list(dealer.unused()) == []
        assert (outcome.band, outcome.margin, outcome.effects) == (walked.band, walked.margin, walked.effects)
        answers: dict[str, list[str]] = {}
        for event in table.events:
            if hasattr(event, "answer"):
                answers.setdefault(event.label, []).append(event.answer)
        again = resolve("fate", "attack", given=given, choose=answers, **as_arguments(prepared))
        assert (again.outcome, again.margin) == (walked.band, walked.margin)  # type: ignore[union-attr]


def faces(value: int) -> str:
    """Return four faces with this sum."""
    return ("+" * value if value > 0 else "-" * -value).ljust(4, "0")


def as_arguments(prepared: Prepared) -> dict[str, Any]:
    return {name.replace("-", "_"): value for name, value in prepared.inputs.items()}


@pytest.mark.parametrize(
    ("facts", "options", "answer"),
    [
        ({"margin": 1, "rolled": 0}, ["free", "paid"], "no"),  # a success needs nothing more
        ({"margin": 0, "rolled": 0}, ["free", "paid"], "free"),  # what is free goes before what is paid for
        ({"margin": 0, "rolled": 0}, ["paid", "boost", "free"], "boost"),  # and what fades before what stays
        ({"margin": -1, "rolled": 0}, ["paid"], "paid"),
        ({"margin": -4, "rolled": 0}, ["paid"], "no"),  # out of reach
        ({"margin": -3, "rolled": -1}, ["free", "paid"], "free"),  # in reach with both
        ({"margin": -2, "rolled": 0}, ["free"], "free"),  # to a tie
        ({"margin": -4, "rolled": -3}, ["free"], "free:reroll"),  # new dice are worth more than +2
        ({"margin": -4, "rolled": -3, "points": 0}, ["free"], "free:reroll"),
        ({"margin": 1, "rolled": 0}, ["boost"], "boost"),  # a boost for style
        ({"margin": 3, "rolled": 0}, ["boost"], "no"),
        ({"margin": -1, "rolled": None}, ["paid"], "paid"),  # a fixed difficulty
        ({"margin": None, "rolled": -2}, ["free"], "no"),  # nobody knows yet what for
    ],
)
def test_how_the_sensible_policy_invokes(rules: Rules, facts: dict[str, Any], options: list[str], answer: str) -> None:
    def offered(name: str) -> list[Option]:
        about = {"free": name != "paid", "kind": "boost" if name == "boost" else "aspect"}
        return [
            Option(name, facts=about | {"reroll": False}),
            Option(f"{name}:reroll", facts=about | {"reroll": True}),
        ]

    told = {"acting": True, "points": 1, **facts}
    question = Question("invoke", "mara", tuple(o for name in options for o in offered(name)), "", True, told)
    assert policy_of(rules, "sensible")(View("mara", State()), question) == answer
    thrifty = policy_of(rules, "thrifty")(View("mara", State()), question)
    assert "paid" not in str(thrifty)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fate", "coppermane"])
def test_points_for_one_aspect_or_another_of_the_same_come_to_the_same(name: str) -> None:
    """Optimal decisions look at one of such options; what they are said to be is what looking at all finds."""
    ready = prepare(
        load_rules(find_ruleset(name)),
        "overcome",
        {"skill": 1, "vs": 3, "aspect": ["Quick", "Sly", "Old Debt@scene"], "fate_points": 2},
    )
    settled: dict[str, Any] = {"policies": {"": policy_of(ready.rules, "preferred")}, "work": 10**9}
    quick, thorough = best_odds(ready, **settled), best_odds(ready, **settled, looks_at_all=True)
    assert {one.option: one.value for one in quick.choices} == {one.option: one.value for one in thorough.choices}
    assert quick.leaves < thorough.leaves
