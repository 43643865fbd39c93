"""Decisions of a run: a question is put to its player, and the answer is checked and noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from rpgres.engine.events import Decided, Event, Forgotten, Told, seen
from rpgres.engine.players import NO, POLICY, Answer, Question, View, named_option, refusal
from rpgres.engine.running import Run
from rpgres.engine.stops import MAX_QUESTIONS, Broken, NeedsAnswer, endless
from rpgres.errors import ChoiceError, UsageError
from rpgres.model.state import GM, State
from rpgres.parameters.context import OPPONENT
from rpgres.rulesets import CLAIM, Option

NOTHING_SEEN = State()  # for policies that promise not to look at it
UNSEEING = View("", NOTHING_SEEN)  # for one that decides for everybody
LONGEST_NAME = 80  # characters
CONFIRM = "confirm"
CLAIM_OPTIONS = (Option(CONFIRM, "It counts."), Option("refuse", "It does not count."))
ALLOW = "allow"
REQUEST_OPTIONS = {
    "undo": (Option(ALLOW, "Undo it."), Option("refuse", "Keep it.")),
    "redo": (Option(ALLOW, "Redo it."), Option("refuse", "Leave it undone.")),
}


def ask(run: Run, question: Question, is_hidden: bool = False) -> str:
    """Return the answer to a question, as it is kept.

    Args:
        is_hidden: whether the answer is its owner's alone so far.

    Raises:
        NeedsAnswer: nothing answers, and the rule cannot go on without.
    """
    label, options, optional, players = question.label, question.options, question.optional, run.players
    if run.unseen and question.pile in run.unseen:
        from rpgres.engine.cards import ask_unseen

        return ask_unseen(run, question, is_hidden=is_hidden)
    if len(options) < 2:
        if not options and not optional and question.reads is None:
            raise Broken(f"it asked {label!r} without options")
        if question.is_one and not (question.hidden and players.gathers):
            run.skip(question)
            if not options:
                return NO
            run.single |= {label}
            players.scripted(question)  # which may name it
            return options[0].name
    if run.trust is not None and question.who not in (GM, OPPONENT, *run.state.characters):  # nobody could answer
        raise Broken(f"it asked {label!r} of {question.who!r}, who is not at the table; `actor.name` is who acts")
    if len(run.events) >= MAX_QUESTIONS:
        raise endless(label, run.counts)
    run.counts[label] = run.counts.get(label, 0) + 1
    if question.moot and not players.hears_moot:
        return run.pass_over(label, question.who, question.of)
    if run.rules.file.piles:
        from rpgres.engine.cards import deal_to_seat

        deal_to_seat(run, question.who)
    if not players.decide_by_question((label,)):
        view = view_of(run, question.who)
    else:
        view = UNSEEING if players.policies.is_common else View(run.state.seat_of(question.who), NOTHING_SEEN)
    answer = players.answer(question, view)
    if answer is not None:
        return _decided(run, question, answer, is_hidden=is_hidden)
    if question.is_naming:
        return NO
    if not optional:
        raise NeedsAnswer(question)
    return run.pass_over(label, question.who, question.of)


def _decided(run: Run, question: Question, answer: Answer, *, is_hidden: bool) -> str:
    """Note an answer, and return it as it is kept.

    Raises:
        ChoiceError: it is none of the options.
    """
    choice = answer.choice
    if not isinstance(choice, str):
        choice = _drawn(run, choice, question)
    audience = (run.state.seat_of(question.who),) if is_hidden else None
    if choice == NO and question.optional and not _names_no(question):
        return run.decided(question, NO, answer.means, (run.state.seat_of(question.who),))
    chosen = named_option(question.offered if question.aside else question.options, choice)
    if chosen is not None:
        return run.decided(question, chosen.name, answer.means, audience, chosen.text)
    try:
        return run.decided(question, accepted(question, choice), answer.means, audience)
    except ChoiceError as error:
        if answer.means == POLICY:  # so no person can type another one
            raise Broken(f"a policy of the ruleset chose what it cannot: {error.raw}") from None
        run.fault = error
        run.idled(question.label)
        raise


def nothing_for(run: Run, label: str, who: str, why: str) -> str:
    """Note that there is nothing to choose from, for a script that has an answer, and return the one there is."""
    run.skip(_optionless(label, who, why))
    return NO


@lru_cache(maxsize=1024)
def _optionless(label: str, who: str, why: str) -> Question:
    return Question(label, who, (), why, True)


def ask_together(run: Run, questions: Iterable[Question], *, secret: bool) -> tuple[str, ...]:
    """Return the answers to questions that are asked at once; see `Table.ask_together`."""
    first, answers, asked = len(run.events), dict[int, str](), dict(enumerate(questions))
    while asked:
        left = list[Question]()
        for number, question in asked.items():
            try:
                answers[number] = ask(run, question, is_hidden=True)
            except NeedsAnswer as needs:
                if not run.players.gathers:
                    raise
                left.append(needs.question)
        if left:
            raise NeedsAnswer(left[0], together=tuple(left[1:]))
        asked = {n: one for n, one in asked.items() if not confirmed(run, one, answers[n], is_hidden=True)}
    for number in range(first, len(run.events) if not secret else first):
        event = run.events[number]
        if isinstance(event, Told) or (isinstance(event, Decided) and event.answer != NO):
            run.events[number] = msgspec.structs.replace(event, audience=None)
    return tuple(answers[number] for number in sorted(answers))


def confirmed(run: Run, question: Question, answer: str, *, is_hidden: bool = False) -> bool:
    """Return whether a typed answer counts, after the game master has confirmed what it claims."""
    is_typed = question.reads is not None and answer not in (NO, *(option.name for option in question.offered))
    if run.trust is None or not is_typed:
        return True
    decided = next(
        event
        for event in reversed(run.events)
        if isinstance(event, Decided) and (event.label, event.who) == (question.label, question.who)
    )
    seat = run.state.seat_of(question.who)
    return claim(run, seat, run.trust.claims_in(run.state, decided), is_hidden=is_hidden)


def claim(run: Run, seat: str, claims: Sequence[str], *, is_hidden: bool = False) -> bool:
    """Log what a seat claims, and return whether it counts.

    Args:
        claims: what no sheet has, in words; nothing to claim always counts.
        is_hidden: whether the seat and the game master alone may know of it so far.
    """
    if not claims or run.trust is None:
        return True
    words, audience = f"{seat} claims: {', '.join(claims)}", (GM, seat) if is_hidden else None
    run.tell(words, audience=audience)
    if not run.trust.asks:
        return True
    answer = ask(run, Question(CLAIM, GM, CLAIM_OPTIONS, "Does it count?", words=words))
    if is_hidden:
        run.events[-1] = msgspec.structs.replace(run.events[-1], audience=audience)
    return answer == CONFIRM


def view_of(run: Run, who: str) -> View:
    """Return what a character's seat may know."""
    state, seat = run.state, run.state.seat_of(who)
    events: Sequence[Event] = run.events
    forgotten: Sequence[Event] = ()
    if run.has_secrets or run.since:
        events = [known for event in run.events[run.since :] if (known := seen(event, seat)) is not None]
        if run.since and not run.dealer.joint:  # in odds, it is never read
            forgotten = Forgotten(run.events, run.since, seat)
    if state.glance(_is_open):
        return View(seat, state, events, forgotten)
    if run.dealer.joint:  # which takes note of what is read, each time
        return View(seat, state.seen_by(seat), events, forgotten)
    kept = run.shown.get(seat)
    if kept is None or kept[0] is not state:  # a seat is asked several times of one table
        kept = state, state.seen_by(seat)
        run.shown = {**run.shown, seat: kept}
    return View(seat, kept[1], events, forgotten)


