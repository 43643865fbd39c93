"""What is read off one throw, and its exact joint law: against every throw there is, and against icepool."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import icepool
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.dice import Comparison, LawSizeError, Reading, dice, groups
from rpgres.dice.readings import JointLaw, joint_law, read_off
from tests.support.effort import examples

ALL = (
    Reading("highest"),
    Reading("lowest"),
    Reading("natural"),
    Reading("total"),
    Reading("count", Comparison("=", 6)),
    Reading("count", Comparison(">=", 2)),
)


def chances(law: JointLaw) -> dict[tuple[int, ...], Fraction]:
    return {values: Fraction(weight, law.total) for values, weight in zip(law.values, law.weights, strict=True)}


def from_throws(text: str, readings: tuple[Reading, ...]) -> dict[tuple[int, ...], Fraction]:
    table = dice(text).table
    assert table is not None
    found = Counter(read_off(dice(text), throw, readings) for throw in table)
    return {values: Fraction(number, len(table)) for values, number in found.items()}


pools = st.builds(
    lambda count, sides, keep, target, around: around.format(f"{count}{sides}{keep if target == '' else ''}{target}"),
    st.integers(1, 4),
    st.sampled_from(["d2", "d4", "d6", "dF"]),
    st.sampled_from(["", "kh1", "kl1", "dh1", "dl1dh1", "kh2"]),
    st.sampled_from(["", "", ">=2", "=1"]),
    st.sampled_from(["{}", "{}+3", "2*{}-1", "({})/2", "{}+1d3", "5-{}", "1-({}+d2)/2"]),
).filter(lambda text: not ("dl1dh1" in text and text[0] in "12") and not ("kh2" in text and text.startswith("1")))


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(pools, st.lists(st.sampled_from(ALL), min_size=1, max_size=4, unique=True).map(tuple))
def test_the_joint_law_is_what_all_throws_say(text: str, readings: tuple[Reading, ...]) -> None:
    try:
        expected = from_throws(text, readings)
    except Exception:  # not every keeping fits every pool
        with pytest.raises(Exception, match=r".*"):
            dice(text)
        return
    law = joint_law(dice(text), readings)
    assert chances(law) == expected
    assert law.open == 0
    assert list(law.values) == sorted(set(law.values))


@pytest.mark.parametrize("count", range(1, 9))
def test_the_best_of_a_pool_and_how_many_sixes(count: int) -> None:
    law = joint_law(dice(f"{count}d6"), (ALL[0], ALL[4]))
    pool = icepool.d6.pool(count)
    expected = pool.expand().map(lambda shown: (max(shown), sum(1 for die in shown if die == 6)))
    assert chances(law) == {
        values: Fraction(weight, expected.denominator()) for values, weight in expected.items() if weight
    }


def test_the_natural_die_under_a_bonus() -> None:
    law = joint_law(dice("2d20kh1+7"), (Reading("natural"), Reading("total")))
    assert all(total == natural + 7 for natural, total in law.values)
    best = icepool.d20.highest(2)
    assert {natural: chance for (natural, _), chance in chances(law).items()} == {
        value: Fraction(weight, best.denominator()) for value, weight in best.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *("d6!", "3d6!", "2d4!kh1", "4d10r1", "3d6ro=1", "3d10>=8f1 double", "3d6!p", "3d6!!p>=5kh2", "3d8!o>6+d4"),
        *("2d6oe", "3d10oekh1", "2d10oe2>=8"),
        *("3d10>=8 again", "2d6>=5f1 again >=5 double", "2d6ro1>=5 again + d4"),
    ],
)
def test_the_total_among_others_is_the_ordinary_law(text: str) -> None:
    law = joint_law(dice(text), (Reading("highest"), Reading("total")))
    totals: Counter[int] = Counter()
    for (_, total), weight in zip(law.values, law.weights, strict=True):
        totals[total] += weight
    plain = dice(text).law
    # What explosions leave open differs: single dice are followed here, all explosions of a pool there.
    exact = {value: weight for value, weight in totals.items() if not law.open or value < 8}
    assert exact
    assert all(Fraction(weight, law.total) == plain.probability(value) for value, weight in exact.items())
    apart = sum(
        abs(Fraction(totals[value], law.total) - plain.probability(value)) for value in {*totals, *plain.values}
    )
    assert apart <= Fraction(law.open, law.total) + Fraction(plain.open, plain.total) < Fraction(1, 10**8)


def test_an_exploded_die_is_one_die() -> None:
    throw = dice("2d6!").read("6,3,2")
    assert read_off(dice("2d6!"), throw, ALL) == (9, 2, 11, 11, 0, 2)


def test_each_further_die_of_a_penetrating_one_is_worth_one_less() -> None:
    throw = dice("2d6!p").read("6,6,3,2")
    assert throw.value == 6 + 5 + 2 + 2
    assert read_off(dice("2d6!p"), throw, ALL) == (13, 2, 15, 15, 0, 2)


def test_dice_that_count_for_themselves_are_read_one_by_one() -> None:
    throw = dice("2d6>=5 again").read("6,6,3,2")
    assert read_off(dice("2d6>=5 again"), throw, ALL) == (6, 2, 17, 2, 2, 4)


@pytest.mark.slow
def test_the_joint_law_of_dice_that_bring_others(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = (Reading("highest"), Reading("lowest"), Reading("natural"), Reading("total"), ALL[4])
    law = joint_law(dice("2d4>=3 again"), readings)
    # Two dice without a four; a four, then something, and the other die; together all that has at most one four.
    found: Counter[tuple[int, ...]] = Counter()
    for a in range(1, 4):
        for b in range(1, 4):
            found[max(a, b), min(a, b), a + b, (a > 2) + (b > 2), 0] += 4
            for c in range(1, 4):
                found[4, min(a, b), a + b + 4, 1 + (a > 2) + (b > 2), 0] += 2 if c == 1 else 0
    expected = {values: Fraction(number, 64) for values, number in found.items()}
    exact = chances(law)
    assert all(exact[values] == chance for values, chance in expected.items())
    assert 0 < Fraction(law.open, law.total) < Fraction(1, 10**8)
    monkeypatch.setattr("rpgres.dice.groups.MOST_STEPS", 200_000)  # for which it takes a second to come
    with pytest.raises(LawSizeError, match="more than 200,000 steps"):
        joint_law(dice("60d100>=50 again >50"), readings)


def test_a_die_thrown_again_counts_as_what_it_shows_last() -> None:
    throw = dice("2d6r1").read("1,6,2")
    assert read_off(dice("2d6r1"), throw, ALL) == (6, 2, 8, 8, 1, 2)


def test_without_dice_there_is_only_a_total() -> None:
    assert joint_law(dice("7"), ALL).values == ((0, 0, 0, 7, 0, 0),)
    assert read_off(dice("7"), dice("7").read(""), ALL) == (0, 0, 0, 7, 0, 0)


@pytest.mark.slow
def test_too_much_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    several = (Reading("natural"), Reading("lowest"), Reading("count", Comparison(">=", 50)))
    monkeypatch.setattr(groups, "MOST_STEPS", groups.MOST_STEPS // 60)
    joint_law(dice("3d20"), several)
    with pytest.raises(LawSizeError, match=r"more than [0-9,]+ steps"):
        joint_law(dice("100d1000"), several)


@pytest.mark.parametrize("text", ["3d10>=8 again", "2d6ro1>=5 again", "3d6!", "4d6kh3"])
def test_the_chances_of_one_reading_are_those_among_others(text: str) -> None:
    """Results that differ only in the value of dice must be added, not replace each other."""
    several = joint_law(dice(text), (Reading("natural"), Reading("total")))
    naturals: Counter[int] = Counter()
    for (natural, _), weight in zip(several.values, several.weights, strict=True):
        naturals[natural] += weight
    alone = joint_law(dice(text), (Reading("natural"),))
    expected = {natural: Fraction(weight, several.total) for natural, weight in naturals.items()}
    assert {natural: chance for (natural,), chance in chances(alone).items()} == expected
