"""The actions of Fate, each a plain function that plays at a table. No outcome's or option's name stands here.

Source: the seed text (`rulesets/fate/SOURCES.md`), line numbers as `A:n`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypedDict, Unpack

import msgspec

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
OPPONENT = "opponent"  # `--on opponent`: whoever is in the way, with a sheet or without
ATTACK_OF = {"attack": "attack", "advantage": "create-advantage"}  # what somebody does against whom one defends


class Help(TypedDict, total=False):
    """What may be added to most actions.

    Attributes:
        bonus: anything else that counts.
        stunt: stunts of the actor whose condition holds.
        helper: characters who help with the same skill (teamwork) and may invoke for the actor.
        helpers: how many others help.
        ally: who else may invoke for the actor.
        rival: who else may invoke against.
        boost: what a boost gained is called.
    """

    bonus: int
    stunt: Sequence[str]
    helper: Sequence[str]
    helpers: int
    ally: Sequence[str]
    rival: Sequence[str]
    boost: str | None


class Foe(msgspec.Struct, frozen=True, gc=False):
    """One opposer of a roll: what it adds, what it rolls (None for a fixed difficulty), and who it is."""

    add: int
    dice: Dice | None
    who: str


class Standing(msgspec.Struct, frozen=True, gc=False):
    """Where a roll stands when nobody invokes any more; everything is None when nothing opposed it."""

    margin: int | None
    total: int | None = None
    opposition: int | None = None
    effects: tuple[Effect, ...] = ()


# ---------------------------------------------------------------------------------------------------------------------
# The roll


def roll_off(table: Table, actor: Character, add: int, foes: Sequence[Foe], given: Help = {}) -> Standing:  # noqa: B006
    """Roll an action against what opposes it, with the invoke window (A:15-19, A:29-43).

    Args:
        add: what the actor adds to the dice.
        foes: who or what opposes; nothing opposing means no roll (A:7). Of several the highest counts.
        given: who else may invoke.
    """
    if not foes:
        return Standing(None)
    if table.state.tags:
        sides = _sides(table.state, actor, foes, given)
        if any(aspects.can_invoke(table.state, members) for members in sides):
            return _roll_with_window(table, actor, add, foes, sides)
    dice = table.rules.dice
    raised = actor.counters.get(NEXT, 0)
    foe = foes[0]
    if len(foes) > 1 or foe.dice is None:
        total = table.roll(dice, "roll", by=actor.name) + add
        opposition = max([_opposed(table, foe) for foe in foes]) + raised
        return Standing(total - opposition, total, opposition, _used_up(actor, raised))
    compared = table.versus(dice, foe.dice, add=add, other_add=foe.add + raised, by=(actor.name, foe.who))
    return Standing(compared.margin, compared.total, compared.opposition, _used_up(actor, raised))


def _opposed(table: Table, foe: Foe) -> int:
    return foe.add + (table.roll(foe.dice, "opposition", by=foe.who) if foe.dice is not None else 0)


def _sides(state: State, actor: Character, foes: Sequence[Foe], given: Help) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who may invoke for the actor and who against; a fixed difficulty is the game master's to raise."""
    own = (actor.name, *given.get("helper", ()), *given.get("ally", ()))
    against = [foe.who or GM for foe in foes]
    if actor.seat == GM:
        against = [who for who in against if who != GM]  # nobody raises a difficulty against the own character
    return own, tuple(dict.fromkeys((*against, *given.get("rival", ()))))


def _roll_with_window(
    table: Table, actor: Character, add: int, foes: Sequence[Foe], sides: tuple[tuple[str, ...], tuple[str, ...]]
) -> Standing:
    dice = table.rules.dice
    raised = actor.counters.get(NEXT, 0)
    rolled = table.roll(dice, "roll", by=actor.name)
    own = aspects.Side(sides[0], "invoke", "roll", rolled + add, rolled, dice, actor.name)
    rolls = [table.roll(foe.dice, "opposition", by=foe.who) if foe.dice is not None else None for foe in foes]
    totals = [foe.add + raised + (roll or 0) for foe, roll in zip(foes, rolls, strict=True)]
    first = totals.index(max(totals))  # who is invoked for when several oppose
    rest = max((total for number, total in enumerate(totals) if number != first), default=None)
    foe = foes[first]
    other = aspects.Side(sides[1], "invoke-against", "opposition", totals[first], rolls[first], foe.dice, foe.who, rest)
    own, other, costs = aspects.invoke_window(table, own, other, order=table.rules.switches["invoke_order"])
    effects = (*costs, *_used_up(actor, raised))
    return Standing(own.total - other.height, own.total, other.height, effects)


