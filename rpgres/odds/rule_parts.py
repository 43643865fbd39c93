"""Parts of rules (`Table.part`): what one comes to is computed once, and looked up in all turns that play it alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from rpgres.engine.running import Chain, Run
from rpgres.engine.table import Table
from rpgres.odds.branching import BranchDealer, Fresh
from rpgres.odds.explorer import NEGLIGIBLE, Budget, Runs, Suspended, TapeDealer, WalkDealer, explore_within, summed
from rpgres.odds.watching import unwatched

if TYPE_CHECKING:
    from fractions import Fraction

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


class Weighted(NamedTuple):
    """Results with whole weights, of a total.

    Attributes:
        results: each once.
        total: the sum of the weights.
    """

    results: tuple[Any, ...]
    weights: tuple[int, ...]
    total: int

    @property
    def is_open(self) -> bool:
        """Whether the results are not known, as a budget did not suffice."""
        return not self.total


OPEN = Weighted((), (), 0)


class Kept(msgspec.Struct):
    """The results of parts of rules, by what they depend on (`Table.part`).

    Attributes:
        budget: what it may cost.
        found: by key.
    """

    budget: Budget
    found: dict[Hashable, Weighted] = {}
    leaves: int = 0

    def evaluate(self, run: Run, play: Callable[[Run], Any]) -> Weighted:
        """Return the results of a part over every answer of chance; its chains are followed place by place."""
        state, chains = unwatched(run.state), _Chains(self.budget)

        def once(dealer: WalkDealer, runs: Runs) -> Hashable:
            inner = Run(run.rules, state, dealer, run.players, run.asked, follow=chains.follow)
            result: Hashable = play(inner)
            runs.work += inner.work
            return result

        results, leaves = _explored(self.budget, once)
        self.leaves += leaves
        return results


class _Chains:
    """The chains of steps in a part: each of their places is evaluated once, wherever it comes up.

    Places are called by numbers, so that their keys are hashed only once.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._places: list[Any] = []
        self._numbers: dict[Hashable, int] = {}  # of places, by chain and key
        self._next: dict[int, Weighted] = {}  # by place: the numbers of the next places, or None where it is the last
        self._last: dict[int, Weighted] = {}  # by place: the numbers of the last places

    def follow(self, table: Table, chain: Chain, place: Any) -> Any:
        """Return one of all the last places that a place can lead to."""
        number = self._number_of(table, chain, place)
        if number not in self._last:
            self._last[number] = self._last_places(table, chain, number)
        last = self._last[number]
        dealer = table.run.dealer
        if last.is_open:
            if isinstance(dealer, WalkDealer):
                dealer.withhold(dealer.weight, dealer.scale)
            raise Suspended(PART)
        return self._places[drawn(cast("TapeDealer", dealer), last)]

    def _number_of(self, table: Table, chain: Chain, place: Any) -> int:
        number = self._numbers.setdefault((chain, chain.key(table, place)), len(self._places))
        if number == len(self._places):
            self._places.append(place)
        return number

    def _last_places(self, table: Table, chain: Chain, first: int) -> Weighted:
        """Return the last places that one leads to, going on from layer to layer."""
        layer, scale, last = {first: 1}, 1, Sums()
        while layer:
            if self._budget.is_spent or sum(layer.values()) * NEGLIGIBLE < scale:
                return OPEN
            self._budget.spend(len(layer))
            steps = [(number, weight, self._next_places(table, chain, number)) for number, weight in layer.items()]
            if any(after.is_open for _, _, after in steps):
                return OPEN
            factor = lcm(*{after.total for _, _, after in steps})
            scale *= factor
            next_layer = dict[int, int]()
            for number, weight, after in steps:
                for next_number, share in zip(after.results, after.weights, strict=True):
                    mass = weight * (factor // after.total) * share
                    if next_number is None:
                        last.add(number, mass, scale)
                    else:
                        next_layer[next_number] = next_layer.get(next_number, 0) + mass
            layer = next_layer
        return _in_whole(last.masses())

    def _next_places(self, table: Table, chain: Chain, number: int) -> Weighted:
        """Return the places that one step leads to from a place; None among them where it is the last."""
        known = self._next.get(number)
        if known is None:
            run, place = table.run, self._places[number]

            def once(dealer: WalkDealer, runs: Runs) -> int | None:
                inner = Table(Run(run.rules, run.state, dealer, run.players, run.asked), table.rules)
                after = chain.step(inner, place)
                runs.work += inner.run.work
                return None if after is None else self._number_of(inner, chain, after)

            known, _ = _explored(self._budget, once)
            self._next[number] = known
        return known


def drawn(dealer: TapeDealer, found: Weighted) -> Any:
    """Return one of the results: the dealer answers each in turn."""
    count = len(found.results)
    return found.results[dealer.chance(PART, range(count), found.weights, found.total) if count > 1 else 0]


def _explored(budget: Budget, once: Callable[[WalkDealer, Runs], Hashable]) -> tuple[Weighted, int]:
    """Return the results of something over every answer of chance, and how many runs that took."""
    found = _at_once(budget, once)
    if found is not None:
        return found
    runs = Runs()
    odds = explore_within(budget.share(), lambda dealer: once(dealer, runs), WalkDealer(), runs)
    return OPEN if odds.open else _in_whole(odds.masses), odds.leaves


def _at_once(budget: Budget, once: Callable[[Any, Runs], Hashable]) -> tuple[Weighted, int] | None:
    """Return the same of what asks chance at most once, as most steps do; None where it asks more."""
    runs, dealer = Runs(), BranchDealer()
    sums: dict[Hashable, int] = {}
    try:
        try:
            sums[once(dealer, runs)] = total = count = 1
        except Fresh as fresh:
            total, count = fresh.total, len(fresh.values)
            if sum(fresh.weights) != total:
                return None
            for value, weight in zip(fresh.values, fresh.weights, strict=True):
                dealer.load((None, (fresh.label, value)))
                result = once(dealer, runs)
                dealer.end()
                sums[result] = sums.get(result, 0) + weight
    except (Fresh, Suspended):
        return None
    budget.spend(max(count, runs.work), runs=count)
    common = gcd(total, *sums.values())
    weights = tuple([weight // common for weight in sums.values()])
    return Weighted(tuple(sums), weights, total // common), count


def _in_whole(masses: Mapping[Any, Fraction]) -> Weighted:
    """Return probabilities as whole weights."""
    total = lcm(*(mass.denominator for mass in masses.values()))
    return Weighted(tuple(masses), tuple(int(mass * total) for mass in masses.values()), total)
