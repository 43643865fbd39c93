"""A limit of time for work that code of others may never end, such as one request of a batch.

A thread watches the clock and interrupts the main one by a signal: a loop in Python, a long computation of rpgres and
(not on Windows) a wait for the system. Code that catches what interrupts it is interrupted again, and after `GRACE` the
whole process is ended, since a thread cannot be. What no thread can interrupt is one call into C that never returns, as
`sum(itertools.count())`: on Linux and macOS the system ends the process then, by a timer of the time it computes; on
Windows nothing does.
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from rpgres.errors import TimeIsUpError

T = TypeVar("T")

GRACE = 2.0  # seconds in which code may still end after it was interrupted
_AGAIN = 0.1  # seconds until it is interrupted again
# On Windows there is no alarm.
_SIGNAL: signal.Signals = getattr(signal, "SIGALRM", signal.SIGTERM)
if hasattr(signal, "SIGBREAK"):
    _SIGNAL = signal.SIGBREAK


class TimeLimit:
    """How long each piece of work may take.

    Args:
        seconds: the limit.
        give_up: is called, in another thread, before the process is ended because the work cannot be interrupted.
    """

    def __init__(self, seconds: float, give_up: Callable[[], None]) -> None:
        self._seconds = seconds
        self._give_up = give_up
        self._until: float | None = None
        self._is_over = False

    def within(self, work: Callable[[], T]) -> T | None:
        """Return what some work returns; None when it took too long, whatever it made of being interrupted."""
        self._is_over = False
        self._until = time.monotonic() + self._seconds
        try:
            found = work()
        except TimeIsUpError:
            found = None
        finally:
            self._until = None
        return None if self._is_over else found

    def _interrupt(self, _signal: int, frame: FrameType | None) -> None:
        # In `within` itself the work has not begun or is done.
        at_work = frame is None or frame.f_code is not TimeLimit.within.__code__
        if at_work and self._until is not None and time.monotonic() >= self._until:
            self._is_over = True
            raise TimeIsUpError

    def _watch(self, main: int, ended: threading.Event) -> None:
        wait = self._seconds
        while not ended.wait(wait):
            _let_compute(2 * (self._seconds + GRACE))
            until = self._until
            left = self._seconds if until is None else until - time.monotonic()
            wait = max(left, _AGAIN)
            if left < -GRACE:
                try:
                    self._give_up()
                finally:
                    os._exit(1)
            elif left <= 0 and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(main, _SIGNAL)  # unlike the other way it wakes who sleeps
            elif left <= 0:
                _thread.interrupt_main(_SIGNAL)


def _let_compute(seconds: float) -> None:
    """Have the system end the process once it has computed so long unless more is asked for."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


@contextmanager
def time_limit(seconds: float, *, give_up: Callable[[], None]) -> Iterator[TimeLimit]:
    """Give a limit of time for each piece of work that is done meanwhile; only in the main thread, elsewhere none.

    Args:
        give_up: is called, in another thread, before the process is ended because the work cannot be interrupted.
    """
    limit, ended = TimeLimit(seconds, give_up), threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield limit
        return
    before = signal.signal(_SIGNAL, limit._interrupt)
    args = threading.get_ident(), ended
    watch = threading.Thread(target=limit._watch, args=args, name="time limit", daemon=True)
    watch.start()
    _let_compute(2 * (seconds + GRACE))
    try:
        yield limit
    finally:
        ended.set()
        watch.join()  # or it might give the process a time to compute after this is over
        _let_compute(0)
        signal.signal(_SIGNAL, before)
