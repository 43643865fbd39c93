"""Scenes played step by step. An action of a scene is the action of `rpgres roll`; nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.dealers import Hand, Remembered
from rpgres.engine.players import Prompt
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.engine.stops import TakenBack
from rpgres.errors import ChoiceError, FileError, RpgresError, UsageError, enumerated
from rpgres.model.paths import NOTHING, Scope, parse_path
from rpgres.model.state import GM, State
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules, unknown
from rpgres.scenes.flow import Cursor, after_step, answer_lists, ending_of, is_over, leaf_at, onward
from rpgres.scenes.program import Leaf, Scene
from rpgres.scenes.records import Step, texts_of

Found = tuple["Result | Pending | None", State]  # the result of an action or procedure, and the next table
RunLeaf = Callable[[Leaf, Cursor, State], Found]

_LONGEST = 10  # characters of a change of a number
_FROM_NOTHING = ("counters", "abilities", "uses")  # where a missing number counts as 0


class CannotSet(FileError):
    """A failed `set` step. Only `place` is public: the message may name hidden things."""

    place: str


class Unanswered(FileError):
    """A step waits for a decision without an answer; the message names the options.

    Attributes:
        pending: the decision, with what happened in the step so far.
        place: the step with its file and line.
        seat: the seat that decides; empty where it is unknown.
        is_interrupted: whether the person who was asked stopped the scene there.
    """

    pending: Pending
    place: str
    seat: str
    is_interrupted = False


class PlayedStep(NamedTuple):
    """A step that was played or skipped.

    Attributes:
        passes: the pass of each group around it, from 0.
        result: the result of an action or a procedure.
        state: the table of the scene after it.
        before: the table before the step.
        after: the table after the step; of a `fresh` step, `state` is older.
    """

    leaf: Leaf
    passes: tuple[int, ...]
    is_skipped: bool
    result: Result | None
    state: State
    before: State
    after: State


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
    """Yield the steps of a scene as they are played.

    Args:
        hand: asks a person for results of real dice and cards.
        begins: called before each step that is played, with the table.
        rewinds: undoes the last answer at the prompt and returns True; the step is then played again.
        ended: called with the name of the ending; empty for none.

    Raises:
        FileError: a step cannot be played.
        Unanswered: a decision has no answer.
    """
    streams = Streams(seed)

    def run_leaf(leaf: Leaf, at: Cursor, before: State) -> Found:
        if begins is not None:
            begins(leaf, before)
        dice = Remembered(hand) if hand is not None else None
        asks = dice.counting(prompt) if dice is not None and prompt is not None else prompt
        while True:
            if dice is not None:
                dice.begin()
            try:
                hand_of = dice.ask if dice is not None else None
                found, after = play_step(scene, leaf, at, before, streams, prompt=asks, hand=hand_of)
            except TakenBack:
                if not rewinds():
                    raise
                if dice is not None:
                    dice.take_back()
            except RpgresError as error:
                raise at_step(leaf, error) from error
            else:
                if isinstance(found, Pending):
                    raise unanswered(leaf, found, after)
                return found, after

    return walk(scene, run_leaf, ended=ended)


def walk(scene: Scene, run_leaf: RunLeaf, *, ended: Callable[[str], None] = lambda _: None) -> Iterator[PlayedStep]:
    """Yield played and skipped steps, up to a pending decision; `run_leaf` plays a step."""
    program, rules, state, at = scene.program, scene.rules, scene.state, Cursor()
    skipped: list[tuple[Leaf, tuple[int, ...]]] = []
    while True:
        skipped.clear()
        at = onward(program, rules, at, state, skips=lambda leaf, passes: skipped.append((leaf, passes)))
        yield from (PlayedStep(leaf, passes, True, None, state, state, state) for leaf, passes in skipped)
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
    """Return the given seed, the seed of the scene, or a fresh seed."""
    return read_seed(seed if seed is not None else scene.file.seed)


def play_step(scene: Scene, leaf: Leaf, at: Cursor, state: State, streams: Streams, **by: Any) -> Found:
    """Return the result of a step and the next table.

    Args:
        by: further answers, as of `run`; a `dealer` and `players` replace the answers of the step.
    """
    step = leaf.step
    if not (step.played or step.moment):
        return None, changed_by(scene, leaf, state)
    if "dealer" not in by:
        written = {"given": answer_lists(step.given), "choose": answer_lists(step.choose), "policies": scene.policies}
        by = {**written, **by, "step": scene.program.number_of(leaf, at.passes)}
    if step.moment is None:
        return run(prepare_step(scene, leaf, state), streams=streams, note=step.note or None, **by)
    from rpgres.engine.periods import turn

    period, moment = step.moment
    return turn(scene.rules, state, period=period, moment=moment, streams=streams, note=step.note or None, **by)


def changed_by(scene: Scene, leaf: Leaf, state: State) -> State:
    """Return the table after a `set` step."""
    for path, value in leaf.step.set.items():
        state = with_value(scene.rules, state, path, value)
    return state


def with_value(rules: Rules, state: State, path: str, value: bool | int | str) -> State:
    """Return a table with a new value at a path; a text such as `+1` changes a number."""
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
    """Whether a text is a change of a number: `+1`, `-2`."""
    return text[:1] in ("+", "-") and text[1:].isascii() and text[1:].isdecimal() and len(text) <= _LONGEST


def _changed_number(state: State, path: str, change: str) -> str:
    """Return the number after a change; for a text, `+1` is the new text."""
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
    """Return the action or procedure of a step with its inputs read."""
    step, rules = leaf.step, scene.rules
    if step.actor and step.actor not in state.characters:
        raise UsageError(unknown("character", step.actor, state.characters, of="the scene"))
    rules.require_action(step.played)
    if fault := wrong_key(rules, step):
        raise UsageError(fault)
    return prepare(rules, step.played, step.with_, state=state, actor=step.actor, beside=scene.folder)


def wrong_key(rules: Rules, step: Step) -> str:
    """Return an error for a procedure under `action`, or an action under `procedure`."""
    if step.played not in rules.file.actions or bool(step.procedure) == rules.file.actions[step.played].procedure:
        return ""
    was, should = ("action", "procedure") if step.action else ("procedure", "action")
    return f'{step.played} is no {was} of {rules.id}; write {should} = "{step.played}"'


def read_step(scene: Scene, step: Step, inputs: Mapping[str, Any], state: State) -> Prepared:
    """Return the action of a step with its inputs read, even for an unknown actor."""
    actor = step.actor
    if actor and actor not in state.characters:  # a stand-in, who does not oppose the action
        named = {text.partition(":")[0] for text in texts_of(inputs)}
        actor = next((name for name in state.characters if name not in named), "")
    return prepare(scene.rules, step.played, inputs, state=state, actor=actor, beside=scene.folder)


def with_joining(scene: Scene, steps: Iterable[Step]) -> State:
    """Return the table with all characters that inputs add; faulty steps are ignored."""
    state = scene.state
    for step in steps:
        with suppress(RpgresError):
            state = read_step(scene, step, step.with_, state).state if step.played else state
    return state


def at_step(leaf: Leaf, error: RpgresError) -> RpgresError:
    """Return an error with the file, line and name of its step."""
    if not leaf.source.text or (isinstance(error, FileError) and error.message.startswith(leaf.source.path)):
        return error
    place = f"{leaf.where()}: {leaf.name}"
    if not leaf.step.set:
        return FileError(f"{place}: {error.message}", **error.details)
    found = CannotSet(f"{place}: {error.message}", **error.details)
    found.place = place
    return found


def at_step_of_many(leaf: Leaf, error: RpgresError) -> RpgresError:
    """Return the error of a step with a hint for odds and simulations, where dice and cards vary."""
    found = at_step(leaf, error)
    if isinstance(error, ChoiceError):
        label = error.details["label"]
        found.add(f"; if other dice or cards offer it, give these in the scene, or leave {label} to a policy")
    return found


def unanswered(leaf: Leaf, pending: Pending, state: State) -> Unanswered:
    """Return the error for a pending decision."""
    question, place = pending.question, f"{leaf.where()}: {leaf.name}"
    names = [option.name for option in question.options]
    key = f'"{question.key}"' if question.key else question.label
    error = Unanswered(
        f"{place} waits for a decision: {question.label} ({question.who} chooses among {enumerated(names)}); "
        f'answer it with choose = {{ {key} = "..." }}, or give {question.who} a policy',
        label=question.label,
        who=question.who,
        options=names,
    )
    error.pending, error.place = pending, place
    error.seat = state.seat_of(question.who) if question.who in (GM, *state.characters) else ""
    return error
