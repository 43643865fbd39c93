"""Chains of steps: play, the odds of every path, and the best there is all go along them alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import pytest

from rpgres import GM
from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import Prepared
from rpgres.engine.run import run
from rpgres.engine.table import Table
from rpgres.errors import RuleError, UsageError
from rpgres.odds.exact import outcome_odds
from rpgres.odds.optimal import best_odds
from rpgres.rulesets import Option
from tests.support.tiny import with_rule

ROLL, STOP = Option("roll"), Option("stop")


class Climb(msgspec.Struct, frozen=True):
    """How high somebody is, and how many throws are left."""

    height: int = 0
    left: int = 4


def climb(table: Table, place: Climb) -> Climb | None:
    """Throw as often as one dares: a six throws one down."""
    if not place.left or table.ask("push", "actor", (ROLL, STOP), height=place.height, left=place.left) == "stop":
        return None
    found = table.roll(dice("d6"))
    return Climb(0 if found == 6 else place.height + found, place.left - 1)


def climbing(goal: int, *, before: bool = False, left: int = 4) -> Prepared:
    """Return a climb to a goal; `before` has a die thrown and something asked before it begins."""

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        start = 0
        if before:
            start = table.roll(dice("d4"))
            start += 1 if table.ask("push", actor.name, (ROLL, STOP), height=start, left=9) == "roll" else 0
        last = table.chain(climb, Climb(start, left), key=lambda _, place: place)
        return table.settle("try", last.height - goal + (table.roll(dice("d2")) if before else 0))

    return with_rule(rule)


def exact(place: Climb, goal: int) -> Fraction:
    """Return the greatest chance of coming over a goal, reckoned without any engine."""
    stays = Fraction(place.height > goal)
    if not place.left:
        return stays
    after = [Climb(0 if face == 6 else place.height + face, place.left - 1) for face in range(1, 7)]
    return max(stays, sum((exact(one, goal) for one in after), Fraction(0)) / 6)


@pytest.mark.parametrize("goal", [3, 7, 11, 16])
def test_the_best_of_a_chain_is_what_it_is_reckoned_to_be(goal: int) -> None:
    best = best_odds(climbing(goal))
    assert best.value.success == exact(Climb(), goal)
    assert best.value.open == 0
    assert dict.fromkeys(choice.option for choice in best.choices).keys() == {"roll", "stop"}


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "left"), [(8, 3), pytest.param(9, 4, marks=pytest.mark.exhaustive)])
def test_taking_a_chain_up_at_its_places_changes_no_answer(goal: int, left: int) -> None:
    ready = climbing(goal, before=True, left=left)
    along, apart = best_odds(ready), best_odds(ready, merges=False, seconds=60)
    assert along.value == apart.value
    assert along.choices == apart.choices
    assert along.leaves < apart.leaves / 5


def careful(_view: Any, question: Any) -> str:
    """Stop at 6; what it is asked before a climb is answered so too."""
    return "stop" if question.facts["height"] >= 6 else "roll"


@pytest.mark.parametrize("before", [False, True])
def test_each_first_choice_is_weighed_with_policies_after_it(before: bool) -> None:
    ready = climbing(7, before=before)
    each = best_odds(ready, policies={"": careful}, only_first=True)
    for choice in each.choices:

        def opened(view: Any, question: Any, first: str = choice.option) -> str:
            is_first = question.facts["left"] == (9 if before else 4)
            return first if is_first else careful(view, question)

        odds = outcome_odds(ready, policies={"": opened})
        assert dict(choice.value.masses) == {band: mass for band, mass in odds.masses.items() if mass}
    assert max(choice.value.success for choice in each.choices) <= best_odds(ready).value.success


def test_a_script_goes_on_along_a_chain() -> None:
    """Answers are taken in order, whichever place of the chain asks for them."""
    ready = climbing(7)
    scripted = best_odds(ready, choose={"push": ["roll", "roll", "stop"]})
    odds = outcome_odds(ready, choose={"push": ["roll", "roll", "stop"]})
    assert dict(scripted.value.masses) == {band: mass for band, mass in odds.masses.items() if mass}
    assert scripted.choices == ()


def test_play_goes_along_a_chain() -> None:
    result, _ = run(climbing(3), streams=Streams("7"), policies={"": careful}, identify=False)
    decided = [event for event in result.events if getattr(event, "label", "") == "push"]  # type: ignore[union-attr]
    assert 2 <= len(decided) <= 4


def test_what_goes_round_and_round_is_left_open() -> None:
    def step(table: Table, place: int) -> int | None:
        return None if table.ask("push", "actor", (ROLL, STOP), height=0, left=0) == "stop" else 1 - place

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        table.chain(step, 0, key=lambda _, place: place)
        return table.settle("try", table.roll(dice("2d6")) - 7)

    best = best_odds(with_rule(rule))
    chances = {choice.option: choice.value for choice in best.choices}
    assert chances["stop"].open == 0
    assert chances["stop"].success == Fraction(15, 36)
    assert chances["roll"].success + chances["roll"].open >= Fraction(15, 36)


def test_a_chain_without_end_is_left_open() -> None:
    def step(_table: Table, place: int) -> int:
        return place + 1

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        table.ask("push", actor.name, (ROLL, STOP), height=0, left=0)
        table.chain(step, 0, key=lambda _, place: place)
        return table.settle("try", 0)

    assert best_odds(with_rule(rule)).value.open == 1
    with pytest.raises(RuleError, match="seems to loop"):
        run(with_rule(rule), streams=Streams("7"), policies={"": careful}, identify=False)


def test_what_was_drawn_unseen_in_a_chain_leaves_no_best_choice_after_it() -> None:
    """What a seat cannot see stays unseen however many steps ago it was drawn."""
    from tests.support import gambit

    def step(table: Table, place: int) -> int | None:
        if place == 0:
            table.draw("deck", to="hand:other", by="other")
        if place == 2:
            table.ask("more", "actor", (Option("a"), Option("b")))
        return place + 1 if place < 3 else None

    def rule(table: Table, _actor: Any, **_: Any) -> Any:
        table.chain(step, 0, key=lambda table, place: (place, table.knowledge("hand:other")))
        return table.settle("chase", 0)

    ready = gambit.prepared()
    other = msgspec.structs.replace(ready.state.characters["actor"], name="other", seat="other")
    from rpgres.engine.piles import lay_out
    from rpgres.model.state import put

    ready.rules.ruleset.actions["chase"], kept = rule, ready.rules.ruleset.actions["chase"]
    try:
        state = lay_out(ready.rules, put(ready.state, ("characters", "other"), other))
        with pytest.raises(UsageError, match="does not know everything drawn"):
            best_odds(msgspec.structs.replace(ready, state=state))
    finally:
        ready.rules.ruleset.actions["chase"] = kept


def test_a_step_that_fails_is_told_as_its_ruleset_s_fault() -> None:
    def step(_table: Table, place: int) -> int:
        return place // 0

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        table.ask("push", actor.name, (ROLL, STOP), height=0, left=0)
        table.chain(step, 1, key=lambda _, place: place)
        return table.settle("try", 0)

    with pytest.raises(RuleError, match=r"tiny try failed: .*division"):
        best_odds(with_rule(rule))


def test_nobody_decides_for_the_game_master_in_a_chain() -> None:
    def step(table: Table, place: int) -> int | None:
        table.ask("push", GM, (ROLL, STOP), height=0, left=0)
        return None

    def rule(table: Table, _actor: Any, **_: Any) -> Any:
        table.chain(step, 0, key=lambda _, place: place)
        return table.settle("try", 0)

    with pytest.raises(UsageError, match="push"):
        best_odds(with_rule(rule))


def test_a_long_way_to_the_first_decision_is_left_open() -> None:
    def step(table: Table, place: int) -> int | None:
        table.roll(dice("d2"))
        return place + 1 if place < 500 else None

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        table.chain(step, 0, key=lambda _, place: place)
        table.ask("push", actor.name, (ROLL, STOP), height=0, left=0)
        return table.settle("try", 0)

    assert best_odds(with_rule(rule), leaves=2000).value.open == 1


@pytest.mark.slow
def test_a_chain_of_many_questions_is_left_open_and_breaks_nothing() -> None:
    def step(table: Table, place: int) -> int | None:
        table.roll(dice("d2"))
        table.roll(dice("d2"), "again")
        if table.ask("push", "actor", (ROLL, STOP), height=0, left=0) == "stop":
            return None
        return place + 1

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        table.chain(step, 0, key=lambda _, place: place)
        return table.settle("try", table.roll(dice("2d6")) - 7)

    best = best_odds(with_rule(rule), leaves=3000)
    assert best.value.success + best.value.open >= Fraction(15, 36)


def test_what_is_known_after_a_decision_is_no_end_before_it() -> None:
    """The first decision comes before a merge or behind it, as a coin falls."""

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        if table.roll(dice("d2"), "coin") == 1:
            table.ask("push", actor.name, (ROLL, STOP), height=0, left=0)
        table.merge("x")
        is_won = table.ask("push", actor.name, (ROLL, STOP), height=9, left=0) == "roll"
        return table.settle("try", 1 if is_won else -1)

    for only_first, chance in ((True, Fraction(1, 2)), (False, Fraction(1))):
        for merges in (True, False):
            best = best_odds(with_rule(rule), policies={"": careful}, only_first=only_first, merges=merges)
            assert best.value.success == chance


def test_several_chains_of_one_rule_are_told_apart() -> None:
    def step(table: Table, place: tuple[int, int, int]) -> tuple[int, int, int] | None:
        before, height, left = place
        return (before, height + table.roll(dice("d2")), left - 1) if left else None

    def rule(table: Table, actor: Any, **_: Any) -> Any:
        table.ask("push", actor.name, (ROLL, STOP), height=0, left=0)
        first = table.chain(step, (0, 0, 1), key=lambda _, place: place)[1]
        second = table.chain(step, (0, 0, 1), key=lambda _, place: (first, place))[1]
        return table.settle("try", first - second)

    found = best_odds(with_rule(rule)).value
    assert found == best_odds(with_rule(rule), merges=False).value
    assert outcome_odds(with_rule(rule), choose={"push": ["roll"]}).masses["even"] == Fraction(1, 2)
    assert dict(found.masses)["even"] == Fraction(1, 2)
