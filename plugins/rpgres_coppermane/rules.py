"""The actions of Coppermane, each a plain function that plays at a table. No outcome's or option's name stands here.

What it shares with other rulesets of its family is `rpgres.kits.fate_family`. Line numbers of the text
(`rulesets/coppermane/SOURCES.md`) as `B:n`; COP is the campaign's own wiki.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Unpack

import msgspec

from rpgres import (
    EMPTY,
    GM,
    SCENE,
    Character,
    Effect,
    Map,
    Opposition,
    Outcome,
    Rating,
    Rules,
    Ruleset,
    Table,
    UsageError,
    named,
    slug,
)
from rpgres.kits import aspects, harm
from rpgres.kits.fate_family import register
from rpgres.kits.fate_family.exchanges import one_action
from rpgres.kits.fate_family.moves import check_attack, in_conflict
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
    check_present,
    defense,
    effort,
    final_roll,
    prepare_roll,
    resistance,
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
from rpgres_coppermane import legend

EPIC = "epic-attributes"
CALLED = "attribute"  # what is rolled, where it has no name

coppermane = Ruleset("coppermane")
coppermane.switches(legend.Switches)
register(coppermane)
coppermane.effect("legend")(legend.change_points)


class Given(Help, total=False):
    """What every action takes beside what it is about.

    Attributes:
        attribute: what is rolled.
        skill: what is added to it, or rolled in its place.
        epic: the level of the epic attribute, when no sheet says it.
        knack: a knack that fits.
        conflict: whether it happens in a conflict.
        witnesses: how many see it.
    """

    attribute: Rating
    skill: Rating
    epic: int
    knack: str
    conflict: bool
    witnesses: int


@coppermane.prepare
def check_limits(_rules: Rules, character: Character) -> Character:
    """Return the character as it is, when its legend, epic attributes and knacks are within their limits.

    Raises:
        ExceptionGroup: of all that is wrong: more legend points than the permanent legend, a level of more than half of
            the legend or half of the attribute, a knack without an epic attribute.
    """
    faults = list[UsageError]()
    with _kept(faults):
        legend.check_points(character)
    for name, epic in character.records.get(EPIC, Map()).items():
        with _kept(faults):
            _check_epic(character, Rating(character.abilities.get(name, 0), name), epic["level"])
    for name, knack in character.records.get("knacks", Map()).items():
        if not _epic_level(character, slug(knack["attribute"])):
            faults.append(UsageError(f"the knack {name!r} needs an epic {knack['attribute']} of at least 1"))
    if faults:
        raise ExceptionGroup("the sheet", faults)
    return character


@contextmanager
def _kept(faults: list[UsageError]) -> Iterator[None]:
    """Add the error that is raised inside to others, so that all are told at once."""
    try:
        yield
    except UsageError as error:
        faults.append(error)


def _epic_level(character: Character, attribute: str) -> int:
    """Return the level of an epic attribute as the sheet has it."""
    level: int = character.records.get(EPIC, Map()).get(attribute, Map({"level": 0}))["level"]
    return level


def _check_epic(character: Character, attribute: Rating, level: int) -> None:
    """Check an epic level against half of the attribute, and half of the legend where that is known (COP, birthrights).

    Raises:
        UsageError: it is more.
    """
    rating = character.counters.get(legend.RATING)
    most = max(0, min(attribute.value // 2, attribute.value if rating is None else rating // 2))
    if level > most:
        halves = "" if rating is None else f"half of the legend ({rating}) and "
        raise UsageError(
            f"epic {attribute.name or 'attribute'} is {level}, and can be at most {most}: {halves}half of the "
            f"attribute ({attribute.value}), rounded down"
        )


@coppermane.action("overcome", costs=one_action)
def overcome(
    table: Table,
    actor: Character,
    *,
    vs: Sequence[Opposition],
    removes: str | None = None,
    alters: str | None = None,
    target: str | None = None,
    defender: str | None = None,
    defense_stunt: Sequence[str] = (),
    **given: Unpack[Given],
) -> Outcome:
    """Get past what is in the way (B:24-29); the opponent defends."""
    check_present(table.state, actor, vs, given)
    foes = _foes(table, actor, vs, "overcome", Defender(defender, target, stunts=tuple(defense_stunt)))
    if removes and alters:
        raise UsageError(f"{named('removes')} and {named('alters')} exclude each other")
    old, _, new = (alters or "").partition("=")
    aspect = {"aspect": {"name": known_name(table.state, actor, (removes or old).strip())}} if removes or alters else {}
    facts = (("removes", "yes" if removes else "no"), ("alters", "yes" if alters else "no"), *harm.used_up(actor))
    attempt = Attempt("overcome", foes, facts=facts, fields=EffectFields(aspect, new.strip()))
    return _resolve(table, actor, given, attempt)


@coppermane.action("create-advantage", costs=one_action)
def create_advantage(
    table: Table,
    actor: Character,
    *,
    vs: Sequence[Opposition],
    variant: str,
    name: str | None = None,
    on: str | None = None,
    beneficiary: str | None = None,
    defender: str | None = None,
    defense_stunt: Sequence[str] = (),
    **given: Unpack[Given],
) -> Outcome:
    """Make an aspect, find one, or use one that is known (B:31-50)."""
    state = table.state
    check_present(state, actor, vs, given)
    if variant == "new":
        aspect = new_name(state, name)
    elif variant == "known":
        aspect = old_name(state, actor, name)
    else:
        aspect = name or hidden_name(state, actor, on) or aspects.distinct_name(state, aspects.FOUND)
    tag = aspects.seen_tag(state, actor.name, aspect) if variant == "known" else None
    carrier = carrier_of(state, vs, on) or (tag.on if tag is not None else SCENE)
    target = carrier if carrier in state.characters and carrier != actor.name else None
    foes = _foes(table, actor, vs, "an advantage", Defender(defender, target, stunts=tuple(defense_stunt)))
    # The character who may be harmed by it defends, so that an advantage on the scene against a roll is defended too.
    is_defended = carrier not in (SCENE, actor.name) or any(foe.dice is not None for foe in foes)
    opponent = opponent_of(foes)
    profits = OPPONENT if beneficiary is None or beneficiary == opponent else beneficiary
    attempt = Attempt(
        "create-advantage",
        foes,
        name=f"create-{variant}",
        facts=(("against", "character" if foes and is_defended else "scene"),),
        fields=EffectFields(
            {"aspect": {"name": aspect, "on": carrier}, "free-invoke": {"on": aspect}},
            spelled={"beneficiary": profits},
        ),
    )
    return _resolve(table, actor, given, attempt)


@coppermane.action("attack", costs=one_action)
def attack(
    table: Table,
    actor: Character,
    *,
    vs: Sequence[Opposition],
    track: str | None = None,
    target: str | None = None,
    defender: str | None = None,
    consequence: str | None = None,
    defense_stunt: Sequence[str] = (),
    **given: Unpack[Given],
) -> Outcome:
    """Attack and defense as one event (B:52-67); the defender takes the result."""
    check_attack(table)
    defends = Defender(defender, target, stunts=tuple(defense_stunt))
    return strike(table, actor, vs, Aim(track_of(table.rules, track), defends, consequence or ""), given)


def strike(table: Table, actor: Character, vs: Sequence[Opposition], to: Aim, given: Given) -> Outcome:
    """Return the result of an attack, wherever it is made."""
    check_present(table.state, actor, vs, given)
    foes = _foes(table, actor, vs, "an attack", to.defender)
    if not foes:
        raise UsageError(f"an attack needs a defense; give {named('vs')} 0 for a target that does not defend")
    given["conflict"] = True
    foe = foes[0].who, foes[0].dice is None
    matters = "attack", actor.name, *foe, to.track, to.consequence, given.get("boost"), given.get("witnesses")
    fields = EffectFields({"hit": {"track": to.track}}, consequence=to.consequence)
    return _resolve(table, actor, given, Attempt("attack", foes, fields=fields, matters=matters))


@coppermane.action("compel")
def compel(table: Table, actor: Character, *, name: str, proposer: str = GM) -> Outcome:
    """Offer a complication from an aspect (Fate Accelerated, "Aspects and Fate Points")."""
    return offer_compel(table, actor, name, proposer)


@coppermane.action("concede")
def concede(table: Table, actor: Character, *, consequences: int | None = None) -> Outcome:
    """Give in before a roll: a point, and one for each consequence of this conflict (Fate Accelerated, "Ouch!")."""
    check_present(table.state, actor, (), {})
    return give_in(table, actor, consequences)


@coppermane.action("defend")
def defend(
    table: Table,
    actor: Character,
    *,
    vs: Sequence[Opposition],
    against: str,
    variant: str | None = None,
    track: str | None = None,
    name: str | None = None,
    consequence: str | None = None,
    **given: Unpack[Given],
) -> Outcome:
    """Stop one of the other three actions, seen from the defender (B:61-67)."""
    state = table.state
    check_present(state, actor, vs, given)
    if len(vs) != 1:
        raise UsageError(f"defend is against one action; give {named('vs')} once")
    if against != "advantage" and (variant or name):
        raise UsageError(
            f"{named('variant')} and {named('name')} are only for an advantage; leave them out against {against}"
        )
    one = vs[0]
    parts: list[Part] = []
    facts = [("advantage", variant or "new")]
    if one.character:
        other = state.characters[one.character]
        facts += [(f"{name}-of-opponent", value) for name, value in harm.used_up(other)]
        parts += _epic_part(other, Rating(one.value, one.ability))
        action = {"advantage": "create-advantage"}.get(against, against)
        parts += stunts_that_help(other, action, Rating(one.value, one.ability))
    foes = (Foe(resistance(table, one, parts, called=CALLED), one.dice, one.character),)
    variant = variant or "new"
    aspect = new_name(state, name) if variant == "new" else old_name(state, actor, name)
    if against == "attack":
        given["conflict"] = True
    defaults = {
        "aspect": {"name": aspect},
        "free-invoke": {"on": aspect},
        "hit": {"track": track_of(table.rules, track)},
    }
    fields = EffectFields(defaults, consequence=consequence or "")
    attempt = Attempt("defend", foes, name=f"defend-{against}", facts=tuple(facts), fields=fields)
    return _resolve(table, actor, given, attempt)


@coppermane.action("award")
def award(table: Table, actor: Character, *, points: int) -> Outcome:
    """Give legend points back for a great deed, as many as the game master likes and there is room for (B:18)."""
    legend.check_points(actor)
    fields = EffectFields({"legend": {"change": points}})
    outcome = settle(table, "award", FinalRoll(None), roles_of(actor.name, GM), EMPTY, fields)
    return legend.capped(table.state, outcome)


# ---------------------------------------------------------------------------------------------------------------------
# What every action does


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """An action as it is rolled and settled.

    Attributes:
        action: the action that stunts may help.
        foes: who opposes it.
        name: its outcome table, where that is not called like the action.
        facts: those of the outcome table, beside the kind of opposition and whether it is in a conflict.
        fields: of effects, beside legend and a boost.
        matters: the key of `final_roll`.
    """

    action: str
    foes: tuple[Foe, ...]
    name: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    fields: EffectFields = NO_FIELDS
    matters: tuple[Hashable, ...] | None = None


def _resolve(table: Table, actor: Character, given: Given, attempt: Attempt) -> Outcome:
    """Return the outcome of an action: add up, roll or use a knack, settle, and give legend back up to its cap."""
    legend.check_points(actor)
    foes, name = attempt.foes, attempt.name or attempt.action
    add = add_effort(table, actor, attempt.action, given)
    is_conflict = given.get("conflict") or in_conflict(table.state)
    facts = facts_of(foes, ("conflict", "yes" if is_conflict else "no"), *attempt.facts)
    roll = prepare_roll(table, actor, add, foes, given, (name, facts))
    knack = _knack_of(actor, given.get("knack"))
    final = final_roll(table, roll, attempt.matters) if knack is None else _final_roll(table, actor, roll, knack)
    fields = with_boost(attempt.fields, given)
    regained = {"legend": {"change": legend.regained(table, given.get("witnesses", 1))}}
    fields = msgspec.structs.replace(fields, defaults={**fields.defaults, **regained})
    outcome = settle(table, name, final, roles_of(actor.name, opponent_of(foes)), facts, fields)
    return legend.capped(table.state, outcome)


def add_effort(table: Table, actor: Character, action: str, given: Given) -> int:
    """Return what is added to the dice: attribute, skill, the epic level, and what the family adds (B:11).

    Raises:
        UsageError: neither an attribute nor a skill was given, or the epic level is none that there can be.
    """
    attribute, skill = given.get("attribute"), given.get("skill")
    rated = attribute or skill
    if rated is None:
        raise UsageError(f"coppermane {action} needs {named('attribute')} NAME|NAME=N|N: what is rolled")
    if attribute is None and given.get("epic"):
        raise UsageError(
            f"{named('epic')} is the level of an attribute, and a skill has none; give {named('attribute')}"
        )
    parts: list[Part] = [*_epic_part(actor, rated, level=given.get("epic"))]
    if attribute is not None and skill is not None:
        parts.append((skill.name or "skill", skill.value))
    also = (skill.name,) if skill is not None and skill.name else ()
    called = CALLED if attribute is not None else "skill"
    more = Additions(parts=tuple(parts), also=also, anybody_helps=True, called=called)
    return effort(table, actor, action, rated, given, more)


def _epic_part(character: Character, attribute: Rating, *, level: int | None = None) -> tuple[Part, ...]:
    """Return what an epic attribute adds: its level (COP, birthrights).

    Raises:
        UsageError: the level is more than legend and attribute, as they count here, allow.
    """
    if level is None:
        level = _epic_level(character, attribute.name)
    if not level:
        return ()
    _check_epic(character, attribute, level)
    return ((f"epic {attribute.name}" if attribute.name else "epic", level),)


def _foes(table: Table, actor: Character, vs: Sequence[Opposition], action: str, defender: Defender) -> tuple[Foe, ...]:
    """Return the defender, or the fixed difficulty; empty when nothing opposes.

    Raises:
        UsageError: there is not exactly one, a stunt does not help, or the actor is to defend.
    """
    if not vs:
        return ()

    def epic_of(character: Character, one: Opposition) -> tuple[Part, ...]:
        return _epic_part(character, Rating(one.value, one.ability))

    foe = defense(table, vs, action, defender, parts_of=epic_of, called=CALLED)
    if actor.name in (foe.who, defender.target):
        raise UsageError(
            f"{actor.name} cannot defend against their own action; name another character, or leave it out"
        )
    return (foe,)


def _final_roll(table: Table, actor: Character, roll: Roll, knack: str) -> FinalRoll:
    """Return where a roll stands with a knack, which may spare it (COP, legend); a margin by a knack does not count."""
    opponent, works = opponent_of(roll.foes), False
    spent: tuple[Effect, ...] = ()
    if roll.foes:
        works, spent = legend.use_knack(
            table, actor, knack, label="knack", gives="a success with style", opponent=opponent
        )
    if works:
        return FinalRoll(legend.shifts_of_knack(table.rules, best=True), effects=spent, counts=False)
    final = final_roll(table, roll)  # rescued or not, as its band has it
    margin = final.margin
    if margin is not None and table.rules.file.bands[table.rules.band_of(margin)].success is False:
        works, more = legend.use_knack(
            table,
            actor,
            knack,
            label="rescue",
            gives="a success without a cost",
            opponent=opponent,
            spent=spent,
        )
        spent += more
        margin = legend.shifts_of_knack(table.rules, best=False) if works else margin
    return msgspec.structs.replace(final, margin=margin, effects=(*final.effects, *spent), counts=not works)


def _knack_of(actor: Character, name: str | None) -> str | None:
    """Return a knack's name as the sheet has it; without knacks on a sheet any name will do.

    Raises:
        UsageError: the sheet has knacks, and none of this name.
    """
    knacks = actor.records.get("knacks", Map())
    if name is None or not knacks:
        return name
    for knack in knacks:
        if slug(knack) == slug(name):
            return knack
    raise UsageError(f"{actor.name}'s sheet has no knack {name!r}; it has: {', '.join(knacks)}")


def track_of(rules: Rules, track: str | None) -> str:
    """Return the track that harm goes to: with one for everything, always that one."""
    tracks = harm.stress_tracks(rules.tracks)
    return track if track in tracks else tracks[0]
