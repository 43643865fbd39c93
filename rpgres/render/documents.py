"""Reports as documents: Markdown, one self-contained HTML page, and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rpgres.render.charts import chart_svg, escape
from rpgres.render.reports import Report, Table, used_columns
from rpgres.text.harmless import in_line

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|~&"})  # what would be read as more than text
_LEADS = re.compile(r"^(\d+)([.)])|^([-+=:])")  # what would begin a list or underline a heading
_GAP = re.compile(r"(?<=\S) {2,}")
_STYLE = """\
body { font-family: sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: bold; padding: 0.3rem 0; }
th, td { padding: 0.2rem 0.8rem; border-bottom: 1px solid #ccc; text-align: right; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
"""


def markdown(report: Report) -> str:
    """Return a report as Markdown, with pipe tables as GitHub has them."""
    blocks = [f"# {plain_markdown(report.title)}", *map(plain_markdown, _flowing(report.above))]
    for table in report.tables:
        if table.caption:
            blocks.append(f"## {plain_markdown(table.caption)}")
        blocks.append(_markdown_table(table))
        blocks += map(plain_markdown, _flowing(table.notes))
    if report.below:
        blocks.append("\n".join(f"- {plain_markdown(text)}" for text in _flowing(report.below)))
    return "\n\n".join(blocks) + "\n"


def _flowing(lines: Iterable[str]) -> list[str]:
    """Return lines with commas where a terminal shows columns: a page joins blanks."""
    return [_GAP.sub(", ", line) for line in lines]


def plain_markdown(text: str, *, is_cell: bool = False) -> str:
    r"""Return a text in which nothing means more than it says in Markdown; a cell of a table begins no list.

    >>> plain_markdown("1. *so*")
    '1\\. \\*so\\*'
    """
    marked = in_line(text).strip().translate(_MARKS)
    return (
        marked
        if is_cell
        else _LEADS.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", marked)
    )


def _markdown_table(table: Table) -> str:
    shown = used_columns(table)
    heads = [plain_markdown(table.columns[n], is_cell=True) or " " for n in shown]
    rules = ["---" if n == 0 else "---:" for n in range(len(shown))]
    rows = [heads, rules, *([plain_markdown(row[n].headed, is_cell=True) for n in shown] for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def page(report: Report) -> str:
    """Return a report as one HTML page that needs nothing else, its chart included."""
    return web_page(report.title, fragment(report, heading="h1"), style=_STYLE)


def web_page(title: str, body: str, *, style: str, made_by: str = "") -> str:
    """Return a whole HTML page that needs nothing else.

    Args:
        title: plain text.
        body: HTML.
        made_by: what made it; said in its head.
    """
    generator = f'<meta name="generator" content="{escape(made_by)}"/>\n' if made_by else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n{generator}'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def fragment(report: Report, *, heading: str) -> str:
    """Return a report as HTML to stand in a page, its chart included."""
    parts = [
        f"<{heading}>{escape(report.title)}</{heading}>",
        *(f"<p>{escape(text)}</p>" for text in _flowing(report.above)),
    ]
    for table in report.tables:
        parts += [_html_table(table), *(f"<p>{escape(text)}</p>" for text in _flowing(table.notes))]
    if report.chart is not None:
        parts.append(f"<figure>\n{chart_svg(report.chart, *report.others)}</figure>")
    if report.below:
        items = "\n".join(f"<li>{escape(text)}</li>" for text in _flowing(report.below))
        parts.append(f"<ul>\n{items}\n</ul>")
    return "\n".join(parts)


def _html_table(table: Table) -> str:
    shown = used_columns(table)
    caption = f"<caption>{escape(table.caption)}</caption>\n" if table.caption else ""
    heads = "".join(
        f'<th scope="col">{escape(table.columns[n])}</th>' if table.columns[n] else "<td></td>" for n in shown
    )
    rows = []
    for row in table.rows:
        first, *others = [escape(row[n].headed) for n in shown]
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(f"<td>{text}</td>" for text in others)}</tr>')
    body = "\n".join(rows)
    return f"<table>\n{caption}<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def csv_text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as CSV with a head; no cell is a formula to a spreadsheet."""
    import csv
    from io import StringIO

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_in_csv(cell) for cell in row] for row in rows)
    return text.getvalue()


def _in_csv(text: str) -> str:
    plain = in_line(text)
    if plain[:1] in ("=", "+", "-", "@") and not _is_number(plain):
        return f"'{plain}"
    return plain


def _is_number(text: str) -> bool:
    from fractions import Fraction

    try:
        Fraction(text)
    except (ValueError, ZeroDivisionError):
        return False
    return True
