"""Positions that note what is read of them: what a turn did not read cannot have mattered to it.

A watched table, place and step are records of the same classes' kind, in which every part that can be looked up by
itself is a token until it is read. Records that are copied keep the tokens of what was not read; so what a turn wrote
is told from what it left alone, even where it wrote an equal value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from rpgres.model.state import Character, Map, State, Tag, slug
from rpgres.odds.nodes import MASK, SHAPE, TAGS, WIDTH, Node

if TYPE_CHECKING:
    from rpgres.odds.positions import Parts

T = TypeVar("T")
Key = tuple[str, ...]  # a part of a position: ("state", "tags"), ("tracks", "mara", "physical"), ("place", "turn")
Owner = tuple[str, ...]  # the key of a counter without its name: ("counters",) of the table, ("counters", "mara")
MAPS = ("tracks", "things", "piles")  # of the state, by name
PLAIN = ("tags", "audiences", "periods")
CHARACTERS = tuple(name for name in Character.__struct_fields__ if name not in ("name", "tracks", "counters"))


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
        return other is self or bool(self.read() == value_of(other))

    def __hash__(self) -> int:
        return hash(self.read())

    def __repr__(self) -> str:
        return repr(self.read())


def value_of(value: Any) -> Any:
    """Return a value, which is read where it is a token."""
    return value.read() if type(value) is Unread else value


class Reads:
    """Which parts of a node's position were read, in order.

    Attributes:
        is_off: whether no note is taken: what is read before a merge, its key stands for.
    """

    __slots__ = ("all", "base", "glances", "is_off", "node", "parts")

    def __init__(self, all_parts: Parts, node: Node) -> None:
        self.all, self.node, self.is_off = all_parts, node, False
        self.glances: dict[Any, tuple[int, Any]] = {}
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
        return value_of(super().__getitem__(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return value_of(super().get(key, default))

    def values(self) -> Any:
        return [value_of(value) for value in super().values()]

    def items(self) -> Any:
        return [(key, value_of(value)) for key, value in super().items()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and dict(self.items()) == dict(other.items())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # as for `Map`
        return hash(frozenset(self.items()))


class WatchedCounters(Map[str, Any]):
    """The counters of the table or of a character, each a part of its own; None where one is not there.

    Which names there are is no part of the shape: a counter that appears on the way concerns only what reads it.
    """

    __slots__ = ("owner", "reads")

    def __init__(self, reads: Reads, owner: Owner, by: Mapping[str, Any]) -> None:
        super().__init__(by)
        self.reads, self.owner = reads, owner

    def _all(self) -> dict[str, int]:
        """Return all that are there, which reads them all; that is noted once, not for each."""
        self.reads.note(self.reads.all.group(self.owner))
        value = self.reads.glimpse
        found = ((name, value(one.part) if type(one) is Unread else one) for name, one in dict.items(self))
        return {name: number for name, number in found if number is not None}

    def get(self, key: Any, default: Any = None) -> Any:
        if not dict.__contains__(self, key):
            self.reads.note(self.reads.all.part((*self.owner, key)))
            return default
        value = value_of(dict.__getitem__(self, key))
        return default if value is None else value

    def __getitem__(self, key: Any) -> Any:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def __bool__(self) -> bool:
        glimpse, there = self.reads.glimpse, dict.items(self)
        first = next((name for name, one in there if type(one) is Unread and glimpse(one.part) is not None), None)
        return first in self if first is not None else bool(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._all())

    def keys(self) -> Any:
        return self._all().keys()

    def values(self) -> Any:
        return self._all().values()

    def items(self) -> Any:
        return self._all().items()

    def copy(self) -> dict[str, int]:
        return self._all()

    def __or__(self, other: Any) -> Any:
        return self._all() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._all()

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, WatchedCounters) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # as for `Map`
        return hash(frozenset(self._all().items()))

    def __repr__(self) -> str:
        return repr(self._all())

    def with_(self, key: str, value: Any) -> WatchedCounters:
        """Return a copy with another value of one; the others are not read for it."""
        return WatchedCounters(self.reads, self.owner, {**dict(dict.items(self)), key: value})

    def without(self, key: str) -> WatchedCounters:
        """Return a copy that lacks one."""
        return self.with_(key, None)

    def __reduce__(self) -> tuple[type[Map[str, Any]], tuple[dict[str, Any]]]:
        return Map, (self._all(),)


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
        tag: Tag | None = value_of(self.by[name])
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
    return WatchedMap(value) if type(value) is Map and name in MAPS else value


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
def watched_class(kind: type) -> type:
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


def kind_of(record: Any) -> type:
    """Return the class of a record, watched or not."""
    kind = type(record)
    if not isinstance(record, msgspec.Struct):
        return Whole
    return kind.__mro__[1] if kind.__module__ == __name__ else kind


def raw(record: Any, name: str) -> Any:
    """Return what a record holds, tokens as they are."""
    return object.__getattribute__(record, name)


def unwatched(state: State) -> State:
    """Return a state like a watched one of which nobody takes note what is read; it reads all of it."""
    if type(state) is State:
        return state

    def copied(record: Any, kind: type[Any]) -> Any:
        fields = zip(record.__struct_fields__, _fields(record), strict=True)
        maps = WatchedMap, WatchedCounters
        return kind(**{name: Map(value.items()) if isinstance(value, maps) else value for name, value in fields})

    plain: State = copied(state, State)
    characters = {name: copied(one, Character) for name, one in plain.characters.items()}
    return msgspec.structs.replace(plain, characters=Map(characters))
