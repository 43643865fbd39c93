"""Places of a table by their path, as `table set` names them, and how something else is put there.

A path is that of `rpgres.model.paths`: `characters.mara.counters.fate-points`, `tags.rain-slick-roofs.uses.mara`,
`characters.mara.tracks.physical.2`. What stands at a place tells which values fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from rpgres.errors import FileError, UsageError, called, enumerated, named
from rpgres.model.paths import ABSENT, value_at
from rpgres.model.serialization import plain, read_state, state_record
from rpgres.model.state import (
    CHECKED,
    GM,
    ROLES,
    SCENE,
    Box,
    Character,
    Map,
    State,
    Tag,
    freeze,
    pile_name,
    require_dealt,
    slug,
    undealt_in,
    with_undealt,
    written_as,
)
from rpgres.model.typed_paths import TypedPath, path_of
from rpgres.rulesets import Field, RecordField, Rules, unknown
from rpgres.toml.diagnostics import nearest

EVERYBODY = "everybody"
NO_COUNTER = "no-counter"  # the reason of the error for a new counter of the table
MOST_BOXES = 1000  # of a new track
MOST = 999_999_999  # of any number

_FREE = ("counters", "abilities", "uses", "audiences", "texts")  # maps in which a name may be new
_MOVED = {
    "piles": "cards are moved only by actions, so that each is in exactly one place",
    "periods": f"periods are changed with `{called('table begin')}` and `{called('table end')}`",
}


_OF_CHARACTER = ("counters", "abilities", "tracks", "texts")  # maps of a character whose names a short path may have


def full_path(state: State, path: TypedPath) -> TypedPath:
    """Return the path that a short one stands for: `mara.fate-points` is `characters.mara.counters.fate-points`.

    It begins with the name of a character, or of a tag: `on-fire.name` is `tags.on-fire.name`.

    Raises:
        UsageError: several characters may be meant.
    """
    who, *rest = path.keys
    if who in State.__struct_fields__:
        return path
    meant = state.meant(who)
    if meant is None:
        return path_of("tags", *path.keys) if state.tag(who) is not None else path
    within = [field for field in _OF_CHARACTER if rest and rest[0] in getattr(state.characters[meant], field)]
    return path_of("characters", meant, *(within if len(within) == 1 else ()), *rest)


def path_after(path: TypedPath, text: str) -> TypedPath:
    """Return where what a path names stands once a text is put there: a tag that is renamed goes by its new name."""
    match path.keys:
        case ["tags", _, "name"]:
            return path_of("tags", slug(text), "name")
    return path


def readers_of(before: State, after: State, path: TypedPath, text: str) -> list[str] | None:
    """Return the seats that may read of a change: those that may know of what stood there, and of what does now.

    Returns:
        None for everybody.
    """
    then = path_after(path, text)
    audiences = [audience_at(before, path)] if value_at(before, path.text) != ABSENT else []  # else nobody has seen it
    audiences += [audience_at(after, then)] if _stands(after, then) else []
    return None if None in audiences else sorted({seat for seats in audiences for seat in seats or ()})


def _stands(state: State, path: TypedPath) -> bool:
    """Tell whether there is the tag, track or thing that a path is about; what is about nothing of these stands."""
    match path.field:
        case "tags":
            return state.tag(path.name) is not None
        case "tracks" | "things" | "audiences":
            return path.name in {*state.tracks, *state.things}
    return True


def audience_at(state: State, path: TypedPath) -> tuple[str, ...] | None:
    """Return the seats that may know of what stands at a path; None for everybody, and where nothing stands."""
    field, name = path.field, path.name
    if field == "tags":
        tag = state.tag(name)
        return tag.audience if tag is not None else None
    return state.audiences.get(name) if field in ("tracks", "things", "audiences") else None


def changed(rules: Rules, state: State, path: TypedPath, text: str) -> State:
    """Return the table with a value at a place.

    Args:
        rules: the ruleset in play, whose sheets say which counters and abilities there are, and within which bounds.
        text: the value as typed; `absent` takes away what may be away, seats are separated by commas.

    Raises:
        UsageError: there is no such place, or the value does not fit what stands there.
    """
    keys = path.with_no_gaps().keys
    if keys[0] in _MOVED:
        raise UsageError(f"{path}: {_MOVED[keys[0]]}")
    if keys[0] == "characters" and len(keys) == 2 and text == ABSENT and keys[1] in state.characters:
        return _without_character(rules, state, keys[1])
    if keys[0] not in State.__struct_fields__ and (meant := _meant(rules, state, keys[0], keys[-1])):
        raise UsageError(f"{path}: the table has no place {keys[0]!r}; did you mean {' or '.join(meant)}?")
    after: State = _put(state, keys, text, path=path)
    _check_kept(after, f"{path}={text}")
    _check_known(rules, state, after, path)
    after = _in_box_and_tag(rules, state, after, path)
    return _with_seat(state, after, path.character) if path.character and keys[2:] == ("seat",) else after


def _in_box_and_tag(rules: Rules, before: State, after: State, path: TypedPath) -> State:
    """Return the table in which a text that stands in a box and as a tag of its owner is changed in both places.

    Raises:
        UsageError: there is such a text already.
    """
    match path.keys:
        case ["tags", name] | ["tags", name, "name"] if (tag := before.tag(name)) is not None:
            return written_as(after, tag, after.tags[before.tags.index(tag)].name if len(path.keys) == 3 else "")
        case ["characters", who, "tracks", track, box] | ["characters", who, "tracks", track, box, "mark"]:
            was, now = (
                next((one.mark for one in state.characters[who].tracks[track] if one.name == box), "")
                for state in (before, after)
            )
            kind = rules.file.tracks[track].tag if track in rules.file.tracks else ""
            if not kind or now == was:
                return after
            tag = before.tag(was) if was else None
            if tag is None or tag.on != who:
                tag = Tag(now, kind, who)
            else:
                after = after.without_tag(was)
            if now in ("", CHECKED):
                return after
            there = after.tag(now)
            if there is not None and there.audience is None:
                raise UsageError(f"{path}: {there.name!r} is on the table already; a text can be there only once")
            return after.with_room(now).with_tag(msgspec.structs.replace(tag, name=now))
    return after


def set_by(
    rules: Rules, state: State, path: TypedPath, text: str, *, seat: str | None, to: Iterable[str] = ()
) -> State:
    """Return the table with a value at a place that a seat, or the host, puts there.

    A seat gets told what it would be told if there were nothing that it does not see.

    Args:
        rules, path, text: see `changed`.
        seat: who sets it; None for the host.
        to: the seats that may know of it from now on; as before when none is named.

    Raises:
        UsageError: there is no such place, or the value does not fit what stands there.
    """
    if seat is None:
        return shown_to(changed(rules, state, path, text), path, to)
    known = state.seen_by(seat)
    field, name = path.field, path.name
    # That a name is free would show that nothing hidden has it, so no new tag is placed, and no message says which.
    if field in ("tracks", "things", "audiences") and name and name not in {*known.tracks, *known.things}:
        raise UsageError(f"{path}: {seat} cannot set this; the host can, without {named('as')}")
    return _with_hidden(state, known, shown_to(changed(rules, known, path, text), path, to))


def _with_hidden(state: State, known: State, after: State) -> State:
    """Return what a part of a table became, with the rest of it; a hidden tag makes room for a new one of its name."""
    before = dict.fromkeys(map(id, known.tags))
    for tag in after.tags:
        state = state if known.tag(tag.name) is not None else state.with_room(tag.name)
    is_less = len(after.tags) < len(known.tags)
    now = {id(old): old for old in after.tags} if is_less else dict(zip(before, after.tags, strict=False))
    tags = [now.get(id(tag)) if id(tag) in before else tag for tag in state.tags]
    there = [tag for tag in (*tags, *after.tags[len(before) :]) if tag is not None]
    removed = state.characters.keys() - after.characters.keys()
    parts = {field: _merged(*(getattr(one, field) for one in (state, known, after))) for field in _SOME_HIDDEN}
    whole = msgspec.structs.replace(
        state,
        characters=after.characters,
        counters=after.counters,
        tags=tuple(tag for tag in there if tag.on not in removed),
        piles=Map({name: pile for name, pile in state.piles.items() if name in after.piles}),
        **parts,
    )
    for name in after.characters:
        whole = _with_seat(state, whole, name) if state.seat_of(name) != after.seat_of(name) else whole
    return whole


_SOME_HIDDEN = ("tracks", "things", "audiences")  # of which a seat may not see all, by name


def _merged(state: Map[str, Any], known: Map[str, Any], after: Map[str, Any]) -> Map[str, Any]:
    kept = {name: after.get(name, value) for name, value in state.items() if name in after or name not in known}
    return Map({**kept, **{name: value for name, value in after.items() if name not in kept}})


def _check_kept(state: State, typed: str) -> None:
    """Check that a state comes back as it is when it is written and read: else the table could never be used again.

    One that odds watch is not read for it.
    """
    if type(state) is not State:
        return
    try:
        is_same = read_state(msgspec.json.decode(msgspec.json.encode(state_record(state)))) == state
        fault = "" if is_same else "it cannot be stored without loss"
    except FileError as error:
        fault = error.message
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        fault = f"it cannot be stored ({error})"
    if fault:
        raise UsageError(f"{typed!r} is not a valid value: {fault}")


def _with_seat(before: State, after: State, name: str) -> State:
    """Return the table on which a character's player now holds its cards too."""
    old, new = before.seat_of(name), after.seat_of(name)
    piles = {
        key: msgspec.structs.replace(pile, audience=(new,)) if (pile.owner, pile.audience) == (name, (old,)) else pile
        for key, pile in after.piles.items()
    }
    return msgspec.structs.replace(after, piles=Map(piles))


