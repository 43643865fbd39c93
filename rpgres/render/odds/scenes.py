"""Odds of whole scenes as reports: how they end, and what first decisions are worth where they are optimal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rpgres.errors import counted
from rpgres.odds.exact import Chance, chance_record
from rpgres.odds.explorer import FIRST_RUNS, SLIGHT
from rpgres.odds.sampling import Sample, estimate
from rpgres.odds.scene_best import BestDecision, SceneBestResult
from rpgres.odds.scenes import ExactSceneOdds, too_many_words
from rpgres.render.odds.reports import LEAST, MOST_ROWS, NEVER, alike
from rpgres.render.odds.words import (
    SMALL,
    above,
    fraction_text,
    heading,
    is_endless,
    is_open,
    notes_text,
    outcome_style,
    short_fraction,
    size_text,
    within,
)
from rpgres.render.reports import Cell, Report, Table, bars
from rpgres.render.results import fact_words
from rpgres.render.words import band_title, is_number, outcome_titles, percent, who_is
from rpgres.rulesets import RulesetFile

FEWEST_TOGETHER = 4  # values at the end of a table, each shown as < 0.01 %, that share a row
MOST_DIGITS = 8  # beyond those of every table, to tell options apart


def scene_report(record: ExactSceneOdds, file: RulesetFile | None) -> Report:
    """Return the odds of a scene, with the first decisions where they are optimal, as a report."""
    sample: Sample | None = getattr(record, "sample", None)
    steps: list[str] = getattr(record, "counted_by", [])
    sampled = dict.fromkeys(sample.outcomes if sample is not None else (), NEVER)
    outcomes = {**record.outcomes, **{name: chance for name, chance in sampled.items() if name not in record.outcomes}}
    if all(map(is_number, outcomes)):
        outcomes = dict(sorted(outcomes.items(), key=lambda one: int(one[0])))
    shown = list(outcomes)[:MOST_ROWS]
    names = outcome_titles(file, shown)
    slight = _slight([outcomes[name] for name in shown]) if sample is None and all(map(is_number, outcomes)) else 0
    rows = [
        [
            Cell(names[name], outcome_style(file, name)),
            Cell(percent(outcomes[name].probability)),
            Cell(fraction_text(outcomes[name], left=record.open)),
            Cell(_estimate_text(sample, name)),
        ]
        for name in (shown[:-slight] if slight else shown)
    ]
    if slight:
        chance = _sum_of([outcomes[name] for name in shown[-slight:]])
        known = fraction_text(chance, left=record.open)
        rows.append(
            [Cell(f"{shown[-slight]} to {shown[-1]}"), Cell(percent(chance.probability)), Cell(known), Cell("")]
        )
    text = heading(record, what="odds" if record.by == "ending" else f"odds by {record.by}")
    heads = [record.by, "probability", "exact", "estimate" if sample is not None else ""]
    more = [f"and {len(outcomes) - len(shown):,} more: --json has them"] if len(outcomes) > len(shown) else []
    best = record if isinstance(record, SceneBestResult) else None
    first = _best_tables(best, file) if best is not None else []
    table = Table(columns=heads, rows=rows, notes=[*more, *_scene_notes(record, sample)], align="<><<", least=LEAST)
    return Report(
        title=text,
        above=[*above(record), *([_value_text(best, file)] if best is not None else [])],
        tables=[replace(table, is_headed=False), *first],
        below=[
            *([f"{who_is(best.best)} has nothing to decide"] if best is not None and not first else []),
            *([f"{record.by}: of the last of these steps that is played: {', '.join(steps)}"] if steps else []),
            *notes_text(record.policies, record.note),
        ],
        chart=bars(
            text,
            list(names.values()),
            [outcomes[name].probability for name in shown],
            is_whole=record.by == "ending",
        ),
    )


def _slight(chances: Sequence[Chance]) -> int:
    """Return how many values at the end are so unlikely that one row tells them all; 0 where they are few."""
    count = next((number for number, one in enumerate(reversed(chances)) if one.probability >= SMALL), len(chances))
    return count if FEWEST_TOGETHER <= count < len(chances) else 0


def _sum_of(chances: Sequence[Chance]) -> Chance:
    from fractions import Fraction

    return chance_record(sum((Fraction(one.exact) for one in chances), Fraction(0)))


def _estimate_text(sample: Sample | None, name: str) -> str:
    """Return the estimate of a chance, where there are any."""
    if sample is None:
        return ""
    found = sample.outcomes.get(name) or estimate(0, sample.runs)
    return f"~{percent(found.share)} {within(found)}"


def _scene_notes(record: ExactSceneOdds, sample: Sample | None) -> Iterator[str]:
    if record.mean is not None:
        yield f"mean: {record.mean.probability:.3f}"
    if is_endless(record.open):
        yield f"remaining: {size_text(record.open)}; what may go on without end is not followed further"
    elif is_open(record.open):
        yield f"remaining: {percent(record.open.probability)}; each chance may be higher by so much"
        yield ", ".join([_what_helps(record), *([] if sample is not None else ["--simulate N adds estimates"])])
    yield f"{counted(record.turns, 'turn')}, {counted(record.states, 'state')}, {counted(record.leaves, 'path')}"
    if sample is not None:
        yield f"~ are estimates, with 95 % intervals, from {sample.runs:,} plays of the whole scene"


def _what_helps(record: ExactSceneOdds) -> str:
    """Return what leaves less remaining; more time hardly does where many paths have resolved next to nothing."""
    if record.too_many:
        what, may_say = too_many_words(record.too_many)
        return f"{what} has too many results for any time; try {may_say}"
    if record.open.probability > 1 - SLIGHT and record.leaves >= FIRST_RUNS and not record.interrupted:
        return "too large for more time to help much; try fewer characters or fewer turns"
    return "--seconds N follows more of it"


def _best_tables(record: SceneBestResult, file: RulesetFile | None) -> list[Table]:
    """Return the first decisions as tables: what each option is worth."""
    read = [(one.who, one.text or one.label, _subject(one)) for one in record.decisions]
    same = {one for one in read if read.count(one) > 1}
    return [
        Table(
            caption=f"{who_is(decision.who)} decides first{_about(decision, file if reading in same else None)}",
            columns=["option", "value", "exact", "costs"],
            rows=[
                [
                    Cell(options, "name" if is_open(cost) else "good"),
                    Cell(_amount(record, value, digits)),
                    Cell(short_fraction(value.exact, value.probability)),
                    Cell("best" if cost.exact == "0" else _amount(record, cost, digits, is_difference=True)),
                ]
                for options, (value, cost) in worth
            ],
            align="<><<",
            least=LEAST,
            bars=bars("", [options for options, _ in worth], [value.probability for _, (value, _) in worth])
            if record.goal
            else None,
        )
        for decision, reading in zip(record.decisions, read, strict=True)
        for digits in (_digits(record, decision),)
        for worth in (alike((one.option, (one.value, one.cost)) for one in decision.options),)
    ]


def _digits(record: SceneBestResult, decision: BestDecision) -> int:
    """Return how many further digits tell apart what options are worth, and what they cost."""
    values = {one.value.exact: one.value for one in decision.options}.values()
    costs = [one.cost for one in decision.options if one.cost.exact != "0"]
    for more in range(MOST_DIGITS):
        shown = {_amount(record, value, more) for value in values}
        lost = _amount(record, NEVER, more, is_difference=True)
        if len(shown) == len(values) and lost not in [
            _amount(record, cost, more, is_difference=True) for cost in costs
        ]:
            return more
    return MOST_DIGITS


def _subject(decision: BestDecision) -> str:
    return decision.words or fact_words(decision.facts)


def _about(decision: BestDecision, apart: RulesetFile | None) -> str:
    """Return which decision it is, in words, with how likely the scene comes to it where that is not certain.

    Args:
        apart: where another one reads alike, the ruleset's data: then it is told what the options come to.
    """
    known = [one for one in sorted(decision.options, key=lambda one: one.option) if one.outcome and apart is not None]
    ends = [
        f"{options}: {band_title(apart, outcome)}"
        for options, outcome in alike((one.option, one.outcome) for one in known)
    ]
    chance = percent(decision.probability.probability) if decision.probability.exact != "1" else ""
    told = "; ".join(filter(None, (_subject(decision), *ends, chance)))
    return f": {decision.text or decision.label}" + (f" ({told})" if told else "")


def _value_text(record: SceneBestResult, file: RulesetFile | None) -> str:
    """Return the chance of the goal, or the mean, in words."""
    value = _amount(record, record.value)
    if not record.goal:
        return f"mean of {record.by}, as large as can be: {value}"
    names = list(outcome_titles(file, [one for one in record.goal if one in record.outcomes] or record.goal).values())
    return f"goal: {' or '.join(names)}: {value}"


def _amount(record: SceneBestResult, value: Chance, more: int = 0, *, is_difference: bool = False) -> str:
    """Return a chance, or a mean, with some more digits; a difference of chances in percentage points."""
    if not record.goal:
        return f"{value.probability:.{3 + more}f}"
    share = f"{100 * value.probability:.{2 + more}f}"
    return f"{share} points" if is_difference else f"{share} %" if more else percent(value.probability)
