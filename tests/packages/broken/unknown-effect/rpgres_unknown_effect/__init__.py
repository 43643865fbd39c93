"""Broken on purpose: its outcomes have an effect of a kind that nobody registered."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

unknown_effect = Ruleset("unknown-effect", data=Path(__file__).parent)


@unknown_effect.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield unknown_effect
