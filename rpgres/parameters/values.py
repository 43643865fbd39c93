"""What inputs are read into: ratings, opposition, forms."""

from __future__ import annotations

from typing import Any

import msgspec

from rpgres.dice import Dice
from rpgres.model.state import Map


class Rating(msgspec.Struct, frozen=True):
    """The number an ability counts for, and the ability's name when one was given."""

    value: int
    name: str = ""


class Opposition(msgspec.Struct, frozen=True):
    """One thing in the way: a number, dice, or a character with an ability.

    Attributes:
        value: the number, or what is added to the dice.
        dice: what is rolled; None for a number.
        character: the opponent, when it is a character at the table.
        ability: with what.
    """

    value: int
    dice: Dice | None = None
    character: str = ""
    ability: str = ""


class Form(msgspec.Struct, frozen=True):
    """A name that was typed, with its fields.

    Attributes:
        name: as typed, or the name at the table of a sheet that sat down.
        values: by field; a field that was left out and has no default is not there. Numbers, texts, True or False,
            `Rating`s for abilities and `Dice` for dice.
    """

    name: str
    values: Map[str, Any]
