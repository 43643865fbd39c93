"""A standing that takes note of what is read of it: what a turn did not read cannot have mattered to it.

A watched table, place and step are records of the same classes' kind, in which every part that can be looked up by
itself is a token until it is read. Records that are copied keep the tokens of what was not read; so what a turn wrote
is told from what it left alone, even where it wrote an equal value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from rpgres.engine.standing import Standing
from rpgres.model.state import EMPTY, Character, Map, State

T = TypeVar("T")
Key = tuple[str, ...]  # a part of a standing: ("state", "tags"), ("tracks", "mara", "physical"), ("place", "turn")
Node = tuple[int, ...]  # for each part the number of its value; 0 where the part is not there

SHAPE = 0  # the part that says which names there are, and of which class the place is; everything reads it
_MAPS = ("tracks", "things", "piles")  # of the state, by name
_PLAIN = ("tags", "counters", "audiences", "periods")
_CHARACTERS = tuple(name for name in Character.__struct_fields__ if name not in ("name", "tracks"))


WHOLE = ""  # the only part of a place that is no record


class Whole:
    """Stands for the class of a place that is no record: it is one part, and always read."""


class Unread:
    """A part that nobody has read."""

    __slots__ = ("part", "reads")

    def __init__(self, reads: Reads, part: int) -> None:
        self.reads, self.part = reads, part

    def read(self) -> Any:
        """Return the value, and take note that it was read."""
        return self.reads.of(self.part)

    def __eq__(self, other: object) -> bool:
        return other is self or bool(self.read() == _value(other))

    def __hash__(self) -> int:
        return hash(self.read())

    def __repr__(self) -> str:
        return repr(self.read())


def _value(value: Any) -> Any:
    return value.read() if type(value) is Unread else value


class Reads:
    """The values of a standing's parts, and which of them were read, in order.

    Attributes:
        is_off: whether no note is taken: what is read before a merge, its key stands for.
    """

    __slots__ = ("is_off", "parts", "values")

    def __init__(self, values: list[Any]) -> None:
        self.values, self.is_off = values, False
        self.parts: dict[int, None] = {SHAPE: None}

    def of(self, part: int) -> Any:
        """Return the value of a part, and take note that it was read."""
        if not self.is_off:
            self.parts[part] = None
        return self.values[part]


class WatchedMap(Map[Any, Any]):
    """A map of parts by name. Its names are part of the shape, so only its values are watched."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return _value(super().__getitem__(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return _value(super().get(key, default))

    def values(self) -> Any:
        return [_value(value) for value in super().values()]

    def items(self) -> Any:
        return [(key, _value(value)) for key, value in super().items()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and dict(self.items()) == dict(other.items())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # as for `Map`
        return hash(frozenset(self.items()))


def _watched_attribute(self: Any, name: str) -> Any:
    value = object.__getattribute__(self, name)
    if type(value) is Unread:
        return value.read()
    return WatchedMap(value) if type(value) is Map and name in _MAPS else value


class WatchedState(State, frozen=True):
    """A state whose parts are watched."""

    __getattribute__ = _watched_attribute


class WatchedCharacter(Character, frozen=True):
    """A character whose parts are watched."""

    __getattribute__ = _watched_attribute


@lru_cache(maxsize=64)
def _watched_class(kind: type) -> type:
    """Return the class of watched records of a class."""
    if kind is Whole:
        return kind

    def same(self: Any, other: object) -> bool:
        return isinstance(other, kind) and _fields(self) == _fields(other)

    def fields_hash(self: Any) -> int:
        return hash(_fields(self))

    body = {"__getattribute__": _watched_attribute, "__eq__": same, "__hash__": fields_hash, "__module__": __name__}
    return type(kind)(f"Watched{kind.__name__}", (kind,), body, frozen=True)


def _fields(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record.__struct_fields__)


def raw(record: Any, name: str) -> Any:
    """Return what a record holds, tokens as they are."""
    return object.__getattribute__(record, name)


class Parts:
    """The parts of the standings of one walk: their numbers, and the numbers of their values.

    Args:
        canons: by field of the state, what stands for all values that are alike to the rules.

    Attributes:
        keys: the parts, by number.
    """

    def __init__(self, canons: Mapping[str, Callable[[Any], Any]] = EMPTY) -> None:
        self._canons: dict[Key, Callable[[Any], Any]] = {("state", field): canon for field, canon in canons.items()}
        self.keys: list[Key] = [()]
        self._numbers: dict[Key, int] = {(): SHAPE}
        self._values: list[list[Any]] = [[None]]
        self._ids: list[dict[Any, int]] = [{None: 0}]

    def part(self, key: Key) -> int:
        """Return the number of a part."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.keys)
            self.keys.append(key)
            self._values.append([None])
            self._ids.append({})
        return number

    def id_of(self, part: int, value: Hashable) -> int:
        """Return the number of a value of a part, from 1."""
        ids = self._ids[part]
        found = ids.get(value)
        if found is None:
            found = ids[value] = len(self._values[part])
            self._values[part].append(value)
        return found

    def value(self, node: Node, key: Key) -> Any:
        """Return the value of a part; None where it is not there."""
        number = self._numbers.get(key)
        return self._values[number][node[number]] if number is not None and number < len(node) else None

    def values(self, node: Node) -> list[Any]:
        """Return the value of every part."""
        return [values[id_] for values, id_ in zip(self._values, node, strict=False)]

    def padded(self, node: Node) -> Node:
        """Return a node that has all the parts known by now."""
        lacking = len(self.keys) - len(node)
        return node + (0,) * lacking if lacking else node

    def node_of(self, standing: Standing) -> Node:
        """Return the node of a standing that is not watched."""
        found = dict(self._parts_of(standing))
        return tuple(found.get(part, 0) for part in range(len(self.keys)))

    def _parts_of(self, standing: Standing) -> Iterator[tuple[int, int]]:
        yield SHAPE, self.id_of(SHAPE, _shape_of(standing))
        for key, value in _written(standing):
            part, canon = self.part(key), self._canons.get(key)
            if canon is not None:
                value = canon(value)
            yield part, self.id_of(part, value)

    def changes(self, before: Node, standing: Standing) -> tuple[tuple[int, int], ...]:
        """Return what a watched standing wrote, as numbers of parts and of their values; parts that are gone are 0."""
        found: dict[int, int] = dict(self._parts_of(standing))
        shape = found.pop(SHAPE)
        if shape != before[SHAPE]:
            kept = set(_keys_of(standing))
            found |= {part: 0 for part, id_ in enumerate(before) if part and id_ and self.keys[part] not in kept}
            found[SHAPE] = shape
        return tuple(sorted(found.items()))

    def standing(self, node: Node) -> Standing:
        """Return the standing of a node, not watched."""
        values = self.values(node)
        return self._built(node, lambda part: values[part], State, Character, lambda kind: kind)

    def watched(self, node: Node, reads: Reads) -> Standing:
        """Return the standing of a node that takes note of what is read."""
        return self._built(node, lambda part: Unread(reads, part), WatchedState, WatchedCharacter, _watched_class)

    def _built(
        self,
        node: Node,
        at: Callable[[int], Any],
        state_class: Callable[..., State],
        character_class: Callable[..., Character],
        class_of: Callable[[type], type],
    ) -> Standing:
        names, tracks, maps, step, place = self._values[SHAPE][node[SHAPE]]

        def part(*key: str) -> Any:
            return at(self._numbers[key])

        characters = {
            name: character_class(
                name=name,
                tracks=Map({track: part("tracks", name, track) for track in own}),
                **{field: part("character", name, field) for field in _CHARACTERS},
            )
            for name, own in zip(names, tracks, strict=True)
        }
        state = state_class(
            characters=Map(characters),
            **{field: part("state", field) for field in _PLAIN},
            **{
                field: Map({name: part(field, name) for name in known})
                for field, known in zip(_MAPS, maps, strict=True)
            },
        )
        return Standing(
            state,
            _record(class_of(step), "at", part),
            None if place is None else _record(class_of(place), "place", part),
        )


def _record(kind: type, lead: str, part: Callable[..., Any]) -> Any:
    if kind is Whole:
        return _value(part(lead, WHOLE))
    return kind(**{name: part(lead, name) for name in kind.__struct_fields__})  # type: ignore[attr-defined]


def _shape_of(standing: Standing) -> Hashable:
    state, place = standing.state, standing.place
    characters: Map[str, Character] = raw(state, "characters")
    tracks = tuple(tuple(raw(one, "tracks")) for one in characters.values())
    maps = tuple(tuple(raw(state, name)) for name in _MAPS)
    return tuple(characters), tracks, maps, _kind(standing.at), None if place is None else _kind(place)


def _kind(record: Any) -> type:
    """Return the class of a record, watched or not."""
    kind = type(record)
    if not isinstance(record, msgspec.Struct):
        return Whole
    return kind.__mro__[1] if kind.__module__ == __name__ else kind


def _keys_of(standing: Standing) -> Iterator[Key]:
    return (key for key, _ in _all(standing))


def _written(standing: Standing) -> Iterator[tuple[Key, Any]]:
    """Yield the parts that are no tokens, with their values."""
    return ((key, value) for key, value in _all(standing) if type(value) is not Unread)


def _all(standing: Standing) -> Iterator[tuple[Key, Any]]:
    state = standing.state
    for name, character in raw(state, "characters").items():
        for field in _CHARACTERS:
            yield ("character", name, field), raw(character, field)
        for track, boxes in dict.items(raw(character, "tracks")):
            yield ("tracks", name, track), boxes
    for field in _PLAIN:
        yield ("state", field), raw(state, field)
    for field in _MAPS:
        for name, value in dict.items(raw(state, field)):
            yield (field, name), value
    records: Iterable[tuple[str, Any]] = (("at", standing.at), ("place", standing.place))
    for lead, record in records:
        if isinstance(record, msgspec.Struct):
            for field in record.__struct_fields__:
                yield (lead, field), raw(record, field)
        elif record is not None:
            yield (lead, WHOLE), record


class Memo:
    """What comes of nodes, found again by those parts alone that were read to find it."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: Any = None

    def find(self, node: Node) -> Any:
        """Return what is kept for a node; None where nothing is."""
        found = self._root
        while type(found) is _Branch:
            found = found.by.get(node[found.part])
        return found

    def keep(self, node: Node, reads: Reads, what: Any) -> None:
        """Keep what comes of a node, for all that agree with it in what was read."""
        if self._root is None:
            self._root = _Branch(SHAPE)
        branch, left = self._root, dict(reads.parts)
        while True:
            left.pop(branch.part, None)
            id_ = node[branch.part]
            then = branch.by.get(id_)
            if then is None:
                then = branch.by[id_] = _Branch(next(iter(left))) if left else what
            if type(then) is not _Branch:
                return
            branch = then


class _Branch:
    __slots__ = ("by", "part")

    def __init__(self, part: int) -> None:
        self.part = part
        self.by: dict[int, Any] = {}
