"""The actions of Fate, each a plain function that plays at a table. No outcome's or option's name stands here.

Line numbers of the seed text (`rulesets/fate/SOURCES.md`) as `A:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

import msgspec

from rpgres import (
    EMPTY,
    GM,
    NO,
    SCENE,
    Character,
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
    named,
    once,
)
from rpgres.kits import aspects, harm
from rpgres.kits.fate_family import register
from rpgres.kits.fate_family.exchanges import one_action
from rpgres.kits.fate_family.moves import check_attack
from rpgres.kits.fate_family.moves import compel as offer_compel
from rpgres.kits.fate_family.moves import concede as give_in
from rpgres.kits.fate_family.rolls import (
    Additions,
    Aim,
    Defender,
    FinalRoll,
    Foe,
    Help,
    Part,
    Roll,
    add_up,
    check_present,
    crowd,
    defense,
    effort,
    final_roll,
    prepare_roll,
    resistance,
    roll_off,
    stunts_that_help,
)
from rpgres.kits.fate_family.settling import (
    NO_FIELDS,
    OPPONENT,
    EffectFields,
    carrier_of,
    facts_of,
    hidden_name,
    known_name,
    new_name,
    old_name,
    opponent_of,
    roles_of,
    settle,
    with_boost,
)

fate = Ruleset("fate")
register(fate)


@fate.switches
class Switches(msgspec.Struct, frozen=True, gc=False):
    """The house rules that the code reads beside those of the kits; `rulesets/fate/ruleset.toml` explains them."""

    opposers: Literal["highest", "one"]


ATTACK_OF = {"attack": "attack", "advantage": "create-advantage"}  # what a character does against whom one defends


@fate.action("overcome", costs=one_action)
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
    changes = Changes(removes, alters, harms, target) if removes or alters or harms or target else NO_CHANGES
    roll, roles, facts, fields = once(table, _overcoming, table, actor, skill, vs, given, changes)
    final = final_roll(table, roll)
    if removes or alters:
        old, _, new = (alters or "").partition("=")
        aspect = {"aspect": {"name": known_name(table.state, actor, (removes or old).strip())}}
        fields = EffectFields({**fields.defaults, **aspect}, new.strip())
    return settle(table, "overcome", final, roles, facts, fields)


class Changes(msgspec.Struct, frozen=True, gc=False):
    """What an actor means to change by overcoming something: the parameters of `overcome` of these names."""

    removes: str | None = None
    alters: str | None = None
    harms: bool = False
    target: str | None = None

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The facts for the outcome table; none where nothing is to be changed."""
        said = (("removes", self.removes), ("alters", self.alters), ("harm", self.harms))
        is_any = self.removes or self.alters or self.harms
        return tuple([(name, "yes" if value else "no") for name, value in said]) if is_any else ()


NO_CHANGES = Changes()


def _overcoming(
    table: Table,
    actor: Character,
    skill: Rating,
    vs: Sequence[Opposition],
    given: Help,
    changes: Changes = NO_CHANGES,
    name: str = "overcome",
) -> tuple[Roll, Map[str, str], Map[str, str], EffectFields]:
    """Return the roll to overcome something before the dice fall, with roles, facts and fields of its outcome."""
    check_present(table.state, actor, vs, given)
    if changes.removes and changes.alters:
        raise UsageError(f"{named('removes')} and {named('alters')} exclude each other")
    foes = _opposers(table, vs)
    roles = roles_of(actor.name, changes.target or opponent_of(foes))
    if changes.harms and roles[OPPONENT] == GM:
        raise UsageError(f"{named('harms')} needs a target; give {named('target')} NAME, or {named('vs')} SHEET:SKILL")
    spent = harm.used_up(actor) if actor.tracks else ()
    facts = facts_of(foes, *(changes.facts if changes is not NO_CHANGES else ()), *spent)
    adds = effort(table, actor, "overcome", skill, given)
    roll = prepare_roll(table, actor, adds, foes, given, (name, facts))
    return roll, roles, facts, with_boost(NO_FIELDS, given)


