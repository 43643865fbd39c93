"""Scenes played from start to end. An action of a scene is the action of `rpgres roll`; nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.dealers import Hand, Remembered
from rpgres.engine.players import NO, Prompt
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.engine.stops import TakenBack
from rpgres.errors import ChoiceError, FileError, RpgresError, UsageError, enumerated
from rpgres.model.paths import NOTHING, Scope, parse_path
from rpgres.model.printed import Printed
from rpgres.model.serialization import state_record
from rpgres.model.state import GM, HOST_NAME, State
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules, unknown
from rpgres.scenes.flow import Cursor, after_step, answer_lists, ending_of, is_over, leaf_at, onward
from rpgres.scenes.program import Leaf, Scene
from rpgres.scenes.records import Step
from rpgres.scenes.views import CannotSet, Unanswered, changes_seen, require_seat, result_seen, told_to

if TYPE_CHECKING:
    from rpgres.engine.run import Answering

RunLeaf = Callable[[Leaf, Cursor, State], "tuple[Result | Pending | None, State]"]

_LONGEST = 10  # characters of a change of a number
_FROM_NOTHING = ("counters", "abilities", "uses")  # where a missing number counts as 0


class SceneResult(Printed, frozen=True, kw_only=True, tag="rpgres.scene/1"):
    """The result of a scene, as `rpgres scene run --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        rules: the exact rules: version, hash of the data, overlays in use.
        scene: its file or its name, as typed.
        title: the scene's title.
        summary: what it is about, in a line.
        seat: the seat that sees it; null where nothing is left out.
        seed: the seed of the dice; null where something is left out, since the seed would reveal it.
        switches: every house rule and the choice in force.
        steps: each step's result with its `id`, in the order in which they were played; a step whose `when` did not
            hold has `skipped`, one that only changes the table `set`, a line of the account only `note`.
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
    """A step whose `when` did not hold.

    Attributes:
        id: the step's name.
        skipped: always true.
    """

    id: str
    skipped: Literal[True]


class PlainStep(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A step that plays nothing: it changes the table, or is a line of the account.

    Attributes:
        id: the step's name.
        note: the line.
        set: the new values of the table, by path.
    """

    id: str
    note: str = ""
    set: dict[str, bool | int | str] = {}


class PlayedStep(NamedTuple):
    """A step that was played or skipped, and the table after it.

    Attributes:
        passes: for each group it is in, which pass this is, from 0.
        is_skipped: whether its `when` did not hold.
        result: its result; None where it was skipped, or played nothing.
        state: the table after it.
        before: the table before the step.
        after: the table that the step left; `state` differs where the step is `fresh`.
    """

    leaf: Leaf
    passes: tuple[int, ...]
    is_skipped: bool
    result: Result | None
    state: State
    before: State
    after: State

    @property
    def number(self) -> int:
        """The step's place among the steps of the scene, from 0."""
        return self.leaf.number

    @property
    def id(self) -> str:
        """The step's name."""
        return self.leaf.step.id


def play_scene(
    scene: Scene,
    *,
    seed: str,
    prompt: Prompt | None = None,
    hand: Hand | None = None,
    begins: Callable[[Leaf, State], None] | None = None,
    rewinds: Callable[[], bool] = bool,
    ended: Callable[[str], None] = lambda _: None,
) -> Iterator[PlayedStep]:
    """Yield the result of each step of a scene, as it is played.

    Args:
        hand: asks a person for results of real dice and cards that the scene does not give.
        begins: called before each step that is played, with the step and the table.
        rewinds: undoes the last answer of the person at the prompt; the step is then played again. It returns False
            where there is no answer.
        ended: called with the name of the ending; empty for none.

    Raises:
        FileError: a step cannot be played; says which and where.
        Unanswered: a decision has no answer.
    """
    streams = Streams(seed)

    def run_leaf(leaf: Leaf, at: Cursor, before: State) -> tuple[Result | Pending | None, State]:
        if begins is not None:
            begins(leaf, before)
        try:
            playing = partial(play_step, scene, leaf, at, before, streams)
            found, after = _kept(playing, prompt=prompt, hand=hand, rewinds=rewinds)
        except RpgresError as error:
            raise (_cannot_set(leaf, error) if leaf.step.set else at_step(leaf, error)) from error
        if isinstance(found, Pending):
            raise unanswered(leaf, found, after)
        return found, after

    return walk(scene, run_leaf, ended=ended)


def walk(scene: Scene, run_leaf: RunLeaf, *, ended: Callable[[str], None] = lambda _: None) -> Iterator[PlayedStep]:
    """Yield the steps of a scene as they are run or skipped; a decision that waits is the end.

    Args:
        run_leaf: runs a step: returns its result, and the table after it.
        ended: called with the name of the ending; empty for none.
    """
    program, rules, state, at = scene.program, scene.rules, scene.state, Cursor()
    skipped: list[tuple[Leaf, tuple[int, ...]]] = []
    while True:
        skipped.clear()
        at = onward(program, rules, at, state, skips=lambda leaf, passes: skipped.append((leaf, passes)))
        for leaf, passes in skipped:
            yield PlayedStep(leaf, passes, True, None, state, state, state)
        if is_over(program, at):
            break
        leaf = leaf_at(program, at)
        before = scene.state if leaf.step.fresh else state
        found, after = run_leaf(leaf, at, before)
        state = state if leaf.step.fresh else after
        result: Any = found  # a pending one, too
        yield PlayedStep(leaf, at.passes, False, result, state, before, after)
        if isinstance(found, Pending):
            return
        at = after_step(program, rules, at, state, outcome=found.outcome if found is not None else None)
    ended(ending_of(program, rules, at, state) if program.ends else "")


def seed_of(scene: Scene, seed: str | None) -> str:
    """Return the seed a scene is played from: the one asked for, its own, or a fresh one.

    Raises:
        UsageError: it is empty, or has characters that cannot be typed.
    """
    return read_seed(seed if seed is not None else scene.file.seed)


def run_scene(
    scene: Scene, *, seed: str | None = None, prompt: Prompt | None = None, seat: str | None = None
) -> SceneResult:
    """Return the result of a scene as a whole; see `play_scene`.

    Args:
        seed: in place of the scene's own; without either a fresh one is minted.
        seat: leave out what this seat may not know, and the seed; nothing for `host`, or for none.
    """
    seed, endings = seed_of(scene, seed), list[str]()
    with told_to(seat):
        steps = list(play_scene(scene, seed=seed, prompt=prompt, ended=endings.append))
    return scene_result(scene, steps, ending=endings[0], seed=seed, seat=seat)


def scene_result(
    scene: Scene, steps: Iterable[PlayedStep], *, ending: str, seed: str, seat: str | None = None
) -> SceneResult:
    """Return the result of a scene from its steps.

    Args:
        steps: the result of each step, with nothing left out.
        ending: the name of the ending; empty for none.
        seat: leave out what this seat may not know, and the seed; nothing for `host`, or for none.

    Raises:
        UsageError: the scene has no such seat.
    """
    steps, seat = list(steps), None if seat == HOST_NAME else seat
    if seat is not None:
        require_seat(seat, scene.state, *(played.after for played in steps))
    state, records = scene.state, list[dict[str, Any]]()
    for played in steps:
        state = played.state
        record = step_record(scene, played, seat=seat)
        if record is not None:
            records.append(record)
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
    """Tell whether a seat may know all of a scene, except optional decisions that others skipped.

    Args:
        whole: the result with nothing left out.
        seen: as the seat sees it.
    """
    return whole.state == seen.state and [*map(_without_passes, whole.steps)] == [*map(_without_passes, seen.steps)]


def _without_passes(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step without its seed, its answers (its events have them, too), and the decisions that were skipped."""
    events = [one for one in step.get("events", ()) if not (one.get("answer") == NO and one.get("audience"))]
    return {**step, "events": events, "answers": (), "seed": None}


def step_record(scene: Scene, played: PlayedStep, *, seat: str | None = None) -> dict[str, Any] | None:
    """Return a step for the JSON of a scene; None where the seat may not know of it.

    A skipped step reveals what might have happened, so only the game master sees it.

    Args:
        seat: leave out what this seat may not know, and the seed; nothing for `host`, or for none.
    """
    seat = None if seat == HOST_NAME else seat
    step, record = played.leaf.step, dict[str, Any]()
    if played.is_skipped:
        return msgspec.to_builtins(SkippedStep(step.id, True)) if seat in (None, GM) else None
    if played.result is None:
        changes = step.set if seat is None else changes_seen(step.set, seat, before=played.before, after=played.after)
        note = step.note if seat in (None, GM) or not step.set else ""
        record = msgspec.to_builtins(PlainStep(step.id, note, changes))
        return record if note or changes else None
    result = played.result
    if seat is not None:
        result = result_seen(scene.rules, result, seat, before=played.before, after=played.after)
    return {"id": step.id, **msgspec.to_builtins(result)}


def _kept(
    play: Callable[..., tuple[Result | Pending | None, State]],
    *,
    prompt: Prompt | None,
    hand: Hand | None,
    rewinds: Callable[[], bool],
) -> tuple[Result | Pending | None, State]:
    """Return the result of a step; it is played again after each answer that is undone."""
    dice = Remembered(hand) if hand is not None else None
    asks = dice.counting(prompt) if dice is not None and prompt is not None else prompt
    while True:
        if dice is not None:
            dice.begin()
        try:
            return play(prompt=asks, hand=dice.ask if dice is not None else None)
        except TakenBack:
            if not rewinds():
                raise
            if dice is not None:
                dice.take_back()


def play_step(
    scene: Scene,
    leaf: Leaf,
    at: Cursor,
    state: State,
    streams: Streams,
    *,
    prompt: Prompt | None = None,
    hand: Hand | None = None,
) -> tuple[Result | Pending | None, State]:
    """Return the result of a step, None where it plays nothing; and the table after it.

    Args:
        at: the passes of the groups it is in.
        prompt, hand: as of `play_scene`.
    """
    step = leaf.step
    if not (step.played or step.moment):
        return None, changed_by(scene, leaf, state)
    by: Answering = {
        "streams": streams,
        "step": scene.program.number_of(leaf, at.passes),
        "given": answer_lists(step.given),
        "choose": answer_lists(step.choose),
        "policies": scene.policies,
        "prompt": prompt,
        "hand": hand,
        "note": step.note or None,
    }
    if step.moment is None:
        return run(prepare_step(scene, leaf, state), **by)
    from rpgres.engine.periods import turn

    period, moment = step.moment
    return turn(scene.rules, state, period=period, moment=moment, **by)


def changed_by(scene: Scene, leaf: Leaf, state: State) -> State:
    """Return the table after a `set` step: a text such as `+1` changes a number, a number replaces it.

    Raises:
        UsageError: there is no such path, or the value does not fit.
    """
    for path, value in leaf.step.set.items():
        state = with_value(scene.rules, state, path, value)
    return state


def with_value(rules: Rules, state: State, path: str, value: bool | int | str) -> State:
    """Return a table with the value that a step sets at one path.

    Raises:
        UsageError: there is no such path, or the value does not fit.
    """
    from rpgres.rulesets.corrections import NO_COUNTER, changed

    text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    if isinstance(value, str) and is_change(value):
        text = _changed_number(state, path, value)
    typed = typed_path(path)
    try:
        return changed(rules, state, typed, text)
    except UsageError as error:
        if error.reason != NO_COUNTER:
            raise
        begins = f"begin one with `{typed.name} = 1` under `[counters]`"
        raise UsageError(f"{path}: the table has no counter {typed.name!r}; {begins}") from error


def is_change(text: str) -> bool:
    """Tell whether a text is a change of a number: `+1`, `-2`."""
    return text[:1] in ("+", "-") and text[1:].isascii() and text[1:].isdecimal() and len(text) <= _LONGEST


def _changed_number(state: State, path: str, change: str) -> str:
    """Return the number after a change; at the path of a text, `+1` is a text like any other."""
    found = parse_path(path)
    now = found.read(Scope(state))
    if now is NOTHING and found.places[-1].kind in _FROM_NOTHING:
        now = 0
    if isinstance(now, int) and not isinstance(now, bool):
        return str(now + int(change))
    if isinstance(now, str) and found.kind == "text":
        return change
    raise UsageError(f"{path}: {change!r} changes a number, and there is none; set one first")


def prepare_step(scene: Scene, leaf: Leaf, state: State) -> Prepared:
    """Return the action or procedure of a step with its inputs read.

    Raises:
        UsageError: there is no such action or character, or an input is impossible.
    """
    step, rules = leaf.step, scene.rules
    if step.actor and step.actor not in state.characters:
        raise UsageError(unknown("character", step.actor, state.characters, of="the scene"))
    rules.require_action(step.played)
    if fault := wrong_key(rules, step):
        raise UsageError(fault)
    return prepare(rules, step.played, step.with_, state=state, actor=step.actor, beside=scene.folder)


def wrong_key(rules: Rules, step: Step) -> str:
    """Return that a step has a procedure as its `action`, or an action as its `procedure`; empty where it has not."""
    if step.played not in rules.file.actions or bool(step.procedure) == rules.file.actions[step.played].procedure:
        return ""
    was, should = ("action", "procedure") if step.action else ("procedure", "action")
    return f'{step.played} is no {was} of {rules.id}; write {should} = "{step.played}"'


def read_step(scene: Scene, step: Step, inputs: Mapping[str, Any], state: State) -> Prepared:
    """Return the action of a step with inputs read, where its actor may not be known; see `prepare_step`."""
    actor = step.actor if step.actor in state.characters else next(iter(state.characters), "") if step.actor else ""
    return prepare(scene.rules, step.played, inputs, state=state, actor=actor, beside=scene.folder)


def with_joining(scene: Scene, steps: Iterable[Step]) -> State:
    """Return the table of a scene with all characters that join by the inputs of steps; faulty steps are ignored."""
    state = scene.state
    for step in steps:
        with suppress(RpgresError):
            state = read_step(scene, step, step.with_, state).state if step.played else state
    return state


def at_step(leaf: Leaf, error: RpgresError) -> RpgresError:
    """Return the error of a step with its file and line, if it is in a file."""
    if not leaf.source.text or (isinstance(error, FileError) and error.message.startswith(leaf.source.path)):
        return error
    return FileError(f"{leaf.where()}: {leaf.name}: {error.message}", **error.details)


def at_step_of_many(leaf: Leaf, error: RpgresError) -> RpgresError:
    """Return the error of a step in odds or simulations, where it is played with many results of dice and cards."""
    found = at_step(leaf, error)
    if isinstance(error, ChoiceError):
        label = error.details["label"]
        found.add(f"; if other dice or cards offer it, give these in the scene, or leave {label} to a policy")
    return found


def _cannot_set(leaf: Leaf, error: RpgresError) -> CannotSet:
    """Return the error of a `set` step, with its file and line."""
    place = f"{leaf.where()}: {leaf.name}"
    found = CannotSet(f"{place}: {error.message}", **error.details)
    found.place = place
    return found


def unanswered(leaf: Leaf, pending: Pending, state: State) -> Unanswered:
    """Return the error of a step that waits for a decision."""
    question = pending.question
    names = enumerated(option.name for option in question.options)
    key = f'"{question.key}"' if question.key else question.label
    error = Unanswered(
        f"{leaf.where()}: {leaf.name} waits for a decision: {question.label} "
        f'({question.who} chooses among {names}); answer it with choose = {{ {key} = "..." }}, '
        f"or give {question.who} a policy",
        label=question.label,
        who=question.who,
        options=[option.name for option in question.options],
    )
    error.pending, error.place = pending, f"{leaf.where()}: {leaf.name}"
    error.seat = state.seat_of(question.who) if question.who in (GM, *state.characters) else ""
    return error
