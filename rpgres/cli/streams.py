"""The streams of the process: made harmless, kept for results, recorded; and the width of the terminal."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from typing import Any, TextIO, cast

from msgspec import Struct, field

from rpgres.text.harmless import harmless

FALLBACK = "rpgres"  # the name of the error handler below

# What a terminal without Unicode gets instead.
_ASCII = {
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{FULL BLOCK}": "#",
    "\N{LEFT HALF BLOCK}": "-",
    "\N{LIGHT SHADE}": ".",
    "\N{MEDIUM SHADE}": ":",
    "\N{DARK SHADE}": "+",
    "\N{NO-BREAK SPACE}": " ",
}


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from unicodedata import normalize

    replaced = []
    for char in error.object[error.start : error.end]:
        plain = _ASCII.get(char)
        if plain is None:
            plain = normalize("NFKD", char).encode("ascii", "ignore").decode() or "?"
        replaced.append(plain)
    return "".join(replaced), error.end


codecs.register_error(FALLBACK, _in_ascii)


class _HarmlessStream:
    """A stream that makes harmless whatever is written to it, by rpgres, by Typer or by a ruleset's code."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        return self.stream.write(harmless(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def prepare_streams() -> None:
    """Have both output streams write nothing harmful, and in ASCII what their encoding lacks.

    What is typed that is no text comes in as lone surrogates, for `ask` to refuse.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=FALLBACK)
    if hasattr(sys.stdin, "reconfigure"):
        with suppress(ValueError):  # a reader that has read from it already keeps it as it is
            sys.stdin.reconfigure(errors="surrogateescape")
    sys.stdout, sys.stderr = _made_harmless(sys.stdout), _made_harmless(sys.stderr)


def _made_harmless(stream: TextIO) -> TextIO:
    is_ready = stream is None or isinstance(stream, _HarmlessStream)
    return stream if is_ready else cast("TextIO", _HarmlessStream(stream))


def raw(stream: TextIO) -> TextIO:
    """Return the stream itself, for what is made of our own: colours, and lines that are written anew."""
    return stream.stream if isinstance(stream, _HarmlessStream) else stream


_kept: TextIO | None = None  # where results go while `results_alone` holds


@contextmanager
def results_alone() -> Iterator[None]:
    """Keep standard output for results while code of others may run: what that prints goes to standard error."""
    global _kept
    before, _kept = _kept, results()
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout, _kept = _kept, before


def results() -> TextIO:
    """Return the stream that takes results."""
    return _kept if _kept is not None else sys.stdout


class Recording(Struct):
    """What a command says while `recorded` holds."""

    records: list[Any] = []
    text: StringIO = field(default_factory=StringIO)
    warnings: list[str] = []


_recording: Recording | None = None


@contextmanager
def recorded() -> Iterator[Recording]:
    """Keep what is said as values in place of writing it; what code of others prints goes to standard error."""
    global _kept, _recording
    recording, before = Recording(), (sys.stdout, _kept, _recording)
    sys.stdout, _kept, _recording = sys.stderr, recording.text, recording
    try:
        yield recording
    finally:
        sys.stdout, _kept, _recording = before


def recording_now() -> Recording | None:
    """Return what `recorded` keeps at the moment; None where everything is written."""
    return _recording


def is_terminal() -> bool:
    """Tell whether a person reads standard output."""
    return results() is not None and results().isatty()


def has_person() -> bool:
    """Tell whether a person reads standard output, and can type an answer."""
    return is_terminal() and sys.stdin is not None and sys.stdin.isatty()


PAGE = 80  # columns of prose, in a pipe
WIDEST = 100  # columns of prose on a terminal: longer lines are hard to read


def screen_columns() -> int:
    """Return how many columns the terminal has: `COLUMNS`, or what it says itself."""
    import shutil

    return max(20, shutil.get_terminal_size((PAGE, 24)).columns)


def columns(*, at_most: int) -> int:
    """Return how many columns a line of results has: of a terminal so many at most, elsewhere those of a page."""
    return min(screen_columns(), at_most) if is_terminal() else PAGE
