"""A simulation, from what was typed or called: its job, what is counted, and its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from rpgres.engine.labels import check_labels
from rpgres.engine.prepare import Prepared, answers_to
from rpgres.model.state import EMPTY
from rpgres.odds.chances import rules_fields
from rpgres.odds.exact import check_told
from rpgres.odds.query import Query
from rpgres.rulesets import Rules
from rpgres.scenes import Scene
from rpgres.scenes.reading import NO_OVERRIDES, Overrides
from rpgres.scenes.walking import check_by, check_paths, is_path, nearest_place
from rpgres.simulate.jobs import Job, action_job, scene_job
from rpgres.simulate.runners import ACTION_THINGS, MARGIN, choice_things, scene_things
from rpgres.simulate.summaries import (
    SimulationResult,
    choices_in,
    counted_record,
    partly_offered,
    success_of,
    unasked_in,
)
from rpgres.simulate.tallies import Tally, empty_tally

RUNS = 10_000  # unless something else is asked for


class Simulation(msgspec.Struct, frozen=True, kw_only=True):
    """An action or a scene that is played many times.

    Attributes:
        job: all that workers need; its seed is set by `seeded`.
        things: what is always counted.
        paths: what is counted because it was asked for.
        choices: the names under which typed answers are counted.
        near: for each path with an unknown name, the nearest name on the table.
        policies: the policy of each character, for the record.
        title: the scene's title; empty for an action.
        endings: those that the scene names, in its order.
        idle: what of `things` says nothing of this action, and is left out of the record.
    """

    job: Job
    rules: Rules
    things: Sequence[str]
    paths: Sequence[str]
    choices: Sequence[str] = ()
    near: Mapping[str, str] = EMPTY
    policies: Mapping[str, str]
    title: str = ""
    note: str | None = None
    endings: Sequence[str] = ()
    idle: Sequence[str] = ()

    def seeded(self, seed: str) -> Simulation:
        """Return the simulation with a seed."""
        return msgspec.structs.replace(self, job=msgspec.structs.replace(self.job, seed=seed))

    def nothing(self) -> Tally:
        """Return the counts before the first run."""
        return empty_tally((*self.things, *self.paths, *self.choices))

    def record(
        self, tally: Tally, *, complete: bool, wanted: int | None = None, width: float | None = None
    ) -> SimulationResult:
        """Return the record of the simulation.

        Args:
            tally: the counts, of one run at least.
            complete: whether all runs that were asked for were played.

        Raises:
            ChoiceError: runs refuse a typed answer, and none offers it.
        """
        job, rules, subject, choices = self.job, self.rules, self.job.subject, choices_in(tally)
        counts = {name: values for name, values in tally.counts.items() if name not in {*choices, *self.idle}}
        return SimulationResult(
            **rules_fields(rules),
            **subject.asked(),
            title=self.title,
            rules=rules.layers.identity(),
            seed=job.seed,
            runs=tally.runs,
            complete=complete,
            wanted=wanted,
            width=width,
            counted={
                name: counted_record(name, values, rules=rules, endings=self.endings) for name, values in counts.items()
            },
            success=success_of(tally, rules),
            policies=dict(self.policies),
            partly=partly_offered(job, tally.runs, choices, is_whole=complete),
            unasked=unasked_in(choices) if complete else [],
            note=self.note,
        )


def action_simulation(query: Query, prepared: Prepared, *, by: Iterable[str]) -> Simulation:
    """Return the simulation of an action.

    Args:
        query: the query; its `by` and its budget are ignored.
        by: what is counted beside outcome, margin and total: paths of the table at the end, or details of the outcome.

    Raises:
        UsageError: an answer, a policy or something to count is unknown.
    """
    rules, action, choose = query.rules, query.action, query.choose
    query.deciding(prepared)  # refuses unknown policies
    check_labels(rules, action, given={}, choose=choose)
    answers_to(prepared, choose)
    paths = _beside(by, ACTION_THINGS)
    described = rules.file.actions[action]
    of_outcome = [name for name in paths if not is_path(name)]
    for name in () if described.procedure else of_outcome:
        check_told(rules, action, name)
    check_paths(rules, prepared.state, [name for name in paths if name not in of_outcome])
    return Simulation(
        job=action_job(
            prepared,
            seed="",
            by=paths,
            switches=query.switches,
            choose=choose,
            policies=query.policies,
            auto=query.auto,
        ),
        rules=rules,
        things=ACTION_THINGS,
        paths=paths,
        choices=choice_things(choose),
        near={path: nearest_place(rules, prepared.state, path) for path in paths},
        policies={**dict.fromkeys(prepared.orders, "orders"), **query.named},
        note=query.note,
        idle=[MARGIN] if described.procedure else [],  # that of its last turn, or none at all
    )


def scene_simulation(
    scene: Scene,
    *,
    by: Iterable[str],
    overrides: Overrides = NO_OVERRIDES,
    note: str | None = None,
) -> Simulation:
    """Return the simulation of a scene.

    Args:
        by: what is counted beside `scene_things`.
        overrides: those with which the scene was read.

    Raises:
        UsageError: something to count is unknown.
    """
    things = scene_things(scene)
    paths = _beside(by, things)
    check_by(scene, paths)
    return Simulation(
        job=scene_job(scene, seed="", by=paths, overrides=overrides),
        rules=scene.rules,
        things=things,
        paths=paths,
        near={path: nearest_place(scene.rules, scene.state, path) for path in paths},
        policies=scene.told,
        title=scene.file.title,
        note=note,
        endings=[end.name for end in scene.program.ends],
    )


def _beside(by: Iterable[str], things: Sequence[str]) -> list[str]:
    """Return what is counted in addition to things, each once."""
    return [path for path in dict.fromkeys(by) if path not in things]
