"""The result of a scene as a record, complete or redacted for a seat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import msgspec

from rpgres.engine.players import NO, Prompt
from rpgres.engine.records import Result
from rpgres.engine.views import ANOTHER_SEAT, found_seen, hidden_in, input_seen, laid_by, mentions, private_in, seats_of
from rpgres.errors import FileError, UsageError
from rpgres.model.printed import Printed
from rpgres.model.serialization import state_record
from rpgres.model.state import EVERYBODY, GM, HOST_NAME, State
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules, unknown
from rpgres.scenes.playing import CannotSet, PlayedStep, Unanswered, play_scene, seed_of
from rpgres.scenes.program import Scene


class SceneResult(Printed, frozen=True, kw_only=True, tag="rpgres.scene/1"):
    """The result of a scene, as `rpgres scene run --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        rules: the exact rules: version, hash of the data, overlays in use.
        scene: its file or its name, as typed.
        title: the scene's title.
        summary: one line about the scene.
        seat: the reader of a redacted result; null for a complete one.
        seed: the seed of the dice; null for a seat, because a seed reveals hidden dice.
        switches: every house rule and the choice in force.
        steps: the results of all steps with their `id`, in order; a skipped step has `skipped`, a change of the table
            `set`, a line of the account only `note`.
        ending: the name of the ending; null where the scene names none, or none of them holds.
        ending_text: the text of the ending; empty where it has none.
        policies: the policies that were named beside the scene, by character; the default under an empty name.
        state: the table at the end: characters, tags, counters, tracks, things, and the audiences of these two.
    """

    ruleset: str
    rules: dict[str, Any]
    scene: str = ""
    title: str
    summary: str = ""
    seat: str | None = None
    seed: str | None
    switches: dict[str, str]
    steps: list[dict[str, Any]]
    ending: str | None = None
    ending_text: str = ""
    policies: dict[str, str] = {}
    state: dict[str, Any]


class SkippedStep(msgspec.Struct, frozen=True):
    """A skipped step: its `when` was false.

    Attributes:
        id: the step's name.
        skipped: always true.
    """

    id: str
    skipped: Literal[True]


class PlainStep(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A change of the table, or a line of the account.

    Attributes:
        id: the step's name.
        note: the line.
        set: the new values of the table, by path.
    """

    id: str
    note: str = ""
    set: dict[str, bool | int | str] = {}


def run_scene(
    scene: Scene, *, seed: str | None = None, prompt: Prompt | None = None, seat: str | None = None
) -> SceneResult:
    """Return the result of a scene as a whole, from a seed or its own; see `play_scene` and `scene_result`."""
    seed, endings = seed_of(scene, seed), list[str]()
    with told_to(seat):
        steps = list(play_scene(scene, seed=seed, prompt=prompt, ended=endings.append))
    return scene_result(scene, steps, ending=endings[0], seed=seed, seat=seat)


def scene_result(
    scene: Scene, steps: Iterable[PlayedStep], *, ending: str, seed: str, seat: str | None = None
) -> SceneResult:
    """Return the result of a scene from its played steps and the name of its ending.

    Args:
        seat: the reader, from whom hidden parts and the seed are removed; `host` and None see everything.

    Raises:
        UsageError: the scene has no such seat.
    """
    steps, seat = list(steps), None if seat == HOST_NAME else seat
    if seat is not None:
        require_seat(seat, scene.state, *(played.after for played in steps))
    state = steps[-1].state if steps else scene.state
    records = [record for played in steps if (record := step_record(scene, played, seat=seat)) is not None]
    text = scene.file.ends[ending].text if ending else "none of the endings of the scene" if scene.file.ends else ""
    return SceneResult(
        ruleset=scene.rules.id,
        rules=scene.rules.layers.identity(),
        scene=scene.source.path,
        title=scene.file.title,
        summary=scene.file.summary.strip(),
        seat=seat,
        seed=seed if seat is None else None,
        switches=scene.rules.chosen,
        steps=records,
        ending=ending or None,
        ending_text=text,
        policies=dict(scene.named) if seat is None else {},
        state=state_record(state if seat is None else state.seen_by(seat)),
    )


def hides_nothing(whole: SceneResult, seen: SceneResult) -> bool:
    """Whether a view hides only skipped decisions."""
    return whole.state == seen.state and [*map(_without_passes, whole.steps)] == [*map(_without_passes, seen.steps)]


def _without_passes(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step without its seed, its answers, and skipped decisions."""
    events = [one for one in step.get("events", ()) if not (one.get("answer") == NO and one.get("audience"))]
    return {**step, "events": events, "answers": (), "seed": None}


def step_record(scene: Scene, played: PlayedStep, *, seat: str | None = None) -> dict[str, Any] | None:
    """Return a step as a record; None for a hidden step.

    Only the game master sees skipped steps, notes of changes, and unused answers: they contain the plans of the author.
    """
    seat = None if seat == HOST_NAME else seat
    step, result, is_author = played.leaf.step, played.result, seat in (None, GM)
    if played.is_skipped:
        return msgspec.to_builtins(SkippedStep(step.id, True)) if is_author else None
    if result is not None:
        seen = result if seat is None else _result_seen(scene.rules, result, seat, played.before, played.after)
        return {"id": step.id, **msgspec.to_builtins(seen)}
    changes = step.set
    if seat is not None:
        hidden = {name for name, seats in hidden_in(played.before, played.after).items() if seat not in seats}
        changes = {path: its for path, its in changes.items() if not mentions([*typed_path(path).keys, its], hidden)}
    note = step.note if is_author or not step.set else ""
    return msgspec.to_builtins(PlainStep(step.id, note, changes)) if note or changes else None


def _result_seen(rules: Rules, result: Result, seat: str, before: State, after: State) -> Result:
    """Return the visible part of a result, without its seed.

    The owner of the inputs is the actor's seat; other seats see public inputs without hidden names.
    """
    hidden = hidden_in(before, after)
    came = before if result.actor in before.characters else after  # an actor may join by the step itself
    actor = came.seat_of(result.actor or GM)
    inputs = dict(result.inputs)
    if result.action is not None and seat != actor:
        laid = laid_by(rules, result.action, inputs, actor=result.actor or GM)
        private = private_in(rules, result.action, inputs)
        for key, value in result.inputs.items():
            inputs[key] = input_seen(value, laid.get(key), private.get(key), state=after, seat=seat)
    secret = {name for name, seats in hidden.items() if seat not in seats and actor in seats}
    inputs = {key: value for key, value in inputs.items() if value is not None and not mentions(value, secret)}
    seen = found_seen(result, seat, state=after, hidden=hidden, inputs=inputs)
    assert isinstance(seen, Result)
    note, unused = (result.note, result.unused) if seat == GM else (None, [])
    return msgspec.structs.replace(seen, seed=None, unused=unused, note=note)


@contextmanager
def told_to(seat: str | None) -> Iterator[None]:
    """Redact errors for a seat: the reason of a failed change may be hidden."""
    try:
        yield
    except CannotSet as error:
        if seat in (None, GM, HOST_NAME):
            raise
        raise FileError(f"{error.place}: this change cannot be made; the game master can see why") from None
    except Unanswered as error:
        if seat in (None, HOST_NAME, error.seat):
            raise
        whose = error.pending.question.who if seat == GM else ANOTHER_SEAT
        told = Unanswered(
            f"{error.place} waits for a decision of {whose}; answer it with `choose`, or let a policy decide"
        )
        told.pending, told.place, told.seat = error.pending, error.place, error.seat
        raise told from None


def require_seat(seat: str, *states: State) -> None:
    """Check that a seat exists in one of several tables; `everybody` is the public view, `host` the full one."""
    seats = list(dict.fromkeys(one for state in states for one in seats_of(state)))
    if seat not in (*seats, EVERYBODY, HOST_NAME):
        raise UsageError(unknown("seat", seat, seats, of="the scene"), seat=seat, seats=seats)
