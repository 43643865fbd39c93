"""Charts as SVG: one self-contained file that needs no script and no font, with a title and a description for readers.

What colours tell is also written: every bar and every cell has its number, every series its name.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence

from rpgres.render.reports import GRIDS, Chart, Series, bar_scale, is_stacked, parts_of, shade
from rpgres.text.harmless import in_line

# Told apart by those who see few colours, too (after Okabe and Ito), and by their lightness.
COLOURS = ("#b2182b", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#cc79a7", "#999999", "#f0e442")
LESS = ("#fff5f0", "#fcbba1", "#fb6a4a", "#cb181d", "#67000d")  # of differences under 0; their sign is written, too
HEAT = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")
DARK_FROM = 3  # shades on which text is white

LETTER = 7.2  # pixels of an average character at this size
SIZE = 13
ROW = 26
PLOT = 420
MARGIN = 16
LONGEST = 48  # characters of a name


def chart_svg(*charts: Chart, title: str = "", note: str = "") -> str:
    """Return charts, one below the other, as an SVG document.

    Args:
        title: what they show together; by default what the first shows.
    """
    drawn, width, height = [], 0.0, 0.0
    if title:
        drawn.append(_text(MARGIN, MARGIN + 8, title, bold=True))
        width, height = _title_width(title), ROW
    for chart in charts:
        *body, size = _heat(chart) if chart.kind in GRIDS else _bars(chart)
        drawn += [f'<g transform="translate(0 {height:.1f})">', *body, "</g>"]
        wide, tall = (float(part) for part in size.split())
        width, height = max(width, wide), height + tall
    if note:
        drawn.append(_text(MARGIN, height + 4, note, fill="#595959", whole=True))
        width, height = max(width, MARGIN * 2 + LETTER * len(note)), height + ROW
    title = title or charts[0].title
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="title desc" '
        f'font-family="sans-serif" font-size="{SIZE}">'
    )
    said = f'<title id="title">{escape(title)}</title>'
    told = [description(one) if len(charts) == 1 else f"{one.title}: {description(one)}" for one in charts]
    described = f'<desc id="desc">{escape(" ".join((*told, note)).strip())}</desc>'
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    return "\n".join((head, said, described, ground, *drawn, "</svg>", ""))


def description(chart: Chart) -> str:
    """Return all that a chart shows, in sentences."""
    rows = []
    for place, category in enumerate(chart.categories):
        known = [(one.name, one.values[place]) for one in chart.series]
        values = "; ".join(
            f"{f'{_axis(chart.series_axis)}{name} ' if name else ''}"
            f"{chart.texts[place] if chart.texts else percent_text(value)}"
            for name, value in known
            if value is not None
        )
        rows.append(f"{_axis(chart.category_axis)}{category}: {values}.")
    return " ".join(rows)


def _axis(name: str) -> str:
    return f"{name} " if name else ""


def percent_text(value: float) -> str:
    """Return a chance, or a difference, as a percentage with one digit."""
    return f"{100 * value:.1f} %"


def escape(text: str) -> str:
    """Return a text for XML: harmless, in one line."""
    return html.escape(in_line(text))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    fill: str = "#222222",
    bold: bool = False,
    whole: bool = False,
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    shown = escape(text if bold or whole else _cut(text))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{weight}>{shown}</text>'


def _rect(x: float, y: float, width: float, height: float, fill: str, *, said: str = "") -> str:
    inside = f"><title>{escape(said)}</title></rect>" if said else "/>"
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" fill="{fill}"{inside}'


def _title_width(title: str) -> float:
    return MARGIN * 2 + LETTER * 1.15 * len(title)


def _left(names: Sequence[str]) -> float:
    return MARGIN + LETTER * max((len(_cut(name)) for name in names), default=0) + 10


def _bars(chart: Chart) -> Iterator[str]:
    """Yield a bar for each category: of one series, or of all of them stacked; last the size of the picture."""
    left = _left(chart.categories)
    has_parts = is_stacked(chart)
    shown = parts_of(chart) if has_parts else chart.series[-1:]
    top = MARGIN + 34.0
    width = max(left + PLOT + 80, _title_width(chart.title))
    yield _text(MARGIN, MARGIN + 8, chart.title, bold=True)
    if has_parts:
        legend, top = _legend(shown, width)
        yield from legend
    low, high = (0.0, 1.0) if has_parts else bar_scale(chart)

    def at(value: float) -> float:
        return left + PLOT * (value - low) / (high - low)

    for place, category in enumerate(chart.categories):
        y = top + place * ROW
        yield _text(left - 8, y + ROW * 0.66, category, anchor="end")
        yield from _stack(chart, shown, place, left, y) if has_parts else _single(chart, place, y, at)
    height = top + len(chart.categories) * ROW
    yield f"{width} {height + MARGIN}"


def _legend(series: Sequence[Series], width: float) -> tuple[list[str], float]:
    """Return the names of series beside their colours, in as many rows as it takes, and where they end."""
    drawn = list[str]()
    x, y = float(MARGIN), MARGIN + 22.0
    for place, one in enumerate(series):
        wide = 18 + LETTER * (len(_cut(one.name)) + 2)
        if x + wide > width - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + 20
        drawn += [_rect(x, y, 12, 12, COLOURS[place % len(COLOURS)]), _text(x + 18, y + 11, one.name)]
        x += wide
    return drawn, y + 26


def _stack(chart: Chart, series: Sequence[Series], place: int, x: float, y: float) -> Iterator[str]:
    for number, one in enumerate(series):
        value = one.values[place] or 0.0
        wide = PLOT * value
        said = f"{chart.categories[place]}, {one.name}: {percent_text(value)}"
        yield _rect(x, y + 3, wide, ROW - 6, COLOURS[number % len(COLOURS)], said=said)
        text = f"{100 * value:.0f}"
        if wide > LETTER * (len(text) + 1):
            dark = number % len(COLOURS) in (0, 3, 4)
            yield _text(x + wide / 2, y + ROW * 0.66, text, anchor="middle", fill="#ffffff" if dark else "#222222")
        x += wide


def _single(chart: Chart, place: int, y: float, at: Callable[[float], float]) -> Iterator[str]:
    value = chart.series[-1].values[place]
    if value is None:
        return
    x, end = sorted((at(0), at(value)))
    text = chart.texts[place] if chart.texts else percent_text(value)
    said = f"{chart.categories[place]}: {text}"
    yield _rect(x, y + 3, end - x, ROW - 6, COLOURS[4] if value >= 0 else COLOURS[0], said=said)
    if chart.intervals:
        first, last = map(at, chart.intervals[place])
        middle = y + ROW / 2
        ends = f'x1="{first:.1f}" y1="{middle:.1f}" x2="{last:.1f}" y2="{middle:.1f}"'
        yield f'<line {ends} stroke="#222222" stroke-width="1.5"/>'
        end = max(end, last)
    yield _text(end + 6, y + ROW * 0.66, text)


def _heat(chart: Chart) -> Iterator[str]:
    """Yield a grid of shaded cells, each with its number; last the size of the picture."""
    names = [one.name for one in chart.series]
    left = _left([*chart.categories, chart.category_axis])
    wide = max(58.0, LETTER * (max(map(len, names), default=0) + 1))
    top, is_change = MARGIN + 44, chart.kind == "change"
    shares = [abs(value) for one in chart.series for value in one.values if value is not None]
    most = max(shares, default=0.0) if is_change else 1.0  # what has the darkest shade
    yield _text(MARGIN, MARGIN + 8, chart.title, bold=True)
    yield _text(left, MARGIN + 28, chart.series_axis)
    yield _text(left - 8, top + 4, chart.category_axis, anchor="end")
    for place, name in enumerate(names):
        yield _text(left + wide * (place + 0.5), top + 4, name, anchor="middle")
    for row, category in enumerate(chart.categories):
        y = top + 10 + row * ROW
        yield _text(left - 8, y + ROW * 0.66, category, anchor="end")
        for place, one in enumerate(chart.series):
            value = one.values[row]
            if value is None:
                continue
            tone = shade(abs(value) / most if most else 0.0)
            said = f"{chart.category_axis} {category}, {chart.series_axis} {one.name}: {percent_text(value)}"
            colour = HEAT[tone] if value >= 0 else LESS[tone]
            yield _rect(left + wide * place, y, wide - 1, ROW - 1, colour, said=said)
            fill = "#ffffff" if tone >= DARK_FROM else "#222222"
            text = f"{100 * value:+.1f}" if is_change else f"{100 * value:.1f}"
            yield _text(left + wide * (place + 0.5), y + ROW * 0.66, text, anchor="middle", fill=fill)
    width = max(left + wide * len(names) + MARGIN, _title_width(chart.title))
    yield f"{width} {top + 10 + len(chart.categories) * ROW + MARGIN}"
