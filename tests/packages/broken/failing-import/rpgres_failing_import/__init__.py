"""Broken on purpose: it raises when it is imported."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

failing_import = Ruleset("failing-import", data=Path(__file__).parent)


print("on the way to the end")
raise RuntimeError("no museum today")


@failing_import.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield failing_import
