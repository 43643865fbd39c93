"""Dice notation from text to result and odds, as `roll 4dF+3` and `odds 4d6kh3` show them. No ruleset plays here."""

from __future__ import annotations

from rpgres.dice import Dice, dice
from rpgres.odds.exact import OddsResult, chance_record


class DiceOdds(OddsResult, frozen=True, kw_only=True):
    """The odds of a dice expression, as `rpgres odds --json` prints them: chances, mean, standard deviation.

    What is open belongs to explosions that were not followed to their end; mean and deviation leave it out.

    Attributes:
        mean: the mean of the values.
        mean_exact: the same as a fraction.
        deviation: the standard deviation.
    """

    mean: float
    mean_exact: str
    deviation: float


def dice_odds(notation: str | Dice, *, note: str | None = None) -> DiceOdds:
    """Return the exact distribution of a dice expression.

    Raises:
        NotationError: the expression cannot be read.
        LawSizeError: it would take too much work; the message names the limit.
    """
    from fractions import Fraction

    weighed = dice(notation) if isinstance(notation, str) else notation
    law = weighed.law
    return DiceOdds(
        ruleset=None,
        action=None,
        inputs={"notation": weighed.text},
        outcomes={str(value): chance_record(Fraction(weight, law.total)) for value, weight in law.items()},
        method="partial" if law.open else "exact",
        open=chance_record(Fraction(law.open, law.total)),
        leaves=len(law.values),
        states=0,
        mean=float(law.mean()),
        mean_exact=str(law.mean()),
        deviation=law.deviation(),
        note=note,
    )
