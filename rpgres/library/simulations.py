"""Simulations by a call: an action or a scene played many times, and counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from rpgres.arguments import MOST, told_by_kind
from rpgres.dice.seeds import read_seed
from rpgres.engine.resolve import Answers, Folders
from rpgres.errors import UsageError, named
from rpgres.library.reading import Deciding, Policies, What, deciding, query_of
from rpgres.library.scenes import scene_in
from rpgres.scenes import Scene
from rpgres.simulate import Crew, Plan, SimulationResult, simulated
from rpgres.simulate.blocks import cores, kept, processes
from rpgres.simulate.simulation import RUNS, Simulation, action_simulation, scene_simulation


@told_by_kind
def simulate(
    what: What,
    action: str | None = None,
    *,
    runs: int = RUNS,
    seed: str | int | None = None,
    by: Sequence[str] = (),
    workers: int = 1,
    executor: Executor | None = None,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    note: str | None = None,
    **inputs: Any,
) -> SimulationResult:
    """Play an action or a scene many times, and return what was counted, with 95 % intervals: estimates, no odds.

    >>> found = simulate("fate", "overcome", runs=1000, seed=7, skill=3, vs=2)
    >>> found.runs, round(found.success.share, 2)
    (1000, 0.6)

    Args:
        what: a ruleset (its id, or the record that a plugin's module holds), or a scene: a file, or a shipped one such
            as `fate/bribe`.
        action: the action's name; left out for a scene.
        runs: how many, from 1 to 999,999,999,999. Run N, from 0, is the run with the seed `SEED#N`.
        seed: any text or number; a fresh one by default, which the result has.
        by: further things to count: paths of the table at the end, such as `characters.mara.counters.fate-points`.
        workers: how many processes; a script that asks for more than 1 needs `if __name__ == "__main__":`. The counts
            do not depend on it.
        executor: plays the runs in place of processes of this call's own: any `concurrent.futures.Executor`, such as
            a pool that a program keeps, or `get_executor()` of a Dask client. It is not shut down. `workers` is then
            how many batches are played at a time; for 1, as many as there are processors.
        choose: answers to decisions of an action, by label.
        auto: whether the ruleset's policy answers what is left unanswered.
        policies: policy by character; under an empty name the default.
        switches: house rules that are not at their default.
        rulesets: folders with overlays; the last is the nearest.
        note: carried into the record.
        inputs: what the action takes, by name, with underscores for hyphens.

    Returns:
        The record of `rpgres simulate --json`; `counted` has the shares of each value.

    Raises:
        NeedsPolicy: nothing answers a decision.
        UsageError: something named does not exist.
        FileError: a file is missing or faulty.
        RuleError: the ruleset's code failed.
    """
    _check_numbers(runs, workers)
    who = deciding(choose=choose, auto=auto, policies=policies, switches=switches, rulesets=rulesets)
    if action is None:
        simulation, seed = _of_scene(scene_in(what, who, inputs), who, by, seed, note)
    else:
        query = query_of(what, action, inputs, who, note=note)
        simulation = action_simulation(query, query.prepared(), by=by)
    return _counted(simulation.seeded(read_seed(seed)), runs, _crew(workers, executor))


def _of_scene(
    scene: Scene, who: Deciding, by: Sequence[str], seed: str | int | None, note: str | None
) -> tuple[Simulation, str | int | None]:
    """Return the simulation of a scene, and the seed that was given or is the scene's own."""
    found = scene_simulation(scene, by=by, overrides=who.overrides, note=note)
    return found, scene.file.seed if seed is None else seed


def _check_numbers(runs: int, workers: int) -> None:
    if not isinstance(runs, int) or runs < 1 or not isinstance(workers, int) or workers < 1:
        raise UsageError(f"runs and workers are whole numbers from 1 on, not {runs!r} and {workers!r}")
    if runs > MOST:
        raise UsageError(f"runs are a whole number from 1 to {MOST:,}, not {runs:,}", path=("runs",), reason="range")


def _crew(workers: int, executor: Executor | None) -> Crew:
    if executor is None:
        return Crew(partial(processes, workers) if workers > 1 else None, is_asked=workers > 1)
    if not isinstance(executor, Executor):
        raise UsageError(f"{named('executor')} takes a concurrent.futures.Executor or None, not {executor!r:.80}")
    return Crew(partial(kept, executor, workers if workers > 1 else cores()), is_asked=True)


def _counted(simulation: Simulation, runs: int, crew: Crew) -> SimulationResult:
    (tally,) = deque(simulated(simulation.job, Plan(runs), crew=crew), maxlen=1)
    return simulation.record(tally, complete=True, wanted=runs)
