"""Every result of every die, one after another: odds by brute force, to hold exact ones against."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rpgres.dice import Dice, Throw
from rpgres.engine.dealers import Dealer
from rpgres.engine.players import NO, Question, View, policy_of
from rpgres.engine.prepare import Prepared
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.engine.stops import Stop


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
    prepared: Prepared, *, what: str = "band", smallest: Fraction = Fraction(0), is_decided: bool = True
) -> tuple[dict[object, Fraction], Fraction]:
    """Return the chances of outcomes, and what is left of paths that are less likely than `smallest`.

    Args:
        prepared: the action.
        what: what of an outcome is counted.
        smallest: the least likely path that is followed.
        is_decided: whether the ruleset's first policy answers; otherwise every question passes.
    """
    found: dict[object, Fraction] = {}
    left = Fraction(0)
    open_: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    players = Seats(policies={"": policy_of(prepared.rules)}) if is_decided else Seats()
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


class _Asks(Stop):
    """Somebody has to decide among these answers."""

    def __init__(self, options: tuple[str, ...]) -> None:
        super().__init__(options)
        self.options = options


def best_success(prepared: Prepared, faces: tuple[int, ...] = (), answers: tuple[str, ...] = ()) -> Fraction:
    """Return the chance of success of whoever decides as well as can be, over every die and every answer."""
    left = list(answers)

    def prompt(view: View, question: Question) -> str:
        if not left:
            raise _Asks((NO, *(option.name for option in question.options)))
        return left.pop(0)

    try:
        outcome, _ = play(prepared, dealer=_Path(faces), players=Seats(prompt=prompt))
    except _More as more:
        each = [best_success(prepared, (*faces, face), answers) for face in range(more.sides)]
        return sum(each, Fraction(0)) / more.sides
    except _Asks as asks:
        return max(best_success(prepared, faces, (*answers, option)) for option in asks.options)
    return Fraction(bool(outcome.success))
