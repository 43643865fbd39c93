"""Character sheets: TOML text to characters and the tags they carry, as a ruleset's `[sheet]` describes them.

Nothing here knows a ruleset's words: fields, abilities and tracks come from its data.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from rpgres.errors import FileError, RpgresError, UsageError, called, code_failed, enumerated, in_short, is_interrupt
from rpgres.model.state import GM, Box, Character, Map, State, Tag, freeze, mark_box, slug
from rpgres.rulesets import Field, Prepare, RecordField, Rules, Track
from rpgres.rulesets.orders import Order, Orders
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, diagnostics_error, nearest, unknown_name
from rpgres.toml.reading import FOLDER_NAMED, Source, convert, diagnose, locate, located, parse, read_source

RULESET = "ruleset"  # the key by which any sheet may say whose it is
ORDERS = "orders"  # the key under which any sheet may have standing orders
STDIN = "-"
UNNAMED = "character"


class MissingSheet(FileError):
    """There is no sheet of that name."""


class SheetOrders(msgspec.Struct, frozen=True):
    """The standing orders of a sheet, and where they stand: the text, and the key path in it."""

    orders: tuple[Order, ...]
    source: Source | None
    at: KeyPath

    @property
    def is_portable(self) -> bool:
        """Whether they stand on a sheet, which may sit down at any table, and not in a scene."""
        return self.at == (ORDERS,)


class Sheet(msgspec.Struct, frozen=True):
    """A character as it joins a table, with its tags and the standing orders of its player."""

    character: Character
    tags: tuple[Tag, ...] = ()
    orders: SheetOrders | None = None


@lru_cache(maxsize=16)  # a table reads many sheets of one ruleset
def sheet_type(rules: Rules) -> type[msgspec.Struct]:
    """Return the record type of the ruleset's sheets, for checking TOML and for the JSON Schema."""
    types = {name: _field_type(name, field, rules=rules) for name, field in rules.file.sheet.items()}
    types = {**types, **{key: type_ for key, type_ in ((RULESET, str), (ORDERS, Orders)) if key not in types}}
    required = {name for name, field in rules.file.sheet.items() if field.required}
    return _record(f"{rules.id.title()}Sheet", types, dict.fromkeys(types.keys() - required))


def _record(name: str, types: Mapping[str, Any], defaults: Mapping[str, Any]) -> type[msgspec.Struct]:
    """Return a record with fields of these types; those with a default may be left out."""
    fields = [
        (_attribute(key), type_ | None, defaults[key]) if key in defaults else (_attribute(key), type_)
        for key, type_ in types.items()
    ]
    fields.sort(key=len)  # required ones first
    return msgspec.defstruct(name, fields, rename="kebab", forbid_unknown_fields=True, frozen=True, kw_only=True)


def _attribute(name: str) -> str:
    return name.replace("-", "_")


def _field_type(name: str, field: Field, *, rules: Rules) -> Any:
    number = Annotated[int, msgspec.Meta(ge=field.at_least, le=field.at_most, description=field.help)]
    match field.kind:
        case "text":
            return Annotated[str, msgspec.Meta(min_length=1, description=field.help)]
        case "counter":
            return number
        case "abilities":
            key = str if field.is_open else one_of(field.abilities)
            return _table_of(key, Annotated[int, msgspec.Meta(ge=field.at_least, le=field.at_most)])
        case "tags":
            text = Annotated[str, msgspec.Meta(min_length=1)]
            return dict[str, text] | list[text]
        case "records":
            return _table_of(str, _record_type(name, field.fields))
        case "boxes":
            return _table_of(one_of(_of_characters(rules)), Annotated[int, msgspec.Meta(ge=0)])
        case "marks":
            return _table_of(one_of(_of_characters(rules)), list[str])
        case "seat":
            return Literal["player", "gm"]
        case "written":
            return dict[str, Annotated[str, msgspec.Meta(min_length=1)]]


def _of_characters(rules: Rules) -> list[str]:
    return [name for name, track in rules.file.tracks.items() if not track.of_table]


def one_of(names: Iterable[str]) -> Any:
    """Return the type of a text that is one of these names, known only when the data are read."""
    return Literal.__getitem__(tuple(names) or ("",))  # of none there is no type; a field that may hold none is empty


def _table_of(key: Any, value: Any) -> Any:
    return dict.__class_getitem__((key, value))


