"""Equivalent dice: odds count them, and an option that picks dice picks by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rpgres.engine.named_dice.values import Die
from rpgres.rulesets.dice_plans import SLOT, TIMES
from rpgres.rulesets.formulas import OF_A_DIE

if TYPE_CHECKING:
    from rpgres.engine.named_dice.play import BoundAction


class Equivalence:
    """Which dice of a group no needed value distinguishes.

    Args:
        bound: the action.
        asked: the names whose values are needed.
    """

    def __init__(self, bound: BoundAction, asked: tuple[str, ...]) -> None:
        plan = bound.plan
        options = [option for ask in plan.asks.values() for option in ask.options.values()]
        if any(option.pick for option in options):
            asked = bound.names  # the options do not depend on which values are needed
        numbers = [plan.numbers[name] for name in asked if name in plan.numbers]
        groups = [one for group in plan.groups.values() for one in group.formulas]
        asks = [one for ask in plan.asks.values() for one in (*ask.formulas, *ask.of_a_die)]
        slots = plan.slots_of(*numbers, *groups, *asks)
        self._slots = {name: [slot for slot in slots if name in plan.reads[slot].groups] for name in plan.groups}
        self._fits = {
            name: [
                (one.reroll[name], one.most is not None and plan.groups[name].worth is not None)
                for one in options
                if name in one.reroll
            ]
            for name in plan.groups
        }
        moving = {*plan.asks, *bound.purse.moving()}
        self._named: dict[str, frozenset[str]] = {}  # what formulas name of a die; `face`: none are equivalent
        for name, group in plan.groups.items():
            its = [*group.of_a_die, *(fits for slot in self._slots[name] if (fits := plan.fits[slot]) is not None)]
            own = [one for one in options if name in one.reroll]
            needs = plan.reached(*its, *(one.reroll[name] for one in own))
            is_moving = any(one.startswith((SLOT, TIMES)) or one in moving for one in needs)
            is_ranked = any(one.most is not None and len(one.reroll) > 1 for one in own)
            named = {one for one in OF_A_DIE if one != "face" and one in needs}
            self._named[name] = frozenset({*named, *["face"] * (is_moving or is_ranked)})
        self._known = bound.known((), {})
        self._found: dict[tuple[str, Die], Die | None] = {}

    def is_moving(self, group: str) -> bool:
        """Tell whether the value of a die of a group depends on other dice, or on answers."""
        return "face" in self._named[group]

    def of(self, group: str, die: Die) -> Die | None:
        """Return the representative of all dice equivalent to one; None for dice that make no difference."""
        named = self._named[group]
        die = Die(die.face, die.is_first or "added" not in named, die.thrown if "thrown" in named else 1)
        if "face" in named:
            return die
        key = group, die
        if key not in self._found:
            marks = self._marks(group, die)
            least = die.face
            while least > 1 and self._marks(group, die._replace(face=least - 1)) == marks:
                least -= 1
            self._found[key] = die._replace(face=least) if any(one is not None for one in marks) else None
        return self._found[key]

    def _marks(self, group: str, die: Die) -> tuple[int | None, ...]:
        """Return what a die contributes to each reading, and whether it can be rerolled; None for no difference."""
        known, fits = self._known, self._fits[group]
        reads = known.plan.reads
        marks: list[int | None] = []
        for slot in self._slots[group]:
            its = known.read_of(slot, group, die)
            marks.append((its or None) if reads[slot].kind in ("sum", "count") else its)  # 0 may be the lowest
        for one, is_ranked in fits:  # the dice of the least value are rerolled
            is_fit = bool(known.of_die(one, die))
            marks += [int(is_fit) or None, known.counts(group, die) if is_fit and is_ranked else None]
        return tuple(marks)
