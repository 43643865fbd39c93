"""The tree of a dice expression, and its canonical text. Nothing here reads notation, rolls dice or computes odds.

The grammar is in the docstring of the package. The tree is in a normal form, so that equal trees have equal texts: a
minus sign lives in a sum alone, sums do not stand in sums nor products in products.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import eq, ge, gt, le, lt
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

MOST_TEXT = 1_000  # characters of an expression
MOST_NESTING = 50  # parentheses inside each other
MOST_DICE = 1_000  # in a whole expression
MOST_SIDES = 10_000
MOST_NUMBER = 1_000_000_000  # written in an expression
MOST_VALUE = 1_000_000_000_000  # that any part of an expression can reach, on either side of zero
MOST_NAME = 60  # characters of the name of a part
MOST_EXPLOSIONS = 100  # of one die; a die that could still explode after them stays as it is

FATE = 0  # the `sides` of a Fate die
D66 = tuple(10 * tens + ones for tens in range(1, 7) for ones in range(1, 7))
DIGITS = frozenset("0123456789")
SIGNS: dict[str, Callable[[int, int], bool]] = {">=": ge, "<=": le, "=": eq, ">": gt, "<": lt}


class Comparison(Struct, frozen=True):
    """A sign and a number that a face or a total is held against."""

    sign: str
    number: int

    def fits(self, value: int) -> bool:
        """Return whether `value` stands in this relation to the number."""
        return SIGNS[self.sign](value, self.number)

    def among(self, faces: range) -> range:
        """Return the faces of a die that fit."""
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
    """Which faces are rerolled: those that fit any of `on`; `once`, or until the face fits none."""

    once: bool
    on: tuple[Comparison, ...]

    def wants(self, face: int) -> bool:
        """Return whether `face` is rerolled."""
        return any(comparison.fits(face) for comparison in self.on)


class Again(Struct, frozen=True):
    """Which faces bring a further die: those of the first dice, and those of the added ones."""

    first: frozenset[int]
    added: frozenset[int]


class Explosion(Struct, frozen=True):
    """When a die that was rolled is followed by another one.

    Attributes:
        on: the faces that explode; None for the highest.
        once: whether the die that follows cannot explode.
        penetrating: whether each die that follows is worth one less than it shows.
        apart: whether it is counted as a die of its own (`again`), and not added to the first.
        down: the highest of the faces of a first die that are followed by dice that subtract (`oe`); 0 for none.
        again: in place of `on`, faces for which there is no notation; only of dice of their own.
    """

    on: Comparison | None = None
    once: bool = False
    penetrating: bool = False
    apart: bool = False
    down: int = 0
    again: Again | None = None

    @property
    def limit(self) -> int:
        """How often one die explodes at most."""
        return 1 if self.once else MOST_EXPLOSIONS


class Pool(Struct, frozen=True):
    """Equal dice that are rolled together.

    Attributes:
        count: how many dice.
        sides: how many sides each has; 0 for Fate dice.
        reroll: which faces are rolled again.
        explosion: which dice are followed by another one.
        keep: words and counts, as they were written.
        target: which dice are counted; None where they are added.
        double: which of these count twice.
        fails: which dice count less than nothing: one is taken off.
        is_d66: whether these are two six-sided dice that are read as tens and ones.
    """

    count: int
    sides: int
    reroll: Reroll | None = None
    explosion: Explosion | None = None
    keep: tuple[tuple[str, int], ...] = ()
    target: Comparison | None = None
    double: Comparison | None = None
    fails: Comparison | None = None
    is_d66: bool = False

    @property
    def faces(self) -> Sequence[int]:
        """The faces of one die, ascending."""
        return D66 if self.is_d66 else self.row

    @property
    def row(self) -> range:
        """The faces of one die as neighbouring numbers; not for a d66."""
        return range(-1, 2) if self.sides == FATE else range(1, self.sides + 1)

    @property
    def explodes(self) -> bool:
        """Whether there are dice that are followed by another one."""
        return self.explosion is not None

    @property
    def exploding(self) -> Collection[int]:
        """The faces that explode, of a first die."""
        if self.explosion is not None and self.explosion.again is not None:
            return self.explosion.again.first
        added = self.exploding_added
        return (*self.row[: self.explosion.down], *added) if self.explosion and self.explosion.down else added

    @property
    def exploding_added(self) -> Collection[int]:
        """The faces that explode, of a die that was added."""
        row, explosion = self.row, self.explosion
        if explosion is None:
            return range(0)
        if explosion.again is not None:
            return explosion.again.added
        return explosion.on.among(row) if explosion.on else row[-1:]

    def joined(self, faces: Sequence[int]) -> int:
        """Return the total of one die that showed these faces, each of which but the last exploded."""
        first, *others = faces
        added = sum(others) - (len(others) if self.explosion and self.explosion.penetrating else 0)
        return first - added if self.explosion and 0 < first <= self.explosion.down else first + added

    def worth(self, value: int) -> int:
        """Return what a kept die of this value adds to the value of the pool."""
        if self.target is None:
            return value
        counted = int(self.target.fits(value)) << int(self.double is not None and self.double.fits(value))
        return counted - int(self.fails is not None and self.fails.fits(value))

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest value, however often dice explode."""
        low, high = self.kept
        chain = self.explosion.limit if self.explosion else 0
        if self.target:
            dice = (high - low) * (chain + 1 if self.explosion and self.explosion.apart else 1)
            return -dice if self.fails else 0, 2 * dice if self.double else dice
        first, last = self.faces[0], self.faces[-1]
        less = int(self.explosion is not None and self.explosion.penetrating)
        least = first + chain * (-last if self.explosion and self.explosion.down else min(0, first - less))
        return (high - low) * least, (high - low) * (last + chain * max(0, last - less))

    @property
    def staying(self) -> tuple[int, ...]:
        """The faces that are not rerolled, ascending."""
        if self.reroll is None:
            return tuple(self.faces)
        return tuple(sorted(set(self.faces).difference(*(on.among(self.row) for on in self.reroll.on))))

    @property
    def kept(self) -> tuple[int, int]:
        """The dice that stay when all are sorted from low to high: from the first place to before the second."""
        return kept_among(self.count, self.keep)


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


