"""A state as plain data and back: nothing lost, nothing taken that is no state, and no thing kept that cannot be."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.errors import FileError
from rpgres.model.serialization import DEEPEST, fault_in, misnamed_in, plain, read_state, state_record
from rpgres.model.state import GM, Box, Character, Map, Pile, State, Tag, freeze, pile_name
from tests.support.effort import examples

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


def distinct(values: st.SearchStrategy[Any], *, by: str) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3, unique_by=attrgetter(by)).map(tuple)


def named(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records by a name that each of them repeats."""
    return distinct(values, by="name").map(lambda records: Map({one.name: one for one in records}))


def piles(numbers: dict[str, int]) -> Map[str, Pile]:
    """Return piles of so many cards, of nobody or of whoever is named."""
    return Map(
        {
            pile_name("hand", owner): Pile(("St4",) * count, owner=owner, top=("?",) * count, knowers=(None,) * count)
            for owner, count in numbers.items()
        }
    )


TRACKS = maps(distinct(st.builds(Box, name=WORD, size=NUMBER, mark=WORD), by="name"))
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
    characters=named(CHARACTERS),
    tags=distinct(TAGS, by="slug"),
    counters=maps(NUMBER),
    tracks=TRACKS,
    things=maps(THING),
    audiences=maps(tuples(WORD)),
    piles=st.dictionaries(WORD, st.integers(0, 3), max_size=2).map(piles),
    periods=st.lists(WORD, max_size=3, unique=True).map(tuple),
)


@pytest.mark.slow
@given(STATES)
@settings(max_examples=examples(60), deadline=None)
def test_a_state_survives_as_plain_data(state: State) -> None:
    assert fault_in(state) == misnamed_in(state) == ""
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


TWINS = [{"name": "1", "size": 1}, {"name": "1", "size": 2}]


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
        ({"characters": {"mara": {"name": "edda"}}}, "characters.mara has another name"),
        ({"characters": {"mara": {"name": "mara", "tracks": {"stress": TWINS}}}}, "stress has two boxes called 1"),
        ({"tracks": {"clock": TWINS}}, "tracks.clock has two boxes called 1"),
        ({"tags": [{"name": "On Fire", "kind": "x"}, {"name": "on fire", "kind": "y"}]}, "tags are called on-fire"),
        ({"piles": {"hand:mara": {"owner": "edda"}}}, "piles.hand:mara is owned by edda"),
        ({"piles": {"deck": {"top": ["St4"], "knowers": []}}}, "piles.deck: of each card"),
        ({"periods": ["scene", "exchange", "scene"]}, "periods has scene twice"),
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
        (Map({"now": Map({1: "x"})}), "things.places.mara.now has the key the int 1, which is not text"),
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
        (State(things={"fog": 1}), "things is the dict {'fog': 1}, not an rpgres.Map"),  # type: ignore[arg-type]
        (State(things=Map({1: 1})), "things has the name the int 1, which is not text"),  # type: ignore[dict-item]
        (State(tracks=Map({"clock": [Box("1", 1)]})), "tracks.clock is the list"),  # type: ignore[dict-item]
        (State(tracks=Map({"clock": (1,)})), "tracks.clock is the tuple (1,), not a tuple of rpgres.Box"),  # type: ignore[dict-item]
        (State(tracks=Map({"clock": (Box("1", 1, True),)})), "name and mark are texts"),  # type: ignore[arg-type]
        (State(audiences=Map({"trap": GM})), "audiences.trap is the str 'gm', not a tuple of seats"),  # type: ignore[dict-item]
    ],
)
def test_tracks_and_audiences_are_checked_too(state: State, told: str) -> None:
    assert told in fault_in(state)