def _record_type(key: str, fields: Mapping[str, RecordField]) -> type[msgspec.Struct]:
    kinds: dict[str, Any] = {"text": str, "integer": int, "flag": bool}
    types = {name: kinds.get(field.kind) or one_of(field.choices) for name, field in fields.items()}
    name = f"{key.title().replace('-', '')}Record"  # of its own, or a schema could not tell two of them apart
    return _record(name, types, {name: field.default for name, field in fields.items() if not field.required})


def find_sheet(rules: Rules, name: str, *, beside: Path | None = None) -> Path:
    """Return the file of a sheet: a path, beside a scene, or one of the ruleset's own by name (`mara`, `mara.toml`).

    What is typed, and not said by a scene, may be `-`: standard input.

    Raises:
        MissingSheet: there is none; names the nearest of the ruleset's own.
    """
    if name == STDIN and beside is None:
        return Path(STDIN)
    places = [folder / "sheets" for folder in reversed(rules.folders)]
    roots = [beside] if beside is not None else [Path()]
    for root in (*roots, *places):
        for candidate in (root / name, root / f"{name}.toml"):
            if os.path.isfile(candidate):  # unlike `is_file` it has no trouble with impossible names
                return candidate
    if name and any(os.path.isdir(root / name) for root in roots):
        raise MissingSheet(f"{name}: cannot be read: {FOLDER_NAMED}", file=name)
    known = [path.stem for place in places for path in sorted(place.glob("*.toml"))]
    here = [path.stem for root in roots for path in sorted(root.glob("*.toml"))]
    near = nearest(name.removesuffix(".toml"), [*here, *known])
    own = enumerated(known, name) if known else ""
    hint = (
        f"; {rules.id} has {own}"
        if own
        else f"; `{called('sheet new', rules.id, out='FILE')}` writes one to start from"
    )
    if near:
        hint = f"; did you mean {near!r}{'' if near in here else f', which ships with {rules.id}'}?"
    raise MissingSheet(f"there is no sheet {name!r}{hint}", file=name)


def file_here(name: str) -> str:
    """Return the file of this folder that a sheet's short name means (`kell` for `kell.toml`), else the name."""
    file = f"{name}.toml"
    return file if name == os.path.basename(name) and not os.path.isfile(name) and os.path.isfile(file) else name


def is_sheet_here(rules: Rules, name: str) -> bool:
    """Tell whether a word is the short name of a sheet of this ruleset in this folder, even of a faulty one."""
    if file_here(name) == name:
        return False
    try:
        data = parse(sheet_source(rules, name))
    except FileError:
        return True
    known = data.keys() & {*rules.file.sheet, RULESET, ORDERS}
    return foreign(rules, data) is None and 2 * len(known) > len(data)  # other files of TOML are not meant


def read_sheet(rules: Rules, name: str, *, source: Source | None = None) -> Sheet:
    """Return the character of a sheet file, named after the file.

    Args:
        name: a path, or the name of one of the ruleset's own sheets.
        source: the text, when it is already at hand (standard input).

    Raises:
        FileError: there is no such file, or it is faulty (all problems at once).
    """
    if source is None:
        source = sheet_source(rules, name)
    return make_sheet(rules, parse(source), name=short_name(source), source=source)


def sheet_source(rules: Rules, name: str, *, beside: Path | None = None) -> Source:
    """Return the text of a sheet; see `find_sheet` for where it is sought.

    Raises:
        FileError: there is no such file, or it cannot be read.
    """
    path = find_sheet(rules, name, beside=beside)
    return _typed(sys.stdin) if str(path) == STDIN else read_source(path)


def short_name(source: Source) -> str:
    """Return what a character is called by its file; `character` where that tells nothing."""
    stem = "" if source.path == STDIN else Path(source.path).stem
    return slug(stem) or UNNAMED


# Standard input can be read once, and a sheet several times: for every rung of a ladder.
@lru_cache(maxsize=1)
def _typed(_stream: object) -> Source:
    return read_source(Path(STDIN))


