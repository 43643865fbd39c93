"""Bar charts as SVG, without a library: readable in any browser, in light and dark, and by a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct

from rpgres.text.harmless import in_line

_ROW, _BAR, _GAP, _HEAD, _FOOT = 24, 14, 26, 40, 26
_LABELS, _BARS, _VALUES = 190, 400, 190  # columns, in pixels
_CHARACTER = 7.2  # pixels of one
MOST_BARS = 200  # of one group; the rest is for JSON and CSV

_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1a1a1a; }
.title { font-weight: 600; font-size: 15px; }
.quiet { fill: #595959; }
.bar { fill: #2f6fb3; }
.interval { stroke: #1a1a1a; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f0f0; } .quiet { fill: #b0b0b0; } .bar { fill: #6aa7e8; } .interval { stroke: #f0f0f0; }
}"""


class Bar(Struct, frozen=True):
    """A bar of a chart.

    Attributes:
        label: what it stands for.
        share: its length, from 0 to 1.
        text: what stands behind it.
        low: where its interval begins; None for none.
        high: where it ends.
    """

    label: str
    share: float
    text: str
    low: float | None = None
    high: float | None = None


class Group(Struct, frozen=True):
    """Bars under one heading; they are drawn to one scale.

    Attributes:
        title: the heading.
        bars: the bars.
    """

    title: str
    bars: Sequence[Bar]


def bar_chart(title: str, groups: Sequence[Group], *, note: str = "") -> str:
    """Return a chart with horizontal bars as an SVG document.

    Args:
        title: what it shows.
        groups: the bars.
        note: a line under them.
    """
    width = _LABELS + _BARS + _VALUES
    height = _HEAD + _FOOT + sum(_GAP + _ROW * len(group.bars[:MOST_BARS]) for group in groups)
    told = "; ".join(
        f"{group.title}: " + ", ".join(f"{bar.label} {bar.text}" for bar in group.bars[:MOST_BARS]) for group in groups
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-labelledby="title desc">',
        f'<title id="title">{_text(title)}</title>',
        f'<desc id="desc">{_text(told)}</desc>',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="8" y="24">{_text(title)}</text>',
    ]
    top = _HEAD
    for group in groups:
        bars = group.bars[:MOST_BARS]
        longest = max((bar.high if bar.high is not None else bar.share for bar in bars), default=0.0) or 1.0
        parts.append(f'<text class="quiet" x="8" y="{top + 16}">{_text(group.title)}</text>')
        top += _GAP
        for bar in bars:
            parts += _bar(bar, top=top, longest=longest)
            top += _ROW
    if note:
        parts.append(f'<text class="quiet" x="8" y="{top + 18}">{_text(note)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(bar: Bar, *, top: int, longest: float) -> list[str]:
    def place(share: float) -> float:
        return round(_LABELS + share / longest * _BARS, 2)

    middle = top + _ROW / 2
    label = bar.label if len(bar.label) * _CHARACTER < _LABELS - 16 else f"{bar.label[:22]}\N{HORIZONTAL ELLIPSIS}"
    behind = place(max(bar.share, bar.high or 0.0)) + 8
    parts = [
        f'<text x="{_LABELS - 8}" y="{middle + 4}" text-anchor="end">{_text(label)}</text>',
        f'<rect class="bar" x="{_LABELS}" y="{middle - _BAR / 2}" width="{round(place(bar.share) - _LABELS, 2)}" '
        f'height="{_BAR}"/>',
        f'<text x="{behind}" y="{middle + 4}">{_text(bar.text)}</text>',
    ]
    if bar.low is not None and bar.high is not None:
        parts.append(
            f'<line class="interval" x1="{place(bar.low)}" y1="{middle}" x2="{place(bar.high)}" y2="{middle}"/>'
        )
    return parts


def _text(text: str) -> str:
    return escape(in_line(text))
