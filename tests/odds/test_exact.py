"""Exact odds: against closed forms, brute force, icepool and simulation; budgets; merging; rules that are not pure."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import icepool
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.engine.players import NO, preferred, uniform
from rpgres.engine.run import play, run
from rpgres.errors import RuleError
from rpgres.model.state import EMPTY, Map, put
from rpgres.odds import explorer
from rpgres.odds.actions import action_odds
from rpgres.odds.exact import NeedsPolicy, outcome_odds
from rpgres.odds.explorer import FIRST_RUNS, WalkDealer, explore
from rpgres.odds.query import Query
from tests.support.effort import examples, games
from tests.support.tiny import tiny_action, with_rule


@pytest.mark.parametrize("difficulty", range(1, 14))
def test_odds_of_a_roll_are_the_closed_form(difficulty: int) -> None:
    odds = outcome_odds(tiny_action(vs=difficulty))
    totals = Counter(a + b for a, b in product(range(1, 7), repeat=2))
    expected = {
        "miss": Fraction(sum(n for total, n in totals.items() if total < difficulty), 36),
        "even": Fraction(totals[difficulty], 36),
        "hit": Fraction(sum(n for total, n in totals.items() if total > difficulty), 36),
    }
    assert odds.masses == expected
    assert odds.open == 0
    assert odds.leaves == 11


def test_two_rolls_compared_are_one_question_and_agree_with_icepool() -> None:
    odds = outcome_odds(tiny_action(vs="3d4+1"))
    difference = 2 @ icepool.d6 - (3 @ icepool.d4 + 1)
    assert odds.masses["hit"] == difference.probability(">", 0)
    assert odds.masses["even"] == difference.probability("==", 0)
    assert odds.leaves == 20  # differences from -11 to 8


@pytest.mark.slow
def test_odds_agree_with_play() -> None:
    prepared = tiny_action(vs=8, push=True)
    policies = {"": pushing}
    odds = outcome_odds(prepared, policies=policies)
    runs = games(5_000)
    streams = Streams("agreement")
    found: Counter[str] = Counter()
    for number in range(runs):
        streams.move_to(number)
        found[run(prepared, streams=streams, policies={"": both(pushing)})[0].outcome] += 1
    for band, mass in odds.masses.items():
        expected = float(mass) * runs
        assert abs(found[band] - expected) < 5 * (expected * (1 - float(mass))) ** 0.5 + 1


def pushing(_view: Any, question: Any) -> str:
    return "on" if 4 < question.facts["total"] < 8 else NO


def both(policy: Any) -> Any:
    return lambda view, question: policy(view, question) if question.label == "push" else preferred(view, question)


def test_a_path_without_end_leaves_its_tail_open() -> None:
    def until_six(dealer: WalkDealer) -> int:
        rolls = 1
        while dealer.pick((5, 1), "roll", rolls) == 0:
            rolls += 1
        return min(rolls, 4)

    odds = explore(until_six, leaves=200)
    assert [odds.masses[n] for n in (1, 2, 3)] == [Fraction(5**n, 6 ** (n + 1)) for n in range(3)]
    assert 0 < odds.open < Fraction(1, 10**6)
    assert sum(odds.masses.values()) + odds.open == 1


def test_a_weighted_policy_branches() -> None:
    def half(_view: Any, question: Any) -> Any:
        return {"on": 1, NO: 1} if question.facts["total"] == 7 else NO

    plain = outcome_odds(tiny_action(vs=9, push=True))
    pushed = outcome_odds(tiny_action(vs=9, push=True), policies={"": half})
    # a 7 (one in six) is pushed half the time; d6 - 3 gives +3 once in six, and at +0 it is a 7 again, thrice at most
    again = [Fraction(1, 12) ** n for n in range(3)]
    assert pushed.masses["hit"] - plain.masses["hit"] == Fraction(1, 6) * Fraction(1, 2) * Fraction(1, 6) * sum(again)
    assert pushed.open == 0
    assert sum(pushed.masses.values()) == 1


def test_decisions_after_the_outcome_are_not_walked_and_those_before_need_somebody() -> None:
    assert outcome_odds(tiny_action(vs=12)).open == 0  # `price` is asked only after the band is fixed

    def rule(table: Any, actor: Any, **_: Any) -> Any:
        chosen = table.ask("push", actor.name, (_option("safe"), _option("bold")))
        return table.settle("try", table.roll(dice("d6" if chosen == "bold" else "d4")) - 3)

    prepared = with_rule(rule)
    with pytest.raises(NeedsPolicy, match=r"push.*safe, bold"):
        outcome_odds(prepared)
    assert outcome_odds(prepared, choose={"push": ["bold"]}).masses["hit"] == Fraction(1, 2)
    assert outcome_odds(prepared, choose={"push": ["safe"]}).masses["hit"] == Fraction(1, 4)
    assert outcome_odds(prepared, policies={"": uniform}).masses["hit"] == Fraction(3, 8)


def _option(name: str) -> Any:
    from rpgres.rulesets import Option

    return Option(name)


def test_a_budget_leaves_mass_open_and_renormalises_nothing() -> None:
    def play_once(dealer: WalkDealer) -> int:
        return sum(dealer.throw(dice("d6"), "roll", count).value for count in range(4))

    whole = explore(play_once)
    assert (whole.open, whole.leaves) == (0, 6**4)
    part = explore(play_once, leaves=100)
    assert part.leaves == 100
    assert part.open == 1 - Fraction(100, 6**4)
    assert sum(part.masses.values()) + part.open == 1
    assert all(part.masses[total] <= whole.masses[total] for total in part.masses)


def deal(dealer: WalkDealer, cards: int) -> int:
    return sum(dealer.pick([1] * 40, "deal", count) for count in range(cards))


def test_a_budget_is_not_spent_where_it_would_come_to_nothing() -> None:
    hand = explore(lambda dealer: deal(dealer, 9), leaves=20_000)
    assert (hand.too_many, hand.leaves) == ("deal", FIRST_RUNS)
    assert 1 - hand.open == sum(hand.masses.values()) == FIRST_RUNS * Fraction(1, 40**9)


def test_a_budget_is_spent_where_a_part_of_the_probability_comes_to_something() -> None:
    early = explore(lambda dealer: dealer.pick([9, 1], "roll", 0) and deal(dealer, 9), leaves=2 * FIRST_RUNS)
    assert (early.too_many, early.leaves) == ("", 2 * FIRST_RUNS)
    assert early.masses[0] >= Fraction(9, 10)
    late = explore(lambda dealer: deal(dealer, 3), leaves=2 * FIRST_RUNS)  # 64,000 results: some of them count
    assert (late.too_many, late.leaves) == ("", 2 * FIRST_RUNS)


def test_a_budget_runs_the_heaviest_paths_first() -> None:
    def play_once(dealer: WalkDealer) -> int:
        return dealer.pick([1, 90, 9], "card", 0)

    assert set(explore(play_once, leaves=2).masses) == {0, 1}  # the first branch is what is under way anyway
    assert explore(play_once, leaves=2).open == Fraction(9, 100)


def test_dice_that_explode_for_ever_leave_their_own_mass_open() -> None:
    odds = explore(lambda dealer: dealer.throw(dice("d6!"), "roll", 0).value)
    assert 0 < odds.open < Fraction(1, 10**6)
    assert sum(odds.masses.values()) + odds.open == 1


def test_time_is_a_budget_too() -> None:
    def endless(dealer: WalkDealer) -> int:
        return sum(dealer.throw(dice("d6"), "roll", count).value for count in range(30))

    ticks = iter(range(10**6))
    odds = explore(endless, seconds=100, clock=lambda: next(ticks))
    assert 30 < odds.leaves <= 100
    assert odds.open > 0
    assert sum(odds.masses.values()) + odds.open == 1


@given(st.lists(st.sampled_from(["d2", "d3", "2d4", "4dF"]), min_size=1, max_size=4), st.integers(2, 3))
@settings(max_examples=examples(40), deadline=None)
def test_merging_changes_no_answer(texts: list[str], modulus: int) -> None:
    def once(dealer: WalkDealer, *, merge: bool) -> int:
        total = 0
        for text in texts:
            total = (total + dealer.throw(dice(text), "roll", 0).value) % modulus
            if merge:
                dealer.merge((text, total))
        return total

    merged, plain = explore(lambda d: once(d, merge=True)), explore(lambda d: once(d, merge=False))
    assert merged.masses == plain.masses
    assert merged.open == plain.open == 0
    assert merged.states > 0


def test_merged_paths_are_run_once_from_there() -> None:
    def once(dealer: WalkDealer) -> int:
        parity = sum(dealer.throw(dice("d6"), "roll", n).value for n in range(3)) % 2
        dealer.merge(parity)
        return parity + dealer.throw(dice("d6"), "more", 0).value

    odds = explore(once)
    assert odds.leaves == 6**3 + 2 * 6
    assert odds.states == 2
    assert odds.masses[1] == Fraction(1, 12)


def summed_and_merged(dealer: WalkDealer) -> int:
    total = sum(dealer.throw(dice("d6"), "roll", count).value for count in range(4))
    dealer.merge(total)
    return dealer.throw(dice("d6"), "last", 0).value


def test_a_budget_that_ends_in_one_layer_leaves_room_for_the_next() -> None:
    whole = explore(summed_and_merged)
    assert (whole.open, whole.leaves) == (0, 6**4 + 21 * 6)
    part = explore(summed_and_merged, leaves=800)
    assert 0 < part.open < Fraction(3, 4)
    assert sum(part.masses.values()) + part.open == 1
    assert all(part.masses[face] <= whole.masses[face] for face in part.masses)


@pytest.mark.slow
@given(st.integers(1, 400))
@settings(max_examples=examples(40), deadline=None)
def test_masses_and_open_are_one_whatever_the_budget(leaves: int) -> None:
    for rule in (summed_and_merged, lambda dealer: sum_of(dealer, ["d2"] * 20 + ["d6!"])):
        odds = explore(rule, leaves=leaves)
        assert sum(odds.masses.values()) + odds.open == 1


def sum_of(dealer: WalkDealer, texts: list[str]) -> int:
    return sum(dealer.throw(dice(text), "roll", 0).value for text in texts)


def test_a_merge_does_not_mix_what_is_left_of_a_script() -> None:
    def rule(table: Any, actor: Any, **_: Any) -> Any:
        if table.roll(dice("d6")) > 3:
            table.ask("push", actor.name, (_option("a"), _option("b")))
        table.merge("k")
        chosen = table.ask("push", actor.name, (_option("a"), _option("b")))
        return table.settle("try", 1 if chosen == "a" else -1)

    odds = outcome_odds(with_rule(rule), choose={"push": ["a", "b"]})
    assert odds.masses["hit"] == odds.masses["miss"] == Fraction(1, 2)


def test_tables_that_have_the_same_things_merge() -> None:
    """A token goes left or right four times; what matters is where it is, not how it came there."""

    def rule(table: Any, actor: Any, **_: Any) -> Any:
        state = table.state
        for _step in range(4):
            place = state.things.get("places", EMPTY).get("token", 0)
            places = Map({"token": place + 2 * table.roll(dice("d2")) - 3, "seen": (True, None)})
            state = put(state, ("things", "places"), places)
            table.merge(state)
        return table.settle("try", state.things["places"]["token"])

    odds = outcome_odds(with_rule(rule))
    assert odds.states == 2 + 3 + 4 + 5
    assert odds.masses == {"miss": Fraction(5, 16), "even": Fraction(6, 16), "hit": Fraction(5, 16)}


def test_after_a_merge_no_view_holds_what_was_before() -> None:
    seen: set[int] = set()

    def policy(view: Any, _question: Any) -> str:
        seen.add(len(view.events))
        return "a"

    def rule(table: Any, actor: Any, **_: Any) -> Any:
        table.roll(dice("d6"))
        table.merge("k")
        table.ask("push", actor.name, (_option("a"), _option("b")))
        return table.settle("try", 0)

    prepared = with_rule(rule)
    outcome_odds(prepared, policies={"": policy})
    run(prepared, streams=Streams("7"), policies={"": policy})
    assert seen == {0}


@pytest.mark.parametrize("weights", [{"a": 0.5, "b": 0.5}, {"a": 0, "b": 0}, {"a": -1, "b": 2}, {"c": 1}, {"a": True}])
def test_weights_of_a_policy_are_checked(weights: Any) -> None:
    def rule(table: Any, actor: Any, **_: Any) -> Any:
        table.ask("push", actor.name, (_option("a"), _option("b")))
        return table.settle("try", 0)

    with pytest.raises(RuleError, match="weights are non-negative whole numbers"):
        outcome_odds(with_rule(rule), policies={"": lambda _view, _question: weights})


def test_every_decision_that_is_missing_is_listed() -> None:
    def rule(table: Any, actor: Any, **_: Any) -> Any:
        label = "push" if table.roll(dice("d6")) > 3 else "price"
        table.ask(label, actor.name, (_option("a"), _option("b")))
        return table.settle("try", 0)

    with pytest.raises(NeedsPolicy) as error:
        outcome_odds(with_rule(rule))
    assert sorted(error.value.details["labels"]) == ["price", "push"]


def test_a_band_that_the_ruleset_does_not_have_is_refused_and_no_mass_is_lost() -> None:
    from rpgres.engine.table import Outcome

    prepared = with_rule(lambda table, actor, **_: Outcome("weird"))
    with pytest.raises(RuleError, match="weird"):
        outcome_odds(prepared)
    with pytest.raises(RuleError, match="weird"):
        run(prepared, streams=Streams("7"))


def test_a_rule_that_is_not_deterministic_is_found() -> None:
    calls = iter(range(1000))

    def fickle(dealer: WalkDealer) -> int:
        label = "odd" if next(calls) % 2 else "even"
        return dealer.throw(dice("d2"), label, 0).value

    with pytest.raises(RuleError, match="only on the table"):
        explore(fickle)


def test_a_rule_that_does_not_use_its_whole_tape_is_found() -> None:
    calls = iter(range(1000))

    def forgetful(dealer: WalkDealer) -> int:
        first = dealer.throw(dice("d2"), "roll", 0).value
        return first if next(calls) else dealer.throw(dice("d2"), "more", 0).value

    with pytest.raises(RuleError, match="asked 'more' and then nothing"):
        explore(forgetful)


def test_a_rule_that_asks_for_ever_is_stopped() -> None:
    def endless(dealer: WalkDealer) -> int:
        while True:
            dealer.throw(dice("d1"), "roll", 0)

    with pytest.raises(RuleError, match="seems to loop"):
        explore(endless)


def test_a_rule_that_comes_to_something_else_is_found_when_paths_are_run_again() -> None:
    calls = iter(range(1000))

    def fickle(dealer: WalkDealer) -> int:
        return dealer.throw(dice("d6"), "roll", 0).value + next(calls) % 2

    with pytest.raises(RuleError, match=r"it returned \d and then \d; a rule must depend only on the table"):
        explore(fickle, recheck=100)


def test_a_rule_that_asks_more_when_it_is_run_again_is_found() -> None:
    calls = iter(range(1000))

    def late(dealer: WalkDealer) -> int:
        return dealer.throw(dice("d2"), "roll", 0).value + (dealer.pick((1,), "more", 0) if next(calls) > 1 else 0)

    with pytest.raises(RuleError, match="it asked nothing and then 'more'"):
        explore(late, recheck=100)


def test_running_paths_again_changes_nothing() -> None:
    assert explore(summed_and_merged, recheck=1000) == explore(summed_and_merged)


def test_rules_of_strangers_are_run_again() -> None:
    calls = iter(range(1000))
    prepared = with_rule(lambda table, actor, **_: table.settle("try", table.roll(dice("d3")) + next(calls) % 2 - 2))
    with pytest.raises(RuleError, match=r"the rule tiny try cannot be evaluated: .* it returned '\w+' and then"):
        outcome_odds(prepared)


@pytest.mark.slow
def test_a_rule_of_which_no_path_ends_has_no_odds() -> None:
    def endless(table: Any, actor: Any, **_: Any) -> Any:
        while True:
            table.roll(dice("d6"))

    with pytest.raises(RuleError, match=r"no run of the rule tiny try ended.*`leaves`, `seconds`"):
        outcome_odds(with_rule(endless), leaves=300)


@given(st.integers(1, 300))
@settings(max_examples=examples(25), deadline=None)
def test_paths_that_could_never_have_their_turn_may_be_given_up_at_once(leaves: int) -> None:
    def rule(dealer: WalkDealer) -> int:
        return sum(dealer.throw(dice("3d6"), "roll", count).value for count in range(3))

    plain = explore(rule, leaves=leaves)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorer, "ROOM", -2 * leaves)  # sort out before every run
        assert explore(rule, leaves=leaves) == plain


def test_the_record_shows_floats_and_fractions() -> None:
    prepared = tiny_action(vs=7)
    record = action_odds(Query(rules=prepared.rules, action=prepared.action, inputs=prepared.inputs))
    assert record.outcomes["even"].exact == "1/6"
    assert record.outcomes["even"].probability == pytest.approx(1 / 6)
    assert record.method == "exact"


def test_every_walked_path_is_a_run_of_the_same_rule() -> None:
    prepared = tiny_action(vs=7)
    reached: set[str] = set()

    def once(dealer: WalkDealer) -> str:
        outcome, _ = play(prepared, dealer=dealer, players=_preferring())
        value = dealer.tape[0][1]
        faces = f"{max(1, value - 6)},{min(6, value - 1)}"
        live = run(prepared, streams=Streams("x"), given={"roll": [faces]}, policies={"": preferred})[0]
        assert live.outcome == outcome.band
        assert [dict(effect) for effect in outcome.effects] == live.effects
        reached.add(outcome.band)
        return outcome.band

    explore(once)
    assert reached == {"miss", "even", "hit"}


def _preferring() -> Any:
    from rpgres.engine.seats import Seats

    return Seats(policies={"": preferred})


def test_moments_that_nobody_uses_are_named() -> None:
    assert outcome_odds(tiny_action(vs=8, push=True)).passed == ("push",)
    assert outcome_odds(tiny_action(vs=8, push=True), policies={"": pushing}).passed == ()
    assert outcome_odds(tiny_action(vs=8)).passed == ()
