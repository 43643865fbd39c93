"""Options and arguments that several commands share, as the annotations Typer reads. Their words stand in `options`."""

from __future__ import annotations

from typing import Annotated

import typer

from rpgres.cli.options import JSON, PLAIN, RULESETS


def complete_rulesets(incomplete: str) -> list[tuple[str, str]]:
    """Return the rulesets whose id begins so, with their titles, for a shell."""
    from rpgres.plugins.discovery import ruleset_names

    return [(name.id, name.title) for name in ruleset_names() if name.id.startswith(incomplete)]


AsJson = Annotated[bool, typer.Option("--json", help=JSON.help)]
AsWords = Annotated[bool, typer.Option("--plain", help=PLAIN.help)]
Folders = Annotated[
    list[str] | None, typer.Option("--rulesets", metavar=RULESETS.metavar, help=RULESETS.help, show_default=False)
]
OfRuleset = Annotated[
    str | None,
    typer.Option(
        "--ruleset",
        metavar="ID",
        help="Say which ruleset, where there are several and the file's folder does not tell.",
        show_default=False,
        autocompletion=complete_rulesets,
    ),
]
RulesetId = Annotated[
    str, typer.Argument(metavar="RULESET", help="The ruleset's id.", autocompletion=complete_rulesets)
]
