"""A probability in the JSON of odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from fractions import Fraction


class Chance(msgspec.Struct, frozen=True):
    """The probability of one outcome: as a float for reading, as an exact fraction for everything else.

    Attributes:
        probability: from 0 to 1, for reading.
        exact: the same as a fraction, such as 2123/6561.
    """

    probability: float
    exact: str


def chance_record(mass: Fraction) -> Chance:
    """Return a probability for the JSON.

    >>> from fractions import Fraction
    >>> chance_record(Fraction(1, 4)).exact
    '1/4'
    """
    return Chance(float(mass), str(mass))


def chance_rows(by: str, chances: Mapping[str, Chance], *, has_numbers: bool) -> list[dict[str, Any]]:
    """Return a row for each of some chances: what it is of, `probability`, `exact` fraction."""
    return [
        {by: _number(name) if has_numbers else name, "probability": chance.probability, "exact": chance.exact}
        for name, chance in chances.items()
    ]


def _number(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdecimal() else text
