"""All diagnostics of a ruleset, those of its sheets included; of rules alone see `rpgres.lint.rulesets`.

This reads every file of the ruleset but its scenes, which no ordinary command needs to; it serves `ruleset check`,
`plugin list` and `plugin check`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.errors import RpgresError
from rpgres.lint.rulesets import data_diagnostics
from rpgres.lint.spelling import misspelt_diagnostics
from rpgres.lint.unused import idle_faults
from rpgres.rulesets import Rules
from rpgres.rulesets.folders import located_in
from rpgres.rulesets.sheets import read_sheet
from rpgres.toml.diagnostics import Diagnostic, diagnostics_in
from rpgres.toml.reading import read_source


def all_diagnostics(rules: Rules) -> list[Diagnostic]:
    """Return what is wrong with a ruleset's data, overlays and sheets, each with its file, line and key path."""
    idle = (located_in(rules.layers.parts, fault) for fault in idle_faults(rules))
    return [*data_diagnostics(rules), *misspelt_diagnostics(rules), *idle, *_sheets(rules)]


def _sheets(rules: Rules) -> Iterator[Diagnostic]:
    """The ruleset's own characters can sit down."""
    for path in rules.layers.files("sheets"):
        try:
            read_sheet(rules, str(path), source=read_source(path))
        except RpgresError as error:
            yield from diagnostics_in(error, file=str(path))
