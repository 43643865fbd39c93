"""Turns of procedures and scenes, each resolved once for all that read the same and have the same throws.

A turn depends on dice, decisions, and what it reads of the table and of the place it begins at, as odds of scenes know
it (`odds.watching`). Where policies decide that look at nothing but the question, what a turn changes is kept by what
it reads, what parts of rules come to (`Table.part`), and dice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from rpgres.dice import Dice, Throw
from rpgres.engine.procedures import Standing
from rpgres.engine.running import Onward, Run
from rpgres.engine.stops import MAX_QUESTIONS, Stop
from rpgres.errors import RpgresError
from rpgres.odds.nodes import SHAPE, WIDTH, Delta, Node, changed
from rpgres.odds.standings import Parts
from rpgres.odds.watching import Reads, unwatched
from rpgres.simulate import recall
from rpgres.simulate.recall import NotingDealer, Tree

_WORTH = (
    (1_000, 1.5),
    (10_000, 5),
)  # after so many turns that were not known, there have to be so many to each of them
_MOST_VALUES = 100_000  # such turns after which all is forgotten, as the values of what they read are kept, too
_STEP = (("at", "op"), ("at", "given"), ("at", "choose"))  # what tells the rests of a scene's steps apart


class _Read:
    """What stands in a part of the table or place, or what is seen in some parts at a glance.

    Attributes:
        shift: where the part begins in a node; below 0 for a glance.
    """

    __slots__ = ("number", "shift")

    def __init__(self, number: int) -> None:
        self.number, self.shift = number, number * WIDTH

    def answer(self, dealer: TurnDealer) -> Hashable:
        """Return the number of the value."""
        return dealer.parts.look(dealer.node, self.number)


class _PartEnd(NamedTuple):
    """What a part of a rule came to: the number of the result, the result, and how often each label was thrown then."""

    number: int
    result: Any
    thrown: dict[str, int]


class _Part:
    """A part of a rule with what it depends on: its results by dice, of which equal ones have the same number.

    Args:
        run: the run in which it came up first; how it is played depends on nothing else of it.
        thrown: how often each label was thrown before it.
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
        """Return what it comes to."""
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
    """Takes note of what a turn reads, in one row with its throws."""

    __slots__ = ("dealer",)

    def __init__(self, dealer: TurnDealer) -> None:
        super().__init__(dealer.parts, dealer.node)
        self.dealer = dealer
        self.begin()

    def begin(self) -> None:
        """Forget what was read before."""
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
    """Answers a turn of a procedure or scene, and keeps what parts of rules come to.

    Attributes:
        parts: what nodes are made of.
        reads: takes note of what the turn reads.
        turns: what is known of all turns.
        tree: what is known of what this turn does, or what is left of it behind its last merge.
        is_abridged: whether there was such a merge, or a part: what comes of them need not have totals.
        in_part: whether a part of a rule is played.
        outcome: what the last step of a scene came to.
        room: how many questions and results may still be kept.
        thrown: how often each label was thrown in the turn: the dice of a seed are told apart by that.
    """

    __slots__ = (
        *("_kept", "_questions", "_rests"),
        *("in_part", "is_abridged", "outcome", "parts", "reads", "room", "thrown", "tree", "turns"),
    )
    is_logged = False
    keeps_parts = True

    def forget(self, canons: Mapping[str, Callable[[Any], Any]]) -> None:
        """Begin with nothing that is known; see `Parts` for `canons`."""
        self.parts, self.room = Parts(canons), recall.MOST_KEPT
        self.turns = Tree()
        self._kept: dict[Hashable, _Part] = {}
        self._rests: dict[Hashable, Tree] = {}
        self._questions: dict[int, _Read] = {}
        self.reads = Reads(self.parts, 0)
        self.thrown: dict[str, int] = {}

    def question(self, part: int) -> _Read:
        """Return the question what stands in a part; always the same."""
        found = self._questions.get(part)
        if found is None:
            found = self._questions[part] = _Read(part)
        return found

    def begin(self, node: Node) -> Standing:
        """Return where a turn begins; as long as anything may be kept, take note of what is read of it."""
        self.node, self.tree = node, self.turns
        self.is_abridged = self.in_part = False
        self.thrown = {}
        self.note()
        self.reads.is_off = True  # what was kept of earlier turns may still look at their tables
        if self.room <= 0:
            return self.parts.standing(node)
        self.reads = _NotedReads(self)
        return self.parts.watched(node, self.reads)

    def led_to(self, after: Standing) -> Delta:
        """Return what the turn changed."""
        if isinstance(self.reads, _NotedReads) and not self.reads.is_off:
            return self.parts.changes(self.node, after, self.reads)
        then = self.parts.node_of(after)
        return self.node | then, (self.node | then) ^ then

    @property
    def has_drawn(self) -> bool:
        """Whether chance was asked in the turn."""
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
        """Count a throw.

        Raises:
            RpgresError: a decision has the same label, and counts, too: what was decided cannot be left out then.
        """
        if count != self.thrown.get(label, 0):
            raise RpgresError(f"{label} is the label of dice and of a decision")
        self.thrown[label] = count + 1

    def merge(self, key: Any) -> None:
        """Go on to what is left of the turn, which all turns share that carry the same and merge on the same.

        Raises:
            _Known: it was played before, with what is read of the table from there on and with these dice.
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
        """Keep what the turn comes to, or what is left of it."""
        if self.room > 0 and self.is_complete:
            self.room -= self.tree.keep(self.noted, found)

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any], onward: Onward | None = None) -> Any:
        key = key, tuple(self.thrown.items())
        part = self._kept.get(key)
        if part is None:
            with self.reads.off():  # the key stands for what it reads
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
    """What a turn came to.

    Attributes:
        after: where it then stands; None at the end of all turns.
        told: what is told of the turn, in order (hashable).
        step: to which step the next turn belongs, by its number among the draws of a seed; None for the same step.
    """

    after: Standing | None
    told: tuple[Hashable, ...] = ()
    step: int | None = None


class _Found(NamedTuple):
    """What is kept of a turn: what it changes, None at the end of all turns; and as of `Played`."""

    delta: Delta | None
    told: tuple[Hashable, ...]
    step: int | None


class _Known(Stop):
    """What is left of a turn is known."""

    def __init__(self, found: _Found) -> None:
        super().__init__(found)
        self.found = found


class Turns:
    """Runs of something that is played in turns.

    Args:
        dealer: answers chance in `begin` and `turn`.
        begin: returns where the first turn begins, and to which step it belongs, by its number among a seed's draws.
        turn: plays a turn.
        canons: of the ruleset, where fields of the state may be replaced by others that are alike to the rules.
    """

    def __init__(
        self,
        dealer: TurnDealer,
        begin: Callable[[], tuple[Standing, int]],
        turn: Callable[[Standing], Played],
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
        """Return what is told of the turns of a run; None where it has to be played as a whole, which tells more."""
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
        """Keep nothing any more where little is found again, and all anew where too much was kept."""
        if any(self._missed > missed and self._turns < self._missed * times for missed, times in _WORTH):
            self._can_recall = False
        if self._missed > _MOST_VALUES:
            self._turns = self._missed = 0
            self._forget()

    def _begun(self) -> tuple[Node, int]:
        """Return where the first turn begins."""
        self._dealer.note()
        self._dealer.thrown = {}
        self._dealer.in_part = True  # played once for all runs, it has nothing to share by its merges
        standing, step = self._begin()
        if self._dealer.has_drawn:
            raise RpgresError("dice that fall before the first turn are not recalled")
        return self._dealer.parts.node_of(standing), step

    def _resolved(self, node: Node) -> _Found:
        """Play a turn, and return what it came to."""
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
