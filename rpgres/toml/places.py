"""Where key paths stand in TOML text: its lines and columns, read for places and not for values."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

import msgspec
import tomli

from rpgres.toml.diagnostics import KeyPath, key_text

_MOST_PATHS = 200_000  # some 40 MB; a ruleset of 4 MiB has half as many
Spot = tuple[int, int]  # line and column
_KEPT = 8  # texts whose places are kept: a ruleset, its outcome tables and their overlays


def spot(path: KeyPath, text: str) -> Spot | tuple[None, None]:
    """Return the line and column, from 1, of a key path in a TOML text; of an empty text None.

    A key that does not stand in it is placed at the innermost table around it.
    """
    if not text:
        return None, None
    spots = _spots(text)
    return next((spots[path[:length]] for length in range(len(path), 0, -1) if path[:length] in spots), (1, 1))


# ---------------------------------------------------------------------------------------------------------------------
# Reading TOML for places, not for values

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_KEY_PART = re.compile(r"""[ \t]*+(?:([^\s\[\]{}=,.#"']++)|("(?:[^"\\\n]|\\.)*+")|'([^'\n]*+)')[ \t]*+""")
_SCALAR = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}+'''
    r"""|'''(?:[^']|'(?!''))*+'{3,5}+"""
    r'''|(?!""")"(?:[^"\\\n]|\\.)*+"'''
    r"""|(?!''')'[^'\n]*+'"""
    r"""|[^\s,\[\]{}\#"'=][^,\[\]{}\n\#]*+""",
    re.DOTALL,
)
_NO_LIMIT = 150  # more than parsing allows, and well below the depth at which Python itself gives up


class _LostError(Exception):
    """The text is no TOML from here on."""


class _DeepError(Exception):
    """The text nests deeper than asked for."""


class Entry(NamedTuple):
    """Where `key = value` stands in a text, as offsets: the key, the value, and the end of the value."""

    start: int
    value: int
    end: int


class _Scan(msgspec.Struct):
    """A text, and what is noted of it on the way.

    Its key paths and its entries by offset, `most` of them, and its last key.
    """

    text: str
    limit: int = _NO_LIMIT
    most: int = 0
    offsets: dict[KeyPath, int] = {}  # msgspec gives each record its own
    entries: dict[KeyPath, Entry] = {}
    last: tuple[KeyPath, int] = ((), 0)

    def note(self, path: KeyPath, offset: int, *, again: bool = False) -> None:
        """Remember where a path stands: where it was met first, unless it is said `again` by a header of its own."""
        self.last = (path, offset)
        if (path in self.offsets and again) or (path not in self.offsets and len(self.offsets) < self.most):
            self.offsets[path] = offset

    def meets(self, mark: str, at: int) -> int:
        """Return the place after `mark`, which has to stand here."""
        if not self.text.startswith(mark, at):
            raise _LostError
        return at + len(mark)

    def after_blank(self, at: int) -> int:
        """Return the next place that is neither blank nor comment."""
        found = _BLANK.match(self.text, at)
        return found.end() if found else at


def is_deeper(text: str, limit: int) -> bool:
    """Return whether a key path of the text has more than `limit` parts, in time that grows only with its length."""
    try:
        with suppress(_LostError):
            _scan(_Scan(text, limit))
    except _DeepError:
        return True
    return False


def last_key(text: str) -> tuple[str, int]:
    """Return the last key of a text as far as it is TOML, and its line; an empty key if there is none."""
    path, offset = _scanned(text, most=0).last
    return key_text(path), text.count("\n", 0, offset) + 1 if path else 0


def entries(text: str) -> tuple[dict[KeyPath, Entry], dict[KeyPath, int]]:
    """Return where each `key = value` of a TOML text stands, and the offset at which each key path is met first."""
    scan = _scanned(text)
    return scan.entries, scan.offsets


# Faults are located one by one, and a file may have thousands: it is read for all of them at once.
@lru_cache(maxsize=_KEPT)
def _spots(text: str) -> Mapping[KeyPath, Spot]:
    """Return the line and column of every key path of a text, or of the first ones where it has too many."""
    scan = _scanned(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    lines = {path: bisect_right(starts, offset) for path, offset in scan.offsets.items()}
    return {path: (line, scan.offsets[path] - starts[line - 1] + 1) for path, line in lines.items()}


def _scanned(text: str, *, most: int = _MOST_PATHS) -> _Scan:
    """Return what is noted of a text as far as it is TOML."""
    scan = _Scan(text, most=most)
    with suppress(_LostError, _DeepError):
        _scan(scan)
    return scan


def _scan(scan: _Scan) -> None:
    text = scan.text
    table: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    at = scan.after_blank(0)
    while at < len(text):
        start = at
        if text.startswith("[", at):
            mark = "[[" if text.startswith("[[", at) else "["
            parts, at = _key(scan, at + len(mark))
            at = scan.meets("]" * len(mark), at)
            table = _header(scan, parts, counts, start, is_item=mark == "[[")
        else:
            at = _entry(scan, at, table)
        at = scan.after_blank(at)


def _header(scan: _Scan, parts: Sequence[str], counts: dict[KeyPath, int], start: int, *, is_item: bool) -> KeyPath:
    table: KeyPath = ()
    for part in parts[:-1]:
        table = (*table, part)
        scan.note(table, start)
        if table in counts:  # what follows `[[list]]` belongs to the item it began
            table = (*table, counts[table])
    table = (*table, parts[-1])
    if not is_item:
        scan.note(table, start, again=True)
        return table
    scan.note(table, start)
    counts[table] = counts.get(table, -1) + 1
    table = (*table, counts[table])
    scan.note(table, start)
    return table


def _entry(scan: _Scan, at: int, table: KeyPath) -> int:
    start = at
    parts, at = _key(scan, at)
    for part in parts:
        table = (*table, part)
        scan.note(table, start)
    value = scan.after_blank(scan.meets("=", at))
    end = _value(scan, value, table)
    if len(scan.entries) < scan.most:
        scan.entries[table] = Entry(start, value, end)
    return end


def _key(scan: _Scan, at: int) -> tuple[list[str], int]:
    parts: list[str] = []
    while found := _KEY_PART.match(scan.text, at):
        bare, basic, literal = found.groups()
        parts.append(bare or literal or (_unescaped(basic) if basic else ""))
        at = found.end()
        if len(parts) > scan.limit:
            raise _DeepError
        if not scan.text.startswith(".", at):
            return parts, at
        at += 1
    raise _LostError


def _unescaped(token: str) -> str:
    try:
        return str(tomli.loads(f"key = {token}")["key"]) if "\\" in token else token[1:-1]
    except ValueError:
        raise _LostError from None


def _value(scan: _Scan, at: int, path: KeyPath) -> int:
    if len(path) > scan.limit:
        raise _DeepError
    text = scan.text
    if text.startswith("[", at):
        at, index = scan.after_blank(at + 1), 0
        while not text.startswith("]", at):
            item = (*path, index)
            if scan.most:
                scan.note(item, at)
            at, index = _next(scan, _value(scan, at, item), "]"), index + 1
        return at + 1
    if text.startswith("{", at):
        at = scan.after_blank(at + 1)
        while not text.startswith("}", at):
            at = _next(scan, _entry(scan, at, path), "}")
        return at + 1
    found = _SCALAR.match(text, at)
    if not found:
        raise _LostError
    return found.end()


def _next(scan: _Scan, at: int, end: str) -> int:
    at = scan.after_blank(at)
    if scan.text.startswith(",", at):
        return scan.after_blank(at + 1)
    scan.meets(end, at)
    return at
