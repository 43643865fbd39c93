"""Dealers answer chance: from a seed, or with results of real dice and cards. Those of exact odds are in `rpgres.odds`.

Nothing here knows rules; a dealer is asked by the table and answers by label and count.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct, structs

from rpgres.dice import Dice, Reading, Throw
from rpgres.dice.seeds import LANES, WORD, Streams, pick
from rpgres.errors import GivenError
from rpgres.model.state import EMPTY

if TYPE_CHECKING:
    from rpgres.dice import Law
    from rpgres.dice.readings import JointLaw
    from rpgres.engine.running import Onward, Run
    from rpgres.model.cards import Cards, Stack
    from rpgres.rulesets import Effect


class Due(Struct, frozen=True):
    """A result that a person may read off real dice or cards.

    Attributes:
        label, asked, turn: the question, how often it was asked before, and in which turn of a procedure.
        by: who rolls or draws; empty where the rule does not say.
        dice: the dice in notation; empty for a card.
        check: returns a typed result as it is given, a text for each card; raises `GivenError` where it is impossible.
    """

    label: str
    asked: int
    turn: int
    by: str
    dice: str
    check: Callable[[str], Sequence[str]]


T = TypeVar("T")
Hand = Callable[[Due], "Sequence[str] | None"]  # asks for a result; None leaves it to the seed


def remembering(hand: Hand | None) -> Hand | None:
    """Return a hand that asks for each result once, however often the run is repeated."""
    return Remembered(hand).ask if hand is not None else None


class Remembered:
    """Results that a hand was asked for, kept while a run is repeated, up to an answer that is taken back.

    Args:
        hand: asks a person for results.
    """

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        self._answers = 0  # given in this run so far
        self._known: dict[tuple[int, str, int], tuple[int, Sequence[str] | None]] = {}

    def begin(self) -> None:
        """Take note that the run begins, for the first time or again."""
        self._answers = 0

    def ask(self, due: Due) -> Sequence[str] | None:
        """Return a result, asked for once."""
        key = due.turn, due.label, due.asked
        if key not in self._known:
            self._known[key] = self._answers, self._hand(due)
        return self._known[key][1]

    def counting(self, prompt: Callable[..., str | None]) -> Callable[..., str | None]:
        """Return what prompts a person, and counts their answers."""

        def once(*about: Any) -> str | None:
            answer = prompt(*about)
            self._answers += 1
            return answer

        return once

    def take_back(self) -> None:
        """Forget what was asked for after the last answer, which is taken back."""
        self._known = {key: found for key, found in self._known.items() if found[0] < self._answers}


class Dealer:
    """Base of all dealers.

    Attributes:
        joint: whether it answers two compared rolls, and several readings of one, as one question; see `Table.versus`.
        is_logged: whether somebody reads what happened; else a rule can skip building texts.
        keeps_parts: whether it keeps what parts of rules come to; see `Table.part`.
        takes_given: whether it may have results of real dice and cards.
        hand: asks a person for results of real dice and cards; None for no one.
    """

    __slots__ = ()
    hand: Hand | None = None
    joint = False
    is_logged = True
    keeps_parts = False
    takes_given = False

    def defers(self, label: str) -> bool:
        """Tell whether cards that are dealt under a label stay undealt until somebody looks; see `UndealtPile`."""
        return False

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        """Return one result of the dice for the `count`-th question of this label."""
        raise NotImplementedError

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        """Return an index with chance proportional to its weight."""
        raise NotImplementedError

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return one card of a shuffled face-down pile, of which there is at least one.

        Args:
            cards: the pile, or the part of it that is asked for.
            label, count: the question, and how often it was asked before.
        """
        raise NotImplementedError

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        """Return what is read off one result, and the result itself where there is a single one."""
        from rpgres.dice.readings import read_off

        throw = self.throw(dice, label, count)
        return throw, read_off(dice, throw, readings)

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        """Return one result with every die, for a rule that reads them itself; not asked of a joint dealer."""
        return self.throw(dice, label, count)

    def difference(self, own: Dice, other: Dice, label: str, count: int) -> int:
        """Return one difference of two rolls; only asked of a joint dealer."""
        raise NotImplementedError

    def of_law(self, label: str, law: Law | JointLaw) -> Any:
        """Return one of the values of a distribution; only asked of a joint dealer."""
        raise NotImplementedError

    def came_to(self, outcome: str | None) -> None:
        """Take note of what a step of a scene came to, in odds that tell of it."""

    def merge(self, key: object) -> None:
        """Note that from here on only `key` matters; a single run ignores it."""

    def merge_paid(self, run: Run, key: Hashable, pays: tuple[Effect, ...]) -> tuple[Effect, ...]:
        """Note that only `key` and what was paid matter, and return what the outcome has to begin with; see `merge`."""
        self.merge((run.carried, (key, pays), run.players.used()))
        return pays

    def applies(self) -> None:
        """Take note that from here on the effects of what was played are applied, and no rule runs any more."""

    def begin_turn(self, turn: int) -> None:
        """Take note that a procedure goes on to another turn, from 0, whose questions are counted anew."""

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any], onward: Onward | None = None) -> Any:
        """Return the result of a part of a rule; only asked of a dealer that keeps parts.

        Args:
            onward: returns, of a result, what the rule merges on behind it, and what it has paid by then.
        """
        raise NotImplementedError


