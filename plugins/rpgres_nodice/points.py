"""What an actor holds: points in the hand, spent, apart, lost to harm, and bid on stacks. Nothing here plays.

All of it is one thing on the table, whose name has the owner and nothing else: `hand-NAME`. What a character has seen
of others' stacks is another, `seen-NAME`. Both are always there, so that their presence reveals nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from rpgres import EMPTY, Character, Map, State, UsageError, unknown

HAND, SPENT, APART = "hand", "spent", "apart"
PHASES = "phases"  # what is bid beside points
Points = Map[str, int]


class Stack(msgspec.Struct, frozen=True):
    """A stack that is face down.

    Attributes:
        plan: as it was declared.
        nature: what resists being observed: `physical` (agility), `mental` (quickness), `none`, or `reaction`.
        cards: from the top; the last is the bid, if there is one.
        bid, ante: the points on it.
        shown: how many of its cards whom has seen.
    """

    plan: str
    nature: str
    cards: tuple[str, ...]
    bid: Points
    ante: Points
    shown: Map[str, int] = EMPTY


class Holding(msgspec.Struct, frozen=True):
    """What an actor holds, a secret of its seat: points by stat in each place, and its stacks by name.

    `pools` are the ratings of the sheet that the points are of.
    """

    hand: Points
    spent: Points = EMPTY
    apart: Points = EMPTY
    lost: Points = EMPTY
    stacks: Map[str, Stack] = EMPTY
    pools: Points = EMPTY


def hand_thing(name: str) -> str:
    """Return the name of a character's holding on the table."""
    return f"hand-{name}"


def secrets_of(name: str, stack: str = "") -> tuple[str, ...]:
    """Return what a line about a character's stack reveals, or of all that the hand holds: see `table.tell`.

    The pools are those of the sheet; where they are smaller, so is what was bid.
    """
    thing = hand_thing(name)
    things = (f"{thing}/stacks/{stack}", f"{thing}/pools") if stack else (thing,)
    return *things, f"{name}:declare", f"{name}:change"


def seen_thing(name: str) -> str:
    """Return the name of the cards that a character has seen."""
    return f"seen-{name}"


def pools_of(character: Character) -> Points:
    """Return the size of every pool of a character."""
    return positive(character.abilities)


def holding_of(state: State, name: str) -> Holding:
    """Return what a character holds by the present sheet; where nothing was kept yet, full pools."""
    character, kept = state.characters[name], state.things.get(hand_thing(name))
    pools = pools_of(character)
    if kept is None:
        return Holding(pools, pools=pools)
    holding = Holding(
        **{place: kept.get(place, EMPTY) for place in (HAND, SPENT, APART, "lost")},
        stacks=Map({name: Stack(**stack) for name, stack in kept.get("stacks", EMPTY).items()}),
        pools=kept.get("pools", pools),
    )
    return _fitted(holding, pools, harm=character.counters.get("harm", 0))


def _fitted(holding: Holding, pools: Points, *, harm: int) -> Holding:
    """Return a holding that fits a sheet which was replaced, and harm which was corrected, since it was kept.

    A larger pool puts points into the hand, a smaller one takes them as harm does, and last of what harm has taken.
    Less harm gives points back, of the pool that lost most.
    """
    lost = dict(holding.lost)
    if holding.pools == pools and sum(lost.values()) <= harm:
        return holding
    for _ in range(sum(lost.values()) - harm):
        lost[max(lost, key=lambda stat: lost[stat])] -= 1
    back = added(holding.lost, lost, sign=-1)
    hand = total(holding.hand, back, added(pools, holding.pools, sign=-1))
    short = Map({stat: -number for stat, number in hand.items() if number < 0})
    holding = msgspec.structs.replace(holding, hand=total(hand, short), lost=positive(lost), pools=pools)
    holding = losing(holding, short)
    left = added(holding.lost, short, sign=-1)
    return msgspec.structs.replace(holding, lost=Map({stat: number for stat, number in left.items() if number > 0}))


def kept_holding(holding: Holding) -> Map[str, Any]:
    """Return a holding as it is kept on the table."""
    stacks = Map({name: Map(msgspec.structs.asdict(stack)) for name, stack in holding.stacks.items()})
    return Map({**msgspec.structs.asdict(holding), "stacks": stacks})


def positive(points: Mapping[str, int]) -> Points:
    """Return points without the stats of which there are none."""
    return Map({stat: number for stat, number in points.items() if number})


def added(points: Mapping[str, int], more: Mapping[str, int], *, sign: int = 1) -> Points:
    """Return points with others added, or taken off with the sign -1."""
    stats = dict.fromkeys((*points, *more))
    return positive({stat: points.get(stat, 0) + sign * more.get(stat, 0) for stat in stats})


def total(*parts: Mapping[str, int]) -> Points:
    """Return all points together."""
    found: Points = EMPTY
    for part in parts:
        found = added(found, part)
    return found


def paid(holding: Holding, cost: Mapping[str, int]) -> Holding:
    """Return a holding with points taken from the hand.

    Raises:
        UsageError: there are not so many.
    """
    for stat, number in cost.items():
        there = holding.hand.get(stat, 0)
        if number > there:
            raise UsageError(f"this needs {number} of {stat}, ante included, and {there} are left in the hand")
    return msgspec.structs.replace(holding, hand=added(holding.hand, cost, sign=-1))


