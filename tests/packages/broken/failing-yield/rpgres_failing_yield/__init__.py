"""Broken on purpose: it raises while it yields, after the ruleset."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

failing_yield = Ruleset("failing-yield", data=Path(__file__).parent)


@failing_yield.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield failing_yield
    raise RuntimeError("half way")
