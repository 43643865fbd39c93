"""Who answers decisions at a table whose people are not all there: an optional moment may wait for its owner.

Which moments wait is told by whoever keeps the table; here it is only asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rpgres.engine.players import HOSTS, NO, Answer, Question, Seats, View
from rpgres.engine.running import NeedsAnswer
from rpgres.model.state import EMPTY

Asked = tuple[str, str]  # a label, and who is asked under it
Answered = Mapping[Asked, Sequence[Answer]]
Waits = Callable[[View, Question, Answered], bool]


def always(view: View, question: Question, answered: Answered) -> bool:
    """Have every optional moment wait for its owner."""
    return True


class Waiting(Seats):
    """Answers as `Seats` does; where nobody answers an optional moment, it may wait instead of passing.

    Args:
        choose: answers by label, used in order.
        waits: tells whether a moment waits for its owner.
        recalled: what was answered in an earlier run of the same, which comes first.
        own: by seat, answers by label that are for questions of that seat alone.
        settings: the policies and the prompt, as of `Seats`.
    """

    __slots__ = ("_answered", "_own", "_recalled", "_waits")
    gathers = True

    def __init__(
        self,
        choose: Mapping[str, Sequence[str]] = EMPTY,
        *,
        waits: Waits,
        recalled: Answered = EMPTY,
        own: Mapping[str, Mapping[str, Sequence[str]]] = EMPTY,
        **settings: Any,
    ) -> None:
        super().__init__(choose, **settings)
        self._waits = waits
        self._recalled = {asked: list(answers) for asked, answers in recalled.items()}
        self._own = {seat: {label: list(texts) for label, texts in its.items()} for seat, its in own.items()}
        self._answered: dict[Asked, list[Answer]] = {}

    def answer(self, question: Question, view: View) -> Answer | None:
        """Return the answer and by what means it came, or None when the moment passes.

        Raises:
            NeedsAnswer: the moment is optional and waits.
        """
        asked = question.label, question.who
        found = _next(self._recalled.get(asked)) or self._answer(question, view)
        if found is None and question.optional and self._waits(view, question, self._answered):
            raise NeedsAnswer(question)
        self._answered.setdefault(asked, []).append(found or Answer(NO, "window"))
        return found

    def _answer(self, question: Question, view: View) -> Answer | None:
        own = self._own.get(view.seat)
        found = self._next(own, question) if own else None
        if found is not None:
            return found
        found = super().answer(question, view)
        return Answer(found.choice, HOSTS) if found is not None and found.means == "choose" else found

    def unused(self) -> Iterable[tuple[str, str]]:
        """Yield the answers of the scripts that no question took, as (label, answer)."""
        yield from super().unused()
        for left in self._own.values():
            for label, answers in left.items():
                for answer in answers:
                    yield label, answer

    def left(self) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
        """Return the answers of the scripts that no question took: those of anybody, and those of a seat alone."""
        own = {seat: {label: texts for label, texts in its.items() if texts} for seat, its in self._own.items()}
        return {label: texts for label, texts in self._choose.items() if texts}, own


class Recalled:
    """Answers what was answered before, by label and by who is asked; the first question beyond that is the end.

    Args:
        answered: what was answered.
    """

    __slots__ = ("_left",)
    gathers = True

    def __init__(self, answered: Answered) -> None:
        self._left = {asked: list(answers) for asked, answers in answered.items()}

    def answer(self, question: Question, view: View) -> Answer:
        """Return the answer that was given before.

        Raises:
            NeedsAnswer: there was none.
        """
        found = _next(self._left.get((question.label, question.who)))
        if found is None:
            raise NeedsAnswer(question)
        return found

    def scripted(self, question: Question) -> Answer | None:
        """Return nothing: there is no script."""
        return None

    def preference(self, who: str, seat: str) -> None:
        """Return nothing: nobody decides who has not answered."""

    def used(self) -> tuple[tuple[str, int], ...]:
        """Return how much is left, by label."""
        return tuple((label, len(answers)) for (label, _), answers in self._left.items())


def _next(answers: list[Answer] | None) -> Answer | None:
    return answers.pop(0) if answers else None