def cross(table: Table, actor: Character, skill: Rating, vs: Sequence[Opposition]) -> Outcome:
    """Get to another zone of a conflict, past what is in the way (Fate Core, "Movement")."""
    roll, roles, facts, fields = once(table, _overcoming, table, actor, skill, vs, {}, NO_CHANGES, "move")
    return settle(table, "move", final_roll(table, roll), roles, facts, fields)


@fate.action("discover", costs=one_action)
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
        refusal = Option("veto", "It is out of scope: choose something else.")
        if table.ask("veto", GM, (refusal,), text="Does the game master refuse it?", optional=True) != NO:
            return settle(table, "veto", FinalRoll(None), roles_of(actor.name, GM), EMPTY)
    foes = _opposers(table, vs)
    adds = effort(table, actor, "discover", skill, given)
    final = roll_off(table, actor, adds, foes, given, settles=(variant, facts_of(foes)))
    aspect = name or (None if is_new else hidden_name(state, actor, on)) or aspects.distinct_name(state, aspects.FOUND)
    defaults = {"aspect": {"name": aspect, "on": on or SCENE}, "free-invoke": {"on": aspect}}
    fields = with_boost(EffectFields(defaults, worse or ""), given)
    return settle(table, variant, final, roles_of(actor.name, opponent_of(foes)), facts_of(foes), fields)


@fate.action("create-advantage", costs=one_action)
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
    aspect = new_name(state, name) if is_new else old_name(state, actor, name)
    tag = None if is_new else aspects.seen_tag(state, actor.name, aspect)
    carrier = carrier_of(state, vs, on) or (tag.on if tag is not None else SCENE)
    is_defended = bool(vs) and carrier not in (SCENE, actor.name)
    foes: Sequence[Foe]
    if is_defended:
        target = carrier if carrier in state.characters else None
        by = Defender(defender, target, full_defense, tuple(defense_stunt))
        foe = defense(table, vs, "an advantage on a character", by)
        foes = (foe,)
        carrier = foe.who or carrier  # who steps in has it on
    elif defender or full_defense or defense_stunt:
        raise UsageError(f"an advantage on the scene has no defender; name its target ({named('on')} NAME)")
    else:
        foes = _opposers(table, vs)
    facts = facts_of(foes, ("against", "character" if is_defended else "scene"))
    adds = effort(table, actor, "create-advantage", skill, given)
    final = roll_off(table, actor, adds, foes, given, settles=(f"create-{variant}", facts))
    if tag is not None and tag.audience is not None:  # using an aspect that others do not know of shows it
        shown = effect("aspect", change="revealed", name=aspect)
        final = msgspec.structs.replace(final, effects=(shown, *final.effects))
    opponent = opponent_of(foes)
    profits = OPPONENT if beneficiary is None or beneficiary == opponent else beneficiary
    defaults = {"aspect": {"name": aspect, "on": carrier}, "free-invoke": {"on": aspect}}
    fields = with_boost(EffectFields(defaults, spelled={"beneficiary": profits}), given)
    return settle(table, f"create-{variant}", final, roles_of(actor.name, opponent), facts, fields)


@fate.action("attack", costs=one_action)
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
    """Attack and defense as one event (A:279-300, A:326-335); the defender takes the result."""
    check_attack(table)
    check_present(table.state, actor, vs, given)
    to = Aim(track, Defender(defender, target, full_defense, tuple(defense_stunt)), consequence or "")
    return strike(table, actor, skill, vs, to, given)


def strike(table: Table, actor: Character, skill: Rating, vs: Sequence[Opposition], to: Aim, given: Help) -> Outcome:
    """Return the result of an attack, wherever it is made."""
    roll, facts = once(table, _striking, table, actor, skill, vs, to, given)
    foe = roll.foes[0]
    final = final_roll(table, roll, ("attack", actor.name, foe.who, foe.dice is None, to, given.get("boost")))
    fields = with_boost(EffectFields({"hit": {"track": to.track}}, consequence=to.consequence), given)
    return settle(table, "attack", final, roles_of(actor.name, foe.who or GM), facts, fields)