# ---------------------------------------------------------------------------------------------------------------------
# What the ruleset and its sheets know


def _check_known(rules: Rules, before: State, after: State, path: TypedPath) -> None:
    """Check that what is named and counted at a place is something that the ruleset, a sheet or the table knows."""
    tag = after.tag(path.name) if path.field == "tags" and path.name else None
    match path.keys:
        case ["counters", name] if name not in before.counters and name in after.counters:
            _check_counter(rules, before, name, path, of="the table")
        case ["characters", who, "counters", name]:
            _check_character_counter(rules, before, after.characters[who], name, path, was=before.characters[who])
        case ["characters", who, "abilities", name] if name in after.characters[who].abilities:
            _check_ability(rules, before.characters[who], after.characters[who].abilities[name], name, path)
        case ["characters", who, "texts", name] if name not in before.characters[who].texts:
            _require(name, rules.file.fields_of("text"), what="text", of=f"a sheet of {rules.id}", path=path)
        case ["characters", who, "seat"]:
            if after.characters[who].seat not in ("", GM, *before.characters):
                raise UsageError(
                    f"{path} is gm, or the name of the character whose seat plays {who}; absent means its own"
                )
        case ["characters", who, "title"] if not slug(after.characters[who].title):
            raise UsageError(f"{path}: a name must not be empty")
        case ["characters", who, "records", key, record, name]:
            fields = rules.file.sheet[key].fields if key in rules.file.sheet else {}
            values = after.characters[who].records[key][record]
            if name not in values:
                raise UsageError(f"{path}: this cannot be removed")
            if name in fields:
                _check_record(fields[name], values[name], path)
        case ["audiences", name]:
            _require(name, [*before.tracks, *before.things], what="track or thing", of="the table", path=path)
            _check_seats(after, after.audiences.get(name), path)
        case ["tags", _, "audience"] if tag is not None:
            _check_seats(after, tag.audience, path)
        case ["tags", _] | ["tags", _, "kind"] if tag is not None:
            _check_kind(rules, before, tag, path)
        case ["tags", _, "name"] if not all(slug(one.name) for one in after.tags):
            raise UsageError(f"{path}: a name must not be empty")
        case ["tags", _, "on"] if tag is not None and tag.on != SCENE:
            _require(tag.on, before.characters, what="character", of="the table", path=path)
        case ["tags", _, "uses", holder] if not any(holder in one.uses for one in before.tags):
            _require(holder, (*before.characters, *ROLES), what="character", of="the table", path=path)


