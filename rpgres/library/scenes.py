"""Scenes by a call: played from start to end, and what would have happened with another answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rpgres.arguments import told_by_kind
from rpgres.engine.records import Result
from rpgres.engine.rerun import WhatIf, result_what_if
from rpgres.engine.resolve import Answers, Folders, folders_of
from rpgres.errors import UsageError
from rpgres.library.reading import Deciding, Policies, deciding, plain_inputs, typed_changes
from rpgres.model.state import EMPTY, HOST_NAME
from rpgres.odds.exact import Decide
from rpgres.scenes import Scene, SceneResult, Unanswered, load_scene, require_sound
from rpgres.scenes import run_scene as played
from rpgres.scenes.rerun import file_what_if


def scene_in(file: Any, who: Deciding, inputs: Mapping[str, Any] = EMPTY) -> Scene:
    """Return a scene from its file, with its rules, sheets and policies.

    Raises:
        FileError: it is missing or faulty.
        UsageError: there is no such policy or switch, or something is given that a scene says itself.
    """
    require_no_inputs(inputs, who)
    if file == "-":
        raise UsageError("a scene is a file, or a shipped one such as 'fate/bribe'; a call reads no standard input")
    scene = load_scene(os.fspath(file), extra=who.folders, overrides=who.overrides)
    require_sound(scene)
    return scene


def require_no_inputs(inputs: Mapping[str, Any], who: Deciding, *, decide: Decide = "policies") -> None:
    """Check that nothing is given that a scene says itself.

    Raises:
        UsageError: something is.
    """
    unused = [*plain_inputs(inputs), *(["choose"] if who.choose else []), *(["decide"] if decide != "policies" else [])]
    if unused:
        raise UsageError(
            f"a scene takes no {', '.join(unused)}: that belongs to an action or a procedure",
            path=(unused[0],),
            reason="unknown",
        )


@told_by_kind
def run_scene(
    file: str | os.PathLike[str],
    *,
    seed: str | int | None = None,
    seat: str | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
) -> SceneResult:
    """Play a scene from start to end, and return the result of each step and the table at the end.

    >>> run_scene("fate/bribe", seed=7).steps[0]["outcome"]
    'fail'

    Args:
        file: the scene: a TOML file, or a shipped one such as `fate/bribe`.
        seed: any text or number; by default the scene's own, or a fresh one.
        seat: leave out what this seat may not know, and the seed; everything by default.
        auto: whether the ruleset's policy answers what neither the scene nor a policy does.
        policies: policy by character; under an empty name the default.
        switches: house rules, over the scene's own.
        rulesets: folders with overlays; the last is the nearest.

    Returns:
        The record of `rpgres scene run --json`, of everything without a seat (`--as host`).

    Raises:
        Unanswered: a step waits for a decision without an answer; a `FileError` with the `pending` decision, which is
            None for a seat.
        FileError: the scene or a sheet is missing or faulty.
        UsageError: there is no such seat, policy or switch.
    """
    scene = scene_in(file, deciding(auto=auto, policies=policies, switches=switches, rulesets=rulesets))
    try:
        return played(scene, seed=None if seed is None else str(seed), seat=seat)
    except Unanswered as error:
        if seat in (None, HOST_NAME):
            raise
        error.pending = error.run = error.__context__ = None  # type: ignore[assignment]
        raise error.with_traceback(None) from None


@told_by_kind
def whatif(
    before: Result | SceneResult,
    *,
    given: Answers | None = None,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    scene: str = "",
    rulesets: Folders | None = None,
) -> WhatIf:
    """Repeat a run with an answer changed and every other die as it fell.

    >>> import rpgres
    >>> before = rpgres.resolve("fate", "overcome", skill=1, vs=2, seed=7, choose={"price": "fail"})
    >>> whatif(before, given={"roll": "++++"}).after[0]["outcome"]
    'style'

    Args:
        before: what `resolve` or `run_scene` returned, with nothing left out.
        given: changed dice or cards, by `LABEL` or `LABEL#N`, in a scene by `STEP.LABEL#N`.
        choose: changed or added decisions, likewise.
        auto: whether the ruleset's policy answers what is asked anew.
        policies: policy by name of a character.
        scene: the scene's file, where it is not where it was.
        rulesets: folders with overlays; the last is the nearest.

    Returns:
        The record of `rpgres whatif --json`: `before` and `after` step by step, and answers that found no use.

    Raises:
        UsageError: nothing is changed, no such answer was given, or `before` leaves out its seed.
        FileError: a file of the ruleset, a sheet or the scene is missing or faulty.
    """
    asked = typed_changes(given, choose, policies, auto=auto)
    if isinstance(before, SceneResult):
        return file_what_if(before, asked, file=scene, folders=folders_of(rulesets))[0]
    if not isinstance(before, Result):
        raise UsageError(f"whatif takes what resolve or run_scene returned, not {before!r:.80}")
    return result_what_if(before, asked, folders=folders_of(rulesets))[0]
