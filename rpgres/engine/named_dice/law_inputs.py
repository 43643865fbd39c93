"""What the law of an action with named dice depends on: its plan, reduced by the values known before the roll."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rpgres.engine.named_dice.readings import evaluator
from rpgres.engine.named_dice.values import Later, at_number
from rpgres.errors import RuleError
from rpgres.rulesets.dice_plans import SLOT, DicePlan, Formula, GroupPlan
from rpgres.rulesets.formulas import OF_A_DIE, Const, Expr, Name, Read, names, reduced, worker
from rpgres.rulesets.tree import reached

UNREAD = Read("sum", ())  # in the place of a reading that is not needed


class GroupInputs(Struct, frozen=True):
    """The dice of a group; the fields are those of `GroupPlan`, with reduced trees in place of formulas."""

    name: str
    template: str
    pieces: tuple[str | Expr, ...]
    worth: Expr | None
    again: Expr | None

    @property
    def trees(self) -> tuple[Expr, ...]:
        """Its formulas."""
        inside = tuple(piece for piece in self.pieces if not isinstance(piece, str))
        return (*inside, *(one for one in (self.worth, self.again) if one is not None))

    def plan(self) -> GroupPlan:
        """Return the plan of these dice."""
        pieces = tuple(piece if isinstance(piece, str) else _formula(piece) for piece in self.pieces)
        worth, again = (None if tree is None else _formula(tree) for tree in (self.worth, self.again))
        return GroupPlan(self.name, self.template, pieces, worth, again)


class LawInputs(Struct, frozen=True):
    """All that a law depends on: a law is computed from these alone, so that equal ones have the same.

    Attributes:
        asked: the names whose law it is.
        numbers: the reduced formulas of these, and of the numbers in them.
        groups: the needed dice, in an order in which each needs only those before it.
        reads: what is read off them, by slot; `UNREAD` where it is not needed.
    """

    asked: tuple[str, ...]
    numbers: tuple[tuple[str, Expr], ...]
    groups: tuple[GroupInputs, ...]
    reads: tuple[Read, ...]

    def plan(self) -> DicePlan:
        """Return the plan of what is needed."""
        groups = {its.name: its.plan() for its in self.groups}
        fits = tuple(None if read.of is None else _formula(read.of) for read in self.reads)
        numbers = {name: _formula(tree) for name, tree in self.numbers}
        return DicePlan(groups, {}, self.reads, fits, numbers, stages=tuple(groups))


def _formula(tree: Expr) -> Formula:
    return Formula((), tree, tuple(names(tree)), worker(tree))


def law_inputs(plan: DicePlan, base: Mapping[str, Any], asked: tuple[str, ...]) -> LawInputs:
    """Return what the law of some names depends on, of an action without questions.

    Args:
        base: the values of names before the roll.
    """
    numbers: dict[str, Expr] = {}
    of = evaluator(plan, base, numbers)
    for name in asked:
        if isinstance(value := of(name), Const):
            numbers.setdefault(name, value)
    groups: dict[str, GroupInputs] = {}
    reads: dict[int, Read] = {}

    def inner(name: str) -> Iterable[str]:
        if not name.startswith(SLOT):
            return names(numbers[name]) if name in numbers else ()
        slot = int(name.removeprefix(SLOT))
        fits = plan.fits[slot]
        read = reads[slot] = replace(plan.reads[slot], of=None if fits is None else _of_die(fits.tree, of))
        for group in read.groups:
            if group not in groups:
                groups[group] = _group_inputs(plan.groups[group], base, of)
        trees = [tree for group in read.groups for tree in groups[group].trees]
        return [one for tree in (*trees, *((read.of,) if read.of is not None else ())) for one in names(tree)]

    used = {*asked, *reached(asked, inner)}
    return LawInputs(
        asked,
        tuple((name, tree) for name, tree in numbers.items() if name in used),
        tuple(groups[name] for name in plan.stages if name in groups),
        tuple(reads.get(slot, UNREAD) for slot in range(len(plan.reads))),
    )


def _group_inputs(group: GroupPlan, base: Mapping[str, Any], of: Callable[[str], Expr]) -> GroupInputs:
    def piece(formula: Formula) -> Expr:
        typed = base.get(f"dice:{formula.tree.name}") if isinstance(formula.tree, Name) else None
        return reduced(formula.tree, of) if typed is None or isinstance(typed, Later) else Const(typed)

    try:
        pieces = tuple(one if isinstance(one, str) else piece(one) for one in group.pieces)
    except RuleError as error:
        raise at_number(error, f"dice {group.name}") from None
    worth, again = (None if one is None else _of_die(one.tree, of) for one in (group.worth, group.again))
    return GroupInputs(group.name, group.template, pieces, worth, again)


def _of_die(tree: Expr, of: Callable[[str], Expr]) -> Expr:
    """Return a reduced formula of each die, whose names (`face`) hide those of abilities."""
    return reduced(tree, lambda name: Name(name) if name in OF_A_DIE else of(name))
