"""Runners play one run of a simulation: an action or a scene rebuilt from its job, played fast and without records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rpgres.dice.seeds import Streams, run_seed
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import Question
from rpgres.engine.prepare import Prepared, answers_to, policies_of, prepare
from rpgres.engine.procedures import Position, begin_procedure, check_details, play_turn
from rpgres.engine.run import play
from rpgres.engine.running import EFFECTS
from rpgres.engine.seats import EVERY, Applied, Policies, Seats
from rpgres.engine.stops import NeedsAnswer, Settled
from rpgres.engine.table import Outcome
from rpgres.errors import RpgresError
from rpgres.errors import named as as_input
from rpgres.model.paths import parse_path
from rpgres.model.serialization import plain
from rpgres.model.state import EMPTY, Box, State
from rpgres.odds.exact import NeedsPolicy, asked_words
from rpgres.odds.watching import unwatched
from rpgres.rulesets import STATE, Rules
from rpgres.scenes import Overrides, Scene, play_scene, read_scene
from rpgres.scenes.flow import Cursor, after_step, ending_of, is_over, leaf_at, onward
from rpgres.scenes.playing import at_step_of_many
from rpgres.scenes.walking import TIMES, game_of, is_path, play_leaf, step_names, times_played, with_details
from rpgres.simulate.jobs import ActionSubject, Job, SceneSubject, policies_in, rebuild_rules, scene_folder
from rpgres.simulate.recall import NotingDealer, recalled
from rpgres.simulate.turns import Played, TurnDealer, Turns
from rpgres.text.harmless import to_json

Value = int | str | None  # of a counted thing in one run; None where it has none
Key = tuple[Value, ...]  # the value of each counted thing
Details = Mapping[str, Any]  # of the last procedure's outcome
Reader = Callable[[State, Details], Value]

OUTCOME, MARGIN, TOTAL = "outcome", "margin", "total"
ENDING = "ending"
LAST = "last"  # the last outcome of a scene without named endings
ACTION_THINGS = (OUTCOME, MARGIN, TOTAL)
CHOSEN = "choose."  # before the name of a typed answer, as what is counted
TAKEN, REFUSED, BOTH = "taken", "refused", "taken and refused"  # the values of a typed answer in a run
SKIPPED = "skipped"  # in place of the outcome of a step that was not played


class Runner(NamedTuple):
    """Plays runs of a simulation.

    Attributes:
        things: the names of what is counted.
        play: plays a run by its number and returns the value of each thing.
        refused: the typed answers that a run did not offer, each with the first question.
    """

    things: tuple[str, ...]
    play: Callable[[int], Key]
    refused: Mapping[str, tuple[Question, str]] = EMPTY


def rebuild(job: Job, folder: Path) -> Runner:
    """Return the runner of a job, from what is installed here and the files in a worker's folder.

    Raises:
        RpgresError: the ruleset is missing here, or differs from the one of the job.
    """
    if isinstance(job.subject, SceneSubject):
        return scene_runner(_rebuild_scene(job, folder), seed=job.seed, by=job.by)
    return action_runner(_rebuild_action(job, folder), job, job.subject, policies_in(job, folder))


def _rebuild_action(job: Job, folder: Path) -> Prepared:
    assert isinstance(job.subject, ActionSubject)
    rules = rebuild_rules(job.rules, folder)
    return prepare(rules, job.subject.action, job.subject.inputs, sheets=job.subject.sheets)


def _rebuild_scene(job: Job, folder: Path) -> Scene:
    assert isinstance(job.subject, SceneSubject)

    def load(_ruleset: str, *, switches: dict[str, str], extra: object) -> Any:
        return rebuild_rules(job.rules, folder, switches=switches)

    return read_scene(
        job.subject.source,
        find_ruleset=str,  # `load` finds it, with the files that came with the job
        folder=scene_folder(folder),
        overrides=Overrides(job.rules.switches, policies_in(job, folder), job.auto),
        load=load,
    )


def action_runner(prepared: Prepared, job: Job, subject: ActionSubject, named: Mapping[str, str]) -> Runner:
    """Return an action, ready to be played.

    Args:
        named: policy by character; files of standing orders by their paths on this worker.
    """
    from msgspec import structs

    # An equivalence that holds for outcomes only would draw other cards than `rpgres roll` does with the same seed.
    prepared = structs.replace(prepared, lump=prepared.lump_for(EFFECTS))
    choose = answers_to(prepared, subject.choose)
    policies = Policies(policies_of(prepared, named, auto=job.auto, with_orders=True, files=True))
    is_procedure = bool(prepared.rules.file.actions[prepared.action].procedure)
    is_recalled = policies.by_question and not choose  # then only the dice decide
    kind = NotingDealer if is_recalled and not is_procedure else SeededDealer
    dealer = kind(Streams(run_seed(job.seed, 0)))
    common, key = Seats(policies=policies), _action_key(prepared, job.by)
    play_with = _action_player(prepared, job, dealer, key)
    answers, refused = choice_things(choose), dict[str, tuple[Question, str]]()

    def play_run(run: int) -> Key:
        if not choose:
            return play_with(run, common)
        applied = Applied(choose)
        found = play_with(run, Seats(choose, policies=policies, applied=applied))
        refused.update(applied.refused)
        return (*found, *_chosen_values(applied, answers))

    play_one: Callable[[int], Key] = play_run
    if is_recalled and is_procedure:
        play_one = _or_else(_procedure_turns(prepared, job, common, key), lambda told: told[-1], play_run)
    elif isinstance(dealer, NotingDealer):
        play_one = recalled(dealer, play_run)
    return Runner((*ACTION_THINGS, *job.by, *answers), play_one, refused)


def _action_key(prepared: Prepared, by: Sequence[str]) -> Callable[[Outcome, State], Key]:
    """Return the function that counts a finished run: outcome, margin, total, and the values of `by`."""
    told = prepared.rules.file.actions[prepared.action].told
    readers = [_end_reader(name) for name in by]
    details = [name for name in by if not is_path(name) and name not in told]

    def key(outcome: Outcome, state: State) -> Key:
        state = unwatched(state) if readers else state
        check_details(details, outcome.details)
        return (outcome.band, outcome.margin, outcome.total, *(read(state, outcome.details) for read in readers))

    return key


def _action_player(
    prepared: Prepared, job: Job, dealer: SeededDealer, key: Callable[[Outcome, State], Key]
) -> Callable[[int, Seats], Key]:
    """Return the function that plays a run by its number with some seats, and counts it by `key`."""
    asked = EFFECTS if job.by else OUTCOME

    def play_with(run: int, seats: Seats) -> Key:
        dealer.move_to(run)
        seats.script.single.clear()
        try:
            outcome, done = play(prepared, dealer=dealer, players=seats, asked=asked)
        except Settled as settled:
            return settled.band, settled.margin, settled.total
        except NeedsAnswer as needs:
            raise _undecided(needs.question, run) from None
        except RpgresError as error:
            error.add(f" (run {run}, with the seed {run_seed(job.seed, run)})")
            raise
        return key(outcome, apply_effects(prepared.rules, done.state, outcome) if job.by else done.state)

    return play_with


def _or_else(turns: Turns | None, key: Callable[[list[Any]], Key], play: Callable[[int], Key]) -> Callable[[int], Key]:
    """Return the function that plays a run turn by turn, or as a whole with `play` where turns cannot be recalled."""
    if turns is None:
        return play

    def play_run(run: int) -> Key:
        told = turns.play(run)
        return play(run) if told is None else key(told)

    return play_run


def _canons(by: Sequence[str], rules: Rules) -> Mapping[str, Callable[[Any], Any]]:
    """Return the canonical forms of the ruleset, such as an order of tags; none where the table itself is counted."""
    return EMPTY if any(map(is_path, by)) else rules.ruleset.canons


def _procedure_turns(
    prepared: Prepared, job: Job, players: Seats, counted_at: Callable[[Outcome, State], Key]
) -> Turns | None:
    """Return the turns of a procedure, the last of which counts the run; None where they are not recalled."""
    if prepared.placed or prepared.trust or prepared.lump:
        return None
    rules, dealer = prepared.rules, TurnDealer(Streams(run_seed(job.seed, 0)))

    def begin() -> tuple[Position, int]:
        place, state = begin_procedure(prepared, dealer=dealer, players=players)
        return Position(state, EMPTY, place), 0

    def turn(position: Position) -> Played:
        players.script.single.clear()
        state, place = position.state, position.place
        found, run = play_turn(rules, prepared.action, state, place, dealer=dealer, players=players, asked=STATE)
        if not isinstance(found, Outcome):
            return Played(Position(run.state, position.at, found.place))
        if found.band not in rules.file.bands or dealer.is_abridged:
            # The run as a whole has the totals, and reports a wrong band.
            raise RpgresError(f"the end of {prepared.action} is not recalled")
        return Played(None, (counted_at(found, apply_effects(rules, run.state, found)),))

    return Turns(dealer, begin, turn, _canons(job.by, rules))


def _undecided(question: Question, run: int) -> NeedsPolicy:
    """Return the error of a decision without an answer."""
    return NeedsPolicy(
        f"in run {run} a decision has no answer: {asked_words(question)}. Answer it "
        f"with {as_input('choose')} {question.label}=..., or let a policy decide with {as_input('auto')} or "
        f"{as_input('policy')} NAME",
        labels=[question.label],
    )


def choice_things(choose: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names under which typed answers are counted: `choose.LABEL=ANSWER`."""
    pairs = ((label.rpartition(":")[2], answer) for label, answers in choose.items() for answer in answers)
    return tuple(dict.fromkeys(f"{CHOSEN}{label}={answer.removesuffix(EVERY)}" for label, answer in pairs))


