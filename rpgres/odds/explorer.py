"""The explorer of a rule's answers: runs a rule on recorded answers until every answer had its turn.

A rule is run again and again on the answers of a *tape*. What it asks behind the end of the tape is a fresh question,
and a search says what comes of that (`TapeDealer.fresh`). `explore` goes on with the first answer and queues the
others, heaviest first; a branch that grows long and light waits its turn, so that a rule without a last question still
ends. Weights are whole numbers and probabilities exact fractions; what a budget does not come to is reported as open,
and nothing is renormalised. A budget counts work, so that the same question has the same answer everywhere; time only
where somebody asks for that.
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
ROOM = 1_000  # courses that may wait beyond those that the budget can come to, so that they are seldom sorted out
MOST_WAITING = 500_000  # courses that may wait whatever the budget, for the sake of memory
FIRST_RUNS = 500  # after so many, and again after as many more, it is seen whether the budget can come to anything
SLIGHT = 1e-2  # of the probability: if a budget cannot resolve so much, there is no use in spending it
DESCENT = 48  # how many fresh questions a course may ask before heavier ones have their turn first
ANSWERS = {"outcome": "band", "margin": "margin", "total": "total"}  # what of an outcome answers a question of odds
MERGE = "merge"  # in the place of a label: the key of runs that go on as one

Method = Literal["exact", "partial", "sampled"]  # see `Odds.method`

Entry = tuple[str, Any]  # a question's label, and its answer
Node = tuple[Any, Entry]  # the last entry of a tape behind those before it, which many tapes share; None is empty
Waiting = tuple[float, int, int, int, "Node | None"]  # a course not yet run: less its mass, a number, weight, scale


class Odds(msgspec.Struct, frozen=True):
    """An exact distribution over whatever was asked.

    Attributes:
        masses: probability by result, in order of first appearance.
        open: probability of what the budget left unresolved; masses and open sum to exactly 1.
        leaves: how many courses were run to an end.
        states: how many distinct merged states were met.
        met_alike: whether cards that are alike, or runs that merge, were counted as one.
        passed: labels of optional moments that nobody answered, so that they passed.
        partly: answers of the script that some paths do not offer.
        unasked: labels of the script that no path asks.
        sample: an estimate of all chances, from games that go on where the budget ended; None where it was not asked
            for, or nothing is left to be estimated.
        too_many: the label of what has too many results for any budget, as hands that are dealt; empty where nothing
            has.
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

        `exact`: nothing is left open. `partial`: each is an exact lower bound; what is left open adds to one or
        another, and estimates, where there are any, stand beside. `sampled`: nothing came to an end, and there are
        only estimates.
        """
        return "exact" if not self.open else "sampled" if self.sample is not None and self.open == 1 else "partial"


class Budget:
    """What is left of what a calculation may cost.

    Args:
        leaves: at most so many runs.
        seconds: stop after about so long.
        work: where neither is given: stop after so much work (`Run.work`), wherever that is done the same.
        clock: tells the time in seconds; for tests.
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
        self.above: Budget | None = None  # of which this is a share
        self.now = clock or monotonic
        self.until = inf if seconds is None else self.now() + seconds
        self.leaves: float = inf if leaves is None else leaves
        self.work: float = work if leaves is None and seconds is None else inf

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left, or a person wants it to stop."""
        return STOP.is_asked or self.leaves <= 0 or self.work <= 0 or (self.until < inf and self.now() >= self.until)

    @property
    def runs(self) -> float:
        """How many runs it is still good for, at most; one as long as it is not spent."""
        return self.leaves if self.work == inf else min(self.leaves, max(1, (self.work + 1) // 2))

    def spend(self, work: int, *, runs: int = 1) -> None:
        """Take off a run that was so much work; or work that was no run."""
        self.leaves -= runs
        self.work -= work
        STOP.tick()
        if self.above is not None:
            self.above.spend(work, runs=runs)

    def share(self) -> Budget:
        """Return a budget of half of what is left; what it spends is spent here too."""
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
    """A course is not followed any further: heavier ones come first, or dice are beyond what they are followed to."""


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
    """Answers from the tape while it lasts; a subclass says what comes of a question behind its end, by `fresh`.

    Args:
        others: whether of cards that are alike the last is drawn, and of runs that merge the last goes on, in place of
            the first; where they are rightly said to be alike, it comes to the same.

    Attributes:
        node: the last answer of the running course, with those before it.
        deals_late: whether hands stay undealt until somebody looks at them.
        met_alike: whether there was anything to choose from by `others`.
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
        """Turn to another course."""
        self.node, self._tape, self._position = node, entries(node), 0

    @property
    def tape(self) -> tuple[Entry, ...]:
        """The answers of the running course so far."""
        return tuple(self._tape)

    @property
    def is_fresh(self) -> bool:
        """Whether the tape is at its end."""
        return self._position == len(self._tape)

    def end(self) -> None:
        """Check that a finished course used its whole tape."""
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
        """Return a card; those that are alike to the rule are one answer, weighted by their number."""
        firsts, sizes = cards, tuple[int, ...]()
        if self._position >= len(self._tape):  # on the tape, which cards are alike need not be worked out again
            from rpgres.model.cards import classes

            firsts, sizes = classes(cards, stack, last=self.others)
            self.met_alike = self.met_alike or len(firsts) < len(cards)
        card: str = self.chance(label, firsts, sizes, len(cards))
        return card

    def merge(self, key: object) -> None:
        """Go on past a merge that the tape has; behind its end a single run has nothing to merge."""
        if not self.is_fresh and self.recorded(MERGE) != key:
            raise Broken(not_deterministic(repr(MERGE), repr(MERGE)))


