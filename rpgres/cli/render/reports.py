"""Reports: headings, tables and charts as data, and what becomes of them as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rpgres.cli.render.lines import INDENT, Line, Piece, line

SHADES = (" ", "\N{LIGHT SHADE}", "\N{MEDIUM SHADE}", "\N{DARK SHADE}", "\N{FULL BLOCK}")
FULL, HALF = "\N{FULL BLOCK}", "\N{LEFT HALF BLOCK}"


class Cell(Struct, frozen=True):
    """A cell of a table.

    Attributes:
        text: what stands in it.
        style: a key of `lines.STYLES`.
        share: what a heat map shades it by, from 0 to 1; None for no shade.
    """

    text: str
    style: str = ""
    share: float | None = None


class Table(Struct, frozen=True, kw_only=True):
    """A table.

    Attributes:
        caption: what it shows, where a report has several.
        columns: the heads; the first column names the rows.
        rows: the cells, one for each column.
    """

    columns: list[str]
    rows: list[list[Cell]]
    caption: str = ""


class Series(Struct, frozen=True):
    """Values of a chart that belong together, one for each of its categories; None where one is not known."""

    name: str
    values: list[float | None]


class Chart(Struct, frozen=True, kw_only=True):
    """A chart of probabilities or of differences.

    Attributes:
        kind: `stacked`: a bar for each category, of all series; `bars`: a bar for each category, of the only series;
            `heat`: a grid of categories and series.
        title: what it shows.
        categories: the names of rows.
        series: the values.
        category_axis, series_axis: what categories and series are.
        mark: a value to mark in bars, such as a target; None for none.
    """

    kind: str
    title: str
    categories: list[str]
    series: list[Series]
    category_axis: str = ""
    series_axis: str = ""
    mark: float | None = None


class Report(Struct, frozen=True, kw_only=True):
    """Odds for people, whatever they are read on.

    Attributes:
        title: what was evaluated, in a line.
        above: lines under the title, such as the house rules in force.
        tables: the tables.
        below: lines under the tables.
        chart: the same as a picture; None where there is nothing to draw.
    """

    title: str
    tables: list[Table]
    above: list[str] = []
    below: list[str] = []
    chart: Chart | None = None


def report_lines(report: Report, *, bars: int = 0, is_shaded: bool = True) -> list[Line]:
    """Return a report as lines.

    Args:
        report: what to show.
        bars: columns for bars of a chart; 0 for none.
        is_shaded: whether cells of a heat map are shaded, with characters and with colours.
    """
    lines = [line(Piece(report.title, "title")), *(line(INDENT, Piece(text, "quiet")) for text in report.above)]
    for number, table in enumerate(report.tables):
        if table.caption:
            lines.append(line(INDENT, Piece(table.caption, "title" if number else "quiet")))
        lines += _table_lines(table, is_shaded=is_shaded)
    if bars and report.chart is not None and report.chart.kind != "heat":
        lines += _chart_lines(report.chart, bars)
    return [*lines, *(line(INDENT, text) for text in report.below)]


def _table_lines(table: Table, *, is_shaded: bool) -> Iterator[Line]:
    """Yield the head and the rows of a table; columns that are empty throughout are left out."""
    shown = used_columns(table)
    widths = [max(len(table.columns[n]), *(len(row[n].text) for row in table.rows), 1) for n in shown]
    heads = [_padded(table.columns[n], width, n) for n, width in zip(shown, widths, strict=True)]
    is_heat = is_shaded and any(cell.share is not None for row in table.rows for cell in row)
    behind = "  " if is_heat else ""  # the room of a shade
    if any(head.strip() for head in heads):
        yield line(INDENT, Piece("  ".join([heads[0], *(f"{head}{behind}" for head in heads[1:])]), "quiet"))
    for row in table.rows:
        pieces: list[str | Piece] = [INDENT]
        for n, width in zip(shown, widths, strict=True):
            cell = row[n]
            pieces += [*([] if n == 0 else ["  "]), Piece(_padded(cell.text, width, n), cell.style)]
            if is_heat and n:
                tone = shade(cell.share)
                pieces.append(Piece(SHADES[tone] * 2, f"heat{tone}"))
        yield line(*pieces)


def table_width(table: Table) -> int:
    """Return how many columns of a terminal a table takes."""
    widths = (max(len(table.columns[n]), *(len(row[n].text) for row in table.rows)) + 2 for n in used_columns(table))
    return sum(widths)


def used_columns(table: Table) -> list[int]:
    """Return the numbers of the columns that have a head or anything in them."""
    return [n for n, head in enumerate(table.columns) if n == 0 or head or any(row[n].text for row in table.rows)]


def _padded(text: str, width: int, column: int) -> str:
    return f"{text:<{width}}" if column == 0 else f"{text:>{width}}"


def shade(share: float | None) -> int:
    """Return which of five shades a share has, from 0 to 4.

    >>> shade(0.0), shade(0.5), shade(1.0)
    (0, 2, 4)
    """
    return 0 if share is None else min(4, max(0, int(share * 5)))


def _chart_lines(chart: Chart, columns: int) -> Iterator[Line]:
    """Yield a bar for each category: of the last series that is known, or of the only one."""
    width = max(map(len, chart.categories), default=0)
    series = chart.series[-1]
    if series.name:
        yield line(INDENT, Piece(f"{series.name}:", "quiet"))
    low, high = bar_scale(chart)
    for name, value in zip(chart.categories, series.values, strict=True):
        share = abs(value or 0.0) / max(high, -low)
        yield line(
            INDENT * 2, f"{name:<{width}}  ", Piece(bar(share, columns), "minus" if (value or 0) < 0 else "name")
        )


def bar_scale(chart: Chart) -> tuple[float, float]:
    """Return the lowest and the highest value that bars of a chart have room for.

    Chances have the room from 0 to 1 where one of them is large; differences as much as the largest needs.
    """
    values = [value for value in (*chart.series[-1].values, chart.mark) if value is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == 0 and high > 0.5:
        return 0.0, 1.0
    return (low, high) if high > low else (0.0, 1.0)


def bar(share: float, columns: int) -> str:
    """Return a bar; what is over 0 is seen.

    >>> bar(0.5, 4)
    '██'
    """
    halves = round(share * columns * 2)
    if share > 0:
        halves = max(1, halves)
    return FULL * (halves // 2) + HALF * (halves % 2)


def cells(texts: Sequence[str]) -> list[Cell]:
    """Return plain cells."""
    return [Cell(text) for text in texts]
