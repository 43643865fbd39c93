"""The control flow of a scene: which step comes next, and the cursor after it. Nothing here prints or rolls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rpgres.model.paths import Scope
from rpgres.model.state import EMPTY, Map, State
from rpgres.rulesets import Rules
from rpgres.scenes.program import Leaf, Open, Program, Test


class Cursor(msgspec.Struct, frozen=True, gc=False):
    """Where a program stands, with what later steps may need of earlier ones.

    Attributes:
        op: the index of the next operation; the length of the program at the end.
        passes: the finished passes of each open group, from the outermost.
        outcomes: outcomes by the id of their step, as long as a later condition reads them.
        last: the last outcome; only where the scene has no named endings.
        given, choose: the unused answers of a procedure in progress, by label.
        counted: details of outcomes of procedures that are asked for, each from the last procedure that has it.
    """

    op: int = 0
    passes: tuple[int, ...] = ()
    outcomes: Map[str, str] = EMPTY
    last: str = ""
    given: Map[str, tuple[str, ...]] = EMPTY
    choose: Map[str, tuple[str, ...]] = EMPTY
    counted: Map[str, Any] = EMPTY


def is_over(program: Program, at: Cursor) -> bool:
    """Tell whether a scene has ended."""
    return at.op >= len(program.ops)


def leaf_at(program: Program, at: Cursor) -> Leaf:
    """Return the step at a cursor that `onward` returned."""
    op = program.ops[at.op]
    assert isinstance(op, Leaf)
    return op


def onward(
    program: Program,
    rules: Rules,
    at: Cursor,
    state: State,
    *,
    skips: Callable[[Leaf, tuple[int, ...]], None] | None = None,
) -> Cursor:
    """Return the cursor of the next step whose conditions hold, or the end.

    Args:
        at: the cursor so far: a step, or the beginning or end of a group.
        skips: called with each step whose conditions do not hold, and the passes of its groups.
    """
    ops = program.ops
    while at.op < len(ops):
        op = ops[at.op]
        if isinstance(op, Leaf):
            if is_due(op.due, rules, at.outcomes, state):
                break
            if skips is not None:
                skips(op, at.passes)
            at = msgspec.structs.replace(at, op=at.op + 1)
        elif isinstance(op, Open):
            if not is_due(op.due, rules, at.outcomes, state):
                at = msgspec.structs.replace(at, op=op.after)
            else:
                at = _next_pass(op, rules, at, state, 0)
        else:
            opened = ops[op.opens]
            assert isinstance(opened, Open)
            closed = msgspec.structs.replace(at, op=op.opens, passes=at.passes[:-1])
            at = _next_pass(opened, rules, closed, state, at.passes[-1] + 1)
    return _without_unread(program, at)


def _next_pass(op: Open, rules: Rules, at: Cursor, state: State, done: int) -> Cursor:
    """Return the first cursor of the next pass of a group, or the one behind the group."""
    if done >= op.at_most or (op.until is not None and is_due(op.until, rules, at.outcomes, state)):
        return msgspec.structs.replace(at, op=op.after)
    return msgspec.structs.replace(at, op=at.op + 1, passes=(*at.passes, done))


def _without_unread(program: Program, at: Cursor) -> Cursor:
    """Return a cursor without the outcomes that no later condition reads."""
    if not program.last_use or not any(program.last_use.get(name, -1) < at.op for name in at.outcomes):
        return at
    kept = {name: band for name, band in at.outcomes.items() if program.last_use.get(name, -1) >= at.op}
    return msgspec.structs.replace(at, outcomes=Map(kept))


def is_due(test: Test, rules: Rules, outcomes: Mapping[str, str], state: State) -> bool:
    """Tell whether conditions hold; an outcome with `also` counts as both."""
    for earlier, wanted in test.outcomes:
        outcome = outcomes.get(earlier, "")
        if not any(rules.is_band(outcome, band) for band in wanted):
            return False
    return test.holds is None or test.holds(Scope(state))


def after_step(program: Program, rules: Rules, at: Cursor, state: State, *, outcome: str | None) -> Cursor:
    """Return the cursor behind a step that was played; the end where an ending with `at-once` holds.

    Args:
        outcome: the band of its outcome; None where it has none.
    """
    op = program.ops[at.op]
    assert isinstance(op, Leaf)
    # Unchanged fields are copied without being read, so that odds find a turn in the cache whatever its pass.
    changes: dict[str, Any] = {"op": at.op + 1}
    if op.step.procedure:
        changes |= {"given": EMPTY, "choose": EMPTY}
    if outcome is not None and op.step.id in program.last_use:
        changes["outcomes"] = at.outcomes.with_(op.step.id, outcome)
    if outcome is not None and not program.ends:
        changes["last"] = outcome
    then = msgspec.structs.replace(at, **changes)
    if any(end.at_once and is_due(end.due, rules, then.outcomes, state) for end in program.ends):
        return msgspec.structs.replace(then, op=len(program.ops), passes=())
    return then


def ending_of(program: Program, rules: Rules, at: Cursor, state: State) -> str:
    """Return the name of the ending; where the scene names none, the outcome of its last step."""
    for end in program.ends:
        if is_due(end.due, rules, at.outcomes, state):
            return end.name
    return at.last


def answer_lists(answers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return answers by label, each label's as a list."""
    return {label: [*map(str, value if isinstance(value, list) else [value])] for label, value in answers.items()}
