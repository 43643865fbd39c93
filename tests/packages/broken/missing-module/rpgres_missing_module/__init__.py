"""Broken on purpose: it needs a module that nobody installed."""

from pathlib import Path

import rpgres_nowhere_to_be_found  # noqa: F401

from rpgres import Ruleset, hookimpl

missing_module = Ruleset("missing-module", data=Path(__file__).parent)


@missing_module.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield missing_module
