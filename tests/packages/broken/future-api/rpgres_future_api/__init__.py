"""Broken on purpose: it was written for a rpgres that does not exist yet."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

future_api = Ruleset("future-api", data=Path(__file__).parent, api=99)


@future_api.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield future_api
