"""Broken on purpose: what its rules come to depends on more than the table."""

from itertools import count
from pathlib import Path

from rpgres import Option, Ruleset, hookimpl

fickle_rule = Ruleset("fickle-rule", data=Path(__file__).parent)

calls = count()


@fickle_rule.action("try")
def try_(table, actor):
    """Roll at least 4, and one more every other time."""
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4 - next(calls) % 2)


@fickle_rule.action("drift")
def drift(table, actor):
    """Roll under one label or under another."""
    label = "other" if next(calls) % 2 else "roll"
    return table.settle("try", table.roll(table.rules.dice, label, by=actor.name) - 4)


@fickle_rule.action("stray")
def stray(table, actor):
    """Roll, every other time a die more, and then ask."""
    total = table.roll(table.rules.dice, by=actor.name)
    if next(calls) % 2:
        total += table.roll(table.rules.dice, "other", by=actor.name)
    way = table.ask("way", actor.name, (Option("left"), Option("right")))
    return table.settle("try", total - (4 if way == "left" else 5))


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield fickle_rule
