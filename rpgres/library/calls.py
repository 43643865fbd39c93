"""Calls that need no persistent table: dice, simulations, what-if, scenes, sheets, and the rulesets there are."""

from __future__ import annotations

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.dice import roll_dice
from rpgres.engine.records import Result
from rpgres.engine.resolve import Answers
from rpgres.errors import UsageError
from rpgres.library.reading import read_answers


def roll(
    notation: str, *, seed: str | int | None = None, given: Answers | None = None, note: str | None = None
) -> Result:
    """Return one result of a dice expression.

    >>> roll("4dF+3", given={"roll": "+0-+"}).total
    4

    Args:
        notation: the dice, as `rpgres roll` takes them: `4d6kh3`, `d20+5 vs 15`, `3x 2d6`.
        seed: any text or number; a fresh one by default, told by the result.
        given: what real dice showed, under `roll`, and under `opposition` for dice that they are compared with.
        note: carried into the result; by default the comment of the notation.

    Returns:
        The record of `rpgres roll --json`; `total` is the value of the dice.

    Raises:
        NotationError: the notation cannot be read; it tells the place.
        UsageError: what was given cannot have been rolled.
    """
    if not isinstance(notation, str):
        raise UsageError(f"dice are a text such as '4d6kh3', not {notation!r}")
    return roll_dice(notation, streams=Streams(read_seed(seed)), given=read_answers(given, "given"), note=note)
