"""One run of what is simulated: an action or a scene rebuilt from its job, played fast and without records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rpgres.dice.seeds import Streams, run_seed
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import Question
from rpgres.engine.prepare import Prepared, answers_to, policies_of, prepare
from rpgres.engine.procedures import Standing, begin_procedure, check_details, play_turn
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
from rpgres.scenes import Scene, play_scene, read_scene
from rpgres.scenes.course import At, after_step, ending_of, is_over, leaf_at, onward
from rpgres.scenes.playing import at_step_of_many
from rpgres.scenes.walking import TIMES, course_of, is_path, play_bare, step_names, times_played, told_in_scene
from rpgres.simulate.jobs import ActionSubject, Job, SceneSubject, policies_in, rebuild_rules, scene_folder
from rpgres.simulate.recall import NotingDealer, recalled
from rpgres.simulate.turns import Played, TurnDealer, Turns
from rpgres.text.harmless import to_json

Value = int | str | None  # of a counted thing in one run; None where it has none
Key = tuple[Value, ...]  # the value of each counted thing
Reader = Callable[
    [State, Mapping[str, Any]], Value
]  # of the table at the end, and details of the last procedure's outcome

OUTCOME, MARGIN, TOTAL = "outcome", "margin", "total"
ENDING = "ending"
LAST = "last"  # the last outcome of a scene without named endings
ACTION_THINGS = (OUTCOME, MARGIN, TOTAL)
CHOSEN = "choose."  # before the name of a typed answer, as what is counted
TAKEN, REFUSED, BOTH = "taken", "refused", "taken and refused"  # what became of it in a run
SKIPPED = "skipped"  # in place of the outcome of a step that was not played


class Subject(NamedTuple):
    """What is simulated, ready to be played.

    Attributes:
        things: the names of what is counted.
        play: plays a run by its number and returns the value of each.
        refused: the typed answers that a run did not offer so far, each with the first question.
    """

    things: tuple[str, ...]
    play: Callable[[int], Key]
    refused: Mapping[str, tuple[Question, str]] = EMPTY


def rebuild(job: Job, folder: Path) -> Subject:
    """Return what a job describes, from what is installed here and the files in a worker's folder.

    Raises:
        RpgresError: the ruleset is missing here, or differs from the one of the job.
    """
    if isinstance(job.subject, SceneSubject):
        return scene_subject(_rebuild_scene(job, folder), seed=job.seed, by=job.by)
    return action_subject(_rebuild_action(job, folder), job, job.subject, policies_in(job, folder))


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
        switches=job.rules.switches,
        policies=policies_in(job, folder),
        auto=job.auto,
        load=load,
    )


def action_subject(prepared: Prepared, job: Job, subject: ActionSubject, named: Mapping[str, str]) -> Subject:
    """Return an action, ready to be played.

    Args:
        named: policy by character, as this worker knows files of standing orders.
    """
    from msgspec import structs

    # A lump that holds for outcomes alone would draw other cards than `rpgres roll` does with the same seed.
    prepared = structs.replace(prepared, lump=prepared.lump_for(EFFECTS))
    choose = answers_to(prepared, subject.choose)
    policies = Policies(policies_of(prepared, named, auto=job.auto, with_orders=True, files=True))
    is_procedure = bool(prepared.rules.file.actions[prepared.action].procedure)
    is_recalled = policies.by_question and not choose  # then dice alone decide
    kind = NotingDealer if is_recalled and not is_procedure else SeededDealer
    dealer = kind(Streams(run_seed(job.seed, 0)))
    readers = [_end_reader(name) for name in job.by]
    asked = EFFECTS if readers else OUTCOME
    common = Seats(policies=policies)
    single, answers, refused = common.script.single, choice_things(choose), dict[str, tuple[Question, str]]()

    told = prepared.rules.file.actions[prepared.action].told
    details = [name for name in job.by if not is_path(name) and name not in told]

    def counted_at(outcome: Outcome, state: State) -> Key:
        state = unwatched(state) if readers else state
        check_details(details, outcome.details)
        return (outcome.band, outcome.margin, outcome.total, *(read(state, outcome.details) for read in readers))

    def play_run(run: int) -> Key:
        if not choose:
            return play_with(run, common)
        applied = Applied(choose)
        key = play_with(run, Seats(choose, policies=policies, applied=applied))
        refused.update(applied.refused)
        return (*key, *_chosen_values(applied, answers))

    def play_with(run: int, seats: Seats) -> Key:
        dealer.move_to(run)
        single.clear()
        try:
            outcome, done = play(prepared, dealer=dealer, players=seats, asked=asked)
        except Settled as settled:
            return settled.band, settled.margin, settled.total
        except NeedsAnswer as needs:
            raise _undecided(needs.question, run) from None
        except RpgresError as error:
            error.add(f" (run {run}, with the seed {run_seed(job.seed, run)})")
            raise
        state = apply_effects(prepared.rules, done.state, outcome) if readers else done.state
        return counted_at(outcome, state)

    play_one: Callable[[int], Key] = play_run
    if is_recalled and is_procedure:
        play_one = _or_else(_procedure_turns(prepared, job, common, counted_at), lambda told: told[-1], play_run)
    elif isinstance(dealer, NotingDealer):
        play_one = recalled(dealer, play_run)
    return Subject((*ACTION_THINGS, *job.by, *answers), play_one, refused)


def _or_else(turns: Turns | None, key: Callable[[list[Any]], Key], play: Callable[[int], Key]) -> Callable[[int], Key]:
    """Return what plays a run turn by turn, or with `play` as a whole where that does not go."""
    if turns is None:
        return play

    def play_run(run: int) -> Key:
        told = turns.play(run)
        return play(run) if told is None else key(told)

    return play_run


def _canons(by: Sequence[str], rules: Rules) -> Mapping[str, Callable[[Any], Any]]:
    """Return what stands for values of the table that are alike to the rules, such as another order of tags.

    They are not alike where the table itself is counted.
    """
    return EMPTY if any(map(is_path, by)) else rules.ruleset.canons


def _procedure_turns(
    prepared: Prepared, job: Job, players: Seats, counted_at: Callable[[Outcome, State], Key]
) -> Turns | None:
    """Return the turns of a procedure, of which the last tells what is counted; None where they are not recalled."""
    if prepared.placed or prepared.trust or prepared.lump:
        return None
    rules, dealer = prepared.rules, TurnDealer(Streams(run_seed(job.seed, 0)))

    def begin() -> tuple[Standing, int]:
        place, state = begin_procedure(prepared, dealer=dealer, players=players)
        return Standing(state, EMPTY, place), 0

    def turn(standing: Standing) -> Played:
        players.script.single.clear()
        state, place = standing.state, standing.place
        found, run = play_turn(rules, prepared.action, state, place, dealer=dealer, players=players, asked=STATE)
        if not isinstance(found, Outcome):
            return Played(Standing(run.state, standing.at, found.place))
        if found.band not in rules.file.bands or dealer.is_abridged:
            # the run as a whole tells what is wrong with the band, and the totals
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
    """Return what is counted of typed answers, so that it adds up over workers: each as `choose.LABEL=ANSWER`."""
    pairs = ((label.rpartition(":")[2], answer) for label, answers in choose.items() for answer in answers)
    return tuple(dict.fromkeys(f"{CHOSEN}{label}={answer.removesuffix(EVERY)}" for label, answer in pairs))


def _chosen_values(applied: Applied, things: Sequence[str]) -> Key:
    """Return what became of each typed answer in a run; None where nothing asked for it."""
    names = [thing.removeprefix(CHOSEN) for thing in things]
    known = {(True, False): TAKEN, (False, True): REFUSED, (True, True): BOTH}
    return tuple(known.get((name in applied.used, name in applied.refused)) for name in names)


def scene_things(scene: Scene) -> list[str]:
    """Return what is counted of a scene without being asked for.

    The ending, where the scene names endings; the outcome of each step, of a repeated one the last; how often repeated
    steps were played; and where it names no endings the last outcome of all.
    """
    names = step_names(scene)
    ending = [ENDING] if scene.file.ends else []
    last = [] if ending else [LAST]
    return [*ending, *map(step_thing, names.values()), *times_played(scene), *last]


def main_things(things: Sequence[str]) -> tuple[str, ...]:
    """Return what a simulation is about first: the outcome or the ending; without these the outcomes of all steps.

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


