"""A scene once more with an answer changed; see `rpgres.engine.rerun`. Steps that were skipped may now be played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.players import policies_named
from rpgres.engine.prepare import policies_of, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import (
    Again,
    Answered,
    Asked,
    Changed,
    Dropped,
    Playing,
    WhatIf,
    answers_in,
    playing,
    read_changes,
    run_again,
)
from rpgres.errors import UsageError, called, named
from rpgres.model.state import GM, HOST_NAME, State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes.flow import Cursor
from rpgres.scenes.playing import RunLeaf, SceneResult, changed_by, play_step, prepare_step, step_record, walk
from rpgres.scenes.procedures import Answers, procedure_scene
from rpgres.scenes.program import Leaf, Scene
from rpgres.scenes.reading import Overrides, load_scene, scene_file

if TYPE_CHECKING:
    from pathlib import Path

    from rpgres.rulesets import RulesetFile

Place = tuple[int, tuple[int, ...]]  # a step by its number, and the passes of its groups


def scene_what_if(scene: Scene, before: SceneResult, asked: Asked) -> WhatIf:
    """Return a scene as it was played and with answers changed.

    Args:
        scene: the scene, as it was; its policies decide what is new.

    Raises:
        UsageError: no such answer was given, or the scene is another one by now.
    """
    if before.seed is None:
        raise UsageError(
            f"this result is what the seat {before.seat or GM} may know, without the seed; take one with nothing left "
            f"out: {called('scene run', '...', as_=HOST_NAME)}, or run_scene without a seat"
        )
    known = _recorded(scene, before, before.seed)
    answers = {place: answers_in(result.events, step=_name_of(scene, place)) for place, result in known.items()}
    changes = read_changes(asked, [one for own in answers.values() for one in own])
    again: dict[Place, Again] = {}
    endings: list[str] = []
    run_leaf = _changing(scene, known, answers, changes, before.seed, again)
    played = list(walk(scene, run_leaf, ended=endings.append))
    is_pending = any(isinstance(found.found, Pending) for found in again.values())
    _check_reached(scene, again, changes, is_pending=is_pending)
    unplayed = [one for place, own in answers.items() if place not in again and not is_pending for one in own]
    return WhatIf(
        ruleset=scene.rules.id,
        changed=changes,
        before=before.steps,
        after=[told for one in played if (told := step_record(scene, one)) is not None],
        dropped=[
            *(one for found in again.values() for one in found.dropped),
            *(Dropped(label=one.label, value=one.value, who=one.who, step=one.step) for one in unplayed),
        ],
        fresh=[f"{_name_of(scene, place)}.{text}" for place, found in again.items() for text in found.fresh],
        complete=not is_pending,
        seed=before.seed,
        endings=[before.ending, endings[0] if endings else None] if scene.program.ends else [],
        people={name: str(one.get("title", "")) for name, one in before.state.get("characters", {}).items()},
        policies=dict(scene.named),
    )


def file_what_if(
    before: SceneResult, asked: Asked, *, file: str = "", folders: tuple[Path, ...] = ()
) -> tuple[WhatIf, RulesetFile]:
    """Return a scene as it was and with answers changed, and the data of its ruleset.

    What is new is decided by the policies that were named for the run, and before them by those of `asked`.

    Args:
        file: the scene, where its file was moved.
        folders: further folders with rulesets and overlays.

    Raises:
        UsageError: no such answer was given, or the scene is another one by now.
        FileError: the scene is missing or faulty.
    """
    name = file or before.scene
    if name in ("", "-"):
        raise UsageError(f"this result does not name the file of its scene; name it with {named('scene')} FILE")
    then = {who: its for who, its in before.policies.items() if who or not asked.auto}
    overrides = Overrides(before.switches, {**then, **asked.policies}, asked.auto)
    if not file and _is_procedure(before, folders):
        scene = _procedure_of(before, folders, overrides)
    else:
        scene = load_scene(name, extra=folders, overrides=overrides)
    return scene_what_if(scene, before, asked), scene.rules.file


def _is_procedure(before: SceneResult, folders: tuple[Path, ...]) -> bool:
    """Tell whether a procedure was played without a scene's file."""
    names = [f"{before.ruleset}/{step.get('action')}" for step in before.steps]
    return names == [before.scene] and scene_file(before.scene, extra=folders) is None


