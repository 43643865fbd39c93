"""The table: where a rule meets chance, decisions, the state and its secrets. Nothing here knows a ruleset.

A rule is a plain function `rule(table, actor, **parameters) -> Outcome`. It asks the table for everything that is
random or decided, changes nothing itself, and returns an outcome whose effects are applied when the action is over.
Run twice on the same answers it asks the same questions; that is what lets one text serve play, scripts and odds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine import piles
from rpgres.engine.dealers import Dealer, unknown_card, unpromised
from rpgres.engine.players import NO, Players, Question, View, named_option
from rpgres.errors import ChoiceError, GivenError, RuleError, UsageError, in_words, is_interrupt, place_of
from rpgres.model.state import EMPTY, FACE_DOWN, GM, Map, Pile, State, code_of, pile_name
from rpgres.rulesets import CLAIM, OUTCOME_ONLY, QUESTIONS, Ask, Effect, Option, RowRoll, Rules

if TYPE_CHECKING:
    from rpgres.dice import Dice, Throw
    from rpgres.dice.readings import Reading
    from rpgres.engine.beliefs import Shown, Unseen
    from rpgres.model.cards import Card

PURE = "a rule may depend on nothing but the table (no random numbers, clock, files, or changed globals)"
PLACE = "place"  # the label of cards that are said to lie somewhere without saying which of several they are
CHAIN = " chain"  # in the place of a label: no rule has one with a blank
MAX_QUESTIONS = 10_000  # a rule that asks more in one action does not end
EFFECTS = "effects"  # what a run is for that goes on to its end


class Rolled(msgspec.Struct, frozen=True, gc=False):
    """Event: dice were thrown. `throw` shows every die; `by` is the character who rolled.

    `counts` is what the roll counts for where that is not the value of the dice, such as the highest; `words` say for
    people what was rolled, with what was added.
    """

    label: str
    dice: Dice
    throw: Throw
    by: str = ""
    audience: tuple[str, ...] | None = None
    counts: int | None = None
    words: str = ""

    @property
    def value(self) -> int:
        """What the roll counts for."""
        return self.throw.value if self.counts is None else self.counts


class Decided(msgspec.Struct, frozen=True, gc=False):
    """Event: a question was answered. `means` says how: `choose`, `policy`, `prompt`, `host`, or `window` (let pass).

    That a moment was let pass is its owner's alone: being asked can tell what somebody holds. `of` says whose it is
    where somebody else decides.
    """

    label: str
    who: str
    answer: str
    text: str = ""
    means: str = ""
    audience: tuple[str, ...] | None = None
    of: str = ""


class Drawn(msgspec.Struct, frozen=True, gc=False):
    """Event: a card was drawn from a face-down pile. Seats outside `audience` are told that it was, not which."""

    label: str
    card: str
    source: str
    target: str
    by: str = ""
    audience: tuple[str, ...] | None = None


class Moved(msgspec.Struct, frozen=True, gc=False):
    """Event: cards were moved. `label` is what the account calls it. Seats outside `audience` are told how many."""

    cards: tuple[str, ...]
    source: str
    target: str
    by: str = ""
    label: str = ""
    audience: tuple[str, ...] | None = None


class Told(msgspec.Struct, frozen=True, gc=False):
    """Event: a line of the account."""

    text: str
    audience: tuple[str, ...] | None = None


# `audience` holds the seats that may know of it; None is everybody
Event = Rolled | Decided | Told | Drawn | Moved


def seen(event: Event, seat: str) -> Event | None:
    """Return what a seat may know of an event: itself, cards face down in their places, or nothing."""
    if event.audience is None or seat in event.audience:
        return event
    if isinstance(event, Drawn):
        return msgspec.structs.replace(event, card=FACE_DOWN, audience=None)
    if isinstance(event, Moved):
        return msgspec.structs.replace(event, cards=(FACE_DOWN,) * len(event.cards), audience=None)
    return None


class Compared(msgspec.Struct, frozen=True, gc=False):
    """Two rolls compared. Only `margin` may decide anything; the totals are for the account, None in odds."""

    margin: int
    total: int | None
    opposition: int | None


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How an action ended.

    Attributes:
        band: the name of the outcome.
        success: whether the band means success; None for a tie and for what neither succeeds nor fails.
        margin: total less opposition; None when nothing opposed the action.
        total, opposition: what was compared, where there was something.
        effects: what changes, in order.
        texts: what the outcome means, in lines.
        roles: who is meant by `actor`, `opponent` and the like in effects.
        details: what the ruleset adds for readers of the JSON.
    """

    band: str
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    effects: tuple[Effect, ...] = ()
    texts: tuple[str, ...] = ()
    roles: Mapping[str, str] = EMPTY
    details: Mapping[str, Any] = EMPTY

    def plus(self, effects: Iterable[Effect]) -> Outcome:
        """Return the outcome with further effects after its own."""
        return msgspec.structs.replace(self, effects=(*self.effects, *effects))


class Stop(BaseException):
    """What ends a run early. Not an `Exception`, so that a rule that catches those cannot swallow it.

    `table` is where it ended, with the events so far; whoever runs the rule sets it.
    """

    table: Table


class NeedsAnswer(Stop):
    """A decision without which the rule cannot go on has nobody to answer it; `together` are asked at the same time."""

    def __init__(self, question: Question, *, together: tuple[Question, ...] = ()) -> None:
        super().__init__(question.label)
        self.question = question
        self.together = together


class Settled(Stop):
    """The band is fixed, and nothing after it was asked for (odds of outcomes)."""

    def __init__(self, band: str, margin: int | None, *, total: int | None = None) -> None:
        super().__init__(band)
        self.band = band
        self.margin = margin
        self.total = total


