"""Nodes: positions as whole numbers, the changes that turns make to them, and memos of what is known of them.

A position is one whole number, its node: each part has `WIDTH` bits of it, for the number of its value. A change is two
such numbers, so that a turn is applied to a position by two operations, however many parts there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rpgres.odds.positions import Parts

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

    It is a tree that branches at parts; those that are read together are compared together, as bits of a node.
    """

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: Any = None

    def find(self, node: Node, parts: Parts, noted: dict[int, None] | None = None) -> Any:
        """Return what is kept for a node; None where nothing is. What finds it is noted, where that is wanted."""
        found = self._root
        while type(found) is _Branch:
            if noted is not None:
                noted.update(found.parts)
            found = found.by.get(node & found.bits if found.bits else parts.look(node, found.look))
        return found

    def trace(self, node: Node, parts: Parts, written: int, noted: dict[int, None]) -> None:
        """Take note of what finds the result of a node that a change led to; see `Parts.trace`."""
        found = self._root
        while type(found) is _Branch:
            for part in found.parts:
                parts.trace(node, part, written, noted)
            found = found.by.get(found.key(node, parts))

    def keep(self, node: Node, read: Iterable[int], what: Any, parts: Parts) -> None:
        """Keep the result of a node, for all that agree with it in what was read."""
        left = dict.fromkeys(read)
        if self._root is None:
            self._root = _Branch(_first(left))
        branch: _Branch = self._root
        while True:
            common = [part for part in branch.parts if part in left]
            if common and len(common) < len(branch.parts):
                branch.split(common)
            for part in common:
                del left[part]
            key = branch.key(node, parts)
            found = branch.by.get(key)
            if found is None:
                found = branch.by[key] = _Branch(_first(left)) if left else what
            if type(found) is not _Branch:
                return
            branch = found


def _first(read: Iterable[int]) -> list[int]:
    """Return what of some parts is compared first: those up to one that stands for a group or a function, or that one.

    What a function makes of a position is not worked out where what was read before it differs.
    """
    found = list[int]()
    for part in read:
        if part < 0:
            return found or [part]
        found.append(part)
    return found


class _Branch:
    """Where results differ: by parts, or by the group or the function that a negative number stands for."""

    __slots__ = ("bits", "by", "look", "parts")

    def __init__(self, parts: Iterable[int], by: dict[Hashable, Any] | None = None) -> None:
        self.parts = dict.fromkeys(parts)
        self.look = min(self.parts)
        self.bits = sum([MASK << part * WIDTH for part in self.parts]) if self.look >= 0 else 0
        self.by: dict[Hashable, Any] = by if by is not None else {}

    def key(self, node: Node, parts: Parts) -> Hashable:
        """Return what of a node is compared here."""
        return node & self.bits if self.bits else parts.look(node, self.look)

    def split(self, first: Iterable[int]) -> None:
        """Compare only some of the parts here, and the others in branches behind."""
        rest, by = [part for part in self.parts if part not in first], self.by
        _Branch.__init__(self, first)
        for key, found in by.items():
            assert isinstance(key, int)
            behind = self.by.get(key & self.bits)
            if behind is None:
                behind = self.by[key & self.bits] = _Branch(rest)
            behind.by[key & behind.bits] = found
