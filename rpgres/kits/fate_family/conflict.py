"""A conflict: sides that attack each other in turns until one of them is taken out or has conceded.

An exchange is one turn for each fighter, in order; an empty one for who is out, so that every exchange has as many.
Source: Fate Core, "Conflicts" (fate-srd.com); the text `fate` is made from, lines 148-150, 279 and 314-339. What an
action does is the ruleset's, what the end of a conflict does stands in the tables `conflict-*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace as _replace

from rpgres.engine.procedures import Turn
from rpgres.engine.table import Outcome, Table
from rpgres.kits.fate_family import zones
from rpgres.kits.fate_family.conflict_actions import act
from rpgres.kits.fate_family.conflict_overcoming import move_freely
from rpgres.kits.fate_family.conflict_state import OWN_SIDE, Conflict, Setup, TurnUnderWay
from rpgres.kits.fate_family.exchanges import check_none_open
from rpgres.kits.fate_family.fighters import check_fighters, fighter_of, in_order
from rpgres.kits.fate_family.moves import Moves, ending, with_boosts_named
from rpgres.kits.fate_family.settling import fact_map, roles_of
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import Character, Map
from rpgres.rulesets import effect

_BEGINS = effect("conflict", change="begins")


def begin(
    table: Table,
    actor: Character,
    said: Mapping[str, Any],
    others: Sequence[tuple[str, int, Mapping[str, Any]]],
    *,
    kind: str,
    row: str = "",
    order: str = "",
    **stays: Any,
) -> Conflict:
    """Return where a conflict begins: before its first exchange.

    Args:
        table: where it is played.
        actor: from whose side it is seen.
        said: what the actor fights with, as the fields of a form.
        others: who else takes part, on which side, likewise; see `sides_of`.
        kind: physical or mental.
        row: zones in a row, as typed.
        order: who acts first, names separated by commas.
        stays: further fields of `Setup`.

    Raises:
        UsageError: a character cannot take part, or is nowhere.
    """
    check_none_open(table.state, "conflict")
    rules, state = table.rules, table.state
    places = zones.read_zones(row) if row else ()
    fighters = [
        fighter_of(rules, state.characters[name], side, {**its, **zones.start_of(places, name, side, its)}, kind=kind)
        for name, side, its in ((actor.name, OWN_SIDE, said), *others)
    ]
    check_fighters(state, fighters)
    ordered = in_order(table, fighters, kind=kind, first=order)
    keeps = rules.switches(ConflictSwitches).full_defense == "next-turn"
    return Conflict(Setup(ordered, actor.name, kind, zones=places, keeps=keeps, **stays))


def take_turn(moves: Moves, table: Table, place: Conflict) -> Turn | Outcome:
    """Take one turn of a conflict, or end it."""
    if place.turn < 0:
        return _first_exchange(place)
    if (end := _ended(table, place)) is not None:
        return end
    if place.turn == len(place.setup.fighters):
        return _next_exchange(place)
    fighter = place.setup.fighters[place.turn]
    actor = table.state.characters[fighter.who]
    if actor.is_out:
        return Turn(_replace(place, turn=place.turn + 1))
    return _fought(TurnUnderWay(moves, table, place, fighter, actor))


def _first_exchange(place: Conflict) -> Turn:
    """Return the turn with which a conflict begins: everybody is in a zone, where there are any."""
    setup = place.setup
    placed = zones.placed(setup.fighters) if setup.zones else ()
    outcome = Outcome("", effects=(_BEGINS, *placed))
    return Turn(_replace(place, turn=0), outcome, action=f"exchange {place.exchange}")


def _next_exchange(place: Conflict) -> Turn:
    """Return the turn that ends an exchange, and most full defenses with it."""
    setup = place.setup
    after = _replace(place, turn=0, exchange=place.exchange + 1, full=place.full if setup.keeps else ())
    is_last = setup.exchanges is not None and after.exchange > setup.exchanges
    return Turn(after, action="" if is_last else f"exchange {after.exchange}")


def _fought(now: TurnUnderWay) -> Turn:
    """Return the turn of a fighter: a free move, an action, and a move that this may bring."""
    state, fighter = now.table.state, now.fighter
    if now.setup.zones:
        now.zone = zones.zone_of(state, fighter.who)
        if not now.place.again:
            move_freely(now)
    did, outcome = act(now)
    if outcome is not None:
        if now.before or now.after:
            outcome = _replace(outcome, effects=(*now.before, *outcome.effects, *now.after))
        outcome = with_boosts_named(state, outcome)
    elif now.before:
        outcome = Outcome("", effects=now.before)
    return Turn(_next(now), outcome, fighter.who, did, now.ratings)


def _next(now: TurnUnderWay) -> Conflict:
    """Return where the next turn begins, with whose full defense holds then."""
    place, who = now.place, now.fighter.who
    held = place.full
    if now.again:
        return _replace(place, again=True, conceded=place.conceded or now.conceded)
    after = _replace(place, turn=place.turn + 1, again=False)
    if now.full or who in held:
        order = (one.who for one in place.setup.fighters)
        full = tuple(one for one in order if (now.full if one == who else one in held))
        after = _replace(after, full=full)
    return _replace(after, conceded=True) if now.conceded else after


def _ended(table: Table, place: Conflict) -> Outcome | None:
    """Return the outcome of a conflict that is over; None while it goes on."""
    setup, characters = place.setup, table.state.characters
    left = {one.side for one in setup.fighters if not characters[one.who].is_out}
    is_fought = OWN_SIDE in left and len(left) > 1
    if is_fought and (place.turn or setup.exchanges is None or place.exchange <= setup.exchanges):
        return None
    if OWN_SIDE not in left:
        end = "conflict-conceded" if place.conceded else "conflict-lost"
    else:
        end = "conflict-undecided" if len(left) > 1 else "conflict-won"
    return _ending(table, place, end)


def stop(table: Table, place: Conflict) -> Outcome:
    """Return the outcome of a conflict that is broken off."""
    return _ending(table, place, "conflict-undecided")


def _ending(table: Table, place: Conflict, end: str) -> Outcome:
    setup, characters = place.setup, table.state.characters
    opponent = next(one.who for one in setup.fighters if one.side != OWN_SIDE)
    out = [one.who for one in setup.fighters if characters[one.who].is_out]
    ahead = sum(1 if one.side == OWN_SIDE else -1 for one in setup.fighters if one.who not in out)
    is_over = place.turn == 0 and not place.again  # the exchange before: nobody has done anything in this one
    return ending(
        table,
        end,
        ahead,
        roles=roles_of(setup.actor, opponent),
        facts=fact_map(("zones", "yes" if setup.zones else "no")),
        details=Map({"exchanges": place.exchange - is_over, "out": tuple(out)}),
    )
