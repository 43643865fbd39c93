"""Odds at a persistent table: the exact chances of an action there, as a seat knows the table. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from rpgres.engine.hidden import Start, known_to
from rpgres.engine.views import HOST
from rpgres.journal import store
from rpgres.journal.commands import Place, actor_of, check_seat, rules_of
from rpgres.journal.history import History
from rpgres.journal.replay import standing_orders, state_now
from rpgres.model.state import EMPTY
from rpgres.odds.actions import action_odds
from rpgres.odds.exact import Decide, OddsResult
from rpgres.odds.query import Query
from rpgres.rulesets import Rules


def start_at(rules: Rules, history: History, action: str, *, actor: str = "", seat: str | None = HOST) -> Start:
    """Return where an action would begin at a table, as a seat knows it.

    Args:
        actor: who acts; by default the seat's only character.

    Raises:
        UsageError: there is no such seat, action or character, or it is unknown which cards a character may hold.
    """
    check_seat(history, seat)
    rules.require_action(action)
    asks = HOST if actor in history.state.characters else seat
    who = actor_of(history, actor, asks, is_anybody=rules.file.actions[action].anybody)
    start = known_to(rules, state_now(rules, history), seat, actor=who)
    return msgspec.structs.replace(start, orders=standing_orders(rules, history, seat))


def table_odds(
    place: Place,
    action: str,
    inputs: Mapping[str, Any],
    *,
    actor: str = "",
    seat: str | None = HOST,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
    decide: Decide = "policies",
    **asked: Any,
) -> OddsResult:
    """Return the odds of an action at a table, as a seat knows it: hands, counters and tags need not be typed.

    Args:
        inputs: what is typed for it, by parameter; it counts in place of what is on the table, and changes nothing.
        actor: who acts; by default the seat's only character.
        seat: who asks; the host sees what any seat may see.
        policies: policy by character, the default under an empty name.
        auto: whether the ruleset's first policy answers the rest; it does for others where `decide` says so.
        asked: what else is asked: further fields of a `Query`.

    Raises:
        UsageError: something typed is unknown or impossible.
        NeedsPolicy: nothing answers a decision.
        RuleError: the ruleset's code failed.
    """
    history = store.read(place.path)
    rules = rules_of(history, folders=place.folders)
    start = start_at(rules, history, action, actor=actor, seat=seat)
    is_auto = auto or (decide != "policies" and "" not in policies)
    asked |= {"policies": policies, "auto": is_auto, "files": False, "decide": decide, "start": start}
    return action_odds(Query(rules=rules, action=action, inputs=inputs, **asked))
