"""A terminal's screen of 80 columns and 24 rows: what a person sees there, whatever is drawn anew."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from typing import Any
from weakref import finalize

import pyte

from tests.support.terminal import PATIENCE, end_process, start, until_idle

WIDTH, HEIGHT = 80, 24
UP, TAB, CLEAR = "\x1b[A", "\t", "\x0c"


class _Answering(pyte.HistoryScreen):
    """A screen that answers when it is asked where the cursor is."""

    fd = -1

    def write_process_input(self, data: str) -> None:
        os.write(self.fd, data.encode())


class Screen:
    """A command line that runs at a terminal, seen through its screen."""

    def __init__(self, args: Sequence[str], *, width: int = WIDTH, height: int = HEIGHT, **environment: str) -> None:
        self._fd, self._process = start(args, width, height, **{"COLUMNS": "", **environment})
        self._screen = _Answering(width, height, history=1000, ratio=1)
        self._screen.fd = self._fd
        self._stream = pyte.ByteStream(self._screen)
        finalize(self, end_process, self._process)
        self.typed = 0  # lines

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without empty rows at its end."""
        rows = [row.rstrip() for row in self._screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def text(self) -> str:
        """Everything that was shown: what has left the screen at its top, and the screen."""
        above = ["".join(row[column].data for column in range(self._screen.columns)) for row in self._past()]
        return "\n".join([*(row.rstrip() for row in above), *self.lines])

    def _past(self) -> list[Any]:
        return list(self._screen.history.top)

    @property
    def row(self) -> str:
        """The row in which the cursor is."""
        return self._screen.display[self._screen.cursor.y].rstrip()

    def until(self, text: str, *, where: str = "text") -> str:
        """Wait until a text is shown, and return everything that is.

        Args:
            text: what is waited for.
            where: `text` for anywhere, `row` for the row of the cursor.
        """
        limit = time.monotonic() + PATIENCE
        while text not in getattr(self, where):
            assert time.monotonic() < limit, f"waited in vain for {text!r}; there was:\n{self.text}"
            if not self._read(0.5) and self._process.poll() is not None:
                break
        assert text in getattr(self, where), f"it ended without {text!r}; there was:\n{self.text}"
        return self.text

    def settle(self) -> None:
        """Wait until nothing more is drawn."""
        until_idle(self._process)
        while self._read(0.02):
            until_idle(self._process)

    def type(self, keys: str) -> None:
        """Type something."""
        os.write(self._fd, keys.encode())

    def enter(self, line: str = "") -> str:
        """Type a line behind the sign that one is awaited, and return what is shown until the next is."""
        self.ready()
        shown = len(self.text)
        self.type(f"{line}\r")
        self.typed += 1
        self._read(PATIENCE)  # the line is left at once, however long what it says takes
        self.ready()
        self.settle()
        return self.text[max(0, shown - len(line) - 200) :]

    def ready(self) -> None:
        """Wait until a line is awaited, or the command has ended."""
        limit = time.monotonic() + PATIENCE
        # Behind `> `, or behind the question for real dice itself.
        while not (self.row == ">" or self.row.endswith("?")) and self._process.poll() is None:
            assert time.monotonic() < limit, f"no line was awaited; there was:\n{self.text}"
            self._read(0.5)

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_error: object) -> None:
        end_process(self._process)

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        while self._read(PATIENCE):
            pass
        os.close(self._fd)
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        """End it, whatever it waits for."""
        self._process.kill()
        self._process.wait(PATIENCE)
        os.close(self._fd)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], seconds)
        try:
            data = os.read(self._fd, 65536) if ready else b""
        except OSError:  # Linux says so when the other side is closed
            data = b""
        self._stream.feed(data)
        return bool(data)
