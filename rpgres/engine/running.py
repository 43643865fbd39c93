"""The run behind a table: what was asked and answered so far, who answers, and who saw what. No rule is here.

`Run` is what the engine keeps of one run of one action; a rule meets it through `rpgres.engine.table.Table`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice import Dice
from rpgres.engine.dealers import Dealer, Due, GivenDealer, read_total
from rpgres.engine.events import Decided, Event, Forgotten, Rolled, Told, seen
from rpgres.engine.players import NO, Question, Seats, View, named_option
from rpgres.engine.stops import MAX_QUESTIONS, Broken, NeedsAnswer, endless
from rpgres.errors import ChoiceError, GivenError, UsageError
from rpgres.model.state import EMPTY, GM, Card, State
from rpgres.rulesets import CLAIM, QUESTIONS, STATE, Effect, Option, Rules

if TYPE_CHECKING:
    from rpgres.engine.beliefs import Unseen

PLACE = "place"  # the label of cards that are said to lie somewhere without saying which of several they are
_PROMISED = QUESTIONS | {STATE}  # what a merge can hold for
CHAIN = " chain"  # in the place of a label: no rule has one with a blank
EFFECTS = "effects"  # what a run is for that goes on to its end


CLAIM_OPTIONS = (
    Option("confirm", "It counts."),
    Option("refuse", "It does not count, and the action is not done."),
)


class Trust(msgspec.Struct, frozen=True):
    """How a persistent table treats numbers that players type and no sheet has: claims.

    Attributes:
        asks: whether the game master confirms a claim before it counts; otherwise everybody is told of it.
        by: the seat that typed the inputs of the action.
        claims: what those inputs claim.
        claims_in: returns what a typed answer claims, from the state and the decision.
        before: the table before anything was typed, as it is again when that is refused.
    """

    asks: bool
    by: str
    claims: tuple[str, ...]
    claims_in: Callable[[State, Decided], Sequence[str]]
    before: State


class Chain(msgspec.Struct, frozen=True):
    """The steps of a long procedure, and what tells its places apart: functions of the table and a place."""

    step: Callable[[Any, Any], Any]
    key: Callable[[Any, Any], Hashable]


class Run(msgspec.Struct):
    """One run of one action: the answers so far, and who gives the next.

    Attributes:
        rules: the ruleset in play.
        state: what lies on the table: as it was when the action began, but for the cards that were moved since.
        dealer: answers chance.
        players: answer decisions.
        asked: what the run is for, one of `QUESTIONS`. Only for `effects` does it go on when the outcome is settled; a
            merge that does not hold for what is asked is left out.
        events: what happened so far.
        counts: how often each label was asked.
        has_secrets: whether some event is not for everybody.
        since: from which event on views may know what happened; a merge forgets what was before it.
        fault: an answer that was refused, which ends the run even if the rule swallows it.
        skipped: by label, the last question that was skipped, as there was nothing to choose from.
        single: the labels under which there was a single option, so that an answer has to say whose it is.
        lump: which cards are alike to the rule, for odds; None where no two kinds are.
        unseen: by hand, in odds, what is known of an unseen one; its cards are still in their pile.
        undealt: by hand, in odds, the pile in which its cards still lie, and how many; see `engine.hidden`.
        idle: how often the rule turned to the table and nothing came of it: questions that were none, and merges.
        follow: who follows a chain of steps; None where the rule goes along it itself.
        trust: how typed numbers are treated that no sheet has; None where everything typed counts.
        turn: which turn of a procedure is under way, from 0.
        applied: the effects of the turns before it, which the state has already.
        earlier: how many questions the turns before it asked.
        carried: what of the turn matters beside the table when a rule that it calls merges; None when not given.
        shown: by seat, the last table that it was asked about, and what it may know of that.
    """

    rules: Rules
    state: State
    dealer: Dealer
    players: Seats
    asked: str = EFFECTS
    events: list[Event] = []
    counts: dict[str, int] = {}
    has_secrets: bool = False
    since: int = 0
    fault: UsageError | None = None
    skipped: dict[str, Question] = {}
    single: set[str] = set()
    lump: Callable[[Card], Hashable] | None = None
    unseen: Mapping[str, Unseen] = EMPTY
    undealt: Mapping[str, tuple[str, int]] = EMPTY
    idle: int = 0
    follow: Callable[[Any, Chain, Any], Any] | None = None
    trust: Trust | None = None
    turn: int = 0
    applied: tuple[Effect, ...] = ()
    earlier: int = 0
    carried: Hashable = None
    shown: dict[str, tuple[State, State]] = {}

    @property
    def work(self) -> int:
        """What the run cost so far, for budgets: the questions it asked; thrice that where a hand is unseen."""
        return (1 + self.idle + self.earlier + sum(self.counts.values())) * (3 if self.unseen else 1)

    def next_turn(self) -> None:
        """Go on to the next turn of a procedure, whose questions are counted anew."""
        self.turn += 1
        self.earlier += sum(self.counts.values())
        self.counts.clear()
        self.dealer.begin_turn(self.turn)

    def count(self, label: str) -> int:
        """Return how often a label was asked before, and count it once more."""
        count = self.counts.get(label, 0)
        self.counts[label] = count + 1
        return count

    def idled(self, label: str) -> None:
        """Take note that the rule turned to the table and nothing came of it; one that only does so does not end."""
        self.idle += 1
        if self.idle > MAX_QUESTIONS:
            raise endless(label, self.counts)

    def check_room(self, label: str) -> None:
        """Make sure that one event more may happen, or the rule does not end."""
        if len(self.events) >= MAX_QUESTIONS:
            raise endless(label, self.counts)

    def add(self, event: Event) -> None:
        """Take note of what happened."""
        self.events.append(event)
        self.has_secrets = self.has_secrets or event.audience is not None

    def tell(self, text: str, *, audience: tuple[str, ...] | None = None, reveals: tuple[str, ...] = ()) -> None:
        """Add a line to the account, for everybody or for some seats only."""
        self.check_room("a line of the account")
        self.add(Told(text, audience, reveals))

    def is_promised(self, holds: Collection[str]) -> bool:
        """Tell whether what a rule says to be equivalent is so for what is asked."""
        if not _PROMISED.issuperset(holds):
            raise Broken(f"unknown question in holds={holds!r}; known: {', '.join(sorted(QUESTIONS))}, {STATE}")
        return self.asked in holds

    def merge(self, key: object, *, holds: Collection[str]) -> None:
        """Forget what was before; in odds, go on once for all runs that share the key."""
        self.idled("merge")
        self.since = len(self.events)
        if self.is_promised(holds):
            self.shown.clear()  # what was seen before does not count any more
            self.dealer.merge((self.carried, key, self.players.used()))

    # -- chance

    def roll(self, dice: Dice, label: str, by: str, *, is_shown: bool = False) -> Rolled:
        """Have the dealer roll, take note of it, and return that; `is_shown` where the rule reads every die."""
        counts, events = self.counts, self.events
        if len(events) >= MAX_QUESTIONS:
            raise endless(label, self.counts)
        count = counts.get(label, 0)
        counts[label] = count + 1
        dealer = self.dealer
        try:
            if dealer.hand is not None and dice.pools:
                self.read_off(label, count, by, dice, has_total=not is_shown)
            throw = (dealer.show if is_shown else dealer.throw)(dice, label, count)
        except GivenError as error:
            self.fault = error
            raise
        rolled = Rolled(label, dice, throw, by)
        events.append(rolled)
        return rolled

    def read_off(self, label: str, count: int, by: str, dice: Dice, *, has_total: bool = True) -> None:
        """Ask a person what real dice show; `has_total` tells whether a total is enough."""
        assert isinstance(self.dealer, GivenDealer)

        def check(text: str) -> Sequence[str]:
            return [read_total(dice, text) if has_total else dice.read(text).text]

        self.dealer.read_off(Due(label, count, self.turn, by, dice.text, check))

    def pick(self, weights: Sequence[int], label: str) -> int:
        """Return an index that the dealer draws by weight."""
        return self.dealer.pick(weights, label, self.count(label))

    # -- decisions

    def ask(self, question: Question, *, is_hidden: bool = False) -> str:
        """Return the answer to a question, as it is kept.

        Args:
            is_hidden: whether the answer is its owner's alone so far.

        Raises:
            NeedsAnswer: nothing answers, and the rule cannot go on without.
            ChoiceError: the answer is none of the options.
        """
        label, options, optional = question.label, question.options, question.optional
        if not options and not optional and question.reads is None:
            raise Broken(f"it asked {label!r} without options")
        if self.unseen and question.pile in self.unseen:
            from rpgres.engine.cards import ask_unseen

            return ask_unseen(self, question, is_hidden=is_hidden)
        if question.is_one and not (question.hidden and self.players.gathers):
            self.idled(label)
            self.skipped[label] = question
            if not options:
                return NO
            self.single.add(label)
            self.players.scripted(question)  # which may name it
            return options[0].name
        if len(self.events) >= MAX_QUESTIONS:
            raise endless(label, self.counts)
        self.counts[label] = self.counts.get(label, 0) + 1
        view = self.view(question.who)
        answer = self.players.answer(question, view)
        if answer is None:
            if question.is_naming:
                return NO
            if not optional:
                raise NeedsAnswer(question)
            return self.decided(question, NO, "window", (view.seat,))
        choice = answer.choice if isinstance(answer.choice, str) else self._drawn(answer.choice, question)
        audience = (view.seat,) if is_hidden else None
        if choice == NO and optional and not _names_no(question):
            return self.decided(question, NO, answer.means, (view.seat,))
        chosen = named_option(question.offered if question.aside else options, choice)
        if chosen is not None:
            return self.decided(question, chosen.name, answer.means, audience, text=chosen.text)
        try:
            return self.decided(question, accepted(question, choice), answer.means, audience)
        except ChoiceError as error:
            self.fault = error
            self.idled(label)
            raise

    def decided(
        self, question: Question, answer: str, means: str, audience: tuple[str, ...] | None, *, text: str = ""
    ) -> str:
        """Note an answer, for some seats only or for everybody, and return it."""
        self.has_secrets = self.has_secrets or audience is not None
        self.events.append(Decided(question.label, question.who, answer, text, means, audience, question.of))
        return answer

    def ask_together(self, questions: Iterable[Question], *, secret: bool) -> tuple[str, ...]:
        """Return the answers to questions that are asked at once; see `Table.ask_together`."""
        first, answers, asked = len(self.events), dict[int, str](), dict(enumerate(questions))
        while asked:
            left = list[Question]()
            for number, question in asked.items():
                try:
                    answers[number] = self.ask(question, is_hidden=True)
                except NeedsAnswer as needs:
                    if not self.players.gathers:
                        raise
                    left.append(needs.question)
            if left:
                raise NeedsAnswer(left[0], together=tuple(left[1:]))
            asked = {n: one for n, one in asked.items() if not self.confirmed(one, answers[n], is_hidden=True)}
        for number in range(first, len(self.events) if not secret else first):
            event = self.events[number]
            if isinstance(event, Told) or (isinstance(event, Decided) and event.answer != NO):
                self.events[number] = msgspec.structs.replace(event, audience=None)
        return tuple(answers[number] for number in sorted(answers))

    def confirmed(self, question: Question, answer: str, *, is_hidden: bool = False) -> bool:
        """Return whether a typed answer counts, after the game master has confirmed what it claims."""
        is_typed = question.reads is not None and answer not in (NO, *(option.name for option in question.offered))
        if self.trust is None or not is_typed:
            return True
        decided = next(
            event
            for event in reversed(self.events)
            if isinstance(event, Decided) and (event.label, event.who) == (question.label, question.who)
        )
        seat = self.state.seat_of(question.who)
        return self.claim(seat, self.trust.claims_in(self.state, decided), is_hidden=is_hidden)

    def claim(self, by: str, claims: Sequence[str], *, is_hidden: bool = False) -> bool:
        """Tell what a seat claims, and return whether it counts.

        Args:
            claims: what no sheet has, in words; nothing to claim always counts.
            is_hidden: whether the seat and the game master alone may know of it so far.
        """
        if not claims or self.trust is None:
            return True
        words, audience = f"{by} claims: {', '.join(claims)}", (GM, by) if is_hidden else None
        self.tell(words, audience=audience)
        if not self.trust.asks:
            return True
        answer = self.ask(Question(CLAIM, GM, CLAIM_OPTIONS, "Does it count?", words=words))
        if is_hidden:
            self.events[-1] = msgspec.structs.replace(self.events[-1], audience=audience)
        return answer == CLAIM_OPTIONS[0].name

    def view(self, who: str) -> View:
        """Return what a character's seat may know, as far as those who answer look at it."""
        state, seat = self.state, self.state.seat_of(who)
        if self.players.by_question:
            return View(seat, _BARE)
        if self.undealt:
            from rpgres.engine.cards import deal_to_seat

            state = deal_to_seat(self, who, seat)
        events: Sequence[Event] = self.events
        forgotten: Sequence[Event] = ()
        if self.has_secrets or self.since:
            events = [known for event in self.events[self.since :] if (known := seen(event, seat)) is not None]
            if self.since and not self.dealer.joint:  # in odds, it is never read
                forgotten = Forgotten(self.events, self.since, seat)
        if state.glance(_is_open):
            return View(seat, state, events, forgotten)
        if self.dealer.joint:  # which takes note of what is read, each time
            return View(seat, state.seen_by(seat), events, forgotten)
        kept = self.shown.get(seat)
        if kept is None or kept[0] is not state:  # a seat is asked several times of one table
            kept = self.shown[seat] = state, state.seen_by(seat)
        return View(seat, kept[1], events, forgotten)

    def _drawn(self, weights: Mapping[str, int], question: Question) -> str:
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
        return names[self.pick(numbers, f"policy:{question.who}:{question.label}")]


