"""The table: the interface through which rules get random results, decisions and the state.

A rule is a plain function `rule(table, actor, **parameters) -> Outcome`. It asks the table for everything that is
random or decided, changes nothing itself, and returns an outcome whose effects are applied when the action is over.
It must be deterministic: with the same answers it asks the same questions, so one rule serves play, scripts and odds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from rpgres.dice import Dice, Reading
from rpgres.engine import decisions
from rpgres.engine.events import Rolled
from rpgres.engine.outcomes import Outcome as Outcome
from rpgres.engine.outcomes import Settling, complete_row, with_defaults
from rpgres.engine.players import NO, Question
from rpgres.engine.running import CHAIN, TO_THE_END, Chain, Onward, Run
from rpgres.engine.stops import Broken, Settled
from rpgres.model.state import EMPTY, Card, Map, State, undealt_in
from rpgres.rulesets import OUTCOME_ONLY, Effect, Option, Rules
from rpgres.rulesets.schema import CLAIM

T = TypeVar("T")

MEASURED = ("margin", "total")  # questions of odds that every answer may matter to


class Compared(msgspec.Struct, frozen=True, gc=False):
    """Two rolls compared. A rule may use only `margin`; the totals are for the log, and None in odds."""

    margin: int
    total: int | None
    opposition: int | None


class Table(msgspec.Struct, eq=False, gc=False):
    """One run of one action: what a rule sees and asks.

    A rule reads `rules` and `state`; everything else goes through the methods. A rule that asks endlessly is stopped;
    an endless loop without questions has to be interrupted from outside.

    The methods, `rules` and `state` are public API; `run` is internal.

    Attributes:
        run: the run behind it.
        rules: the ruleset in play, with its data and switches.
    """

    run: Run
    rules: Rules

    @property
    def state(self) -> State:
        """The state when the action began, updated only by moved cards."""
        return self.run.state

    @property
    def is_read(self) -> bool:
        """Whether the log is used; otherwise a rule can skip building texts for `tell`."""
        return self.run.dealer.is_logged

    # -- chance

    def roll(self, dice: Dice, label: str = "roll", by: str = "") -> int:
        """Roll dice and return their value.

        Args:
            dice: the dice; their value is a single answer.
            label: the name under which a result can be given.
            by: the character who rolls, for the log.

        Raises:
            GivenError: a given result is impossible here.
        """
        return self.run.roll(dice, label, by).throw.value

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str = "roll", *, by: str = ""
    ) -> tuple[int | None, tuple[int, ...]]:
        """Roll dice and return the total, if known, and the readings in order.

        A rule uses this in place of `roll` when it needs more than the total, such as the natural die or how many sixes
        there are. The rule may use only the readings; in odds they are one question, and the total is None.

        Args:
            dice: the dice.
            readings: the values to read from them.
            label: the name under which a result can be given.
            by: the character who rolls, for the log.
        """
        run = self.run
        dealer = run.dealer
        if dealer.joint and run.asked == "total":  # which may be no reading of the rule's
            _, values = dealer.read(dice, (*readings, Reading("total")), label, run.count(label))
            return values[-1], values[:-1]
        count = run.count(label)
        if dealer.takes_given and dice.pools:
            run.read_off(label, count, by, dice, has_total=False)
        throw, values = dealer.read(dice, readings, label, count)
        if throw is None:
            return None, values
        run.events.append(Rolled(label, dice, throw, by))
        return throw.value, values

    def explain(self, label: str, words: str, *, counts: int | None = None) -> None:
        """Describe the last roll of a label in the log; nothing else changes.

        Args:
            label: the name under which it was rolled.
            words: the dice with modifiers, such as `2d6 + 2 quick`.
            counts: the value that the roll counts for, if it is not the value of the dice.
        """
        self.run.explain(label, words, counts=counts)

    def versus(
        self,
        own: Dice,
        other: Dice,
        add: int = 0,
        other_add: int = 0,
        labels: tuple[str, str] = ("roll", "opposition"),
        by: tuple[str, str] = ("", ""),
    ) -> Compared:
        """Roll two sides against each other and return the margin: own total minus the other.

        Use this instead of two `roll`s when only the difference matters: odds then enumerate the differences (17 for
        two Fate rolls) instead of the pairs (81), unless totals are asked for.

        Args:
            own, other: the dice of the two sides.
            add, other_add: modifiers of each.
            labels: the names under which the two results can be given.
            by: the characters who roll, for the log.

        Raises:
            GivenError: a given result is impossible here.
        """
        run = self.run
        if run.dealer.joint and run.asked != "total":
            label = "-".join(labels)
            difference = run.dealer.difference(own, other, label, run.count(label))
            return Compared(difference + add - other_add, None, None)
        (label, other_label), (who, opponent) = labels, by
        total = run.roll(own, label, who).throw.value + add
        opposition = run.roll(other, other_label, opponent).throw.value + other_add
        return Compared(total - opposition, total, opposition)

    def merge(
        self, key: Hashable, *, holds: Collection[str] = OUTCOME_ONLY, pays: tuple[Effect, ...] = ()
    ) -> tuple[Effect, ...]:
        """Promise that from here on only `key` (hashable) matters; odds continue once for all runs with the same key.

        The key must distinguish different points of a rule. Earlier events are removed from all views, so no policy
        can depend on which of the merged runs continues.

        Args:
            key: what matters.
            holds: the kinds of odds for which the promise holds (`QUESTIONS`): `margin` if runs with the same key also
                have the same margins; `state`, for odds of scenes, if the table is the same afterwards. Other odds
                ignore the merge.
            pays: effects that are settled, with which the outcome begins whatever else it has; they name characters,
                and no roles. `key` is then what matters beside them.

        Returns:
            Those of `pays` that the rule still has to return: all, or none where odds of scenes apply them apart.
        """
        found: tuple[Effect, ...] = self.run.merge(key, holds=holds, pays=pays)
        return found

    def carries(self, key: Hashable) -> None:
        """Tell what of a procedure's turn matters after a rule that it calls, beside table, place and its outcome.

        Merges of that rule which hold for `state` are then shared by all turns with the same key.
        """
        self.run.carried = key

    def chain(
        self,
        step: Callable[[Table, Any], Any],
        place: Any,
        *,
        key: Callable[[Table, Any], Hashable],
        holds: Collection[str] = OUTCOME_ONLY,
    ) -> Any:
        """Run steps until one returns None, and return the last state (`place`).

        A long procedure is a chain of short steps. Odds evaluate each place once and resume the rule there, without its
        history; so a step reads only the table and the place, and `key` identifies a place.

        Args:
            step: `step(table, place)` returns the next place, or None at the end; a module-level function.
            place: the first place; frozen data, as all places.
            key: `key(table, place)` is everything that matters from a place on (hashable), as for `merge`, including
                data from before the chain that the rule needs after it.
            holds: the kinds of odds for which this holds, as for `merge`.
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

    def part(
        self,
        key: Callable[[], Hashable],
        play: Callable[[Table], Any],
        onward: Onward | None = None,
        *,
        asks: Sequence[str] | None = None,
    ) -> Any:
        """Play a part of a rule whose result depends only on `key`, and return the result.

        Odds of scenes work it out once for each key, in whatever turn it comes up, if everybody decides by policies
        that look at nothing but the question (`by_question`), and evaluate each place of its chains (`chain`) once. It
        leaves table and log alone.

        Args:
            key: returns what the result depends on (hashable), beside the ruleset and who decides.
            play: plays it at the table that it is given; in odds, its result is compared and hashed.
            onward: returns, of a result, the key and what is paid in the `merge` that the rule comes to next, with
                nothing asked and nothing carried in between. Odds of scenes go on there at once.
            asks: the labels of all decisions in it, so that standing orders for others may look at the table; None
                for any.
        """
        run, rules = self.run, self.rules
        if not run.keeps_parts(asks):
            return play(self)
        return run.dealer.part(run, key(), lambda inner: play(Table(inner, rules)), onward)

    # -- cards

    def cards(self, pile: str) -> tuple[Card, ...]:
        """Return the cards of a face-up pile or a hand, sorted by code.

        Face-down piles cannot be read; their cards are drawn.

        Args:
            pile: the pile's name; of a character's own pile `pile_name("hand", actor.name)`.
        """
        from rpgres.engine.cards import seen_in

        return seen_in(self.run, pile)

    def count(self, pile: str) -> int:
        """Return the number of cards in a pile."""
        from rpgres.engine.cards import count_of

        return count_of(self.run, pile)

    def possible(self, pile: str) -> tuple[Card, ...]:
        """Return the cards of a hand, as `cards` does; of an unseen hand, one card of each kind that it may contain.

        These are the options when a rule asks for a card of a hand (`ask` with `pile`).
        """
        from rpgres.engine.cards import possible_in

        return possible_in(self.run, pile)

    def knowledge(self, pile: str) -> Hashable:
        """Return what identifies the cards of a hand in a key for `merge`."""
        from rpgres.engine.cards import pile_of

        found = pile_of(self.run, pile)
        return found.cards, undealt_in(found), self.run.unseen.get(pile)

    def deal(self, source: str, *, to: str, count: int, label: str = "deal", by: str = "", looks: bool = False) -> None:
        """Deal cards from a face-down pile into a hand, as many as are available.

        In odds, the hand of a player with a `Preference` policy stays unseen: a card is determined when it is played.
        Other hands are enumerated as combinations, ignoring the order of their cards.

        Args:
            source: the face-down pile.
            to: the hand.
            count: how many cards.
            label: the name under which they can be given.
            by: the owner of the hand, for the log and for decisions.
            looks: whether the rule reads the hand (`cards`), so that it cannot stay unseen.
        """
        from rpgres.engine.cards import deal

        deal(self.run, source, to=to, count=count, label=label, by=by, looks=looks)

    def draw(
        self,
        pile: str,
        *,
        to: str,
        label: str = "draw",
        by: str = "",
        card_key: Callable[[Card], Hashable] | None = None,
        holds: Collection[str] = OUTCOME_ONLY,
    ) -> Card | None:
        """Draw the top card of a face-down pile into another pile; visible to the seats that see that pile.

        An empty pile is refilled and shuffled first, if its data and the switches allow.

        Args:
            pile: the source.
            to: the target.
            label: the name under which it can be given.
            by: the character who draws, for the log.
            card_key: the equivalence key of a card at this draw, for odds.
            holds: the kinds of odds for which equivalent cards make no difference, as for `merge`.

        Returns:
            The card; None if there is none.

        Raises:
            GivenError: a given result is impossible here.
        """
        from rpgres.engine.cards import draw

        return draw(self.run, pile, to=to, label=label, by=by, card_key=card_key, holds=holds)

    def peek(self, pile: str, count: int = 1, *, by: str, label: str = "peek") -> tuple[Card, ...]:
        """Look at the top cards of a face-down pile without moving them; only `by` learns which they are.

        Args:
            pile: the pile.
            count: how many cards, at least 1; fewer if the pile is smaller.
            by: the character who looks.
            label: the name under which they can be given.
        """
        from rpgres.engine.cards import peek

        return peek(self.run, pile, count, by=by, label=label)

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
        """Move cards to another pile; visible to the seats that see either pile.

        Args:
            cards: the cards, or their codes; each must be in `source`.
            source: the source.
            to: the target.
            by: the character who moves them, for the log.
            label: the label in the log: that of the decision, or `spent`; empty for no line.
            on_top: whether they go on top of a face-down pile, the first card uppermost, where seats that saw them
                still know them; otherwise they are at unknown positions, and the pile should be shuffled.
        """
        from rpgres.engine.cards import move

        move(self.run, cards, source=source, to=to, by=by, label=label, on_top=on_top)

    def shuffle(self, pile: str) -> None:
        """Shuffle a face-down pile; knowledge of its top cards is lost."""
        from rpgres.engine.cards import shuffle

        shuffle(self.run, pile)

    def place(self, pile: str, texts: Sequence[str], *, option: str, elsewhere: Sequence[str] = ()) -> None:
        """Put given cards into a pile, in place of its cards, which are shuffled back.

        Args:
            pile: the pile.
            texts: the cards as typed; without a sign, any card of that value.
            option: the name of the input, for messages.
            elsewhere: the cards that will be put into other piles.

        Raises:
            UsageError: there is no such card, or it is in another pile.
        """
        from rpgres.engine.cards import place

        place(self.run, pile, texts, option=option, elsewhere=elsewhere)

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
        card_key: Callable[[Card], Hashable] | None = None,
        holds: Collection[str] = OUTCOME_ONLY,
        hidden: bool = False,
        words: str = "",
        of: str = "",
        aside: Sequence[Option] = (),
        moot: bool = False,
        says_more: bool = False,
        **facts: Any,
    ) -> str:
        """Ask for a decision and return the name of the chosen option.

        A question with one option is not asked. An optional question that is skipped or has no options returns `NO`; a
        rule asks it even without options, so that a script with an answer for it is rejected.

        Args:
            label: the name under which it is answered.
            who: the character that decides, or `GM`.
            options: the options; at least one, unless the question is optional.
            text: the question for people.
            optional: whether the decision can be skipped.
            dominant: a promise: this option is never worse for the result; odds of optimal decisions skip the others.
            is_won: whether optimal decisions are certain to succeed from here on; a promise of the same kind.
            form: the syntax of answers beyond the options.
            reads: parses such an answer; see `Question`.
            pile: the hand whose cards (`possible`) are the options, each by its `short`; there may be other options.
            card_key: the equivalence key of a card from here on, for odds of an unseen hand.
            holds: the kinds of odds for which equivalent cards make no difference, as for `merge`.
            hidden: whether the number of options is secret: a single option is asked too, and an optional question
                without options.
            words: what the decision is about, for people, in place of the facts; nothing that `who` may not know.
            of: the character whose matter is decided, such as the one who failed; shown with the answer.
            aside: further options that policies and odds do not evaluate; see `Question`.
            moot: a promise: no answer brings `who` anything but its cost now; only answers given beforehand count.
            says_more: whether all that `reads` takes is an option with more words, as `attack voss` for `attack`.
            facts: what the decision is about, for policies.

        Raises:
            ChoiceError: the answer is none of the options.
        """
        rest = dominant, is_won, form, reads, pile, card_key, hidden, words, of, tuple(aside), holds
        run, is_moot = self.run, moot and optional and self.run.asked not in MEASURED
        question = Question(label, who, tuple(options), text, optional, facts, *rest, moot=is_moot, says_more=says_more)
        answer = decisions.ask(run, question)
        while run.trust is not None and not decisions.confirmed(run, question, answer):
            answer = decisions.ask(run, question)
        return answer

    def name(self, label: str, who: str, default: str, *, of: str) -> str:
        """Ask for the name of something new, where a person can be asked, and return it.

        No answer is needed: odds and policies take the default, and no action waits for it.

        Args:
            label: the name under which it is answered.
            who: the character that names it, or `GM`.
            default: its name without an answer.
            of: what is named, as people read it: `the new aspect`.
        """
        if not self.is_read:
            return default
        said = decisions.ask(self.run, decisions.naming(label, who, default, of=of))
        return default if said == NO else said

    def ask_together(self, questions: Iterable[Question], *, secret: bool = False) -> tuple[str, ...]:
        """Ask several players simultaneously and return their answers in order.

        They can answer in any order; no answer is shown before the last one is given.

        Args:
            questions: one or more; see `ask`.
            secret: whether the answers stay secret afterwards.

        Raises:
            ChoiceError: an answer is none of the options.
        """
        return decisions.ask_together(self.run, questions, secret=secret)

    # -- the log and the outcome

    def tell(self, text: str, *, audience: tuple[str, ...] | None = None, reveals: tuple[str, ...] = ()) -> None:
        """Add a line to the log.

        Args:
            text: the line.
            audience: the seats that may read it; None for everybody.
            reveals: what was hidden and comes to light by the line, or `plugin check` calls it a leak: names of tags,
                tracks, things or their parts (`hand-bo/stacks`), codes of cards, answers as `WHO:LABEL`.
        """
        self.run.tell(text, audience=audience, reveals=reveals)

    def settle(
        self,
        name: str,
        margin: int | None,
        total: int | None = None,
        opposition: int | None = None,
        roles: Mapping[str, str] = EMPTY,
        facts: Map[str, Any] = EMPTY,
        defaults: Mapping[str, Mapping[str, Any]] = EMPTY,
        counts: bool = True,
        band: str = "",
        about: Mapping[str, Any] = EMPTY,
        words: str = "",
        of: str = "",
        details: Mapping[str, Any] = EMPTY,
    ) -> Outcome:
        """Return the outcome an outcome table gives for a margin, after asking what its row asks.

        This fixes the band, so a rule calls it once, when the margin is final.

        Args:
            name: the outcome table.
            margin: total minus opposition; None for an unopposed action.
            total, opposition: for the log.
            roles: character names of the roles in the table (`actor`, `opponent`, ...).
            facts: values for conditions and effects, in addition to switches and the margin.
            band: the row, if it is not determined by the margin.
            defaults: default fields of effects, by kind.
            about: facts of the questions, in addition to the margin.
            words: the same for people, in place of facts and margin.
            of: whose matter is decided; see `ask`.
            counts: whether the outcome has this margin; otherwise it only selects the row.
            details: what is told beside the outcome, by name.
        """
        run = self.run
        found = self.rules.settling.settlement(name, margin, facts, band)
        if run.asked not in TO_THE_END:
            raise Settled(found.outcome, margin if counts else None, total=total, details=details)
        if found.rolls or found.asks:
            found = complete_row(run, found, Settling(name, margin, facts, roles, about, words, of))
        effects = found.effects
        if defaults:
            effects = tuple(with_defaults(effect, defaults) for effect in effects)
        counted = margin if counts else None
        band = found.outcome
        outcome = Outcome(band, found.success, counted, total, opposition, effects, found.texts, roles, details)
        if not found.links:
            return outcome
        from rpgres.engine.tables import led_on

        return led_on(run, outcome, found.links)


def once(table: Table, work: Callable[..., T], *args: Any) -> T:
    """Return what the part of an action returns that comes before its dice, worked out once for all its runs.

    Args:
        table: where it is played.
        work: works it out. It depends on the action's inputs alone, and neither rolls nor asks; what it tells is told
            in each run.
        args: what it takes.

    Raises:
        Broken: the run has rolled or asked before, so that this could depend on what came of it.
    """
    run = table.run
    kept, number = run.kept, run.looked_up
    if kept is None:
        return work(*args)
    if len(run.counts) > (CLAIM in run.counts):  # which is asked before the rule
        raise Broken("it works out for all runs what comes after a roll or a question; do so before them")
    run.looked_up = number + 1
    if number == len(kept):
        first, value = len(run.events), work(*args)
        kept.append((value, tuple(run.events[first:])))
        return value
    value, told = kept[number]
    for event in told:
        run.add(event)
    found: T = value
    return found
