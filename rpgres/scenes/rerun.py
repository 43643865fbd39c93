"""What if: a scene is repeated with answers of its steps changed, by the rules of `rpgres.engine.rerun`.

The first run repeats the scene with its recorded answers: it assigns the answers to steps, and proves that rules and
files are unchanged. The second run changes answers; new steps are played as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.players import policies_named
from rpgres.engine.prepare import policies_of, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Again, Asked, Changed, Dropped, WhatIf, answers_in, read_changes, run_again
from rpgres.errors import UsageError, called, named
from rpgres.model.state import GM, HOST_NAME, State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes.flow import Cursor
from rpgres.scenes.playing import Found, changed_by, play_step, walk
from rpgres.scenes.program import Leaf, Scene
from rpgres.scenes.reading import Overrides, load_scene, procedure_scene, scene_file
from rpgres.scenes.views import SceneResult, step_record

if TYPE_CHECKING:
    from pathlib import Path

    from rpgres.rulesets import RulesetFile

Place = tuple[int, tuple[int, ...]]  # the number of a step, and the passes of its groups


def scene_what_if(scene: Scene, before: SceneResult, asked: Asked) -> WhatIf:
    """Return the comparison of a played scene with a changed one; policies of the scene decide new questions."""
    if before.seed is None:
        raise UsageError(
            f"this result is what the seat {before.seat or GM} may know, without the seed; take one with nothing left "
            f"out: {called('scene run', '...', as_=HOST_NAME)}, or run_scene without a seat"
        )
    known = _recorded(scene, before)
    answers = {place: answers_in(result.events, step=_name_of(scene, place)) for place, result in known.items()}
    changes = read_changes(asked, [one for own in answers.values() for one in own])
    again, endings, streams = dict[Place, Again](), list[str](), Streams(before.seed)

    def run_leaf(leaf: Leaf, at: Cursor, state: State) -> Found:
        place = leaf.number, at.passes
        if place in known:
            own = [change for change in changes if change.step == _name_of(scene, place)]
            again[place] = found = _again(scene, leaf, at, state, before, known[place], own)
            return found.found, found.state
        result, after = play_step(scene, leaf, at, state, streams)
        if result is not None:
            fresh = [f"{one.key}={one.value}" for one in result.answers if one.kind == "chance"]
            again[place] = Again(result, after, [], fresh)
        return result, after

    played = list(walk(scene, run_leaf, ended=endings.append))
    is_pending = any(isinstance(found.found, Pending) for found in again.values())
    reached = {_name_of(scene, place) for place in again}
    for change in changes:
        if change.step not in reached and not is_pending:
            raise UsageError(f"the changed scene does not reach its step {change.step!r}")
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
    """Return the comparison of a recorded scene with a changed one, and the data of its ruleset.

    Policies of `asked` override the policies of the recorded run. `file` is the new place of the scene.

    Raises:
        UsageError: an unknown answer is changed, or the scene has changed since.
        FileError: the scene is missing or faulty.
    """
    name = file or before.scene
    if name in ("", "-"):
        raise UsageError(f"this result does not name the file of its scene; name it with {named('scene')} FILE")
    then = {who: its for who, its in before.policies.items() if who or not asked.auto}
    overrides = Overrides(before.switches, {**then, **asked.policies}, asked.auto)
    actions = [f"{before.ruleset}/{step.get('action')}" for step in before.steps]
    if not file and actions == [name] and scene_file(name, extra=folders) is None:
        scene = _procedure_of(before, folders, overrides)
    else:
        scene = load_scene(name, extra=folders, overrides=overrides)
    return scene_what_if(scene, before, asked), scene.rules.file


def _procedure_of(before: SceneResult, folders: tuple[Path, ...], overrides: Overrides) -> Scene:
    (step,) = before.steps
    rules = load_rules(find_ruleset(before.ruleset, extra=folders), switches=overrides.switches, extra=folders)
    prepared = prepare(rules, step["action"], {key.replace("-", "_"): its for key, its in step["inputs"].items()})
    policies = policies_of(prepared, overrides.policies, auto=overrides.auto, files=True)
    named_ = policies_named(rules, overrides.policies, auto=overrides.auto)
    return procedure_scene(rules, step["action"], step["inputs"], policies, named=named_, note=step["note"])


def _name_of(scene: Scene, place: Place) -> str:
    """Return the name of a step in changes, such as `lock@2` for its second pass."""
    number, passes = place
    name = scene.program.leaves[number].key
    return f"{name}@{'-'.join(str(one + 1) for one in passes)}" if passes else name


def _recorded(scene: Scene, before: SceneResult) -> dict[Place, Result]:
    """Return the recorded result of each step, checked by a run with the recorded answers."""
    found, left = dict[Place, Result](), list(before.steps)
    other_scene = UsageError(
        f"{scene.source.path} has another result when it is replayed with the same answers: "
        "the scene, a sheet or the rules have changed since"
    )

    def run_leaf(leaf: Leaf, at: Cursor, state: State) -> Found:
        if not (leaf.step.played or leaf.step.moment):
            return None, changed_by(scene, leaf, state)
        if not left or "format" not in left[0]:
            raise other_scene
        result = msgspec.convert({key: value for key, value in left[0].items() if key != "id"}, Result)
        again = _again(scene, leaf, at, state, before, result)
        if _outcome(result) != _outcome(again.found):
            raise other_scene
        found[leaf.number, at.passes] = result
        return again.found, again.state

    for played in walk(scene, run_leaf):
        own = step_record(scene, played)
        told = left.pop(0) if own is not None and left else None
        if own is not None and (told is None or (played.result is None and told != msgspec.to_builtins(own))):
            raise other_scene
    if left:
        raise other_scene
    return found


def _outcome(found: Result | Pending) -> Any:
    return None if isinstance(found, Pending) else msgspec.to_builtins((found.outcome, found.effects))


def _again(
    scene: Scene,
    leaf: Leaf,
    at: Cursor,
    state: State,
    before: SceneResult,
    result: Result,
    changes: Sequence[Changed] | None = None,
) -> Again:
    """Return the result of a step with its recorded answers; with `changes`, policies answer new decisions."""

    def playing(*, streams: Streams, **by: Any) -> tuple[Result | Pending, State]:
        found, after = play_step(scene, leaf, at, state, streams, **by)
        assert found is not None
        return found, after

    return run_again(
        playing,
        answers_in(result.events, step=_name_of(scene, (leaf.number, at.passes))),
        changes or (),
        seed=before.seed or "",
        step=scene.program.number_of(leaf, at.passes),
        policies=scene.policies if changes is not None else {},
        unused=result.unused,
    )
