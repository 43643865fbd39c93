"""Results of runs, kept by what their dice showed: where dice fall as they did before, nothing is resolved again.

A rule depends on dice and decisions. Where policies decide that look at nothing but the question, dice alone decide. So
the results of whole actions are kept, and what the turns of procedures change: by what a turn reads of the table and of
the place it begins at, as odds of scenes do (`odds.watching`), what parts of rules come to (`Table.part`), and dice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from rpgres.dice import Dice, Throw
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.prepare import Prepared
from rpgres.engine.procedures import begin_procedure, play_turn
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.standing import Standing
from rpgres.engine.stops import MAX_QUESTIONS, Stop
from rpgres.engine.table import Outcome
from rpgres.errors import RpgresError
from rpgres.model.state import EMPTY, State
from rpgres.odds.nodes import MASK, SHAPE, WIDTH, Delta, Node, changed
from rpgres.odds.watching import Parts, Reads, unwatched
from rpgres.rulesets import STATE

MOST_KEPT = 100_000  # questions and results; what comes later is resolved each time
_LOOKED_AT = 1_000  # turns that were not known, after which keeping them has to pay for itself
_MOST_VALUES = 100_000  # such turns after which all is forgotten, as the values of what they read are kept, too


class _Throw:
    """A throw that is asked for.

    Args:
        dice, label, count: what is thrown.
        is_shown: whether every die is read, and not the total alone.
    """

    __slots__ = ("count", "dice", "is_shown", "label")
    shift = -1

    def __init__(self, dice: Dice, label: str, count: int, *, is_shown: bool) -> None:
        self.dice, self.label, self.count, self.is_shown = dice, label, count, is_shown

    def answer(self, dealer: NotingDealer) -> Hashable:
        """Return what the seed holds."""
        throw = SeededDealer.throw(dealer, self.dice, self.label, self.count)
        return throw.text if self.is_shown else throw.value


class _Branch:
    """A question that a rule asks next, and what follows each of its answers: another question, or the result."""

    __slots__ = ("by", "question", "shift")

    def __init__(self, question: Any) -> None:
        self.question = question
        self.shift = question.shift
        self.by: dict[Hashable, Any] = {}


class NotingDealer(SeededDealer):
    """A seeded dealer that takes note of its throws.

    Attributes:
        noted: the questions of a run or turn, each with its answer.
        is_complete: whether these are all of chance: neither cards nor weighted options were drawn.
        node: where a turn begins; an action begins always alike.
    """

    __slots__ = ("is_complete", "node", "noted")

    def __init__(self, streams: Streams, *, step: int = 0) -> None:
        super().__init__(streams, step=step)
        self.node: Node = 0

    def note(self) -> None:
        """Begin to take note anew."""
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
        found = super().read(dice, readings, label, count)  # by `throw`, of which it reads more than the total
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
    """Results of what begins alike, found by the answers to its questions, in order."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root: Any = None

    def find(self, dealer: NotingDealer) -> Any:
        """Return the result for the dealer's answers; None where that is not known yet."""
        found, node = self._root, dealer.node
        while True:
            if type(found) is _Branch:
                shift = found.shift
                if shift >= 0:  # as `_Read` answers, which most questions are
                    found = found.by.get(node >> shift & MASK)
                else:
                    found = found.by.get(found.question.answer(dealer))
            elif type(found) is Tree:  # the rest of a turn
                found = found._root
            else:
                return found

    def keep(self, noted: list[tuple[Any, Hashable]], result: Any) -> int:
        """Keep the result of questions with their answers, and return how many questions and results are new."""
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
    """Return what plays runs of an action, and resolves again only what it does not know.

    Args:
        dealer: answers chance in `play`.
        play: plays a run by its number.
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
        super().__init__(dealer.parts.values(dealer.node), all_parts=dealer.parts, node=dealer.node)
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
        return self.values[part]


class TurnDealer(NotingDealer):
    """Answers a turn of a procedure, and keeps what parts of rules come to.

    Attributes:
        parts: what nodes are made of.
        reads: takes note of what the turn reads.
        turns: what is known of all turns.
        tree: what is known of what this turn does, or what is left of it behind its last merge.
        is_abridged: whether there was such a merge, or a part: what comes of them need not have totals.
        in_part: whether a part of a rule is played.
        room: how many questions and results may still be kept.
        thrown: how often each label was thrown in the turn: the dice of a seed are told apart by that.
    """

    __slots__ = (
        *("_kept", "_questions", "_rests"),
        *("in_part", "is_abridged", "parts", "reads", "room", "thrown", "tree", "turns"),
    )
    is_logged = False
    keeps_parts = True

    def forget(self, canons: Mapping[str, Callable[[Any], Any]]) -> None:
        """Begin with nothing that is known; see `Parts` for `canons`."""
        self.parts, self.room = Parts(canons), MOST_KEPT
        self.turns = Tree()
        self._kept: dict[Hashable, _Part] = {}
        self._rests: dict[Hashable, Tree] = {}
        self._questions: dict[int, _Read] = {}
        self.reads = Reads([])
        self.thrown: dict[str, int] = {}

    def question(self, part: int) -> _Read:
        """Return the question what stands in a part; always the same."""
        found = self._questions.get(part)
        if found is None:
            found = self._questions[part] = _Read(part)
        return found

    def watch(self, node: Node) -> Standing:
        """Return where a turn begins, and take note of what is read of it."""
        self.node, self.tree = node, self.turns
        self.is_abridged = self.in_part = False
        self.thrown = {}
        self.note()
        self.reads.is_off = True  # what was kept of earlier turns may still look at their tables
        self.reads = _NotedReads(self)
        return self.parts.watched(node, self.reads)

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
        key = key, tuple(self.thrown.items())
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
        assert isinstance(self.reads, _NotedReads)
        self.reads.begin()

    def keep(self, found: Any) -> None:
        """Keep what the turn comes to, or what is left of it."""
        if self.room > 0 and self.is_complete:
            self.room -= self.tree.keep(self.noted, found)

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any]) -> Any:
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


class _Ended(NamedTuple):
    """The result of a procedure."""

    key: Any


class _Known(Stop):
    """What is left of a turn is known."""

    def __init__(self, found: Delta) -> None:
        super().__init__(found)
        self.found = found


class Turns:
    """The turns of a procedure, each resolved once for all that read the same and have the same throws.

    Args:
        prepared: the procedure, with its inputs read.
        dealer: answers chance.
        players: answer decisions.
        key: returns what is counted at the end, of the outcome, the state after it and the last place.
        is_canonical: whether fields of the state may be replaced by others that are alike to the rules.
    """

    def __init__(
        self,
        prepared: Prepared,
        dealer: TurnDealer,
        players: Seats,
        key: Callable[[Outcome, State, Any], Any],
        *,
        is_canonical: bool,
    ) -> None:
        self._prepared, self._dealer, self._players, self._key = prepared, dealer, players, key
        self._turns = self._missed = 0
        self._is_canonical = is_canonical
        self._forget()
        self.can_recall = not (prepared.placed or prepared.undealt or prepared.trust or prepared.lump)

    def _forget(self) -> None:
        self._dealer.forget(self._prepared.rules.ruleset.canons if self._is_canonical else EMPTY)
        self._first: Node | None = None

    def or_else(self, play: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return what plays a run turn by turn, or with `play` as a whole where that does not go."""
        return lambda run: self._play(run) or play(run)

    def _play(self, run: int) -> Any:
        """Return what is counted of a run; None where it has to be played as a whole."""
        if not self.can_recall:
            return None
        dealer, tree = self._dealer, self._dealer.turns
        dealer.move_to(run)
        try:
            node = self._first if self._first is not None else self._begin()
            for turn in range(MAX_QUESTIONS if node is not None else 0):
                assert node is not None
                dealer.begin_turn(turn)
                dealer.node = node
                found: Delta | _Ended = tree.find(dealer) or self._turn(node)
                if type(found) is _Ended:
                    self._turns += turn
                    self._check_worth()
                    return found.key
                node = changed(node, found)  # type: ignore[arg-type]  # what has not ended is a change
        except (RpgresError, Stop):
            self.can_recall = False  # the run as a whole tells more
        return None

    def _check_worth(self) -> None:
        """Keep nothing any more where little is found again, and all anew where too much was kept."""
        if self._missed > _LOOKED_AT and 2 * self._turns < 3 * self._missed:
            self.can_recall = False
        if self._missed > _MOST_VALUES:
            self._turns = self._missed = 0
            self._forget()

    def _begin(self) -> Node | None:
        """Return where the first turn begins; None where dice that fall before it may be counted on in it."""
        self._dealer.note()
        place, state = begin_procedure(self._prepared, dealer=self._dealer, players=self._players)
        if self._dealer.noted or not self._dealer.is_complete:
            self.can_recall = False
            return None
        self._first = self._dealer.parts.node_of(Standing(state, EMPTY, place))
        return self._first

    def _turn(self, node: Node) -> Delta | _Ended:
        """Play a turn, and return what it changes, or what the procedure came to."""
        dealer, prepared = self._dealer, self._prepared
        self._missed += 1
        self._players.script.single.clear()
        start = dealer.watch(node)
        rules = prepared.rules
        try:
            found, run = play_turn(
                rules, prepared.action, start.state, start.place, dealer=dealer, players=self._players, asked=STATE
            )
        except _Known as known:
            return known.found
        if not isinstance(found, Outcome):
            after = Standing(run.state, start.at, found.place)
            behind: Delta | _Ended = dealer.parts.changes(node, after, dealer.reads)
        elif found.band in rules.file.bands and not dealer.is_abridged:
            behind = _Ended(self._key(found, apply_effects(rules, run.state, found), start.place))
        else:  # without a band, which the run as a whole tells; or without the totals that are counted
            raise RpgresError(f"the end of {prepared.action} is not recalled")
        dealer.keep(behind)
        return behind
