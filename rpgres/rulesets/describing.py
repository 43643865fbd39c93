"""What is wrong with actions that are described in data: dice, names, measures, bands. Rows are judged in `rows`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rpgres.rulesets.numbers import (
    COMPARED,
    PLAIN,
    described_actions,
    has_any_ability,
    known_names,
    parameters_of,
)
from rpgres.rulesets.places import Path, problem_at
from rpgres.rulesets.ranges import range_problems
from rpgres.rulesets.records import Action, Parameter
from rpgres.rulesets.rows import condition_problems, missing, template_problems
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.templates import names_in
from rpgres.tomlfiles import Problem

COUNTED = re.compile(r"\s*(>=|<=|=|>|<)\s*(-?\d+)\s*")  # which dice a count counts


def description_problems(rules: Rules) -> Iterator[Problem]:
    """Yield what is wrong with described actions, and with the conditions of bands."""
    for name, band in rules.file.bands.items():
        for key, condition in (("when", band.when), ("unless", band.unless)):
            yield from condition_problems(rules, rules.texts(), ("bands", name, key), condition)
    for name in described_actions(rules.file):
        yield from _action(rules, name, rules.file.actions[name])


def _action(rules: Rules, name: str, action: Action) -> Iterator[Problem]:
    texts, at = rules.texts(), ("actions", name)
    known = known_names(rules.file, name)
    parameters = parameters_of(rules.file, name)
    before = known - {*PLAIN, *COMPARED, *action.counts}
    is_open = has_any_ability(rules.file)
    for key, template in (("roll", action.roll), ("vs", action.vs)):
        yield from _dice(rules, (*at, key), template, before, parameters, is_open=is_open)
    for label, other in action.instead.items():
        for key, template in (("roll", other.roll), ("vs", other.vs)):
            yield from _dice(rules, (*at, "instead", label, key), template, before, parameters, is_open=is_open)
        for key, condition in (("when", other.when), ("unless", other.unless)):
            yield from condition_problems(rules, texts, (*at, "instead", label, key), condition)
        if other.by and other.by not in known:
            yield missing(texts, (*at, "instead", label, "by"), "number", other.by, sorted(known))
    ranges = action.bands.values() or rules.file.bands.values()
    if not any(one.from_ is not None or one.to is not None for one in ranges):
        yield problem_at(texts, (*at, "roll"), "no outcome has bounds (`from`, `to`), so a result means nothing")
    if action.by and action.by not in known:
        yield missing(texts, (*at, "by"), "number", action.by, sorted(known))
    for count, text in action.counts.items():
        if not COUNTED.fullmatch(text):
            said = f'a count says which dice it counts, as ">=8" or "=6" does; {text!r} does not'
            yield problem_at(texts, (*at, "counts", count), said)
    for number, template in action.numbers.items():
        path = (*at, "numbers", number)
        yield from template_problems(texts, path, template, known, is_open=is_open)
        if re.search(r"\dd[\dF%]|^d[\dF%]|[ (+*-]d[\dF%]", template):
            yield problem_at(texts, path, f"a number is worked out, not rolled; {template!r} has dice")
        if number in _reached(number, action.numbers):
            yield problem_at(texts, path, f"the number {number} is worked out from itself")
    for band, range_ in action.bands.items():
        if band not in rules.file.bands:
            yield missing(texts, (*at, "bands", band), "band", band, rules.file.bands)
        for key, condition in (("when", range_.when), ("unless", range_.unless)):
            yield from condition_problems(rules, texts, (*at, "bands", band, key), condition)
    if action.bands:
        plain = {band: range_ for band, range_ in action.bands.items() if not range_.is_exception}
        yield from range_problems(rules, (*at, "bands"), plain)
    for key in action.parameters:
        if key in rules.file.parameters:
            yield from _parameter(rules, key, rules.file.parameters[key])


def _dice(
    rules: Rules, path: Path, template: str, known: set[str], parameters: Mapping[str, Parameter], *, is_open: bool
) -> Iterator[Problem]:
    """Yield what is wrong with dice; a choice stands for what its `values` say."""
    if not template:
        return
    for name in names_in(template):
        parameter = parameters.get(name)
        if parameter is not None and parameter.kind == "choice" and not parameter.values:
            yield problem_at(rules.texts(), path, f"the choice {name} has no `values` that say what it is in dice")
    yield from template_problems(rules.texts(), path, template, known, is_open=is_open)


def _parameter(rules: Rules, key: str, parameter: Parameter) -> Iterator[Problem]:
    texts = rules.texts()
    if parameter.many and parameter.kind in ("ability", "opposition", "integer", "choice", "character"):
        said = f"a described action takes one {parameter.kind}; several are for rules in code"
        yield problem_at(texts, ("parameters", key, "many"), said)
    for choice, template in parameter.values.items():
        path = ("parameters", key, "values", choice)
        if choice not in parameter.choices:
            yield missing(texts, path, "choice", choice, parameter.choices)
        yield from template_problems(texts, path, template, ())
    if parameter.values:
        for choice in parameter.choices:
            if choice not in parameter.values:
                yield problem_at(texts, ("parameters", key, "values"), f"the choice {choice} has no value")
    if parameter.rolls:
        yield from template_problems(texts, ("parameters", key, "rolls"), parameter.rolls, ("rating",))


def _reached(number: str, numbers: Mapping[str, str]) -> set[str]:
    """Return the numbers that a number is worked out from."""
    found: set[str] = set()
    open_ = [number]
    while open_:
        for name in names_in(numbers.get(open_.pop(), "")):
            if name in numbers and name not in found:
                found.add(name)
                open_.append(name)
    return found
