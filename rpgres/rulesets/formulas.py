"""Formulas of actions with named dice: read, written out over their definitions, worked out exactly or within bounds.

The grammar (blanks stand around a minus, as names have hyphens)::

    formula    = condition
    condition  = part { "or" part };  part = one { "and" one };  one = [ "not" ] comparison
    comparison = sum [ ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
    sum        = term { ( "+" | "-" ) term };  term = factor { ( "*" | "/" | "%" ) factor }
    factor     = [ "-" ] ( number | name | 'word' | function "(" formula { "," formula } ")" | "(" formula ")" )

A condition is 1 or 0. Division drops the fraction, as in dice notation; `%` is what is left over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice.grammar import divide
from rpgres.errors import RuleError
from rpgres.rulesets.rows import ID

Value = int | str | None  # None is `nothing`

READINGS = ("sum", "count", "highest", "lowest")
# What `worth`, `again` and the condition of a reading may name beside all else: what the die shows, whether another die
# brought it, and in which throw of its group it fell.
OF_A_DIE = ("face", "added", "thrown")
ELSE = "else"
# How many arguments each function takes: at least, and at most.
FUNCTIONS: dict[str, tuple[int, int]] = {
    "min": (2, 20),
    "max": (2, 20),
    "abs": (1, 1),
    "down": (2, 2),
    "up": (2, 2),
    "near": (2, 2),
    "if": (3, 41),
    "given": (1, 1),
    "success": (1, 1),
    "times": (1, 2),
    **dict.fromkeys(READINGS, (1, 20)),
}
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>\d+)|(?P<name>(?:opponent\.)?{ID})|'(?P<word>[^']*)'|(?P<sign><=|>=|!=|[-+*/%(),=<>]))"
)
# What other languages mean by what no formula has.
_HINTS = {
    "{": "names in a formula have no braces",
    "&": "conditions are joined by `and`",
    "|": "conditions are joined by `or`",
    "!": "what must not hold is written as `not`; unequal is !=",
    '"': "words are in single quotes",
    "?": "a choice is written as if(condition, then, else)",
    ".": "numbers are whole; near(a, b), up(a, b) and down(a, b) round quotients",
}
_WORDS = frozenset({"and", "or", "not", "nothing"})
MOST_FORMULA = 2_000  # characters
MOST_DEPTH = 60  # parentheses and functions inside each other
MOST_PARTS = 20_000  # of one formula that is written out over its definitions


class Const(Struct, frozen=True):
    """A number, a word, or `nothing`."""

    value: Value


class Name(Struct, frozen=True):
    """Something that has a value elsewhere."""

    name: str


class Op(Struct, frozen=True):
    """An operator, or a function that ships, with what it is applied to."""

    op: str
    args: tuple[Expr, ...]


class Cases(Struct, frozen=True):
    """The result of the first condition that holds; `nothing` where none does."""

    cases: tuple[tuple[Expr, Expr], ...]


class Call(Struct, frozen=True):
    """A function by its name, before it is known what that is."""

    name: str
    args: tuple[Expr, ...]


class Read(Struct, frozen=True):
    """What is read off dice.

    Attributes:
        kind: `sum` and `count` of the dice, the `highest` or the `lowest`.
        groups: whose dice, by name.
        of: which of them; all where it is None.
    """

    kind: str
    groups: tuple[str, ...]
    of: Expr | None = None


Expr: TypeAlias = Const | Name | Op | Cases | Call | Read
Worker = Callable[[Any], Any]  # computes a formula from the values of names, a mapping
Linear = dict[str, int]  # a sum: the factor of each name, and a number under an empty one
TRUE = Const(1)


class FormulaError(RuleError):
    """A formula that cannot be read.

    Attributes:
        definition: the one whose formula it is; empty where it is that of an action.
    """

    definition = ""


@lru_cache(maxsize=4096)
def formula(text: str) -> Expr:
    """Return the tree of a formula.

    Raises:
        FormulaError: it cannot be read; the message shows where.
    """
    reader = _Reader(text)
    found = reader.condition()
    if reader.at < len(reader.tokens):
        reader.refuse("an operator is missing before this")
    return found


def cases(table: Mapping[str, str]) -> Expr:
    """Return the word of the first condition that holds, of a table of conditions by word; `else` is tried last."""
    ordered = sorted(table.items(), key=lambda item: item[1] == ELSE)  # a house rule may have added others behind it
    return Cases(tuple((TRUE if text == ELSE else formula(text), Const(word)) for word, text in ordered))


class _Reader:
    """The tokens of a formula, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        if len(text) > MOST_FORMULA:
            raise FormulaError(f"this formula has more than {MOST_FORMULA} characters")
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                start = place + len(text[place:]) - len(text[place:].lstrip())
                raise self._error(_HINTS.get(text[start], f"{text[start]!r} is not valid in a formula"), start)
            kind = match.lastgroup or ""
            found = match[kind]
            kind = "sign" if kind == "name" and found in _WORDS - {"nothing"} else kind
            self.tokens.append((kind, found, match.start(kind)))
            place = match.end()

    def _error(self, message: str, place: int) -> FormulaError:
        return FormulaError(f"{message}\n  {self.text}\n  {' ' * place}^")

    def refuse(self, message: str) -> None:
        place = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        raise self._error(message, place)

    def take(self, *signs: str) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def condition(self) -> Expr:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.refuse(f"this is nested more than {MOST_DEPTH} deep")
        found = self._joined("or", lambda: self._joined("and", self._one))
        self.depth -= 1
        return found

    def _joined(self, word: str, part: Callable[[], Expr]) -> Expr:
        parts = [part()]
        while self.take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Op(word, tuple(parts))

    def _one(self) -> Expr:
        if self.take("not"):
            return Op("not", (self._one(),))
        left = self._sum()
        sign = self.take("=", "!=", "<", "<=", ">", ">=")
        return Op(sign, (left, self._sum())) if sign else left

    def _sum(self) -> Expr:
        found = self._term()
        while sign := self.take("+", "-"):
            found = Op(sign, (found, self._term()))
        return found

    def _term(self) -> Expr:
        found = self._factor()
        while sign := self.take("*", "/", "%"):
            found = Op(sign, (found, self._factor()))
        return found

    def _factor(self) -> Expr:
        if self.take("-"):
            inner = self._factor()
            return Const(-inner.value) if isinstance(inner, Const) and type(inner.value) is int else Op("neg", (inner,))
        if self.take("("):
            found = self.condition()
            self._close()
            return found
        if self.at >= len(self.tokens) or self.tokens[self.at][0] == "sign":
            after_equal = self.at and self.tokens[self.at - 1][1] == "="
            doubled = self.take("=", "<", ">") if after_equal else ""
            said = f"this is written {doubled}=" if doubled != "=" else "equal is a single ="
            self.refuse(said if doubled else "a number, a name or a function is missing here")
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return Const(int(text))
        if kind == "word":
            return Const(text)
        if not self.take("("):
            return Const(None) if text == "nothing" else Name(text)
        args = [self.condition()]
        while self.take(","):
            args.append(self.condition())
        self._close()
        return Call(text, tuple(args))

    def _close(self) -> None:
        if not self.take(")"):
            self.refuse("a closing parenthesis is missing before this")


