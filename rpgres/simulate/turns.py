"""A cache of turns of procedures and scenes: turns that read the same values and roll the same dice are played once.

A turn depends on dice, decisions, and what it reads of the table and of its own state, as recorded by `odds.watching`.
Where policies look at the question only, the changes of a turn are cached by what it reads, by the results of parts of
rules (`Table.part`), and by its dice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from rpgres.dice import Dice, Throw
from rpgres.engine.procedures import Position
from rpgres.engine.running import Onward, Run
from rpgres.engine.stops import MAX_QUESTIONS, Stop
from rpgres.errors import RpgresError
from rpgres.odds.nodes import SHAPE, WIDTH, Delta, Node, changed
from rpgres.odds.positions import Parts
from rpgres.odds.watching import Reads, unwatched
from rpgres.simulate import recall
from rpgres.simulate.recall import NotingDealer, Tree

_WORTH = (
    (1_000, 1.5),
    (10_000, 5),
)  # after so many misses, the least ratio of turns to misses that pays
_MOST_VALUES = 100_000  # misses after which the cache is emptied, since it keeps the values that turns read
_STEP = (("at", "op"), ("at", "given"), ("at", "choose"))  # parts that tell the rests of a scene's steps apart


class _Read:
    """The question of the value of one part of the state.

    Attributes:
        shift: where the part begins in a node.
    """

    __slots__ = ("number", "shift")

    def __init__(self, number: int) -> None:
        self.number, self.shift = number, number * WIDTH

    def answer(self, dealer: TurnDealer) -> Hashable:
        """Return the number of the value."""
        return dealer.parts.look(dealer.node, self.number)


class _PartEnd(NamedTuple):
    """The result of a part of a rule, its number, and how often each label had been rolled after it."""

    number: int
    result: Any
    thrown: dict[str, int]


class _Part:
    """A part of a rule: its results by dice. Equal results have the same number.

    Args:
        run: the first run that played it; later ones use its rules, players and state.
        thrown: how often each label had been rolled before it.
        play: plays it in another run.
    """

    __slots__ = ("_asked", "_numbers", "_play", "_players", "_rules", "_state", "_thrown", "_tree")
    shift = -1

    def __init__(self, run: Run, thrown: dict[str, int], play: Callable[[Run], Any]) -> None:
        self._tree = Tree()
        self._numbers: dict[Hashable, int] = {}
        self._rules, self._players, self._asked, self._play = run.rules, run.players, run.asked, play
        self._state, self._thrown = unwatched(run.state), thrown

    def answer(self, dealer: TurnDealer) -> int:
        """Return the number of the result."""
        return self.end(dealer).number

    def end(self, dealer: TurnDealer) -> _PartEnd:
        """Return its result for the dealer's dice."""
        found: _PartEnd | None = self._tree.find(dealer)
        if found is None:
            before = dealer.noted, dealer.thrown, dealer.in_part
            dealer.noted, dealer.thrown, dealer.in_part = [], {**self._thrown}, True
            run = Run(self._rules, self._state, dealer, self._players, self._asked, counts={**self._thrown})
            result = self._play(run)
            found = _PartEnd(self._numbers.setdefault(result, len(self._numbers)), result, dealer.thrown)
            if dealer.room > 0 and dealer.is_complete:
                dealer.room -= self._tree.keep(dealer.noted, found)
            dealer.noted, dealer.thrown, dealer.in_part = before
        return found


class _NotedReads(Reads):
    """Records what a turn reads, in one list with its rolls."""

    __slots__ = ("dealer",)

    def __init__(self, dealer: TurnDealer) -> None:
        super().__init__(dealer.parts, dealer.node)
        self.dealer = dealer
        self.begin()

    def begin(self) -> None:
        """Begin a new record."""
        self.parts.clear()
        self.note(SHAPE)

    def note(self, part: int) -> None:
        if not self.is_off and part not in self.parts:
            self.parts[part] = None
            question = self.dealer.question(part)
            self.dealer.noted.append((question, question.answer(self.dealer)))

    def of(self, part: int) -> Any:
        self.note(part)
        return self.glimpse(part)


