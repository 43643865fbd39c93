"""The odds of a course by a plain walk: nothing watched, looked up, sorted or merged but equal standings."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from rpgres.engine.procedures import Standing
from rpgres.odds.courses import Course
from rpgres.odds.explorer import Budget, Runs, WalkDealer, explore_within


class NothingMerged(WalkDealer):
    """Follows every course of a turn by itself."""

    __slots__ = ()

    def merge(self, key: object) -> None:
        """Go on."""


def plain_odds(course: Course) -> dict[Hashable, Fraction]:
    """Return the chance of every result."""
    layer, ends = {course.onward(course.start): Fraction(1)}, dict[Hashable, Fraction]()
    while layer:
        after: dict[Standing, Fraction] = {}
        for standing, mass in layer.items():
            if course.is_over(standing):
                result = course.result(standing)
                ends[result] = ends.get(result, Fraction(0)) + mass
                continue
            found = explore_within(
                Budget(work=10**9),
                lambda dealer, here=standing: course.turn(here, dealer, course.policies),  # type: ignore[misc]
                NothingMerged(),
                Runs(),
            )
            assert not found.open
            for then, share in found.masses.items():
                key = course.onward(then)
                after[key] = after.get(key, Fraction(0)) + mass * share
        layer = after
    return ends
