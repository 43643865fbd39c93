"""Diagnostics of what actions without code take, say and roll."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rpgres.lint.formulas import Scope, missing, template_faults
from rpgres.lint.named_dice import definition_faults, diceless_faults, named_dice_faults
from rpgres.rulesets.actions import Action, Parameter
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import FIELDS
from rpgres.toml.diagnostics import Fault


def description_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with described actions, and with what any action says."""
    yield from definition_faults(rules)
    for name, action in rules.file.actions.items():
        if action.numbers and not action.is_described:
            yield from diceless_faults(rules, name)
    for name in rules.file.described:
        yield from named_dice_faults(rules, name)
        for key in rules.file.actions[name].parameters:
            if key in rules.file.parameters and not rules.layers.is_of_kits("parameters", key):
                yield from _parameter(key, rules.file.parameters[key])
    for name, action in rules.file.actions.items():
        known = ("actor", "opponent", "variant", *rules.file.parameters_of(name))
        said = [(("sentence",), action.sentence), *((("turns", what), text) for what, text in action.turns.items())]
        for at, text in said:
            for field in FIELDS.findall(text):
                if field not in known:
                    yield missing(("actions", name, *at), "input", field, known)
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


def _parameter(key: str, parameter: Parameter) -> Iterator[Fault]:
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
