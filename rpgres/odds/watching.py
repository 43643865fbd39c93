"""A standing that takes note of what is read of it: what a turn did not read cannot have mattered to it.

A watched table, place and step are records of the same classes' kind, in which every part that can be looked up by
itself is a token until it is read. Records that are copied keep the tokens of what was not read; so what a turn wrote
is told from what it left alone, even where it wrote an equal value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from rpgres.engine.procedures import Standing
from rpgres.model.state import EMPTY, Character, Map, State, Tag, slug
from rpgres.odds.nodes import MASK, SHAPE, TAGS, WIDTH, Delta, Memo, Node, ids_of

T = TypeVar("T")
Key = tuple[str, ...]  # a part of a standing: ("state", "tags"), ("tracks", "mara", "physical"), ("place", "turn")
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
    """Which parts of a node's standing were read, in order.

    Attributes:
        is_off: whether no note is taken: what is read before a merge, its key stands for.
    """

    __slots__ = ("all", "base", "glances", "is_off", "node", "parts")

    def __init__(self, all_parts: Parts, node: Node) -> None:
        self.all, self.node, self.is_off = all_parts, node, False
        self.glances: dict[Hashable, tuple[int, Any]] = {}
        self.base: State | None = None  # the watched state as long as nothing in it has changed
        self.parts: dict[int, None] = {SHAPE: None}

    def note(self, part: int) -> None:
        """Take note that a part was read, or what a function made of some."""
        if not self.is_off:
            self.parts[part] = None

    @contextmanager
    def off(self) -> Iterator[None]:
        """Take no note of what is read meanwhile."""
        before, self.is_off = self.is_off, True
        try:
            yield
        finally:
            self.is_off = before

    def of(self, part: int) -> Any:
        """Return the value of a part, and take note that it was read."""
        if not self.is_off:
            self.parts[part] = None
        return self.glimpse(part)

    def glimpse(self, part: int) -> Any:
        """Return the value of a part, and take no note of it."""
        return self.all.values[part][self.node >> part * WIDTH & MASK]


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


class WatchedTags:
    """The tags of a state by slug, each a part of its own; None where one is removed, or never was.

    It is for rulesets to which the order of tags is all the same, so they are told apart by their slugs.
    """

    __slots__ = ("by", "reads")

    def __init__(self, reads: Reads, by: dict[str, Any]) -> None:
        self.reads, self.by = reads, by

    def all(self) -> tuple[Tag, ...]:
        """Return all tags in the order of their slugs, which reads them all; that is noted once, not for each."""
        self.reads.note(TAGS)
        value = self.reads.glimpse
        found = ((name, value(tag.part) if type(tag) is Unread else tag) for name, tag in self.by.items())
        return tuple(tag for _, tag in sorted(found, key=lambda item: item[0]) if tag is not None)

    def one(self, name: str) -> Tag | None:
        """Return the tag of a slug; that there is none is read, too."""
        if name not in self.by:
            self.reads.note(self.reads.all.part(("tag", name)))
            return None
        tag: Tag | None = _value(self.by[name])
        return tag

    def having(self, changes: Mapping[str, Tag | None]) -> WatchedTags:
        """Return the tags with some that are laid or gone; the others are not read for it."""
        return WatchedTags(self.reads, {**self.by, **changes})


def _watched_attribute(self: Any, name: str) -> Any:
    value = object.__getattribute__(self, name)
    if type(value) is Unread:
        return value.read()
    if type(value) is WatchedTags:
        return value.all()
    return WatchedMap(value) if type(value) is Map and name in _MAPS else value


class WatchedState(State, frozen=True):
    """A state whose parts are watched."""

    __getattribute__ = _watched_attribute

    def glance(self, function: Callable[..., T], *args: Any) -> T:
        reads = _reads_of(self)
        if reads is None:
            return function(self, *args)
        found: T = reads.all.glanced(reads, function, args)
        return found

    def tag(self, name: str) -> Tag | None:
        tags = raw(self, "tags")
        if type(tags) is WatchedTags:
            return tags.one(slug(name))
        wanted = slug(name)  # read each time: what a state remembers of its tags would be read without being noted
        return next((tag for tag in self.tags if tag.slug == wanted), None)

    def with_tags(self, tags: Iterable[Tag]) -> State:
        known = raw(self, "tags")
        if type(known) is not WatchedTags:
            return State.with_tags(self, tags)
        return msgspec.structs.replace(self, tags=known.having({tag.slug: tag for tag in tags}))

    def without_tag(self, name: str) -> State:
        known = raw(self, "tags")
        if type(known) is not WatchedTags:
            return State.without_tag(self, name)
        return msgspec.structs.replace(self, tags=known.having({slug(name): None}))


def _reads_of(state: State) -> Reads | None:
    """Return what takes note of what is read of a state; None once a turn has changed anything in it."""
    tags = raw(state, "tags")
    reads: Reads | None = tags.reads if type(tags) in (WatchedTags, Unread) else None
    return reads if reads is not None and reads.base is state else None


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


def unwatched(state: State) -> State:
    """Return a state like a watched one of which nobody takes note what is read; it reads all of it."""
    if type(state) is State:
        return state

    def copied(record: Any, kind: type[Any]) -> Any:
        fields = zip(record.__struct_fields__, _fields(record), strict=True)
        return kind(**{name: Map(value.items()) if type(value) is WatchedMap else value for name, value in fields})

    plain: State = copied(state, State)
    characters = {name: copied(one, Character) for name, one in plain.characters.items()}
    return msgspec.structs.replace(plain, characters=Map(characters))


COUNTERS = "counters."  # before the name of a counter among what makes no difference


class Idle:
    """What makes no difference and is left out: tags by kind, and counters by name (`counters.NAME`)."""

    __slots__ = ("_counters", "_kinds")

    def __init__(self, names: Collection[str]) -> None:
        self._kinds = frozenset([name for name in names if not name.startswith(COUNTERS)])
        self._counters = frozenset([name.removeprefix(COUNTERS) for name in names if name.startswith(COUNTERS)])

    def of(self, value: Any) -> Any:
        """Return what is left of a tag, None for nothing; or of counters."""
        if type(value) is Tag:
            return None if value.kind in self._kinds else value
        return (
            value
            if self._counters.isdisjoint(value)
            else Map({name: number for name, number in value.items() if name not in self._counters})
        )


class Parts:
    """The parts of the standings of one walk: their numbers, and the numbers of their values.

    Args:
        canons: by field of the state, what stands for all values that are alike to the rules.
        forgotten: what makes no difference and is left out (`Idle`); tags only where they are parts.

    Attributes:
        keys: the parts, by number.
        values: of each part the values that it had so far, by number.
    """

    def __init__(self, canons: Mapping[str, Callable[[Any], Any]] = EMPTY, *, forgotten: Collection[str] = ()) -> None:
        self._canons: dict[Key, Callable[[Any], Any]] = {("state", field): canon for field, canon in canons.items()}
        self._is_tagged = "tags" in canons
        self._idle = Idle(forgotten) if forgotten else None
        self._glances: list[_Glance] = []
        self._glance_numbers: dict[Hashable, int] = {}
        self._tags: list[int] = []
        self._tag_bits = 0
        self.keys: list[Key] = [()]
        self._numbers: dict[Key, int] = {(): SHAPE}
        self.values: list[list[Any]] = [[None]]
        self._forms: dict[int, _Form] = {}  # by the number of a shape
        self._ids: list[dict[Any, int]] = [{None: 0}]

    def part(self, key: Key) -> int:
        """Return the number of a part."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.keys)
            self.keys.append(key)
            self.values.append([None])
            self._ids.append({})
            if key[0] == "tag":
                self._tags.append(number)
                self._tag_bits |= MASK << number * WIDTH
        return number

    def reads(self, node: Node) -> Reads:
        """Return what takes note of what is read of a node's standing."""
        return Reads(self, node)

    def look(self, node: Node, number: int) -> Hashable:
        """Return what stands for a part of a node, for all its tags, or for what a function makes of it."""
        if number >= 0:
            return node >> number * WIDTH & MASK
        if number == TAGS:
            return node & self._tag_bits
        glance = self._glances[-2 - number]
        found: int | None = glance.known.find(node, self)
        if found is None:
            reads = self.reads(node)
            found = glance.kept(node, reads, self, self.watched(node, reads).state)
        return found

    def trace(self, node: Node, number: int, written: int, parts: dict[int, None]) -> None:
        """Take note of the parts that were looked at, of a node that a change led to.

        Args:
            node: where the change led to.
            number: what was looked at.
            written: the bits of all parts that the change wrote; they are the same wherever it leads to.
            parts: takes the others.
        """
        if number >= 0:
            if not written >> number * WIDTH & MASK:
                parts[number] = None
        elif number == TAGS:
            parts[TAGS] = None
        else:
            self._glances[-2 - number].known.trace(node, self, written, parts)

    def glanced(self, reads: Reads, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return what a function makes of a standing; only that is noted, and not what the function reads."""
        known = reads.glances.get((function, args))
        if known is None:
            number = self._glance_numbers.get((function, args))
            if number is None:
                self._glances.append(_Glance(function, args))
                number = self._glance_numbers[function, args] = -1 - len(self._glances)
            value = self._glances[-2 - number].values[cast("int", self.look(reads.node, number))]
            known = reads.glances[function, args] = number, value
        reads.note(known[0])
        return known[1]

    def id_of(self, part: int, value: Hashable) -> int:
        """Return the number of a value of a part, from 1; 0 for a tag that is removed."""
        if value is None and self.keys[part][:1] == ("tag",):
            return 0
        # True and 1 are equal, and are not the same.
        key = (type(value), value) if type(value) is bool or type(value) is int else value
        ids = self._ids[part]
        found = ids.get(key)
        if found is None:
            found = ids[key] = len(self.values[part])
            self.values[part].append(value)
        return found

    def value(self, node: Node, key: Key) -> Any:
        """Return the value of a part; None where it is not there."""
        number = self._numbers.get(key)
        return self.values[number][node >> number * WIDTH & MASK] if number is not None else None

    def node_of(self, standing: Standing) -> Node:
        """Return the node of a standing that is not watched."""
        return sum(id_ << part * WIDTH for part, id_ in self._parts_of(standing))

    def _parts_of(self, standing: Standing, reads: Reads | None = None) -> Iterator[tuple[int, int]]:
        yield SHAPE, self.id_of(SHAPE, _shape_of(standing))
        for key, value in self._written(standing, reads):
            part, canon = self.part(key), self._canons.get(key)
            if canon is not None:
                value = canon(value)
            if self._idle is not None and (type(value) is Tag or _is_counted(key)):
                value = self._idle.of(value)
            yield part, self.id_of(part, value)

    def changes(self, before: Node, standing: Standing, reads: Reads) -> Delta:
        """Return what a watched standing wrote; see `changed`."""
        found: dict[int, int] = dict(self._parts_of(standing, reads))
        shape = found.pop(SHAPE)
        if shape != before & MASK:
            kept = {*_keys_of(standing), *(key for key in self.keys if key[:1] == ("tag",))}
            ids = enumerate(ids_of(before, len(self.keys)))
            found |= {part: 0 for part, id_ in ids if part and id_ and self.keys[part] not in kept}
            found[SHAPE] = shape
        bits = sum(MASK << part * WIDTH for part in found)
        return bits, bits ^ sum(id_ << part * WIDTH for part, id_ in found.items())

    def _written(self, standing: Standing, reads: Reads | None) -> Iterator[tuple[Key, Any]]:
        """Yield the parts that a turn wrote, with their values: what is no token, or the token of another part."""
        tags = raw(standing.state, "tags")
        if self._is_tagged and type(tags) is not Unread:
            if type(tags) is WatchedTags:
                yield from self._own((("tag", name), tag) for name, tag in tags.by.items())
            else:  # all that were there and are not named are removed
                if reads is not None:
                    reads.note(TAGS)
                by = {tag.slug: tag for tag in tags}
                yield from ((("tag", name), tag) for name, tag in by.items())
                yield from ((key, None) for key in self.keys if key[:1] == ("tag",) and key[1] not in by)
        yield from self._own(
            (key, value) for key, value in _all(standing) if not (self._is_tagged and key == _TAGS_KEY)
        )

    def _own(self, found: Iterable[tuple[Key, Any]]) -> Iterator[tuple[Key, Any]]:
        for key, value in found:
            if type(value) is not Unread:
                yield key, value
            elif self._numbers.get(key) != value.part:
                yield key, value.read()

    def standing(self, node: Node) -> Standing:
        """Return the standing of a node, not watched."""
        values = [known[id_] for known, id_ in zip(self.values, ids_of(node, len(self.keys)), strict=True)]
        tags = [values[part] for part in self._tags if values[part] is not None]
        ordered = tuple(sorted(tags, key=lambda tag: tag.slug)) if self._is_tagged else None
        return self._built(node, values, ordered, State, Character, lambda kind: kind)

    def watched(self, node: Node, reads: Reads) -> Standing:
        """Return the standing of a node that takes note of what is read."""
        unread = [Unread(reads, part) for part in range(len(self.keys))]
        tags = (
            WatchedTags(reads, {self.keys[part][1]: unread[part] for part in self._tags}) if self._is_tagged else None
        )
        found = self._built(node, unread, tags, WatchedState, WatchedCharacter, _watched_class)
        reads.base = found.state
        return found

    def _built(
        self,
        node: Node,
        values: Sequence[Any],
        tags: Any,
        state_class: Callable[..., State],
        character_class: Callable[..., Character],
        class_of: Callable[[type], type],
    ) -> Standing:
        """Return the standing of a node.

        Args:
            node: says what there is.
            values: what stands in each part.
            tags: all of them; None where they are one part like others.
            state_class, character_class, class_of: of what classes its records are.
        """
        form = self._forms.get(node & MASK)
        if form is None:
            form = self._forms[node & MASK] = self._form_of(node & MASK)

        def row(parts: Iterable[tuple[str, int]]) -> dict[str, Any]:
            return {name: values[part] for name, part in parts}

        def record(kind: type, parts: Iterable[tuple[str, int]]) -> Any:
            fields = row(parts)
            return _value(fields[WHOLE]) if kind is Whole else class_of(kind)(**fields)

        characters = {
            name: character_class(name=name, tracks=Map(row(tracks)), **row(fields))
            for name, tracks, fields in form.characters
        }
        fields = row(form.fields) | {field: Map(row(parts)) for field, parts in form.maps}
        if tags is not None:
            fields["tags"] = tags
        place = None if form.place is None else record(*form.place)
        return Standing(state_class(characters=Map(characters), **fields), record(*form.step), place)

    def _form_of(self, shape: int) -> _Form:
        names, tracks, maps, step, place = self.values[SHAPE][shape]

        def numbered(names: Iterable[str], *lead: str) -> tuple[tuple[str, int], ...]:
            return tuple([(name, self._numbers[*lead, name]) for name in names])

        def record(kind: type, lead: str) -> tuple[type, tuple[tuple[str, int], ...]]:
            fields = (WHOLE,) if kind is Whole else kind.__struct_fields__  # type: ignore[attr-defined]
            return kind, numbered(fields, lead)

        return _Form(
            tuple(
                [
                    (name, numbered(own, "tracks", name), numbered(_CHARACTERS, "character", name))
                    for name, own in zip(names, tracks, strict=True)
                ]
            ),
            numbered([field for field in _PLAIN if field != "tags" or not self._is_tagged], "state"),
            tuple([(field, numbered(known, field)) for field, known in zip(_MAPS, maps, strict=True)]),
            record(step, "at"),
            None if place is None else record(place, "place"),
        )


_Parts = tuple[tuple[str, int], ...]  # names with the numbers of their parts


class _Form(NamedTuple):
    """Which parts stand where, in standings of one shape.

    Attributes:
        characters: each with its tracks and its other fields.
        fields, maps: of the state.
        step, place: the class of the record, and its fields.
    """

    characters: tuple[tuple[str, _Parts, _Parts], ...]
    fields: _Parts
    maps: tuple[tuple[str, _Parts], ...]
    step: tuple[type, _Parts]
    place: tuple[type, _Parts] | None


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


_TAGS_KEY = ("state", "tags")


def _all(standing: Standing) -> Iterator[tuple[Key, Any]]:
    yield from _all_of(standing.state)
    records: Iterable[tuple[str, Any]] = (("at", standing.at), ("place", standing.place))
    for lead, record in records:
        if isinstance(record, msgspec.Struct):
            for field in record.__struct_fields__:
                yield (lead, field), raw(record, field)
        elif record is not None:
            yield (lead, WHOLE), record


def _all_of(state: State) -> Iterator[tuple[Key, Any]]:
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


def _is_counted(key: Key) -> bool:
    """Tell whether a part is the counters of the table or of a character."""
    return key == ("state", "counters") or (key[:1] == ("character",) and key[2] == "counters")


class _Glance:
    """What a function makes of standings: the numbers of its values, and of which standings they are."""

    __slots__ = ("_ids", "args", "function", "known", "values")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args
        self.known = Memo()
        self.values: list[Any] = []
        self._ids: dict[Any, int] = {}

    def kept(self, node: Node, reads: Reads, parts: Parts, state: State) -> int:
        """Return the number of what the function makes of a state, and keep it."""
        value = self.function(state, *self.args)
        id_ = self._ids.get(value)
        if id_ is None:
            id_ = self._ids[value] = len(self.values)
            self.values.append(value)
        self.known.keep(node, reads.parts, id_, parts)
        return id_
