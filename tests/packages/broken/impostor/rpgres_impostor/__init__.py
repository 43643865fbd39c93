"""Broken on purpose: it claims the id of a ruleset that ships with rpgres."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

fate = Ruleset("fate", data=Path(__file__).parent)


@fate.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield fate