def _procedure_of(before: SceneResult, folders: tuple[Path, ...], overrides: Overrides) -> Scene:
    (step,) = before.steps
    rules = load_rules(find_ruleset(before.ruleset, extra=folders), switches=overrides.switches, extra=folders)
    prepared = prepare(rules, step["action"], {key.replace("-", "_"): its for key, its in step["inputs"].items()})
    policies = policies_of(prepared, overrides.policies, auto=overrides.auto, files=True)
    answers = Answers(policies, named=policies_named(rules, overrides.policies, auto=overrides.auto))
    return procedure_scene(rules, step["action"], step["inputs"], answers, note=step["note"])


def _name_of(scene: Scene, place: Place) -> str:
    """Return the name of a step in changes: its id or its place, and in a group its pass, from 1 on."""
    number, passes = place
    name = scene.program.leaves[number].key
    return f"{name}@{'-'.join(str(one + 1) for one in passes)}" if passes else name


def _recorded(scene: Scene, before: SceneResult, seed: str) -> dict[Place, Result]:
    """Return the results of a scene by their places, after replaying it as it was."""
    found, left = dict[Place, Result](), list(before.steps)

    def run_leaf(leaf: Leaf, at: Cursor, state: State) -> tuple[Result | Pending | None, State]:
        if not (leaf.step.played or leaf.step.moment):
            return None, changed_by(scene, leaf, state)
        result = _result(left[0]) if left else None
        if result is None:
            raise _other_scene(scene)
        place = leaf.number, at.passes
        answers = answers_in(result.events)
        again = run_again(
            _playing(scene, leaf, state),
            answers,
            seed=seed,
            step=scene.program.number_of(leaf, at.passes),
            unused=result.unused,
        )
        if _outcome(result) != _outcome(again.found):
            raise _other_scene(scene)
        found[place] = result
        return again.found, again.state

    for played in walk(scene, run_leaf):
        own = step_record(scene, played)
        if own is None:
            continue
        told = left.pop(0) if left else None
        if told is None or (played.result is None and told != msgspec.to_builtins(own)):
            raise _other_scene(scene)
    if left:
        raise _other_scene(scene)
    return found


def _changing(
    scene: Scene,
    known: Mapping[Place, Result],
    answers: Mapping[Place, Sequence[Answered]],
    changes: Sequence[Changed],
    seed: str,
    again: dict[Place, Again],
) -> RunLeaf:
    """Return the function that runs steps with their recorded answers and the changes; new steps run as written."""
    streams = Streams(seed)

    def run_leaf(leaf: Leaf, at: Cursor, state: State) -> tuple[Result | Pending | None, State]:
        place, number = (leaf.number, at.passes), scene.program.number_of(leaf, at.passes)
        before = known.get(place)
        if before is None:
            found, after = play_step(scene, leaf, at, state, streams)
            if found is not None:
                fresh = [f"{one.key}={one.value}" for one in found.answers if one.kind == "chance"]
                again[place] = Again(found, after, [], fresh)
            return found, after
        own = [change for change in changes if change.step == _name_of(scene, place)]
        again[place] = run_again(
            _playing(scene, leaf, state),
            answers[place],
            own,
            seed=seed,
            step=number,
            policies=scene.policies,
            unused=before.unused,
        )
        return again[place].found, again[place].state

    return run_leaf


def _playing(scene: Scene, leaf: Leaf, state: State) -> Playing:
    """Return the function that runs a step."""
    from rpgres.engine.periods import turn

    step = leaf.step
    if step.moment is None:
        return playing(prepare_step(scene, leaf, state), note=step.note or None)
    period, moment = step.moment
    return partial(turn, scene.rules, state, period=period, moment=moment, note=step.note or None)


def _result(step: Mapping[str, Any]) -> Result | None:
    """Return the result of a step's record; None where it has none."""
    if "format" not in step:
        return None
    return msgspec.convert({key: value for key, value in step.items() if key != "id"}, Result)


def _outcome(found: Result | Pending) -> Any:
    return None if isinstance(found, Pending) else msgspec.to_builtins((found.outcome, found.effects))


def _other_scene(scene: Scene) -> UsageError:
    return UsageError(
        f"{scene.source.path} has another result when it is replayed with the same answers: "
        "the scene, a sheet or the rules have changed since"
    )


def _check_reached(scene: Scene, again: Mapping[Place, Again], changes: Sequence[Changed], *, is_pending: bool) -> None:
    """Check that every step with a changed answer was played, unless the scene waits before it."""
    played = {_name_of(scene, place) for place in again}
    for change in changes:
        if change.step not in played and not is_pending:
            raise UsageError(f"the changed scene does not reach its step {change.step!r}")
