"""A probability in the JSON of odds."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
