"""Broken on purpose: its rules never end."""

from contextlib import suppress
from pathlib import Path

from rpgres import Ruleset, hookimpl

endless_rule = Ruleset("endless-rule", data=Path(__file__).parent)


@endless_rule.action("try")
def try_(table, actor):
    """Roll for ever."""
    total = 0
    while total < 4:
        total = min(total, table.roll(table.rules.dice, by=actor.name))
    return table.settle("try", total)


@endless_rule.action("many")
def many(table, actor):
    """Roll for ever, each time under another label."""
    number = 0
    while True:
        number += table.roll(table.rules.dice, f"roll-{number}", by=actor.name)


@endless_rule.action("deaf")
def deaf(table, actor):
    """Roll for ever, and let no exception end it."""
    while True:
        with suppress(Exception):
            table.roll(table.rules.dice, by=actor.name)


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield endless_rule
