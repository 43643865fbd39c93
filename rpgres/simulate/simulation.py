"""Simulations of actions and scenes: the job, the counted things, and the record."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import sqrt
from typing import Any

import msgspec

from rpgres.engine.labels import check_labels
from rpgres.engine.players import refusal
from rpgres.engine.prepare import Prepared, answers_to
from rpgres.odds.chances import Asked, rules_fields
from rpgres.odds.exact import check_told
from rpgres.odds.query import Query
from rpgres.odds.sampling import WIDE, Estimate, estimate
from rpgres.rulesets import Rules
from rpgres.scenes import Scene
from rpgres.scenes.reading import NO_OVERRIDES, Overrides
from rpgres.scenes.walking import ENDING, check_by, check_paths, is_path, nearest_place
from rpgres.simulate import playing
from rpgres.simulate.blocks import Tally, runner_here
from rpgres.simulate.jobs import Job, action_job, scene_job
from rpgres.simulate.playing import LAST, OUTCOME, Value, is_of_step

RUNS = 10_000  # the default
QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}
_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447)  # Student's distribution with 1 to 6 degrees of freedom


class ValueCount(msgspec.Struct, frozen=True):
    """How often a counted thing had a value.

    Attributes:
        value: a number or a text; null for runs in which there was none.
        count: in how many runs.
        share: the share of all runs.
        low: the lower end of the 95 % interval (Wilson) of its chance.
        high: the upper end of the interval.
    """

    value: int | str | None
    count: int
    share: float
    low: float
    high: float


class NumberSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of numbers, over the runs that have one.

    Attributes:
        runs: how many runs have a number.
        mean: their mean.
        low: the lower end of the 95 % interval of the mean (Student's); null of one run.
        high: the upper end of the interval.
        deviation: their standard deviation; null of one run, which tells no spread.
        least: the smallest number.
        most: the largest number.
        quantiles: the smallest number that at least this share of the runs does not exceed.
    """

    runs: int
    mean: float
    low: float | None
    high: float | None
    deviation: float | None
    least: int
    most: int
    quantiles: dict[str, int]


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """A counted thing.

    Attributes:
        values: its values with how often each came: outcomes in the ruleset's order, endings in that of the scene,
            numbers ascending, others the most frequent first; null last.
        numbers: the summary of its numbers; null where no run has one.
    """

    values: list[ValueCount]
    numbers: NumberSummary | None = None


