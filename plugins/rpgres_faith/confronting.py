"""A confrontation, and its steps until the first card: action, bad luck, counteractions, effects, inferiority.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from rpgres import GM, Character, Form, Map, Outcome, Rating, Rules, Table, UsageError, named
from rpgres_faith.consequences import bystanders, cards_used, resolved, unconfronted
from rpgres_faith.declaring import (
    JOIN,
    Ruling,
    action_words,
    asks_to_join,
    check_targets,
    counted,
    counteractions,
    tell_action,
    with_activated,
    with_granted,
)
from rpgres_faith.hands import place_typed
from rpgres_faith.playing import Play, play_out
from rpgres_faith.rounds import reactions, take_turn
from rpgres_faith.sides import Side, find, luck_of, shown_advantages, side_of, title_of, with_limits
from rpgres_faith.switches import Switches

Pairs = Sequence[tuple[str, str]]  # who confronts whom, by the names of their sides


class Action(msgspec.Struct, frozen=True):
    """The action that is declared first.

    Attributes:
        actor: the actor.
        skill, attribute: with what.
        values: its other values.
        aware, unaware: the affected characters: those who may declare a counteraction, and those who may not.
    """

    actor: Character
    skill: Rating
    attribute: Rating
    values: Map[str, Any]
    aware: tuple[str, ...]
    unaware: tuple[str, ...]

    @property
    def affected(self) -> list[str]:
        """All whom it affects."""
        return [*self.aware, *self.unaware]

    def told(self, table: Table) -> str:
        """Return the action in words for decisions about it; empty where no person reads them."""
        if not table.is_read:
            return ""
        return f"{self.actor.name}: {action_words(self.skill, self.attribute, self.values, targets=self.affected)}"


class BadLuck(msgspec.Struct, frozen=True):
    """What was typed of the game master's bad luck.

    Attributes:
        is_in: whether she confronts the action; else she is asked.
        advantages, disadvantages: hers.
        against: the counteractions that she confronts too.
    """

    is_in: bool
    advantages: int
    disadvantages: int
    against: Sequence[str]


def declared_action(table: Table, action: Action, against: Sequence[Form], *, is_npc: bool) -> Side:
    """Return the side of the actor; the action is public (S:84).

    Args:
        action: what is declared.
        against: the counteractions that were typed.
        is_npc: whether the actor plays from the game master's deck.

    Raises:
        UsageError: a character is their own target, or takes part twice.
    """
    name, skill, attribute, values = action.actor.name, action.skill, action.attribute, action.values
    side = side_of(table, name, skill=skill, attribute=attribute, values=values, is_npc=is_npc)
    # Inputs are read before any question, so that a mistake is reported to its author.
    for option, names in ((named("target"), action.aware), (named("unaware"), action.unaware)):
        check_targets(name, names, option=option)
    distinct(action.actor, against, action.affected)
    tell_action(table, name, "action", skill, attribute, values, action.affected)
    return side


def distinct(
    actor: Character, against: Sequence[Form], targets: Sequence[str] = (), *, option: str = named("against")
) -> Sequence[Form]:
    """Return who was named, each of them once.

    Raises:
        UsageError: a character takes part twice.
    """
    names = [actor.name, *(form.name for form in against), *targets]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        where = named("target") if double in targets else option
        raise UsageError(f"{where} {double}: a character takes part only once")
    return against


def check_counteraction(table: Table, form: Form) -> None:
    """Check that a counteraction has what its cards are counted by, before any is dealt.

    Raises:
        UsageError: it has not.
    """
    skill, file = form.values["skill"], table.rules.file
    if form.values.get("attribute") is None and skill.name not in file.settings["npc-values"]:
        rated = [
            one for one in table.state.characters[form.name].abilities if one in file.sheet["attributes"].abilities
        ]
        message = f"{named('against')} {form.name} needs attribute, how many cards there may be"
        known = f"{form.name}:skill={skill.name or skill.value}"
        has = f" ({form.name} has: {', '.join(rated)})" if rated else " or a number"
        raise UsageError(f"{message}: type {known},attribute={next(iter(rated), 'NAME')}{has}")


def typed_counteraction(table: Table, form: Form, ambience: str | None) -> Side:
    """Return the counteraction that was typed for a character, with its hand."""
    values = form.values
    skill = values["skill"]
    attribute = values.get("attribute") or skill
    side = side_of(
        table,
        form.name,
        skill=skill,
        attribute=attribute,
        values=Map({"ambience": ambience, **values}),
        is_npc=values.get("npc", False),
    )
    tell_action(table, form.name, "countermeasure", skill, attribute, values, ())
    if values.get("hand"):
        if not side.is_player:
            raise UsageError(
                f"{named('against')} {form.name}: cards of the game master are given with {named('gm-hand')}"
            )
        place_typed(table, form.name, values["hand"], option=f"{named('against')} {form.name}: hand")
    return side


def ruling_of_luck(table: Table, action: Action, luck: BadLuck, others: Sequence[Side]) -> Ruling:
    """Return whether bad luck confronts the action (S:85), and further rulings of the game master."""
    if luck.is_in:
        return Ruling(JOIN.name)
    return asks_to_join(table, action.actor.name, action.told(table), action.aware, [side.name for side in others])


def declared_counteractions(
    table: Table, action: Action, others: Sequence[Side], ruling: Ruling
) -> tuple[list[Side], list[tuple[str, int]]]:
    """Return the counteractions of aware characters (S:86), and the advantages that the game master grants."""
    aware = [name for name in action.aware if name not in ruling.unaware]
    names = [action.actor.name, *(side.name for side in others), *([GM] if ruling.option else [])]
    return counteractions(table, action.told(table), aware, names=names, ambience=action.values["ambience"])


def confronting(
    table: Table, first: Side, others: Sequence[Side], luck: BadLuck, ruling: Ruling
) -> tuple[list[Side], list[tuple[str, str]]]:
    """Return all sides, bad luck among them where it is in it, and who confronts whom.

    Raises:
        UsageError: something was typed of bad luck, which is not in it, or may not confront what it should.
    """
    sides, pairs = [first, *others], [(first.name, other.name) for other in others]
    if not ruling.option:
        if luck.advantages or luck.disadvantages or luck.against:
            raise UsageError(
                f"{named('gm-advantages')}, {named('gm-disadvantages')} and {named('gm-against')} are for bad luck: "
                f"give {named('gm')} too"
            )
        return sides, pairs
    for name in [first.name, *_also_met(table.rules, others, luck.against)]:
        own = GM if name == first.name else f"{GM} ({name})"
        more = {"advantages": luck.advantages, "disadvantages": luck.disadvantages}
        sides.append(luck_of(table, find(sides, name), name=own, **more))
        pairs.append((name, own))
    return sides, pairs


def _also_met(rules: Rules, others: Sequence[Side], names: Sequence[str]) -> Sequence[str]:
    """Return which counteractions bad luck confronts too, where it may (R:A10).

    Raises:
        UsageError: it may not, or there is no such counteraction.
    """
    known = [side.name for side in others]
    for name in names:
        if not rules.switches(Switches).gm_may_confront_counteractions:
            raise UsageError("bad luck confronts only the first action, unless gm_may_confront_counteractions=yes")
        if name not in known:
            raise UsageError(f"{named('gm-against')} {name}: {name} has no counteraction")
    return names


def with_effects(table: Table, sides: Sequence[Side], pairs: Pairs, granted: Iterable[tuple[str, int]]) -> Play:
    """Return the play before its first card: advantages granted, effects activated, inferiority assigned (S:87-89)."""
    activated = with_activated(table, with_granted(sides, granted), first=sides[0].name)
    ready = with_limits(table, activated, pairs)
    _tell_sides(table, ready, pairs)
    return Play(ready, tuple(pairs))


def _tell_sides(table: Table, sides: Sequence[Side], pairs: Sequence[tuple[str, str]]) -> None:
    """Tell with what each begins and how many cards each may play, a line for each, and why some may play fewer."""
    if not table.is_read:
        return
    shown = shown_advantages(sides, pairs)
    for side in sides:
        cards = counted(side.limit, "card") if side.limit else "no cards"
        low = [other for other, limit in side.limits.items() if limit < side.limit]
        if low:
            cards += f", the last of them not against {_names(sides, low)}"
        elif side.inferior_to:
            cards += f" (inferior to {_names(sides, side.inferior_to)})"
        over = ""
        if side.net < 0:
            over = f" ({counted(-side.net, 'disadvantage')} over: to {_names(sides, side.limits)})"
        elif table.rules.switches(Switches).surplus_advantage == "giver" and len(side.limits) > 1:
            givers = [find(sides, other) for other in side.limits]
            over = "".join(f" ({-one.net} against {title_of(one)} alone)" for one in givers if one.net < 0)
        table.tell(f"{title_of(side)}: {side.start}, {counted(shown[side.name], 'advantage')}{over}, {cards}")


def _names(sides: Sequence[Side], names: Iterable[str]) -> str:
    return " and ".join(title_of(find(sides, name)) for name in names)


# ---------------------------------------------------------------------------------------------------------------------
# The action as a whole


def confront(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    attribute: Rating,
    advantages: int = 0,
    disadvantages: int = 0,
    gm: bool = False,
    gm_advantages: int = 0,
    gm_disadvantages: int = 0,
    gm_against: Sequence[str] = (),
    against: Sequence[Form] = (),
    target: Sequence[str] = (),
    unaware: Sequence[str] = (),
    words: str = "",
    ambience: str | None = None,
    affinity: str | None = None,
    used: int | None = None,
    npc: bool = False,
    weapon: int = 0,
    armour: int = 0,
    ammo: str = "standard",
    range: int = 0,  # noqa: A002  # the option's name
    thrown: int | None = None,
) -> Outcome:
    """Try something that others, or bad luck, may confront: the eleven steps of the text (S:83-94)."""
    own = {"advantages": advantages, "disadvantages": disadvantages, "used": used, "affinity": affinity}
    arms = {"ambience": ambience, "weapon": weapon, "armour": armour, "ammo": ammo, "range": range, "thrown": thrown}
    action = Action(actor, skill, attribute, Map({**own, **arms, "words": words}), tuple(target), tuple(unaware))
    luck = BadLuck(gm, gm_advantages, gm_disadvantages, gm_against)
    for form in against:
        check_counteraction(table, form)
    spent = take_turn(table, actor.name)
    first = declared_action(table, action, against, is_npc=npc)
    others = [typed_counteraction(table, form, ambience) for form in against]
    ruling = ruling_of_luck(table, action, luck, others)
    declared, granted = declared_counteractions(table, action, others, ruling)
    others += declared
    sides, pairs = confronting(table, first, others, luck, ruling)
    if not pairs:
        outcome = unconfronted(table, actor)
        return outcome.plus([*spent, *bystanders(table, first, action.affected, band=outcome.band)])
    play = play_out(table, with_effects(table, sides, pairs, [*ruling.granted.items(), *granted]))
    spent += reactions(table, [side.who for side in others])
    return resolved(table, play, action.affected).plus([*spent, *cards_used(table, play)])
