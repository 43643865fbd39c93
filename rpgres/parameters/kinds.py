"""Every kind of parameter by its name in a ruleset's TOML. A new kind is a module beside, and a line here.

The module has the kind under its name in capitals.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from rpgres.parameters.kind import Declared, Kind, Schema
from rpgres.rulesets import Parameter

HOMES = {
    "ability": "ability",
    "integer": "plain",
    "text": "plain",
    "flag": "plain",
    "choice": "plain",
    "dice": "plain",
    "opposition": "opposition",
    "character": "characters",
    "tag": "table_items",
    "counter": "table_items",
    "cards": "table_items",
    "form": "form",
}


@cache
def _kind(name: str) -> Kind:
    # An action has a few kinds of parameters: the modules of the others are not loaded for it.
    kind: Kind = getattr(import_module(f"rpgres.parameters.{HOMES[name]}"), name.upper())
    return kind


def kind_of(described: Declared) -> Kind:
    """Return the kind of a parameter, of a field of a form, or of a key of a record on a sheet."""
    return _kind(described.kind)


def metavar(parameter: Parameter, name: str, *, has_rungs: bool = True) -> str:
    """Return what stands for a parameter's value in help and messages.

    Args:
        parameter: what it is.
        name: its name as an option.
        has_rungs: whether the ruleset has a ladder.
    """
    return parameter.metavar or kind_of(parameter).metavar(parameter, name, has_rungs)


def schema_of(parameter: Parameter) -> Schema:
    """Return the JSON Schema of what a scene or a request may say for a parameter."""
    one = kind_of(parameter).schema(parameter)
    if not parameter.is_repeated:
        return one
    return {"anyOf": [one, {"type": "array", "items": one, "maxItems": parameter.most}]}
