"""The highest or lowest of several values, and of dice of several kinds: `(d8!,d6!)kh1`, `(d6+2d8+d10)kh2`."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import icepool
import pytest

from rpgres.dice import dice, dice_left
from rpgres.dice.hints import never
from rpgres.errors import NotationError

SAME = [
    ("(1d6, 2d8 ,d10) KH 2", "(d6,2d8,d10)kh2"),
    ("{d8!,d6!}kh1", "(d8!,d6!)kh1"),
    ("(d6+2d8+d10)kh2", "(d6+2d8+d10)kh2"),
    ("{d6,d8,d8} keep highest 2", "(d6+2d8)kh2"),
    ("(200d6!+300d8!)kh2", "(200d6!+300d8!)kh2"),
    ("(d6,d6,7)kh2", "(d6,d6,7)kh2"),
    ("(d6+d8) drop lowest", "(d6,d8)dl1"),
    ("(3d6)kh1", "3d6kh1"),
    ("(d6,d6,d6)dl1dh1", "3d6dl1dh1"),
    ("((d6,d8)kh1,d10)kl1", "((d6,d8)kh1,d10)kl1"),
    ("2*(d6,7)kh1/3-1", "2*(d6,7)kh1/3-1"),
    ("(d8,d6)kh1[fire]+1", "(d8,d6)kh1[fire]+1"),
]


@pytest.mark.parametrize(("typed", "canonical"), SAME)
def test_spellings(typed: str, canonical: str) -> None:
    assert dice(typed).text == canonical
    assert dice(canonical) is dice(typed)


@pytest.mark.parametrize("keep", ["kh1", "kh2", "kh3", "kl1", "kl3", "dl1", "dh1", "dl1dh1", "kh3kl2"])
def test_laws_are_those_of_every_roll(keep: str) -> None:
    rolled = dice(f"(d4,d6-3,2d3,d2,5){keep}")
    low, high = {
        "kh1": (4, 5),
        "kh2": (3, 5),
        "kh3": (2, 5),
        "kl1": (0, 1),
        "kl3": (0, 3),
        "dl1": (1, 5),
        "dh1": (0, 4),
        "dl1dh1": (1, 4),
        "kh3kl2": (2, 4),
    }[keep]
    expected: Counter[int] = Counter()
    for a, b, c, d, e in product(range(1, 5), range(-2, 4), range(1, 4), range(1, 4), range(1, 3)):
        expected[sum(sorted((a, b, c + d, e, 5))[low:high])] += 1
    total = expected.total()
    assert {value: rolled.law.probability(value) for value in rolled.law.values} == {
        value: Fraction(count, total) for value, count in expected.items()
    }


def test_laws_are_those_of_icepool() -> None:
    pool = icepool.standard_pool([6, 8, 8, 10]).highest(2).sum()
    law = dice("(d6+2d8+d10)kh2").law
    assert dict(law.items()) == {value: weight * law.total // pool.denominator() for value, weight in pool.items()}
    for text, low, high in (("(4d6+3d8)kh3", 4, 7), ("(4d6+3d8)dl2dh1", 2, 6), ("(4d6+3d8)kl2", 0, 2)):
        pool = icepool.standard_pool([6, 6, 6, 6, 8, 8, 8])[low:high].sum()
        found = dice(text).law
        assert dict(found.items()) == {
            value: weight * found.total // pool.denominator() for value, weight in pool.items()
        }
    wild = icepool.highest(icepool.d8.explode(depth=12), icepool.d6.explode(depth=12))
    found = dice("{d8!,d6!}kh1").law
    assert [found.probability(n) for n in range(1, 40)] == [wild.probability(n) for n in range(1, 40)]
    assert found.above is not None
    assert found.above > 60


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("0d6", None),
        ("0d6+3", None),
        ("0d6kh2!+2d8", "2d8"),
        ("2d8-0d6+1", "2d8+1"),
        ("(0d6+2d8)kh1", "2d8kh1"),
        ("(0d6+0d8)kh2", None),
        ("(0d6+0d8)kh2+d4", "d4"),
        ("2*(0d6+d4)", "2*d4"),
        ("(0d6+0d8)kh0", None),
        ("2d6", "2d6"),
    ],
)
def test_pools_without_dice_are_left_out_where_they_may_be(text: str, left: str | None) -> None:
    found = dice_left(text)
    assert (found.text if found is not None else None) == left
    if "0d" in text:
        with pytest.raises(NotationError, match="at least one die"):
            dice(text)


def test_thrown_dice_that_are_not_kept_are_dropped() -> None:
    thrown = dice("(d6,2d8,d10)kh2+1").read("6;3,1;4")
    assert (thrown.value, thrown.text) == (11, "6;3,1;4")
    assert [[one.mark for one in pool] for pool in thrown.faces] == [["kept"], ["kept", "kept"], ["dropped"]]
    inner = dice("((d6,d8)kh1,d10)kh1").read("6;2;9")
    assert (inner.value, [pool[0].mark for pool in inner.faces]) == (9, ["dropped", "dropped", "kept"])
    fifth = dice("(d8!,d6!)kh1").read("8,3;6,6,1")
    assert (fifth.value, [pool[0].mark for pool in fifth.faces]) == (13, ["dropped", "kept"])
    assert dice("(d4+d6)kl1").table is not None


@pytest.mark.parametrize(
    ("text", "position", "length", "said"),
    [
        ("(d6,d8)", 0, 7, "which of these are kept"),
        ("{d6+d8}", 0, 7, "which of these are kept"),
        ("(d6+3)kh1", 0, 6, "single dice"),
        ("(d6-d8)kh1", 0, 7, "single dice"),
        ("(3d6kh2+d8)kh2", 0, 11, "has single dice only"),
        ("(d6,d8)kh3", 7, 3, "more dice than the 2"),
        ("(d6,d8)k1", 0, 7, "which of these are kept"),
        ("(d6,d8", 0, 1, "parenthesis is never closed"),
        ("{d6,d8", 0, 1, "brace is never closed"),
        ("(d6[fire],d8)kh1", 0, 13, "goes at the end"),
        ("(d6,)kh1", 4, 1, "missing"),
    ],
)
def test_what_is_no_group(text: str, position: int, length: int, said: str) -> None:
    with pytest.raises(NotationError) as caught:
        dice(text)
    assert (caught.value.position, caught.value.length) == (position, length)
    assert said in caught.value.message


def test_several_dice_in_one_place_are_told_to_be_one_value() -> None:
    assert list(never(dice("(d6,2d8,d10)kh2").node)) == [
        "2d8 is one value here, the sum; to keep single dice, join them with +: (d6+2d8)kh2"
    ]
    for meant in ("(d6,2d8)kh1", "(d6,3d8kh2,d6+d8)kh2", "(d6+2d8)kh2"):
        assert list(never(dice(meant).node)) == []


def test_dice_that_explode_leave_open_only_what_is_beyond_a_number() -> None:
    lower = dice("(d8!,d6!)kl1").law
    at_least = [Fraction(7, 8) * Fraction(5, 6), Fraction(6, 8) * Fraction(4, 6)]  # 2, and 3
    assert [lower.probability(1), lower.probability(2)] == [1 - at_least[0], at_least[0] - at_least[1]]
    assert lower.above is not None
    assert lower.above > 60


def test_open_values_take_no_known_ones_with_them() -> None:
    single, best = dice("10d10!").law, dice("(10d10!,d4)kh1").law
    assert single.above == best.above == 160
    assert Fraction(best.open, best.total) == Fraction(single.open, single.total)
    assert best.mean() == single.mean()
    assert best.at_least(120) == single.at_least(120) > Fraction(1, 10**4)


@pytest.mark.parametrize(
    ("text", "others", "low", "high"),
    [
        ("(d8!,d6!,d4)dh1", [icepool.d4], 0, 2),
        ("(d8!,d6!,d4,d4)dl1", [icepool.d4, icepool.d4], 1, 4),
        ("(d8!,d6!,d4!)dl1dh1", [icepool.d4.explode(depth=5)], 1, 2),
    ],
)
def test_what_is_below_that_number_is_exact(text: str, others: list[icepool.Die[int]], low: int, high: int) -> None:
    law = dice(text).law
    assert Fraction(law.open, law.total) < Fraction(1, 10**8)
    shallow = icepool.d8.explode(depth=3), icepool.d6.explode(depth=3)  # exact below 24
    exact = icepool.map(lambda *faces: sum(sorted(faces)[low:high]), *shallow, *others)
    if law.above is not None:
        assert [law.probability(n) for n in range(1, 24)] == [exact.probability(n) for n in range(1, 24)]
    else:
        assert all(0 <= exact.probability(n) - law.probability(n) < Fraction(1, 10**8) for n in range(1, 8))