def _chosen_values(applied: Applied, things: Sequence[str]) -> Key:
    """Return whether each typed answer was taken or refused in a run; None where it was not asked for."""
    names = [thing.removeprefix(CHOSEN) for thing in things]
    known = {(True, False): TAKEN, (False, True): REFUSED, (True, True): BOTH}
    return tuple(known.get((name in applied.used, name in applied.refused)) for name in names)


def scene_things(scene: Scene) -> list[str]:
    """Return the things that are always counted of a scene.

    The ending, where the scene names endings; the last outcome of each step; how often repeated steps were played; and
    the last outcome of all, where the scene names no endings.
    """
    names = step_names(scene)
    ending = [ENDING] if scene.file.ends else []
    last = [] if ending else [LAST]
    return [*ending, *map(step_thing, names.values()), *times_played(scene), *last]


def main_things(things: Sequence[str]) -> tuple[str, ...]:
    """Return the main things of a simulation: the outcome or the ending; without these the outcomes of all steps.

    >>> main_things(["ending", "steps.a", "times.a"]), main_things(["steps.a", "steps[1]", "tags"])
    (('ending',), ('steps.a', 'steps[1]'))
    """
    first = tuple(name for name in things if name in (OUTCOME, ENDING))
    return first or tuple(name for name in things if is_of_step(name))