class Named(Struct, frozen=True):
    """A part with a name, in lower case; nothing in it has another."""

    node: Node
    name: str


class Best(Struct, frozen=True):
    """The highest or the lowest of several values, added; never of equal dice, which are a pool that keeps some.

    Attributes:
        nodes: the values, each an expression.
        keep: words and counts, as of a pool.
    """

    nodes: tuple[Node, ...]
    keep: tuple[tuple[str, int], ...]

    @property
    def kept(self) -> tuple[int, int]:
        """The values that stay when all are sorted from low to high: from the first place to before the second."""
        return kept_among(len(self.nodes), self.keep)


Node: TypeAlias = Number | Pool | Sum | Product | Quotient | Named | Best


def kept_among(count: int, keep: Iterable[tuple[str, int]]) -> tuple[int, int]:
    """Return which of so many values stay when all are sorted from low to high.

    >>> kept_among(4, [("kh", 3)]), kept_among(4, [("dl", 1), ("dh", 1)])
    ((1, 4), (1, 3))
    """
    low, high = 0, count
    for word, number in keep:
        if word == "kh":
            low = high - number
        elif word == "kl":
            high = low + number
        elif word == "dh":
            high -= number
        else:
            low += number
    return low, high


def best_of(nodes: Sequence[Node], keep: tuple[tuple[str, int], ...]) -> Node:
    """Return the highest or lowest of some values; of equal dice a pool."""
    first = nodes[0]
    if isinstance(first, Pool) and is_die(first) and all(node == first for node in nodes):
        return replace(first, count=len(nodes), keep=keep)
    return Best(tuple(nodes), keep)


