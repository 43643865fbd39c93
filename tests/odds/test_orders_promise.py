"""Standing orders promise what they do not look at, decision by decision: odds are the same, and less is played."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rpgres.engine.orders import orders_policy
from rpgres.engine.players import NO_PROMISES, Policy, Promises, policy_for, preferred, promises_of, uniform
from rpgres.engine.seats import Policies
from rpgres.kits.aspects.policies import pays, thrifty
from rpgres.odds.scenes import scene_odds
from rpgres.odds.trees import Searched
from rpgres.rulesets.orders import Order
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source

NAMED: dict[str, Policy] = {
    "thrifty": thrifty,
    "nothing": orders_policy((), named=lambda name: NAMED[name]),
    "stranger": lambda _view, question: question.options[0].name,
}
TURN = Order(ask="turn", when={"self.tracks.physical.free": "<= 1"}, choose="concede")
MARGIN = Order(ask="invoke", when={"facts.margin": "<= -1"}, choose=["quick", "no"])
POOR = Order(ask="invoke", when={"self.counters.fate-points": "<= 1"}, choose="no")

SCENE = """
ruleset = "fate"
policy = "thrifty"
[characters.ann]
skills = {{ fight = 2 }}
aspects = ["Quick"]
fate-points = 1
[[characters.ann.orders]]
{order}
[characters.bob]
skills = {{ fight = 2 }}
[[steps]]
id = "fight"
procedure = "conflict"
actor = "ann"
with = {{ against = ["bob"], exchanges = 1 }}
"""


def policy(*orders: Order, fallback: Policy | None = preferred) -> Policy:
    return orders_policy(orders, named=NAMED.__getitem__, fallback=fallback)


@pytest.mark.parametrize(
    ("orders", "fallback", "found"),
    [
        ((), preferred, (True, True)),
        ((), None, (True, True)),
        ((Order(ask="turn", choose="first"),), preferred, (True, True)),
        ((Order(ask="turn", when={"facts.enemies": "> 1"}, choose={"highest": "room"}),), preferred, (True, True)),
        ((MARGIN,), preferred, (True, False)),
        ((Order(ask="hit", when={"facts.margin": ">= 2"}, choose="any"),), preferred, (True, True)),
        ((Order(ask="hit", when={"facts.foe": "bram"}, choose="any"),), preferred, (True, False)),
        ((Order(when={"options.concede": True}, choose="first"),), preferred, (True, False)),
        ((TURN,), preferred, (False, False)),
        ((MARGIN,), NAMED["stranger"], (False, False)),
        ((Order(ask="turn", policy="thrifty"),), preferred, (True, True)),
        ((Order(ask="turn", policy="stranger"),), preferred, (False, False)),
    ],
)
def test_orders_promise_what_their_conditions_and_choices_show(
    orders: tuple[Order, ...], fallback: Policy | None, found: tuple[bool, bool]
) -> None:
    assert promises_of(policy(*orders, fallback=fallback)) == Promises(*found)


def test_orders_for_other_decisions_break_no_promise() -> None:
    both = policy(TURN, MARGIN, fallback=policy(POOR, fallback=thrifty))
    assert policy_for(policy(TURN), ["invoke"]) is preferred
    assert policy_for(both, ["invoke"]) is both
    assert promises_of(both, ("hit",)) == (True, True)
    assert promises_of(both, ("invoke",)) == (False, False)  # what is left to the other orders looks
    empty = policy(Order(policy="nothing"), fallback=None)
    assert promises_of(empty, ("hit",)) == (True, True)
    policies = Policies({"": thrifty, "ann": policy(TURN, fallback=thrifty), "bob": policy(TURN, fallback=uniform)})
    assert not policies.by_question
    assert policies.promises("invoke") == (True, True)
    assert policies.promises("turn") == (False, False)
    assert pays(policies) is None
    assert pays(Policies({"": thrifty, "ann": policy(TURN, fallback=thrifty)})) is False
    assert Policies({"": preferred, "ann": policy(TURN)}).are_preferred("invoke")
    assert not Policies({"": preferred, "ann": policy(POOR)}).are_preferred("invoke")


def test_a_search_takes_any_option_and_tells_them_by_name() -> None:
    searched = Searched(Policies({"": preferred}), "ann", lambda _view, _question: None)
    assert searched.promises("invoke") == (True, False)
    assert not searched.are_preferred("invoke")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "is_less"),
    [
        ('ask = "turn"\nwhen = { "self.tracks.physical.free" = "<= 1" }\nchoose = "concede"', True),
        ('ask = "invoke"\nwhen = { "facts.margin" = "<= -1" }\nchoose = ["quick", "no"]', True),
        ('ask = ["invoke", "hit"]\npolicy = "sensible"', True),
        ('ask = "invoke"\nwhen = { "self.counters.fate-points" = ">= 1" }\nchoose = ["quick", "no"]', False),
        ('ask = "invoke"\nwhen = { "characters.bob.tracks.physical.marked" = ">= 1" }\nchoose = "first"', False),
        ('when = { "options.concede" = true, "tags.any.kind" = "boost" }\nchoose = "concede"', False),
    ],
)
def test_what_orders_promise_changes_no_odds(order: str, is_less: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    by = ("characters.ann.tracks.physical", "characters.bob.tracks.physical", "characters.ann.counters.fate-points")

    def odds() -> tuple[dict[Any, Fraction], int]:
        scene = read_scene(Source(path="s.toml", text=SCENE.format(order=order)))
        found = scene_odds(game_of(scene, by=by), work=10**8)
        assert not found.open
        return found.masses, found.leaves

    found, paths = odds()
    monkeypatch.setattr("rpgres.engine.orders._promises", lambda *_: NO_PROMISES)
    monkeypatch.setattr("rpgres.engine.seats.policy_for", lambda policy, _labels: policy)
    plain, more = odds()
    assert found == plain
    assert paths < more if is_less else paths == more
