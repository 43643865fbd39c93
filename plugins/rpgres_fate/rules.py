"""The actions of Fate, each a plain function that plays at a table. No outcome's or option's name stands here.

Source: the seed text (`rulesets/fate/SOURCES.md`), line numbers as `A:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from rpgres import (
    EMPTY,
    GM,
    NO,
    SCENE,
    Character,
    Dice,
    Effect,
    Map,
    Opposition,
    Option,
    Outcome,
    Rating,
    Ruleset,
    State,
    Table,
    UsageError,
    effect,
    put,
    slug,
)
from rpgres.kits import aspects, harm

fate = Ruleset("fate")
aspects.register_effects(fate)
harm.register_effects(fate)

NEXT = "opposition-next"  # the counter of how much harder somebody's next action is
FULL_DEFENSE = 2  # A:339


class Foe(Struct, frozen=True, gc=False):
    """One opposer of a roll: what it adds, what it rolls (None for a fixed difficulty), and who it is."""

    add: int
    dice: Dice | None
    who: str


class Standing(Struct, frozen=True, gc=False):
    """Where a roll stands when nobody invokes any more; everything is None when nothing opposed it."""

    margin: int | None
    total: int | None = None
    opposition: int | None = None
    effects: tuple[Effect, ...] = ()


# ---------------------------------------------------------------------------------------------------------------------
# The roll


def roll_off(table: Table, actor: Character, add: int, foes: Sequence[Foe], allies: Sequence[str] = ()) -> Standing:
    """Roll an action against what opposes it, with the invoke window (A:15-19, A:29-43).

    Args:
        add: what the actor adds to the dice.
        foes: who or what opposes; nothing opposing means no roll (A:7). Of several the highest counts.
        allies: who may invoke for the actor too.
    """
    if not foes:
        return Standing(None)
    dice = table.rules.dice
    if table.state.tags:
        sides = (actor.name, *allies), tuple(foe.who or GM for foe in foes)
        if any(aspects.can_invoke(table.state, members) for members in sides):
            return _roll_with_window(table, actor, add, foes, sides)
    raised = actor.counters.get(NEXT, 0)
    if len(foes) > 1:
        total = table.roll(dice, "roll", by=actor.name) + add
        opposition = max(_opposed(table, foe) for foe in foes) + raised
        return Standing(total - opposition, total, opposition, _used_up(actor, raised))
    foe = foes[0]
    if foe.dice is None:
        total = table.roll(dice, "roll", by=actor.name) + add
        opposition = foe.add + raised
        return Standing(total - opposition, total, opposition, _used_up(actor, raised))
    compared = table.versus(dice, foe.dice, add=add, other_add=foe.add + raised, by=(actor.name, foe.who))
    return Standing(compared.margin, compared.total, compared.opposition, _used_up(actor, raised))


def _opposed(table: Table, foe: Foe) -> int:
    return foe.add + (table.roll(foe.dice, "opposition", by=foe.who) if foe.dice is not None else 0)


def _roll_with_window(
    table: Table, actor: Character, add: int, foes: Sequence[Foe], sides: tuple[tuple[str, ...], tuple[str, ...]]
) -> Standing:
    dice = table.rules.dice
    raised = actor.counters.get(NEXT, 0)
    rolled = table.roll(dice, "roll", by=actor.name)
    own = aspects.Side(sides[0], "invoke", "roll", rolled + add, rolled, dice)
    rolls = [table.roll(foe.dice, "opposition", by=foe.who) if foe.dice is not None else None for foe in foes]
    totals = [foe.add + raised + (roll or 0) for foe, roll in zip(foes, rolls, strict=True)]
    foremost = totals.index(max(totals))
    other = aspects.Side(
        sides[1], "invoke-against", "opposition", totals[foremost], rolls[foremost], foes[foremost].dice
    )
    own, other, costs = aspects.invoke_window(table, own, other, order=table.rules.switches["invoke_order"])
    opposition = max([other.total, *totals[:foremost], *totals[foremost + 1 :]])
    return Standing(own.total - opposition, own.total, opposition, (*costs, *_used_up(actor, raised)))


def _used_up(actor: Character, raised: int) -> tuple[Effect, ...]:
    return (effect("opposition", to=actor.name, change=-raised),) if raised else ()


def effort(
    actor: Character,
    action: str,
    skill: Rating,
    *,
    bonus: int = 0,
    stunt: Sequence[str] = (),
    helpers: int = 0,
    allies: Sequence[Character] = (),
) -> int:
    """Return what somebody adds to the dice: skill, stunts, teamwork, the size of a mob, and any other bonus.

    Raises:
        UsageError: a stunt is not on the sheet or does not help here; a helper lacks the skill or should lead.
    """
    if not (bonus or stunt or helpers or allies or actor.records or actor.counters):
        return skill.value
    for ally in allies:
        rating = ally.abilities.get(skill.name, 0)
        if skill.name and rating < 1:
            raise UsageError(
                f"{ally.name} cannot help: {skill.name} has to be Average (+1) or better, and is {rating:+d}"
            )
        if rating > skill.value:
            raise UsageError(f"{ally.name} should lead: {skill.name} {rating:+d} is higher than {actor.name}'s")
    crowd = max(0, actor.counters.get(harm.MEMBERS, 1) - 1)
    return skill.value + helpers + len(allies) + crowd + bonus + stunt_bonus(actor, action, skill, named=stunt)


def stunt_bonus(actor: Character, action: str, skill: Rating, *, named: Sequence[str] = ()) -> int:
    """Return what the stunts on a sheet add to an action with a skill.

    A stunt with a condition (`when`) counts only when it is named.

    Raises:
        UsageError: a named stunt is not on the sheet, or does not help this action with this skill.
    """
    stunts = actor.records.get("stunts", EMPTY)
    if not stunts and not named:
        return 0
    wanted = {slug(name) for name in named}
    total = 0
    for name, stunt in stunts.items():
        is_named = slug(name) in wanted
        wanted.discard(slug(name))
        fits = stunt["action"] == action and stunt["skill"] in (None, skill.name)
        if is_named and not fits:
            raise UsageError(
                f"the stunt {name!r} of {actor.name} does not help {action} with {skill.name or 'this skill'}"
            )
        if fits and (is_named or stunt["when"] is None):
            total += stunt["bonus"]
    if wanted:
        has = ", ".join(stunts) or "none"
        raise UsageError(f"{actor.name}'s sheet has no stunt {sorted(wanted)[0]!r}; it has: {has}")
    return total


def _characters(table: Table, names: Sequence[str]) -> Sequence[Character]:
    return [table.state.characters[name] for name in names] if names else ()


def opposers(table: Table, vs: Sequence[Opposition]) -> list[Foe]:
    """Return those who merely oppose: no action, so no stunts and no full defense (A:353-361).

    Raises:
        UsageError: several oppose, and the switch `opposers` allows one.
    """
    if len(vs) > 1 and table.rules.switches["opposers"] == "one":
        raise UsageError("only one character may oppose (switch opposers=one); --vs was given several times")
    return [Foe(one.value + _crowd(table.state, one.character), one.dice, one.character) for one in vs]


def defender(table: Table, vs: Sequence[Opposition], *, action: str, full_defense: bool) -> Foe:
    """Return the one who defends, with the stunts for it and +2 for full defense (A:285, A:332-339).

    Raises:
        UsageError: there is not exactly one.
    """
    if len(vs) != 1:
        raise UsageError(f"{action} is met by one defense; give --vs once, and --vs 0 for somebody who does not defend")
    one = vs[0]
    add = one.value + _crowd(table.state, one.character) + (FULL_DEFENSE if full_defense else 0)
    if one.character:
        character = table.state.characters[one.character]
        add += stunt_bonus(character, "defend", Rating(one.value, one.ability))
    return Foe(add, one.dice, one.character)


def _crowd(state: State, name: str) -> int:
    if not name:
        return 0
    return max(0, state.characters[name].counters.get(harm.MEMBERS, 1) - 1)


_UNOPPOSED, _PASSIVE, _ACTIVE = (Map({"opposition": kind}) for kind in ("none", "passive", "active"))


def _facts(foes: Sequence[Foe]) -> Map[str, str]:
    """Return what kind of opposition there was, for the conditions of outcome tables."""
    for foe in foes:
        if foe.dice is not None:
            return _ACTIVE
    return _PASSIVE if foes else _UNOPPOSED


def _opponent(foes: Sequence[Foe]) -> str:
    for foe in foes:
        if foe.who:
            return foe.who
    return GM


# ---------------------------------------------------------------------------------------------------------------------
# Actions


@fate.action("overcome")
def overcome(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    removes: str | None = None,
    alters: str | None = None,
    harms: bool = False,
    target: str | None = None,
    name: str | None = None,
    bonus: int = 0,
    stunt: Sequence[str] = (),
    helper: Sequence[str] = (),
    helpers: int = 0,
) -> Outcome:
    """Get past an obstacle, or change something for good (A:125-146)."""
    allies = _characters(table, helper)
    add = effort(actor, "overcome", skill, bonus=bonus, stunt=stunt, helpers=helpers, allies=allies)
    foes = opposers(table, vs)
    standing = roll_off(table, actor, add, foes, helper)
    facts = _facts(foes)
    if removes or alters or harms:
        said = {"removes": removes, "alters": alters, "harm": harms}
        facts = Map({**facts, **{key: "yes" if value else "no" for key, value in said.items()}})
    old, _, new = (alters or "").partition("=")
    named: dict[str, Any] = {"name": removes or old} if removes or alters else {}
    if new:
        named["becomes"] = new.strip()
    outcome = table.settle(
        "overcome",
        standing.margin,
        total=standing.total,
        opposition=standing.opposition,
        roles=_roles(actor.name, target or _opponent(foes)),
        facts=facts,
        defaults={"aspect": named, "boost": {"name": name}} if named or name else EMPTY,
    )
    return outcome.plus(standing.effects) if standing.effects else outcome


@cache
def _roles(actor: str, opponent: str, *, beneficiary: str = "", proposer: str = "") -> Map[str, str]:
    roles = {"actor": actor, "opponent": opponent, "gm": GM, "beneficiary": beneficiary, "proposer": proposer}
    return Map({role: name for role, name in roles.items() if name})


@fate.action("discover")
def discover(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    variant: str,
    name: str | None = None,
    on: str | None = None,
    bonus: int = 0,
    stunt: Sequence[str] = (),
    helper: Sequence[str] = (),
    helpers: int = 0,
) -> Outcome:
    """Reveal what is hidden or establish something new (A:162-214). The variant is the outcome table's name."""
    if variant == "establish":
        refusal = Option("veto", "It is out of scope: say something else.")
        if table.ask("veto", GM, (refusal,), text="Does the game master refuse it?", optional=True) != NO:
            return table.settle("veto", None)
    allies = _characters(table, helper)
    add = effort(actor, "discover", skill, bonus=bonus, stunt=stunt, helpers=helpers, allies=allies)
    foes = opposers(table, vs)
    standing = roll_off(table, actor, add, foes, helper)
    aspect = name or "A Discovery"
    outcome = table.settle(
        variant,
        standing.margin,
        total=standing.total,
        opposition=standing.opposition,
        roles=_roles(actor.name, _opponent(foes)),
        facts=_facts(foes),
        defaults={"aspect": {"name": aspect, "on": on or SCENE}, "free-invoke": {"on": aspect}},
    )
    return outcome.plus(standing.effects) if standing.effects else outcome


