"""Forms: what is typed of somebody or something as `NAME:key=value,key=value`, or stands in a scene as a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rpgres.dice import dice
from rpgres.engine.parameters import (
    Form,
    Rating,
    Setting,
    give_seat,
    number_in,
    read_ability,
    read_choice,
    read_flag,
    read_integer,
    read_text,
    rung_in,
)
from rpgres.errors import UsageError
from rpgres.model.state import ROLES, Map, blank_character, slug
from rpgres.rulesets import FormField, Parameter, unknown
from rpgres.rulesets.schema import metavar
from rpgres.rulesets.sheets import MissingSheet


def read_form(setting: Setting, parameter: Parameter, value: Any, *, option: str) -> Form:
    """Return what `NAME:key=value,key=value`, or a scene's table with a `name`, stands for."""
    name, typed = form_parts(parameter, value, option=option)
    before = setting.state.characters
    if parameter.seats:
        name = _seated(setting, name)
        if parameter.guests and name not in setting.state.characters:
            if slug(name) in (*ROLES, ""):
                raise UsageError(f"{option}: nobody can be called {name!r}")
            setting.state = setting.state.with_character(blank_character(name))
    for key in typed:
        if key not in parameter.fields:
            typed_as = f"; it is typed as {metavar(parameter, option)}"
            raise UsageError(unknown("field", key, parameter.fields, of=f"{option} {name}") + typed_as)
    values: dict[str, Any] = {}
    for key, field in parameter.fields.items():
        one = typed.get(key, field.default)
        if one is not None:
            values[key] = _form_value(setting, field, one, who=name, option=f"{option} {name}: {key}")
        elif field.required:
            raise UsageError(f"{option} {name} needs {key}=...: {field.help}")
        if field.seat and values.get(key):
            give_seat(setting, name, field.seat, before=before)
    return Form(name, Map(values))


def form_parts(parameter: Parameter, value: Any, *, option: str) -> tuple[str, dict[str, Any]]:
    """Return the name that a form speaks of, and what is said of it by field, as typed.

    Args:
        parameter: what takes the form.
        value: `NAME:key=value,key=value`, or a scene's table with a `name`.
        option: what it was typed after, for messages.

    Raises:
        UsageError: it is no such thing.
    """
    if isinstance(value, Mapping):
        rest = {key.replace("_", "-"): one for key, one in value.items()}
        name = rest.pop("name", None)
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f'{option} as a table has a name: {{ name = "NAME", ... }}, not {dict(value)!r}')
        return name.strip(), rest
    text = read_text(value, option=option)
    head, sign, behind = text.partition("=")
    name, colon, first = head.rpartition(":")
    if not colon:
        name, first = head, ""
    if not name.strip() or (sign and not colon):
        keys = ",".join(f"{key}=..." for key in parameter.fields)
        raise UsageError(f"{option} takes NAME:{keys}, and {text!r} names nobody and nothing")
    said: dict[str, Any] = {}
    for pair in f"{first}{sign}{behind}".split(",") if first or sign else ():
        key, has_value, one = (part.strip() for part in pair.partition("="))
        key = key.replace("_", "-")
        if not key:
            raise UsageError(f"{option} {name}: {text!r} has an empty part; a comma stands between two KEY=VALUE")
        if key in said:
            raise UsageError(f"{option} {name}: {key} is said twice")
        is_flag = not has_value and key in parameter.fields and parameter.fields[key].kind == "flag"
        if not has_value and not is_flag and key in parameter.fields:
            raise UsageError(f"{option} {name}: behind {key} stands = and its value")
        said[key] = True if is_flag else one
    return name.strip(), said


def _seated(setting: Setting, name: str) -> str:
    """Return the name of somebody who is at the table or has a sheet, which sits down; else just the name."""
    try:
        return setting.sit(name)
    except MissingSheet:
        if name.endswith(".toml"):
            raise
    except UsageError:
        if name != os.path.basename(name):
            raise
    return name


def _form_value(setting: Setting, field: FormField, value: Any, *, who: str, option: str) -> Any:
    match field.kind:
        case "ability":
            actor = who if who in setting.state.characters else ""
            return _form_rating(setting, value, actor=actor, option=option)
        case "integer":
            return read_integer(field, value, option=option)
        case "flag":
            return read_flag(value, option=option)
        case "choice":
            return read_choice(field, value, option=option)
        case "dice":
            return dice(
                str(value)
                if isinstance(value, int) and not isinstance(value, bool)
                else read_text(value, option=option)
            )
        case "text":
            return read_text(value, option=option)


def _form_rating(setting: Setting, value: Any, *, actor: str, option: str) -> Rating:
    if actor:
        return read_ability(setting.rules, value, state=setting.state, actor=actor, option=option)
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str):
        number = number_in(value)
        if number is None:
            number = rung_in(setting.rules, value)
    if number is None:
        raise UsageError(f"{option} takes a whole number, as nobody of this name is at the table, not {value!r}")
    return Rating(number)
