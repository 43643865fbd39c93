"""Lines of styled pieces, and what becomes of them: plain text, or what Rich draws. What they say is told elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from rpgres.text.harmless import in_line

if TYPE_CHECKING:
    from rich.text import Text

# What a piece is, and how Rich shows it.
STYLES = {
    "": "",
    "title": "bold",
    "good": "bold green",
    "bad": "bold red",
    "even": "bold yellow",
    "number": "bold",
    "quiet": "dim",
    "plus": "green",
    "minus": "red",
    "name": "cyan",
    "heat0": "dim",
    "heat1": "blue",
    "heat2": "cyan",
    "heat3": "yellow",
    "heat4": "bold green",
}


class Piece(Struct, frozen=True):
    """A piece of a line; `style` is a key of `STYLES`."""

    text: str
    style: str = ""


Line = tuple[Piece, ...]
INDENT = "  "


def line(*pieces: str | Piece) -> Line:
    """Return a line; texts without a style are plain."""
    return tuple(piece if isinstance(piece, Piece) else Piece(piece) for piece in pieces)


def section(heading: str, lines: Iterable[Line]) -> list[Line]:
    """Return lines under a heading, with an empty line above; nothing when there are none."""
    body = list(lines)
    return [line(), line(Piece(heading, "title")), *body] if body else []


def plain_text(lines: Iterable[Line]) -> str:
    """Return lines as text, each ended, without trailing blanks and harmful characters."""
    return "".join(in_line("".join(piece.text for piece in line)).rstrip() + "\n" for line in lines)


def styled(lines: Iterable[Line]) -> Text:
    """Return lines as one text that Rich can print."""
    from rich.text import Text

    text = Text()
    for pieces in lines:
        for piece in pieces:
            text.append(in_line(piece.text), STYLES[piece.style] or None)
        text.append("\n")
    return text
