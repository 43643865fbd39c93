"""Parts of rules, worked out once for all turns in which they come up alike; each place of their chains only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from math import lcm
from typing import TYPE_CHECKING, Any, cast

import msgspec

from rpgres.engine.running import Chain, Run
from rpgres.engine.table import Table
from rpgres.odds.explorer import Budget, Merged, Runs, Suspended, WalkDealer, explore_within, summed
from rpgres.odds.watching import unwatched

if TYPE_CHECKING:
    from fractions import Fraction

NEGLIGIBLE = 10**30  # of what need not end, a remainder of less than one in so many is not followed
PART = " part"  # in the place of a label: no label begins with a blank


class Sums(msgspec.Struct):
    """Sums of whole weights by result and scale: their masses are exact, and added up only once."""

    by: dict[Hashable, dict[int, int]] = {}

    def add(self, result: Hashable, weight: int, scale: int) -> None:
        """Add the mass weight / scale to a result."""
        of = self.by.setdefault(result, {})
        of[scale] = of.get(scale, 0) + weight

    def take(self, other: Sums) -> None:
        """Add all that other sums have, and empty them."""
        for result, of in other.by.items():
            for scale, weight in of.items():
                self.add(result, weight, scale)
        other.by = {}

    def masses(self) -> dict[Hashable, Fraction]:
        """Return the probability of each result."""
        return {result: summed(of) for result, of in self.by.items()}


Ends = tuple[tuple[Any, ...], tuple[int, ...], int]  # results, their weights, and the total; 0 where all is open


class Kept(msgspec.Struct):
    """The results of parts of rules, by what they depend on (`Table.part`).

    Attributes:
        budget: what it may cost.
        found: by key.
        leaves: how many courses were run for it.
    """

    budget: Budget
    found: dict[Hashable, Ends] = {}
    leaves: int = 0

    def work_out(self, run: Run, play: Callable[[Run], Any]) -> Ends:
        """Return the results of a part, from every answer of chance; its chains are followed place by place."""
        state, chains = unwatched(run.state), _Chains(self)

        def once(dealer: WalkDealer, runs: Runs) -> Hashable:
            inner = Run(run.rules, state, dealer, run.players, run.asked, follow=chains.follow)
            found: Hashable = play(inner)
            runs.work += inner.work
            return found

        law, leaves = self.explored(once)
        self.leaves += leaves
        return law

    def explored(self, once: Callable[[WalkDealer, Runs], Hashable]) -> tuple[Ends, int]:
        """Return what runs come to, and how many they were."""
        runs, dealer = Runs(), WalkDealer()
        dealer.begin()
        with suppress(Suspended, Merged):
            first = once(dealer, runs)
            if not dealer.waiting and dealer.scale == 1:  # nothing was left to chance
                self.budget.spend(max(1, runs.work))
                return ((first,), (1,), 1), 1
        runs = Runs()
        odds = explore_within(self.budget.share(), lambda dealer: once(dealer, runs), WalkDealer(), runs)
        return ((), (), 0) if odds.open else _in_whole(odds.masses), odds.leaves


class _Chains:
    """The chains of steps in a part: each of their places is evaluated once, wherever it comes up."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._places: list[Any] = []
        self._numbers: dict[Hashable, int] = {}  # of places, by chain and key
        self._steps: dict[int, Ends] = {}  # the numbers of the next places; None at the end
        self._ends: dict[int, Ends] = {}  # the numbers of the last places

    def follow(self, table: Table, chain: Chain, place: Any) -> Any:
        """Return the last place of a chain, one of all that a place can lead to."""
        number = self._number(table, chain, place)
        if number not in self._ends:
            self._ends[number] = self._followed(table, chain, number)
        ends, weights, total = self._ends[number]
        dealer = cast("WalkDealer", table.run.dealer)
        if not total:
            dealer.withhold(dealer.weight, dealer.scale)
            raise Suspended(PART)
        return self._places[ends[dealer.chance(PART, range(len(ends)), weights, total) if len(ends) > 1 else 0]]

    def _number(self, table: Table, chain: Chain, place: Any) -> int:
        number = self._numbers.setdefault((chain, chain.key(table, place)), len(self._places))
        if number == len(self._places):
            self._places.append(place)
        return number

    def _followed(self, table: Table, chain: Chain, first: int) -> Ends:
        """Return the last places that one leads to, layer by layer."""
        layer, scale, ends = {first: 1}, 1, Sums()
        while layer:
            if self._kept.budget.is_spent or sum(layer.values()) * NEGLIGIBLE < scale:
                return (), (), 0
            self._kept.budget.spend(len(layer))
            after = dict[int, int]()
            steps = [(number, weight, self._step(table, chain, number)) for number, weight in layer.items()]
            if not all(total for _, _, (_, _, total) in steps):
                return (), (), 0
            factor = lcm(*{total for _, _, (_, _, total) in steps})
            scale *= factor
            for number, weight, (found, weights, total) in steps:
                for one, share in zip(found, weights, strict=True):
                    grown = weight * (factor // total) * share
                    if one is None:
                        ends.add(number, grown, scale)
                    else:
                        after[one] = after.get(one, 0) + grown
            layer = after
        return _in_whole(ends.masses())

    def _step(self, table: Table, chain: Chain, number: int) -> Ends:
        """Return the places behind one."""
        known = self._steps.get(number)
        if known is None:
            run, place = table.run, self._places[number]

            def once(dealer: WalkDealer, runs: Runs) -> int | None:
                inner = Table(Run(run.rules, run.state, dealer, run.players, run.asked), table.rules)
                after = chain.step(inner, place)
                runs.work += inner.run.work
                return None if after is None else self._number(inner, chain, after)

            known = self._steps[number] = self._kept.explored(once)[0]
        return known


def _in_whole(masses: Mapping[Any, Fraction]) -> Ends:
    """Return probabilities as whole weights."""
    total = lcm(*(mass.denominator for mass in masses.values()))
    return tuple(masses), tuple(int(mass * total) for mass in masses.values()), total
