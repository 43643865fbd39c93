"""Aspects and invoking, shared by rulesets of the Fate family: the invoke window, and the effects on tags and points.

An aspect is a `Tag`; its free invocations are the tag's uses. Fate points are the counter `fate-points` of a
character, or of the table for the game master. Nothing here knows actions, skills or outcome tables.

Source: Fate Core, "Invoking & Compelling Aspects" and "The Fate Point Economy" (fate-srd.com); the seed text, line 19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from rpgres.dice import Dice
from rpgres.players import NO
from rpgres.rulesets import Effect, Option, Ruleset, effect
from rpgres.state import EMPTY, GM, SCENE, Map, State, Tag, put
from rpgres.table import Table

POINTS = "fate-points"
LATER = "fate-points-later"  # gained now, to be had from the next scene on
BONUS = 2  # what an invocation adds
REROLL = "reroll"
BOOST = "boost"
INVOKABLE = ("aspect", "boost", "consequence")


class Side(msgspec.Struct, frozen=True):
    """One side of a roll.

    Attributes:
        members: who may invoke for it, the one who rolls first; allies share their free invocations.
        label: the label of its invoke window, and of its dice.
        dice_label: the label of its dice.
        total: dice and everything added.
        rolled: what the dice showed; None for a fixed difficulty.
        dice: what was rolled; None for a fixed difficulty.
    """

    members: tuple[str, ...]
    label: str
    dice_label: str
    total: int
    rolled: int | None = None
    dice: Dice | None = None


def can_invoke(state: State, members: tuple[str, ...]) -> bool:
    """Tell whether anything on the table could be invoked for somebody of these: the window is skipped when not."""
    return any(True for _ in _choices(state, members, _Spent()))


class _Spent(msgspec.Struct, frozen=True):
    """What has been used up in this roll: free uses by tag and holder, points by payer, aspects paid for."""

    uses: Map[tuple[str, str], int] = EMPTY
    points: Map[str, int] = EMPTY
    paid: frozenset[str] = frozenset()
    invocations: tuple[Effect, ...] = ()


class _Choice(msgspec.Struct, frozen=True):
    tag: Tag
    member: str
    holder: str  # whose free use it would be; empty when it is paid for


def invoke_window(table: Table, own: Side, other: Side, *, order: str) -> tuple[Side, Side, tuple[Effect, ...]]:
    """Let both sides invoke until both pass, and return the sides as they then stand, with what it cost.

    Args:
        table: where it is played.
        own: the acting side.
        other: what it rolls against.
        order: `alternate` (in turn, the acting side first) or `actor-then-opponent`.
    """
    sides = [own, other]
    spent = [_Spent(), _Spent()]
    if order == "actor-then-opponent":
        for turn in (0, 1):
            while _invoke(table, sides, spent, turn):
                pass
    else:
        passes, turn = 0, 0
        while passes < 2:
            passes = 0 if _invoke(table, sides, spent, turn) else passes + 1
            turn = 1 - turn
    faded = _faded(table, sides, spent) if table.rules.switches.get("boost_lifetime") == "next-chance" else ()
    return sides[0], sides[1], (*spent[0].invocations, *spent[1].invocations, *faded)


def _invoke(table: Table, sides: list[Side], spent: list[_Spent], turn: int) -> bool:
    """Ask the members of one side in turn; True when one of them invoked something."""
    side, other = sides[turn], sides[1 - turn]
    for member in side.members:
        choices = dict(_choices(table.state, side.members, spent[turn], member=member))
        if not choices:
            continue
        options = tuple(_options(choices, can_reroll=side.rolled is not None))
        margin = side.total - other.total
        answer = table.ask(
            side.label,
            member,
            options,
            text="Invoke an aspect?",
            optional=True,
            margin=margin,
            rolled=side.rolled,
            acting=turn == 0,
        )
        if answer == NO:
            continue
        name, _, how = answer.partition(":")
        choice = choices[name]
        spent[turn] = _spend(table.state, spent[turn], choice)
        if how == REROLL and side.dice is not None and side.rolled is not None:
            rolled = table.roll(side.dice, side.dice_label, by=side.members[0])
            sides[turn] = msgspec.structs.replace(side, total=side.total - side.rolled + rolled, rolled=rolled)
        else:
            sides[turn] = msgspec.structs.replace(side, total=side.total + BONUS)
        return True
    return False


def _choices(
    state: State, members: tuple[str, ...], spent: _Spent, *, member: str = ""
) -> Iterator[tuple[str, _Choice]]:
    """Yield what one member (the first by default) of a side may invoke now, by slug."""
    if not state.tags:
        return
    who = member or members[0]
    seat = state.seat_of(who)
    holders = (*members, GM) if GM in (seat, *members) else members
    points = points_of(state, who) - spent.points.get(_purse(state, who), 0)
    for tag in state.tags:
        if tag.kind not in INVOKABLE or (tag.audience is not None and seat not in tag.audience):
            continue
        name = tag.slug
        free = next((h for h in holders if tag.uses.get(h, 0) > spent.uses.get((name, h), 0)), None)
        if free is not None:
            yield name, _Choice(tag, who, free)
        elif points > 0 and tag.kind != BOOST and name not in spent.paid:
            yield name, _Choice(tag, who, "")


def _options(choices: Mapping[str, _Choice], *, can_reroll: bool) -> Iterator[Option]:
    for name, choice in choices.items():
        price = "free" if choice.holder else "for a fate point"
        facts = Map({"free": bool(choice.holder), "kind": choice.tag.kind, "reroll": False})
        yield Option(name, f"{choice.tag.name}: +{BONUS}, {price}", 0, facts)
        if can_reroll:
            yield Option(f"{name}:{REROLL}", f"{choice.tag.name}: new dice, {price}", 0, facts.with_("reroll", True))


def _spend(state: State, spent: _Spent, choice: _Choice) -> _Spent:
    name = choice.tag.slug
    if choice.holder:
        key = (name, choice.holder)
        used = effect("free-invoke", to=choice.holder, count=-1, on=choice.tag.name)
        return msgspec.structs.replace(
            spent,
            uses=spent.uses.with_(key, spent.uses.get(key, 0) + 1),
            invocations=(*spent.invocations, used),
        )
    purse = _purse(state, choice.member)
    costs = [effect("fate-point", to=purse, change=-1, on=choice.tag.name)]
    owner = choice.tag.on
    if owner not in (SCENE, choice.member) and owner in state.characters:
        # paid for and used against its owner: the point is the owner's from the next scene on
        costs.append(
            effect("fate-point", to=_purse(state, owner), change=1, on=choice.tag.name, **{"from": "next-scene"})
        )
    return msgspec.structs.replace(
        spent,
        points=spent.points.with_(purse, spent.points.get(purse, 0) + 1),
        paid=spent.paid | {name},
        invocations=(*spent.invocations, *costs),
    )


def _faded(table: Table, sides: list[Side], spent: list[_Spent]) -> tuple[Effect, ...]:
    """Return the end of every boost whose holder could have used it in this window and did not."""
    gone = []
    for side, used in zip(sides, spent, strict=True):
        for _, choice in _choices(table.state, side.members, used):
            if choice.tag.kind == BOOST:
                gone.append(effect("aspect", change="removed", name=choice.tag.name))
    return tuple(gone)


def points_of(state: State, who: str) -> int:
    """Return how many fate points somebody can spend: their own, or the game master's for whoever has no own purse."""
    purse = _purse(state, who)
    if purse == GM:
        return state.counters.get(POINTS, 0)
    return state.characters[purse].counters.get(POINTS, 0)


