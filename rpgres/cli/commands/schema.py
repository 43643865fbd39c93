"""`rpgres schema`: JSON Schemas, printed, or written to where editors find them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.cli.annotations import Folders, argument, complete_rulesets, option
from rpgres.cli.options import load_named
from rpgres.cli.output import say, say_json, say_text
from rpgres.cli.streams import recording_now
from rpgres.errors import UsageError, called, enumerated, named

if TYPE_CHECKING:
    from rpgres.rulesets import Rules

BATCH = "batch"  # the kind that describes the requests of all operations
FILES = "files"  # all kinds of files at once


def _kinds() -> list[tuple[str, str]]:
    from rpgres.formats.schemas import KINDS

    batch = (BATCH, "One line that `rpgres batch` reads, operation by operation.")
    files = (FILES, "All kinds of TOML files, with --write.")
    return [batch, files, *((name, kind.description) for name, kind in KINDS.items())]


def command(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="[KIND]",
            show_default="the list of them",
            help="result, pending, odds, odds-ladder, scene-odds, scene-best, comparison, variation, grids, "
            "simulation, what-if, error, request, batch, text, schema-shown, answers, scene-result, account, "
            "scene-test, deck-draw, deck-shown, decks, files-listed, "
            "table, log, entry, view, answer, orders-shown, seal, verify, rulesets, ruleset-shown, "
            "action-shown, ruleset-check, ruleset-test, sheet-shown, check, plugins, plugin-check, config-shown; "
            "the `format` of what was printed, such as rpgres.odds/1; "
            "or of a file: scene, orders, sheet, ruleset, outcomes, deck, menus, config; files for all of these.",
            autocompletion=_kinds,
        ),
    ] = "",
    ruleset: Annotated[
        str | None,
        argument("[RULESET]", help="Include the names and fields of this ruleset.", autocompletion=complete_rulesets),
    ] = None,
    write: Annotated[
        str | None,
        option(
            "--write", takes="DIR", help="Write it into DIR/.schemas, where `#:schema` lines of files in DIR find it."
        ),
    ] = None,
    rulesets: Folders = None,
) -> None:
    """Print the JSON Schema (2020-12) of something rpgres prints, or of a file it reads; without KIND, list the kinds.

    With a ruleset, the schema knows its actions, outcomes, effects, switches and the keys of its sheets, so that an
    editor completes and checks the files. For ruleset, outcomes, deck and menus it then describes a house rule: a file
    that says only what differs.

    \b
    rpgres schema files fate --write .
    """
    from rpgres.formats.batches import SchemaRecord
    from rpgres.formats.schemas import make_schema

    if not kind:
        from rpgres.render.lines import pairs

        say(pairs(_kinds(), indent=""))
        return
    rules = load_named(ruleset, rulesets) if ruleset is not None else None
    if write is not None or kind == FILES:
        _write(kind, rules, write)
        return
    if kind == BATCH:
        from rpgres.cli.requests.schemas import batch_schema

        schema = batch_schema(rules)
    else:
        schema = make_schema(kind, rules=rules)
    # Every answer of a batch is a record with a format.
    say_json(schema if recording_now() is None else SchemaRecord(kind=kind, schema=schema), indent=2)


def _write(kind: str, rules: Rules | None, folder: str | None) -> None:
    from rpgres.formats.editors import file_kinds, schema_line, write_schemas

    kinds = [one for one in file_kinds() if rules or one != "sheet"]
    if folder is None:
        raise UsageError(f"the schemas of all files are written, not printed: {called('schema files', write='DIR')}")
    if kind != FILES and kind not in kinds:
        raise UsageError(
            f"{kind} is no kind of file that an editor could check; choose {enumerated([FILES, *kinds], kind)}"
        )
    if not Path(folder).is_dir():
        raise UsageError(f"{named('write')} {folder}: there is no such folder")
    ruleset = rules.id if rules else ""
    for one in kinds if kind == FILES else [kind]:
        (path,) = write_schemas(Path(folder), [one], rules)
        say_text(f"{path}: written; files in {folder} begin with: {schema_line(one, ruleset)}")
