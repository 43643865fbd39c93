"""What the commands that check files share: the forms of their output, and their exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rpgres.cli.exits import leave
from rpgres.cli.output import say, say_json, say_text
from rpgres.cli.progress import interrupted, one_by_one
from rpgres.render.lines import Line, line
from rpgres.text.harmless import harmless
from rpgres.toml.diagnostics import MAX_SHOWN, Diagnostic

if TYPE_CHECKING:
    from rpgres.catalog.sheets import FileCheck

Form = Literal["text", "json", "github"]
_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}  # GitHub's names of severities


def form_of(form: Form, *, as_json: bool) -> Form:
    """Return how a check is printed: `--json` is short for `--format json`."""
    return "json" if as_json else form


AsForm = Annotated[
    Form,
    typer.Option("--format", help="Print text, JSON (as --json does), or annotations for a GitHub workflow."),
]


def end_check(
    form: Form,
    *,
    ok: bool,
    record: Any,
    found: Iterable[Diagnostic],
    lines: Sequence[Line],
    unchecked: Sequence[str] = (),
    undone: str = "not checked",
) -> None:
    """Print what a check found, and exit with 1 when something is wrong, with 130 when it was interrupted.

    Args:
        unchecked: the names of what was interrupted before its check.
    """
    if form == "json":
        say_json(record)
    elif form == "github":
        say_text("".join(f"{_annotation(diagnostic)}\n" for diagnostic in found))
    else:
        say([*lines])
    leave(interrupted(f"{undone}: {', '.join(unchecked)}") if unchecked else int(not ok))


def check_files(form: Form, files: Sequence[str], check: Callable[[str], FileCheck]) -> None:
    """Check files one by one and print the results; exit with 1 when something is wrong."""
    from rpgres.catalog.sheets import FileChecks

    checks = one_by_one("checking", files, check)
    unchecked = files[len(checks) :]
    ok = not unchecked and all(check.ok for check in checks)
    found = [diagnostic for check in checks for diagnostic in check.problems]
    lines = []
    for one in checks:
        lines += diagnostic_lines(one.problems)
        lines += [line(harmless(f"{one.file}: ok"))] if one.ok else []
    end_check(form, ok=ok, record=FileChecks(ok=ok, files=checks), found=found, lines=lines, unchecked=unchecked)


def diagnostic_lines(found: Sequence[Diagnostic]) -> list[Line]:
    """Return diagnostics as `FILE:LINE: KEY: what is wrong`, as many as a reader may want."""
    texts = [f"{'' if its.severity == 'error' else f'{its.severity}: '}{its.text}" for its in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        texts.append(f"... and {len(found) - MAX_SHOWN} more")
    return [line(text) for told in texts for text in harmless(told).split("\n")]


def _annotation(its: Diagnostic) -> str:
    """Return a diagnostic as the command that makes a GitHub workflow annotate the file."""
    properties = {"file": its.file, "line": its.line, "col": its.column, "title": its.code}
    shown = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items() if value)
    return f"::{_LEVELS[its.severity]} {shown}::{_escaped(its.told)}"


def _escaped(text: str, also: str = "") -> str:
    """Return a text in which `%`, line ends and further characters are written as `%` and their code."""
    for character in ("%", "\r", "\n", *also):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