def _purse(state: State, who: str) -> str:
    return GM if state.seat_of(who) == GM else who


# ---------------------------------------------------------------------------------------------------------------------
# Effects


def register_effects(ruleset: Ruleset) -> None:
    """Register the functions for `boost`, `aspect`, `free-invoke` and `fate-point` with a ruleset."""
    ruleset.effect("boost")(gain_boost)
    ruleset.effect("aspect")(change_aspect)
    ruleset.effect("free-invoke")(change_free_invokes)
    ruleset.effect("fate-point")(change_points)


def gain_boost(state: State, change: Effect) -> State:
    """Return the state with a boost that `to` may use once."""
    name = distinct_name(state, change.get("name") or "Boost")
    return state.with_tag(Tag(name, BOOST, SCENE, Map({change["to"]: 1})))


def change_aspect(state: State, effect: Effect) -> State:
    """Return the state with an aspect created, revealed, altered or removed."""
    name = effect.get("name") or "An Advantage"
    tag = state.tag(name)
    match effect["change"]:
        case "removed":
            return state.without_tag(name)
        case "created" if tag is None:
            return state.with_tag(Tag(name, "aspect", _carrier(state, effect)))
        case "revealed":
            shown = tag or Tag(name, "aspect", _carrier(state, effect))
            return state.with_tag(msgspec.structs.replace(shown, audience=None))
        case "altered" if tag is not None:
            becomes = effect.get("becomes") or f"{tag.name}, for the worse"
            tags = tuple(
                msgspec.structs.replace(old, name=becomes, audience=None) if old == tag else old for old in state.tags
            )
            return msgspec.structs.replace(state, tags=tags)
    return state


def _carrier(state: State, effect: Effect) -> str:
    on = effect.get("on", SCENE)
    return on if on in state.characters else SCENE


def change_free_invokes(state: State, effect: Effect) -> State:
    """Return the state with more or fewer free invocations for `to`; a boost without any left is gone."""
    name = effect.get("on") or "An Advantage"
    tag = state.tag(name) or Tag(name, "aspect")
    tag = tag.with_uses(effect["to"], effect["count"])
    if tag.kind == BOOST and not tag.uses:
        return state.without_tag(name)
    return state.with_tag(tag)


def change_points(state: State, effect: Effect) -> State:
    """Return the state with more or fewer fate points for `to`, now or kept for the next scene."""
    counter = LATER if effect.get("from") == "next-scene" else POINTS
    who = effect["to"]
    if who in state.characters and state.seat_of(who) != GM:
        counters = state.characters[who].counters
        return put(state, ("characters", who, "counters"), _changed(counters, counter, effect["change"]))
    return msgspec.structs.replace(state, counters=_changed(state.counters, counter, effect["change"]))


def _changed(counters: Map[str, int], counter: str, change: int) -> Map[str, int]:
    return counters.with_(counter, max(0, counters.get(counter, 0) + change))


def distinct_name(state: State, name: str) -> str:
    """Return the name, or with a number behind it when a tag on the table has it already."""
    if state.tag(name) is None:
        return name
    number = 2
    while state.tag(f"{name} {number}") is not None:
        number += 1
    return f"{name} {number}"
