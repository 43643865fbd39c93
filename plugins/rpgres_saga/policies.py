"""Policies: the card to play, from the hand, the discard and what the decision is about; never the deck."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from rpgres import NO, Option, Question, View

TRUMP_WORTH = 6  # what the draws of a trump add on average: 6.3 of a fresh deck of 96 cards, less later on


def sensible(view: View, question: Question) -> str:
    """Return what is likely to be enough at the least price."""
    names = [option.name for option in question.options]
    match question.label:
        case "play":
            return _card_to_play(question, spare=True)
        case "trump":
            return NO if question.optional else "draw"
        case "push":
            return _card_to_push(question)
        case "doom":
            return _doom_card(question)
        case "pay":
            return _card_to_pay(question)
    return NO if question.optional else names[0]


def lavish(view: View, question: Question) -> str:
    """Return the highest card, whatever it costs."""
    if question.label == "play":
        return _card_to_play(question, spare=False)
    if question.label == "push":
        return max(question.options, key=_value).name
    return sensible(view, question)


def _value(option: Option) -> int:
    value: int = option.facts.get("value", 0)
    return value


def _worth(option: Option, facts: Any) -> int:
    """Return what a card is likely to add."""
    return _value(option) + (TRUMP_WORTH if option.facts.get("suit") == facts.get("trump") else 0)


def _card_to_play(question: Question, *, spare: bool) -> str:
    """Return the card to play: the least that is enough, low cards under edge first; or the best there is."""
    facts = question.facts
    cards = [option for option in question.options if option.name != "stop"]
    if not cards:
        return NO if question.optional else "stop"
    may_stop = len(cards) < len(question.options)
    lacking, edge = facts.get("lacking"), facts["edge"]
    lacking = None if lacking is None else lacking + min(facts.get("threat", 10), 10)
    if lacking is not None and lacking <= 0 and may_stop:
        return NO if question.optional else "stop"
    if lacking is None or not spare:
        low = [card for card in cards if _value(card) <= edge]
        return (min(low, key=_value) if low and len(cards) > 1 else max(cards, key=lambda one: _worth(one, facts))).name
    sure = [card for card in cards if _value(card) >= lacking]
    if sure:
        return min(sure, key=lambda card: (card.facts["suit"] == facts["trump"], _value(card))).name
    low = sorted((card for card in cards if _value(card) <= edge), key=_value)
    plans = [
        (*lows, last)
        for size in range(len(low) + 1)
        for lows in combinations(low, size)
        for last in cards
        if last not in lows
    ]
    enough = [plan for plan in plans if sum(_value(card) for card in plan) >= lacking]
    if enough:
        return min(enough, key=lambda plan: (len(plan), sum(_value(card) for card in plan)))[0].name
    best = max(plans, key=lambda plan: (sum(_worth(card, facts) for card in plan), -len(plan)))
    if sum(_worth(card, facts) for card in best) + 9 < lacking:  # out of reach: lose the least
        return min(cards, key=_value).name if not may_stop else "stop"
    return best[0].name


def _card_to_push(question: Question) -> str:
    """Return a card to push with when nothing else in hand is likely to suffice, or nothing."""
    facts = question.facts
    lacking = facts.get("lacking")
    if lacking is None or lacking <= 0:
        return NO
    ordered = sorted(question.options, key=lambda option: _worth(option, facts))
    if _worth(ordered[-1], facts) >= lacking:
        return NO
    helping = [option for option in ordered[:-1] if _value(option) + _worth(ordered[-1], facts) >= lacking]
    return min(helping, key=_value).name if helping else NO


def _doom_card(question: Question) -> str:
    """Return the next of the fewest cards that turn the result, or nothing when they cannot."""
    lead = question.facts.get("lead")
    if lead is None or sum(_value(option) for option in question.options) <= lead:
        return NO
    enough = [option for option in question.options if _value(option) > lead]
    return (min(enough, key=_value) if enough else max(question.options, key=_value)).name


def _card_to_pay(question: Question) -> str:
    """Return the card to pay with: the lowest that covers the rest, else the highest, so that few places are lost."""
    owed = question.facts["owed"]
    enough = [option for option in question.options if _value(option) >= owed]
    return (min(enough, key=_value) if enough else max(question.options, key=_value)).name
