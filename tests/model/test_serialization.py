"""A state as plain data and back: nothing lost, nothing taken that is no state, and no thing kept that cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.errors import FileError
from rpgres.model.serialization import DEEPEST, fault_in, plain, read_state, state_record
from rpgres.model.state import GM, Box, Character, Map, State, Tag, freeze

WORD = st.text(max_size=6)
NUMBER = st.integers(-(2**62), 2**62)
THING = st.recursive(
    st.none() | st.booleans() | NUMBER | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=6,
).map(freeze)


def maps(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(WORD, values, max_size=3).map(Map)


def tuples(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3).map(tuple)


TRACKS = maps(tuples(st.builds(Box, name=WORD, size=NUMBER, mark=WORD)))
CHARACTERS = st.builds(
    Character,
    name=WORD,
    title=WORD,
    abilities=maps(NUMBER),
    counters=maps(NUMBER),
    tracks=TRACKS,
    records=maps(maps(maps(THING))),
    texts=maps(WORD),
    seat=WORD,
    is_out=st.booleans(),
)
TAGS = st.builds(Tag, name=WORD, kind=WORD, on=WORD, uses=maps(NUMBER), audience=st.none() | tuples(WORD))
STATES = st.builds(
    State,
    characters=maps(CHARACTERS),
    tags=tuples(TAGS),
    counters=maps(NUMBER),
    tracks=TRACKS,
    things=maps(THING),
    audiences=maps(tuples(WORD)),
)


@given(STATES)
@settings(max_examples=60, deadline=None)
def test_a_state_survives_as_plain_data(state: State) -> None:
    assert fault_in(state) == ""
    written = json.loads(json.dumps(state_record(state)))
    back = read_state(written)
    assert back == state
    assert hash(back) == hash(state)
    assert repr(back) == repr(state)  # equality alone would take 1 for True
    assert state_record(back) == written


@given(THING)
def test_a_thing_and_its_plain_form_are_two_ways_to_say_the_same(thing: Any) -> None:
    assert repr(freeze(plain(thing))) == repr(thing)


def test_what_an_older_version_wrote_lacks_fields() -> None:
    assert read_state({}) == State()
    assert read_state({"counters": {"fog": 2}}) == State(counters=Map({"fog": 2}))


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ([], "array"),
        (None, "null"),
        ({"thing": {}}, "unknown field `thing`"),
        ({"counters": {"fog": "2"}}, "Expected `int`, got `str`"),
        ({"counters": {"fog": True}}, "got `bool`"),
        ({"tags": [{"name": "x"}]}, "missing required field `kind`"),
        ({"tracks": {"clock": [{"name": "1", "size": 1, "marc": "x"}]}}, "unknown field `marc`"),
        ({"characters": {"mara": {"name": "mara", "tracks": {"stress": 3}}}}, "Expected `array`, got `int`"),
        ({"things": {"weight": 1.5}}, "things.weight is the float 1.5"),
        ({"audiences": {"trap": "gm"}}, "Expected `array`, got `str`"),
    ],
)
def test_what_is_no_state_is_refused(record: Any, told: str) -> None:
    with pytest.raises(FileError) as caught:
        read_state(record)
    assert told in caught.value.message


class Mute:
    def __repr__(self) -> str:
        raise ValueError


ENDLESS: Any = ()
for _ in range(DEEPEST + 1):
    ENDLESS = (ENDLESS,)


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (["yard"], "things.places.mara is the list ['yard']"),
        ({"a": 1}, "things.places.mara is the dict {'a': 1}"),
        ({"yard"}, "things.places.mara is the set {'yard'}"),
        (1.5, "the float 1.5"),
        (b"yard", "the bytes b'yard'"),
        (Mute(), "things.places.mara is a Mute"),
        (Box("1", 1), "the Box Box(name='1', size=1, mark='')"),
        (("yard", ["gate"]), "things.places.mara[1] is the list ['gate']"),
        (Map({"now": Map({1: "x"})}), "things.places.mara.now has the key the int 1, which is no text"),
        (ENDLESS, "more than 32 levels deep"),
        (bytearray(b"y" * 500), "yyy..."),
    ],
)
def test_a_thing_that_is_not_plain_and_frozen_is_told_with_its_place(thing: Any, told: str) -> None:
    fault = fault_in(State(things=Map({"fog": 1, "places": Map({"mara": thing})})))
    assert told in fault
    assert len(fault) < 250


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (State(things={"fog": 1}), "things is the dict {'fog': 1} and no rpgres.Map"),  # type: ignore[arg-type]
        (State(things=Map({1: 1})), "things has the name the int 1, which is no text"),  # type: ignore[dict-item]
        (State(tracks=Map({"clock": [Box("1", 1)]})), "tracks.clock is the list"),  # type: ignore[dict-item]
        (State(tracks=Map({"clock": (1,)})), "tracks.clock is the tuple (1,) and no tuple of rpgres.Box"),  # type: ignore[dict-item]
        (State(tracks=Map({"clock": (Box("1", 1, True),)})), "name and mark are texts"),  # type: ignore[arg-type]
        (State(audiences=Map({"trap": GM})), "audiences.trap is the str 'gm' and no tuple of seats"),  # type: ignore[dict-item]
    ],
)
def test_tracks_and_audiences_are_checked_too(state: State, told: str) -> None:
    assert told in fault_in(state)
