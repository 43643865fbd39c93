"""Simulations by a call: an action or a scene played many times, and counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rpgres.arguments import MOST, told_by_kind
from rpgres.dice.seeds import read_seed
from rpgres.engine.labels import check_labels
from rpgres.engine.prepare import answers_to, policies_of, prepare
from rpgres.engine.resolve import Answers, Folders, listed_answers
from rpgres.errors import UsageError
from rpgres.library.reading import Policies, plain_inputs, read_rules
from rpgres.library.scenes import scene_in
from rpgres.model.state import EMPTY
from rpgres.odds.query import policies_record
from rpgres.rulesets import Rules, Ruleset
from rpgres.scenes.deciding import policies_told
from rpgres.scenes.walking import check_by, check_paths, is_path
from rpgres.simulate import Crew, Job, Plan, SimulationResult, action_job, empty_tally, scene_job, simulated, summed_up
from rpgres.simulate.subjects import ACTION_THINGS, choice_things, scene_things
from rpgres.simulate.workers import processes

RUNS = 10_000  # unless something else is asked for


@told_by_kind
def simulate(
    what: str | Ruleset,
    action: str | None = None,
    *,
    runs: int = RUNS,
    seed: str | int | None = None,
    by: Sequence[str] = (),
    workers: int = 1,
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
        choose: answers to decisions of an action, by label.
        auto: whether the ruleset's policy answers what is left unanswered.
        policies: policy by name of a character; everybody's under an empty name.
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
    if not isinstance(runs, int) or runs < 1 or not isinstance(workers, int) or workers < 1:
        raise UsageError(f"runs and workers are whole numbers from 1 on, not {runs!r} and {workers!r}")
    if runs > MOST:
        raise UsageError(f"runs are a whole number from 1 to {MOST:,}, not {runs:,}", path=("runs",), reason="range")
    named: dict[str, Any] = {"policies": dict(policies or {}), "auto": auto, "switches": dict(switches or EMPTY)}
    if action is None:
        job, things, fields, rules = _scene_job(what, by, seed, named, rulesets, choose or inputs)
    else:
        job, things, fields, rules = _action_job(what, action, by, seed, named, rulesets, choose, plain_inputs(inputs))
    return _counted(job, things, rules, runs, workers, {**fields, "note": note})


def _counted(
    job: Job, things: Sequence[str], rules: Rules, runs: int, workers: int, fields: Mapping[str, Any]
) -> SimulationResult:
    crew = Crew(partial(processes, workers) if workers > 1 else None, is_asked=workers > 1)
    (counts,) = deque(simulated(job, Plan(runs), crew=crew, start=empty_tally(things)), maxlen=1)
    return summed_up(job, counts, rules=rules, complete=True, wanted=runs, **fields)


def _action_job(
    what: str | Ruleset,
    action: str,
    by: Sequence[str],
    seed: str | int | None,
    named: Mapping[str, Any],
    rulesets: Folders | None,
    choose: Answers | None,
    inputs: Mapping[str, Any],
) -> tuple[Job, list[str], dict[str, Any], Rules]:
    rules, answers = read_rules(what, named["switches"], rulesets), listed_answers(choose, "choose")
    prepared = prepare(rules, action, inputs)
    policies_of(prepared, named["policies"], auto=named["auto"], with_orders=True, files=True)
    check_labels(rules, action, given={}, choose=answers)
    answers_to(prepared, answers)
    is_procedure = bool(rules.file.actions[action].procedure)
    check_paths(rules, prepared.state, by if not is_procedure else filter(is_path, by))
    deciding = policies_record(rules, named["policies"], auto=named["auto"])
    job = action_job(prepared, seed=read_seed(seed), by=list(by), choose=answers, **named)
    record = {"policies": {**dict.fromkeys(prepared.orders, "orders"), **deciding}}
    return job, [*ACTION_THINGS, *by, *choice_things(answers)], record, rules


def _scene_job(
    what: Any,
    by: Sequence[str],
    seed: str | int | None,
    named: Mapping[str, Any],
    rulesets: Folders | None,
    unused: Mapping[str, Any],
) -> tuple[Job, list[str], dict[str, Any], Rules]:
    if unused:
        raise UsageError(f"a scene takes no inputs and no choose; {', '.join(unused)} belongs to an action")
    scene = scene_in(what, named["policies"], named["switches"], rulesets, auto=named["auto"])
    check_by(scene, by)
    deciding = policies_told(scene, named["policies"], auto=named["auto"])
    own = read_seed(seed if seed is not None else scene.file.seed)
    job = scene_job(scene, seed=own, by=list(by), **named)
    return job, [*scene_things(scene), *by], {"policies": deciding, "title": scene.file.title}, scene.rules
