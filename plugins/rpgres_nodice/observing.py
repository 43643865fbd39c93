"""Observe Foe: what is seen of stacks, for a bid against what is bid on them; as numbers, and at a table.

Lines of the text (`rulesets/nodice/SOURCES.md`) as `S:n`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rpgres import EMPTY, Rules, State
from rpgres_nodice.figures import efforts, reveals, shown
from rpgres_nodice.phases import read_stack
from rpgres_nodice.plans import Plan, resistance
from rpgres_nodice.points import seen_thing
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import Timeline


class Target(msgspec.Struct, frozen=True):
    """A stack that is observed.

    Attributes:
        name: what it is called.
        cards: from the top.
        defence: what resists.
        seen: how many cards the observer knows already.
        revealed: how many cards others have revealed, where the observer continues after them.
        is_gone: whether it is no longer there.
    """

    name: str
    cards: tuple[str, ...]
    defence: int
    seen: int = 0
    revealed: int = 0
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
        targets: what is observed, as it is when the observation resolves.
        points, phases: what was bid.
    """
    count = (
        sum(not target.is_gone for target in targets) if rules.switches(Switches).resplit_on_missing else len(targets)
    )
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
    more = reveals(rules, outcome)
    count = shown(target.cards, seen=max(target.seen, target.revealed), more=more) if more else target.seen
    return Sight(target, effort, outcome, count, count - target.seen)


def targets_of(rules: Rules, line: Timeline, state: State, name: str, plan: Plan, *, phase: int) -> list[Target]:
    """Return the stacks that an observation at a table is of.

    Args:
        line: the timeline at the beginning of the phase: what resolves in the phase is still there.
        state: the table now, with what earlier observations of the phase have revealed (S:16).
        name: the observer.
        plan: the observation.
        phase: the phase.

    Raises:
        UsageError: what a stack is made of is not known; see `read_stack`.
    """
    switches = rules.switches(Switches)
    found = []
    for named in plan.stacks:
        token = line.named(named)
        is_there = token is not None and token.by in state.characters and token.is_live
        is_late = token is not None and token.phase == phase and not switches.same_phase_observes
        if token is None or not is_there or is_late:  # which everybody sees
            found.append(Target(named, (), 0, is_gone=True))
        else:
            stack = read_stack(state, token).stack
            seen = len(state.things.get(seen_thing(name), EMPTY).get(named, EMPTY).get("cards", ()))
            revealed = max(stack.shown.values(), default=0) if switches.shared_reveal else 0
            found.append(Target(named, stack.cards, resistance(rules, stack), seen, revealed))
    return found
