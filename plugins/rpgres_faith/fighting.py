"""Rounds of a fight: initiative, a turn for each in order, confrontations, until a side is out or time is up.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from rpgres import (
    EMPTY,
    Character,
    Effect,
    Form,
    Map,
    Option,
    Outcome,
    Table,
    Turn,
    UsageError,
    effect,
    named,
    slug,
)
from rpgres_faith.confronting import confront
from rpgres_faith.declaring import FORM as COUNTER_FORM
from rpgres_faith.declaring import NUMBERS, action_words, arms_of, read_counter
from rpgres_faith.rounds import order_of_turns, take_turn
from rpgres_faith.sides import HARM, ROUND

HOLD = Option("hold", "let the turn go by", passes=True)
FORM = f"target=NAME,{COUNTER_FORM}"


class Fight(msgspec.Struct, frozen=True):
    """Where a fight stands, beside the state of the table (which has the order of turns).

    Attributes:
        own, foes: who fights on either side.
        rounds: after how many it ends undecided.
        ambience: the environment; None as the table has it.
        round: which round it is, from 1.
    """

    own: tuple[str, ...]
    foes: tuple[str, ...]
    rounds: int
    ambience: str | None = None
    round: int = 1


class Declared(msgspec.Struct, frozen=True):
    """An action that is declared in a turn: what it is done with, and at whom."""

    target: str
    values: Map[str, Any]


def rounds(
    table: Table,
    actor: Character,
    *,
    against: Sequence[str] = (),
    beside: Sequence[str] = (),
    rounds: int,
    ambience: str | None = None,
) -> Fight:
    """Return where a fight begins: with whom on which side.

    Raises:
        UsageError: a character is out, or on both sides, or no foe is named.
    """
    own = tuple(dict.fromkeys((actor.name, *beside)))
    there = table.state.characters
    foes = tuple(dict.fromkeys(against)) or tuple(name for name in there if name not in own and not there[name].is_out)
    if not foes:
        message = f"nobody opposes {actor.name}; name the foes with {named('against')}"
        raise UsageError(message, path=("against",), reason="missing")
    for name in (*own, *foes):
        if there[name].is_out:
            raise UsageError(f"{name} is out, and cannot take part")
        if name in own and name in foes:
            raise UsageError(f"{named('against')} {name}: {name} is on the actor's side")
    return Fight(own, foes, rounds, ambience)


def turn(table: Table, fight: Fight) -> Turn | Outcome:
    """Take the next turn: initiative, or a character's action; or return how the fight ended."""
    still_up = [_still_up(table, side) for side in (fight.own, fight.foes)]
    if not all(still_up):
        band = "won" if still_up[0] else "lost" if still_up[1] else "draw"
        return _ended(table, fight, band)
    kept = table.state.things.get(ROUND)
    left = [name for name in kept["order"] if name not in kept["acted"]] if kept is not None else []
    if left:
        return _acted(table, fight, left[0])
    if kept is not None and fight.round == fight.rounds:
        return _ended(table, fight, "undecided")
    after = fight if kept is None else msgspec.structs.replace(fight, round=fight.round + 1)
    forms = [Form(name, EMPTY) for name in (*still_up[0], *still_up[1])]
    return Turn(after, order_of_turns(table, fight.own[0], forms), action=f"round {after.round}")


def _still_up(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not table.state.characters[name].is_out)


def stop(table: Table, fight: Fight) -> Outcome:
    """Return how a fight ended that is broken off."""
    return _ended(table, fight, "undecided")


def _ended(table: Table, fight: Fight, band: str) -> Outcome:
    """Return how a fight ended for the actor's side; its last round is over with it."""
    roles = Map({"actor": fight.own[0], "opponent": fight.foes[0]})
    outcome = table.settle("rounds", None, band=band, roles=roles)
    out = tuple(name for name in (*fight.own, *fight.foes) if table.state.characters[name].is_out)
    outcome = outcome.plus([effect("over")] if ROUND in table.state.periods else [])
    return msgspec.structs.replace(outcome, details=Map({"rounds": fight.round, "out": out}))


