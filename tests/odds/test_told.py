"""Odds of what an action tells beside its outcome: `--by` with a number or a word of `tell`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import prod

import pytest

import rpgres
from rpgres.odds.exact import OddsResult
from tests.support.command_line import rpgres as rpgres_line


def by_name(found: OddsResult) -> dict[str, Fraction]:
    return {name: Fraction(chance.exact) for name, chance in found.outcomes.items()}


def shares(values: Iterable[int], of: int) -> dict[str, Fraction]:
    counts = Counter(str(value) for value in values)
    return {name: Fraction(count, of) for name, count in counts.items()}


def test_a_number_that_is_told() -> None:
    rolls = list(product(range(1, 7), repeat=2))
    found = rpgres.odds("highest-die", "check", pool=2, by="best")
    assert by_name(found) == shares((max(roll) for roll in rolls), len(rolls))
    assert list(found.outcomes) == ["1", "2", "3", "4", "5", "6"]
    assert (found.by, found.success, found.method) == ("best", None, "exact")


def test_a_number_behind_questions_and_rerolls() -> None:
    def pushed(roll: Sequence[int]) -> list[Sequence[int]]:
        # of an attribute 2 to 5 are thrown again
        return [range(1, 7) if 2 <= face <= 5 else (face,) for face in roll]

    found, expected = (
        rpgres.odds("push-pool", "check", attribute=2, by="successes", choose={"push": "push"}),
        dict[str, Fraction](),
    )
    for roll in product(range(1, 7), repeat=2):
        again = pushed(roll)
        for faces in product(*again):
            hits, chance = str(faces.count(6)), Fraction(1, 36 * prod(map(len, again)))
            expected[hits] = expected.get(hits, Fraction(0)) + chance
    assert by_name(found) == expected


def test_words_and_what_is_not_told_come_before_numbers() -> None:
    words = rpgres.odds("success-levels", "attack", skill=44, by="location")
    assert by_name(words)["absent"] == Fraction(1, 10)  # doubles, 100 among them
    assert next(iter(words.outcomes)) == "absent"
    numbers = rpgres.odds("percentile-fractions", "open-resistance", active=10, by="passive-to")
    assert list(numbers.outcomes)[:3] == ["absent", "1", "2"]
    assert sum(by_name(numbers).values()) == 1


def test_a_total_that_there_is_not_always() -> None:
    totals = by_name(rpgres.odds("feat-and-success-dice", "feat-die", by="total"))
    assert totals == {"absent": Fraction(1, 6), **{str(number): Fraction(1, 12) for number in range(1, 11)}}


def test_many_values_without_a_mean_show_the_likeliest() -> None:
    line = ("odds", "feat-and-success-dice", "feat-die", "--modifier", "0..1", "--by", "total", "--auto")
    told = rpgres_line(*line).out
    assert "Absent" in told
    assert "and 2 values more (--json has all)" in told


def test_a_name_that_is_not_told() -> None:
    with pytest.raises(rpgres.UsageError, match="has no number 'bset'; did you mean 'best'"):
        rpgres.odds("highest-die", "check", pool=2, by="bset")


def test_a_simulation_counts_it_too() -> None:
    found = rpgres.simulate("highest-die", "check", pool=2, by=["best"], runs=2000, seed="7")
    assert {str(one.value) for one in found.counted["best"].values} == {"1", "2", "3", "4", "5", "6"}
    with pytest.raises(rpgres.UsageError, match="did you mean 'best'"):
        rpgres.simulate("highest-die", "check", pool=2, by=["bset"], runs=10)
