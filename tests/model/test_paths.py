"""Paths of the state and conditions on them: what they read, what is refused, and what two of them say together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.errors import UsageError
from rpgres.model.conditions import (
    Conditions,
    condition_faults,
    contradicts,
    holds,
    implies,
    possible,
    read_condition,
)
from rpgres.model.paths import NOTHING, Scope, parse_path, value_at
from rpgres.model.state import GM, Box, Character, Map, Pile, State, Tag
from rpgres.rulesets import Option

MARA = Character(
    "mara",
    "Mara",
    abilities=Map({"fight": 3}),
    counters=Map({"points": 2}),
    tracks=Map({"stress": (Box("1", 1, "x"), Box("2", 2), Box("3", 3))}),
    records=Map({"stunts": Map({"riposte": Map({"bonus": 2})})}),
    texts=Map({"trouble": "debts"}),
)
STATE = State(
    Map(
        {"mara": MARA, "bo": Character("bo"), "guard": Character("guard", seat=GM), "thug": Character("thug", seat=GM)}
    ),
    (
        Tag("On Fire", "aspect", uses=Map({"mara": 2, "guard": 1})),
        Tag("Hurt Arm", "consequence", "mara"),
    ),
    counters=Map({"doom": 4}),
    tracks=Map({"clock": (Box("1", 1), Box("2", 1))}),
    things=Map({"zones": Map({"mara": "roof"}), "lit": True, "order": ("mara", "bo")}),
    piles=Map({"deck": Pile(("a", "b")), "hand:mara": Pile(("St6",), ("mara",), "mara", top=("c",), knowers=(None,))}),
    periods=("scene", "conflict"),
)


OPTIONS = (Option("stay"), Option("flee", facts=Map({"cost": 3})))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("characters.mara.counters.points", 2),
        ("characters.mara.abilities.fight", 3),
        ("characters.mara.is_out", False),
        ("characters.mara.is-out", False),
        ("characters.mara.tracks.stress.free", 2),
        ("characters.mara.tracks.stress.marked", 1),
        ("characters.mara.tracks.stress.count", 3),
        ("characters.mara.tracks.stress.1.mark", "x"),
        ("characters.mara.records.stunts.riposte.bonus", 2),
        ("characters.mara.texts.trouble", "debts"),
        ("characters.mara.tags.count", 1),
        ("characters.mara.tags.hurt-arm.kind", "consequence"),
        ("characters.mara.piles.hand.count", 2),
        ("characters.count", 4),
        ("characters.active.count", 4),
        ("characters.nobody.counters.points", "absent"),
        ("counters.doom", 4),
        ("tags.count", 2),
        ("tags.on-fire.uses.mara", 2),
        ("tags.On Fire.uses.total", 3),
        ("tags.on-fire.uses.thug", "absent"),
        ("tags.wet", "absent"),
        ("tracks.clock.free", 2),
        ("things.zones.mara", "roof"),
        ("things.order.bo", True),
        ("things.order.count", 2),
        ("things.lit", True),
        ("piles.deck.count", 2),
        ("piles.hand:mara.cards.St6", True),
        ("piles.deck.cards.St6", "absent"),
        ("periods.conflict", True),
        ("periods.exchange", "absent"),
        ("periods", ["scene", "conflict"]),
        ("characters.mara.tracks.stress.1", {"name": "1", "size": 1, "mark": "x"}),
        ("self.counters.points", "absent"),
        ("characters..x", "absent"),
    ],
)
def test_value_at(path: str, value: object) -> None:
    assert value_at(STATE, path) == value


@pytest.mark.parametrize(
    ("path", "facts", "value"),
    [
        ("self.counters.points", {}, 2),
        ("self.tracks.stress.free", {}, 2),
        ("others.count", {}, 3),
        ("enemies.count", {}, 2),
        ("allies.count", {}, 1),
        ("enemies.count", {"foes": ("bo", "gone")}, 1),
        ("allies.count", {"foes": ("bo",)}, 2),
        ("enemies.count", {"foes": 1}, 2),
        ("facts.margin", {"margin": -1}, -1),
        ("facts.margin", {}, NOTHING),
        ("options.count", {}, 2),
        ("options.flee.cost", {}, 3),
        ("options.fl*.cost", {}, 3),
        ("options.hide", {}, NOTHING),
    ],
)
def test_who_decides_speaks_of_more(path: str, facts: dict[str, Any], value: object) -> None:
    scope = Scope(STATE, "mara", facts, OPTIONS)
    assert parse_path(path, decides=True).read(scope) == value


def test_the_game_masters_characters_have_the_others_for_enemies() -> None:
    assert parse_path("enemies.count", decides=True).read(Scope(STATE, "guard")) == 2
    assert parse_path("allies.count", decides=True).read(Scope(STATE, "guard")) == 1


def test_without_sides_all_others_are_enemies_and_those_out_do_not_count() -> None:
    state = State(Map({name: Character(name, is_out=name == "c") for name in "abcd"}))
    assert parse_path("enemies.count", decides=True).read(Scope(state, "a")) == 2
    assert parse_path("allies.count", decides=True).read(Scope(state, "a")) == 0


@pytest.mark.parametrize(
    "when",
    [
        {"characters.mara.tracks.stress.free": "<= 2"},
        {"characters.mara.tracks.stress.free": 2},
        {"characters.mara.tracks.stress.free": "1..2"},
        {"characters.mara.tracks.stress.free": "> 1 and < 3"},
        {"characters.mara.tracks.stress.free": [1, ">= 2"]},
        {"characters.mara.counters.points": "!= 3"},
        {"characters.mara.counters.nothing": 0},
        {"characters.mara.counters.nothing": "absent"},
        {"characters.mara.counters.points": "!= absent"},
        {"characters.mara.is_out": False},
        {"characters.mara.is_out": "!= true"},
        {"characters.mara.texts.trouble": "debts"},
        {"characters.mara.texts.trouble": ["love", "debts"]},
        {"characters.mara.texts.trouble": "!= love"},
        {"tags.on-fire": True, "tags.wet": False, "periods.conflict": True, "periods.exchange": False},
        {"tags.on-fire.uses.thug": "<= 0"},
        {"characters.any.counters.points": 2},
        {"characters.all.is_out": False},
        {"tags.any.kind": "consequence"},
        {"characters.mara.tracks.stress.any.mark": "x"},
        {"things.lit": True},
        {"things.zones.mara": "roof"},
    ],
)
def test_what_holds(when: Conditions) -> None:
    assert holds(when, STATE)
    assert list(condition_faults(when)) == []


@pytest.mark.parametrize(
    "when",
    [
        {"characters.mara.tracks.stress.free": "<= 1"},
        {"characters.mara.tracks.stress.free": [1, ">= 3"]},
        {"characters.mara.counters.points": "= 3"},
        {"characters.mara.counters.points": "< 2"},
        {"characters.mara.counters.points": "> 2"},
        {"characters.mara.is_out": True},
        {"characters.mara.texts.trouble": "love"},
        {"tags.on-fire": True, "tags.wet": True},
        {"characters.all.counters.points": 2},
        {"characters.any.is_out": True},
        {"things.zones.mara": "<= 3"},
    ],
)
def test_what_does_not_hold(when: Conditions) -> None:
    assert not holds(when, STATE)
    assert list(condition_faults(when)) == []


@pytest.mark.parametrize(
    ("when", "code", "told"),
    [
        ({"slef.counters.a": 1}, "unknown-name", "did you mean 'self'?"),
        ({"self.trakcs.a": 1}, "unknown-name", "did you mean 'tracks'?"),
        ({"self.counters.a.b": 1}, "unknown-name", "has no parts"),
        ({"self..a": 1}, "unknown-name", "one of these is empty"),
        ({"enemies.any.tags.any.kind": "x"}, "unknown-name", "`any` or `all` can be used in a path once"),
        ({"enemies.any": True}, "unknown-name", "`any` is followed by what has to hold"),
        ({"self.is_out": 1}, "wrong-type", "true or false"),
        ({"self.is_out": ">= 1"}, "wrong-type", "true or false"),
        ({"self.counters.a": True}, "wrong-type", "never true"),
        ({"self.counters.a": "many"}, "wrong-type", "not 'many'"),
        ({"self.counters.a": "<= many"}, "wrong-type", "compares whole numbers"),
        ({"self.texts.a": "<= b"}, "wrong-type", "compares whole numbers"),
        ({"self.texts.a": 3}, "wrong-type", "is a text"),
        ({"self.tracks": "3"}, "wrong-type", "no single value"),
        ({"self.counters.a": []}, "never-matches", "an empty list"),
        ({"self.counters.a": "> 3 and < 2"}, "never-matches", "no possible value fits"),
        ({"self.counters.a": "3..1"}, "never-matches", "no possible value fits"),
        ({"self.tracks.a.free": "< 0"}, "never-matches", "no possible value fits"),
        ({"self.is_out": True, "self.is-out": False}, "never-matches", "together with 'self.is_out'"),
        ({"enemies.count": 0, "enemies.any.seat": "gm"}, "never-matches", "together with 'enemies.count'"),
        ({"tags.x": False, "tags.x.uses.mara": ">= 1"}, "never-matches", "together with 'tags.x'"),
    ],
)
def test_faults(when: Conditions, code: str, told: str) -> None:
    found = list(condition_faults(when, decides=True))
    assert [(fault.code, told in fault.message) for fault in found] == [(code, True)], found


def test_only_who_decides_has_a_self() -> None:
    with pytest.raises(UsageError, match="has no place 'self'"):
        holds({"self.is_out": True}, STATE)


COMPARISONS = st.one_of(
    st.integers(-4, 4),
    st.tuples(st.sampled_from(["<=", ">=", "<", ">", "=", "!="]), st.integers(-4, 4)).map(
        lambda its: f"{its[0]} {its[1]}"
    ),
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)).map(lambda its: f"{its[0]}..{its[1]}"),
)


@given(COMPARISONS, COMPARISONS)
def test_what_two_conditions_say_together_is_what_every_number_says(one: int | str, other: int | str) -> None:
    first, second = read_condition("counters.a", one), read_condition("counters.a", other)
    numbers = [*range(-9, 10), NOTHING]
    both = [value for value in numbers if first.test(value) and second.test(value)]
    assert possible([first, second]) == bool(both) == (not contradicts(first, second))
    assert implies(first, second) == all(second.test(value) for value in numbers if first.test(value))


WORDS = [
    "self",
    "enemies",
    "characters",
    "mara",
    "any",
    "all",
    "tracks",
    "stress",
    "free",
    "count",
    "1",
    "mark",
    "tags",
]
WORDS += [
    "on-fire",
    "uses",
    "total",
    "things",
    "zones",
    "order",
    "options",
    "fl*",
    "cost",
    "facts",
    "piles",
    "hand",
    "cards",
]
WORDS += ["counters", "points", "is-out", "active", "periods", "conflict", "texts", "audiences", "records", "", "x y"]
WANTED = st.sampled_from(
    ["<= 1", "> x", "2..4", "absent", "!= absent", "= true", "x", "", 0, -1, True, False, [1, "x"], "> 1 and <= 3"]
)


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(".".join), WANTED | st.text(max_size=8), st.booleans()
)
def test_every_condition_is_refused_or_can_be_evaluated(path: str, wanted: Any, decides: bool) -> None:
    """What a check finds nothing wrong with never fails in play, on this table or an empty one."""
    faults = list(condition_faults({path: wanted}, decides=decides))
    if any(fault.code != "never-matches" for fault in faults):
        with pytest.raises(UsageError):
            read_condition(path, wanted, decides=decides)
        return
    for state in (STATE, STATE.seen_by("bo"), State()):
        scope = Scope(state, "mara", {"margin": 1}, OPTIONS)
        found = read_condition(path, wanted, decides=decides).holds(scope)
        assert found in (True, False)
        if faults:
            assert not found


def test_any_copy_of_a_card_is_that_card() -> None:
    state = State(piles=Map({"deck": Pile(cards=("C5.2", "H1"))}))
    assert value_at(state, "piles.deck.cards.C5") is True
    assert value_at(state, "piles.deck.cards.C") == "absent"


def test_tags_are_told_in_the_order_of_their_names_however_they_came() -> None:
    other = msgspec.structs.replace(STATE, tags=STATE.tags[::-1])
    assert [tag.slug for tag in parse_path("tags").told(other)] == ["hurt-arm", "on-fire"]
    assert parse_path("tags").told(other) == parse_path("tags").told(STATE)
