"""Scenes played from start to end. An action of a scene is the action of `rpgres roll`; nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.players import Prompt
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import Prepared, prepare, run
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.model.printed import Printed
from rpgres.model.serialization import state_record
from rpgres.model.state import GM, State
from rpgres.rulesets import Rules, unknown
from rpgres.scenes.records import Answers, Scene, Step
from rpgres.scenes.views import require_seat, result_seen


class SceneResult(Printed, frozen=True, kw_only=True, tag="rpgres.scene/1"):
    """What came of a scene, as `rpgres scene run --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        rules: what names the rules exactly: version, hash of data, overlays in use.
        title: the scene's title.
        summary: what it is about, in a line.
        seat: the seat as which it is seen; null for everything.
        seed: where the dice came from; null as seen by a seat.
        switches: every house rule and the choice in force.
        steps: each step's result with its `id`; a step whose `when` did not hold has `skipped`.
        state: the table at the end: characters, tags, counters, tracks, things, and the audiences of these two.
    """

    ruleset: str
    rules: dict[str, Any]
    title: str
    summary: str = ""
    seat: str | None = None
    seed: str | None
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
    """A step that was played: its result (None when `when` did not hold), and the table after it.

    `around` is the table as the step found it and as it left it, where it was played.
    """

    number: int
    id: str
    result: Result | None
    state: State
    around: tuple[State, State] | None = None


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
        before = scene.state if step.fresh else state
        try:
            found, after = play_step(scene, number, before, streams, prompt=prompt)
        except RpgresError as error:
            raise at_step(scene, number, error) from error
        if isinstance(found, Pending):
            raise unanswered(scene, number, found)
        state = state if step.fresh else after
        if step.id and found.outcome is not None:
            outcomes[step.id] = found.outcome
        yield PlayedStep(number, step.id, found, state, (before, after))


def seed_of(scene: Scene, seed: str | None) -> str:
    """Return the seed a scene is played from: the one asked for, its own, or a fresh one.

    Raises:
        UsageError: it is empty, or has characters that cannot be typed.
    """
    return read_seed(seed if seed is not None else scene.file.seed)


def run_scene(
    scene: Scene, *, seed: str | None = None, prompt: Prompt | None = None, seat: str | None = None
) -> SceneResult:
    """Return what comes of a scene as a whole; see `play_scene`.

    Args:
        scene: the scene.
        seed: in place of the scene's own; without either a fresh one is minted.
        prompt: asks a person what nobody else answers.
        seat: leave out what this seat may not know, and the seed.
    """
    seed = seed_of(scene, seed)
    return scene_result(scene, play_scene(scene, seed=seed, prompt=prompt), seed=seed, seat=seat)


def scene_result(scene: Scene, steps: Iterable[PlayedStep], *, seed: str, seat: str | None = None) -> SceneResult:
    """Return what comes of a scene from its steps.

    Args:
        scene: the scene.
        steps: what came of each step, with nothing left out.
        seed: what all chance was drawn from.
        seat: leave out what this seat may not know, and the seed.

    Raises:
        UsageError: the scene has no such seat.
    """
    if seat is not None:
        require_seat(seat, scene.state)
    state, records = scene.state, list[dict[str, Any]]()
    for played in steps:
        state = played.state
        record = step_record(scene, played, seat=seat)
        if record is not None:
            records.append(record)
    return SceneResult(
        ruleset=scene.rules.id,
        rules=scene.rules.layers.identity(),
        title=scene.file.title,
        summary=scene.file.summary.strip(),
        seat=seat,
        seed=seed if seat is None else None,
        switches=scene.rules.chosen,
        steps=records,
        state=state_record(state if seat is None else state.seen_by(seat)),
    )


def step_record(scene: Scene, played: PlayedStep, *, seat: str | None = None) -> dict[str, Any] | None:
    """Return what came of a step as plain data; None for one that a player does not hear of.

    A step that was skipped tells what might have been, so it is for the game master alone.

    Args:
        scene: the scene.
        played: what came of the step.
        seat: leave out what this seat may not know, and the seed.
    """
    if played.result is None:
        return msgspec.to_builtins(SkippedStep(played.id, True)) if seat in (None, GM) else None
    result = played.result
    if seat is not None and played.around is not None:
        before, after = played.around
        result = result_seen(scene.rules, result, seat, before=before, after=after)
    return {"id": played.id, **msgspec.to_builtins(result)}


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
