"""Progress of long work at a terminal, and a Ctrl-C that ends it with the results so far."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from time import monotonic
from typing import Any, TypeVar

from rpgres.cli import INTERRUPTED
from rpgres.cli.output import READER, flush, warn
from rpgres.cli.streams import raw, screen_columns
from rpgres.stopping import STOP
from rpgres.text.harmless import in_line

Found = TypeVar("Found")

LATE = 0.5  # seconds before anything is shown: what is over by then needs nothing
EVERY = 0.1  # seconds between two lines
FAST = 2  # things a second from which on the rate is shown
BAR = 10  # columns of the bar
GRACE = 3.0  # seconds in which work may end that was asked to; then it is interrupted, whatever it does
LOWER_BOUND = "each chance is a lower bound, and the rest remains"
ESTIMATED = "nothing is known exactly yet; what is shown is estimated from games"
NOTHING = "interrupted: nothing is known yet"
HINT = " (Ctrl-C stops)"


class Bar:
    """A bar in characters that standard error can show."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(file=raw(sys.stderr), no_color=True, force_terminal=True, legacy_windows=False)

    def drawn(self, share: float) -> str:
        """Return the bar for a share from 0 to 1."""
        from rich.progress_bar import ProgressBar

        shown = self._console.render(ProgressBar(total=1, completed=share, width=BAR))
        return "".join([one.text for one in shown]).ljust(BAR)