@fate.action("create-advantage")
def create_advantage(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    variant: str,
    name: str | None = None,
    on: str | None = None,
    beneficiary: str | None = None,
    full_defense: bool = False,
    bonus: int = 0,
    stunt: Sequence[str] = (),
    helper: Sequence[str] = (),
    helpers: int = 0,
) -> Outcome:
    """Make an aspect or take advantage of one (A:236-263). Against a character its defense is part of the roll."""
    carrier = _carrier(table.state, name, on, is_new=variant == "new")
    allies = _characters(table, helper)
    add = effort(actor, "create-advantage", skill, bonus=bonus, stunt=stunt, helpers=helpers, allies=allies)
    is_defended = bool(vs) and carrier not in (SCENE, actor.name)
    if is_defended:
        foes = [defender(table, vs, action="an advantage on a character", full_defense=full_defense)]
    else:
        foes = opposers(table, vs)
    standing = roll_off(table, actor, add, foes, helper)
    opponent = carrier if is_defended and carrier in table.state.characters else _opponent(foes)
    aspect = name or "An Advantage"
    outcome = table.settle(
        f"create-{variant}",
        standing.margin,
        total=standing.total,
        opposition=standing.opposition,
        roles=_roles(actor.name, opponent, beneficiary=beneficiary or opponent),
        facts=_facts(foes).with_("against", "character" if is_defended else "scene"),
        defaults={"aspect": {"name": aspect, "on": carrier}, "free-invoke": {"on": aspect}},
    )
    return outcome.plus(standing.effects) if standing.effects else outcome


