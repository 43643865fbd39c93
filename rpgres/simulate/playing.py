"""One run of a simulation: an action or a scene rebuilt from its job, played fast and without records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

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
from rpgres.errors import RpgresError, named
from rpgres.model.paths import parse_path
from rpgres.model.serialization import plain
from rpgres.model.state import EMPTY, Box, State
from rpgres.odds.exact import NeedsPolicy, asked_words
from rpgres.odds.sampling import SEED, Sample, estimate
from rpgres.odds.watching import unwatched
from rpgres.rulesets import STATE, Rules
from rpgres.scenes import Overrides, Scene, play_scene, read_scene
from rpgres.scenes.flow import Cursor, after_step, ending_of, is_over, leaf_at, onward
from rpgres.scenes.playing import at_step_of_many
from rpgres.scenes.walking import (
    ENDING,
    game_of,
    is_path,
    play_leaf,
    step_names,
    times_played,
    value_name,
    with_details,
)
from rpgres.simulate.cache import CachingDealer, Canons, Played, Turns, cached_action
from rpgres.simulate.jobs import SCENE, Job, policies_in, rules_of
from rpgres.stopping import STOP
from rpgres.text.harmless import to_json

Value = int | str | None  # of a counted thing in one run; None where it has none
Key = tuple[Value, ...]  # the value of each counted thing

OUTCOME, MARGIN, TOTAL = "outcome", "margin", "total"
LAST = "last"  # the last outcome of a scene without named endings
ACTION_THINGS = (OUTCOME, MARGIN, TOTAL)
CHOSEN = "choose."  # before the name of a typed answer, as a counted thing
TAKEN, REFUSED, BOTH = "taken", "refused", "taken and refused"  # the values of a typed answer in a run
SKIPPED = "skipped"  # the outcome of a step whose conditions did not hold


class Runner(NamedTuple):
    """Plays runs of a simulation by their numbers; `refused` has the typed answers that a run did not offer."""

    things: tuple[str, ...]
    play: Callable[[int], Key]
    refused: Mapping[str, tuple[Question, str]] = EMPTY


def runner_of(job: Job, folder: Path) -> Runner:
    """Return the runner of a job, from the installed rulesets and the files that `unpack` wrote into a folder."""
    if job.scene is None:
        prepared = prepare(rules_of(job, folder), job.action, job.inputs, sheets=job.sheets)
        return action_runner(prepared, job, policies_in(job, folder))

    def load(_ruleset: str, *, switches: dict[str, str], extra: object) -> Any:
        return rules_of(job, folder, switches=switches)

    overrides = Overrides(job.switches, policies_in(job, folder), job.auto)
    # `find_ruleset` has nothing to find: `load` takes the ruleset from the job.
    scene = read_scene(job.scene, find_ruleset=str, folder=folder / SCENE, overrides=overrides, load=load)
    return scene_runner(scene, seed=job.seed, by=job.by)


def _undecided(question: Question, run: int) -> NeedsPolicy:
    """Return the error of a decision without an answer."""
    return NeedsPolicy(
        f"in run {run} a decision has no answer: {asked_words(question)}. Answer it "
        f"with {named('choose')} {question.label}=..., or let a policy decide with {named('auto')} or "
        f"{named('policy')} NAME",
        labels=[question.label],
    )


def action_runner(prepared: Prepared, job: Job, policy_names: Mapping[str, str]) -> Runner:
    """Return an action, ready to be played; `policy_names` has files of standing orders by their paths here."""
    # An equivalence of cards for outcomes would draw other cards than `rpgres roll` with the same seed.
    prepared = structs.replace(prepared, lump=prepared.lump_for(EFFECTS))
    rules, described = prepared.rules, prepared.rules.file.actions[prepared.action]
    choose, answers = answers_to(prepared, job.choose), choice_things(job.choose)
    typed = [answer.removeprefix(CHOSEN) for answer in answers]
    policies = Policies(policies_of(prepared, policy_names, auto=job.auto, with_orders=True, files=True))
    readers = [_reader(name) for name in job.by]
    details = [name for name in job.by if not is_path(name) and name not in described.told]
    is_cached, streams = policies.by_question and not choose, Streams(run_seed(job.seed, 0))
    dealer = CachingDealer(streams, is_logged=True) if is_cached and not described.procedure else SeededDealer(streams)
    refused = dict[str, tuple[Question, str]]()

    def key(outcome: Outcome, state: State) -> Key:
        state = unwatched(apply_effects(rules, state, outcome)) if readers else state
        check_details(details, outcome.details)
        return (outcome.band, outcome.margin, outcome.total, *[read(state, outcome.details) for read in readers])

    def play_with(run: int, seats: Seats) -> Key:
        dealer.move_to(run)
        seats.script.single.clear()
        try:
            outcome, done = play(prepared, dealer=dealer, players=seats, asked=EFFECTS if readers else OUTCOME)
        except Settled as settled:
            return settled.band, settled.margin, settled.total
        except NeedsAnswer as needs:
            raise _undecided(needs.question, run) from None
        except RpgresError as error:
            error.add(f" (run {run}, with the seed {run_seed(job.seed, run)})")
            raise
        return key(outcome, done.state)

    def play_chosen(run: int) -> Key:
        applied = Applied(choose)
        found = play_with(run, Seats(choose, policies=policies, applied=applied))
        refused.update(applied.refused)
        taken = [(name in applied.used, name in applied.refused) for name in typed]
        return (*found, *[{(True, False): TAKEN, (False, True): REFUSED, (True, True): BOTH}.get(one) for one in taken])

    things, seats = (*ACTION_THINGS, *job.by, *answers), Seats(policies=policies)
    if choose:
        return Runner(things, play_chosen, refused)
    if isinstance(dealer, CachingDealer):
        return Runner(things, cached_action(dealer, lambda run: play_with(run, seats)))
    if not is_cached or prepared.placed or prepared.trust or prepared.lump:
        return Runner(things, lambda run: play_with(run, seats))

    turns = _procedure_turns(prepared, partial(CachingDealer, streams, _canons(rules, job.by)), seats, key)
    return Runner(things, lambda run: play_with(run, seats) if (told := turns.play(run)) is None else told[-1])


def _procedure_turns(
    prepared: Prepared,
    dealer_of: Callable[[], CachingDealer],
    seats: Seats,
    key: Callable[[Outcome, State], Key],
) -> Turns:
    """Return the turns of a procedure, whose results are cached."""
    rules = prepared.rules

    def begin(dealer: CachingDealer) -> tuple[Position, int]:
        place, state = begin_procedure(prepared, dealer=dealer, players=seats)
        return Position(state, EMPTY, place), 0

    def turn(position: Position, dealer: CachingDealer) -> Played:
        seats.script.single.clear()
        state, place = position.state, position.place
        found, run = play_turn(rules, prepared.action, state, place, dealer=dealer, players=seats, asked=STATE)
        if not isinstance(found, Outcome):
            return Played(Position(run.state, position.at, found.place))
        if found.band not in rules.file.bands or dealer.memo is not dealer.turns:
            # A run that is played as a whole has the total, and reports a wrong band.
            raise RpgresError(f"the end of {prepared.action} is not cached")
        return Played(None, (key(found, run.state),))

    return Turns(dealer_of, begin, turn)


def _canons(rules: Rules, by: Sequence[str]) -> Canons:
    """Return the canonical forms of the ruleset, such as an order of tags; none if parts of the state are counted."""
    return EMPTY if any(map(is_path, by)) else rules.ruleset.canons


def choice_things(choose: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names under which typed answers are counted: `choose.LABEL=ANSWER`."""
    pairs = ((label.rpartition(":")[2], answer) for label, answers in choose.items() for answer in answers)
    return tuple(dict.fromkeys(f"{CHOSEN}{label}={answer.removesuffix(EVERY)}" for label, answer in pairs))


