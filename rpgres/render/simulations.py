"""Simulations as lines for a terminal, as reports for documents, and as rows for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, log10

from rpgres.dice.seeds import run_seed
from rpgres.model.paths import ABSENT
from rpgres.odds.sampling import Estimate
from rpgres.render.lines import INDENT, Line, Piece, Shown, line
from rpgres.render.odds.words import outcome_style
from rpgres.render.reports import Cell, Chart, Grid, Report, Series, Table
from rpgres.render.results import answer_notes, house_rules_lines
from rpgres.render.words import input_words, title, titles
from rpgres.rulesets import RulesetFile
from rpgres.simulate.subjects import ENDING, LAST, MARGIN, OUTCOME, TOTAL, main_things
from rpgres.simulate.summaries import QUANTILES, Counted, SimulationResult, ValueCount

MOST_ROWS = 400  # of a table of values; the rest is for JSON and CSV
MOST_BARS = 200  # of a chart in a file


def simulation_lines(record: SimulationResult, file: RulesetFile, *, detailed: Sequence[str] = ()) -> list[Shown]:
    """Return a simulation as lines: every outcome with its interval, then a summary of the numbers.

    Args:
        record: the simulation.
        file: the ruleset's data, for its words.
        detailed: the things of which every value is listed.
    """
    lines: list[Shown] = [line(Piece(heading(record), "title"), f": {_runs(record)}")]
    if told := input_words(record.inputs):
        lines.append(line(INDENT, Piece(told, "quiet")))
    lines += house_rules_lines(", ".join(record.house_rules))
    is_many, first = len(record.counted) > 1, main_things(list(record.counted))
    for name, counted in record.counted.items():
        if not _has_values(name, counted) and name not in detailed:
            continue
        is_listed = name in first or name in detailed or not (counted.numbers or is_main(name))
        if is_listed and is_many and name != OUTCOME:
            lines.append(line(INDENT, Piece(f"{thing_title(name)}:", "title")))
        indent = INDENT if name == OUTCOME or not is_many else INDENT * 2
        if is_listed:
            lines += _value_lines(record, name, counted, file, indent=indent)
        if name == OUTCOME:
            lines += [line(INDENT, text) for text in _success_texts(record, gap="  ")]
    if numbers := number_rows(record):
        lines.append(Grid(_text_table(HEADS, numbers, align="<<")))
    return [*lines, *_notes(record)]


def heading(record: SimulationResult) -> str:
    """Return what a simulation is of."""
    name = title(record.action) if record.action is not None else record.title or record.scene or ""
    return f"{name} ({record.ruleset})"


def _has_values(name: str, counted: Counted) -> bool:
    """Tell whether there is anything to show: an action may have no margin, or no total."""
    return name not in (MARGIN, TOTAL) or counted.numbers is not None


def is_main(name: str) -> bool:
    """Tell whether a thing is what a simulation is about first."""
    return name in (OUTCOME, ENDING, LAST) or name.startswith("steps.")


def thing_title(name: str) -> str:
    """Return what a counted thing is called.

    >>> thing_title("steps.bribe"), thing_title("steps.2"), thing_title("times.bribe"), thing_title("counters.doom")
    ('bribe', 'step 2', 'bribe: times played', 'counters.doom')
    """
    if name.startswith("times."):
        return f"{thing_title(name.replace('times.', 'steps.', 1))}: times played"
    if not name.startswith("steps."):
        return "last outcome" if name == LAST else name
    step = name.removeprefix("steps.")
    return f"step {step}" if step.isdecimal() else step


def _runs(record: SimulationResult) -> str:
    runs = f"{record.runs:,} run" + ("s" if record.runs != 1 else "")
    if record.complete:
        return runs
    return f"{runs} of {record.wanted:,}" if record.wanted is not None else f"{runs} so far"


def _value_lines(
    record: SimulationResult, name: str, counted: Counted, file: RulesetFile, *, indent: str
) -> Iterator[Shown]:
    names = value_names(name, counted, file)
    rows = [
        [
            Cell(names[one.value], outcome_style(file, str(one.value)) if is_main(name) else ""),
            Cell(share_text(one.share, record.runs)),
            Cell(f"({interval(one, record.runs)})"),
        ]
        for one in counted.values[:MOST_ROWS]
    ]
    align = ">><" if counted.numbers is not None else "<><"
    table = Table(columns=["", "", ""], rows=rows, align=align, least=9, is_headed=False)
    yield Grid(table, _chart(record, name, counted, file, most=MOST_ROWS), indent)
    if len(counted.values) > MOST_ROWS:
        yield line(indent, f"... and {len(counted.values) - MOST_ROWS} more values; --json lists all")


def _chart(record: SimulationResult, name: str, counted: Counted, file: RulesetFile, *, most: int) -> Chart:
    names, values = value_names(name, counted, file), counted.values[:most]
    return Chart(
        kind="bars",
        title=thing_title(name),
        categories=[names[one.value] for one in values],
        series=[Series("", [one.share for one in values])],
        intervals=[(one.low, one.high) for one in values],
        is_whole=is_main(name),
        texts=[share_text(one.share, record.runs) for one in values],
    )


def value_names(name: str, counted: Counted, file: RulesetFile) -> dict[int | str | None, str]:
    """Return what the values of a thing are called: outcomes and endings by their titles."""
    texts = [one.value for one in counted.values if isinstance(one.value, str)]
    known: dict[str, str] = {}
    if name == ENDING:
        known = {text: title(text) for text in texts}
    elif is_main(name):
        known = titles(file, [text for text in texts if text in file.bands])
    nothing = "No ending" if name in (ENDING, LAST) else ABSENT
    return {one.value: nothing if one.value is None else _value_name(one.value, known) for one in counted.values}


def _value_name(value: int | str, known: Mapping[str, str]) -> str:
    return known.get(value, value or '""') if isinstance(value, str) else str(value)


def digits(runs: int) -> int:
    """Return how many digits of a percentage so many runs are good for: 2 at least.

    >>> digits(1000), digits(10**6), digits(10**9)
    (2, 2, 3)
    """
    return max(2, ceil(log10(max(runs, 1)) / 2) - 2)


def share_text(share: float, runs: int) -> str:
    """Return a share of runs as a percentage."""
    return f"{100 * share:.{digits(runs)}f} %"


def interval(one: ValueCount | Estimate, runs: int) -> str:
    """Return a 95 % interval."""
    return f"{100 * one.low:.{digits(runs)}f} to {100 * one.high:.{digits(runs)}f}"


HEADS = ("", "mean (95 %)", "deviation", "least", *QUANTILES, "most")


def number_rows(record: SimulationResult) -> list[tuple[str, ...]]:
    """Return what is a number, in a row for each thing: its name, mean, deviation, least, quantiles and most."""
    rows = []
    for name, counted in record.counted.items():
        found = counted.numbers
        if found is not None:
            only = f" (in {found.runs:,} runs)" if found.runs < record.runs else ""
            mean = f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
            numbers = (found.least, *found.quantiles.values(), found.most)
            rows.append((f"{thing_title(name)}{only}", mean, f"{found.deviation:.3f}", *map(str, numbers)))
    return rows


def _success_texts(record: SimulationResult, *, gap: str) -> Iterator[str]:
    if record.success is not None:
        within = interval(record.success, record.runs)
        yield f"any success: {share_text(record.success.share, record.runs)}{gap}({within})"


def _notes(record: SimulationResult) -> Iterator[Line]:
    for text in _deciders(record):
        yield line(INDENT, Piece(text, "quiet"))
    for text in answer_notes(record.partly, record.unasked):
        yield line(INDENT, text)
    last = run_seed(record.seed, record.runs - 1)
    yield line(INDENT, Piece(f"intervals are 95 %; seed: {record.seed} (the last run: {last})", "quiet"))
    if record.note:
        yield line(INDENT, "note: ", record.note)


def _deciders(record: SimulationResult) -> list[str]:
    return [
        f"decisions of {'everybody' if who == '*' else who}: policy {name}" for who, name in record.policies.items()
    ]


# ---------------------------------------------------------------------------------------------------------------------
# For other programs


def simulation_report(record: SimulationResult, file: RulesetFile) -> Report:
    """Return a simulation as a report: a table and a chart for each counted thing, with the interval of every share."""
    told = input_words(record.inputs)
    tables, shown = [], {name: one for name, one in record.counted.items() if _has_values(name, one)}
    for name, counted in shown.items():
        names = value_names(name, counted, file)
        rows = [
            [names[one.value], str(one.count), share_text(one.share, record.runs), interval(one, record.runs)]
            for one in counted.values
        ]
        tables.append(_text_table([thing_title(name), "runs", "share", "95 % interval"], rows))
    if numbers := number_rows(record):
        tables.append(_text_table(HEADS, numbers))
    charts = [_chart(record, name, counted, file, most=MOST_BARS) for name, counted in shown.items()]
    about = f"{_runs(record)}, 95 % intervals; seed: {record.seed}"
    return Report(
        title=heading(record),
        above=[f"{about}; {told}" if told else about],
        tables=tables,
        below=[
            *_success_texts(record, gap=" "),
            *_deciders(record),
            *answer_notes(record.partly, record.unasked),
            *([f"note: {record.note}"] if record.note else []),
        ],
        chart=charts[0],
        others=charts[1:],
        chart_note=about,
    )


def _text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, align: str = "") -> Table:
    return Table(columns=list(heads), rows=[[Cell(text) for text in row] for row in rows], align=align)


def csv_rows(record: SimulationResult) -> tuple[Sequence[str], list[list[str]]]:
    """Return the heads, and a row for each value of each counted thing."""
    rows = [
        [name, *map(str, ("" if one.value is None else one.value, one.count, one.share, one.low, one.high))]
        for name, counted in record.counted.items()
        if _has_values(name, counted)
        for one in counted.values
    ]
    return ("counted", "value", "count", "share", "low", "high"), rows
