"""The kinds `text`, `integer`, `flag`, `choice` and `dice`: values that need nothing from the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rpgres.dice import dice
from rpgres.dice.hints import as_range, foreign
from rpgres.errors import RpgresError, UsageError, as_data, named
from rpgres.model.state import Character
from rpgres.parameters.kinds import Declared, Described, Kind, Offers, Schema, Slot, Typed, default_faults
from rpgres.rulesets import Rules, unknown
from rpgres.toml.diagnostics import Fault, KeyPath

NUMBER_OR_TEXT: Schema = {"type": ["integer", "string"]}


def name_metavar(_described: Described, name: str, _has_rungs: bool) -> str:
    """Return the name itself, as what stands for a value in help."""
    return name.upper()


def text_of(value: Any, option: str) -> str:
    """Return a value that is a text.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, str):
        raise UsageError(f"{option} takes a text, not {as_data(value)}", reason="type")
    return value


def _text_offers(typed: Typed) -> Offers:
    """Return what an input of one thing may name on a sheet that lists several: `stunt` for the records of `stunts`."""
    listed, sheet = f"{typed.name}s", typed.line.get("sheet")
    field = typed.rules.file.sheet.get(listed)
    character = sheet_of(typed.rules, sheet) if sheet and field is not None and field.kind == "records" else None
    if character is None:
        return []
    return [(key, str(record.get("text", ""))) for key, record in character.records.get(listed, {}).items()]


def sheet_of(rules: Rules, sheet: str) -> Character | None:
    """Return the character of a sheet that is named on a line; None when it cannot be read, or is standard input."""
    from rpgres.rulesets.sheets import STDIN, read_sheet

    try:
        return read_sheet(rules, sheet).character if sheet != STDIN else None
    except RpgresError:
        return None


def several(text: str) -> str:
    """Return what is said of a text in place of a number: it means several, as `3-5` and `3,5`, or is full-width."""
    meant = as_range(text)
    if meant:
        return f"; odds take a range as {meant}"
    if "," in text and text.replace(",", "").replace(" ", "").isdecimal():
        return f"; odds take a list as {named('vary')} NAME={text}"
    plain = foreign(text)[1]
    return f"; {plain}" if plain else ""


def whole_number(slot: Slot, value: Any) -> int:
    """Return a whole number within the bounds of a parameter.

    Raises:
        UsageError: it is none.
    """
    described, option = slot.described, slot.option
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            message = f"{option} takes a whole number, not {as_data(value)}{several(value)}"
            raise UsageError(message, reason="type") from None
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{option} takes a whole number, not {as_data(value)}", reason="type")
    if not described.has(value):
        raise UsageError(f"{option} takes a whole number {described.words}, not {value}", reason="range")
    among = getattr(described, "among", ())
    if among and value not in among:
        *others, last = map(str, among)
        raise UsageError(f"{option} takes {', '.join(others)} or {last}, not {value}", reason="range")
    return value


def integer_schema(described: Described) -> Schema:
    """Return the schema of a whole number within bounds."""
    bounds = {"minimum": described.at_least, "maximum": described.at_most}
    among = getattr(described, "among", ())
    if among:
        return {"enum": [*among]}
    return {"type": "integer", **{key: bound for key, bound in bounds.items() if bound is not None}}


def _read_flag(slot: Slot, value: Any) -> bool:
    if isinstance(value, bool) or value in ("true", "yes", "false", "no"):
        return is_set(value)
    raise UsageError(f"{slot.option} is a flag; {as_data(value)} is neither true nor false", reason="type")


def is_set(value: Any) -> bool:
    """Tell whether a flag is set, of a value that was read before."""
    return value in (True, "true", "yes")


def _read_choice(slot: Slot, value: Any) -> str:
    if not isinstance(value, str) or value not in slot.described.choices:
        raise UsageError(unknown("choice", str(value), slot.described.choices, of=slot.option), reason="unknown")
    return value


def _choice_faults(at: KeyPath, described: Declared) -> Iterator[Fault]:
    default = described.default
    if not described.choices:
        yield Fault("no-choice", at, "a choice without choices")
    elif default is not None and default not in described.choices:
        yield Fault("bad-default", (*at, "default"), f"the default {default!r} is none of the choices")


def _read_dice(slot: Slot, value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return dice(str(value) if is_number else text_of(value, slot.option))


TEXT = Kind(
    read=lambda slot, value: text_of(value, slot.option),
    metavar=name_metavar,
    schema=lambda _: {"type": "string"},
    offers=_text_offers,
)
INTEGER = Kind(
    read=whole_number,
    metavar=lambda *_: "N",
    schema=integer_schema,
    faults=default_faults("a whole number is a whole number", int),
)
FLAG = Kind(
    read=_read_flag,
    metavar=lambda *_: "",
    schema=lambda _: {"type": "boolean"},
    faults=default_faults("a flag is true or false", bool),
    is_known=lambda _rules, _state, _described, value, _who: not is_set(value),
)
CHOICE = Kind(
    read=_read_choice,
    metavar=lambda described, *_: "|".join(described.choices),
    schema=lambda described: {"enum": list(described.choices)},
    offers=lambda typed: list(typed.parameter.choices.items()),
    faults=_choice_faults,
)
DICE = Kind(read=_read_dice, metavar=name_metavar, schema=lambda _: NUMBER_OR_TEXT)