def scene_things(scene: Scene) -> list[str]:
    """Return what is always counted: the ending (or the last outcome), the outcomes of steps, how often they repeat."""
    ending, last = ([ENDING], []) if scene.file.ends else ([], [LAST])
    steps = [key if key.startswith("steps[") else f"steps.{key}" for key in step_names(scene).values()]
    return [*ending, *steps, *times_played(scene), *last]


def main_things(things: Sequence[str]) -> tuple[str, ...]:
    """Return the outcome or the ending, if there is one; otherwise the outcomes of all steps."""
    first = tuple(name for name in things if name in (OUTCOME, ENDING))
    return first or tuple(name for name in things if is_of_step(name))


def is_of_step(thing: str) -> bool:
    """Return whether a counted thing is the outcome of a step."""
    return thing.startswith(("steps.", "steps["))


def scene_runner(scene: Scene, *, seed: str, by: Sequence[str] = ()) -> Runner:
    """Return a scene, ready to be played, with further things to count."""
    program, rules, policies = scene.program, scene.rules, Policies(scene.policies)
    streams, details = Streams(run_seed(seed, 0)), [name for name in by if not is_path(name)]
    readers, key, dealer = [_reader(name) for name in by], _scene_key(scene), SeededDealer(streams)

    def end(state: State, at: Cursor) -> Key:
        state = unwatched(state) if readers else state
        return (ending_of(program, rules, at, state) or None, *[read(state, at.counted) for read in readers])

    def play_run(run: int) -> Key:
        state, at, told = scene.state, Cursor(), list[Key]()
        dealer.move_to(run)
        while not is_over(program, at := onward(program, rules, at, state)):
            leaf = leaf_at(program, at)
            dealer.begin_step(program.number_of(leaf, at.passes))
            try:
                found, after = play_leaf(scene, leaf, scene.state if leaf.step.fresh else state, dealer, policies)
            except NeedsAnswer as needs:
                list(play_scene(scene, seed=run_seed(seed, run)))  # whose error names the file and line
                raise _undecided(needs.question, run) from None
            except RpgresError as error:
                found_at = at_step_of_many(leaf, error)
                found_at.add(f" (run {run}, with the seed {run_seed(seed, run)})")
                raise found_at from error
            state, outcome = state if leaf.step.fresh else after, found.band if found is not None else None
            at = after_step(program, rules, at, state, outcome=outcome)
            if leaf.step.procedure and found is not None:
                at = with_details(scene, at, leaf.step.procedure, found, details)
            told.append((leaf.number, outcome))
        return key([*told, end(state, at)])

    things = (*scene_things(scene), *by)
    is_fresh = any(one.step.fresh and one.step.procedure for one in program.leaves)
    if is_fresh or scene.state.piles or not policies.by_question:  # draws of cards seldom repeat
        return Runner(things, play_run)
    game = game_of(scene, by=details)

    step_at: Callable[[Cursor], int] = lambda at: program.number_of(leaf_at(program, at), at.passes)  # noqa: E731

    def begin(_dealer: CachingDealer) -> tuple[Position, int]:
        position = game.onward(game.start)
        return position, 0 if game.is_over(position) else step_at(position.at)

    def turn(position: Position, dealer: CachingDealer) -> Played:
        if game.is_over(position):
            return Played(None, (end(position.state, position.at),))
        begins, number = position.place is None, leaf_at(program, position.at).number
        after = game.turn(position, dealer, game.policies)
        if after.place is not None:
            if begins and (dealer.rolled or not dealer.is_complete):
                raise RpgresError("the first turn may continue the count of dice of the beginning")
            return Played(after, step=step_at(position.at) if begins else None)
        after, told = game.onward(after), (number, dealer.outcome)
        if game.is_over(after):
            return Played(None, (told, end(after.state, after.at)))
        return Played(after, (told,), step_at(after.at))

    play = Turns(partial(CachingDealer, streams, _canons(rules, by)), begin, turn).play
    return Runner(things, lambda run: play_run(run) if (told := play(run)) is None else key(told))


