"""A game in turns, such as a scene, as odds see it: its start, its turns, its end. Nothing here names a ruleset."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.procedures import Position
from rpgres.engine.seats import Policies
from rpgres.model.state import EMPTY
from rpgres.odds.nodes import Delta, Memo, Node
from rpgres.odds.positions import Parts


class Game(msgspec.Struct, frozen=True):
    """Something that is played in turns, such as a scene.

    Attributes:
        start: the position at the beginning.
        turn: plays what is due with a dealer and with who decides, and returns the position after it.
        onward: goes on to what is due next, without chance and without asking anybody.
        is_over: whether nothing is due any more.
        result: what is asked for, of a position at the end.
        canons: by field of the state, what stands for all values that are alike to the rules.
        forgotten: the kinds of tags, and the counters, that make no difference to what is asked for; see `Idle`.
    """

    start: Position
    policies: Policies
    turn: Callable[[Position, Dealer, Policies], Position]
    onward: Callable[[Position], Position]
    is_over: Callable[[Position], bool]
    result: Callable[[Position], Hashable]
    canons: Mapping[str, Callable[[Any], Any]] = EMPTY
    forgotten: Collection[str] = ()


class Ahead:
    """Where positions lead without chance: to what is due next, and at the end to what is asked for.

    It is looked up by what was read.

    Args:
        game: the game.
        parts: the parts of its positions.
        is_known_again: whether it is looked up at all.
    """

    __slots__ = ("_game", "_is_known_again", "_parts", "onwards", "results")

    def __init__(self, game: Game, parts: Parts, *, is_known_again: bool = True) -> None:
        self._game, self._parts, self._is_known_again = game, parts, is_known_again
        self.onwards, self.results = Memo(), Memo()

    def onward(self, node: Node) -> tuple[Delta, bool]:
        """Return what changes on the way to what is due next, and whether nothing is due any more."""
        known: tuple[Delta, bool] | None = self.onwards.find(node, self._parts) if self._is_known_again else None
        if known is None:
            reads = self._parts.reads(node)
            after = self._game.onward(self._parts.watched(node, reads))
            is_over = self._game.is_over(after)
            known = self._parts.changes(node, after, reads), is_over
            self.onwards.keep(node, reads.parts, known, self._parts)
        return known

    def result(self, node: Node) -> tuple[Hashable]:
        """Return what is asked for, of a position at the end."""
        known: tuple[Hashable] | None = self.results.find(node, self._parts) if self._is_known_again else None
        if known is None:
            reads = self._parts.reads(node)
            known = (self._game.result(self._parts.watched(node, reads)),)
            self.results.keep(node, reads.parts, known, self._parts)
        return known
