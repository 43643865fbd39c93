"""The chance of success by each option of a pending decision, as its owner may know it.

The action is run again from its start: what the owner saw is repeated, and everything after it is enumerated. Hands
that the owner does not see are dealt anew (`engine.hidden`). Where the time for exact odds runs out, or where what was
seen does not fit every hand, games are simulated: all options in turn, with the same dice and cards, until their
intervals are narrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Decided, Drawn, Event, Rolled
from rpgres.engine.hidden import known_to
from rpgres.engine.players import NO, Answer, Policy, Question, View
from rpgres.engine.prepare import Prepared
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.engine.stops import Broken, Stop
from rpgres.errors import RpgresError
from rpgres.model.state import FACE_DOWN, code_of
from rpgres.odds.exact import success_of
from rpgres.odds.explorer import Budget, Runs, WalkDealer, explore_within
from rpgres.odds.sampling import Estimate, estimate
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from rpgres.dice import Dice, Reading, Throw
    from rpgres.model.cards import Stack

T = TypeVar("T")
SECONDS = 4.0  # of games, for all options together
EXACT_SECONDS = 2.0  # of exact odds, for all options together
GAMES = 2_000  # the maximum number of games of an option
NARROW = 0.1  # width of an interval that needs no further games
WIDE = 0.25  # width of an interval that is too wide to decide by
CHECKED = 50  # games of an option between looks at its interval
UNKNOWN = Estimate(0.0, 0.0, 1.0)  # of an option without games
SEED = "question"  # of estimates, whatever the seed of the table


class OptionOdds(msgspec.Struct, frozen=True):
    """The odds of one option.

    Attributes:
        outcomes: the chance of each outcome by name, from 0 to 1.
        estimate: the interval of an estimate; None where the chances are exact.
        games: how many games the estimate is from; 0 with the widest interval where there are none yet.
        is_turn: whether the chances are those of one turn of a procedure, not of the whole.
    """

    option: str
    outcomes: Mapping[str, float]
    success: float
    estimate: Estimate | None = None
    games: int = 0
    is_turn: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it is exact, or its interval is narrow enough to decide by it."""
        return _width(self) <= WIDE


class _Lost(Stop):
    """The run contradicts what was seen."""


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
    """Repeats what was seen, then enumerates every result."""

    __slots__ = ("past",)
    past: _Past

    @property
    def joint(self) -> bool:  # type: ignore[override]
        """Whether two opposed rolls may be one question: not while they repeat what was seen, which were two."""
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
    """Repeats what was seen, then answers from a seed."""

    __slots__ = ("past",)
    past: _Past

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        return self.past.rolled(dice, label) or super().throw(dice, label, count)

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        return super().draw(self.past.drawn(cards, label), stack, label, count)


class _Players(Seats):
    """Repeats the decisions that were seen, answers the pending one with one option, and the rest by policies."""

    __slots__ = ("_option", "_past")

    def __init__(self, past: _Past, option: str, policies: Mapping[str, Policy]) -> None:
        super().__init__(policies=policies)
        self._past, self._option = past, option
        self.hears_moot = True  # what was seen

    def answer(self, question: Question, view: View) -> Answer | None:
        past = self._past
        if not past.is_over:
            event = past.next(Decided, question.label, question.who)
            if event is not None:
                return Answer(event.answer, event.means)
            return None if question.optional else super().answer(question, view)  # a skipped question was not seen
        asked = past.asked
        if asked is not None and (asked.label, asked.who) == (question.label, question.who):
            past.asked = None
            return Answer(self._option, "choose")
        return super().answer(question, view)


def _as_known_to(prepared: Prepared, seat: str) -> Prepared:
    """Return an action at the table as a seat knows it."""
    start = known_to(prepared.rules, prepared.state, seat)
    return msgspec.structs.replace(prepared, state=start.state)


