"""Diagnostics of what a ruleset of data alone declares and nothing uses, or uses and does not declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from rpgres.errors import FileError
from rpgres.lint.formulas import missing
from rpgres.lint.named_dice import named_in_action, unused_definitions, unused_numbers
from rpgres.lint.named_questions import paying_kinds
from rpgres.model.state import GM
from rpgres.rulesets.numbers import described_actions
from rpgres.rulesets.rows import RowBody
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import Parameter
from rpgres.rulesets.tables import USED
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Fault, nearest

# Parameters that do something only where they are named.
NAMED = ("ability", "opposition", "integer", "dice", "flag", "choice", "form")


def unused_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is declared and changes nothing, and counters that no sheet has."""
    if rules.file.standalone:  # else code may use what data declare
        yield from _readable(rules, _parameters, _counters)


def idle_faults(rules: Rules) -> Iterator[Fault]:
    """Yield the numbers, counts and effects of a ruleset that nothing names.

    It can be played for all that, while it is being written or when a house rule has taken away what named them; so
    this is for a check of the ruleset itself.
    """
    if rules.file.standalone and not rules.layers.overlays:
        yield from _readable(rules, _numbers, _kinds)


def _readable(rules: Rules, *checks: Callable[[Rules], Iterator[Fault]]) -> Iterator[Fault]:
    with suppress(FileError, KeyError):  # what cannot be read is told as such, and might use anything
        for check in checks:
            yield from check(rules)


def _numbers(rules: Rules) -> Iterator[Fault]:
    yield from unused_definitions(rules)
    for name in described_actions(rules.file):
        yield from unused_numbers(rules, name)


def _parameters(rules: Rules) -> Iterator[Fault]:
    file = rules.file
    taken = {key for action in file.actions.values() for key in action.parameters}
    for key in file.parameters:
        if key not in taken and not rules.layers.is_of_kits("parameters", key):
            yield Fault("unused", ("parameters", key), "no action uses this parameter")
    for name, action in file.actions.items():
        if not action.is_described:
            continue
        named = named_in_action(rules, name) | set(_taken(rules, name))
        for number, key in enumerate(action.parameters):
            parameter = file.parameters[key]
            is_idle = parameter.kind in NAMED and not rules.layers.is_of_kits("parameters", key)
            if is_idle and (parameter.name or key) not in named:
                path = ("actions", name, "parameters", number)
                yield Fault("unused", path, _idle(parameter, parameter.name or key))


def _idle(parameter: Parameter, name: str) -> str:
    if parameter.kind == "opposition":
        return f'nothing rolls the opposition {name}; write dice = {{ ..., opposition = "{{{name}}}" }}'
    return f"{name} is unused: no dice, number, condition or outcome of this action names it"


def _taken(rules: Rules, action: str) -> Iterator[str]:
    """Yield the parameters that kits go by where effects of an action come about."""
    for _, node in walk([rules.table(name) for name in rules.file.actions[action].tables], menu=rules.menu):
        for effect in node.effects if isinstance(node, RowBody) else ():
            kind = rules.file.effects.get(effect.get("kind", ""))
            yield from kind.takes if kind is not None else ()


def _counters(rules: Rules) -> Iterator[Fault]:
    """Yield the kinds of effect that change a counter which characters do not have, or which is nearly another."""
    file = rules.file
    on_sheets = {*file.fields_of("counter")}
    set_before = {its.counter for its in file.parameters.values() if its.kind == "counter"}
    for kind, described in file.effects.items():
        counter = described.counter
        if described.does != "counter" or not counter or counter in on_sheets | set_before:
            continue
        path = ("effects", kind, "counter")
        if any(one.get("kind") == kind and one.get("to", GM) != GM for one in _all_effects(rules)):
            yield missing(path, "counter on its sheets", counter, sorted(on_sheets))
            continue
        others = {its.counter for other, its in file.effects.items() if other != kind and its.counter != counter}
        known = tuple(sorted((on_sheets | set_before | others) - {""}))
        near = nearest(counter, known)
        if near:
            message = f"this would create a counter {counter!r} next to the counter {near!r}"
            yield Fault("unknown-name", path, message, counter, known)


def _kinds(rules: Rules) -> Iterator[Fault]:
    """Yield the kinds of effect that never come about."""
    used = {one.get("kind") for one in _all_effects(rules)}
    used |= {kind for action in rules.file.actions.values() for kind in paying_kinds(rules, action)}
    for kind in rules.file.effects:
        if kind not in used and kind != USED and not rules.layers.is_of_kits("effects", kind):
            yield Fault("unused", ("effects", kind), "no outcome, menu or period uses this effect")


def _all_effects(rules: Rules) -> Iterator[Mapping[str, Any]]:
    asks = [action.ask for action in rules.file.actions.values()]
    in_file = (rules.file.periods, rules.file.tables)
    for _, value in walk(
        [*map(msgspec.to_builtins, in_file), asks, *(text.data for text in rules.layers.outcome_texts())]
    ):
        if isinstance(value, dict) and isinstance(value.get("kind"), str):
            yield value
