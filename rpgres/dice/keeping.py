"""Exact distributions of the highest, the lowest or the middle ones of several dice, by counting."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, repeat
from math import comb, gcd, prod
from operator import mul

from msgspec.structs import replace

from rpgres.dice.laws import Law, Work, unpack, width_of


class Keeping:
    """Counts in how many ways the values that stay add up to each sum.

    Values are visited from one end. A state keeps how many dice of each kind have been placed, and the packed
    distribution of those of them that stay. How many of a kind show a value is one step, so that equal dice are never
    told apart.
    """

    def __init__(
        self, kinds: Mapping[Law, int], kept: tuple[int, int], worth: Callable[[int], int] | None, work: Work
    ) -> None:
        self.laws, self.counts, self.work = list(kinds), list(kinds.values()), work
        n = sum(self.counts)
        low, high = kept
        # From the end with fewer dropped dice in front: these are counted one by one.
        self.is_from_top = n - high <= low
        self.first, self.last = (n - high, n - low) if self.is_from_top else (low, high)
        bounds = [law.above for law in self.laws if law.open]
        known = [one for one in bounds if one is not None]
        self.bound = min(known) if known and len(known) == len(bounds) else None
        self.values = sorted({value for law in self.laws for value in law.values})
        self.gains = [worth(value) for value in self.values] if worth else self.values
        self.sums = sorted(set(self.gains))
        self.step = gcd(*(gain - self.sums[0] for gain in self.sums)) or 1
        # A single value is not added to others, so that the gaps between values need no room.
        self.is_single = self.last - self.first == 1
        ranks = {gain: rank for rank, gain in enumerate(self.sums)}
        self.places = [ranks[one] if self.is_single else (one - self.sums[0]) // self.step for one in self.gains]
        self.span = (self.last - self.first) * max(self.places)
        self.total = prod(law.total**count for law, count in kinds.items())
        self.width = width_of(self.total)
        work.hold(self.span + 1)
        work.spend(300 * self.span)

    def follow(self) -> int:
        """Return the packed distribution of the sum."""
        tables = [dict(law.items()) for law in self.laws]
        steps = [
            (8 * self.width * place, [table.get(value, 0) for table in tables])
            for value, place in zip(self.values, self.places, strict=True)
        ]
        self.work.spend(self._cost(steps[::-1] if self.is_from_top else steps))
        opens = [law.open for law in self.laws]
        if any(opens):  # each at least the bound, in no known order with the values from there on
            steps.insert(bisect_left(self.values, self.bound) if self.bound is not None else 0, (-1, opens))
        below = [law.total - law.open * self.is_from_top for law in self.laws]
        placed = {(0,) * len(self.laws): 1}
        done = 0
        for shift, weights in reversed(steps) if self.is_from_top else steps:
            for kind, weight in enumerate(weights):
                if shift >= 0 and weight:
                    below[kind] -= weight
                    placed, closed = self._place(placed, kind, weight, below, shift)
                    done += closed
                elif self.is_from_top and weight:
                    placed = self._drop_open(placed, kind, weight)
                elif weight:
                    below[kind] -= weight
        return done

    def _cost(self, steps: Sequence[tuple[int, Sequence[int]]]) -> int:
        """Estimate the time of all steps: states, and how many dice may follow each, by how many dice are placed."""
        cost, states = 0, [1]
        seen, moves = set[int](), dict[int, tuple[int, int]]()
        for shift, weights in steps:
            size = self.width * max(self.places) if self.is_from_top else shift // 8
            for kind, weight in enumerate(weights):
                if not weight:
                    continue
                count = self.counts[kind]
                if kind not in moves:
                    moves[kind] = self._moves(states, count)
                dice = min(count, self.last) // 3  # in the mean
                factor = 4 + (comb(count - dice, dice) * weight**dice).bit_length() // 30
                cost += moves[kind][0] * 1_000 + moves[kind][1] * size * factor // 10
                if kind not in seen:
                    seen.add(kind)
                    moves.clear()
                    states = [sum(states[max(0, at - count) : at + 1]) for at in range(self.last)]
                cost += sum(states) * size * self.last * self.width // 400
        return cost * 3 // 4

    def _moves(self, states: Sequence[int], count: int) -> tuple[int, int]:
        """Return what follows such numbers of states when dice of a kind are placed, and how many dice stay in it."""
        following = kept = 0
        for placed, number in enumerate(states):
            most = min(count, self.last - 1 - placed)
            following += number * (most + 2)
            kept += number * (most + 2) * max(0, placed + most // 3 - self.first)
        return following, kept

    def _place(
        self, placed: dict[tuple[int, ...], int], kind: int, weight: int, below: list[int], shift: int
    ) -> tuple[dict[tuple[int, ...], int], int]:
        """Return the states after so many dice of a kind show a value, and what is settled by them."""
        first, last, rest = self.first, self.last, below[kind]
        most = min(self.counts[kind], last - 1)
        weights = list(accumulate(repeat(weight, most), mul, initial=1))
        rests = list(accumulate(repeat(rest, most), mul, initial=rest ** (self.counts[kind] - most)))[::-1]
        following: dict[tuple[int, ...], int] = {}
        done = 0
        for before, packed in placed.items():
            so_far, free = sum(before), self.counts[kind] - before[kind]
            most = min(free, last - so_far - 1)
            closing, chosen = (weight + rest) ** free, 1
            for dice in range(most + 1):
                ways = chosen * weights[dice]
                chosen = chosen * (free - dice) // (dice + 1)
                closing -= ways * rests[before[kind] + dice]
                after = (*before[:kind], before[kind] + dice, *before[kind + 1 :])
                kept = max(0, so_far + dice - max(first, so_far))
                following[after] = following.get(after, 0) + (packed * ways << shift * kept)
            if closing:
                # All cases in which the last die that stays is placed here: the rest may show what it likes.
                others = zip(below, self.counts, before, strict=True)
                closing *= prod(left ** (n - used) for at, (left, n, used) in enumerate(others) if at != kind)
                done += packed * closing << shift * (last - max(first, so_far))
        return following, done

    def _drop_open(self, placed: dict[tuple[int, ...], int], kind: int, weight: int) -> dict[tuple[int, ...], int]:
        """Return the states after so many dice of a kind are open, which are settled where all these are dropped."""
        following = dict(placed)
        for before, packed in placed.items():
            free = self.counts[kind] - before[kind]
            for dice in range(1, min(free, self.first - sum(before)) + 1):
                after = (*before[:kind], before[kind] + dice, *before[kind + 1 :])
                following[after] = following.get(after, 0) + packed * comb(free, dice) * weight**dice
        return following

    def law(self, packed: int) -> Law:
        """Return what was counted as a distribution."""
        kept = self.last - self.first
        if not self.is_single:
            return unpack(packed, kept * self.sums[0], self.step, self.span, self.width, self.total)
        ranked = unpack(packed, 0, 1, self.span, self.width, self.total)
        return replace(ranked, values=tuple(self.sums[rank] for rank in ranked.values))