def _require(name: str, known: Iterable[str], *, what: str, of: str, path: TypedPath) -> None:
    names = list(dict.fromkeys(known))
    if name not in names:
        raise UsageError(f"{path}: {unknown(what, name, names, of=of)}")


def _check_counter(rules: Rules, state: State, name: str, path: TypedPath, *, of: str) -> None:
    on_table = (*state.counters, *(key for character in state.characters.values() for key in character.counters))
    known = (*rules.file.counters, *on_table)
    if name not in known:
        own = f"; for a number of your own use a thing of the table: things.{name}=1"
        is_new = not path.character and nearest(name, known) is None
        there = dict.fromkeys(state.counters if is_new else known)
        reason = NO_COUNTER if is_new else ""
        raise UsageError(f"{path}: {unknown('counter', name, there, of=of)}{own}", reason=reason)


def _check_character_counter(
    rules: Rules, state: State, character: Character, name: str, path: TypedPath, *, was: Character
) -> None:
    field = rules.file.fields_of("counter").get(name)
    if name not in character.counters:
        if field is not None:
            raise UsageError(f"{path}: every sheet of {rules.id} has this counter; it cannot be removed")
        return
    if name not in was.counters:
        _check_counter(rules, state, name, path, of=character.name)
    if field is not None:
        _check_bounds(character.counters[name], [field], path)