def make_sheet(
    rules: Rules, data: Mapping[str, Any], *, name: str, source: Source | None, prefix: KeyPath = ()
) -> Sheet:
    """Return the character that plain data describe.

    Args:
        source: the text the data came from, for pointing at faults.

    Raises:
        FileError: the data are faulty (all problems at once), or of another ruleset's character.
    """
    other = foreign(rules, data)
    if other is not None:
        raise diagnostics_error(located([Fault("wrong-ruleset", (*prefix, RULESET), other)], source))
    data = as_listed(rules, data)
    if any(ability_faults(rules, data)):
        raise diagnostics_error(sheet_diagnostics(rules, data, source=source, prefix=prefix))
    read = convert(data, sheet_type(rules), source=source, prefix=prefix)
    wrong = [fault.under(*prefix) for fault in name_faults(rules, data)]
    if wrong:
        raise diagnostics_error(located(wrong, source))
    where = source.path if source is not None else name
    values: dict[str, Any] = {
        field: value for field in rules.file.sheet if (value := getattr(read, _attribute(field))) is not None
    }
    counters: dict[str, int] = {}
    texts, rated = _of_kind(rules, values, "text"), _of_kind(rules, values, "abilities").values()
    seat = GM if GM in _of_kind(rules, values, "seat").values() else ""
    for field_name, field in rules.file.fields_of("counter").items():
        if not (field.of_players and seat == GM):
            default = counters.get(field.default, 0) if isinstance(field.default, str) else field.default
            counters[field_name] = values.get(field_name, default or 0)
    records = {
        key: freeze({name: msgspec.to_builtins(record) for name, record in written.items()})
        for key, written in _of_kind(rules, values, "records").items()
        if written
    }
    tracks, written = _tracks(rules, values)
    character = Character(
        name=name,
        title=texts.get("name", name),
        abilities=Map({slug(ability): rating for its in rated for ability, rating in its.items()}),
        counters=Map(counters),
        tracks=tracks,
        records=Map(records),
        texts=Map(texts),
        seat=seat,
    )
    character = _prepared(rules, character, where=where, source=source, prefix=prefix)
    tags = (*_tags(rules.file.sheet, values, on=name), *(Tag(text, kind, name) for text, kind in written))
    orders = None if ORDERS in rules.file.sheet else getattr(read, ORDERS)
    return Sheet(character, tags, SheetOrders(tuple(orders), source, (*prefix, ORDERS)) if orders else None)


