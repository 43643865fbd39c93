"""Positions of a game as nodes: to nodes and back, what a turn changed, and what functions of the state return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from rpgres.engine.procedures import Position
from rpgres.model.state import EMPTY, Character, Map, State, Tag
from rpgres.odds.nodes import MASK, SHAPE, TAGS, WIDTH, Delta, Memo, Node, ids_of
from rpgres.odds.watching import (
    CHARACTERS,
    MAPS,
    PLAIN,
    WHOLE,
    Key,
    Owner,
    Reads,
    Unread,
    WatchedCharacter,
    WatchedCounters,
    WatchedState,
    WatchedTags,
    Whole,
    kind_of,
    raw,
    value_of,
    watched_class,
)

COUNTERS = "counters."  # before the name of a counter among what makes no difference


class Idle:
    """What makes no difference and is left out: tags by kind, and counters by name (`counters.NAME`)."""

    __slots__ = ("_counters", "_kinds")

    def __init__(self, names: Collection[str]) -> None:
        self._kinds = frozenset([name for name in names if not name.startswith(COUNTERS)])
        self._counters = frozenset([name.removeprefix(COUNTERS) for name in names if name.startswith(COUNTERS)])

    def has_tag(self, tag: Tag) -> bool:
        """Tell whether a tag makes no difference."""
        return tag.kind in self._kinds

    def has_counter(self, name: str) -> bool:
        """Tell whether a counter makes no difference."""
        return name in self._counters


class Parts:
    """The parts of the positions of one walk: their numbers, and the numbers of their values.

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
        self._looks: list[Any] = [_Group()]  # what is no single part, by -1 less its number; first `TAGS`
        self._look_numbers: dict[Hashable, int] = {}
        self._tags: list[int] = []
        self._counters: dict[Owner, list[tuple[str, int]]] = {}
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
                self._join(TAGS, number)
            elif key[0] == "counters":
                self._counters.setdefault(key[:-1], []).append((key[-1], number))
                self._join(self.group(key[:-1]), number)
        return number

    def group_at(self, number: int) -> _Group | None:
        """Return the group of a number; None where that is what a function makes of positions."""
        look = self._looks[-1 - number]
        return look if isinstance(look, _Group) else None

    def _join(self, number: int, part: int) -> None:
        group = self.group_at(number)
        assert group is not None
        group.add(part)

    def group(self, owner: Owner) -> int:
        """Return the number for all the counters of an owner."""
        return self.looked(owner, _Group)

    def looked(self, key: Hashable, make: Callable[[], Any]) -> int:
        """Return the negative number of a look: of an object whose `look` returns one value of a node.

        Args:
            key: identifies the look.
            make: returns the object, if it is new.
        """
        number = self._look_numbers.get(key)
        if number is None:
            self._looks.append(make())
            number = self._look_numbers[key] = -len(self._looks)
        return number

    def reads(self, node: Node) -> Reads:
        """Return what takes note of what is read of a node's position."""
        return Reads(self, node)

    def look(self, node: Node, number: int) -> Hashable:
        """Return what stands for a part of a node, for all its tags, or for what a function makes of it."""
        if number >= 0:
            return node >> number * WIDTH & MASK
        found: Hashable = self._looks[-1 - number].look(node, self)
        return found

    def trace(self, node: Node, number: int, written: int, parts: dict[int, None]) -> None:
        """Take note of the parts that were looked at, of a node that a change led to.

        Args:
            node: where the change led to.
            written: the bits of all parts that the change wrote; they are the same wherever it leads to.
        """
        if number >= 0:
            if not written >> number * WIDTH & MASK:
                parts[number] = None
        elif isinstance(look := self._looks[-1 - number], _Glance):
            look.known.trace(node, self, written, parts)
        else:
            parts[number] = None

    def glanced(self, reads: Reads, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return what a function makes of a position; only that is noted, and not what the function reads."""
        known = reads.glances.get((function, args))
        if known is None:
            number = self.looked((function, args), lambda: _Glance(function, args))
            look = cast("_Glance", self._looks[-1 - number])
            known = reads.glances[function, args] = number, look.values[look.look(reads.node, self)]
        reads.note(known[0])
        return known[1]

    def id_of(self, part: int, value: Hashable) -> int:
        """Return the number of a value of a part, from 1; 0 for a tag or a counter that is not there."""
        if value is None and self.keys[part][0] in ("tag", "counters"):
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

    def node_of(self, position: Position) -> Node:
        """Return the node of a position that is not watched."""
        return sum(id_ << part * WIDTH for part, id_ in self._parts_of(position))

    def _parts_of(self, position: Position, reads: Reads | None = None) -> Iterator[tuple[int, int]]:
        yield SHAPE, self.id_of(SHAPE, _shape_of(position))
        for key, value in self._written(position, reads):
            part, canon = self.part(key), self._canons.get(key)
            if canon is not None:
                value = canon(value)
            if self._idle is not None and self._is_idle(key, value):
                value = None
            yield part, self.id_of(part, value)

    def _is_idle(self, key: Key, value: Any) -> bool:
        """Tell whether a value of a part makes no difference."""
        assert self._idle is not None
        return (
            self._idle.has_counter(key[-1])
            if key[0] == "counters"
            else type(value) is Tag and self._idle.has_tag(value)
        )

    def changes(self, before: Node, position: Position, reads: Reads) -> Delta:
        """Return what a watched position wrote; see `changed`."""
        found: dict[int, int] = dict(self._parts_of(position, reads))
        shape = found.pop(SHAPE)
        if shape != before & MASK:
            owners = {owner for owner, _ in _counters_of(position.state)}
            there = (key for key in self.keys if key[:1] == ("tag",) or key[:-1] in owners)
            kept = {*_keys_of(position), *there}
            ids = enumerate(ids_of(before, len(self.keys)))
            found |= {part: 0 for part, id_ in ids if part and id_ and self.keys[part] not in kept}
            found[SHAPE] = shape
        bits = sum(MASK << part * WIDTH for part in found)
        return bits, bits ^ sum(id_ << part * WIDTH for part, id_ in found.items())

    def _written(self, position: Position, reads: Reads | None) -> Iterator[tuple[Key, Any]]:
        """Yield the parts that a turn wrote, with their values: what is no token, or the token of another part."""
        tags = raw(position.state, "tags")
        if self._is_tagged and type(tags) is not Unread:
            if type(tags) is WatchedTags:
                yield from self._own((("tag", name), tag) for name, tag in tags.by.items())
            else:  # all that were there and are not named are removed
                if reads is not None:
                    reads.note(TAGS)
                by = {tag.slug: tag for tag in tags}
                yield from ((("tag", name), tag) for name, tag in by.items())
                yield from ((key, None) for key in self.keys if key[:1] == ("tag",) and key[1] not in by)
        for owner, counters in _counters_of(position.state):
            yield from self._own(self._counted(owner, counters, reads))
        yield from self._own(
            (key, value) for key, value in _all(position) if not (self._is_tagged and key == _TAGS_KEY)
        )

    def _counted(self, owner: Owner, counters: Map[str, int], reads: Reads | None) -> Iterator[tuple[Key, Any]]:
        """Yield the counters of an owner, with None or their tokens for those that are not there."""
        canon = self._canons.get(("state", *owner))
        if type(counters) is WatchedCounters and counters.owner == owner:
            is_left = all(type(one) is Unread for one in dict.values(counters))
            if canon is None or is_left:
                yield from (((*owner, name), one) for name, one in dict.items(counters))
                return
        if reads is not None:  # all that were there and are not named are removed
            reads.note(self.group(owner))
        by = counters if canon is None else canon(counters)
        yield from (((*owner, name), None) for name, _ in self._counters.get(owner, ()) if name not in by)
        yield from (((*owner, name), number) for name, number in by.items())

    def _own(self, found: Iterable[tuple[Key, Any]]) -> Iterator[tuple[Key, Any]]:
        for key, value in found:
            if type(value) is not Unread:
                yield key, value
            elif self._numbers.get(key) != value.part:
                yield key, value.read()

    def position(self, node: Node) -> Position:
        """Return the position of a node, not watched."""
        values = [known[id_] for known, id_ in zip(self.values, ids_of(node, len(self.keys)), strict=True)]
        tags = [values[part] for part in self._tags if values[part] is not None]
        ordered = tuple(sorted(tags, key=lambda tag: tag.slug)) if self._is_tagged else None

        def counters_of(owner: Owner) -> Map[str, int]:
            found = ((name, values[part]) for name, part in self._counters.get(owner, ()))
            return Map({name: number for name, number in found if number is not None})

        return self._built(node, values, ordered, counters_of, State, Character, lambda kind: kind)

    def watched(self, node: Node, reads: Reads) -> Position:
        """Return the position of a node that takes note of what is read."""
        unread = [Unread(reads, part) for part in range(len(self.keys))]
        tags = (
            WatchedTags(reads, {self.keys[part][1]: unread[part] for part in self._tags}) if self._is_tagged else None
        )

        def counters_of(owner: Owner) -> Map[str, int]:
            by = {name: unread[part] for name, part in self._counters.get(owner, ())}
            return WatchedCounters(reads, owner, by)

        found = self._built(node, unread, tags, counters_of, WatchedState, WatchedCharacter, watched_class)
        reads.base = found.state
        return found

    def _built(
        self,
        node: Node,
        values: Sequence[Any],
        tags: Any,
        counters_of: Callable[[Owner], Map[str, int]],
        state_class: Callable[..., State],
        character_class: Callable[..., Character],
        class_of: Callable[[type], type],
    ) -> Position:
        """Return the position of a node.

        Args:
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
            return value_of(fields[WHOLE]) if kind is Whole else class_of(kind)(**fields)

        characters = {
            name: character_class(
                name=name, tracks=Map(row(tracks)), counters=counters_of(("counters", name)), **row(fields)
            )
            for name, tracks, fields in form.characters
        }
        fields = row(form.fields) | {field: Map(row(parts)) for field, parts in form.maps}
        if tags is not None:
            fields["tags"] = tags
        place = None if form.place is None else record(*form.place)
        fields["counters"] = counters_of(("counters",))
        return Position(state_class(characters=Map(characters), **fields), record(*form.step), place)

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
                    (name, numbered(own, "tracks", name), numbered(CHARACTERS, "character", name))
                    for name, own in zip(names, tracks, strict=True)
                ]
            ),
            numbered([field for field in PLAIN if field != "tags" or not self._is_tagged], "state"),
            tuple([(field, numbered(known, field)) for field, known in zip(MAPS, maps, strict=True)]),
            record(step, "at"),
            None if place is None else record(place, "place"),
        )


