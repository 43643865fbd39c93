"""Scenes played from start to end. An action of a scene is the action of `rpgres roll`; nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.players import Prompt
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import Prepared, prepare, run
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.model.printed import Printed
from rpgres.model.serialization import state_record
from rpgres.model.state import State
from rpgres.rulesets import Rules, unknown
from rpgres.scenes.records import Answers, Scene, Step


class SceneResult(Printed, frozen=True, kw_only=True, tag="rpgres.scene/1"):
    """What came of a scene, as `rpgres scene run --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        rules: what names the rules exactly: version, hash of data, overlays in use.
        scene: the file it stands in, or its name, as it was asked for.
        title: the scene's title.
        seed: where the dice came from.
        switches: every house rule and the choice in force.
        steps: each step's result with its `id`; a step whose `when` did not hold has `skipped`.
        state: the table at the end: characters, tags, counters, tracks, things, and the audiences of these two.
    """

    ruleset: str
    rules: dict[str, Any]
    scene: str = ""
    title: str
    seed: str
    switches: dict[str, str]
    steps: list[dict[str, Any]]
    state: dict[str, Any]


class SkippedStep(msgspec.Struct, frozen=True):
    """A step whose `when` did not hold.

    Attributes:
        id: the step's name.
        skipped: always true.
    """

    id: str
    skipped: Literal[True]


class PlayedStep(NamedTuple):
    """A step that was played: its result (None when `when` did not hold), and the table after it."""

    number: int
    id: str
    result: Result | None
    state: State


def play_scene(
    scene: Scene, *, seed: str, prompt: Prompt | None = None, begins: Callable[[int], None] | None = None
) -> Iterator[PlayedStep]:
    """Yield what comes of each step of a scene, as it is played.

    Args:
        scene: the scene.
        seed: what all chance is drawn from.
        prompt: asks a person what nobody else answers.
        begins: is told the number of each step that is played, before it is.

    Raises:
        FileError: a step cannot be played, or a decision has nobody to take it; says which step and where.
    """
    streams = Streams(seed)
    state, outcomes = scene.state, dict[str, str]()
    for number, step in enumerate(scene.file.steps):
        if not is_due(step, outcomes, rules=scene.rules):
            yield PlayedStep(number, step.id, None, state)
            continue
        if begins is not None:
            begins(number)
        try:
            found, after = play_step(scene, number, scene.state if step.fresh else state, streams, prompt=prompt)
        except RpgresError as error:
            raise at_step(scene, number, error) from error
        if isinstance(found, Pending):
            raise unanswered(scene, number, found)
        state = state if step.fresh else after
        if step.id and found.outcome is not None:
            outcomes[step.id] = found.outcome
        yield PlayedStep(number, step.id, found, state)


def seed_of(scene: Scene, seed: str | None) -> str:
    """Return the seed a scene is played from: the one asked for, its own, or a fresh one.

    Raises:
        UsageError: it is empty, or has characters that cannot be typed.
    """
    return read_seed(seed if seed is not None else scene.file.seed)


def run_scene(scene: Scene, *, seed: str | None = None, prompt: Prompt | None = None) -> SceneResult:
    """Return what comes of a scene as a whole; see `play_scene`.

    Args:
        scene: the scene.
        seed: in place of the scene's own; without either a fresh one is minted.
        prompt: asks a person what nobody else answers.
    """
    seed = seed_of(scene, seed)
    steps: list[dict[str, Any]] = []
    state = scene.state
    for played in play_scene(scene, seed=seed, prompt=prompt):
        state = played.state
        if played.result is None:
            steps.append(msgspec.to_builtins(SkippedStep(played.id, True)))
        else:
            steps.append({"id": played.id, **msgspec.to_builtins(played.result)})
    return SceneResult(
        ruleset=scene.rules.id,
        rules=scene.rules.layers.identity(),
        scene=scene.source.path,
        title=scene.file.title,
        seed=seed,
        switches=scene.rules.chosen,
        steps=steps,
        state=state_record(state),
    )


def is_due(step: Step, outcomes: Mapping[str, str], *, rules: Rules) -> bool:
    """Tell whether a step is played after the outcomes so far; one that is also another counts as both."""
    for earlier, wanted in step.when.items():
        outcome = outcomes.get(earlier, "")
        if not any(rules.is_band(outcome, band) for band in (wanted if isinstance(wanted, list) else [wanted])):
            return False
    return True


def play_step(
    scene: Scene, number: int, state: State, streams: Streams, *, prompt: Prompt | None = None
) -> tuple[Result | Pending, State]:
    step = scene.file.steps[number]
    if step.moment is not None:
        return _turn(scene, number, state, streams, prompt=prompt)
    return run(
        prepare_step(scene, step, state),
        streams=streams,
        step=number,
        given=_lists(step.given),
        choose=_lists(step.choose),
        policies=scene.policies,
        prompt=prompt,
        note=step.note or None,
    )


def _turn(
    scene: Scene, number: int, state: State, streams: Streams, *, prompt: Prompt | None
) -> tuple[Result | Pending, State]:
    """Return what comes of a step that begins or ends a period."""
    from rpgres.engine.periods import turn

    step = scene.file.steps[number]
    assert step.moment is not None
    period, moment = step.moment
    return turn(
        scene.rules,
        state,
        period=period,
        moment=moment,
        streams=streams,
        step=number,
        given=_lists(step.given),
        choose=_lists(step.choose),
        policies=scene.policies,
        prompt=prompt,
        note=step.note or None,
    )


def prepare_step(scene: Scene, step: Step, state: State) -> Prepared:
    if step.actor and step.actor not in state.characters:
        raise UsageError(unknown("character", step.actor, state.characters, of="the scene"))
    return prepare(scene.rules, step.action, step.with_, state=state, actor=step.actor, beside=scene.folder)


def _lists(answers: Answers) -> dict[str, list[str]]:
    return {label: [value] if isinstance(value, str) else value for label, value in answers.items()}


def at_step(scene: Scene, number: int, error: RpgresError) -> FileError:
    where = scene.where("steps", number)
    if isinstance(error, FileError) and error.message.startswith(scene.source.path):
        return error
    return FileError(f"{where}: {scene.step_name(number)}: {error.message}", **error.details)


def unanswered(scene: Scene, number: int, pending: Pending) -> FileError:
    question = pending.question
    names = ", ".join(option.name for option in question.options)
    key = f'"{question.key}"' if question.key else question.label
    return FileError(
        f"{scene.where('steps', number)}: {scene.step_name(number)} waits for a decision: {question.label} "
        f'({question.who} chooses among {names}); answer it with choose = {{ {key} = "..." }}, '
        f"or give {question.who} a policy",
        label=question.label,
        who=question.who,
        options=[option.name for option in question.options],
    )
