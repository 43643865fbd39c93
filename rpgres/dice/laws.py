"""Exact distributions as values, packed into integers, and the work that they may take.

A distribution over a dense range is packed into one big integer, a field of fixed width for each value, so that adding
independent dice is one multiplication of integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from rpgres.errors import LawSizeError

if TYPE_CHECKING:
    from fractions import Fraction

MOST_LAW_VALUES = 20_000  # from the lowest to the highest value of a distribution, or apart
MOST_LAW_WORK = 1_000_000_000  # about a second, counted in estimated nanoseconds


class Law(Struct, frozen=True):
    """An exact distribution: what is open belongs to explosions that were not followed to their end.

    Attributes:
        values: ascending, distinct.
        weights: positive.
        total: of the weights and what is open.
        open: the weight of what is open.
        above: what is open is at least this; None where that is not known.
        under: what is open is at most this; None where that is not known.
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    total: int
    open: int = 0
    above: int | None = None
    under: int | None = None

    def items(self) -> Iterator[tuple[int, int]]:
        """Return the values with their weights, ascending."""
        return zip(self.values, self.weights, strict=True)

    def probability(self, value: int) -> Fraction:
        """Return the chance of exactly `value`; what is open counts for none."""
        from fractions import Fraction

        return Fraction(dict(self.items()).get(value, 0), self.total)

    def at_least(self, value: int) -> Fraction:
        """Return the chance of `value` or more; what is open counts for none."""
        from fractions import Fraction

        return Fraction(sum(weight for one, weight in self.items() if one >= value), self.total)

    def mean(self) -> Fraction:
        """Return the mean; nothing is renormalised, what is open adds nothing."""
        from fractions import Fraction

        return Fraction(sum(value * weight for value, weight in self.items()), self.total)

    def variance(self) -> Fraction:
        """Return the mean squared distance from the mean; what is open adds nothing."""
        from fractions import Fraction

        mean = self.mean()
        # Sum w (v - m)^2 with m = a / b in whole numbers: one fraction at the end instead of one for each value.
        top, bottom = mean.numerator, mean.denominator
        return Fraction(sum(w * (v * bottom - top) ** 2 for v, w in self.items()), self.total * bottom * bottom)

    def deviation(self) -> float:
        """Return the standard deviation."""
        from math import sqrt

        return sqrt(self.variance())


class Work:
    """What is left of the work that one distribution may take."""

    def __init__(self) -> None:
        self.left = MOST_LAW_WORK

    def spend(self, nanoseconds: int) -> None:
        self.left -= nanoseconds
        if self.left < 0:
            raise _too_large(f"take more than {MOST_LAW_WORK // 10**9} second of work", "MOST_LAW_WORK")

    def hold(self, values: int) -> None:
        if values > MOST_LAW_VALUES:
            raise _too_large(f"have more than {MOST_LAW_VALUES} values", "MOST_LAW_VALUES")


def _too_large(does: str, limit: str) -> LawSizeError:
    advice = "use fewer dice or fewer sides, or roll them many times instead"
    return LawSizeError(f"the exact distribution of these dice would {does}; {advice}", limit=limit)


def from_weights(weights: dict[int, int], total: int) -> Law:
    values = tuple(sorted(value for value, weight in weights.items() if weight))
    found = tuple(weights[value] for value in values)
    return Law(values, found, total, total - sum(found))


def width_of(total: int) -> int:
    """Return the bytes of a field that no weight of this total can overflow."""
    return total.bit_length() // 8 + 1


def pack(law: Law, step: int, width: int) -> int:
    low = law.values[0]
    fields = bytearray(((law.values[-1] - low) // step + 1) * width)
    for value, weight in law.items():
        place = (value - low) // step * width
        fields[place : place + width] = weight.to_bytes(width, "little")
    return int.from_bytes(fields, "little")


def unpack(packed: int, low: int, step: int, span: int, width: int, total: int) -> Law:
    fields = packed.to_bytes((span + 1) * width, "little")
    found = [int.from_bytes(fields[at : at + width], "little") for at in range(0, len(fields), width)]
    values = tuple(low + place * step for place, weight in enumerate(found) if weight)
    weights = tuple(weight for weight in found if weight)
    return Law(values, weights, total, total - sum(weights))