def _check_ability(rules: Rules, was: Character, number: int, name: str, path: TypedPath) -> None:
    fields = rules.file.fields_of("abilities").values()
    listed = [field for field in fields if name in field.abilities]
    open_ = [field for field in fields if field.is_open]
    if not listed and not open_ and name not in was.abilities:
        _require(name, rules.file.abilities, what="ability", of=f"a sheet of {rules.id}", path=path)
    _check_bounds(number, listed or open_, path)


def _check_bounds(number: int, fields: list[Field], path: TypedPath) -> None:
    """Check that a number is within the bounds of one of the keys of the sheet that it may stand under."""
    if fields and not any(field.has(number) for field in fields):
        raise UsageError(f"{path} is a whole number, {fields[0].words} on a sheet of this ruleset, not {number}")


_RECORDS = {"integer": (int, "a whole number"), "flag": (bool, "true or false"), "text": (str, "a text")}


def _check_record(field: RecordField, value: object, path: TypedPath) -> None:
    type_, wanted = _RECORDS.get(field.kind, (str, f"one of {', '.join(field.choices)}"))
    if type(value) is not type_ or (field.kind == "choice" and value not in field.choices):
        raise UsageError(f"{path} is {wanted}, not {plain(value)!r}")


def _check_kind(rules: Rules, before: State, tag: Tag, path: TypedPath) -> None:
    """Check that the kind of a tag is none that is known, misspelt; a ruleset's code may lay others."""
    kinds = kinds_of_tags(rules, before.tags)
    is_misspelt = tag.kind not in kinds and nearest(tag.kind, kinds) is not None
    if not tag.kind.strip() or is_misspelt:
        raise UsageError(f"{path}: {unknown('kind of tag', tag.kind, kinds, of=f'the ruleset {rules.id}')}")


def kinds_of_tags(rules: Rules, tags: Iterable[Tag]) -> list[str]:
    """Return the kinds of tags that the ruleset's data name, or may name, and those of tags that there are."""
    laid = [name for name, effect in rules.file.effects.items() if not effect.does]
    return list(dict.fromkeys([*rules.file.tag_kinds, *(tag.kind for tag in tags), *laid]))


def _check_seats(after: State, named: tuple[str, ...] | None, path: TypedPath) -> None:
    """Check that what is for some seats alone is for seats that there are."""
    seats = {GM, *(after.seat_of(name) for name in after.characters)}
    for seat in named or ():
        _require(seat, sorted(seats), what="seat", of="the table", path=path)


# ---------------------------------------------------------------------------------------------------------------------
# Putting it there


def shown_to(state: State, path: TypedPath, seats: Iterable[str]) -> State:
    """Return the table with the tag, track or thing at a path for some seats alone; as it is when none are named.

    Raises:
        UsageError: there is nothing at the path that could be for some alone.
    """
    audience = tuple(dict.fromkeys(seats))
    field, name = path.field, path.name
    if not audience:
        return state
    tag = state.tag(name) if field == "tags" else None
    if tag is not None:
        return state.with_tag(msgspec.structs.replace(tag, audience=audience))
    if field not in ("tracks", "things") or name not in getattr(state, field):
        raise UsageError(f"{path}: only a tag, a track or a thing of the table can be hidden from seats")
    return msgspec.structs.replace(state, audiences=state.audiences.with_(name, audience))


