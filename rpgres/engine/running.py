"""The run behind a table: what was asked and answered so far, and who answers.

`Run` is what the engine keeps of one run of one action; a rule meets it through `rpgres.engine.table.Table`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice import Dice
from rpgres.engine.dealers import Dealer, Due, GivenDealer, read_total
from rpgres.engine.events import Decided, Event, Rolled, Told
from rpgres.engine.players import NO, WINDOW, Question
from rpgres.engine.seats import Seats
from rpgres.engine.stops import MAX_QUESTIONS, Broken, endless
from rpgres.errors import GivenError, UsageError
from rpgres.model.state import EMPTY, Card, State
from rpgres.rulesets import QUESTIONS, STATE, Effect, Rules

if TYPE_CHECKING:
    from rpgres.engine.beliefs import Unseen

PLACE = "place"  # the label of cards that are said to lie somewhere without saying which of several they are
_PROMISED = QUESTIONS | {STATE}  # what a merge can hold for
CHAIN = " chain"  # in the place of a label: no rule has one with a blank
EFFECTS = "effects"  # what a run is for that goes on to its end
DETAIL = "details."  # before the name of a number or word that is told beside the outcome: what odds of it are for
TO_THE_END = (EFFECTS, STATE)  # what runs are for that do not end when the band is fixed


class Trust(msgspec.Struct, frozen=True):
    """How a persistent table treats numbers that players type and no sheet has: claims.

    Attributes:
        asks: whether the game master confirms a claim before it counts; otherwise the log shows it to everybody.
        seat: the seat that typed the inputs of the action.
        claims_in: returns what a typed answer claims, from the state and the decision.
        confirm: puts claims of a seat to the game master, and returns whether they count.
        before: the table before anything was typed, as it is again when that is refused.
        results: the results of real dice and cards that players gave, by turn, label and count of the question.
    """

    asks: bool
    seat: str
    claims: tuple[str, ...]
    claims_in: Callable[[State, Decided], Sequence[str]]
    before: State
    confirm: Callable[[Run, str, Sequence[str]], bool]
    results: dict[tuple[int, str, int], str] = {}


class Chain(msgspec.Struct, frozen=True):
    """The steps of a long procedure, and the key that identifies a place: functions of the table and a place."""

    step: Callable[[Any, Any], Any]
    key: Callable[[Any, Any], Hashable]


Onward = Callable[[Any], tuple[Hashable, tuple[Effect, ...]]]  # the key of a merge behind a part, and what was paid
Found = list[tuple[Any, tuple[Event, ...]]]  # in the order in which it was worked out: the value, and what it told


class Run(msgspec.Struct):
    """One run of one action: the answers so far, and who gives the next.

    Attributes:
        state: what lies on the table: as it was when the action began, but for the cards that were moved since.
        asked: what the run is for, one of `QUESTIONS`, or `DETAIL` and the name of one. Only for `effects` does it go
            on when the outcome is settled; a merge that does not hold for what is asked is left out.
        lump: the equivalence key of a card for the rule, for odds; None where all kinds differ.
        follow: who follows a chain of steps; None where the rule goes along it itself.
        trust: how typed numbers are treated that no sheet has; None where everything typed counts.
        kept: what the rule worked out in earlier runs of the same inputs; see `table.once`. None where that does not
            count.
        looked_up: how much of that the run has asked for.
        counts: how often each label was asked.
        has_secrets: whether some event is not for everybody.
        since: from which event on views may know what happened; a merge forgets what was before it.
        fault: an answer that was refused, which ends the run even if the rule swallows it.
        skipped: by label, the last question that was skipped, as there was nothing to choose from.
        single: the labels under which there was a single option, so that an answer has to say whose it is.
        unseen: by hand, in odds, what is known of an unseen one; its cards are still in their pile.
        idle: how often the rule called the table without an event: questions with one answer, and merges.
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
    lump: Callable[[Card], Hashable] | None = None
    follow: Callable[[Any, Chain, Any], Any] | None = None
    trust: Trust | None = None
    kept: Found | None = None
    looked_up: int = 0
    events: list[Event] = []
    counts: dict[str, int] = {}
    has_secrets: bool = False
    since: int = 0
    fault: UsageError | None = None
    skipped: Mapping[str, Question] = EMPTY
    single: frozenset[str] = frozenset()
    unseen: Mapping[str, Unseen] = EMPTY
    idle: int = 0
    turn: int = 0
    applied: tuple[Effect, ...] = ()
    earlier: int = 0
    carried: Hashable = None
    shown: Mapping[str, tuple[State, State]] = EMPTY

    @property
    def work(self) -> int:
        """What the run cost so far, for budgets: the questions it asked; thrice that where a hand is unseen."""
        return (1 + self.idle + self.earlier + sum(self.counts.values())) * (3 if self.unseen else 1)

    def keeps_parts(self, asks: Sequence[str] | None = None) -> bool:
        """Tell whether parts of rules are looked up that ask questions with these labels; see `Table.part`."""
        players = self.players
        if not self.dealer.keeps_parts:
            return False
        return players.by_question if asks is None else players.decide_by_question(asks)

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

    def skip(self, question: Question) -> None:
        """Take note of a question that is not asked, as there is nothing to choose from."""
        self.idled(question.label)
        self.skipped = {**self.skipped, question.label: question}

    def idled(self, label: str) -> None:
        """Count a call without an event; a rule that makes too many does not end."""
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

    def merge(self, key: Hashable, *, holds: Collection[str], pays: tuple[Effect, ...] = ()) -> Any:
        """Forget what was before; in odds, go on once for all runs that share the key. Return what is still to pay."""
        self.idled("merge")
        self.since = len(self.events)
        if self.is_promised(holds):
            self.shown = EMPTY  # what was seen before does not count any more
            if pays:
                return self.dealer.merge_paid(self, key, pays)
            self.dealer.merge((self.carried, key, self.players.used()))
        return pays

    def repeat(self, decisions: Sequence[Event]) -> None:
        """Take note of decisions that come out as they did before, and that everybody may know."""
        for one in decisions:
            assert isinstance(one, Decided)
            self.check_room(one.label)
            self.count(one.label)
            self.events.append(one)

    # -- chance

    def roll(self, dice: Dice, label: str, by: str, is_shown: bool = False) -> Rolled:
        """Have the dealer roll, take note of it, and return that; `is_shown` where the rule reads every die."""
        # Nothing is keyword-only in what each roll calls several times: Python calls such functions slower.
        counts, events, dealer = self.counts, self.events, self.dealer
        if len(events) >= MAX_QUESTIONS:
            raise endless(label, self.counts)
        count = counts.get(label, 0)
        counts[label] = count + 1
        try:
            if dealer.takes_given and dice.pools:
                self.read_off(label, count, by, dice, has_total=not is_shown)
            throw = dealer.show(dice, label, count) if is_shown else dealer.throw(dice, label, count)
        except GivenError as error:
            self.fault = error
            raise
        rolled = Rolled(label, dice, throw, by)
        events.append(rolled)
        return rolled

    def explain(self, label: str, words: str, *, counts: int | None = None) -> None:
        """Describe the last roll of a label; see `Table.explain`."""
        events = self.events
        for number in reversed(range(len(events))):
            event = events[number]
            if isinstance(event, Rolled) and event.label == label:
                events[number] = msgspec.structs.replace(event, words=words, counts=counts)
                return

    def read_off(self, label: str, count: int, by: str, dice: Dice, *, has_total: bool = True) -> None:
        """Take what real dice show, and ask a person for it; `has_total` tells whether a total is enough."""

        def check(text: str) -> Sequence[str]:
            return [read_total(dice, text) if has_total else dice.read(text).text]

        self.take_given(Due(label, count, self.turn, by, dice.text, check))

    def take_given(self, due: Due) -> None:
        """Take the next result of real dice or cards: its owner's or the host's, confirmed if a player gave it."""
        dealer, seat, trust = self.dealer, self.state.seat_of(due.by), self.trust
        assert isinstance(dealer, GivenDealer)
        claim = dealer.prepare_next(due.label, seat)
        if dealer.hand is not None:
            dealer.read_off(due)
            claim = dealer.prepare_next(due.label, seat)
        if trust is None or not trust.asks:
            return
        place = (due.turn, due.label, due.asked)
        claim = trust.results[place] = claim or trust.results.get(place, "")
        if claim and not trust.confirm(self, seat, [f"{due.label} {claim if due.dice else '(a card)'}"]):
            dealer.refuse(due.label)

    def pick(self, weights: Sequence[int], label: str) -> int:
        """Return an index that the dealer draws by weight."""
        return self.dealer.pick(weights, label, self.count(label))

    def pass_over(self, label: str, who: str, of: str = "") -> str:
        """Note that a question was left unanswered, which is its owner's alone, and return that answer."""
        self.has_secrets = True
        self.events.append(Decided(label, who, NO, "", WINDOW, (self.state.seat_of(who),), of))
        return NO

    def decided(
        self, question: Question, answer: str, means: str, audience: tuple[str, ...] | None, text: str = ""
    ) -> str:
        """Note an answer, for some seats only or for everybody, and return it."""
        if audience is not None:
            self.has_secrets = True
        self.events.append(Decided(question.label, question.who, answer, text, means, audience, question.of))
        return answer
