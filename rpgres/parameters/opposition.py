"""The kind `opposition`: a number, a rung of the ladder, dice, or a character with an ability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.dice import Dice, dice
from rpgres.dice.hints import as_range
from rpgres.errors import NotationError, RpgresError, UsageError, as_data, enumerated, located
from rpgres.model.state import EMPTY, State, slug
from rpgres.parameters.ability import check_spelt, number_of, offers_of, read_ability, rung_of, says_rating
from rpgres.parameters.characters import character_at
from rpgres.parameters.context import sheet_offers
from rpgres.parameters.kinds import Described, Kind, Offers, Schema, Slot, Typed
from rpgres.parameters.plain import NUMBER_OR_TEXT
from rpgres.parameters.values import Opposition
from rpgres.rulesets import Rules
from rpgres.toml.diagnostics import nearest


def _read(slot: Slot, value: Any) -> Opposition | None:
    """Return what a number, a rung, dice, `NAME:ABILITY` or a table of a scene stands for; None for `none`."""
    if isinstance(value, Mapping):
        return _read_table(slot, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _plain(slot, value)
    if not isinstance(value, str):
        message = f"{slot.option} takes a number, a rung of the ladder, dice, or SHEET:ABILITY, not {as_data(value)}"
        raise UsageError(message, reason="type")
    rules, parameter, text = slot.context.rules, slot.described, value.strip()
    if text.lower() == "none":
        return None
    number = number_of(text)
    if number is None:
        number = rung_of(rules, text)
    if number is not None:
        return _plain(slot, number)
    counted = _with_unit(slot, text)
    if counted is not None:
        return Opposition(counted)
    name, separator, ability = text.rpartition(":")
    if separator and name:
        return _with_ability(slot, _opposer(slot, name), ability)
    name, separator, ability = text.partition("=")
    if separator and parameter.rolls and number_of(ability) is not None:
        check_spelt(rules, slug(name), EMPTY, option=slot.option)
        return _rated(slot, number_of(ability) or 0, ability=slug(name))
    if any(char.isdigit() for char in text):
        meant = as_range(text)
        if meant:
            raise UsageError(f"{slot.option} {text} is no number; odds take a range as {meant}", reason="type")
        read = dice(text)
        if read.constant:
            return Opposition(read.law.values[0])
        _check_counted(slot, text, read)
        return Opposition(0, read)
    raise _without_ability(slot, text) or _unreadable(slot, text)


def _without_ability(slot: Slot, text: str) -> UsageError | None:
    """Return the error of an opponent who is named without an ability; None where the text names none."""
    if slot.described.metavar and "SHEET:" not in slot.described.metavar:
        return None
    try:
        who = character_at(slot.context, text, option=slot.option)
    except RpgresError:
        return None
    abilities = slot.context.state.characters[who].abilities
    if not abilities or who == slot.context.actor:
        return None
    known = sorted(abilities, key=lambda one: -abilities[one])
    message = f"{slot.option} {text} needs an ability of theirs: type {who}:{known[0]} ({who} has: {enumerated(known)})"
    return UsageError(message, reason="missing")


def _unreadable(slot: Slot, text: str) -> UsageError:
    """Return what is said of a text that is nothing of what could stand there."""
    rules, unit = slot.context.rules, slot.described.unit
    near = nearest(text, rules.file.ladder)
    if near is not None:
        return UsageError(
            f"{slot.option} {text!r} is not a rung of the ladder; did you mean {near!r}?", reason="unknown"
        )
    ladder = enumerated([f"{name} {value:+}" for name, value in rules.file.ladder.items()], text, none="")
    forms = (slot.described.metavar or _metavar(slot.described, "", bool(ladder))).split("|")
    wanted = (
        "no number such as 2",
        f"neither a number of {unit} such as 3 {unit}" if unit else "",
        f"no rung of the ladder ({ladder})" if "RUNG" in forms else "",
        f"no dice such as {_dice_example(slot)}" if "DICE" in forms else "",
        "no SHEET:ABILITY such as guard.toml:will" if "SHEET:ABILITY" in forms else "",
        "not none" if "none" in forms else "",
    )
    *others, last = filter(None, wanted)
    message = f"{slot.option} {text!r} is {', '.join(others)}{', and ' if others else ''}{last}"
    return UsageError(message, reason="type")


def _dice_example(slot: Slot) -> str:
    if slot.described.rolls:
        shown = _filled(slot, 4)
        if not shown.constant:
            return shown.text
    return f"{slot.context.rules.file.dice or '2d6'}+2"


def _with_unit(slot: Slot, text: str) -> int | None:
    """Return the number of `3 successes`, or of `3s`, where plain numbers are ratings; None for any other text."""
    unit = slot.described.unit
    if not unit:
        return None
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    word = text[len(digits) :].strip().lower()
    if digits and nearest(word, (unit,)) and not unit.startswith(word):
        raise UsageError(f"{slot.option} {text!r}: a plain number is written as `{digits} {unit}`")
    return number_of(digits) if word and unit.startswith(word) else None


def _check_counted(slot: Slot, text: str, read: Dice) -> None:
    """Check that dice which are typed against counted ones are counted too."""
    parameter = slot.described
    if not parameter.rolls:
        return
    pools = _filled(slot, 4).pools
    target = pools[0].target if pools else None
    if target is None or all(pool.target is not None for pool in read.pools):
        return
    count = read.pools[0].count
    advice = [
        f"{count}d{pools[0].sides}{target.sign}{target.number}",
        f"{count} for a pool of that many dice" if parameter.numbers_too else "",
        f"3 {parameter.unit} for a plain number" if parameter.unit else "",
    ]
    say = ", or ".join(filter(None, advice))
    raise UsageError(f"{slot.option} {text} adds up the dice, but this action counts successes; type {say}")


def _plain(slot: Slot, number: int) -> Opposition:
    """Return what a plain number means: itself, or a rating of the opponent."""
    return _rated(slot, number) if slot.described.rolls and slot.described.numbers_too else Opposition(number)


def _rated(slot: Slot, rating: int, *, character: str = "", ability: str = "") -> Opposition:
    """Return what a rating means as opposition: `{rating}` of the parameter's `rolls` replaced by it."""
    read = _filled(slot, rating)
    if read.constant:
        return Opposition(read.law.values[0], None, character, ability)
    return Opposition(0, read, character, ability)


