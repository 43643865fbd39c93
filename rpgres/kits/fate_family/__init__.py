"""Shared code of the Fate family: sides of a roll, the invoke window, settling, policies.

Its data are the kit `fate-family` (`kits = ["fate-family", "aspects", "harm"]` in `ruleset.toml`). An action of a
ruleset adds up the actor's modifiers (`effort`), finds the defender (`defense`), rolls (`roll_off`) and settles
(`settle`). Nothing here names an action or an outcome.

Source: Fate Core and Fate Accelerated, "Actions and Outcomes", "Teamwork", "Conflicts" (fate-srd.com).
"""

from __future__ import annotations

from rpgres.kits import aspects, harm
from rpgres.kits.fate_family import exchanges
from rpgres.kits.fate_family.moves import VICTORY, ZONES
from rpgres.kits.fate_family.rolls import NEXT
from rpgres.kits.fate_family.switches import ConflictSwitches, ContestSwitches
from rpgres.model.state import Map, State, put
from rpgres.rulesets import Effect, Ruleset
from rpgres.rulesets.kits import Kit, NoSettings


def register(ruleset: Ruleset) -> None:
    """Register this kit and the kits `aspects` and `harm` with a ruleset."""
    for kit in (aspects.KIT, harm.KIT, KIT):
        ruleset.use(kit)


def _register(ruleset: Ruleset, _settings: NoSettings) -> None:
    ruleset.effect("goal")(harm.unchanged)
    ruleset.effect("cost")(harm.unchanged)
    ruleset.effect(VICTORY)(harm.unchanged)
    ruleset.switches(ContestSwitches)
    ruleset.switches(ConflictSwitches)
    exchanges.register_effects(ruleset)
    ruleset.effect("move")(move)
    ruleset.effect("leave")(leave_zones)
    ruleset.effect("opposition")(change_opposition)


KIT = Kit("fate-family", _register)


def change_opposition(state: State, change: Effect) -> State:
    """Return the state in which a character's next action is harder; a fixed difficulty is ignored."""
    who = state.characters.get(change.get("to", ""))
    if who is None or "change" not in change:
        return state
    raised = max(0, who.counters.get(NEXT, 0) + change["change"])
    return put(state, ("characters", who.name, "counters"), who.counters.with_(NEXT, raised))


def move(state: State, change: Effect) -> State:
    """Return the state with a character in another zone."""
    where = state.things.get(ZONES, Map())
    return put(state, ("things",), state.things.with_(ZONES, where.with_(change["to"], change["zone"])))


def leave_zones(state: State, _effect: Effect) -> State:
    """Return the state without zones, as a conflict is over."""
    return put(state, ("things",), state.things.without(ZONES)) if ZONES in state.things else state