class SimulationResult(Asked, frozen=True, kw_only=True, tag="rpgres.simulation/1"):
    """The results of many runs, as `rpgres simulate --json` prints it.

    The same seed and number of runs give the same record, whatever the number of workers.

    Attributes:
        rules: the exact rules: version, hash of the data, overlays in use.
        seed: where the dice came from; run N is the run with the seed `SEED#N`.
        runs: how many runs were counted, from run 0 on.
        complete: whether these are all that were asked for; false after an interruption.
        wanted: how many runs were asked for; null where `width` decided.
        width: the maximum width of intervals that was asked for; null where a number of runs was given.
        counted: what was counted, by name.
        success: the chance of any success; null for scenes, and where no outcome counts as one.
        partly: the answers of --choose that some runs do not offer, where a policy decides or the question is skipped.
        unasked: the labels of --choose that no run asks before the outcome.
    """

    rules: dict[str, Any]
    seed: str
    runs: int
    complete: bool
    wanted: int | None = None
    width: float | None = None
    counted: dict[str, Counted]
    success: Estimate | None = None
    partly: list[str] = []
    unasked: list[str] = []

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each value of each thing, as `pandas.DataFrame` takes it: count, share, interval."""
        counted = ((name, one) for name, found in self.counted.items() for one in found.values)
        return [{"counted": name, **msgspec.structs.asdict(one)} for name, one in counted]


class Simulation(msgspec.Struct, frozen=True):
    """An action or a scene that is played many times.

    Attributes:
        things: the things that are always counted.
        near: for each further thing with an unknown name, the nearest name on the table.
        about: fields of the record.
        endings: the endings of a scene, in its order.
        idle: counted things that are not in the record.
    """

    job: Job
    rules: Rules
    things: Sequence[str]
    near: Mapping[str, str]
    about: Mapping[str, Any]
    endings: Sequence[str] = ()
    idle: Sequence[str] = ()

    def seeded(self, seed: str) -> Simulation:
        """Return the simulation with a seed."""
        return msgspec.structs.replace(self, job=msgspec.structs.replace(self.job, seed=seed))

    def record(self, tally: Tally, *, complete: bool, **wanted: Any) -> SimulationResult:
        """Return the record of at least one run.

        Raises:
            ChoiceError: runs refuse a typed answer, and none offers it.
        """
        choices, partly, asked = playing.choice_things(self.job.choose), list[str](), dict[str, bool]()
        for thing in choices:
            name, found = thing.removeprefix(playing.CHOSEN), tally.counts[thing].keys()
            label = name.partition("=")[0]
            asked[label] = asked.get(label, False) or bool(found - {None})
            if found & {playing.TAKEN, playing.BOTH}:
                partly += [name] * bool(found & {playing.REFUSED, playing.BOTH})
            elif complete and playing.REFUSED in found:
                self._refuse(name, tally.runs)
        counted = {
            name: counted_record(name, found, rules=self.rules, endings=self.endings)
            for name, found in tally.counts.items()
            if name not in {*choices, *self.idle}
        }
        return SimulationResult(
            **rules_fields(self.rules),
            **self.about,
            rules=self.rules.layers.identity(),
            seed=self.job.seed,
            runs=tally.runs,
            complete=complete,
            **wanted,
            counted=counted,
            success=success_of(tally, self.rules),
            partly=sorted(partly),
            unasked=sorted(label for label, is_asked in asked.items() if complete and not is_asked),
        )

    def _refuse(self, name: str, runs: int) -> None:
        """Raise the error of the first run that refuses an answer."""
        runner = runner_here(msgspec.json.encode(self.job), "")
        next(run for run in range(runs) if runner.play(run) and name in runner.refused)
        raise refusal(*runner.refused[name])


def action_simulation(query: Query, prepared: Prepared, *, by: Iterable[str]) -> Simulation:
    """Return the simulation of an action, with further things to count: paths of the table, or details of the outcome.

    Raises:
        UsageError: an answer, a policy or something to count is unknown.
    """
    rules, action, choose = query.rules, query.action, query.choose
    query.deciding(prepared)  # refuses unknown policies
    check_labels(rules, action, given={}, choose=choose)
    answers_to(prepared, choose)
    is_procedure = rules.file.actions[action].procedure
    further = [name for name in dict.fromkeys(by) if name not in playing.ACTION_THINGS]
    for name in further:
        if not is_procedure and not is_path(name):
            check_told(rules, action, name)
    check_paths(rules, prepared.state, filter(is_path, further))
    deciding: dict[str, Any] = {"choose": choose, "policies": query.policies, "auto": query.auto}
    job = action_job(prepared, seed="", by=further, switches=query.switches, **deciding)
    policies = {**dict.fromkeys(prepared.orders, "orders"), **query.named}
    return Simulation(
        job,
        rules,
        playing.ACTION_THINGS,
        near={path: nearest_place(rules, prepared.state, path) for path in further},
        about={"action": action, "inputs": job.inputs, "policies": policies, "note": query.note},
        idle=[playing.MARGIN] if is_procedure else [],  # the margin of the last turn says nothing
    )


def scene_simulation(
    scene: Scene, *, by: Iterable[str], overrides: Overrides = NO_OVERRIDES, note: str | None = None
) -> Simulation:
    """Return the simulation of a scene that was read with some overrides, with further things to count.

    Raises:
        UsageError: something to count is unknown.
    """
    things = playing.scene_things(scene)
    further = [name for name in dict.fromkeys(by) if name not in things]
    check_by(scene, further)
    policies = dict(scene.told)
    return Simulation(
        scene_job(scene, seed="", by=further, overrides=overrides),
        scene.rules,
        things,
        near={path: nearest_place(scene.rules, scene.state, path) for path in further},
        about={"scene": scene.source.path, "title": scene.file.title, "policies": policies, "note": note},
        endings=[end.name for end in scene.program.ends],
    )


def counted_record(name: str, counts: Mapping[Value, int], *, rules: Rules, endings: Iterable[str] = ()) -> Counted:
    """Return a counted thing with its shares, and the summary of its numbers; `endings` are in the scene's order."""
    runs, names = sum(counts.values()), tuple[str, ...]()
    if name == ENDING:
        names = tuple(endings)
    elif name in (OUTCOME, LAST) or is_of_step(name):
        names = tuple(rules.file.bands)
    places = {value: place for place, value in enumerate(names)}

    def rank(value: Value) -> tuple[Any, ...]:
        if value in places:
            return 0, places[value]
        if isinstance(value, int):
            return 1, value
        return (3,) if value is None else (2, -counts[value], value)

    values = []
    for value in sorted(counts, key=rank):
        found = estimate(counts[value], runs)
        values.append(ValueCount(value, counts[value], found.share, found.low, found.high))
    numbers = {value: count for value, count in counts.items() if isinstance(value, int)}
    return Counted(values=values, numbers=number_summary(numbers) if numbers else None)


def number_summary(counts: Mapping[int, int]) -> NumberSummary:
    """Return the summary of numbers with counts.

    >>> number_summary({1: 1, 2: 2, 3: 1}).quantiles["50%"]
    2
    """
    runs = sum(counts.values())
    total = sum(value * count for value, count in counts.items())
    squares = sum(value * value * count for value, count in counts.items())
    mean, deviation, low, high = total / runs, None, None, None
    if runs > 1:
        # Sums of integers are exact, so the order of the runs does not change the result.
        deviation = sqrt((squares * runs - total * total) / (runs * (runs - 1)))
        half = _standard_errors(runs - 1) * deviation / sqrt(runs)
        low, high = mean - half, mean + half
    ordered = sorted(counts)
    reached = list(accumulate(counts[value] for value in ordered))
    quantiles = {name: ordered[bisect_left(reached, share * runs)] for name, share in QUANTILES.items()}
    least, most = ordered[0], ordered[-1]
    return NumberSummary(
        runs=runs, mean=mean, low=low, high=high, deviation=deviation, least=least, most=most, quantiles=quantiles
    )


def _standard_errors(freedom: int) -> float:
    """Return the number of standard errors to each side of a mean in a 95 % interval (Student's distribution)."""
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    z = WIDE
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def success_of(tally: Tally, rules: Rules) -> Estimate | None:
    """Return the chance of any success; None for scenes, and for outcomes without success or failure."""
    bands = rules.file.bands
    counts = {name: count for name, count in tally.counts.get(OUTCOME, {}).items() if name in bands}
    if all(bands[str(name)].success is None for name in counts):
        return None
    return estimate(sum(count for name, count in counts.items() if bands[str(name)].success), tally.runs)
