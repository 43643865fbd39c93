"""The chance of success by each option of a decision that is asked now, as whoever is asked may know it.

The action is run again from its start: what its owner saw is as it was, what comes after is every result of chance.
Hands that the owner does not see are dealt anew (`engine.hidden`). An estimate from games stands in where the budget
ends, or where what was seen does not fit every hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Decided, Drawn, Event, Rolled
from rpgres.engine.hidden import known_to
from rpgres.engine.players import NO, Answer, Policy, Question, Seats, View
from rpgres.engine.prepare import Prepared
from rpgres.engine.run import play
from rpgres.engine.stops import Broken, Stop
from rpgres.errors import GivenError, RpgresError
from rpgres.model.state import FACE_DOWN, Map, code_of
from rpgres.odds.exact import success_of
from rpgres.odds.explorer import Budget, Runs, WalkDealer, explore_within
from rpgres.odds.sampling import Estimate, estimate

if TYPE_CHECKING:
    from rpgres.dice import Dice, Reading, Throw
    from rpgres.model.cards import Stack

T = TypeVar("T")
SECONDS = 1.5  # for all options together
GAMES = 2_000  # at most so many games an option, for an estimate
SEED = "question"  # of estimates, whatever the seed of the table


class OptionOdds(msgspec.Struct, frozen=True):
    """What comes of one option.

    Attributes:
        option: its name.
        outcomes: the chance of each outcome by name, from 0 to 1.
        success: the chance of success.
        estimate: the interval of an estimate; None where the chances are exact.
        games: how many games it is from.
    """

    option: str
    outcomes: Mapping[str, float]
    success: float
    estimate: Estimate | None = None
    games: int = 0


class _Lost(Stop):
    """The run does not go as what was seen: it is another one."""


class _Past:
    """What the owner of a decision saw of the action so far, in order."""

    __slots__ = ("_at", "_events", "asked", "later")

    def __init__(self, events: Sequence[Event], asked: Question) -> None:
        self._events, self._at = events, 0
        self.asked: Question | None = asked  # until it is answered
        self.later = [event.card for event in events if isinstance(event, Drawn) and event.card != FACE_DOWN]

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._events)

    def next(self, kind: type[Event], label: str, who: str = "") -> Any:
        """Return the next event, where it is one of this kind and label; None where it was not seen."""
        if self.is_over:
            return None
        event = self._events[self._at]
        is_it = isinstance(event, kind) and event.label == label and (not who or event.who == who)  # type: ignore[union-attr]
        if not is_it:
            return None
        self._at += 1
        if isinstance(event, Drawn) and event.card != FACE_DOWN:
            self.later.remove(event.card)
        return event

    def rolled(self, dice: Dice, label: str) -> Throw | None:
        """Return what was rolled."""
        event = self.next(Rolled, label) if dice.pools else None
        return dice.read(event.throw.text) if event is not None else None

    def drawn(self, cards: tuple[str, ...], label: str) -> tuple[str, ...]:
        """Return the cards that may have been drawn: one that was seen, else all that did not come later."""
        event = self.next(Drawn, label)
        if event is not None and event.card != FACE_DOWN:
            found = tuple(card for card in cards if code_of(card) == event.card)[:1]
            if not found:
                raise _Lost(label)
            return found
        later, free = list(self.later), list[str]()
        for card in cards:
            if code_of(card) in later:
                later.remove(code_of(card))
            else:
                free.append(card)
        return tuple(free) or cards


class _Exact(WalkDealer):
    """Answers chance as it was seen, then with every result in turn."""

    __slots__ = ("past",)
    past: _Past

    @property
    def joint(self) -> bool:  # type: ignore[override]
        """Two rolls were two while they were seen."""
        return self.past.is_over

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        return self.past.rolled(dice, label) or super().throw(dice, label, count)

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        from rpgres.dice.readings import read_off

        throw = self.past.rolled(dice, label)
        return super().read(dice, readings, label, count) if throw is None else (throw, read_off(dice, throw, readings))

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        return super().draw(cards if self.past.is_over else self.past.drawn(cards, label), stack, label, count)

    def merge(self, key: object) -> None:
        if self.past.is_over:
            super().merge(key)


class _Game(SeededDealer):
    """Answers chance as it was seen, then from a seed."""

    __slots__ = ("past",)
    past: _Past

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        return self.past.rolled(dice, label) or super().throw(dice, label, count)

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        return super().draw(self.past.drawn(cards, label), stack, label, count)


class _Players(Seats):
    """Answers as it was seen, the decision that is asked about with one option, and the rest by policies."""

    __slots__ = ("_option", "_past")

    def __init__(self, past: _Past, option: str, policies: Mapping[str, Policy]) -> None:
        super().__init__(policies=policies)
        self._past, self._option = past, option

    def answer(self, question: Question, view: View) -> Answer | None:
        past = self._past
        if not past.is_over:
            event = past.next(Decided, question.label, question.who)
            if event is not None:
                return Answer(event.answer, event.means)
            return None if question.optional else super().answer(question, view)  # a moment that passed was not seen
        asked = past.asked
        if asked is not None and (asked.label, asked.who) == (question.label, question.who):
            past.asked = None
            return Answer(self._option, "choose")
        return super().answer(question, view)


def as_known_to(prepared: Prepared, seat: str) -> Prepared:
    """Return an action at the table as a seat knows it.

    Raises:
        UsageError: the seat does not see some cards, and nothing says which they may be.
    """
    start = known_to(prepared.rules, prepared.state, seat)
    typed = {pile for pile, _, _ in prepared.placed}
    undealt = Map({hand: its for hand, its in start.undealt.items() if hand not in typed})
    return msgspec.structs.replace(prepared, state=start.state, undealt=undealt)


def decision_odds(
    prepared: Prepared,
    view: View,
    question: Question,
    *,
    policies: Mapping[str, Policy],
    seconds: float = SECONDS,
    games: int = GAMES,
) -> list[OptionOdds]:
    """Return what comes of each option of a decision, in the order in which they are offered; none where it is fixed.

    In a procedure that is the outcome of the turn; the end of all of it only where turns have no outcomes.

    Args:
        prepared: the action, at the table as it is; what the owner of the decision may not know of that is left out.
        view: what the owner may know.
        question: the decision.
        policies: who decides everything after it; `""` for everybody.
        seconds: about how long it may take, for all options together.
        games: from how many games at most an option is estimated.
    """
    seen = [event for event in (*view.forgotten, *view.events) if isinstance(event, Rolled | Drawn | Decided)]
    passing = question.passing
    names = [option.name for option in question.offered if option is not passing]
    names += [passing.name if passing is not None else NO] if question.optional else []
    prepared = as_known_to(prepared, view.seat)
    is_procedure = prepared.action in prepared.rules.ruleset.procedures
    for is_turn in (True, False) if is_procedure else (False,):
        until, is_exact, found = monotonic() + seconds, True, list[OptionOdds]()
        for name in names:
            case = _Case(prepared, seen, question, name, policies, is_turn)
            odds = _exact(case, until - monotonic()) if is_exact else None
            if odds is None:
                is_exact = False  # the others are no easier
                odds = _estimated(case, Budget(games, seconds / 2 / len(names)))
            if odds is not None:
                found.append(odds)
        if any(one.outcomes for one in found):  # else what the turn comes to has no name
            break
    return found


class _Case(NamedTuple):
    """An option of a decision whose odds are asked for.

    Attributes:
        prepared: the action, as whoever decides knows it.
        seen: what they saw of it.
        question, option: the decision, and what is chosen.
        policies: who decides what comes after it.
        is_turn: whether the outcome is that of the turn of a procedure in which it is asked.
    """

    prepared: Prepared
    seen: Sequence[Event]
    question: Question
    option: str
    policies: Mapping[str, Policy]
    is_turn: bool

    def past(self) -> _Past:
        return _Past(self.seen, self.question)

    def play(self, runs: Runs, dealer: Any) -> str:
        """Return the outcome of a run by the dealer, who begins with what was seen."""
        past = dealer.past = self.past()
        ends = (lambda: past.asked is None) if self.is_turn else None
        playing = partial(play, self.prepared, asked="outcome", is_enough=ends)
        return str(runs.run(playing, dealer, _Players(past, self.option, self.policies)))


def _ordered(prepared: Prepared, outcomes: Mapping[str, T]) -> tuple[dict[str, T], list[T]]:
    """Return what comes of an option in the ruleset's order, and what of it is a success."""
    bands = success_of(prepared)
    ordered = {name: outcomes[name] for name in prepared.rules.file.bands if name in outcomes}
    return ordered, [share for name, share in ordered.items() if bands.get(name)]