def step_thing(key: str) -> str:
    """Return what the outcome of a step is counted as: the path of the step in the scene's file.

    >>> step_thing("lock"), step_thing("steps[2].steps[0]")
    ('steps.lock', 'steps[2].steps[0]')
    """
    return key if key.startswith("steps[") else f"steps.{key}"


def is_of_step(thing: str) -> bool:
    """Tell whether what is counted is the outcome of a step."""
    return thing.startswith(("steps.", "steps["))


def scene_runner(scene: Scene, *, seed: str, by: Sequence[str] = ()) -> Runner:
    """Return a scene, ready to be played.

    Args:
        scene: the scene; its policies answer what its steps do not.
        by: what is counted beside endings and outcomes.
    """
    readers, key = [_end_reader(name) for name in by], _scene_key(scene)
    program, rules, policies = scene.program, scene.rules, Policies(scene.policies)
    dealer, details = SeededDealer(Streams(run_seed(seed, 0))), [name for name in by if not is_path(name)]

    def play_run(run: int) -> Key:
        state, at, told = scene.state, Cursor(), list[tuple[int, str | None]]()
        dealer.move_to(run)
        while not is_over(program, at := onward(program, rules, at, state)):
            leaf = leaf_at(program, at)
            dealer.begin_step(program.number_of(leaf, at.passes))
            try:
                found, after = play_leaf(scene, leaf, scene.state if leaf.step.fresh else state, dealer, policies)
            except NeedsAnswer as needs:
                _raise_as_played(scene, run_seed(seed, run))
                raise _undecided(needs.question, run) from None
            except RpgresError as error:
                error_here = at_step_of_many(leaf, error)
                error_here.add(f" (run {run}, with the seed {run_seed(seed, run)})")
                raise error_here from error
            state = state if leaf.step.fresh else after
            outcome = found.band if found is not None else None
            at = after_step(program, rules, at, state, outcome=outcome)
            if leaf.step.procedure and found is not None:
                at = with_details(scene, at, leaf.step.procedure, found, details)
            told.append((leaf.number, outcome))
        values = tuple([read(state, at.counted) for read in readers])
        return key([*told, (ending_of(program, rules, at, state), *values)])

    return Runner((*scene_things(scene), *by), _or_else(_scene_turns(scene, seed, by, readers), key, play_run))


