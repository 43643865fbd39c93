"""Odds over ranges of values as reports: a table or a grid, and one for each of several rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import prod

from rpgres.odds.comparison import GridCell, Grids
from rpgres.odds.study import NEGLIGIBLE
from rpgres.odds.subjects import ANY_SUCCESS, SUCCESS, MeasuredOdds, in_order
from rpgres.odds.variations import Axis, Cell, Variation
from rpgres.render import reports
from rpgres.render.odds.studies import (
    below_text,
    chance_of,
    difference_of,
    mean_text,
    outcome_heads,
    points,
    side_chart,
    titles_of_cases,
    unfinished_text,
)
from rpgres.render.odds.words import above, heading
from rpgres.render.reports import Chart, Report, Series, Table, bars
from rpgres.render.words import outcome_titles, percent
from rpgres.rulesets import RulesetFile

MeasuredCell = Cell | GridCell
MOST_COLUMNS = 9  # of outcomes; the rest is for JSON and CSV


def grids_report(record: Variation | Grids, file: RulesetFile | None, outcomes: Sequence[str]) -> Report:
    """Return odds over ranges of values as a report: one grid, or one for each of several rules, with differences."""
    compared = record.cases if isinstance(record, Grids) else []
    cases: list[tuple[str, Sequence[MeasuredCell]]]
    if isinstance(record, Variation):
        cases = [("", record.cells)]
    else:
        cases = [(title, one.cells) for title, one in zip(titles_of_cases(record), record.cases, strict=True)]
    every = [cell for _, cells in cases for cell in cells]
    varied = [axis.name for axis in record.axes]
    what = f"odds by {' and '.join(varied)}{', compared' if compared else ''}"
    text = heading(record, what=what, without=varied)
    names = in_order([cell.outcomes for cell in every])
    heads = outcome_heads(file, names, every)
    words = {**outcome_titles(file, names), ANY_SUCCESS: ANY_SUCCESS if ANY_SUCCESS in heads else SUCCESS}
    shown = [(name, words.get(name, name)) for name in _wanted(outcomes, every, names)]
    if len(varied) > 1 and not compared and not outcomes and all(cell.mean is not None for cell in every):
        drawn = [_means(record.axes, every, heads, text)]
    elif len(varied) > 1:
        alone = text if len(shown) == 1 and not compared else ""
        drawn = [one for name, word in shown for one in _grids(record.axes, cases, name, word, alone)]
    elif compared:
        drawn = [one for name, word in shown for one in _side_by_side(record.axes[0], cases, name, _titled(word))]
    else:
        drawn = [_rows(every, record.axes[0], heads, names, text)]
    first, *others = (chart for _, chart in drawn)
    told = [(case.name, title, ", ".join(case.house_rules)) for case, (title, _) in zip(compared, cases, strict=False)]
    rules = [f"{title}: house rules: {rules}" for name, title, rules in told if rules not in ("", name, title)]
    planned = len(cases) * prod(len(axis.values) for axis in record.axes)
    return Report(
        title=text,
        above=rules if compared else above(record),
        tables=[table for table, _ in drawn if table is not None],
        below=[*_open_cells(every), *below_text(record, unfinished=unfinished_text(record, len(every), planned))],
        chart=first,
        others=others,
    )


def _means(
    axes: Sequence[Axis], cells: Sequence[MeasuredCell], heads: Mapping[str, str], text: str
) -> tuple[Table | None, Chart]:
    """Return the mean of a number in each case, and the chances of its values as a chart."""
    table = _cells_table(axes, cells, [reports.Cell(mean_text(cell)) for cell in cells], "Mean")
    pairs = [", ".join(cell.at.values()) for cell in cells]
    return table, side_chart(cells, pairs, heads, title=text, axis=", ".join(axis.name for axis in axes))


def _grids(
    axes: Sequence[Axis], cases: Sequence[tuple[str, Sequence[MeasuredCell]]], name: str, word: str, text: str
) -> Iterator[tuple[Table | None, Chart]]:
    """Yield the chance of an outcome in each case, as a table and as a chart; and by how much it differs.

    Args:
        text: the heading, where this is the only chart; a chart of several stands under it.
    """
    for case, cells in cases:
        caption = f"{_titled(word)}, in %{f': {case}' if case else ''}"
        chances = [chance_of(cell, name).probability for cell in cells]
        shares = [
            reports.Cell(f"{_bound(cell)}{_in_percent(chance)}", "", chance)
            for cell, chance in zip(cells, chances, strict=True)
        ]
        chart = _cells_chart(axes, cells, f"{text}: {word}, in %" if text else caption, chances, kind="heat")
        yield _cells_table(axes, cells, shares, caption), chart
        if case and cells is not cases[0][1]:
            caption = f"{_titled(word)}, in points: {case} against {cases[0][0]}"
            found = [difference_of(cell, name) for cell in cells]
            changes = [one.probability if one is not None else None for one in found]
            chart = _cells_chart(axes, cells, caption, changes, kind="change")
            yield _cells_table(axes, cells, [reports.Cell(points(one)) for one in found], caption), chart


def _wanted(outcomes: Sequence[str], cells: Sequence[MeasuredCell], names: Sequence[str]) -> list[str]:
    """Return whose chances are shown: what was asked for, else success, else every outcome."""
    asked = [ANY_SUCCESS if name == SUCCESS else name for name in outcomes]
    return asked or ([ANY_SUCCESS] if any(cell.success is not None for cell in cells) else list(names))


def _open_cells(cells: Sequence[MeasuredCell]) -> Iterator[str]:
    most = max(cells, key=lambda cell: cell.open.probability, default=None)
    if most is not None and most.open.exact != "0":
        yield f"remaining: up to {percent(most.open.probability)}; chances are lower bounds"


def _rows(
    cells: Sequence[MeasuredCell], axis: Axis, heads: Mapping[str, str], names: Sequence[str], text: str
) -> tuple[Table | None, Chart]:
    has_mean = any(cell.mean is not None for cell in cells)
    likely = sorted(heads, key=lambda name: -sum([chance_of(cell, name).probability for cell in cells]))
    most = MOST_COLUMNS if len(heads) <= MOST_COLUMNS or not has_mean else 0
    shown = [name for name in heads if name in likely[:most]]
    rows = [
        [
            reports.Cell(cell.at[axis.name]),
            *(reports.Cell(f"{_bound(cell)}{percent(chance_of(cell, name).probability)}") for name in shown),
            reports.Cell(mean_text(cell)),
        ]
        for cell in cells
    ]
    categories = [cell.at[axis.name] for cell in cells]
    ordered = {name: heads[name] for name in (*names, *([ANY_SUCCESS] if ANY_SUCCESS in heads else []))}
    chart = side_chart(cells, categories, ordered, title=text, axis=axis.name)
    columns = [axis.name, *(heads[name] for name in shown), "mean" if has_mean else ""]
    left = [f"and {len(heads) - len(shown)} values more (--json has all)"] if shown and len(shown) < len(heads) else []
    return Table(columns=columns, rows=rows, notes=left), chart


def _cells_table(
    axes: Sequence[Axis], cells: Sequence[MeasuredCell], shown: Sequence[reports.Cell], caption: str
) -> Table:
    """Return a table that shows something for each place of a grid; nothing where that was not evaluated."""
    first, second = axes
    places = [(cell.at[first.name], cell.at[second.name]) for cell in cells]
    known = dict(zip(places, shown, strict=True))
    empty = reports.Cell("")
    rows = [
        [reports.Cell(value), *(known.get((value, other), empty) for other in second.values)] for value in first.values
    ]
    columns = [" \\ ".join(_short_names(first, second)), *second.values]
    return Table(caption=caption, columns=columns, rows=rows)


def _bound(found: MeasuredOdds) -> str:
    """Return what stands before a chance that is only a lower bound, as its case was not followed to its end."""
    return ">=" if found.open.probability > NEGLIGIBLE else ""


def _short_names(first: Axis, second: Axis) -> tuple[str, str]:
    """Return what axes are called where there is little room: the last key of a path, with what distinguishes them."""
    one, other = first.name.split("."), second.name.split(".")
    if one[-1] != other[-1]:
        return one[-1], other[-1]
    apart = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    return f"{one[apart]}.{one[-1]}", f"{other[apart]}.{other[-1]}"


def _in_percent(share: float) -> str:
    """Return a chance in a narrow cell; what is possible is never shown as 0, nor as certain.

    >>> _in_percent(0.25), _in_percent(1e-9), _in_percent(0.99999)
    ('25.0', '<0.1', '>99.9')
    """
    if 0 < share < 0.0005:
        return "<0.1"
    return ">99.9" if 0.9995 <= share < 1 else f"{100 * share:.1f}"


def _cells_chart(
    axes: Sequence[Axis], cells: Sequence[MeasuredCell], text: str, values: Sequence[float | None], *, kind: str
) -> Chart:
    first, second = axes
    places = [(cell.at[first.name], cell.at[second.name]) for cell in cells]
    known = dict(zip(places, values, strict=True))
    series = [Series(other, [known.get((value, other)) for value in first.values]) for other in second.values]
    return Chart(
        kind=kind,
        title=text,
        categories=list(first.values),
        series=series,
        category_axis=first.name,
        series_axis=second.name,
    )


def _titled(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _side_by_side(
    axis: Axis, cases: Sequence[tuple[str, Sequence[MeasuredCell]]], name: str, word: str
) -> Iterator[tuple[Table | None, Chart]]:
    """Yield a row for each value, the chance in each case and by how much it differs; and a chart of each case."""
    heads, columns, charts = [axis.name], [list(axis.values)], list[Chart]()
    for number, (case, cells) in enumerate(cases):
        chances = [chance_of(cell, name).probability for cell in cells]
        heads.append(case)
        columns.append([f"{_bound(cell)}{percent(chance)}" for cell, chance in zip(cells, chances, strict=True)])
        if number:
            heads.append("difference")
            columns.append([points(difference_of(cell, name)) for cell in cells])
        title, places = f"{word}, {case}", [cell.at[axis.name] for cell in cells]
        charts.append(bars(title, places, chances, of=title, category_axis=axis.name))
    rows = [[reports.Cell(text) for text in row] for row in zip_longest(*columns, fillvalue="")]
    yield Table(caption=f"{word}, in % and points", columns=heads, rows=rows), charts[0]
    yield from ((None, chart) for chart in charts[1:])
