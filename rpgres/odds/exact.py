"""Exact odds: a rule run once for every distinct course it can take. Nothing here names a ruleset.

The walker re-runs the rule on recorded answers (the *tape*), goes on down the first branch, and queues the others,
heaviest first; a branch that grows long and light waits its turn, so that a rule without a last question still ends.
Weights are whole numbers and probabilities exact fractions; what a budget does not come to is reported as open, with an
estimate beside it, and nothing is renormalised. A budget counts work, so that the same question has the same answer
everywhere; time only where somebody asks for that.
"""

from __future__ import annotations

import heapq
from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.labels import check_labels
from rpgres.engine.players import Policy, Question, Seats
from rpgres.engine.run import Prepared, is_ours, play, with_piles
from rpgres.engine.running import MAX_QUESTIONS, PURE, Broken, NeedsAnswer, Settled, Stop, endless, not_deterministic
from rpgres.errors import RuleError, UsageError, named
from rpgres.model.printed import Printed
from rpgres.model.state import EMPTY, State
from rpgres.odds.joint import JointDealer
from rpgres.odds.sampling import SEED, Estimate, Sample, estimate

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.dice import Law
    from rpgres.dice.readings import JointLaw
    from rpgres.model.cards import Stack

WORK = 310_000  # default budget of questions asked: some 10 seconds of the hardest actions that ship
EXACT_SHARE = 2 / 3  # of a limit of time; the rest is for estimating what is left open
ROOM = 1_000  # courses that may wait beyond those that the budget can come to, so that they are seldom sorted out
UNKNOWN = "?"  # what comes of dice beyond what they are followed to; no band is called so
MOST_WAITING = 500_000  # courses that may wait whatever the budget, for the sake of memory
RECHECKED = 100  # courses of a stranger's rule that are run twice
DESCENT = 48  # how many fresh questions a course may ask before heavier ones have their turn first


