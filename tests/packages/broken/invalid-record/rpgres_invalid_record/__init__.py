"""Broken on purpose: the record it yields names its data folder by a text."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

invalid_record = Ruleset("invalid-record", data=str(Path(__file__).parent))


@invalid_record.action("try")
def try_(table, actor):
    """Roll at least 4."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield invalid_record
