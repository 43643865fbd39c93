"""Formulas: what is read, what they come to, and what they may come to."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, inf
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rpgres.errors import RuleError
from rpgres.rulesets.formulas import (
    Call,
    Cases,
    Const,
    Expr,
    FormulaError,
    Name,
    Op,
    Value,
    formula,
    linear,
    names,
    reduced,
    worker,
)
from rpgres.rulesets.spans import Span, span_of, truth, within


def plain(expr: Expr) -> Expr:
    """Return a tree in which functions stand for what they do; the rest of what is written out needs an action."""
    if isinstance(expr, Call):
        args = tuple(map(plain, expr.args))
        if expr.name == "if":
            return Cases((*zip(args[:-1:2], args[1:-1:2], strict=True), (Const(1), args[-1])))
        return Op(expr.name, args)
    if isinstance(expr, Op):
        return Op(expr.op, tuple(map(plain, expr.args)))
    return expr


def value(text: str, **known: Value) -> Any:
    found = worker(plain(formula(text)))({name.replace("_", "-"): one for name, one in known.items()})
    return int(found) if isinstance(found, bool) else found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("down(-7, 2)", -4),
        ("up(7, 2)", 4),
        ("near(7, 2)", 4),
        ("near(-7, 2)", -3),
        ("near(10, 4)", 3),
        ("43 % 10", 3),
        ("43 / 10 % 10", 4),
        ("10 - 3 - 2", 5),
        ("-(2 + 3)", -5),
        ("abs(-4) + min(3, 1, 2) + max(3, 1, 2)", 8),
        ("1 < 2 and 2 < 1 or 3 != 4", 1),
        ("not 1 = 1", 0),
        ("not (1 = 2 or 3 = 4)", 1),
        ("if(1 > 2, 'a', 2 > 1, 'b', 'c')", "b"),
        ("if(1 > 2, 'a', nothing)", None),
        ("nothing + 3", 3),
        ("(3 > 2) + (2 > 1)", 2),
        ("'word' = 'word'", 1),
        ("'word' = 3", 0),
    ],
)
def test_what_they_come_to(text: str, wanted: Value) -> None:
    assert value(text) == wanted


def test_names_have_hyphens_and_a_minus_has_blanks() -> None:
    assert value("bonus-dice - second-skill", bonus_dice=5, second_skill=2) == 3
    assert [*names(formula("a-b + a - b"))] == ["a-b", "a", "b"]
    assert [*names(formula("opponent.armour + 2"))] == ["opponent.armour"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 +", "missing here\n  1 +\n     ^"),
        ("1 2", "an operator is missing before this\n  1 2\n    ^"),
        ("(1 + 2", "a closing parenthesis is missing"),
        ("max(1, 2", "a closing parenthesis is missing"),
        ("a & b", "conditions are joined by `and`\n  a & b\n    ^"),
        ("a @ b", "'@' is not valid in a formula"),
        ("", "missing here"),
        ("'open", "is not valid in a formula"),
        ("(" * 80 + "1" + ")" * 80, "nested more than"),
        ("1 + " * 900 + "1", "more than 2000 characters"),
    ],
)
def test_what_cannot_be_read_is_shown(text: str, told: str) -> None:
    with pytest.raises(FormulaError) as found:
        formula(text)
    assert told in found.value.raw


@given(st.integers(-200, 200), st.integers(1, 30))
def test_quotients_are_rounded_as_they_say(a: int, b: int) -> None:
    assert value(f"down({a}, {b})") == floor(a / b)
    assert value(f"up({a}, {b})") == ceil(a / b)
    assert value(f"near({a}, {b})") == floor(a / b + 0.5)
    assert value(f"{a} / {b}") == int(a / b)
    assert value(f"{a} / {b} * {b} + ({a} - {a} / {b} * {b})") == a


_LEAVES = st.one_of(st.integers(-9, 9).map(Const), st.sampled_from("xy").map(Name))


def _grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Op, st.sampled_from(["+", "-", "*", "/", "%", "min", "max", "down", "up", "near"]), two),
        st.builds(Op, st.sampled_from(["<", "<=", ">", ">=", "=", "!=", "and", "or"]), two),
        st.builds(Op, st.sampled_from(["neg", "abs", "not"]), st.tuples(inner)),
        st.builds(lambda when, then, other: Cases(((when, then), (Const(1), other))), inner, inner, inner),
    )


TREES = st.recursive(_LEAVES, _grown, max_leaves=12)


def number(expr: Expr, known: Mapping[str, int]) -> int:
    try:
        return int(worker(expr)(known) or 0)
    except RuleError:  # it divides by 0
        assume(False)
        raise


@pytest.mark.slow
@given(TREES, st.integers(-9, 9), st.integers(0, 6), st.integers(-9, 9), st.data())
def test_bounds_hold_whatever_the_names_are(expr: Expr, low: int, more: int, y: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(low, low + more))
    span = within(expr, {"x": Span(low, low + more), "y": span_of(y)}.__getitem__)
    found = number(expr, {"x": x, "y": y})
    assert span.low <= found <= span.high
    holds = truth(span)
    assert holds is None or holds == bool(found)
    endless = within(expr, {"x": Span(low, inf), "y": span_of(y)}.__getitem__)
    assert endless.low <= found <= endless.high


@given(TREES, st.integers(-9, 9), st.integers(-9, 9))
def test_what_is_known_is_worked_out(expr: Expr, x: int, y: int) -> None:
    found = number(expr, {"x": x, "y": y})
    half = reduced(expr, lambda name: Const(x) if name == "x" else Name(name))
    assert "x" not in names(half)
    assert number(half, {"y": y}) == found
    whole = reduced(expr, lambda name: Const({"x": x, "y": y}[name]))
    assert isinstance(whole, Const)
    assert int(whole.value or 0) == found


@pytest.mark.slow
@given(TREES, st.integers(-9, 9), st.integers(-9, 9))
def test_a_sum_of_names_is_one(expr: Expr, x: int, y: int) -> None:
    found = linear(expr, lambda name: {name: 1})
    if found is not None:
        assert found.get("", 0) + found.get("x", 0) * x + found.get("y", 0) * y == number(expr, {"x": x, "y": y})


@pytest.mark.parametrize("text", ["12 / n", "12 % n", "up(12, n)", "if(n > 5, 1, 12 / n)"])
def test_a_division_by_zero_is_an_error_with_the_name_and_never_a_number(text: str) -> None:
    with pytest.raises(RuleError, match=r"^n is 0, and dividing by 0 is impossible"):
        value(text, n=0)
    assert isinstance(value(text, n=3), int)


def test_a_division_by_zero_that_is_never_worked_out_is_none() -> None:
    tree = Cases(((Name("m"), Const(1)), (Const(1), Op("/", (Const(12), Name("n"))))))
    half = reduced(tree, lambda name: Const(0) if name == "n" else Name(name))
    assert worker(half)({"m": 1}) == 1
    with pytest.raises(RuleError):
        worker(half)({"m": 0})


def test_what_is_left_of_a_division_by_less_than_nothing_is_in_its_bounds() -> None:
    left = Op("%", (Name("x"), Name("y")))
    for x, y, low, high in ((Span(0, 2), Span(-2, -2), -1, 0), (Span(-1, inf), Span(-4, -3), -3, 0)):
        span = within(left, {"x": x, "y": y}.__getitem__)
        assert (span.low, span.high) == (low, high)
    assert {number(left, {"x": x, "y": -2}) for x in range(3)} == {0, -1}
