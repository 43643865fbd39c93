"""The state as plain data and back, and checks that it can be stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

import msgspec

from rpgres.errors import FileError
from rpgres.model.state import EMPTY, Box, Character, Map, Pile, State, Tag, freeze, pile_name, require_dealt

DEEPEST = 32  # levels of nesting on a table; a deeper one is a mistake, and a cycle never ends
PLAIN = "what lies on a table is made of rpgres.Map (texts as keys), tuples, texts, whole numbers, True, False, None"


def fault_in(state: State, *, before: State | None = None) -> str:
    """Return where a state has a track, thing or audience that cannot be kept, and why; empty when all can be.

    A ruleset's code may put anything there, and a state that is not plain, frozen data cannot be compared, hashed or
    written down.

    Args:
        before: one without a fault; a thing that is the same object there has none.
    """
    return next(_faults(state, before), "")


def _faults(state: State, before: State | None) -> Iterator[str]:
    for field in ("tracks", "things", "audiences"):
        named = getattr(state, field)
        if type(named) is not Map:
            yield f"{field} is {_shown(named)}, not an rpgres.Map"
            return  # what is in it is unknown
        yield from (
            f"{field} has the name {_shown(name)}, which is not text" for name in named if type(name) is not str
        )
    for name, boxes in state.tracks.items():
        if type(boxes) is not tuple or not all(type(box) is Box for box in boxes):
            yield f"tracks.{name} is {_shown(boxes)}, not a tuple of rpgres.Box"
            continue
        for box in boxes:
            if (type(box.name), type(box.size), type(box.mark)) != (str, int, str):
                yield f"tracks.{name} has {_shown(box)}; name and mark are texts, size is a whole number"
    for name, seats in state.audiences.items():
        if type(seats) is not tuple or not all(type(seat) is str for seat in seats):
            yield f"audiences.{name} is {_shown(seats)}, not a tuple of seats"
    known = before.things if before is not None else EMPTY
    for name, thing in state.things.items():
        if name not in known or thing is not known[name]:
            yield from _unkept(thing, f"things.{name}", 0)


def misnamed_in(state: State) -> str:
    """Return where a state has something under another name than its own, or twice; empty when it has not.

    Characters, tags, boxes, piles and periods are looked up by names that they repeat.
    """
    return next(_misnamed(state), "")


def _misnamed(state: State) -> Iterator[str]:
    for name, character in state.characters.items():
        if type(character) is not Character or character.name != name:
            yield f"characters.{name} has another name"
        elif character.tracks:
            yield from _twins(character.tracks, f"characters.{name}.tracks")
    yield from _twins(state.tracks, "tracks")
    yield from (f"tags has {_shown(tag)}" for tag in state.tags if type(tag) is not Tag)
    yield from (f"two tags are called {twin}" for twin in _repeated([tag.slug for tag in state.tags]))
    for name, pile in state.piles.items():
        if pile.owner and name != pile_name(name.partition(":")[0], pile.owner):
            yield f"piles.{name} is owned by {pile.owner}"
        if len(pile.top) != len(pile.knowers):
            yield f"piles.{name}: of each card of `top`, and of no other, `knowers` tells who knows of it"
    yield from (f"periods has {twin} twice" for twin in _repeated(state.periods))


def _twins(tracks: Map[str, tuple[Box, ...]], place: str) -> Iterator[str]:
    for name, boxes in tracks.items():
        yield from (f"{place}.{name} has two boxes called {twin}" for twin in _repeated([box.name for box in boxes]))


def _repeated(names: Sequence[str]) -> list[str]:
    return [] if len(set(names)) == len(names) else [name for name in names if names.count(name) > 1]


def unkept(value: object, place: str) -> str:
    """Return what is wrong with a value that should be plain, frozen data, and where; empty when nothing is.

    Args:
        value: what may be made of `Map`, tuples, texts, whole numbers, True, False and None.
    """
    return next(_unkept(value, place, 0), "")


def _unkept(value: object, place: str, depth: int) -> Iterator[str]:
    """Yield what is wrong with a value at a place: that it is not plain, or holds something that is not."""
    if value is None or type(value) in (str, int, bool):
        return
    if depth >= DEEPEST:
        yield f"{place} is nested more than {DEEPEST} levels deep"
    elif type(value) is tuple:
        for number, inner in enumerate(value):
            yield from _unkept(inner, f"{place}[{number}]", depth + 1)
    elif isinstance(value, Map):
        for key, inner in value.items():
            if type(key) is not str:
                yield f"{place} has the key {_shown(key)}, which is not text"
            else:
                yield from _unkept(inner, f"{place}.{key}", depth + 1)
    else:
        yield f"{place} is {_shown(value)}; {PLAIN}"


def _shown(value: object) -> str:
    """Return a value in one short line, even if its `__repr__` fails."""
    kind = type(value).__name__
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  # the `__repr__` of a third-party object may fail
        return f"a {kind}"
    return f"the {kind} {text if len(text) <= 80 else text[:79] + '...'}"


def plain(value: Any) -> Any:
    """Return frozen data as JSON and TOML have it: a `Map` as a dictionary, a tuple as a list, a record by its fields.

    `rpgres.model.state.freeze` is the way back for what is no record.
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, Pile):
        require_dealt(value)
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return value


def state_record(state: State) -> dict[str, Any]:
    """Return a state as plain data for JSON, from which `read_state` makes an equal one."""
    record: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(state))
    return record


def read_state(record: Any) -> State:
    """Return the state that `state_record` gave as plain data.

    Fields that are left out are empty, so that what an older version wrote can be read.

    Raises:
        FileError: the data are no state, and never were; the message names the place.
    """
    try:
        state: State = msgspec.convert(record, State, dec_hook=_as_map)
    except (msgspec.ValidationError, RecursionError) as error:
        raise FileError(f"invalid data of a table: {error}") from None
    fault = fault_in(state) or misnamed_in(state)
    if fault:
        raise FileError(f"invalid data of a table: {fault}")
    return state


def _as_map(type_: type, value: object) -> object:
    """Return a `Map` where a record has one; msgspec does not know what that is."""
    if get_origin(type_) is not Map:
        raise NotImplementedError(type_)
    of = get_args(type_)
    if of[1] is Any:
        return freeze(msgspec.convert(value, dict[str, Any]))
    return Map(msgspec.convert(value, dict.__class_getitem__(of), dec_hook=_as_map))
