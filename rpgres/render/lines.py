"""Lines of styled pieces, and how they fit a width: the only place where a line is broken.

Renderers give lines and blocks (such as tables) of any width, and mark where a broken line goes on with `HANG`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from rpgres.errors import AS_KEYS, Wording, readable
from rpgres.model.state import code_of
from rpgres.text.harmless import in_line

if TYPE_CHECKING:
    from rich.text import Text

# What a piece is, and how Rich shows it. The colours are those of Okabe and Ito, which colour-blind people can tell
# apart, where they can be read on dark and on light terminals; none says what is not also written.
BLUE, GREEN, RED, PURPLE, ORANGE = "#0087cd", "#009e73", "#d55e00", "#c2659c", "#b57c00"
STYLES = {
    "": "",
    "title": "bold",
    "good": f"bold {GREEN}",
    "bad": f"bold {RED}",
    "even": f"bold {PURPLE}",
    "number": "bold",
    "quiet": "dim",
    "plus": GREEN,
    "minus": RED,
    "name": BLUE,
    "command": BLUE,
    "dice": BLUE,
    "cards": "bold",
    "heat0": "dim",
    "heat1": BLUE,
    "heat2": BLUE,
    "heat3": ORANGE,
    "heat4": f"bold {RED}",
    "bar0": BLUE,
    "bar1": ORANGE,
    "bar2": GREEN,
    "bar3": PURPLE,
}
# The same on terminals of 16 colours: no green beside red, and no yellow, which a light terminal swallows.
STYLES_16 = {
    **STYLES,
    "good": "bold cyan",
    "bad": "bold red",
    "even": "bold magenta",
    "plus": "cyan",
    "minus": "red",
    **dict.fromkeys(("name", "command", "dice", "heat1", "heat2", "bar0"), "cyan"),
    "heat3": "magenta",
    "heat4": "bold red",
    "bar1": "magenta",
    "bar2": "blue",
    "bar3": "white",
}


class Piece(Struct, frozen=True):
    """A piece of a line; `style` is a key of `STYLES`.

    Dice (`dice`) are given as they are typed, `+0-+` or `6,5,4`, and shown as the reader wants them; so are cards
    (`cards`), by their codes with commas between them. A command is broken only where a shell reads on.

    Attributes:
        style: what it is.
        drawn: pieces in its place where pictures are wanted.
    """

    text: str
    style: str = ""
    drawn: tuple[Piece, ...] = ()


Line = tuple[Piece, ...]
INDENT = "  "
HANG = Piece("", "hang")  # where a line that is broken goes on
BULLET = Piece("* ", "bullet")  # not written where the text is to be heard, as it is read out as a star


class Look(Struct, frozen=True, kw_only=True):
    """How text is shown.

    Attributes:
        width: columns of a line; 0 for any number.
        is_terminal: whether a person reads it at a terminal.
        is_drawn: whether dice, boxes and bars are drawn.
        is_aloud: whether it is to be heard, which `--plain` says.
        wording: how the reader types what a text names.
        card_names: what cards are called, by their codes, where they are written in words.
    """

    width: int = 0
    is_terminal: bool = False
    is_drawn: bool = False
    dice_words: bool = False
    is_aloud: bool = False
    card_names: Mapping[str, str] = {}
    wording: Wording = AS_KEYS


PLAIN = Look()


class Block(Protocol):
    """Lines that are laid out together, such as a table."""

    def laid_out(self, look: Look) -> Iterable[Shown]:
        """Return the lines, and blocks among them."""


Shown = Line | Block


def line(*pieces: str | Piece) -> Line:
    """Return a line; texts without a style are plain."""
    return tuple(piece if isinstance(piece, Piece) else Piece(piece) for piece in pieces)


def section(heading: str, lines: Iterable[Shown]) -> list[Shown]:
    """Return lines under a heading, with an empty line above; nothing when there are none."""
    body = list(lines)
    return [line(), line(Piece(heading, "title")), *body] if body else []


class Pairs(Struct, frozen=True):
    """Names with texts beside them, or below them where there is little room."""

    rows: Sequence[tuple[str, str]]
    indent: str = INDENT
    widest: int = 24

    def laid_out(self, look: Look) -> Iterator[Line]:
        """Yield the lines; a name longer than the widest pushes its text."""
        width = min(self.widest, max((width_of(name) for name, _ in self.rows), default=0))
        is_narrow = 0 < look.width < len(self.indent) + width + 26
        for name, text in self.rows:
            if not text or is_narrow or (look.width and width_of(name) > width):
                yield line(self.indent, Piece(name, "name"))
                yield from [line(self.indent, INDENT * 2, HANG, text)] if text else ()
            else:
                yield line(self.indent, Piece(name.ljust(width), "name"), INDENT, HANG, text)


def pairs(rows: Sequence[tuple[str, str]], *, indent: str = INDENT) -> list[Shown]:
    """Return names with texts beside them; nothing where there are none."""
    return [Pairs(rows, indent)] if rows else []


def plain_text(lines: Iterable[Shown], look: Look = PLAIN) -> str:
    """Return lines as text, each ended, without trailing blanks and harmful characters."""
    return "".join(f"{text_of(row).rstrip()}\n" for row in laid_out(lines, look))


def styled(lines: Iterable[Shown], look: Look = PLAIN, *, has_few_colours: bool = False) -> Text:
    """Return lines as one text that Rich can print."""
    from rich.text import Text

    text, styles = Text(), STYLES_16 if has_few_colours else STYLES
    for pieces in laid_out(lines, look):
        for piece in pieces:
            text.append(_spaced(in_line(piece.text)), styles[piece.style] or None)
        text.append("\n")
    return text


def text_of(pieces: Line) -> str:
    """Return the text of a line, harmless."""
    return _spaced(in_line("".join(piece.text for piece in pieces)))


def _spaced(text: str) -> str:
    """Return a text with plain blanks: those that hold words together have done so by now."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> width_of("Mara"), width_of("火"), width_of("e" + chr(0x301))
    (4, 2, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


# ---------------------------------------------------------------------------------------------------------------------
# Fitting a width


def laid_out(lines: Iterable[Shown], look: Look) -> Iterator[Line]:
    """Yield lines as they are shown, none wider than the look allows, where no word is."""
    for one in lines:
        if not isinstance(one, tuple):
            yield from laid_out(one.laid_out(look), look)
            continue
        shown = [part for piece in one for part in _as_wanted(piece, look)]
        if look.width and sum(width_of(piece.text) for piece in shown) > look.width:
            yield from wrapped(tuple(shown), look.width)
        else:
            yield _cut([piece for piece in shown if piece != HANG])


def _as_wanted(piece: Piece, look: Look) -> Iterable[Piece]:
    """Return a piece as the reader wants it: dice, and what may be drawn."""
    if piece.style == "dice":
        return _dice(piece, look)
    if piece is BULLET:
        return () if look.is_aloud else (Piece("* "),)
    if piece.style == "cards" and look.card_names:
        named = [look.card_names.get(code_of(code), code) for code in piece.text.split(", ")]
        return (Piece(", ".join(named), "number"),)
    if piece.drawn and look.is_drawn:
        return piece.drawn
    text = readable(piece.text, look.wording)
    return (piece if text == piece.text else Piece(text, piece.style),)


def wrapped(whole: Line, width: int) -> Iterator[Line]:
    """Yield a line broken at blanks, so that no part is wider than `width`, where no word is.

    It goes on where `HANG` stands, else two columns behind its indentation.

    >>> [text_of(part) for part in wrapped(line("  one two three"), 10)]
    ['  one two', '    three']
    """
    text = "".join(piece.text for piece in whole)
    indent = len(text) - len(text.lstrip(" "))
    hang = _hang(whole, indent, width)
    row, used, blank = [Piece(" " * indent)], indent, 0
    for gap, word, is_command in _words(whole):
        length = sum(width_of(piece.text) for piece in word)
        room = width - 2 if is_command else width  # behind which stands that the line goes on
        if used + blank + length > room and used > hang:
            yield _cut((*row, Piece(" \\")) if is_command and row[-1].style == "command" else row)
            row, used, blank = [Piece(" " * hang)], hang, 0
        row += [*([Piece(" " * blank)] if blank else []), *word]
        used += blank + length
        blank = gap
    yield _cut(row)


def _hang(whole: Line, indent: int, width: int) -> int:
    """Return the column where a line goes on: not far to the right, where little of it would fit."""
    column = 0
    for piece in whole:
        if piece == HANG:
            return column if column <= width // 2 else min(indent + 4, width // 2)
        column += width_of(piece.text)
    return min(indent + 2, width // 2)


# Where a line may be broken: at blanks, but for those of a number with its sign or unit (`< 0.01 %`), and drawn dice.
_BREAKS = r"(?<![<>~]) +(?!%|\])|(?<=[<>~]) +(?![\d%\]])"
_WORD = r"""(?:[^\s'"]|'[^']*'|"(?:\\.|[^"\\])*")+"""
_SHELL_WORDS = rf"""(--[\w-]+ (?!-){_WORD}|{_WORD}|['"].*)( *)"""  # an option keeps its value beside it


def _words(whole: Line) -> Iterator[tuple[int, list[Piece], bool]]:
    """Yield the words of a line: the blanks behind each, the pieces that it is made of, whether it is of a command."""
    word: list[Piece] = []
    behind = 0
    for piece in whole:
        for part, gap in _parts(piece.text, is_command=piece.style == "command"):
            if part and behind and word:
                yield behind, word, word[-1].style == "command"
                word, behind = [], 0
            if part:
                word.append(Piece(part, piece.style))
            behind += gap if word else 0
    if word:
        yield 0, word, word[-1].style == "command"


def _parts(text: str, *, is_command: bool) -> Iterator[tuple[str, int]]:
    """Yield the words of a text, each with the number of blanks behind it."""
    if is_command:
        for found in re.finditer(_SHELL_WORDS, text):
            yield found[1], len(found[2])
        return
    start = 0
    for found in re.finditer(_BREAKS, text):
        yield text[start : found.start()], len(found[0])
        start = found.end()
    yield text[start:], 0


def _cut(row: Sequence[Piece]) -> Line:
    """Return a line without blanks at its end."""
    pieces = list(row)
    while pieces and not pieces[-1].text.strip(" "):
        pieces.pop()
    if pieces and pieces[-1].text.endswith(" "):
        pieces[-1] = Piece(pieces[-1].text.rstrip(" "), pieces[-1].style)
    return tuple(pieces)


# ---------------------------------------------------------------------------------------------------------------------
# Dice

_DRAWN = {"+": Piece("[+]", "plus"), "-": Piece("[-]", "minus"), "0": Piece("[ ]")}
_NAMED = {"+": "plus", "-": "minus", "0": "blank"}


def _dice(dice: Piece, look: Look) -> Iterator[Piece]:
    """Yield dice as faces, `[+][ ][-]` or `[6][5]`, in words, or as they are typed; a total has no faces."""
    if dice.text.startswith("="):
        yield Piece("a total", "name")
        return
    if not look.is_drawn and not look.dice_words:
        yield Piece(dice.text.replace(";", " ; "), "name")
        return
    for number, pool in enumerate(dice.text.split(";")):
        faces = list(pool) if pool and set(pool) <= _DRAWN.keys() else pool.split(",")
        if look.dice_words:
            told = ", ".join(_NAMED.get(face, face) for face in faces)
            yield Piece(f"; {told}" if number else told, "name")
            continue
        if number:
            yield Piece("  ")
        yield from (_DRAWN.get(face, Piece(f"[{face}]", "name")) for face in faces)
