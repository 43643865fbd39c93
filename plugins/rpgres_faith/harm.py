"""Harm: what a hit does to the one who is hit, by weapon, armour, ammunition and range.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from typing import Any

from rpgres import GM, Character, Effect, Map, Outcome, State, Table, effect, put
from rpgres_faith.declaring import counted
from rpgres_faith.sides import range_loss
from rpgres_faith.switches import Switches

KINDS = {"neural": "neural", "acs": "acs"}  # counters by ammunition, where it is not the physical one


def damage(
    table: Table,
    actor: Character,
    *,
    weapon: int,
    critical: bool = False,
    armour: int = 0,
    ammo: str = "standard",
    range: int = 0,  # noqa: A002  # the option's name
) -> Outcome:
    """Say what a hit does to the actor: its counters lower every skill (S:33, S:71, R:6.9-6.11)."""
    times = table.rules.switches(Switches).critical_multiplier if critical else 1
    hit = Map({"weapon": weapon, "times": times, "worn": armour, "ammo": ammo, "range": range})
    count = counters_of(table.rules.file.settings, hit)
    if range_loss(range):
        table.tell(f"at {range} km the shot had {counted(range_loss(range), 'disadvantage')}")
    name = "hurt" if count else "unhurt"
    outcome = table.settle(name, None, total=count, roles=Map({"actor": actor.name, "opponent": GM}))
    harm = effect("harm", to=actor.name, **{**hit, "count": count, "counter": KINDS.get(ammo, "physical")})
    return outcome.plus([harm] if count else [])


def counters_of(settings: Any, hit: Effect) -> int:
    """Return the damage counters of a hit: multiplied, less range, less armour not ignored (R:6.10)."""
    worn = hit.get("worn", 0)
    ignored = settings["armour-ignored"].get(hit.get("ammo") or "standard", 0)
    if ignored < 0:
        ignored = worn
    raw = hit["weapon"] * hit.get("times", 1) - range_loss(hit.get("range") or 0)
    return int(max(0, raw - max(0, worn - ignored)))


def harm(state: State, change: Effect) -> State:
    """Return the state in which a character has more damage counters."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    name = change["counter"]
    counters = character.counters.with_(name, character.counters.get(name, 0) + change["count"])
    return put(state, ("characters", character.name, "counters"), counters)
