"""Exact odds of scenes against recursions that know no engine, and with and without looking turns up."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.odds.scenes import SceneOdds, Undecided, scene_odds
from rpgres.rulesets import Ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.simulate.playing import plays_of
from rpgres.toml.reading import Source
from tests.support.battle import battle_in, chance_to_win, losses
from tests.support.effort import games
from tests.support.plain_walk import plain_odds


@pytest.fixture(scope="module")
def battle(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """A ruleset in a folder of its own."""
    return battle_in(tmp_path_factory.mktemp("data") / "battle")


def war(attackers: int, defenders: int, more: str = "") -> str:
    return (
        f'ruleset = "battle"\ncounters = {{ attackers = {attackers}, defenders = {defenders} }}\n'
        f'[characters.ada]\n[[steps]]\nid = "war"\nprocedure = "battle"\nactor = "ada"\n{more}'
    )


def odds(ruleset: Ruleset, text: str, *by: str, **options: Any) -> SceneOdds:
    scene = read_scene(Source(path="s.toml", text=text), find_ruleset=lambda _: ruleset)
    return scene_odds(game_of(scene, by=by or ("ending",)), **options)


def test_one_round_is_that_of_all_faces() -> None:
    assert losses(3, 2) == {(0, 2): Fraction(2890, 7776), (1, 1): Fraction(2611, 7776), (2, 0): Fraction(2275, 7776)}


@pytest.mark.slow
@pytest.mark.parametrize(("attackers", "defenders"), [(1, 1), (2, 2), (3, 2), (4, 3)])
def test_a_battle_is_the_recursion(battle: Ruleset, attackers: int, defenders: int) -> None:
    found = odds(battle, war(attackers, defenders))
    assert found.masses[("won",)] == chance_to_win(attackers, defenders)
    assert sum(found.masses.values()) == 1


@pytest.mark.slow
def test_what_is_left_is_counted(battle: Ruleset) -> None:
    found = odds(battle, war(3, 3), "counters.attackers", "rounds")
    left = dict[int, Fraction]()
    for (attackers, _rounds), mass in found.masses.items():
        left[attackers] = left.get(attackers, Fraction(0)) + mass
    assert sum(mass for attackers, mass in left.items() if attackers) == chance_to_win(3, 3)
    assert {rounds for _, rounds in found.masses} == {2, 3, 4}  # two armies fall in a round, or one


def test_a_group_that_repeats_is_a_binomial(battle: Ruleset) -> None:
    text = (
        'ruleset = "battle"\ncounters = { defenders = 3 }\n[characters.ada]\n'
        '[[steps]]\nrepeat = { until = { "counters.defenders" = 0 }, at-most = 5 }\n'
        '[[steps.steps]]\nid = "hit"\naction = "skirmish"\nactor = "ada"\n'
        '[ends.all]\nwhen = { "counters.defenders" = 0 }\n[ends.some]\n'
    )
    found = odds(battle, text)
    exact = sum(sum(throws) >= 3 for throws in product((0, 1), repeat=5))
    assert found.masses == {("all",): Fraction(exact, 32), ("some",): Fraction(32 - exact, 32)}
    assert found.leaves == 6 * 3  # a turn is run once for each number of defenders, whatever pass it is


def test_how_often_a_step_is_played_is_counted(battle: Ruleset) -> None:
    text = (
        'ruleset = "battle"\ncounters = { defenders = 2 }\n[characters.ada]\n'
        '[[steps]]\nrepeat = { until = { "counters.defenders" = 0 }, at-most = 4 }\n'
        '[[steps.steps]]\nid = "hit"\naction = "skirmish"\nactor = "ada"\n'
        '[[steps.steps]]\nid = "late"\naction = "skirmish"\nactor = "ada"\nwhen = { "counters.defenders" = 7 }\n'
    )
    found = odds(battle, text, "times.hit", "times.late")
    # The second of two hits comes at the second, third or fourth try; or all four are played.
    assert found.masses == {(2, 0): Fraction(1, 4), (3, 0): Fraction(1, 4), (4, 0): Fraction(1, 2)}
    assert found.masses == odds(battle, text, "times.hit", "times.late", is_merged=False).masses


def test_a_number_that_is_changed_depends_on_what_it_was(battle: Ruleset) -> None:
    text = (
        'ruleset = "battle"\ncounters = { defenders = 9 }\n[characters.ada]\n[[steps]]\nrepeat = { at-most = 3 }\n'
        '[[steps.steps]]\naction = "skirmish"\nactor = "ada"\n'
        '[[steps.steps]]\nset = { "counters.defenders" = "-1" }\n[[steps]]\nset = { "counters.defenders" = "+10" }\n'
    )
    found = odds(battle, text, "counters.defenders")
    assert found.masses == {(16 - fallen,): Fraction(count, 8) for fallen, count in enumerate((1, 3, 3, 1))}


def test_a_branch_on_an_outcome(battle: Ruleset) -> None:
    text = (
        'ruleset = "battle"\ncounters = { defenders = 9 }\n[characters.ada]\n'
        '[[steps]]\nid = "one"\naction = "skirmish"\n'
        '[[steps]]\nid = "two"\naction = "skirmish"\nwhen = { one = "won" }\n'
        '[[steps]]\nset = { "counters.defenders" = 1 }\nwhen = { one = "lost" }\n'
    )
    found = odds(battle, text, "counters.defenders")
    assert found.masses == {(1,): Fraction(1, 2), (8,): Fraction(1, 4), (7,): Fraction(1, 4)}


def test_given_dice_and_choices_of_a_procedure_are_used_in_order(battle: Ruleset) -> None:
    more = 'with = { may-stop = true }\nchoose = { go-on = ["on", "stop"] }\ngiven = { attack = ["6", "6", "6"] }\n'
    found = odds(battle, war(3, 3, more), "counters.attackers", "counters.defenders")
    first = {(3 - lost, 3 - won) for lost, won in ((0, 2), (1, 1), (2, 0))}
    assert set(found.masses) <= first
    assert (3, 1) in found.masses  # three sixes lose to two sixes alone
    assert found.masses[(3, 1)] == Fraction(25, 36)


def test_who_has_to_decide_is_told(battle: Ruleset) -> None:
    with pytest.raises(Undecided) as undecided:
        odds(battle, war(3, 3, "with = { may-stop = true }\n"))
    assert list(undecided.value.questions) == ["go-on"]


@pytest.mark.slow
def test_what_a_budget_leaves_is_open(battle: Ruleset) -> None:
    whole = odds(battle, war(3, 3))
    part = odds(battle, war(3, 3), work=3_000)
    assert part.open > 0
    assert sum(part.masses.values()) + part.open == 1
    assert all(mass <= whole.masses[result] for result, mass in part.masses.items())


@pytest.mark.slow
@given(st.integers(0, 4), st.integers(1, 3), st.booleans(), st.integers(1, 3))
def test_looking_turns_up_changes_no_chance(
    battle: Ruleset, attackers: int, defenders: int, is_set: bool, passes: int
) -> None:
    change = '[[steps.steps]]\nset = { "counters.attackers" = 2 }\nwhen = { hit = "won" }\n' if is_set else ""
    text = (
        f'ruleset = "battle"\ncounters = {{ attackers = {attackers}, defenders = {defenders} }}\n[characters.ada]\n'
        f'[[steps]]\nrepeat = {{ until = {{ "counters.defenders" = "<= 0" }}, at-most = {passes} }}\n'
        f'[[steps.steps]]\nid = "hit"\naction = "skirmish"\nactor = "ada"\n{change}'
        '[[steps]]\naction = "skirmish"\nwhen = { "counters.attackers" = 2 }\n'
    )
    by = ("ending", "counters.attackers", "counters.defenders")
    found = odds(battle, text, *by).masses
    assert found == odds(battle, text, *by, is_merged=False).masses
    assert found == plain_odds(game_of(read_scene(Source("s.toml", text), find_ruleset=lambda _: battle), by=by))


@pytest.mark.slow
def test_what_is_simulated_comes_as_often_as_the_odds_say(battle: Ruleset) -> None:
    scene = read_scene(Source(path="s.toml", text=war(3, 3)), find_ruleset=lambda _: battle)
    play, runs = plays_of(scene, seed="7"), games(2000)
    won = sum(play(run) == "won" for run in range(runs))
    exact = float(chance_to_win(3, 3))
    assert abs(won / runs - exact) < 5 * (exact * (1 - exact) / runs) ** 0.5


ORDERS = """
[[orders.wary]]
ask = "go-on"
when = { "counters.attackers" = "<= 2" }
choose = { stop = 1, on = 2 }
[[orders.wary]]
ask = "go-on"
when = { "counters.defenders" = ">= 4", "characters.active.count" = 1 }
choose = "stop"
[[orders.wary]]
choose = "on"
"""


def by_hand(view: Any, _question: Any) -> Any:
    """Decide as `ORDERS` do."""
    counters = view.state.counters
    if counters["attackers"] <= 2:
        return {"stop": 1, "on": 2}
    return "stop" if counters["defenders"] >= 4 else "on"


@pytest.mark.slow
@pytest.mark.parametrize(("attackers", "defenders"), [(2, 2), (3, 4), pytest.param(3, 2, marks=pytest.mark.exhaustive)])
def test_standing_orders_decide_as_the_same_policy_in_python(battle: Ruleset, attackers: int, defenders: int) -> None:
    text = 'policy = "wary"\n' + war(attackers, defenders, "with = { may-stop = true }\n") + ORDERS
    scene = read_scene(Source(path="s.toml", text=text), find_ruleset=lambda _: battle)
    by = ("ending", "counters.attackers", "counters.defenders", "rounds")
    ordered = scene_odds(game_of(scene, by=by))
    assert ordered.open == 0
    assert ordered.masses == scene_odds(game_of(scene, by=by), is_merged=False).masses
    written = msgspec.structs.replace(scene, policies={"": by_hand})
    assert ordered.masses == scene_odds(game_of(written, by=by)).masses
    assert len(ordered.masses) > 1 or defenders == 4


@pytest.mark.parametrize(("left", "leaves", "is_hopeless"), [("1", 500, True), ("1", 499, False), ("1/2", 500, False)])
def test_more_time_is_advised_only_where_it_helps(left: str, leaves: int, is_hopeless: bool) -> None:
    from types import SimpleNamespace

    from rpgres.render.odds.scenes import _what_helps

    chance = SimpleNamespace(probability=float(Fraction(left)), exact=left)
    record: Any = SimpleNamespace(too_many="", open=chance, leaves=leaves, interrupted=False)
    assert ("fewer characters" in _what_helps(record), "--seconds" in _what_helps(record)) == (
        is_hopeless,
        not is_hopeless,
    )


@pytest.mark.slow
def test_hands_with_too_many_results_end_the_search_at_once() -> None:
    from tests.support.command_line import rpgres

    told = rpgres("odds", "faith/shutter").out
    assert "remaining: 100.00 %" in told
    assert "a hand that somebody looks at has too many results for any time; try the cards of that hand in a" in told
    assert "in a step (hand), --simulate N adds estimates" in told
    assert "--seconds" not in told


def test_who_joins_later_brings_cards_for_a_deck_that_is_there() -> None:
    text = """
ruleset = "faith"
[characters.bero]
sheet = "bero"
[[steps]]
actor = "bero"
action = "unopposed"
choose = { level = "success" }
[[steps]]
actor = "bero"
action = "confront"
with = { skill = 2, attribute = 1, hand = "H10", against = { name = "thug", skill = 1, attribute = 1, hand = "C2" } }
choose = { play = ["pass", "pass"] }
"""
    game = game_of(read_scene(Source(path="s.toml", text=text)), by=("piles.gm-deck.count",))
    assert scene_odds(game).masses == {(54 + 2 + 2,): 1}  # two jokers of each player


@pytest.mark.parametrize(("ends", "name"), [("", ""), ("[ends.peace]\n", "peace")])
def test_a_scene_without_steps_ends_as_it_begins(battle: Ruleset, ends: str, name: str) -> None:
    found = odds(battle, f'ruleset = "battle"\n[characters.ada]\n{ends}')
    assert found.masses == {(name,): 1}