class Odds(msgspec.Struct, frozen=True):
    """An exact distribution over whatever was asked.

    Attributes:
        masses: probability by result, in order of first appearance.
        open: probability of what the budget left unresolved; masses and open sum to exactly 1.
        leaves: how many courses were run to an end.
        states: how many distinct merged states were met.
        passed: labels of optional moments that nobody answered, so that they passed.
        sample: an estimate of all chances, from games that go on where the budget ended; None where it was not asked
            for, or nothing is left to be estimated.
    """

    masses: dict[Any, Fraction]
    open: Fraction
    leaves: int
    states: int = 0
    passed: tuple[str, ...] = ()
    sample: Sample | None = None

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

    __slots__ = ("leaves", "now", "until", "work")

    def __init__(
        self,
        leaves: int | None = None,
        seconds: float | None = None,
        *,
        work: int = WORK,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.now = clock or monotonic
        self.until = inf if seconds is None else self.now() + seconds
        self.leaves: float = inf if leaves is None else leaves
        self.work: float = work if leaves is None and seconds is None else inf

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.leaves <= 0 or self.work <= 0 or (self.until < inf and self.now() >= self.until)

    @property
    def runs(self) -> float:
        """How many runs it is still good for, at most."""
        return min(self.leaves, self.work // 2)

    def spend(self, work: int) -> None:
        """Take off a run that was so much work."""
        self.leaves -= 1
        self.work -= work

    def half(self) -> Budget:
        """Return a mark at half of what is left; see `is_past`."""
        mark = Budget()
        mark.leaves, mark.work = self.leaves - max(1, self.leaves // 2), self.work / 2
        mark.until = self.until if self.until == inf else (self.now() + self.until) / 2
        return mark

    def is_past(self, mark: Budget) -> bool:
        """Tell whether more was spent than up to a mark."""
        is_late = self.until < inf and self.now() >= mark.until
        return self.leaves <= mark.leaves < inf or self.work <= mark.work < inf or is_late


class Suspended(Stop):
    """A course that grew long and light waits until the heavier ones have been run."""


class Merged(Stop):
    """A run reached a point from which only `key` matters."""

    def __init__(self, key: object) -> None:
        super().__init__(key)
        self.key = key


By = Literal["outcome", "margin", "total"]  # what an action is weighed by
Method = Literal["exact", "partial", "sampled"]  # see `Odds.method`
Weighed = Literal["policies", "each", "best"]  # who decides for whoever acts: see `RulesetFile.actions`

_Entry = tuple[str, Any]  # a question's label, and its answer
_Tape = tuple[_Entry, ...]
_Node = tuple[Any, _Entry]  # the last entry of a tape behind those before it, which many tapes share; None is empty
_Waiting = tuple[float, int, int, int, "_Node | None"]  # a course not yet run: less its mass, a number, weight, scale


class WalkDealer(JointDealer):
    """Answers chance with every result in turn: from the tape while it lasts, then the first, queueing the others.

    Args:
        others: whether to go on with the last card of a kind and the last run of those that merge, in place of the
            first; where they are rightly said to be alike, it comes to the same.
    """

    __slots__ = (
        *("_begun", "_heap", "_node", "_position", "_serial", "_tape"),
        *("dropped", "others", "scale", "weight", "withheld", "work"),
    )

    def __init__(self, *, others: bool = False) -> None:
        self._heap: list[_Waiting] = [(-1.0, 0, 1, 1, None)]
        self.others = others
        self.dropped: list[_Waiting] = []  # courses that were given up
        self.work = 0  # what all runs cost so far
        self._serial = 0
        self._tape: list[_Entry] = []
        self._node: _Node | None = None
        self._position = self._begun = 0
        self.weight = self.scale = 1  # the running course has the mass weight / scale
        self.withheld: dict[int, int] = {}  # masses of what is left open: sums of weights by scale

    def has_more(self) -> bool:
        """Tell whether some course was not run yet."""
        return bool(self._heap)

    def begin(self) -> None:
        """Turn to the heaviest course not yet run; there has to be one."""
        _, _, self.weight, self.scale, self._node = heapq.heappop(self._heap)
        tape, node = [], self._node
        while node is not None:
            node, entry = node
            tape.append(entry)
        tape.reverse()
        self._tape = tape
        self._position = 0
        self._begun = len(tape)

    def end(self) -> None:
        """Check that a finished course used its whole tape."""
        if self._position < len(self._tape):
            raise Broken(not_deterministic(repr(self._tape[self._position][0]), "nothing"))

    def drop(self, *, keep: int = 0) -> None:
        """Give up the lightest courses not yet run, all but so many; their mass stays open."""
        self._heap.sort()  # which leaves it a heap
        for _, _, weight, scale, _ in self._heap[keep:]:
            self.withhold(weight, scale)
        self.dropped += self._heap[keep:]
        del self._heap[keep:]

    def crowd(self) -> int:
        """Return how many courses wait to be run."""
        return len(self._heap)

    def withhold(self, weight: int, scale: int) -> None:
        """Leave a mass open."""
        self.withheld[scale] = self.withheld.get(scale, 0) + weight

    def queue(self, weight: int, scale: int, node: _Node | None) -> None:
        """Add a course to be run."""
        self._serial += 1
        heapq.heappush(self._heap, (-(weight / scale), self._serial, weight, scale, node))

    @property
    def tape(self) -> _Tape:
        """The answers of the running course so far."""
        return tuple(self._tape)

    @property
    def node(self) -> _Node | None:
        """The same, as `queue` takes it."""
        return self._node

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return a card; those that are alike to the rule are one answer, weighted by their number."""
        if self._position < len(self._tape):  # which cards are alike need not be worked out again
            firsts: tuple[str, ...] = cards
            sizes: tuple[int, ...] = ()
        else:
            from rpgres.model.cards import classes

            firsts, sizes = classes(cards, stack, last=self.others)
        card: str = self.chance(label, firsts, sizes, len(cards))
        return card

    def of_law(self, label: str, law: Law | JointLaw) -> Any:
        """Return a value; what the law itself leaves open stays open."""
        is_fresh, weight, scale = self._position >= len(self._tape), self.weight, self.scale
        value = super().of_law(label, law)
        if law.open and is_fresh:
            self.withhold(weight * law.open, scale * law.total)
        return value

    def chance(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        position = self._position
        self._position = position + 1
        tape = self._tape
        if position < len(tape):
            asked, value = tape[position]
            if asked != label or value not in values:
                raise Broken(not_deterministic(repr(asked), repr(label)))
            return value
        if position >= MAX_QUESTIONS:
            raise endless(label)
        node = self._node
        if position >= self._begun + DESCENT and self._heap and -self._heap[0][0] > self.weight / self.scale:
            self.queue(self.weight, self.scale, node)
            raise Suspended(label)
        if len(values) > 1:
            scale = self.scale * total
            for index in range(1, len(values)):
                self.queue(self.weight * weights[index], scale, (node, (label, values[index])))
        self.weight *= weights[0]
        self.scale *= total
        entry = label, values[0]
        tape.append(entry)
        self._node = node, entry
        return values[0]

    def merge(self, key: object) -> None:
        """Go on past a merge that the tape has; end the run at a new one."""
        if self._position < len(self._tape):
            asked, known = self._tape[self._position]
            if asked != "merge" or known != key:
                raise Broken(not_deterministic(repr(asked), "'merge'"))
            self._position += 1
            return
        raise Merged(key)


def explore(
    play: Callable[[WalkDealer], Hashable],
    *,
    leaves: int | None = None,
    seconds: float | None = None,
    clock: Callable[[], float] | None = None,
    recheck: int = 0,
    others: bool = False,
) -> Odds:
    """Return the exact distribution of what `play` returns over everything that chance can answer.

    Runs that merge are gathered and go on together as the next layer. A layer that others follow may use half of what
    is left of the budget; the lightest courses it does not come to stay open.

    Args:
        play: runs the rule once with the dealer it is given and returns a hashable result.
        leaves, seconds, clock: see `Budget`.
        recheck: how many courses are run once more, to see that they come to the same.
        others: which of equivalent cards and runs it goes on with; see `WalkDealer`.

    Raises:
        RuleError: the rule asks something else, or comes to something else, when it is run again on the same answers;
            or it asks without end.
    """
    try:
        return _explore(play, WalkDealer(others=others), Budget(leaves, seconds, clock=clock), recheck=recheck)
    except Broken as broken:
        raise RuleError(f"the rule cannot be evaluated: {broken.told}") from broken


def _explore(play: Callable[[WalkDealer], Hashable], dealer: WalkDealer, budget: Budget, *, recheck: int = 0) -> Odds:
    courses: list[tuple[_Node | None, Hashable]] = []
    found: dict[Hashable, dict[int, int]] = {}  # by result, then by scale: sums of whole weights
    runs = states = 0
    while True:
        joints: dict[object, tuple[dict[int, int], _Node | None]] = {}
        half = budget.half()
        while dealer.has_more():
            if budget.is_spent or (joints and budget.is_past(half)):
                break
            if dealer.crowd() > ROOM and dealer.crowd() > min(2 * budget.runs + ROOM, MOST_WAITING):
                # the lightest could never have their turn
                dealer.drop(keep=int(min(budget.runs, MOST_WAITING // 2)))
            dealer.begin()
            runs, before = runs + 1, dealer.work
            try:
                result = play(dealer)
            except Suspended:
                continue
            except Merged as merged:
                known = joints.get(merged.key)
                if known is None or dealer.others:
                    known = joints[merged.key] = known[0] if known is not None else {}, dealer.node
                sums = known[0]
            else:
                dealer.end()
                sums = found.setdefault(result, {})
                if len(courses) < recheck:
                    courses.append((dealer.node, result))
            finally:
                budget.spend(max(1, dealer.work - before))
            sums[dealer.scale] = sums.get(dealer.scale, 0) + dealer.weight
        dealer.drop()
        if not joints:
            break
        states += len(joints)
        for key, (sums, node) in joints.items():  # the next layer: one course for all that share a key
            mass = _fraction(sums)
            dealer.queue(mass.numerator, mass.denominator, (node, ("merge", key)))
        if budget.is_spent:
            dealer.drop()
            break
    for node, result in reversed(courses):  # in another order, so that what changes from run to run shows
        _run_again(play, node, result)
    masses = {result: _fraction(sums) for result, sums in found.items()}
    return Odds(masses=masses, open=_fraction(dealer.withheld), leaves=runs, states=states)


class RestDealer(WalkDealer):
    """Goes on from a course that was given up: answers by chance what is not on its tape.

    Args:
        courses: those that were given up.
        streams: the random numbers.
    """

    __slots__ = ("_courses", "_shares", "_streams", "share")

    def __init__(self, courses: Sequence[_Waiting], streams: Streams) -> None:
        super().__init__()
        self._courses, self._streams = courses, streams
        self._shares = list(accumulate(weight / scale for _, _, weight, scale, _ in courses))
        self.share = self._shares[-1]

    def begin_game(self, number: int) -> None:
        """Turn to one of the courses, each as likely as it is."""
        self._streams.move_to(number)
        point = self._streams.below(0, "course", 0)(1 << 53) / (1 << 53) * self.share
        self._heap = [self._courses[min(bisect(self._shares, point), len(self._courses) - 1)]]
        self.begin()

    def merge(self, key: object) -> None:
        """Go on: a single run has nothing to merge."""
        if self._position < len(self._tape):
            super().merge(key)

    def chance(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        if self._position < len(self._tape):
            return super().chance(label, values, weights, total)
        if self._position >= MAX_QUESTIONS:
            raise endless(label)
        bounds = list(accumulate(weights))
        index = bisect(bounds, self._streams.below(0, label, self._position)(total))
        if index == len(bounds):
            raise Suspended(label)  # beyond what the dice are followed to
        self._position += 1
        self._tape.append((label, values[index]))
        return values[index]


def _played_on(
    play: Callable[[WalkDealer], Hashable], dealer: WalkDealer, *, games: int, until: float
) -> tuple[float, dict[Hashable, int]]:
    """Return how likely it is to come to where a budget ended, and what comes of games that go on there, counted.

    Args:
        play: as for `explore`.
        dealer: who walked it.
        games: how many games; `until`: when to stop.
    """
    rest, counts = RestDealer(dealer.dropped, Streams(SEED)), dict[Hashable, int]()
    for number in range(games):
        if number and until < inf and monotonic() >= until:
            break
        rest.begin_game(number)
        try:
            result = play(rest)
        except Suspended:
            result = UNKNOWN
        counts[result] = counts.get(result, 0) + 1
    return rest.share, counts


def _run_again(play: Callable[[WalkDealer], Hashable], node: _Node | None, result: Hashable) -> None:
    """Check that a course comes to the same when it is run once more on its answers.

    Raises:
        Broken: it does not.
    """
    dealer = WalkDealer()
    dealer.drop()
    dealer.queue(1, 1, node)
    dealer.begin()
    before = len(dealer.tape)
    again = play(dealer)
    dealer.end()
    if len(dealer.tape) > before:
        raise Broken(not_deterministic("nothing", repr(dealer.tape[before][0])))
    if again != result:
        raise Broken(f"run twice on the same answers it came to {result!r} and then {again!r}; {PURE}")


def _fraction(sums: dict[int, int]) -> Fraction:
    from fractions import Fraction

    return sum((Fraction(weight, scale) for scale, weight in sums.items()), Fraction(0))


# ---------------------------------------------------------------------------------------------------------------------
# The odds of an action


class Chance(msgspec.Struct, frozen=True):
    """The probability of one outcome: as a float for reading, as an exact fraction for everything else.

    Attributes:
        probability: from 0 to 1, for reading.
        exact: the same as a fraction, such as 2123/6561.
    """

    probability: float
    exact: str


class ChoiceOdds(msgspec.Struct, frozen=True, kw_only=True):
    """What comes of one option of the first decision; who decides after it is told by `weighed` of the result.

    Attributes:
        label: the label of the decision.
        option: the option.
        success: the chance of success.
        outcomes: the chance of every outcome, by its name.
        open: the chance of what the budget left unresolved; the true chances may be higher by so much.
        sample: where that is not nothing: what came in many games that begin so, in which policies decided.
    """

    label: str
    option: str
    success: Chance
    outcomes: dict[str, Chance]
    open: Chance
    sample: Sample | None = None

    @property
    def estimate(self) -> Estimate | None:
        """The estimate of success, where it says more than what is known exactly."""
        found = self.sample.success if self.sample is not None else None
        return found if found is not None and found.high - found.low < self.open.probability else None


class OddsResult(Printed, frozen=True, kw_only=True, tag="rpgres.odds/1"):
    """The odds of an action or of a dice expression, as `rpgres odds --json` prints them.

    Attributes:
        ruleset: the ruleset's id; null for dice notation.
        action: the action's name; null for dice notation.
        inputs: what was typed, by parameter.
        by: what the chances are of: outcomes, margins or totals.
        outcomes: the chance of every outcome, by its name; with --by of every number.
        method: how the chances were found: exact; partial, where each is an exact lower bound and what is open adds to
            one or another; sampled, where nothing was followed to an end, and there are estimates alone.
        open: the chance of what the budget left unresolved; all chances and this sum to exactly 1.
        leaves: how many courses of the action were run to an end.
        states: how many distinct merged states were met.
        passed: the labels of optional moments that nobody decided on, so that they passed.
        policies: who decided by which policy.
        switches: every house rule and the choice in force.
        weighed: who decides for whoever acts: policies; policies after the first decision, of which each option is
            weighed; or who decides as well as can be, best.
        choices: the odds of each first choice of whoever acts, the best first.
        sample: where the budget left something open: estimates of all chances, from games that go on from there.
        note: the text of --note.
    """

    ruleset: str | None
    action: str | None
    inputs: dict[str, Any]
    by: By = "outcome"
    outcomes: dict[str, Chance]
    method: Method
    open: Chance
    leaves: int
    states: int
    passed: list[str] = []
    policies: dict[str, str] = {}
    switches: dict[str, str] = {}
    weighed: Weighed = "policies"
    choices: list[ChoiceOdds] = []
    sample: Sample | None = None
    note: str | None = None


class NeedsPolicy(UsageError):
    """Odds need to know who decides: decisions before the outcome is fixed have neither answer nor policy. Exit code 3.

    `labels` lists them.
    """

    code = "needs-policy"


def outcome_odds(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = WORK,
    by: By = "outcome",
    games: int = 0,
) -> Odds:
    """Return the exact chances of an action's outcomes, by band in the ruleset's order; or of its margins or totals.

    Where margins decide, every band that a margin can give is there, the impossible ones at 0.

    Decisions after the outcome is fixed are not walked. Optional moments that nobody answers pass.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers what was not chosen; `""` for everybody.
        leaves, seconds, work: see `Budget`.
        by: what the chances are of.
        games: from how many games what is left open is estimated; of a limit of time, they get what is left.

    Raises:
        NeedsPolicy: a decision has nobody to take it.
        UsageError: the action has no margin or total to be weighed by.
        RuleError: the ruleset's code failed; the message names the distribution that brought it.
    """
    check_labels(prepared.rules, prepared.action, given=EMPTY, choose=choose)
    prepared = with_piles(prepared, asked=by)
    passed: set[str] = set()
    undecided: dict[str, Question] = {}

    def once(dealer: WalkDealer) -> str | int | None:
        seats = Seats(choose, policies=policies)
        try:
            outcome, run = play(prepared, dealer=dealer, players=seats, asked=by)
        except Stop as stop:
            dealer.work += stop.run.work
            if isinstance(stop, Settled):
                return stop.band if by == "outcome" else stop.margin if by == "margin" else stop.total
            if isinstance(stop, NeedsAnswer):
                undecided[stop.question.label] = stop.question
                return ""  # the walk goes on, to tell every decision that is missing
            raise
        finally:
            passed.update(seats.passed)
        dealer.work += run.work
        return outcome.band if by == "outcome" else outcome.margin if by == "margin" else outcome.total

    rules = prepared.rules
    dealer, end = WalkDealer(), inf if seconds is None else monotonic() + seconds
    budget = Budget(leaves, seconds if seconds is None or not games else seconds * EXACT_SHARE, work=work)
    counts: dict[Hashable, int] = {}
    try:
        odds = _explore(once, dealer, budget, recheck=0 if is_ours(rules) else RECHECKED)
        if dealer.dropped and games:
            share, counts = _played_on(once, dealer, games=games, until=end)
    except Broken as broken:
        message = f"the rule {rules.id} {prepared.action} cannot be evaluated: {broken.told}"
        raise rules.blamed(RuleError(message)) from broken
    if undecided:
        raise needs_policy(undecided.values(), seat=prepared.state.seat_of(prepared.actor), state=prepared.state)
    masses: dict[Any, Fraction] = {**dict.fromkeys(counts, odds.open * 0), **odds.masses}
    if counts:
        masses.pop(UNKNOWN, None)
    if not masses:
        message = f"no run of the rule {rules.id} {prepared.action} ended"
        why = "it loops, or needs a larger budget"
        raise rules.blamed(RuleError(f"{message}: {why} ({named('leaves')}, {named('seconds')})"))
    if by == "outcome":
        masses = in_order(prepared, masses)
    elif None in masses:
        name = f"{rules.id} {prepared.action}"
        raise UsageError(f"{name} has no {by} in odds; leave {named('by')} out")
    else:
        masses = dict(sorted(masses.items()))
    sample = _sample(prepared, masses, counts, share=share, left=float(odds.open)) if counts else None
    return msgspec.structs.replace(odds, masses=masses, passed=tuple(sorted(passed)), sample=sample)


def _sample(
    prepared: Prepared, masses: Mapping[Any, Fraction], counts: Mapping[Hashable, int], *, share: float, left: float
) -> Sample:
    """Return estimates of chances: what is known exactly, and what games add that went on from what is not.

    Args:
        prepared: the action.
        masses: the exact chances.
        counts: what came of the games.
        share: how likely it is to come to where those games began.
        left: how much is left open; what that is more may be anything.
    """
    runs, unknown = sum(counts.values()), counts.get(UNKNOWN, 0)

    def whole(*keys: Hashable) -> Estimate:
        known, count = float(sum(masses[key] for key in keys)), sum(counts.get(key, 0) for key in keys)
        least, most = estimate(count, runs).low, estimate(count + unknown, runs).high
        high = min(1.0, known + share * most + max(0.0, left - share))
        return Estimate(min(1.0, known + share * count / runs), known + share * least, high)

    bands = prepared.rules.file.bands
    won = [key for key in masses if key in bands and bands[key].success]
    success = whole(*won) if bands.keys() >= masses.keys() else None
    return Sample(runs, {str(key): whole(key) for key in masses}, success)


def in_order(prepared: Prepared, masses: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return the chances of outcomes in the ruleset's order; every band that a margin can give is there."""
    from fractions import Fraction

    file = prepared.rules.file
    by_margin = set(file.actions[prepared.action].bands) or {
        name for name, band in file.bands.items() if band.has_bounds
    }
    is_rolled = not by_margin.isdisjoint(masses)
    shown = [name for name in file.bands if name in masses or (is_rolled and name in by_margin)]
    return {name: masses.get(name, Fraction(0)) for name in shown}


BEST_TOO = f"; {named('best')} has whoever acts decide as well as can be, {named('each')} only the first time"


def needs_policy(questions: Iterable[Question], *, seat: str = "", state: State | None = None) -> NeedsPolicy:
    """Return what is raised when decisions have nobody to take them.

    Args:
        questions: the decisions.
        seat: who could decide as well as can be.
        state: the table, for whose seat is whose.
    """
    is_own = state is not None and any(state.seat_of(question.who) == seat for question in questions)
    asked = [
        f"{question.label} ({question.who} chooses among {', '.join(option.name for option in question.options)})"
        for question in questions
    ]
    labels = [question.label for question in questions]
    return NeedsPolicy(
        f"the odds depend on who decides: {'; '.join(asked)}. Answer with {named('choose')} {labels[0]}=..., "
        f"or let a policy decide with {named('auto')} or {named('policy')} NAME{BEST_TOO if is_own else ''}",
        labels=labels,
    )


def odds_record(
    prepared: Prepared,
    odds: Odds,
    *,
    policies: Mapping[str, str] = EMPTY,
    choices: Sequence[ChoiceOdds] = (),
    note: str | None = None,
    by: By = "outcome",
    weighed: Weighed = "policies",
) -> OddsResult:
    """Return odds as the command line prints them in JSON; outcomes in the ruleset's order."""
    method = odds.method
    if any(choice.open.exact != "0" for choice in choices):
        method = "sampled" if odds.open == 1 and any(choice.estimate for choice in choices) else "partial"
    return OddsResult(
        ruleset=prepared.rules.id,
        action=prepared.action,
        inputs=prepared.inputs,
        by=by,
        outcomes={str(name): chance_record(mass) for name, mass in odds.masses.items()},
        method=method,
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        passed=list(odds.passed),
        policies=dict(policies),
        switches=prepared.rules.chosen,
        weighed=weighed,
        choices=list(choices),
        sample=odds.sample,
        note=note,
    )


def chance_record(mass: Fraction) -> Chance:
    """Return a probability for the JSON.

    >>> from fractions import Fraction
    >>> chance_record(Fraction(1, 4)).exact
    '1/4'
    """
    return Chance(float(mass), str(mass))
