"""`rpgres sheet`: make, check and show character sheets. See `rpgres.rulesets.sheets`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.catalog.listed import list_files
from rpgres.catalog.sheets import FileCheck, diagnose_sheet, sheet_record, sheet_ruleset, sheet_template
from rpgres.cli.annotations import AsJson, Folders, OfRuleset, OnlyOf, RulesetId, option
from rpgres.cli.checks.report import AsForm, check_files, form_of
from rpgres.cli.options import load_named, read_folders
from rpgres.cli.output import say_record, say_text
from rpgres.cli.shell import join_line
from rpgres.errors import FileError, writing
from rpgres.formats.editors import schema_line, write_schemas
from rpgres.render.files import file_list_lines
from rpgres.render.sheets import sheet_lines
from rpgres.rulesets.sheets import file_here, find_sheet, read_sheet
from rpgres.toml.diagnostics import diagnostics_in
from rpgres.toml.reading import Source, parse, read_source

if TYPE_CHECKING:
    from rpgres.rulesets import Rules

app = typer.Typer(no_args_is_help=True)

STDIN = "-"


def _complete_sheets() -> list[tuple[str, str]]:
    """Return the sheets that come with rulesets, and the TOML files here."""
    found = [(one.name, f"{one.title} ({one.ruleset})") for one in list_files("sheet").files]
    return [*dict.fromkeys(found), *((path.name, "") for path in sorted(Path().glob("*.toml")))]


@app.command("list")
def list_all(ruleset: OnlyOf = None, as_json: AsJson = False, rulesets: Folders = None) -> None:
    """List the sheets that come with rulesets, and those in the folders of house rules.

    `rpgres sheet show NAME` shows one, and `--sheet NAME` plays it.
    """
    found = list_files("sheet", ruleset, extra=read_folders(rulesets))
    say_record(found, lambda: file_list_lines(found), as_json=as_json)


@app.command("new")
def new(
    ruleset: RulesetId,
    name: Annotated[str, option("--name", takes="NAME", help="Name of the character.")] = "",
    out: Annotated[str | None, option("--out", takes="FILE", help="Write it to a new file.")] = None,
    rulesets: Folders = None,
) -> None:
    """Print a sheet to start from, with every key explained.

    With --out, a schema is written beside it, by which an editor completes and checks the sheet.
    """
    rules = load_named(ruleset, rulesets)
    text = sheet_template(rules, name=name)
    if out is None:
        say_text(text)
        return

    with writing(out, instead="."), open(out, "x", encoding="utf-8", newline="\n") as file:
        file.write(schema_line("sheet", rules.id) + text)
    write_schemas(Path(out).parent, ["sheet"], rules)
    say_text(f"{out}: written; change it, then: {join_line(['rpgres', 'sheet', 'check', out])}\n")


@app.command("check")
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Sheets: files, - for standard input, or a shipped one by name.",
            autocompletion=_complete_sheets,
        ),
    ],
    ruleset: OfRuleset = None,
    form: AsForm = "text",
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Find everything that is wrong with sheets.

    Every problem names its file, line and key. The exit code is 1 when there is any, and 0 where there are only
    warnings.
    """
    check_files(form_of(form, as_json=as_json), files, lambda file: _check(file, ruleset, rulesets))


def _check(file: str, ruleset: str | None, rulesets: Sequence[str] | None) -> FileCheck:
    try:
        rules, source = _opened(file, ruleset, rulesets)
        found = diagnose_sheet(rules, source if source is not None else _source(file, rules))
    except FileError as error:  # not to be read, or not TOML: the first fault is all there is
        found = diagnostics_in(error, file=file)
    return FileCheck.of(file, found)


@app.command("show")
def show(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A sheet: a file, -, or a shipped one by name.", autocompletion=_complete_sheets
        ),
    ],
    ruleset: OfRuleset = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Show a character as one would write it down."""
    rules, source = _opened(file, ruleset, rulesets)
    source = source if source is not None else _source(file, rules)
    sheet = read_sheet(rules, file, source=source)
    record = sheet_record(rules, sheet)
    say_record(record, lambda: sheet_lines(rules, sheet, parse(source)), as_json=as_json)


def _opened(file: str, ruleset: str | None, rulesets: Sequence[str] | None) -> tuple[Rules, Source | None]:
    """Return the rules by which a sheet is read, and its text where it had to be read to know them."""
    if ruleset:
        return load_named(ruleset, rulesets), None
    extra = read_folders(rulesets)
    if file == STDIN:
        source = read_source(Path(file))
        return load_named(sheet_ruleset(file, text=source.text, extra=extra), rulesets), source
    return load_named(sheet_ruleset(file, extra=extra), rulesets), None


def _source(file: str, rules: Rules) -> Source:
    path = Path(file_here(file))
    if file == STDIN or os.path.exists(path) or path.parent != Path():
        return read_source(path)  # of a file that is not there it names the nearest in its folder
    return read_source(find_sheet(rules, file))
