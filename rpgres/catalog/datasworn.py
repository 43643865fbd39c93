"""Oracles of Datasworn JSON as a ruleset of random tables, with their licence and credit in the file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from rpgres.errors import FileError
from rpgres.model.state import slug
from rpgres.toml.diagnostics import KeyPath, key_text
from rpgres.toml.editing import comment, toml_text
from rpgres.toml.reading import read_source

MATCHES = "11, 22, 33, 44, 55, 66, 77, 88, 99, 100"  # what a d100 shows on a match
MOST_ROLLS = 10  # rolls of one row that are made at once
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MACRO = re.compile(r"\{\{[^}]*\}\}")
_MARKS = re.compile(r"(\*\*|__|\*|(?<!\w)_|_(?!\w))")


class Oracle(msgspec.Struct, frozen=True):
    """One oracle of the file: its id there, the keys that lead to it, the table's name here, and its data."""

    id: str
    at: str
    name: str
    data: Mapping[str, Any]


class Imported(msgspec.Struct, frozen=True):
    """A ruleset made from Datasworn JSON.

    Attributes:
        name: the id it suggests for itself.
        title: what it is from.
        credits: by whom, under what licence, and that it was changed.
        tables: the names of its tables.
        text: the `ruleset.toml`.
    """

    name: str
    title: str
    credits: str
    tables: list[str]
    text: str


