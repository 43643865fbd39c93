"""The odds of one action, decided by policies or optimally, for commands, tables and batches."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from rpgres.engine.prepare import Prepared, answers_to
from rpgres.errors import UsageError, named
from rpgres.odds.chances import chance_record, rules_fields
from rpgres.odds.exact import EXACT_SHARE, OUTCOME, ChoiceOdds, OddsResult, outcome_odds, success_in
from rpgres.odds.explorer import Odds
from rpgres.odds.ladder import LadderOdds, ladder_odds
from rpgres.odds.query import Query, missing_opposition
from rpgres.odds.sampling import GAMES
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
    prepared, seconds = query.prepared(), query.seconds
    answers: dict[str, Any] = {"choose": answers_to(prepared, query.choose), "policies": query.deciding(prepared)}
    budget: dict[str, Any] = {"leaves": query.leaves, "seconds": seconds}
    choices: list[ChoiceOdds] = []
    plan: list[Planned] = []
    if query.decide == "policies":
        odds = outcome_odds(prepared, **answers, **budget, games=GAMES, by=query.by)
    else:
        from rpgres.odds.optimal import Search, best_odds

        end = monotonic() + seconds if seconds is not None else None
        budget["seconds"] = seconds * EXACT_SHARE if seconds is not None else None
        best = best_odds(prepared, **answers, **budget, search=Search(only_first=query.decide == "each"))
        odds = best.odds(prepared)
        choices = best.records(prepared, samples=_samples(prepared, best, answers, end=end))
        plan = list(best.plan) if query.decide == "best" else []
    return _record(query, prepared, odds, choices, plan)


def _record(query: Query, prepared: Prepared, odds: Odds, choices: list[ChoiceOdds], plan: list[Planned]) -> OddsResult:
    """Return the odds of an action as the command line prints them in JSON."""
    method = odds.method
    if any(choice.open.exact != "0" for choice in choices):
        method = "sampled" if odds.open == 1 and any(choice.estimate for choice in choices) else "partial"
    success = success_in(query.rules, odds.masses) if query.by == OUTCOME else None
    by_orders = dict.fromkeys((*prepared.orders, *query.start.orders), "orders")
    return OddsResult(
        **rules_fields(query.rules),
        action=query.action,
        inputs=prepared.inputs,
        by=query.by,
        outcomes={str(name): chance_record(mass) for name, mass in odds.masses.items()},
        success=chance_record(success) if success is not None else None,
        method=method,
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        passed=list(odds.passed),
        partly=list(odds.partly),
        unasked=list(odds.unasked),
        policies={**by_orders, **query.named},
        decide=query.decide,
        choices=choices,
        plan=plan,
        sample=odds.sample,
        known=query.start.record(),
        note=query.note,
    )


def _samples(prepared: Prepared, best: Best, answers: Mapping[str, Any], *, end: float | None) -> dict[str, Sample]:
    """Return the results of first choices in games that are played, where exact odds left something open."""
    from rpgres.odds.sampling import sample

    played: dict[str, Sample] = {}
    open_ones = [] if STOP.is_asked else [choice.option for choice in best.choices if choice.value.open > REST]
    for number, name in enumerate(open_ones):
        until = inf if end is None else monotonic() + (end - monotonic()) / (len(open_ones) - number)
        found = sample(prepared, **answers, first=name, runs=GAMES // len(open_ones), until=until)
        if found is not None:
            played[name] = found
    return played
