"""The control flow of a scene: the next step, and the cursor behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from rpgres.model.paths import Scope
from rpgres.model.state import EMPTY, Map, State
from rpgres.rulesets import Rules
from rpgres.scenes.program import Leaf, Open, Program, Test


class Cursor(msgspec.Struct, frozen=True, gc=False):
    """The position in a program, with the outcomes and answers that later steps may need.

    Attributes:
        op: the index of the next operation; the length of the program at the end.
        passes: the finished passes of each open group, from the outermost.
        outcomes: outcomes by the id of their step, as long as a later condition reads them.
        last: the last outcome; only where the scene has no named endings.
        given, choose: the unused answers of a procedure in progress, by label.
        counted: requested details of outcomes of procedures, each from the last procedure that has it.
    """

    op: int = 0
    passes: tuple[int, ...] = ()
    outcomes: Map[str, str] = EMPTY
    last: str = ""
    given: Map[str, tuple[str, ...]] = EMPTY
    choose: Map[str, tuple[str, ...]] = EMPTY
    counted: Map[str, Any] = EMPTY


def is_over(program: Program, at: Cursor) -> bool:
    """Whether a scene has ended."""
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
    skips: Callable[[Leaf, tuple[int, ...]], None] = lambda leaf, passes: None,
) -> Cursor:
    """Return the cursor of the next step to play, or the end; call `skips` with each skipped step."""
    ops = program.ops
    while at.op < len(ops):
        op = ops[at.op]
        if isinstance(op, Leaf):
            if is_due(op.due, rules, at.outcomes, state):
                break
            skips(op, at.passes)
            at = replace(at, op=at.op + 1)
            continue
        done = 0
        if not isinstance(op, Open):
            done = at.passes[-1] + 1
            at = replace(at, op=op.opens, passes=at.passes[:-1])
            op = ops[at.op]
            assert isinstance(op, Open)
        elif not is_due(op.due, rules, at.outcomes, state):
            at = replace(at, op=op.after)
            continue
        if done >= op.at_most or (op.until is not None and is_due(op.until, rules, at.outcomes, state)):
            at = replace(at, op=op.after)
        else:
            at = replace(at, op=at.op + 1, passes=(*at.passes, done))
    last_use = program.last_use
    if last_use:
        read = {name: band for name, band in at.outcomes.items() if last_use.get(name, -1) >= at.op}
        at = at if len(read) == len(at.outcomes) else replace(at, outcomes=Map(read))
    return at


def is_due(test: Test, rules: Rules, outcomes: Mapping[str, str], state: State) -> bool:
    """Whether conditions hold; an outcome with `also` counts as both."""
    for earlier, wanted in test.outcomes:
        outcome = outcomes.get(earlier, "")
        if not any(rules.is_band(outcome, band) for band in wanted):
            return False
    return test.holds is None or test.holds(Scope(state))


def after_step(program: Program, rules: Rules, at: Cursor, state: State, *, outcome: str | None) -> Cursor:
    """Return the cursor after a played step; the end for an ending with `at-once`."""
    step = leaf_at(program, at).step
    # Unchanged fields are copied without being read, so that odds find a turn in the cache whatever its pass.
    changes: dict[str, Any] = {"op": at.op + 1}
    if step.procedure:
        changes |= {"given": EMPTY, "choose": EMPTY}
    if outcome is not None and step.id in program.last_use:
        changes["outcomes"] = at.outcomes.with_(step.id, outcome)
    if outcome is not None and not program.ends:
        changes["last"] = outcome
    then = replace(at, **changes)
    if any(end.at_once and is_due(end.due, rules, then.outcomes, state) for end in program.ends):
        return replace(then, op=len(program.ops), passes=())
    return then


def ending_of(program: Program, rules: Rules, at: Cursor, state: State) -> str:
    """Return the name of the ending; without named endings, the last outcome."""
    held = (end.name for end in program.ends if is_due(end.due, rules, at.outcomes, state))
    return next(held, at.last)


def answer_lists(answers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return answers by label, each label's as a list."""
    return {label: [*map(str, value if isinstance(value, list) else [value])] for label, value in answers.items()}
