"""Diagnostics of state paths: names that nothing has, and what a seat may not see."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rpgres.model.conditions import Condition, condition_faults, possible
from rpgres.model.paths import QUANTIFIERS, Path, Scope, parse_path
from rpgres.model.state import GM, State, code_of, slug
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules
from rpgres.rulesets.rows import Bounded, Bounds
from rpgres.toml.diagnostics import Fault, nearest, unknown_name

_SCENE = "scene"  # the period that every table has
_CARDS = ("cards", "top", "knowers")  # what of a pile tells which cards lie there


LATER = "it has an effect only if play creates one"  # what a warning says of a name that is not there yet


class Known(msgspec.Struct, frozen=True):
    """What a path may speak of.

    Attributes:
        rules: the ruleset in play.
        state: the table at its beginning; None where the table is not known yet, as on a sheet.
        characters: further names of characters: of those with a faulty sheet, and of those who may join.
        who: the character that decides; empty for the game master, and where no character decides.
        seat: the seat that reads the path; empty for one that sees everything.
        is_portable: whether it may be meant for other tables, with other characters, such as what a sheet says.
        texts: texts by which steps may put a tag, a track or a thing on the table.
    """

    rules: Rules
    state: State | None = None
    characters: tuple[str, ...] = ()
    who: str = ""
    seat: str = ""
    is_portable: bool = False
    texts: tuple[str, ...] = ()


class Names(NamedTuple):
    """The names that a key of a path can be.

    Attributes:
        may_come: whether play can bring forth others, such as aspects.
        is_own: whether these are one character's, and another table may have others, so that only a near one is meant.
    """

    what: str
    known: Collection[str]
    may_come: bool = False
    is_own: bool = False


def path_on_table(rules: Rules, keys: Sequence[str]) -> str:
    """Return the path of what a scene's file writes at another: `characters.ann.fate-points` is a counter of hers.

    It is empty where that is no other, or not known.
    """
    match keys:
        case ["characters", who, field] if field in rules.file.fields_of("counter"):
            return f"characters.{who}.counters.{field}"
        case ["characters", who, field] if field in rules.file.tracks:
            return f"characters.{who}.tracks.{field}"
        case ["characters", who, field, name] if field in rules.file.fields_of("abilities"):
            return f"characters.{who}.abilities.{name}"
        case ["self", *rest] if found := path_on_table(rules, ["characters", "self", *rest]):
            return found.removeprefix("characters.")
    return ""


def in_own_words(rules: Rules, path: str, message: str) -> str:
    """Return the message for a path that cannot be, or what it means where it is written as in the scene's file."""
    meant = path_on_table(rules, typed_path(path).keys)
    return f"{path} is written `{meant}`" if meant else message


def read_faults(rules: Rules, when: Mapping[str, Any], *, decides: bool = False, who: str = "") -> Iterator[Fault]:
    """Yield what is wrong with conditions by themselves; see `condition_faults`."""
    for fault in condition_faults(when, decides=decides, who=who):
        is_name = fault.code == "unknown-name"
        message = in_own_words(rules, str(fault.path[0]), fault.message) if is_name else fault.message
        yield replace(fault, message=message)


def keys_in_file(rules: Rules, keys: Sequence[str]) -> list[str]:
    """Return the keys at which a scene's file writes what stands at a path of the table; else the keys as they are."""
    match keys:
        case ["characters", who, "counters", field] if field in rules.file.fields_of("counter"):
            return ["characters", who, field]
        case ["characters", who, "abilities", name] if fields := [*rules.file.fields_of("abilities")]:
            return ["characters", who, fields[0], name]
    return [*keys]


def place_faults(condition: Condition, known: Known) -> Iterator[Fault]:
    """Yield what is wrong with what a condition speaks of: its path, the names that it asks for, and its numbers."""
    yield from path_faults(condition.path, known)
    yield from _value_faults(condition, known)
    yield from _bounds_faults(condition, known)


def path_faults(path: Path, known: Known) -> Iterator[Fault]:
    """Yield what is wrong with a path: the first name that is unknown, or that the seat may not see it.

    A name that play may still bring forth, such as an aspect's, is a warning.
    """
    for number, place in enumerate(path.places):
        names = _names(path, number, known)
        if names is not None and place.key not in names.known:
            if names.may_come:
                if not names.is_own or nearest(place.key, names.known):
                    message = f"no {names.what} is called {place.key!r} yet; {LATER}"
                    yield Fault("unknown-name", (), message, place.key, tuple(sorted(names.known)), "warning")
            else:
                yield unknown_name((), f"there is no {names.what} {place.key!r}", place.key, sorted(names.known))
            return
    hidden = _hidden_cards(path, known) or _hidden_name(path, known) if known.seat else ""
    if hidden:
        yield Fault("unseen", (), hidden)