def _without_character(rules: Rules, state: State, name: str) -> State:
    """Return the table without a character; the hand that it was dealt goes back to the pile that it came from."""
    for of, text in rules.file.piles.items():
        hand, source = state.piles.get(pile_name(of, name)), state.piles.get(text.dealt_from)
        if text.dealt and hand is not None and source is not None:
            source = with_undealt(source, undealt_in(source) + undealt_in(hand))
            if hand.cards:  # which other hands cannot have, so these are dealt by now
                require_dealt(source)
            source = replace(source, cards=tuple(sorted((*source.cards, *hand.cards, *hand.top))))
            emptied = replace(with_undealt(hand, 0), cards=(), top=(), knowers=())
            state = replace(state, piles=state.piles.with_(text.dealt_from, source).with_(pile_name(of, name), emptied))
    if any(pile.owner == name and len(pile) for pile in state.piles.values()):
        raise UsageError(f"characters.{name}: this character holds cards and cannot be removed")
    return msgspec.structs.replace(
        state,
        characters=state.characters.without(name),
        tags=tuple(tag for tag in state.tags if tag.on != name),
        piles=Map({key: pile for key, pile in state.piles.items() if pile.owner != name}),
    )


def _put(value: Any, keys: Sequence[str], text: str, *, path: TypedPath, field: str = "") -> Any:
    """Return a value in which the place at the rest of a path holds what is typed."""
    if not keys:
        return _read(value, text, path=path, field=field)
    key, rest = keys[0], keys[1:]
    if isinstance(value, msgspec.Struct):
        fields = value.__struct_fields__
        key = key.replace("-", "_")  # as in conditions: `is-out`
        if key not in fields:
            raise _no_place(path, key, fields)
        if key == "name" and not isinstance(value, Tag):
            raise UsageError(f"{path}: names cannot be changed")
        return msgspec.structs.replace(value, **{key: _put(getattr(value, key), rest, text, path=path, field=key)})
    if isinstance(value, Map):
        return _put_in_map(value, key, rest, text, path=path, field=field)
    if isinstance(value, tuple) and (field == "tags" or any(isinstance(one, Box) for one in value)):
        return _put_in_row(value, key, rest, text, path=path, field=field)
    raise UsageError(f"{path}: {'.'.join(path.keys[: -len(keys)])} has nothing inside it")


def _put_in_map(value: Map[str, Any], key: str, rest: Sequence[str], text: str, *, path: TypedPath, field: str) -> Any:
    if key not in value:
        near = nearest(key, value)
        is_tables = len(path.keys) == 2 and near is None and not rest and text != ABSENT and slug(key)
        if field == "tracks" and is_tables:
            return value.with_(key, _new_track(text, path=path))
        if field == "things" and is_tables:
            return value.with_(key, _data(None, text, path=path))
        if rest or near is not None or field not in _FREE or text == ABSENT:
            raise _no_place(path, key, value)
        new: dict[str, Any] = {"audiences": (), "texts": ""}
        if field == "uses" and text == "0":
            return value  # no character has any
        return value.with_(key, _read(new.get(field, 0), text, path=path, field=field))
    if not rest and text == ABSENT:
        if field in ("characters", "records") or (field == "tracks" and len(path.keys) > 2):
            raise UsageError(f"{path}: this cannot be removed")
        return value.without(key)
    if field == "things" and not rest:
        return value.with_(key, _data(value[key], text, path=path))
    inner = _put(value[key], rest, text, path=path, field="" if field == "things" else field if not rest else key)
    return value.without(key) if field == "uses" and inner == 0 else value.with_(key, inner)