def scene_subject(scene: Scene, *, seed: str, by: Sequence[str] = ()) -> Subject:
    """Return a scene, ready to be played.

    Args:
        scene: the scene; its policies answer what its steps do not.
        by: what is counted beside endings and outcomes.
    """
    things, names = scene_things(scene), step_names(scene)
    readers = [_end_reader(name) for name in by]
    has_ends = things[:1] == [ENDING]
    counted_times = [name.removeprefix(TIMES) for name in times_played(scene)]
    program, rules, policies = scene.program, scene.rules, Policies(scene.policies)
    dealer, details = SeededDealer(Streams(run_seed(seed, 0))), [name for name in by if not is_path(name)]

    def play_run(run: int) -> Key:
        state, at, told = scene.state, At(), list[tuple[int, str | None]]()
        dealer.move_to(run)
        while not is_over(program, at := onward(program, rules, at, state)):
            leaf = leaf_at(program, at)
            dealer.begin_step(program.number_of(leaf, at.passes))
            try:
                found, after = play_bare(scene, leaf, scene.state if leaf.step.fresh else state, dealer, policies)
            except NeedsAnswer as needs:
                _told(scene, run_seed(seed, run))
                raise _undecided(needs.question, run) from None
            except RpgresError as error:
                error_here = at_step_of_many(leaf, error)
                error_here.add(f" (run {run}, with the seed {run_seed(seed, run)})")
                raise error_here from error
            state = state if leaf.step.fresh else after
            outcome = found.band if found is not None else None
            at = after_step(program, rules, at, state, outcome=outcome)
            if leaf.step.procedure and found is not None:
                at = told_in_scene(scene, at, leaf.step.procedure, found, details)
            told.append((leaf.number, outcome))
        values = tuple([read(state, at.counted) for read in readers])
        return key_of([*told, (ending_of(program, rules, at, state), *values)])

    def key_of(told: Sequence[Any]) -> Key:
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

    return Subject((*things, *by), _or_else(_scene_turns(scene, seed, by, readers), key_of, play_run))


