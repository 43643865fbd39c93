"""Character sheets as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rpgres.model.state import GM
from rpgres.render.lines import HANG, INDENT, Line, Piece, Shown, line, section
from rpgres.render.words import box_piece, rung, title, told_counters
from rpgres.rulesets import Field, Rules
from rpgres.rulesets.sheets import Sheet


def sheet_lines(rules: Rules, sheet: Sheet, data: Mapping[str, Any]) -> list[Shown]:
    """Return a character as its player would write it down.

    Args:
        rules: the ruleset, which says what its keys mean.
        data: the file's own keys: how it calls its tags.
    """
    character = sheet.character
    found: list[Shown] = [line(Piece(character.title, "title"), f" ({rules.id})")]
    if character.seat == GM:
        shared = [title(name).lower() for name, field in rules.file.sheet.items() if field.of_players]
        said = f", with the game master's {' and '.join(shared)}" if shared else ""
        found.append(line(f"played by the game master{said}"))
    counters = [f"{title(name)} {number}" for name, number in told_counters(character, rules.file).items()]
    if counters:
        found.append(line(HANG, ", ".join(counters)))
    for name, field in rules.file.sheet.items():
        found += section(title(name), _field_lines(rules, sheet, name, field, data.get(name)))
    tracks = list(_track_lines(rules, sheet))
    return [*found, line(), *tracks] if tracks else found


def _field_lines(rules: Rules, sheet: Sheet, name: str, field: Field, value: Any) -> Iterator[Line]:
    character = sheet.character
    match field.kind:
        case "text" if name != "name" and name in character.texts:
            yield line(INDENT, HANG, character.texts[name])
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
        yield line(INDENT, HANG, ", ".join(f"{title(name)}\u00a0{number}" for name, number in ordered))
        return
    width = max(len(rung(number, ladder)) for _, number in ordered)
    for number, group in groupby(ordered, key=lambda item: item[1]):
        names = ", ".join(title(name) for name, _ in group)
        yield line(INDENT, Piece(rung(number, ladder).ljust(width), "number"), INDENT, HANG, names)


def _record_lines(name: str, record: Mapping[str, Any]) -> Iterator[Line]:
    """Yield a record: its text behind its name, and below it the rest."""
    text = record.get("text")
    yield line(INDENT, Piece(title(name), "name"), f": {text}" if text else "")
    rest = [
        f"{key.replace('-', ' ')}: {_value(value)}"
        for key, value in record.items()
        if key != "text" and value is not None and value != ""
    ]
    if rest:
        yield line(INDENT * 2, Piece("; ".join(rest), "quiet"))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _track_lines(rules: Rules, sheet: Sheet) -> Iterator[Line]:
    """Yield tracks: boxes with those that are marked, and what is written into those that take a text."""
    tracks = [(rules.file.tracks[name], boxes) for name, boxes in sheet.character.tracks.items()]
    width = max((len(track.title) for track, _ in tracks if not track.tag), default=0)
    for track, boxes in sorted(tracks, key=lambda pair: pair[0].tag):
        if track.tag and boxes:
            yield line(Piece(track.title, "title"))
            names = [f"{title(box.name)} ({box.size})" for box in boxes]
            wide = max(map(len, names))
            for name, box in zip(names, boxes, strict=True):
                written = Piece(box.mark, "name") if box.mark else Piece("free", "quiet")
                yield line(INDENT, name.ljust(wide), INDENT, HANG, written)
        else:
            count = Piece(f"  {sum(bool(box.mark) for box in boxes)} of {len(boxes)} checked", "quiet")
            told = box_piece(boxes) if boxes else Piece("none", "quiet")
            only_drawn = Piece("", "", (count,) if boxes else ())
            yield line(Piece(f"{track.title}:".ljust(width + 1), "title"), " ", HANG, told, only_drawn)
