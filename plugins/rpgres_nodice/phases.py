"""A phase while it is resolved: the table so far, its effects, and the stacks with their plans."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from rpgres import Effect, State, Table, UsageError, effect, put
from rpgres_nodice.effects import KINDS
from rpgres_nodice.plans import Plan, actions_of
from rpgres_nodice.points import Stack, hand_thing, holding_of, phases_bid
from rpgres_nodice.timeline import Token


class PhaseRun(msgspec.Struct):
    """A phase while it is resolved: the table with the effects so far."""

    state: State
    effects: list[Effect]

    def do(self, change: Effect) -> None:
        """Add an effect."""
        self.effects.append(change)
        apply = KINDS.get(change["kind"])
        if apply is not None:
            self.state = apply(self.state, change)
        elif change["kind"] == "out":
            self.state = put(self.state, ("characters", change["to"], "is_out"), True)


class Played(msgspec.Struct, frozen=True):
    """A stack that resolves now: its token, its cards, and its plan."""

    token: Token
    stack: Stack
    plan: Plan


def read_stack(state: State, token: Token) -> Played:
    """Return a stack with its plan.

    Raises:
        UsageError: its cards are unknown, as in odds of a seat that does not see them.
    """
    is_there = token.by in state.characters
    stack = holding_of(state, token.by).stacks.get(token.name) if is_there else None
    if stack is None:
        raise UsageError(
            f"{token.name} lies face down, and nothing here says what it is made of: only {token.by} and the host, "
            "who sees all stacks, can ask for these odds"
        )
    return Played(token, stack, plan_of(stack))


def plan_of(stack: Stack) -> Plan:
    """Return the plan of a stack, from the text that was checked when it was declared."""
    head, *rest = stack.plan.split("/")
    action, _, on = head.partition(":")
    if action == "pause":
        return Plan(action, phase=int(rest[0]), pool=rest[1] if len(rest) > 1 else "")
    bid, phases = stack.bid, phases_bid(stack)
    if rest and "=" in rest[-1]:
        rest.pop()
    if action == "observe":
        return Plan(action, bid=bid, phases=phases, stacks=tuple(rest[0].split(",")))
    return Plan(action, on, tuple(rest), bid)


def that_do(table: Table, played: Iterable[Played], what: str) -> list[Played]:
    """Return the stacks that do something: `strike`, `dodge`, `observe` and so on."""
    return [one for one in played if actions_of(table.rules)[one.plan.action]["does"] == what]


def release(running: PhaseRun, token: Token, *, bid: str, ante: str) -> None:
    """Remove a stack, and put its points where they go."""
    running.do(effect("points", to=token.by, thing=hand_thing(token.by), stack=token.name, bid=bid, ante=ante))