class Runs(msgspec.Struct):
    """The runs that answer one question of odds, and what they have met.

    Attributes:
        answer: what answers the question, of an outcome or as much as is settled of it.
        passed: labels of optional moments that nobody answered.
        undecided: decisions that nobody took, by label; the search goes on, to tell every one that is missing.
        work: what they cost so far; see `Run.work`.
    """

    answer: Callable[[Any], Any] = attrgetter(ANSWERS["outcome"])
    passed: set[str] = set()
    undecided: dict[str, Question] = {}
    work: int = 0

    def run(self, once: Callable[..., tuple[Outcome, Run]], dealer: Dealer, players: Seats) -> Any:
        """Return the answer of a run; an empty text where somebody has to decide and nobody does.

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
# Every course, the heaviest first


class WalkDealer(TapeDealer):
    """Answers chance with every result in turn: from the tape while it lasts, then the first, queueing the others.

    Attributes:
        waiting: courses not yet run, as a heap.
        dropped: courses that were given up.
        weight, scale: the running course has the mass weight / scale.
        withheld: masses of what is left open: sums of weights by scale.
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
        """Turn to the heaviest course not yet run; there has to be one."""
        _, _, self.weight, self.scale, node = heapq.heappop(self.waiting)
        self.load(node)
        self._begun = len(self._tape)

    def drop(self, *, keep: int = 0) -> None:
        """Give up the lightest courses not yet run, all but so many; their mass stays open."""
        self.waiting.sort()  # which leaves it a heap
        for _, _, weight, scale, _ in self.waiting[keep:]:
            self.withhold(weight, scale)
        self.dropped += self.waiting[keep:]
        del self.waiting[keep:]

    def most_dropped(self) -> str:
        """Return the label of what was asked most often before courses were given up."""
        labels = Counter(label for *_, node in self.dropped[:FIRST_RUNS] for label, _ in entries(node))
        del labels[MERGE]
        return labels.most_common(1)[0][0] if labels else ""

    def trim(self, runs: float) -> None:
        """Give up the lightest courses where more wait than a number of runs can come to."""
        if len(self.waiting) > min(2 * runs + ROOM, MOST_WAITING):
            self.drop(keep=int(min(runs, MOST_WAITING // 2)))

    def withhold(self, weight: int, scale: int) -> None:
        """Leave a mass open."""
        self.withheld[scale] = self.withheld.get(scale, 0) + weight

    def queue(self, weight: int, scale: int, node: Node | None) -> None:
        """Add a course to be run."""
        self._serial += 1
        heapq.heappush(self.waiting, (-(weight / scale), self._serial, weight, scale, node))

    def of_law(self, label: str, law: Law | JointLaw) -> Any:
        """Return a value; what the law itself leaves open stays open."""
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
        """Go on past a merge that the tape has; end the run at a new one."""
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
    """Return the exact distribution of what `once` returns over everything that chance can answer.

    Args:
        once: runs the rule once with the dealer it is given and returns a hashable result.
        dealer: answers chance; a new one has not run anything yet.
        leaves, seconds, clock: see `Budget`.
        recheck: how many courses are run once more, to see that they come to the same.

    Raises:
        RuleError: the rule asks something else, or comes to something else, when it is run again on the same answers;
            or it asks without end.
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
    """Return the exact distribution as `explore` does; runs that merge are gathered and go on together as a next layer.

    A layer that others follow may use half of what is left of the budget; the lightest courses it does not come to stay
    open. Where the budget would resolve next to nothing at the rate of the first runs, the rest of it is not spent.

    Args:
        once, dealer, recheck: see `explore`.
        runs: what takes note of the runs, and of their work.

    Raises:
        Broken: the rule does otherwise when it is run again on the same answers, or asks without end.
    """
    courses: list[tuple[Node | None, Hashable]] = []
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
                if len(courses) < recheck:
                    courses.append((dealer.node, result))
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
    for node, result in reversed(courses):  # in another order, so that what changes from run to run shows
        _run_again(once, node, result)
    masses = {result: summed(sums) for result, sums in found.items()}
    too_many = dealer.most_dropped() if leaves >= FIRST_RUNS and resolved < SLIGHT else ""
    return Odds(masses, summed(dealer.withheld), leaves, states, met_alike=dealer.met_alike, too_many=too_many)


def _queue_layer(dealer: WalkDealer, joints: dict[object, tuple[dict[int, int], Node | None]]) -> None:
    """Have the next layer begin: one course for all runs that share a key."""
    for key, (sums, node) in joints.items():
        mass = summed(sums)
        dealer.queue(mass.numerator, mass.denominator, (node, (MERGE, key)))


def _run_again(once: Callable[[WalkDealer], Hashable], node: Node | None, result: Hashable) -> None:
    """Check that a course comes to the same when it is run once more on its answers."""
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
        raise Broken(f"run twice on the same answers it came to {result!r} and then {again!r}; {PURE}")


def summed(sums: dict[int, int]) -> Fraction:
    """Return the probability of sums of whole weights by scale."""
    from fractions import Fraction

    scale = lcm(*sums)
    return Fraction(sum(weight * (scale // its) for its, weight in sums.items()), scale)
