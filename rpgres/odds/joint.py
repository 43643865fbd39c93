"""Dealers of odds that put a whole roll or hand as one question: all its results, with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpgres.dice import Dice, Law, Reading, Throw, difference
from rpgres.dice.readings import JointLaw, joint_law
from rpgres.engine.dealers import Dealer


class JointDealer(Dealer):
    """Answers each question as one, from its exact distribution; a subclass picks the result (`chance`)."""

    __slots__ = ()
    joint = True
    is_logged = False

    def chance(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        """Return one of the values.

        Args:
            weights: the weight of each.
            total: the sum of the weights, and of what is not followed.
        """
        raise NotImplementedError

    def of_law(self, label: str, law: Law | JointLaw) -> Any:
        """Return one of the values of a distribution."""
        return self.chance(label, law.values, law.weights, law.total)

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        """Return a throw that shows only its value."""
        value: int = self.of_law(label, dice.law)
        return Throw(value, (), str(value))

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        """Return several readings of the dice as one question; no throw has them all."""
        if not readings:
            return None, ()
        found: tuple[int, ...] = self.of_law(label, joint_law(dice, readings))
        return None, found

    def difference(self, own: Dice, other: Dice, label: str, count: int) -> int:
        """Return a difference of two rolls, as one question."""
        value: int = self.of_law(label, difference(own, other))
        return value

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        """Return an index; those of weight 0 are not among the values."""
        indices = tuple(index for index, weight in enumerate(weights) if weight)
        index: int = self.chance(label, indices, tuple(weights[index] for index in indices), sum(weights))
        return index
