"""Dice notation: from text to a tree, and back to the canonical text. Nothing here throws a die or weighs a result.

The grammar is in the docstring of the package. The tree is in a normal form, so that equal trees have equal texts: a
minus sign lives in a sum alone, sums do not stand in sums nor products in products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import eq, ge, gt, le, lt
from typing import NoReturn, TypeAlias

from msgspec import Struct

from rpgres.errors import NotationError

MOST_TEXT = 1_000  # characters of an expression
MOST_NESTING = 50  # parentheses inside each other
MOST_DICE = 1_000  # in a whole expression
MOST_SIDES = 10_000
MOST_NUMBER = 1_000_000_000  # written in an expression
MOST_VALUE = 1_000_000_000_000  # that any part of an expression can reach, on either side of zero
MOST_EXPLOSIONS = 100  # of one die; a die that still shows its highest face after them stays as it is

FATE = 0  # the `sides` of a Fate die
_DIGITS = frozenset("0123456789")
_SIGNS: dict[str, Callable[[int, int], bool]] = {">=": ge, "<=": le, "=": eq, ">": gt, "<": lt}
_KEEPING = frozenset(("kh", "kl", "dh", "dl"))
_READ_AS = {"\u2212": "-", "\u00d7": "*", "\u00f7": "/"}


class Comparison(Struct, frozen=True):
    """A sign and a number that a face or a total is held against."""

    sign: str
    number: int

    @staticmethod
    def read(text: str) -> Comparison | None:
        """Return the comparison of a text that is nothing else, such as `>=8`; None for any other text."""
        bare = "".join(text.split())
        sign = next((sign for sign in _SIGNS if bare.startswith(sign)), "")
        digits = bare[len(sign) :].removeprefix("-")
        if not sign or not 0 < len(digits) < 10 or not _DIGITS.issuperset(digits):
            return None
        return Comparison(sign, int(bare[len(sign) :]))

    def fits(self, value: int) -> bool:
        """Return whether `value` stands in this relation to the number."""
        return _SIGNS[self.sign](value, self.number)

    def among(self, faces: range) -> range:
        """Return those of some neighbouring faces that fit."""
        low, high, number = faces[0], faces[-1], self.number
        spans = {
            ">=": (number, high),
            "<=": (low, number),
            "=": (number, number),
            ">": (number + 1, high),
            "<": (low, number - 1),
        }
        first, last = spans[self.sign]
        return range(max(low, first), min(high, last) + 1)


class Reroll(Struct, frozen=True):
    """Which faces are thrown again: those that fit any of `on`; `once`, or until the face fits none."""

    once: bool
    on: tuple[Comparison, ...]

    def wants(self, face: int) -> bool:
        """Return whether `face` is thrown again."""
        return any(comparison.fits(face) for comparison in self.on)


class Pool(Struct, frozen=True):
    """Like dice thrown together. `sides` is 0 for Fate dice; `keep` holds words and counts as they were written."""

    count: int
    sides: int
    reroll: Reroll | None = None
    explodes: bool = False
    keep: tuple[tuple[str, int], ...] = ()
    target: Comparison | None = None

    @property
    def faces(self) -> range:
        """The faces of one die, ascending."""
        return range(-1, 2) if self.sides == FATE else range(1, self.sides + 1)

    @property
    def staying(self) -> tuple[int, ...]:
        """The faces that are not thrown again, ascending."""
        if self.reroll is None:
            return tuple(self.faces)
        return tuple(sorted(set(self.faces).difference(*(on.among(self.faces) for on in self.reroll.on))))

    @property
    def kept(self) -> tuple[int, int]:
        """The dice that stay when all are sorted from low to high: from the first place to before the second."""
        low, high = 0, self.count
        for word, count in self.keep:
            if word == "kh":
                low = high - count
            elif word == "kl":
                high = low + count
            elif word == "dh":
                high -= count
            else:
                low += count
        return low, high


class Number(Struct, frozen=True):
    """A whole number that is written in the expression, never negative."""

    value: int


class Sum(Struct, frozen=True):
    """Terms, each with the sign 1 or -1; a single term is always a negative one."""

    terms: tuple[tuple[int, Node], ...]


class Product(Struct, frozen=True):
    """Two or more factors."""

    factors: tuple[Node, ...]


class Quotient(Struct, frozen=True):
    """What is divided, and the whole number from 1 that it is divided by; the fraction is dropped."""

    node: Node
    divisor: int


Node: TypeAlias = Number | Pool | Sum | Product | Quotient


def divide(value: int, divisor: int) -> int:
    """Return a value divided, the fraction dropped: 7 / 2 is 3, -7 / 2 is -3."""
    return value // divisor if value >= 0 else -(-value // divisor)


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Raises:
        NotationError: the text is not dice notation, or goes beyond a limit of this module.
    """
    if len(text) > MOST_TEXT:
        message = f"this expression has {len(text)} characters, more than {MOST_TEXT} (limit MOST_TEXT)"
        raise over("MOST_TEXT", NotationError(message, text, MOST_TEXT, len(text) - MOST_TEXT))
    reader = _Reader(text)
    part = reader.expression()
    if reader.next():
        reader.refuse_next(after=part.node)
    return part.node


