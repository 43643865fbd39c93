"""A conflict: sides that attack each other in turns until one of them is taken out or has conceded.

An exchange is one turn for each fighter, in order; an empty one for who is out, so that every exchange has as many.
Source: Fate Core, "Conflicts" (fate-srd.com); the text `fate` is made from, lines 148-150, 279 and 314-339. What an
action does is the ruleset's, what the end of a conflict does stands in the tables `conflict-*`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace as _replace

from rpgres.engine.players import NO
from rpgres.engine.procedures import Turn
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError
from rpgres.kits import aspects, harm
from rpgres.kits.aspects.policies import STYLE
from rpgres.kits.fate_family import zones
from rpgres.kits.fate_family.exchanges import check_none_open
from rpgres.kits.fate_family.fighters import Fighter, check_fighters, fighter_of, in_order, room
from rpgres.kits.fate_family.moves import (
    ADVANTAGE,
    ASPECT,
    SCENERY,
    TARGET,
    TURN,
    Moves,
    advantage_on,
    concede,
    ending,
    make_advantage,
    opposition_of,
    which_aspect,
    with_boosts_named,
)
from rpgres.kits.fate_family.settling import fact_map, roles_of
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import GM, SCENE, Character, Map
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import Effect, Option, effect

ATTACK, OVERCOME, DISCOVER, MOVE = "attack", "overcome", "discover", "move"
FULL_DEFENSE, CONCEDE, PASS = "full-defense", "concede", "pass"
_BEGINS = effect("conflict", change="begins")
_OPPOSE = (Option("oppose", "Roll against it, in place of the difficulty."),)
_MOVE = Option("zone", "The way to another zone.", 1)
_ENDS = Option(ASPECT, "An aspect that was created in play, for good.", -1)
_REST = Option(SCENERY.name, "Something else that is in the way.")


class Setup(msgspec.Struct, frozen=True, cache_hash=True):
    """What stays as it is through a conflict.

    Attributes:
        fighters: who takes part, in the order of their turns.
        actor: from whose side it is seen.
        kind: physical or mental.
        track: which stress hits go to.
        difficulty: of what is tried against the surroundings.
        zones: the zones in a row, each with the difficulty of getting into it; none where it is all one place.
        exchanges: after how many the conflict ends undecided; None for no limit.
        keeps: whether a full defense holds until its owner's next turn, and not only to the end of the exchange.
    """

    fighters: tuple[Fighter, ...]
    actor: str
    kind: str
    track: str
    difficulty: int = 2
    zones: tuple[tuple[str, int], ...] = ()
    exchanges: int | None = None
    keeps: bool = False


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
        for name, side, its in ((actor.name, 0, said), *others)
    ]
    check_fighters(state, fighters)
    ordered = in_order(table, fighters, kind=kind, first=order)
    keeps = rules.switches(ConflictSwitches).full_defense == "next-turn"
    return Conflict(Setup(ordered, actor.name, kind, zones=places, keeps=keeps, **stays))


class Conflict(msgspec.Struct, frozen=True):
    """Where a conflict stands.

    Attributes:
        setup: what stays.
        turn: whose turn it is, by the place in the order; behind the last one the exchange ends, and before the first
            exchange it is -1.
        exchange: which exchange it is, from 1; only the turns that begin or end one read it.
        full: who has given up the action for a full defense that still holds.
        conceded: whether the actor has conceded.
        again: whether the turn goes on: whom it was aimed at has conceded before the roll.
    """

    setup: Setup
    turn: int = -1
    exchange: int = 1
    full: tuple[str, ...] = ()
    conceded: bool = False
    again: bool = False


class _Turn(msgspec.Struct, gc=False):
    """One turn under way: who has it, and what has been done in it so far."""

    moves: Moves
    table: Table
    place: Conflict
    fighter: Fighter
    actor: Character
    zone: str = ""
    before: tuple[Effect, ...] = ()  # a free move
    after: tuple[Effect, ...] = ()
    full: bool = False
    conceded: bool = False
    again: bool = False

    @property
    def enemies(self) -> list[Fighter]:
        """Who fights on another side, and is not out."""
        characters, own = self.table.state.characters, self.fighter.side
        return [one for one in self.place.setup.fighters if one.side != own and not characters[one.who].is_out]


def take_turn(moves: Moves, table: Table, place: Conflict) -> Turn | Outcome:
    """Take one turn of a conflict, or end it."""
    setup, state, turn = place.setup, table.state, place.turn
    if turn < 0:
        placed = zones.placed(setup.fighters) if setup.zones else ()
        return Turn(
            _replace(place, turn=0), Outcome("", effects=(_BEGINS, *placed)), action=f"exchange {place.exchange}"
        )
    if (end := _ended(table, place)) is not None:
        return end
    if turn == len(setup.fighters):
        after = _replace(place, turn=0, exchange=place.exchange + 1, full=place.full if setup.keeps else ())
        is_last = setup.exchanges is not None and after.exchange > setup.exchanges
        return Turn(after, action="" if is_last else f"exchange {after.exchange}")
    fighter = setup.fighters[turn]
    actor = state.characters[fighter.who]
    if actor.is_out:
        return Turn(_replace(place, turn=turn + 1))
    now = _Turn(moves, table, place, fighter, actor)
    if setup.zones:
        now.zone = zones.zone_of(state, fighter.who)
        if not place.again:
            _move_freely(now)
    did, outcome = _act(now)
    if outcome is not None:
        if now.before or now.after:
            outcome = _replace(outcome, effects=(*now.before, *outcome.effects, *now.after))
        outcome = with_boosts_named(state, outcome)
    elif now.before:
        outcome = Outcome("", effects=now.before)
    return Turn(_next(now), outcome, fighter.who, did)


def _next(now: _Turn) -> Conflict:
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
    standing = {one.side for one in setup.fighters if not characters[one.who].is_out}
    is_fought = 0 in standing and len(standing) > 1  # the actor's side is 0
    if is_fought and (place.turn or setup.exchanges is None or place.exchange <= setup.exchanges):
        return None
    if 0 not in standing:
        end = "conflict-conceded" if place.conceded else "conflict-lost"
    else:
        end = "conflict-undecided" if len(standing) > 1 else "conflict-won"
    return _ending(table, place, end)


def stop(table: Table, place: Conflict) -> Outcome:
    """Return the outcome of a conflict that is broken off."""
    return _ending(table, place, "conflict-undecided")


def _ending(table: Table, place: Conflict, end: str) -> Outcome:
    setup, characters, own = place.setup, table.state.characters, 0
    opponent = next(one.who for one in setup.fighters if one.side != own)
    out = [one.who for one in setup.fighters if characters[one.who].is_out]
    left = [sum(one.who not in out for one in setup.fighters if (one.side == own) is mine) for mine in (True, False)]
    is_over = place.turn == 0 and not place.again  # the exchange before: nobody has done anything in this one
    return ending(
        table,
        end,
        left[0] - left[1],
        roles=roles_of(setup.actor, opponent),
        facts=fact_map(("zones", "yes" if setup.zones else "no")),
        details=Map({"exchanges": place.exchange - is_over, "out": tuple(out)}),
    )


# ---------------------------------------------------------------------------------------------------------------------
# What a character does


def _act(now: _Turn) -> tuple[str, Outcome | None]:
    """Ask what a character does in a turn, and return it with the result."""
    table, place, fighter, state = now.table, now.place, now.fighter, now.table.state
    setup, enemies = place.setup, now.enemies
    reached = [one for one in enemies if not setup.zones or zones.reaches(fighter, now.zone, one, state)]
    options = _options(
        bool(reached),
        _is_lost(now, enemies),
        now.moves.discover is not None,
        bool(setup.zones),
        table.rules.switches(ConflictSwitches).full_defense != "no",
    )
    text, count = "What do you do in this exchange?", len(enemies)
    about = _foes_in_words(tuple(enemies), tuple(reached), has_zones=bool(setup.zones))
    foes = _foes(setup, fighter.side)
    did = table.ask(TURN, fighter.who, options, text=text, words=about, enemies=count, reached=len(reached), foes=foes)
    match did:
        case "attack":
            return did, _attack(now, reached)
        case "create-advantage":
            return did, _advantage(now, reached)
        case "discover":
            return did, _discover(now)
        case "overcome":
            return _overcome(now)
        case "concede":
            now.conceded = fighter.who == setup.actor
            return did, concede(table, now.actor)
        case "full-defense":
            now.full = True
    return did, None


@lru_cache(maxsize=256)
def _foes_in_words(enemies: tuple[Fighter, ...], reached: tuple[Fighter, ...], *, has_zones: bool) -> str:
    """Return against whom a turn is taken, and with zones who of them is in reach."""
    near = ", ".join(one.who for one in reached) or "nobody"
    return f"against {', '.join(one.who for one in enemies)}" + (f"; in reach: {near}" if has_zones else "")


def _is_lost(now: _Turn, enemies: list[Fighter]) -> bool:
    """Tell whether a character has no consequence left to take, while every enemy can take more than a plain hit.

    Stress is not looked at: what a turn does not read, odds need not tell apart.
    """
    slots = now.actor.tracks.get(harm.CONSEQUENCES, ())
    if not slots or not all(slot.mark for slot in slots):
        return False
    state, track = now.table.state, now.place.setup.track
    return min([room(state.characters[one.who], track) for one in enemies]) >= STYLE


@lru_cache(maxsize=64)
def _options(attacks: bool, loses: bool, discovers: bool, has_zones: bool, defends: bool) -> tuple[Option, ...]:
    """Return what can be done in a turn; what is liked most is an attack, or to give in when there is no hope."""
    found = [
        Option(ATTACK, "Attack somebody.", 2, brief=ATTACK) if attacks else None,
        Option(ADVANTAGE, "Create an advantage.", 0 if attacks or has_zones else 1, brief=ADVANTAGE),
        Option(DISCOVER, "Find out an aspect.", -1, brief=DISCOVER) if discovers else None,
        Option(OVERCOME, "Move with a roll, or overcome something else.", 1, brief="overcome (move)")
        if has_zones
        else Option(OVERCOME, "Overcome what is in the way, or end an aspect.", -1, brief=OVERCOME),
        Option(FULL_DEFENSE, "Give up the action: +2 to every defense.", -1, brief=FULL_DEFENSE) if defends else None,
        Option(PASS, "Do nothing.", -2, brief=PASS),
        Option(CONCEDE, "Concede: out on your own terms, with fate points for it.", 3 if loses else -3, brief=CONCEDE),
    ]
    return tuple(one for one in found if one is not None)


def _attack(now: _Turn, reached: list[Fighter]) -> Outcome:
    """Return the result of an attack; the target may concede before the roll, and another character may step in."""
    table, setup, fighter = now.table, now.place.setup, now.fighter
    target = _target(now, reached)
    if target is None:
        return Outcome("")
    struck = table.state.characters[target.who]
    if _concedes(now, struck):
        now.again = True
        return concede(table, struck)
    by = _defender(now, target)
    full = by.who in now.place.full
    defense = by.defense_against(fighter.attack)
    vs = (opposition_of(table, by.who, defense),)
    table.carries((ATTACK, fighter.who, now.before, now.zone, now.conceded))
    table.merge((fighter.attack, by.who, defense, full, setup.track), holds=("state",))
    return now.moves.attack(table, now.actor, fighter.attack, vs, track=setup.track, full_defense=full)


def _target(now: _Turn, reached: list[Fighter]) -> Fighter | None:
    """Return who is aimed at: the weakest is liked most."""
    table, state, track = now.table, now.table.state, now.place.setup.track
    if not reached:
        return None
    is_one = len(reached) == 1  # whose room need not be known
    people = [state.characters[one.who] for one in reached]
    options = [_person(one, 0 if is_one else -room(one, track)) for one in people]
    name = table.ask(TARGET, now.fighter.who, tuple(options), text="Whom?")
    return next(one for one in reached if one.who == name)


@lru_cache(maxsize=1024)
def _option(name: str, title: str, prefer: int) -> Option:
    return Option(name, f"{title}.", prefer, Map({"room": -prefer}))


def _person(character: Character, prefer: int) -> Option:
    """Return a character as an option, with how much more they can take."""
    return _option(character.name, character.title or character.name, prefer)


@lru_cache(maxsize=256)
def _foes(setup: Setup, side: int) -> tuple[str, ...]:
    """Return the fighters of other sides, so that standing orders know who the enemies are."""
    return tuple(one.who for one in setup.fighters if one.side != side)


_GIVE_IN = (
    Option("concede", "Concede before the roll: out on your own terms, with fate points for it.", -1, brief="concede"),
)


def _concedes(now: _Turn, target: Character) -> bool:
    """Ask whether a character concedes before the roll (Fate Core: any time before a roll is made)."""
    table = now.table
    if table.rules.switches(ConflictSwitches).concede_when == "own-turn":
        return False
    text, about = "Concede before the roll?", f"{now.actor.title or now.fighter.who} attacks"
    setup = now.place.setup
    foes = _foes(setup, next(one.side for one in setup.fighters if one.who == target.name))
    if table.ask("concede", target.name, _GIVE_IN, text=text, words=about, optional=True, foes=foes) == NO:
        return False
    now.conceded = target.name == now.place.setup.actor
    return True


def _defender(now: _Turn, target: Fighter) -> Fighter:
    """Return who defends: the target, or one of its side who steps in and takes the result (Fate Core)."""
    setup, state = now.place.setup, now.table.state
    for one in setup.fighters:
        if one.side != target.side or one is target or state.characters[one.who].is_out:
            continue
        if setup.zones and zones.zone_of(state, one.who) != zones.zone_of(state, target.who):
            continue
        text = f"Step in between, and take what comes of it in place of {target.who}?"
        step = (Option("step-in", f"Defend in place of {target.who}."),)
        if now.table.ask("defender", one.who, step, text=text, optional=True, of=target.who) != NO:
            return one
    return target


def _advantage(now: _Turn, reached: list[Fighter]) -> Outcome:
    """Return the result of an advantage on the scene, or on a character who defends against it."""
    table, state = now.table, now.table.state
    people = [_person(state.characters[one.who], -1) for one in reached]
    on, existing = advantage_on(table, now.fighter.who, people)
    target = next((one for one in reached if one.who == on), None)
    rating = now.fighter.advantage
    if target is None:
        return make_advantage(table, now.moves, now.actor, rating, on=SCENE, vs=_resistance(now), existing=existing)
    by = _defender(now, target)
    vs, full = (opposition_of(table, by.who, by.defense),), by.who in now.place.full
    return make_advantage(table, now.moves, now.actor, rating, on=by.who, vs=vs, existing=existing, full_defense=full)


def _discover(now: _Turn) -> Outcome:
    """Return the result of looking for an aspect that one does not know."""
    assert now.moves.discover is not None
    return now.moves.discover(now.table, now.actor, now.fighter.discover, _resistance(now))


def _resistance(now: _Turn, *, asks: bool = False) -> tuple[Opposition, ...]:
    """Return what is in the way of an action that is against nobody: an enemy who interferes, or a difficulty.

    Interfering is no action, so anybody may who is there (A:47, A:242, A:353-357); a full defense does not help it.
    """
    table, setup, state = now.table, now.place.setup, now.table.state
    for one in now.enemies:
        if setup.zones and not one.is_ranged and zones.zone_of(state, one.who) != now.zone:
            continue
        text = f"Stand in the way of {now.fighter.who}? It is no action."
        if table.ask("oppose", one.who, _OPPOSE, text=text, optional=True, of=now.fighter.who) != NO:
            return (opposition_of(table, one.who, one.defense),)
    return (Opposition(_difficulty(now) if asks else setup.difficulty),)


# ---------------------------------------------------------------------------------------------------------------------
# Overcoming


def _overcome(now: _Turn) -> tuple[str, Outcome]:
    """Overcome the way to another zone, an aspect, or anything else (A:125, A:150), and return what that is called."""
    table, setup, who = now.table, now.place.setup, now.fighter.who
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
    rating = _rating(now)
    return OVERCOME, now.moves.overcome(table, now.actor, rating, _resistance(now, asks=True), **how)


def _rating(now: _Turn) -> Rating:
    """Return what is rolled to overcome something: the usual, or what else on the sheet the people find fitting."""
    usual, abilities = now.fighter.overcome, now.actor.abilities
    others = [Option(name, f"{name} {value:+d}.") for name, value in abilities.items() if name != usual.name]
    said = now.table.ask(
        "means", now.fighter.who, (_usual(usual.name, usual.value),), text="With what?", optional=True, aside=others
    )
    return usual if said in (NO, "usual") else Rating(abilities[said], said)


def _difficulty(now: _Turn) -> int:
    """Return how hard it is to overcome something: as at the beginning, unless the game master has it otherwise."""
    usual = now.place.setup.difficulty
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


# ---------------------------------------------------------------------------------------------------------------------
# Zones


def _move_freely(now: _Turn) -> None:
    """Let a character move one zone for nothing, where nothing is in the way, before the action."""
    table, setup, fighter = now.table, now.place.setup, now.fighter
    free = [] if _in_the_way(now) else zones.next_to(setup.zones, now.zone, free=True)
    wanted = _wanted(now)
    options = tuple(Option(zone, f"Move to {zone}.", int(zone == wanted)) for zone in free)
    to = table.ask(MOVE, fighter.who, options, text=f"Move from {now.zone}?", optional=True)
    if to != NO:
        now.zone = to
        now.before = (effect("move", to=fighter.who, zone=to),)


def _wanted(now: _Turn) -> str:
    """Return the zone on the way to the nearest enemy; empty where one is in reach."""
    there = [zones.zone_of(now.table.state, one.who) for one in now.enemies]
    return zones.towards(now.place.setup.zones, now.zone, there, now.fighter)


def _in_the_way(now: _Turn) -> list[Fighter]:
    """Return the enemies in the same zone who block the way."""
    state = now.table.state
    return [one for one in now.enemies if one.blocks and zones.zone_of(state, one.who) == now.zone]


def _cross(now: _Turn, near: Sequence[str]) -> Outcome:
    """Return the result of moving with a roll, as far as two zones (Fate Core, "Movement")."""
    table, setup, fighter = now.table, now.place.setup, now.fighter
    wanted = _wanted(now)
    options = tuple(Option(zone, f"To {zone}.", int(zone == wanted)) for zone in near)
    to = table.ask("zone", fighter.who, options, text="Where to?")
    way = _in_the_way(now)
    vs = tuple(opposition_of(table, one.who, one.defense) for one in way[:1])
    if not vs:
        vs = (Opposition(zones.difficulty(setup.zones, now.zone, to) or setup.difficulty),)
    outcome = now.moves.cross(table, now.actor, fighter.move, vs)
    if any(one["kind"] == "goal" for one in outcome.effects):
        now.after = (effect("move", to=fighter.who, zone=to),)
    return outcome
