"""What runs came to, by how their dice fell: where dice fall as they did before, nothing is resolved again.

A rule is a function of what it is told: of dice, and of decisions. Where these are taken by policies that look at
nothing but the question, dice alone decide. So what came of them is kept: for a whole action, and for each turn of a
procedure, which depends on the table and its place besides. What a run throws stays the same, and what comes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from rpgres.dice import Dice, Throw
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import Seats
from rpgres.engine.prepare import Prepared
from rpgres.engine.procedures import begin_procedure, play_turn
from rpgres.engine.stops import MAX_QUESTIONS, Stop
from rpgres.engine.table import Outcome
from rpgres.errors import RpgresError
from rpgres.model.state import State

MOST_KEPT = 20_000  # throws, and standings of a procedure; what comes later is resolved each time


class _Question:
    """Dice that are thrown next, and what comes behind each result: more dice, or what it came to.

    Args:
        dice, label, count: what is thrown.
        is_shown: whether every die is read, and not the total alone.
    """

    __slots__ = ("count", "dice", "is_shown", "label", "then")

    def __init__(self, dice: Dice, label: str, count: int, *, is_shown: bool) -> None:
        self.dice, self.label, self.count, self.is_shown = dice, label, count, is_shown
        self.then: dict[Hashable, Any] = {}


class NotingDealer(SeededDealer):
    """A seeded dealer that takes note of its throws.

    Attributes:
        noted: the questions of a run or turn, each with its result.
        is_complete: whether these are all of chance: neither cards nor weighted options were drawn.
    """

    __slots__ = ("is_complete", "noted")

    def note(self) -> None:
        """Begin to take note anew."""
        self.noted: list[tuple[_Question, Hashable]] = []
        self.is_complete = True

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        throw = super().throw(dice, label, count)
        self.noted.append((_Question(dice, label, count, is_shown=False), throw.value))
        return throw

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        throw = super().throw(dice, label, count)
        self.noted.append((_Question(dice, label, count, is_shown=True), throw.text))
        return throw

    def read(self, dice: Dice, readings: Any, label: str, count: int) -> tuple[Throw | None, tuple[int, ...]]:
        found = super().read(dice, readings, label, count)  # by `throw`, of which it reads more than the total
        assert found[0] is not None
        self.noted[-1] = _Question(dice, label, count, is_shown=True), found[0].text
        return found

    def pick(self, weights: Any, label: str, count: int) -> int:
        self.is_complete = False
        return super().pick(weights, label, count)

    def draw(self, cards: tuple[str, ...], stack: Any, label: str, count: int) -> str:
        self.is_complete = False
        return super().draw(cards, stack, label, count)

    def result(self, asked: _Question) -> Hashable:
        """Return what the seed holds for a question that is known."""
        throw = super().throw(asked.dice, asked.label, asked.count)
        return throw.text if asked.is_shown else throw.value


class Known:
    """What came of runs, or of turns from one standing, by their throws."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: Any = None

    def find(self, dealer: NotingDealer) -> Any:
        """Return what the dealer's throws come to; None where that is not known yet."""
        at = self._first
        while type(at) is _Question:
            at = at.then.get(dealer.result(at))
        return at

    def keep(self, dealer: NotingDealer, found: Any) -> int:
        """Keep what the throws that a dealer took note of come to, and return how many were new."""
        if not dealer.is_complete:
            return 0
        behind: dict[Hashable, Any] | None = None
        place: Hashable = None
        new = 0
        for asked, result in dealer.noted:
            at = self._first if behind is None else behind.get(place)
            if at is None:
                at, new = asked, new + 1
                if behind is None:
                    self._first = at
                else:
                    behind[place] = at
            behind, place = at.then, result
        if behind is None:
            self._first = found
        else:
            behind[place] = found
        return new + 1


def recalled(dealer: NotingDealer, play: Callable[[int], Hashable]) -> Callable[[int], Any]:
    """Return what plays runs of an action, and resolves again only what it does not know.

    Args:
        dealer: answers chance in `play`.
        play: plays a run by its number.
    """
    known, left = Known(), MOST_KEPT

    def play_run(run: int) -> Any:
        nonlocal left
        dealer.move_to(run)
        found = known.find(dealer)
        if found is None:
            dealer.note()
            found = play(run)
            if left > 0:
                left -= known.keep(dealer, found)
        return found

    return play_run


class _Standing:
    """Where a turn of a procedure begins, and what came of turns from there."""

    __slots__ = ("known", "place", "state")

    def __init__(self, state: State, place: Hashable) -> None:
        self.state, self.place, self.known = state, place, Known()


class _End(NamedTuple):
    """What a procedure came to."""

    key: Any


class Turns:
    """The turns of a procedure, each resolved once for the same table, place and throws.

    Args:
        prepared: the procedure, with its inputs read.
        dealer: answers chance.
        players: answer decisions.
        key: returns what is counted at the end, of the outcome, the state after it and the last place.
    """

    def __init__(
        self, prepared: Prepared, dealer: NotingDealer, players: Seats, key: Callable[[Outcome, State, Any], Any]
    ) -> None:
        self._prepared, self._dealer, self._players, self._key = prepared, dealer, players, key
        self._standings: dict[tuple[State, Hashable], _Standing] = {}
        self._left = MOST_KEPT
        self._first: _Standing | None = None
        self.is_worth = not (prepared.placed or prepared.undealt or prepared.trust or prepared.lump)

    def or_else(self, play: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return what plays a run turn by turn, or with `play` as a whole where that does not go."""
        return lambda run: self._play(run) or play(run)

    def _play(self, run: int) -> Any:
        """Return what is counted of a run; None where it has to be played as a whole."""
        if not self.is_worth:
            return None
        dealer = self._dealer
        dealer.move_to(run)
        try:
            at = self._first or self._begin()
            for turn in range(MAX_QUESTIONS if at is not None else 0):
                assert at is not None
                dealer.begin_turn(turn)
                found: _Standing | _End = at.known.find(dealer) or self._turn(at)
                if isinstance(found, _End):
                    return found.key
                at = found
        except (RpgresError, Stop):
            return None  # the run as a whole tells more
        return None

    def _begin(self) -> _Standing | None:
        """Return where the first turn begins; None where dice that fall before it may be counted on in it."""
        self._dealer.note()
        place, state = begin_procedure(self._prepared, dealer=self._dealer, players=self._players)
        if self._dealer.noted or not self._dealer.is_complete:
            self.is_worth = False
            return None
        self._first = _Standing(state, place)
        return self._first

    def _turn(self, at: _Standing) -> _Standing | _End:
        """Play a turn, and return where the next one begins, or what the procedure came to."""
        dealer, prepared = self._dealer, self._prepared
        dealer.note()
        self._players.script.single.clear()
        found, run = play_turn(
            prepared.rules, prepared.action, at.state, at.place, dealer=dealer, players=self._players
        )
        if not isinstance(found, Outcome):
            behind: _Standing | _End = self._standing(run.state, found.place)
        elif found.band in prepared.rules.file.bands:
            behind = _End(self._key(found, apply_effects(prepared.rules, run.state, found), at.place))
        else:
            raise RpgresError(f"the procedure has no band {found.band!r}")  # told by the run as a whole
        if self._left > 0:
            self._left -= at.known.keep(dealer, behind)
        return behind

    def _standing(self, state: State, place: Hashable) -> _Standing:
        found = self._standings.get((state, place))
        if found is None:
            found = _Standing(state, place)
            if self._left > 0:
                self._left -= 1
                self._standings[state, place] = found
        return found
