"""`rpgres schema`: prints what `rpgres.cli.formats.schemas` makes."""

from __future__ import annotations

from typing import Annotated

import typer

from rpgres.cli.annotations import Folders, complete_rulesets
from rpgres.cli.output import say_json

BATCH = "batch"  # the kind that describes the requests of all operations


def _complete_kinds(incomplete: str) -> list[tuple[str, str]]:
    from rpgres.cli.formats.schemas import KINDS

    batch = (BATCH, "One line that `rpgres batch` reads, operation by operation.")
    kinds = [batch, *((name, kind.description) for name, kind in KINDS.items())]
    return [(name, text) for name, text in kinds if name.startswith(incomplete)]


def command(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="result, pending, odds, odds-ladder, scene-odds, scene-best, comparison, variation, grids, search, "
            "knockout, simulation, what-if, error, request, batch, text, answers, scene-result, account, "
            "scene-test, deck-draw, deck-shown, "
            "decks, table, log, entry, view, answer, orders-shown, seal, verify, rulesets, ruleset-shown, "
            "action-shown, ruleset-check, ruleset-test, sheet-shown, check, plugins, plugin-check, config-shown; "
            "or of a file: scene, orders, sheet, ruleset, outcomes, deck, menus, config.",
            autocompletion=_complete_kinds,
        ),
    ],
    ruleset: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULESET]",
            help="Include the names and fields of this ruleset.",
            show_default=False,
            autocompletion=complete_rulesets,
        ),
    ] = None,
    rulesets: Folders = None,
) -> None:
    """Print the JSON Schema (2020-12) of something rpgres prints, or of a file it reads.

    With a ruleset, the schema knows its actions, outcomes, effects, switches and the keys of its sheets, so that an
    editor completes and checks the files. For ruleset, outcomes, deck and menus it then describes a house rule: a file
    that says only what differs.
    """
    from rpgres.cli.formats.schemas import make_schema
    from rpgres.cli.options import read_folders
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    folders = read_folders(rulesets or ())
    rules = load_rules(find_ruleset(ruleset, extra=folders), extra=folders) if ruleset is not None else None
    if kind == BATCH:
        from rpgres.cli.operation_schemas import batch_schema

        say_json(batch_schema(rules), indent=2)
        return
    say_json(make_schema(kind, rules=rules), indent=2)