def _value_faults(condition: Condition, known: Known) -> Iterator[Fault]:
    """Yield the texts that never stand where a condition asks for them: whose a tag, a pile or a seat is."""
    kind, key = condition.path.places[-1]
    there = people(known)
    if (kind, key) not in _OF_PEOPLE or there is None or condition.path.keys[0] in ("facts", "options"):
        return
    for name in condition.constants:
        if isinstance(name, str) and name not in {*there, GM, "", *_seats(known)}:
            yield unknown_name((), f"there is no character {name!r}", name, sorted({*there, GM}))


_OF_PEOPLE = (("tag", "on"), ("character", "seat"), ("pile", "owner"))


def _seats(known: Known) -> Iterator[str]:
    characters = known.state.characters if known.state is not None else ()
    return (known.state.seat_of(name) for name in characters if known.state is not None)


def _bounds_faults(condition: Condition, known: Known) -> Iterator[Fault]:
    """Yield that a number never comes to what a condition asks for; where rules in code may exceed it, as a warning."""
    bounds = _bounds(condition.path, known)
    if bounds is None or not possible([condition]):
        return
    if not possible([condition], bounds=(bounds.at_least, bounds.at_most)):
        message = f"{condition.path.keys[-1]} is {bounds.words} here, and never fits this condition"
        yield Fault("never-matches", (), message, severity="warning" if _has_code(known) else "error")


def _bounds(path: Path, known: Known) -> Bounds | None:
    """Return the bounds of the number that can stand at a path; None where nothing says so."""
    (kind, key), before = path.places[-1], path.keys[:-1]
    if kind == "track" and key in ("free", "marked", "count"):
        boxes = _boxes(before, known)
        if boxes is None or boxes.may_come:
            return None
        return Bounded(value=key, at_least=0, at_most=len(set(boxes.known) - _NO_BOXES))
    file = known.rules.file
    if kind == "counters" and len(before) > 1:
        return file.fields_of("counter").get(key)
    fields = [*file.fields_of("abilities").values()] if kind == "abilities" else []
    return fields[0] if len(fields) == 1 else None


def _has_code(known: Known) -> bool:
    file = known.rules.file
    return not file.standalone or bool(file.kits)


def _names(path: Path, number: int, known: Known) -> Names | None:
    """Return the names that a key of a path can be; None where it may be any."""
    place, before = path.places[number], path.keys[:number]
    rules, state = known.rules, None if known.is_portable else known.state
    is_table = not before or before[0] not in ("characters", "self", "others", "enemies", "allies")
    match place.kind:
        case "characters" if (there := people(known)) is not None:
            return Names("character", {*there, *QUANTIFIERS, "count", "active"})
        case "counters" if is_table:
            return Names("counter", {*state.counters, *_counters(known)}) if state is not None else None
        case "counters":
            return Names("counter", _counters(known))
        case "abilities":
            return _abilities(path, known)
        case "tracks" if is_table:
            return Names("track", {*state.tracks, *_of_table(rules), *known.texts}) if state is not None else None
        case "tracks":
            return Names("track", {*rules.file.tracks, *_on_sheets(known, "tracks")})
        case "texts":
            return Names("text on a sheet", {*rules.file.fields_of("text")})
        case "piles":
            own = {name for name, pile in rules.file.piles.items() if bool(pile.each) != is_table}
            whole = {f"{name}:{who}" for name in rules.file.piles for who in (state.characters if state else ())}
            return Names("pile", own | (whole if is_table else set())) if not is_table or state is not None else None
        case "track":
            return _boxes(before, known)
        case "data":
            return _in_data(path, number, known)
        case "tags":
            return _tags(path, known)
        case "things" if state is not None:
            return Names("thing", {*state.things, *rules.file.tables, *known.texts}, may_come=True)
        case "audiences" if state is not None:
            names = {*state.things, *rules.file.tables, *state.tracks, *_of_table(rules), *known.texts}
            return Names("track or thing", names, may_come=True)
        case "uses" if (there := people(known)) is not None:
            return Names("character", {*there, GM, "total"})
        case "names":
            return _members(path, number, known)
    return None


def _abilities(path: Path, known: Known) -> Names | None:
    """Return the abilities that somebody can have: those of a ruleset, or of whoever is meant."""
    file = known.rules.file
    if not file.has_any_ability:
        return Names("ability", {*file.rated, *_on_sheets(known, "abilities")})
    if known.state is None or (known.is_portable and path.keys[0] != "self"):
        return None
    return Names("ability", {*file.rated, *_on_sheets(known, "abilities")}, may_come=True)


def _tags(path: Path, known: Known) -> Names | None:
    there = brought_forth(known)
    if there is None or (known.is_portable and path.keys[0] not in ("self", "tags")):
        return None
    return Names("tag", {*there, *QUANTIFIERS, "count"}, may_come=True, is_own=known.is_portable)


def _members(path: Path, number: int, known: Known) -> Names | None:
    """Return what can be in a list of names: periods, cards, seats."""
    before, cards = path.keys[:number], known.rules.cards.by_code
    if before == ("periods",):
        return Names("period", {*known.rules.file.periods, _SCENE, "count"})
    if before[-1] == "cards":
        return Names("card", {*cards, "count"}) if code_of(path.keys[number]) not in cards else None
    there = people(known) if "audience" in before[-1] or before[0] == "audiences" else None
    return Names("seat", {*there, *_seats(known), GM, "count"}) if there is not None else None


