"""Standings as whole numbers, what changes them, and what is known of them.

A standing is one whole number, its node: each part has `WIDTH` bits of it, for the number of its value. A change is two
such numbers, so that a turn is applied to a standing by two operations, however many parts there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rpgres.odds.standings import Parts

Node = int  # for each part `WIDTH` bits, the number of its value; 0 where the part is not there
Delta = tuple[int, int]  # the bits of all parts that are written, and of these the ones that a new value lacks

WIDTH = 24
MASK = (1 << WIDTH) - 1
UNCHANGED: Delta = (0, 0)

TAGS = -1  # not a part, but all the tags there are
SHAPE = 0  # the part that says which names there are, and of which class the place is; everything reads it


def ids_of(node: Node, count: int) -> list[int]:
    """Return the numbers of the values of all parts, of which there are so many."""
    return [node >> shift & MASK for shift in range(0, count * WIDTH, WIDTH)]


def changed(node: Node, delta: Delta) -> Node:
    """Return the node that a change leads to."""
    return (node | delta[0]) ^ delta[1]


def in_turn(first: Delta, then: Delta) -> Delta:
    """Return two changes as one."""
    bits = first[0] | then[0]
    return bits, bits ^ changed(first[0] ^ first[1], then)


class Memo:
    """The result of nodes, found again by those parts alone that were read to find it.

    It is a tree that branches at parts; the way that only one result has is its tail, and compared at once.
    """

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: Any = None

    def find(self, node: Node, parts: Parts, noted: dict[int, None] | None = None) -> Any:
        """Return what is kept for a node; None where nothing is. What finds it is noted, where that is wanted."""
        found = self._root
        while type(found) is _Branch:
            shift = found.shift
            if noted is not None:
                noted[found.part] = None
            found = found.by.get(node >> shift & MASK if shift >= 0 else parts.look(node, found.part))
        if type(found) is not _Tail:
            return found
        if not found.fits(node, parts):
            return None
        if noted is not None:
            noted.update(dict.fromkeys(found.parts))
        return found.what

    def trace(self, node: Node, parts: Parts, written: int, noted: dict[int, None]) -> None:
        """Take note of what finds the result of a node that a change led to; see `Parts.trace`."""
        found = self._root
        while type(found) is _Branch:
            parts.trace(node, found.part, written, noted)
            found = found.by.get(parts.look(node, found.part))
        if type(found) is _Tail:
            for part in found.parts:
                parts.trace(node, part, written, noted)

    def keep(self, node: Node, read: Iterable[int], what: Any, parts: Parts) -> None:
        """Keep the result of a node, for all that agree with it in what was read."""
        if self._root is None:
            self._root = _Branch(SHAPE)
        branch, left = self._root, dict.fromkeys(read)
        while True:
            left.pop(branch.part, None)
            id_ = parts.look(node, branch.part)
            then = branch.by.get(id_)
            if then is None:
                branch.by[id_] = _Tail(node, tuple(left), what, parts) if left else what
            if type(then) is _Tail and not then.fits(node, parts):
                then = branch.by[id_] = then.branched()
            if type(then) is not _Branch:
                return
            branch = then


class _Branch:
    __slots__ = ("by", "part", "shift")

    def __init__(self, part: int) -> None:
        self.part, self.shift = part, part * WIDTH
        self.by: dict[Hashable, Any] = {}


class _Tail:
    """The end of the way to a result, for nodes that agree with one in all of some parts, in their order."""

    __slots__ = ("bits", "looks", "parts", "want", "what")

    def __init__(self, node: Node, read: tuple[int, ...], what: Any, parts: Parts) -> None:
        self.parts, self.what = read, what
        self.bits = sum([MASK << part * WIDTH for part in read if part >= 0])
        self.want = node & self.bits
        self.looks = tuple([(part, parts.look(node, part)) for part in read if part < 0])

    def fits(self, node: Node, parts: Parts) -> bool:
        """Tell whether a node agrees in all of them."""
        if node & self.bits != self.want:
            return False
        return all(parts.look(node, part) == seen for part, seen in self.looks)

    def branched(self) -> _Branch:
        """Return a branch at the first part, behind which it goes on; it is one part shorter then."""
        first, left = self.parts[0], self.parts[1:]
        branch, seen = _Branch(first), self.want >> first * WIDTH & MASK if first >= 0 else self.looks[0][1]
        if first >= 0:
            bits = MASK << first * WIDTH
            self.bits, self.want = self.bits & ~bits, self.want & ~bits
        else:
            self.looks = self.looks[1:]
        self.parts = left
        branch.by[seen] = self if left else self.what
        return branch
