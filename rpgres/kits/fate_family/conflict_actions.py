"""What a fighter does in a turn of a conflict: the decision, attacks, advantages, and looking for aspects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from msgspec.structs import replace as _replace

from rpgres.engine.players import NO
from rpgres.engine.table import Outcome
from rpgres.errors import UsageError, enumerated
from rpgres.kits import harm
from rpgres.kits.aspects.policies import STYLE
from rpgres.kits.fate_family import zones
from rpgres.kits.fate_family.conflict_overcoming import OVERCOME, overcome, resistance
from rpgres.kits.fate_family.conflict_state import TurnUnderWay, foes_of
from rpgres.kits.fate_family.fighters import Fighter, rating_names, room
from rpgres.kits.fate_family.moves import (
    ADVANTAGE,
    TARGET,
    TURN,
    AdvantageOn,
    advantage_on,
    concede,
    make_advantage,
    opposition_of,
)
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import SCENE, Character, Map, slug
from rpgres.parameters.values import Rating
from rpgres.rulesets import Option, unknown

ATTACK, DISCOVER = "attack", "discover"
FULL_DEFENSE, CONCEDE, PASS = "full-defense", "concede", "pass"
_USES = {ATTACK: "attack", ADVANTAGE: "advantage", DISCOVER: "discover", OVERCOME: "overcome"}  # what rates each
_FILLERS = ("with", "using", "on", "against", "vs", "the", "a", "to")


def act(now: TurnUnderWay) -> tuple[str, Outcome | None]:
    """Ask what a character does in a turn, and return it with the result."""
    table, setup, fighter, enemies = now.table, now.setup, now.fighter, now.enemies
    reached = _reached(now, fighter)
    options = _options(
        bool(reached),
        _is_lost(now, enemies),
        now.moves.discover is not None,
        bool(setup.zones),
        table.rules.switches(ConflictSwitches).full_defense != "no",
    )
    text, count = "What do you do in this exchange?", len(enemies)
    about = _foes_in_words(tuple(enemies), tuple(reached), has_zones=bool(setup.zones))
    foes = foes_of(setup, fighter.side)
    facts: dict[str, Any] = {"enemies": count, "reached": len(reached), "foes": foes}
    read = partial(_line, now, options)
    typed = table.ask(
        TURN, fighter.who, options, text=text, words=about, reads=lambda line: read(line)[0], says_more=True, **facts
    )
    did, target, skill = typed, "", ""
    if " " in typed:
        _, did, target, skill = read(typed)
        now.fighter = _using(now, did, skill)
        reached = [one for one in _reached(now, now.fighter) if target in ("", one.who)]
    match did:
        case "attack":
            return did, _attack(now, reached)
        case "create-advantage":
            return did, _advantage(now, reached, target)
        case "discover":
            return did, _discover(now)
        case "overcome":
            return overcome(now, has_means=bool(skill))
        case "concede":
            now.conceded = fighter.who == setup.actor
            return did, concede(table, now.actor)
        case "full-defense":
            now.full = True
    return did, None


def _reached(now: TurnUnderWay, fighter: Fighter) -> list[Fighter]:
    """Return the enemies that a fighter reaches."""
    state, has_zones = now.table.state, bool(now.setup.zones)
    return [one for one in now.enemies if not has_zones or zones.reaches(fighter, now.zone, one, state)]


def _key(text: str) -> str:
    """Return a name as a line at a turn is compared with it: `Captain of the Guard` is `captain-of-guard`."""
    return "-".join(word for word in slug(text).split("-") if word not in _FILLERS)


def _line(now: TurnUnderWay, options: Sequence[Option], typed: str) -> tuple[str, str, str, str]:
    """Return what a line such as `attack voss with athletics` says: as it is kept, the action, the target, the skill.

    Raises:
        UsageError: it says something else.
    """
    words = list(filter(None, map(_key, typed.split())))
    words = words[words[:1] in ([_key(now.fighter.who)], [_key(now.actor.title)]) :]
    did = next((one.name for one in options if words[:1] in ([one.name], [f"{one.name}s"])), "")
    if not did:
        raise UsageError(f"{typed!r} begins with none of: {enumerated([one.name for one in options], typed)}")
    aims, characters = did in (ATTACK, ADVANTAGE), now.table.state.characters
    people = {_key(name): one.who for one in now.enemies for name in (characters[one.who].title, one.who) if aims}
    skills = [*now.actor.abilities, *now.table.rules.file.abilities] if did in _USES else []
    known, rest, said = {**dict(zip(skills, skills, strict=True)), **people}, words[1:], dict[str, str]()
    while rest:
        length = next((length for length in range(len(rest), 0, -1) if "-".join(rest[:length]) in known), 0)
        word = "-".join(rest[:length])
        kind = "target" if word in people else "skill"
        if not length or kind in said:
            more = unknown("target or skill", rest[0], known, of=did)
            raise UsageError(more if known else f"{did} takes no more words; type it alone")
        said[kind], rest = known[word], rest[length:]
    target, skill = said.get("target", ""), said.get("skill", "")
    if target and all(one.who != target for one in _reached(now, _using(now, did, skill))):
        raise UsageError(f"{target} is out of reach")
    return " ".join(filter(None, (did, target, skill and f"with {skill}"))), did, target, skill


def _using(now: TurnUnderWay, did: str, skill: str) -> Fighter:
    """Return the fighter of a turn, who uses a skill for what is done."""
    if not skill:
        return now.fighter
    rating = Rating(now.actor.abilities.get(skill, 0), skill)
    ranged = (
        skill in rating_names(now.table.rules, now.setup.kind, "ranged") if did == ATTACK else now.fighter.is_ranged
    )
    return _replace(now.fighter, **{_USES[did]: rating}, is_ranged=ranged)


@lru_cache(maxsize=256)
def _foes_in_words(enemies: tuple[Fighter, ...], reached: tuple[Fighter, ...], *, has_zones: bool) -> str:
    """Return against whom a turn is taken, and with zones who of them is in reach."""
    near = ", ".join(one.who for one in reached) or "nobody"
    return f"against {', '.join(one.who for one in enemies)}" + (f"; in reach: {near}" if has_zones else "")


def _is_lost(now: TurnUnderWay, enemies: list[Fighter]) -> bool:
    """Tell whether a character has no consequence left to take, while every enemy can take more than a plain hit.

    Stress is not looked at: what a turn does not read, odds need not tell apart.
    """
    slots = now.actor.tracks.get(harm.CONSEQUENCES, ())
    if not slots or not all(slot.mark for slot in slots):
        return False
    state, track = now.table.state, now.setup.track
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


def _attack(now: TurnUnderWay, reached: list[Fighter]) -> Outcome:
    """Return the result of an attack; the target may concede before the roll, and another character may step in."""
    table, setup, fighter = now.table, now.setup, now.fighter
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
    compared = now.compare(fighter.attack, vs)
    return now.moves.attack(table, now.actor, *compared, track=setup.track, full_defense=full)


def _target(now: TurnUnderWay, reached: list[Fighter]) -> Fighter | None:
    """Return who is aimed at: the weakest is liked most."""
    table, state, track = now.table, now.table.state, now.setup.track
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


_GIVE_IN = (
    Option("concede", "Concede before the roll: out on your own terms, with fate points for it.", -1, brief="concede"),
)


def _concedes(now: TurnUnderWay, target: Character) -> bool:
    """Ask whether a character concedes before the roll (Fate Core: any time before a roll is made)."""
    table = now.table
    if table.rules.switches(ConflictSwitches).concede_when == "own-turn":
        return False
    text, about = "Concede before the roll?", f"{now.actor.title or now.fighter.who} attacks"
    setup = now.setup
    foes = foes_of(setup, next(one.side for one in setup.fighters if one.who == target.name))
    if table.ask("concede", target.name, _GIVE_IN, text=text, words=about, optional=True, foes=foes) == NO:
        return False
    now.conceded = target.name == now.setup.actor
    return True


def _defender(now: TurnUnderWay, target: Fighter) -> Fighter:
    """Return who defends: the target, or one of its side who steps in and takes the result (Fate Core)."""
    setup, state = now.setup, now.table.state
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


def _advantage(now: TurnUnderWay, reached: list[Fighter], aimed: str) -> Outcome:
    """Return the result of an advantage on the scene, or on a character who defends against it."""
    table, state = now.table, now.table.state
    people = [_person(state.characters[one.who], -1) for one in reached]
    on = AdvantageOn(aimed) if aimed else advantage_on(table, now.fighter.who, people)
    target = next((one for one in reached if one.who == on.who), None)
    rating = now.fighter.advantage
    if target is None:
        compared = now.compare(rating, resistance(now))
        return make_advantage(table, now.moves, now.actor, *compared, on=_replace(on, who=SCENE))
    by = _defender(now, target)
    compared = now.compare(rating, (opposition_of(table, by.who, by.defense),))
    on, full = _replace(on, who=by.who), by.who in now.place.full
    return make_advantage(table, now.moves, now.actor, *compared, on=on, full_defense=full)


def _discover(now: TurnUnderWay) -> Outcome:
    """Return the result of looking for an aspect that one does not know."""
    assert now.moves.discover is not None
    return now.moves.discover(now.table, now.actor, *now.compare(now.fighter.discover, resistance(now)))