def _used_up(actor: Character, raised: int) -> tuple[Effect, ...]:
    return (effect("opposition", to=actor.name, change=-raised),) if raised else ()


def effort(table: Table, actor: Character, action: str, skill: Rating, given: Help) -> int:
    """Return what somebody adds to the dice: skill, stunts, teamwork, the size of a mob, and any other bonus.

    Raises:
        UsageError: a stunt is not on the sheet or does not help here; a helper lacks the skill or should lead.
    """
    if not (actor.counters or actor.records or any(given.values())):
        return skill.value
    add = skill.value + given.get("bonus", 0) + given.get("helpers", 0) + crowd(actor, skill.value)
    stunts = given.get("stunt", ())
    if stunts or actor.records:
        add += stunt_bonus(actor, action, skill, named=stunts)
    helpers = given.get("helper", ())
    for name in helpers:
        rating = table.state.characters[name].abilities.get(skill.name, 0)
        if skill.name and rating < 1:
            raise UsageError(f"{name} cannot help: {skill.name} has to be Average (+1) or better, and is {rating:+d}")
        if rating > skill.value:
            raise UsageError(f"{name} should lead: {skill.name} {rating:+d} is higher than {actor.name}'s")
    return add + len(helpers)


def crowd(character: Character, rating: int) -> int:
    """Return what a mob's size adds: teamwork, so only with a rating of Average (+1) or better."""
    return character.counters.get(harm.MEMBERS, 1) - 1 if rating >= 1 else 0


def stunt_bonus(actor: Character, action: str, skill: Rating, *, named: Sequence[str] = ()) -> int:
    """Return what the stunts on a sheet add to an action with a skill.

    A stunt with a condition (`when`) counts only when it is named.

    Raises:
        UsageError: a named stunt is not on the sheet, or does not help this action with this skill.
    """
    stunts = actor.records.get("stunts", EMPTY)
    wanted = {slug(name) for name in named}
    total = 0
    for name, stunt in stunts.items():
        is_named = slug(name) in wanted
        wanted.discard(slug(name))
        fits = stunt["action"] == action and (stunt["skill"] is None or slug(stunt["skill"]) == skill.name)
        if is_named and not fits:
            raise UsageError(
                f"the stunt {name!r} of {actor.name} does not help {action} with {skill.name or 'this skill'}"
            )
        if fits and (is_named or stunt["when"] is None):
            total += stunt["bonus"]
    if wanted:
        has = ", ".join(stunts) or "none"
        raise UsageError(f"{actor.name}'s sheet has no stunt {min(wanted)!r}; it has: {has}")
    return total


def check_present(state: State, actor: Character, vs: Sequence[Opposition] = (), given: Help = {}) -> None:  # noqa: B006
    """Check that everybody who takes part can, and on one side.

    Raises:
        UsageError: somebody is out, or named twice.
    """
    if not actor.is_out and len(state.characters) == 1:
        return
    own = (actor.name, *given.get("helper", ()), *given.get("ally", ()))
    against = [one.character for one in vs if one.character] + list(given.get("rival", ()))
    for name in (*own, *against):
        check_in(state, name)
        if (*own, *against).count(name) > 1:
            raise UsageError(f"{name} takes part once and on one side; leave one of the two mentions out")


def check_in(state: State, name: str) -> None:
    """Check that a character is not out.

    Raises:
        UsageError: it is.
    """
    if state.characters[name].is_out:
        raise UsageError(f"{name} is out (taken out, or conceded), and takes no further part in this scene")


def opposers(table: Table, vs: Sequence[Opposition]) -> list[Foe]:
    """Return those who merely oppose: no action, so no stunts and no full defense (A:353-361).

    Raises:
        UsageError: several oppose, and the switch `opposers` allows one.
    """
    if len(vs) > 1 and table.rules.switches["opposers"] == "one":
        raise UsageError("only one character may oppose (switch opposers=one); --vs was given several times")
    return [Foe(one.value + _size(table.state, one), one.dice, one.character) for one in vs]


