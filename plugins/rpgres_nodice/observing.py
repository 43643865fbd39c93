"""Observe Foe: what is seen of stacks, for a bid against what is bid on them; as numbers, and at a table.

Lines of the text (`rulesets/nodice/SOURCES.md`) as `S:n`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rpgres import EMPTY, Rules, State
from rpgres_nodice.figures import efforts, is_on, reveals, shown
from rpgres_nodice.plans import Plan, resistance
from rpgres_nodice.points import Stack, holding_of, seen_thing
from rpgres_nodice.timeline import timeline_of


class Target(msgspec.Struct, frozen=True):
    """A stack that is observed.

    Attributes:
        name: what it is called.
        cards: from the top.
        defence: what resists.
        seen: how many cards the observer knows already.
        is_gone: whether it is no longer there.
    """

    name: str
    cards: tuple[str, ...]
    defence: int
    seen: int = 0
    is_gone: bool = False


class Sight(msgspec.Struct, frozen=True):
    """What came of observing one target: `count` cards are seen now, `fresh` of them for the first time.

    `outcome` is None when nothing was there.
    """

    target: Target
    effort: int
    outcome: int | None
    count: int
    fresh: int

    @property
    def cards(self) -> tuple[str, ...]:
        """All cards that are seen."""
        return self.target.cards[: self.count]


def observe(rules: Rules, targets: Sequence[Target], *, points: int, phases: int) -> list[Sight]:
    """Return what an observation shows of each target, in order (S:8, S:10, S:14).

    Args:
        rules: the ruleset in play.
        targets: what is observed, as it is when the observation resolves.
        points, phases: what was bid.
    """
    count = sum(not target.is_gone for target in targets) if is_on(rules, "resplit_on_missing") else len(targets)
    bids = iter(efforts(rules, points=points, phases=phases, count=count))
    sights = []
    for target in targets:
        is_left_out = target.is_gone and count < len(targets)
        sights.append(_sight(rules, target, 0 if is_left_out else next(bids)))
    return sights


def _sight(rules: Rules, target: Target, effort: int) -> Sight:
    if target.is_gone:
        return Sight(target, effort, None, target.seen, 0)
    outcome = effort - target.defence
    count = shown(target.cards, seen=target.seen, more=reveals(rules, outcome))
    return Sight(target, effort, outcome, count, count - target.seen)


def targets_of(rules: Rules, state: State, name: str, plan: Plan, *, phase: int) -> list[Target]:
    """Return what somebody observes at a table, as it is when the phase begins.

    Args:
        rules: the ruleset in play.
        state: the table at the beginning of the phase.
        name: who observes.
        plan: the observation.
        phase: the phase.
    """
    line = timeline_of(state)
    found = []
    for named in plan.stacks:
        token = line.named(named)
        stack = holding_of(rules, state, token.by).stacks.get(named) if token is not None else None
        is_late = token is not None and token.phase == phase and not is_on(rules, "same_phase_observes")
        if token is None or stack is None or not token.is_live or is_late:
            found.append(Target(named, (), 0, is_gone=True))
        else:
            found.append(Target(named, stack.cards, resistance(rules, stack), _seen(rules, state, name, named, stack)))
    return found


def _seen(rules: Rules, state: State, name: str, stack: str, known: Stack) -> int:
    """Return how many cards of a stack an observer goes on from (S:16)."""
    if is_on(rules, "shared_reveal"):
        return max(known.shown.values(), default=0)
    return len(state.things.get(seen_thing(name), EMPTY).get(stack, EMPTY).get("cards", ()))
