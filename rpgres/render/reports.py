"""Reports: headings, tables and charts as data, and their layout as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from rpgres.render.lines import INDENT, Line, Look, Piece, Shown, line, width_of
from rpgres.render.words import percent

SHADES = (" ", "\N{LIGHT SHADE}", "\N{MEDIUM SHADE}", "\N{DARK SHADE}", "\N{FULL BLOCK}")
FULL, HALF = "\N{FULL BLOCK}", "\N{LEFT HALF BLOCK}"
# Parts of a bar differ by their texture, too; the names of the styles end with the part's number.
TEXTURES = (FULL, "\N{DARK SHADE}", "\N{MEDIUM SHADE}", "\N{LIGHT SHADE}")
SHORTEST, LONGEST = 10, 50  # columns of a full bar


class Cell(Struct, frozen=True):
    """A cell of a table.

    Attributes:
        text: what stands in it.
        style: a key of `lines.STYLES`.
        share: what a heat map shades it by, from 0 to 1; None for no shade.
        is_aside: whether it stands in parentheses, but for documents, where a head says what it is.
    """

    text: str
    style: str = ""
    share: float | None = None
    is_aside: bool = False

    @property
    def headed(self) -> str:
        """The text as it stands in a document."""
        return self.text[1:-1] if self.is_aside else self.text.strip()


class Table(Struct, frozen=True, kw_only=True):
    """A table.

    Attributes:
        caption: what it shows, where a report has several.
        columns: the heads; the first column names the rows.
        rows: the cells, one for each column.
        notes: lines under it.
        align: `<` or `>` for each column; by default the first stands to the left, and numbers to the right.
        least: columns that a cell to the right takes at least.
        is_headed: whether a terminal shows the heads; a document always does.
        gap: blanks between columns.
        bars: a chart of its rows of its own, beside that of the report; None for none.
    """

    columns: list[str]
    rows: list[list[Cell]]
    caption: str = ""
    notes: list[str] = []
    align: str = ""
    least: int = 1
    is_headed: bool = True
    gap: int = 2
    bars: Chart | None = None

    def aligned(self, column: int) -> str:
        """Return how a column is aligned."""
        return self.align[column : column + 1] or ("<" if column == 0 else ">")


class Series(Struct, frozen=True):
    """Values of a chart that belong together, one for each of its categories; None where one is not known."""

    name: str
    values: list[float | None]


GRIDS = ("heat", "change")  # kinds of charts that are grids


class Chart(Struct, frozen=True, kw_only=True):
    """A chart of probabilities or of differences.

    Attributes:
        kind: `stacked`: a bar for each category, of all series; `bars`: a bar for each category, of the only series;
            `heat`: a grid of categories and series; `change`: likewise, of differences.
        category_axis, series_axis: what categories and series are.
        intervals: where the interval of each category begins and ends; empty for none.
        texts: what stands beside each bar; empty for its value.
        is_whole: whether a full bar is 1, however long the longest is.
    """

    kind: str
    title: str
    categories: list[str]
    series: list[Series]
    category_axis: str = ""
    series_axis: str = ""
    intervals: list[tuple[float, float]] = []
    texts: list[str] = []
    is_whole: bool = False


def bars(title: str, names: Sequence[str], values: Sequence[float | None], *, of: str = "", **more: Any) -> Chart:
    """Return a bar for each of these; `more` are further fields of the chart, of which `is_whole` is true here."""
    fields = {"is_whole": True, **more}
    return Chart(kind="bars", title=title, categories=list(names), series=[Series(of, list(values))], **fields)


class Report(Struct, frozen=True, kw_only=True):
    """Odds for people, whatever they are read on.

    Attributes:
        title: what was evaluated, in a line.
        above: lines under the title, such as the house rules in force.
        chart: the same as a picture; None where there is nothing to draw.
        others: further pictures, below it.
        chart_note: what stands below the pictures in a file of their own.
    """

    title: str
    tables: list[Table]
    above: list[str] = []
    below: list[str] = []
    chart: Chart | None = None
    others: list[Chart] = []
    chart_note: str = ""


def report_lines(report: Report) -> list[Shown]:
    """Return a report as lines, its chart beside or below its table where pictures are wanted."""
    lines: list[Shown] = [line(Piece(report.title, "title"))]
    lines += [line(INDENT, Piece(text, "quiet")) for text in report.above]
    chart = report.chart if report.chart is not None and report.chart.kind not in GRIDS else None
    for number, table in enumerate(report.tables):
        if table.caption:
            lines.append(line(INDENT, Piece(table.caption, "title" if number else "quiet")))
        is_drawn = chart is not None and chart.categories == [row[0].text for row in table.rows]
        lines.append(Grid(table, chart if is_drawn else table.bars))
        lines += [line(INDENT, text) for text in table.notes]
        chart = None if is_drawn else chart
    if chart is not None:
        lines.append(ChartBelow(chart))
    return [*lines, *(line(INDENT, text) for text in report.below)]


class Grid(Struct, frozen=True):
    """A table on a terminal, with a bar in each row where there is a chart for them.

    What is too wide goes on below, its rows named again; a bar that has no room stands below its row.
    """

    table: Table
    chart: Chart | None = None
    indent: str = INDENT

    def laid_out(self, look: Look) -> Iterator[Shown]:
        """Yield the lines."""
        chart = self.chart if look.is_drawn else None
        shown = used_columns(self.table)
        is_heat = look.is_drawn and any(cell.share is not None for row in self.table.rows for cell in row)
        widths = {n: self._width(n) + (2 if is_heat and n else 0) for n in shown}
        gap = self.table.gap
        taken = len(self.indent) + sum(widths.values()) + gap * (len(shown) - 1)
        if not look.width or taken <= look.width:
            room = min(LONGEST, (look.width or 100) - taken - 2) if chart is not None else 0
            if chart is None or room >= SHORTEST:
                yield from legend(chart, self.indent)
                yield from self._part(shown, widths, chart, room, is_heat=is_heat)
                return
            if not is_stacked(chart):
                below = -min(LONGEST, look.width - 2 * len(self.indent))
                yield from self._part(shown, widths, chart, below, is_heat=is_heat)
                return
        parts = list(_fitting(shown, widths, look.width - len(self.indent), gap))
        if any(sum(widths[n] + gap for n in part) - gap + len(self.indent) > look.width for part in parts):
            yield from self._spelt_out(shown[1:])
        else:
            for number, part in enumerate(parts):
                if number:
                    yield line()
                yield from self._part(part, widths, None, 0, is_heat=is_heat)
        if chart is not None:
            yield ChartBelow(chart)

    @property
    def width(self) -> int:
        """How many columns of a terminal the table takes, without bars."""
        shown = used_columns(self.table)
        return len(self.indent) + sum(map(self._width, shown)) + self.table.gap * (len(shown) - 1)

    def _width(self, column: int) -> int:
        texts = [self.table.columns[column], *(row[column].text for row in self.table.rows)]
        least = self.table.least if column and self.table.aligned(column) == ">" else 1
        return max(least, *map(width_of, texts if self.table.is_headed else texts[1:]), 0)

    def _part(
        self, shown: Sequence[int], widths: dict[int, int], chart: Chart | None, room: int, *, is_heat: bool
    ) -> Iterator[Line]:
        """Yield some of the columns; bars of so many columns behind the first, below the row where that is negative."""
        shades = {n: "  " if is_heat and n else "" for n in shown}  # which stand behind the numbers
        heads = [self._padded(n, self.table.columns[n], widths[n] - len(shades[n])) + shades[n] for n in shown]
        if self.table.is_headed and any(head.strip() for head in heads):
            over = chart.series[-1].name if chart is not None and room > 0 and not is_stacked(chart) else ""
            between = f"  {over if width_of(over) <= room else '':<{room}}" if room > 0 else ""
            yield line(self.indent, Piece((" " * self.table.gap).join([heads[0] + between, *heads[1:]]), "quiet"))
        for place, row in enumerate(self.table.rows):
            pieces: list[str | Piece] = [self.indent]
            for n in shown:
                width = widths[n] - len(shades[n])
                pieces += [
                    " " * self.table.gap if n != shown[0] else "",
                    Piece(self._padded(n, row[n].text, width), row[n].style),
                ]
                if is_heat and n:
                    tone = shade(row[n].share)
                    pieces.append(Piece(SHADES[tone] * 2, f"heat{tone}"))
                if n == shown[0] and chart is not None and room > 0:
                    pieces += ["  ", *bar_pieces(chart, place, room)]
            yield line(*pieces)
            if chart is not None and room < 0:
                yield line(self.indent * 2, *bar_pieces(chart, place, -room))

    def _padded(self, column: int, text: str, width: int) -> str:
        blanks = " " * (width - width_of(text))
        return text + blanks if self.table.aligned(column) == "<" else blanks + text

    def _spelt_out(self, shown: Sequence[int]) -> Iterator[Line]:
        """Yield rows one below the other, where not even two columns have room."""
        for row in self.table.rows:
            name = row[0].text
            below = self.indent * 2 + " " * (len(name) - len(name.lstrip()))
            yield line(self.indent, Piece(name, row[0].style or "name"))
            for n in [n for n in shown if row[n].text.strip()]:
                head = f"{self.table.columns[n]}: " if self.table.is_headed and self.table.columns[n] else ""
                yield line(below, head, Piece(row[n].text.strip(), row[n].style))


class ChartBelow(Struct, frozen=True):
    """A chart of its own: a bar for each category, with what it says first in words beside it."""

    chart: Chart

    def laid_out(self, look: Look) -> Iterator[Shown]:
        """Yield the lines."""
        if look.is_drawn and self.chart.series:
            rows = [
                [Cell(name), Cell(_bar_words(self.chart, place))] for place, name in enumerate(self.chart.categories)
            ]
            single = Table(columns=["", ""], rows=rows, align="<<", is_headed=False)
            if self.chart.series[-1].name and not is_stacked(self.chart):
                yield line(INDENT, Piece(f"{self.chart.series[-1].name}:", "quiet"))
            room = look.width - len(INDENT) - sum(max(width_of(row[n].text) for row in rows) for n in (0, 1)) - 4
            yield from legend(self.chart, INDENT)
            below = -min(LONGEST, look.width - 4)
            grid = Grid(single)
            widths = {n: grid._width(n) for n in (0, 1)}
            columns = min(LONGEST, room) if room >= SHORTEST else below
            yield from grid._part((0, 1), widths, self.chart, columns, is_heat=False)


def _fitting(shown: Sequence[int], widths: dict[int, int], room: int, gap: int) -> Iterator[list[int]]:
    """Yield columns, as many at a time as there is room for beside the first, which names the rows."""
    first, *others = shown
    part = [first]
    for n in others:
        if len(part) > 1 and sum(widths[one] + gap for one in part) + widths[n] > room:
            yield part
            part = [first]
        part.append(n)
    yield part


def used_columns(table: Table) -> list[int]:
    """Return the numbers of the columns that have a head or anything in them."""
    return [
        n
        for n, head in enumerate(table.columns)
        if n == 0 or (head and table.is_headed) or any(row[n].text for row in table.rows)
    ]


def shade(share: float | None) -> int:
    """Return which of five shades a share has, from 0 to 4.

    >>> shade(0.0), shade(0.5), shade(1.0)
    (0, 2, 4)
    """
    return 0 if share is None else min(4, max(0, int(share * 5)))


# ---------------------------------------------------------------------------------------------------------------------
# Bars


def is_stacked(chart: Chart) -> bool:
    """Tell whether the bars of a chart have parts."""
    return chart.kind == "stacked" and len(parts_of(chart)) > 1


def parts_of(chart: Chart) -> list[Series]:
    """Return the series that a bar is made of: not a sum of others."""
    return [one for one in chart.series if one.name.lower() != "any success"]


def legend(chart: Chart | None, indent: str) -> Iterator[Line]:
    """Yield which part of a bar is what."""
    if chart is not None and is_stacked(chart):
        pieces: list[str | Piece] = [indent]
        for number, one in enumerate(parts_of(chart)):
            sign = Piece(TEXTURES[number % len(TEXTURES)] * 2, f"bar{number % len(TEXTURES)}")
            pieces += [*(["  "] if number else []), sign, f"\u00a0{one.name}"]  # a sign is not parted from its name
        yield line(*pieces)


def _bar_words(chart: Chart, place: int) -> str:
    """Return what a bar shows, in words: its value, or its largest part."""
    if not is_stacked(chart):
        value = chart.series[-1].values[place]
        if chart.texts:
            return chart.texts[place]
        if min((one for one in chart.series[-1].values if one is not None), default=0.0) < 0:
            return "" if value is None else f"{100 * value:+.2f}"
        return "" if value is None else percent(value)
    name, share = max(((one.name, one.values[place] or 0.0) for one in parts_of(chart)), key=lambda pair: pair[1])
    return f"{name} {percent(share)}"


def bar_pieces(chart: Chart, place: int, columns: int) -> list[Piece]:
    """Return the bar of a category, filled up with blanks."""
    if not is_stacked(chart):
        low, high = bar_scale(chart)
        value = chart.series[-1].values[place] or 0.0
        drawn = bar(abs(value) / max(high, -low), columns)
        return [Piece(drawn, "minus" if value < 0 else "bar0"), Piece(" " * (columns - len(drawn)))]
    pieces, done, total = [], 0, 0.0
    for number, one in enumerate(parts_of(chart)):
        total += one.values[place] or 0.0
        end = round(min(1.0, total) * columns)
        part = number % len(TEXTURES)
        pieces.append(Piece(TEXTURES[part] * (end - done), f"bar{part}"))
        done = end
    return [*pieces, Piece(" " * (columns - done))]


def bar_scale(chart: Chart) -> tuple[float, float]:
    """Return the lowest and the highest value that bars of a chart have room for.

    Chances have the room from 0 to 1 where one of them is large; differences and means as much as the largest needs.
    """
    ends = [end for pair in chart.intervals for end in pair]
    values = [value for value in (*chart.series[-1].values, *ends) if value is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == 0 and high <= 1 and (high > 0.5 or chart.is_whole):
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