def _scene_key(scene: Scene) -> Callable[[Sequence[Key]], Key]:
    """Return the function that maps the `told` data of a run to counted values."""
    things, repeated = scene_things(scene), times_played(scene)
    empty = [SKIPPED if is_of_step(name) else 0 if name in repeated else None for name in things]
    places = dict(zip(step_names(scene), [n for n, name in enumerate(things) if is_of_step(name)], strict=True))
    times = {number: things.index(name) for name, number in repeated.items()}
    end = 0 if scene.file.ends else -1

    def key(told: Sequence[Key]) -> Key:
        *steps, (ending, *values) = told
        row: list[Any] = [*empty]
        for number, outcome in steps:
            if number in places:
                row[places[number]] = outcome
            if number in times:
                row[times[number]] += 1
        row[end] = ending
        return (*row, *values)

    return key


def sample_scene(
    scene: Scene, *, runs: int, by: str = ENDING, tells: Callable[[int, int], None] | None = None
) -> Sample | None:
    """Return estimates of each ending, or of each value of `by`; None if no run was played.

    Args:
        tells: called with the number of finished runs and the total; may raise `KeyboardInterrupt`.
    """
    play, found = plays_of(scene, by=by), Counter[str]()
    try:
        for run in range(runs):
            found[play(run)] += 1
            if tells is not None and not run % 256:
                tells(run, runs)
            if STOP.is_asked:
                break
    except KeyboardInterrupt:
        pass
    played = found.total()
    return Sample(played, {name: estimate(count, played) for name, count in found.items()}) if played else None


def plays_of(scene: Scene, *, by: str = ENDING, seed: str = SEED) -> Callable[[int], str]:
    """Return a function from the number of a run to the name of the ending or value."""
    runner = scene_runner(scene, seed=seed, by=() if by == ENDING else (by,))
    if by != ENDING:
        return lambda run: value_name(runner.play(run)[-1])
    place = runner.things.index(ENDING if ENDING in runner.things else LAST)
    return lambda run: str(runner.play(run)[place] or "")


def _reader(name: str) -> Callable[[State, Mapping[str, Any]], Value]:
    if not is_path(name):
        return lambda _state, details: _counted(plain(details.get(name)))
    path = parse_path(name)
    return lambda state, _details: _counted(path.told(state))


def _counted(value: Any) -> Value:
    """Convert a value for the counts: flags to `yes` and `no`, boxes to marks, records to JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, int | str):
        return value
    return (value.mark or "free") if isinstance(value, Box) else to_json(plain(value)).decode()
