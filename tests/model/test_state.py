"""The state: frozen, hashable, changed only as copies; tags, uses and audiences."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.model.state import GM, Box, Character, Map, State, Tag, freeze, put, slug

PLAIN = st.recursive(
    st.integers() | st.text() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def a_state() -> State:
    mara = Character("mara", counters=Map({"points": 3}), tracks=Map({"stress": (Box("1", 1), Box("2", 2))}))
    return State(Map({"mara": mara}), (Tag("On Fire", "aspect", uses=Map({"mara": 1})),))


@given(PLAIN)
def test_frozen_data_are_hashable_and_equal_when_rebuilt(data: Any) -> None:
    assert hash(freeze(data)) == hash(freeze(data))
    assert freeze(data) == freeze(data)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(a=2),
        lambda m: m.pop("a"),
        lambda m: m.clear(),
        lambda m: m.setdefault("b", 1),
        lambda m: m.popitem(),
        lambda m: m.__setitem__("a", 2),
        lambda m: m.__delitem__("a"),
        lambda m: m.__ior__({"b": 1}),
    ],
)
def test_a_map_never_changes(change: Any) -> None:
    original = Map({"a": 1})
    with pytest.raises(TypeError, match="never changes"):
        change(original)
    assert original == {"a": 1}
    assert original.with_("a", 2) == {"a": 2}
    assert original.without("a") == {}
    assert original == {"a": 1}


def test_a_map_survives_pickling_and_is_equal_whatever_its_order() -> None:
    assert pickle.loads(pickle.dumps(Map({"a": 1}))) == Map({"a": 1})
    assert hash(Map({"a": 1, "b": 2})) == hash(Map({"b": 2, "a": 1}))


def test_put_reaches_through_records_and_maps_and_leaves_the_original() -> None:
    before = a_state()
    after = put(before, ("characters", "mara", "counters", "points"), 2)
    assert after.characters["mara"].counters["points"] == 2
    assert before.characters["mara"].counters["points"] == 3
    assert hash(after) != hash(before)
    assert put(after, ("characters", "mara", "counters", "points"), 3) == before


def test_states_with_equal_fields_of_different_kinds_differ() -> None:
    assert Tag("a", "b") != Box("a", 1)
    assert a_state() == a_state()
    assert {a_state(): 1}[a_state()] == 1


def test_tags_are_found_by_text_or_slug_and_replaced_in_place() -> None:
    state = a_state()
    assert state.tag("on-fire") is state.tags[0]
    assert state.tag("On Fire!") is state.tags[0]
    assert state.tag("fire") is None
    more = state.with_tag(Tag("Rain", "aspect")).with_tag(Tag("on fire", "aspect"))
    assert [tag.name for tag in more.tags] == ["on fire", "Rain"]
    assert [tag.name for tag in more.without_tag("On Fire").tags] == ["Rain"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-3, 3)), max_size=12))
def test_uses_never_fall_below_none(changes: list[tuple[str, int]]) -> None:
    tag, counts = Tag("x", "aspect"), {"a": 0, "b": 0}
    for holder, change in changes:
        tag = tag.with_uses(holder, change)
        counts[holder] = max(0, counts[holder] + change)
    assert dict(tag.uses) == {holder: count for holder, count in counts.items() if count}
    assert tag.held_by("ab") == sum(counts.values())


def test_the_seat_of_a_character_is_its_own_or_the_game_masters() -> None:
    state = a_state().with_character(Character("guard", seat=GM))
    assert [state.seat_of(name) for name in ("mara", "guard", "nobody", GM)] == ["mara", GM, GM, GM]


def a_hidden_table() -> State:
    return State(
        tags=(Tag("Fog", "aspect"), Tag("Trap", "aspect", audience=(GM,))),
        tracks=Map({"alarm": (Box("1", 1),), "doom": (Box("1", 1, "x"),)}),
        things=Map({"map": Map({"yard": ("hall",)}), "patrol": ("hall", "vault")}),
        audiences=Map({"doom": (GM,), "patrol": (GM, "ann")}),
    )


def test_hidden_tracks_and_things_are_seen_by_their_audience_alone() -> None:
    state = a_hidden_table()
    assert state.seen_by(GM) is state
    seen = state.seen_by("mara")
    assert (set(seen.tracks), set(seen.things), seen.audiences) == ({"alarm"}, {"map"}, {})
    assert [tag.name for tag in seen.tags] == ["Fog"]
    assert "patrol" not in repr(seen)
    assert set(state.seen_by("ann").things) == {"map", "patrol"}
    assert state.seen_by("ann").audiences == {"patrol": (GM, "ann")}


def test_nothing_is_copied_when_nothing_is_hidden() -> None:
    for state in (
        a_state(),
        State(things=Map({"map": 1})),
        State(things=Map({"map": 1}), audiences=Map({"map": ("a",)})),
    ):
        assert state.seen_by("a") is state


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(), max_size=4), st.sampled_from("ab"), st.integers())
def test_what_is_hidden_changes_no_view(things: dict[str, int], name: str, value: int) -> None:
    audiences = Map({"a": (GM,), "b": ("ann",)})
    one = State(things=Map(things), tracks=Map({name: (Box("1", 1),)}), audiences=audiences)
    other = put(put(one, ("things", name), value), ("tracks", name), ())
    assert repr(one.seen_by("mara")) == repr(other.seen_by("mara"))


def test_states_that_differ_in_a_thing_differ() -> None:
    state = a_hidden_table()
    assert state == a_hidden_table()
    assert hash(state) == hash(a_hidden_table())
    assert put(state, ("things", "patrol"), ()) != state
    assert len({state, a_hidden_table(), put(state, ("tracks", "alarm"), ())}) == 2


def test_states_become_plain_json() -> None:
    shown = msgspec.json.decode(msgspec.json.encode(a_state()))
    assert shown["characters"]["mara"]["tracks"]["stress"][1] == {"name": "2", "size": 2, "mark": ""}


@given(st.text())
def test_a_slug_is_stable_and_typable(text: str) -> None:
    assert slug(slug(text)) == slug(text)
    assert " " not in slug(text)


def test_nobody_is_named_by_nothing() -> None:
    state = a_state().with_character(Character("bo", title="Bö Quill"))
    assert [state.named(text) for text in ("", " ", "mara", "Bo quill")] == [[], [], ["mara"], ["bo"]]
