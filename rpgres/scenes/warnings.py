"""Warnings of a scene: steps that can be played, and likely mean something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpgres.engine.periods import SCENE
from rpgres.errors import enumerated
from rpgres.rulesets import Rules
from rpgres.scenes.places import all_steps, as_table
from rpgres.toml.diagnostics import Fault, KeyPath


def step_warnings(rules: Rules, data: Mapping[str, Any], characters: Sequence[str]) -> Iterator[Fault]:
    """Yield a warning for each step without the actor that it needs, and for each end of what no earlier step begins.

    Steps that expect an error mean what they say. Included scenes may begin anything.

    Args:
        data: the scene's TOML.
        characters: the names of all characters of the scene.
    """
    steps = [(at, step) for at, step in all_steps(data.get("steps")) if "error" not in as_table(step.get("expect"))]
    for at, step in steps:
        if step.get("fresh") is not True:  # a case of a test, after which no character is changed
            yield from _without_actor(rules, at, step, characters)
    yield from _without_begin(rules, steps)


def _without_actor(rules: Rules, at: KeyPath, step: Mapping[str, Any], characters: Sequence[str]) -> Iterator[Fault]:
    kind = "procedure" if step.get("procedure") else "action"
    action = rules.file.actions.get(str(step.get(kind)))
    if action is None or action.anybody or step.get("actor") or not rules.file.sheet or len(characters) < 2:
        return
    message = f"no actor: name one of the scene's characters as `actor`: {enumerated(characters)}"
    yield Fault("missing-key", (*at, kind), message, severity="warning")


def _without_begin(rules: Rules, steps: Sequence[tuple[KeyPath, Mapping[str, Any]]]) -> Iterator[Fault]:
    """Yield a warning for each end of a period that has not begun, as far as the scene tells.

    An implied period has begun as soon as something is played; of any other only the ruleset's code may tell.
    """
    begun, is_played = {SCENE}, False
    for at, step in steps:
        if step.get("include"):
            return
        is_played = is_played or bool(step.get("action") or step.get("procedure"))
        begun.add(str(step.get("begin")))
        period = step.get("end")
        text = rules.file.periods.get(period) if isinstance(period, str) else None
        if text is None or period in begun or (text.implied and is_played):
            continue
        then = "what its end does is done all the same" if text.implied else "it can end only if an action began it"
        message = f"no earlier step begins this {period}; {then}"
        yield Fault("missing-key", (*at, "end"), message, severity="warning")
