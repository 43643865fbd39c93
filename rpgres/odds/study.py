"""A study: a subject whose odds are evaluated in several cases, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec

from rpgres.errors import is_interrupt
from rpgres.model.state import EMPTY
from rpgres.odds.subjects import Limits, Measured, Subject, measure, subject_fields
from rpgres.stopping import STOP

NEGLIGIBLE = 1e-9  # what may be left open without a difference being left out: something may go on for ever
LEAST = 0.001  # seconds that a case may take where no time is left

Progress = Callable[[int, int], None]  # is told how many of how many are measured


class Study(msgspec.Struct, frozen=True):
    """What is evaluated in several cases, and how.

    Attributes:
        subject: what is asked about.
        seconds: a limit of time for all cases together; None for none.
        progress: is told how many of how many cases are done; None for nobody.
        told: further fields of the record.
        others: for comparisons in which the subject of a case is another one: that, by the name of the case.
    """

    subject: Subject
    seconds: float | None = None
    progress: Progress | None = None
    told: Mapping[str, Any] = EMPTY
    others: Mapping[str, Subject] = EMPTY

    def fields(self, *, complete: bool) -> dict[str, Any]:
        """Return the fields of a record that every study has.

        Args:
            complete: whether every case was evaluated.
        """
        return {**subject_fields(self.subject), **self.told, "complete": complete}

    def limits(self, number: int, cases: int, end: float) -> Limits:
        """Return what a case may cost, before which `progress` is told: of the time that is left an equal share.

        Args:
            number: which one it is, from 0.
            cases: how many there are.
            end: by when all have to be done, by the monotonic clock.
        """
        if self.progress is not None:
            self.progress(number, cases)
        left = max(LEAST, end - monotonic()) / (cases - number) if self.seconds is not None else None
        return Limits(left, cases)

    def measured(self, subjects: Sequence[Subject]) -> Iterator[Measured]:
        """Yield the distribution of each case; an interrupt ends it early, but not before the first is known."""
        end = monotonic() + (self.seconds or 0.0)
        for number, subject in enumerate(subjects):
            limits = self.limits(number, len(subjects), end)
            try:
                found = measure(subject, limits)
            except KeyboardInterrupt as error:
                if not number or not (STOP.is_asked or is_interrupt(error)):
                    raise
                return
            is_stopped = found.is_interrupted or STOP.is_asked
            if is_stopped and number:
                return
            yield found
            if is_stopped:
                return
