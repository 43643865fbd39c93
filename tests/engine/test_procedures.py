"""Procedures: turns whose effects hold from the next turn on, in one run."""

from __future__ import annotations

import pytest

from rpgres import GM, Option, Outcome, Table, Turn, effect
from rpgres.cli.shell import resumed
from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import prepare
from rpgres.engine.procedures import _by_audience
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.errors import RuleError
from rpgres.model.events import TurnEvent
from rpgres.model.state import Map, State, Tag
from rpgres.odds.exact import outcome_odds
from rpgres.odds.scenes import scene_odds
from rpgres.render.lines import plain_text
from rpgres.render.results import result_lines
from rpgres.scenes.reading import procedure_scene
from rpgres.scenes.walking import game_of
from tests.support.battle import DATA, Front, battle_rules, battle_ruleset, chance_to_win, losses
from tests.support.tiny import tiny_rules


def test_effects_of_a_turn_hold_in_the_next() -> None:
    prepared = prepare(battle_rules(), "battle", {"attackers": 4, "defenders": 3})
    result, after = run(prepared, streams=Streams("7"))
    assert isinstance(result, Result)
    turns = [event for event in result.events if isinstance(event, TurnEvent)]
    assert [turn.turn for turn in turns] == list(range(len(turns)))
    assert [effect for turn in turns for effect in turn.effects] == result.effects
    left = after.counters["attackers"], after.counters["defenders"]
    assert min(left) == 0 < max(left)
    assert result.success is (left[1] == 0)


def test_dice_of_a_turn_do_not_depend_on_earlier_turns() -> None:
    rules = battle_rules()
    fewer, _ = run(prepare(rules, "battle", {"attackers": 3, "defenders": 5}), streams=Streams("7"))
    more, _ = run(prepare(rules, "battle", {"attackers": 30, "defenders": 30}), streams=Streams("7"))

    def second(result: object) -> list[str]:
        assert isinstance(result, Result)
        place = next(n for n, event in enumerate(result.events) if isinstance(event, TurnEvent))
        return [event.faces for event in result.events[place + 1 : place + 2]]  # type: ignore[union-attr]

    assert second(fewer) == second(more)


def test_a_decision_in_a_later_turn_is_resumed() -> None:
    prepared = prepare(battle_rules(), "battle", {"attackers": 9, "defenders": 9, "may-stop": True})
    waits, _ = run(prepared, streams=Streams("7"), choose={"go-on": ["on", "on"]})
    assert isinstance(waits, Pending)
    assert waits.question.label == "go-on"
    assert resumed(waits, prepared.rules).resume.count("--choose go-on=on") == 3  # two that were given, and an example
    result, _ = run(prepared, streams=Streams("7"), choose={"go-on": ["on", "on", "stop"]})
    assert isinstance(result, Result)
    assert result.outcome == "lost"


def test_one_without_a_function_that_stops_it_keeps_what_its_turns_did() -> None:
    prepared = prepare(battle_rules(), "battle", {"attackers": 9, "defenders": 9, "may-stop": True})
    waits, then = run(prepared, streams=Streams("7"), choose={"go-on": ["on", "on"]})
    assert isinstance(waits, Pending)
    came, after = run(prepared, streams=Streams("7"), choose={"go-on": ["on", "on"]}, stops=True)
    assert isinstance(came, Result)
    assert (came.outcome, after, came.events) == (None, then, waits.events)
    assert "Battle: ended early" in plain_text(result_lines(came, prepared.rules.file))
    left = after.counters["attackers"] + after.counters["defenders"]
    assert -sum(one["change"] for one in came.effects) == 18 - left > 0
    nothing, _ = run(prepared, streams=Streams("7"), stops=True)
    assert isinstance(nothing, Pending)  # no turn of it is over


def test_a_function_that_stops_a_procedure_asks_nothing_and_returns_an_outcome() -> None:
    def asks(table: Table, _front: Front) -> Outcome:
        table.ask("more", "actor", (Option("yes"), Option("no")))
        return Outcome("lost")

    for stop, fault in ((asks, "asked 'more'; it must ask nothing"), (lambda _table, _front: None, "it returned None")):
        rules = battle_rules()
        rules.ruleset.stops["battle"] = stop
        prepared = prepare(rules, "battle", {"attackers": 9, "defenders": 9, "may-stop": True})
        with pytest.raises(RuleError, match=fault):
            run(prepared, streams=Streams("7"), choose={"go-on": ["on"]}, stops=True)


@pytest.mark.slow
def test_odds_are_those_of_the_recursion() -> None:
    assert losses(3, 2)[(0, 2)].numerator * (7776 // losses(3, 2)[(0, 2)].denominator) == 2890
    prepared = prepare(battle_rules(), "battle", {"attackers": 3, "defenders": 2})
    odds = outcome_odds(prepared, seconds=60)
    assert odds.masses["won"] == chance_to_win(3, 2)
    assert not odds.open


def test_a_turn_that_returns_something_else_is_a_fault() -> None:
    ruleset = battle_ruleset()
    ruleset.procedures["battle"] = lambda table, place: place
    prepared = prepare(tiny_rules(DATA, ruleset=ruleset), "battle", {"attackers": 3, "defenders": 2})
    with pytest.raises(RuleError, match=r"neither rpgres\.Turn nor an outcome"):
        run(prepared, streams=Streams("7"))


@pytest.mark.parametrize("place", [[], ("list", [])])
def test_a_place_that_cannot_be_hashed_is_a_fault(place: object) -> None:
    ruleset = battle_ruleset()
    ruleset.procedures["battle"] = lambda _table, _place: Turn(place, Outcome(""))  # type: ignore[arg-type]
    prepared = prepare(tiny_rules(DATA, ruleset=ruleset), "battle", {"attackers": 2, "defenders": 2})
    with pytest.raises(
        RuleError, match=r"a place that cannot be hashed \(unhashable type: 'list'\); a place is a frozen"
    ):
        run(prepared, streams=Streams("7"))


def test_a_place_that_cannot_be_hashed_is_a_fault_in_odds_too() -> None:
    ruleset = battle_ruleset()
    ruleset.procedures["battle"] = lambda _table, _place: Turn([], Outcome(""))  # type: ignore[arg-type]
    scene = procedure_scene(tiny_rules(DATA, ruleset=ruleset), "battle", {"attackers": 2, "defenders": 2})
    with pytest.raises(RuleError, match="a place that cannot be hashed"):
        scene_odds(game_of(scene))


def test_effects_of_a_turn_that_name_something_hidden_are_for_those_who_know_of_it() -> None:
    plan = Tag("A Plan", "aspect", on="mara", audience=("mara", GM))
    state = State(tags=(plan, Tag("A Wall", "aspect")), things=Map({"hand-bo": 1}), audiences=Map({"hand-bo": ("bo",)}))
    effects = (effect("open", name="A Wall"), effect("note", name="a-plan"), effect("bid", thing="hand-bo"))
    found = _by_audience(effects, State(), state)
    assert found == {None: [effects[0]], ("gm", "mara"): [effects[1]], ("bo",): [effects[2]]}
    both = effect("bid", thing="hand-bo", about=("a-plan",))
    assert _by_audience((both,), state) == {(): [both]}, "whoever knows of the one and not of the other learns nothing"
    assert _by_audience(effects, State()) == {None: list(effects)}
