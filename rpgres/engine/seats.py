"""Who answers decisions at a table: a script, policies and a person at a prompt, asked in turn by `Seats`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.players import (
    NO,
    POLICY,
    Answer,
    Answerer,
    OrdersPolicy,
    Policy,
    Preference,
    Promises,
    Prompt,
    Question,
    View,
    named_option,
    policy_for,
    preference_of,
    preferred,
    promises_of,
    refusal,
)
from rpgres.errors import ChoiceError, UsageError
from rpgres.model.state import EMPTY

if TYPE_CHECKING:
    from rpgres.engine.events import Event
    from rpgres.rulesets.settling import Settlement

EVERY = "*"  # behind an answer: for every question of its label


def for_every(answer: str, question: Question) -> str | None:
    """Return the answer for every question of a label that a script means by `ANSWER*`; None where it means none.

    An option whose name ends so is meant itself, and so is a text that the question takes as it is.
    """
    if len(answer) < 2 or not answer.endswith(EVERY):
        return None
    if any(answer.lower() == option.name.lower() or answer in option.aliases for option in question.offered):
        return None
    bare = answer[: -len(EVERY)]
    if question.reads is None or bare == NO or named_option(question.offered, bare) is not None:
        return bare
    try:
        question.reads(answer)
    except UsageError:
        return bare
    return None


class Applied:
    """Which answers of a script were offered in the runs of one calculation of odds.

    Args:
        choose: the script.

    Attributes:
        asked: the labels of its questions that were asked.
        used: the answers that were offered, as `LABEL=ANSWER`.
        refused: the answers that were not offered on some path, each with the first question.
    """

    __slots__ = ("_labels", "asked", "refused", "used")

    def __init__(self, choose: Mapping[str, Sequence[str]]) -> None:
        self._labels = {label.rpartition(":")[2] for label in choose}
        self.asked, self.used = set[str](), set[str]()
        self.refused: dict[str, tuple[Question, str]] = {}

    def takes(self, question: Question, choice: str) -> bool:
        """Note an answer, and tell whether the question offers it."""
        name = f"{question.label}={choice}"
        is_offered = (question.optional and choice == NO) or named_option(question.offered, choice) is not None
        if is_offered or question.reads is not None:
            self.used.add(name)
            return True
        self.refused.setdefault(name, (question, choice))
        return False

    def partly(self, *, is_whole: bool) -> tuple[str, ...]:
        """Return the answers that were offered on some paths only.

        Raises:
            ChoiceError: no path offers an answer.
        """
        for name, (question, choice) in self.refused.items():
            if is_whole and name not in self.used:
                raise refusal(question, choice)
        return tuple(sorted(self.used & self.refused.keys()))

    def unasked(self) -> tuple[str, ...]:
        """Return the labels of questions that no path asks."""
        return tuple(sorted(self._labels - self.asked))


class Script:
    """Answers by label, used in order: what was typed, or stands in a scene.

    `ANSWER*` is for every question of its label for which there is no other answer, where it is offered.

    Args:
        choose: answers by label; those by `WHO:LABEL` are for that character's questions alone, and are used before
            others.
        means: by what means its answers come.
        seat: the seat for whose questions alone it is; empty for everybody's.
        single: the questions with one option that no answer named so far, which scripts at one table share.
        applied: for odds: notes which answers are offered; on a path that does not offer one, others decide.
    """

    __slots__ = ("_applied", "_means", "_met", "left", "seat", "single")

    def __init__(
        self,
        choose: Mapping[str, Sequence[str]] = EMPTY,
        *,
        means: str = "choose",
        seat: str = "",
        single: list[Question] | None = None,
        applied: Applied | None = None,
    ) -> None:
        self.left = {label: list(answers) for label, answers in choose.items()}
        self.seat, self._means, self._applied = seat, means, applied
        self._met = set[tuple[str, str]]()  # answers for every question that one took
        self.single: list[Question] = single if single is not None else []

    def answer(self, question: Question, view: View) -> Answer | None:
        """Return the next answer to a question, if there is one."""
        return self.next(question) if self.seat in ("", view.seat) else None

    def drop(self, question: Question) -> None:
        """Drop all answers for the label of a question: they were given for another course of events."""
        for key in (f"{question.who}:{question.label}", question.label):
            self.left.pop(key, None)

    def met(self, question: Question) -> None:
        """Note for odds that a question was asked."""
        if self._applied is not None:
            self._applied.asked.add(question.label)

    def next(self, question: Question, *, is_unseen: bool = False) -> Answer | None:
        """Return the next answer to a question: its owner's own first.

        A single option is no question and takes no answer, but a script may name it all the same: such an answer is
        passed over by the next question of that label, which does not offer it, or also has the answer after it.
        Answers by `WHO:LABEL` are exact: only one that is not offered is passed over.
        """
        self.met(question)
        for key in (f"{question.who}:{question.label}", question.label):
            answers = self.left.get(key)
            if not answers:
                continue
            for answer in [*answers]:
                if for_every(answer, question) is not None:
                    continue
                answers.remove(answer)
                if not (self.single and self._names_single(answer, question, answers, is_own=key != question.label)):
                    is_taken = is_unseen or self._applied is None or self._applied.takes(question, answer)
                    return Answer(answer, self._means) if is_taken else None
            if answers and (every := self._for_every(key, answers, question)) is not None:
                return every
        return None

    def _for_every(self, key: str, answers: Sequence[str], question: Question) -> Answer | None:
        """Return the answer for every question under a key; None if it was used before and is not offered now."""
        for answer in answers:
            bare = for_every(answer, question) or ""
            if self._applied is not None and not self._applied.takes(question, bare):
                continue
            is_offered = named_option(question.offered, bare) is not None or (question.optional and bare == NO)
            if is_offered or question.reads is not None or (key, answer) not in self._met:
                self._met.add((key, answer))
                return Answer(bare, self._means)
        return None

    def _names_single(self, answer: str, question: Question, later: Sequence[str], *, is_own: bool) -> bool:
        """Tell whether an answer names what was the only option earlier, not one of a question's; each one once."""
        is_offered = question.reads is not None or named_option(question.offered, answer) is not None
        if is_offered and (is_own or not later or named_option(question.offered, later[0]) is None):
            return False
        return self.take_single(question.label, question.who if is_own else "", answer)

    def take_single(self, label: str, who: str, answer: str) -> bool:
        """Tell whether an answer names what was the only option of a question; each such question takes one answer.

        Args:
            who: who was asked; empty where the script does not say.
        """
        for number, single in enumerate(self.single):
            is_same = single.label == label and who in ("", single.who)
            if is_same and named_option(single.offered, answer) is not None:
                del self.single[number]
                return True
        return False

    def unused(self, *, is_over: bool = True) -> Iterable[tuple[str, str]]:
        """Yield the answers that no question took, as (label, answer).

        Args:
            is_over: whether no question is still to come, which answers for every question would be for.
        """
        for label, answers in self.left.items():
            for answer in answers:
                if not is_over or (label, answer) not in self._met:
                    yield label, answer


