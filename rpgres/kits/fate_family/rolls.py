"""The rolls of the Fate family: modifiers and dice of both sides, who takes part, and the result of the invoke window.

`settling` leads from a roll to its outcome. `A:n` is a line of the source text of ruleset `fate`
(`rulesets/fate/SOURCES.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypedDict

import msgspec

from rpgres.dice import Dice
from rpgres.engine.table import Table
from rpgres.errors import UsageError, enumerated, named
from rpgres.kits import aspects, harm
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import EMPTY, GM, Character, Map, State, slug
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import STATE, Effect, effect
from rpgres.rulesets.settling import Facts

NEXT = "opposition-next"  # the counter that is added to the difficulty of a character's next action
_LABELS = ("roll", "opposition")
FULL_DEFENSE = 2  # A:339


class Help(TypedDict, total=False):
    """Optional inputs of most actions.

    Attributes:
        bonus: any other modifier.
        stunt: stunts of the actor whose condition holds.
        helper: characters who help with the same skill (teamwork) and may invoke for the actor.
        helpers: the number of other helpers.
        ally: other characters who may invoke for the actor.
        rival: other characters who may invoke against the actor.
        boost: the name of a boost that is gained.
    """

    bonus: int
    stunt: Sequence[str]
    helper: Sequence[str]
    helpers: int
    ally: Sequence[str]
    rival: Sequence[str]
    boost: str | None


Part = tuple[str, int]  # a modifier of a skill: its name and its value


class Additions(msgspec.Struct, frozen=True, gc=False):
    """What a rule adds to the rating that a character rolls, beside what was given (`Help`).

    Attributes:
        full_defense: whether the character gave up its action for a full defense.
        parts: further modifiers of the ruleset.
        also: other abilities in use that stunts may help.
        anybody_helps: whether helpers need not have the skill.
        called: the name of a rating without a name.
    """

    full_defense: bool = False
    parts: tuple[Part, ...] = ()
    also: tuple[str, ...] = ()
    anybody_helps: bool = False
    called: str = "skill"


NO_ADDITIONS = Additions()


class Defender(msgspec.Struct, frozen=True, gc=False):
    """Who defends, and how, as it was given.

    Attributes:
        who: the defender, where the opposition names none.
        target: the target, who is the defender by default.
        full_defense: whether the defender gave up its action for a full defense.
        stunts: stunts of the defender whose condition holds.
    """

    who: str | None = None
    target: str | None = None
    full_defense: bool = False
    stunts: tuple[str, ...] = ()


class Aim(msgspec.Struct, frozen=True, gc=False):
    """What an attack goes to.

    Attributes:
        track: where the harm goes.
        defender: who defends.
        consequence: the name of a consequence that is taken.
    """

    track: str
    defender: Defender = Defender()
    consequence: str = ""


class Foe(msgspec.Struct, frozen=True, gc=False):
    """One opponent of a roll: its modifier, its dice (None for a fixed difficulty), and its name."""

    add: int
    dice: Dice | None
    who: str


class FinalRoll(msgspec.Struct, frozen=True, gc=False):
    """A roll after the invoke window; all numbers are None where nothing opposed it.

    Attributes:
        counts: whether the outcome has this margin; otherwise it only selects the row.
    """

    margin: int | None
    total: int | None = None
    opposition: int | None = None
    effects: tuple[Effect, ...] = ()
    counts: bool = True


class Roll(msgspec.Struct, frozen=True, gc=False):
    """A roll before the dice are rolled.

    Attributes:
        actor: the actor's name.
        raised: the addition to the difficulty from an earlier action.
        used: the effects that use it up.
        add: the actor's modifier.
        foes: the opponents.
        sides: the characters who may invoke for the actor, and against.
        settles: as of `prepare_roll`.
        has_aspects: whether anything on the table could be invoked.
    """

    actor: str
    raised: int
    used: tuple[Effect, ...]
    add: int
    foes: tuple[Foe, ...]
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    settles: aspects.Settles | None
    has_aspects: bool


def roll_off(
    table: Table,
    actor: Character,
    add: int,
    foes: Sequence[Foe],
    given: Help,
    *,
    settles: aspects.Settles | None = None,
) -> FinalRoll:
    """Roll an action against its opposition; see `prepare_roll` and `final_roll`."""
    return final_roll(table, prepare_roll(table, actor, add, foes, given, settles))


def prepare_roll(
    table: Table,
    actor: Character,
    add: int,
    foes: Sequence[Foe],
    given: Help,
    settles: aspects.Settles | None = None,
) -> Roll:
    """Return a roll before the dice are rolled.

    Args:
        add: the actor's modifier.
        foes: the opponents, of which the highest counts. Without any there is no roll (A:7), unless an aspect is
            invoked against the actor, which makes a difficulty of +2.
        given: who else may invoke.
        settles: the outcome table and the facts that settle the margin, where nothing else depends on it.
    """
    raised = actor.counters.get(NEXT, 0) if actor.counters else 0
    has_aspects = table.run.state.glance(aspects.has_any)
    used = (effect("opposition", to=actor.name, change=-raised),) if raised else ()
    return Roll(actor.name, raised, used, add, tuple(foes), _sides(actor, foes, given), settles, has_aspects)


def final_roll(table: Table, roll: Roll, key: tuple[Hashable, ...] | None = None) -> FinalRoll:
    """Roll an action against its opposition, with the invoke window (A:15-19, A:29-43).

    Args:
        key: everything that matters after the roll, beside its margin and its costs, so that odds of scenes continue
            once for all rolls of one margin. None where more matters.
    """
    if key is None:
        return _rolled_final(table, roll, None)
    final = _rolled_final(table, roll, key)
    effects = table.merge((*key, final.margin), holds=(STATE,), pays=final.effects)
    return final if effects is final.effects else msgspec.structs.replace(final, effects=effects)


def _rolled_final(table: Table, roll: Roll, key: tuple[Hashable, ...] | None) -> FinalRoll:
    foes, run = roll.foes, table.run
    if not foes:
        ledger = aspects.raised_from_nothing(table, *roll.sides) if roll.has_aspects else None
        if ledger is None:
            return FinalRoll(None)
        settles = (roll.settles[0], _met(roll.settles[1])) if roll.settles is not None else None
        foe = Foe(ledger.settings.bonus, None, "")
        return _with_window(table, msgspec.structs.replace(roll, foes=(foe,), settles=settles), ledger)
    if roll.has_aspects and not _is_left_out(table):
        ledger = aspects.new_ledger(table)
        if aspects.can_any_invoke(run.state, roll.sides, ledger):
            return _with_window(table, roll, ledger) if table.is_read else _kept(table, roll, ledger, key)
        aspects.no_window(table, roll.sides)
    dice, foe = table.rules.dice, foes[0]
    if len(foes) > 1 or foe.dice is None:
        total = table.roll(dice, "roll", roll.actor) + roll.add
        opposition = roll.raised + max(
            [one.add + (table.roll(one.dice, "opposition", one.who) if one.dice is not None else 0) for one in foes]
        )
        return FinalRoll(total - opposition, total, opposition, roll.used)
    compared = table.versus(dice, foe.dice, roll.add, foe.add + roll.raised, _LABELS, (roll.actor, foe.who))
    return FinalRoll(compared.margin, compared.total, compared.opposition, roll.used)


def _is_left_out(table: Table) -> bool:
    """Tell whether odds leave the invoke window out: policies alone decide in it, and never invoke."""
    run = table.run
    return run.keeps_parts(aspects.LABELS) and aspects.is_never_invoked(table.rules, run.players.policies)


def _met(facts: Facts) -> Facts:
    """Return the facts of a roll whose only opposition is an invoked aspect."""
    if isinstance(facts, Map) and facts.get("opposition") == "none":
        return facts.with_("opposition", "passive")
    return facts


def _sides(actor: Character, foes: Sequence[Foe], given: Help) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who may invoke for the actor and who against; the game master may raise a fixed difficulty."""
    own = (actor.name, *given.get("helper", ()), *given.get("ally", ()))
    against = [foe.who or GM for foe in foes] or [GM]
    if actor.seat == GM:
        against = [who for who in against if who != GM]  # not against her own character
    return own, tuple(dict.fromkeys((*against, *given.get("rival", ()))))