class Broken(Stop):
    """The rule broke its contract with the table and is not heard any further; `told` says how."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told = told


CLAIM_OPTIONS = (
    Option("confirm", "It counts."),
    Option("refuse", "It does not count, and what was typed with it is not done."),
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
    """The steps of a long procedure, and what tells its places apart; see `Table.chain`."""

    step: Callable[[Table, Any], Any]
    key: Callable[[Table, Any], Hashable]


class Table(msgspec.Struct):
    """One run of one action: what a rule sees and asks.

    A rule reads `rules` and `state`; everything else goes through the methods. A rule that asks without end is
    stopped; one that computes without end and asks nothing is a loop in Python, which only whoever runs it can end.

    Stable are the methods, `rules` and `state`; the other attributes are the engine's.

    Attributes:
        rules: the ruleset in play, with its data and switches.
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
        foregone: by label, the last question that was none, as there was nothing to choose from.
        single: the labels under which there was a single option, so that an answer has to say whose it is.
        lump: which cards are alike to the rule, for odds; None where no two kinds are.
        unseen: by hand, in odds, what is known of one that nobody has looked into; its cards still lie in their pile.
        idle: how often the rule turned to the table and nothing came of it: questions that were none, and merges.
        follow: who follows a chain of steps; None where the rule goes along it itself.
        trust: how typed numbers are treated that no sheet has; None where everything typed counts.
    """

    rules: Rules
    state: State
    dealer: Dealer
    players: Players
    asked: str = EFFECTS
    events: list[Event] = []
    counts: dict[str, int] = {}
    has_secrets: bool = False
    since: int = 0
    fault: UsageError | None = None
    foregone: dict[str, Question] = {}
    single: set[str] = set()
    lump: Callable[[Card], Hashable] | None = None
    unseen: Mapping[str, Unseen] = EMPTY
    idle: int = 0
    follow: Callable[[Table, Chain, Any], Any] | None = None
    trust: Trust | None = None

    # -- chance

    def roll(self, dice: Dice, label: str = "roll", *, by: str = "") -> int:
        """Roll dice and return their value.

        Args:
            dice: what is rolled; its value is one answer, however many dice it has.
            label: the name under which a result can be given.
            by: the character who rolls, for the account.
        """
        return self._roll(dice, label, by)

    def _roll(self, dice: Dice, label: str, by: str) -> int:
        counts, events = self.counts, self.events
        if len(events) >= MAX_QUESTIONS:
            raise endless(label)
        count = counts.get(label, 0)
        counts[label] = count + 1
        try:
            throw = self.dealer.throw(dice, label, count)
        except GivenError as error:
            self.fault = error
            raise
        events.append(Rolled(label, dice, throw, by))
        return throw.value

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str = "roll", *, by: str = ""
    ) -> tuple[int | None, tuple[int, ...]]:
        """Roll dice and return what is read off them: the total where it is known, and the readings in order.

        A rule uses this in place of `roll` when it needs more than the total, such as the natural die or how many sixes
        there are. Only the readings may decide anything; in odds they are one question, and the total is None.

        Args:
            dice: what is rolled.
            readings: what is read off.
            label: the name under which a result can be given.
            by: the character who rolls, for the account.
        """
        dealer = self.dealer
        if dealer.joint and self.asked == "total":  # which may be no reading of the rule's
            from rpgres.dice.readings import Reading

            _, values = dealer.read(dice, (*readings, Reading("total")), label, self._count(label))
            return values[-1], values[:-1]
        throw, values = dealer.read(dice, readings, label, self._count(label))
        if throw is None:
            return None, values
        self.events.append(Rolled(label, dice, throw, by))
        return throw.value, values

    def explain(self, label: str, words: str, *, counts: int | None = None) -> None:
        """Say of the last roll under a label, in the account, what was rolled; it changes nothing else.

        Args:
            label: the name under which it was rolled.
            words: the dice with what was added to them, such as `2d6 + 2 quick`.
            counts: what the roll counts for, where that is not the value of the dice.
        """
        for number in reversed(range(len(self.events))):
            event = self.events[number]
            if isinstance(event, Rolled) and event.label == label:
                self.events[number] = msgspec.structs.replace(event, words=words, counts=counts)
                return

    def versus(
        self,
        own: Dice,
        other: Dice,
        *,
        add: int = 0,
        other_add: int = 0,
        labels: tuple[str, str] = ("roll", "opposition"),
        by: tuple[str, str] = ("", ""),
    ) -> Compared:
        """Roll two sides against each other and return the margin, own total less the other's.

        A rule uses this in place of two `roll`s when only the difference matters from here on: odds then walk the
        differences (17 for two Fate rolls) in place of the pairs (81), unless they are asked for totals.

        Args:
            own, other: the dice of the two sides.
            add, other_add: what is added to each.
            labels: the names under which the two results can be given.
            by: the characters who roll, for the account.
        """
        if self.dealer.joint and self.asked != "total":
            label = "-".join(labels)
            difference = self.dealer.difference(own, other, label, self._count(label))
            return Compared(difference + add - other_add, None, None)
        total = self._roll(own, labels[0], by[0]) + add
        opposition = self._roll(other, labels[1], by[1]) + other_add
        return Compared(total - opposition, total, opposition)

    def merge(self, key: object, *, holds: Collection[str] = OUTCOME_ONLY) -> None:
        """Promise that from here on only `key` (hashable) matters; odds then go on once for all runs that share it.

        The key has to tell different points of a rule apart. What happened before is no longer part of any view, so
        that no policy can depend on which of the merged runs is the one that goes on.

        Args:
            key: what matters.
            holds: the questions for which that is so (`QUESTIONS`): `margin` where runs that share the key also come
                to the same margins. Odds that are asked anything else go on without the merge.
        """
        self._idled("merge")
        self.since = len(self.events)
        if self._is_promised(holds):
            self.dealer.merge((key, self.players.used()))

    @property
    def work(self) -> int:
        """What the run cost so far, for budgets: the questions it asked; thrice that where a hand is unseen."""
        return (1 + self.idle + sum(self.counts.values())) * (3 if self.unseen else 1)

    def _is_promised(self, holds: Collection[str]) -> bool:
        """Tell whether what a rule says to be equivalent is so for what is asked."""
        if not QUESTIONS.issuperset(holds):
            raise Broken(f"it says that something holds for {holds!r}; there are: {', '.join(sorted(QUESTIONS))}")
        return self.asked in holds

    def chain(
        self,
        step: Callable[[Table, Any], Any],
        place: Any,
        *,
        key: Callable[[Table, Any], Hashable],
        holds: Collection[str] = OUTCOME_ONLY,
    ) -> Any:
        """Go from step to step until there is none, and return where the last one led.

        A long procedure is a chain of short steps. Odds look at each place once and take the rule up again there,
        without all that came before; so a step reads nothing but the table and the place, and tells places apart by
        `key` alone.

        Args:
            step: `step(table, place)` returns the next place, or None when it is over; a function of a module.
            place: where the chain begins; frozen data, as all places.
            key: `key(table, place)` is all that matters from a place on (hashable), as for `merge`; what the rule
                remembers from before the chain and needs after it belongs to that, too.
            holds: the questions for which that is so, as for `merge`.
        """
        if self.follow is not None and self._is_promised(holds):
            return self.follow(self, Chain(step, key), place)
        number = self._count(CHAIN)  # a rule may have several
        while True:
            self.merge((CHAIN, number, key(self, place)), holds=holds)
            after = step(self, place)
            if after is None:
                return place
            place = after

    # -- cards

    def cards(self, pile: str) -> tuple[Card, ...]:
        """Return the cards that lie face up or in a hand, sorted by their codes.

        A rule does not look at face-down piles: what lies there is drawn.

        Args:
            pile: the pile's name; of a character's own pile `pile_name("hand", actor.name)`.
        """
        found = self._pile(pile)
        if found.audience == ():
            raise Broken(f"it looked at the cards of {pile!r}, which lie face down")
        return tuple([self.rules.cards.card(card) for card in found.cards])

    def count(self, pile: str) -> int:
        """Return how many cards lie in a pile."""
        found = len(self._pile(pile))
        for hand, unseen in self.unseen.items():
            found += unseen.size if hand == pile else -unseen.size if unseen.source == pile else 0
        return found

    def possible(self, pile: str) -> tuple[Card, ...]:
        """Return the cards of a hand, as `cards` does; of one that nobody looks into, a card of each kind it may have.

        A rule offers these when it asks for a card of a hand (`ask` with `pile`).
        """
        unseen = self.unseen.get(pile)
        if unseen is None:
            return self.cards(pile)
        kinds = unseen.kinds
        return (*self.cards(pile), *(card for kind, card in self._firsts(unseen.source) if kind in kinds))

    def knowledge(self, pile: str) -> Hashable:
        """Return what matters of a hand's cards to whoever promises what matters (`merge`)."""
        return self._pile(pile).cards, self.unseen.get(pile)

    def deal(self, source: str, *, to: str, count: int, label: str = "deal", by: str = "", looks: bool = False) -> None:
        """Deal cards of a face-down pile into a hand, as far as there are any.

        In odds, the hand of somebody who decides by a `Preference` is left unseen: what is in it shows when a card is
        played. Other hands are walked once, whatever the order in which their cards come.

        Args:
            source: the face-down pile.
            to: the hand.
            count: how many cards.
            label: the name under which they can be given.
            by: whose hand it is, for the account and for who decides on it.
            looks: whether the rule looks at the hand (`cards`), so that it cannot be left unseen.
        """
        if self.dealer.joint and count and not self.count(to) and to not in self.unseen:
            stock, seat = self._pile(source), self.state.seat_of(by)
            is_free = len(stock) >= count and not stock.top
            is_free = is_free and all(unseen.source != source for unseen in self.unseen.values())
            if is_free and not looks and self.players.preference(by, seat) is not None:
                from rpgres.engine.beliefs import dealt

                kinds = {self._kind(self.rules.cards.card(code)): count for code, count in self._stock(stock.cards)}
                self.unseen = {**self.unseen, to: dealt(source, kinds, count=count)}
                return
            if is_free:
                self._deal_in_order(source, to=to, count=count, label=label, by=by)
                return
        for _ in range(count):
            if self.draw(source, to=to, label=label, by=by) is None:
                return

    def _deal_in_order(self, source: str, *, to: str, count: int, label: str, by: str) -> None:
        """Deal a hand card by card in the order of their kinds, so that odds come to each hand in one way."""
        from rpgres.engine.beliefs import next_in_order
        from rpgres.model.cards import groups

        pile, target, dealt = self._pile(source), self._pile(to), list[str]()
        kinds = groups(pile.cards, self.lump, self.rules.cards, last=getattr(self.dealer, "others", False))
        sizes, at, used = tuple(map(len, kinds)), 0, 0
        for left in range(count, 0, -1):
            index = self.dealer.pick(next_in_order(sizes, at, used, left), label, self._count(label))
            at, used = (at, used + 1) if index == at else (index, 1)
            dealt.append(kinds[at][used - 1])
            self.events.append(Drawn(label, code_of(dealt[-1]), source, to, by, target.audience))
        rest = msgspec.structs.replace(pile, cards=piles.without(pile.cards, tuple(dealt)))
        self._put_piles({source: rest, to: piles.added(target, tuple(dealt))})
        self.has_secrets = self.has_secrets or target.audience is not None

    @property
    def is_read(self) -> bool:
        """Whether anybody reads the account; a rule may spare the words of `tell` where nobody does."""
        return not self.dealer.joint

    def _firsts(self, pile: str) -> tuple[tuple[Hashable, Card], ...]:
        """Return a card of each kind in a face-down pile, after its kind."""
        from rpgres.model.cards import firsts_of

        return firsts_of(self._pile(pile).cards, self.lump, self.rules.cards)

    def _stock(self, cards: tuple[str, ...]) -> list[tuple[str, int]]:
        """Return a physical card of each kind among some, and how many there are of it."""
        from rpgres.model.cards import Stack, classes

        firsts, sizes = classes(cards, Stack("", 0, self.rules.cards, self.lump))
        return list(zip(firsts, sizes, strict=True))

    def _kind(self, card: Card) -> Hashable:
        return card.code if self.lump is None else self.lump(card)

    def draw(
        self,
        pile: str,
        *,
        to: str,
        label: str = "draw",
        by: str = "",
        alike: Callable[[Card], Hashable] | None = None,
        holds: Collection[str] = OUTCOME_ONLY,
    ) -> Card | None:
        """Draw the top card of a face-down pile into another pile; seen by whoever may see that one.

        An empty pile is shuffled anew first, from the pile that its data name, if the switches allow.

        Args:
            pile: where it is drawn from.
            to: where it goes.
            label: the name under which it can be given.
            by: the character who draws, for the account.
            alike: which cards make no difference to the rule at this draw, for odds: those of one key.
            holds: the questions for which they make none, as for `merge`.

        Returns:
            The card; None when there is none to be drawn.
        """
        source = self._pile(pile)
        if self.unseen:
            into = self.unseen.get(to)
            if into is not None or any(unseen.source == pile for unseen in self.unseen.values()):
                return self._drawn_beside(pile, to, label, by)
        if not len(source):
            source = self._refilled(pile, source)
        target = self._pile(to)
        if not len(source):
            self._idled(label)
            return None
        if len(self.events) >= MAX_QUESTIONS:
            raise endless(label)
        if source.top:
            card = self._drawn(pile, msgspec.structs.replace(source, cards=source.top[:1]), label, alike)
            rest = msgspec.structs.replace(source, top=source.top[1:], knowers=source.knowers[1:])
        else:
            card = self._drawn(pile, source, label, alike if self._is_promised(holds) else None)
            rest = msgspec.structs.replace(source, cards=piles.without(source.cards, (card,)))
        self._put_piles({pile: rest, to: piles.added(target, (card,))})
        self.events.append(Drawn(label, code_of(card), pile, to, by, target.audience))
        self.has_secrets = self.has_secrets or target.audience is not None
        return self.rules.cards.card(card)

    def _drawn_beside(self, pile: str, to: str, label: str, by: str) -> Card | None:
        """Return the card that is drawn of a pile of which a hand was dealt that nobody has looked into.

        It is some card or other where it goes into that hand. Such a pile is not shuffled anew when it runs out.
        """
        from rpgres.engine.beliefs import drawn, grown

        hand, unseen = next((name, one) for name, one in self.unseen.items() if pile == one.source or name == to)
        if not unseen.left and len(self._pile(pile)) > unseen.size:
            why = f"{pile} runs out and is shuffled anew while a hand that was dealt from it is not known; say which"
            self.fault = UsageError(f"{why} cards are in {hand}, or give whoever plays from it fewer cards")
            raise self.fault
        if not unseen.left or unseen.source != pile:
            self._idled(label)
            return None
        if hand == to:
            self._idled(label)
            self.unseen = {**self.unseen, hand: grown(unseen)}
            return self.rules.cards.card(self._pile(pile).cards[0])
        told = drawn(unseen)
        chosen = told[self.dealer.pick([one.weight for one in told], label, self._count(label))]
        self.unseen = {**self.unseen, hand: chosen.after}
        return self._taken(chosen.kind, pile, to=to, label=label, by=by)

    def _taken(self, kind: Hashable, pile: str, *, to: str, label: str = "", by: str = "") -> Card:
        """Move a card of a kind from a face-down pile, as drawn where it has a label, and return it."""
        source, target = self._pile(pile), self._pile(to)
        first = next(card.code for one, card in self._firsts(pile) if one == kind)
        code = next(card for card in source.cards if code_of(card) == first)
        rest = msgspec.structs.replace(source, cards=piles.without(source.cards, (code,)))
        self._put_piles({pile: rest, to: piles.added(target, (code,))})
        if label:
            self.events.append(Drawn(label, code_of(code), pile, to, by, target.audience))
        return self.rules.cards.card(code)

    def _drawn(self, name: str, pile: Pile, label: str, alike: Callable[[Card], Hashable] | None) -> str:
        """Return the next card of a shuffled pile, as the dealer says."""
        from rpgres.model.cards import Stack

        stack = Stack(name, pile.shuffles, self.rules.cards, self.lump, alike)
        try:
            return self.dealer.draw(pile.cards, stack, label, self._count(label))
        except GivenError as error:
            self.fault = error
            raise

    def peek(self, pile: str, count: int = 1, *, by: str, label: str = "peek") -> tuple[Card, ...]:
        """Look at the top cards of a face-down pile, which stay there; their names are told to whoever looks alone.

        Args:
            pile: the pile.
            count: how many cards, from 1; fewer when there are not so many.
            by: the character who looks.
            label: the name under which they can be given.
        """
        seat = self.state.seat_of(by)
        found = self._pile(pile)
        top, knowers = list(found.top), list(found.knowers)
        rest = found.cards
        for number in range(min(count, len(found))):
            if len(self.events) >= MAX_QUESTIONS:
                raise endless(label)
            card = self._drawn(
                pile, msgspec.structs.replace(found, cards=tuple(top[number : number + 1]) or rest), label, None
            )
            if number == len(top):
                rest = piles.without(rest, (card,))
                top.append(card)
                knowers.append(())
        for number, card in enumerate(top[:count]):
            seats = knowers[number]
            knowers[number] = seats if seats is None or seat in seats else (*seats, seat)
            self.events.append(Drawn(label, code_of(card), pile, pile, by, (seat,)))
        self.has_secrets = self.has_secrets or bool(top)
        self._put_piles({pile: msgspec.structs.replace(found, cards=rest, top=tuple(top), knowers=tuple(knowers))})
        return tuple(self.rules.cards.card(card) for card in top[:count])

    def move(
        self,
        cards: Iterable[Card | str],
        *,
        source: str,
        to: str,
        by: str = "",
        label: str = "",
        on_top: bool = False,
    ) -> None:
        """Move cards from where they lie to another pile; seen by whoever may see either.

        Args:
            cards: the cards, or their codes; each has to lie in `source`.
            source: where they lie.
            to: where they go.
            by: the character who moves them, for the account.
            label: what the account calls it: that of the decision it carries out, or `spent`; empty: not worth a line.
            on_top: whether they are laid on top of a face-down pile, the first card uppermost, where whoever saw them
                still knows them; else they are anywhere in it, and the pile should be shuffled.
        """
        codes = [card if isinstance(card, str) else card.code for card in cards]
        if not codes:
            return
        if len(self.events) >= MAX_QUESTIONS:
            raise endless(f"cards of {source}")
        pile, target = self._pile(source), self._pile(to)
        moved = piles.found(pile.cards, codes)
        if moved is None:
            raise Broken(f"it moved {', '.join(codes)} from {source!r}, where there are no such cards")
        rest = msgspec.structs.replace(pile, cards=piles.without(pile.cards, moved))
        put = piles.topped(target, moved, knowers=pile.audience) if on_top else piles.added(target, moved)
        self._put_piles({source: rest, to: put} if source != to else {})
        audience = piles.common_audience(pile, target)
        self.events.append(Moved(tuple(codes), source, to, by, label, audience))
        self.has_secrets = self.has_secrets or audience is not None

    def shuffle(self, pile: str) -> None:
        """Shuffle a face-down pile, what was known of its top included."""
        self._put_piles({pile: piles.shuffled(self._pile(pile))})

    def _pile(self, name: str) -> Pile:
        try:
            return self.state.piles[name]
        except KeyError:
            known = ", ".join(self.state.piles) or "none"
            raise Broken(f"it used the pile {name!r}, which is not on the table; there are: {known}") from None

    def _put_piles(self, changed: Mapping[str, Pile]) -> None:
        """Change what lies in some piles; the state is this run's own, and gone with it."""
        self.state = msgspec.structs.replace(self.state, piles=Map({**self.state.piles, **changed}))

    def _refilled(self, name: str, pile: Pile) -> Pile:
        """Return an empty pile with the cards of the one that it is shuffled anew from."""
        refill = self.rules.may_refill(name)
        if not refill:
            return pile
        source = pile_name(refill, pile.owner) if self.rules.file.piles[refill].each else refill
        given = self._pile(source)
        if not len(given):
            return pile
        anew = piles.shuffled(msgspec.structs.replace(pile, cards=given.cards, top=given.top))
        self._put_piles({name: anew, source: msgspec.structs.replace(given, cards=(), top=())})
        self.events.append(Moved((FACE_DOWN,) * len(anew), source, name, "", "shuffled anew"))
        return anew

    def place(self, pile: str, texts: Sequence[str], *, option: str, elsewhere: Sequence[str] = ()) -> None:
        """Lay the cards that somebody says are in a pile there; those that are not go back, shuffled in.

        Args:
            pile: the pile.
            texts: the cards as typed; where a sign is left out, it is any such card.
            option: what it was typed after, for messages.
            elsewhere: the cards that are still to be laid in other piles.

        Raises:
            UsageError: there is no such card, or it lies somewhere else.
        """
        known_piles, there = self.rules.file.piles, self._pile(pile)
        source = known_piles[pile.partition(":")[0]].dealt_from
        source = pile_name(source, there.owner) if known_piles[source].each else source
        stock = self._pile(source)
        stock = msgspec.structs.replace(stock, cards=tuple(sorted((*stock.cards, *there.cards))))
        from rpgres.model.cards import Stack

        known, laid = self.rules.cards, list[str]()
        # Those that are said in full come first: the others are what is left then.
        for typed in sorted(texts, key=lambda text: len(known.matching(text)) != 1):
            codes = known.matching(typed)
            if not codes:
                raise UsageError(f"{option}: {unknown_card(known, typed)}")
            fitting = tuple(card for card in stock.cards if code_of(card) in codes)
            if not fitting:
                raise UsageError(f"{option}: no {typed} is left in {source}; every one lies somewhere else already")
            card = next((one for one in fitting if one in there.cards), fitting[0])
            if len({code_of(one) for one in fitting}) > 1:
                # Not in the order in which they would be drawn: those left would then come later than their share.
                stack = Stack(f"which:{source}", stock.shuffles, known, self.lump)
                free = unpromised(fitting, elsewhere, known=known)
                card = self.dealer.draw(free, stack, PLACE, self._count(PLACE))
                self.events.append(Drawn(PLACE, code_of(card), source, pile, "", there.audience))
                self.has_secrets = self.has_secrets or there.audience is not None
            laid.append(card)
            stock = msgspec.structs.replace(stock, cards=piles.without(stock.cards, (card,)))
        if set(there.cards) - set(laid):  # whoever held them knows them, and would draw them next
            stock = piles.shuffled(stock)
        self._put_piles({source: stock, pile: piles.added(msgspec.structs.replace(there, cards=()), tuple(laid))})

    # -- decisions

    def ask(
        self,
        label: str,
        who: str,
        options: Sequence[Option],
        *,
        text: str = "",
        optional: bool = False,
        dominant: str = "",
        is_won: bool = False,
        form: str = "",
        reads: Callable[[str], str] | None = None,
        pile: str = "",
        alike: Callable[[Card], Hashable] | None = None,
        holds: Collection[str] = OUTCOME_ONLY,
        hidden: bool = False,
        words: str = "",
        of: str = "",
        aside: Sequence[Option] = (),
        **facts: Any,
    ) -> str:
        """Ask somebody to decide and return the name of the option chosen.

        One option is no question. An optional question that nobody answers is answered `NO`; one without any option
        is too: so a rule says that a moment could be used if there were means, and a script that relied on it is
        refused at the end.

        Args:
            label: the name under which it is answered.
            who: the character that decides, or `GM`.
            options: what may be chosen; at least one, unless it is optional.
            text: the question as put to a person.
            optional: whether the moment may pass unused.
            dominant: an option that can never be worse for whoever decides, if the rule knows one; a promise, which
                spares odds of deciding well to look at the others.
            is_won: whether whoever decides well is certain of success from here on; a promise of the same kind.
            form: how an answer beyond the options is typed.
            reads: takes such an answer, where there are too many to list; see `Question`.
            pile: the hand whose cards (`possible`) the options are, each by its `short`; further options may be others.
            alike: which cards make no difference to the rule from here on, for odds of a hand that nobody looks into.
            holds: the questions for which they make none, as for `merge`.
            hidden: whether others must not learn how many options there are: even one is a question then, where they
                see that somebody is waited for; nor, where it is optional, whether there is any.
            words: what the decision is about, for people, where the facts do not say it well: nothing that whoever
                decides may not know.
            of: whose matter somebody else decides, such as a failure's; told with the answer.
            aside: further options that policies and odds do not weigh; see `Question`.
            facts: what the decision is about, for policies.

        Raises:
            ChoiceError: the answer is none of the options.
        """
        rest = dominant, is_won, form, reads, pile, alike, hidden, words, of, tuple(aside), holds
        question = Question(label, who, tuple(options), text, optional, facts, *rest)
        answer = self._ask(question)
        while self.trust is not None and not self._counts(question, answer):
            answer = self._ask(question)
        return answer

    def ask_together(self, questions: Iterable[Question], *, secret: bool = False) -> tuple[str, ...]:
        """Ask several people at once and return their answers in order; none knows what another one answers.

        Where people answer at different times, they do so in any order, and nothing is told before the last has.

        Args:
            questions: one or more; see `ask` for what holds of each.
            secret: whether the answers stay their owners' own afterwards; else everybody is told.

        Raises:
            ChoiceError: an answer is none of the options.
        """
        first, answers, asked = len(self.events), dict[int, str](), dict(enumerate(questions))
        while asked:
            left = list[Question]()
            for number, question in asked.items():
                try:
                    answers[number] = self._ask(question, is_hidden=True)
                except NeedsAnswer as needs:
                    if not self.players.gathers:
                        raise
                    left.append(needs.question)
            if left:
                raise NeedsAnswer(left[0], together=tuple(left[1:]))
            asked = {n: one for n, one in asked.items() if not self._counts(one, answers[n], is_hidden=True)}
        for number in range(first, len(self.events) if not secret else first):
            event = self.events[number]
            if isinstance(event, Told) or (isinstance(event, Decided) and event.answer != NO):
                self.events[number] = msgspec.structs.replace(event, audience=None)
        return tuple(answers[number] for number in sorted(answers))

    def _counts(self, question: Question, answer: str, *, is_hidden: bool = False) -> bool:
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
        """Tell what a seat claims, and return whether it counts; the engine's, not for rules.

        Args:
            by: the seat.
            claims: what no sheet has, in words; nothing to claim always counts.
            is_hidden: whether the seat and the game master alone may know of it so far.
        """
        if not claims or self.trust is None:
            return True
        words, audience = f"{by} claims: {', '.join(claims)}", (GM, by) if is_hidden else None
        self.tell(words, audience=audience)
        if not self.trust.asks:
            return True
        answer = self._ask(Question(CLAIM, GM, CLAIM_OPTIONS, "Does it count?", words=words))
        if is_hidden:
            self.events[-1] = msgspec.structs.replace(self.events[-1], audience=audience)
        return answer == CLAIM_OPTIONS[0].name

    def _ask(self, question: Question, *, is_hidden: bool = False) -> str:
        label, who, options, optional = question.label, question.who, question.options, question.optional
        if not options and not optional and question.reads is None:
            raise Broken(f"it asked {label!r} without any option")
        if self.unseen and question.pile in self.unseen:
            return self._ask_unseen(question, is_hidden=is_hidden)
        if question.is_one and not (question.hidden and self.players.gathers):
            self._idled(label)
            self.foregone[label] = question
            if not options:
                return NO
            self.single.add(label)
            self.players.scripted(question)  # which may name it
            return options[0].name
        if len(self.events) >= MAX_QUESTIONS:
            raise endless(label)
        self._count(label)
        view = self._view(who)
        answer = self.players.answer(question, view)
        if answer is None:
            if not optional:
                raise NeedsAnswer(question)
            return self._decided(question, NO, "window", (view.seat,))
        choice = answer.choice if isinstance(answer.choice, str) else self._draw(answer.choice, question)
        audience = (view.seat,) if is_hidden else None
        chosen = named_option(question.offered, choice)
        if chosen is not None:
            return self._decided(question, chosen.name, answer.means, audience, text=chosen.text)
        if optional and choice == NO:
            return self._decided(question, NO, answer.means, (view.seat,))
        try:
            return self._decided(question, accepted(question, choice), answer.means, audience)
        except ChoiceError as error:
            self.fault = error
            self._idled(label)
            raise

    def _ask_unseen(self, question: Question, *, is_hidden: bool) -> str:
        """Return what somebody plays from a hand that nobody has looked into, and note what that tells of the rest."""
        from rpgres.engine.beliefs import preferred, with_known

        label, hand = question.label, question.pile
        unseen, seat = self.unseen[hand], self.state.seat_of(question.who)
        possible = self.possible(hand)
        kinds = {card.short: self._kind(card) for card in possible}
        scripted = self.players.scripted(question)
        count = self._count(label)
        kind: Hashable
        after: Unseen | None
        if scripted is not None and scripted.choice == NO and question.optional:
            kind, after, name, means = None, unseen, NO, scripted.means
        elif scripted is not None:
            chosen = named_option(question.offered, str(scripted.choice))
            codes = self.rules.cards.matching(str(scripted.choice))
            kind = self._kind(self.rules.cards.card(codes[0])) if codes else None
            after = with_known(unseen, kind) if kind is not None else unseen
            if after is None or (chosen is None and kind is None):
                self.fault = refusal(question, str(scripted.choice))
                raise self.fault
            name, means = chosen.name if chosen is not None else "", scripted.means
            if kind is not None:
                name = next(short for short, its in kinds.items() if its == kind)
        else:
            preference = self.players.preference(question.who, seat)
            assert preference is not None  # or the hand would have been dealt
            order = [option.name for option in preference.order(question)]
            told = preferred(unseen, tuple(kinds.get(name) for name in order))
            if question.alike is not None and self._is_promised(question.holds):
                told = _told_alike(told, {kinds[card.short]: question.alike(card) for card in possible})
            found = told[self.dealer.pick([one.weight for one in told], label, count)]
            names = {kind: short for short, kind in kinds.items()}
            kind, after, means = found.kind, found.after, "policy"
            name = next(one for one in order if one not in kinds) if kind is None else str(names[kind])
        self.unseen = {**self.unseen, hand: after}
        if kind is not None:
            self._taken(kind, unseen.source, to=hand)
        return self._decided(question, name, means, (seat,) if is_hidden else None)

    def _decided(
        self, question: Question, answer: str, means: str, audience: tuple[str, ...] | None, *, text: str = ""
    ) -> str:
        """Note an answer, for some seats only or for everybody, and return it."""
        self.has_secrets = self.has_secrets or audience is not None
        self.events.append(Decided(question.label, question.who, answer, text, means, audience, question.of))
        return answer

    def _view(self, who: str) -> View:
        """Return what the seat of somebody may know."""
        state = self.state
        seat = state.seat_of(who)
        events: Sequence[Event] = self.events
        forgotten: Sequence[Event] = ()
        if self.has_secrets or self.since:
            events = [known for event in self.events[self.since :] if (known := seen(event, seat)) is not None]
            if self.since and not self.dealer.joint:  # in odds, nobody reads it
                forgotten = [known for event in self.events[: self.since] if (known := seen(event, seat)) is not None]
        is_open = not (state.tags or state.audiences or state.piles)
        return View(seat, state if is_open else state.seen_by(seat), events, forgotten)

    def _draw(self, weights: Mapping[str, int], question: Question) -> str:
        """Return one of the weighted options, drawn from the stream of whoever decides."""
        names = tuple(weights)
        offered = {option.name for option in question.options} | ({NO} if question.optional else set())
        numbers = tuple(weights.values())
        is_fair = all(type(number) is int and number >= 0 for number in numbers) and sum(numbers) > 0
        if not is_fair or not (question.reads is not None or offered.issuperset(names)):
            raise Broken(
                f"a policy weighed {question.label!r} with {dict(weights)!r}; weights are whole numbers, none negative "
                f"and not all 0, for {', '.join(sorted(offered))}"
            )
        label = f"policy:{question.who}:{question.label}"
        return names[self.dealer.pick(numbers, label, self._count(label))]

    # -- the account and the outcome

    def tell(self, text: str, *, audience: tuple[str, ...] | None = None) -> None:
        """Add a line to the account, for everybody or for some seats only."""
        if len(self.events) >= MAX_QUESTIONS:
            raise endless("a line of the account")
        self.events.append(Told(text, audience))
        self.has_secrets = self.has_secrets or audience is not None

    def settle(
        self,
        name: str,
        margin: int | None,
        *,
        total: int | None = None,
        opposition: int | None = None,
        roles: Mapping[str, str] = EMPTY,
        facts: Map[str, Any] = EMPTY,
        band: str = "",
        defaults: Mapping[str, Mapping[str, Any]] = EMPTY,
        about: Mapping[str, Any] = EMPTY,
        words: str = "",
        of: str = "",
        counts: bool = True,
    ) -> Outcome:
        """Return the outcome an outcome table gives for a margin, after asking what its row asks.

        This fixes the band, so a rule calls it once, when the margin can no longer change.

        Args:
            name: the outcome table.
            margin: total less opposition; None when nothing opposed the action.
            total, opposition: for the account.
            roles: who is meant by the roles that the table names (`actor`, `opponent`, ...).
            facts: what the table's conditions and effects may speak of, beside switches and the margin.
            band: the row that stands, where it is not the margin that decides.
            defaults: by kind of effect, the fields an effect gets that the table leaves out.
            about: what its questions are about, beside the margin.
            words: the same for people, in place of that and of the margin.
            of: whose matter they are; see `ask`.
            counts: whether the margin is the outcome's; else it only says which row stands, and the outcome has none.
        """
        found = self.rules.settlement(name, margin, facts, band=band)
        if self.asked != EFFECTS:
            raise Settled(found.band, margin if counts else None, total=total)
        if found.rolls:
            facts = self._with_results(found.rolls, facts, by=roles.get("actor", ""))
            found = self.rules.settlement(name, margin, facts, band=found.band)
        effects, texts = found.effects, found.texts
        if found.asks:
            known = {"margin": margin, **about}
            effects, texts = self._follow(found.asks, effects, texts, known, roles, facts, words=words, of=of)
        if defaults:
            effects = tuple(_with_defaults(effect, defaults) for effect in effects)
        return Outcome(found.band, found.success, margin if counts else None, total, opposition, effects, texts, roles)

    def _follow(
        self,
        asks: tuple[Ask, ...],
        effects: tuple[Effect, ...],
        texts: tuple[str, ...],
        about: Mapping[str, Any],
        roles: Mapping[str, str],
        facts: Map[str, Any],
        *,
        words: str,
        of: str,
    ) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
        """Return effects and texts with those of what is chosen added."""
        for ask in asks:
            who = roles.get(ask.who, ask.who)
            asked = Question(ask.label, who, ask.options, ask.text, ask.optional, about, words=words, of=of)
            answer = self._ask(asked)
            if answer == NO and ask.optional:
                continue  # let pass
            choice, known = ask.choices[answer], facts
            if choice.option is not None:
                known = self._with_results(choice.rolls, facts, by=roles.get("actor", ""))
                choice = self.rules.choice(choice.option, about["margin"], known)
            effects += choice.effects
            texts += (choice.text,)
            if choice.asks:
                effects, texts = self._follow(choice.asks, effects, texts, about, roles, known, words=words, of=of)
        return effects, texts

    def _with_results(self, rolls: Iterable[RowRoll], facts: Map[str, Any], *, by: str) -> Map[str, Any]:
        """Return facts with the results, by label, of what an outcome rolls."""
        from rpgres.dice import dice

        results: dict[str, int] = {}
        for rolled in rolls:
            value = self.roll(dice(rolled.dice), rolled.label, by=by)
            counts = results[rolled.label] = rolled.formula.within(value)
            words = rolled.words
            if counts != value:
                words = f"{words or rolled.dice}, at {'least' if counts > value else 'most'} {counts}"
            self.explain(rolled.label, words, counts=counts)
        return Map({**facts, **results})

    def _count(self, label: str) -> int:
        count = self.counts.get(label, 0)
        self.counts[label] = count + 1
        return count

    def _idled(self, label: str) -> None:
        self.idle += 1
        if self.idle > MAX_QUESTIONS:
            raise endless(label)


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


