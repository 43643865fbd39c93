"""The table: where a rule meets chance, decisions, the state and its secrets. Nothing here knows a ruleset.

A rule is a plain function `rule(table, actor, **parameters) -> Outcome`. It asks the table for everything that is
random or decided, changes nothing itself, and returns an outcome whose effects are applied when the action is over.
Run twice on the same answers it asks the same questions; that is what lets one text serve play, scripts and odds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.dice import Dice, Reading
from rpgres.engine.players import NO, Question
from rpgres.engine.running import CHAIN, EFFECTS, Chain, Rolled, Run, Settled
from rpgres.errors import RuleError, in_words, is_interrupt, place_of
from rpgres.model.state import EMPTY, Card, Map, State
from rpgres.rulesets import OUTCOME_ONLY, Ask, Effect, Option, RowRoll, Rules


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


class Table(msgspec.Struct, eq=False):
    """One run of one action: what a rule sees and asks.

    A rule reads `rules` and `state`; everything else goes through the methods. A rule that asks without end is
    stopped; one that computes without end and asks nothing is a loop in Python, which only whoever runs it can end.

    Stable are the methods, `rules` and `state`; `run` is the engine's.

    Attributes:
        run: the run behind it.
        rules: the ruleset in play, with its data and switches.
    """

    run: Run
    rules: Rules

    @property
    def state(self) -> State:
        """What lies on the table: as it was when the action began, but for the cards that were moved since."""
        return self.run.state

    @property
    def is_read(self) -> bool:
        """Whether anybody reads the account; a rule may spare the words of `tell` where nobody does."""
        return not self.run.dealer.joint

    # -- chance

    def roll(self, dice: Dice, label: str = "roll", *, by: str = "") -> int:
        """Roll dice and return their value.

        Args:
            dice: what is rolled; its value is one answer, however many dice it has.
            label: the name under which a result can be given.
            by: the character who rolls, for the account.

        Raises:
            GivenError: a result that was read off real dice or cards is impossible here.
        """
        return self.run.roll(dice, label, by)

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
        run = self.run
        dealer = run.dealer
        if dealer.joint and run.asked == "total":  # which may be no reading of the rule's
            _, values = dealer.read(dice, (*readings, Reading("total")), label, run.count(label))
            return values[-1], values[:-1]
        throw, values = dealer.read(dice, readings, label, run.count(label))
        if throw is None:
            return None, values
        run.events.append(Rolled(label, dice, throw, by))
        return throw.value, values

    def explain(self, label: str, words: str, *, counts: int | None = None) -> None:
        """Say of the last roll under a label, in the account, what was rolled; it changes nothing else.

        Args:
            label: the name under which it was rolled.
            words: the dice with what was added to them, such as `2d6 + 2 quick`.
            counts: what the roll counts for, where that is not the value of the dice.
        """
        events = self.run.events
        for number in reversed(range(len(events))):
            event = events[number]
            if isinstance(event, Rolled) and event.label == label:
                events[number] = msgspec.structs.replace(event, words=words, counts=counts)
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

        Raises:
            GivenError: a result that was read off real dice or cards is impossible here.
        """
        run = self.run
        if run.dealer.joint and run.asked != "total":
            label = "-".join(labels)
            difference = run.dealer.difference(own, other, label, run.count(label))
            return Compared(difference + add - other_add, None, None)
        total = run.roll(own, labels[0], by[0]) + add
        opposition = run.roll(other, labels[1], by[1]) + other_add
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
        self.run.merge(key, holds=holds)

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
        run = self.run
        if run.follow is not None and run.is_promised(holds):
            return run.follow(self, Chain(step, key), place)
        number = run.count(CHAIN)  # a rule may have several
        while True:
            run.merge((CHAIN, number, key(self, place)), holds=holds)
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
        from rpgres.engine import cards

        return cards.seen_in(self.run, pile)

    def count(self, pile: str) -> int:
        """Return how many cards lie in a pile."""
        from rpgres.engine import cards

        return cards.count_of(self.run, pile)

    def possible(self, pile: str) -> tuple[Card, ...]:
        """Return the cards of a hand, as `cards` does; of one that nobody looks into, a card of each kind it may have.

        A rule offers these when it asks for a card of a hand (`ask` with `pile`).
        """
        from rpgres.engine import cards

        return cards.possible_in(self.run, pile)

    def knowledge(self, pile: str) -> Hashable:
        """Return what matters of a hand's cards to whoever promises what matters (`merge`)."""
        from rpgres.engine import cards

        return cards.pile_of(self.run, pile).cards, self.run.unseen.get(pile)

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
        from rpgres.engine import cards

        cards.deal(self.run, source, to=to, count=count, label=label, by=by, looks=looks)

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

        Raises:
            GivenError: a result that was read off real dice or cards is impossible here.
        """
        from rpgres.engine import cards

        return cards.draw(self.run, pile, to=to, label=label, by=by, alike=alike, holds=holds)

    def peek(self, pile: str, count: int = 1, *, by: str, label: str = "peek") -> tuple[Card, ...]:
        """Look at the top cards of a face-down pile, which stay there; their names are told to whoever looks alone.

        Args:
            pile: the pile.
            count: how many cards, from 1; fewer when there are not so many.
            by: the character who looks.
            label: the name under which they can be given.
        """
        from rpgres.engine import cards

        return cards.peek(self.run, pile, count, by=by, label=label)

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
        from rpgres.engine.cards import move

        move(self.run, cards, source=source, to=to, by=by, label=label, on_top=on_top)

    def shuffle(self, pile: str) -> None:
        """Shuffle a face-down pile, what was known of its top included."""
        from rpgres.engine import cards

        cards.shuffle(self.run, pile)

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
        from rpgres.engine import cards

        cards.place(self.run, pile, texts, option=option, elsewhere=elsewhere)

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
        run = self.run
        answer = run.ask(question)
        while run.trust is not None and not run.confirmed(question, answer):
            answer = run.ask(question)
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
        return self.run.ask_together(questions, secret=secret)

    # -- the account and the outcome

    def tell(self, text: str, *, audience: tuple[str, ...] | None = None) -> None:
        """Add a line to the account.

        Args:
            text: the line.
            audience: the seats that may read it; None for everybody.
        """
        self.run.tell(text, audience=audience)

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
        run = self.run
        found = self.rules.settling.settlement(name, margin, facts, band=band)
        if run.asked != EFFECTS:
            raise Settled(found.band, margin if counts else None, total=total)
        if found.rolls:
            facts = _with_results(self, found.rolls, facts, by=roles.get("actor", ""))
            found = self.rules.settling.settlement(name, margin, facts, band=found.band)
        effects, texts = found.effects, found.texts
        if found.asks:
            settling = _Settling(self, {"margin": margin, **about}, roles, words, of)
            effects, texts = settling.follow(found.asks, effects, texts, facts)
        if defaults:
            effects = tuple(_with_defaults(effect, defaults) for effect in effects)
        return Outcome(found.band, found.success, margin if counts else None, total, opposition, effects, texts, roles)


class _Settling(msgspec.Struct, gc=False):
    """The questions of a row on their way: what they are about and who is meant by roles, as for `Table.settle`."""

    table: Table
    about: Mapping[str, Any]
    roles: Mapping[str, str]
    words: str
    of: str

    def follow(
        self, asks: tuple[Ask, ...], effects: tuple[Effect, ...], texts: tuple[str, ...], facts: Map[str, Any]
    ) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
        """Return effects and texts with those of what is chosen added."""
        table, roles = self.table, self.roles
        for ask in asks:
            who = roles.get(ask.who, ask.who)
            asked = Question(
                ask.label, who, ask.options, ask.text, ask.optional, self.about, words=self.words, of=self.of
            )
            answer = table.run.ask(asked)
            if answer == NO and ask.optional:
                continue  # let pass
            choice, known = ask.choices[answer], facts
            if choice.option is not None:
                known = _with_results(table, choice.rolls, facts, by=roles.get("actor", ""))
                choice = table.rules.settling.choice(choice.option, self.about["margin"], known)
            effects += choice.effects
            texts += (choice.text,)
            if choice.asks:
                effects, texts = self.follow(choice.asks, effects, texts, known)
        return effects, texts


def _with_results(table: Table, rolls: Iterable[RowRoll], facts: Map[str, Any], *, by: str) -> Map[str, Any]:
    """Return facts with the results, by label, of what an outcome rolls."""
    from rpgres.dice import dice

    results: dict[str, int] = {}
    for rolled in rolls:
        value = table.roll(dice(rolled.dice), rolled.label, by=by)
        counts = results[rolled.label] = rolled.formula.within(value)
        words = rolled.words
        if counts != value:
            words = f"{words or rolled.dice}, at {'least' if counts > value else 'most'} {counts}"
        table.explain(rolled.label, words, counts=counts)
    return Map({**facts, **results})


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
            raise RuleError(
                f"the ruleset {rules.id} returned an effect of the kind {kind!r}, for which no function is registered"
            )
        try:
            state = function(state, named(effect, outcome.roles))
            if type(state) is not State:
                raise TypeError(f"it returned {type(state).__name__}, not the state")
        except BaseException as error:
            if is_interrupt(error):
                raise
            place = place_of(error)
            message = f"the effect {kind} of the ruleset {rules.id} failed: {in_words(error)}{place}"
            raise RuleError(message, place=place) from error
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
        raise RuleError(f"the effect {kind} of the ruleset {rules.id} returned an invalid state: {fault}")


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
