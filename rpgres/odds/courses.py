"""What is played in turns, such as a scene, as odds go through it. Nothing here names a ruleset."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.procedures import Standing
from rpgres.engine.seats import Policies
from rpgres.model.state import EMPTY
from rpgres.odds.nodes import Delta, Memo, Node
from rpgres.odds.standings import Parts


class Course(msgspec.Struct, frozen=True):
    """Something that is played in turns, such as a scene.

    Attributes:
        start: where it stands at the beginning.
        turn: plays what is due with a dealer and with who decides, and returns where it then stands.
        onward: goes on to what is due next, without chance and without asking anybody.
        is_over: whether nothing is due any more.
        result: what is asked for, of a standing at the end.
        canons: by field of the state, what stands for all values that are alike to the rules.
        forgotten: the kinds of tags, and the counters, that make no difference to what is asked for; see `Idle`.
    """

    start: Standing
    policies: Policies
    turn: Callable[[Standing, Dealer, Policies], Standing]
    onward: Callable[[Standing], Standing]
    is_over: Callable[[Standing], bool]
    result: Callable[[Standing], Hashable]
    canons: Mapping[str, Callable[[Any], Any]] = EMPTY
    forgotten: Collection[str] = ()


class Ahead:
    """Where standings lead without chance: to what is due next, and at the end to what is asked for.

    It is looked up by what was read.

    Args:
        course: what is played.
        parts: the parts of its standings.
        is_known_again: whether it is looked up at all.
    """

    __slots__ = ("_course", "_is_known_again", "_parts", "onwards", "results")

    def __init__(self, course: Course, parts: Parts, *, is_known_again: bool = True) -> None:
        self._course, self._parts, self._is_known_again = course, parts, is_known_again
        self.onwards, self.results = Memo(), Memo()

    def onward(self, node: Node) -> tuple[Delta, bool]:
        """Return what changes on the way to what is due next, and whether nothing is due any more."""
        known: tuple[Delta, bool] | None = self.onwards.find(node, self._parts) if self._is_known_again else None
        if known is None:
            reads = self._parts.reads(node)
            after = self._course.onward(self._parts.watched(node, reads))
            is_over = self._course.is_over(after)
            known = self._parts.changes(node, after, reads), is_over
            self.onwards.keep(node, reads.parts, known, self._parts)
        return known

    def result(self, node: Node) -> tuple[Hashable]:
        """Return what is asked for, of a standing at the end."""
        known: tuple[Hashable] | None = self.results.find(node, self._parts) if self._is_known_again else None
        if known is None:
            reads = self._parts.reads(node)
            known = (self._course.result(self._parts.watched(node, reads)),)
            self.results.keep(node, reads.parts, known, self._parts)
        return known
