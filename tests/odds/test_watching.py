"""A watched position tells what was read and what was written, and nothing else."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.engine.procedures import Position
from rpgres.model.state import Box, Character, Map, State, Tag, mark_box, put
from rpgres.odds.nodes import MASK, SHAPE, TAGS, UNCHANGED, WIDTH, Delta, Memo, Node, changed, in_turn
from rpgres.odds.positions import Parts
from rpgres.odds.watching import Reads, unwatched


class Place(msgspec.Struct, frozen=True):
    turn: int = 0
    left: int = 3


class At(msgspec.Struct, frozen=True):
    op: int = 0


BOXES = (Box("1", 1), Box("2", 2, "x"))
MARA = Character("mara", counters=Map(points=3), tracks=Map(physical=BOXES, mental=BOXES), abilities=Map(fight=2))
STATE = State(
    characters=Map(mara=MARA, guard=Character("guard", seat="gm")),
    tags=(Tag("Fog", "aspect"),),
    counters=Map(doom=1),
    things=Map(lantern="mara", map=Map(rooms=2)),
)


def watched(position: Position) -> tuple[Parts, Node, Reads, Position]:
    parts = Parts()
    node = parts.node_of(position)
    reads = Reads(parts, node)
    return parts, node, reads, parts.watched(node, reads)


def written(parts: Parts, delta: Delta) -> list[str]:
    return [".".join(key) for part, key in enumerate(parts.keys) if delta[0] >> part * WIDTH & MASK]


def read(parts: Parts, reads: Reads) -> list[str]:
    return [".".join(parts.keys[part]) for part in reads.parts if part > SHAPE]


def test_a_node_is_its_position() -> None:
    position = Position(STATE, At(2), Place(1, 2))
    parts = Parts()
    node = parts.node_of(position)
    assert parts.position(node) == position


def test_only_what_was_read_is_told() -> None:
    parts, _, reads, position = watched(Position(STATE, At(), Place()))
    assert position.state.characters["mara"].tracks["physical"][1].mark == "x"
    assert position.place.turn == 0
    assert position.state.seat_of("guard") == "gm"
    assert read(parts, reads) == ["tracks.mara.physical", "place.turn", "character.guard.seat"]


def test_a_copy_is_watched_no_more() -> None:
    parts, _, reads, position = watched(Position(STATE, At()))
    with reads.off():
        copy = unwatched(position.state)
    assert read(parts, reads) == []
    assert copy == STATE
    assert {type(copy), type(copy.things), *map(type, copy.characters.values())} == {State, Map, Character}
    assert type(copy.characters["mara"].tracks) is Map
    assert position.state.counters == {"doom": 1}
    assert read(parts, reads) == []
    assert position.state.counters["doom"] == 1
    assert read(parts, reads) == ["counters.doom"]


def test_a_tag_looked_at_unnoted_is_noted_at_the_next_look() -> None:
    position = Position(STATE, At())
    parts, _, reads, watching = watched(position)
    with reads.off():
        assert watching.state.tag("Fog") == STATE.tags[0]
    assert read(parts, reads) == []
    assert watching.state.tag("Fog") == STATE.tags[0]
    assert read(parts, reads) == ["state.tags"]


def test_a_write_is_told_though_the_value_is_equal() -> None:
    parts, node, reads, position = watched(Position(STATE, At(), Place()))
    state = put(position.state, ("characters", "mara", "is_out"), False)
    after = Position(state, position.at, msgspec.structs.replace(position.place, left=3))
    assert set(written(parts, parts.changes(node, after, reads))) == {"character.mara.is_out", "place.left"}
    assert read(parts, reads) == []


def test_one_track_is_marked_and_the_other_left_alone() -> None:
    parts, node, reads, position = watched(Position(STATE, At()))
    tracks = position.state.characters["mara"].tracks
    marked = Map({**tracks, "mental": mark_box(tracks["mental"], "1")})
    after = Position(put(position.state, ("characters", "mara", "tracks"), marked), position.at)
    changes = parts.changes(node, after, reads)
    assert written(parts, changes) == ["tracks.mara.mental"]
    assert read(parts, reads) == ["tracks.mara.mental"]
    made = changed(node, changes)
    boxes = parts.position(made).state.characters["mara"].tracks
    assert boxes == Map(physical=BOXES, mental=mark_box(BOXES, "1"))


def test_names_that_come_and_go_change_the_shape() -> None:
    parts, node, reads, position = watched(Position(STATE, At(), Place()))
    state = position.state.with_character(Character("thug"))
    state = msgspec.structs.replace(state, things=state.things.without("map"))
    changes = parts.changes(node, Position(state, position.at, None), reads)
    made = changed(node, changes)
    after = parts.position(made)
    assert after.place is None
    assert set(after.state.characters) == {"mara", "guard", "thug"}
    assert after.state.things == Map(lantern="mara")
    assert parts.node_of(after) == made


def test_comparing_and_hashing_read() -> None:
    parts, _, reads, position = watched(Position(STATE, At(), Place()))
    assert position.place == Place()
    assert Place() == position.place
    assert hash(position.state.things) == hash(STATE.things)
    assert position.state.things == STATE.things
    assert read(parts, reads) == ["place.turn", "place.left", "things.lantern", "things.map"]


def node_of(*ids: int) -> Node:
    return sum(id_ << part * WIDTH for part, id_ in enumerate(ids))


@given(st.data())
def test_changes_in_turn_are_one_change(data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, MASK), min_size=4, max_size=4)

    def delta() -> Delta:
        wanted, ids = data.draw(st.lists(st.booleans(), min_size=4, max_size=4)), data.draw(numbers)
        bits = node_of(*(MASK * one for one in wanted))
        return bits, bits ^ (node_of(*ids) & bits)

    node, first, then = node_of(*data.draw(numbers)), delta(), delta()
    assert changed(changed(node, first), then) == changed(node, in_turn(first, then))
    assert changed(node, UNCHANGED) == node


def test_what_is_kept_is_found_by_what_was_read_alone() -> None:
    memo, parts = Memo(), Parts()
    reads = Reads(parts, 0)
    reads.note(2)
    memo.keep(node_of(1, 5, 7, 9), reads.parts, "kept", parts)
    assert memo.find(node_of(1, 6, 7, 8), parts) == "kept"
    assert memo.find(node_of(1, 5, 8, 9), parts) is None
    assert memo.find(node_of(2, 5, 7, 9), parts) is None
    other = Reads(parts, 0)
    other.note(3)  # read first where another part was read first before
    memo.keep(node_of(1, 5, 8, 9), other.parts, "more", parts)
    noted: dict[int, None] = {}
    assert memo.find(node_of(1, 0, 8, 9), parts, noted) == "more"
    assert list(noted) == [SHAPE, 2, 3]
    assert memo.find(node_of(1, 0, 8, 8), parts) is None


@given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), max_size=40))
def test_what_is_found_is_what_the_parts_that_were_read_come_to(ids: list[list[int]]) -> None:
    memo, parts = Memo(), Parts()
    for values in ids:
        node, read = node_of(1, *values), [1]
        for _ in range(4):  # which part is read next depends on what was read
            read.append(1 + (read[-1] + values[read[-1] - 1]) % 6)
        came_to = tuple([(part, values[part - 1]) for part in read])
        noted: dict[int, None] = {}
        found = memo.find(node, parts, noted)
        assert found in (None, came_to)
        assert found is None or noted.keys() >= set(read)
        memo.keep(node, dict.fromkeys((SHAPE, *read)), came_to, parts)
        assert memo.find(node, parts) == came_to


def test_what_one_result_alone_has_read_takes_little_room() -> None:
    memo, parts, read = Memo(), Parts(), dict.fromkeys(range(80))
    nodes = [node_of(1, *[number] * 79) for number in range(1, 51)]
    tracemalloc.start()
    for node in nodes:
        memo.keep(node, read, node, parts)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert [memo.find(node, parts) for node in nodes] == nodes
    assert used < 3_000 * len(nodes)  # a branch for each part takes seven times as much


def test_a_part_that_is_copied_elsewhere_is_read_and_written() -> None:
    parts, node, reads, position = watched(Position(STATE, At()))
    mara, guard = (position.state.characters[name] for name in ("mara", "guard"))
    state = position.state.with_character(
        msgspec.structs.replace(guard, counters=msgspec.structs.replace(mara).counters)
    )
    state = state.with_character(msgspec.structs.replace(mara, name="twin"))
    changes = parts.changes(node, Position(state, position.at), reads)
    made = changed(node, changes)
    after = parts.position(made).state
    assert after.characters["guard"].counters == MARA.counters
    assert after.characters["twin"] == msgspec.structs.replace(MARA, name="twin")
    assert parts.group(("counters", "mara")) in reads.parts


def test_true_and_one_are_different_values() -> None:
    parts = Parts()
    part = parts.part(("things", "k"))
    assert parts.id_of(part, True) != parts.id_of(part, 1)


def test_tags_that_are_replaced_as_a_whole_are_read_as_a_whole() -> None:
    parts = Parts({"tags": lambda tags: tags})
    node = parts.node_of(Position(STATE, At()))
    reads = parts.reads(node)
    position = parts.watched(node, reads)
    parts.changes(node, Position(msgspec.structs.replace(position.state, tags=()), position.at), reads)
    assert TAGS in reads.parts


def test_each_counter_is_a_part_and_one_that_appears_changes_no_shape() -> None:
    parts, node, reads, position = watched(Position(STATE, At()))
    mara = position.state.characters["mara"]
    assert mara.counters
    assert mara.counters.get("hurt", 0) == 0
    changed_counters = mara.counters.with_("hurt", 1)
    assert read(parts, reads) == ["counters.mara.points", "counters.mara.hurt"]
    after = Position(put(position.state, ("characters", "mara", "counters"), changed_counters), position.at)
    changes = parts.changes(node, after, reads)
    assert written(parts, changes) == ["counters.mara.hurt"]
    made = changed(node, changes)
    assert made & MASK == node & MASK
    assert parts.position(made).state.characters["mara"].counters == Map(points=3, hurt=1)


def test_counters_are_as_those_that_nobody_watches() -> None:
    parts, node, reads, position = watched(Position(STATE, At()))
    counters = position.state.characters["mara"].counters.with_("hurt", 1)
    assert counters.without("points") == Map(hurt=1)
    assert {**counters} == dict(counters) == Map(points=3, hurt=1) == counters | {}
    assert counters == counters.with_("none", 1).without("none")
    assert hash(counters) == hash(Map(points=3, hurt=1))
    assert ("none" in counters, "none" in counters.without("none"), len(counters)) == (False, False, 2)
    assert (*counters, *counters.values()) == ("points", "hurt", 3, 1)
    assert not position.state.characters["guard"].counters
    assert parts.group(("counters", "guard")) in reads.parts
    state = put(position.state, ("characters", "mara", "counters"), Map(luck=2))
    made = changed(node, parts.changes(node, Position(state, position.at), reads))
    assert parts.position(made).state.characters["mara"].counters == Map(luck=2)


def test_what_reads_all_counters_is_told_of_one_that_comes_later() -> None:
    parts, node, reads, position = watched(Position(STATE, At()))
    assert len(position.state.characters["mara"].counters) == 1
    memo = Memo()
    memo.keep(node, reads.parts, 1, parts)
    part = parts.part(("counters", "mara", "hurt"))
    assert memo.find(node, parts) == 1
    assert memo.find(node | parts.id_of(part, 5) << part * WIDTH, parts) is None


def test_counters_with_an_equivalence_are_read_as_a_whole_where_one_is_written() -> None:
    parts = Parts({"counters": lambda counters: Map({name: min(1, number) for name, number in counters.items()})})
    node = parts.node_of(Position(msgspec.structs.replace(STATE, counters=Map(doom=3, gloom=1)), At()))
    reads = parts.reads(node)
    position = parts.watched(node, reads)
    assert position.state.counters["doom"] == 1
    state = msgspec.structs.replace(position.state, counters=position.state.counters.with_("gloom", 7))
    after = parts.position(changed(node, parts.changes(node, Position(state, position.at), reads)))
    assert after.state.counters == Map(doom=1, gloom=1)
    assert parts.group(("counters",)) in reads.parts


def names_of(state: State) -> tuple[str, ...]:
    return tuple(tag.name for tag in state.tags)


def doom_and_names(state: State) -> tuple[int, tuple[str, ...]]:
    return state.counters["doom"], state.glance(names_of)


@pytest.mark.parametrize("function", [names_of, doom_and_names])
def test_a_glance_is_of_the_tags_and_counters_that_there_are(function: Any) -> None:
    parts = Parts({"tags": lambda tags: tags})
    states = [STATE, *(STATE.with_tag(Tag(name, "aspect")) for name in ("Mud", "Rain"))]
    states += [msgspec.structs.replace(state, counters=Map(doom=2)) for state in states]
    for state in (*states, *states):
        node = parts.node_of(Position(state, At()))
        assert parts.watched(node, parts.reads(node)).state.glance(function) == function(state)