def laid(holding: Holding, name: str, stack: Stack) -> Holding:
    """Return a holding with a stack laid down; its points leave the hand.

    Raises:
        UsageError: the hand has not so many.
    """
    after = paid(holding, total(stack.bid, stack.ante))
    return msgspec.structs.replace(after, stacks=after.stacks.with_(name, stack))


def cleared(holding: Holding, name: str, *, bid: str, ante: str) -> Holding:
    """Return a holding without a stack.

    Args:
        holding: with it.
        name: the stack.
        bid, ante: the places its points go to.
    """
    stack = holding.stacks[name]
    holding = msgspec.structs.replace(holding, stacks=holding.stacks.without(name))
    for place, points in ((bid, stack.bid), (ante, stack.ante)):
        holding = msgspec.structs.replace(holding, **{place: added(getattr(holding, place), points)})
    return holding


def returned(holding: Holding, pool: str) -> Holding:
    """Return a holding after a pause: the spent points of a pool are in the hand, with all that lay apart."""
    back = Map({pool: holding.spent.get(pool, 0)})
    return msgspec.structs.replace(
        holding,
        hand=total(holding.hand, back, holding.apart),
        spent=added(holding.spent, back, sign=-1),
        apart=EMPTY,
    )


def losing(holding: Holding, points: Mapping[str, int]) -> Holding:
    """Return a holding after harm.

    Points go from the hand, then from what is spent, then from what is set aside; the rest from what is bid, the last
    stack first.
    """
    for stat, number in points.items():
        for place in (HAND, SPENT, APART):
            there: Points = getattr(holding, place)
            taken = Map({stat: min(number, there.get(stat, 0))})
            number -= taken[stat]
            holding = msgspec.structs.replace(
                holding, **{place: added(there, taken, sign=-1), "lost": added(holding.lost, taken)}
            )
        for name in reversed(list(holding.stacks)):
            holding, number = _weakened(holding, name, stat, number)
    return holding


def _weakened(holding: Holding, name: str, stat: str, number: int) -> tuple[Holding, int]:
    """Return a holding in which harm took so many points of a stack, bid before ante, and how many it takes still."""
    stack = holding.stacks[name]
    of_bid = min(number, stack.bid.get(stat, 0))
    of_ante = min(number - of_bid, stack.ante.get(stat, 0))
    if not of_bid + of_ante:
        return holding, number
    bid = added(stack.bid, {stat: of_bid}, sign=-1)
    weaker = msgspec.structs.replace(
        stack,
        bid=bid,
        ante=added(stack.ante, {stat: of_ante}, sign=-1),
        cards=(*stack.cards[:-1], bid_card(bid, phases_bid(stack))),
    )
    stacks = holding.stacks.with_(name, weaker)
    lost = added(holding.lost, {stat: of_bid + of_ante})
    return msgspec.structs.replace(holding, stacks=stacks, lost=lost), number - of_bid - of_ante


def stopped_by(holding: Holding, points: Mapping[str, int]) -> str:
    """Return the last stack that harm takes points of, when other points do not suffice; empty for none."""
    for stat, number in points.items():
        free = sum(getattr(holding, place).get(stat, 0) for place in (HAND, SPENT, APART))
        if number > free:
            return next(
                (
                    name
                    for name, stack in reversed(holding.stacks.items())
                    if stack.bid.get(stat, 0) + stack.ante.get(stat, 0)
                ),
                "",
            )
    return ""


def bid_card(bid: Points, phases: int) -> str:
    """Return what the last card of a stack shows."""
    return f"bid {points_words({**bid, PHASES: phases})}"


def points_words(points: Mapping[str, int]) -> str:
    """Return points as cards show them: `str 3, agi 1`."""
    return ", ".join(f"{stat} {number}" for stat, number in points.items() if number) or "nothing"


def phases_bid(stack: Stack) -> int:
    """Return how many phases were bid on a stack."""
    parts = (part.partition("=") for part in stack.plan.rpartition("/")[2].split(","))
    return next((int(number) for name, _, number in parts if name == PHASES), 0)


def read_points(text: str, stats: Iterable[str], *, of: str = "a bid") -> Points:
    """Return points as they are typed: `str=3,agi=1`.

    Args:
        text: as typed; each number has at most three digits.
        stats: what can be named.
        of: what the points are, for messages: `a bid on punch`.

    Raises:
        UsageError: a stat is unknown or given twice, or a number is none.
    """
    known, found = tuple(stats), dict[str, int]()
    for part in text.split(","):
        stat, sign, number = (piece.strip().lower() for piece in part.partition("="))
        if not sign or not (number.isascii() and number.isdecimal() and len(number) < 4):
            raise UsageError(f"{part.strip()!r} is not a number of points such as str=3, from 0 to 999")
        if stat not in known:
            raise UsageError(unknown("part", stat, known, of=of))
        if stat in found:
            raise UsageError(f"{stat} is given twice")
        found[stat] = int(number)
    return positive(found)


def points_text(points: Mapping[str, int]) -> str:
    """Return points as they are typed."""
    return ",".join(f"{stat}={number}" for stat, number in points.items() if number)
