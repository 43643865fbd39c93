"""Paths of the state: `characters.mara.tracks.physical.free`, read once and then looked up quickly.

A path goes through fields of records and names in them, and may end in a derived fact (`free`, `marked`, `count`,
`total`, `active`). Standing orders also start from `self`, from other characters, and from the question they answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import msgspec

from rpgres.errors import UsageError
from rpgres.model.serialization import plain
from rpgres.model.state import EMPTY, GM, Character, Pile, State, Tag, code_of, require_dealt, slug
from rpgres.model.typed_paths import typed_path
from rpgres.toml.diagnostics import nearest, unknown

ABSENT = "absent"  # what scenes and people write for what is not there
QUANTIFIERS = ("any", "all")
FOES = "foes"  # the fact of a question that names the enemies of who decides
PLAYERS_ROOTS = ("self", "others", "enemies", "allies", "facts", "options")  # what only who decides can speak of


class _Nothing:
    def __repr__(self) -> str:
        return ABSENT


NOTHING = _Nothing()  # what a reader returns where nothing is


class Scope(NamedTuple):
    """What a path is looked up in.

    Attributes:
        state: the table, as far as the reader may see it.
        who: the character that decides; empty where none does.
        facts: what the question is about.
        options: the options offered, each with `name` and `facts`.
    """

    state: State
    who: str = ""
    facts: Mapping[str, Any] = EMPTY
    options: Sequence[Any] = ()


class Place(NamedTuple):
    """One key of a path, and the kind of thing it is looked up in: `("counters", "fate-points")`."""

    kind: str
    key: str


class Path(msgspec.Struct, frozen=True):
    """A path that was read.

    Attributes:
        keys: the path in its canonical spelling: fields with underscores, names as typed.
        places: each key with the kind of thing it is looked up in.
        kind: what stands at its end: `number`, `flag`, `text`, `data` (a ruleset's own), or the kind of a record.
        read: returns what stands there, `NOTHING` where nothing does; of a path with a quantifier, what stands at each.
        many: whether it has to hold for `any` or for `all` of a group; empty for a single place.
    """

    keys: tuple[str, ...]
    places: tuple[Place, ...]
    kind: str
    read: Callable[[Scope], Any]
    many: Literal["", "any", "all"] = ""

    @property
    def text(self) -> str:
        """The path as it is typed."""
        return ".".join(self.keys)

    @property
    def is_computed(self) -> bool:
        """Whether it ends in a fact that is computed of what stands there, such as how many boxes are marked."""
        last = self.places[-1]
        return last.kind in ("track", "uses", "pile") and last.key in _DERIVED[last.kind]

    def told(self, state: State) -> Any:
        """Return what a table has there, in a list where it may stand at several; None where nothing does.

        Of a track it is how many of its boxes are marked; tags are in the order of their names, not as they came.
        """
        found = self.read(Scope(state))
        return tuple(map(self._told, found)) if self.many else self._told(found)

    def _told(self, value: Any) -> Any:
        if value is NOTHING:
            return None
        if self.kind == "tags":
            return tuple(sorted(value, key=lambda tag: tag.slug))
        return sum(bool(box.mark) for box in value) if self.kind == "track" else value


_Get = Callable[[Any, Scope], Any]
_Step = tuple[str, str, _Get]  # the canonical key, the kind of what it leads to, and how to get there


def value_at(state: State, path: str) -> Any:
    """Return the value at a path as plain data; `absent` where there is none, or no such path."""
    try:
        read = parse_path(path)
    except UsageError:
        return ABSENT
    found = read.read(Scope(state))
    values = [ABSENT if value is NOTHING else plain(value) for value in (found if read.many else (found,))]
    return values if read.many else values[0]


@lru_cache(maxsize=1024)
def parse_path(text: str, *, decides: bool = False) -> Path:
    """Return a path that was read.

    Args:
        text: the path: names joined by points.
        decides: whether a decision depends on it, so that it may start from `PLAYERS_ROOTS`.

    Raises:
        UsageError: there cannot be such a place; details have the `word` that is unknown, and the `known` ones.
    """
    rest = list(typed_path(text).with_no_gaps().keys)
    kind, places, keys, many = "scope" if decides else "table", list[Place](), list[str](), ""
    getters, outer = list[_Get](), list[_Get]()
    while rest:
        key = rest.pop(0)
        if key in QUANTIFIERS and kind in _GROUPS:
            if not rest:
                raise UsageError(f"{text}: `{key}` is followed by what has to hold for them, as in `{text}.name`")
            if many:
                raise UsageError(f"{text}: `any` or `all` can be used in a path once")
            many, outer, getters = key, getters, []
            places.append(Place(kind, key))
            keys.append(key)
            kind = _GROUPS[kind]
            continue
        found = _step(kind, key)
        if found is None:
            raise _no_place(text, key, kind, keys, rest)
        places.append(Place(kind, found[0]))
        keys.append(found[0])
        kind = found[1]
        getters.append(found[2])
    read = _reading_each(_chained((*outer, _members)), _chained(getters)) if many else partial(_chained(getters), None)
    return Path(tuple(keys), tuple(places), kind, read, many)  # type: ignore[arg-type]


def _reading_each(group: _Get, each: _Get) -> Callable[[Scope], tuple[Any, ...]]:
    def read(scope: Scope) -> tuple[Any, ...]:
        found = group(None, scope)
        return () if found is NOTHING else tuple(each(one, scope) for one in found)

    return read


def _chained(getters: Sequence[_Get]) -> _Get:
    chain = tuple(getters)

    def get(value: Any, scope: Scope) -> Any:
        for one in chain:
            if value is NOTHING:
                return NOTHING
            value = one(value, scope)
        return NOTHING if value is None else value

    return get


def _no_place(text: str, key: str, kind: str, before: Sequence[str], after: Sequence[str]) -> UsageError:
    known = _known_keys(kind)
    where = ".".join(before) or "the table"
    if not known:
        return UsageError(f"{text}: {where} is a single value and has no parts")
    message = f"{text}: {unknown('place', key, known, of=where)}"
    if nearest(key, known) is None:
        message += _whole_path(key, kind, before, after)
    return UsageError(message, word=key, known=known)


def _whole_path(key: str, kind: str, before: Sequence[str], after: Sequence[str]) -> str:
    """Return how a path would name what a key may be: somebody, or something that a character has."""
    if kind in ("scope", "table") and after and _step("character", after[0]) is not None:
        return f"; a character is `{'.'.join(('characters', key, *after))}`"
    if kind != "character":
        return ""
    section = "tracks" if after else "counters"
    return f"; names stand in one of these: `{'.'.join((*before, section, key, *after))}`"


def _known_keys(kind: str) -> tuple[str, ...]:
    if kind == "scope":
        return (*PLAYERS_ROOTS, *_FIELDS["table"])
    return tuple(dict.fromkeys((*_FIELDS.get(kind, ()), *_DERIVED.get(kind, ()))))


# ---------------------------------------------------------------------------------------------------------------------
# From one kind of thing to the next

# Records: each field with the kind of what it holds.
_FIELDS: dict[str, dict[str, str]] = {
    "table": {
        "characters": "characters",
        "tags": "tags",
        "counters": "counters",
        "tracks": "tracks",
        "things": "things",
        "audiences": "audiences",
        "piles": "piles",
        "periods": "names",
    },
    "character": {
        "name": "text",
        "title": "text",
        "abilities": "abilities",
        "counters": "counters",
        "tracks": "tracks",
        "records": "data",
        "texts": "texts",
        "seat": "text",
        "is_out": "flag",
    },
    "tag": {"name": "text", "kind": "text", "on": "text", "uses": "uses", "audience": "names"},
    "box": {"name": "text", "size": "number", "mark": "text"},
    "pile": {
        "cards": "names",
        "audience": "names",
        "owner": "text",
        "shuffles": "number",
        "top": "names",
        "knowers": "data",
    },
}

# Maps: the kind of what stands under each name.
_NAMED = {
    "characters": "character",
    "counters": "number",
    "abilities": "number",
    "uses": "number",
    "tracks": "track",
    "things": "data",
    "texts": "text",
    "audiences": "names",
    "piles": "pile",
    "data": "data",
    "facts": "data",
    "options": "option",
    "option": "data",
}
_GROUPS = {"characters": "character", "tags": "tag", "track": "box", "options": "option"}


def _step(kind: str, key: str) -> _Step | None:
    """Return where a key leads from a kind of thing; None where it leads nowhere."""
    if kind == "scope":
        return (key, *_ROOTS[key]) if key in _ROOTS else _step("table", key)
    name = key.replace("-", "_")
    if name in _FIELDS.get(kind, ()):
        getter = _cards if (kind, name) == ("pile", "cards") else _attribute(name)
        return name, _FIELDS[kind][name], _of_state(name) if kind == "table" else getter
    derived = _DERIVED.get(kind, {}).get(key)
    if derived is not None:
        return key, derived[0], derived[1] if kind in _FIELDS else _unless_named(key, derived[1])
    if kind == "abilities":
        return slug(key), "number", _data(slug(key))
    if kind == "tags":
        return slug(key), "tag", _first("slug", slug(key))
    if kind == "track":
        return key, "box", _first("name", key)
    if kind == "names":
        return key, "flag", _member(key)
    if kind == "options" and "*" in key:
        return key, "option", _matching(key)
    return (key, _NAMED[kind], _data(key)) if kind in _NAMED else None


def _of_state(name: str) -> _Get:
    return lambda _value, scope: getattr(scope.state, name)


def _attribute(name: str) -> _Get:
    return lambda value, _scope: getattr(value, name)


def _cards(value: Pile, _scope: Scope) -> tuple[str, ...]:
    """Return the cards of a pile.

    Raises:
        UndealtError: they are not dealt yet.
    """
    return require_dealt(value).cards


def _data(key: str) -> _Get:
    """Return a getter of a value by name; of a list of texts, whether the name is among them."""

    def get(value: Any, _scope: Scope) -> Any:
        if isinstance(value, dict):
            return value.get(key, NOTHING)
        if isinstance(value, tuple) and key in value:
            return True
        if isinstance(value, msgspec.Struct) and key in value.__struct_fields__:
            return getattr(value, key)
        return NOTHING

    return get


def _unless_named(key: str, derived: _Get) -> _Get:
    """Return a getter of a derived fact, unless something has its name."""

    def get(value: Any, scope: Scope) -> Any:
        if isinstance(value, dict) and key in value:
            return value[key]
        return derived(value, scope)

    return get


def _first(field: str, name: str) -> _Get:
    """Return a getter of the tag or the box of a name."""
    return lambda value, _scope: next((one for one in value if getattr(one, field) == name), NOTHING)


def _member(name: str) -> _Get:
    """Return a getter of whether a name is among others; of cards, any copy of it counts."""

    def get(value: Any, _scope: Scope) -> Any:
        return True if value is not None and (name in value or name in map(code_of, value)) else NOTHING

    return get


def _matching(pattern: str) -> _Get:
    return lambda value, _scope: next((facts for name, facts in value.items() if fnmatchcase(name, pattern)), NOTHING)


def _members(value: Any, _scope: Scope) -> Any:
    return tuple(value.values()) if isinstance(value, dict) else tuple(value)


# ---------------------------------------------------------------------------------------------------------------------
# Derived facts


def _active(value: Mapping[str, Character], _scope: Scope) -> Mapping[str, Character]:
    return {name: one for name, one in value.items() if not one.is_out}


def _tags_on(value: Character, scope: Scope) -> tuple[Tag, ...]:
    return tuple(tag for tag in scope.state.tags if tag.on == value.name)


def _piles_of(value: Character, scope: Scope) -> Mapping[str, Pile]:
    piles = scope.state.piles.items()
    return {name.partition(":")[0]: pile for name, pile in piles if pile.owner == value.name}


_COUNT: tuple[str, _Get] = (
    "number",
    lambda value, _scope: len(value) if isinstance(value, tuple | dict | Pile) else NOTHING,
)
_DERIVED: dict[str, dict[str, tuple[str, _Get]]] = {
    "characters": {"count": _COUNT, "active": ("characters", _active)},
    "character": {"tags": ("tags", _tags_on), "piles": ("piles", _piles_of)},
    "tags": {"count": _COUNT},
    "track": {
        "free": ("number", lambda value, _scope: len([box for box in value if not box.mark])),
        "marked": ("number", lambda value, _scope: len([box for box in value if box.mark])),
        "count": _COUNT,
    },
    "uses": {"total": ("number", lambda value, _scope: sum(value.values()))},
    "pile": {"count": _COUNT},
    "names": {"count": _COUNT},
    "data": {"count": _COUNT},
    "options": {"count": _COUNT},
}


# ---------------------------------------------------------------------------------------------------------------------
# Where who decides starts from


def _others(scope: Scope) -> Mapping[str, Character]:
    characters = scope.state.characters.items()
    return {name: one for name, one in characters if name != scope.who and not one.is_out}


def _side(scope: Scope, *, is_own: bool) -> Mapping[str, Character]:
    """Return the others of one side: by the fact `foes` of the question, else by who is the game master's.

    Where the game master plays no character, or every one, there are no sides, and all others are enemies.
    """
    others, foes = _others(scope), scope.facts.get(FOES)
    if isinstance(foes, tuple | list):
        return {name: one for name, one in others.items() if (name in foes) != is_own}
    state = scope.state
    by_gm = {name: state.seat_of(name) == GM for name in state.characters}
    if len(set(by_gm.values())) < 2:
        return {} if is_own else others
    mine = by_gm.get(scope.who, True)
    return {name: one for name, one in others.items() if (by_gm[name] == mine) == is_own}


_ROOTS: dict[str, tuple[str, _Get]] = {
    "self": ("character", lambda _value, scope: scope.state.characters.get(scope.who, NOTHING)),
    "others": ("characters", lambda _value, scope: _others(scope)),
    "enemies": ("characters", lambda _value, scope: _side(scope, is_own=False)),
    "allies": ("characters", lambda _value, scope: _side(scope, is_own=True)),
    "facts": ("facts", lambda _value, scope: scope.facts),
    "options": ("options", lambda _value, scope: {option.name: option.facts for option in scope.options}),
}