def _new_track(text: str, *, path: TypedPath) -> tuple[Box, ...]:
    """Return as many free boxes as are typed, named by their numbers."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:5]) <= MOST_BOXES:
        raise UsageError(f"{path}: a new track takes its number of boxes, from 1 to {MOST_BOXES}, not {text!r}")
    return tuple(Box(str(number), 1) for number in range(1, int(text) + 1))


def _put_in_row(
    value: tuple[Any, ...], key: str, rest: Sequence[str], text: str, *, path: TypedPath, field: str
) -> Any:
    """Return tags or boxes with one of them changed, added or taken away."""
    found = next((one for one in value if (one.slug == slug(key) if isinstance(one, Tag) else one.name == key)), None)
    if found is None:
        near = nearest(slug(key), [one.slug for one in value]) if field == "tags" else None
        if field != "tags" or rest or near is not None or text == ABSENT or not slug(key):
            raise _no_place(path, key, [one.slug if isinstance(one, Tag) else one.name for one in value])
        return (*value, Tag(key, text))
    if isinstance(found, Tag) and not rest:
        if text != ABSENT:
            parts = f"set {path}.kind, {path}.uses.NAME and so on to change it"
            raise UsageError(f"{path}: this already exists; {parts}, {path}={ABSENT} to remove it")
        return tuple(one for one in value if one is not found)
    if isinstance(found, Box) and not rest:
        mark = "" if text in (ABSENT, "") else text
        changed_: Any = msgspec.structs.replace(found, mark=mark)
    else:
        changed_ = _put(found, rest, text, path=path, field=field)
        if isinstance(changed_, Tag) and any(one is not found and one.slug == changed_.slug for one in value):
            raise UsageError(f"{path}={text}: this name is already in use")
    return tuple(changed_ if one is found else one for one in value)


def _read(value: Any, text: str, *, path: TypedPath, field: str) -> Any:
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
        return _number(value, text, path=path, is_count=field in ("uses", "size"))
    if isinstance(value, str):
        return "" if text == ABSENT else text
    if isinstance(value, Map):
        raise UsageError(f"{path} is not a single value; it has: {enumerated(value, none='nothing yet')}")
    if isinstance(value, msgspec.Struct):
        raise UsageError(f"{path} is not a single value; it has: {enumerated(value.__struct_fields__)}")
    if isinstance(value, tuple) and path.field != "things":
        if path.keys == ("tags",):
            raise UsageError("tags is not a single value; add a tag with tags.NAME=KIND, such as tags.On Fire=aspect")
        boxes = enumerated(box.name for box in value)
        raise UsageError(
            f"{path} is not a single value; its boxes: {boxes}; mark one with {path}.BOX=x, clear one with "
            f"{path}.BOX={ABSENT}"
        )
    return _data(value, text, path=path)


def _number(now: int, text: str, *, path: TypedPath, is_count: bool) -> int:
    try:
        number = int(text)
    except ValueError:
        number = MOST + 1
    if not (0 if is_count else -MOST) <= number <= MOST:
        least = " from 0 on" if is_count else ""
        raise UsageError(f"{path} is a whole number{least} (now {now}), not {text!r}") from None
    return number


def _data(value: Any, text: str, *, path: TypedPath) -> Any:
    """Return what is typed for something of a ruleset's own: as TOML writes it, or a text."""
    from tomli import TOMLDecodeError, loads

    try:
        return freeze(loads(f"value = {text}")["value"])
    except (TOMLDecodeError, RecursionError, ValueError):
        if isinstance(value, str) or value is None:
            return text
        raise UsageError(
            f'{path}: {text!r} is not a value; write it as in TOML, such as 3, true, "text", ["a", "b"] or {{ a = 1 }}'
        ) from None


def _meant(rules: Rules, state: State, owner: str, name: str) -> list[str]:
    """Return the short paths that end in a name: `counters.fate-points`, the game master's, and `mara.fate-points`."""
    found = [f"counters.{name}"] if name in (*state.counters, *rules.file.counters) else []
    if found and owner == GM:
        return found
    found += [f"{field}.{name}" for field in ("tracks", "things") if name in getattr(state, field)]
    people = state.characters.values()
    return found + [f"{one.name}.{name}" for one in people if any(name in getattr(one, of) for of in _OF_CHARACTER)]


def _no_place(path: TypedPath, key: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"{path}: {unknown('place', key, known, of=path.before(key) or 'the table')}")
