"""Diagnostics of state paths: names that nothing has, and what a seat may not see."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from rpgres.model.paths import Path, Place
from rpgres.model.state import State, code_of, slug
from rpgres.rulesets import Rules
from rpgres.rulesets.numbers import has_any_ability, sheet_names
from rpgres.toml.diagnostics import Fault, nearest, unknown_name

_SCENE = "scene"  # the period that every table has
_CARDS = ("cards", "top", "knowers")  # what of a pile tells which cards lie there


class Known(msgspec.Struct, frozen=True):
    """What a path may speak of.

    Attributes:
        rules: the ruleset in play.
        state: the table at its beginning; None where the table is not known yet, as on a sheet.
        characters: further names of characters: of those with a faulty sheet, and of those who may join.
        who: the character that decides; empty for the game master, and where no character decides.
        seat: the seat that reads the path; empty for one that sees everything.
        is_portable: whether it may be meant for other tables, with other characters, such as what a sheet says.
    """

    rules: Rules
    state: State | None = None
    characters: tuple[str, ...] = ()
    who: str = ""
    seat: str = ""
    is_portable: bool = False


def path_faults(path: Path, known: Known) -> Iterator[Fault]:
    """Yield what is wrong with a path: the first name that is unknown, or that the seat may not see it.

    Names that a game brings forth in play, such as tags and a ruleset's own data, may be any.
    """
    for number, place in enumerate(path.places):
        if number and path.keys[number - 1] in ("any", "all"):
            continue  # a field of the members
        names = _names(path, number, known)
        if names is not None and place.key not in names and not _may_be_of_code(place, names, known):
            what = "card" if path.keys[number - 1] == "cards" else _WHAT[place.kind]
            yield unknown_name((), f"there is no {what} {place.key!r}", place.key, sorted(names))
            return
    hidden = _hidden(path, known) if known.seat else ""
    if hidden:
        yield Fault("unseen", (), hidden)


def _may_be_of_code(place: Place, names: Collection[str], known: Known) -> bool:
    """Tell whether rules in code may count under a name that no data declare; what is close to one that they do cannot.

    A name that goes on behind one that is declared is none that is misspelt: `fate-points-later`.
    """
    file = known.rules.file
    if place.kind != "counters" or (file.standalone and not file.kits):
        return False
    near = nearest(place.key, tuple(sorted(names)))
    return not near or place.key.startswith(near)


_WHAT = {
    "characters": "character",
    "counters": "counter",
    "abilities": "ability",
    "tracks": "track",
    "texts": "text on a sheet",
    "piles": "pile",
    "track": "box",
    "names": "period",
}


def _names(path: Path, number: int, known: Known) -> Collection[str] | None:
    """Return the names that a key of a path can be; None where it may be any."""
    place, before = path.places[number], path.keys[:number]
    rules, state = known.rules, None if known.is_portable else known.state
    is_table = not before or before[0] not in ("characters", "self", "others", "enemies", "allies")
    derived = ("any", "all", "count", "active")
    match place.kind:
        case "characters":
            there = people(known)
            return None if there is None else {*there, *derived}
        case "counters":
            if is_table:
                return None if state is None else {*state.counters, *_counters(known)}
            return _counters(known)
        case "abilities":
            return None if has_any_ability(rules.file) else {*sheet_names(rules.file), *_on_sheets(known, "abilities")}
        case "tracks":
            if is_table:
                return None if state is None else {*state.tracks, *_of_table(rules)}
            return {*rules.file.tracks, *_on_sheets(known, "tracks")}
        case "texts":
            return {name for name, field in rules.file.sheet.items() if field.kind == "text"}
        case "piles":
            own = {name for name, pile in rules.file.piles.items() if bool(pile.each) != is_table}
            whole = {f"{name}:{who}" for name in rules.file.piles for who in (state.characters if state else ())}
            return None if is_table and state is None else own | (whole if is_table else set())
        case "track":
            return _boxes(known, before[-1])
        case "names" if before == ("periods",):
            return {*rules.file.periods, _SCENE, "count"}
        case "names" if before[-1] == "cards":
            return {*rules.cards.by_code, "count"} if code_of(place.key) not in rules.cards.by_code else None
        case _:
            return None


def _boxes(known: Known, track: str) -> Collection[str] | None:
    """Return the boxes that a track can have; None of one that no data declare."""
    declared = known.rules.file.tracks.get(track)
    if declared is None:
        return None
    state = known.state
    tracks = [state.tracks, *(one.tracks for one in state.characters.values())] if state is not None else []
    there = {box.name for one in tracks for box in one.get(track, ())}
    return {*declared.sizes, *(box for more in declared.more for box in more.boxes), *there, "free", "marked", "count"}


def people(known: Known) -> set[str] | None:
    """Return everybody at a table; None where it may be anybody."""
    if known.is_portable or known.state is None:
        return None
    return {*known.state.characters, *known.characters} or None


def _of_table(rules: Rules) -> Iterator[str]:
    return (name for name, track in rules.file.tracks.items() if track.of_table)


def _counters(known: Known) -> set[str]:
    """Return the counters that characters and the table can have: of sheets, of effects, and those that are there."""
    file = known.rules.file
    on_sheets = {name for name, field in file.sheet.items() if field.kind == "counter"}
    by_effects = {effect.counter for effect in file.effects.values() if effect.counter}
    typed = {parameter.counter for parameter in file.parameters.values() if parameter.counter}
    return {
        *on_sheets,
        *by_effects,
        *typed,
        *_on_sheets(known, "counters"),
        *(known.state.counters if known.state else ()),
    }


def _on_sheets(known: Known, field: str) -> set[str]:
    characters = known.state.characters.values() if known.state is not None else ()
    return {name for character in characters for name in getattr(character, field)}


# ---------------------------------------------------------------------------------------------------------------------
# What a seat may not see


def _hidden(path: Path, known: Known) -> str:
    """Return why a seat may not see what stands at a path; empty when it may."""
    return _hidden_cards(path, known) or (_hidden_name(path, known) if known.state is not None else "")


def _hidden_name(path: Path, known: Known) -> str:
    state, keys = known.state, path.keys
    assert state is not None
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
