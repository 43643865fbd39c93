"""Several odds at once, from what is typed to what is printed: compared, varied, searched, taken apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpgres.cli import INTERRUPTED
from rpgres.cli import options as opt
from rpgres.cli.output import is_terminal, say, say_json, say_text, warn
from rpgres.cli.progress import progress
from rpgres.errors import OutputError, UsageError
from rpgres.model.state import EMPTY
from rpgres.odds.subjects import SUCCESS, Change, Subject, named_change

if TYPE_CHECKING:
    from rpgres.cli.render.odds_reports import Record
    from rpgres.odds.variations import Axis
    from rpgres.rulesets import RulesetFile

FORMATS = ("table", "md", "csv", "json", "html")
STUDIES = ("compare", "vary", "find", "knockout")


def format_of(shared: Mapping[str, Any]) -> str:
    """Return the format that is asked for.

    Raises:
        UsageError: there is no such format, or two are asked for.
    """
    form = shared["format"]
    if form is not None and form not in FORMATS:
        raise UsageError(f"--format takes {', '.join(FORMATS)}, not {form!r}")
    if shared["json"] and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} exclude each other")
    return "json" if shared["json"] else form or "table"


def study_of(shared: Mapping[str, Any], axes: Sequence[Axis]) -> str:
    """Return which study is asked for; empty for the odds of one subject.

    Args:
        shared: the options.
        axes: the ranges among the inputs.

    Raises:
        UsageError: two exclude each other, or an option is missing.
    """
    asked = [name for name in STUDIES if shared[name]]
    if axes and "vary" not in asked and "find" not in asked:
        asked.append("vary")
    if len(asked) > 1:
        shown = ["a range" if name == "vary" and not shared["vary"] else f"--{name}" for name in asked]
        raise UsageError(f"{' and '.join(shown)} exclude each other")
    study = asked[0] if asked else ""
    if (study == "find") != bool(shared["goal"]):
        raise UsageError("--find and --target (or --goal) belong together: --find vs=0..8 --target success=60%")
    if shared["outcome"] and study not in ("vary", "knockout"):
        raise UsageError("--outcome says what a grid or --knockout shows; use it with two ranges or with --knockout")
    return study


def run_study(
    study: str,
    subject: Subject,
    axes: Sequence[Axis],
    shared: Mapping[str, Any],
    *,
    told: Mapping[str, Any],
    file: RulesetFile | None,
    others: Mapping[str, Subject] = EMPTY,
) -> int:
    """Compute and print a study; return the exit code.

    Args:
        study: which.
        subject: what is asked about.
        axes: the ranges among its inputs.
        shared: the options.
        told: further fields of the record.
        file: the ruleset's data, for its words.
        others: other scenes to compare with, by the text that names each.
    """
    form = format_of(shared)
    outcomes = list(shared["outcome"])
    with progress("evaluating", is_plain=shared["plain"]) as show:
        settings: dict[str, Any] = {
            "seconds": opt.read_seconds(shared["seconds"]),
            "progress": show,
            "told": {**told, "note": shared["note"]},
        }
        if others:
            settings["others"] = others
        record = _STUDIES[study](subject, axes, shared, settings)
    emit(record, file, form=form, svg=shared["svg"], is_plain=shared["plain"], outcomes=outcomes)
    return 0 if record.complete else INTERRUPTED


def _compare(subject: Subject, axes: Sequence[Axis], shared: Mapping[str, Any], settings: dict[str, Any]) -> Any:
    from rpgres.odds.comparison import compare

    others = settings.get("others", EMPTY)
    cases = [
        (text, [Change(kind="scene", name=text) if text in others else _compared(subject, text)])
        for text in shared["compare"]
    ]
    return compare(subject, cases, **settings)


def scenes_among(texts: Sequence[str]) -> list[str]:
    """Return which of what is compared are scenes: TOML files that name a ruleset, and shipped ones by name."""
    found = []
    for text in texts:
        if os.path.isfile(text):
            from pathlib import Path

            from rpgres.toml.reading import parse, read_source

            if "ruleset" in parse(read_source(Path(text))):
                found.append(text)
        elif "/" in text and "=" not in text and not os.path.isdir(text) and not text.endswith(".toml"):
            found.append(text)
    return found


def _compared(subject: Subject, text: str) -> Change:
    """Return the change that stands behind --compare: NAME=VALUE, or a house rule's file or folder."""
    if os.path.exists(text) or text.endswith(".toml"):
        return Change(kind="rules", name=text)
    name, separator, value = text.partition("=")
    if not separator or not name.strip() or not value.strip():
        raise UsageError(f"--compare takes NAME=VALUE, or a file or folder with a house rule, not {text!r}")
    return named_change(subject, name.strip(), value.strip())