def _scene_turns(scene: Scene, seed: str, by: Sequence[str], readers: Sequence[Reader]) -> Turns | None:
    """Return the turns of a scene; None where they are not recalled.

    Each tells the number and outcome of its step, where that is over, the last one the ending and what is read then.
    """
    program, rules, policies = scene.program, scene.rules, Policies(scene.policies)
    is_fresh = any(leaf.step.fresh and leaf.step.procedure for leaf in program.leaves)
    if is_fresh or scene.state.piles or not policies.by_question:  # what cards do is seldom the same
        return None
    counts = [name for name in by if not is_path(name)]
    course, dealer = course_of(scene, by=counts), TurnDealer(Streams(run_seed(seed, 0)))

    def next_step(at: At) -> int:
        return program.number_of(leaf_at(program, at), at.passes)

    def begin() -> tuple[Standing, int]:
        standing = course.onward(course.start)
        return standing, 0 if course.is_over(standing) else next_step(standing.at)

    def turn(standing: Standing) -> Played:
        if course.is_over(standing):
            return Played(None, (end(standing),))
        begins, number = standing.place is None, leaf_at(program, standing.at).number
        after = course.turn(standing, dealer, course.policies)
        if after.place is not None:
            if begins and dealer.has_drawn:
                raise RpgresError("dice of a beginning may be counted on in the first turn")
            return Played(after, step=next_step(standing.at) if begins else None)
        after = course.onward(after)
        told = ((number, dealer.outcome),)
        if course.is_over(after):
            return Played(None, (*told, end(after)))
        return Played(after, told, next_step(after.at))

    def end(standing: Standing) -> tuple[Value, ...]:
        state, at = standing.state, standing.at
        whole = unwatched(state) if readers else state
        return (ending_of(program, rules, at, state), *[read(whole, at.counted) for read in readers])

    return Turns(dealer, begin, turn, _canons(by, rules))


def _told(scene: Scene, seed: str) -> None:
    """Play a run that waits for a decision as `rpgres scene run` does, which says where it stands."""
    for _ in play_scene(scene, seed=seed):
        pass


# ---------------------------------------------------------------------------------------------------------------------
# Things of the state


def _end_reader(name: str) -> Reader:
    """Return what reads something off the end of a scene: a path of the table, or a detail of a procedure's outcome."""
    if not is_path(name):
        return lambda _state, details: counted(plain(details.get(name)))
    path = parse_path(name)
    return lambda state, _details: counted(path.told(state))


def counted(value: Any) -> Value:
    """Return a value of the state as it is counted: numbers and texts as they are, flags as `yes` and `no`.

    A track is counted by how many of its boxes are marked, a box by what it is marked with, anything else as JSON.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, Box):
        return value.mark or "free"
    return to_json(plain(value)).decode()
