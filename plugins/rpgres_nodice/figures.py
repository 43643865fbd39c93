"""Phases, shares and cards as numbers: what a bid costs in time and what an observation shows. No stack is known here.

Lines of the text (`rulesets/nodice/SOURCES.md`) as `S:n`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rpgres import Rules, UsageError
from rpgres_nodice.switches import Switches


def delay(rules: Rules, *, power: int, speed: int, phases: int = 0, ante: int = 0) -> int:
    """Return how many phases an action takes (S:8, S:24).

    Args:
        power, speed: points that add a phase, and that take one off.
        phases: phases that were bid.
        ante: points of the speed stat that were anted.
    """
    switches = rules.switches(Switches)
    if switches.ante_counts_as_offset:
        speed += ante
    if switches.qic_offsets_extra_phases:
        cost = max(0, power + phases - speed)
    else:
        cost = max(0, power - speed) + phases
    return max(switches.min_delay, cost)


def efforts(rules: Rules, *, points: int, phases: int, count: int) -> tuple[int, ...]:
    """Return the strength of an observation for each of its targets (S:8).

    Args:
        points, phases: what was bid.
        count: how many targets there are; none bring nothing to bear.
    """
    switches = rules.switches(Switches)
    if not count:
        return ()
    split, whole = (points + phases, 0) if switches.split_phases else (points, phases)
    share, rest = divmod(split, count)
    if switches.split_remainder != "first_listed":
        rest = 0
    return tuple(whole + share + (1 if place < rest else 0) for place in range(count))


def check_observation(rules: Rules, *, points: int, phases: int, count: int) -> None:
    """Check that an observation can be declared with this bid.

    Args:
        points, phases: what is bid.
        count: how many targets there are.

    Raises:
        UsageError: nothing is bid, or it does not split as the table plays it.
    """
    switches = rules.switches(Switches)
    if points + phases < 1:
        raise UsageError("an observation needs a bid: points of int, phases, or both")
    if not points and switches.require_int:
        raise UsageError("an observation needs at least one point of int here (require_int=yes)")
    split = points + phases if switches.split_phases else points
    if switches.split_remainder == "reject" and split % count:
        raise UsageError(f"{split} does not split evenly over {count} targets, as it has to (split_remainder=reject)")


def reveals(rules: Rules, outcome: int) -> int:
    """Return how many further cards an outcome shows (S:10)."""
    return rules.switches(Switches).zero_reveals if outcome == 0 else max(0, outcome)


def shown(cards: Sequence[str], *, seen: int, more: int) -> int:
    """Return how many cards of a stack are seen when so many more are shown (S:10, S:16).

    Args:
        cards: the stack from the top; the bid is one entry, however many cards it has.
        seen: how many were seen before.
        more: how many further ones are shown.
    """
    return min(len(cards), seen + more)
