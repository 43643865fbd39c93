"""One run of what is simulated: an action or a scene rebuilt from its job, played fast and without records."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rpgres.dice.seeds import Streams, run_seed
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import Policies, Question, Seats
from rpgres.engine.run import Prepared, answers_to, play, policies_of, prepare
from rpgres.engine.running import EFFECTS, NeedsAnswer, Settled
from rpgres.engine.table import apply_effects
from rpgres.errors import RpgresError, UsageError, named
from rpgres.model.serialization import plain
from rpgres.model.state import Box, State
from rpgres.odds.exact import NeedsPolicy
from rpgres.scenes import Scene, play_scene, read_scene
from rpgres.simulate.jobs import ActionSubject, Job, SceneSubject, rebuild_rules, scene_folder
from rpgres.text.harmless import to_json

Value = int | str | None  # of a counted thing in one run; None where it has none
Key = tuple[Value, ...]  # the value of each counted thing

OUTCOME, MARGIN, TOTAL = "outcome", "margin", "total"
ENDING = "ending"
ACTION_THINGS = (OUTCOME, MARGIN, TOTAL)
SKIPPED = "skipped"  # in place of the outcome of a step that was not played


class Subject(NamedTuple):
    """What is simulated, ready to be played.

    Attributes:
        things: the names of what is counted.
        play: plays a run by its number and returns the value of each.
    """

    things: tuple[str, ...]
    play: Callable[[int], Key]


def rebuild(job: Job, folder: Path) -> Subject:
    """Return what a job describes, from what is installed here and the files in a worker's folder.

    Raises:
        RpgresError: the ruleset is missing here, or differs from the one of the job.
    """
    if isinstance(job.subject, SceneSubject):
        return _scene_subject(rebuild_scene(job, folder), job)
    return _action_subject(rebuild_action(job, folder), job, job.subject)


def rebuild_action(job: Job, folder: Path) -> Prepared:
    """Return the action of a job."""
    assert isinstance(job.subject, ActionSubject)
    rules = rebuild_rules(job.rules, folder)
    return prepare(rules, job.subject.action, job.subject.inputs, sheets=job.subject.sheets)


def rebuild_scene(job: Job, folder: Path) -> Scene:
    """Return the scene of a job."""
    assert isinstance(job.subject, SceneSubject)

    def load(_ruleset: str, *, switches: dict[str, str], extra: object) -> Any:
        return rebuild_rules(job.rules, folder, switches=switches)

    return read_scene(
        job.subject.source,
        find_ruleset=str,  # `load` finds it, with the files that came with the job
        folder=scene_folder(folder),
        switches=job.rules.switches,
        policy=job.subject.policy,
        auto=job.subject.auto,
        load=load,
    )


def _action_subject(prepared: Prepared, job: Job, subject: ActionSubject) -> Subject:
    from msgspec import structs

    # A lump that holds for outcomes alone would draw other cards than `rpgres roll` does with the same seed.
    prepared = structs.replace(prepared, lump=prepared.lump_for(EFFECTS))
    choose = answers_to(prepared, subject.choose)
    policies = Policies(policies_of(prepared, subject.policies, auto=subject.auto))
    dealer = SeededDealer(Streams(run_seed(job.seed, 0)))
    paths = [partial(counted_at, path=path) for path in job.by]
    asked = EFFECTS if paths else OUTCOME
    common = Seats(policies=policies)
    single = common.script.single

    def play_run(run: int) -> Key:
        dealer.move_to(run)
        single.clear()
        seats = Seats(choose, policies=policies) if choose else common
        try:
            outcome, done = play(prepared, dealer=dealer, players=seats, asked=asked)
        except Settled as settled:
            return settled.band, settled.margin, settled.total
        except NeedsAnswer as needs:
            raise _undecided(needs.question, run) from None
        except RpgresError as error:
            error.add(f" (run {run})")
            raise
        key = outcome.band, outcome.margin, outcome.total
        if not paths:
            return key
        state = apply_effects(prepared.rules, done.state, outcome)
        return (*key, *(at(state) for at in paths))

    return Subject((*ACTION_THINGS, *job.by), play_run)


def _undecided(question: Question, run: int) -> NeedsPolicy:
    """Return the error of a decision that nobody takes."""
    options = ", ".join(option.name for option in question.options)
    return NeedsPolicy(
        f"in run {run} nobody takes the decision {question.label} ({question.who} chooses among {options}). Answer it "
        f"with {named('choose')} {question.label}=..., or let a policy decide with {named('auto')} or "
        f"{named('policy')} NAME",
        labels=[question.label],
    )


def scene_things(scene: Scene) -> list[str]:
    """Return what is counted of a scene without being asked for."""
    return [f"steps.{step.id or number}" for number, step in enumerate(scene.file.steps, 1)]


def _scene_subject(scene: Scene, job: Job) -> Subject:
    things = scene_things(scene)
    paths = [partial(counted_at, path=path) for path in job.by]

    def play_run(run: int) -> Key:
        outcomes: list[Value] = [SKIPPED] * len(things)
        state = scene.state
        for played in play_scene(scene, seed=run_seed(job.seed, run)):
            state = played.state
            if played.result is not None:
                outcomes[played.number] = played.result.outcome
        return (*outcomes, *(at(state) for at in paths))

    return Subject((*things, *job.by), play_run)


# ---------------------------------------------------------------------------------------------------------------------
# Things of the state


def counted_at(state: State, *, path: str) -> Value:
    """Return what stands at a path of the state, as it is counted: see `counted`.

    >>> counted_at(State(), path="counters.doom") is None
    True

    Args:
        state: the table after the run.
        path: names joined by dots: fields of records, keys of maps, tags and boxes by name.
    """
    value: Any = state
    keys = path.split(".")
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, tuple):
            value = next((one for one in value if getattr(one, "slug", getattr(one, "name", "")) == key), None)
        else:
            value = getattr(value, key.replace("-", "_"), None)
        if value is None:
            return None
    if value == () and keys[-2:-1] == ["tracks"]:
        return 0  # a track without boxes
    return counted(value)


def counted(value: Any) -> Value:
    """Return a value of the state as it is counted: boxes by how many are marked, a box by whether it is.

    >>> counted((Box("1", 1, "x"), Box("2", 1, "")))
    1

    Other lists and tables are counted as the JSON they make; flags as `true` and `false`.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, Box):
        return value.mark or "free"
    if isinstance(value, tuple) and value and all(isinstance(one, Box) for one in value):
        return sum(bool(one.mark) for one in value)
    return to_json(plain(value)).decode()


def require_paths(state: State, paths: list[str]) -> None:
    """Check that paths begin with something a table has.

    Raises:
        UsageError: one does not.
    """
    from rpgres.toml.diagnostics import unknown

    for path in paths:
        first, _, rest = path.partition(".")
        if first not in state.__struct_fields__:
            raise UsageError(f"{named('by')} {path}: {unknown('part', first, state.__struct_fields__, of='a table')}")
        name = rest.partition(".")[0]
        if first == "characters" and name not in state.characters:
            raise UsageError(f"{named('by')} {path}: {unknown('character', name, state.characters, of='the table')}")