# ---------------------------------------------------------------------------------------------------------------------
# Trees


def parts(expr: Expr) -> Iterator[Expr]:
    """Yield a tree and everything in it."""
    yield expr
    for inner in inner_of(expr):
        yield from parts(inner)


def inner_of(expr: Expr) -> Iterable[Expr]:
    """Return the trees right below the top of one."""
    if isinstance(expr, Op | Call):
        return expr.args
    if isinstance(expr, Cases):
        return [one for case in expr.cases for one in case]
    return (expr.of,) if isinstance(expr, Read) and expr.of is not None else ()


def names(expr: Expr) -> dict[str, None]:
    """Return the names in a tree, in order."""
    return {one.name: None for one in parts(expr) if isinstance(one, Name)}


def results(expr: Expr) -> Iterator[Expr]:
    """Yield the trees whose value may be that of a tree: those of its cases, and their cases."""
    if isinstance(expr, Cases):
        for _, result in expr.cases:
            yield from results(result)
    else:
        yield expr


def with_inner(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return a tree in which the trees right below the top are changed."""
    if isinstance(expr, Op | Call):
        return replace(expr, args=tuple(map(change, expr.args)))
    if isinstance(expr, Cases):
        return Cases(tuple((change(when), change(then)) for when, then in expr.cases))
    return replace(expr, of=change(expr.of)) if isinstance(expr, Read) and expr.of is not None else expr


def changed(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return a tree in which every part is changed, inner ones first."""
    return change(with_inner(expr, lambda one: changed(one, change)))


# ---------------------------------------------------------------------------------------------------------------------
# Exact values


def worker(expr: Expr) -> Worker:
    """Return a function that works out a tree from the values of its names, a mapping."""
    if isinstance(expr, Const):
        value = expr.value
        return lambda _: value
    if isinstance(expr, Name):
        name = expr.name
        return lambda known: known[name]
    if isinstance(expr, Cases):
        return _first_case([(worker(when), worker(then)) for when, then in expr.cases])
    if not isinstance(expr, Op):
        raise TypeError(f"{expr!r} is not written out")
    several = [worker(one) for one in expr.args]
    if expr.op == "and":
        return lambda known: all(one(known) for one in several)
    if expr.op == "or":
        return lambda known: any(one(known) for one in several)
    if len(expr.args) == 1:
        function, inner = _ONE[expr.op], several[0]
        return lambda known: function(inner(known))
    if len(expr.args) == 2:
        both, left, right = TWO[expr.op], *several
        if expr.op in QUOTIENTS and not (isinstance(expr.args[1], Const) and expr.args[1].value):
            right = _divisor(right, ", ".join(one for one in names(expr.args[1]) if one[0].isalpha()))
        return lambda known: both(left(known), right(known))
    many = _MANY[expr.op]
    return lambda known: many(_number(one(known)) for one in several)


def reduced(expr: Expr, known: Callable[[str], Expr]) -> Expr:
    """Return a tree in which everything that is known is worked out.

    Args:
        expr: the tree, written out.
        known: what stands for a name: a constant where it is known, else the name itself.
    """
    if isinstance(expr, Name):
        return known(expr.name)
    if isinstance(expr, Cases):
        found = list[tuple[Expr, Expr]]()
        for when, then in expr.cases:
            holds = reduced(when, known)
            if not isinstance(holds, Const) or holds.value:
                found.append((holds, reduced(then, known)))
            if isinstance(holds, Const) and holds.value:
                break
        if not found:
            return Const(None)
        return found[0][1] if isinstance(found[0][0], Const) else Cases(tuple(found))
    if not isinstance(expr, Op):
        return expr
    args = [reduced(one, known) for one in expr.args]
    if expr.op in ("and", "or"):
        decided = expr.op == "or"
        if any(isinstance(one, Const) and bool(one.value) is decided for one in args):
            return Const(int(decided))
        args = [one for one in args if not isinstance(one, Const)]
        if not args:
            return Const(int(not decided))
        return Op(expr.op, tuple(args))
    made = Op(expr.op, tuple(args))
    values = [one.value for one in args if isinstance(one, Const)]
    if len(values) < len(args) or (expr.op in QUOTIENTS and not values[-1]):
        return made  # what divides by 0 is an error only where it has to be worked out
    value = worker(made)({})
    return Const(int(value) if isinstance(value, bool) else value)


def linear(expr: Expr, known: Callable[[str], Linear | None]) -> Linear | None:
    """Return a tree as a sum of names, each with a factor, and a number under an empty name; None if it is none."""
    if isinstance(expr, Const):
        return {"": expr.value or 0} if not isinstance(expr.value, str) else None
    if isinstance(expr, Name):
        return known(expr.name)
    if not isinstance(expr, Op) or expr.op not in ("+", "-", "*", "neg"):
        return None
    found = [linear(one, known) for one in expr.args]
    if any(one is None for one in found):
        return None
    left, right = found[0] or {}, found[-1] or {}
    if expr.op == "neg":
        return {name: -factor for name, factor in left.items()}
    if expr.op == "*":
        scale, other = (left, right) if set(left) <= {""} else (right, left)
        times = scale.get("", 0)
        return {name: factor * times for name, factor in other.items()} if set(scale) <= {""} else None
    sign = 1 if expr.op == "+" else -1
    return {name: left.get(name, 0) + sign * right.get(name, 0) for name in {**left, **right}}


def _first_case(pairs: list[tuple[Worker, Worker]]) -> Worker:
    def first(known: Any) -> Any:
        for when, then in pairs:
            if when(known):
                return then(known)
        return None

    return first


def _divisor(divisor: Worker, told: str) -> Worker:
    def checked(known: Any) -> Any:
        found = divisor(known)
        if not found:
            what = f"{told or 'a divisor'} is 0, and dividing by 0 is impossible"
            raise RuleError(f"{what}; divide by max(1, ...), or in an if(...) that asks for it")
        return found

    return checked


def _number(value: Any) -> int:
    if isinstance(value, int):
        return value
    if value is None:
        return 0
    raise RuleError(f"the word {value!r} is used as a number")


def down(a: int, b: int) -> int:
    """Return a quotient, rounded down, below 0 too; a division by 0 is 0."""
    return a // b if b else 0


def _near(a: int, b: int) -> int:
    return (2 * a + abs(b)) // (2 * b) if b > 0 else _near(-a, -b) if b else 0


def _numeric(function: Callable[[int, int], Any]) -> Callable[[Any, Any], Any]:
    def both(a: Any, b: Any) -> Any:
        try:
            return function(a, b)
        except TypeError:
            return function(_number(a), _number(b))

    return both


_ONE: dict[str, Callable[[Any], Any]] = {
    "not": lambda a: not a,
    "neg": lambda a: -_number(a),
    "abs": lambda a: abs(_number(a)),
}
# Operators and functions of two numbers.
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": _numeric(lambda a, b: a < b),
    "<=": _numeric(lambda a, b: a <= b),
    ">": _numeric(lambda a, b: a > b),
    ">=": _numeric(lambda a, b: a >= b),
    "+": _numeric(lambda a, b: a + b),
    "-": _numeric(lambda a, b: a - b),
    "*": _numeric(lambda a, b: a * b),
    "/": _numeric(lambda a, b: divide(a, b) if b > 0 else -divide(a, -b) if b else 0),
    "%": _numeric(lambda a, b: a % b if b else 0),
    "down": _numeric(down),
    "up": _numeric(lambda a, b: -down(-a, b)),
    "near": _numeric(_near),
    "min": _numeric(min),
    "max": _numeric(max),
}
QUOTIENTS = ("/", "%", "down", "up", "near")  # those that divide by the second
_MANY: dict[str, Callable[[Any], Any]] = {"min": min, "max": max}