def _told_alike(told: tuple[Shown, ...], keys: Mapping[Hashable, Hashable]) -> tuple[Shown, ...]:
    """Return what may be told, one for all cards that make no difference."""
    joined: dict[Hashable, Shown] = {}
    for one in told:
        key = (one.kind is None, None if one.kind is None else keys[one.kind])
        first = joined.get(key)
        joined[key] = one if first is None else msgspec.structs.replace(first, weight=first.weight + one.weight)
    return tuple(joined.values())


def endless(label: str) -> Broken:
    """Return what stops a rule that asks without end.

    Args:
        label: what it asked last.
    """
    return Broken(f"it asked more than {MAX_QUESTIONS:,} questions in one action, {label!r} the last; it does not end")


def not_deterministic(asked: str, now: str) -> str:
    """Return what is wrong with a rule that asked something else when it was run again on the same answers.

    Args:
        asked, now: what it asked first and then, in words: a label in quotes, or `nothing`.
    """
    return f"run twice on the same answers it asked {asked} and then {now}; {PURE}"


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
        return f"{question.label}={choice} is not possible here: {question.who} has nothing to choose from{why}"
    cards = meant(choice, {option.name: (option.name,) for option in question.options})
    near = nearest(choice, names)
    said = " or ".join(cards) or (repr(near) if near else "")
    hint = f"; did you mean {said}?" if said else ""
    return f"{question.label}={choice} is not offered here; {question.who} may choose: {', '.join(names)}{hint}"


