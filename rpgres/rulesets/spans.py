"""What formulas may come to where not everything is known: bounds of numbers, and words."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from msgspec import Struct

from rpgres.rulesets.formulas import TWO, Cases, Const, Expr, Name, Op, Value


class Span(Struct, frozen=True):
    """Everything a formula may come to: numbers from `low` to `high` (none where low is above high), and other values.

    Attributes:
        low, high: the bounds, included; infinite where there is none. It is no number by default.
        words: words, and None for `nothing`.
    """

    low: float = inf
    high: float = -inf
    words: frozenset[str | None] = frozenset()

    @property
    def has_numbers(self) -> bool:
        """Whether it may be a number."""
        return self.low <= self.high

    @property
    def is_certain(self) -> bool:
        """Whether it is one value."""
        return len(self.words) == 1 if not self.has_numbers else self.low == self.high and not self.words

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds, where it is a number."""
        return self.low, self.high

    @property
    def value(self) -> Value:
        """The value, where it is certain."""
        return int(self.low) if self.has_numbers else next(iter(self.words))

    def plus(self, other: Span) -> Span:
        """Return what either may be."""
        return Span(min(self.low, other.low), max(self.high, other.high), self.words | other.words)


ANY = Span(-inf, inf)
_TRUE, _FALSE, _EITHER = Span(1, 1), Span(0, 0), Span(0, 1)


def span_of(value: Value) -> Span:
    """Return the bounds of one value."""
    return Span(value, value) if isinstance(value, int) else Span(words=frozenset([value]))


def within(expr: Expr, known: Callable[[str], Span]) -> Span:
    """Return what a tree may come to."""
    if isinstance(expr, Const):
        return span_of(expr.value)
    if isinstance(expr, Name):
        return known(expr.name)
    if isinstance(expr, Cases):
        found = Span()
        for when, then in expr.cases:
            holds = truth(within(when, known))
            if holds is not False:
                found = found.plus(within(then, known))
            if holds is True:
                return found
        return found.plus(span_of(None))
    assert isinstance(expr, Op)
    spans = [within(one, known) for one in expr.args]
    if expr.op in ("and", "or"):
        each, decisive = [truth(one) for one in spans], expr.op == "or"  # one true part decides `or`, one false `and`
        if decisive in each:
            return span_of(int(decisive))
        return _EITHER if None in each else span_of(int(not decisive))
    if expr.op == "not":
        holds = truth(spans[0])
        return _EITHER if holds is None else _FALSE if holds else _TRUE
    if expr.op in ("=", "!="):
        return _equal_span(*spans, is_equal=expr.op == "=")
    return _numeric_span(expr.op, [_as_number(one) for one in spans])


def truth(span: Span) -> bool | None:
    """Tell whether a condition holds; None where it may or may not."""
    is_zero_in = (span.has_numbers and span.low <= 0 <= span.high) or not span.words.isdisjoint((None, ""))
    is_other_in = (span.has_numbers and (span.low, span.high) != (0, 0)) or bool(span.words - {None, ""})
    return None if is_zero_in and is_other_in else is_other_in


def _as_number(span: Span) -> Span:
    return Span(span.low, span.high).plus(_FALSE) if None in span.words else Span(span.low, span.high)


def _equal_span(a: Span, b: Span, *, is_equal: bool) -> Span:
    if a.is_certain and b.is_certain:
        return _TRUE if (a.value == b.value) == is_equal else _FALSE
    may_meet = (a.has_numbers and b.has_numbers and max(a.low, b.low) <= min(a.high, b.high)) or (a.words & b.words)
    return _EITHER if may_meet else _FALSE if is_equal else _TRUE


def _numeric_span(op: str, spans: list[Span]) -> Span:
    if any(not one.has_numbers for one in spans):
        return _EITHER if op in ("<", "<=", ">", ">=") else ANY
    a, b = spans[0], spans[-1]
    match op:
        case "neg":
            return Span(-a.high, -a.low)
        case "abs":
            low = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
            return Span(low, max(abs(a.low), abs(a.high)))
        case "+":
            return Span(a.low + b.low, a.high + b.high)
        case "-":
            return Span(a.low - b.high, a.high - b.low)
        case "*":
            return _between_bounds(_times, a, b)
        case "min":
            return Span(min(one.low for one in spans), min(one.high for one in spans))
        case "max":
            return Span(max(one.low for one in spans), max(one.high for one in spans))
        case "<" | "<=" | ">" | ">=":
            return _between_bounds(TWO[op], a, b)
        case "%" if a.low < a.high or b.low < b.high:  # what is left has the sign of the divisor, and is less than it
            return Span(0, b.high - 1) if b.low > 0 else Span(b.low + 1, 0) if b.high < 0 else ANY
        case _:
            return _divided_span(op, a, b)


def _between_bounds(compute: Callable[[Any, Any], float], a: Span, b: Span) -> Span:
    """Return what comes of numbers between bounds, where results only rise or only fall with each of them."""
    found = [+compute(x, y) for x in a.bounds for y in b.bounds]  # + makes 0 or 1 of a comparison
    return Span(min(found), max(found))


def _times(a: float, b: float) -> float:
    return 0 if 0 in (a, b) else a * b  # 0 times an infinite bound is 0, not `nan`


def _divided_span(op: str, a: Span, b: Span) -> Span:
    """Return the span of a quotient or a remainder; it is only known where the divisor is."""
    if b.low != b.high or b.low in (0, inf, -inf):
        return ANY
    divide = TWO[op]
    return _between_bounds(lambda x, y: x * y if x in (inf, -inf) else divide(int(x), int(y)), a, b)