def _striking(
    table: Table, actor: Character, skill: Rating, vs: Sequence[Opposition], to: Aim, given: Help
) -> tuple[Roll, Map[str, str]]:
    """Return the roll of an attack before the dice fall, with the facts of its outcome."""
    foe = defense(table, vs, "an attack", to.defender)
    if actor.name in (foe.who, to.defender.target):
        raise UsageError(f"{actor.name} cannot attack {actor.name}")
    facts = facts_of((foe,))
    adds = effort(table, actor, "attack", skill, given)
    return prepare_roll(table, actor, adds, (foe,), given, ("attack", facts)), facts


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
        raise UsageError(f"defend is against one attack or advantage; give {named('vs')} once")
    one = vs[0]
    stunts: list[Part] = []
    if one.character:
        action = ATTACK_OF.get(against, against)
        stunts = stunts_that_help(state.characters[one.character], action, Rating(one.value, one.ability))
    foes = (Foe(resistance(table, one, stunts), one.dice, one.character),)
    add = effort(table, actor, "defend", skill, given, Additions(full_defense=full_defense))
    aspect = old_name(state, actor, name) if existing else new_name(state, name)
    facts = facts_of(foes, ("advantage", "existing" if existing else "new"))
    final = roll_off(table, actor, add, foes, given, settles=(f"defend-{against}", facts))
    defaults = {"hit": {"track": track}, "aspect": {"name": aspect}, "free-invoke": {"on": aspect}}
    fields = with_boost(EffectFields(defaults, consequence=consequence or ""), given)
    return settle(table, f"defend-{against}", final, roles_of(actor.name, opponent_of(foes)), facts, fields)


@fate.action("oppose")
def oppose(table: Table, actor: Character, *, skill: Rating, bonus: int = 0, ally: Sequence[str] = ()) -> Outcome:
    """Set the difficulty of another character's action (A:349-361). No action: no stunts, no gain."""
    check_present(table.state, actor, (), {"ally": ally})
    dice = table.rules.dice
    add = add_up(table, actor.name, skill, [("the mob's size", crowd(actor, skill.value)), ("bonus", bonus)])
    rolled = table.roll(dice, "roll", by=actor.name)
    total = rolled + add
    costs: tuple[Effect, ...] = ()
    members = (actor.name, *ally)
    if table.state.tags and aspects.can_invoke(table.state, members, aspects.new_ledger(table)):
        own = aspects.Side(members, "invoke", "roll", total, rolled, dice, actor.name)
        own, _, costs = aspects.invoke_window(table, own, None)
        total = own.total
    fields = EffectFields({"opposition": {"value": total}})
    final = FinalRoll(None, total, None, costs)
    return settle(table, "oppose", final, roles_of(actor.name, GM), EMPTY, fields)


@fate.action("compel")
def compel(table: Table, actor: Character, *, name: str, proposer: str = GM) -> Outcome:
    """Offer a complication from an aspect (Fate Core, "Invoking & Compelling Aspects")."""
    return offer_compel(table, actor, name, proposer)


@fate.action("concede")
def concede(table: Table, actor: Character, *, consequences: int | None = None) -> Outcome:
    """Give in before a roll: a point, and one for each consequence taken in this conflict (Fate Core, "Conflicts")."""
    check_present(table.state, actor, (), {})
    return give_in(table, actor, consequences)


@fate.effect("information")
def learn(state: State, _effect: Effect) -> State:
    """Return the state as it is: what was learned is for the people at the table."""
    return state


def _opposers(table: Table, vs: Sequence[Opposition]) -> list[Foe]:
    """Return those who merely oppose: no action, so no stunts and no full defense (A:353-361).

    Raises:
        UsageError: several oppose, and the switch `opposers` allows one.
    """
    if len(vs) > 1 and table.rules.switches(Switches).opposers == "one":
        raise UsageError(f"only one character may oppose (switch opposers=one); {named('vs')} was given several times")
    if len(vs) == 1 and not vs[0].character:
        return [Foe(vs[0].value, vs[0].dice, "")]
    return [Foe(resistance(table, one), one.dice, one.character) for one in vs]
