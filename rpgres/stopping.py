"""Whether a person wants long work to stop, and who is told how far it is.

Loops that take long ask `STOP.is_asked` between two pieces of work, and end with what they know by then. Only a command
line sets it, on Ctrl-C; a library call is interrupted as any Python code is.
"""

from __future__ import annotations

from collections.abc import Callable


class Stop:
    """What long work asks, and tells.

    Attributes:
        is_asked: whether it has to stop.
        watch: is called after each small piece of work; None where nobody looks.
    """

    __slots__ = ("is_asked", "watch")

    def __init__(self) -> None:
        self.is_asked = False
        self.watch: Callable[[], None] | None = None

    def tick(self) -> None:
        """Tell that a small piece of work is done."""
        if self.watch is not None:
            self.watch()


STOP = Stop()
