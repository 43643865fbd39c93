"""A progress bar on standard error for what takes longer than a moment, where a person sees it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rpgres.cli.output import flush, raw

LATE = 0.5  # seconds before a bar appears: what is over by then needs none

Report = Callable[[int, float], None]  # how many runs are done, and how many are expected in all


@contextmanager
def progress(label: str, *, done: int = 0, is_plain: bool = False) -> Iterator[Report]:
    """Give a function that shows how far something is, with its rate and the time left.

    Args:
        label: what is done.
        done: how much was done before.
        is_plain: whether nothing is drawn, which a screen reader would read aloud again and again.
    """
    stream = sys.stderr
    if is_plain or stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _done, _expected: None
        return
    begun, bar, task = monotonic(), None, None

    def show(now: int, expected: float) -> None:
        nonlocal bar, task
        seconds = monotonic() - begun
        if seconds < LATE:
            return
        if bar is None:
            flush()
            bar = _bar()
            bar.start()
            task = bar.add_task(label, total=None, rate="", left="")
        rate = (now - done) / seconds
        total = max(now, round(expected)) if expected < float("inf") else None
        left = _duration((total - now) / rate) if total is not None and rate else ""
        bar.update(task, completed=now, total=total, rate=f"{rate:,.0f}/s", left=left)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
        console=Console(file=raw(sys.stderr)),
        transient=True,
    )


def _duration(seconds: float) -> str:
    """Return how long something still takes, in words.

    >>> _duration(4.2), _duration(75), _duration(7380)
    ('5 s left', '1:15 left', '2:03 h left')
    """
    whole = int(seconds) + 1 if seconds % 1 else int(seconds)
    if whole < 60:
        return f"{whole} s left"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} left"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h left"
