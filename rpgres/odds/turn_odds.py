"""What a turn of a game comes to, run once for all positions that agree in what it reads. Nothing names a ruleset.

The rest of a turn behind a merge is run so, too. What a rule has paid for before a merge need not be in its key: the
rest is run without it, and both changes are put together where neither touches the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.effects import apply_effects
from rpgres.engine.outcomes import Outcome
from rpgres.engine.players import Question
from rpgres.engine.procedures import Position
from rpgres.engine.running import Onward, Run
from rpgres.engine.stops import NeedsAnswer, Stop
from rpgres.odds.explorer import MERGE, Budget, Merged, Runs, WalkDealer, entries, explore_within
from rpgres.odds.games import Game
from rpgres.odds.nodes import MASK, SHAPE, UNCHANGED, WIDTH, Delta, Memo, Node, in_turn
from rpgres.odds.positions import Parts
from rpgres.odds.rule_parts import PART, Kept, drawn
from rpgres.odds.watching import Reads
from rpgres.rulesets import STATE, Effect

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.model.state import State

ALL = -1  # in the place of the bits of some parts: of all
ANSWER = 4  # an answer in a path costs as much as so many positions that are gone through

Branches = list[tuple[int, Delta]]


class Rest(msgspec.Struct, frozen=True, eq=False):
    """The rest of a turn behind a merge: it depends on the key, and on what is read of the table from there on.

    Attributes:
        key: what the rule merged on.
        tape: the answers of one path up to there, the key the last of them.
        known: what comes of it, by what was read.
    """

    key: Hashable
    tape: Any
    known: Memo


class Paid(msgspec.Struct, frozen=True, eq=False):
    """The rest of a turn behind a merge before which something was paid.

    Attributes:
        rest: the rest without that.
        delta: what paying changes.
        whole: the rest with that, for positions in which the rest touches what paying changes.
    """

    rest: Rest
    delta: Delta
    whole: Rest


class Step(msgspec.Struct, frozen=True, gc=False):
    """What a turn comes to, or a rest of one: weights, of a total, by what it changes; what lacks is open.

    Attributes:
        branches: the weights.
        total: what they are parts of.
        applied: the bits of the parts that were read when its effects were applied.
    """

    branches: tuple[tuple[int, Delta | Rest | Paid], ...]
    total: int
    applied: int = ALL

    def is_apart_from(self, delta: Delta) -> bool:
        """Tell whether it comes to the same where a change is made first, and that makes the same change."""
        bits = delta[0]
        return not bits & self.applied and all(type(one) is tuple and not bits & one[0] for _, one in self.branches)


class _Parted(Stop):
    """The run came to a part of a rule, behind each of whose results it merges."""

    def __init__(self, branches: tuple[tuple[int, Rest | Paid], ...], total: int) -> None:
        super().__init__()
        self.mixed = _Mixed(branches, total)


class _Mixed(msgspec.Struct, frozen=True, eq=False):
    branches: tuple[tuple[int, Rest | Paid], ...]
    total: int


class TurnWalkDealer(WalkDealer):
    """Answers behind a merge on, and has what is read from there on noted.

    At a new merge a run ends, if what follows is known or asks chance; else it goes on to its end, and what follows is
    known then.

    Args:
        tape: the answers before it; None from the beginning of a turn.
        reads: what is read of the position.
        kept: what parts of rules come to; None where they are played like all else, and every run ends at a new merge.
        rests: those behind merges.

    Attributes:
        rest: the rest of a turn that the running path is in, behind a new merge; what it reads is noted for that.
    """

    __slots__ = ("_behind_merges", "_code", "_kept", "_noted", "_reads", "_tape_before", "keeps_parts", "rest")

    def __init__(
        self,
        tape: Any,
        reads: Reads,
        kept: Kept | None,
        rests: _Rests,
    ) -> None:
        super().__init__()
        self._reads, self._tape_before, self._noted = reads, tape, reads.parts
        self._kept, self.keeps_parts = kept, kept is not None
        self._behind_merges = rests
        self._code: dict[int, None] | None = None  # what was read before effects were applied
        self.rest: Rest | None = None
        self.waiting.clear()
        self.queue(1, 1, tape)

    def begin(self) -> None:
        super().begin()
        self.rest, self._code, self._reads.parts = None, None, self._noted
        self._reads.is_off = self._tape_before is not None

    def fresh(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        if self.rest is not None:
            raise Merged(self.rest.key)
        return super().fresh(label, values, weights, total)

    def merge(self, key: object) -> None:
        if self.is_fresh:
            rest = self._behind_merges.unknown(key, self.node) if self.rest is None and self.keeps_parts else self.rest
            if rest is None or rest is self.rest:
                raise Merged(key if rest is None else rest.key)
            self.rest, self._reads.parts = rest, {SHAPE: None}
            self._tape.append((MERGE, key))
            self.node = rest.tape
        super().merge(key)
        if self._position >= len(entries(self._tape_before)):
            self._reads.is_off = False

    def merge_paid(self, run: Run, key: Hashable, pays: tuple[Effect, ...]) -> tuple[Effect, ...]:
        plain = _keyed(run, key)
        if not self.is_fresh and self._tape[self._position][1] == plain:
            self.merge(plain)
            return ()
        return super().merge_paid(run, key, pays)

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any], onward: Onward | None = None) -> Any:
        assert self._kept is not None
        known = self._kept.found.get(key)
        if known is None:
            with self._reads.off():  # the key stands for what it reads
                known = self._kept.found[key] = self._kept.evaluate(run, play)
        if known.is_open:
            return play(run)
        if (
            onward is None
            or run.asked != STATE
            or self.rest is not None
            or not self.is_fresh
            or len(known.results) == 1
        ):
            return drawn(self, known)
        rests = [
            self._behind_merges.behind(run, *onward(result), (self.node, (PART, number)))
            for number, result in enumerate(known.results)
        ]
        raise _Parted(tuple(zip(known.weights, rests, strict=True)), known.total)

    def applies(self) -> None:
        if self._code is None:
            self._code, self._reads.parts = self._reads.parts, {}

    def applied(self) -> int:
        """Return the bits of the parts that were read since effects were applied of a path that ended."""
        code, later = self._code, self._reads.parts
        if code is None:
            return ALL
        code.update(later)
        self._code, self._reads.parts = None, code
        return bits_of(later)


def bits_of(parts: Iterable[int]) -> int:
    """Return the bits of some parts; all where what was read is more than single parts."""
    bits = MASK << SHAPE * WIDTH
    for part in parts:
        if part < 0:
            return ALL
        bits |= MASK << part * WIDTH
    return bits


def _keyed(run: Run, key: Hashable) -> Hashable:
    """Return the key of a merge with all that it stands for; see `Run.merge`."""
    return run.carried, key, run.players.used()


class TurnOdds:
    """What turns of a scene come to: each is run once for all positions that agree in what it reads.

    Args:
        game: the scene.
        parts: the parts of its positions.
        budget: what it may cost.
        is_merged: whether turns, rests of them and parts of rules are looked up; it changes no chance.

    Attributes:
        parts: as given.
        undecided: decisions that nobody takes, by label.
        too_many: the label of what has too many results to be followed; empty where nothing has.
    """

    def __init__(self, game: Game, parts: Parts, budget: Budget, *, is_merged: bool) -> None:
        self._game, self.parts, self._budget, self._is_merged = game, parts, budget, is_merged
        self._kept = Kept(budget)
        self._turns = Memo()
        self._rests: dict[Hashable, Memo] = {}
        self._leaves = 0
        self.undecided: dict[str, Question] = {}
        self.too_many = ""

    @property
    def leaves(self) -> int:
        """How many paths were run."""
        return self._leaves + self._kept.leaves

    def of(self, node: Node, noted: dict[int, None]) -> tuple[Branches, int]:
        """Return what comes of the turn that is due: weights by what it changes, and their total.

        Args:
            noted: takes note of the parts of the position that were looked at for it.
        """
        return self._followed(node, self._known(node, self._turns, None, noted), noted)

    def _known(self, node: Node, memo: Memo, tape: Any, noted: dict[int, None]) -> Step:
        """Return what comes of a turn, or of the rest of one: looked up, or run on every answer of chance."""
        known: Step | None = memo.find(node, self.parts, noted) if self._is_merged else None
        return known if known is not None else self._explored(node, tape, memo, noted)

    def _followed(self, node: Node, step: Step, noted: dict[int, None]) -> tuple[Branches, int]:
        branches, rests = Branches(), list[tuple[int, Branches, int]]()
        for share, one in step.branches:
            if isinstance(one, tuple):
                branches.append((share, one))
            else:
                rests.append((share, *self._behind(node, one, noted)))
        if not rests:
            return branches, step.total
        factor = lcm(*{total for _, _, total in rests})
        branches = [(share * factor, one) for share, one in branches]
        for share, inner, total in rests:
            branches += [(share * (factor // total) * part, delta) for part, delta in inner]
        return branches, step.total * factor

    def _behind(self, node: Node, rest: Rest | Paid, noted: dict[int, None]) -> tuple[Branches, int]:
        """Return what comes of the rest of a turn."""
        if isinstance(rest, Paid):
            paid, step = rest.delta, self._known(node, rest.rest.known, rest.rest.tape, noted)
            if step.is_apart_from(paid):
                return [
                    (share, in_turn(paid, one)) for share, one in step.branches if isinstance(one, tuple)
                ], step.total
            rest = rest.whole
        return self._followed(node, self._known(node, rest.known, rest.tape, noted), noted)

    def _explored(self, node: Node, tape: Any, memo: Memo, noted: dict[int, None]) -> Step:
        """Return what comes of a turn, from a tape on, and keep it by what was read of the position for it."""
        reads = self.parts.reads(node)
        position, runs = self.parts.watched(node, reads), Runs()
        rests, applied = _Rests(self, node, position, reads), 0

        def once(dealer: WalkDealer) -> Delta | Rest | _Mixed:
            nonlocal applied
            assert isinstance(dealer, TurnWalkDealer)
            try:
                after = self._game.turn(position, dealer, self._game.policies)
            except NeedsAnswer as needs:
                self.undecided[needs.question.label] = needs.question
                return UNCHANGED
            except Merged as merged:
                return rests.rest(merged.key, dealer.node)
            except _Parted as parted:
                return parted.mixed
            finally:
                runs.work += ANSWER * (1 + len(dealer.tape))
            delta, rest = self.parts.changes(node, after, reads), dealer.rest
            bits = dealer.applied()
            if rest is None:
                applied |= bits
                return delta
            rest.known.keep(node, reads.parts, Step(((1, delta),), 1, bits), self.parts)
            return rest

        noted_here = reads.parts
        dealer = TurnWalkDealer(tape, reads, self._kept if self._is_merged else None, rests)
        odds = explore_within(self._budget.share(), once, dealer, runs)
        self._leaves += odds.leaves
        self.too_many = self.too_many or odds.too_many
        step = Step(*_weighted(odds.masses, odds.open), applied)
        memo.keep(node, noted_here, step, self.parts)
        noted.update(noted_here)
        return step

    def rest_at(self, node: Node, key: Hashable, tape: Any) -> Rest:
        """Return the rest of a turn behind a merge; turns that carry the same share it."""
        carried = key[0] if isinstance(key, tuple) else None
        if carried is None:
            known = Memo()
        else:
            answers = [self.parts.value(node, ("at", field)) for field in ("op", "given", "choose")]
            known = self._rests.setdefault((*answers, key), Memo())
        return Rest(key, (tape, (MERGE, key)), known)


def _weighted(
    masses: Mapping[Any, Fraction], left: Fraction
) -> tuple[tuple[tuple[int, Delta | Rest | Paid], ...], int]:
    """Return probabilities as whole weights, and their total with what is open."""
    found: dict[Delta | Rest | Paid, Fraction] = {}
    for one, mass in masses.items():
        shares = one.branches if isinstance(one, _Mixed) else ((1, one),)
        total = one.total if isinstance(one, _Mixed) else 1
        for share, inner in shares:
            found[inner] = found.get(inner, 0) + mass * share / total
    total = lcm(*(mass.denominator for mass in found.values()), left.denominator)
    return tuple((int(mass * total), one) for one, mass in found.items()), total


class _Rests:
    """The rests behind the merges of a turn, or of a rest of one, while it is run.

    Args:
        turns: all turns.
        node, position, reads: the position before it, as a number and watched, and what is read of it.
    """

    def __init__(self, turns: TurnOdds, node: Node, position: Position, reads: Reads) -> None:
        self._turns, self._node, self._position, self._reads = turns, node, position, reads
        self._rests: dict[Hashable, Rest] = {}
        self._paid: dict[tuple[Effect, ...], tuple[State, Delta]] = {}

    def rest(self, key: Hashable, tape: Any) -> Rest:
        """Return the rest behind a merge, by its key and the answers before it."""
        rest = self._rests.get(key)
        if rest is None:
            rest = self._rests[key] = self._turns.rest_at(self._node, key, tape)
        return rest

    def unknown(self, key: Hashable, tape: Any) -> Rest | None:
        """Return the same, where it is not known what comes of it."""
        rest = self.rest(key, tape)
        return rest if rest.known.find(self._node, self._turns.parts) is None else None

    def behind(self, run: Run, key: Hashable, pays: tuple[Effect, ...], tape: Any) -> Rest | Paid:
        """Return the rest behind a merge before which something is paid."""
        rest = self.rest(_keyed(run, key), tape)
        if not pays:
            return rest
        before, delta = self._paid.get(pays, (None, UNCHANGED))
        if before is not run.state:  # another one where cards were moved in this run
            after = apply_effects(run.rules, run.state, Outcome("", effects=pays))
            there = self._position
            delta = self._turns.parts.changes(self._node, Position(after, there.at, there.place), self._reads)
            self._paid[pays] = run.state, delta
        return Paid(rest, delta, self.rest(_keyed(run, (key, pays)), tape))
