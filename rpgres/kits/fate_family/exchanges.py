"""Exchanges of single actions: each character has one action in an exchange, and may give it up for a full defense.

Procedures count their own exchanges. Source: Fate Core, "Conflicts"; the source text of `fate`, lines 314-316 and 339.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.table import Table
from rpgres.errors import UsageError
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import Character, State, put
from rpgres.rulesets import Effect, Ruleset, effect

EXCHANGE = "exchange"  # the period
ACTED = "acted"  # the counter of a character whose action is used up, and the effect that uses it
ACTION, DEFENSE = 1, 2  # how the action was used
HELD = 3  # the action is unused, and a full defense of the exchange before still holds


def one_action(state: State, actor: Character, given: Mapping[str, Any]) -> Sequence[Effect]:
    """Return the effects of using up the one action of an exchange; outside of one there are none.

    Raises:
        UsageError: the actor, or the character that gives up its action for a full defense, has none left.
    """
    if EXCHANGE not in state.periods:
        return ()
    if actor.counters.get(ACTED) in (ACTION, DEFENSE):
        raise UsageError(f"{actor.name} has had an action in this exchange; end it with `end {EXCHANGE}`")
    used = [effect(ACTED, to=actor.name, used=ACTION)]
    return used + _defending(state, given) if given.get("full_defense") else used


def _defending(state: State, given: Mapping[str, Any]) -> list[Effect]:
    """Return the effects of a full defense: the defender gives up an action for it, or gave up the last exchange's."""
    who = given.get("defender") or next((one.character for one in given["vs"] if one.character), "")
    if who not in state.characters:
        return []
    before = state.characters[who].counters.get(ACTED)
    if before == ACTION:
        raise UsageError(f"{who} has had an action in this exchange, so there is none to give up for a full defense")
    return [] if before else [effect(ACTED, to=who, used=DEFENSE)]


def register_effects(ruleset: Ruleset) -> None:
    """Register the functions for `acted` and `fresh-turns` with a ruleset."""
    ruleset.effect(ACTED)(use_action)
    ruleset.effect("fresh-turns")(give_actions)
    ruleset.ends(EXCHANGE)(end_exchange)
    for period in ("conflict", "scene"):
        ruleset.ends(period)(_end_defenses)


def use_action(state: State, change: Effect) -> State:
    """Return the state in which a character has used the action of this exchange."""
    who = state.characters.get(change["to"])
    if who is None:
        return state
    return put(state, ("characters", who.name, "counters"), who.counters.with_(ACTED, change["used"]))


def end_exchange(table: Table) -> Sequence[Effect]:
    """Return the effects of the end of an exchange: all may act again; a full defense may hold until the next turn."""
    keeps = table.rules.switches(ConflictSwitches).full_defense == "next-turn"
    return (effect("fresh-turns", defense="held") if keeps else effect("fresh-turns"),)


def _end_defenses(table: Table) -> Sequence[Effect]:
    """Return the effects of the end of a conflict on full defenses, which end with it."""
    keeps = table.rules.switches(ConflictSwitches).full_defense == "next-turn"
    is_held = any(one.counters.get(ACTED) in (DEFENSE, HELD) for one in table.state.characters.values())
    return (effect("fresh-turns"),) if keeps and is_held else ()


def give_actions(state: State, change: Effect) -> State:
    """Return the state in which all may act again."""
    for one in state.characters.values():
        if ACTED in one.counters:
            is_held = change.get("defense") == "held" and one.counters[ACTED] == DEFENSE
            counters = one.counters.with_(ACTED, HELD) if is_held else one.counters.without(ACTED)
            state = state.with_character(msgspec.structs.replace(one, counters=counters))
    return state


def check_none_open(state: State, procedure: str) -> None:
    """Check that no exchange has begun, as a procedure has its own.

    Raises:
        UsageError: one has.
    """
    if EXCHANGE in state.periods:
        raise UsageError(f"a {procedure} counts its own exchanges; end the one that has begun with `end {EXCHANGE}`")
