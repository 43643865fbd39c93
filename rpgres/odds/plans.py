"""What is best at each question of an action that is decided as well as can be, by what the question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.players import NO, Question
from rpgres.errors import UsageError

if TYPE_CHECKING:
    from fractions import Fraction

MOST_PLANNED = 60  # questions that a plan has


def answers_to(question: Question) -> list[str]:
    """Return what may be answered; letting a moment pass comes first, as it costs nothing to look at.

    Raises:
        UsageError: there are more answers than the options.
    """
    if question.reads is not None:
        raise UsageError(f"{question.label!r} has more answers than can be listed, so the best one is unknown")
    names = [option.name for option in question.options]
    return [NO, *names] if question.optional else names


class Planned(msgspec.Struct, frozen=True):
    """What is best at a question.

    Attributes:
        label: the label of the question.
        facts: the numbers that it is about.
        best: the best option; `no` to let it pass; empty where that depends on more than these numbers.
        success: the chance of success by each option, at least and at most, from 0 to 1.
    """

    label: str
    facts: dict[str, Any]
    best: str
    success: dict[str, tuple[float, float]]


class Plan:
    """Takes note of questions as they are answered well, and of what each answer would come to."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Mapping[str, Any]], tuple[set[str], dict[str, list[Fraction]]]] = {}

    def note(self, question: Question, best: str, success: Mapping[str, Fraction]) -> None:
        """Take note of a question, its best answer, and the chance of success by each that was looked at."""
        key = question.label, question.facts
        if len(self._found) > MOST_PLANNED and key not in self._found:
            return
        answers, chances = self._found.setdefault(key, (set(), {}))
        answers.add(best)
        for option, chance in success.items():
            chances.setdefault(option, []).append(chance)

    def told(self) -> list[Planned]:
        """Return the plan, by question; nothing where there are too many."""
        if len(self._found) > MOST_PLANNED:
            return []
        return [
            Planned(label, dict(facts), next(iter(answers)) if len(answers) == 1 else "", _between(chances))
            for (label, facts), (answers, chances) in sorted(self._found.items(), key=_order)
        ]


def _between(chances: Mapping[str, Sequence[Fraction]]) -> dict[str, tuple[float, float]]:
    return {option: (float(min(found)), float(max(found))) for option, found in chances.items()}


def _order(item: tuple[tuple[str, Mapping[str, Any]], Any]) -> tuple[str, list[tuple[str, str, Any]]]:
    (label, facts), _ = item
    return label, [(name, type(value).__name__, value) for name, value in facts.items()]
