"""A scene once more with an answer changed; see `rpgres.engine.rerun`. Steps that were skipped may now be played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.players import Policy
from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Again, Answered, Changed, Dropped, Playing, WhatIf, answers_in, read_changes, run_again
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY, State
from rpgres.scenes.playing import SceneResult, is_due, play_step, prepare_step
from rpgres.scenes.records import Scene


def scene_what_if(
    scene: Scene,
    before: SceneResult,
    *,
    given: Sequence[str],
    choose: Sequence[str],
    policies: Mapping[str, Policy] = EMPTY,
) -> WhatIf:
    """Return a scene as it was played and with answers changed.

    Args:
        scene: the scene, as it was.
        before: what came of it.
        given: results of dice that are changed, as `STEP.LABEL#N=FACES`.
        choose: decisions that are changed, likewise.
        policies: who answers decisions that are new, beside the scene's own policies.

    Raises:
        UsageError: no such answer was given, or the scene is another one by now.
    """
    results = [_result(step) for step in before.steps]
    if len(results) != len(scene.file.steps):
        raise _other_scene(scene)
    names = [step.id or str(number) for number, step in enumerate(scene.file.steps, 1)]
    answers = [
        answers_in(result.events, step=name) if result is not None else []
        for name, result in zip(names, results, strict=True)
    ]
    same = list(_played(scene, names, results, answers, (), before.seed, scene.policies))
    if len(same) < len(results) or any(_differs(one, played) for one, played in zip(results, same, strict=True)):
        raise _other_scene(scene)
    changes = read_changes(given, choose, [one for own in answers for one in own])
    everybody = {**policies, **scene.policies}
    after = list(_played(scene, names, results, answers, changes, before.seed, everybody))
    ended = [again.found for again in after if again is not None]
    _check_reached(names[: len(after)], changes)
    return WhatIf(
        ruleset=scene.rules.id,
        changed=changes,
        before=before.steps,
        after=[
            _record(name, step.id, again) for name, step, again in zip(names, scene.file.steps, after, strict=False)
        ],
        dropped=[*(one for again in after if again is not None for one in again.dropped), *_unplayed(after, answers)],
        fresh=[
            f"{name}.{text}"
            for name, again in zip(names, after, strict=False)
            for text in (again.fresh if again is not None else [])
        ],
        complete=not any(isinstance(found, Pending) for found in ended),
        seed=before.seed,
    )


def _result(step: Mapping[str, Any]) -> Result | None:
    return None if step.get("skipped") else msgspec.convert({k: v for k, v in step.items() if k != "id"}, Result)


def _record(name: str, id_: str, again: Again | None) -> dict[str, Any]:
    if again is None:
        return {"id": id_, "skipped": True}
    return {"id": id_, **msgspec.to_builtins(again.found)}


def _other_scene(scene: Scene) -> UsageError:
    return UsageError(
        f"{scene.source.path} does not come to the same when it is played again with the same answers: "
        "the scene, a sheet or the rules have changed since"
    )


def _differs(before: Result | None, again: Again | None) -> bool:
    if before is None or again is None:
        return before is not None or again is not None
    found = again.found
    if isinstance(found, Pending):
        return True
    return bool(
        msgspec.to_builtins((before.outcome, before.effects)) != msgspec.to_builtins((found.outcome, found.effects))
    )


def _played(
    scene: Scene,
    names: Sequence[str],
    results: Sequence[Result | None],
    answers: Sequence[Sequence[Answered]],
    changes: Sequence[Changed],
    seed: str,
    policies: Mapping[str, Policy],
) -> Iterator[Again | None]:
    """Yield what comes of each step; None for one that is skipped. A decision that waits is the end."""
    state, outcomes, streams = scene.state, dict[str, str](), Streams(seed)
    for number, (step, before) in enumerate(zip(scene.file.steps, results, strict=True)):
        if not is_due(step, outcomes, rules=scene.rules):
            yield None
            continue
        at = scene.state if step.fresh else state
        own = [change for change in changes if change.step == names[number]]
        if before is None:
            found, after = play_step(msgspec.structs.replace(scene, policies=dict(policies)), number, at, streams)
            fresh = [f"{one.key}={one.value}" for one in found.answers if one.kind == "chance"]
            again = Again(found, after, [], fresh)
        else:
            play_it = _playing(scene, number, at)
            again = run_again(
                play_it, answers[number], own, seed=seed, step=number, policies=policies, unused=before.unused
            )
        yield again
        if isinstance(again.found, Pending):
            return
        state = state if step.fresh else again.state
        if step.id and again.found.outcome is not None:
            outcomes[step.id] = again.found.outcome


def _playing(scene: Scene, number: int, state: State) -> Playing:
    """Return what runs a step."""
    from rpgres.engine.periods import turn
    from rpgres.engine.rerun import playing

    step = scene.file.steps[number]
    if step.moment is None:
        return playing(prepare_step(scene, step, state), note=step.note or None)
    period, moment = step.moment
    return partial(turn, scene.rules, state, period=period, moment=moment, note=step.note or None)


def _check_reached(played: Sequence[str], changes: Sequence[Changed]) -> None:
    for change in changes:
        if change.step and change.step not in played:
            raise UsageError(f"the changed scene waits for a decision before its step {change.step!r}")


def _unplayed(after: Sequence[Again | None], answers: Sequence[Sequence[Answered]]) -> Iterator[Dropped]:
    """Yield the answers of steps that are skipped now."""
    for again, own in zip(after, answers, strict=False):
        for one in own if again is None else ():
            yield Dropped(label=one.label, value=one.value, who=one.who, step=one.step)
