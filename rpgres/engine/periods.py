"""Periods, such as scenes and exchanges: what a ruleset does when one begins or ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.decisions import REQUEST_OPTIONS, ask
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import Question
from rpgres.engine.records import Pending, Result, pending_of, record_of
from rpgres.engine.run import dealer_of, identity_of, players_of
from rpgres.engine.running import EFFECTS, Run, Trust
from rpgres.engine.seats import Seats
from rpgres.engine.stops import NeedsAnswer, in_code, in_run
from rpgres.engine.table import Outcome, Table
from rpgres.errors import RuleError, UsageError, named
from rpgres.model.state import EMPTY, GM, Map, State, freeze
from rpgres.rulesets import REQUEST, Effect, Rules, unknown

if TYPE_CHECKING:
    from typing import Unpack

    from rpgres.engine.run import Answering

Moment = Literal["begin", "end"]
Played = tuple[Sequence[Effect], Run, State]  # the effects of a run, the run, and the state after it
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
    implied = [name for name, text in rules.file.periods.items() if text.implied]
    if moment == "end" and period not in (*state.periods, *implied):
        open_now = ", ".join(state.periods) or "nothing"
        raise UsageError(f"no {period} has begun, so none can end; what has begun: {open_now}")


def turn(
    rules: Rules, state: State, *, period: str, moment: Moment, trust: Trust | None = None, **by: Unpack[Answering]
) -> tuple[Result | Pending, State]:
    """Return the result of the beginning or end of a period, and the state after it.

    When a period ends, those that began in it end first: in a scene without a beginning, all that are open.

    Args:
        period: `scene`, or another that the ruleset has.
        trust: how typed numbers are treated that no sheet has; None where everything typed counts.
        by: who answers, as for an action; see `Answering`.

    Raises:
        UsageError: the period cannot begin or end now, or an answer is impossible.
        RuleError: the ruleset's code failed.
    """
    play_it = partial(play_moment, rules, state, period=period, moment=moment, trust=trust)
    return _recorded(rules, state, {moment: period}, play_it, by)


def request(
    rules: Rules, state: State, *, seat: str, what: str, **by: Unpack[Answering]
) -> tuple[Result | Pending, State]:
    """Ask the game master whether a player may undo or redo something; the state stays as it is.

    Args:
        seat: the player's seat that asks for it.
        what: what it asks for, such as `undo entries 1 to 3`.
        by: who answers, as for an action; see `Answering`.

    Raises:
        UsageError: the answer is no option.
    """
    words, (verb, *_) = f"{seat} asks to {what}", what.split()

    def play_it(*, dealer: Dealer, players: Seats) -> Played:
        run = Run(rules, state, dealer, players, EFFECTS)
        with in_code(run, ""):
            ask(run, Question(REQUEST, GM, REQUEST_OPTIONS[verb], f"{words}. Allow it?"))
        return (), run, state

    return _recorded(rules, state, {REQUEST: words}, play_it, by)


def _recorded(
    rules: Rules, state: State, inputs: dict[str, Any], play_it: Callable[..., Played], by: Answering
) -> tuple[Result | Pending, State]:
    """Return the result of a run that is no action, or the decision it waits for, and the state after it."""
    seed, note = by["streams"].seed, by.get("note")
    dealer, players = dealer_of(by), players_of(by, by.get("choose", EMPTY))
    try:
        effects, run, after = play_it(dealer=dealer, players=players)
    except NeedsAnswer as needs:
        return pending_of(rules, needs, action="", actor=GM, inputs=inputs, seed=seed, note=note), state
    for label, value in dealer.unused() if by.get("dealer") is None else ():
        raise UsageError(f"{named('given')} {label}={value} was not used: no question had that label")
    identity = identity_of(by, rules)
    record = record_of(rules, run.events, inputs=inputs, effects=effects, seed=seed, note=note, rules=identity)
    return record, after


def play_moment(
    rules: Rules,
    state: State,
    *,
    period: str,
    moment: Moment,
    dealer: Dealer,
    players: Seats,
    trust: Trust | None = None,
    asked: str = EFFECTS,
) -> Played:
    """Return the effects of the beginning or end of a period, its run, and the state after it.

    Args:
        rules, state, period, moment, trust: see `turn`.

    Raises:
        NeedsAnswer: nothing answers a decision; the exception carries the run as `run`.
        UsageError: the period cannot begin or end now.
        RuleError: the ruleset's code failed.
    """
    check_period(rules, state, period=period, moment=moment)
    if rules.file.piles:
        from rpgres.engine.piles import lay_out

        state = lay_out(rules, state)
    run = Run(rules, state, dealer, players, asked, trust=trust)
    effects: list[Effect] = []
    with in_code(run, f"what the ruleset {rules.id} does at the {moment} of the {period}"):
        for one in reversed(_inner(rules, state, period)) if moment == "end" else ():
            effects += _effects(Table(run, rules), one, moment)
        effects += _effects(Table(run, rules), period, moment)
    with in_run(run):
        after = apply_effects(rules, run.state, Outcome("", effects=tuple(effects)))
    if moment == "begin":
        return effects, run, msgspec.structs.replace(after, periods=(*after.periods, period))
    ended = {period, *_inner(rules, after, period)}
    return effects, run, msgspec.structs.replace(after, periods=tuple(one for one in after.periods if one not in ended))


def _inner(rules: Rules, state: State, period: str) -> list[str]:
    """Return the open periods that end with one: those that began in it; with a scene, none that has scenes.

    An implied scene holds all others.
    """
    known, inner = rules.file.periods, list(state.periods)
    if period in inner:
        inner = inner[inner.index(period) + 1 :]
    elif period != SCENE:
        return []
    return [one for one in inner if not (period == SCENE and one in known and known[one].has_scenes)]


def _effects(table: Table, period: str, moment: str) -> list[Effect]:
    """Return what the data and the code of a ruleset do then."""
    rules = table.rules
    text = rules.file.periods.get(period)
    parts = [] if text is None else text.begin if moment == "begin" else text.end
    effects: list[Effect] = [freeze(effect) for effect in parts]
    passage = rules.ruleset.periods.get((period, moment))
    more: Iterable[Effect] = (passage(table) or ()) if passage is not None else ()
    for effect in more:
        if not isinstance(effect, Map) or not isinstance(effect.get("kind"), str):
            raise RuleError(
                f"it returned {effect!r}, which is not an effect; create effects with rpgres.effect(KIND, ...)"
            )
        effects.append(effect)
    return effects
