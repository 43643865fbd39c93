"""Diagnostics of what is declared and nothing uses: switches; of a ruleset of data alone all else, too."""

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
from rpgres.rulesets.actions import Parameter
from rpgres.rulesets.rows import RowBody
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.switches import record_faults
from rpgres.rulesets.tables import USED
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Fault, nearest

_CONDITIONS = ("when", "unless", "hidden-when", "refill-when")
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
    for name in rules.file.described:
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


# ---------------------------------------------------------------------------------------------------------------------
# House rules


def house_rule_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with switches: what they bring, what code reads of them, and those that nothing reads."""
    yield from _brought(rules)
    for record in rules.ruleset.switch_records:
        for name, told in record_faults(record, rules.file.switches, is_whole=not rules.layers.overlays):
            yield Fault("no-data", ("switches", name), told)
    if rules.layers.overlays and not rules.file.standalone:
        return  # a house rule may take away the row that made a difference
    try:
        yield from _idle_switches(rules)
    except (FileError, KeyError):
        return  # what cannot be read is told as such, and might use anything


def _brought(rules: Rules) -> Iterator[Fault]:
    switches = rules.file.switches
    for name, switch in switches.items():
        for choice, others in switch.brings.items():
            at = ("switches", name, "brings", choice)
            if choice not in switch.choices:
                yield missing(at, f"choice of {name}", choice, switch.choices)
            for other, brought in others.items():
                if other not in switches:
                    yield missing((*at, other), "switch", other, switches)
                elif brought not in switches[other].choices:
                    yield missing((*at, other), f"choice of {other}", brought, switches[other].choices)


def _idle_switches(rules: Rules) -> Iterator[Fault]:
    used = {one for pile in rules.file.piles.values() for condition in pile.decks.values() for one in condition}
    for path, value in walk([msgspec.to_builtins(rules.file), *(text.data for text in rules.layers.outcome_texts())]):
        if len(path) > 1 and path[-2] in _CONDITIONS:
            used.add(str(path[-1]))
        elif isinstance(value, str) and value.startswith("switch:"):
            used.add(value.removeprefix("switch:"))
    used |= {name for action in rules.file.described for name in named_in_action(rules, action)}
    used |= {name for name, switch in rules.file.switches.items() if switch.brings}
    read = {field for record in rules.ruleset.switch_records for field in record.__annotations__}
    by_code = "" if rules.file.standalone else ", and the code reads it in no record (@ruleset.switches)"
    for name in rules.file.switches:
        if name not in used and name.replace("-", "_") not in read:
            message = f"this house rule is unused: no formula, condition (when, unless) or `who` names it{by_code}"
            yield Fault("unused", ("switches", name), message)