def write(node: Node) -> str:
    """Return the canonical text of a tree; `parse` makes the same tree of it."""
    if isinstance(node, Number):
        return str(node.value)
    if isinstance(node, Pool):
        return _write_pool(node)
    if isinstance(node, Quotient):
        return f"{_write_inside(node.node)}/{node.divisor}"
    if isinstance(node, Product):
        first, *others = node.factors
        return "*".join([_write_inside(first), *(_write_factor(factor) for factor in others)])
    text = "".join(("+" if sign > 0 else "-") + _write_inside(term) for sign, term in node.terms)
    return text.removeprefix("+")


def pools_in(node: Node) -> Iterator[Pool]:
    """Yield the pools of an expression in the order of its text."""
    if isinstance(node, Pool):
        yield node
    elif isinstance(node, Sum):
        for _, term in node.terms:
            yield from pools_in(term)
    elif isinstance(node, Product):
        for factor in node.factors:
            yield from pools_in(factor)
    elif isinstance(node, Quotient):
        yield from pools_in(node.node)


def over(limit: str, error: NotationError) -> NotationError:
    """Return the error with the name of the limit that was passed among its details."""
    error.details["limit"] = limit
    return error


def _write_inside(node: Node) -> str:
    # A count next to an operator is put in parentheses: people would read 6d10>=8+2 as "10 or more".
    text = write(node)
    return f"({text})" if isinstance(node, Sum) or (isinstance(node, Pool) and node.target) else text


def _write_factor(node: Node) -> str:
    # From the second factor on, 3*7/2 would be read as (3*7)/2.
    return f"({write(node)})" if isinstance(node, Quotient) else _write_inside(node)


def _write_pool(pool: Pool) -> str:
    text = "" if pool.count == 1 else str(pool.count)
    text += "dF" if pool.sides == FATE else f"d{pool.sides}"
    if pool.reroll:
        word = "ro" if pool.reroll.once else "r"
        text += "".join(
            f"{word}{'' if on.sign == '=' and on.number >= 0 else on.sign}{on.number}" for on in pool.reroll.on
        )
    explosion = "!" if pool.explodes else ""
    keep = "".join(f"{word}{count}" for word, count in pool.keep)
    count = f"{pool.target.sign}{pool.target.number}" if pool.target else ""
    return text + (explosion + keep + count if keep else count + explosion)


class _Part(Struct, frozen=True):
    """A tree and the lowest and highest value that it can have."""

    node: Node
    low: int
    high: int


