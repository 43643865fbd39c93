"""Diagnostics of conditions: of the margin, of switches, and of the facts that a ruleset declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rpgres.lint.formulas import missing
from rpgres.rulesets.dice_plans import NO
from rpgres.rulesets.rows import Condition
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.settling import bounded_name
from rpgres.toml.diagnostics import Fault, KeyPath, nearest, unknown_name

MARGIN_BOUNDS = ("margin-from", "margin-to")  # what a condition says of the margin
CONDITIONS = ("when", "unless")


def circumstance_faults(
    rules: Rules, path: KeyPath, conditions: tuple[Any, Any], numbers: Iterable[str]
) -> Iterator[Fault]:
    """Yield what is wrong with the conditions of one thing, each by itself and the two together.

    Args:
        conditions: what has to hold (`when`), and what must not (`unless`).
        numbers: the names of numbers that they may speak of, beside the margin.
    """
    numbers = list(numbers)
    for key, condition in zip(CONDITIONS, conditions, strict=True):
        yield from condition_faults(rules, (*path, key), condition, numbers)
    when, unless = conditions
    if unless and all(key in when and when[key] == wanted for key, wanted in unless.items()):
        message = "whenever `when` holds, this does too, so the row is unreachable"
        yield Fault("never-matches", (*path, "unless"), message)


def switch_faults(rules: Rules, path: KeyPath, condition: Condition) -> Iterator[Fault]:
    """Yield what is wrong with a condition that can speak of switches alone, since it holds outside of any action."""
    strange = [key for key in condition if key not in rules.file.switches]
    for key in strange:
        yield missing((*path, key), "switch", key, rules.file.switches)
    if not strange:
        yield from condition_faults(rules, path, condition, ())


def condition_faults(rules: Rules, path: KeyPath, condition: Condition, numbers: Iterable[str]) -> Iterator[Fault]:
    """Yield what is wrong with a condition; the arguments are those of `circumstance_faults`."""
    switches = rules.file.switches
    facts = {name: words for name, words in rules.file.facts.items() if words} | _parameter_facts(rules)
    numbers = sorted(numbers)
    yield from _empty_spans(path, condition)
    for key, wanted in condition.items():
        at = (*path, key)
        name, side = bounded_name(key)
        each = wanted if isinstance(wanted, list) else [wanted]
        if key in MARGIN_BOUNDS or (side and name in numbers) or (key in numbers and key not in facts):
            whole = [wanted] if side else each
            strange: list[Any] = [one for one in whole if not isinstance(one, int) and one not in numbers]
            yield from (Fault("not-a-number", at, f"{key} is a whole number, not {one!r}") for one in strange)
        elif key in facts or key in switches:
            choices = [*facts.get(key, ()), *(switches[key].choices if key in switches else ())]
            what = f"the {'fact' if key in facts else 'switch'} {key} has no choice"
            strange = [one for one in each if one not in choices]
            yield from (unknown_name(at, f"{what} {one!r}", one, choices, there="it can be") for one in strange)
        else:
            known = (*MARGIN_BOUNDS, *switches, *facts, *numbers)
            if facts or numbers or nearest(key, known):  # a ruleset that declares no facts may use any other
                yield unknown_name(at, f"there is no condition {key!r}", key, known)


def _empty_spans(path: KeyPath, condition: Condition) -> Iterator[Fault]:
    """Yield the lower bounds that are above the upper ones."""
    for key, low in condition.items():
        name = key.removesuffix("-from")
        high = condition.get(f"{name}-to") if name != key else None
        if isinstance(low, int) and isinstance(high, int) and low > high:
            message = f"{name} is never both {low} or more and {high} or less"
            yield Fault("never-matches", (*path, key), message)


def _parameter_facts(rules: Rules) -> dict[str, list[str]]:
    """Return what parameters and answers of described actions may be: conditions can speak of choices and flags."""
    found: dict[str, list[str]] = {}
    for action in rules.file.described:
        for name, parameter in rules.file.parameters_of(action).items():
            if parameter.kind == "flag":
                found[name] = ["yes", "no"]
            elif parameter.kind == "choice":
                found[name] = [*found.get(name, []), *parameter.choices]
        for label, asked in rules.file.actions[action].ask.items():
            found[label] = [*found.get(label, []), *asked.options, NO]
    return found