class Dropped(msgspec.Struct, frozen=True):
    """An answer given in advance that its question did not offer when it was asked.

    Attributes:
        seat: who gave it; empty for the host.
        label, choice: the question, and the answer.
        error: why it is refused, for its owner alone.
    """

    seat: str
    label: str
    choice: str
    error: ChoiceError


class Completed(msgspec.Struct, frozen=True, gc=False):
    """A row after its questions, for one policy that decides for everybody.

    Attributes:
        row: the row as the table has it, which is kept so that no other takes its place in memory.
        found: the row with what was chosen.
    """

    row: Settlement
    found: Settlement
    events: tuple[Event, ...]


class Policies:
    """Policies by character or seat; `""` stands for everybody who has none of their own.

    Attributes:
        by: the policies by character or seat.
        by_question: whether all of them look at nothing but the question.
        by_facts: whether all of them take no notice of names, besides.
        is_preferred: whether all of them are `preferred`, which skips what is optional where no option is over 0.
        is_common: whether one decides for everybody.
        completed: rows of outcome tables as it has completed them; see `engine.outcomes.complete_row`.
        searches: whether there is a player of whom odds try out every option; see `is_searched`.
    """

    __slots__ = ("_everybody", "_promised", "by", "by_facts", "by_question", "completed", "is_common", "is_preferred")
    searches = False

    def __init__(self, by: Mapping[str, Policy]) -> None:
        self.by, self._everybody = by, by.get("")
        self.completed: dict[tuple[int, Mapping[str, str], Mapping[str, Any], str, str], Completed] = {}
        self._promised: dict[tuple[str, ...], Promises] = {}
        self.is_preferred = "" in by and all(policy is preferred for policy in by.values())
        self.by_question = all(promises_of(policy).by_question for policy in by.values())
        self.by_facts = all(promises_of(policy).by_facts for policy in by.values())
        self.is_common = not any(by)

    def promises(self, *labels: str) -> Promises:
        """Return what all of them promise for decisions with these labels, whatever orders for others look at."""
        found = self._promised.get(labels)
        if found is None:
            each = [promises_of(policy, labels) for policy in self.by.values()]
            found = Promises(all(one.by_question for one in each), all(one.by_facts for one in each))
            self._promised[labels] = found
        return found

    def for_labels(self, *labels: str) -> list[Policy | None]:
        """Return the policies that take decisions with these labels; see `policy_for`."""
        return [policy_for(policy, labels) for policy in self.by.values()]

    def are_preferred(self, *labels: str) -> bool:
        """Tell whether `preferred` takes all decisions with these labels."""
        return "" in self.by and all(policy is preferred for policy in self.for_labels(*labels))

    def of(self, who: str, seat: str) -> Policy | None:
        """Return the policy that decides for a player."""
        return self.by.get(who) or self.by.get(seat, self._everybody)

    def is_searched(self, who: str, seat: str) -> bool:
        """Tell whether odds try out every option of a player, who then has no policy."""
        return False

    def answer(self, question: Question, view: View) -> Answer | None:
        """Return what the policy of a question's owner decides."""
        if question.is_naming:
            return None
        policy = self._everybody if self.is_common else self.of(question.who, view.seat)
        if isinstance(policy, OrdersPolicy):
            return policy.answer(view, question)
        choice = policy(view, question) if policy is not None else None
        return Answer(choice, POLICY) if choice is not None else None

    def preference(self, who: str, seat: str) -> Preference | None:
        """Return a player's order of preference; None without a policy, or where the policy is no such order."""
        return preference_of(self.of(who, seat))