class TurnDealer(NotingDealer):
    """Answers chance in turns of a procedure or scene, and caches results of parts of rules.

    Attributes:
        parts: the parts of which nodes are made.
        reads: records what the turn reads.
        turns: the cache of all turns.
        tree: the cache of this turn, or of the rest of it behind its last merge.
        is_abridged: whether there was such a merge, or a part: their results need not have totals.
        in_part: whether a part of a rule is played.
        outcome: the outcome of the last step of a scene.
        room: how many questions and results may still be cached.
        thrown: how often each label was rolled in the turn; the dice of a seed depend on it.
    """

    __slots__ = (
        *("_kept", "_questions", "_rests"),
        *("in_part", "is_abridged", "outcome", "parts", "reads", "room", "thrown", "tree", "turns"),
    )
    is_logged = False
    keeps_parts = True

    def forget(self, canons: Mapping[str, Callable[[Any], Any]]) -> None:
        """Empty the cache; see `Parts` for `canons`."""
        self.parts, self.room = Parts(canons), recall.MOST_KEPT
        self.turns = Tree()
        self._kept: dict[Hashable, _Part] = {}
        self._rests: dict[Hashable, Tree] = {}
        self._questions: dict[int, _Read] = {}
        self.reads = Reads(self.parts, 0)
        self.thrown: dict[str, int] = {}

    def question(self, part: int) -> _Read:
        """Return the question of the value of a part; always the same object."""
        found = self._questions.get(part)
        if found is None:
            found = self._questions[part] = _Read(part)
        return found

    def begin(self, node: Node) -> Position:
        """Return the state in which a turn begins; it records what is read of it while the cache has room."""
        self.node, self.tree = node, self.turns
        self.is_abridged = self.in_part = False
        self.thrown = {}
        self.note()
        self.reads.is_off = True  # cached values of earlier turns may still read their tables
        if self.room <= 0:
            return self.parts.position(node)
        self.reads = _NotedReads(self)
        return self.parts.watched(node, self.reads)

    def led_to(self, after: Position) -> Delta:
        """Return the changes of the turn."""
        if isinstance(self.reads, _NotedReads) and not self.reads.is_off:
            return self.parts.changes(self.node, after, self.reads)
        then = self.parts.node_of(after)
        return self.node | then, (self.node | then) ^ then

    @property
    def has_drawn(self) -> bool:
        """Whether anything was rolled or drawn in the turn."""
        return bool(self.thrown) or not self.is_complete

    def came_to(self, outcome: str | None) -> None:
        self.outcome = outcome

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        self._count(label, count)
        return super().throw(dice, label, count)

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        self._count(label, count)
        return super().show(dice, label, count)

    def _count(self, label: str, count: int) -> None:
        """Count a roll.

        Raises:
            RpgresError: a decision has the same label, so that the count depends on decisions, which are not cached.
        """
        if count != self.thrown.get(label, 0):
            raise RpgresError(f"{label} is the label of dice and of a decision")
        self.thrown[label] = count + 1

    def merge(self, key: Any) -> None:
        """Continue with the rest of the turn, whose cache is shared by all turns that merge on the same key.

        Raises:
            _Known: the rest was played before, with the same values read and the same dice.
        """
        if self.in_part or not self.is_complete or key[0] is None:
            return
        step = tuple([self.parts.value(self.node, part) for part in _STEP])
        key = step, key, tuple(self.thrown.items())
        rest = self._rests.get(key)
        if rest is None:
            rest = Tree()
            if self.room > 0:
                self._rests[key] = rest
        self.keep(rest)
        self.tree, self.is_abridged = rest, True
        self.note()
        known = rest.find(self)
        if known is not None:
            raise _Known(known)
        if isinstance(self.reads, _NotedReads):
            self.reads.begin()

    def keep(self, found: Any) -> None:
        """Cache the result of the turn, or of the rest of it."""
        if self.room > 0 and self.is_complete:
            self.room -= self.tree.keep(self.noted, found)

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any], onward: Onward | None = None) -> Any:
        key = key, tuple(self.thrown.items())
        part = self._kept.get(key)
        if part is None:
            with self.reads.off():  # the key covers what it reads
                part = _Part(run, {**self.thrown}, play)
            if self.room > 0:
                self._kept[key] = part
        self.is_abridged = True
        end = part.end(self)
        run.counts.update(end.thrown)
        self.thrown = {**end.thrown}
        self.noted.append((part, end.number))
        return end.result


