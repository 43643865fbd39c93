"""Zones of a conflict: places in a row, the positions of characters, and the difficulty of moving.

Positions are the thing `zones` of the table. Source: Fate Core, "Conflicts", "Zones" and "Movement".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rpgres.errors import UsageError, enumerated, named
from rpgres.kits.fate_family.fighters import Fighter
from rpgres.kits.fate_family.moves import ZONES
from rpgres.model.state import EMPTY, State, slug
from rpgres.rulesets import Effect, effect

STEPS = 2  # zones that a character can cross with a roll

Row = tuple[tuple[str, int], ...]  # zones in a row, each with the difficulty of getting into it


def read_zones(text: str) -> Row:
    """Return zones as they are typed: `deck, gangway:2, quay`, a number being the difficulty of getting in.

    Raises:
        UsageError: there are fewer than two, one twice, or a difficulty is no number.
    """
    found: dict[str, int] = {}
    for part in filter(str.strip, text.split(",")):
        name, colon, number = part.partition(":")
        if not slug(name):
            raise UsageError(f"{named('zones')}: {part.strip()!r} has no name")
        if colon and not number.strip().isdecimal():
            raise UsageError(f"{named('zones')}: {name.strip()} takes a difficulty after :, not {number.strip()!r}")
        if slug(name) in found:
            raise UsageError(f"{named('zones')}: {slug(name)} is named twice")
        found[slug(name)] = int(number) if colon else 0
    if len(found) < 2:
        raise UsageError(f"{named('zones')} takes two zones or more, separated by commas")
    return tuple(found.items())


def start_of(row: Row, name: str, side: int, said: Mapping[str, Any]) -> dict[str, str]:
    """Return the first zone of a character: as typed, else the first zone for the actor's side and the last for others.

    Raises:
        UsageError: there is no such zone.
    """
    names = [zone for zone, _ in row]
    if said.get("zone") and slug(said["zone"]) not in names:
        known = enumerated(names, none=f"none; give {named('zones')}")
        raise UsageError(f"{name}: there is no zone {said['zone']!r}; there are: {known}")
    if not row:
        return {}
    return {"zone": slug(said["zone"]) if said.get("zone") else names[-1 if side else 0]}


def placed(fighters: Sequence[Fighter]) -> tuple[Effect, ...]:
    """Return the effects that put the fighters into their zones."""
    return tuple(effect("move", to=one.who, zone=one.zone) for one in fighters)


def zone_of(state: State, who: str) -> str:
    """Return the zone of a character."""
    zone: str = state.things.get(ZONES, EMPTY).get(who, "")
    return zone


def reaches(fighter: Fighter, zone: str, enemy: Fighter, state: State) -> bool:
    """Tell whether a character in a zone can attack another character."""
    return fighter.is_ranged or zone_of(state, enemy.who) == zone


def difficulty(row: Row, zone: str, to: str) -> int:
    """Return the highest difficulty on the way from one zone to another."""
    names = [name for name, _ in row]
    here, there = names.index(zone), names.index(to)
    way = row[here + 1 : there + 1] if there > here else row[there:here]
    return max((number for _, number in way), default=0)


def next_to(row: Row, zone: str, *, free: bool = False) -> list[str]:
    """Return the neighbours of a zone; with `free` only those without a difficulty."""
    pairs = [pair for one, other in pairwise(row) for pair in ((one, other), (other, one))]
    return [to for (name, _), (to, hindered) in pairs if name == zone and not (free and hindered)]


def within_two(row: Row, zone: str) -> list[str]:
    """Return the zones that a roll may lead to."""
    names = [name for name, _ in row]
    here = names.index(zone)
    return [name for number, name in enumerate(names) if 0 < abs(number - here) <= STEPS]


def towards(row: Row, zone: str, enemies: Sequence[str], fighter: Fighter) -> str:
    """Return the neighbour on the way to the nearest enemy; empty where one is in reach."""
    names = [name for name, _ in row]
    here = names.index(zone)
    places = [names.index(enemy) for enemy in enemies if enemy in names]
    if fighter.is_ranged or not places or here in places:
        return ""
    nearest = min(places, key=lambda place: abs(place - here))
    return names[here + (1 if nearest > here else -1)]