class _Start(msgspec.Struct, frozen=True):
    """A roll with an invoke window, and what was used up before."""

    roll: Roll
    ledger: aspects.Ledger


def _with_window(table: Table, roll: Roll, ledger: aspects.Ledger) -> FinalRoll:
    """Return a roll after its window."""
    window = _rolled(table, roll, ledger)
    (own, other), costs = aspects.invoke_among(table, window.sides, ledger, settles=roll.settles)
    total, opposition = own.height, other.height
    return FinalRoll(total - opposition, total, opposition, (*costs, *roll.used))


def _kept(table: Table, roll: Roll, ledger: aspects.Ledger, behind: tuple[Hashable, ...] | None) -> FinalRoll:
    """Return a roll after its window in odds, which may have it cached from another turn; without totals."""
    if not table.run.keeps_parts(aspects.LABELS):
        found = _with_window(table, roll, ledger)
        return found if table.run.asked == "total" else FinalRoll(found.margin, effects=found.effects)
    by_facts = table.run.players.policies.promises(*aspects.LABELS).by_facts
    unnamed = aspects.without_names(table.state, roll.sides, ledger, by_facts=by_facts)
    key = "roll", roll.actor, roll.raised, roll.add, roll.foes, roll.sides, unnamed.means, roll.settles
    start = _Start(roll, unnamed.ledger)

    def play(inner: Table) -> FinalRoll:
        window = inner.chain(_step, start, key=_key, holds=(STATE,))
        margin = window.sides[0].height - window.sides[1].height
        return FinalRoll(margin, effects=(*aspects.costs_of(inner, window), *roll.used))

    def paid(found: FinalRoll) -> tuple[Effect, ...]:
        return tuple([_named(one, unnamed.names) for one in found.effects])

    def onward(found: FinalRoll) -> tuple[Hashable, tuple[Effect, ...]]:
        return (*behind, found.margin) if behind is not None else None, paid(found)

    found = table.part(lambda: key, play, onward if behind is not None else None, asks=aspects.LABELS)
    return FinalRoll(found.margin, effects=paid(found))


