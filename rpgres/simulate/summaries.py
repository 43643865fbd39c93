"""Simulations summed up: shares with intervals, means, spread and quantiles of everything that was counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import sqrt
from typing import Any

import msgspec

from rpgres.errors import RpgresError
from rpgres.odds.chances import Asked
from rpgres.odds.sampling import WIDE, Estimate, estimate
from rpgres.rulesets import Rules
from rpgres.simulate.jobs import Job
from rpgres.simulate.runners import BOTH, CHOSEN, ENDING, LAST, OUTCOME, REFUSED, TAKEN, Value, is_of_step, rebuild
from rpgres.simulate.running import folder_of
from rpgres.simulate.tallies import Tally

QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}

_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447)  # `errors_beside` where its series is not close yet


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


def choices_in(tally: Tally) -> dict[str, set[Value]]:
    """Return the results of typed answers, by the names under which they are counted."""
    return {name: set(values) for name, values in tally.counts.items() if name.startswith(CHOSEN)}


def partly_offered(job: Job, runs: int, choices: Mapping[str, set[Value]], *, is_whole: bool) -> list[str]:
    """Return the typed answers that only some runs offer.

    Raises:
        ChoiceError: runs refuse an answer, and none offers it.
    """
    partly = list[str]()
    for thing, found in choices.items():
        name = thing.removeprefix(CHOSEN)
        if found & {TAKEN, BOTH}:
            partly += [name] * bool(found & {REFUSED, BOTH})
        elif is_whole and REFUSED in found:
            raise _refusal(job, runs, name)
    return sorted(partly)


def _refusal(job: Job, runs: int, name: str) -> RpgresError:
    """Return the error of the first run that refuses an answer, which is played again."""
    from rpgres.engine.players import refusal

    with folder_of(job) as folder:
        runner = rebuild(job, folder)
        next(run for run in range(runs) if runner.play(run) and name in runner.refused)
    return refusal(*runner.refused[name])


def unasked_in(choices: Mapping[str, set[Value]]) -> list[str]:
    """Return the labels of which no run asked for an answer."""
    asked: dict[str, bool] = {}
    for thing, found in choices.items():
        label = thing.removeprefix(CHOSEN).partition("=")[0]
        asked[label] = asked.get(label, False) or bool(found - {None})
    return sorted(label for label, is_asked in asked.items() if not is_asked)


def counted_record(name: str, counts: Mapping[Value, int], *, rules: Rules, endings: Sequence[str] = ()) -> Counted:
    """Return a counted thing with its shares, and the summary of its numbers.

    Args:
        endings: those that the scene names, in its order.
    """
    runs = sum(counts.values())
    if name == ENDING:
        order = _in_order(counts, endings)
    elif name in (OUTCOME, LAST) or is_of_step(name):
        order = _in_order(counts, rules.file.bands)
    else:
        order = _ordered(counts)
    values = []
    for value in order:
        count = counts.get(value, 0)
        found = estimate(count, runs)
        values.append(ValueCount(value, count, found.share, found.low, found.high))
    numbers = {value: count for value, count in counts.items() if isinstance(value, int)}
    return Counted(values=values, numbers=number_summary(numbers) if numbers else None)


def _in_order(counts: Mapping[Value, int], names: Iterable[str]) -> list[Value]:
    """Return values in the order of their names, and other values after them."""
    known: list[Value] = [name for name in names if name in counts]
    return [*known, *(value for value in _ordered(counts) if value not in known)]


def _ordered(counts: Mapping[Value, int]) -> list[Value]:
    numbers: list[Value] = [*sorted(value for value in counts if isinstance(value, int))]
    texts: list[Value] = sorted(
        (value for value in counts if isinstance(value, str)), key=lambda value: (-counts[value], value)
    )
    return [*numbers, *texts, *([None] if None in counts else [])]


def number_summary(counts: Mapping[int, int]) -> NumberSummary:
    """Return the summary of numbers.

    >>> number_summary({1: 1, 2: 2, 3: 1}).quantiles["50%"]
    2

    Args:
        counts: how often each number came; one at least.
    """
    runs = sum(counts.values())
    total = sum(value * count for value, count in counts.items())
    squares = sum(value * value * count for value, count in counts.items())
    # Whole numbers up to here: the same mean and deviation whatever order the runs were added in.
    deviation = sqrt((squares * runs - total * total) / (runs * (runs - 1))) if runs > 1 else None
    mean, half = total / runs, None if deviation is None else errors_beside(runs - 1) * deviation / sqrt(runs)
    ordered = sorted(counts)
    return NumberSummary(
        runs=runs,
        mean=mean,
        low=None if half is None else mean - half,
        high=None if half is None else mean + half,
        deviation=deviation,
        least=ordered[0],
        most=ordered[-1],
        quantiles=_quantiles(ordered, [counts[value] for value in ordered], runs),
    )


def errors_beside(freedom: int) -> float:
    """Return how many standard errors lie to each side of a mean in a 95 % interval (Student's distribution).

    >>> [round(errors_beside(freedom), 2) for freedom in (1, 5, 20, 10**6)]
    [12.71, 2.57, 2.09, 1.96]

    Args:
        freedom: one less than there are numbers.
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    z = WIDE
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _quantiles(ordered: Sequence[int], counts: Iterable[int], runs: int) -> dict[str, int]:
    reached = list(accumulate(counts))
    return {
        name: next(value for value, so_far in zip(ordered, reached, strict=True) if so_far >= share * runs)
        for name, share in QUANTILES.items()
    }


def success_of(tally: Tally, rules: Rules) -> Estimate | None:
    """Return the chance of any success; None for a scene, and where no outcome is a success or a failure."""
    bands = rules.file.bands
    known = {
        name: count for name, count in tally.counts.get(OUTCOME, {}).items() if isinstance(name, str) and name in bands
    }
    if all(bands[name].success is None for name in known):
        return None
    return estimate(sum(count for name, count in known.items() if bands[name].success), tally.runs)
