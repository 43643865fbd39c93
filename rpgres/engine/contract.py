"""Checks of third-party rules in every run: they ask the same again, and return what can be stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.events import Drawn, Event, Rolled
from rpgres.engine.labels import labels_of
from rpgres.engine.outcomes import Outcome
from rpgres.engine.prepare import Prepared
from rpgres.engine.records import AnswerRecord, answers_of, scripts_of
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.stops import NeedsAnswer, not_deterministic
from rpgres.engine.waiting import always, decisions_in, waiting
from rpgres.errors import RuleError, UsageError, in_short
from rpgres.model.serialization import unkept
from rpgres.model.state import Map


def check_repeats(
    prepared: Prepared,
    events: Sequence[Event],
    *,
    play: Callable[[GivenDealer, Seats], Run],
    streams: Streams,
    step: int,
    waits_for: str = "",
) -> None:
    """Check that a rule asks the same once more when it is given the same answers, as a resumed run will.

    Args:
        play: runs the action once more with these answers; raises what stops the run.
        streams, step: the chance of that run.

    Raises:
        RuleError: it asked something else.
    """
    first = list(answers_of(events, single=labels_of(prepared.rules, prepared.action)))
    given, choose = scripts_of(first)
    dealer = GivenDealer(given, then=SeededDealer(streams, step=step))
    asks = ""
    try:
        # Everything that was asked so far is answered, optional decisions included, so the next question is the end.
        # So are claims, which go by who answered.
        is_recalled = waits_for or prepared.trust is not None
        players = waiting(waits=always, recalled=decisions_in(events)) if is_recalled else Seats(choose)
        run = play(dealer, players)
    except NeedsAnswer as needs:
        run, asks = needs.run, needs.question.label
    except UsageError as error:  # an answer that fitted the first time
        raise _strayed(prepared, f"run twice with the same answers it rejected one of them: {error.message}") from error
    again = list(answers_of(run.events))
    for one, other in zip_longest(_asked_in_order(first, waits_for), _asked_in_order(again, asks), fillvalue="nothing"):
        if one != other:
            raise _strayed(prepared, not_deterministic(one, other))


def _asked_in_order(answers: Sequence[AnswerRecord], waits_for: str) -> Iterator[str]:
    for answer in answers:
        yield repr(answer.label)
    if waits_for:
        yield repr(waits_for)


def _strayed(prepared: Prepared, fault: str) -> RuleError:
    return RuleError(f"the rule {prepared.rules.id} {prepared.action} cannot be played: {fault}")


def check_outcome(prepared: Prepared, outcome: Outcome) -> None:
    """Check that what a rule returned can be printed, kept and compared; `Table.settle` returns nothing else."""
    fault = ""
    for name, kinds in _OUTCOME.items():
        value = getattr(outcome, name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and name != "success"):
            fault = f"its {name} is {in_short(repr(value))}"
    for effect in outcome.effects if not fault else ():
        if not isinstance(effect, Map) or not isinstance(effect.get("kind"), str):
            fault = f"{in_short(repr(effect))} is not an effect; create effects with rpgres.effect(KIND, ...)"
        else:
            fault = fault or unkept(effect, f"the effect {effect['kind']}")
    fault = fault or unkept(outcome.texts, "texts") or unkept(Map(outcome.details), "details")
    if fault:
        raise RuleError(
            f"the rule {prepared.rules.id} {prepared.action} returned an outcome that cannot be used: {fault}"
        )


_OUTCOME: dict[str, Any] = {
    "success": bool | None,
    "margin": int | None,
    "total": int | None,
    "opposition": int | None,
    "effects": tuple,
    "texts": tuple,
    "roles": Mapping,
    "details": Mapping,
}


def check_declared(prepared: Prepared, events: Sequence[Event]) -> None:
    """Check that the rule rolled only under labels that its action declares, as other results could not be given."""
    declared = labels_of(prepared.rules, prepared.action)
    for event in events:
        if isinstance(event, Rolled | Drawn) and event.label not in declared:
            verb = "rolled" if isinstance(event, Rolled) else "drew"
            raise RuleError(
                f"the rule {prepared.rules.id} {prepared.action} {verb} {event.label!r}, which `labels` of "
                f"[actions.{prepared.action}] does not declare"
            )