def apply_effects(rules: Rules, state: State, outcome: Outcome) -> State:
    """Return the state after an outcome: each effect by its kind's function, roles replaced by names.

    Raises:
        RuleError: the ruleset registered no function for a kind of effect, the function failed, or it left something
            on the table that is not plain, frozen data.
    """
    for effect in outcome.effects:
        before = state
        kind = effect["kind"]
        function = rules.effect_function(kind)
        if function is None:
            raise RuleError(f"the ruleset {rules.id} gives an effect of the kind {kind!r}, which it never registered")
        try:
            state = function(state, named(effect, outcome.roles))
            if type(state) is not State:
                raise TypeError(f"it returned {type(state).__name__}, not the state")
        except BaseException as error:
            if is_interrupt(error):
                raise
            place = place_of(error)
            told = f"the effect {kind} of the ruleset {rules.id} failed: {in_words(error)}{place}"
            raise RuleError(told, place=place) from error
        _check_kept(rules, kind, before, state)
    return state


def _check_kept(rules: Rules, kind: str, before: State, after: State) -> None:
    """Check that what an effect left on the table can be kept; most effects leave most fields as they were."""
    is_plain = after.things is before.things and after.tracks is before.tracks and after.audiences is before.audiences
    if is_plain and after.characters is before.characters and after.tags is before.tags:
        return
    from rpgres.model.serialization import fault_in, misnamed_in

    fault = ("" if is_plain else fault_in(after)) or misnamed_in(after)
    if fault:
        raise RuleError(f"the effect {kind} of the ruleset {rules.id} left what cannot be kept: {fault}")


def _with_defaults(effect: Effect, defaults: Mapping[str, Mapping[str, Any]]) -> Effect:
    fields = defaults.get(effect["kind"])
    if not fields:
        return effect
    return Map({**effect, **{key: value for key, value in fields.items() if key not in effect}})


def named(effect: Effect, roles: Mapping[str, str]) -> Effect:
    """Return an effect in which every role that stands for somebody is replaced by the name."""
    for key in ("to", "on", "by", "who"):
        value = effect.get(key)
        if isinstance(value, str) and value in roles:
            effect = effect.with_(key, roles[value])
    return effect
