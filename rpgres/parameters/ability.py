"""The kind `ability`: a rating, typed as a number, as a name on the sheet, or as both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.errors import UsageError, as_data, named
from rpgres.model.state import State, slug
from rpgres.parameters.context import ACTOR, SHEET
from rpgres.parameters.kinds import Described, Kind, Offers, Slot
from rpgres.parameters.plain import NUMBER_OR_TEXT, several, sheet_of
from rpgres.parameters.values import Rating
from rpgres.rulesets import Rules, unknown
from rpgres.toml.diagnostics import nearest


def read_ability(rules: Rules, value: Any, *, state: State, actor: str, option: str) -> Rating:
    """Return the rating that `3`, `resources`, `resources=3` or a rung of the ladder stands for.

    Raises:
        UsageError: it is no number, and the actor's sheet does not know the name.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UsageError(f"{option} takes a number or the name of an ability, not {as_data(value)}", reason="type")
    if isinstance(value, int):
        return Rating(value)
    number = number_of(value)
    if number is not None:
        return Rating(number)
    name, separator, rating = value.partition("=")
    name = slug(name)
    if separator:
        number = number_of(rating)
        if number is None:
            raise UsageError(f"{option} {value}: after = a whole number is expected, not {rating!r}")
        check_spelt(rules, name, state.characters[actor].abilities, option=option)
        return Rating(number, name)
    abilities = state.characters[actor].abilities
    if name in abilities:
        return Rating(abilities[name], name)
    known = rules.file.abilities
    if name in known:
        if not abilities:
            who = next((other for other, one in state.characters.items() if name in one.abilities), "")
            hint = f"name who acts, such as {who}" if who else f"give {named(SHEET)} FILE"
            raise UsageError(f"{option} {name}: its rating is unknown; {hint}, or {option} {name}=NUMBER")
        return Rating(0, name)
    rung = rung_of(rules, value)
    if rung is not None:
        return Rating(rung)
    if actor == ACTOR and not abilities:
        near = nearest(value, (*known, *rules.file.ladder))
        if near is not None:
            raise UsageError(f"{option} {as_data(value)} is not a whole number; did you mean {near!r}?")
        shown = value if len(value) < 40 else f"{value[:40]}..."
        why = several(value) or ", and there is no sheet to look it up on"
        raise UsageError(f"{option} {shown!r} is not a whole number{why}")
    names = sorted({*abilities, *known})
    told = unknown("ability", value, names, of=f"{actor}'s sheet")
    if nearest(value, names) is None:
        from rpgres.rulesets.sheets import own_ability

        told += own_ability(rules)
    raise UsageError(told, reason="unknown")


def check_spelt(rules: Rules, name: str, abilities: Mapping[str, int], *, option: str) -> None:
    """Check that an ability whose rating is typed is none that the ruleset's sheets list, misspelt.

    Any other may be typed: a ruleset lists what is common, and a number stands by itself.

    Raises:
        UsageError: it is nearly one that is listed.
    """
    known = rules.file.abilities
    if name in abilities or name in known:
        return
    near = nearest(name, known)
    if near is not None:
        raise UsageError(
            f"{option}: {rules.id} has no ability {name!r}; did you mean {near!r}? "
            "(For an ability that is not listed, type the number alone.)"
        )


def number_of(text: str) -> int | None:
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    digits = text[1:] if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def rung_of(rules: Rules, text: str) -> int | None:
    wanted = slug(text)
    return next((number for name, number in rules.file.ladder.items() if slug(name) == wanted), None)


def says_rating(rules: Rules, state: State, _described: Described, value: Any, who: str) -> bool:
    """Tell whether a rating is the one on a character's sheet; what cannot be read is reported where it is read."""
    if who not in state.characters:
        return False
    try:
        rating = read_ability(rules, value, state=state, actor=who, option="")
    except UsageError:
        return True
    return bool(rating.name) and rating.value == state.characters[who].abilities.get(rating.name, 0)


def _read(slot: Slot, value: Any) -> Rating:
    context = slot.context
    if slot.who in context.state.characters:
        return read_ability(context.rules, value, state=context.state, actor=slot.who, option=slot.option)
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str):
        number = number_of(value)
        if number is None:
            number = rung_of(context.rules, value)
    if number is None:
        raise UsageError(
            f"{slot.option} takes a whole number, as no character of this name is at the table, not {as_data(value)}",
            reason="type",
        )
    return Rating(number)


def offers_of(rules: Rules, sheet: str | None) -> Offers:
    """Return the abilities of a sheet with their ratings, or all that the ruleset names."""
    if not sheet:
        return [(name, "") for name in rules.file.abilities]
    character = sheet_of(rules, sheet)
    return [(name, f"{rating:+d}") for name, rating in character.abilities.items()] if character is not None else []


ABILITY = Kind(
    read=_read,
    metavar=lambda *_: "NAME|NAME=N|N",
    schema=lambda _: NUMBER_OR_TEXT,
    offers=lambda typed: offers_of(typed.rules, typed.line.get("sheet")),
    is_known=says_rating,
)


def abilities_for(rules: Rules, name: str, abilities: Mapping[str, int]) -> list[str]:
    """Return the abilities that a parameter takes, the highest first: an `attribute` is of the sheet's `attributes`."""
    fields = rules.file.fields_of("abilities")
    own = fields[f"{name}s"].abilities if f"{name}s" in fields else ()
    rated = sorted(abilities, key=lambda one: -abilities[one])
    others = {one for key, field in fields.items() if key != f"{name}s" for one in field.abilities}
    return [one for one in rated if one in own or one not in others]
