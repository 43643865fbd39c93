"""Counting the points of an actor of `nodice` in a way that the ruleset does not."""

from __future__ import annotations

from rpgres_nodice.points import Holding, Points, total


def all_points(holding: Holding) -> Points:
    """Return every point an actor has, wherever it is; what harm took is among them."""
    on_stacks = [part for stack in holding.stacks.values() for part in (stack.bid, stack.ante)]
    return total(holding.hand, holding.spent, holding.apart, holding.lost, *on_stacks)
