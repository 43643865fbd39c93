"""Policies of the family. A policy sees what its seat may know, and names no option."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rpgres.engine.players import NO, Policy, Question, View, by_facts, preferred
from rpgres.kits.aspects.names import BOOST, DEFAULTS, LABELS
from rpgres.rulesets import Option

if TYPE_CHECKING:
    from rpgres.engine.seats import Policies

SUCCESS = 1  # the margin worth reaching
STYLE = 3  # the margin worth a boost
BAD = 2  # dice this far below their average are rerolled, not raised


_P = TypeVar("_P", bound=Policy)


def invokes_in_order(*, pays: bool) -> Callable[[_P], _P]:
    """Mark the decorated policy as one that promises `by_facts`, and never looks at more aspects than it can use.

    Of the aspects that cost a point it takes what is offered first, and counts no more of them than it has points. So
    aspects that it never gets to need not be offered, and simulations and odds of scenes need not tell them apart.

    Args:
        pays: whether it ever pays a point for an invocation.
    """

    def marked(policy: _P) -> _P:
        policy.pays_for_invocations = pays  # type: ignore[attr-defined]
        return by_facts(policy)

    return marked


@invokes_in_order(pays=True)
def sensible(view: View, question: Question) -> str:
    """Invoke when that can turn the roll, the cheapest first and no more than it takes; else take what is preferred.

    A roll of -2 or worse is rerolled, not raised: that gains more. A boost is also spent to reach
    style. Fate points are paid only where a success can still be had.
    """
    if "acting" not in question.facts:
        return preferred(view, question)
    return _invoke(question, points=question.facts["points"])


@invokes_in_order(pays=False)
def thrifty(view: View, question: Question) -> str:
    """Decide like `sensible`, and never pay a fate point."""
    if "acting" not in question.facts:
        return preferred(view, question)
    return _invoke(question, points=0)


def pays(policies: Policies) -> bool | None:
    """Tell whether anybody pays for invocations; None where a policy may look at all that can be invoked."""
    if not policies.promises(*LABELS).by_facts:
        return None
    found = [_pays(policy) for policy in policies.for_labels(*LABELS) if policy is not None]
    return None if None in found else any(found)


def _pays(policy: Policy) -> bool | None:
    """Tell whether a policy pays for invocations; None where it is not marked by `invokes_in_order`."""
    if policy is preferred:  # an invocation is optional, and none is preferred
        return False
    return getattr(policy, "pays_for_invocations", None)


def _invoke(question: Question, *, points: int) -> str:
    wins, saves, is_better = _prospects(question)
    if wins is None or (wins == 0 and not is_better):  # without one, a difficulty is set before its roll is known
        return NO
    raises = sorted([option for option in question.options if not option.facts["reroll"]], key=_cost)
    free = [option for option in raises if option.facts["free"]]
    if wins == 0:
        boosts = [option for option in free if option.facts["kind"] == BOOST]  # in the order of their names
        return boosts[0].name if boosts else NO
    can_pay = raises if points else free
    if not can_pay:
        return NO
    rolled = question.facts["rolled"]
    if rolled is not None and rolled <= -BAD:
        rerolls = sorted([option for option in question.options if option.facts["reroll"]], key=_cost)
        if rerolls:
            return next(one.name for one in rerolls if one.facts["free"] == can_pay[0].facts["free"])
    if 0 <= wins <= len(free) + min(points, len(raises) - len(free)):
        return can_pay[0].name
    return free[0].name if free and 0 <= saves <= len(free) else NO


def _prospects(question: Question) -> tuple[int | None, int, bool]:
    """Return how often the roll would have to be raised to succeed, and not to fail, and whether once is worth a boost.

    None for the first where there is no margin to go by.
    """
    facts = question.facts
    margin: int | None = facts["margin"]
    if "wins" not in facts and margin is None:
        return None, -1, False
    found = facts if "wins" in facts or margin is None else prospects(margin, DEFAULTS.bonus)
    return found["wins"], found["saves"], found["better"]


def prospects(margin: int, bonus: int, *, enough: int = SUCCESS, safe: int = 0) -> dict[str, Any]:
    """Return how often a roll would have to be raised to succeed, and not to fail, and whether once is worth a boost.

    Args:
        margin: that of the roll.
        bonus: what an invocation adds.
        enough: the lowest margin that brings what a success brings.
        safe: the lowest margin that brings more than a failure.
    """
    wins, saves = -((margin - enough) // bonus), -((margin - safe) // bonus)
    return {"wins": max(0, wins), "saves": max(0, saves), "better": margin < STYLE <= margin + bonus}


def _cost(option: Option) -> int:
    """Order options by what they cost: a boost, which fades anyway, a free invocation, a fate point.

    Options of equal cost stay in the order in which they are offered, that of the aspects' names.
    """
    if not option.facts["free"]:
        return 2
    return 0 if option.facts["kind"] == BOOST else 1