def _in_data(path: Path, number: int, known: Known) -> Names | None:
    """Return the names in a ruleset's own data: the records of sheets, and what a thing on the table has now."""
    at = path.keys.index("records") if "records" in path.keys[:number] else None
    of_records = {name: field.fields for name, field in known.rules.file.fields_of("records").items()}
    if at is not None and number == at + 1:
        return Names("record on a sheet", {*of_records, "count"})
    if at is not None and number == at + 3:
        return Names("field of these records", {*of_records[path.keys[at + 1]], "count"})
    is_there = known.state is not None and (not known.is_portable or path.keys[0] == "self")
    if not is_there or path.many or path.keys[0] in ("facts", "options"):
        return None
    assert known.state is not None
    found = parse_path(".".join(path.keys[:number]), decides=True).read(Scope(known.state, known.who))
    if not isinstance(found, Mapping) or not found:
        return None
    return Names(f"entry of {path.keys[number - 1]}", {*found, "count"}, may_come=True)


_NO_BOXES = frozenset([*QUANTIFIERS, "free", "marked", "count"])  # what else a track has


def _boxes(before: Sequence[str], known: Known) -> Names | None:
    """Return the boxes that a track can have; of one that no data declare, those that it has."""
    name, state = before[-1], known.state
    declared = known.rules.file.tracks.get(name)
    tracks = [state.tracks, *(one.tracks for one in state.characters.values())] if state is not None else []
    there = {box.name for one in tracks for box in one.get(name, ())} | _NO_BOXES
    if declared is not None:
        return Names("box", {*declared.sizes, *(box for more in declared.more for box in more.boxes), *there})
    return Names("box", there, may_come=True) if state is not None and name in state.tracks else None


def people(known: Known) -> set[str] | None:
    """Return everybody at a table; None where it may be anybody."""
    if known.is_portable or known.state is None:
        return None
    return {*known.state.characters, *known.characters} or None


def brought_forth(known: Known) -> set[str] | None:
    """Return the names of what play has brought forth at a table, and may by what steps say; None where any may be.

    Of what is meant for other tables too, only those that a character brings along.
    """
    if known.state is None:
        return None
    if known.is_portable:
        return {tag.slug for tag in known.state.tags if tag.on == known.who} or None
    pieces = {piece.strip() for text in known.texts for piece in re.split("[,:]", text)}
    return {*(tag.slug for tag in known.state.tags), *pieces, *map(slug, pieces)} - {""}


def _of_table(rules: Rules) -> Iterator[str]:
    return (name for name, track in rules.file.tracks.items() if track.of_table)


def _counters(known: Known) -> set[str]:
    """Return the counters that characters and the table can have: of sheets, of effects, and those that are there."""
    of_table = known.state.counters if known.state is not None else ()
    return {*known.rules.file.counters, *_on_sheets(known, "counters"), *of_table}


def _on_sheets(known: Known, field: str) -> set[str]:
    characters = known.state.characters.values() if known.state is not None else ()
    return {name for character in characters for name in getattr(character, field)}


# ---------------------------------------------------------------------------------------------------------------------
# What a seat may not see


def _hidden_name(path: Path, known: Known) -> str:
    """Return why a seat may not see a tag, track or thing that a path names; empty when it may."""
    state, keys = known.state or State(), path.keys
    for number, place in enumerate(path.places):
        if place.kind == "tags" and (tag := state.tag(place.key)) is not None:
            if tag.audience is not None and known.seat not in tag.audience:
                return f"the seat {known.seat} does not see {slug(tag.name)!r}"
        elif place.kind in ("tracks", "things") and number == 1 and keys[0] == place.kind:
            audience = state.audiences.get(place.key)
            if audience is not None and known.seat not in audience:
                return f"the seat {known.seat} does not see {place.key!r}"
    return ""


def _hidden_cards(path: Path, known: Known) -> str:
    for number, place in enumerate(path.places):
        if place.kind != "pile" or place.key not in _CARDS:
            continue
        name, _, owner = path.keys[number - 1].partition(":")
        owner = owner or _owner(path, known)
        pile = known.rules.file.piles.get(name)
        if pile is None or pile.face == "up":
            continue
        if pile.face == "down":
            return f"the cards of {name!r} are face down; `count` is how many there are"
        state = known.state
        seat = state.seat_of(owner) if state is not None and owner in state.characters else owner
        if seat != known.seat and owner != known.who:
            return f"the seat {known.seat} does not see the cards of {name!r} of others; `count` is how many there are"
    return ""


def _owner(path: Path, known: Known) -> str:
    """Return the owner of the pile that a path reads; a text that is no name where it is another's."""
    if path.keys[0] == "self":
        return known.who
    return path.keys[1] if path.keys[0] == "characters" and not path.many else "*"
