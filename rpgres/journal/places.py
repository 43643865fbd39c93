"""Places of a table by their path, as `table set` names them: what stands there, and how something else is put there.

A path is that of a scene's `expect.state`: `characters.mara.counters.fate-points`, `tags.rain-slick-roofs.uses.mara`,
`characters.mara.tracks.physical.2`. What stands at a place tells which values fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from rpgres.errors import UsageError
from rpgres.keeping import fault_in, plain
from rpgres.rulesets import unknown
from rpgres.state import Box, Map, State, Tag, freeze, slug
from rpgres.tomlfiles import nearest

ABSENT = "absent"  # what is not there; as a value it takes something away
EVERYBODY = "everybody"
MOST_BOXES = 1000  # of a new track

_FREE = ("counters", "abilities", "uses", "audiences", "texts")  # maps in which a name may be new
_MOVED = {
    "piles": "cards are moved by what is played, so that each stays in one place",
    "periods": "what has begun is told with `rpgres table begin` and `table end`",
}


def value_at(state: State, path: str) -> Any:
    """Return what stands at a path as plain data; `absent` where nothing does."""
    value: Any = state
    for key in path.split("."):
        value = _inside(value, key)
    return ABSENT if value is None or value is _NOTHING else plain(value)


_NOTHING = object()


def _inside(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key, _NOTHING)
    if isinstance(value, tuple):
        return next((one for one in value if _named(one, key)), _NOTHING)
    is_field = isinstance(value, msgspec.Struct) and key in value.__struct_fields__
    return getattr(value, key) if is_field else _NOTHING


def _named(one: Any, key: str) -> bool:
    if isinstance(one, Tag):
        return one.slug == slug(key)
    return isinstance(one, Box) and one.name == key


def audience_at(state: State, path: str) -> tuple[str, ...] | None:
    """Return the seats that may know of what stands at a path; None for everybody, and where nothing stands."""
    field, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    if field == "tags":
        tag = state.tag(name)
        return tag.audience if tag is not None else None
    return state.audiences.get(name) if field in ("tracks", "things", "audiences") else None


def changed(state: State, path: str, text: str) -> State:
    """Return the table with a value at a place.

    Args:
        state: the table.
        path: where.
        text: the value as typed; `absent` takes away what may be away, seats are separated by commas.

    Raises:
        UsageError: there is no such place, or the value does not fit what stands there.
    """
    keys = path.split(".")
    if keys[0] in _MOVED:
        raise UsageError(f"{path}: {_MOVED[keys[0]]}")
    if keys[0] == "characters" and len(keys) == 2 and text == ABSENT and keys[1] in state.characters:
        return _without_character(state, keys[1])
    after: State = _put(state, keys, text, path=path)
    fault = fault_in(after)
    if fault:
        raise UsageError(f"{path}={text}: {fault}")
    return after


def shown_to(state: State, path: str, seats: Iterable[str]) -> State:
    """Return the table with the tag, track or thing at a path for some seats alone; as it is when none are named.

    Raises:
        UsageError: there is nothing at the path that could be for some alone.
    """
    audience = tuple(dict.fromkeys(seats))
    field, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    if not audience:
        return state
    tag = state.tag(name) if field == "tags" else None
    if tag is not None:
        return state.with_tag(msgspec.structs.replace(tag, audience=audience))
    if field not in ("tracks", "things") or name not in getattr(state, field):
        raise UsageError(f"{path}: only a tag, a track or a thing of the table can be for some seats alone")
    return msgspec.structs.replace(state, audiences=state.audiences.with_(name, audience))


def _without_character(state: State, name: str) -> State:
    if any(pile.owner == name and len(pile) for pile in state.piles.values()):
        raise UsageError(f"characters.{name}: this character holds cards, which have to lie somewhere")
    return msgspec.structs.replace(
        state,
        characters=state.characters.without(name),
        tags=tuple(tag for tag in state.tags if tag.on != name),
        piles=Map({key: pile for key, pile in state.piles.items() if pile.owner != name}),
    )


def _put(value: Any, keys: list[str], text: str, *, path: str, field: str = "") -> Any:
    """Return a value in which the place at the rest of a path holds what is typed.

    Args:
        value: the value.
        keys: the rest of the path.
        text: what is typed.
        path: the whole path, for messages.
        field: the name of the record's field that has led here.
    """
    if not keys:
        return _read(value, text, path=path, field=field)
    key, rest = keys[0], keys[1:]
    if isinstance(value, msgspec.Struct):
        fields = value.__struct_fields__
        if key not in fields:
            raise _no_place(path, key, fields)
        if key == "name" and not isinstance(value, Tag):
            raise UsageError(f"{path}: a name is how it is called everywhere, and cannot be changed")
        return msgspec.structs.replace(value, **{key: _put(getattr(value, key), rest, text, path=path, field=key)})
    if isinstance(value, Map):
        return _put_in_map(value, key, rest, text, path=path, field=field)
    if isinstance(value, tuple) and (field == "tags" or any(isinstance(one, Box) for one in value)):
        return _put_in_row(value, key, rest, text, path=path, field=field)
    raise UsageError(f"{path}: {'.'.join(path.split('.')[: -len(keys)])} has nothing inside it")


def _put_in_map(value: Map[str, Any], key: str, rest: list[str], text: str, *, path: str, field: str) -> Any:
    if key not in value:
        near = nearest(key, value)
        is_tables = len(path.split(".")) == 2 and near is None and not rest and text != ABSENT
        if field == "tracks" and is_tables:
            return value.with_(key, _new_track(text, path=path))
        if field == "things" and is_tables:
            return value.with_(key, _data(None, text, path=path))
        if rest or near is not None or field not in _FREE or text == ABSENT:
            raise _no_place(path, key, value)
        new: dict[str, Any] = {"audiences": (), "texts": ""}
        return value.with_(key, _read(new.get(field, 0), text, path=path, field=field))
    if not rest and text == ABSENT:
        if field in ("characters", "records") or (field == "tracks" and len(path.split(".")) > 2):
            raise UsageError(f"{path}: this cannot be taken away")
        return value.without(key)
    inner = _put(value[key], rest, text, path=path, field="" if field == "things" else field if not rest else key)
    return value.with_(key, _data(value[key], text, path=path) if field == "things" and not rest else inner)


def _new_track(text: str, *, path: str) -> tuple[Box, ...]:
    """Return so many free boxes as are typed, called by their numbers."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:5]) <= MOST_BOXES:
        raise UsageError(f"{path}: a new track is said by how many boxes it has, from 1 to {MOST_BOXES}, not {text!r}")
    return tuple(Box(str(number), 1) for number in range(1, int(text) + 1))


