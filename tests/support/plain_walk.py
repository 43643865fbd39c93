"""The odds of a game by a plain walk: nothing watched, looked up, sorted or merged but equal positions."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from rpgres.engine.procedures import Position
from rpgres.odds.explorer import Budget, Runs, WalkDealer, explore_within
from rpgres.odds.games import Game


class NothingMerged(WalkDealer):
    """Follows every path of a turn by itself."""

    __slots__ = ()

    def merge(self, key: object) -> None:
        """Go on."""


def plain_odds(game: Game) -> dict[Hashable, Fraction]:
    """Return the chance of every result."""
    layer, ends = {game.onward(game.start): Fraction(1)}, dict[Hashable, Fraction]()
    while layer:
        after: dict[Position, Fraction] = {}
        for position, mass in layer.items():
            if game.is_over(position):
                result = game.result(position)
                ends[result] = ends.get(result, Fraction(0)) + mass
                continue
            found = explore_within(
                Budget(work=10**9),
                lambda dealer, here=position: game.turn(here, dealer, game.policies),  # type: ignore[misc]
                NothingMerged(),
                Runs(),
            )
            assert not found.open
            for then, share in found.masses.items():
                key = game.onward(then)
                after[key] = after.get(key, Fraction(0)) + mass * share
        layer = after
    return ends
