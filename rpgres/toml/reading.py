"""Where TOML text becomes typed values: reading, overlaying, checking. What they mean is told elsewhere.

The way that every start takes is short: read, parse, overlay, one strict conversion by msgspec. It stops at the first
fault. Only then are `rpgres.toml.faults`, which walks the data a second time and collects every fault, and
`rpgres.toml.places`, which finds their lines, imported.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from rpgres.errors import FileError, RpgresError
from rpgres.text.harmless import in_line
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, diagnostics_error, nearest_file

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")


class _Kept(msgspec.Struct, gc=False):
    """What the collector does not see, and so does not clear."""

    classes: list[Any]


def _keep_records() -> None:
    """Keep the classes of records when Python ends.

    msgspec (to 0.22) may free their descriptions twice then, and the process ends with a segmentation fault.
    """
    found: list[Any] = [msgspec.Struct]
    for one in found:
        found += type.__subclasses__(one)
    found.append(_Kept(found))


atexit.register(_keep_records)

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100  # levels of tables and lists; a sheet or a scene needs fewer than ten
FOLDER_NAMED = "it is a folder; name a file in it"
_SHOWN_WIDTH = 100  # characters of a faulty line that are shown

# What tomli says first in its message, and what to try.
_ADVICE = {
    "Invalid value": 'text is written in quotes, a boolean as `true` or `false`: name = "Mara", ready = true',
    "Invalid statement": "a line is `key = value`, `[table]`, or a comment after `#`",
    "Invalid initial character for a key part": "a key with characters other than A-Z a-z 0-9 _ - is written in quotes",
    "Expected ']' at the end of a table declaration": "a table begins with `[name]`, and the name has the "
    'characters A-Z a-z 0-9 _ - alone; what people call it is a key below: [characters.zoe], then name = "Zoë"',
    "Expected '=' after a key": "a line is `key = value`; a key of several words is written in quotes",
    "Expected newline or end of document": "one `key = value` a line; inside `{ }` they are separated by commas",
    "Cannot overwrite a value": "this key already has a value: remove one of the two, or merge the tables",
    "Cannot declare": "this table already exists: merge the two, or write `[[name]]` for a list of tables",
    "Cannot mutate immutable namespace": "a table written as `{ }` cannot be added to further down",
    "Unclosed array": "a list ends with `]`, and its items are separated by commas",
    "Unclosed inline table": "an inline table ends with `}`, and its entries are separated by commas",
    "Unterminated string": "close the text with the quotes it began with",
    "Illegal character": "write the text in one line, or between three quotes",
    "Unescaped '\\'": "double the backslash, or put the text in single quotes",
}


class Source(msgspec.Struct, frozen=True):
    """A text and the name its reader knows it by: `path` as shown to the user, `-` for standard input.

    Attributes:
        is_linked: whether the file is a link, which may lead anywhere; errors do not quote it.
    """

    path: str
    text: str
    is_linked: bool = False


def read_source(path: Path) -> Source:
    """Return the text of a file, without a byte order mark; the path `-` is standard input.

    Raises:
        FileError: there is no such file, it is a folder, it may not be read, is larger than 4 MiB, or is not UTF-8.
    """
    shown = str(path)
    try:
        content = _content(path)
    except FileNotFoundError:
        raise _not_found(path) from None
    except PermissionError:
        raise FileError(f"{shown}: permission denied; check the permissions of the file", file=shown) from None
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise FileError(f"{shown}: cannot be read: {reason}", file=shown) from None
    if len(content) > MAX_BYTES:
        raise FileError(
            f"{shown}: larger than {MAX_BYTES // 1024 // 1024} MiB, the limit for files of rpgres", file=shown
        )
    try:
        is_linked = os.path.islink(path) or os.path.islink(path.parent)
        return Source(shown, content.decode("utf-8").removeprefix("\ufeff"), is_linked)
    except UnicodeDecodeError as fault:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            how = "save it as UTF-8; PowerShell does with `Set-Content -Encoding utf8`"
            raise FileError(
                f"{shown}:1: UTF-16 text, as `>` of PowerShell writes it; {how}", file=shown, line=1
            ) from None
        line = content.count(b"\n", 0, fault.start) + 1
        raise FileError(
            f"{shown}:{line}: not UTF-8 text (byte {fault.start} of the file is 0x{content[fault.start]:02x}); "
            "save it as UTF-8",
            file=shown,
            line=line,
            offset=fault.start,
        ) from None


def _content(path: Path) -> bytes:
    # One byte more than allowed is enough to know, and a device that never ends is left in time.
    if str(path) == "-":
        import sys

        if sys.stdin is None:
            raise OSError("there is no standard input")
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    if os.path.isdir(path):  # opening a folder is "permission denied" on Windows
        raise OSError(FOLDER_NAMED)
    if os.path.lexists(path) and not os.path.isfile(path) and not str(path).startswith(("/dev/", "/proc/")):
        raise OSError("it is a pipe or a device")  # which would be waited for; `<(...)` of a shell lies in /dev
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _not_found(path: Path) -> FileError:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return FileError(f"{path}: no such file: there is no folder {path.parent}", file=str(path))
    near = nearest_file(path.name, names)
    also = f"; did you mean `{path.with_name(near)}`?" if near else ""
    return FileError(f"{path}: no such file{also}", file=str(path))


def parse(source: Source) -> dict[str, Any]:
    """Return the tables of a TOML text as plain dicts.

    Raises:
        FileError: `FILE:LINE:COLUMN: what is wrong`, with the line and a caret; or it nests too deep.
    """
    import tomli

    text = source.text
    try:
        text.encode()
        if _has_endless_key(text):
            raise RecursionError
        data = tomli.loads(text)
    except tomli.TOMLDecodeError as fault:
        raise _syntax_error(source, str(fault)) from None
    except UnicodeEncodeError as fault:
        said = "a lone surrogate is not a character and cannot be written to a file"
        raise _error_at(source, fault.start, said) from None
    except RecursionError:
        raise _too_deep(source.path) from None
    except ValueError:
        raise _number_error(source) from None
    if _is_deep(data):
        raise _too_deep(source.path)
    return data


def _has_endless_key(text: str) -> bool:
    # tomli's work grows with the square of a key's parts, so a key of a million dots has to be met before it.
    # Without a line of many dots there is none; with one, it may still be a text or a list of numbers.
    if text.count(".") <= MAX_DEPTH or all(line.count(".") <= MAX_DEPTH for line in text.split("\n")):
        return False
    from rpgres.toml.places import is_deeper

    return is_deeper(text, MAX_DEPTH)


def _is_deep(data: dict[str, Any]) -> bool:
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _too_deep(path: str) -> FileError:
    return FileError(f"{path}: tables or lists are nested too deep (more than {MAX_DEPTH} levels)", file=path)


def _number_error(source: Source) -> FileError:
    import re
    import sys

    # The one fault that tomli passes on without a place is Python's: a decimal number beyond its limit of digits.
    longest = sys.get_int_max_str_digits()
    number = re.search(rf"[0-9][0-9_]{{{longest},}}", source.text)
    return _error_at(source, number.start() if number else 0, f"a number of more than {longest} digits")


def _syntax_error(source: Source, message: str) -> FileError:
    import re

    if source.text.lstrip().startswith("{"):  # no TOML begins so
        advice = 'in TOML it is `name = "Mara"`, and `[skills]` begins what stands in braces behind "skills"'
        return _error_at(source, source.text.index("{"), "this is JSON, but the file must be TOML", advice)
    said, _, place = message.rpartition(" (at ")
    where = re.fullmatch(r"line (\d+), column (\d+)\)", place)
    advice = next((text for start, text in _ADVICE.items() if said.startswith(start)), "")
    if where:
        lines = source.text.split("\n")
        return _shown_error(source, lines, int(where[1]), int(where[2]), said or message, advice)
    # At the end of the text, what matters is where the value that goes on for ever began.
    from rpgres.toml.places import last_key

    key, line = last_key(source.text)
    if key:
        said += f" before the end of the file; the last key is `{key}` in line {line}"
    return _error_at(source, len(source.text.rstrip()), said, advice)


def _error_at(source: Source, offset: int, said: str, advice: str = "") -> FileError:
    before = source.text[:offset]
    line = before.count("\n") + 1
    return _shown_error(source, source.text.split("\n"), line, offset - before.rfind("\n"), said, advice)


def _shown_error(
    source: Source, lines: Sequence[str], line: int, column: int, said: str, advice: str = ""
) -> FileError:
    text = lines[line - 1].rstrip()
    start = max(0, column - 1 - _SHOWN_WIDTH // 2)
    shown = f"\n  {in_line(text[start : start + _SHOWN_WIDTH])}\n  {' ' * (column - 1 - start)}^"
    tail = f"\n{advice}" if advice else ""
    message = f"{said}{'' if source.is_linked else shown}{tail}"
    found = Diagnostic("syntax", message, source.path, line, column)
    return diagnostics_error([found], file=source.path, line=line, column=column)


def inside(data: Any, path: Iterable[str]) -> Any:
    """Return what stands in parsed TOML at a path of keys; None where nothing does."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def overlay(base: dict[str, Any], nearer: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `nearer` merged over it: tables merge, everything else is replaced whole.

    A table that is exactly `{ remove = true }` deletes the key, at any depth, and leaves nothing behind where there was
    nothing to delete. Neither argument is changed; the result shares what stayed as it was.
    """
    merged = dict(base)
    for key, value in nearer.items():
        if not isinstance(value, dict):
            merged[key] = value
        elif len(value) == 1 and value.get("remove") is True:
            merged.pop(key, None)
        else:
            below = merged.get(key)
            merged[key] = overlay(below if isinstance(below, dict) else {}, value)
    return merged


def convert(data: Any, type_: type[T], *, source: Source | None = None, prefix: KeyPath = ()) -> T:
    """Return parsed TOML data as a value of `type_`, strictly: no number is read out of a text, true is no number.

    Args:
        source: the file that the data came from; faults are located in it.
        prefix: the key path under which `data` stands there.

    Raises:
        FileError: all problems at once, each with its file, line, key and the nearest valid name.
    """
    try:
        return msgspec.convert(data, type_, str_keys=True)
    except (msgspec.ValidationError, RpgresError, RecursionError, UnicodeError):
        pass  # every fault is told, and not the first as its cause
    raise diagnostics_error(diagnose(data, type_, source=source, prefix=prefix))


def diagnose(data: Any, type_: Any, *, source: Source | None = None, prefix: KeyPath = ()) -> list[Diagnostic]:
    """Return everything that keeps `data` from being a `type_`, in line order; nothing when it is one.

    The arguments are those of `convert`. The list ends at a thousand diagnostics.
    """
    from rpgres.toml.faults import faults

    return located([fault.under(*prefix) for fault in faults(data, type_)], source)


def located(faults: Iterable[Fault], source: Source | None) -> list[Diagnostic]:
    """Return faults of a file with the line and column where they stand, in line order."""
    from rpgres.toml.places import spot

    path, text, faults = (source.path, source.text, list(faults)) if source is not None else ("", "", list(faults))
    data: dict[str, Any] = {}
    if source is not None and any(isinstance(part, int) for fault in faults for part in fault.path):
        with suppress(FileError):  # it is no TOML
            data = parse(source)
    found = [fault.placed(path, *spot(fault.path, text), key=_with_ids(fault.path, data)) for fault in faults]
    return sorted(found, key=lambda diagnostic: diagnostic.line or 0)


def _with_ids(path: KeyPath, data: Mapping[str, Any]) -> KeyPath:
    """Return a key path with the `id` of an entry of a list, where it has one, in place of its number.

    An entry of a group needs no more than that: `steps.climb.with`.
    """
    node: Any = data
    found: list[str | int] = []
    for part in path:
        above, node = node, _inside(node, part)
        id_ = _id_of(node) if isinstance(part, int) else ""
        if id_ and [_id_of(other) for other in above].count(id_) == 1:
            lists = {one for one in found if isinstance(one, str)}
            found = [*(lists if len(lists) == 1 else found), id_]
        else:
            found.append(part)
    return tuple(found)


def _inside(node: Any, part: str | int) -> Any:
    try:
        return node[part]
    except (LookupError, TypeError):  # it is not there, and that is the fault
        return None


def _id_of(node: Any) -> str:
    id_ = node.get("id") if isinstance(node, dict) else None
    return id_ if isinstance(id_, str) else ""


def locate(text: str, path: KeyPath) -> int | None:
    """Return the line, from 1, on which a key path stands in a TOML text; list items count from 0.

    A key that is not there gives the line of the nearest table around it (for the whole file 1); an empty text None.
    """
    from rpgres.toml.places import spot

    return spot(path, text)[0]
