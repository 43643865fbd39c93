"""A report in the format that is asked for: printed, or written to a file, its chart written as SVG."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
    if form is None and ending not in ("", "txt"):
        known = ", ".join(f".{one}" for one in ("txt", *ENDINGS))
        raise UsageError(f"{named('out')} knows the endings {known}, not .{ending}; or name the {named('format')}")
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
    report: Callable[[], Report],
    shared: Mapping[str, Any],
    *,
    rows: Callable[[], Rows],
    lines: Callable[[], Sequence[Shown]] | None = None,
) -> None:
    """Print a record, or write it to a file, and write its chart.

    Args:
        lines: makes the lines for a terminal; by default they are the report's.
    """
    form, out, svg, report = format_of(shared), shared["out"], shared["svg"], cache(report)

    def of_report() -> Sequence[Shown]:
        from rpgres.render.reports import report_lines

        return report_lines(report())

    shown = lines or of_report

    def text() -> str:
        if form == "json":
            return to_json(record).decode() + "\n"
        from rpgres.render.documents import csv_text, markdown, page
        from rpgres.render.lines import plain_text

        if form == "table":
            return plain_text(shown())
        return csv_text(*rows()) if form == "csv" else (markdown if form == "md" else page)(report())

    if svg is not None:  # before anything is printed: a chart that cannot be written is an error
        _write_chart(svg, report())
    if out is not None:
        _write(out, text(), option=named("out"))
        say_text(f"{in_line(out)}: written\n")
    elif form == "json":
        say_json(record)
    elif form == "table":
        say(shown())
    else:
        say_text(text())
    if svg is not None and report().chart is not None and (form == "table" or out is not None):
        say_text(f"{in_line(svg)}: written\n")


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
