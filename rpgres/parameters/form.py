"""The kind `form`: a name with fields, as NAME:KEY=VALUE,... or as a table of a scene."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from rpgres.errors import UsageError, enumerated, located
from rpgres.model.state import NO_NAMES, Map, blank_character, pile_name, slug
from rpgres.parameters.ability import abilities_for
from rpgres.parameters.characters import character_at
from rpgres.parameters.context import InputContext, give_seat, sheet_offers
from rpgres.parameters.kinds import Declared, Described, Kind, Offers, Schema, Slot, Typed, kind_of
from rpgres.parameters.plain import text_of
from rpgres.parameters.values import Form
from rpgres.rulesets import Parameter, Rules, unknown
from rpgres.toml.diagnostics import Fault, KeyPath

METAVAR = "NAME:KEY=VALUE,..."


def _read(slot: Slot, value: Any) -> Form:
    """Return what `NAME:key=value,key=value`, or a scene's table with a `name`, stands for."""
    context, parameter = slot.context, slot.described
    name, typed = form_parts(parameter, value, option=slot.option)
    before = context.state.characters
    if parameter.seats:
        if parameter.others:
            name = character_at(context, name, option=slot.option, is_other=True)
        else:
            name = _seated(context, name)
        if parameter.guests and name not in context.state.characters:
            if slug(name) in (*NO_NAMES, ""):
                raise UsageError(f"{slot.option}: {name!r} cannot be a name")
            context.state = context.state.with_character(blank_character(name))
    for key in typed:
        if key not in parameter.fields:
            typed_as = f"; it is typed as {parameter.metavar or METAVAR}"
            message = unknown("field", key, parameter.fields, of=f"{slot.option} {name}") + typed_as
            raise UsageError(message, path=(key,), reason="unknown")
    values: dict[str, Any] = {}
    for key, field in parameter.fields.items():
        one = typed.get(key, field.default)
        if one is not None:
            with located(key):
                its = Slot(context, field, f"{slot.option} {name}: {key}", name)
                values[key] = kind_of(field).read(its, one)
        elif field.required:
            raise _missing(slot, name, typed, key)
        if field.seat and values.get(key):
            give_seat(context, name, field.seat, before=before)
    return Form(name, Map(values))


def _missing(slot: Slot, name: str, typed: Mapping[str, Any], first: str) -> UsageError:
    """Return the error of a form without a field that it needs, with a form that has all of them."""
    fields, whose = slot.described.fields, slot.context.state.characters.get(name)
    abilities = whose.abilities if whose is not None else {}
    known: dict[str, list[str]] = {}
    for key in (key for key in fields if key not in typed):
        is_ability = fields[key].kind == "ability"
        names = abilities_for(slot.context.rules, key, abilities) if is_ability else []
        if fields[key].required:
            known[key] = names or (list(abilities) if is_ability else [])
        elif names:  # which counts with the others
            known[key] = names
    said = [f"{key}={value}" for key, value in typed.items()]
    said += [f"{key}={next(iter(names), '...')}" for key, names in known.items()]
    has = f" ({name} has: {enumerated(known[first])})" if len(known[first]) > 1 else ""
    form = f"{name}:{','.join(said)}"
    message = f"{slot.option} {name} needs {first}, {fields[first].help}: type {form}{has}"
    return UsageError(message, path=(first,), reason="missing")


def _seated(context: InputContext, name: str) -> str:
    """Return the name of a character who is at the table or has a sheet, which joins it; else just the name."""
    from rpgres.rulesets.sheets import MissingSheet

    try:
        return context.name_at_table(name)
    except MissingSheet:
        if name.endswith(".toml"):
            raise
    except UsageError:
        if name != os.path.basename(name):
            raise
    return name


