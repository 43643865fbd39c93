"""Optimal play of an action as a list: the best options of its questions, by what each question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.players import NO, Question
from rpgres.errors import UsageError
from rpgres.odds.chances import Chance, chance_record

if TYPE_CHECKING:
    from fractions import Fraction

MOST_PLANNED = 300  # questions that a plan has
Bounds = tuple["Fraction", "Fraction"]  # of a chance, at least and at most


def answers_to(question: Question) -> list[str]:
    """Return the options of a question; `no` comes first, as it is the fastest to evaluate.

    Raises:
        UsageError: there are more answers than the options.
    """
    if question.reads is not None and not question.says_more:
        raise UsageError(f"{question.label!r} has more answers than can be listed, so the best one is unknown")
    names = [option.name for option in question.options]
    return [NO, *names] if question.optional else names


class ChanceSpan(msgspec.Struct, frozen=True):
    """The chance of success with an option, which may depend on more than the facts of its question.

    Attributes:
        low: the lowest chance.
        high: the highest chance.
    """

    low: Chance
    high: Chance


class Planned(msgspec.Struct, frozen=True):
    """The best options of a question.

    Attributes:
        label: the label of the question.
        facts: the numbers that the question is about.
        best: the best option, `no` to skip the question; several where that depends on more than these numbers.
        value: the chance of success with the best option.
        success: the chance of success by option.
        unevaluated: the options that were not evaluated, as another one is certain of success.
    """

    label: str
    facts: dict[str, Any]
    best: list[str]
    value: ChanceSpan
    success: dict[str, ChanceSpan]
    unevaluated: list[str] = []


class _Found:
    """The best options and the bounds of chances of one question, over all paths that ask it."""

    def __init__(self, value: Bounds) -> None:
        self.best: dict[str, None] = {}
        self.value = value
        self.chances: dict[str, Bounds | None] = {}

    def add(self, best: int, success: Sequence[Bounds], options: Sequence[str]) -> None:
        self.best[options[best]] = None
        self.value = _joined(self.value, success[best])
        for option, found in zip_longest(options, success):
            before = self.chances.get(option)
            self.chances[option] = _joined(found, before) if found and before else found or before


def _joined(one: Bounds, other: Bounds) -> Bounds:
    return min(one[0], other[0]), max(one[1], other[1])


def _span(bounds: Bounds) -> ChanceSpan:
    return ChanceSpan(chance_record(bounds[0]), chance_record(bounds[1]))


class Plan:
    """Collects questions with their best options and the chances of success."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Mapping[str, Any]], _Found] = {}

    def note(self, question: Question, best: int, success: Sequence[Bounds]) -> None:
        """Add a question.

        Args:
            best: the place of its best option in `answers_to`.
            success: the chances of success by the evaluated options, the first ones of `answers_to`.
        """
        key = question.label, question.facts
        if len(self._found) > MOST_PLANNED and key not in self._found:
            return
        if key not in self._found:
            self._found[key] = _Found(success[best])
        self._found[key].add(best, success, answers_to(question))

    def records(self) -> list[Planned]:
        """Return the plan, by question; nothing where there are too many."""
        if len(self._found) > MOST_PLANNED:
            return []
        return [
            Planned(
                label,
                dict(facts),
                [*found.best],
                _span(found.value),
                {option: _span(bounds) for option, bounds in found.chances.items() if bounds is not None},
                [option for option, bounds in found.chances.items() if bounds is None],
            )
            for (label, facts), found in sorted(self._found.items(), key=_order)
        ]


def _order(item: tuple[tuple[str, Mapping[str, Any]], Any]) -> tuple[str, list[tuple[str, str, Any]]]:
    (label, facts), _ = item
    return label, [(name, type(value).__name__, value) for name, value in facts.items()]
