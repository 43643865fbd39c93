"""The odds of one action, decided by policies or optimally, for commands, tables and batches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from rpgres.engine.prepare import Prepared, answers_to
from rpgres.errors import UsageError, named
from rpgres.odds.exact import EXACT_SHARE, OUTCOME, ChoiceOdds, OddsResult, odds_record, outcome_odds
from rpgres.odds.ladder import LadderOdds, ladder_odds
from rpgres.odds.query import Query, missing_opposition
from rpgres.odds.sampling import GAMES
from rpgres.odds.subjects import Subject, measure_action
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from rpgres.odds.optimal import Best
    from rpgres.odds.plans import Planned
    from rpgres.odds.sampling import Sample

REST = 1e-6  # what may be left open without an estimate: dice that explode leave less


def odds_of(query: Query) -> OddsResult | LadderOdds:
    """Return the odds of an action; where its opposition is left out, those at every rung of the ladder.

    Raises:
        NeedsPolicy: a decision has no answer.
        UsageError: the action cannot be evaluated so.
        RuleError: the ruleset's code failed.
    """
    opposition = missing_opposition(query)
    if opposition is None:
        return action_odds(query)
    if query.by != OUTCOME:
        raise UsageError(f"{named('by')} needs one opposition: give {named(opposition)}")
    return ladder_odds(query, opposition)


def action_odds(query: Query) -> OddsResult:
    """Return the odds of an action, with those of each first choice where the actor decides optimally.

    Raises:
        NeedsPolicy: a decision has no answer.
        UsageError: the action cannot be evaluated so.
        RuleError: the ruleset's code failed.
    """
    prepared, by, seconds = query.prepared(), query.by, query.seconds
    answers: dict[str, Any] = {"choose": answers_to(prepared, query.choose), "policies": query.deciding(prepared)}
    budget: dict[str, Any] = {"leaves": query.leaves, "seconds": seconds}
    choices: list[ChoiceOdds] = []
    plan: list[Planned] = []
    if query.decide == "policies":
        odds = outcome_odds(prepared, **answers, **budget, games=GAMES, by=by)
    else:
        from rpgres.odds.optimal import best_odds

        end = monotonic() + seconds if seconds is not None else None
        budget["seconds"] = seconds * EXACT_SHARE if seconds is not None else None
        best = best_odds(prepared, **answers, **budget, only_first=query.decide == "each")
        odds = best.odds(prepared)
        choices = best.records(prepared, samples=_samples(prepared, best, answers, end=end))
        plan = list(best.plan) if query.decide == "best" else []
    by_orders = dict.fromkeys((*prepared.orders, *query.start.orders), "orders")
    told: dict[str, Any] = {"policies": {**by_orders, **query.named}, "choices": choices, "plan": plan}
    return odds_record(prepared, odds, by=by, decide=query.decide, known=query.start.record(), note=query.note, **told)


def action_subject(query: Query) -> Subject:
    """Return an action as a subject whose odds are varied, compared and searched."""
    return Subject(
        rules=query.rules,
        evaluate=partial(
            measure_action,
            decide=query.decide,
            policies=query.policies,
            auto=query.auto,
            by=query.by,
            leaves=query.leaves,
        ),
        action=query.action,
        inputs=query.inputs,
        switches=query.switches,
        choose=query.choose,
        start=query.start,
    )


def _samples(prepared: Prepared, best: Best, answers: Mapping[str, Any], *, end: float | None) -> dict[str, Sample]:
    """Return the results of first choices in games that are played, where exact odds left something open.

    Args:
        prepared: the action.
        best: those odds.
        answers: who decides in the games.
        end: by when they have to be over, by the monotonic clock.
    """
    from rpgres.odds.sampling import sample

    played: dict[str, Sample] = {}
    open_ones = [] if STOP.is_asked else [choice.option for choice in best.choices if choice.value.open > REST]
    for number, name in enumerate(open_ones):
        until = inf if end is None else monotonic() + (end - monotonic()) / (len(open_ones) - number)
        found = sample(prepared, **answers, first=name, runs=GAMES // len(open_ones), until=until)
        if found is not None:
            played[name] = found
    return played