def _carrier(state: State, name: str | None, on: str | None, *, is_new: bool) -> str:
    """Return who carries the aspect an advantage is about: as said, or as the aspect in play has it."""
    if on:
        if on not in state.characters and on != "opponent":
            known = ", ".join(state.characters)
            raise UsageError(f"--on {on}: nobody of that name is at the table ({known}); `opponent` stands for anybody")
        return on
    tag = state.tag(name) if name and not is_new else None
    return tag.on if tag is not None else SCENE


@fate.action("attack")
def attack(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    track: str,
    target: str | None = None,
    defender: str | None = None,
    consequence: str | None = None,
    full_defense: bool = False,
    bonus: int = 0,
    stunt: Sequence[str] = (),
    helper: Sequence[str] = (),
    helpers: int = 0,
) -> Outcome:
    """Attack and defense as one event (A:279-300, A:326-335); the one who defends takes what comes of it."""
    allies = _characters(table, helper)
    add = effort(actor, "attack", skill, bonus=bonus, stunt=stunt, helpers=helpers, allies=allies)
    foe = _defense(table, vs, action="an attack", full_defense=full_defense)
    who = defender or foe.who or target or GM
    if who == actor.name:
        raise UsageError(f"{actor.name} cannot attack {actor.name}")
    standing = roll_off(table, actor, add, (foe,), helper)
    outcome = table.settle(
        "attack",
        standing.margin,
        total=standing.total,
        opposition=standing.opposition,
        roles=_roles(actor.name, who),
        facts=_facts((foe,)),
        defaults={"hit": {"track": track}},
    )
    return _harmed(table, outcome.plus(standing.effects), who, track=track, attacker=actor.name, name=consequence)


