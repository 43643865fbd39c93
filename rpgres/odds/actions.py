"""The odds of one action, decided by policies or optimally, for commands, tables and batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from rpgres.engine.hidden import NO_TABLE, Start
from rpgres.engine.players import Policy
from rpgres.engine.prepare import Prepared, answers_to
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY, pile_name
from rpgres.odds.exact import EXACT_SHARE, By, Decide, OddsResult, odds_record, outcome_odds
from rpgres.odds.sampling import GAMES
from rpgres.parameters.kinds import metavar
from rpgres.rulesets import Rules
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from rpgres.odds.optimal import Best
    from rpgres.odds.plans import Planned
    from rpgres.odds.sampling import Sample

REST = 1e-6  # what may be left open without an estimate: dice that explode leave less


def action_odds(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    named: Mapping[str, str] = EMPTY,
    decide: Decide = "policies",
    by: By = "outcome",
    leaves: int | None = None,
    seconds: float | None = None,
    note: str | None = None,
    start: Start = NO_TABLE,
) -> OddsResult:
    """Return the odds of an action, with those of each first choice where the actor decides optimally.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, as typed.
        policies: who answers what was not chosen; everybody's under an empty name.
        named: the same by name, for the record.
        decide: who decides for the actor.
        by: what the chances are of.
        leaves, seconds: the budget; see `Budget`.
        note: carried into the record.
        start: where the action begins.

    Raises:
        NeedsPolicy: a decision has no answer.
        UsageError: the action cannot be evaluated so.
        RuleError: the ruleset's code failed.
    """
    answers: dict[str, Any] = {"choose": answers_to(prepared, choose), "policies": policies}
    if decide == "policies":
        odds, choices = outcome_odds(prepared, **answers, leaves=leaves, seconds=seconds, games=GAMES, by=by), []
        plan: list[Planned] = []
    else:
        from rpgres.odds.optimal import best_odds

        end = monotonic() + seconds if seconds is not None else None
        exact = seconds * EXACT_SHARE if seconds is not None else None
        best = best_odds(prepared, **answers, leaves=leaves, seconds=exact, only_first=decide == "each")
        odds = best.odds(prepared)
        choices = best.records(prepared, samples=_samples(prepared, best, answers, end=end))
        plan = list(best.plan) if decide == "best" else []
    named = {**dict.fromkeys(prepared.orders, "orders"), **dict.fromkeys(start.orders, "orders"), **named}
    told: dict[str, Any] = {"policies": named, "choices": choices, "plan": plan, "note": note}
    return odds_record(prepared, odds, by=by, decide=decide, known=start.record(), **told)


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


def require_hand(rules: Rules, action: str, inputs: Mapping[str, Any], start: Start = NO_TABLE) -> None:
    """Check that the cards in hand are named where a decision depends on them.

    Raises:
        UsageError: they are still to be dealt, and every hand would be another question.
    """
    name = missing_hand(rules, action, inputs, start)
    if name:
        parameter = rules.parameters(action)[name]
        raise UsageError(
            f"optimal decisions need {named(name)} {metavar(parameter, name)}: {parameter.help.partition(' (')[0]}; "
            f"with {named('auto')} a policy decides, and hands are dealt"
        )


def missing_hand(rules: Rules, action: str, inputs: Mapping[str, Any], start: Start = NO_TABLE) -> str:
    """Return the parameter that would name the cards that the actor holds; empty where they are known."""
    for name, parameter in rules.parameters(action).items():
        pile = rules.file.piles[parameter.pile] if parameter.kind == "cards" else None
        if pile is None or pile.face != "hand" or not pile.each or inputs.get(name.replace("-", "_")) is not None:
            continue
        there = start.state.piles.get(pile_name(parameter.pile, start.actor)) if start.state is not None else None
        if there is None or not len(there):
            return name
    return ""