def is_die(pool: Pool) -> bool:
    """Tell whether a pool is one die that is added."""
    return pool.count == 1 and not (pool.keep or pool.target or pool.is_d66)


def single_dice(node: Node) -> tuple[Pool, ...]:
    """Return the dice of pools that are added, each by itself; none where there is anything else in the expression."""
    terms = node.terms if isinstance(node, Sum) else ((1, node),)
    found: list[Pool] = []
    for sign, term in terms:
        if sign < 0 or not isinstance(term, Pool) or not is_die(replace(term, count=1)):
            return ()
        found += [replace(term, count=1)] * term.count
    return tuple(found)


def divide(value: int, divisor: int) -> int:
    """Return a value divided, the fraction dropped: 7 / 2 is 3, -7 / 2 is -3."""
    return value // divisor if value >= 0 else -(-value // divisor)


def write(node: Node) -> str:
    """Return the canonical text of a tree; `parse` makes the same tree of it."""
    if isinstance(node, Number):
        return str(node.value)
    if isinstance(node, Pool):
        return _write_pool(node)
    if isinstance(node, Quotient):
        return f"{_write_inside(node.node)}/{node.divisor}"
    if isinstance(node, Best):
        return f"({_write_values(node.nodes)}){_write_keep(node.keep)}"
    if isinstance(node, Named):
        text = _write_inside(node.node)
        return f"({text})[{node.name}]" if isinstance(node.node, Product | Quotient) else f"{text}[{node.name}]"
    if isinstance(node, Product):
        first, *others = node.factors
        return "*".join([_write_inside(first), *(_write_factor(factor) for factor in others)])
    text = "".join(("+" if sign > 0 else "-") + _write_inside(term) for sign, term in node.terms)
    return text.removeprefix("+")


def _write_values(nodes: tuple[Node, ...]) -> str:
    """Return the values of which some are kept: with commas, or as a sum of pools where equal dice are neighbours."""
    runs = [list(run) for _, run in groupby(nodes)]
    dice = [replace(run[0], count=len(run)) for run in runs if isinstance(run[0], Pool) and is_die(run[0])]
    if len(dice) == len(runs) < len(nodes):
        return "+".join(map(write, dice))
    return ",".join(map(write, nodes))


def nodes_in(node: Node) -> Iterator[Node]:
    """Yield an expression and everything in it, in the order of its text."""
    yield node
    inner: Iterable[Node] = ()
    if isinstance(node, Sum):
        inner = (term for _, term in node.terms)
    elif isinstance(node, Product):
        inner = node.factors
    elif isinstance(node, Quotient | Named):
        inner = (node.node,)
    elif isinstance(node, Best):
        inner = node.nodes
    for one in inner:
        yield from nodes_in(one)


def pools_in(node: Node) -> Iterator[Pool]:
    """Yield the pools of an expression in the order of its text."""
    return (one for one in nodes_in(node) if isinstance(one, Pool))


def with_first(node: Node, new: Node) -> Node:
    """Return an expression with something else in place of its first pool."""
    return _with_pools(node, chain([new], islice(pools_in(node), 1, None)))


def _with_pools(node: Node, pools: Iterator[Node]) -> Node:
    if isinstance(node, Pool):
        return next(pools)
    if isinstance(node, Quotient | Named):
        return replace(node, node=_with_pools(node.node, pools))
    if isinstance(node, Product):
        return Product(tuple(_with_pools(factor, pools) for factor in node.factors))
    if isinstance(node, Best):
        return Best(tuple(_with_pools(one, pools) for one in node.nodes), node.keep)
    if isinstance(node, Sum):
        return Sum(tuple((sign, _with_pools(term, pools)) for sign, term in node.terms))
    return node


