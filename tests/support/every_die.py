"""Every result of every die, one after another: odds by brute force, to hold exact ones against."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rpgres.dice import Dice, Throw
from rpgres.engine.dealers import Dealer
from rpgres.engine.players import Seats, policy_of
from rpgres.engine.run import Prepared, play
from rpgres.engine.running import Stop


class _More(Stop):
    """One more die has to be drawn, with so many faces."""

    def __init__(self, sides: int) -> None:
        super().__init__(sides)
        self.sides = sides


class _Path(Dealer):
    """Draws what a path says, and asks for more at its end."""

    def __init__(self, path: Sequence[int]) -> None:
        self.left = list(path)

    def below(self, sides: int) -> int:
        if not self.left:
            raise _More(sides)
        return self.left.pop(0)

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        return dice.throw(self.below)

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        raise AssertionError("nothing is picked by weight here")


def every_outcome(
    prepared: Prepared, *, what: str = "band", smallest: Fraction = Fraction(0)
) -> tuple[dict[object, Fraction], Fraction]:
    """Return the chances of outcomes, and what is left of paths that are less likely than `smallest`."""
    found: dict[object, Fraction] = {}
    left = Fraction(0)
    open_: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    players = Seats(policies={"": policy_of(prepared.rules)})
    while open_:
        path, mass = open_.pop()
        if mass < smallest:
            left += mass
            continue
        try:
            outcome, _ = play(prepared, dealer=_Path(path), players=players)
        except _More as more:
            open_ += [((*path, face), mass / more.sides) for face in range(more.sides)]
            continue
        key = getattr(outcome, what)
        found[key] = found.get(key, Fraction(0)) + mass
    return found, left
