"""Odds, from what is typed to what is printed; several at once too: compared, or varied."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpgres.cli import INTERRUPTED
from rpgres.cli import options as opt
from rpgres.cli.exits import leave
from rpgres.cli.progress import progress
from rpgres.cli.reporting import Rows, emit_report, format_of
from rpgres.engine.hidden import NO_TABLE, Start
from rpgres.errors import UsageError, named
from rpgres.lines.options import read_answers
from rpgres.model.state import EMPTY
from rpgres.odds.query import Query
from rpgres.odds.study import Study
from rpgres.odds.subjects import Change, Subject, named_change
from rpgres.plugins.loading import checked

if TYPE_CHECKING:
    from rpgres.odds.variations import Axis
    from rpgres.render.odds.rows import Record
    from rpgres.render.reports import Report
    from rpgres.rulesets import Rules, RulesetFile

STUDIES = ("compare", "vary")


def read_query(
    rules: Rules,
    action: str,
    inputs: Mapping[str, Any],
    shared: Mapping[str, Any],
    *,
    by: str = "outcome",
    start: Start = NO_TABLE,
) -> Query:
    """Return what a line asks of an action or a procedure.

    Args:
        start: where it begins; at a persistent table, the switches are those of its rules.

    Raises:
        UsageError: an option cannot be read.
    """
    rules = checked(rules)
    return Query(
        rules=rules,
        action=action,
        inputs=inputs,
        switches=opt.read_switches(shared["switch"]) if start.state is None else rules.chosen,
        choose=read_answers(shared["choose"], option="choose"),
        policies=opt.named_policies(shared["policy"]),
        auto=shared["auto"],
        by=by,
        note=shared["note"],
        start=start,
        **(opt.read_budget(shared) if "leaves" in shared else {}),
    )


def study_of(shared: Mapping[str, Any], axes: Sequence[Axis]) -> str:
    """Return which study is asked for; empty for the odds of one subject.

    Raises:
        UsageError: --outcome stands without a grid.
    """
    asked = [name for name in STUDIES if shared[name]]
    if axes and "vary" not in asked:
        asked.append("vary")
    study = "grids" if len(asked) > 1 else asked[0] if asked else ""
    if shared["outcome"] and study != "vary":
        raise UsageError(f"{named('outcome')} says which outcome a grid shows; use it with two ranges")
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
) -> None:
    """Compute and print a study; exit with its code.

    Args:
        others: other scenes to compare with, by the text that names each.
    """
    format_of(shared)  # mistakes are reported before the work begins
    with progress("evaluating") as show:
        about = {**told, "note": shared["note"]}
        seconds, outcomes = opt.read_seconds(shared["seconds"]), tuple(shared["outcome"])
        studied = Study(subject, seconds, progress=show, told=about, outcomes=outcomes, others=others)
        record = _record(study, studied, axes, shared)
    emit(record, file, shared, outcomes=outcomes)
    leave(0 if record.complete else INTERRUPTED)


def _cases(study: Study, shared: Mapping[str, Any]) -> list[tuple[str, list[Change]]]:
    """Return what is compared: the changes of each case under the text that was typed."""
    return [
        (text, [Change(kind="scene", name=text) if text in study.others else _compared(study.subject, text)])
        for text in shared["compare"]
    ]


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
        raise UsageError(f"{named('compare')} takes NAME=VALUE, or a file or folder with a house rule, not {text!r}")
    return named_change(subject, name.strip(), value.strip())


def _record(kind: str, study: Study, typed: Sequence[Axis], shared: Mapping[str, Any]) -> Any:
    """Return the record of a study; only what is asked for is imported."""
    from rpgres.odds.comparison import compare, compare_grids
    from rpgres.odds.variations import read_axis, vary

    if kind == "compare":
        return compare(study, _cases(study, shared))
    axes = [*typed, *(read_axis(text, option="vary", subject=study.subject) for text in shared["vary"])]
    if kind == "vary":
        return vary(study, axes)
    return compare_grids(study, axes, _cases(study, shared))


def emit(record: Record, file: RulesetFile | None, shared: Mapping[str, Any], *, outcomes: Sequence[str] = ()) -> None:
    """Print a record of odds in the format that is asked for, or write it to a file, and write its chart.

    Args:
        outcomes: what a grid shows in place of success.
    """

    def report() -> Report:  # JSON needs none
        from rpgres.render.odds.reports import report_of

        return report_of(record, file, outcomes=outcomes)

    def rows() -> Rows:
        from rpgres.render.odds.rows import csv_rows

        return csv_rows(record)

    emit_report(record, report, shared, rows=rows)
