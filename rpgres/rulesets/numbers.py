"""The names of numbers that described actions may speak of. What they come to is worked out where they are played."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.rulesets.actions import OPPOSITION
from rpgres.rulesets.schema import RulesetFile

COMPARED = ("margin", OPPOSITION)  # what is known only when both sides are
NUMERIC = ("ability", "integer", "counter")  # the kinds of parameters that are whole numbers
OPPONENT = "opponent"
OPPOSED = f"{OPPONENT}."  # `{opponent.armour}`: an ability or counter of the opponent


def sheet_names(file: RulesetFile) -> set[str]:
    """Return the names of abilities and counters that sheets of a ruleset may have, as far as they are listed."""
    names = {name for field in file.sheet.values() if field.kind == "abilities" for name in field.abilities}
    return names | {name for name, field in file.sheet.items() if field.kind == "counter"}


def has_any_ability(file: RulesetFile) -> bool:
    """Tell whether sheets may have abilities of any name, so that no name can be called unknown."""
    return any(field.kind == "abilities" and (field.any_name or not field.names) for field in file.sheet.values())


def number_names(file: RulesetFile, action: str) -> set[str]:
    """Return the names of whole numbers that conditions and effects of an action may speak of."""
    described = file.actions[action]
    on_sheets = sheet_names(file)
    parameters = file.parameters_of(action)
    return {
        *file.window_names,
        *(name for name, definition in file.definitions.items() if not definition.of),
        *(COMPARED if OPPOSITION in described.groups else ()),
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


def described_actions(file: RulesetFile) -> Iterator[str]:
    """Yield the actions whose data say what is rolled."""
    for name, action in file.actions.items():
        if action.is_described:
            yield name
