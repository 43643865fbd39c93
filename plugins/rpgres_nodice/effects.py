"""What the effects of NoDice change on the table: pure functions of the state, one for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from rpgres import EMPTY, Effect, Map, Ruleset, State, put
from rpgres_nodice.points import (
    Holding,
    Stack,
    cleared,
    hand_thing,
    holding_of,
    kept_holding,
    laid,
    losing,
    read_points,
    returned,
    seen_thing,
)
from rpgres_nodice.timeline import THING, Token, timeline_of, with_timeline


def register(ruleset: Ruleset) -> None:
    """Register all of these functions with a ruleset."""
    for kind, apply in KINDS.items():
        ruleset.effect(kind)(apply)


def token(state: State, change: Effect) -> State:
    """Return the state with a stack face down on the timeline."""
    line = timeline_of(state)
    return with_timeline(state, line.with_token(Token(change["stack"], change["to"], change["phase"])))


def turn(state: State, change: Effect) -> State:
    """Return the state in which a stack is revealed, or off the timeline."""
    line = timeline_of(state)
    there = line.named(change["stack"])
    if there is None:
        return state
    turned = msgspec.structs.replace(there, state=change["becomes"], plan=change.get("plan", ""))
    return with_timeline(state, line.with_token(turned))


def declined(state: State, change: Effect) -> State:
    """Return the state in which an actor has declared nothing when it was asked."""
    line = timeline_of(state)
    names = dict.fromkeys((*line.declined, change["to"]))
    return with_timeline(state, msgspec.structs.replace(line, declined=tuple(names)))


def marker(state: State, change: Effect) -> State:
    """Return the state in which the current phase is another one."""
    return with_timeline(state, msgspec.structs.replace(timeline_of(state), phase=change["phase"]))


def bid(state: State, change: Effect) -> State:
    """Return the state in which an actor has built a stack."""
    stack = Stack(
        change["plan"],
        change["nature"],
        tuple(change["cards"].split(" | ")),
        _points(change["points"]),
        _points(change["ante"]),
    )
    return _held(state, change, lambda holding: laid(holding, change["stack"], stack))


def points(state: State, change: Effect) -> State:
    """Return the state in which the points of a stack are where they go when it is over."""
    return _held(
        state, change, lambda holding: cleared(holding, change["stack"], bid=change["bid"], ante=change["ante"])
    )


def back(state: State, change: Effect) -> State:
    """Return the state in which the spent points of a pool are in the hand again."""
    return _held(state, change, lambda holding: returned(holding, change["pool"]))


def lose(state: State, change: Effect) -> State:
    """Return the state in which harm has taken points."""
    return _held(state, change, lambda holding: losing(holding, _points(change["points"])))


def shown(state: State, change: Effect) -> State:
    """Return the state in which the owner of a stack knows what a character has seen of it."""

    def noted(holding: Holding) -> Holding:
        stack = holding.stacks.get(change["stack"])
        if stack is None:
            return holding
        known = msgspec.structs.replace(stack, shown=stack.shown.with_(change["by"], change["count"]))
        return msgspec.structs.replace(holding, stacks=holding.stacks.with_(change["stack"], known))

    return _held(state, change, noted)


def see(state: State, change: Effect) -> State:
    """Return the state in which a character has seen cards of a stack."""
    seen: Map[str, object] = state.things.get(change["thing"], EMPTY)
    cards = tuple(change["cards"].split(" | "))
    known = Map(cards=cards, is_whole=bool(change.get("whole", False)))
    return _kept(state, change, seen.with_(change["stack"], known))


def harm(state: State, change: Effect) -> State:
    """Return the state in which a character has more harm."""
    return _counted(state, change["to"], "harm", change["amount"])


def zone(state: State, change: Effect) -> State:
    """Return the state with a character in another zone."""
    return _counted(state, change["to"], "zone", change["change"])


def refresh(state: State, change: Effect) -> State:
    """Return the state with pools full but for harm, and an empty timeline of which nothing is known."""
    things = state.things.without(THING)
    for name in state.characters:
        if hand_thing(name) in things:
            things = things.with_(hand_thing(name), kept_holding(_whole(holding_of(state, name))))
        if seen_thing(name) in things:
            things = things.with_(seen_thing(name), EMPTY)
    return put(state, ("things",), things)


def _whole(holding: Holding) -> Holding:
    """Return a holding with every point in the hand that harm has not taken."""
    for name in holding.stacks:
        holding = cleared(holding, name, bid="hand", ante="hand")
    for pool in (*holding.spent, ""):
        holding = returned(holding, pool)
    return holding


def _points(text: str) -> Map[str, int]:
    if not text:
        return EMPTY
    return read_points(text, [part.partition("=")[0] for part in text.split(",")])


def _held(state: State, change: Effect, changed: Callable[[Holding], Holding]) -> State:
    """Return the state with what an actor holds changed."""
    if change["to"] not in state.characters:
        return state
    return _kept(state, change, kept_holding(changed(holding_of(state, change["to"]))))


def _kept(state: State, change: Effect, thing: Map[str, object]) -> State:
    """Return the state with a secret of an actor's seat."""
    seat = state.seat_of(change["to"])
    state = put(state, ("things",), state.things.with_(change["thing"], thing))
    return put(state, ("audiences",), state.audiences.with_(change["thing"], (seat,)))


def _counted(state: State, who: str, counter: str, change: int) -> State:
    character = state.characters.get(who)
    if character is None:
        return state
    counters = character.counters
    return put(state, ("characters", who, "counters"), counters.with_(counter, counters.get(counter, 0) + change))


KINDS: dict[str, Callable[[State, Effect], State]] = {
    "token": token,
    "turn": turn,
    "declined": declined,
    "marker": marker,
    "bid": bid,
    "points": points,
    "return": back,
    "lose": lose,
    "shown": shown,
    "see": see,
    "harm": harm,
    "zone": zone,
    "refresh": refresh,
}


def applied(state: State, effects: Iterable[Effect]) -> State:
    """Return the state after effects of these kinds; others change nothing here."""
    for change in effects:
        apply = KINDS.get(change["kind"])
        state = state if apply is None else apply(state, change)
    return state