def _filled(slot: Slot, rating: int) -> Dice:
    from rpgres.rulesets.templates import fill

    rolls = slot.described.rolls
    try:
        return dice(fill(rolls, lambda _: rating))
    except NotationError as error:
        message = f"{slot.option}: a rating of {rating} is no dice by its rule, {rolls}: {error.message}"
        raise UsageError(message) from error


def _read_table(slot: Slot, table: Mapping[str, Any]) -> Opposition:
    rest = dict(table)
    name = rest.pop("character", None)
    if not isinstance(name, str) or len(rest) != 1:
        message = f'{slot.option} as a table is {{ character = "NAME", skill = "ABILITY" }}, not {dict(table)!r}'
        raise UsageError(message, reason="type")
    ((key, ability),) = rest.items()
    with located("character"):
        character = _opposer(slot, name)
    with located(key):
        return _with_ability(slot, character, str(ability))


def _opposer(slot: Slot, name: str) -> str:
    character = character_at(slot.context, name, option=slot.option)
    if character == slot.context.actor:
        raise UsageError(f"{slot.option}: {character} cannot oppose their own action")
    return character


def _with_ability(slot: Slot, character: str, ability: str) -> Opposition:
    context = slot.context
    rating = read_ability(context.rules, ability, state=context.state, actor=character, option=slot.option)
    if slot.described.rolls:
        return _rated(slot, rating.value, character=character, ability=rating.name)
    rolled = context.rules.dice if context.rules.file.dice else None  # with none, the rating itself
    return Opposition(rating.value, rolled, character, rating.name)


def _metavar(_described: Described, _name: str, has_rungs: bool) -> str:
    return f"N|{'RUNG|' if has_rungs else ''}DICE|SHEET:ABILITY|none"


def _offers(typed: Typed) -> Offers:
    file = typed.rules.file
    sheet, separator, _ = typed.incomplete.rpartition(":")
    if separator:
        return [(f"{sheet}:{ability}", rating) for ability, rating in offers_of(typed.rules, sheet)]
    rungs = [(name, f"{value:+d}") for name, value in file.ladder.items()]
    people = [(f"{sheet}:", text) for sheet, text in sheet_offers(typed.rules)]
    return [*rungs, ("none", "no opposition"), (f"{file.dice}+0", "an opponent rolls"), *people]


def _is_known(rules: Rules, state: State, described: Described, value: Any, _who: str) -> bool:
    if isinstance(value, Mapping):
        name, ability = str(value.get("character")), next((one for key, one in value.items() if key != "character"), "")
    else:
        name, _, ability = str(value).strip().rpartition(":")
    return says_rating(rules, state, described, ability, name)


_TABLE: Schema = {
    "type": "object",
    "properties": {"character": {"type": "string", "description": "the name of a character at the table, or a sheet"}},
    "required": ["character"],
    "minProperties": 2,
}

OPPOSITION = Kind(
    read=_read,
    metavar=_metavar,
    schema=lambda _: {"anyOf": [NUMBER_OR_TEXT, _TABLE]},
    offers=_offers,
    is_known=_is_known,
)
