"""Dice notation rolled without a ruleset, as `roll 4dF+3` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpgres.dice import Dice, DiceLine, Target, Throw, read_line
from rpgres.dice.hints import never
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Due, GivenDealer, Hand, SeededDealer, read_total
from rpgres.engine.events import Rolled
from rpgres.engine.records import AnswerRecord, Result, event_record
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY

LABEL = "roll"  # under which the dice can be given
OPPOSITION = "opposition"  # the same for dice that they are compared with
SUCCESS, FAILURE = "success", "failure"


class DiceResult(Result, frozen=True, kw_only=True):
    """The result of dice that have named parts, are compared, or are rolled several times.

    Attributes:
        parts: what each named part came to; what has no name stands under an empty one.
        each: what each roll came to, in order, where there are several; `total` is null then.
    """

    parts: dict[str, int] = {}
    each: list[int] = []


def roll_dice(
    notation: str | Dice | DiceLine,
    *,
    streams: Streams,
    given: Mapping[str, Sequence[str]] = EMPTY,
    note: str | None = None,
    hand: Hand | None = None,
) -> Result:
    """Return one result of a dice expression.

    Args:
        notation: the expression, with what it is compared with, how often it is rolled, and a comment.
        given: what real dice showed, under `LABEL`, and under `OPPOSITION`.
        note: carried into the result; by default the comment.
        hand: asks a person for what real dice showed that was not given.

    Raises:
        NotationError: the expression cannot be read.
        UsageError: what was given is impossible, or more than was rolled.
    """
    line = read_line(notation) if isinstance(notation, str) else notation
    line = DiceLine(line) if isinstance(line, Dice) else line
    dealer = _dealer(line, streams, given, hand)
    throws = [_thrown(dealer, line.dice, LABEL, number) for number in range(line.times or 1)]
    events = [Rolled(LABEL, line.dice, throw) for throw in throws]
    if line.target and not line.target.dice.constant:
        events.append(Rolled(OPPOSITION, line.target.dice, _thrown(dealer, line.target.dice, OPPOSITION, 0)))
    for label, faces in dealer.unused():
        often = f"{line.times} times" if line.times else "once"
        raise UsageError(f"{named('given')} {label}={faces} was not used: the dice are rolled {often}")
    return _result(line, throws, events, seed=streams.seed, note=note or line.comment or None)


def _thrown(dealer: GivenDealer, dice: Dice, label: str, number: int) -> Throw:
    if dealer.hand is not None and dice.pools:
        dealer.read_off(Due(label, number, 0, "", dice.text, lambda text: [read_total(dice, text)]))
    return dealer.throw(dice, label, number)


def _dealer(line: DiceLine, streams: Streams, given: Mapping[str, Sequence[str]], hand: Hand | None) -> GivenDealer:
    labels = [LABEL, *([OPPOSITION] if line.target and not line.target.dice.constant else [])]
    for label in given:
        if label not in labels:
            are = f"one label, {LABEL!r}" if len(labels) == 1 else f"the labels {LABEL!r} and {OPPOSITION!r}"
            raise UsageError(f"dice have {are}; there is no {label!r}: {named('given')} {LABEL}=6,5,4")
    return GivenDealer(given, then=SeededDealer(streams), hand=hand)


def _result(line: DiceLine, throws: list[Throw], events: list[Rolled], *, seed: str, note: str | None) -> Result:
    inputs: dict[str, Any] = {"notation": line.dice.text}
    total = throws[0].value if not line.times else None
    margin = opposition = success = None
    if line.target is not None and total is not None:
        other = line.target.dice
        opposition = other.law.values[0] if other.constant else events[-1].throw.value
        margin = line.target.margin(total, opposition)
        success = line.target.is_met(margin)
        inputs["vs"] = target_input(line.target)
    if line.times:
        inputs["times"] = line.times
    parts = dict(throws[0].parts) if not line.times else {}
    is_plain = len(inputs) == 1 and not parts
    more: dict[str, Any] = (
        {} if is_plain else {"parts": parts, "each": [throw.value for throw in throws] if line.times else []}
    )
    return (Result if is_plain else DiceResult)(
        ruleset=None,
        rules={},
        action=None,
        actor=None,
        inputs=inputs,
        answers=[AnswerRecord(event.label, "chance", event.throw.text) for event in events],
        outcome=None if success is None else SUCCESS if success else FAILURE,
        success=success,
        margin=margin,
        total=total,
        opposition=opposition,
        effects=[],
        texts=list(never(line.dice.node)),
        events=[event_record(event) for event in events],
        switches={},
        seed=seed,
        note=note,
        **more,
    )


def target_input(target: Target) -> int | str:
    """Return the target of a comparison for a record: a number, `<=45`, or dice."""
    return target.dice.law.values[0] if target.text == target.dice.text and target.dice.constant else target.text
