"""Character sheets as lines for people. What stands on a sheet is the ruleset's matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rpgres.cli.render.lines import INDENT, Line, Piece, line, section
from rpgres.cli.render.words import rung, title
from rpgres.model.state import GM, Box
from rpgres.rulesets import Field, Rules
from rpgres.rulesets.sheets import Sheet


def sheet_lines(rules: Rules, sheet: Sheet, data: Mapping[str, Any], *, is_drawn: bool = True) -> list[Line]:
    """Return a character as its player would write it down.

    Args:
        rules: the ruleset, which says what its keys mean.
        sheet: the character.
        data: the file's own keys: how it calls its tags.
        is_drawn: whether boxes are drawn; a screen reader would rather not.
    """
    character = sheet.character
    found = [line(Piece(character.title, "title"), f" ({rules.id})")]
    if character.seat == GM:
        shared = [title(name).lower() for name, field in rules.file.sheet.items() if field.of_players]
        said = f", with the game master's {' and '.join(shared)}" if shared else ""
        found.append(line(f"played by the game master{said}"))
    counters = [f"{title(name)} {number}" for name, number in character.counters.items()]
    if counters:
        found.append(line(", ".join(counters)))
    for name, field in rules.file.sheet.items():
        found += section(title(name), _field_lines(rules, sheet, name, field, data.get(name)))
    tracks = list(_track_lines(rules, sheet, is_drawn=is_drawn))
    return [*found, line(), *tracks] if tracks else found


def _field_lines(rules: Rules, sheet: Sheet, name: str, field: Field, value: Any) -> Iterator[Line]:
    character = sheet.character
    match field.kind:
        case "text" if name != "name" and name in character.texts:
            yield line(INDENT, character.texts[name])
        case "tags" if value:
            named = value.items() if isinstance(value, dict) else [("", text) for text in value]
            for key, text in named:
                yield line(INDENT, Piece(text, "name"), Piece(f" ({key.replace('-', ' ')})" if key else "", "quiet"))
        case "abilities" if value:
            yield from _ability_lines(value, rules.file.ladder)
        case "records":
            for key, record in character.records.get(name, {}).items():
                yield from _record_lines(key, record)


def _ability_lines(ratings: Mapping[str, int], ladder: Mapping[str, int]) -> Iterator[Line]:
    """Yield abilities by rung, the highest first; without a ladder each with its number."""
    ordered = sorted(ratings.items(), key=lambda item: -item[1])
    if not ladder:
        yield line(INDENT, ", ".join(f"{name} {number}" for name, number in ordered))
        return
    for number, group in groupby(ordered, key=lambda item: item[1]):
        names = ", ".join(title(name) for name, _ in group)
        yield line(INDENT, Piece(rung(number, ladder), "number"), f": {names}")


def _record_lines(name: str, record: Mapping[str, Any]) -> Iterator[Line]:
    """Yield a record: its text behind its name, and below it the rest."""
    text = record.get("text")
    yield line(INDENT, Piece(title(name), "name"), f": {text}" if text else "")
    rest = [f"{key.replace('-', ' ')}: {_value(value)}" for key, value in record.items() if _is_told(key, value)]
    if rest:
        yield line(INDENT * 2, Piece("; ".join(rest), "quiet"))


def _is_told(key: str, value: Any) -> bool:
    return key != "text" and value is not None and value != ""


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _track_lines(rules: Rules, sheet: Sheet, *, is_drawn: bool) -> Iterator[Line]:
    for name, boxes in sheet.character.tracks.items():
        track = rules.file.tracks[name]
        if not boxes:
            yield line(Piece(track.title, "title"), ": none")
        elif track.tag:
            yield line(Piece(track.title, "title"))
            for box in boxes:
                written = Piece(box.mark, "name") if box.mark else Piece("free", "quiet")
                yield line(INDENT, f"{title(box.name)} ({box.size}): ", written)
        elif is_drawn:
            yield line(Piece(track.title, "title"), " ", *(_box(box) for box in boxes))
        else:
            words = ", ".join(f"{box.name} {'checked' if box.mark else 'free'}" for box in boxes)
            yield line(Piece(track.title, "title"), f": {words}")


def _box(box: Box) -> Piece:
    return Piece("[x]", "bad") if box.mark else Piece(f"[{box.name}]")
