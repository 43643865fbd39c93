"""Odds of one subject as reports: a chance and a fraction for each outcome, the worth of first choices, a ladder.

What reports of scenes and of several cases need is imported where one is made: most odds are of one action.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from rpgres.dice import dice
from rpgres.dice.hints import never
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import Chance, ChoiceOdds, OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.odds.sampling import Sample
from rpgres.odds.subjects import SUCCESS, in_order
from rpgres.render.odds.plans import plan_table
from rpgres.render.odds.words import (
    above,
    certainty,
    fraction_text,
    heading,
    is_open,
    likely,
    likely_text,
    notes_text,
    open_text,
    outcome_style,
    size_text,
    untried,
    within,
)
from rpgres.render.reports import Cell, Chart, Report, Series, Table, bars
from rpgres.render.results import answer_notes
from rpgres.render.words import is_number, outcome_titles, percent, rung, titles
from rpgres.rulesets import RulesetFile

if TYPE_CHECKING:
    from rpgres.render.odds.rows import Record

LEAST = 9  # columns of a percentage
MOST_ROWS = 400  # of a table of values; the rest is for the JSON
MOST_NAMES = 32  # columns of options that share a row; of more, the first is named
MANY_ROWS = 20  # of a table of values, of which negligible ones at its ends are summed up
NEGLIGIBLE = 0.0001
NEVER = Chance(0.0, "0")  # of what only estimates know
T = TypeVar("T")


def report_of(record: Record, file: RulesetFile | None, *, outcomes: Sequence[str] = ()) -> Report:
    """Return odds as a report.

    Args:
        file: the ruleset's data, for its words; None for dice.
        outcomes: what a grid shows, in place of success.
    """
    match record:
        case OddsResult() if record.by == "outcome" and (record.action is not None or "vs" in record.inputs):
            return _single(record, file)
        case OddsResult():
            return _numbers(record)
        case LadderOdds():
            return _ladder(record, file)
    from rpgres.odds.comparison import Comparison, Grids
    from rpgres.odds.scenes import ExactSceneOdds
    from rpgres.odds.variations import Variation
    from rpgres.render.odds.grids import grids_report
    from rpgres.render.odds.scenes import scene_report
    from rpgres.render.odds.studies import comparison_report

    match record:
        case ExactSceneOdds():
            return scene_report(record, file)
        case Comparison():
            return comparison_report(record, file)
        case Variation() | Grids():
            return grids_report(record, file, outcomes)


# ---------------------------------------------------------------------------------------------------------------------
# An action, and dice


def _numbers(record: OddsResult) -> Report:
    """Return the chance of each number, in ascending order, and of as much or more."""
    rows = {value: likely(value, chance, record.sample) for value, chance in record.outcomes.items()}
    numbers = {value: chance for value, chance in rows.items() if is_number(value)}
    beyond = record.open_from if isinstance(record, DiceOdds) else None
    exact = {value for value in numbers if beyond is not None and int(value) < beyond}  # below all that is open
    or_more, cells = _at_least(numbers, more=record.open.probability if exact else 0.0), []
    first, last = _telling(list(rows.values())) if len(numbers) == len(rows) else (0, len(rows))
    shown = list(rows)[first:last][:MOST_ROWS]
    if first:
        below = sum(list(rows.values())[:first])
        cells.append(_end(f"... {list(rows)[first - 1]} and less", below, record.sample))
    for value in shown:
        unsure = NEVER if value in exact else record.open
        known = certainty(value, record.outcomes[value], left=unsure, sample=record.sample)
        more = f"{likely_text(or_more[value], record.sample):>{LEAST}} or more" if value in or_more else ""
        cells.append([Cell(value), Cell(likely_text(rows[value], record.sample)), Cell(known), Cell(more, "quiet")])
    if first + len(shown) == last < len(rows):
        value = list(rows)[last]
        cells.append(_end(f"... {value} and more", or_more[value], record.sample))
    left = last - first - len(shown)
    notes = [f"... and {left} more values; --json lists all"] if left else []
    text = heading(record, what="odds" if record.by == "outcome" else f"odds by {record.by}")
    if isinstance(record, DiceOdds):
        notes += [*_part_means(record), *never(dice(record.inputs["notation"]).node)]
        text += f" ({_moments(record)})"
    elif len(numbers) == len(rows) and record.sample is None and not record.open.probability:
        notes.append(f"mean: {sum(int(value) * chance for value, chance in numbers.items()):.3f}")
    return Report(
        title=text,
        above=above(record),
        tables=[
            Table(
                columns=[record.by if record.action else "value", "probability", "exact", "or more"],
                rows=cells,
                notes=notes,
                align=">><<",
                least=LEAST,
                is_headed=False,
            )
        ],
        below=[*open_text(record.open, record.sample, at_least=beyond), *notes_text(record.policies, record.note)],
        chart=bars(text, shown, [rows[value] for value in shown], is_whole=False),
    )


def _telling(chances: Sequence[float]) -> tuple[int, int]:
    """Return the range of values with a row each: of many, without the negligible ones at both ends."""
    first, last = 0, len(chances)
    if last <= MANY_ROWS or max(chances) < NEGLIGIBLE:
        return first, last
    while chances[first] < NEGLIGIBLE:
        first += 1
    while chances[last - 1] < NEGLIGIBLE:
        last -= 1
    # one alone stands in its own row
    return first if first > 1 else 0, last if last < len(chances) - 1 else len(chances)


def _end(name: str, chance: float, sample: Sample | None) -> list[Cell]:
    """Return the row of all negligible values at an end."""
    return [Cell(name), Cell(likely_text(chance, sample)), Cell(""), Cell("")]


def _moments(record: DiceOdds) -> str:
    return f"mean {record.mean:.3f}, deviation {record.deviation:.3f}"


def _part_means(record: DiceOdds) -> Iterator[str]:
    if record.parts and record.by == "outcome":
        means = ", ".join(f"{name} {_decimal(mean)}" for name, mean in record.parts.items())
        yield f"mean of each part: {means}; --by {next(iter(record.parts))} evaluates one"


def _decimal(fraction: str) -> str:
    above, _, below = fraction.partition("/")
    return f"{int(above) / int(below or 1):.3f}"


def _at_least(outcomes: dict[str, float], *, more: float = 0.0) -> dict[str, float]:
    """Return the chance of each value or more, for values that ascend.

    Args:
        more: the chance of what is above all of them.
    """
    found: dict[str, float] = {}
    above = more
    for value, chance in reversed(list(outcomes.items())):
        above += chance
        found[value] = min(1.0, round(above, 12))
    return found


def _single(record: OddsResult, file: RulesetFile | None) -> Report:
    names, text = outcome_titles(file, record.outcomes), heading(record)
    text += f" ({_moments(record)} of the total)" if isinstance(record, DiceOdds) else ""
    is_guessed = any(choice.estimate for choice in record.choices)
    is_told = record.sample is not None or not (record.method == "sampled" or is_guessed)
    known = record.outcomes if is_told else {}  # estimates of choices say more than what is known
    rows = [
        [
            Cell(names[name], outcome_style(file, name)),
            Cell(likely_text(likely(name, chance, record.sample), record.sample)),
            Cell(certainty(name, chance, left=record.open, sample=record.sample), is_aside=record.sample is not None),
        ]
        for name, chance in known.items()
    ]
    notes = ["the budget was too small to find the best first choice; known so far:"] if is_guessed else []
    notes = notes or list(open_text(record.open, record.sample))
    notes += _success_text(record, file) if is_told else ()
    notes += _part_means(record) if isinstance(record, DiceOdds) else ()
    heads = ["outcome", "probability", "exact" if record.sample is None else "95 % interval"]
    tables = [Table(columns=heads, rows=rows, notes=notes, align="<><", least=LEAST, is_headed=False)]
    if len(record.choices) > 1:  # one is what stands above
        tables.append(_choices(record, file))
    if len({(one.label, *one.best) for one in record.plan}) > 1 or (record.plan and len(record.choices) < 2):
        tables.append(plan_table(record.plan, least=LEAST))
    below = answer_notes(record.partly, record.unasked)
    if record.passed:
        below.append(f"skipped for lack of a policy: {', '.join(record.passed)} (use --auto for a policy)")
    below += untried(record, file, (name for name, chance in record.outcomes.items() if chance.probability))
    values = [likely(name, chance, record.sample) for name, chance in known.items()]
    return Report(
        title=text,
        above=above(record),
        tables=tables,
        below=[*below, *notes_text(record.policies, record.note)],
        chart=bars(text, [names[name] for name in known], values) if known else None,
    )


def _success_text(record: OddsResult, file: RulesetFile | None) -> Iterator[str]:
    """Yield the chance of success as a whole, when several outcomes mean it."""
    good = [name for name in record.outcomes if file is not None and name in file.bands and file.bands[name].success]
    if len(good) < 2:
        return
    if record.sample is not None and record.sample.success is not None:
        shown = f"~{percent(record.sample.success.share)}  {within(record.sample.success)}"
    else:
        from fractions import Fraction

        both = sum((Fraction(record.outcomes[name].exact) for name in good), Fraction(0))
        whole = Chance(exact=str(both), probability=float(both))
        exact = fraction_text(whole, left=record.open)
        shown = f"{percent(whole.probability)}{f'  {exact}' if exact else ''}"
    yield f"any success: {shown}"


def _choices(record: OddsResult, file: RulesetFile | None) -> Table:
    """Return how likely success is with each first choice, the best first; and each outcome, where several are."""
    is_many = sum(bool(file.bands[name].success) for name in record.outcomes if file and name in file.bands) > 1
    heads = titles(file, record.outcomes) if is_many else {}
    rows = []
    choices = alike((choice.option, replace(choice, option="")) for choice in record.choices)
    for options, choice in choices:
        shares, success, left = _shares(choice)
        exact = "" if success.startswith("~") else fraction_text(choice.success, left=choice.open)
        cells = [Cell(shares.get(name, percent(0)), outcome_style(file, name)) for name in heads]
        rows.append([Cell(options, "name"), *cells, Cell(success), Cell(exact), Cell(left)])
    values = [choice.estimate.share if choice.estimate else choice.success.probability for _, choice in choices]
    after = "optimal decisions afterwards" if record.decide == "best" else "policies decide afterwards"
    what = "by first choice" if is_many else "success by first choice"
    runs = [choice.sample.runs for choice in record.choices if choice.estimate and choice.sample is not None]
    games = f"{min(runs)} games or more" if runs and min(runs) < max(runs) else f"{runs[0]} games" if runs else ""
    return Table(
        caption=f"{what} ({record.choices[0].label}), {after}:",
        columns=["option", *heads.values(), "success", "exact", ""],
        rows=rows,
        notes=[f"~ estimated from {games} in which policies decide (95 %)"] if runs else [],
        align=f"<{'>' * len(heads)}><<",
        least=LEAST,
        is_headed=is_many,
        bars=bars("", [options for options, _ in choices], values, of=SUCCESS),
    )


def alike(rows: Iterable[tuple[str, T]]) -> list[tuple[str, T]]:
    """Return rows with each value once, under the names of all options that have it; the first where these are long."""
    found: list[tuple[list[str], T]] = []
    for name, value in rows:
        before = next((names for names, one in found if one == value), None)
        if before is None:
            found.append(([name], value))
        else:
            before.append(name)
    return [(_names_text(names), value) for names, value in found]


def _names_text(names: Sequence[str]) -> str:
    text = " or ".join(names)
    return text if len(text) <= MOST_NAMES or len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _shares(choice: ChoiceOdds) -> tuple[dict[str, str], str, str]:
    """Return how likely each outcome of a choice is, and success, and how sure that is: estimated if that says more."""
    success = choice.estimate
    if choice.sample is None or success is None:
        left = f"(remaining: {size_text(choice.open)})" if is_open(choice.open) else ""
        shares = {name: percent(chance.probability) for name, chance in choice.outcomes.items()}
        return shares, percent(choice.success.probability), left
    shares = {name: f"~{percent(one.share)}" for name, one in choice.sample.outcomes.items()}
    return shares, f"~{percent(success.share)}", within(success)


def _ladder(record: LadderOdds, file: RulesetFile | None) -> Report:
    bands = in_order([one.outcomes for one in record.ladder])
    heads = outcome_titles(file, bands)
    names = [rung(one.value, file.ladder) if file is not None else str(one.value) for one in record.ladder]
    rows, notes = [], []
    for name, one in zip(names, record.ladder, strict=True):
        cells = [Cell(name)]
        for band in bands:
            chance = one.outcomes.get(band)
            text = likely_text(likely(band, chance, one.sample), one.sample) if chance is not None else ""
            cells.append(Cell(text, outcome_style(file, band) if chance is not None else ""))
        rows.append(cells)
        notes += [f"{name}: {text}" for text in open_text(one.open, one.sample)]
    series = [
        Series(
            heads[band],
            [likely(band, one.outcomes[band], one.sample) if band in one.outcomes else None for one in record.ladder],
        )
        for band in bands
    ]
    text = heading(record, what="odds at every rung")
    return Report(
        title=text,
        above=above(record),
        tables=[Table(columns=["against", *heads.values()], rows=rows, notes=notes, least=LEAST)],
        below=[*record.advice, *notes_text(record.policies, record.note)],
        chart=Chart(kind="stacked", title=text, categories=names, series=series, category_axis="against"),
    )
