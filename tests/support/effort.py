"""How much is tried: a sample at every commit, and everything with --exhaustive (`.ci/run` does that, too)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

FEWEST = 10  # examples that Hypothesis makes at least
is_exhaustive = False  # set before tests are collected


def examples(most: int) -> int:
    """Return how many examples Hypothesis makes: other ones at every run, a fourth of the most without --exhaustive."""
    return most if is_exhaustive else min(most, max(FEWEST, most // 4))


def games(most: int) -> int:
    """Return how many games are played to compare shares with exact odds: a fourth of the most without --exhaustive.

    Bounds are in standard errors, so they widen with fewer games; a test with a bound of its own widens it too.
    """
    return most if is_exhaustive else most // 4


def few(cases: Iterable[Any], count: int) -> list[Any]:
    """Return cases for `parametrize`: so many, evenly spread, run always, and the others with --exhaustive.

    Args:
        cases: values, tuples of them where a test takes several, or what `pytest.param` makes.
        count: those that always run.
    """
    every = list(cases)
    chosen = {number * len(every) // count for number in range(count)}
    return [case if number in chosen else _left_out(case) for number, case in enumerate(every)]


def _left_out(case: Any) -> Any:
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.exhaustive))
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive)
