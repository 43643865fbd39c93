"""Diagnostics of actions that are described in data: dice, names, measures, bands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import product

from rpgres.dice import Comparison
from rpgres.errors import NotationError
from rpgres.lint.bands import range_faults, turned_faults
from rpgres.lint.conditions import CONDITIONS, circumstance_faults
from rpgres.lint.formulas import TRIED, Scope, bounds_faults, filled, missing, scope_of, template_faults
from rpgres.lint.named_dice import definition_faults, named_dice_faults
from rpgres.lint.reachable import span_of_bands
from rpgres.rulesets.actions import Action
from rpgres.rulesets.numbers import (
    COMPARED,
    PLAIN,
    described_actions,
    names_after_roll,
    number_names,
    sheet_names,
)
from rpgres.rulesets.rows import Condition, bounded, templates
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import FIELDS, Parameter
from rpgres.rulesets.templates import names_in
from rpgres.rulesets.tree import reached
from rpgres.toml.diagnostics import Fault, KeyPath

_DIVISOR = re.compile(r"[/÷]\s*\{\s*([^{}]*?)\s*\}")


def description_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with described actions, and with the conditions of bands."""
    everything = scope_of(rules, rules.file.actions)
    for name, band in rules.file.bands.items():
        path, conditions = ("bands", name), (band.when, band.unless)
        yield from circumstance_faults(rules, path, conditions, everything.numbers)
    yield from definition_faults(rules)
    for name in described_actions(rules.file):
        action = rules.file.actions[name]
        yield from named_dice_faults(rules, name) if action.dice else _action(rules, name, action)
    for name, action in rules.file.actions.items():
        known = ("actor", "opponent", "variant", *rules.file.parameters_of(name))
        for field in FIELDS.findall(action.sentence):
            if field not in known:
                yield missing(("actions", name, "sentence"), "input", field, known)
        yield from _opposed_faults(rules, name, action)


def _opposed_faults(rules: Rules, name: str, action: Action) -> Iterator[Fault]:
    """Yield a diagnostic where the path to the abilities that oppose an action leads to no list of them."""
    at, choices = ("actions", name, "opposed-with"), {}
    for field in FIELDS.findall(action.opposed_with):
        parameter = rules.file.parameters_of(name).get(field)
        if parameter is None or not parameter.choices:
            known = [one for one, its in rules.file.parameters_of(name).items() if its.choices]
            yield missing(at, "choice", field, known)
            return
        choices[field] = list(parameter.choices)
    for values in product(*choices.values()) if action.opposed_with else ():
        path = action.opposed_with
        for field, value in zip(choices, values, strict=True):
            path = path.replace(f"{{{field}}}", value)
        if not isinstance(rules.file.setting(path), list):
            yield Fault("unknown-name", at, f"there is no list of abilities in the settings at {path}")


def _action(rules: Rules, name: str, action: Action) -> Iterator[Fault]:
    at = ("actions", name)
    known = number_names(rules.file, name)
    scope = scope_of(rules, [name])
    dice: list[tuple[KeyPath, str]] = [((*at, "roll"), action.roll), ((*at, "vs"), action.vs)]
    for label, other in action.instead.items():
        dice += [((*at, "instead", label, "roll"), other.roll), ((*at, "instead", label, "vs"), other.vs)]
        yield from _before(rules, (*at, "instead", label), (other.when, other.unless), action, scope)
        if other.by and other.by not in known:
            yield missing((*at, "instead", label, "by"), "number", other.by, sorted(known))
    for path, template in dice:
        if template:
            yield from _dice(rules, path, template, name, scope)
    yield from _shadows(rules, name, action)
    if _may_lack_opposition(rules, name, action):
        said = (
            "the opposition is optional, and no outcome is `unopposed`; declare one, or list the "
            "opposition under `required`"
        )
        yield Fault("incomplete", (*at, "vs"), said)
    ranges = action.ranges.values() or rules.file.bands.values()
    if not any(one.has_bounds for one in ranges):
        message = "no outcome has bounds (`from`, `to`), so results have no meaning"
        yield Fault("incomplete", (*at, "roll"), message)
    if action.by and action.by not in known:
        yield missing((*at, "by"), "number", action.by, sorted(known))
    for count, text in action.counts.items():
        if Comparison.read(text) is None:
            said = f'a count needs a comparison, such as ">=8" or "=6"; {text!r} does not'
            yield Fault("bad-dice", (*at, "counts", count), said)
    for number in action.numbers:
        yield from _number(rules, (*at, "numbers", number), number, name, scope)
    for band, range_ in action.ranges.items():
        if band not in rules.file.bands:
            yield missing((*at, "bands", band), "band", band, rules.file.bands)
        conditions = (range_.when, range_.unless)
        yield from circumstance_faults(rules, (*at, "bands", band), conditions, scope.numbers)
    if action.ranges:
        plain = {band: range_ for band, range_ in action.ranges.items() if not range_.is_exception}
        yield from range_faults(rules, (*at, "bands"), plain, within=span_of_bands(rules, [name]))
    yield from turned_faults(rules, (*at, "bands"), action.ranges)
    for key in action.parameters:
        if key in rules.file.parameters:
            yield from _parameter(rules, key, rules.file.parameters[key])