def _size(state: State, one: Opposition) -> int:
    return crowd(state.characters[one.character], one.value) if one.character else 0


def defense(
    table: Table,
    vs: Sequence[Opposition],
    *,
    action: str,
    defender: str | None = None,
    target: str | None = None,
    full_defense: bool = False,
    stunts: Sequence[str] = (),
) -> Foe:
    """Return the one who defends, with the stunts for it and +2 for full defense (A:285, A:332-339).

    Whoever rolls is the defender, for others too: who steps in takes what comes of it.

    Args:
        action: what is met, for messages.
        defender: who defends, when `vs` does not say.
        target: who is aimed at; defends when nobody else does.
        full_defense: whether the defender gave up its action for this.
        stunts: stunts of the defender whose condition holds.

    Raises:
        UsageError: there is not exactly one, or a stunt does not help.
    """
    if len(vs) != 1:
        raise UsageError(f"{action} is met by one defense; give --vs once, and --vs 0 for somebody who does not defend")
    one = vs[0]
    if defender and one.character and defender != one.character:
        raise UsageError(f"--vs has {one.character} roll the defense, and --defender says {defender}; give one of them")
    add = one.value + (FULL_DEFENSE if full_defense else 0)
    who = defender or one.character
    if one.character:
        character = table.state.characters[one.character]
        add += crowd(character, one.value)
        add += stunt_bonus(character, "defend", Rating(one.value, one.ability), named=stunts)
    elif stunts:
        raise UsageError("--defense-stunt is for a defender with a sheet; say --vs SHEET:SKILL")
    if who:
        check_in(table.state, who)
    if target and not who:
        check_in(table.state, target)
    return Foe(add, one.dice, who or target or "")


# ---------------------------------------------------------------------------------------------------------------------
# The outcome


@cache
def _facts_of(*facts: tuple[str, str]) -> Map[str, str]:
    return Map(facts)


_UNOPPOSED, _PASSIVE, _ACTIVE = (_facts_of(("opposition", kind)) for kind in ("none", "passive", "active"))


def _facts(foes: Sequence[Foe], *more: tuple[str, str]) -> Map[str, str]:
    """Return what the conditions of outcome tables may speak of: what kind of opposition there was, and more."""
    kind = _PASSIVE if foes else _UNOPPOSED
    for foe in foes:
        if foe.dice is not None:
            kind = _ACTIVE
            break
    return _facts_of(*kind.items(), *more) if more else kind


def _opponent(foes: Sequence[Foe]) -> str:
    for foe in foes:
        if foe.who:
            return foe.who
    return GM


@cache
def _roles(actor: str, opponent: str) -> Map[str, str]:
    return Map({"actor": actor, OPPONENT: opponent, "gm": GM})


@cache
def _details(opponent: str) -> Map[str, str]:
    return Map({OPPONENT: opponent})


def settle(
    table: Table,
    name: str,
    standing: Standing,
    roles: Map[str, str],
    facts: Map[str, str],
    *,
    defaults: Mapping[str, Mapping[str, Any]] = EMPTY,
    becomes: str = "",
    spelled: Mapping[str, str] = EMPTY,
    track: str = "physical",
    consequence: str = "",
) -> Outcome:
    """Return what an outcome table says for a roll, with the roll's own effects before it and harm absorbed after it.

    Args:
        name: the outcome table.
        standing: the roll.
        roles, facts, defaults: as of `Table.settle`.
        becomes: what an aspect is called that is altered.
        spelled: by role, whom an effect means that says so; for roles that readers of the JSON would not know.
        track: which stress a hit goes to.
        consequence: the name of a consequence taken.
    """
    outcome = table.settle(
        name,
        standing.margin,
        total=standing.total,
        opposition=standing.opposition,
        roles=roles,
        facts=facts,
        defaults=defaults,
    )
    effects, state = outcome.effects, table.state
    if state.tags or "aspect" in defaults:
        effects = aspects.with_names(state, effects, becomes=becomes)
    if spelled:
        effects = tuple(one.with_("to", spelled[one["to"]]) if one.get("to") in spelled else one for one in effects)
    details: Mapping[str, str] = EMPTY
    if len(state.characters) > 1 or state.characters[roles["actor"]].tracks:
        effects += _absorbed(table, effects, roles, track=track, consequence=consequence)
        if roles[OPPONENT] in state.characters:
            details = _details(roles[OPPONENT])
    if standing.effects:
        effects = (*standing.effects, *effects)
    if effects is outcome.effects and not details:
        return outcome
    return msgspec.structs.replace(outcome, effects=effects, details=details)


