"""A report in the format that is asked for: printed, or written to a file, its chart written as SVG."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpgres.cli.output import say, say_json, say_text, warn
from rpgres.errors import OutputError, UsageError, named
from rpgres.text.harmless import in_line, to_json

if TYPE_CHECKING:
    from rpgres.render.lines import Shown
    from rpgres.render.reports import Report

FORMATS = ("table", "md", "csv", "json", "html")
ENDINGS = {"markdown": "md", **{form: form for form in FORMATS[1:]}}  # and names by which formats are known, too
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]  # of a spreadsheet: the heads, and the rows


def format_of(shared: Mapping[str, Any]) -> str:
    """Return the format that is asked for, be it by the ending of the file that is written.

    Raises:
        UsageError: there is no such format, or two are asked for.
    """
    form = shared["format"]
    ending = os.path.splitext(shared["out"] or "")[1][1:].lower()
    if ending == "svg":
        raise UsageError(f"a chart is written with {named('svg')} {shared['out']}; {named('out')} writes the table")
    if form is None and ending in ENDINGS:
        form = ending
    form = ENDINGS.get(form, form)
    if form is not None and form not in FORMATS:
        raise UsageError(f"{named('format')} takes {', '.join(FORMATS)}, not {form!r}")
    if shared["json"] and form not in (None, "json"):
        raise UsageError(
            f"{named('json')} and {named('out' if shared['format'] is None else 'format')} {form} exclude each other"
        )
    return "json" if shared["json"] else form or "table"


def emit_report(
    record: Any,
    report: Report,
    shared: Mapping[str, Any],
    *,
    rows: Callable[[], Rows],
    lines: Callable[[], Sequence[Shown]] | None = None,
) -> None:
    """Print a record, or write it to a file, and write its chart.

    Args:
        record: what is printed as JSON.
        report: the same for people.
        shared: the options: format, out, svg, json, plain.
        rows: makes the CSV.
        lines: makes the lines for a terminal; by default they are the report's.
    """
    from rpgres.render.reports import report_lines

    form = format_of(shared)
    if shared["svg"] is not None:  # before anything is printed: a chart that cannot be written is an error
        _write_chart(shared["svg"], report)
    shown = lines if lines is not None else lambda: report_lines(report)
    if shared["out"] is not None:
        _write(shared["out"], _text_of(record, report, form, rows, shown), option=named("out"))
        say_text(f"{in_line(shared['out'])}: written\n")
    elif form == "json":
        say_json(record)
    elif form == "table":
        say(shown())
    else:
        say_text(_text_of(record, report, form, rows, shown))
    if shared["svg"] is not None and report.chart is not None and (form == "table" or shared["out"] is not None):
        say_text(f"{in_line(shared['svg'])}: written\n")


def _text_of(
    record: Any, report: Report, form: str, rows: Callable[[], Rows], lines: Callable[[], Sequence[Shown]]
) -> str:
    """Return a record in a format for files."""
    if form == "json":
        return to_json(record).decode() + "\n"
    if form == "table":
        from rpgres.render.lines import plain_text

        return plain_text(lines())
    from rpgres.render.documents import csv_text, markdown, page

    if form == "csv":
        return csv_text(*rows())
    return markdown(report) if form == "md" else page(report)


def _write_chart(path: str, report: Report) -> None:
    from rpgres.render.charts import chart_svg

    if report.chart is None:
        warn(f"--svg {path}: there is nothing to draw")
        return
    title = report.title if report.others else ""
    _write(path, chart_svg(report.chart, *report.others, title=title, note=report.chart_note), option=named("svg"))


def _write(path: str, text: str, *, option: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        message = f"cannot write {option} {path}: {error.strerror or type(error).__name__}"
        raise OutputError(message, file=path) from None