_BARE = State()  # what policies see that look at nothing but the question


def _is_open(state: State) -> bool:
    """Tell whether there is nothing that could be hidden from anybody."""
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
    if question.reads is None:
        raise refusal(question, choice)
    try:
        return question.reads(choice)
    except UsageError as error:
        names = [option.name for option in question.offered]
        raise ChoiceError(f"{question.label}={choice}: {error.message}", label=question.label, options=names) from None


def refusal(question: Question, choice: str) -> ChoiceError:
    """Return the error for an answer that a question does not offer: what may be chosen, and what was meant."""
    names = [option.name for option in question.offered]
    return ChoiceError(_not_offered(question, choice), label=question.label, options=names)


def _not_offered(question: Question, choice: str) -> str:
    from rpgres.model.cards import meant
    from rpgres.toml.reading import nearest

    names = [option.name for option in question.offered] + ([NO] if question.optional else [])
    if not question.options:
        why = f" ({question.text})" if question.text else ""
        return f"{question.label}={choice} is not possible here: {question.who} has no options{why}"
    cards = meant(choice, {option.name: (option.name,) for option in question.options})
    near = nearest(choice, names)
    said = " or ".join(cards) or (repr(near) if near else "")
    hint = f"; did you mean {said}?" if said else ""
    return f"{question.label}={choice} is not offered here; {question.who} may choose: {', '.join(names)}{hint}"
