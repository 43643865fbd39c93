"""What the commands that check files share: the forms of their output, and their exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rpgres.cli.formats.sheets import FileCheck
    from rpgres.cli.render.lines import Line
    from rpgres.toml.diagnostics import Diagnostic

Form = Literal["text", "json", "github"]


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
    is_plain: bool = False,
    unchecked: Sequence[str] = (),
    undone: str = "not checked",
) -> None:
    """Print what a check found, and exit with 1 when something is wrong, with 130 when it was interrupted.

    Args:
        form: how it is printed.
        ok: whether nothing is wrong.
        record: the whole as JSON has it.
        found: everything that was found.
        lines: the whole for people.
        is_plain: whether lines have no colours.
        unchecked: the names of what was interrupted before its check.
        undone: what they are, in words.
    """
    from rpgres.cli.output import say, say_json, say_text

    if form == "json":
        say_json(record)
    elif form == "github":
        from rpgres.cli.render.diagnostics import github_text

        say_text(github_text(found))
    else:
        say([*lines], is_plain=is_plain)
    if unchecked:
        from rpgres.cli.progress import interrupted

        raise typer.Exit(interrupted(f"{undone}: {', '.join(unchecked)}"))
    if not ok:
        raise typer.Exit(1)


def check_files(form: Form, files: Sequence[str], check: Callable[[str], FileCheck]) -> None:
    """Check files one by one and print the results; exit with 1 when something is wrong.

    Args:
        form: how it is printed.
        files: which.
        check: checks one.
    """
    from rpgres.cli.formats.sheets import FileChecks
    from rpgres.cli.progress import one_by_one
    from rpgres.cli.render.diagnostics import diagnostic_lines
    from rpgres.cli.render.lines import line
    from rpgres.text.harmless import harmless

    checks = one_by_one("checking", files, check)
    unchecked = files[len(checks) :]
    ok = not unchecked and all(check.ok for check in checks)
    found = [diagnostic for check in checks for diagnostic in check.problems]
    lines = []
    for one in checks:
        lines += diagnostic_lines(one.problems) or [line(harmless(f"{one.file}: ok"))]
    end_check(form, ok=ok, record=FileChecks(ok=ok, files=checks), found=found, lines=lines, unchecked=unchecked)