def read_datasworn(path: Path) -> Imported:
    """Return the oracles of a Datasworn JSON file as the text of a ruleset.

    Raises:
        FileError: it cannot be read, is no Datasworn, or has no oracles.
    """
    try:
        data = json.loads(read_source(path).text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise FileError(f"{path}:{line}: this is no JSON", file=str(path), line=line) from None
    if not isinstance(data, dict) or "datasworn_version" not in data:
        message = "this is no Datasworn JSON: `datasworn_version` is missing"
        raise FileError(f"{path}: {message}; only such files can be imported", file=str(path))
    oracles = _named(list(_oracles(data, ())))
    if not oracles:
        raise FileError(f"{path}: it has no oracles with dice and rows, so there is nothing to import", file=str(path))
    title = _plain(str(data.get("title") or _whole_id(data) or path.stem))
    credited = _credits(title, data, oracles)
    known = {oracle.id: oracle for oracle in oracles}
    head = [
        *map(comment, credited.split("; ")),
        "standalone = true",
        f"title = {toml_text(title)}",
        f"summary = {toml_text(f'{len(oracles)} random tables of {title}.')}",
        f"version = {toml_text(str(data.get('date') or data['datasworn_version']))}",
        f"credits = {toml_text(credited)}",
    ]
    tables = ["\n".join(_table(oracle, known, path)) for oracle in oracles]
    name = slug(str(_whole_id(data) or path.stem))
    return Imported(
        name, title, credited, [one.name for one in oracles], "\n".join(head) + "\n\n" + "\n\n".join(tables) + "\n"
    )


def _whole_id(data: Mapping[str, Any]) -> str:
    return str(data.get("_id") or data.get("id") or "")


def _oracles(data: Any, at: KeyPath) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield everything that has dice and rows with numbers, with the keys that lead to it, outer before inner."""
    if isinstance(data, dict):
        rows = data.get("rows")
        if isinstance(data.get("dice"), str) and isinstance(rows, list) and any(map(_is_numbered, rows)):
            yield at, data
            return
        for key, value in data.items():
            yield from _oracles(value, (*at, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _oracles(value, (*at, number))


def _is_numbered(row: Any) -> bool:
    return isinstance(row, dict) and any(row.get(key) is not None for key in ("roll", "min", "max"))


def _span(row: Any, at: str, path: Path) -> tuple[int, int] | None:
    """Return from where to where a row goes; None where it cannot be rolled."""
    its = row.get("roll") if isinstance(row, dict) else _refuse(path, at, "an object", row)
    if its is not None and not isinstance(its, dict):
        _refuse(path, f"{at}.roll", "an object with `min` and `max`", its)
    low, high = (its or row).get("min"), (its or row).get("max")
    for key, one in (("min", low), ("max", high)):
        if one is not None and not isinstance(one, int):
            _refuse(path, f"{at}.{'roll.' if its else ''}{key}", "a whole number", one)
    return (low, high) if low is not None and high is not None else None


def _refuse(path: Path, at: str, wanted: str, found: Any) -> NoReturn:
    raise FileError(f"{path}: {at}: this has to be {wanted}, not {json.dumps(found)[:40]}", file=str(path))


def _named(found: list[tuple[KeyPath, Mapping[str, Any]]]) -> list[Oracle]:
    """Return oracles with names: the end of the id, as long as it takes to tell them apart and to be read."""
    paths = [[slug(part) for part in re.split(r"[/:.]", _whole_id(one)) if slug(part)] or ["table"] for _, one in found]
    names: list[str] = []
    for at, path in enumerate(paths):
        others = paths[:at] + paths[at + 1 :]
        length = 1
        while length < len(path) and (
            len("-".join(path[-length:])) < 3 or any(other[-length:] == path[-length:] for other in others)
        ):
            length += 1
        name = "-".join(path[-length:])
        name = name if name[:1].isalpha() else f"table-{name}"
        while name in names:
            name += "-2"
        names.append(name)
    return [Oracle(_whole_id(one), key_text(at), name, one) for (at, one), name in zip(found, names, strict=True)]


def _credits(title: str, data: Mapping[str, Any], oracles: list[Oracle]) -> str:
    """Return by whom the texts are and under what licence, source by source, and that they were changed."""
    sources = [data, *(one.data.get("_source") or one.data.get("source") or {} for one in oracles)]
    told: dict[str, None] = {}
    for source in sources:
        if not isinstance(source, dict) or not (source.get("title") or source.get("license")):
            continue
        authors = ", ".join(str(one.get("name")) for one in source.get("authors") or [] if isinstance(one, dict))
        whole = str(source.get("title") or title) + (f" by {authors}" if authors else "")
        parts = (
            whole,
            source.get("url"),
            f"licence: {source.get('license') or 'none is named, so ask before sharing'}",
        )
        told[", ".join(str(part) for part in parts if part)] = None
    return "; ".join(
        [*told, "changed: imported from Datasworn JSON by rpgres, oracles alone, without markup and links"]
    )


# ---------------------------------------------------------------------------------------------------------------------
# Tables


def _table(oracle: Oracle, known: Mapping[str, Oracle], path: Path) -> Iterator[str]:
    data = oracle.data
    called = _plain(str(data.get("canonical_name") or data.get("name") or oracle.name))
    summary = re.split(r"(?<=[.!?])\s", _plain(str(data.get("summary") or "")))[0]  # the first sentence
    yield f"[tables.{oracle.name}]"
    yield f"summary = {toml_text(': '.join(filter(None, (called, summary))))}"
    yield f"die = {toml_text(data['dice'])}"
    match = data.get("match")
    if isinstance(match, dict) and match.get("text") and data["dice"] in ("1d100", "d100"):
        yield f"also = {toml_text({MATCHES: _plain(str(match['text']))})}"
    yield f"[tables.{oracle.name}.rows]"
    for number, row in enumerate(data["rows"]):
        at = f"{oracle.at}.rows[{number}]"
        span = _span(row, at, path)
        if span is not None:
            low, high = span
            key = str(low) if low == high else f"{low}-{high}"
            yield f"{key_text((key,))} = {toml_text(_row(row, _rolls(row, at, oracle, known, path)))}"


class Roll(msgspec.Struct, frozen=True):
    """Rolls that a row asks for: on which table, how often, with which dice, and what is done with duplicates."""

    name: str  # of the table; empty for its own
    times: int
    dice: str  # empty for those of the table
    duplicates: str
    is_made: bool  # whether they are made at once

    @property
    def told(self) -> str:
        """Rolls that are not made at once, in words."""
        what = f"{self.dice} on {self.name or 'this table'}" if self.dice else self.name or "again"
        often = f" {self.times} times" if self.times > 1 else ""
        told = {"reroll": ", without duplicates", "allow": "", "keep": ""}
        more = told.get(self.duplicates, f", duplicates: {self.duplicates.replace('_', ' ')}") if often else ""
        return f"(then roll {what}{often}{more})"


def _rolls(row: Mapping[str, Any], at: str, oracle: Oracle, known: Mapping[str, Oracle], path: Path) -> list[Roll]:
    """Return the rolls that a row asks for."""
    rolls = row.get("oracle_rolls") or []
    if not isinstance(rolls, list):
        _refuse(path, f"{at}.oracle_rolls", "a list", rolls)
    found = []
    for number, roll in enumerate(rolls):
        here = f"{at}.oracle_rolls[{number}]"
        if not isinstance(roll, dict):
            _refuse(path, here, "an object", roll)
        of, times = roll.get("oracle"), roll.get("number_of_rolls")
        for key in ("oracle", "dice", "duplicates"):
            if not isinstance(roll.get(key), str | None):
                _refuse(path, f"{here}.{key}", "a text", roll[key])
        if times is not None and (not isinstance(times, int) or times < 1):
            _refuse(path, f"{here}.number_of_rolls", "a whole number of at least 1", times)
        if of is not None and of not in known:
            raise FileError(
                f"{path}: the oracle {oracle.id} leads to {of}, which this file does not have", file=str(path)
            )
        on = known[of] if of is not None else oracle
        dice = _plain(roll.get("dice") or "")
        name = "" if on.id == oracle.id else on.name
        duplicates = _plain(roll.get("duplicates") or "allow")
        its = "" if dice == on.data["dice"] else dice
        found.append(Roll(name, times or 1, its, duplicates, bool(roll.get("auto")) and not its))
    return found


def _row(row: Mapping[str, Any], rolls: list[Roll]) -> str | dict[str, Any]:
    """Return a row as TOML has it. Rolls that are not made at once are named in the text, and those it cannot make."""
    columns = (row.get(key) for key in ("text", "text2", "text3"))
    text = ": ".join(_plain(str(one)) for one in columns if one)
    many = Counter[str]()
    for roll in rolls:
        many[roll.name] += roll.times if roll.is_made else 0
    again, links, told, rule = 0, list[str](), list[str](), ""
    for roll in rolls:
        its = roll.duplicates.replace("keep", "allow") if many[roll.name] > 1 else ""
        total = roll.times + (len(links) if roll.name else again)
        if not roll.is_made or total > MOST_ROLLS or (its and its not in (rule or "allow", rule or "reroll")):
            told.append(roll.told)
            continue
        rule = rule or its
        again += 0 if roll.name else roll.times
        links += [roll.name] * roll.times if roll.name else []
    text = " ".join(filter(None, (text, *told)))
    made: dict[str, Any] = {"text": text} if text else {}
    if again:
        made |= {"name": "roll-twice" if again == 2 else "roll-again", "again": again}
    if links:
        made["table"] = links[0] if len(links) == 1 else links
    if rule == "reroll":
        made["distinct"] = True
    return text if text and len(made) == 1 else made or "-"


def _plain(text: str) -> str:
    """Return a text without markup, and without braces, which would be dice.

    >>> _plain("__Find__ the [Old *Road*](id:road) {{table>x}}")
    'Find the Old Road'
    """
    words = _MARKS.sub("", _LINK.sub(r"\1", _MACRO.sub("", text)))
    return words.replace("{", "(").replace("}", ")").strip()