def _exact(case: _Case, seconds: float) -> OptionOdds | None:
    """Return the exact odds of an option; None where the budget does not come to the end, or nothing is open."""
    runs, is_asked = Runs(), list[bool]()

    def once(dealer: WalkDealer) -> Any:
        assert isinstance(dealer, _Exact)
        result = case.play(runs, dealer)
        is_asked.append(dealer.past.asked is None)
        return result

    try:
        odds = explore_within(Budget(seconds=seconds), once, _Exact(), runs)
    except (Broken, _Lost, RpgresError):
        return None
    if odds.open or runs.undecided or not all(is_asked):
        return None
    masses, won = _ordered(case.prepared, odds.masses)
    return OptionOdds(case.option, {name: float(mass) for name, mass in masses.items()}, float(sum(won)))


def _estimated(case: _Case, budget: Budget) -> OptionOdds | None:
    """Return an estimate of the odds of an option; None where nothing is open."""
    runs, counts, number = Runs(), dict[str, int](), 0
    dealer = _Game(Streams(SEED))
    while not budget.is_spent:
        dealer.move_to(number)
        number += 1
        budget.spend(1)
        try:
            result = case.play(runs, dealer)
        except (Broken, _Lost, GivenError):
            continue
        if dealer.past.asked is not None or runs.undecided:
            return None
        counts[result] = counts.get(result, 0) + 1
    games = sum(counts.values())
    if not games:
        return None
    ordered, won = _ordered(case.prepared, counts)
    shares = {name: count / games for name, count in ordered.items()}
    return OptionOdds(case.option, shares, sum(won) / games, estimate(sum(won), games), games)