_defense = defender  # `attack` takes a parameter of that name


def _harmed(table: Table, outcome: Outcome, who: str, *, track: str, attacker: str, name: str | None) -> Outcome:
    """Return the outcome with how its hits are absorbed, when a sheet says what there is to absorb with."""
    character = table.state.characters.get(who)
    if character is None or not character.tracks:
        return outcome
    hits = sum(found["shifts"] for found in outcome.effects if found["kind"] == "hit")
    if hits <= 0:
        return outcome
    return outcome.plus(harm.absorb(table, who, hits, track=track, attacker=attacker, name=name or ""))


@fate.action("defend")
def defend(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    against: str,
    track: str,
    name: str | None = None,
    consequence: str | None = None,
    full_defense: bool = False,
    bonus: int = 0,
    stunt: Sequence[str] = (),
) -> Outcome:
    """Ward something off that does not act as a character of this table, seen from the defender (A:326-335)."""
    add = effort(actor, "defend", skill, bonus=bonus, stunt=stunt) + (FULL_DEFENSE if full_defense else 0)
    if len(vs) != 1:
        raise UsageError("defend is against one attack or advantage; give --vs once")
    foes = [Foe(vs[0].value + _crowd(table.state, vs[0].character), vs[0].dice, vs[0].character)]
    standing = roll_off(table, actor, add, foes)
    opponent = _opponent(foes)
    aspect = name or "An Advantage"
    outcome = table.settle(
        f"defend-{against}",
        standing.margin,
        total=standing.total,
        opposition=standing.opposition,
        roles=_roles(actor.name, opponent),
        facts=_facts(foes),
        defaults={"hit": {"track": track}, "aspect": {"name": aspect}, "free-invoke": {"on": aspect}},
    )
    return _harmed(table, outcome.plus(standing.effects), actor.name, track=track, attacker=opponent, name=consequence)