def _named(one: Effect, names: Mapping[str, str]) -> Effect:
    """Return an effect with the names of aspects filled in."""
    for field in ("on", "name"):
        if one.get(field) in names:
            return one.with_(field, names[one[field]])
    return one


def _step(table: Table, place: _Start | aspects.Window) -> aspects.Window | None:
    """Roll, or ask who can invoke up to the next roll; None where all have passed."""
    return _rolled(table, place.roll, place.ledger) if isinstance(place, _Start) else aspects.invoke_on(table, place)


def _key(table: Table, place: _Start | aspects.Window) -> Hashable:
    return "roll" if isinstance(place, _Start) else aspects.essence(table, place)


def _rolled(table: Table, roll: Roll, ledger: aspects.Ledger) -> aspects.Window:
    """Roll the dice, and return the window that follows."""
    dice = table.rules.dice
    rolled = table.roll(dice, "roll", roll.actor)
    own = aspects.Side(roll.sides[0], "invoke", "roll", rolled + roll.add, rolled, dice, roll.actor)
    other: aspects.Side | None = None
    for foe in roll.foes:
        shown = table.roll(foe.dice, "opposition", foe.who) if foe.dice is not None else None
        total, rest = foe.add + roll.raised + (shown or 0), other.height if other is not None else None
        if other is None or total > other.total:  # of several opponents, the highest is invoked for
            other = aspects.Side(roll.sides[1], "invoke-against", "opposition", total, shown, foe.dice, foe.who, rest)
        else:
            other = msgspec.structs.replace(other, floor=total if other.floor is None else max(total, other.floor))
    assert other is not None
    return aspects.Window((own, other), ledger, settles=roll.settles)


