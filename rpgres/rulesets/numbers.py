"""The names of numbers that described actions may speak of. What they come to is worked out where they are played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rpgres.rulesets.actions import Action
from rpgres.rulesets.rows import templates
from rpgres.rulesets.schema import RulesetFile
from rpgres.rulesets.templates import names_in

PLAIN = ("total", "natural", "highest", "lowest")  # what can be read off any roll
COMPARED = ("margin", "opposition")  # what is known only when both sides are
NUMERIC = ("ability", "integer", "counter")  # the kinds of parameters that are whole numbers
OPPONENT = "opponent"
OPPOSED = f"{OPPONENT}."  # `{opponent.armour}`: an ability or counter of whoever opposes


def sheet_names(file: RulesetFile) -> set[str]:
    """Return the names of abilities and counters that sheets of a ruleset may have, as far as they are listed."""
    names = {name for field in file.sheet.values() if field.kind == "abilities" for name in field.abilities}
    return names | {name for name, field in file.sheet.items() if field.kind == "counter"}


def has_any_ability(file: RulesetFile) -> bool:
    """Tell whether sheets may have abilities of any name, so that no name can be called unknown."""
    return any(field.kind == "abilities" and (field.any_name or not field.names) for field in file.sheet.values())


def number_names(file: RulesetFile, action: str) -> set[str]:
    """Return the names of whole numbers that conditions, measures and effects of an action may speak of."""
    described = file.actions[action]
    on_sheets = sheet_names(file)
    parameters = file.parameters_of(action)
    read: Iterable[str] = PLAIN
    if described.dice:
        read = (*file.window_names, *(name for name, definition in file.define.items() if not definition.of))
    return {
        *read,
        *(COMPARED if is_opposed(described) else ()),
        *described.counts,
        *described.numbers,
        *(name for name, parameter in parameters.items() if parameter.kind in NUMERIC and not parameter.many),
        *on_sheets,
        *(f"{OPPOSED}{name}" for name in on_sheets),
    }


def dice_names(file: RulesetFile, action: str) -> set[str]:
    """Return the names that dice of an action may have in braces: numbers, flags, and choices that are told in dice."""
    parameters = file.parameters_of(action)
    return number_names(file, action) | {
        name
        for name, parameter in parameters.items()
        if parameter.kind == "flag" or (parameter.kind == "choice" and parameter.values and not parameter.many)
    }


def known_names(file: RulesetFile, action: str) -> set[str]:
    """Return every name that the data of an action may speak of, words included."""
    return dice_names(file, action) | file.parameters_of(action).keys() | file.actions[action].ask.keys()


def names_after_roll(action: Action) -> set[str]:
    """Return the names of what is known only after the roll: what is read off it, and numbers worked out from that."""
    return _and_worked_out(action, {*PLAIN, *COMPARED, *action.counts})


def names_of_comparison(action: Action) -> set[str]:
    """Return the names of what there is only when something opposes: the margin, and what is worked out from it."""
    return _and_worked_out(action, set(COMPARED))


def _and_worked_out(action: Action, names: set[str]) -> set[str]:
    found, numbers = set(names), templates(action.numbers)
    while True:
        more = {name for name, template in numbers.items() if not found.isdisjoint(names_in(template))} - found
        if not more:
            return found
        found |= more


def is_opposed(action: Action) -> bool:
    """Tell whether something may be in the way of an action, so that there can be a margin."""
    return bool(action.vs) or any(other.vs for other in action.instead.values())


def described_actions(file: RulesetFile) -> Iterator[str]:
    """Yield the actions whose data say what is rolled."""
    for name, action in file.actions.items():
        if action.is_described:
            yield name