class Seats:
    """Who answers decisions: a script, policies and a prompt, asked in turn; the first answer stands.

    Args:
        choose: the script, by label; see `Script`.
        policies: policy by character or seat; see `Policies`.
        prompt: asks a person.
        means: by what means the script's answers come.
        applied: for odds; see `Script`.

    Attributes:
        answerers: who is asked, in order; see `let_answer`.
        said: those among them whose answers were given beforehand, for questions that are moot.
        is_automatic: whether policies take all decisions.
        by_question: whether these look at nothing but the question.
        hears_moot: whether somebody may answer a question that is moot.
        scripts: the scripts among them, the main one first.
        policies: the policies among them.
        gathers: whether everybody who is asked something together is heard, though one of them does not answer; not
            where a script's answers are taken in order, so that each answers the question it was written for.
        passed: the labels of optional questions without an answer.
        dropped: answers that were given in advance and did not fit, at a table.
    """

    __slots__ = (
        "answerers",
        "by_question",
        "dropped",
        "gathers",
        "hears_moot",
        "is_automatic",
        "passed",
        "policies",
        "said",
        "scripts",
    )
    answerers: tuple[Answerer, ...]
    said: tuple[Answerer, ...]
    is_automatic: bool
    by_question: bool
    hears_moot: bool

    def __init__(
        self,
        choose: Mapping[str, Sequence[str]] = EMPTY,
        *,
        policies: Mapping[str, Policy] | Policies = EMPTY,
        prompt: Prompt | None = None,
        means: str = "choose",
        applied: Applied | None = None,
    ) -> None:
        script = Script(choose, means=means, applied=applied)
        self.scripts = [script]
        self.policies = policies if isinstance(policies, Policies) else Policies(policies)
        said: list[Answerer] = [script.answer] if choose else []
        others: list[Answerer] = [self.policies.answer] if policies else []
        if prompt is not None:
            others.append(_prompting(prompt))
        self.let_answer(said, others)
        self.gathers = False
        self.passed: set[str] = set()
        self.dropped: list[Dropped] = []

    def let_answer(self, said: Iterable[Answerer], others: Iterable[Answerer] = ()) -> None:
        """Say who is asked, in order: those whose answers were given beforehand, then others."""
        self.said = tuple(said)
        self.answerers = (*self.said, *others)
        self.is_automatic = self.answerers == (self.policies.answer,)
        self.by_question = self.is_automatic and self.policies.by_question
        self.hears_moot = bool(self.said)

    def decide_by_question(self, labels: Sequence[str]) -> bool:
        """Tell whether policies decide all questions with these labels, and look at nothing but the question."""
        return self.by_question or (self.is_automatic and self.policies.promises(*labels).by_question)

    @property
    def script(self) -> Script:
        """The main script."""
        return self.scripts[0]

    def answer(self, question: Question, view: View) -> Answer | None:
        """Return the answer and its source, or None without an answer."""
        for answerer in self.answerers if not question.moot else self.said:
            found = answerer(question, view)
            if found is not None:
                return found
        if question.optional and not (question.is_naming or question.moot):
            self.passed.add(question.label)
        return None

    def scripted(self, question: Question, *, is_unseen: bool = False) -> Answer | None:
        """Return the script's next answer to a question, if it has one; it may name a single option later.

        Of an `is_unseen` hand the options are the kinds of cards that it may hold, and any card may be named.
        """
        if question.is_one:
            self.script.met(question)
            self.script.single.append(question)
            return None
        return self.script.next(question, is_unseen=is_unseen)

    def used(self) -> tuple[tuple[str, int], ...]:
        """Return how much of the script is left, by label; runs that merge must agree in it."""
        return tuple((label, len(answers)) for label, answers in self.script.left.items())

    def unused(self, *, is_over: bool = True) -> Iterable[tuple[str, str]]:
        """Yield the answers of the scripts that no question took, as (label, answer); see `Script.unused`."""
        for script in self.scripts:
            yield from script.unused(is_over=is_over)


def _prompting(prompt: Prompt) -> Answerer:
    """Return an answerer that asks a person."""

    def answer(question: Question, view: View) -> Answer | None:
        choice = prompt(view, question)
        return Answer(choice, "prompt") if choice is not None else None

    return answer