def add_up(table: Table, who: str, skill: Rating, parts: Sequence[Part], *, called: str = "skill") -> int:
    """Return a skill with its modifiers; the sum is a line of the account if there are any.

    Args:
        who: the owner of the skill.
        skill: the rating that counts.
        parts: the modifiers.
        called: the name of a rating without a name.
    """
    total = skill.value
    told = []
    for name, number in parts:
        if number:
            total += number
            told.append(f"{name} {number:+d}")
    if told:
        table.tell(f"{who}: {skill.name or called} {skill.value:+d}, {', '.join(told)} = {total:+d}")
    return total


def effort(
    table: Table,
    actor: Character,
    action: str,
    skill: Rating,
    given: Help,
    more: Additions = NO_ADDITIONS,
) -> int:
    """Return what a character adds to the dice: skill, stunts, teamwork, the size of a mob, and any other bonus.

    Args:
        action: the action that stunts may help.
        skill: the rating that counts.
        given: further bonuses.
        more: those of the rule.

    Raises:
        UsageError: a stunt is not on the sheet or does not help here; a helper lacks the skill or should lead.
    """
    if more is NO_ADDITIONS and not (given or actor.counters or actor.records):
        return skill.value
    helpers = given.get("helper", ())
    for name in helpers if not more.anybody_helps else ():
        rating = table.state.characters[name].abilities.get(skill.name, 0)
        if skill.name and rating < 1:
            raise UsageError(f"{name} cannot help: {skill.name} has to be Average (+1) or better, and is {rating:+d}")
        if rating > skill.value:
            raise UsageError(f"{name} should lead: {skill.name} {rating:+d} is higher than {actor.name}'s")
    parts = [*more.parts, *stunts_that_help(actor, action, skill, named=given.get("stunt", ()), also=more.also)]
    if helpers or "helpers" in given:
        parts.append(("help", len(helpers) + given.get("helpers", 0)))
    parts.append(("the mob's size", crowd(actor, skill.value)))
    if more.full_defense:
        parts.append(("full defense", _full_defense(table)))
    if "bonus" in given:
        parts.append(("bonus", given["bonus"]))
    return add_up(table, actor.name, skill, parts, called=more.called)


def _full_defense(table: Table) -> int:
    if table.rules.switches(ConflictSwitches).full_defense == "no":
        raise UsageError(f"there is no full defense (switch full_defense=no); leave out {named('full-defense')}")
    return FULL_DEFENSE


def crowd(character: Character, rating: int) -> int:
    """Return the bonus for the size of a mob: teamwork, so only with a rating of Average (+1) or better."""
    return character.counters.get(harm.MEMBERS, 1) - 1 if rating >= 1 else 0


def stunts_that_help(
    actor: Character, action: str, skill: Rating, *, named: Sequence[str] = (), also: Sequence[str] = ()
) -> list[Part]:
    """Return the stunts on a sheet that help an action with a skill, with their bonuses.

    A stunt with a condition (`when`) counts only when it is named. `also` has further abilities that are in use.

    Raises:
        UsageError: a named stunt is not on the sheet, or does not help this action with this skill.
    """
    stunts = actor.records.get("stunts", EMPTY)
    wanted = {slug(name) for name in named}
    helping: list[Part] = []
    for name, stunt in stunts.items():
        is_named = bool(wanted) and slug(name) in wanted
        if is_named:
            wanted.remove(slug(name))
        fits = stunt["action"] == action and (stunt["skill"] is None or slug(stunt["skill"]) in (skill.name, *also))
        if is_named and not fits:
            raise UsageError(
                f"the stunt {name!r} of {actor.name} does not help {action} with {skill.name or 'this skill'}"
            )
        if fits and (is_named or stunt["when"] is None):
            helping.append((name, stunt["bonus"]))
    if wanted:
        has = enumerated(stunts)
        raise UsageError(f"{actor.name}'s sheet has no stunt {min(wanted)!r}; it has: {has}")
    return helping


