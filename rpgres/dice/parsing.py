"""Reads dice notation: from text to a tree, with the place of what cannot be read. Nothing here rolls dice.

A recursive reader, one function a rule of the grammar in the docstring of the package: an expression of terms, a term
of factors; a factor's modifiers are read beside it.
"""

from __future__ import annotations

from msgspec import Struct

from rpgres.dice import hints
from rpgres.dice.grammar import (
    DIGITS,
    FATE,
    MOST_DICE,
    MOST_NAME,
    MOST_NESTING,
    MOST_SIDES,
    MOST_VALUE,
    Named,
    Node,
    Number,
    Pool,
    Product,
    Quotient,
    Sum,
    best_of,
    divide,
    kept_among,
    parts_of,
    pools_in,
    single_dice,
    with_first,
)
from rpgres.dice.modifiers import ADVANTAGE, keeps, read_keeping, read_modifiers, with_advantage
from rpgres.dice.scanner import Scanner

MOST_TIMES = 100  # that one expression is rolled in one line
IN_ORDER = 6  # how often `3d6 in order` rolls: once for each ability of a character

_BRACKETS = {"(": (")", "parenthesis"), "{": ("}", "brace")}
_DICE = r"\d*\s*d\s*[\d%f]"
_TIMES = r"(?P<times>\d+)\s+times(?!\w)"
_ORDER = r"in\s+order(?!\w)"


class _Part(Struct, frozen=True):
    """A tree and the lowest and highest value that it can have."""

    node: Node
    low: int
    high: int


def parse(text: str, *, may_have_none: bool = False) -> Node:
    """Return the tree of an expression; a comment behind it is skipped.

    Args:
        may_have_none: whether pools may have no dice, as `0d6`; these are left out.

    Raises:
        NotationError: the text is not dice notation, or goes beyond a limit.
    """
    scan = Scanner(text)
    scan.may_have_none = may_have_none
    node = _whole(scan)
    if scan.next() not in ("", "#"):
        scan.refuse_next(after=node)
    return node


def parse_line(text: str) -> tuple[Node, tuple[str, Node] | None, int, str]:
    """Return an expression, the sign and expression that it is compared with, how often it is rolled, and the comment.

    It is rolled 0 times where that is not said.

    Raises:
        NotationError: the text cannot be read, or goes beyond a limit.
    """
    scan = Scanner(text)
    node, target, times = _whole(scan), None, 0
    while scan.next() not in ("", "#"):
        start = scan.at
        if scan.word() == "vs":
            scan.at += 2
            if target is not None:
                scan.fail("the roll is compared already", start, end=scan.at)
            target = _target(scan)
        elif (found := scan.match(_TIMES)) or scan.word() == "in":
            before, times = times, int(found["times"][:9]) if found else IN_ORDER
            if not scan.match(_ORDER) and not found:
                scan.fail("`in order` rolls six times, and shows every result", start, end=scan.at + 2)
            if not 0 < times <= MOST_TIMES:
                scan.limit("MOST_TIMES", f"dice are rolled 1 to {MOST_TIMES} times", start)
            if before:
                scan.fail("how often is said already", start, end=scan.at)
        else:
            scan.refuse_next(after=node)
    if times and target is not None:
        scan.fail(hints.TIMES_AND_VS, 0, end=len(scan.text))
    if isinstance(node, Number) and scan.peek(rf"#\s*{_DICE}"):
        scan.fail("a number before # does not roll dice several times: write 3d6 6 times", 0, end=scan.at + 1)
    return node, target, times, scan.text[scan.at :].strip().lstrip("#").strip()


def parse_target(text: str) -> tuple[str, Node]:
    """Return the sign and the expression of what a roll is compared with: `15`, `<=45`, `2d6+3`.

    Raises:
        NotationError: the text cannot be read, or goes beyond a limit.
    """
    scan = Scanner(text)
    sign, node = _target(scan)
    if scan.next():
        scan.refuse_next(after=node)
    return sign, node


def starts_with_advantage(text: str) -> bool:
    """Return whether the first word of a text is one for advantage or disadvantage."""
    return Scanner(text[:20]).word() in ADVANTAGE


def _target(scan: Scanner) -> tuple[str, Node]:
    """Read what a roll is compared with; without a sign, it has to be reached."""
    if not scan.next() or scan.text[scan.at] not in "<>=":
        return ">=", _whole(scan)
    start, sign = scan.at, scan.sign()
    if sign == "=" or scan.next() in ("<", ">", "="):
        scan.fail("a roll is compared with >= <= > or <", start, end=scan.at)
    return sign, _whole(scan)