def _absorbed(
    table: Table, effects: Sequence[Effect], roles: Map[str, str], *, track: str, consequence: str
) -> tuple[Effect, ...]:
    """Return how hits are absorbed by those of whom a sheet says what there is to absorb with."""
    shifts: dict[str, int] = {}
    for one in effects:
        if one["kind"] == "hit":
            to: str = one["to"]
            who = roles.get(to, to)
            shifts[who] = shifts.get(who, 0) + one["shifts"]
            track = one.get("track", track)
    taken: tuple[Effect, ...] = ()
    for who, amount in shifts.items():
        character = table.state.characters.get(who)
        if amount > 0 and character is not None and character.tracks:
            attacker = roles["actor"] if who == roles[OPPONENT] else roles[OPPONENT]
            taken += harm.absorb(table, who, amount, track=track, attacker=attacker, name=consequence)
    return taken


def _boost(given: Help) -> Mapping[str, Mapping[str, Any]]:
    name = given.get("boost")
    return {"boost": {"name": name}} if name else EMPTY


def _called(state: State, actor: Character, name: str) -> str:
    """Return an aspect's name as it stands on the table, when the actor knows of it there, else as it was given."""
    tag = aspects.seen_tag(state, actor.name, name)
    if tag is not None:
        return tag.name
    aspects.check_spelling(state, actor.name, name)
    return name


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
    **given: Unpack[Help],
) -> Outcome:
    """Get past an obstacle, or change something for good (A:125-146)."""
    check_present(table.state, actor, vs, given)
    foes = opposers(table, vs)
    standing = roll_off(table, actor, effort(table, actor, "overcome", skill, given), foes, given)
    roles = _roles(actor.name, target or _opponent(foes))
    if not (removes or alters or harms):
        return settle(table, "overcome", standing, roles, _facts(foes), defaults=_boost(given))
    if removes and alters:
        raise UsageError("--removes and --alters are two actions; give one of them")
    if harms and roles[OPPONENT] == GM:
        raise UsageError("--harms does not say whom; give --target NAME, or --vs SHEET:SKILL")
    old, _, new = (alters or "").partition("=")
    said = {"removes": removes, "alters": alters, "harm": harms}
    facts = _facts(foes, *((key, "yes" if value else "no") for key, value in said.items()))
    aspect = {"aspect": {"name": _called(table.state, actor, (removes or old).strip())}} if removes or alters else {}
    defaults = {**_boost(given), **aspect}
    return settle(table, "overcome", standing, roles, facts, defaults=defaults, becomes=new.strip())


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
    worse: str | None = None,
    **given: Unpack[Help],
) -> Outcome:
    """Reveal what is hidden or establish something new (A:162-214). The variant is the outcome table's name."""
    state = table.state
    check_present(state, actor, vs, given)
    is_new = variant == "establish"
    if is_new:
        refusal = Option("veto", "It is out of scope: say something else.")
        if table.ask("veto", GM, (refusal,), text="Does the game master refuse it?", optional=True) != NO:
            return settle(table, "veto", Standing(None), _roles(actor.name, GM), EMPTY)
    foes = opposers(table, vs)
    standing = roll_off(table, actor, effort(table, actor, "discover", skill, given), foes, given)
    aspect = name or (None if is_new else _hidden(state, actor, on)) or aspects.distinct_name(state, "A Discovery")
    defaults = {
        "aspect": {"name": aspect, "on": on or SCENE},
        "free-invoke": {"on": aspect},
        **_boost(given),
    }
    roles = _roles(actor.name, _opponent(foes))
    return settle(table, variant, standing, roles, _facts(foes), defaults=defaults, becomes=worse or "")


