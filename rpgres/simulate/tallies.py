"""Counts of simulated runs: how often each thing had each value. Whole numbers, so the order of adding is free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from rpgres.errors import UsageError, named
from rpgres.simulate.runners import Key, Value

MOST_VALUES = 100_000  # different values of one thing; more are no summary, and would fill the memory


class Tally(msgspec.Struct, frozen=True):
    """How often each counted thing had each value in the runs from 0 on.

    Attributes:
        counts: for each thing, by its name, how often each value came; every run has one.
    """

    runs: int
    counts: dict[str, dict[Value, int]]

    def plus(self, other: Tally) -> Tally:
        """Return the counts of both.

        Raises:
            UsageError: a thing has too many different values to be summarised.
        """
        counts = {}
        for name, own in self.counts.items():
            merged = dict(own)
            for value, count in other.counts[name].items():
                merged[value] = merged.get(value, 0) + count
            if len(merged) > MOST_VALUES:
                raise UsageError(
                    f"{name} has more than {MOST_VALUES:,} different values, which no summary shows; "
                    f"count something coarser with {named('by')}"
                )
            counts[name] = merged
        return Tally(self.runs + other.runs, counts)


def empty_tally(things: Iterable[str]) -> Tally:
    """Return the counts of no runs."""
    return Tally(0, {name: {} for name in things})


def tally_of(things: Sequence[str], keys: Mapping[Key, int]) -> Tally:
    """Return the counts of each thing, from how often each combination of values came.

    >>> tally_of(["outcome", "margin"], {("fail", -1): 2, ("fail", -2): 1}).counts
    {'outcome': {'fail': 3}, 'margin': {-1: 2, -2: 1}}
    """
    counts: dict[str, dict[Value, int]] = {name: {} for name in things}
    for key, count in keys.items():
        for name, value in zip(things, key, strict=True):
            its = counts[name]
            its[value] = its.get(value, 0) + count
    return Tally(sum(keys.values()), counts)
