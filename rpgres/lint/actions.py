"""What is wrong with actions that are described in data: dice, names, measures, bands. Rows are judged in `rows`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rpgres.dice import Comparison
from rpgres.errors import NotationError
from rpgres.lint.bands import range_problems, turned_problems
from rpgres.lint.outcomes import (
    CONDITIONS,
    TRIED,
    Scope,
    circumstance_problems,
    filled,
    missing,
    scope_of,
    template_problems,
)
from rpgres.rulesets.numbers import (
    COMPARED,
    PLAIN,
    described_actions,
    names_after_roll,
    number_names,
    sheet_names,
)
from rpgres.rulesets.provenance import Path, problem_at
from rpgres.rulesets.rows import Condition, bounded, templates
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import Action, Parameter
from rpgres.rulesets.templates import names_in
from rpgres.toml.reading import Problem


def description_problems(rules: Rules) -> Iterator[Problem]:
    """Yield what is wrong with described actions, and with the conditions of bands."""
    everything = scope_of(rules, rules.file.actions)
    for name, band in rules.file.bands.items():
        path, conditions = ("bands", name), (band.when, band.unless)
        yield from circumstance_problems(rules, rules.texts(), path, conditions, everything.numbers)
    for name in described_actions(rules.file):
        yield from _action(rules, name, rules.file.actions[name])


def _action(rules: Rules, name: str, action: Action) -> Iterator[Problem]:
    texts, at = rules.texts(), ("actions", name)
    known = number_names(rules.file, name)
    scope = scope_of(rules, [name])
    dice: list[tuple[Path, str]] = [((*at, "roll"), action.roll), ((*at, "vs"), action.vs)]
    for label, other in action.instead.items():
        dice += [((*at, "instead", label, "roll"), other.roll), ((*at, "instead", label, "vs"), other.vs)]
        yield from _before(rules, (*at, "instead", label), (other.when, other.unless), action, scope)
        if other.by and other.by not in known:
            yield missing(texts, (*at, "instead", label, "by"), "number", other.by, sorted(known))
    for path, template in dice:
        if template:
            yield from _dice(rules, path, template, name, scope)
    yield from _shadows(rules, name, action)
    if _may_lack_opposition(rules, name, action):
        said = "what opposes may be left out, and no outcome is `unopposed`; make one so, or list it under `required`"
        yield problem_at(texts, (*at, "vs"), said)
    ranges = action.bands.values() or rules.file.bands.values()
    if not any(one.has_bounds for one in ranges):
        yield problem_at(texts, (*at, "roll"), "no outcome has bounds (`from`, `to`), so a result means nothing")
    if action.by and action.by not in known:
        yield missing(texts, (*at, "by"), "number", action.by, sorted(known))
    for count, text in action.counts.items():
        if Comparison.read(text) is None:
            said = f'a count says which dice it counts, as ">=8" or "=6" does; {text!r} does not'
            yield problem_at(texts, (*at, "counts", count), said)
    for number in action.numbers:
        yield from _number(rules, (*at, "numbers", number), number, name, scope)
    for band, range_ in action.bands.items():
        if band not in rules.file.bands:
            yield missing(texts, (*at, "bands", band), "band", band, rules.file.bands)
        conditions = (range_.when, range_.unless)
        yield from circumstance_problems(rules, texts, (*at, "bands", band), conditions, scope.numbers)
    if action.bands:
        plain = {band: range_ for band, range_ in action.bands.items() if not range_.is_exception}
        yield from range_problems(rules, (*at, "bands"), plain)
    yield from turned_problems(rules, (*at, "bands"), action.bands)
    for key in action.parameters:
        if key in rules.file.parameters:
            yield from _parameter(rules, key, rules.file.parameters[key])


def _shadows(rules: Rules, name: str, action: Action) -> Iterator[Problem]:
    """Yield what has the name of something else, so that nobody could tell which is meant."""
    file, texts, at = rules.file, rules.texts(), ("actions", name)
    parameters = file.parameters_of(name)
    keys = {file.parameters[key].name or key: key for key in action.parameters if key in file.parameters}
    of_roll = dict.fromkeys((*PLAIN, *COMPARED), "what a roll comes to")
    on_sheets = dict.fromkeys(sorted(sheet_names(file)), "on the sheet")
    for one, parameter in parameters.items():
        is_its_counter = parameter.kind == "counter" and parameter.counter == one
        taken = of_roll | dict.fromkeys(file.switches, "a house rule")
        taken |= {} if is_its_counter else on_sheets
        if one in taken:
            path = ("parameters", keys[one], "name") if parameter.name else ("parameters", keys[one])
            yield problem_at(texts, path, f"{one!r} is {taken[one]} already; the parameter needs another name")
    for key, names in (("counts", action.counts), ("numbers", action.numbers)):
        what = "count" if key == "counts" else "number"
        taken = of_roll | on_sheets | dict.fromkeys(parameters, "a parameter of this action")
        taken |= dict.fromkeys(action.counts, "a count") if key == "numbers" else {}
        for one in names:
            if one in taken:
                said = f"{one!r} is {taken[one]} already; the {what} needs another name"
                yield problem_at(texts, (*at, key, one), said)


def _may_lack_opposition(rules: Rules, name: str, action: Action) -> bool:
    """Tell whether nothing may be in the way of an action, though nothing says what that means."""
    if any(band.unopposed for band in rules.file.bands.values()) or (action.by and action.by not in COMPARED):
        return False
    parameters = rules.file.parameters_of(name)
    opposing = [parameters[one] for one in names_in(action.vs) if one in parameters and one not in action.required]
    return any(parameter.kind == "opposition" and parameter.default is None for parameter in opposing)


def _divisors(rules: Rules, path: Path, template: str, name: str) -> Iterator[Problem]:
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
            said = f"{divisor} may be 0, by which nothing is divided; divide by a number that has `at-least = 1`"
            yield problem_at(rules.texts(), path, said)


_DIVISOR = re.compile(r"[/÷]\s*\{\s*([^{}]*?)\s*\}")


def _before(
    rules: Rules, path: Path, conditions: tuple[Condition, Condition], action: Action, scope: Scope
) -> Iterator[Problem]:
    """Yield what is wrong with conditions under which other dice are rolled: they are decided before the roll."""
    yield from circumstance_problems(rules, rules.texts(), path, conditions, scope.numbers)
    after = names_after_roll(action)
    said = [(kind, *item) for kind, one in zip(CONDITIONS, conditions, strict=True) for item in one.items()]
    for kind, key, wanted in said:
        name = key.removesuffix("-from").removesuffix("-to")
        for one in dict.fromkeys((name, key, *([wanted] if isinstance(wanted, str) else []))):
            if one not in after:
                continue
            yield problem_at(
                rules.texts(), (*path, kind, key), f"{one} is known only when the dice lie, and this is before"
            )


def _dice(rules: Rules, path: Path, template: str, name: str, scope: Scope) -> Iterator[Problem]:
    """Yield what is wrong with the dice of a side, which may name nothing that is known only when they lie."""
    action, parameters = rules.file.actions[name], rules.file.parameters_of(name)
    after = names_after_roll(action)
    is_vs = path[-1] == "vs"
    opposers = {one for one, its in parameters.items() if its.kind == "opposition" and not its.many} if is_vs else set()
    scope = scope._replace(dice=scope.dice.difference(after) | opposers)
    faults = list(_faults_of_names(template, parameters, action, after=after, opposers=opposers))
    yield from (problem_at(rules.texts(), path, fault) for fault in faults)
    yield from _divisors(rules, path, template, name)
    if not faults:
        yield from template_problems(rules.texts(), path, template, scope)


def _faults_of_names(
    template: str, parameters: Mapping[str, Parameter], action: Action, *, after: set[str], opposers: set[str]
) -> Iterator[str]:
    """Yield what keeps a name in braces from being a number, though there is something of that name."""
    for name in names_in(template):
        parameter = parameters.get(name)
        if name in after and name in action.numbers:
            yield f"the number {name} is worked out from what the dice show, so these dice cannot depend on it"
        elif name in after:
            yield f"{name} is known only when the dice lie, so they cannot depend on it"
        elif parameter is None or name in opposers:
            continue
        elif parameter.kind == "opposition":
            yield f"the parameter {name} is what opposes, and stands in `vs` alone"
        elif parameter.kind in ("text", "character", "tag"):
            yield f"the parameter {name} is of the kind {parameter.kind!r}, which is no number"
        elif parameter.kind == "choice" and not parameter.values:
            yield f"the choice {name} has no `values` that say what it is in dice"
        elif parameter.kind == "choice" and parameter.default is None and name not in action.required:
            yield f"the choice {name} may be left out; give it a default, or list it under `required`"


def _number(rules: Rules, path: Path, number: str, name: str, scope: Scope) -> Iterator[Problem]:
    """Yield what is wrong with a number that is worked out."""
    action, texts = rules.file.actions[name], rules.texts()
    template = templates(action.numbers)[number]
    parameters = rules.file.parameters_of(name)
    its = bounded(action.numbers[number])
    if its.at_least is not None and its.at_most is not None and its.at_least > its.at_most:
        yield problem_at(texts, (*path, "at-least"), f"at least {its.at_least} and at most {its.at_most} is no number")
    yield from _divisors(rules, path, template, name)
    faults = list(_faults_of_names(template, parameters, action, after=set(), opposers=set()))
    yield from (problem_at(texts, path, fault) for fault in faults)
    if not faults:
        found = list(template_problems(texts, path, template, scope))
        yield from found
        if not found and _has_dice(template, scope):
            yield problem_at(texts, path, f"a number is worked out, not rolled; {template!r} has dice")
    if number in _reached(number, templates(action.numbers)):
        yield problem_at(texts, path, f"the number {number} is worked out from itself")


def _has_dice(template: str, scope: Scope) -> bool:
    from rpgres.dice import dice

    for text in filled(template, TRIED[0], scope.choices):
        try:
            if dice(text).pools:
                return True
        except NotationError:
            continue
    return False


def _parameter(rules: Rules, key: str, parameter: Parameter) -> Iterator[Problem]:
    texts = rules.texts()
    if parameter.many and parameter.kind in ("ability", "opposition", "integer", "choice", "character"):
        said = f"a described action takes one {parameter.kind}; several are for rules in code"
        yield problem_at(texts, ("parameters", key, "many"), said)
    for choice, template in parameter.values.items():
        path = ("parameters", key, "values", choice)
        if choice not in parameter.choices:
            yield missing(texts, path, "choice", choice, parameter.choices)
        yield from template_problems(texts, path, template, Scope())
    if parameter.values:
        for choice in parameter.choices:
            if choice not in parameter.values:
                yield problem_at(texts, ("parameters", key, "values"), f"the choice {choice} has no value")
    if parameter.rolls:
        rating = Scope(dice=frozenset(["rating"]))
        yield from template_problems(texts, ("parameters", key, "rolls"), parameter.rolls, rating)


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
