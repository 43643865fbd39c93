"""Oracles of Datasworn JSON as a ruleset of random tables, with their licence and credit in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError
from rpgres.model.state import slug
from rpgres.toml.diagnostics import key_text
from rpgres.toml.editing import toml_text

MATCHES = "11, 22, 33, 44, 55, 66, 77, 88, 99, 100"  # what a d100 shows on a match
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MACRO = re.compile(r"\{\{[^}]*\}\}")
_MARKS = re.compile(r"(\*\*|__|\*|(?<!\w)_|_(?!\w))")


class Oracle(msgspec.Struct, frozen=True):
    """One oracle of the file: its id there, the table's name here, and its data."""

    id: str
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
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or f"it is not JSON: {error}"
        raise FileError(f"{path}: {reason}", file=str(path)) from None
    if not isinstance(data, dict) or "datasworn_version" not in data:
        message = "this is no Datasworn JSON: `datasworn_version` is missing"
        raise FileError(f"{path}: {message}; only such files can be imported", file=str(path))
    oracles = _named(list(_oracles(data)))
    if not oracles:
        raise FileError(f"{path}: it has no oracles with dice and rows, so there is nothing to import", file=str(path))
    title = _plain(str(data.get("title") or _whole_id(data) or path.stem))
    credited = _credits(title, data, oracles)
    names = {oracle.id: oracle.name for oracle in oracles}
    head = [
        *(f"# {line}" for line in credited.split("; ")),
        "standalone = true",
        f"title = {toml_text(title)}",
        f"summary = {toml_text(f'{len(oracles)} random tables of {title}.')}",
        f"version = {toml_text(str(data.get('date') or data['datasworn_version']))}",
        f"credits = {toml_text(credited)}",
    ]
    tables = ["\n".join(_table(oracle, names, path)) for oracle in oracles]
    name = slug(str(_whole_id(data) or path.stem))
    return Imported(
        name, title, credited, [one.name for one in oracles], "\n".join(head) + "\n\n" + "\n\n".join(tables) + "\n"
    )


def _whole_id(data: Mapping[str, Any]) -> str:
    return str(data.get("_id") or data.get("id") or "")


def _oracles(data: Any) -> Iterator[Mapping[str, Any]]:
    """Yield everything that has dice and rows with numbers, outer before inner."""
    if isinstance(data, dict):
        rows = data.get("rows")
        if isinstance(data.get("dice"), str) and isinstance(rows, list) and any(map(_span, rows)):
            yield data
            return
        for value in data.values():
            yield from _oracles(value)
    elif isinstance(data, list):
        for value in data:
            yield from _oracles(value)


def _span(row: Any) -> tuple[int, int] | None:
    """Return from where to where a row goes; None where it cannot be rolled."""
    its = row.get("roll") or row if isinstance(row, dict) else {}
    low, high = its.get("min"), its.get("max")
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None


def _named(found: list[Mapping[str, Any]]) -> list[Oracle]:
    """Return oracles with names: the end of the id, as long as it takes to tell them apart and to be read."""
    paths = [[slug(part) for part in re.split(r"[/:.]", _whole_id(one)) if slug(part)] or ["table"] for one in found]
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
    return [Oracle(_whole_id(one), name, one) for one, name in zip(found, names, strict=True)]


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


def _table(oracle: Oracle, names: Mapping[str, str], path: Path) -> Iterator[str]:
    """Yield the lines of a table."""
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
    for row in data["rows"]:
        span = _span(row)
        if span is not None:
            low, high = span
            key = str(low) if low == high else f"{low}-{high}"
            yield f"{key_text((key,))} = {toml_text(_row(row, oracle, names, path))}"


def _row(row: Mapping[str, Any], oracle: Oracle, names: Mapping[str, str], path: Path) -> str | dict[str, Any]:
    """Return a row as TOML has it. Rolls that are not made at once are named in the text."""
    columns = (row.get(key) for key in ("text", "text2", "text3"))
    text = ": ".join(_plain(str(one)) for one in columns if one)
    again, links, is_distinct = 0, list[str](), False
    for roll in row.get("oracle_rolls") or []:
        of, times = roll.get("oracle"), int(roll.get("number_of_rolls") or 1)
        if of is not None and of not in names:
            raise FileError(
                f"{path}: the oracle {oracle.id} leads to {of}, which this file does not have", file=str(path)
            )
        if not roll.get("auto"):
            text = " ".join(filter(None, (text, f"(then roll {names[of]})" if of else "(then roll again)")))
        elif of is None or of == oracle.id:
            again, is_distinct = again + times, roll.get("duplicates") == "reroll"
        else:
            links += [names[of]] * times
    made: dict[str, Any] = {"text": text} if text else {}
    if again:
        made |= {"name": "roll-twice" if again == 2 else "roll-again", "again": again}
        made |= {"distinct": True} if is_distinct else {}
    if links:
        made["table"] = links[0] if len(links) == 1 else links
    return text if text and len(made) == 1 else made or "-"


def _plain(text: str) -> str:
    """Return a text without markup, and without braces, which would be dice.

    >>> _plain("__Find__ the [Old *Road*](id:road) {{table>x}}")
    'Find the Old Road'
    """
    words = _MARKS.sub("", _LINK.sub(r"\1", _MACRO.sub("", text)))
    return words.replace("{", "(").replace("}", ")").strip()
