"""Overcoming in a conflict: the way to another zone, an aspect, or anything else; and who stands in the way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rpgres.engine.players import NO
from rpgres.engine.table import Outcome
from rpgres.errors import UsageError
from rpgres.kits import aspects
from rpgres.kits.fate_family import zones
from rpgres.kits.fate_family.conflict_state import TurnUnderWay
from rpgres.kits.fate_family.fighters import Fighter
from rpgres.kits.fate_family.moves import ASPECT, SCENERY, TARGET, opposition_of, which_aspect
from rpgres.model.state import GM, SCENE
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import Option, effect

OVERCOME, MOVE = "overcome", "move"
_OPPOSE = (Option("oppose", "Roll against it, in place of the difficulty."),)
_MOVE = Option("zone", "The way to another zone.", 1)
_ENDS = Option(ASPECT, "An aspect that was created in play, for good.", -1)
_REST = Option(SCENERY.name, "Something else that is in the way.")


def overcome(now: TurnUnderWay, *, has_means: bool = False) -> tuple[str, Outcome]:
    """Overcome the way to another zone, an aspect, or anything else (A:125, A:150), and return what that is called.

    Args:
        has_means: whether the skill was named with the action.
    """
    table, setup, who = now.table, now.setup, now.fighter.who
    near = zones.within_two(setup.zones, now.zone) if setup.zones else []
    characters = table.state.characters
    mine = [one.who for one in setup.fighters if one.side == now.fighter.side and not characters[one.who].is_out]
    there = aspects.public_on(table.state, (SCENE, *mine, *[one.who for one in now.enemies]))
    tags = [tag for tag in there if aspects.goes_with_scene(tag)]
    options = [*([_MOVE] if near else ()), *([_ENDS] if tags else ()), _REST]
    what = table.ask(TARGET, who, tuple(options), text="Overcome what?")
    if what == _MOVE.name:
        return MOVE, _cross(now, near)
    how = {"removes": which_aspect(table, who, tags, text="Which aspect?").name} if what == ASPECT else {}
    rating = now.fighter.overcome if has_means else _rating(now)
    compared = now.compare(rating, resistance(now, asks=True))
    return OVERCOME, now.moves.overcome(table, now.actor, *compared, **how)


def _rating(now: TurnUnderWay) -> Rating:
    """Return what is rolled to overcome something: the usual, or what else on the sheet the people find fitting."""
    usual, abilities = now.fighter.overcome, now.actor.abilities
    others = [Option(name, f"{name} {value:+d}.") for name, value in abilities.items() if name != usual.name]
    said = now.table.ask(
        "means", now.fighter.who, (_usual(usual.name, usual.value),), text="With what?", optional=True, aside=others
    )
    return usual if said in (NO, "usual") else Rating(abilities[said], said)


def _difficulty(now: TurnUnderWay) -> int:
    """Return how hard it is to overcome something: as at the beginning, unless the game master has it otherwise."""
    usual = now.setup.difficulty
    text = "Against what difficulty?"
    said = now.table.ask(
        "obstacle", GM, (_usual("", usual),), text=text, optional=True, reads=_number, form="N", of=now.fighter.who
    )
    return usual if said in (NO, "usual") else int(said)


@lru_cache(maxsize=64)
def _usual(name: str, value: int) -> Option:
    return Option("usual", f"{name} {value:+d}.".strip(), passes=True)


def _number(text: str) -> str:
    """Return a typed difficulty."""
    if not re.fullmatch(r"[+-]?[0-9]{1,3}", text):
        raise UsageError(f"a difficulty is a whole number, such as 3, not {text!r}")
    return str(int(text))


def resistance(now: TurnUnderWay, *, asks: bool = False) -> tuple[Opposition, ...]:
    """Return the opposition of an action without an opponent: an enemy who interferes, or a difficulty.

    Interfering is no action, so anybody may who is there (A:47, A:242, A:353-357); a full defense does not help it.
    """
    table, setup, state = now.table, now.setup, now.table.state
    for one in now.enemies:
        if setup.zones and not one.is_ranged and zones.zone_of(state, one.who) != now.zone:
            continue
        text = f"Stand in the way of {now.fighter.who}? It is no action."
        if table.ask("oppose", one.who, _OPPOSE, text=text, optional=True, of=now.fighter.who) != NO:
            return (opposition_of(table, one.who, one.defense),)
    return (Opposition(_difficulty(now) if asks else setup.difficulty),)


# ---------------------------------------------------------------------------------------------------------------------
# Movement


def move_freely(now: TurnUnderWay) -> None:
    """Let a character move one zone for nothing, where nothing is in the way, before the action."""
    table, setup, fighter = now.table, now.setup, now.fighter
    free = [] if _in_the_way(now) else zones.next_to(setup.zones, now.zone, free=True)
    wanted = _wanted(now)
    options = tuple(Option(zone, f"Move to {zone}.", int(zone == wanted)) for zone in free)
    to = table.ask(MOVE, fighter.who, options, text=f"Move from {now.zone}?", optional=True)
    if to != NO:
        now.zone = to
        now.before = (effect("move", to=fighter.who, zone=to),)


def _wanted(now: TurnUnderWay) -> str:
    """Return the zone on the way to the nearest enemy; empty where one is in reach."""
    there = [zones.zone_of(now.table.state, one.who) for one in now.enemies]
    return zones.towards(now.setup.zones, now.zone, there, now.fighter)


def _in_the_way(now: TurnUnderWay) -> list[Fighter]:
    """Return the enemies in the same zone who block the way."""
    state = now.table.state
    return [one for one in now.enemies if one.blocks and zones.zone_of(state, one.who) == now.zone]


def _cross(now: TurnUnderWay, near: Sequence[str]) -> Outcome:
    """Return the result of moving with a roll, as far as two zones (Fate Core, "Movement")."""
    table, setup, fighter = now.table, now.setup, now.fighter
    wanted = _wanted(now)
    options = tuple(Option(zone, f"To {zone}.", int(zone == wanted)) for zone in near)
    to = table.ask("zone", fighter.who, options, text="Where to?")
    way = _in_the_way(now)
    vs = tuple(opposition_of(table, one.who, one.defense) for one in way[:1])
    if not vs:
        vs = (Opposition(zones.difficulty(setup.zones, now.zone, to) or setup.difficulty),)
    outcome = now.moves.cross(table, now.actor, *now.compare(fighter.move, vs))
    if any(one["kind"] == "goal" for one in outcome.effects):
        now.after = (effect("move", to=fighter.who, zone=to),)
    return outcome