def _vary(subject: Subject, axes: Sequence[Axis], shared: Mapping[str, Any], settings: dict[str, Any]) -> Any:
    from rpgres.odds.variations import read_axis, vary

    every = [*axes, *(read_axis(text, option="vary") for text in shared["vary"])]
    return vary(subject, every, **settings)


def _find(subject: Subject, axes: Sequence[Axis], shared: Mapping[str, Any], settings: dict[str, Any]) -> Any:
    from rpgres.odds.variations import find, read_axis, read_target

    if axes:
        raise UsageError(f"--find takes the range itself: --find {axes[0].name}=...")
    return find(subject, read_axis(shared["find"], option="find"), read_target(shared["goal"]), **settings)


def _knockout(subject: Subject, axes: Sequence[Axis], shared: Mapping[str, Any], settings: dict[str, Any]) -> Any:
    from rpgres.odds.knockout import knockout

    if len(shared["outcome"]) > 1:
        raise UsageError("--knockout looks at one --outcome")
    return knockout(subject, outcome=next(iter(shared["outcome"]), SUCCESS), **settings)


_STUDIES: dict[str, Callable[[Subject, Sequence[Axis], Mapping[str, Any], dict[str, Any]], Any]] = {
    "compare": _compare,
    "vary": _vary,
    "find": _find,
    "knockout": _knockout,
}


def emit(
    record: Record,
    file: RulesetFile | None,
    *,
    form: str,
    svg: str | None = None,
    is_plain: bool = False,
    outcomes: Sequence[str] = (),
    lines: Callable[[], Any] | None = None,
) -> None:
    """Print a record of odds in the format that is asked for, and write its chart.

    Args:
        record: the odds.
        file: the ruleset's data, for its words.
        form: one of `FORMATS`.
        svg: where the chart is written; None for nowhere.
        is_plain: whether colours, bars and shades are left out.
        outcomes: what a grid shows in place of success.
        lines: makes the lines of a table, in place of those of the report.
    """
    from rpgres.cli.render.documents import csv_text, markdown, page
    from rpgres.cli.render.odds_reports import csv_rows, report_of

    report = report_of(record, file, outcomes=outcomes, columns=_columns(form))
    if svg is not None:  # before anything is printed: a chart that cannot be written is an error
        _write_chart(svg, report)
    match form:
        case "json":
            say_json(record)
        case "csv":
            say_text(csv_text(*csv_rows(record)))
        case "md":
            say_text(markdown(report))
        case "html":
            say_text(page(report))
        case _ if lines is not None:
            say(lines(), is_plain=is_plain)
        case _:
            from rpgres.cli.render.reports import report_lines

            say(report_lines(report, bars=bar_columns(is_plain=is_plain), is_shaded=not is_plain), is_plain=is_plain)


def bar_columns(*, is_plain: bool) -> int:
    """Return how many columns there are for a bar, 0 where bars would be noise."""
    if is_plain or not is_terminal():
        return 0
    from shutil import get_terminal_size

    return max(8, min(50, get_terminal_size().columns - 46))


def _columns(form: str) -> int:
    """Return how wide a table may be."""
    from rpgres.cli.render.odds_reports import WIDE

    if form != "table":
        return WIDE * 10
    if not is_terminal():
        return WIDE
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _write_chart(path: str, report: Any) -> None:
    from rpgres.cli.render.odds_charts import chart_svg

    if report.chart is None:
        warn(f"--svg {path}: there is nothing to draw")
        return
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(chart_svg(report.chart))
    except OSError as error:
        raise OutputError(f"cannot write --svg {path}: {error.strerror or type(error).__name__}", file=path) from None
