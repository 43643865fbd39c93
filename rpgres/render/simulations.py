"""Simulations as reports, and as rows for spreadsheets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import ceil, log10

from rpgres.dice.seeds import run_seed
from rpgres.model.paths import ABSENT
from rpgres.odds.sampling import Estimate
from rpgres.render.lines import Shown
from rpgres.render.odds.words import above, heading, notes_text, outcome_style
from rpgres.render.reports import Cell, Chart, Report, Table, bars, report_lines
from rpgres.render.results import answer_notes
from rpgres.render.words import title, titles
from rpgres.rulesets import RulesetFile
from rpgres.scenes.walking import ENDING
from rpgres.simulate.playing import LAST, MARGIN, OUTCOME, TOTAL, is_of_step, main_things
from rpgres.simulate.simulation import QUANTILES, Counted, SimulationResult, ValueCount

LEAST = 9  # columns of a percentage
MOST_ROWS = 400  # of a table of values; the rest is for JSON and CSV


def simulation_lines(record: SimulationResult, file: RulesetFile, *, detailed: Sequence[str] = ()) -> list[Shown]:
    """Return a simulation as lines for a terminal: of numbers the summary alone, unless their values are asked for."""
    first = (*main_things(list(record.counted)), *detailed)
    counts = {name: one for name, one in record.counted.items() if _has_values(name, one)}
    listed = {*first, *(name for name, one in counts.items() if not (one.numbers or is_main(name)))}
    return report_lines(simulation_report(record, file, things=listed))


def simulation_report(record: SimulationResult, file: RulesetFile, *, things: Collection[str] | None = None) -> Report:
    """Return a simulation as a report: a table and a chart for each counted thing, with the interval of every share.

    Args:
        things: the things with a table of their values; by default all that have any.
    """
    shown = {
        name: one
        for name, one in record.counted.items()
        if (_has_values(name, one) if things is None else name in things)
    }
    charts = {name: _chart(record, name, one, file) for name, one in shown.items()}
    tables = [_value_table(record, name, charts[name], file) for name in charts]
    if numbers := _number_rows(record):
        rows = [[Cell(text) for text in row] for row in numbers]
        heads = ["", "mean (95 %)", "deviation", "least", *QUANTILES, "most"]
        tables.append(Table(columns=heads, rows=rows, align="<<"))
    drawn = list(charts.values())
    seeds = f"intervals are 95 %; seed: {record.seed} (the last run: {run_seed(record.seed, record.runs - 1)})"
    return Report(
        title=heading(record, what=_runs(record)),
        above=above(record),
        tables=tables,
        below=[*answer_notes(record.partly, record.unasked), seeds, *notes_text(record.policies, record.note)],
        chart=drawn[0] if drawn else None,
        others=drawn[1:],
        chart_note=seeds,
    )


def _has_values(name: str, counted: Counted) -> bool:
    """Tell whether there is anything to show: an action may have no margin, or no total."""
    return name not in (MARGIN, TOTAL) or counted.numbers is not None


def is_main(name: str) -> bool:
    """Tell whether a thing is what a simulation is about first."""
    return name in (OUTCOME, ENDING, LAST) or is_of_step(name)


def thing_title(name: str) -> str:
    """Return what a counted thing is called.

    >>> thing_title("steps.bribe"), thing_title("steps[2]"), thing_title("times.bribe"), thing_title("counters.doom")
    ('bribe', 'steps[2]', 'bribe: times played', 'counters.doom')
    """
    if name.startswith("times."):
        return f"{name.removeprefix('times.')}: times played"
    return "last outcome" if name == LAST else name.removeprefix("steps.")


def _runs(record: SimulationResult) -> str:
    runs = f"{record.runs:,} run" + ("s" if record.runs != 1 else "")
    if record.complete:
        return runs
    return f"{runs} of {record.wanted:,}" if record.wanted is not None else f"{runs} so far"


def _value_table(record: SimulationResult, name: str, chart: Chart, file: RulesetFile) -> Table:
    counted = record.counted[name]
    values, left = counted.values[:MOST_ROWS], len(counted.values) - MOST_ROWS
    rows = [
        [
            Cell(text, outcome_style(file, str(one.value)) if is_main(name) else ""),
            Cell(f"{one.count:,}"),
            Cell(_share_text(one.share, record.runs)),
            Cell(f"({interval(one, record.runs)})", is_aside=True),
        ]
        for text, one in zip(chart.categories, values, strict=True)
    ]
    return Table(
        caption="" if len(record.counted) == 1 or name == OUTCOME else thing_title(name),
        columns=[thing_title(name), "runs", "share", "95 % interval"],
        rows=rows,
        notes=[
            *([f"... and {left} more values; --json lists all"] if left > 0 else []),
            *(_success_texts(record) if name == OUTCOME else ()),
        ],
        align=">>><" if counted.numbers is not None else "<>><",
        least=LEAST,
        is_headed=False,
        bars=chart,
    )


def _chart(record: SimulationResult, name: str, counted: Counted, file: RulesetFile) -> Chart:
    names, values = _value_names(name, counted, file), counted.values[:MOST_ROWS]
    return bars(
        thing_title(name),
        [names[one.value] for one in values],
        [one.share for one in values],
        intervals=[(one.low, one.high) for one in values],
        is_whole=is_main(name),
        texts=[_share_text(one.share, record.runs) for one in values],
    )


def _value_names(name: str, counted: Counted, file: RulesetFile) -> dict[int | str | None, str]:
    """Return what the values of a thing are called: outcomes and endings by their titles."""
    texts = [one.value for one in counted.values if isinstance(one.value, str)]
    known: dict[str, str] = {}
    if name == ENDING:
        known = {text: title(text) for text in texts}
    elif is_main(name):
        known = titles(file, [text for text in texts if text in file.bands])
    nothing = "No ending" if name in (ENDING, LAST) else ABSENT
    known = {"": '""', **known}
    values = [one.value for one in counted.values]
    return {value: nothing if value is None else known.get(str(value), str(value)) for value in values}


def digits(runs: int) -> int:
    """Return how many digits of a percentage so many runs are good for: 2 at least.

    >>> digits(1000), digits(10**6), digits(10**9)
    (2, 2, 3)
    """
    return max(2, ceil(log10(max(runs, 1)) / 2) - 2)


def _share_text(share: float, runs: int) -> str:
    """Return a share of runs as a percentage."""
    return f"{100 * share:.{digits(runs)}f} %"


def interval(one: ValueCount | Estimate, runs: int) -> str:
    """Return a 95 % interval."""
    return f"{100 * one.low:.{digits(runs)}f} to {100 * one.high:.{digits(runs)}f}"


def _number_rows(record: SimulationResult) -> list[tuple[str, ...]]:
    """Return what is a number, in a row for each thing: its name, mean, deviation, least, quantiles and most."""
    rows = []
    for name, counted in record.counted.items():
        found = counted.numbers
        if found is not None:
            only = f" (in {found.runs:,} runs)" if found.runs < record.runs else ""
            spread = "unknown" if found.deviation is None else f"{found.deviation:.3f}"
            within = "unknown" if found.low is None else f"{found.low:.3f} to {found.high:.3f}"
            numbers = (found.least, *found.quantiles.values(), found.most)
            rows.append((f"{thing_title(name)}{only}", f"{found.mean:.3f} ({within})", spread, *map(str, numbers)))
    return rows


def _success_texts(record: SimulationResult) -> Iterator[str]:
    if record.success is not None:
        within = interval(record.success, record.runs)
        yield f"any success: {_share_text(record.success.share, record.runs)}  ({within})"


def csv_rows(record: SimulationResult) -> tuple[Sequence[str], list[list[str]]]:
    """Return the heads, and a row for each value of each counted thing."""
    rows = [
        [name, *map(str, ("" if one.value is None else one.value, one.count, one.share, one.low, one.high))]
        for name, counted in record.counted.items()
        if _has_values(name, counted)
        for one in counted.values
    ]
    return ("counted", "value", "count", "share", "low", "high"), rows
