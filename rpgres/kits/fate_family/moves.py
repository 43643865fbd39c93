"""What procedures of the family ask of a ruleset: its own actions, as functions of a table and a rating.

A contest or a conflict is the same for every ruleset of the family but for what a character adds to the dice (`effort`)
and the rules of its single actions, which the ruleset passes here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, enumerated
from rpgres.kits import aspects, harm
from rpgres.kits.fate_family.rolls import FinalRoll, check_present
from rpgres.kits.fate_family.settling import EffectFields, fact_map, roles_of, settle
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import EMPTY, GM, SCENE, Character, Map, State, Tag
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import Option

TURN = "turn"  # the decision what a character does in a turn
TARGET = "target"  # the decision whom or what that is about
VICTORY = "victory"  # the kind of effect that counts in a contest
ZONES = "zones"  # the thing on the table: the zone of each fighter, by name
ADVANTAGE = "create-advantage"  # an action that every procedure offers
ASPECT = "aspect"  # the decision which aspect in play an action is about, and the option that leads to it
SCENERY = Option("scene", "The scene.")  # what an advantage is on that is on no character
_IN_PLAY = Option(ASPECT, "An aspect that is in play already.", -2)


class Moves(msgspec.Struct, frozen=True):
    """The actions of a ruleset as its procedures play them.

    Attributes:
        effort: `(table, actor, action, rating, given)` returns what a character adds to the dice of an action.
        advantage: `(table, actor, rating, vs, name=, on=, is_new=, full_defense=)` makes an advantage, or uses one.
        attack: `(table, actor, rating, vs, track=, full_defense=)` attacks.
        overcome: `(table, actor, rating, vs, removes=)` gets past something, or ends an aspect.
        cross: `(table, actor, rating, vs)` gets to another zone of a conflict.
        discover: `(table, actor, rating, vs)` finds an aspect; None where an advantage does.
    """

    effort: Callable[[Table, Character, str, Rating, Any], int]
    advantage: Callable[..., Outcome]
    attack: Callable[..., Outcome]
    overcome: Callable[..., Outcome]
    cross: Callable[..., Outcome]
    discover: Callable[..., Outcome] | None = None


def opposition_of(table: Table, who: str, rating: Rating) -> Opposition:
    """Return a character at the table as opposition with a rating."""
    return Opposition(rating.value, table.rules.dice, who, rating.name)


class AdvantageOn(msgspec.Struct, frozen=True):
    """What an advantage is on.

    Attributes:
        who: the character; `SCENE` for none.
        existing: the aspect in play that it is about; empty for a new one, or one of the maker's.
    """

    who: str = SCENE
    existing: str = ""


def advantage_on(table: Table, who: str, people: Sequence[Option]) -> AdvantageOn:
    """Ask what an advantage is on.

    A new one on the scene or on a character, or an aspect in play: of these, of the scene, or their maker's own
    (A:238). Aspects that some do not know of are left out: whether there is a question would tell.

    Args:
        table: where it is played.
        who: makes it.
        people: the other characters that it can be on.
    """
    near = (SCENE, who, *[one.name for one in people])
    there = aspects.public_on(table.state, near)
    options, more = (SCENERY, *people), (_IN_PLAY,) if there else ()
    if not people:
        options, more = (*options, *more), ()
    # Odds look at the maker's own: what an advantage of another aspect is worth differs little, and they are many.
    on = table.ask(TARGET, who, options, text="An advantage on what?", aside=more)
    if on != ASPECT:
        return AdvantageOn(SCENE if on == SCENERY.name else on)
    tag = which_aspect(table, who, there, text="Which aspect?")
    return AdvantageOn(SCENE if tag.on == who else tag.on, tag.name)


def which_aspect(table: Table, who: str, tags: Sequence[Tag], *, text: str) -> Tag:
    """Ask which of some aspects an action is about."""
    name = table.ask(ASPECT, who, tuple([Option(tag.slug, f"{tag.name}.") for tag in tags]), text=text)
    return next(tag for tag in tags if tag.slug == name)


def make_advantage(
    table: Table,
    moves: Moves,
    actor: Character,
    rating: Rating,
    vs: Sequence[Opposition],
    *,
    on: AdvantageOn,
    full_defense: bool = False,
) -> Outcome:
    """Return the result of an advantage in a procedure: the first makes an aspect, later ones take advantage of it.

    Its name says whose it is and what it is on, and nothing of what went before, so that odds meet few states. Who
    makes it may give it another one, and then what is made later is another aspect, unless it is named (`on.existing`).

    Args:
        table: where it is played.
        rating: what is rolled.
        on: what it is on.
        full_defense: whether who defends has given up an action for it.
    """
    state = table.state
    carrier = state.characters[on.who].title or on.who if on.who else ""
    name = on.existing or f"Advantage of {actor.title or actor.name}{' on ' if carrier else ''}{carrier}"
    tag = aspects.seen_tag(state, actor.name, name)
    is_new = tag is None or tag.kind == aspects.BOOST
    how = {"name": name, "on": on.who or None, "is_new": is_new, "full_defense": full_defense}
    outcome = moves.advantage(table, actor, rating, tuple(vs), **how)
    if is_new:
        effects = aspects.renamed_by_maker(table, outcome.effects, actor.name, name)
        outcome = msgspec.structs.replace(outcome, effects=effects)
    return with_boosts_named(state, outcome)


def with_boosts_named(state: State, outcome: Outcome) -> Outcome:
    """Return an outcome in which boosts without a name are called by whose they are, for the same reason."""
    for one in outcome.effects:
        if one["kind"] == aspects.BOOST and "name" not in one:
            break
    else:
        return outcome
    named_ones = []
    for one in outcome.effects:
        if one["kind"] == aspects.BOOST and "name" not in one:
            to: str = one["to"]
            who = outcome.roles.get(to, to)
            its = state.characters.get(who)
            one = one.with_("name", f"Boost of {(its.title or who) if its is not None else 'the Game Master'}")
        named_ones.append(one)
    return msgspec.structs.replace(outcome, effects=tuple(named_ones))


def ending(
    table: Table, name: str, margin: int, *, roles: Map[str, str], facts: Map[str, str], details: Map[str, Any]
) -> Outcome:
    """Return the outcome of a procedure: the one row of an outcome table, with a margin that rolls have no part in."""
    outcome = table.settle(name, None, roles=roles, facts=facts)
    return msgspec.structs.replace(outcome, margin=margin, details=details)


def concede(table: Table, actor: Character, taken: int | None = None) -> Outcome:
    """Return the result of giving in before a roll (Fate Core, "Conflicts").

    A fate point, and one for each consequence taken in this conflict.

    Args:
        table: where it is played.
        taken: how many consequences, where the table has not counted them.
    """
    count = taken if taken is not None else actor.counters.get(harm.TAKEN, 0)
    defaults = {"fate-point": {"change": 1 + count}}
    return settle(table, "concede", FinalRoll(None), roles_of(actor.name, GM), EMPTY, EffectFields(defaults))


def compel(table: Table, actor: Character, name: str, proposer: str) -> Outcome:
    """Offer a complication from an aspect (Fate Core, "Invoking & Compelling Aspects").

    The game master and oneself propose free; another player pays a point to propose. With no points it cannot be
    refused.

    Args:
        table: where it is played.
        name: the aspect.

    Raises:
        UsageError: there is no such aspect or it is a boost, or the proposer is not there or has no point.
    """
    state = table.state
    check_present(state, actor, (), {})
    known = state.seen_by(state.seat_of(actor.name)).tags
    tag = aspects.seen_tag(state, actor.name, name)
    if known and tag is None:
        names = enumerated([tag.name for tag in known], name)
        raise UsageError(f"no aspect here is called {name!r}; there are: {names}")
    if tag is not None and tag.kind == aspects.BOOST:
        raise UsageError(f"{tag.name!r} is a boost, and boosts cannot be compelled")
    if proposer not in (GM, actor.name, *state.characters):
        raise UsageError(f"no character {proposer!r} is at the table to propose a compel")
    pays = proposer != actor.name and state.seat_of(proposer) != GM
    if pays and aspects.points_of(state, proposer) < 1:
        raise UsageError(f"{proposer} has no fate point to propose a compel with")
    points = "some" if aspects.points_of(state, actor.name) else "none"
    facts = fact_map(("points", points), ("proposer", "pays" if pays else "free"))
    fields = EffectFields(spelled={"proposer": proposer})
    return settle(table, "compel", FinalRoll(None), roles_of(actor.name, GM), facts, fields)


def in_conflict(state: State) -> bool:
    """Tell whether a conflict has begun at this table."""
    return "conflict" in state.periods


def check_attack(table: Table) -> None:
    """Check that an attack can be made now, by the house rule that asks for a conflict (A:279, A:300).

    Raises:
        UsageError: no conflict has begun.
    """
    if table.rules.switches(ConflictSwitches).attacks == "conflicts" and not in_conflict(table.state):
        raise UsageError(
            "attacks are made in conflicts only (switch attacks=conflicts): begin one with `begin conflict`, or play "
            "the procedure `conflict`"
        )
