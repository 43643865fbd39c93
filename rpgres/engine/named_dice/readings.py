"""The readings that odds need: formulas are reduced by known values, and the fewest readings are chosen.

Where a formula adds readings, such as successes less ones, their sum is one reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from rpgres.dice.groups import HIGHEST, LOWEST, Vector
from rpgres.engine.named_dice.values import Die, Known, at_number
from rpgres.errors import RuleError
from rpgres.rulesets.dice_plans import SLOT, DicePlan
from rpgres.rulesets.formulas import Const, Expr, Linear, Name, Op, Worker, linear, names, reduced, with_inner, worker

SUM = "+"  # before the number of a sum of readings
KINDS = {"sum": "add", "count": "add", "highest": "max", "lowest": "min"}
_NONE = {"add": 0, "max": LOWEST, "min": HIGHEST}  # what no dice contribute
Terms = tuple[tuple[int, int], ...]  # of a reading, the slots that are added up, each with its factor


class Needed(Struct, frozen=True):
    """What odds need of an action.

    Attributes:
        numbers: the formulas of the needed names, and of the numbers in them.
        workers: the same, ready to be computed.
        names: the readings, in the order of vectors.
        terms: of each reading, the slots of the plan that are added up, each with its factor.
        kinds: of each, how dice are joined: add, max or min.
        exact: the readings on which other dice depend; they have no caps.
    """

    numbers: dict[str, Expr]
    workers: dict[str, Worker]
    names: tuple[str, ...]
    terms: tuple[Terms, ...]
    kinds: tuple[str, ...]
    exact: frozenset[str]

    def contribution(self, known: Known, group: str, die: Die, places: Iterable[int]) -> Vector:
        """Return what a die contributes to the readings at some places."""
        found = []
        for place in places:
            kind = self.kinds[place]
            value = _NONE[kind]
            for slot, factor in self.terms[place]:
                part = known.read_of(slot, group, die)
                if part is not None:
                    value = value + factor * part if kind == "add" else part
            found.append(value)
        return tuple(found)

    def values(self, base: Mapping[str, Any], vector: Vector) -> Values:
        """Return the values of names after the roll."""
        known = Values(self.workers, base)
        known.update(zip(self.names, map(finite, vector), strict=True))
        return known


class Values(dict[str, Any]):
    """The values of names after the roll, computed at their first use."""

    def __init__(self, workers: Mapping[str, Worker], base: Mapping[str, Any]) -> None:
        super().__init__()
        self.workers, self.base = workers, base

    def __missing__(self, name: str) -> Any:
        try:
            found = self[name] = self.workers[name](self) if name in self.workers else self.base[name]
        except RuleError as error:
            raise at_number(error, name) from None
        return found


def finite(value: int) -> int:
    """Return what a reading is told as: 0 where there are no dice."""
    return 0 if value in (LOWEST, HIGHEST) else value


def needed(plan: DicePlan, base: Mapping[str, Any], asked: Iterable[str]) -> Needed:
    """Return what is needed for some names of an action.

    Args:
        base: the values of names before the roll.
    """
    asked, numbers = list(asked), dict[str, Expr]()
    of = evaluator(plan, base, numbers)
    known = {name: value for name in asked if isinstance(value := of(name), Const)}
    numbers = {**known, **numbers}
    plain = _Adding(plan, numbers, is_adding=False).all(asked)
    summed = _Adding(plan, numbers, is_adding=True).all(asked)
    return summed if len(summed.names) <= len(plain.names) else plain


def evaluator(plan: DicePlan, base: Mapping[str, Any], found: dict[str, Expr] | None = None) -> Callable[[str], Expr]:
    """Return a function that evaluates names as far as known values go: to a constant, or to the name itself.

    Args:
        found: collects the reduced formulas of the evaluated numbers.
    """
    numbers: dict[str, Expr] = {} if found is None else found

    def of(name: str) -> Expr:
        if name not in plan.numbers:
            return Const(base[name]) if name in base else Name(name)
        if name not in numbers:
            try:
                numbers[name] = reduced(plan.numbers[name].tree, of)
            except RuleError as error:
                raise at_number(error, name) from None
        its = numbers[name]
        return its if isinstance(its, Const) else Name(name)

    return of


class _Adding:
    """Rewrites formulas with sums of readings in place of their terms."""

    def __init__(self, plan: DicePlan, numbers: Mapping[str, Expr], *, is_adding: bool) -> None:
        self.plan, self.numbers, self.is_adding = plan, numbers, is_adding
        self.sums: dict[tuple[tuple[str, int], ...], str] = {}
        self.written: dict[str, Expr] = {}

    def all(self, asked: Iterable[str]) -> Needed:
        open_ = [*asked]
        used: dict[str, None] = {}
        while open_:
            name = open_.pop(0)
            if name in self.written or name not in self.numbers:
                continue
            expr = self.numbers[name]
            found = self.written[name] = self._summed(expr) if self.is_adding else expr
            for one in names(found):
                if one.startswith((SLOT, SUM)):
                    used[one] = None
                open_.append(one)
        # The formulas that are evaluated between rolls: those of groups, and the conditions of readings.
        of_groups = [one for group in self.plan.groups.values() for one in group.formulas]
        of_groups += [fits for fits in self.plan.fits if fits is not None]
        exact = {f"{SLOT}{slot}": None for slot in self.plan.slots_of(*of_groups)}
        used |= exact
        sums = {name: key for key, name in self.sums.items()}
        terms = tuple(tuple((_slot(slot), factor) for slot, factor in sums.get(name, ((name, 1),))) for name in used)
        workers = {name: worker(expr) for name, expr in self.written.items()}
        kinds = tuple(KINDS[self.plan.reads[its[0][0]].kind] for its in terms)
        return Needed(self.written, workers, tuple(used), terms, kinds, frozenset(exact))

    def _summed(self, expr: Expr) -> Expr:
        """Return a formula in which each sum of several readings, as large as can be, is one reading."""
        found = self._sum(linear(expr, self._known))
        return with_inner(expr, self._summed) if found is None else found

    def _known(self, name: str) -> Linear | None:
        if name.startswith(SLOT):
            return {name: 1} if KINDS[self.plan.reads[_slot(name)].kind] == "add" else None
        return linear(self.numbers[name], self._known) if name in self.numbers else None

    def _sum(self, found: Linear | None) -> Expr | None:
        """Return a sum of several readings as one; None where there are fewer than two."""
        if found is None:
            return None
        key = tuple(sorted((name, factor) for name, factor in found.items() if name and factor))
        if len(key) < 2:
            return None
        name = self.sums.setdefault(key, f"{SUM}{len(self.sums)}")
        number = found.get("", 0)
        return Op("+", (Name(name), Const(number))) if number else Name(name)


def _slot(name: str) -> int:
    return int(name.removeprefix(SLOT))
