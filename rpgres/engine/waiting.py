"""Who answers decisions at a table whose people are not all there: an optional decision may wait for its owner.

The table says which questions wait; here it is only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from rpgres.engine.decisions import refused_by
from rpgres.engine.events import Decided, Event
from rpgres.engine.players import (
    HOSTS,
    NO,
    POLICY,
    WINDOW,
    Answer,
    Answerer,
    OrdersPolicy,
    Policy,
    Prompt,
    Question,
    View,
)
from rpgres.engine.seats import Dropped, Script, Seats
from rpgres.engine.stops import NeedsAnswer
from rpgres.model.events import DecisionEvent, EventRecord
from rpgres.model.state import EMPTY

Asked = tuple[str, str]  # a label, and who is asked under it
Answered = Mapping[Asked, Sequence[Answer]]
Waits = Callable[[View, Question, Answered], bool]


def always(view: View, question: Question, answered: Answered) -> bool:
    """Have every optional decision wait for its owner."""
    return True


def wait_for_all(view: View, question: Question) -> None:
    """Have every unanswered optional decision wait: a prompt for a roll that belongs to no table.

    Raises:
        NeedsAnswer: the question may be skipped, which its owner has to say.
    """
    if question.optional and not question.is_naming:
        raise NeedsAnswer(question)


def waiting(
    choose: Mapping[str, Sequence[str]] = EMPTY,
    *,
    waits: Waits,
    recalled: Answered = EMPTY,
    own: Mapping[str, Mapping[str, Sequence[str]]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    prompt: Prompt | None = None,
    names: Callable[[View], bool] | None = None,
) -> Seats:
    """Return players with whom an optional question without an answer may wait instead of being skipped.

    Args:
        choose: answers by label, used in order, that the host gives for anybody.
        waits: tells whether an optional decision waits for its owner, from what was answered so far.
        recalled: what was answered in an earlier run of the same, which comes first.
        own: by seat, answers by label that are for questions of that seat alone.
        policies, prompt: as for `Seats`.
        names: tells whether the name of something new waits for its owner; by default it has a default.
    """
    seats = Seats(choose, policies=policies, prompt=prompt, means=HOSTS)
    others = seats.answerers[len(seats.said) :]
    seats.scripts += [Script(texts, seat=seat, single=seats.script.single) for seat, texts in own.items()]
    seats.let_answer([_waiting(seats, _recalling(recalled), others, waits, names)])
    seats.gathers = True
    return seats


def decisions_in(events: Iterable[Event | EventRecord]) -> Answered:
    """Return every decision of a run by label and by who took it, in order."""
    answered: dict[Asked, list[Answer]] = {}
    for event in events:
        if isinstance(event, Decided | DecisionEvent):
            answered.setdefault((event.label, event.who), []).append(Answer(event.answer, event.means))
    return answered


def recalling(answered: Answered) -> Seats:
    """Return players that repeat earlier answers, and stop at the first question beyond them."""
    seats = Seats()
    seats.let_answer([_recalling(answered), _nobody])
    seats.gathers = True
    return seats


def _recalling(answered: Answered) -> Answerer:
    """Return an answerer that repeats earlier answers, by label and by who is asked."""
    left = {asked: list(answers) for asked, answers in answered.items()}

    def answer(question: Question, view: View) -> Answer | None:
        answers = left.get((question.label, question.who))
        return answers.pop(0) if answers else None

    return answer


def _nobody(question: Question, view: View) -> Answer | None:
    if question.is_naming:
        return None
    raise NeedsAnswer(question)


def _waiting(
    seats: Seats, recall: Answerer, others: Sequence[Answerer], waits: Waits, names: Callable[[View], bool] | None
) -> Answerer:
    """Return an answerer that recalls, then asks the scripts, then others; an optional decision waits.

    A moot one does not wait, except in a replay of a record in which it waited. An answer of a script that the question
    does not offer is dropped, and the question waits for its owner: who goes on with an action learns nothing of what
    others had answered in advance.
    """
    scripts = [*seats.scripts[1:], seats.script]
    answered: dict[Asked, list[Answer]] = {}

    def answer(question: Question, view: View) -> Answer | None:
        is_moot = question.moot and waits is not always
        found, count = recall(question, view), len(seats.dropped)
        for script in scripts if found is None else ():
            found = script.answer(question, view)
            if found is not None and (refused := refused_by(question, found)) is not None:
                seats.dropped.append(Dropped(script.seat, question.label, str(found.choice), refused))
                script.drop(question)
                found = None
            if found is not None or len(seats.dropped) > count:
                break
        if found is None and not is_moot and len(seats.dropped) == count:
            found = next((found for other in others if (found := other(question, view)) is not None), None)
        if found is None and question.is_naming:
            if names is None or not names(view):
                return None
            policy = seats.policies.of(question.who, view.seat)
            if policy is None or isinstance(policy, OrdersPolicy):
                raise NeedsAnswer(question)
            found = Answer(NO, POLICY)  # who lets a policy decide leaves the default
        if found is None and question.optional and not is_moot and waits(view, question, answered):
            raise NeedsAnswer(question)
        answered.setdefault((question.label, question.who), []).append(found or Answer(NO, WINDOW))
        return found

    return answer