class Progress:
    """A line on standard error, written anew as the work goes on.

    Args:
        label: what is done.
        done: how much was done before.
        is_shown: whether it is shown.
        units: what is counted where the work does not say how far it is.

    Attributes:
        is_stopped: whether the work was asked to stop; to be read when it is over.
    """

    def __init__(self, label: str, *, done: int = 0, is_shown: bool = False, units: str = "paths") -> None:
        self._label, self._before, self._is_shown, self._units = label, done, is_shown, units
        self._begun = self._drawn = monotonic()
        self._ticks = 0
        self._counted: tuple[int, float, float] | None = None  # how much, of how much, and since when
        self._is_there = self._is_held = False
        self._bar: Bar | None = None  # made when there is something to draw
        self._lock, self._over = threading.Lock(), threading.Event()
        self.is_stopped = False

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Show the line also while the work reports nothing, as in one long step."""
        if not self._is_shown:
            yield
            return
        watch = threading.Thread(target=self._watch, name="progress", daemon=True)
        watch.start()
        try:
            yield
        finally:
            self._over.set()
            watch.join()
            self.clear()

    def _watch(self) -> None:
        while not self._over.wait(LATE):
            if not self._is_held:
                self._draw(monotonic())

    def __call__(self, done: int, expected: float) -> None:
        """Show how much is done, and how much is expected in all."""
        now = monotonic()
        if self._counted is None or self._counted[:2] != (done, expected):
            self._counted = done, expected, now
        self._is_held = False
        self._draw(now)

    def tick(self) -> None:
        """Count a small piece of work."""
        self._ticks, self._is_held = self._ticks + 1, False
        self._draw(monotonic())

    def name(self, label: str) -> None:
        """Say what is done now, in place of what was done before."""
        self._label, self._ticks, self._is_held = label, 0, False
        self._draw(monotonic())

    def clear(self) -> None:
        """Take the line back, before something else is written; the next step of the work shows it again."""
        with self._lock:
            self._is_held = True
            if self._is_there:
                show_progress("")
                self._is_there = False

    def _draw(self, now: float) -> None:
        if not self._is_shown or now - self._begun < LATE or (now - self._drawn < EVERY and self._is_there):
            return
        with self._lock:
            if self._is_held:
                return
            self._drawn, self._is_there = now, True
            text, bar, columns = self._label + self._told(now), self._drawn_bar(), screen_columns()
            forms = (bar + text + HINT, bar + text, text + HINT)
            show_progress(next((form for form in forms if len(form) < columns), text))

    def _drawn_bar(self) -> str:
        """Return the bar before the text; nothing where it is not known how much there is to do."""
        if self._counted is None or not self._counted[0] < self._counted[1] < float("inf"):
            return ""
        if self._bar is None:
            self._bar = Bar()
        return self._bar.drawn(self._counted[0] / self._counted[1]) + " "

    def _told(self, now: float) -> str:
        if self._counted is None:
            return f": {self._ticks:,} {self._units}" if self._ticks else " ..."
        done, expected, since = self._counted
        if not done < expected < float("inf"):
            return f": {done:,}"
        told = f": {100 * done / expected:.0f} %, {done:,} of {expected:,.0f}"
        if done <= self._before or since <= self._begun:
            return told
        rate = (done - self._before) / (since - self._begun)
        left = (expected - done) / rate - (now - since)  # as fast as so far
        told += f", {rate:,.0f}/s" if rate >= FAST else ""
        return told + (f", {_duration(left)} left" if left > 0 else "")


@contextmanager
def progress(
    label: str, *, done: int = 0, is_silent: bool = False, stops: bool = True, units: str = "paths"
) -> Iterator[Progress]:
    """Give what shows how far something is; Ctrl-C asks it to stop, a second one interrupts it.

    Args:
        done: how much was done before.
        is_silent: whether nothing is shown; nothing ever is to a screen reader, which would read it again and again.
        stops: whether the work asks if it has to stop; otherwise Ctrl-C interrupts it at once.
        units: what is counted where the work does not say how far it is.
    """
    is_able = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    is_shown = is_able and not (is_silent or READER.is_plain)
    shown = Progress(label, done=done, is_shown=is_shown, units=units)
    before, STOP.watch = STOP.watch, shown.tick if is_shown else None
    try:
        with shown.drawn(), _stopping() if stops else nullcontext():
            yield shown
    finally:
        shown.is_stopped, STOP.is_asked, STOP.watch = STOP.is_asked, False, before


@contextmanager
def _stopping() -> Iterator[None]:
    """Have Ctrl-C, and a signal to end, ask the work to stop; one that is ignored, as by jobs of a script, stays so."""
    STOP.is_asked = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timer: threading.Timer | None = None
    here = os.getpid()

    def ask(number: int, frame: Any) -> None:
        nonlocal timer
        if os.getpid() != here:  # a process that was made of this one ends as it is told
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        if STOP.is_asked:
            raise KeyboardInterrupt
        STOP.is_asked = True
        timer = threading.Timer(GRACE, _interrupt, args=(threading.get_ident(), signal.Signals(number)))
        timer.daemon = True
        timer.start()

    meant = {signal.SIGINT: signal.getsignal(signal.SIGINT) not in (None, signal.SIG_IGN)}
    meant[signal.SIGTERM] = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    before = {number: signal.signal(number, ask) for number, is_meant in meant.items() if is_meant}
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(main: int, number: signal.Signals) -> None:
    """Interrupt the main thread again, from another one, by the signal that came before."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)  # unlike the other way it wakes who sleeps
    else:
        import _thread

        _thread.interrupt_main(number)


def one_by_one(label: str, names: Sequence[str], do: Callable[[str], Found]) -> list[Found]:
    """Return the result of each in turn, showing progress; after a Ctrl-C, of those that are done."""
    found = list[Found]()
    with progress(label) as show, suppress(KeyboardInterrupt):
        for number, name in enumerate(names):
            show.name(f"{label} {name}")
            show(number, len(names))
            found.append(do(name))
            if STOP.is_asked:
                break
    return found


def interrupted(known: str) -> int:
    """Say on standard error that the work was interrupted; return the exit code."""
    warn(f"interrupted: {known}")
    return INTERRUPTED


def show_progress(text: str) -> None:
    """Write a text in place of the line on standard error; an empty one takes it back."""
    # Consoles of Windows may know no escape sequences.
    cleared = f"\r{' ' * (screen_columns() - 1)}\r" if sys.platform == "win32" else "\r\x1b[K"
    flush()
    with suppress(OSError, ValueError):
        raw(sys.stderr).write(cleared + in_line(text)[: screen_columns() - 1])
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> _duration(4.2), _duration(75), _duration(7380)
    ('5 s', '1:15', '2:03 h')
    """
    whole = int(seconds) + 1 if seconds % 1 else int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"