# ---------------------------------------------------------------------------------------------------------------------
# An action


def _acted(table: Table, fight: Fight, name: str) -> Turn:
    """Return what a character does whose turn it is; who is out, or was never in the fight, does nothing."""
    foes = _still_up(table, fight.foes if name in fight.own else fight.own)
    if name not in (*fight.own, *fight.foes) or table.state.characters[name].is_out:
        return Turn(fight, Outcome("", effects=(effect("acted", to=name),)))
    answer = _asked(table, name, foes)
    if answer == HOLD.name:
        return Turn(fight, Outcome("", effects=tuple(take_turn(table, name))), by=name, action="hold")
    chosen = _chosen(table, name, answer, foes)
    values = {key: chosen.values[key] for key in (*NUMBERS, "ammo", "words") if key in chosen.values}
    outcome = confront(
        table,
        table.state.characters[name],
        skill=chosen.values["skill"],
        attribute=chosen.values["attribute"],
        target=(chosen.target,),
        ambience=fight.ambience,
        **values,
    )
    return Turn(fight, outcome.plus(_fallen(table, outcome)), by=name, action=f"confront {chosen.target}")


def _asked(table: Table, name: str, foes: Sequence[str]) -> str:
    """Return what a character does: an action of the sheet against a foe, one that is typed, or nothing."""

    def reads(text: str) -> str:
        _chosen(table, name, text, foes)
        return text.strip()

    arms = arms_of(table, name)
    options = [
        Option(
            f"{arm}:{foe}",
            action_words(values["skill"], values["attribute"], values, targets=[foe]) if table.is_read else "",
            prefer=1 + values.get("weapon", 0),
        )
        for foe in sorted(foes, key=lambda foe: _left(table.state.characters[foe]))
        for arm, values in arms.items()
    ]
    return table.ask("act", name, [*options, HOLD], text="What is done?", form=FORM, reads=reads)


def _left(character: Character) -> int:
    """Return how many damage counters a character still bears; many where nothing says."""
    health = character.counters.get("health", 0)
    return health - _harm(character) if health else 10_000 - _harm(character)


def _harm(character: Character) -> int:
    return sum(character.counters.get(name, 0) for name in HARM)


def _chosen(table: Table, name: str, text: str, foes: Sequence[str]) -> Declared:
    """Return an action as it was chosen, `pistol:guard`, or typed, `target=guard,skill=ballistic,attribute=dexterity`.

    Raises:
        UsageError: it is none, or its target is no foe.
    """
    arm, colon, target = text.strip().partition(":")
    if not (colon and slug(arm) in arms_of(table, name)):
        found = re.match(r"\s*target\s*=([^,]*),(.*)", text, flags=re.DOTALL)
        if found is None:
            raise UsageError(f"an action is given as {FORM}, or `{HOLD.name}`")
        target, arm = found.groups()
    target = slug(target) if target.strip() else ""
    if target not in foes:
        raise UsageError(f"{target or 'nobody'} is no foe of {name} who stands; there are: {', '.join(foes)}")
    return Declared(target, Map(read_counter(table, name, arm)))


def _fallen(table: Table, outcome: Outcome) -> list[Effect]:
    """Return who is out after an action: characters with as many counters as their sheets allow."""
    taken: dict[str, int] = {}
    for change in outcome.effects:
        if change["kind"] == "harm" and change["counter"] in HARM:
            taken[change["to"]] = taken.get(change["to"], 0) + change["count"]
    found = []
    for name, count in taken.items():
        character = table.state.characters.get(name)
        health = character.counters.get("health", 0) if character is not None else 0
        if character is not None and health and _harm(character) + count >= health:
            found.append(effect("out", to=name))
            table.tell(f"{name} is out")
    return found