def _whole(scan: Scanner) -> Node:
    """Read an expression, and advantage behind all of it: `d20+5 adv`."""
    node = _expression(scan).node
    start, word = scan.at, scan.word()
    if word in ADVANTAGE:
        start, pools = scan.at, tuple(pools_in(node))
        scan.at += len(word)
        if len(pools) != 1 or pools[0].count != 1:
            scan.fail(hints.advantage(word), start, end=scan.at)
        node = with_first(node, with_advantage(scan, pools[0], word, start))
    return node


def _expression(scan: Scanner) -> _Part:
    terms: list[tuple[int, Node]] = []
    low = high = 0
    operator, place = "+", scan.at
    while operator:
        sign, part = _term(scan)
        if operator == "-":
            sign = -sign
        low, high = (low + part.low, high + part.high) if sign > 0 else (low - part.high, high - part.low)
        _check_value(scan, low, high, place)
        if isinstance(part.node, Sum):
            terms.extend((sign * inner, term) for inner, term in part.node.terms)
        else:
            terms.append((sign, part.node))
        operator = scan.take("+", "-")
        place = scan.at - 1
    if scan.may_have_none:
        terms = [term for term in terms if term[1] != Number(0)] or [(1, Number(0))]
    if len(terms) == 1 and terms[0][0] > 0:
        return _Part(terms[0][1], low, high)
    return _Part(Sum(tuple(terms)), low, high)


def _term(scan: Scanner) -> tuple[int, _Part]:
    """Read a product; its sign is told apart, and the bounds are those of the product without it."""
    sign = 1
    factors: list[Node] = []
    low = high = 1
    more = True
    while more:
        place = max(0, scan.at - 1)
        while scan.take("-"):
            sign = -sign
        part = _named(scan, _atom(scan))
        node, bounds = part.node, (part.low, part.high)
        if isinstance(node, Sum) and len(node.terms) == 1:
            sign, node, bounds = -sign, node.terms[0][1], (-part.high, -part.low)
        corners = [a * b for a in (low, high) for b in bounds]
        low, high = min(corners), max(corners)
        _check_value(scan, low, high, place)
        factors.extend(node.factors if isinstance(node, Product) else (node,))
        _check_names(scan, factors, place, message="a product has one part with names: name the parts behind it")
        while scan.take("/"):
            scan.divisions += 1
            if scan.divisions > MOST_NESTING:  # a quotient stands in the next, as in parentheses
                scan.limit("MOST_NESTING", f"there are more than {MOST_NESTING} divisions", scan.at - 1)
            divisor = _divisor(scan)
            whole = factors[0] if len(factors) == 1 else Product(tuple(factors))
            factors = [Quotient(whole, divisor)]
            _check_names(scan, factors, place, message="rounded parts do not add up: divide each part by itself")
            low, high = divide(low, divisor), divide(high, divisor)
        more = bool(scan.take("*"))
    return sign, _Part(factors[0] if len(factors) == 1 else Product(tuple(factors)), low, high)


def _check_names(scan: Scanner, factors: list[Node], place: int, *, message: str) -> None:
    if not scan.is_named:
        return
    try:
        parts_of(Product(tuple(factors)))
    except ValueError:
        scan.fail(message, place, end=scan.at)


def _named(scan: Scanner, part: _Part) -> _Part:
    """Read the name of a part: `2d6[fire]`."""
    if scan.next() != "[":
        return part
    start = scan.at
    end = scan.text.find("]", start)
    if end < 0:
        scan.fail("this bracket is never closed", start)
    scan.is_named = True
    name = " ".join(scan.text[start + 1 : end].split()).lower()
    scan.at = end + 1
    if not name or "[" in name or not name.isprintable():
        scan.fail("the brackets need a name, as in 2d6[fire]", start, end=scan.at)
    if len(name) > MOST_NAME:
        scan.limit("MOST_NAME", f"a name has at most {MOST_NAME} characters", start)
    if parts_of(part.node).keys() != {""}:
        scan.fail("a part has one name, and no parts with names of their own", start, end=scan.at)
    return _Part(Named(part.node, name), part.low, part.high)


def _divisor(scan: Scanner) -> int:
    char = scan.next()
    start = scan.at
    if char not in DIGITS or not char:
        if char == "/":
            scan.fail(hints.SLASHES, start - 1, end=start + 1)
        scan.fail(hints.REFUSED["/"], start if char else start - 1)
    number = scan.number()
    if number == 0:
        scan.fail("division by 0", start)
    if scan.next() == "d" and scan.peek(_DICE):
        scan.fail("division is by a whole number, not by dice", start)
    return number


