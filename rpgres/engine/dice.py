"""Dice notation rolled, as `roll 4dF+3` shows it. No ruleset plays here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rpgres.dice import Dice, dice
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.records import AnswerRecord, Result, event_record
from rpgres.engine.running import Rolled
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY
from rpgres.version import __version__

LABEL = "roll"  # under which the dice can be given


def roll_dice(
    notation: str | Dice,
    *,
    streams: Streams,
    given: Mapping[str, Sequence[str]] = EMPTY,
    note: str | None = None,
) -> Result:
    """Return one result of a dice expression.

    Args:
        notation: the expression.
        streams: the seed's numbers.
        given: what real dice showed, under `LABEL`.
        note: carried into the result.

    Raises:
        NotationError: the expression cannot be read.
        UsageError: what was given is impossible, or more than was rolled.
    """
    rolled = dice(notation) if isinstance(notation, str) else notation
    for label in given:
        if label != LABEL:
            raise UsageError(f"dice have one label, {LABEL!r}; there is no {label!r}: {named('given')} {LABEL}=6,5,4")
    dealer = GivenDealer(given, then=SeededDealer(streams))
    event = Rolled(LABEL, rolled, dealer.throw(rolled, LABEL, 0))
    for label, faces in dealer.unused():
        raise UsageError(f"{named('given')} {label}={faces} was not used: the dice are rolled once")
    return Result(
        version=__version__,
        ruleset=None,
        rules={},
        action=None,
        actor=None,
        inputs={"notation": rolled.text},
        answers=[AnswerRecord(LABEL, "chance", event.throw.text)],
        outcome=None,
        success=None,
        margin=None,
        total=event.throw.value,
        opposition=None,
        effects=[],
        texts=[],
        events=[event_record(event)],
        switches={},
        seed=streams.seed,
        note=note,
    )
