"""How a seat decides when nobody else does. A policy sees what its seat may know, and names no option."""

from __future__ import annotations

from rpgres.engine.players import NO, Question, View, by_question, preferred
from rpgres.kits.aspects import BONUS
from rpgres.rulesets import Option

SUCCESS = 1  # the margin worth reaching
STYLE = 3  # the margin a boost is gladly spent on


@by_question
def sensible(view: View, question: Question) -> str:
    """Invoke when that can turn the roll, the cheapest first and no more than it takes; else take what is preferred.

    A roll of -2 or worse is thrown again rather than raised, which is worth more. A boost is also spent to reach
    style. Fate points are paid only where a success can still be had.
    """
    if "acting" not in question.facts:
        return preferred(view, question)
    return _invoke(question, points=question.facts["points"])


@by_question
def thrifty(view: View, question: Question) -> str:
    """Decide like `sensible`, and never pay a fate point."""
    if "acting" not in question.facts:
        return preferred(view, question)
    return _invoke(question, points=0)


def _invoke(question: Question, *, points: int) -> str:
    margin, rolled = question.facts["margin"], question.facts["rolled"]
    if margin is None:  # a difficulty is set, and nobody knows yet for what
        return NO
    raises = sorted((option for option in question.options if not option.facts["reroll"]), key=_cost)
    free = [option for option in raises if option.facts["free"]]
    reach = margin + BONUS * (len(free) + min(points, len(raises) - len(free)))
    if margin >= SUCCESS:
        boosts = [option for option in free if option.facts["kind"] == "boost"]  # in the order of their names
        return boosts[0].name if boosts and margin < STYLE <= margin + BONUS else NO
    can_pay = raises if points else free
    if not can_pay:
        return NO
    if rolled is not None and rolled <= -BONUS:
        rerolls = sorted((option for option in question.options if option.facts["reroll"]), key=_cost)
        return next(one.name for one in rerolls if one.facts["free"] == can_pay[0].facts["free"])
    if reach >= SUCCESS:
        return can_pay[0].name
    return free[0].name if free and margin + BONUS * len(free) >= 0 else NO


def _cost(option: Option) -> tuple[int, str]:
    """Order options by what they cost: a boost, which fades anyway, a free invocation, a fate point; then by name."""
    if not option.facts["free"]:
        return 2, option.name
    return (0 if option.facts["kind"] == "boost" else 1), option.name
