"""Which names the data of an action speak of, apart from its dice. What they mean is worked out where it is played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rpgres.rulesets.rows import Range, Row, RowQuestion, templates
from rpgres.rulesets.rules import BOUNDS, NUMBER, Rules
from rpgres.rulesets.templates import names_in


def spoken_of(rules: Rules, action: str, bands: Mapping[str, Range]) -> Iterator[str]:
    """Yield every name that an action's measure, bands and rows speak of, numbers and others."""
    described = rules.file.actions[action]
    yield from filter(None, (described.by, *(other.by for other in described.instead.values())))
    for other in described.instead.values():
        yield from _in_conditions(other.when, other.unless)
    for range_ in bands.values():
        yield from _in_conditions(range_.when, range_.unless)
    for name in rules.file.actions[action].tables:
        for row in rules.table(name).values():
            yield from _in_row(rules, row)


def _in_row(rules: Rules, row: Row) -> Iterator[str]:
    for template in templates(row.rolls).values():
        yield from names_in(template)
    yield from _in_effects(rules, row.effects)
    yield from _in_questions(rules, row.ask, ())


def _in_questions(rules: Rules, ask: Mapping[str, RowQuestion], menus: tuple[str, ...]) -> Iterator[str]:
    for question in ask.values():
        yield from _in_conditions(question.when, question.unless)
        if question.menu in menus:
            continue
        asked = rules.menu(question.menu) if question.menu else question
        for option in asked.options.values():
            yield from _in_conditions(option.when, option.unless)
            for template in templates(option.rolls).values():
                yield from names_in(template)
            yield from _in_effects(rules, option.effects)
            yield from _in_questions(rules, option.ask, (*menus, question.menu))


def _in_effects(rules: Rules, effects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for effect in effects:
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
            name, _, side = key.rpartition("-")
            yield name if side in BOUNDS and name else key
            yield key
            for one in wanted if isinstance(wanted, list) else [wanted]:
                if isinstance(one, str):
                    yield one
