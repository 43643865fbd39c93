"""One value of a TOML text changed, and everything else left as it is: comments, order, blank lines, line ends."""

from __future__ import annotations

import copy
from typing import Any

import tomli

from rpgres.errors import FileError
from rpgres.toml.diagnostics import key_text
from rpgres.toml.places import Entry, entries
from rpgres.toml.reading import Source, parse

Path = tuple[str, ...]


def set_value(source: Source, path: Path, value: Any) -> str:
    """Return the text with a value set, in the place where its key stands or else where it belongs.

    Args:
        value: a text, a boolean, a number, or a list or a table of such.

    Raises:
        FileError: the text is not TOML, or written so that this cannot change it.
    """
    data = copy.deepcopy(parse(source))
    table = data
    for part in path[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise FileError(f"{source.path}: {part} is not a table; remove it first", file=source.path)
    table[path[-1]] = value
    return _checked(source, path, _with(source.text, path, value, data), data)


def unset_value(source: Source, path: Path) -> str:
    """Return the text without a key, and without the comment behind it on its line.

    Raises:
        KeyError: the text does not have the key.
        FileError: the text is not TOML, or written so that this cannot change it.
    """
    data = copy.deepcopy(parse(source))
    table = data
    for part in path[:-1]:
        table = table[part]
    del table[path[-1]]
    return _checked(source, path, _without(source.text, path, data), data)


def _checked(source: Source, path: Path, text: str, data: dict[str, Any]) -> str:
    """Return the changed text if it says exactly what it should."""
    try:
        if tomli.loads(text) == data:
            return text
    except ValueError:
        pass
    message = f"{source.path}: cannot change {key_text(path)} in the way this file is written; edit it by hand"
    raise FileError(message, file=source.path)


def _with(text: str, path: Path, value: Any, data: dict[str, Any]) -> str:
    found, offsets = entries(text)
    inline = _inline_above(path, found)
    if inline is not None:
        path, value = inline, _at(data, inline)
    if path in found:
        entry = found[path]
        return text[: entry.value] + toml_text(value) + text[_end(text, entry) :]
    line_end = "\r\n" if "\r\n" in text else "\n"
    table = path[:-1]
    header = offsets.get(table) if table else None
    if header is not None and text.startswith("[", header):
        return _after(text, _last_of(text, header, found), f"{key_text(path[-1:])} = {toml_text(value)}", line_end)
    if table and header is None:
        lead = line_end if text.strip() else ""
        body = text if not text or text.endswith("\n") else text + line_end
        return f"{body}{lead}[{key_text(table)}]{line_end}{key_text(path[-1:])} = {toml_text(value)}{line_end}"
    return _at_root(text, f"{key_text(path)} = {toml_text(value)}", found, offsets, line_end)


def _at_root(text: str, statement: str, found: dict[Any, Entry], offsets: dict[Any, int], line_end: str) -> str:
    """Return the text with a statement behind the last one that stands in no table."""
    headers = [offset for path, offset in offsets.items() if path not in found and text.startswith("[", offset)]
    first = min(headers, default=len(text))
    ends = [_end(text, entry) for entry in found.values() if entry.start < first]
    if ends:
        return _after(text, max(ends), statement, line_end)
    if first == len(text):
        return _after(text, first, statement, line_end) if text.strip() else f"{text}{statement}{line_end}"
    start = first
    while start > 0:  # the comment right above a table is about the table
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    start = first if start == 0 else start
    return f"{text[:start]}{statement}{line_end}{line_end}{text[start:]}"


def _without(text: str, path: Path, data: dict[str, Any]) -> str:
    found, offsets = entries(text)
    inline = _inline_above(path, found)
    if inline is not None:
        entry = found[inline]
        return text[: entry.value] + toml_text(_at(data, inline)) + text[_end(text, entry) :]
    inside = [found[path]] if path in found else [entry for key, entry in found.items() if key[: len(path)] == path]
    lines = [(text.rfind("\n", 0, entry.start) + 1, _line_end(text, _end(text, entry))) for entry in inside]
    header = offsets.get(path)
    if header is not None and text.startswith("[", header):  # a table: its header, and all that stands in it
        lines.append((text.rfind("\n", 0, header) + 1, _line_end(text, header)))
    for start, end in sorted(set(lines), reverse=True):
        text = text[:start] + text[end:]
    return text


def _inline_above(path: Path, found: dict[Any, Entry]) -> Path | None:
    """Return the path of the table in `{ }` in which a key stands or would stand; None for no such."""
    return next((path[:length] for length in range(1, len(path)) if path[:length] in found), None)


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _last_of(text: str, header: int, found: dict[Any, Entry]) -> int:
    """Return the end of the last entry below a header, or that of the header where there is none."""
    following = text.find("\n[", header)
    below = [
        _end(text, one) for one in found.values() if header < one.start and (following < 0 or one.start < following)
    ]
    return max(below, default=_line_end(text, header) - 1)


def _after(text: str, at: int, statement: str, line_end: str) -> str:
    end = _line_end(text, at)
    before = text[:end] if text[:end].endswith("\n") else text[:end] + line_end
    return f"{before}{statement}{line_end}{text[end:]}"


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _end(text: str, entry: Entry) -> int:
    return entry.value + len(text[entry.value : entry.end].rstrip())


def toml_text(value: Any) -> str:
    """Return a value as it is written in one line of TOML."""
    if isinstance(value, dict):
        inner = ", ".join(f"{key_text((key,))} = {toml_text(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    import tomli_w

    return tomli_w.dumps({"value": value}).partition(" = ")[2].rstrip("\n")


def comment(text: str) -> str:
    """Return a text as a comment of one line of TOML.

    >>> comment("one\\ntwo")
    '# one two'
    """
    return " ".join(["#", *"".join(one if one.isprintable() else " " for one in text).split()])