class Played(NamedTuple):
    """The result of a turn.

    Attributes:
        after: the state after it; None at the end of all turns.
        told: what is counted of the turn, in order (hashable).
        step: the step of the next turn, by its number among the draws of a seed; None for the same step.
    """

    after: Position | None
    told: tuple[Hashable, ...] = ()
    step: int | None = None


class _Found(NamedTuple):
    """The cached result of a turn: its changes, None at the end of all turns; the rest as in `Played`."""

    delta: Delta | None
    told: tuple[Hashable, ...]
    step: int | None


class _Known(Stop):
    """The rest of a turn is in the cache."""

    def __init__(self, found: _Found) -> None:
        super().__init__(found)
        self.found = found


class Turns:
    """Runs that are played in turns.

    Args:
        dealer: answers chance in `begin` and `turn`.
        begin: returns the state of the first turn, and its step by its number among the draws of a seed.
        turn: plays a turn.
        canons: the canonical forms of fields of the state, where the ruleset declares them.
    """

    def __init__(
        self,
        dealer: TurnDealer,
        begin: Callable[[], tuple[Position, int]],
        turn: Callable[[Position], Played],
        canons: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self._dealer, self._begin, self._turn, self._canons = dealer, begin, turn, canons
        self._turns = self._missed = 0
        self._forget()
        self._can_recall = True

    def _forget(self) -> None:
        self._dealer.forget(self._canons)
        self._first: tuple[Node, int] | None = None

    def play(self, run: int) -> list[Hashable] | None:
        """Return what is counted of the turns of a run; None where it has to be played as a whole."""
        if not self._can_recall:
            return None
        try:
            return self._play(run)
        except (RpgresError, Stop):
            self._can_recall = False
        return None

    def _play(self, run: int) -> list[Hashable] | None:
        dealer, tree = self._dealer, self._dealer.turns
        dealer.move_to(run)
        if self._first is None:
            self._first = self._begun()
        node, step = self._first
        dealer.begin_step(step)
        told, turn = list[Hashable](), 0
        for count in range(1, MAX_QUESTIONS):
            dealer.begin_turn(turn)
            dealer.node = node
            found: _Found = tree.find(dealer) or self._resolved(node)
            if found.told:
                told += found.told
            if found.delta is None:
                self._turns += count
                self._check_worth()
                return told
            node = changed(node, found.delta)
            if found.step is None:
                turn += 1
            else:
                dealer.begin_step(found.step)
                turn = 0
        return None

    def _check_worth(self) -> None:
        """Give the cache up where it is hardly used, and empty it where it is too large."""
        if any(self._missed > missed and self._turns < self._missed * times for missed, times in _WORTH):
            self._can_recall = False
        if self._missed > _MOST_VALUES:
            self._turns = self._missed = 0
            self._forget()

    def _begun(self) -> tuple[Node, int]:
        """Return the node of the first turn, and its step."""
        self._dealer.note()
        self._dealer.thrown = {}
        self._dealer.in_part = True  # it is played once for all runs, so its merges are not cached
        position, step = self._begin()
        if self._dealer.has_drawn:
            raise RpgresError("dice before the first turn are not recalled")
        return self._dealer.parts.node_of(position), step

    def _resolved(self, node: Node) -> _Found:
        """Play a turn, and cache its result."""
        dealer = self._dealer
        self._missed += 1
        start = dealer.begin(node)
        try:
            played = self._turn(start)
        except _Known as known:
            return known.found
        after = played.after
        found = _Found(None if after is None else dealer.led_to(after), played.told, played.step)
        dealer.keep(found)
        return found
