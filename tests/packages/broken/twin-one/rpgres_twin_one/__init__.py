"""Broken on purpose: another distribution has a ruleset of the same id."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

twins = Ruleset("twins", data=Path(__file__).parent)


@twins.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield twins
