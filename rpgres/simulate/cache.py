"""A cache of turns by dice, for policies that read only the question.

With such policies the result of an action depends only on dice, and the result of a turn of a procedure or scene on
dice and on the parts of the state that the turn reads. The cache is the memo of exact odds, where a roll is another
part to read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple

from rpgres.dice import Dice, Throw
from rpgres.dice.readings import read_off
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.procedures import Position
from rpgres.engine.stops import MAX_QUESTIONS, Stop
from rpgres.errors import RpgresError
from rpgres.model.state import EMPTY
from rpgres.odds.nodes import SHAPE, Memo, Node, changed
from rpgres.odds.positions import Parts
from rpgres.odds.watching import Reads

MOST_KEPT = 100_000  # the maximum number of results, after which a cache is emptied
_TRIAL, _LEAST_USE = 2_000, 3  # a cache is dropped after 2,000 misses if fewer than two turns of three are cached
_STEP = (("at", "op"), ("at", "given"), ("at", "choose"))  # the parts that identify a step of a scene

Canons = Mapping[str, Callable[[Any], Any]]  # the canonical forms of fields of the state, such as an order of tags


class _Roll:
    """A roll as a part of the state: the text of all dice, or only the total."""

    __slots__ = ("about", "dealer", "is_shown")

    def __init__(self, dealer: CachingDealer, is_shown: bool, *about: Any) -> None:
        self.dealer, self.is_shown, self.about = dealer, is_shown, about

    def look(self, _node: Node, _parts: Parts) -> Hashable:
        throw = SeededDealer.throw(self.dealer, *self.about)
        return throw.text if self.is_shown else throw.value


class CachingDealer(SeededDealer):
    """A seeded dealer that records rolls and reads of the state.

    Attributes:
        reads: the parts of the state and the rolls that the turn has read since the last merge.
        is_complete: whether `reads` determines the result: no card was drawn, and no option picked at random.
        rolled: the number of rolls in this turn, by label.
        node: the state before the turn; 0 for an action.
        turns: the cache of all turns.
        memo: the cache of this turn, after the last merge.
        outcome: the outcome of the last step of a scene.
    """

    __slots__ = (
        *("_rests", "is_complete", "is_logged", "memo", "node", "outcome", "parts", "reads", "rolled", "room", "turns"),
    )

    def __init__(self, streams: Streams, canons: Canons = EMPTY, *, is_logged: bool = False) -> None:
        super().__init__(streams)
        self.is_logged = is_logged
        self.parts, self.turns, self.room, self.node = Parts(canons), Memo(), MOST_KEPT, 0
        self._rests: dict[Hashable, Memo] = {}
        self.reads = Reads(self.parts, 0)
        self.begin()
        self.reads.is_off = True  # until the first turn

    def begin(self) -> None:
        """Begin to note a turn or an action."""
        self.reads.is_off = True  # cached values of earlier turns may still read the old state
        self.reads, self.memo, self.is_complete = Reads(self.parts, self.node), self.turns, True
        self.rolled: dict[str, int] = {}

    def find(self, memo: Memo) -> Any:
        """Return the cached result for the dice and the state; None where there is none."""
        found = memo.find(self.node, self.parts)
        while type(found) is Memo:  # the turn merged
            found = found.find(self.node, self.parts)
        return found

    def keep(self, result: Any) -> None:
        if self.is_complete and self.room > 0:
            self.memo.keep(self.node, self.reads.parts, result, self.parts)
            self.room -= 1

    def came_to(self, outcome: str | None) -> None:
        self.outcome = outcome

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        self._note(False, dice, label, count)
        return super().throw(dice, label, count)

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        self._note(True, dice, label, count)
        return super().throw(dice, label, count)

    def read(self, dice: Dice, readings: Any, label: str, count: int) -> tuple[Throw | None, tuple[int, ...]]:
        throw = self.show(dice, label, count)
        return throw, read_off(dice, throw, readings)

    def _note(self, is_shown: bool, dice: Dice, label: str, count: int) -> None:
        if count != self.rolled.get(label, 0):
            self.is_complete = False  # decisions with the same label are not recorded
        self.rolled[label] = count + 1
        about = is_shown, dice, label, count
        self.reads.note(self.parts.looked(about, partial(_Roll, self, *about)))

    def pick(self, weights: Any, label: str, count: int) -> int:
        self.is_complete = False
        return super().pick(weights, label, count)

    def draw(self, cards: tuple[str, ...], stack: Any, label: str, count: int) -> str:
        self.is_complete = False
        return super().draw(cards, stack, label, count)

    def merge(self, key: Any) -> None:
        """Continue with the cache of the merge key, which all turns with this key share."""
        if self.reads.is_off or not self.is_complete or key[0] is None:
            return
        step = tuple([self.parts.value(self.node, part) for part in _STEP])
        rest = self._rests.setdefault((step, key, tuple(self.rolled.items())), Memo())
        self.keep(rest)
        self.memo, self.reads.parts = rest, {SHAPE: None}
        if known := self.find(rest):
            raise _Known(known)


class _Known(Stop):
    """Ends a turn after a merge if the cache has the result."""

    def __init__(self, found: Played) -> None:
        super().__init__(found)
        self.found = found


class Played(NamedTuple):
    """The result of a turn.

    Attributes:
        after: the state after the turn, or in the cache the change of the state; None at the end of the run.
        told: data about the turn, for the counts.
        step: the number of the step of the next turn in the seed; None for the same step.
    """

    after: Any
    told: tuple[Hashable, ...] = ()
    step: int | None = None


def cached_action(dealer: CachingDealer, play: Callable[[int], Any]) -> Callable[[int], Any]:
    """Return the function that plays runs of an action with a cache; `play` plays them with the same dealer."""

    def play_run(run: int) -> Any:
        dealer.move_to(run)
        found = dealer.find(dealer.turns)
        if found is None:
            dealer.begin()
            found = play(run)
            dealer.keep(found)
        return found

    return play_run


class Turns:
    """Runs that are played in turns, with a cache.

    Args:
        fresh: returns a dealer with an empty cache.
        begin: returns the state before the first turn, and the number of the first step in the seed.
        turn: plays a turn.
    """

    def __init__(
        self,
        fresh: Callable[[], CachingDealer],
        begin: Callable[[CachingDealer], tuple[Position, int]],
        turn: Callable[[Position, CachingDealer], Played],
    ) -> None:
        self._fresh, self._begin, self._turn = fresh, begin, turn
        self._dealer: CachingDealer | None = None
        self._is_used = True

    def play(self, run: int) -> list[Any] | None:
        """Return the `told` data of all turns of a run; None if the run has to be played without a cache."""
        if self._is_used:
            try:
                return self._play(run)
            except (RpgresError, Stop):
                self._is_used = False
        return None

    def _play(self, run: int) -> list[Any] | None:
        if self._dealer is None:
            self._dealer, self._count, self._misses = self._fresh(), 0, 0
            position, self._step = self._begin(self._dealer)
            if self._dealer.rolled or not self._dealer.is_complete:
                raise RpgresError("dice before the first turn are not cached")
            self._first: Node = self._dealer.parts.node_of(position)
        dealer, node, turn, told = self._dealer, self._first, 0, list[Any]()
        dealer.move_to(run)
        dealer.begin_step(self._step)
        for count in range(1, MAX_QUESTIONS):
            dealer.begin_turn(turn)
            dealer.node = node
            found: Played = dealer.find(dealer.turns) or self._resolved(dealer, turn)
            told += found.told
            if found.after is None:
                self._count += count
                self._is_used = self._misses < _TRIAL or self._count > self._misses * _LEAST_USE
                if dealer.room <= 0:
                    self._dealer = None
                return told
            node, turn = changed(node, found.after), turn + 1
            if found.step is not None:
                dealer.begin_step(found.step)
                turn = 0
        return None

    def _resolved(self, dealer: CachingDealer, turn: int) -> Played:
        self._misses += 1
        node, parts = dealer.node, dealer.parts
        dealer.begin()
        try:
            found = self._turn(parts.watched(node, dealer.reads), dealer)
        except _Known as known:
            return known.found
        dealer.begin_turn(turn)  # the engine has begun the next one, with other dice
        if found.after is not None:
            found = found._replace(after=parts.changes(node, found.after, dealer.reads))
        dealer.keep(found)
        return found
