"""What is known of a kind of parameter, and every kind by its name in a ruleset's TOML.

A new kind is a module beside, which has the kind under its name in capitals, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from rpgres.model.state import State
from rpgres.parameters.context import InputContext
from rpgres.rulesets import FormField, Parameter, Rules
from rpgres.rulesets.schema import RecordField
from rpgres.toml.diagnostics import Fault, KeyPath

Described = Parameter | FormField
Declared = Parameter | FormField | RecordField  # or a key of a record on a sheet, which is declared likewise
Schema = dict[str, Any]
Offers = list[tuple[str, str]]  # what can be typed, and what it means


class Slot(msgspec.Struct, frozen=True):
    """Where one value is read.

    Attributes:
        context: the table so far.
        option: what messages call it.
        who: whom it is about: the actor, or the character that a form names.
    """

    context: InputContext
    described: Any
    option: str
    who: str


class Typed(msgspec.Struct, frozen=True):
    """What is on a line so far, for which a shell wants to know what may come next.

    Attributes:
        line: the values of the line so far, by option.
        incomplete: the beginning of the value.
    """

    rules: Rules
    parameter: Parameter
    name: str
    line: Mapping[str, Any]
    incomplete: str = ""


def default_faults(words: str, type_: type) -> Callable[[KeyPath, Declared], Iterable[Fault]]:
    """Return what tells a default of the wrong type.

    Args:
        words: what the default is, such as "a flag is true or false".
    """

    def faults(at: KeyPath, described: Declared) -> Iterator[Fault]:
        if described.default is not None and type(described.default) is not type_:
            message = f"the default of {words}, not {described.default!r}"
            yield Fault("bad-default", (*at, "default"), message)

    return faults


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of parameter, or of a field of a form.

    Attributes:
        read: makes a value of what was typed (text) or scripted (numbers, lists, tables).
        metavar: what stands for the value in help, from its name and whether the ruleset has a ladder.
        schema: the JSON Schema of what a scene or a request may say.
        offers: what a shell may offer.
        faults: what is wrong with how a ruleset declares it, from the key path of the declaration.
        laid: what it puts on the table before the action: piles, counters, tags, by their paths.
        is_known: whether a value is what the table has, so that it needs no confirmation.
    """

    read: Callable[[Slot, Any], Any]
    metavar: Callable[[Described, str, bool], str]
    schema: Callable[[Described], Schema]
    offers: Callable[[Typed], Offers] = lambda _: []
    faults: Callable[[KeyPath, Declared], Iterable[Fault]] = lambda *_: ()
    laid: Callable[[Rules, Parameter, Any, str], list[str]] = lambda *_: []
    is_known: Callable[[Rules, State, Described, Any, str], bool] = lambda *_: False


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
    """Return what stands for a parameter's value in help and messages."""
    return parameter.metavar or kind_of(parameter).metavar(parameter, name, has_rungs)


def schema_of(parameter: Parameter) -> Schema:
    """Return the JSON Schema of what a scene or a request may say for a parameter."""
    one = kind_of(parameter).schema(parameter)
    if not parameter.is_repeated:
        return one
    return {"anyOf": [one, {"type": "array", "items": one, "maxItems": parameter.most}]}
