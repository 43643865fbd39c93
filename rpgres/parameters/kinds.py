"""Every kind of parameter by its name in a ruleset's TOML. A new kind is a module beside, and a line here."""

from __future__ import annotations

from rpgres.parameters.characters import CHARACTER
from rpgres.parameters.form import FIELD_KINDS, FORM
from rpgres.parameters.kind import Declared, Kind, Schema
from rpgres.parameters.opposition import OPPOSITION
from rpgres.parameters.table_items import CARDS, COUNTER, TAG
from rpgres.rulesets import Parameter

KINDS: dict[str, Kind] = {
    **FIELD_KINDS,
    "opposition": OPPOSITION,
    "character": CHARACTER,
    "tag": TAG,
    "counter": COUNTER,
    "cards": CARDS,
    "form": FORM,
}


def kind_of(described: Declared) -> Kind:
    """Return the kind of a parameter, of a field of a form, or of a key of a record on a sheet."""
    return KINDS[described.kind]


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
