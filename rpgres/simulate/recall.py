"""Results of runs, kept by what their dice showed: where dice fall as they did before, nothing is resolved again.

A rule depends on dice and decisions. Where policies decide that look at nothing but the question, dice alone decide.
So their results are kept: of a whole action, and of each turn of a procedure, by the table and place it begins at.
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


class _Node:
    """A throw that a rule asks for next, and what follows each of its results: another throw, or the result of all.

    Args:
        dice, label, count: what is thrown.
        is_shown: whether every die is read, and not the total alone.
    """

    __slots__ = ("children", "count", "dice", "is_shown", "label")

    def __init__(self, dice: Dice, label: str, count: int, *, is_shown: bool) -> None:
        self.dice, self.label, self.count, self.is_shown = dice, label, count, is_shown
        self.children: dict[Hashable, Any] = {}


class NotingDealer(SeededDealer):
    """A seeded dealer that takes note of its throws.

    Attributes:
        noted: the questions of a run or turn, each with its result.
        is_complete: whether these are all of chance: neither cards nor weighted options were drawn.
    """

    __slots__ = ("is_complete", "noted")

    def note(self) -> None:
        """Begin to take note anew."""
        self.noted: list[tuple[_Node, Hashable]] = []
        self.is_complete = True

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        throw = super().throw(dice, label, count)
        self.noted.append((_Node(dice, label, count, is_shown=False), throw.value))
        return throw

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        throw = super().throw(dice, label, count)
        self.noted.append((_Node(dice, label, count, is_shown=True), throw.text))
        return throw

    def read(self, dice: Dice, readings: Any, label: str, count: int) -> tuple[Throw | None, tuple[int, ...]]:
        found = super().read(dice, readings, label, count)  # by `throw`, of which it reads more than the total
        assert found[0] is not None
        self.noted[-1] = _Node(dice, label, count, is_shown=True), found[0].text
        return found

    def pick(self, weights: Any, label: str, count: int) -> int:
        self.is_complete = False
        return super().pick(weights, label, count)

    def draw(self, cards: tuple[str, ...], stack: Any, label: str, count: int) -> str:
        self.is_complete = False
        return super().draw(cards, stack, label, count)

    def result(self, asked: _Node) -> Hashable:
        """Return what the seed holds for a question that is known."""
        throw = super().throw(asked.dice, asked.label, asked.count)
        return throw.text if asked.is_shown else throw.value


class ThrowTree:
    """Results of runs, or of turns that begin alike: a node is a throw, an edge what it showed, a leaf the result."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: Any = None

    def find(self, dealer: NotingDealer) -> Any:
        """Return the result for the dealer's throws; None where that is not known yet."""
        found = self._root
        while type(found) is _Node:
            found = found.children.get(dealer.result(found))
        return found

    def keep(self, dealer: NotingDealer, result: Any) -> int:
        """Keep the result of the throws that a dealer took note of, and return how many nodes and leaves are new."""
        if not dealer.is_complete:
            return 0
        parent: dict[Hashable, Any] | None = None
        edge: Hashable = None
        new = 0
        for asked, shown in dealer.noted:
            node = self._root if parent is None else parent.get(edge)
            if node is None:
                node, new = asked, new + 1
                if parent is None:
                    self._root = node
                else:
                    parent[edge] = node
            parent, edge = node.children, shown
        if parent is None:
            self._root = result
        else:
            parent[edge] = result
        return new + 1


def recalled(dealer: NotingDealer, play: Callable[[int], Hashable]) -> Callable[[int], Any]:
    """Return what plays runs of an action, and resolves again only what it does not know.

    Args:
        dealer: answers chance in `play`.
        play: plays a run by its number.
    """
    tree, room = ThrowTree(), MOST_KEPT

    def play_run(run: int) -> Any:
        nonlocal room
        dealer.move_to(run)
        found = tree.find(dealer)
        if found is None:
            dealer.note()
            found = play(run)
            if room > 0:
                room -= tree.keep(dealer, found)
        return found

    return play_run


class _TurnStart:
    """Where a turn of a procedure begins, and the results of turns from there."""

    __slots__ = ("place", "results", "state")

    def __init__(self, state: State, place: Hashable) -> None:
        self.state, self.place, self.results = state, place, ThrowTree()


class _Ended(NamedTuple):
    """The result of a procedure."""

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
        self._starts: dict[tuple[State, Hashable], _TurnStart] = {}
        self._room = MOST_KEPT
        self._first: _TurnStart | None = None
        self.can_recall = not (prepared.placed or prepared.undealt or prepared.trust or prepared.lump)

    def or_else(self, play: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return what plays a run turn by turn, or with `play` as a whole where that does not go."""
        return lambda run: self._play(run) or play(run)

    def _play(self, run: int) -> Any:
        """Return what is counted of a run; None where it has to be played as a whole."""
        if not self.can_recall:
            return None
        dealer = self._dealer
        dealer.move_to(run)
        try:
            start = self._first or self._begin()
            for turn in range(MAX_QUESTIONS if start is not None else 0):
                assert start is not None
                dealer.begin_turn(turn)
                found: _TurnStart | _Ended = start.results.find(dealer) or self._turn(start)
                if isinstance(found, _Ended):
                    return found.key
                start = found
        except (RpgresError, Stop):
            return None  # the run as a whole tells more
        return None

    def _begin(self) -> _TurnStart | None:
        """Return where the first turn begins; None where dice that fall before it may be counted on in it."""
        self._dealer.note()
        place, state = begin_procedure(self._prepared, dealer=self._dealer, players=self._players)
        if self._dealer.noted or not self._dealer.is_complete:
            self.can_recall = False
            return None
        self._first = _TurnStart(state, place)
        return self._first

    def _turn(self, start: _TurnStart) -> _TurnStart | _Ended:
        """Play a turn, and return where the next one begins, or what the procedure came to."""
        dealer, prepared = self._dealer, self._prepared
        dealer.note()
        self._players.script.single.clear()
        found, run = play_turn(
            prepared.rules, prepared.action, start.state, start.place, dealer=dealer, players=self._players
        )
        if not isinstance(found, Outcome):
            behind: _TurnStart | _Ended = self._start_at(run.state, found.place)
        elif found.band in prepared.rules.file.bands:
            behind = _Ended(self._key(found, apply_effects(prepared.rules, run.state, found), start.place))
        else:
            raise RpgresError(f"the procedure has no band {found.band!r}")  # told by the run as a whole
        if self._room > 0:
            self._room -= start.results.keep(dealer, behind)
        return behind

    def _start_at(self, state: State, place: Hashable) -> _TurnStart:
        found = self._starts.get((state, place))
        if found is None:
            found = _TurnStart(state, place)
            if self._room > 0:
                self._room -= 1
                self._starts[state, place] = found
        return found