def _shadows(rules: Rules, name: str, action: Action) -> Iterator[Fault]:
    """Yield what has the name of something else, so that nobody could tell which is meant."""
    file, at = rules.file, ("actions", name)
    parameters = file.parameters_of(name)
    keys = {file.parameters[key].name or key: key for key in action.parameters if key in file.parameters}
    of_roll = dict.fromkeys((*PLAIN, *COMPARED), "a result of the roll")
    on_sheets = dict.fromkeys(sorted(sheet_names(file)), "on the sheet")
    for one, parameter in parameters.items():
        is_its_counter = parameter.kind == "counter" and parameter.counter == one
        taken = of_roll | dict.fromkeys(file.switches, "a house rule")
        taken |= {} if is_its_counter else on_sheets
        if one in taken:
            path = ("parameters", keys[one], "name") if parameter.name else ("parameters", keys[one])
            yield Fault("taken-name", path, f"{one!r} is already {taken[one]}; rename the parameter")
    for key, names in (("counts", action.counts), ("numbers", action.numbers)):
        what = "count" if key == "counts" else "number"
        taken = of_roll | on_sheets | dict.fromkeys(parameters, "a parameter of this action")
        taken |= dict.fromkeys(action.counts, "a count") if key == "numbers" else {}
        for one in names:
            if one in taken:
                said = f"{one!r} is already {taken[one]}; rename the {what}"
                yield Fault("taken-name", (*at, key, one), said)


def _may_lack_opposition(rules: Rules, name: str, action: Action) -> bool:
    """Tell whether nothing may be in the way of an action, though nothing says what that means."""
    if any(band.unopposed for band in rules.file.bands.values()) or (action.by and action.by not in COMPARED):
        return False
    parameters = rules.file.parameters_of(name)
    opposing = [parameters[one] for one in names_in(action.vs) if one in parameters and one not in action.required]
    return any(parameter.kind == "opposition" and parameter.default is None for parameter in opposing)


def _divisors(rules: Rules, path: KeyPath, template: str, name: str) -> Iterator[Fault]:
    """Yield the names by which is divided and that might be 0."""
    action, parameters = rules.file.actions[name], rules.file.parameters_of(name)
    for divisor in _DIVISOR.findall(template):
        lowest = parameters[divisor].at_least if divisor in parameters else None
        is_there = divisor in action.required or (divisor in parameters and parameters[divisor].default is not None)
        if divisor in action.numbers:
            lowest, is_there = bounded(action.numbers[divisor]).at_least, True
        elif divisor in parameters and parameters[divisor].kind != "integer":
            lowest = None
        if lowest is None or lowest < 1 or not is_there:
            said = f"{divisor} may be 0, and dividing by 0 is impossible; divide by a number that has `at-least = 1`"
            yield Fault("division-by-zero", path, said)


def _before(
    rules: Rules, path: KeyPath, conditions: tuple[Condition, Condition], action: Action, scope: Scope
) -> Iterator[Fault]:
    """Yield what is wrong with conditions under which other dice are rolled: they are decided before the roll."""
    yield from circumstance_faults(rules, path, conditions, scope.numbers)
    after = names_after_roll(action)
    said = [(kind, *item) for kind, one in zip(CONDITIONS, conditions, strict=True) for item in one.items()]
    for kind, key, wanted in said:
        name = key.removesuffix("-from").removesuffix("-to")
        for one in dict.fromkeys((name, key, *([wanted] if isinstance(wanted, str) else []))):
            if one in after:
                message = f"{one} is known only after the roll, and this is evaluated before it"
                yield Fault("too-early", (*path, kind, key), message)


