"""Odds of dice notation, as `odds 4d6kh3` shows them."""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from rpgres.dice import Dice, DiceLine, Law, Target, difference, read_line
from rpgres.engine.dice import FAILURE, SUCCESS, target_input
from rpgres.errors import UsageError, enumerated, named
from rpgres.odds.exact import OUTCOME, OddsResult, chance_record

if TYPE_CHECKING:
    from rpgres.odds.variations import Variation

TOLD = {True: SUCCESS, False: FAILURE}


class DiceOdds(OddsResult, frozen=True, kw_only=True):
    """The odds of a dice expression, as `rpgres odds --json` prints them: chances, mean, standard deviation.

    Explosions beyond the limit to which they are followed are open; mean and deviation leave them out.

    Attributes:
        by: what the chances are of: values (outcome), success where dice are compared (outcome), margin, total, or the
            name of a part.
        mean: the mean of the values; of the total where chances are of success.
        mean_exact: the same as a fraction.
        deviation: the standard deviation.
        parts: the mean of each named part, as a fraction.
        open_from: open results are at least this number, so chances below it are exact; null where nothing is open, or
            where no such number is known.
    """

    by: str = OUTCOME
    mean: float
    mean_exact: str
    deviation: float
    parts: dict[str, str] = {}
    open_from: int | None = None


def dice_odds(notation: str | Dice | DiceLine, *, note: str | None = None, by: str | None = None) -> DiceOdds:
    """Return the exact distribution of a dice expression, or its chance of success where it is compared.

    Args:
        notation: the expression, with what it is compared with; of several rolls, the odds are those of each.
        note: carried into the result; by default the comment.
        by: `margin`, `total`, or the name of a part.

    Raises:
        NotationError: the expression cannot be read.
        LawSizeError: it would take too much work; its details name the limit.
        UsageError: there is no such part, or no margin.
    """
    from fractions import Fraction

    line = read_line(notation) if isinstance(notation, str) else notation
    line = DiceLine(line) if isinstance(line, Dice) else line
    inputs: dict[str, Any] = {"notation": line.dice.text}
    if line.target is not None:
        inputs["vs"] = target_input(line.target)
    if line.times:
        inputs["times"] = line.times
    law = told = _law(line, by)
    masses, left = {str(value): weight for value, weight in law.items()}, law.open
    if by is None and line.target is not None:
        law = _law(line, "margin")
        met = [sum(weight for margin, weight in law.items() if line.target.is_met(margin) == wanted) for wanted in TOLD]
        masses, left = _settled(dict(zip(TOLD.values(), met, strict=True)), law, line.target)
    names = [name for name in line.dice.parts if name]
    outcomes = {name: chance_record(Fraction(weight, law.total)) for name, weight in masses.items()}
    return DiceOdds(
        ruleset=None,
        inputs=inputs,
        by=OUTCOME if by is None else by,
        outcomes=outcomes,
        success=outcomes.get("success"),
        method="partial" if left else "exact",
        open=chance_record(Fraction(left, law.total)),
        leaves=len(law.values),
        states=0,
        mean=float(told.mean()),
        mean_exact=str(told.mean()),
        deviation=told.deviation(),
        parts={name: str(line.dice.parts[name].law.mean()) for name in names},
        open_from=law.above if left and law is told else None,
        note=note or line.comment or None,
    )


def dice_grid(notation: str, vs: str | None, *, note: str | None = None, by: str | None = None) -> Variation | None:
    """Return the odds for each value of a range, or of two, such as `d20+0..5 vs 10..15`; None where there is none.

    Args:
        vs: what the dice are compared with, where the notation does not say so.

    Raises:
        UsageError: there are too many ranges or values; or see `dice_odds`.
    """
    from fractions import Fraction

    from rpgres.odds.variations import MOST, Axis, Cell, Variation, range_values

    text, sign, comment = notation.partition("#")
    rolled, compared, target = (f"{text} vs {vs}" if vs else text).partition(" vs ")
    inputs, axes = {"notation": rolled.strip(), "vs": target.strip()}, list[Axis]()
    for name, part in inputs.items():
        before, *found = re.split(r"(?<![\d.])(\d{1,6}\.\.\d{1,6})(?![\d.])", part)
        if len(found) > 2:
            raise UsageError(f"the dice have one range, and {named('vs')} another: d20+0..5 {named('vs')} 10..15")
        axes.append(Axis(name, [before + value + found[1] for value in range_values(found[0])] if found else [part]))
    varied = [axis for axis in axes if axis.values != [inputs[axis.name]]]
    if prod(len(axis.values) for axis in axes) > MOST:
        raise UsageError(f"these ranges have more than {MOST} combinations; at most so many are evaluated")
    cells: list[Cell] = []
    for place in product(*(axis.values for axis in axes)) if varied else ():
        one = dice_odds(f"{place[0]}{compared}{place[1]} {sign}{comment}", note=note, by=by)
        told = {name: getattr(one, name) for name in ("outcomes", "success", "open", "method", "leaves", "states")}
        is_number = one.success is None and one.method == "exact"
        at = {axis.name: value for axis, value in zip(axes, place, strict=True) if axis in varied}
        cells.append(Cell(at=at, mean=chance_record(Fraction(one.mean_exact)) if is_number else None, **told))
    inputs = {name: part for name, part in inputs.items() if part}
    note = note or comment.strip() or None
    return (
        Variation(ruleset=None, inputs=inputs, by=by or OUTCOME, axes=varied, cells=cells, note=note) if cells else None
    )


def _settled(masses: dict[str, int], law: Law, target: Target) -> tuple[dict[str, int], int]:
    """Return the weights of success and failure, and the open weight that may be either."""
    settled = ""
    if law.above is not None and target.is_met(law.above):
        settled = SUCCESS
    elif law.under is not None and not target.is_met(law.under):
        settled = FAILURE
    return (masses | {settled: masses[settled] + law.open}, 0) if settled else (masses, law.open)


def _law(line: DiceLine, by: str | None) -> Law:
    """Return the distribution of the total, the margin or a part."""
    if by is None or by == "total":
        return line.dice.law
    if by == "margin" and line.target is not None:
        pair = (line.target.dice, line.dice) if line.target.is_low else (line.dice, line.target.dice)
        return difference(*pair)
    part = line.dice.parts.get(by.strip().lower()) if by else None
    if part is not None:
        return part.law
    known = ["total", *(["margin"] if line.target else []), *filter(None, line.dice.parts)]
    hint = f"; margins need {named('vs')}" if by == "margin" else ""
    raise UsageError(f"{named('by')} takes {enumerated(known, by)} here, not {by!r}{hint}")