def form_parts(parameter: Parameter, value: Any, *, option: str) -> tuple[str, dict[str, Any]]:
    """Return the name that a form speaks of, and what is said of it by field, as typed.

    Args:
        value: `NAME:key=value,key=value`, or a scene's table with a `name`.

    Raises:
        UsageError: it is no such thing.
    """
    if isinstance(value, Mapping):
        rest = {key.replace("_", "-"): one for key, one in value.items()}
        name = rest.pop("name", None)
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f'{option} as a table has a name: {{ name = "NAME", ... }}, not {dict(value)!r}')
        return name.strip(), rest
    text = text_of(value, option)
    head, sign, behind = text.partition("=")
    name, colon, first = head.rpartition(":")
    if not colon:
        name, first = head, ""
    if not name.strip() or (sign and not colon):
        keys = ",".join(f"{key}=..." for key in parameter.fields)
        raise UsageError(f"{option} takes NAME:{keys}, and {text!r} has no name")
    said: dict[str, Any] = {}
    for pair in f"{first}{sign}{behind}".split(",") if first or sign else ():
        key, has_value, one = (part.strip() for part in pair.partition("="))
        key = key.replace("_", "-")
        if not key:
            raise UsageError(f"{option} {name}: {text!r} has an empty part; KEY=VALUE pairs are separated by commas")
        if key in said:
            raise UsageError(f"{option} {name}: {key} is given twice", path=(key,))
        is_flag = not has_value and key in parameter.fields and parameter.fields[key].kind == "flag"
        if not has_value and not is_flag and key in parameter.fields:
            raise UsageError(f"{option} {name}: {key} is followed by = and a value")
        said[key] = True if is_flag else one
    return name.strip(), said


def forms_in(parameter: Parameter, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the fields of each form; what is no form is reported where it is read."""
    for one in value if isinstance(value, list | tuple) else [value]:
        try:
            yield form_parts(parameter, one, option="")
        except UsageError:
            continue


def _laid(_rules: Rules, parameter: Parameter, value: Any, _actor: str) -> list[str]:
    """Return the piles of which forms say which cards lie there."""
    return [
        pile_name(field.pile, name)
        for name, said in forms_in(parameter, value)
        for key, field in parameter.fields.items()
        if field.pile and said.get(key)
    ]


def _offers(typed: Typed) -> Offers:
    """Return names for a form that has none yet, and then what else may be said in it."""
    parameter, incomplete = typed.parameter, typed.incomplete
    head, sign, _ = incomplete.rpartition("," if "," in incomplete else ":")
    if not sign:
        return [(f"{sheet}:", text) for sheet, text in sheet_offers(typed.rules)] if parameter.seats else []
    return [
        (f"{head}{sign}{key}{'' if field.kind == 'flag' else '='}", field.help)
        for key, field in parameter.fields.items()
        if f"{key}=" not in head
    ]


def _faults(at: KeyPath, described: Declared) -> Iterator[Fault]:
    assert isinstance(described, Parameter)
    if not described.fields:
        yield Fault("incomplete", at, "a form without fields")
    for name, field in described.fields.items():
        its = (*at, "fields", name)
        if name == "name":
            yield Fault("taken-name", its, "`name` is reserved for the text before the colon; rename the field")
        if field.required and field.default is not None:
            yield Fault("inconsistent", (*its, "default"), "a required field cannot have a default")
        yield from kind_of(field).faults(its, field)


def _schema(described: Described) -> Schema:
    assert isinstance(described, Parameter)
    fields = {
        name: {"description": field.help, **kind_of(field).schema(field)} for name, field in described.fields.items()
    }
    named = {"name": {"type": "string", "description": "the name"}, **fields}
    required = ["name", *(name for name, field in described.fields.items() if field.required)]
    table = {"type": "object", "properties": named, "required": required, "additionalProperties": False}
    return {"anyOf": [{"type": "string"}, table]}


FORM = Kind(read=_read, metavar=lambda *_: METAVAR, schema=_schema, offers=_offers, laid=_laid, faults=_faults)
