"""The command line at a terminal: a pseudo-terminal stands in for it."""

from __future__ import annotations

import os
import select
import subprocess
import time
from codecs import getincrementaldecoder
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from weakref import finalize

from tests.support.command_line import FIXED, PROGRAM

ENTER, END, INTERRUPT = "\n", "\x04", "\x03"
PATIENCE = 60.0  # seconds; only a test that fails waits so long, however much else the machine does


def start(
    args: Sequence[str], width: int, height: int, *, program: Sequence[str] = PROGRAM, **environment: str
) -> tuple[int, subprocess.Popen[bytes]]:
    """Start a command line at a terminal, and return our end of it with the process."""
    import fcntl
    import pty
    import struct
    import termios

    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    settings = {**os.environ, **FIXED, "TERM": "xterm-256color", **environment}
    process = subprocess.Popen(
        [*program, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={name: value for name, value in settings.items() if value},
        start_new_session=True,
        preexec_fn=_take_terminal,  # there are no threads here
    )
    os.close(theirs)
    return own, process


class Terminal:
    """A command line that runs at a terminal of 80 columns, or so many where `COLUMNS` is emptied."""

    def __init__(
        self, args: Sequence[str], *, columns: int = 80, program: Sequence[str] = PROGRAM, **environment: str
    ) -> None:
        self._fd, self._process = start(args, columns, 24, program=program, **environment)
        self.shown = ""
        self._decoder = getincrementaldecoder("utf-8")()
        finalize(self, end_process, self._process)

    def until(self, text: str) -> str:
        """Wait until the screen ends with a text, and return everything that was shown since the last time."""
        limit = time.monotonic() + PATIENCE
        while not self.shown.endswith(text):
            self._read(limit - time.monotonic())
            is_over = time.monotonic() > limit or self._process.poll() is not None
            assert not is_over or self.shown.endswith(text), f"waited in vain for {text!r}; there was: {self.shown!r}"
        found, self.shown = self.shown, ""
        return found

    def until_idle(self) -> None:
        """Wait until the command waits, for a line or for whatever else."""
        until_idle(self._process)

    def has_more(self) -> bool:
        """Wait until more is shown, or nothing more can be."""
        return self._read()

    def type(self, keys: str) -> None:
        """Type something."""
        os.write(self._fd, keys.encode())

    def interrupt(self) -> tuple[int, str]:
        """Type Ctrl-C, and again behind a further prompt, or should it have come before the line was read.

        What is shown is returned without the `^C` that the terminal echoes: one may be typed while the process ends.
        """
        while self._process.poll() is None:
            until_idle(self._process, seconds=0.3)  # or it works
            self.type(INTERRUPT)
            while self._read(5) and not self.shown.endswith("\n> "):
                pass
        code, shown = self.end()
        return code, shown.replace("^C", "")

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._process.kill()
        self._process.wait(PATIENCE)
        os.close(self._fd)

    def end(self) -> tuple[int, str]:
        """Wait for the end and return the exit code with what was shown last."""
        while self._read():
            pass
        os.close(self._fd)
        return self._process.wait(PATIENCE), self.shown

    def _read(self, seconds: float = PATIENCE) -> bool:
        ready, _, _ = select.select([self._fd], [], [], seconds)
        try:
            data = os.read(self._fd, 65536) if ready else b""
        except OSError:  # Linux says so when the other side is closed
            data = b""
        self.shown = (self.shown + self._decoder.decode(data)).replace("\r\n", "\n")  # which a reading may part
        return bool(data)


def until_idle(process: subprocess.Popen[bytes], *, seconds: float = PATIENCE) -> None:
    """Wait until a process has slept for a while in all its threads, or has ended, or so many seconds are over.

    Other work on the machine makes no process look idle: one that waits for a processor does not sleep.
    """
    limit, before = time.monotonic() + seconds, ""
    while process.poll() is None and time.monotonic() < limit:
        time.sleep(0.05)
        now = _sleep_of(process.pid)
        if now and now == before:
            return
        before = now


def _sleep_of(process: int) -> str:
    """Return what tells a sleep of a process from any other, by how often its threads began to wait; empty if awake."""
    tasks = Path(f"/proc/{process}/task")
    if not tasks.exists():  # a system that does not tell
        time.sleep(0.3)
        return "asleep"
    found = []
    for task in tasks.iterdir():
        with suppress(OSError):  # it has just ended
            status = dict(line.split(":\t", 1) for line in (task / "status").read_text("ascii").splitlines())
            if not status["State"].startswith(("S", "Z")):
                return ""
            found.append(f"{task.name} {status['voluntary_ctxt_switches']} {status['nonvoluntary_ctxt_switches']}")
    return "\n".join(sorted(found))


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process that a failed test has left running: what warns of it would fail another test."""
    if process.poll() is None:
        process.kill()
        process.wait(PATIENCE)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
