"""Harm: the ways to absorb a hit against brute force, mobs against a count by hand, and the effects on a state."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.kits import harm
from rpgres.kits.harm import Absorption, ways_to_absorb
from rpgres.model.state import Box, Character, Map, State
from rpgres.rulesets import effect

BOXES = [Box("1", 1), Box("2", 2), Box("3", 3), Box("4", 4)]
SLOTS = [Box("mild", 2), Box("moderate", 4), Box("severe", 6), Box("mild-physical", 2)]


def marked(boxes: list[Box], used: list[bool]) -> list[Box]:
    return [Box(box.name, box.size, "x" if mark else "") for box, mark in zip(boxes, used, strict=True)]


used_boxes = st.lists(st.booleans(), min_size=4, max_size=4)


def held(way: Absorption) -> int:
    return sum(slot.size for slot in way.slots) + sum(box.size for box in way.boxes)


@given(shifts=st.integers(1, 20), boxes=used_boxes, slots=used_boxes)
def test_ways_to_absorb(shifts: int, boxes: list[bool], slots: list[bool]) -> None:
    """They cover the hit, use only what is free, give nothing for nothing, and there is one whenever there can be."""
    free_boxes = [box for box in marked(BOXES, boxes) if not box.mark]
    free_slots = [slot for slot in marked(SLOTS, slots) if not slot.mark]
    ways = ways_to_absorb(shifts, boxes=marked(BOXES, boxes), slots=marked(SLOTS, slots))
    assert len({way.name for way in ways}) == len(ways)
    assert [way.weight for way in ways] == sorted(way.weight for way in ways)
    for way in ways:
        assert held(way) >= shifts
        assert set(way.slots) <= set(free_slots)
        assert len(set(way.slots)) == len(way.slots)
        assert set(way.boxes) <= set(free_boxes)
        assert all(held(way) - slot.size < shifts for slot in way.slots), "a slot given for nothing"
        if way.boxes:
            rest = shifts - sum(slot.size for slot in way.slots)
            assert rest > 0, "a box given for nothing"
            assert way.boxes == (min((box for box in free_boxes if box.size >= rest), key=lambda box: box.size),)
    most = sum(slot.size for slot in free_slots) + max((box.size for box in free_boxes), default=0)
    assert bool(ways) is (shifts <= most)
    # Complete: whatever free slots and free box cover the hit, some way offered asks for no slot beside those.
    for count in range(len(free_slots) + 1):
        for chosen in combinations(free_slots, count):
            for box in [None, *free_boxes]:
                if sum(slot.size for slot in chosen) + (box.size if box else 0) >= shifts:
                    assert any(set(way.slots) <= set(chosen) for way in ways)


@pytest.mark.slow
@given(shifts=st.integers(1, 12), used=used_boxes, most=st.integers(2, 4))
def test_several_boxes(shifts: int, used: list[bool], most: int) -> None:
    """Where a hit may check several boxes, they hold it with the least to spare, and no more of them than it takes."""
    free = [box for box in marked(BOXES, used) if not box.mark]
    sets = [boxes for count in range(1, most + 1) for boxes in combinations(free, count)]
    enough = [boxes for boxes in sets if sum(box.size for box in boxes) >= shifts]
    ways = ways_to_absorb(shifts, boxes=marked(BOXES, used), slots=[], most_boxes=most)
    assert bool(ways) is bool(enough)
    for way in ways:
        least = min(sum(box.size for box in boxes) for boxes in enough)
        assert held(way) == least
        assert len(way.boxes) == min(len(one) for one in enough if sum(box.size for box in one) == least)


def test_the_hit_of_six_of_the_rules() -> None:
    ways = ways_to_absorb(6, boxes=BOXES[:3], slots=SLOTS[:3])
    assert {way.name for way in ways} == {"severe", "moderate+box-2", "mild+moderate"}


def mob(members: int, *sizes: int) -> Character:
    boxes = tuple(Box(str(size), size) for size in sizes)
    return Character(name="mob", counters=Map({"members": members}), tracks=Map({"physical": boxes}))


class NobodyAsked:
    """A table at which nobody may be asked."""

    def __init__(self, *characters: Character) -> None:
        self.state = State(characters=Map({character.name: character for character in characters}))


def hit(character: Character, shifts: int) -> Character:
    table = NobodyAsked(character)
    effects = harm.absorb(table, character.name, shifts, track="physical", attacker="gm")  # type: ignore[arg-type]
    state = table.state
    for one in effects:
        state = {"stress": harm.check_box, "taken-out": harm.take_out}[one["kind"]](state, one)
    return state.characters[character.name]


@pytest.mark.parametrize(
    ("sizes", "shifts", "left", "checked"),
    [
        ((), 1, 3, []),  # Average: one shift a member
        ((), 3, 1, []),
        ((1,), 1, 4, ["1"]),  # Fair: the box holds it
        ((1,), 2, 3, []),
        ((1,), 3, 3, ["1"]),  # two for the first, one in the next one's box
        ((1,), 4, 2, []),
        ((1, 2), 2, 4, ["2"]),  # Good: a box holds it, boxes do not add up
        ((1, 2), 3, 3, []),
        ((1, 2), 4, 3, ["1"]),
        ((1, 2), 6, 2, []),
    ],
)
def test_mobs(sizes: tuple[int, ...], shifts: int, left: int, checked: list[str]) -> None:
    after = hit(mob(4, *sizes), shifts)
    assert after.counters["members"] == left
    assert [box.name for box in after.tracks["physical"] if box.mark] == checked
    assert not after.is_out


@given(
    members=st.integers(2, 9), sizes=st.sampled_from([(), (1,), (1, 2)]), hits=st.lists(st.integers(1, 9), max_size=9)
)
def test_a_mob_shrinks_to_nothing_and_never_below(members: int, sizes: tuple[int, ...], hits: list[int]) -> None:
    character = mob(members, *sizes)
    shifts = 0
    for one in hits:
        if character.is_out or character.counters["members"] == 1:
            break
        before = character.counters["members"]
        character = hit(character, one)
        shifts += one
        after = 0 if character.is_out else character.counters["members"]
        assert 0 <= after <= before
        assert before - after <= one, "a member takes at least one shift"
    if shifts >= members * (max(sizes, default=0) + 1) and len(hits) == 1:
        assert character.is_out


def two_tracks(**marks: str) -> State:
    character = Character(
        name="mara",
        title="Mara",
        tracks=Map(
            {
                "physical": (Box("1", 1, marks.get("p1", "")), Box("2", 2)),
                "mental": (Box("1", 1), Box("2", 2)),
                "consequences": (Box("mild-physical", 2), Box("mild", 2, marks.get("mild", "")), Box("moderate", 4)),
            }
        ),
    )
    return State(characters=Map({"mara": character}))


def marks_of(state: State) -> dict[str, list[str]]:
    tracks = state.characters["mara"].tracks
    return {name: [box.name for box in boxes if box.mark] for name, boxes in tracks.items()}


def test_the_lowest_box_is_the_smallest_of_all_tracks() -> None:
    lowest = effect("stress", to="mara", box="lowest")
    state = two_tracks()
    for expected in (
        (["1"], []),
        (["1"], ["1"]),
        (["1", "2"], ["1"]),
        (["1", "2"], ["1", "2"]),
        (["1", "2"], ["1", "2"]),
    ):
        state = harm.check_box(state, lowest)
        assert (marks_of(state)["physical"], marks_of(state)["mental"]) == expected


def test_the_lowest_consequence_prefers_the_ordinary_slot() -> None:
    lowest = effect("consequence", to="mara", slot="lowest")
    state = harm.take_consequence(two_tracks(), lowest)
    assert marks_of(state)["consequences"] == ["mild"]
    state = harm.take_consequence(two_tracks(mild="Bruised"), lowest)
    assert marks_of(state)["consequences"] == ["mild-physical", "mild"]
    state = harm.take_consequence(state, lowest)
    assert marks_of(state)["consequences"] == ["mild-physical", "mild", "moderate"]
    assert state.characters["mara"].counters["consequences-taken"] == 2
    assert harm.take_consequence(state, lowest) == state, "with no place left nothing more is written"


def test_two_characters_of_one_title_have_two_consequences() -> None:
    state = two_tracks()
    twin = state.characters["mara"]
    state = state.with_character(Character(name="mara-2", title="Mara", tracks=twin.tracks))
    for name in ("mara", "mara-2"):
        state = harm.take_consequence(state, effect("consequence", to=name, slot="mild"))
    assert sorted(tag.on for tag in state.tags) == ["mara", "mara-2"]


@pytest.mark.parametrize("kind", ["stress", "consequence", "taken-out"])
def test_effects_on_nobody_change_nothing(kind: str) -> None:
    apply = {"stress": harm.check_box, "consequence": harm.take_consequence, "taken-out": harm.take_out}[kind]
    assert apply(two_tracks(), effect(kind, to="gm", box="1", slot="mild")) == two_tracks()


def test_the_end_of_a_conflict_brings_back_who_was_out() -> None:
    """Its beginning only counts consequences anew; taken-out and conceded last until its end."""
    counters = Map({harm.TAKEN: 2, "fate-points": 1})
    state = State(characters=Map({"mara": Character(name="mara", counters=counters, is_out=True)}))
    begun = harm.turn_conflict(state, effect("conflict", change="begins")).characters["mara"]
    ended = harm.turn_conflict(state, effect("conflict", change="ends")).characters["mara"]
    assert (begun.is_out, ended.is_out) == (True, False)
    assert dict(begun.counters) == dict(ended.counters) == {"fate-points": 1}


def test_the_end_of_a_conflict_brings_back_a_whole_mob_and_pays_for_conceding() -> None:
    counters = Map({harm.MEMBERS: 4, "fate-points-after": 2})
    state = State(characters=Map({"mob": Character(name="mob", counters=counters)}))
    for count in (1, 2, 1):
        state = harm.take_out(state, effect("taken-out", to="mob", count=count))
    assert state.characters["mob"].is_out
    state = harm.turn_conflict(state, effect("conflict", change="begins"))
    assert state.characters["mob"].is_out
    mob = harm.turn_conflict(state, effect("conflict", change="ends")).characters["mob"]
    assert (mob.is_out, dict(mob.counters)) == (False, {harm.MEMBERS: 4, "fate-points": 2})
