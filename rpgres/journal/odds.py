"""Odds at a persistent table: the exact chances of an action there, as a seat knows the table. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.hidden import Start, known_to
from rpgres.engine.views import HOST
from rpgres.errors import UsageError
from rpgres.journal import store
from rpgres.journal.commands import Place, actor_of, check_seat, rules_of
from rpgres.journal.history import History
from rpgres.journal.replay import standing_orders, state_now
from rpgres.model.state import EMPTY
from rpgres.odds.actions import action_odds
from rpgres.odds.exact import OUTCOME, Decide, OddsResult
from rpgres.odds.query import Query
from rpgres.rulesets import Rules


def start_at(rules: Rules, history: History, action: str, *, actor: str = "", seat: str | None = HOST) -> Start:
    """Return where an action would begin at a table, as a seat knows it.

    Args:
        actor: who acts; by default the seat's only character.
        seat: who asks. It may ask of anybody's action.

    Raises:
        UsageError: there is no such seat, action or character, or it is unknown which cards a character may hold.
    """
    check_seat(history, seat)
    rules.require_action(action)
    asks = HOST if actor in history.state.characters else seat
    who = actor_of(history, actor, asks, is_anybody=rules.file.actions[action].anybody)
    start = known_to(rules, state_now(rules, history), seat, actor=who)
    if start.undealt and action in rules.ruleset.procedures:
        raise UsageError(f"odds of {action} need hands that {seat} does not see ({', '.join(start.undealt)})")
    return msgspec.structs.replace(start, orders=standing_orders(rules, history, seat))


def table_odds(
    place: Place,
    action: str,
    inputs: Mapping[str, Any],
    *,
    actor: str = "",
    seat: str | None = HOST,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
    decide: Decide = "policies",
    by: str = OUTCOME,
    leaves: int | None = None,
    seconds: float | None = None,
    note: str | None = None,
) -> OddsResult:
    """Return the odds of an action at a table, as a seat knows it: hands, counters and tags need not be typed.

    Args:
        inputs: what is typed for it, by parameter; it counts in place of what is on the table, and changes nothing.
        actor: who acts; by default the seat's only character.
        seat: who asks; the host sees what any seat may see.
        choose: answers to decisions, by label.
        policies: policy by character, everybody's under an empty name.
        auto: whether the ruleset's first policy answers the rest; it does for others where `decide` says so.
        decide: who decides for the actor.
        by: what the chances are of.
        leaves, seconds: the budget; see `Budget`.
        note: carried into the record.

    Raises:
        UsageError: something typed is unknown or impossible.
        NeedsPolicy: nothing answers a decision.
        RuleError: the ruleset's code failed.
    """
    history = store.read(place.path)
    rules = rules_of(history, folders=place.folders)
    return action_odds(
        Query(
            rules=rules,
            action=action,
            inputs=inputs,
            choose=choose,
            policies=policies,
            auto=auto or (decide != "policies" and "" not in policies),
            files=False,
            decide=decide,
            by=by,
            leaves=leaves,
            seconds=seconds,
            note=note,
            start=start_at(rules, history, action, actor=actor, seat=seat),
        )
    )