def parts_of(node: Node) -> dict[str, Node]:
    """Return the named parts of an expression, which add up to it; what has no name stands under an empty one.

    Raises:
        ValueError: the parts do not add up: a product of several, or a quotient of several.
    """
    if isinstance(node, Named):
        return {node.name: node.node}
    if isinstance(node, Quotient):
        return {name: Quotient(part, node.divisor) for name, part in _single(parts_of(node.node)).items()}
    if isinstance(node, Product):
        found = [parts_of(factor) for factor in node.factors]
        named = [place for place, parts in enumerate(found) if parts.keys() != {""}]
        if not named:
            return {"": node}
        if len(named) > 1:
            raise ValueError("a product has one part with names")
        before, behind = node.factors[: named[0]], node.factors[named[0] + 1 :]
        return {name: Product((*before, part, *behind)) for name, part in found[named[0]].items()}
    if isinstance(node, Sum):
        parts: dict[str, list[tuple[int, Node]]] = {}
        for sign, term in node.terms:
            for name, part in parts_of(term).items():
                parts.setdefault(name, []).append((sign, part))
        return {name: Sum(tuple(terms)) for name, terms in parts.items()}
    return {"": node}


def _single(parts: dict[str, Node]) -> dict[str, Node]:
    if len(parts) > 1:
        raise ValueError("a quotient has one name")
    return parts


def _write_inside(node: Node) -> str:
    # A count next to an operator is put in parentheses: people would read 6d10>=8+2 as "10 or more".
    text = write(node)
    return f"({text})" if isinstance(node, Sum) or (isinstance(node, Pool) and node.target) else text


def _write_factor(node: Node) -> str:
    # From the second factor on, 3*7/2 would be read as (3*7)/2.
    return f"({write(node)})" if isinstance(node, Quotient) else _write_inside(node)


def _write_pool(pool: Pool) -> str:
    if pool.is_d66:
        return "d66"
    text = "" if pool.count == 1 and pool.sides != 66 else str(pool.count)  # d66 is something else than 1d66
    text += "dF" if pool.sides == FATE else f"d{pool.sides}"
    if pool.reroll:
        word = "ro" if pool.reroll.once else "r"
        text += "".join(f"{word}{_write_faces(on)}" for on in pool.reroll.on)
    keep = _write_keep(pool.keep)
    count = f"{pool.target.sign}{pool.target.number}" if pool.target else ""
    count += f"f{_write_faces(pool.fails)}" if pool.fails else ""
    text += f"{keep and _write_explosion(pool)}{keep}{count}{'' if keep else _write_explosion(pool)}"
    if pool.double is None:
        return text
    is_top = pool.double == Comparison("=", pool.row[-1])
    return f"{text} double {'' if is_top else pool.double.sign}{pool.double.number}"


def open_ends(sides: int) -> int:
    """Return how many faces explode at each end of a die with `oe` alone: one in twenty."""
    return max(1, sides // 20)


def _write_keep(keep: tuple[tuple[str, int], ...]) -> str:
    return "".join(f"{word}{count}" for word, count in keep)


def _write_explosion(pool: Pool) -> str:
    explosion = pool.explosion
    if explosion is None:
        return ""
    if explosion.again is not None:
        shown = dict.fromkeys((explosion.again.first, explosion.again.added))
        return f" again {' then '.join(ranges(sorted(faces)) for faces in shown)}"
    if explosion.down:
        return "oe" if explosion.down == open_ends(pool.sides) else f"oe{explosion.down}"
    on = f"{explosion.on.sign}{explosion.on.number}" if explosion.on else ""
    if explosion.apart:
        return f" again {on}".rstrip()
    # Where dice are kept or counted, other tools take !>=8 for dice of their own, and !!>=8 for one die.
    is_joined = bool(on and (pool.keep or pool.target))
    return f"{'!!' if is_joined else '!'}{'p' * explosion.penetrating}{'o' * explosion.once}{on}"


def ranges(numbers: Iterable[int], sign: str = "-") -> str:
    """Return ascending numbers in words: `8-10`, or `1, 6`; `none` where there are none."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return ", ".join(str(low) if low == high else f"{low}{sign}{high}" for low, high in found) or "none"


def _write_faces(on: Comparison) -> str:
    return f"{'' if on.sign == '=' and on.number >= 0 else on.sign}{on.number}"
