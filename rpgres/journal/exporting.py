"""The characters of a table as sheets of their ruleset, as they are now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from rpgres.errors import FileError
from rpgres.journal.history import History
from rpgres.model.state import EMPTY, GM, Character, State, Tag, slug
from rpgres.rulesets import Field, Rules
from rpgres.rulesets.sheets import ORDERS, RULESET, read_sheet, short_name, track_boxes
from rpgres.text.filenames import file_name
from rpgres.text.harmless import in_line
from rpgres.toml.reading import Source, parse

NAME = "name"  # the text field that a character is called by


def sheets_of(rules: Rules, history: History, *, seat: str | None) -> dict[str, str]:
    """Return the sheets of all characters at a table as they are now, by the name of their file.

    Args:
        seat: who reads them; what it may not know of is left out.
    """
    state = history.state.seen_by(seat)
    written = originals(history)
    sheets: dict[str, str] = {}
    for name in state.characters:
        file = file_name(name, ending=".toml", taken=sheets)
        original = written.get(name, {})
        if seat not in (None, state.seat_of(name)):  # whose standing orders are their own
            original = {key: value for key, value in original.items() if key != ORDERS}
        text = sheet_of(rules, state, name, original=original)
        called = "" if file == f"{name}.toml" else f"# At the table: {in_line(name)}\n"
        found = misfits(rules, file, text)
        above = "# Values at the table that a sheet of the ruleset cannot have:\n" if found else ""
        listed = "".join(f"#   {line.removeprefix(file).lstrip(':0123456789 ')}\n" for line in found)
        sheets[file] = called + above + listed + text
    return sheets


def misfits(rules: Rules, name: str, text: str) -> list[str]:
    """Return what `rpgres sheet check` would find wrong with an exported sheet, a line each.

    What is true at the table is written down even so: a rule may have taken a number past what a sheet allows.
    """
    try:
        read_sheet(rules, name, source=Source(name, text))
    except FileError as error:
        return [in_line(line) for line in error.message.splitlines()]
    return []


def originals(history: History) -> dict[str, dict[str, Any]]:
    """Return the sheets with which characters joined, by the character's name."""
    found: dict[str, dict[str, Any]] = {}
    for entry in history.standing:
        for path, text in entry.secret.sheets.values():
            source = Source(path, text)
            found[short_name(source)] = parse(source)
    return found


def sheet_of(rules: Rules, state: State, name: str, *, original: Mapping[str, Any] = EMPTY) -> str:
    """Return a character as it is now, as the text of a sheet that can be read again.

    What a sheet of the ruleset has no key for (a boost, another character's aspect, a free use) is listed in
    a comment below.

    Args:
        state: the table, as far as its reader may know it.
        original: what stood on the sheet with which it sat down: the names of its keys, and standing orders.
    """
    import tomli_w

    character = state.characters[name]
    tags = [tag for tag in state.tags if tag.on == name]
    data: dict[str, Any] = {} if RULESET in rules.file.sheet else {RULESET: rules.id}
    export = _Export(rules, character, tags, original, set())
    for key, field in rules.file.sheet.items():
        value = _value(export, key, field)
        if value is not None and value != {} and value != []:
            data[key] = value
    if ORDERS not in rules.file.sheet and ORDERS in original:
        data[ORDERS] = original[ORDERS]
    simple = {key: value for key, value in data.items() if not isinstance(value, dict)}
    text = tomli_w.dumps({**simple, **data})
    left = list(_left(tags, export.used))
    if character.seat not in ("", GM, name):
        left.append(in_line(f"played by {character.seat}"))
    return text + ("\n" + "".join(f"# {line}\n" for line in left) if left else "")


class _Export(NamedTuple):
    """A character that is written as a sheet.

    Attributes:
        tags: those on the character.
        original: the sheet with which it sat down.
        used: the slugs of tags that a key of the sheet covers.
    """

    rules: Rules
    character: Character
    tags: list[Tag]
    original: Mapping[str, Any]
    used: set[str]


def _value(export: _Export, key: str, field: Field) -> Any:
    """Return what stands under a key of the sheet; None for nothing. Notes in `used` which tags it covers."""
    rules, character, tags, original, used = export
    match field.kind:
        case "text" if key == NAME:
            return character.title
        case "text":
            return character.texts.get(key) or None
        case "counter":
            return character.counters.get(key)
        case "abilities":
            return {name: rating for name, rating in character.abilities.items() if _home(rules, name, original) == key}
        case "tags":
            return _tags(export, field, original.get(key))
        case "records":
            records: Mapping[str, Mapping[str, Any]] = character.records.get(key, EMPTY)
            used.update(tag.slug for tag in tags if field.tag and tag.name in records)
            return {name: {k: v for k, v in record.items() if v is not None} for name, record in records.items()}
        case "boxes":
            return {
                name: len(boxes)
                for name, boxes in character.tracks.items()
                if name in rules.tracks and len(track_boxes(rules.tracks[name], character.abilities)) != len(boxes)
            }
        case "marks":
            return {
                track: marked
                for track, boxes in character.tracks.items()
                if not _is_written(rules, track) and (marked := [box.name for box in boxes if box.mark])
            }
        case "written":
            written = {box.name: box.mark for box in character.tracks.get(field.track, ()) if box.mark}
            used.update(tag.slug for tag in tags if tag.name in written.values())
            return written
        case "seat":
            return GM if character.seat == GM else None


def _home(rules: Rules, ability: str, original: Mapping[str, Any]) -> str:
    """Return the key under which an ability stands: as on the first sheet, as the ruleset lists it, or the first."""
    keys = rules.file.fields_of("abilities")
    known = [key for key in keys if ability in map(slug, original.get(key, ()))]
    listed = [key for key, field in keys.items() if ability in field.abilities]
    open_ = [key for key, field in keys.items() if field.is_open]
    return next(iter((*known, *listed, *open_)), "")


def _tags(export: _Export, field: Field, original: Any) -> Any:
    """Return the tags that a key of the sheet holds, under the names they had on the first sheet."""
    _, character, tags, _, used = export
    marks = {box.mark for boxes in character.tracks.values() for box in boxes if box.mark}
    records = {name for named in character.records.values() for name in named}
    mine = [tag for tag in tags if tag.kind == field.tag and tag.slug not in used and tag.name not in marks | records]
    used.update(tag.slug for tag in mine)
    if not isinstance(original, Mapping):
        return [tag.name for tag in mine]
    keys = {text: key for key, text in original.items()}
    new = (key for key in (f"more-{number}" for number in count(1)) if key not in original)
    return {keys[tag.name] if tag.name in keys else next(new): tag.name for tag in mine}


def _is_written(rules: Rules, track: str) -> bool:
    known = rules.file.tracks.get(track)
    return known is not None and bool(known.tag)


def _left(tags: list[Tag], used: set[str]) -> Iterator[str]:
    """Yield what the sheet has no key for."""
    for tag in tags:
        uses = ", ".join(f"{count} free for {holder}" for holder, count in tag.uses.items())
        if tag.slug not in used:
            yield in_line(f"{tag.kind}: {tag.name}" + (f" ({uses})" if uses else ""))
        elif uses:
            yield in_line(f"{tag.name}: {uses}")
