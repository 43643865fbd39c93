"""Scenes, exchanges and whatever else begins and ends at a table: what a ruleset does then. Nothing here names one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.piles import lay_out
from rpgres.engine.players import Policy, Prompt, Seats
from rpgres.engine.records import Pending, Result, bare_result, pending_of
from rpgres.engine.run import at_table, fault_of
from rpgres.engine.table import NeedsAnswer, Outcome, Table, Trust, apply_effects
from rpgres.errors import RuleError, UsageError
from rpgres.model.state import EMPTY, GM, Map, State, freeze
from rpgres.rulesets import Effect, Rules, unknown

Moment = Literal["begin", "end"]
SCENE = "scene"  # what every table can have, whatever its ruleset says


def period_names(rules: Rules) -> list[str]:
    """Return what can begin and end under a ruleset."""
    return list(dict.fromkeys([*rules.file.periods, SCENE]))


def check_period(rules: Rules, state: State, *, period: str, moment: Moment) -> None:
    """Check that a period can begin or end now.

    Raises:
        UsageError: there is no such period, it has begun already, or it has not begun.
    """
    known = period_names(rules)
    if period not in known:
        raise UsageError(unknown("period", period, known, of=f"the ruleset {rules.id}"))
    if moment == "begin" and period in state.periods:
        raise UsageError(f"the {period} has begun already; end it first")
    if moment == "end" and period not in state.periods and not _is_implied(rules, period):
        open_now = ", ".join(state.periods) or "nothing"
        raise UsageError(f"no {period} has begun, so none can end; what has begun: {open_now}")


def turn(
    rules: Rules,
    state: State,
    *,
    period: str,
    moment: Moment,
    streams: Streams,
    step: int = 0,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    prompt: Prompt | None = None,
    note: str | None = None,
    identify: bool = True,
    players: Seats | None = None,
    dealer: GivenDealer | None = None,
    trust: Trust | None = None,
) -> tuple[Result | Pending, State]:
    """Return what comes of the beginning or end of a period, and the state after it.

    When a period ends, those that began in it end first: in a scene that nobody said to begin, all that are open.

    Args:
        rules: the ruleset in play.
        state: the table.
        period: `scene`, or another that the ruleset has.
        moment: whether it begins or ends.
        streams: the seed's numbers.
        step: which step of a scene or table this is, from 0.
        given, choose, policies, prompt: who answers what, as for an action.
        note: carried into the result.
        identify: whether the result names its rules exactly, which means reading all their files.
        players: who answers, in place of the script, the policies and the prompt.
        dealer: who answers chance, as for an action.
        trust: how typed numbers are treated that no sheet has; None where everything typed counts.

    Raises:
        UsageError: the period cannot begin or end now, or an answer is impossible.
        RuleError: the ruleset's code failed.
    """
    check_period(rules, state, period=period, moment=moment)
    if rules.file.piles:
        state = lay_out(rules, state)
    dealt = GivenDealer(given, then=SeededDealer(streams, step=step)) if dealer is None else dealer
    seats = players if players is not None else Seats(choose, policies=policies, prompt=prompt)
    table = Table(rules, state, dealt, seats, trust=trust)
    inner = [one for one in reversed(state.periods[_place(state, period) :]) if one != period]
    turned = [*((one, "end") for one in inner), (period, moment)] if moment == "end" else [(period, moment)]
    effects: list[Effect] = []
    told = f"what the ruleset {rules.id} does at the {moment} of the {period}"
    inputs: dict[str, Any] = {moment: period}
    try:
        for one, its in turned:
            effects += _effects(rules, table, one, its)
        if table.fault is not None:
            raise table.fault
    except NeedsAnswer as needs:
        needs.table = table
        pending = pending_of(
            rules,
            needs,
            action="",
            actor=GM,
            inputs=inputs,
            seed=streams.seed,
            note=note,
        )
        return pending, state
    except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything
        raise fault_of(error, table, told) from error.__cause__
    for label, value in dealt.unused() if dealer is None else ():
        raise UsageError(f"--given {label}={value} was not used: nothing of that label was asked")
    with at_table(table):
        after = apply_effects(rules, table.state, Outcome("", effects=tuple(effects)))
    open_then = (*after.periods, period) if moment == "begin" else after.periods[: _place(after, period)]
    after = msgspec.structs.replace(after, periods=open_then)
    result = bare_result(
        rules,
        table.events,
        inputs=inputs,
        effects=effects,
        seed=streams.seed,
        note=note,
        identity=rules.identity() if identify else {},
    )
    return result, after


def _is_implied(rules: Rules, period: str) -> bool:
    return period in rules.file.periods and rules.file.periods[period].implied


def _place(state: State, period: str) -> int:
    """Return where a period stands among those that are open; an implied scene holds them all, others none."""
    if period in state.periods:
        return state.periods.index(period)
    return 0 if period == SCENE else len(state.periods)


def _effects(rules: Rules, table: Table, period: str, moment: str) -> list[Effect]:
    """Return what the data and the code of a ruleset do at a moment."""
    text = rules.file.periods.get(period)
    told = [] if text is None else text.begin if moment == "begin" else text.end
    effects: list[Effect] = [freeze(effect) for effect in told]
    passage = rules.ruleset.periods.get((period, moment))
    more: Iterable[Effect] = (passage(table) or ()) if passage is not None else ()
    for effect in more:
        if not isinstance(effect, Map) or not isinstance(effect.get("kind"), str):
            raise RuleError(f"it returned {effect!r}, which is no effect; rpgres.effect(KIND, ...) makes one")
        effects.append(effect)
    return effects