def decision_odds(
    prepared: Prepared,
    view: View,
    question: Question,
    *,
    policies: Mapping[str, Policy],
    seconds: float = SECONDS,
    exact_seconds: float = EXACT_SECONDS,
    games: int = GAMES,
) -> list[OptionOdds]:
    """Return the odds of each option of a decision, in the order in which they are offered; none where it is fixed.

    Options for which the time ran out, or which were interrupted, are included; they are not `is_known`. In a procedure
    the odds are those of the turn; of the whole procedure only where its turns have no outcomes.

    Args:
        prepared: the action, at the table as it is; what the owner of the decision may not know is left out here.
        view: what the owner may know.
        policies: the policies for all later decisions, by character; under an empty name for all others.
        seconds: the time limit of games, for all options together.
        exact_seconds: the time limit of exact odds, before the games.
        games: the maximum number of games of an option.
    """
    seen = [event for event in (*view.forgotten, *view.events) if isinstance(event, Rolled | Drawn | Decided)]
    passing = question.passing
    names = [option.name for option in question.offered if option is not passing]
    names += [passing.name if passing is not None else NO] if question.optional else []
    alike = question.alike
    prepared = _as_known_to(prepared, view.seat)
    is_procedure = prepared.action in prepared.rules.ruleset.procedures
    for is_turn in (True, False) if is_procedure else (False,):
        until, found = monotonic() + exact_seconds, list[OptionOdds]()
        cases = [_Case(prepared, seen, question, name, policies, is_turn) for name in names if name not in alike]
        for case in cases:
            odds = _exact(case, until - monotonic())
            if odds is None:
                break  # the others are no easier
            found.append(odds)
        found += _estimated(cases[len(found) :], Budget(games * len(cases), seconds), games)
        if STOP.is_asked or any(one.outcomes for one in found):  # else the turn has no named outcome
            break
    by = {one.option: one for one in found}
    return [msgspec.structs.replace(by[alike.get(name, name)], option=name) for name in names] if found else []


class _Case(NamedTuple):
    """An option of a decision whose odds are computed.

    Attributes:
        prepared: the action, as the owner of the decision knows it.
        seen: the events that the owner saw.
        question, option: the decision, and the option that is taken.
        policies: the policies for all later decisions.
        is_turn: whether the outcome is that of the turn of a procedure in which the decision is asked.
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
        """Return the outcome of a run by the dealer, which begins with what was seen."""
        past = dealer.past = self.past()
        ends = (lambda: past.asked is None) if self.is_turn else None
        playing = partial(play, self.prepared, asked="outcome", is_enough=ends)
        return str(runs.run(playing, dealer, _Players(past, self.option, self.policies)))


def _ordered(prepared: Prepared, outcomes: Mapping[str, T]) -> tuple[dict[str, T], list[T]]:
    """Return the odds of an option in the ruleset's order, and the chance of success."""
    bands = success_of(prepared)
    ordered = {name: outcomes[name] for name in prepared.rules.file.bands if name in outcomes}
    return ordered, [share for name, share in ordered.items() if bands.get(name)]


def _exact(case: _Case, seconds: float) -> OptionOdds | None:
    """Return the exact odds of an option; None where the budget does not suffice, or the decision is not reached."""
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
    shares = {name: float(mass) for name, mass in masses.items()}
    return OptionOdds(case.option, shares, float(sum(won)), is_turn=case.is_turn)


def _estimated(cases: Sequence[_Case], budget: Budget, most: int) -> list[OptionOdds]:
    """Return estimates for options, all from the same dice and cards; none where no game reaches the decision."""
    counts = [Counter[str]() for _ in cases]
    left, fixed = [*range(len(cases))], 0  # those that need further games; how many never reach the decision
    dealer = _Game(Streams(SEED))
    for number in range(most):
        for place in [*left]:
            if budget.is_spent:
                left = []
                break
            budget.spend(1)
            dealer.move_to(number)
            runs = Runs()
            try:
                result = cases[place].play(runs, dealer)
            except (Broken, _Lost, RpgresError):  # a hand dealt anew may lack a card that was played: another game
                continue
            if dealer.past.asked is not None or runs.undecided:  # the decision is not reached
                counts[place].clear()
                left.remove(place)
                fixed += 1
                continue
            counts[place][result] += 1
            if number % CHECKED == CHECKED - 1 and _width(_odds_of(cases[place], counts[place])) <= NARROW:
                left.remove(place)
    return [] if fixed == len(cases) else [_odds_of(case, its) for case, its in zip(cases, counts, strict=True)]


def _odds_of(case: _Case, counts: Mapping[str, int]) -> OptionOdds:
    if not counts:
        return OptionOdds(case.option, {}, 0.0, UNKNOWN, is_turn=case.is_turn)
    ordered, won = _ordered(case.prepared, counts)
    games = sum(counts.values())
    shares = {name: count / games for name, count in ordered.items()}
    return OptionOdds(case.option, shares, sum(won) / games, estimate(sum(won), games), games, case.is_turn)


def _width(odds: OptionOdds) -> float:
    return odds.estimate.high - odds.estimate.low if odds.estimate is not None else 0.0
