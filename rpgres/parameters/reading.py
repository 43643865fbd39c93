"""What is typed after an action, or stands in a scene's `with`, read into the values its rule takes.

Nothing here plays; reading may put a character or a thing on the table first (a guard's sheet, a scene's aspect).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.errors import UsageError, located, named
from rpgres.model.state import blank_character
from rpgres.parameters.context import SHEET, InputContext, give_seat
from rpgres.parameters.kinds import Slot, kind_of, metavar
from rpgres.parameters.plain import is_set
from rpgres.rulesets import Parameter, Rules, unknown


def read_inputs(context: InputContext, action: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an action's rule, by parameter name with underscores.

    Args:
        context: the table so far; characters and tags that the inputs bring are added to its state.
        given: values as typed (text) or scripted (numbers, tables, lists), by parameter name.

    Raises:
        UsageError: an input is unknown, missing, or says something impossible.
        FileError: a sheet is missing or faulty.
    """
    rules = context.rules
    described = rules.file.actions[action]
    given, keys = _canonical(rules, action, given)
    sheet, before = given.get(SHEET), context.state.characters
    if sheet is not None:
        with located(SHEET):
            context.actor = context.add_sheet(context.read(str(sheet)))
    elif context.actor not in context.state.characters:
        context.state = context.state.with_character(blank_character(context.actor))
    arguments: dict[str, Any] = {}
    parameters = rules.parameters(action)
    lacking = [name for name in parameters if name in described.required and given.get(name) is None]
    if lacking:
        has_rungs = bool(rules.file.ladder)
        words = (
            f"{named(name)} {metavar(parameters[name], name, has_rungs=has_rungs)}: {parameters[name].help}"
            for name in lacking
        )
        message = f"{rules.id} {action} needs {'; and '.join(words)}"
        raise UsageError(message, path=(lacking[0],), reason="missing")
    for name, parameter in parameters.items():  # first, as other inputs may depend on whose a character is
        if parameter.kind == "flag" and parameter.seat and is_set(given.get(name, False)):
            give_seat(context, context.actor, parameter.seat, before=before)
    for name, parameter in parameters.items():
        value = given.get(name)
        if value is None and parameter.default is None and name not in described.required:
            continue  # the rule's own default stands
        with located(keys.get(name, name)):
            read = _read(context, name, parameter, value)
        if parameter.is_argument:
            arguments[name.replace("-", "_")] = read
    return arguments


def _canonical(rules: Rules, action: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the inputs under their parameters' own names, aliases replaced, and the keys under which they came."""
    names = {SHEET: SHEET}
    for name, parameter in rules.parameters(action).items():
        names |= {name: name} | dict.fromkeys(parameter.aliases, name)
    read: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for key, value in given.items():
        name = key.replace("_", "-")
        if name not in names:
            message = unknown("parameter", key, names, of=f"the action {rules.id} {action}")
            raise UsageError(message, path=(key,), reason="unknown")
        if names[name] in read:
            both = f"{named(names[name])} and {named(name)}"
            raise UsageError(f"{rules.id} {action} was given both {both}, which are the same parameter", path=(key,))
        if value is not None:
            read[names[name]], keys[names[name]] = value, key
    return read, keys


def _read(context: InputContext, name: str, parameter: Parameter, value: Any) -> Any:
    kind, slot = kind_of(parameter), Slot(context, parameter, named(name), context.actor)
    if value is None:
        value = parameter.default
    if parameter.kind == "cards":  # several of them are one value
        return None if value is None else kind.read(slot, value)
    if parameter.is_repeated:
        return _read_all(slot, value)
    if value is None:
        return False if parameter.kind == "flag" else None
    if isinstance(value, list | tuple):
        form = metavar(parameter, name)
        raise UsageError(f"{slot.option} takes one value, {form}, not a list of {len(value)}", reason="type")
    return kind.read(slot, value)


def _read_all(slot: Slot, value: Any) -> tuple[Any, ...]:
    values = () if value is None else value if isinstance(value, list | tuple) else (value,)
    most, read = slot.described.most, []
    if len(values) > most:
        raise UsageError(f"{slot.option} can be given at most {most} times, not {len(values):,} times", reason="range")
    for place, one in enumerate(values):
        with located(*([place] if values is value else [])):
            read.append(kind_of(slot.described).read(slot, one))
    return tuple(one for one in read if one is not None)