# What other tools mean by a character, for those that stand where none of ours can.
_REFUSED = {
    "/": "division is by a whole number, as in (2d6+3)/2",
    ".": "only whole numbers are read here",
    "{": "groups in braces are not part of this notation",
    "}": "groups in braces are not part of this notation",
    ",": "groups and lists are not part of this notation",
    "[": "labels in brackets are not part of this notation",
    "]": "labels in brackets are not part of this notation",
    "@": "names of abilities cannot be used in dice notation; write the number",
    "^": "powers are not part of this notation",
    "x": "to multiply, write *",
    "\u2013": "this is a dash; to subtract, write -",
    "\u2014": "this is a dash; to subtract, write -",
    ")": "this parenthesis has no opening one",
    "%": "% means 100 sides and is allowed only directly after d, as in d%",
    "f": "F means Fate dice and is allowed only directly after d, as in 4dF",
    ">": "a comparison counts the dice of one pool and must follow it directly, as in 6d10>=8",
    "<": "a comparison counts the dice of one pool and must follow it directly, as in 6d10<=3",
    "=": "a comparison counts the dice of one pool and must follow it directly, as in 6d10=10",
    "!": "! must directly follow a pool of dice, as in 3d6!",
    "k": "keeping works on one pool and must follow it directly, as in 4d6kh3",
    "r": "r must directly follow a pool of dice, as in 2d6r1",
    "d": "the number of dice must be a plain number, as in 2d6, and an operator is needed before the next dice",
}