def _hidden(state: State, actor: Character, on: str | None) -> str | None:
    """Return what there is to be found, when nobody said: the first aspect that is hidden from the actor."""
    tag = aspects.hidden_tag(state, actor.name, on=on or "")
    return tag.name if tag is not None else None


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
    defender: str | None = None,
    full_defense: bool = False,
    defense_stunt: Sequence[str] = (),
    **given: Unpack[Help],
) -> Outcome:
    """Make an aspect or take advantage of one (A:236-263). Against a character its defense is part of the roll."""
    state = table.state
    check_present(state, actor, vs, given)
    is_new = variant == "new"
    aspect = _new_name(state, name) if is_new else _old_name(state, actor, name)
    tag = None if is_new else aspects.seen_tag(state, actor.name, aspect)
    carrier = _carrier(state, vs, on) or (tag.on if tag is not None else SCENE)
    is_defended = bool(vs) and carrier not in (SCENE, actor.name)
    foes: Sequence[Foe]
    if is_defended:
        target = carrier if carrier in state.characters else None
        foe = defense(
            table,
            vs,
            action="an advantage on a character",
            defender=defender,
            target=target,
            full_defense=full_defense,
            stunts=defense_stunt,
        )
        foes = (foe,)
        carrier = foe.who or carrier  # who steps in has it on
    elif defender or full_defense or defense_stunt:
        raise UsageError("nobody defends against an advantage on the scene; say whom it is on (--on NAME)")
    else:
        foes = opposers(table, vs)
    standing = roll_off(table, actor, effort(table, actor, "create-advantage", skill, given), foes, given)
    if tag is not None and tag.audience is not None:  # using an aspect that others do not know of shows it
        shown = effect("aspect", change="revealed", name=aspect)
        standing = msgspec.structs.replace(standing, effects=(shown, *standing.effects))
    opponent = _opponent(foes)
    profits = OPPONENT if beneficiary in (None, opponent) else beneficiary
    return settle(
        table,
        f"create-{variant}",
        standing,
        _roles(actor.name, opponent),
        _facts(foes, ("against", "character" if is_defended else "scene")),
        defaults={"aspect": {"name": aspect, "on": carrier}, "free-invoke": {"on": aspect}, **_boost(given)},
        spelled={"beneficiary": profits},
    )


def _new_name(state: State, name: str | None) -> str:
    """Return what a new aspect is called.

    Raises:
        UsageError: an aspect that everybody knows is called that already; only a boost can become an aspect.
    """
    if name is None:
        return aspects.distinct_name(state, aspects.UNNAMED)
    tag = state.tag(name)
    if tag is not None and tag.audience is None and tag.kind != aspects.BOOST:
        raise UsageError(f"{tag.name!r} is there already; say --variant existing to take advantage of it")
    return name


def _old_name(state: State, actor: Character, name: str | None) -> str:
    """Return what an aspect in play is called.

    Raises:
        UsageError: it is a boost.
    """
    if name is None:
        return aspects.UNNAMED
    tag = aspects.seen_tag(state, actor.name, name)
    if tag is not None and tag.kind == aspects.BOOST:
        raise UsageError(f"{tag.name!r} is a boost; say --variant new to make an aspect of it")
    return _called(state, actor, name)


def _carrier(state: State, vs: Sequence[Opposition], on: str | None) -> str | None:
    """Return who carries the aspect an advantage is about, when that was said."""
    if on == OPPONENT:
        return next((one.character for one in vs if one.character), OPPONENT)
    if on and on not in state.characters:
        known = ", ".join(state.characters)
        raise UsageError(f"--on {on}: nobody of that name is at the table ({known}); `opponent` stands for anybody")
    return on


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
    defense_stunt: Sequence[str] = (),
    **given: Unpack[Help],
) -> Outcome:
    """Attack and defense as one event (A:279-300, A:326-335); the one who defends takes what comes of it."""
    check_present(table.state, actor, vs, given)
    foe = defense(
        table,
        vs,
        action="an attack",
        defender=defender,
        target=target,
        full_defense=full_defense,
        stunts=defense_stunt,
    )
    if actor.name in (foe.who, target):
        raise UsageError(f"{actor.name} cannot attack {actor.name}")
    standing = roll_off(table, actor, effort(table, actor, "attack", skill, given), (foe,), given)
    return settle(
        table,
        "attack",
        standing,
        _roles(actor.name, foe.who or GM),
        _facts((foe,)),
        defaults={"hit": {"track": track}, **_boost(given)},
        track=track,
        consequence=consequence or "",
    )