def _dice(rules: Rules, path: KeyPath, template: str, name: str, scope: Scope) -> Iterator[Fault]:
    """Yield what is wrong with the dice of a side, which may name nothing that is known only when they lie."""
    action, parameters = rules.file.actions[name], rules.file.parameters_of(name)
    after = names_after_roll(action)
    is_vs = path[-1] == "vs"
    opposers = {one for one, its in parameters.items() if its.kind == "opposition" and not its.many} if is_vs else set()
    scope = scope._replace(dice=scope.dice.difference(after) | opposers)
    faults = list(_named(path, template, parameters, action, after=after, opposers=opposers))
    yield from faults
    yield from _divisors(rules, path, template, name)
    if not faults:
        yield from template_faults(path, template, scope)


def _named(
    path: KeyPath,
    template: str,
    parameters: Mapping[str, Parameter],
    action: Action,
    *,
    after: Collection[str] = (),
    opposers: Collection[str] = (),
) -> Iterator[Fault]:
    """Yield what keeps a name in braces from being a number, though there is something of that name."""
    for name in names_in(template):
        parameter = parameters.get(name)
        if name in after and name in action.numbers:
            message = f"the number {name} is computed from the roll, so the dice cannot depend on it"
            yield Fault("too-early", path, message)
        elif name in after:
            yield Fault("too-early", path, f"{name} is known only after the roll, so the dice cannot depend on it")
        elif parameter is None or name in opposers:
            continue
        elif parameter.kind == "opposition":
            yield Fault("not-a-number", path, f"the parameter {name} is an opposition, and can be used only in `vs`")
        elif parameter.kind in ("text", "character", "tag"):
            message = f"the parameter {name} is of the kind {parameter.kind!r}, which is not a number"
            yield Fault("not-a-number", path, message)
        elif parameter.kind == "choice" and not parameter.values:
            yield Fault("not-a-number", path, f"the choice {name} has no `values` to use in dice")
        elif parameter.kind == "choice" and parameter.default is None and name not in action.required:
            message = f"the choice {name} is optional; give it a default, or list it under `required`"
            yield Fault("incomplete", path, message)


def _number(rules: Rules, path: KeyPath, number: str, name: str, scope: Scope) -> Iterator[Fault]:
    """Yield what is wrong with a number that is worked out."""
    action = rules.file.actions[name]
    numbers, parameters = templates(action.numbers), rules.file.parameters_of(name)
    template, its = numbers[number], bounded(action.numbers[number])
    yield from bounds_faults(path, its.at_least, its.at_most)
    yield from _divisors(rules, path, template, name)
    faults = list(_named(path, template, parameters, action)) or list(template_faults(path, template, scope))
    yield from faults
    if not faults and _has_dice(template, scope):
        yield Fault("bad-dice", path, f"a number is computed, not rolled; {template!r} has dice")
    if number in reached(number, {one: names_in(text) for one, text in numbers.items()}):
        yield Fault("endless", path, f"the number {number} depends on itself")


def _has_dice(template: str, scope: Scope) -> bool:
    from rpgres.dice import dice

    for text in filled(template, TRIED[0], scope.choices):
        try:
            if dice(text).pools:
                return True
        except NotationError:
            continue
    return False


def _parameter(rules: Rules, key: str, parameter: Parameter) -> Iterator[Fault]:
    at = ("parameters", key)
    if parameter.many and parameter.kind in ("ability", "opposition", "integer", "choice", "character"):
        said = f"an action without code takes one {parameter.kind}; only rules in code take several"
        yield Fault("useless", (*at, "many"), said)
    for choice, template in parameter.values.items():
        path = (*at, "values", choice)
        if choice not in parameter.choices:
            yield missing(path, "choice", choice, parameter.choices)
        yield from template_faults(path, template, Scope())
    for choice in parameter.choices if parameter.values else ():
        if choice not in parameter.values:
            yield Fault("incomplete", (*at, "values"), f"the choice {choice} has no value")
    if parameter.rolls:
        yield from template_faults((*at, "rolls"), parameter.rolls, Scope(dice=frozenset(["rating"])))