def as_listed(rules: Rules, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a sheet with the abilities that the ruleset lists under their names on the table."""
    read = dict(data)
    for key, field in rules.file.fields_of("abilities").items():
        if isinstance(read.get(key), dict):
            known = set(field.abilities)
            written = read[key]
            named = {name: slug(name) if slug(name) in known else name for name in written}
            if len(set(named.values())) == len(named):  # else two would be one
                read[key] = {named[name]: rating for name, rating in written.items()}
    return read


def _twin_faults(rules: Rules, data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the abilities that stand under two spellings of one name."""
    found: dict[str, str] = {}
    for key in rules.file.fields_of("abilities"):
        for name in _table(data.get(key)):
            first = found.setdefault(slug(name), name)
            if first != name:
                message = f"{first!r} and {name!r} are the same ability: both are typed as {slug(name)}"
                yield Fault("taken-name", (key, name), message)


def check_character(rules: Rules, character: Character, *, was: Character) -> None:
    """Check that the ruleset's own code takes a changed character; one that it did not take before is mended in steps.

    Each step mends something, or adds nothing to what is wrong: `refusals` tells what is left.

    Raises:
        UsageError: the character is not possible in this ruleset.
    """
    told, before = refusals(rules, character), refusals(rules, was)
    added = [fault for fault in told if fault not in before]
    if added and all(fault in told for fault in before):
        raise UsageError("; ".join(added))


def refusals(rules: Rules, character: Character) -> list[str]:
    """Return why the ruleset's own code refuses a character, as far as it tells at once; nothing where it does not."""
    return _tried(rules, character)[1]


def _prepared(rules: Rules, character: Character, *, where: str, source: Source | None, prefix: KeyPath) -> Character:
    """Return what a ruleset's own code makes of a character that was read."""
    character, told, is_complete = _tried(rules, character)
    if told:
        line = locate(source.text, prefix) if source is not None and prefix else None
        refused = [Fault("refused", prefix, message).placed(where, line, None) for message in told]
        raise diagnostics_error(refused, file=where, complete=is_complete)
    return character


def _tried(rules: Rules, character: Character) -> tuple[Character, list[str], bool]:
    """Return what a ruleset's own code makes of a character, why it refuses it, and whether that is all."""
    told: list[str] = []
    is_complete = True
    for prepare in rules.ruleset.preparations:
        try:
            character = _changed(prepare, rules, character)
        except UsageError as error:  # what the sheet says is not possible in this ruleset
            told.append(error.message)
            is_complete = False
        except ExceptionGroup as group:
            told += [str(getattr(error, "message", error)) for error in group.exceptions]
        except RpgresError:
            if not told:  # else it may only miss what another would have made
                raise
    return character, told, is_complete


def _changed(prepare: Prepare, rules: Rules, character: Character) -> Character:
    try:
        changed: object = prepare(rules, character)
        if type(changed) is Character:
            return changed
        raise TypeError(f"it returned {in_short(repr(changed))}, not the character")
    except RpgresError:
        raise
    except BaseException as error:
        is_told = isinstance(error, ExceptionGroup) and all(isinstance(one, UsageError) for one in error.exceptions)
        if is_told or is_interrupt(error):
            raise
        what = f"the ruleset {rules.id} failed when it prepared the sheet of {character.name}"
        raise rules.blamed(code_failed(what, error)) from error


def foreign(rules: Rules, data: Mapping[str, Any]) -> str | None:
    """Return what is wrong when data say that they are for another ruleset; None when they do not."""
    said = data.get(RULESET)
    if RULESET in rules.file.sheet or not isinstance(said, str) or said == rules.id:
        return None
    return f"this sheet is for the ruleset {said!r}, not {rules.id}"


def _tags(fields: Mapping[str, Field], values: Mapping[str, Any], *, on: str) -> Iterator[Tag]:
    for name, field in fields.items():
        if name in values and (field.kind == "tags" or (field.kind == "records" and field.tag)):
            texts = values[name]
            for text in texts.values() if field.kind == "tags" and isinstance(texts, dict) else texts:
                yield Tag(text, field.tag, on)


def _tracks(rules: Rules, values: Mapping[str, Any]) -> tuple[Map[str, tuple[Box, ...]], list[tuple[str, str]]]:
    """Return the boxes of every track, with what is marked and written in them, and the (text, tag kind) written."""
    marks = {track: names for its in _of_kind(rules, values, "marks").values() for track, names in its.items()}
    tracks = {
        name: tuple(Box(box, size, "x" if box in marks.get(name, ()) else "") for box, size in boxes.items())
        for name, boxes in _boxes(rules, values).items()
    }
    written: list[tuple[str, str]] = []
    for name, texts in _of_kind(rules, values, "written").items():
        track = rules.file.sheet[name].track
        for box, text in texts.items():
            tracks[track] = mark_box(tracks[track], box, text=text)
            written.append((text, rules.file.tracks[track].tag))
    return Map(tracks), written


def _of_kind(rules: Rules, values: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return what stands under the keys of one kind."""
    return {name: values[name] for name in rules.file.fields_of(kind) if name in values}


def ability_faults(rules: Rules, data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield abilities that sheets of this ruleset do not list."""
    for key, field in rules.file.fields_of("abilities").items():
        known = [] if field.is_open else [*field.names, *field.abilities]
        for name in (name for name in _table(data.get(key)) if known and name not in known):
            fault = unknown_name((key, name), f"{rules.id} lists no such ability", name, field.names)
            yield msgspec.structs.replace(fault, message=fault.message + own_ability(rules))


def sheet_diagnostics(
    rules: Rules, data: Mapping[str, Any], *, source: Source | None, prefix: KeyPath = ()
) -> list[Diagnostic]:
    """Return what is wrong with the types and the names of a sheet's data."""
    strange = located([fault.under(*prefix) for fault in ability_faults(rules, data)], source)
    keys = {one.key for one in strange}
    found = [one for one in diagnose(data, sheet_type(rules), source=source, prefix=prefix) if one.key not in keys]
    return sorted([*found, *strange], key=lambda one: one.line or 0)


def own_ability(rules: Rules) -> str:
    """Return how a group adds an ability that sheets do not list; empty where any name is one."""
    closed = [key for key, field in rules.file.fields_of("abilities").items() if not field.is_open]
    file = f"rulesets/{rules.id}/ruleset.toml"
    return (
        f'; to add your own, put it on the sheet, and write to {file} the two lines "[sheet.{closed[0]}]" '
        'and "any-name = true"'
        if closed
        else ""
    )


def name_faults(rules: Rules, data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield abilities under two spellings, and boxes that are counted, marked or written on and that are not there.

    Other faults of the sheet are told elsewhere, so whatever has the wrong type counts here as left out.
    """
    yield from _twin_faults(rules, data)
    yield from _surplus(rules, data)
    boxes = _boxes(rules, data)
    for key, field in rules.file.sheet.items():
        entries = _table(data.get(key))
        if field.kind == "written" and field.track in boxes:
            for box in entries:  # a box that is written on is a key of its own; one that is marked stands in a list
                yield from _absent((key, box), box, field.track, boxes)
        elif field.kind == "marks":
            for track, names in entries.items():
                texts = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
                for box in texts if track in boxes else ():
                    yield from _absent((key, track), box, track, boxes)


def _surplus(rules: Rules, data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield tracks of which a sheet says that there are more boxes than the character has."""
    whole = _whole_tracks(rules, data)
    for key, track, number in _fewer(rules, data):
        if track in whole and number > len(whole[track]):
            has = f"{len(whole[track])} {'box' if len(whole[track]) == 1 else 'boxes'}"
            message = f"the track {track} of this character has {has}, not {number}; a sheet can only have fewer"
            yield Fault("wrong-value", (key, track), message)


def _absent(path: KeyPath, box: str, track: str, boxes: Mapping[str, Mapping[str, int]]) -> Iterator[Fault]:
    known = tuple(boxes[track])
    if box not in known:
        has = enumerated(known, none="no boxes")
        message = f"the track {track} of this character has {has}; there is no {box!r}"
        yield Fault("unknown-name", path, message, box, known)


def _boxes(rules: Rules, data: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the boxes of every track (name: size), as far as the sheet says something usable."""
    whole = _whole_tracks(rules, data)
    limits = {track: number for _, track, number in _fewer(rules, data)}
    return {track: dict(islice(boxes.items(), max(0, limits.get(track, len(boxes))))) for track, boxes in whole.items()}


def _whole_tracks(rules: Rules, data: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the boxes of every track for the abilities of a sheet, whether it says that there are fewer or not."""
    abilities = {
        slug(name): number
        for key in rules.file.fields_of("abilities")
        for name, number in _table(data.get(key)).items()
        if type(number) is int
    }
    return {name: track_boxes(track, abilities) for name, track in rules.tracks.items()}


def _fewer(rules: Rules, data: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield the key, the track and the number of boxes where a sheet says how many there are."""
    for key in rules.file.fields_of("boxes"):
        yield from ((key, track, number) for track, number in _table(data.get(key)).items() if type(number) is int)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def track_boxes(track: Track, abilities: Mapping[str, int]) -> dict[str, int]:
    """Return the boxes of a track (name: size) for a character with these abilities."""
    boxes = dict(track.sizes)
    for more in track.more:
        if abilities.get(slug(more.ability), 0) >= more.at:
            boxes |= more.boxes
    return boxes


def seated(state: State, sheet: Sheet) -> State:
    """Return the state with a character and its tags at the table."""
    return lay_distinct(state.with_character(sheet.character), sheet.tags)


def lay_distinct(state: State, tags: Iterable[Tag]) -> State:
    """Return the state with tags added, each named after its owner too when there is one of the same text already."""
    laid = {tag.slug: tag for tag in state.tags}  # a sheet may bring thousands, so none is sought among all others
    for tag in tags:
        known = laid.get(tag.slug)
        if known is not None and known.audience is None:
            tag = msgspec.structs.replace(tag, name=f"{tag.name} ({tag.on or len(laid)})")
            known = laid.get(tag.slug)
        if known is not None and known.audience is not None:
            aside = msgspec.structs.replace(state, tags=tuple(laid.values())).with_room(tag.name)
            laid = {one.slug: one for one in aside.tags}
        laid[tag.slug] = tag
    return msgspec.structs.replace(state, tags=tuple(laid.values()))


def sheet_names(rules: Rules) -> list[str]:
    """Return the names of the sheets that come with a ruleset and its overlays."""
    return [path.stem for path in rules.layers.files("sheets")]


def unique_name(name: str, *, taken: Mapping[str, Any]) -> str:
    """Return the name, with a number behind it when a character at the table has it already."""
    if name not in taken and name != GM:
        return name
    return next(f"{name}-{number}" for number in range(2, len(taken) + 4) if f"{name}-{number}" not in taken)
