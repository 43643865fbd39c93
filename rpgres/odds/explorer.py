"""Exact enumeration: a rule is run on recorded answers until every path has been followed or the budget is spent.

The recorded answers are the *tape*. A question behind the end of the tape is fresh, and a subclass decides how it is
answered (`TapeDealer.fresh`). `explore` continues with the first answer and queues the others, likeliest first; a long
and unlikely path is put back into the queue, so that a rule that never stops asking still ends. Weights are integers
and probabilities exact fractions; nothing is renormalised, and what exceeds the budget is reported as open. By default
a budget counts work and not time, so that the same question has the same answer on every machine.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from math import inf, lcm
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.players import Question
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.stops import MAX_QUESTIONS, PURE, Broken, NeedsAnswer, Settled, Stop, endless, not_deterministic
from rpgres.engine.table import Outcome
from rpgres.errors import RuleError
from rpgres.odds.joint import JointDealer
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.dice import Law
    from rpgres.dice.readings import JointLaw
    from rpgres.model.cards import Stack
    from rpgres.odds.sampling import Sample

WORK = 310_000  # default budget of questions asked: some 10 seconds of the hardest actions that ship
ROOM = 1_000  # queued paths beyond what the budget can run, so that the queue is trimmed rarely
MOST_WAITING = 500_000  # queued paths whatever the budget, to limit memory
FIRST_RUNS = 500  # every so many runs it is checked whether the budget can resolve anything
SLIGHT = 1e-2  # of the probability: a budget that cannot resolve this much is not spent
NEGLIGIBLE = 10**30  # of what need not end, a remainder of less than one in so many is not followed
DESCENT = 48  # fresh questions of one path before likelier paths come first
ANSWERS = {"outcome": "band", "margin": "margin", "total": "total"}  # the field of an outcome, by what odds are of
MERGE = "merge"  # in place of a label: the key of runs that are merged

Method = Literal["exact", "partial", "sampled"]  # see `Odds.method`

Entry = tuple[str, Any]  # a question's label, and its answer
Node = tuple[Any, Entry]  # the last entry of a tape behind those before it, which many tapes share; None is empty
Waiting = tuple[float, int, int, int, "Node | None"]  # a queued path: minus its mass, a serial number, weight, scale


class Odds(msgspec.Struct, frozen=True):
    """An exact distribution.

    Attributes:
        masses: probability by result, in order of first appearance.
        open: probability of what the budget left unresolved; masses and open sum to exactly 1.
        leaves: how many paths were run to their end.
        states: how many distinct merged states were reached.
        met_alike: whether equivalent cards, or runs that merge, were counted as one.
        passed: labels of optional decisions that were skipped for lack of an answer.
        partly: answers of the script that some paths do not offer.
        unasked: labels of the script that no path asks.
        sample: an estimate of all chances, from games that continue where the budget ended; None where none was asked
            for, or nothing is open.
        too_many: the label of a question with too many results for any budget, such as a dealt hand; empty for none.
    """

    masses: dict[Any, Fraction]
    open: Fraction
    leaves: int
    states: int = 0
    met_alike: bool = False
    passed: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    sample: Sample | None = None
    too_many: str = ""

    @property
    def method(self) -> Method:
        """How the chances were found.

        `exact`: nothing is open. `partial`: each is an exact lower bound, perhaps with an estimate beside it.
        `sampled`: no path reached its end, and there are only estimates.
        """
        return "exact" if not self.open else "sampled" if self.sample is not None and self.open == 1 else "partial"


class Budget:
    """What is left of the cost allowed to a calculation.

    Args:
        leaves: the maximum number of runs.
        seconds: the time limit.
        work: the limit of work (`Run.work`) where neither is given.
        clock: returns the time in seconds; for tests.
    """

    __slots__ = ("above", "leaves", "now", "until", "work")

    def __init__(
        self,
        leaves: int | None = None,
        seconds: float | None = None,
        *,
        work: int = WORK,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.above: Budget | None = None  # the budget of which this is a share
        self.now = clock or monotonic
        self.until = inf if seconds is None else self.now() + seconds
        self.leaves: float = inf if leaves is None else leaves
        self.work: float = work if leaves is None and seconds is None else inf

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left, or a person interrupted the work."""
        return STOP.is_asked or self.leaves <= 0 or self.work <= 0 or (self.until < inf and self.now() >= self.until)

    @property
    def runs(self) -> float:
        """The maximum number of runs that are left; at least one until it is spent."""
        return self.leaves if self.work == inf else min(self.leaves, max(1, (self.work + 1) // 2))

    def spend(self, work: int, *, runs: int = 1) -> None:
        """Subtract work, and the runs that it took."""
        self.leaves -= runs
        self.work -= work
        STOP.tick()
        if self.above is not None:
            self.above.spend(work, runs=runs)

    def share(self) -> Budget:
        """Return a budget of half of what is left; what it spends is subtracted here too."""
        share = Budget(clock=self.now)
        share.above, share.leaves, share.work = self, self.leaves // 2 if self.leaves < inf else inf, self.work / 2
        share.until = self.until if self.until == inf else (self.now() + self.until) / 2
        return share

    def mark(self, share: float) -> Budget:
        """Return a mark at a share of what is left, from 0 to 1; see `is_past`."""
        mark = Budget()
        mark.leaves, mark.work = self.leaves - max(1, self.leaves * share // 1), self.work * (1 - share)
        mark.until = inf if self.until == inf else self.now() + (self.until - self.now()) * share
        return mark

    def is_past(self, mark: Budget) -> bool:
        """Tell whether more was spent than up to a mark."""
        is_late = self.until < inf and self.now() >= mark.until
        return self.leaves <= mark.leaves < inf or self.work <= mark.work < inf or is_late


# ---------------------------------------------------------------------------------------------------------------------
# Running a rule once


class Suspended(Stop):
    """A path is not followed further: likelier ones come first, or the dice exceed their limit."""


class Merged(Stop):
    """A run reached a point from which only `key` matters."""

    def __init__(self, key: object) -> None:
        super().__init__(key)
        self.key = key


def entries(node: Node | None) -> list[Entry]:
    """Return the entries of a tape, the first one first."""
    tape = list[Entry]()
    while node is not None:
        node, entry = node
        tape.append(entry)
    tape.reverse()
    return tape


class TapeDealer(JointDealer):
    """Answers from the tape; a subclass answers questions behind its end (`fresh`).

    Args:
        others: whether the last of equivalent cards is drawn, and the last of merging runs continued, in place of the
            first. It changes no result where the equivalence is declared rightly.

    Attributes:
        node: the last answer of the running path, linked to those before it.
        deals_late: whether hands stay undealt until they are looked at.
        met_alike: whether `others` had anything to choose from.
    """

    __slots__ = ("_position", "_tape", "deals_late", "met_alike", "node", "others")

    def __init__(self, *, others: bool = False) -> None:
        self.others = others
        self.deals_late = self.met_alike = False
        self._position = 0
        self._tape: list[Entry] = []
        self.node: Node | None = None

    def defers(self, label: str) -> bool:
        return self.deals_late

    def load(self, node: Node | None) -> None:
        """Switch to another path."""
        self.node, self._tape, self._position = node, entries(node), 0

    @property
    def tape(self) -> tuple[Entry, ...]:
        """The answers of the running path so far."""
        return tuple(self._tape)

    @property
    def is_fresh(self) -> bool:
        """Whether the tape is at its end."""
        return self._position == len(self._tape)

    def end(self) -> None:
        """Check that a finished path used its whole tape."""
        if not self.is_fresh:
            raise Broken(not_deterministic(repr(self._tape[self._position][0]), "nothing"))

    def recorded(self, label: str) -> Any:
        """Return the next answer on the tape, which is not at its end."""
        asked, value = self._tape[self._position]
        if asked != label:
            raise Broken(not_deterministic(repr(asked), repr(label)))
        self._position += 1
        return value

    def chance(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        position = self._position
        if position >= len(self._tape):
            if position >= MAX_QUESTIONS:
                raise endless(label, Counter(one for one, _ in self._tape))
            return self.fresh(label, values, weights, total)
        asked, value = self._tape[position]
        if asked != label or value not in values:
            raise Broken(not_deterministic(repr(asked), repr(label)))
        self._position = position + 1
        return value

    def fresh(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        """Return what answers a question behind the end of the tape, or end the run; arguments as for `chance`."""
        raise NotImplementedError

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return a card; cards that are equivalent to the rule are one answer, weighted by their number."""
        firsts, sizes = cards, tuple[int, ...]()
        if self._position >= len(self._tape):  # an answer on the tape needs no classes of equivalent cards
            from rpgres.model.cards import classes

            firsts, sizes = classes(cards, stack, last=self.others)
            self.met_alike = self.met_alike or len(firsts) < len(cards)
        card: str = self.chance(label, firsts, sizes, len(cards))
        return card

    def merge(self, key: object) -> None:
        """Check a merge that is on the tape; behind its end a single run has nothing to merge with."""
        if not self.is_fresh and self.recorded(MERGE) != key:
            raise Broken(not_deterministic(repr(MERGE), repr(MERGE)))


class Runs(msgspec.Struct):
    """The runs of one calculation, and what they found.

    Attributes:
        answer: returns the value whose chances are asked for, from an outcome or the settled part of one.
        passed: labels of optional decisions that were skipped for lack of an answer.
        undecided: decisions without an answer, by label; the search continues, so that all of them are reported.
        work: their work so far; see `Run.work`.
    """

    answer: Callable[[Any], Any] = attrgetter(ANSWERS["outcome"])
    passed: set[str] = set()
    undecided: dict[str, Question] = {}
    work: int = 0

    def run(self, once: Callable[..., tuple[Outcome, Run]], dealer: Dealer, players: Seats) -> Any:
        """Return the value of a run; an empty text where a decision has no answer.

        Args:
            once: runs the rule with the dealer and the players it is given.
        """
        try:
            outcome, run = once(dealer=dealer, players=players)
        except Stop as stop:
            self.work += stop.run.work
            if isinstance(stop, Settled):
                return self.answer(stop)
            if not isinstance(stop, NeedsAnswer):
                raise
            self.undecided[stop.question.label] = stop.question
            return ""
        finally:
            if players.passed:
                self.passed |= players.passed
        self.work += run.work
        return self.answer(outcome)


# ---------------------------------------------------------------------------------------------------------------------
# Every path, the likeliest first


class WalkDealer(TapeDealer):
    """Answers a fresh question with its first result, and queues a path for each of the others.

    Attributes:
        waiting: the queued paths, as a heap.
        dropped: the paths that will not be run.
        weight, scale: the running path has the mass weight / scale.
        withheld: the open mass: sums of weights by scale.
    """

    __slots__ = ("_begun", "_serial", "dropped", "scale", "waiting", "weight", "withheld")

    def __init__(self, *, others: bool = False) -> None:
        super().__init__(others=others)
        self.waiting: list[Waiting] = [(-1.0, 0, 1, 1, None)]
        self.dropped: list[Waiting] = []
        self._serial = self._begun = 0
        self.weight = self.scale = 1
        self.withheld: dict[int, int] = {}

    def begin(self) -> None:
        """Switch to the likeliest queued path; there has to be one."""
        _, _, self.weight, self.scale, node = heapq.heappop(self.waiting)
        self.load(node)
        self._begun = len(self._tape)

    def drop(self, *, keep: int = 0) -> None:
        """Drop the least likely queued paths, all but a number; their mass stays open."""
        self.waiting.sort()  # which leaves it a heap
        for _, _, weight, scale, _ in self.waiting[keep:]:
            self.withhold(weight, scale)
        self.dropped += self.waiting[keep:]
        del self.waiting[keep:]

    def most_dropped(self) -> str:
        """Return the label that is most frequent on the dropped paths."""
        labels = Counter(label for *_, node in self.dropped[:FIRST_RUNS] for label, _ in entries(node))
        del labels[MERGE]
        return labels.most_common(1)[0][0] if labels else ""

    def trim(self, runs: float) -> None:
        """Drop the least likely paths where far more are queued than a number of runs can follow."""
        if len(self.waiting) > min(2 * runs + ROOM, MOST_WAITING):
            self.drop(keep=int(min(runs, MOST_WAITING // 2)))

    def withhold(self, weight: int, scale: int) -> None:
        """Add to the open mass."""
        self.withheld[scale] = self.withheld.get(scale, 0) + weight

    def queue(self, weight: int, scale: int, node: Node | None) -> None:
        """Queue a path."""
        self._serial += 1
        heapq.heappush(self.waiting, (-(weight / scale), self._serial, weight, scale, node))

    def of_law(self, label: str, law: Law | JointLaw) -> Any:
        """Return a value; the open part of the law itself stays open."""
        if not law.open or not self.is_fresh:
            return self.chance(label, law.values, law.weights, law.total)
        weight, scale = self.weight, self.scale
        value = self.chance(label, law.values, law.weights, law.total)
        self.withhold(weight * law.open, scale * law.total)
        return value

    def fresh(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        node, heap, position = self.node, self.waiting, self._position
        if position >= self._begun + DESCENT and heap and -heap[0][0] > self.weight / self.scale:
            self.queue(self.weight, self.scale, node)
            raise Suspended(label)
        if len(values) > 1:
            scale = self.scale * total
            for index in range(1, len(values)):
                self.queue(self.weight * weights[index], scale, (node, (label, values[index])))
        self.weight *= weights[0]
        self.scale *= total
        entry = label, values[0]
        self._tape.append(entry)
        self._position = position + 1
        self.node = node, entry
        return values[0]

    def merge(self, key: object) -> None:
        """Check a merge that is on the tape; end the run at a new one."""
        if self.is_fresh:
            raise Merged(key)
        super().merge(key)


def explore(
    once: Callable[[WalkDealer], Hashable],
    dealer: WalkDealer | None = None,
    *,
    leaves: int | None = None,
    seconds: float | None = None,
    clock: Callable[[], float] | None = None,
    recheck: int = 0,
) -> Odds:
    """Return the exact distribution of what `once` returns, over all results of chance.

    Args:
        once: runs the rule once with the dealer it is given and returns a hashable result.
        dealer: answers chance; it has not run anything yet.
        leaves, seconds, clock: see `Budget`.
        recheck: how many paths are run a second time, to check that the result is the same.

    Raises:
        RuleError: the rule asks or returns something else when it is run again on the same answers, or it never stops
            asking.
    """
    try:
        return explore_within(
            Budget(leaves, seconds, clock=clock), once, dealer or WalkDealer(), Runs(), recheck=recheck
        )
    except Broken as broken:
        raise RuleError(f"the rule cannot be evaluated: {broken.message}", reason=broken.reason) from broken


def explore_within(
    budget: Budget, once: Callable[[WalkDealer], Hashable], dealer: WalkDealer, runs: Runs, *, recheck: int = 0
) -> Odds:
    """Return the exact distribution as `explore` does; runs that merge continue together in the next layer.

    A layer with others behind it may use half of the remaining budget; the least likely paths that it does not reach
    stay open. Where the rate of the first runs shows that the budget would resolve next to nothing, it is not spent.

    Args:
        once, dealer, recheck: see `explore`.
        runs: records the runs and their work.

    Raises:
        Broken: the rule is not deterministic, or it never stops asking.
    """
    paths: list[tuple[Node | None, Hashable]] = []
    found: dict[Hashable, dict[int, int]] = {}  # by result, then by scale: sums of whole weights
    leaves = states = 0
    resolved, is_hopeless = 0.0, False
    while True:
        joints: dict[object, tuple[dict[int, int], Node | None]] = {}
        half, waiting = budget.mark(0.5), dealer.waiting
        while waiting and not (budget.is_spent or is_hopeless or (joints and budget.is_past(half))):
            if len(waiting) > ROOM:
                dealer.trim(budget.runs)
            dealer.begin()
            leaves, before = leaves + 1, runs.work
            try:
                result = once(dealer)
            except Suspended:
                continue
            except Merged as merged:
                known = joints.get(merged.key)
                dealer.met_alike = dealer.met_alike or known is not None
                if known is None or dealer.others:
                    known = joints[merged.key] = known[0] if known is not None else {}, dealer.node
                sums = known[0]
            else:
                dealer.end()
                sums = found.setdefault(result, {})
                if len(paths) < recheck:
                    paths.append((dealer.node, result))
            finally:
                budget.spend(max(1, runs.work - before))
            sums[dealer.scale] = sums.get(dealer.scale, 0) + dealer.weight
            if resolved < SLIGHT:
                resolved += dealer.weight / dealer.scale
                is_hopeless = leaves % FIRST_RUNS == 0 and resolved + resolved / leaves * budget.runs < SLIGHT
        dealer.drop()
        states += len(joints)
        _queue_layer(dealer, joints)
        if not joints or budget.is_spent or is_hopeless:
            dealer.drop()
            break
    for node, result in reversed(paths):  # in another order, so that what changes from run to run shows
        _run_again(once, node, result)
    masses = {result: summed(sums) for result, sums in found.items()}
    too_many = dealer.most_dropped() if leaves >= FIRST_RUNS and resolved < SLIGHT else ""
    return Odds(masses, summed(dealer.withheld), leaves, states, met_alike=dealer.met_alike, too_many=too_many)


def _queue_layer(dealer: WalkDealer, joints: dict[object, tuple[dict[int, int], Node | None]]) -> None:
    """Queue the next layer: one path for all runs that share a key."""
    for key, (sums, node) in joints.items():
        mass = summed(sums)
        dealer.queue(mass.numerator, mass.denominator, (node, (MERGE, key)))


def _run_again(once: Callable[[WalkDealer], Hashable], node: Node | None, result: Hashable) -> None:
    """Check that a path has the same result when it is run a second time on its answers."""
    dealer = WalkDealer()
    dealer.drop()
    dealer.queue(1, 1, node)
    dealer.begin()
    before = len(dealer.tape)
    again = once(dealer)
    dealer.end()
    if len(dealer.tape) > before:
        raise Broken(not_deterministic("nothing", repr(dealer.tape[before][0])))
    if again != result:
        raise Broken(f"run twice on the same answers it returned {result!r} and then {again!r}; {PURE}")


def summed(sums: dict[int, int]) -> Fraction:
    """Return the probability of sums of whole weights by scale."""
    from fractions import Fraction

    scale = lcm(*sums)
    return Fraction(sum(weight * (scale // its) for its, weight in sums.items()), scale)