def _check_value(scan: Scanner, low: int, high: int, position: int) -> None:
    if max(-low, high) > MOST_VALUE:
        scan.limit("MOST_VALUE", f"from here on the result can exceed {MOST_VALUE}", position)


def _atom(scan: Scanner) -> _Part:
    char = scan.next()
    start = scan.at
    if char in _BRACKETS:
        return _parenthesis(scan)
    word = scan.word()
    if word in hints.WORDS and word not in ADVANTAGE:
        scan.refuse_next(after=None)
    if word in ADVANTAGE:
        scan.at += len(word)
        if scan.peek(_DICE):
            scan.fail(hints.first(word), start, end=start + len(word))
        scan.count_dice(2, start)
        return _Part(Pool(2, 20, keep=((ADVANTAGE[word], 1),)), 1, 20)
    count = scan.number() if char in DIGITS else None
    if scan.word() in hints.WORDS or not scan.take("d"):
        if count is None:
            scan.refuse_next(after=None)
        return _Part(Number(count), count, count)
    pool = _pool(scan, count, start)
    return _Part(pool, *pool.bounds) if count != 0 else _Part(Number(0), 0, 0)


def _parenthesis(scan: Scanner) -> _Part:
    start, opened = scan.at, scan.take("(", "{")
    scan.nesting += 1
    if scan.nesting > MOST_NESTING:
        scan.limit("MOST_NESTING", f"parentheses are nested more than {MOST_NESTING} deep", start)
    parts = [_expression(scan)]
    while scan.take(","):
        parts.append(_expression(scan))
    if not scan.next():
        scan.fail(f"this {_BRACKETS[opened][1]} is never closed", start)
    if not scan.take(_BRACKETS[opened][0]):
        scan.refuse_next(after=parts[-1].node)
    scan.nesting -= 1
    return parts[0] if opened == "(" and len(parts) == 1 and not keeps(scan) else _best(scan, parts, start)


def _best(scan: Scanner, parts: list[_Part], start: int) -> _Part:
    """Read behind a parenthesis which of its values are kept; without commas, of its dice."""
    if scan.may_have_none and keeps(scan) and parts[0].node == Number(0) and len(parts) == 1:
        read_keeping(scan, MOST_DICE)
        return parts[0]
    if len(parts) == 1:
        parts = [_Part(die, *die.bounds) for die in single_dice(parts[0].node)]
    if not parts or not keeps(scan):
        scan.fail(hints.SINGLE if keeps(scan) else hints.GROUP, start, end=scan.at)
    if any(parts_of(part.node).keys() != {""} for part in parts):
        scan.fail("the name goes at the end, as in (d8,d6)kh1[fire]", start, end=scan.at)
    keep = read_keeping(scan, len(parts))
    first, last = kept_among(len(parts), keep)
    bounds = zip(*((part.low, part.high) for part in parts), strict=True)
    low, high = (sum(sorted(ends)[first:last]) for ends in bounds)
    _check_value(scan, low, high, start)
    return _Part(best_of([part.node for part in parts], keep), low, high)


def _pool(scan: Scanner, count: int | None, start: int) -> Pool:
    """Read the rest of a pool after its d."""
    if count == 0 and not scan.may_have_none:
        scan.fail("a pool needs at least one die", start, end=scan.at - 1)
    scan.count_dice(1 if count is None else count, start)
    sides = _sides(scan)
    if sides == 66 and count is None:  # two dice read as 11 to 66; 1d66 is a die of 66 sides
        scan.count_dice(1, start)
        return Pool(1, 66, is_d66=True)
    # Of no dice any number may be kept.
    return read_modifiers(scan, Pool(1 if count is None else count or MOST_DICE, sides))


def _sides(scan: Scanner) -> int:
    char = scan.next()
    start = scan.at
    if scan.take("%"):
        return 100
    if scan.take("f"):
        return FATE
    if char in ("{", "["):
        scan.fail("a die has the faces 1 to N; other faces are rows of a random table, which a ruleset declares", start)
    if char not in DIGITS:
        scan.fail("after d, the number of sides, % or F is expected, as in d6, d% or 4dF", start)
    sides = scan.number()
    if sides == 0:
        scan.fail("a die needs at least one side", start, end=scan.at)
    if sides > MOST_SIDES:
        scan.limit("MOST_SIDES", f"a die may have at most {MOST_SIDES} sides", start)
    return sides