_Parts = tuple[tuple[str, int], ...]  # names with the numbers of their parts


class _Form(NamedTuple):
    """Which parts stand where, in positions of one shape.

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


def _shape_of(position: Position) -> Hashable:
    state, place = position.state, position.place
    characters: Map[str, Character] = raw(state, "characters")
    tracks = tuple(tuple(raw(one, "tracks")) for one in characters.values())
    maps = tuple(tuple(raw(state, name)) for name in MAPS)
    return tuple(characters), tracks, maps, kind_of(position.at), None if place is None else kind_of(place)


def _keys_of(position: Position) -> Iterator[Key]:
    return (key for key, _ in _all(position))


_TAGS_KEY = ("state", "tags")


def _all(position: Position) -> Iterator[tuple[Key, Any]]:
    yield from _all_of(position.state)
    records: Iterable[tuple[str, Any]] = (("at", position.at), ("place", position.place))
    for lead, record in records:
        if isinstance(record, msgspec.Struct):
            for field in record.__struct_fields__:
                yield (lead, field), raw(record, field)
        elif record is not None:
            yield (lead, WHOLE), record


def _all_of(state: State) -> Iterator[tuple[Key, Any]]:
    for name, character in raw(state, "characters").items():
        for field in CHARACTERS:
            yield ("character", name, field), raw(character, field)
        for track, boxes in dict.items(raw(character, "tracks")):
            yield ("tracks", name, track), boxes
    for field in PLAIN:
        yield ("state", field), raw(state, field)
    for field in MAPS:
        for name, value in dict.items(raw(state, field)):
            yield (field, name), value


def _counters_of(state: State) -> Iterator[tuple[Owner, Map[str, int]]]:
    yield ("counters",), raw(state, "counters")
    for name, character in raw(state, "characters").items():
        yield ("counters", name), raw(character, "counters")


class _Group:
    """Parts that are read together, such as all tags: what stands for them is their bits of a node."""

    __slots__ = ("bits",)

    def __init__(self) -> None:
        self.bits = 0

    def add(self, part: int) -> None:
        """Add a part; in nodes so far it is not there."""
        self.bits |= MASK << part * WIDTH

    def look(self, node: Node, _parts: Parts) -> int:
        """Return what stands for these parts of a node."""
        return node & self.bits


class _Glance:
    """What a function makes of positions: the numbers of its values, and of which positions they are."""

    __slots__ = ("_bits", "_by_bits", "_groups", "_ids", "args", "function", "known", "values")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args
        self.known = Memo()
        self.values: list[Any] = []
        self._ids: dict[Any, int] = {}
        self._bits = 0  # of all parts that it ever read, beside those of groups
        self._groups: dict[int, _Group] = {}
        self._by_bits: dict[int, int] = {}  # the same as `known`, found at once where those bits are known

    def look(self, node: Node, parts: Parts) -> int:
        """Return the number of what the function makes of a node's state."""
        bits = self._bits
        for group in self._groups.values():
            bits |= group.bits
        found = self._by_bits.get(node & bits)
        if found is None:
            found = self.known.find(node, parts)
            if found is None:
                found = self._made(node, parts)
            else:
                self._by_bits[node & bits] = found
        return found

    def _made(self, node: Node, parts: Parts) -> int:
        """Return the same where it is not known, and keep it."""
        reads = parts.reads(node)
        value = self.function(parts.watched(node, reads).state, *self.args)
        id_ = self._ids.get(value)
        if id_ is None:
            id_ = self._ids[value] = len(self.values)
            self.values.append(value)
        self.known.keep(node, reads.parts, id_, parts)
        for part in reads.parts:
            if part >= 0:
                self._bits |= MASK << part * WIDTH
            elif (group := parts.group_at(part)) is not None:
                self._groups[part] = group
            else:
                self._bits = -1  # it looked at what another function makes of the position
        return id_
