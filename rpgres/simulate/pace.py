"""The size of batches, by measured speed, and the end of a simulation, checked at fixed numbers of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, inf

import msgspec

from rpgres.dice.seeds import LANES
from rpgres.odds.sampling import estimate
from rpgres.simulate.batches import Batch
from rpgres.simulate.runners import Value
from rpgres.simulate.tallies import Tally

BATCH_SECONDS = 0.25  # of a batch: long compared with handing it over, short for someone who pressed Ctrl-C
_FIRST = 64  # runs of the first batch, which measures the speed
_GROWTH = 8  # the maximum factor from one batch to the next
LARGEST = 1 << 20  # runs of a batch
FIRST_CHECK = 1000  # runs before the first check of the width of intervals
_CHECKS_GROW = 1.1


class Plan(msgspec.Struct, frozen=True):
    """When a simulation is complete.

    Attributes:
        runs: the number of runs; None where the width decides.
        width: the maximum width of the intervals of `things`, checked after fixed numbers of runs.
        things: the names of the things that have to be this narrow.
    """

    runs: int | None
    width: float = 0.0
    things: tuple[str, ...] = ()

    def is_complete(self, tally: Tally) -> bool:
        """Tell whether a simulation stops after these runs."""
        if self.runs is not None:
            return tally.runs >= self.runs
        return is_check(tally.runs) and self._widest(tally) <= self.width

    def expected(self, tally: Tally) -> float:
        """Return the expected number of runs in all; infinite while it cannot be estimated."""
        if self.runs is not None:
            return self.runs
        if tally.runs < LANES:
            return inf
        return max(tally.runs * (self._widest(tally) / self.width) ** 2, FIRST_CHECK)

    def _widest(self, tally: Tally) -> float:
        return max(widest(tally.counts[name], tally.runs) for name in self.things)

    def end_after(self, begin: int, size: int) -> int:
        """Return the end of a batch of about this size; no batch goes beyond a check or the last run."""
        end = begin + size
        if size > LANES:
            end -= end % LANES  # runs that share a hash stay together
        return min(end, next_check(begin) if self.runs is None else self.runs)


def widest(counts: Mapping[Value, int], runs: int) -> float:
    """Return the width of the widest interval (95 %) among the shares of values."""
    widths = (found.high - found.low for count in counts.values() for found in (estimate(count, runs),))
    return max(widths, default=1.0)


def checks() -> Iterator[int]:
    """Yield the numbers of runs after which the width of intervals is looked at.

    >>> from itertools import islice
    >>> list(islice(checks(), 4))
    [1000, 1104, 1216, 1344]
    """
    runs = FIRST_CHECK
    while True:
        yield runs
        runs = ceil(runs * _CHECKS_GROW / LANES) * LANES


def is_check(runs: int) -> bool:
    """Tell whether the width of intervals is looked at after so many runs."""
    return runs > 0 and next_check(runs - 1) == runs


def next_check(runs: int) -> int:
    """Return the first number of runs above this one after which the width is looked at."""
    return next(check for check in checks() if check > runs)


class Pace:
    """How many runs a worker plays in a second, as measured by its batches.

    Attributes:
        rate: runs per second of one worker; 0 before the first batch.
        size: runs of the next batch.
    """

    def __init__(self) -> None:
        self.rate = 0.0
        self.size = _FIRST

    def take(self, batch: Batch) -> None:
        """Update the speed by a finished batch."""
        runs = batch.end - batch.begin
        self.rate = runs / max(batch.seconds, 1e-9)
        wanted = int(self.rate * BATCH_SECONDS)
        self.size = max(1, min(wanted, self.size * _GROWTH, LARGEST))
