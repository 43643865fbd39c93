"""Odds over ranges of values as reports: a table or a grid, and one for each of several rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rpgres.odds.grids import GridCase, GridCell, Grids
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
    share_of,
    side_chart,
    unfinished_text,
)
from rpgres.render.odds.words import above, heading
from rpgres.render.reports import Chart, Report, Series, Table
from rpgres.render.words import outcome_titles, percent
from rpgres.rulesets import RulesetFile

MOST_COLUMNS = 9  # of outcomes; the rest is for JSON and CSV


def variation_report(record: Variation, file: RulesetFile | None, outcomes: Sequence[str]) -> Report:
    """Return it as a report."""
    varied = [axis.name for axis in record.axes]
    text = heading(record, what=f"odds by {' and '.join(varied)}", without=varied)
    planned = 1
    for axis in record.axes:
        planned *= len(axis.values)
    below = below_text(record, unfinished=unfinished_text(record, len(record.cells), planned))
    below = [*_open_cells(record.cells), *below]
    names = in_order([cell.outcomes for cell in record.cells])
    heads = outcome_heads(file, names, record.cells)
    if len(record.axes) == 1:
        table, chart = _rows(record.cells, record.axes[0], heads, names, text)
        return Report(title=text, above=above(record), tables=[table], below=below, chart=chart)
    if not outcomes and all(cell.mean is not None for cell in record.cells):
        means = [reports.Cell(mean_text(cell)) for cell in record.cells]
        table = _cells_table(record.axes, record.cells, means, "Mean")
        pairs = [", ".join(cell.at.values()) for cell in record.cells]
        chart = side_chart(record.cells, pairs, heads, title=text, axis=", ".join(varied))
        return Report(title=text, above=above(record), tables=[table], below=below, chart=chart)
    wanted = _wanted(outcomes, record.cells, names)
    words = {**outcome_titles(file, names), ANY_SUCCESS: ANY_SUCCESS if ANY_SUCCESS in heads else SUCCESS}
    grids = [_grid(record.axes, record.cells, name, f"{_titled(words.get(name, name))}, in %") for name in wanted]
    chart = _heat(record.axes, record.cells, wanted[0], f"{text}: {words.get(wanted[0], wanted[0])}")
    return Report(title=text, above=above(record), tables=grids, below=below, chart=chart)


def _wanted(outcomes: Sequence[str], cells: Sequence[Cell], names: Sequence[str]) -> list[str]:
    """Return whose chances are shown: what was asked for, else success, else every outcome."""
    asked = [ANY_SUCCESS if name == SUCCESS else name for name in outcomes]
    return asked or ([ANY_SUCCESS] if any(cell.success is not None for cell in cells) else list(names))


def _open_cells(cells: Sequence[Cell]) -> Iterator[str]:
    most = max(cells, key=lambda cell: cell.open.probability, default=None)
    if most is not None and most.open.exact != "0":
        yield f"remaining: up to {percent(most.open.probability)}; chances are lower bounds"


def _rows(
    cells: Sequence[Cell], axis: Axis, heads: Mapping[str, str], names: Sequence[str], text: str
) -> tuple[Table, Chart]:
    shown = list(heads) if len(heads) <= MOST_COLUMNS else []
    rows = [
        [
            reports.Cell(cell.at[axis.name]),
            *(reports.Cell(f"{_bound(cell)}{percent(share_of(cell, name) or 0.0)}") for name in shown),
            reports.Cell(mean_text(cell)),
        ]
        for cell in cells
    ]
    categories = [cell.at[axis.name] for cell in cells]
    ordered = {name: heads[name] for name in (*names, *([ANY_SUCCESS] if ANY_SUCCESS in heads else []))}
    chart = side_chart(cells, categories, ordered, title=text, axis=axis.name)
    has_mean = any(cell.mean is not None for cell in cells)
    columns = [axis.name, *(heads[name] for name in shown), "mean" if has_mean else ""]
    return Table(columns=columns, rows=rows), chart


def _grid(axes: Sequence[Axis], cells: Sequence[Cell], name: str, caption: str) -> Table:
    shares = [chance_of(cell, name).probability for cell in cells]
    shown = [
        reports.Cell(f"{_bound(cell)}{_in_percent(share)}", "", share)
        for cell, share in zip(cells, shares, strict=True)
    ]
    return _cells_table(axes, cells, shown, caption)


def _cells_table(axes: Sequence[Axis], cells: Sequence[Cell], shown: Sequence[reports.Cell], caption: str) -> Table:
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


def _heat(axes: Sequence[Axis], cells: Sequence[Cell], name: str, text: str) -> Chart:
    return _cells_chart(axes, cells, text, [share_of(cell, name) for cell in cells], kind="heat")


def _cells_chart(
    axes: Sequence[Axis], cells: Sequence[Cell], text: str, values: Sequence[float | None], *, kind: str
) -> Chart:
    """Return a chart that has a value for each place of a grid."""
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


# ---------------------------------------------------------------------------------------------------------------------
# Several rules


def grids_report(record: Grids, file: RulesetFile | None, outcomes: Sequence[str]) -> Report:
    """Return the grids of several rules as a report: each, and by how much it differs from the base."""
    varied = [axis.name for axis in record.axes]
    text = heading(record, what=f"odds by {' and '.join(varied)}, compared", without=varied)
    every = [cell for case in record.cases for cell in case.cells]
    planned = len(record.cases)
    for axis in record.axes:
        planned *= len(axis.values)
    names = in_order([cell.outcomes for cell in every])
    heads = outcome_heads(file, names, every)
    wanted = _wanted(outcomes, every, names)
    words = {**outcome_titles(file, names), ANY_SUCCESS: ANY_SUCCESS if ANY_SUCCESS in heads else SUCCESS}
    tables: list[Table] = []
    charts: list[Chart] = []
    for name in wanted:
        shown = _titled(words.get(name, name))
        if len(record.axes) == 1:
            tables.append(_side_by_side(record, name, shown))
            charts += [_lines(record, case, name, f"{shown}, {case.name}") for case in record.cases]
            continue
        for case in record.cases:
            tables.append(_grid(record.axes, case.cells, name, f"{shown}, in %: {case.name}"))
            charts.append(_heat(record.axes, case.cells, name, f"{shown}, in %: {case.name}"))
            if case is not record.cases[0]:
                caption = f"{shown}, in points: {case.name} against base"
                shown_changes = [reports.Cell(_points(cell, name)) for cell in case.cells]
                tables.append(_cells_table(record.axes, case.cells, shown_changes, caption))
                found = [difference_of(cell, name) for cell in case.cells]
                changes = [one.probability if one is not None else None for one in found]
                charts.append(_cells_chart(record.axes, case.cells, caption, changes, kind="change"))
    told = [(case.name, ", ".join(case.house_rules)) for case in record.cases]
    rules = [f"{name}: house rules: {rules}" for name, rules in told if rules not in ("", name)]
    below = [*_open_cells(every), *below_text(record, unfinished=unfinished_text(record, len(every), planned))]
    return Report(title=text, above=rules, tables=tables, below=below, chart=charts[0], others=charts[1:])


def _titled(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _points(cell: GridCell, name: str) -> str:
    """Return by how much a chance differs from the base, in percentage points; nothing where that is not known."""
    return points(difference_of(cell, name))


def _side_by_side(record: Grids, name: str, shown: str) -> Table:
    """Return a row for each value: the chance in each case, and by how much it differs."""
    axis, base = record.axes[0], record.cases[0]
    columns, rows = [axis.name, base.name], [[value] for value in axis.values]
    for case in record.cases:
        is_base = case is base
        columns += [] if is_base else [case.name, "difference"]
        for place, row in enumerate(rows):
            cell = case.cells[place] if place < len(case.cells) else None
            chance = f"{_bound(cell)}{percent(chance_of(cell, name).probability)}" if cell is not None else ""
            row += [chance] if is_base else [chance, _points(cell, name) if cell is not None else ""]
    cells = [[reports.Cell(text) for text in row] for row in rows]
    return Table(caption=f"{shown}, in % and points", columns=columns, rows=cells)


def _lines(record: Grids, case: GridCase, name: str, text: str) -> Chart:
    """Return the chance of an outcome in one case, a bar for each value."""
    axis = record.axes[0].name
    values: list[float | None] = [share_of(cell, name) for cell in case.cells]
    categories = [cell.at[axis] for cell in case.cells]
    series = [Series(text, values)]
    return Chart(kind="bars", title=text, categories=categories, series=series, category_axis=axis, is_whole=True)
