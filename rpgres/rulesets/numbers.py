"""The names of numbers that described actions may speak of. What they come to is worked out where they are played."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.rulesets.records import Parameter, RulesetFile

PLAIN = ("total", "natural", "highest", "lowest")  # what can be read off any roll
COMPARED = ("margin", "opposition")  # what is known only when both sides are
OPPONENT = "opponent"
OPPOSED = f"{OPPONENT}."  # `{opponent.armour}`: an ability or counter of whoever opposes


def parameters_of(file: RulesetFile, action: str) -> dict[str, Parameter]:
    """Return what an action takes, by the name it is typed under; what is not described is left out."""
    found = ((key, file.parameters[key]) for key in file.actions[action].parameters if key in file.parameters)
    return {parameter.name or key: parameter for key, parameter in found}


def sheet_names(file: RulesetFile) -> set[str]:
    """Return the names of abilities and counters that sheets of a ruleset may have, as far as they are listed."""
    names = {name for field in file.sheet.values() if field.kind == "abilities" for name in field.names}
    return names | {name for name, field in file.sheet.items() if field.kind == "counter"}


def has_any_ability(file: RulesetFile) -> bool:
    """Tell whether sheets may have abilities of any name, so that no name can be called unknown."""
    return any(field.kind == "abilities" and (field.any_name or not field.names) for field in file.sheet.values())


def known_names(file: RulesetFile, action: str) -> set[str]:
    """Return every name that the data of an action may speak of."""
    described = file.actions[action]
    on_sheets = sheet_names(file)
    return {
        *PLAIN,
        *COMPARED,
        *described.counts,
        *described.numbers,
        *parameters_of(file, action),
        *on_sheets,
        *(f"{OPPOSED}{name}" for name in on_sheets),
    }


def described_actions(file: RulesetFile) -> Iterator[str]:
    """Yield the actions whose data say what is rolled."""
    for name, action in file.actions.items():
        if action.roll:
            yield name