class _Reader:
    """The text and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.nesting = 0
        self.divisions = 0
        self.dice = 0

    def next(self) -> str:
        """Return the next character that is not a space, in lower case; nothing at the end."""
        text = self.text
        while self.at < len(text) and text[self.at].isspace():
            self.at += 1
        char = text[self.at : self.at + 1].lower()
        return _READ_AS.get(char, char)

    def take(self, *chars: str) -> str:
        """Read the next character if it is one of `chars`, and return it; otherwise return nothing."""
        char = self.next()
        if char not in chars:
            return ""
        self.at += 1
        return char

    def fail(self, message: str, position: int, *, end: int = 0) -> NoReturn:
        raise NotationError(message, self.text, position, end - position)

    def limit(self, name: str, message: str, position: int) -> NoReturn:
        error = NotationError(f"{message} (limit {name})", self.text, position, self.at - position)
        raise over(name, error)

    def refuse_next(self, *, after: Node | None) -> NoReturn:
        """Refuse the next character: where an operand must stand, or, with `after`, where an operator must."""
        char = self.next()
        if not char:
            self.fail("something is missing at the end: a number, dice such as 2d6, or a parenthesis", self.at)
        length = 1
        if after is not None and (char in _DIGITS or char == "("):
            message = "an operator is missing before this: +, - or *"
        elif after is None and char in ("+", "*"):
            message = f"a number or dice such as 2d6 is missing before this {char}" + (
                "; a plus sign is not needed before a number" if char == "+" else ""
            )
        elif after is None and char == ")":
            message = "a number or dice such as 2d6 are missing before this parenthesis"
        elif char in _REFUSED:
            message = _REFUSED[char]
            following = self.text[self.at + 1 : self.at + 2]
            length = 2 if char in ("<", ">", "=") and following and following in "<>=" else 1
        else:
            message = f"{self.text[self.at]!r} is not valid in dice notation"
        self.fail(message, self.at, end=self.at + length)

    def number(self) -> int:
        """Read a number whose first digit is next."""
        self.next()
        start = self.at
        while self.text[self.at : self.at + 1] in _DIGITS:
            self.at += 1
        digits = self.text[start : self.at]
        if len(digits) > 100 or int(digits) > MOST_NUMBER:
            self.limit("MOST_NUMBER", f"this number is greater than {MOST_NUMBER}", start)
        return int(digits)

    def expression(self) -> _Part:
        terms: list[tuple[int, Node]] = []
        low = high = 0
        operator, place = "+", self.at
        while operator:
            sign, part = self.term()
            if operator == "-":
                sign = -sign
            low, high = (low + part.low, high + part.high) if sign > 0 else (low - part.high, high - part.low)
            self.check_value(low, high, place)
            if isinstance(part.node, Sum):
                terms.extend((sign * inner, term) for inner, term in part.node.terms)
            else:
                terms.append((sign, part.node))
            operator = self.take("+", "-")
            place = self.at - 1
        if len(terms) == 1 and terms[0][0] > 0:
            return _Part(terms[0][1], low, high)
        return _Part(Sum(tuple(terms)), low, high)

    def term(self) -> tuple[int, _Part]:
        """Read a product; its sign is told apart, and the bounds are those of the product without it."""
        sign = 1
        factors: list[Node] = []
        low = high = 1
        more = True
        while more:
            place = max(0, self.at - 1)
            while self.take("-"):
                sign = -sign
            part = self.atom()
            node, bounds = part.node, (part.low, part.high)
            if isinstance(node, Sum) and len(node.terms) == 1:
                sign, node, bounds = -sign, node.terms[0][1], (-part.high, -part.low)
            corners = [a * b for a in (low, high) for b in bounds]
            low, high = min(corners), max(corners)
            self.check_value(low, high, place)
            factors.extend(node.factors if isinstance(node, Product) else (node,))
            while self.take("/"):
                self.divisions += 1
                if self.divisions > MOST_NESTING:  # a quotient stands in the next, as in parentheses
                    self.limit("MOST_NESTING", f"there are more than {MOST_NESTING} divisions", self.at - 1)
                divisor = self.divisor()
                whole = factors[0] if len(factors) == 1 else Product(tuple(factors))
                factors = [Quotient(whole, divisor)]
                low, high = divide(low, divisor), divide(high, divisor)
            more = bool(self.take("*"))
        return sign, _Part(factors[0] if len(factors) == 1 else Product(tuple(factors)), low, high)

    def divisor(self) -> int:
        char = self.next()
        start = self.at
        if char not in _DIGITS or not char:
            self.fail(_REFUSED["/"], start if char else start - 1)
        number = self.number()
        if number == 0:
            self.fail("division by 0", start)
        if self.next() == "d":
            self.fail("division is by a whole number, not by dice", start)
        return number

    def check_value(self, low: int, high: int, position: int) -> None:
        if max(-low, high) > MOST_VALUE:
            self.limit("MOST_VALUE", f"from here on the result can exceed {MOST_VALUE}", position)

    def atom(self) -> _Part:
        char = self.next()
        start = self.at
        if char == "(":
            return self.parenthesis()
        count = self.number() if char in _DIGITS else None
        if not self.take("d"):
            if count is None:
                self.refuse_next(after=None)
            return _Part(Number(count), count, count)
        pool = self.pool(1 if count is None else count, start)
        low, high = _pool_bounds(pool)
        return _Part(pool, low, high)

    def parenthesis(self) -> _Part:
        start = self.at
        self.at += 1
        self.nesting += 1
        if self.nesting > MOST_NESTING:
            self.limit("MOST_NESTING", f"parentheses are nested more than {MOST_NESTING} deep", start)
        part = self.expression()
        if not self.next():
            self.fail("this parenthesis is never closed", start)
        if not self.take(")"):
            self.refuse_next(after=part.node)
        self.nesting -= 1
        return part

    def pool(self, count: int, start: int) -> Pool:
        """Read the rest of a pool after its d."""
        if count == 0:
            self.fail("a pool needs at least one die", start, end=self.at - 1)
        self.dice += count
        if self.dice > MOST_DICE:
            self.limit("MOST_DICE", f"more than {MOST_DICE} dice in one expression", start)
        return self.modifiers(Pool(count, self.sides()))

    def sides(self) -> int:
        char = self.next()
        start = self.at
        if self.take("%"):
            return 100
        if self.take("f"):
            return FATE
        if char not in _DIGITS:
            self.fail("after d, the number of sides, % or F is expected, as in d6, d% or 4dF", start)
        sides = self.number()
        if sides == 0:
            self.fail("a die needs at least one side", start, end=self.at)
        if sides > MOST_SIDES:
            self.limit("MOST_SIDES", f"a die may have at most {MOST_SIDES} sides", start)
        return sides

    def modifiers(self, bare: Pool) -> Pool:
        """Read the modifiers of a pool; whether they make sense together is known only after the last."""
        reroll: Reroll | None = None
        keep: list[tuple[str, int]] = []
        target: Comparison | None = None
        exploding_at = reroll_at = -1
        left = bare.count
        while char := self.next():
            start = self.at
            if char == "!":
                if exploding_at >= 0:
                    self.fail("exploding dice explode again anyway; !! is not part of this notation", start)
                exploding_at = start
                self.explosion()
            elif char == "r":
                reroll_at = start if reroll is None else reroll_at
                reroll = self.reroll(bare, reroll)
            elif char in ("k", "d"):
                keep.append(self.keeping(left))
                word, count = keep[-1]
                left = count if word[0] == "k" else left - count
            elif char in ("<", ">", "="):
                if target:
                    self.fail("dice are counted already; a pool has one comparison", start)
                target = self.comparison()
            else:
                break
        pool = Pool(bare.count, bare.sides, reroll, exploding_at >= 0, tuple(keep), target)
        if reroll or pool.explodes:
            self.check_end(pool, reroll_at=reroll_at, exploding_at=exploding_at)
        return pool

    def explosion(self) -> None:
        start = self.at
        self.at += 1
        char = self.next()
        if char == "!":
            self.fail("compounding dice (!!) are not part of this notation", start, end=self.at + 1)
        if char == "p":
            self.fail("penetrating dice (!p) are not part of this notation", start, end=self.at + 1)
        if char in _DIGITS or char in ("<", ">", "="):
            self.fail(
                "dice explode only on their highest face; to count exploding dice, put the ! last, as in 6d10>=8!",
                start,
                end=self.at + 1,
            )

    def reroll(self, pool: Pool, earlier: Reroll | None) -> Reroll:
        start = self.at
        self.at += 1
        once = self.text[self.at : self.at + 1].lower() == "o"
        self.at += once
        if earlier and earlier.once != once:
            self.fail("r and ro cannot be mixed in one pool", start, end=self.at)
        char = self.next()
        if char in ("<", ">", "="):
            on = self.comparison()
        elif char in _DIGITS:
            on = Comparison("=", self.number())
        elif char == "-" and pool.sides == FATE:
            message = "this may be a face or a subtraction: write r=-1, or put the dice in parentheses"
            self.fail(message, start, end=self.at + 1)
        else:
            on = Comparison("=", pool.faces[0])
        if not on.among(pool.faces):
            self.fail("no face of this die is ever rerolled", start, end=self.at)
        return Reroll(once, (*earlier.on, on) if earlier else (on,))

    def keeping(self, left: int) -> tuple[str, int]:
        start = self.at
        word = self.text[start : start + 2].lower()
        if word not in _KEEPING:
            say = "keep: write kh or kl" if word[0] == "k" else "drop: write dh or dl"
            message = f"{word[0]} alone does not say which dice to {say}"
            if word[0] == "d":
                message += "; between two pools an operator is missing"
            self.fail(message, start)
        self.at += 2
        count = self.number() if self.next() in _DIGITS else 1
        if count == 0:
            self.fail(f"{word} needs a number of at least 1", start, end=self.at)
        if count > left:
            self.fail(f"{word}{count} asks for more dice than the {left} of the pool", start, end=self.at)
        if word[0] == "d" and count == left:
            self.fail(f"{word}{count} drops every die of the pool", start, end=self.at)
        return word, count

    def comparison(self) -> Comparison:
        start = self.at
        sign = self.text[start : start + 2]
        if sign not in (">=", "<="):
            sign = sign[0]
        self.at += len(sign)
        minus = self.take("-")
        if self.next() not in _DIGITS:
            self.fail(f"after {sign} a whole number is expected; the signs are >= <= = > <", self.at)
        number = self.number()
        return Comparison(sign, -number if minus else number)

    def check_end(self, pool: Pool, *, reroll_at: int, exploding_at: int) -> None:
        """Refuse a pool that could never stop being thrown, and an explosion that never comes."""
        staying = pool.staying
        until = pool.reroll is not None and not pool.reroll.once
        if until and not staying:
            self.fail("every face would be rerolled forever", reroll_at)
        if not pool.explodes:
            return
        reachable = staying if until else tuple(pool.faces)
        if reachable == (pool.faces[-1],):
            self.fail("every remaining face explodes forever", exploding_at)
        if pool.faces[-1] not in reachable:
            self.fail("the highest face is always rerolled, so this die never explodes", exploding_at)


def _pool_bounds(pool: Pool) -> tuple[int, int]:
    if pool.target:
        low, high = pool.kept
        return 0, high - low
    low, high = pool.kept
    most = pool.faces[-1] * (MOST_EXPLOSIONS + 1 if pool.explodes else 1)
    return (high - low) * pool.faces[0], (high - low) * most
