"""A cache of results of actions by their dice: where the dice fall as before, the action is not played again.

An action depends on dice and decisions. Where policies look at the question only, it depends on the dice alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from rpgres.dice import Dice, Throw
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.odds.nodes import MASK, Node

MOST_KEPT = 100_000  # questions and results in a cache; later ones are played each time


class _Throw:
    """A roll as a question.

    Args:
        dice, label, count: what is rolled.
        is_shown: whether every die is read, and not only the total.
    """

    __slots__ = ("count", "dice", "is_shown", "label")
    shift = -1

    def __init__(self, dice: Dice, label: str, count: int, *, is_shown: bool) -> None:
        self.dice, self.label, self.count, self.is_shown = dice, label, count, is_shown

    def answer(self, dealer: NotingDealer) -> Hashable:
        """Return the roll of the seed."""
        throw = SeededDealer.throw(dealer, self.dice, self.label, self.count)
        return throw.text if self.is_shown else throw.value


class _Branch:
    """A question, and by its answers the next question or the result."""

    __slots__ = ("by", "question", "shift")

    def __init__(self, question: Any) -> None:
        self.question = question
        self.shift = question.shift
        self.by: dict[Hashable, Any] = {}


class NotingDealer(SeededDealer):
    """A seeded dealer that records its rolls.

    Attributes:
        noted: the questions of a run or turn, each with its answer.
        is_complete: whether these are all: no card was drawn, and no weighted option picked.
        node: the state in which a turn begins; 0 for an action.
    """

    __slots__ = ("is_complete", "node", "noted")

    def __init__(self, streams: Streams, *, step: int = 0) -> None:
        super().__init__(streams, step=step)
        self.node: Node = 0

    def note(self) -> None:
        """Begin a new record."""
        self.noted: list[tuple[Any, Hashable]] = []
        self.is_complete = True

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        throw = super().throw(dice, label, count)
        self.noted.append((_Throw(dice, label, count, is_shown=False), throw.value))
        return throw

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        throw = super().throw(dice, label, count)
        self.noted.append((_Throw(dice, label, count, is_shown=True), throw.text))
        return throw

    def read(self, dice: Dice, readings: Any, label: str, count: int) -> tuple[Throw | None, tuple[int, ...]]:
        found = super().read(dice, readings, label, count)  # calls `throw`, and reads more than the total
        assert found[0] is not None
        self.noted[-1] = _Throw(dice, label, count, is_shown=True), found[0].text
        return found

    def pick(self, weights: Any, label: str, count: int) -> int:
        self.is_complete = False
        return super().pick(weights, label, count)

    def draw(self, cards: tuple[str, ...], stack: Any, label: str, count: int) -> str:
        self.is_complete = False
        return super().draw(cards, stack, label, count)


class Tree:
    """A cache of results, found by the answers to the questions in order."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: Any = None

    def find(self, dealer: NotingDealer) -> Any:
        """Return the result for the dealer's answers; None where there is none yet."""
        found, node = self._root, dealer.node
        while True:
            if type(found) is _Branch:
                shift = found.shift
                if shift >= 0:  # what `_Read.answer` would return; most questions are of this kind
                    found = found.by.get(node >> shift & MASK)
                else:
                    found = found.by.get(found.question.answer(dealer))
            elif type(found) is Tree:  # the rest of a turn
                found = found._root
            else:
                return found

    def keep(self, noted: list[tuple[Any, Hashable]], result: Any) -> int:
        """Add a result by its questions and answers, and return how many questions and results are new."""
        parent: dict[Hashable, Any] | None = None
        edge: Hashable = None
        new = 0
        for question, answer in noted:
            branch = self._root if parent is None else parent.get(edge)
            if branch is None:
                branch, new = _Branch(question), new + 1
                if parent is None:
                    self._root = branch
                else:
                    parent[edge] = branch
            parent, edge = branch.by, answer
        if parent is None:
            self._root = result
        else:
            parent[edge] = result
        return new + 1


def recalled(dealer: NotingDealer, play: Callable[[int], Hashable]) -> Callable[[int], Any]:
    """Return the function that plays runs of an action with a cache.

    Args:
        dealer: answers chance in `play`.
    """
    tree, room = Tree(), MOST_KEPT

    def play_run(run: int) -> Any:
        nonlocal room
        dealer.move_to(run)
        found = tree.find(dealer)
        if found is None:
            dealer.note()
            found = play(run)
            if room > 0 and dealer.is_complete:
                room -= tree.keep(dealer.noted, found)
        return found

    return play_run