@fate.action("defend")
def defend(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    against: str,
    existing: bool = False,
    track: str = "physical",
    name: str | None = None,
    consequence: str | None = None,
    full_defense: bool = False,
    **given: Unpack[Help],
) -> Outcome:
    """Ward something off that does not act as a character of this table, seen from the defender (A:326-335)."""
    state = table.state
    check_present(state, actor, vs, given)
    if len(vs) != 1:
        raise UsageError("defend is against one attack or advantage; give --vs once")
    one = vs[0]
    other = one.value + _size(state, one)
    if one.character:
        other += stunt_bonus(
            state.characters[one.character], ATTACK_OF.get(against, against), Rating(one.value, one.ability)
        )
    foes = (Foe(other, one.dice, one.character),)
    add = effort(table, actor, "defend", skill, given) + (FULL_DEFENSE if full_defense else 0)
    aspect = _old_name(state, actor, name) if existing else _new_name(state, name)
    standing = roll_off(table, actor, add, foes, given)
    return settle(
        table,
        f"defend-{against}",
        standing,
        _roles(actor.name, _opponent(foes)),
        _facts(foes, ("advantage", "existing" if existing else "new")),
        defaults={
            "hit": {"track": track},
            "aspect": {"name": aspect},
            "free-invoke": {"on": aspect},
            **_boost(given),
        },
        track=track,
        consequence=consequence or "",
    )


@fate.action("oppose")
def oppose(table: Table, actor: Character, *, skill: Rating, bonus: int = 0, ally: Sequence[str] = ()) -> Outcome:
    """Set the difficulty of somebody else's action (A:349-361). No action: no stunts, no gain."""
    check_present(table.state, actor, given={"ally": ally})
    dice = table.rules.dice
    rolled = table.roll(dice, "roll", by=actor.name)
    total = rolled + skill.value + bonus + crowd(actor, skill.value)
    costs: tuple[Effect, ...] = ()
    members = (actor.name, *ally)
    if table.state.tags and aspects.can_invoke(table.state, members):
        own = aspects.Side(members, "invoke", "roll", total, rolled, dice, actor.name)
        own, _, costs = aspects.invoke_window(table, own, None, order=table.rules.switches["invoke_order"])
        total = own.total
    defaults = {"opposition": {"value": total}}
    standing = Standing(None, total, None, costs)
    return settle(table, "oppose", standing, _roles(actor.name, GM), EMPTY, defaults=defaults)


@fate.action("compel")
def compel(table: Table, actor: Character, *, name: str, proposer: str = GM) -> Outcome:
    """Offer a complication from an aspect (Fate Core, "Invoking & Compelling Aspects").

    The game master and oneself propose free; another player pays a point to propose. With no points it cannot be
    refused.
    """
    state = table.state
    check_present(state, actor)
    known = state.seen_by(state.seat_of(actor.name)).tags
    tag = aspects.seen_tag(state, actor.name, name)
    if known and tag is None:
        names = ", ".join(tag.name for tag in known)
        raise UsageError(f"no aspect here is called {name!r}; there are: {names}")
    if tag is not None and tag.kind == aspects.BOOST:
        raise UsageError(f"{tag.name!r} is a boost, and boosts cannot be compelled")
    if proposer not in (GM, actor.name, *state.characters):
        raise UsageError(f"nobody called {proposer!r} is at the table to propose a compel")
    pays = proposer != actor.name and state.seat_of(proposer) != GM
    if pays and aspects.points_of(state, proposer) < 1:
        raise UsageError(f"{proposer} has no fate point to propose a compel with")
    points = "some" if aspects.points_of(state, actor.name) else "none"
    facts = _facts_of(("points", points), ("proposer", "pays" if pays else "free"))
    roles = _roles(actor.name, GM)
    return settle(table, "compel", Standing(None), roles, facts, spelled={"proposer": proposer})


@fate.action("concede")
def concede(table: Table, actor: Character, *, consequences: int | None = None) -> Outcome:
    """Give in before a roll: a point, and one for each consequence taken in this conflict (Fate Core, "Conflicts")."""
    check_present(table.state, actor)
    taken = consequences if consequences is not None else actor.counters.get(harm.TAKEN, 0)
    defaults = {"fate-point": {"change": 1 + taken}}
    return settle(table, "concede", Standing(None), _roles(actor.name, GM), EMPTY, defaults=defaults)


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
