"""Broken on purpose: its hook has an argument that no hook of rpgres has."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

wrong_hook = Ruleset("wrong-hook", data=Path(__file__).parent)


@wrong_hook.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets(config):
    """Yield the ruleset."""
    yield wrong_hook
