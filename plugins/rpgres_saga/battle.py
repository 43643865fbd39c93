"""Exchanges of heroes against the game master's people, one after the other until a side is out.

In an exchange the game master's card is revealed for all actions (S:13); each hero attacks, each foe is answered,
and harm is paid. All is acted from the heroes' side: foes have an ability and points, and no hand. What no text says of
it is in `rulesets/saga/SOURCES.md`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rpgres import GM, Character, Map, Opposition, Option, Outcome, Rating, Table, Turn, UsageError, named, slug
from rpgres_saga.acting import acted
from rpgres_saga.difficulty import EXCHANGE, closing, levels, lowered, plain
from rpgres_saga.hands import has_points, hero_of
from rpgres_saga.harm import damage
from rpgres_saga.switches import Switches


class Means(msgspec.Struct, frozen=True):
    """With what both sides fight, the same in all exchanges.

    Attributes:
        heroes, foes: who fights on either side, in the order in which they act.
        level: the difficulty before opposition, and before skills.
        attack, defend: the abilities of heroes.
        foe_attack, foe_defend: the abilities of foes.
        skills: the skills that help.
        dire: whether heroes may push.
        exchanges: after how many it ends undecided.
    """

    heroes: tuple[str, ...]
    foes: tuple[str, ...]
    level: int
    attack: str
    defend: str
    foe_attack: str
    foe_defend: str
    skills: tuple[str, ...]
    dire: bool
    exchanges: int


class Blow(msgspec.Struct, frozen=True):
    """An attack that was not warded off: who struck, whom, and with how much harm."""

    by: str
    on: str
    harm: int


class Front(msgspec.Struct, frozen=True):
    """Where a battle stands, beside the state of the table.

    Attributes:
        means: who fights, and with what.
        exchange: which exchange it is, from 1.
        queue: who still attacks in this exchange.
        blows: what has still to be paid for.
    """

    means: Means
    exchange: int
    queue: tuple[str, ...] = ()
    blows: tuple[Blow, ...] = ()


def battle(
    table: Table,
    actor: Character,
    *,
    against: Sequence[str] = (),
    beside: Sequence[str] = (),
    level: Opposition | None = None,
    attack: str = "strength",
    defend: str = "agility",
    foe_attack: str | None = None,
    foe_defend: str | None = None,
    skill: Sequence[str] = (),
    dire: bool = False,
    exchanges: int = 1,
) -> Front:
    """Return where a battle, or a single exchange, begins.

    Raises:
        UsageError: a character is out, or on a side that cannot be theirs, or lacks an ability.
    """
    if EXCHANGE in table.state.periods:
        raise UsageError("an exchange has begun; end it first, as this begins and ends its own")
    heroes = tuple(dict.fromkeys((actor.name, *beside)))
    there = table.state.characters.items()
    foes = against or [name for name, one in there if has_points(one) and not one.is_out and name not in heroes]
    if not foes:
        message = f"nobody to fight; name the foes with {named('against')}, each with a sheet and `health`"
        raise UsageError(message, path=("against",), reason="missing")
    attack, defend = slug(attack), slug(defend)
    theirs = slug(foe_attack or attack), slug(foe_defend or defend)
    difficulty = plain(level, named("level"))
    means = Means(
        heroes, tuple(dict.fromkeys(foes)), difficulty, attack, defend, *theirs, tuple(skill), dire, exchanges
    )
    _check(table, means)
    return _begun(table, means, 1)


def _check(table: Table, means: Means) -> None:
    """Check that both sides can fight.

    Raises:
        UsageError: they cannot.
    """
    characters = table.state.characters
    sides = (means.heroes, (means.attack, means.defend)), (means.foes, (means.foe_attack, means.foe_defend))
    for names, abilities in sides:
        for name in names:
            fighter = characters[name]
            if fighter.is_out:
                raise UsageError(f"{name} is out, and cannot fight")
            lacking = next((ability for ability in abilities if ability not in fighter.abilities), None)
            if lacking is not None:
                known = ", ".join(fighter.abilities) or "none"
                raise UsageError(f"{name} has no ability {lacking!r}; there are: {known}")
    for name in means.heroes:
        if has_points(characters[name]):
            raise UsageError(
                f"{name} has points and no hand: heroes fight with cards, and {named('against')} names foes"
            )
    for name in means.foes:
        if name in means.heroes:
            raise UsageError(f"{named('against')} {name}: {name} is on the heroes' side")
        if not characters[name].counters.get("health", 0):
            raise UsageError(f"{name} has no points (`health`); hero against hero is `versus`")
    skills = {slug(one): one for name in means.heroes for one in characters[name].records.get("skills", Map())}
    for one in means.skills:
        if slug(one) not in skills:
            listed = ", ".join(skills.values()) or "none"
            raise UsageError(f"{named('skill')} {one}: no hero's sheet has it; there are: {listed}")


# ---------------------------------------------------------------------------------------------------------------------
# Turns


def turn(table: Table, front: Front) -> Turn | Outcome:
    """Take the next turn: harm that is paid, an attack with its defense, or the end of an exchange."""
    at_once = table.rules.switches(Switches).battle_harm == "at_once"
    if front.blows and (at_once or not front.queue):
        return _paid(table, front)
    while front.queue:
        name, front = front.queue[0], msgspec.structs.replace(front, queue=front.queue[1:])
        taken = None if table.state.characters[name].is_out else _attack(table, front, name)
        if taken is not None:
            return taken
    return _paid(table, front) if front.blows else _over(table, front)


def _standing(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not table.state.characters[name].is_out)


def _begun(table: Table, means: Means, exchange: int) -> Front:
    """Return the beginning of an exchange."""
    sides = means.heroes, means.foes
    first, second = sides if table.rules.switches(Switches).battle_first == "heroes" else sides[::-1]
    return Front(means, exchange, (*_standing(table, first), *_standing(table, second)))


def _attack(table: Table, front: Front, name: str) -> Turn | None:
    """Have a character attack; None where no target is left, or a hero has no card to act with."""
    means = front.means
    is_hero = name in means.heroes
    targets = _standing(table, means.foes if is_hero else means.heroes)
    if not targets:
        return None
    chosen = _target(table, name if is_hero else GM, targets, of="" if is_hero else name)
    hero, foe = (name, chosen) if is_hero else (chosen, name)
    with_, against = (means.attack, means.foe_defend) if is_hero else (means.defend, means.foe_attack)
    outcome = _resolved(table, means, hero, with_, foe, against)
    if outcome is None and is_hero:
        table.tell(f"{name} has no card to act with")
        return None
    if outcome is None:
        table.tell(f"{hero} has no card to answer {foe} with")
    is_hit = outcome is None or bool(outcome.success) is is_hero
    blow = Blow(name, chosen, table.state.characters[name].abilities[means.attack if is_hero else means.foe_attack])
    front = msgspec.structs.replace(front, blows=(*front.blows, blow)) if is_hit else front
    action = f"attack {foe}" if is_hero else f"answer {foe}"
    return Turn(front, outcome or Outcome(""), by=hero, action=action)


def _target(table: Table, who: str, names: Sequence[str], *, of: str) -> str:
    """Return who is attacked: the weakest is offered first."""
    options = [Option(name) for name in sorted(names, key=lambda name: _strength(table.state.characters[name]))]
    text = f"Whom does {of} attack?" if of else "Whom to attack?"
    return table.ask("target", who, options, text=text, of=of)


def _strength(character: Character) -> int:
    """Return how much a character can still bear, as it is public: points, or places of the hand."""
    counters = character.counters
    places = counters.get("hand-size", 0) - counters.get("lost", 0) - counters.get("pushed", 0)
    return counters.get("health", 0) or places


def _resolved(table: Table, means: Means, hero: str, with_: str, foe: str, against: str) -> Outcome | None:
    """Return how a hero's action against a foe's ability ends; None where there is no card to play."""
    rules, characters = table.rules, table.state.characters
    actor = characters[hero]
    ready = hero_of(table, actor, Rating(actor.abilities[with_], with_))
    if not table.count(ready.hand) and not rules.switches(Switches).empty_hand_flip:
        return None
    own = {slug(name) for name in actor.records.get("skills", Map())}
    helpful = [name for name in means.skills if slug(name) in own]
    base = lowered(rules, means.level, levels(rules, actor, skilled=False, skills=helpful))
    opposing = Opposition(characters[foe].abilities[against], character=foe, ability=against)
    return acted(table, actor, ready, base=base, opposing=opposing, dire=means.dire)


def _paid(table: Table, front: Front) -> Turn:
    """Have a character who was hit pay for the harm; a character who is out is harmed no further."""
    blow, front = front.blows[0], msgspec.structs.replace(front, blows=front.blows[1:])
    character, striker = table.state.characters[blow.on], table.state.characters[blow.by]
    if character.is_out:
        return Turn(front)
    weapon = striker.counters.get("weapon", 0)
    return Turn(front, damage(table, character, amount=blow.harm, weapon=weapon), by=blow.on, action="harm")


def _over(table: Table, front: Front) -> Turn | Outcome:
    """End an exchange; the battle is over with it where a side has no fighter left, or it was the last one."""
    means, effects = front.means, closing(table)
    if effects:  # which may bring a hero back, so that it is judged in a turn of its own
        return Turn(front, Outcome("", effects=tuple(effects)))
    left = bool(_standing(table, means.heroes)), bool(_standing(table, means.foes))
    if all(left) and front.exchange < means.exchanges:
        after = _begun(table, means, front.exchange + 1)
        return Turn(after, action=f"exchange {after.exchange}")
    return _ending(
        table, front, {(True, False): "won", (False, True): "lost", (False, False): "draw"}.get(left, "undecided")
    )


def stop(table: Table, front: Front) -> Outcome:
    """Return the outcome of a battle that is broken off, with what the end of its exchange does."""
    return _ending(table, front, "undecided").plus(closing(table))


def _ending(table: Table, front: Front, band: str) -> Outcome:
    means = front.means
    roles = Map({"actor": means.heroes[0], "opponent": means.foes[0]})
    outcome = table.settle("battle", None, band=band, roles=roles)
    out = tuple(name for name in (*means.heroes, *means.foes) if table.state.characters[name].is_out)
    return msgspec.structs.replace(outcome, details=Map({"exchanges": front.exchange, "out": out}))