@fate.action("oppose")
def oppose(table: Table, actor: Character, *, skill: Rating, bonus: int = 0) -> Outcome:
    """Set the difficulty of somebody else's action (A:349-361). No action: no stunts, no gain."""
    dice = table.rules.dice
    rolled = table.roll(dice, "roll", by=actor.name)
    total = rolled + skill.value + bonus + _crowd(table.state, actor.name)
    costs: tuple[Effect, ...] = ()
    if aspects.can_invoke(table.state, (actor.name,)):
        own = aspects.Side((actor.name,), "invoke", "roll", total, rolled, dice)
        nobody = aspects.Side((), "", "", total)
        own, _, costs = aspects.invoke_window(table, own, nobody, order="actor-then-opponent")
        total = own.total
    outcome = table.settle(
        "oppose", None, total=total, roles=_roles(actor.name, GM), defaults={"opposition": {"value": total}}
    )
    return outcome.plus(costs)


@fate.action("compel")
def compel(table: Table, actor: Character, *, name: str, proposer: str = GM) -> Outcome:
    """Offer a complication from an aspect (Fate Core, "Invoking & Compelling Aspects").

    The game master and oneself propose free; another player pays a point to propose. With no points it cannot be
    refused.
    """
    tag = table.state.tag(name)
    if table.state.tags and tag is None:
        known = ", ".join(tag.name for tag in table.state.tags)
        raise UsageError(f"no aspect here is called {name!r}; there are: {known}")
    if tag is not None and tag.kind == aspects.BOOST:
        raise UsageError(f"{tag.name!r} is a boost, and boosts cannot be compelled")
    pays = proposer not in (GM, actor.name)
    if pays and proposer not in table.state.characters:
        raise UsageError(f"nobody called {proposer!r} is at the table to propose a compel")
    if pays and aspects.points_of(table.state, proposer) < 1:
        raise UsageError(f"{proposer} has no fate point to propose a compel with")
    points = aspects.points_of(table.state, actor.name)
    return table.settle(
        "compel",
        None,
        roles=_roles(actor.name, GM, proposer=proposer),
        facts=Map({"points": "some" if points else "none", "proposer": "pays" if pays else "free"}),
    )


@fate.action("concede")
def concede(table: Table, actor: Character, *, consequences: int | None = None) -> Outcome:
    """Give in before a roll: a point, and one for each consequence taken in this conflict (Fate Core, "Conflicts")."""
    taken = consequences if consequences is not None else actor.counters.get(harm.TAKEN, 0)
    return table.settle("concede", None, roles=_roles(actor.name, GM), defaults={"fate-point": {"change": 1 + taken}})


# ---------------------------------------------------------------------------------------------------------------------
# Effects of Fate alone; the others are the kits'.


@fate.effect("goal")
@fate.effect("cost")
@fate.effect("information")
def note(state: State, _effect: Effect) -> State:
    """Return the state as it is: what this means is for the people at the table."""
    return state


@fate.effect("opposition")
def change_opposition(state: State, change: Effect) -> State:
    """Return the state in which somebody's next action is harder; a difficulty that was set changes nothing here."""
    who = state.characters.get(change.get("to", ""))
    if who is None or "change" not in change:
        return state
    raised = max(0, who.counters.get(NEXT, 0) + change["change"])
    return put(state, ("characters", who.name, "counters"), who.counters.with_(NEXT, raised))