def _scene_key(scene: Scene) -> Callable[[Sequence[Any]], Key]:
    """Return the function that counts a finished run by its steps, each with its number and outcome, and its end."""
    things, names = scene_things(scene), step_names(scene)
    has_ends = things[:1] == [ENDING]
    counted_times = [name.removeprefix(TIMES) for name in times_played(scene)]

    def key(told: Sequence[Any]) -> Key:
        outcomes: dict[str, Value] = dict.fromkeys(names.values(), SKIPPED)
        times = dict.fromkeys(counted_times, 0)
        *steps, (ending, *values) = told
        for number, outcome in steps:
            name = names.get(number)
            if name is not None:
                outcomes[name] = outcome
                if name in times:
                    times[name] += 1
        first, last = ((ending or None,), ()) if has_ends else ((), (ending or None,))
        return (*first, *outcomes.values(), *times.values(), *last, *values)

    return key


def _scene_turns(scene: Scene, seed: str, by: Sequence[str], readers: Sequence[Reader]) -> Turns | None:
    """Return the turns of a scene; None where they are not recalled.

    The last turn of a step tells its number and outcome, the last of all the ending and the values of the readers.
    """
    program, rules, policies = scene.program, scene.rules, Policies(scene.policies)
    is_fresh = any(leaf.step.fresh and leaf.step.procedure for leaf in program.leaves)
    if is_fresh or scene.state.piles or not policies.by_question:  # draws of cards seldom repeat
        return None
    counts = [name for name in by if not is_path(name)]
    game, dealer = game_of(scene, by=counts), TurnDealer(Streams(run_seed(seed, 0)))

    def next_step(at: Cursor) -> int:
        return program.number_of(leaf_at(program, at), at.passes)

    def begin() -> tuple[Position, int]:
        position = game.onward(game.start)
        return position, 0 if game.is_over(position) else next_step(position.at)

    def turn(position: Position) -> Played:
        if game.is_over(position):
            return Played(None, (end(position),))
        begins, number = position.place is None, leaf_at(program, position.at).number
        after = game.turn(position, dealer, game.policies)
        if after.place is not None:
            if begins and dealer.has_drawn:
                raise RpgresError("the first turn may continue the count of dice of the beginning")
            return Played(after, step=next_step(position.at) if begins else None)
        after = game.onward(after)
        told = ((number, dealer.outcome),)
        if game.is_over(after):
            return Played(None, (*told, end(after)))
        return Played(after, told, next_step(after.at))

    def end(position: Position) -> tuple[Value, ...]:
        state, at = position.state, position.at
        whole = unwatched(state) if readers else state
        return (ending_of(program, rules, at, state), *[read(whole, at.counted) for read in readers])

    return Turns(dealer, begin, turn, _canons(by, rules))


def _raise_as_played(scene: Scene, seed: str) -> None:
    """Play a run that lacks an answer as `rpgres scene run` does, whose error names the file and line."""
    for _ in play_scene(scene, seed=seed):
        pass


# ---------------------------------------------------------------------------------------------------------------------
# Things of the state


def _end_reader(name: str) -> Reader:
    """Return the reader of a value at the end of a run: a path of the table, or a detail of a procedure's outcome."""
    if not is_path(name):
        return lambda _state, details: counted(plain(details.get(name)))
    path = parse_path(name)
    return lambda state, _details: counted(path.told(state))


def counted(value: Any) -> Value:
    """Return a value of the state as it is counted: numbers and texts as they are, flags as `yes` and `no`.

    A track counts by the number of its marked boxes, a box by its mark, anything else as JSON.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, Box):
        return value.mark or "free"
    return to_json(plain(value)).decode()
