"""Which names the rows of an action's outcomes speak of, and the plan of its dice with these names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from rpgres.errors import FileError, RuleError
from rpgres.rulesets.actions import Choosable
from rpgres.rulesets.dice_plans import DicePlan, dice_plan
from rpgres.rulesets.rows import RowBody, RowOption, RowQuestion, templates
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.settling import NUMBER, bounded_name
from rpgres.rulesets.templates import names_in
from rpgres.rulesets.tree import walk


def plan_of(rules: Rules, action: str) -> DicePlan:
    """Return the plan of an action with dice, read once.

    Raises:
        RuleError: a formula cannot be read.
        FileError: an outcome table cannot be read.
    """
    key = f"dice:{action}"
    if key not in rules.compiled:
        try:
            rules.compiled[key] = dice_plan(rules.file, action, wanted=dict.fromkeys(spoken_of(rules, action)))
        except RuleError as error:
            raise RuleError(f"{rules.id} {action}: {error.raw}") from None
    found: DicePlan = rules.compiled[key]
    return found


def readable_plan(rules: Rules, action: str) -> DicePlan | None:
    """Return the plan of an action with dice; None where something of it cannot be read."""
    with suppress(RuleError, FileError):
        return plan_of(rules, action)
    return None


def spoken_of(rules: Rules, action: str) -> Iterator[str]:
    """Yield every name that the questions of an action and the rows of its outcomes speak of, numbers and others."""
    described = rules.file.actions[action]
    for _, node in walk([described.ask, *(rules.table(name) for name in described.tables)], menu=rules.menu):
        if isinstance(node, RowQuestion | RowOption):
            yield from _in_conditions(node.when, node.unless)
        if isinstance(node, RowBody):
            for template in templates(node.rolls).values():
                yield from names_in(template)
        if isinstance(node, RowBody | Choosable):
            for effect in node.effects:
                yield from _in_effect(rules, effect)


def _in_effect(rules: Rules, effect: Mapping[str, Any]) -> Iterator[str]:
    yield from _in_conditions(effect.get("when", {}), effect.get("unless", {}))
    known = rules.file.effects.get(effect.get("kind", ""))
    for key in known.numeric if known is not None else ():
        value = effect.get(key)
        match = NUMBER.match(value) if isinstance(value, str) else None
        if match is not None:
            yield match[2]


def _in_conditions(*conditions: Mapping[str, Any]) -> Iterator[str]:
    for condition in conditions:
        for key, wanted in condition.items():
            yield bounded_name(key)[0]
            yield key
            for one in wanted if isinstance(wanted, list) else [wanted]:
                if isinstance(one, str):
                    yield one