def check_present(state: State, actor: Character, vs: Sequence[Opposition], given: Help) -> None:
    """Check that all participants are in the scene, and each is on one side.

    Raises:
        UsageError: a character is out, or named twice.
    """
    if not actor.is_out and len(state.characters) == 1:
        return
    present = [actor.name, *given.get("helper", ()), *given.get("ally", ())]
    present += [one.character for one in vs if one.character]
    present += given.get("rival", ())
    check_sides(state, present)


def check_sides(state: State, names: Sequence[str]) -> None:
    """Check that all participants are in the scene, and named once.

    Raises:
        UsageError: a character is out, or named twice.
    """
    for name in names:
        check_in(state, name)
        if names.count(name) > 1:
            raise UsageError(f"{name} can take part only once; remove one of the two mentions")


def check_in(state: State, name: str) -> None:
    """Check that a character is not out.

    Raises:
        UsageError: it is.
    """
    if state.characters[name].is_out:
        raise UsageError(f"{name} is taken out or has conceded; `end conflict` brings everybody back")


def resistance(table: Table, one: Opposition, parts: Sequence[Part] = (), *, called: str = "skill") -> int:
    """Return what an opponent adds: its rating, the size of a mob, and further modifiers."""
    if not one.character:
        return one.value + sum(number for _, number in parts)
    size = crowd(table.state.characters[one.character], one.value)
    parts = [*parts, ("the mob's size", size)] if size else parts
    return add_up(table, one.character, Rating(one.value, one.ability), parts, called=called) if parts else one.value


def defense(
    table: Table,
    vs: Sequence[Opposition],
    action: str,
    defender: Defender,
    *,
    parts_of: Callable[[Character, Opposition], Sequence[Part]] | None = None,
    called: str = "skill",
) -> Foe:
    """Return the defender, with its stunts and +2 for full defense (A:285, A:332-339).

    The character who rolls is the defender, also in place of another, and takes the result.

    Args:
        vs: the opposition, as typed.
        action: the action that is defended against, for messages.
        defender: who defends, and how.
        parts_of: returns further modifiers of the ruleset.
        called: the name of a rating without a name.

    Raises:
        UsageError: there is not exactly one opposition, or a stunt does not help.
    """
    if len(vs) != 1:
        raise UsageError(
            f"{action} is met by one defense; give {named('vs')} once, "
            f"and {named('vs')} 0 for a target that does not defend"
        )
    one = vs[0]
    if defender.who and one.character and defender.who != one.character:
        raise UsageError(
            f"{named('vs')} has {one.character} roll the defense, and {named('defender')} says {defender.who}; "
            "give one of them"
        )
    parts: list[Part] = [("full defense", _full_defense(table) if defender.full_defense else 0)]
    who = defender.who or one.character
    if one.character:
        character = table.state.characters[one.character]
        parts += stunts_that_help(character, "defend", Rating(one.value, one.ability), named=defender.stunts)
        parts += parts_of(character, one) if parts_of is not None else ()
    elif defender.stunts:
        raise UsageError(
            f"{named('defense-stunt')} is for a defender with a sheet; say {named('vs')} SHEET:{called.upper()}"
        )
    if who:
        check_in(table.state, who)
    if defender.target and not who:
        check_in(table.state, defender.target)
    return Foe(resistance(table, one, parts, called=called), one.dice, who or defender.target or "")
