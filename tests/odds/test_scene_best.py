"""The best that somebody can do over a whole scene, against recursions that know no engine."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from rpgres.dice import dice
from rpgres.odds.scene_best import Blind, SceneBest, scene_best
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import Ruleset
from rpgres.scenes import Scene, read_scene
from rpgres.scenes.walking import course_of
from rpgres.toml.reading import Source
from tests.odds.test_scenes import battle as battle  # the fixture
from tests.support.battle import losses

WON = ("won",)


def scene_of(ruleset: Ruleset, text: str, **options: Any) -> Scene:
    return read_scene(Source(path="s.toml", text=text), find_ruleset=lambda _: ruleset, **options)


def war(attackers: int, defenders: int) -> str:
    """A battle from which the attacker may turn back, and is then content with more than two armies."""
    return (
        f'ruleset = "battle"\ncounters = {{ attackers = {attackers}, defenders = {defenders} }}\n'
        '[characters.ada]\n[[steps]]\nid = "war"\nprocedure = "battle"\nactor = "ada"\nwith = { may-stop = true }\n'
        '[ends.won]\nwhen = { war = "won" }\n[ends.spared]\nwhen = { "counters.attackers" = ">= 3" }\n[ends.lost]\n'
    )


@cache
def worth(attackers: int, defenders: int) -> Fraction:
    """Return the greatest chance to win, or to turn back with three armies."""
    if not defenders:
        return Fraction(1)
    stop = Fraction(attackers >= 3)
    if not attackers:
        return Fraction(0)
    on = sum(
        (
            chance * worth(attackers - lost, defenders - won)
            for (lost, won), chance in losses(attackers, defenders).items()
        ),
        Fraction(0),
    )
    return max(stop, on)


def best_of(ruleset: Ruleset, attackers: int, defenders: int) -> SceneBest:
    scene = scene_of(ruleset, war(attackers, defenders))
    return scene_best(course_of(scene), "actor", worth=lambda result: int(result[0] in ("won", "spared")))


@pytest.mark.parametrize(("attackers", "defenders"), [(2, 1), (2, 2), (1, 3)])
def test_optimal_decisions_are_the_recursion(battle: Ruleset, attackers: int, defenders: int) -> None:
    found = best_of(battle, attackers, defenders)
    assert found.value == worth(attackers, defenders)
    assert sum(found.masses.values()) == 1
    assert sum(mass for (name,), mass in found.masses.items() if name != "lost") == found.value


def test_the_first_decision_tells_what_the_second_best_costs(battle: Ruleset) -> None:
    found = best_of(battle, 2, 2)
    (first,) = found.decisions
    assert (first.label, first.probability) == ("go-on", 1)
    assert [option.option for option in first.options] == ["on", "stop"]
    assert first.options[0].value == found.value
    assert first.options[1].value == 0


@pytest.mark.slow
def test_a_policy_is_never_better(battle: Ruleset) -> None:
    from rpgres.engine.players import uniform

    battle.policies["uniform-here"] = uniform
    scene = scene_of(battle, war(2, 2), policies={"": "uniform-here"})
    played = scene_odds(course_of(scene))
    assert sum(mass for (name,), mass in played.masses.items() if name != "lost") < best_of(battle, 2, 2).value


def test_what_is_hidden_and_always_the_same_tells_nothing(battle: Ruleset) -> None:
    text = war(2, 1).replace("[[steps]]", '[tracks.trap]\nboxes = 1\nseen-by = ["gm"]\n[[steps]]', 1)
    found = scene_best(course_of(scene_of(battle, text)), "actor", worth=lambda result: int(result == WON))
    assert found.masses[WON] == found.value == worth(2, 1)


def test_one_view_of_two_states_is_refused(battle: Ruleset) -> None:
    from rpgres import Map, Outcome, Turn, effect, put

    @battle.effect("secret")
    def secret(state: Any, change: Any) -> Any:
        state = put(state, ("things",), state.things.with_("secret", change["is"]))
        return put(state, ("audiences",), Map({**state.audiences, "secret": ("gm",)}))

    def guess(table: Any, place: Any) -> Any:
        if place == "hide":
            found = table.roll(dice("d2"), "attack")
            return Turn("guess", Outcome("", effects=(effect("secret", **{"is": found}),)))
        from rpgres.rulesets import Option

        answer = table.ask("go-on", "ada", (Option("on"), Option("stop")))
        return table.settle("battle", None, band="won" if answer == "on" else "lost")

    before = battle.procedures["battle"], battle.actions["battle"]
    try:
        battle.procedures["battle"] = guess
        battle.actions["battle"] = lambda table, actor, **_: "hide"
        scene = scene_of(battle, war(1, 1).split("[ends")[0])
        with pytest.raises(Blind, match="what ada sees stands for several states"):
            scene_best(course_of(scene), "ada", worth=lambda result: int(result == WON))
    finally:
        battle.procedures["battle"], battle.actions["battle"] = before


def test_what_is_best_for_an_action_may_be_missed_later() -> None:
    """A low doom card never hurts the action it is played in, and is the game master's in the next one."""
    hand = 'hand = "Wi1,Do3,In9,In8"'
    text = (
        'ruleset = "saga"\n[characters.ada]\nname = "Ada"\nedge = 3\nhand-size = 3\nlost = 3\n'
        "abilities = { strength = 6, agility = 0 }\n"
        '[[steps]]\nactor = "ada"\naction = "act"\nwith = { ability = "agility", vs = 20, ' + hand + " }\n"
        'choose = { play = "Wi1" }\n'
        '[[steps]]\nactor = "ada"\naction = "act"\nwith = { ability = "strength", vs = 14 }\n'
    )
    scene = read_scene(Source(path="s.toml", text=text), find_ruleset=find_ruleset, auto=True)
    found = scene_best(course_of(scene), "ada", worth=lambda result: int(result[0] == "succeed"))
    assert found.value == 1
    assert {one.option: one.value for one in found.decisions[0].options} == {"stop": 1, "In9": 1, "In8": 1, "Do3": 0}
