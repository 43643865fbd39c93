"""Broken on purpose: its rule raises."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

failing_rule = Ruleset("failing-rule", data=Path(__file__).parent)


@failing_rule.action("try")
def try_(table, actor):
    """Roll at least 4."""
    total = table.roll(table.rules.dice, by=actor.name)
    return table.settle("try", total // (total - total))


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield failing_rule