def _drawn(run: Run, weights: Mapping[str, int], question: Question) -> str:
    """Return one of the weighted options, drawn from the decider's stream."""
    names = tuple(weights)
    offered = {option.name for option in question.options} | ({NO} if question.optional else set())
    numbers = tuple(weights.values())
    is_fair = all(type(number) is int and number >= 0 for number in numbers) and sum(numbers) > 0
    if not is_fair or not (question.reads is not None or offered.issuperset(names)):
        raise Broken(
            f"a policy returned the weights {dict(weights)!r} for {question.label!r}; weights are non-negative "
            f"whole numbers, not all 0, for {', '.join(sorted(offered))}"
        )
    return names[run.pick(numbers, f"policy:{question.who}:{question.label}")]


def _is_open(state: State) -> bool:
    """Tell whether nothing in the state can be hidden."""
    return not (state.tags or state.audiences or state.piles)


def _names_no(question: Question) -> bool:
    """Tell whether an option is named as the answer that skips a question."""
    for option in question.options:
        if option.aliases or option.name.lower() == NO:
            return named_option(question.offered, NO) is not None
    return bool(question.aside) and named_option(question.offered, NO) is not None


def accepted(question: Question, choice: str) -> str:
    """Return a typed answer as it is kept.

    Raises:
        ChoiceError: the question does not offer it.
    """
    chosen = named_option(question.offered, choice)
    if chosen is not None or (question.optional and choice == NO):
        return chosen.name if chosen is not None else NO
    if question.reads is None or (question.says_more and " " not in choice):
        raise refusal(question, choice)
    try:
        return question.reads(choice)
    except UsageError as error:
        names = [option.name for option in question.offered]
        raise ChoiceError(f"{question.label}={choice}: {error.message}", label=question.label, options=names) from None


def refused_by(question: Question, answer: Answer) -> ChoiceError | None:
    """Return why a question does not take a typed answer; None where it does."""
    try:
        if isinstance(answer.choice, str):
            accepted(question, answer.choice)
    except ChoiceError as error:
        return error
    return None


def naming(label: str, who: str, default: str, *, of: str) -> Question:
    """Return the question for the name of something new; see `Table.name`."""
    form = f"a name [Enter: {default}]"
    return Question(label, who, (), f"What is {of} called?", True, form=form, reads=_name, is_naming=True)


def _name(typed: str) -> str:
    """Return a name as it is kept: on one line, and short enough to be one."""
    name = " ".join(typed.split())
    if not 0 < len(name) <= LONGEST_NAME:
        raise UsageError(f"a name has 1 to {LONGEST_NAME} characters")
    return name
