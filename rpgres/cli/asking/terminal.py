"""Whether a person can be asked, what reads their lines, and commands typed in place of an answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rpgres.cli import streams
from rpgres.errors import UsageError, named
from rpgres.text.harmless import harmless

Choices = Sequence[tuple[str, str]]  # what may be typed as an answer, and what it means


if TYPE_CHECKING:
    from typing import Protocol

    class Listener(Protocol):
        """Marks an interactive session, as in `rpgres play`."""

        def read(self, sign: str, choices: Choices) -> str:
            """Return a line behind a sign, offering choices."""

        def carry_out(self, typed: str) -> bool | None:
            """Carry out a line typed at a question, and tell whether the table has changed; None for no command."""

        def puts_next(self) -> bool:
            """Tell whether the decision that waits now is put to the person next, with what led to it."""


_is_listening = False  # whether the session is interactive, whatever the input is
_listener: Listener | None = None
_choices: Choices = ()  # of the question that is being answered


@contextmanager
def listening(listener: Listener | None = None) -> Iterator[None]:
    """Have questions put to whatever the input is, a pipe included.

    Args:
        listener: reads the lines; as the system does by default.
    """
    global _is_listening, _listener
    before, _is_listening, _listener = (_is_listening, _listener), True, listener
    try:
        yield
    finally:
        _is_listening, _listener = before


def is_listening() -> bool:
    """Tell whether the session is interactive, as in `rpgres play`."""
    return _is_listening


def carry_out(typed: str) -> bool | None:
    """Carry out a line typed at a question, and tell whether the table has changed; None where it is no command."""
    return _listener.carry_out(typed) if _listener is not None else None


def puts_next() -> bool:
    """Tell whether the decision that waits now is put to the person next, with what led to it."""
    return _listener is not None and _listener.puts_next()


@contextmanager
def offering(choices: Choices) -> Iterator[None]:
    """Have whatever reads a line offer these choices."""
    global _choices
    before, _choices = _choices, choices
    try:
        yield
    finally:
        _choices = before


def can_prompt() -> bool:
    """Tell whether a person can be asked: both input and output are a terminal, or the session is interactive."""
    return _is_listening or streams.has_person()


def asks_dice(whom: str | None, *, as_json: bool = False) -> bool:
    """Tell whether a person is asked for results of real dice, as `--real-dice` says.

    Raises:
        UsageError: it says so, and no person can be asked.
    """
    if whom in (None, "", "seeded", "off"):
        return False
    if as_json or not can_prompt():
        why = "with --json" if as_json else "without a terminal"
        raise UsageError(f"{named('dice')} {whom}: no person can be asked {why}; use {named('given')} LABEL=RESULT")
    return True


def ask(sign: str) -> str:
    """Return a line that a person types behind a sign that one is awaited.

    Raises:
        UsageError: it is not in the encoding of the terminal, or of the pipe.
    """
    return read_line(sign) if _listener is None else _listener.read(harmless(sign), _choices)


def read_line(sign: str) -> str:
    """Return a line as the system reads it; see `ask`."""
    shown, sys.stdout = sys.stdout, streams.results()
    try:
        typed = input(harmless(sign))
    finally:
        sys.stdout = shown
    if any("\ud800" <= char <= "\udfff" for char in typed):
        encoding = (getattr(sys.stdin, "encoding", None) or "utf-8").upper()
        raise UsageError(f"this line is not valid {encoding}: {typed!a}; type it again")
    return typed