def _put_in_row(value: tuple[Any, ...], key: str, rest: list[str], text: str, *, path: str, field: str) -> Any:
    """Return tags or boxes with one of them changed, added or taken away."""
    found = next((one for one in value if _named(one, key)), None)
    if found is None:
        near = nearest(slug(key), [one.slug for one in value]) if field == "tags" else None
        if field != "tags" or rest or near is not None or text == ABSENT or not slug(key):
            raise _no_place(path, key, [one.slug if isinstance(one, Tag) else one.name for one in value])
        return (*value, Tag(key, text))
    if isinstance(found, Tag) and not rest:
        if text != ABSENT:
            raise UsageError(f"{path}: this is there already; {path}.kind, {path}.uses.NAME and so on say what changes")
        return tuple(one for one in value if one is not found)
    if isinstance(found, Box) and not rest:
        mark = "" if text in (ABSENT, "") else text
        changed_: Any = msgspec.structs.replace(found, mark=mark)
    else:
        changed_ = _put(found, rest, text, path=path, field=field)
        if isinstance(changed_, Tag) and any(one is not found and one.slug == changed_.slug for one in value):
            raise UsageError(f"{path}={text}: something is called so already")
    return tuple(changed_ if one is found else one for one in value)


def _read(value: Any, text: str, *, path: str, field: str) -> Any:
    """Return a typed text as the kind of value that stands there."""
    if field in ("audience", "audiences", "knowers"):
        if text == EVERYBODY and field == "audience":
            return None
        return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if isinstance(value, bool):
        if text.lower() not in ("true", "yes", "false", "no"):
            raise UsageError(f"{path} is true or false, not {text!r}")
        return text.lower() in ("true", "yes")
    if isinstance(value, int):
        try:
            return int(text)
        except ValueError:
            raise UsageError(f"{path} is a whole number (now {value}), not {text!r}") from None
    if isinstance(value, str):
        return "" if text == ABSENT else text
    if isinstance(value, Map):
        raise UsageError(f"{path} is no single value; it has: {', '.join(value) or 'nothing yet'}")
    if isinstance(value, msgspec.Struct):
        raise UsageError(f"{path} is no single value; it has: {', '.join(value.__struct_fields__)}")
    return _data(value, text, path=path)


def _data(value: Any, text: str, *, path: str) -> Any:
    """Return what is typed for something of a ruleset's own: as TOML writes it, or a text."""
    from tomli import TOMLDecodeError, loads

    try:
        return freeze(loads(f"value = {text}")["value"])
    except TOMLDecodeError:
        if isinstance(value, str) or value is None:
            return text
        raise UsageError(
            f'{path}: {text!r} is no value; write it as in TOML, such as 3, true, "text", ["a", "b"] or {{ a = 1 }}'
        ) from None


def _no_place(path: str, key: str, known: Iterable[str]) -> UsageError:
    keys = path.split(".")
    place = ".".join(keys[: keys.index(key)]) if key in keys else ""
    return UsageError(f"{path}: {unknown('place', key, known, of=place or 'the table')}")
