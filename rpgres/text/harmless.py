"""Text that may come from anywhere, made harmless for wherever it goes: a terminal or a pipe, a line, a shell, JSON.

Harmful are control characters (C0, DEL, C1), what turns the direction of text round (bidirectional marks, overrides and
isolates), separators that only look like the end of a line, invisible characters, and halves of surrogate pairs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

# Joiners (U+200C, U+200D) are invisible too, but Persian and emoji are made with them.
_HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)


@lru_cache(maxsize=2)
def _pattern(more: str) -> re.Pattern[str]:
    return re.compile(f"[{_HARMFUL}{more}]")


def harmless(text: str) -> str:
    r"""Return a text of any number of lines in which every harmful character is written as its escape, such as `\x1b`.

    Line ends and tabs stay as they are.
    """
    if all(map(str.isprintable, text.split("\n"))):
        return text
    return _pattern("").sub(lambda found: ascii(found[0])[1:-1], text)


def in_line(text: str) -> str:
    """Return a text as a part of one line: a blank for every harmful character, line end and tab."""
    return text if text.isprintable() else _pattern("\n\t").sub(" ", text)


def is_line(text: str) -> bool:
    """Tell whether a text is a part of a line as it is."""
    return text.isprintable() or not _pattern("\n\t").search(text)


def to_json(record: Any, *, indent: int = 0) -> bytes:
    r"""Return a record as JSON in which every harmful character is escaped, as JSON does it (`\u202e`).

    What is no character at all, half a surrogate pair, is U+FFFD: many readers refuse it.

    Args:
        indent: by how many columns what is inside is moved in; 0 for one line.
    """
    try:
        encoded = msgspec.json.encode(record)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_of_characters(msgspec.to_builtins(record)))
    if indent:
        encoded = msgspec.json.format(encoded, indent=indent)
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return _pattern("").sub(lambda found: _escape(found[0]), encoded.decode()).encode()


def _escape(char: str) -> str:
    halves = char.encode("utf-16-be")
    return "".join(f"\\u{halves[at]:02x}{halves[at + 1]:02x}" for at in range(0, len(halves), 2))


def _of_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_of_characters(key): _of_characters(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_of_characters(inner) for inner in value]
    return value