class NoDealer(Dealer):
    """Answers nothing: the first question of chance is an error.

    Args:
        refuse: returns the error for a verb, `rolled` or `drew`, and the label.
    """

    __slots__ = ("_refuse",)

    def __init__(self, refuse: Callable[[str, str], BaseException]) -> None:
        self._refuse = refuse

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        raise self._refuse("rolled", label)

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        raise self._refuse("drew", label)

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        raise self._refuse("drew", label)


class SeededDealer(Dealer):
    """Answers from a seed, a stream for each question.

    Args:
        streams: the numbers of the seed and run.
        step: which step of a scene or table this is, from 0.
    """

    __slots__ = ("_many", "_ready", "_step", "_streams", "_turn")

    def __init__(self, streams: Streams, *, step: int = 0) -> None:
        self._streams = streams
        self._step = step
        self._turn = ""  # what sets the labels of a procedure's later turns apart
        self._many = False
        self._ready: dict[tuple[int, str, int], tuple[Dice, tuple[Throw | None, ...]]] = streams.results

    def move_to(self, run: int) -> None:
        """Go on to another run of the same seed."""
        self._turn = ""
        self._many = True  # from the second run on a table of all results pays for itself
        self._streams.move_to(run)

    def begin_step(self, step: int) -> None:
        """Go on to another step of a scene; see `step`."""
        self._step, self._turn = step, ""

    def begin_turn(self, turn: int) -> None:
        """Go on to another turn of a procedure: its dice do not depend on how much was rolled before it."""
        self._turn = f"@{turn}" if turn else ""

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        """Return the throw for this question."""
        if self._turn:
            label += self._turn
        if self._many:
            place = self._step, label, count
            ready = self._ready.get(place)
            if ready is None or ready[0] is not dice:
                ready = self._ready[place] = dice, self._throws(dice, label, count)
            throw = ready[1][self._streams.lane]
            if throw is not None:
                return throw
        return dice.throw(self._streams.below(self._step, label, count))

    def _throws(self, dice: Dice, label: str, count: int) -> tuple[Throw | None, ...]:
        """Return what the runs that share a block throw here; None where a word would not be fair, or has no table."""
        table = dice.table
        if table is None:
            return (None,) * LANES
        size = len(table)
        fair = WORD - WORD % size  # the same numbers that `below` draws first
        words = self._streams.words(self._step, label, count)
        if max(words) < fair:
            return tuple([table[word % size] for word in words])
        return tuple([table[word % size] if word < fair else None for word in words])

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        """Return an index drawn by weight from this question's stream."""
        return pick(weights, self._streams.below(self._step, label + self._turn, count))

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return the card that comes first in the order that the seed holds for this pile and shuffle.

        Every physical card has a number of its own there, whatever else lies in the pile, so that the others keep their
        order when one is taken out.
        """
        word, place = self._streams.word, f"cards:{stack.pile}:{stack.shuffles}"
        return min(cards, key=lambda card: (word(0, f"{place}:{card}", 0), card))


class Given(Struct, frozen=True, omit_defaults=True):
    """A result of real dice or cards that somebody gave.

    Attributes:
        text: the result as typed.
        by: the seat of a player; empty for the host and the game master.
        claim: whether the game master still has to confirm it when it is used, or has refused it, so that the seed
            answered. A player's result that is given with an action is one of the action's claims instead.
    """

    text: str
    by: str = ""
    claim: Literal["", "pending", "refused"] = ""


GivenByLabel = Mapping[str, Sequence["Given | None"]]  # in the order of the questions; None where the seed answers


def is_given(results: Sequence[Given | None], number: int) -> bool:
    """Tell whether the answer to a question of a label was given, and not refused or drawn from the seed."""
    return has_given(results[number : number + 1])


def has_given(results: Sequence[Given | None]) -> bool:
    """Tell whether some answer to a question of a label was given."""
    return any(one is not None and one.claim != "refused" for one in results)


class GivenDealer(Dealer):
    """Answers with results read off real dice, by label and in order, and leaves the rest to another dealer.

    Args:
        given: the results as typed, by label; None leaves that question to the other dealer.
        then: who answers what was not given.
        hand: asks a person for results as they come up, before they are left to the other dealer.
    """

    __slots__ = ("_given", "_then", "hand")
    takes_given = True

    def __init__(self, given: Mapping[str, Sequence[str | None]], *, then: Dealer, hand: Hand | None = None) -> None:
        self._given = {label: list(results) for label, results in given.items()}
        self._then, self.hand = then, hand

    def read_off(self, due: Due) -> None:
        """Ask a person for the current result, where it is not known; it then counts as given."""
        texts = self.hand(due) if self.hand is not None and not self._is_known(due.label) else None
        if texts:
            self._give(due.label, texts)

    def _is_known(self, label: str) -> bool:
        return bool(self._given.get(label))

    def _give(self, label: str, texts: Sequence[str]) -> None:
        self._given.setdefault(label, []).extend(texts)

    def defers(self, label: str) -> bool:
        """Leave what is not given to the other dealer."""
        return not self._is_known(label) and self._then.defers(label)

    def _next(self, label: str) -> str | None:
        """Return the next given result of a label; None where the other dealer answers."""
        results = self._given.get(label)
        return results.pop(0) if results else None

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        """Return the given result, or the other dealer's.

        Raises:
            GivenError: the result is impossible with these dice; says what was expected.
        """
        result = self._next(label) if dice.pools else None  # without dice, none can be read off
        if result is None:
            return self._then.throw(dice, label, count)
        try:
            return dice.read(result)
        except GivenError as error:
            raise GivenError.of(label, result, error.raw, **error.details) from None

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        """Return the given result with every die, or the other dealer's."""
        throw = self.throw(dice, label, count)
        if throw.text.startswith("="):
            raise GivenError.of(label, throw.text, "each die counts here, so a total is not enough")
        return throw

    def prepare_next(self, label: str, seat: str) -> str:
        """Choose the given result that answers the next question of a label: one of the seat that rolls, or the host's.

        Returns:
            The result, if the game master has to confirm it; else an empty text.
        """
        return ""

    def refuse(self, label: str) -> None:
        """Leave the next question of a label to the other dealer, as the game master refused its result."""

    def begin_turn(self, turn: int) -> None:
        self._then.begin_turn(turn)

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        """Return the other dealer's index: what a policy draws cannot be given."""
        return self._then.pick(weights, label, count)

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return the card that was drawn at the table, or the other dealer's.

        Raises:
            GivenError: it is no card, or cannot be drawn here.
        """
        result = self._next(label)
        if result is None:
            return self._then.draw(self._free(cards, stack), stack, label, count)
        text, *following = stack.known.one_by_one(result)
        self._given.setdefault(label, [])[:0] = following
        fitting = fitting_cards(cards, stack, label, text)
        if len(stack.known.matching(text)) == 1:
            return fitting[0]
        # Not the one that would come first: those left would then come later than their share.
        return self._then.draw(self._free(fitting, stack), stack._replace(pile=f"which:{stack.pile}"), label, count)

    def _free(self, cards: tuple[str, ...], stack: Stack) -> tuple[str, ...]:
        """Return the cards that may come now, without those that are given for later."""
        later = self._later()
        return unpromised(cards, later, known=stack.known) if later else cards

    def _later(self) -> list[str]:
        return [text for results in self._given.values() for text in results if text is not None]

    def unused(self) -> Iterable[tuple[str, str]]:
        """Yield what was given and never asked, as (label, result)."""
        for label, results in self._given.items():
            for result in results:
                if result is not None:
                    yield label, result


class TapedDealer(GivenDealer):
    """Answers a run that is repeated: first as it was answered before, then with results read off real dice, then anew.

    What was answered stays, whatever is given since; nor does what is given for later change which cards came before.

    Args:
        later: the results that are for questions after those on the tape.
        then: who answers what was not given.
        tape: what was answered before, in the order of the questions: dice as they are read, physical cards.
        typed: which of it was given, by label; None for what was not.
        hand, by: asks a person for results as they come up, of this seat; empty for the host and the game master.
        strict: the labels whose impossible results are errors; of other labels, the other dealer answers.

    Attributes:
        tape, typed: what has been answered by now.
        later: what was given and is not used so far.
        dropped: what was given and was impossible, as LABEL=RESULT.
    """

    __slots__ = ("_asked", "_by", "_left", "_prepared", "_strict", "dropped", "later", "tape", "typed")

    def __init__(
        self,
        later: Mapping[str, Sequence[Given]],
        *,
        then: Dealer,
        tape: Sequence[str] = (),
        typed: GivenByLabel = EMPTY,
        hand: Hand | None = None,
        by: str = "",
        strict: Container[str] = (),
    ) -> None:
        super().__init__(EMPTY, then=then, hand=hand)
        self._strict, self._by, self.dropped = strict, by, list[str]()
        self.later = {label: list(results) for label, results in later.items()}
        self.tape, self.typed = list(tape), {label: list(results) for label, results in typed.items()}
        self._left = list(tape)
        self._asked: dict[str, int] = {}
        self._prepared: Given | None = None  # answers the next question, unless it is refused

    @property
    def given(self) -> dict[str, list[str | None]]:
        """All that was given, now and before, by label in the order of the questions; None where it was not."""
        found: dict[str, list[str | None]] = {}
        for label in {*self.typed, *self.later}:
            typed, later = self.typed.get(label, []), self.later.get(label, [])
            results = [*typed, *[None] * (self._asked.get(label, 0) - len(typed)), *later]
            found[label] = [one.text if one is not None and has_given([one]) else None for one in results]
        return found

    def prepare_next(self, label: str, seat: str) -> str:
        results: Sequence[Given | None]
        if self._left:
            results = self.typed.get(label, [])[self._asked.get(label, 0) :]
        else:
            results = [one for by in (seat, "") for one in self.later.get(label, []) if one.by == by]
        one = self._prepared = results[0] if results else None
        return one.text if one is not None and one.claim else ""

    def refuse(self, label: str) -> None:
        if not self._left and self._prepared is not None:
            queue, refused = self.later[label], structs.replace(self._prepared, claim="refused")
            queue[queue.index(self._prepared)] = self._prepared = refused

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        if not dice.pools:
            return self._then.throw(dice, label, count)
        if self._left:
            return dice.read(self._again(label))
        throw = self._taken(label, lambda: super(TapedDealer, self).throw(dice, label, count))
        self._add(label, throw.text)
        return throw

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        if self._left:
            card = self._again(label)
            if card not in cards:
                raise GivenError(f"{label}={card} was drawn before, and is not in {stack.pile} now", label=label)
            return card
        card = self._taken(label, lambda: super(TapedDealer, self).draw(cards, stack, label, count))
        self._add(label, card)
        return card

    def _taken(self, label: str, answer: Callable[[], T]) -> T:
        """Return an answer to the next question; if its result is impossible, drop all that its giver gave for it."""
        try:
            return answer()
        except GivenError:
            if label in self._strict or self._prepared is None:
                raise
            by, queue, self._prepared = self._prepared.by, self.later[label], None
            self.dropped += [f"{label}={one.text}" for one in queue if one.by == by]
            self.later[label] = [one for one in queue if one.by != by]
        return answer()

    def _next(self, label: str) -> str | None:
        one = self._prepared
        return one.text if one is not None and has_given([one]) else None

    def _later(self) -> list[str]:
        return [one.text for queue in self.later.values() for one in queue if one is not self._prepared]

    def read_off(self, due: Due) -> None:
        """Ask a person for the current result; here, labels are counted through all turns."""
        super().read_off(structs.replace(due, asked=self._asked.get(due.label, 0), turn=0))

    def _is_known(self, label: str) -> bool:
        return bool(self._left) or self._prepared is not None

    def _give(self, label: str, texts: Sequence[str]) -> None:
        claim: Literal["", "pending"] = "pending" if self._by else ""
        self.later.setdefault(label, []).extend(Given(text, self._by, claim) for text in texts)

    def _again(self, label: str) -> str:
        self._asked[label], self._prepared = self._asked.get(label, 0) + 1, None
        return self._left.pop(0)

    def _add(self, label: str, answer: str) -> None:
        asked, one = self._asked.get(label, 0), self._prepared
        self._asked[label], self._prepared = asked + 1, None
        self.tape.append(answer)
        if one is not None:
            self.later[label].remove(one)
            its = self.typed.setdefault(label, [])
            its += [*[None] * (asked - len(its)), one]


def require_card(stack: Stack, label: str, text: str) -> tuple[str, ...]:
    """Return the codes that a typed card may have.

    Raises:
        GivenError: it is no card.
    """
    codes = stack.known.matching(text)
    if not codes:
        from rpgres.model.cards import unknown_card

        raise GivenError.of(label, text, unknown_card(stack.known, text))
    return codes


def fitting_cards(cards: tuple[str, ...], stack: Stack, label: str, text: str) -> tuple[str, ...]:
    """Return the cards of a pile that a typed card may be.

    Raises:
        GivenError: it is no card, or none that lies there.
    """
    codes = require_card(stack, label, text)
    fitting = tuple(card for card in cards if card.partition(".")[0] in codes)
    if not fitting:
        raise GivenError.of(label, text, f"no such card is left in {stack.pile}; all of them are in other piles")
    return fitting


def read_total(dice: Dice, text: str) -> str:
    """Return typed faces as they are, and a typed total of the dice without modifiers as `Dice.read` takes it.

    Raises:
        GivenError: the dice cannot have shown it.
    """
    try:
        dice.read(text)
    except GivenError as error:
        total = text.replace("\N{MINUS SIGN}", "-").strip()
        with suppress(GivenError):
            return dice.read(f"={total.removeprefix('+')}").text
        error.add("; or type their total")
        raise
    return text


def unpromised(cards: tuple[str, ...], texts: Iterable[str], *, known: Cards) -> tuple[str, ...]:
    """Return physical cards without those that inputs place, or will place, elsewhere; all if none is left.

    Args:
        texts: what was typed of other places; what may be one of several cards promises none.
        known: all cards there are.
    """
    said = (one for text in texts for one in known.one_by_one(text))
    promised = [codes[0] for one in said if len(codes := known.matching(one)) == 1]
    free = list[str]()
    for card in cards if promised else ():
        code = card.partition(".")[0]
        if code in promised:
            promised.remove(code)
        else:
            free.append(card)
    return tuple(free) or cards
