"""Exact odds: a rule run once for every distinct course it can take. Nothing here names a ruleset.

The walker re-runs the rule on recorded answers (the *tape*), goes on down the first branch, and queues the others,
heaviest first; a branch that grows long and light waits its turn, so that a rule without a last question still ends.
Weights are whole numbers and probabilities exact fractions; what a budget leaves open is reported as open mass, and
nothing is renormalised.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.actions import Prepared, check_labels, is_ours, laid, play
from rpgres.dice import Throw, difference
from rpgres.errors import RuleError, UsageError
from rpgres.players import Policy, Question, Seats
from rpgres.rulesets import blamed
from rpgres.state import EMPTY, State
from rpgres.table import MAX_QUESTIONS, PURE, Broken, NeedsAnswer, Settled, Stop, endless, not_deterministic
from rpgres.version import __version__

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.cards import Stack
    from rpgres.dice import Dice, Law
    from rpgres.dice.readings import JointLaw, Reading

LEAVES = 200_000  # default budget of re-runs
SECONDS = 10.0  # default budget of time
ROOM = 1_000  # courses that may wait beyond those that the budget can come to, so that they are seldom sorted out
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
    """

    masses: dict[Any, Fraction]
    open: Fraction
    leaves: int
    states: int = 0
    passed: tuple[str, ...] = ()


class Suspended(Stop):
    """A course that grew long and light waits until the heavier ones have been run."""


class Merged(Stop):
    """A run reached a point from which only `key` matters."""

    def __init__(self, key: object) -> None:
        super().__init__(key)
        self.key = key


By = Literal["outcome", "margin", "total"]  # what an action is weighed by
Weighed = Literal["policies", "each", "best"]  # who decides for whoever acts: see `RulesetFile.actions`

_Entry = tuple[str, Any]  # a question's label, and its answer
_Tape = tuple[_Entry, ...]
_Node = tuple[Any, _Entry]  # the last entry of a tape behind those before it, which many tapes share; None is empty


class WalkDealer:
    """Answers chance with every result in turn: from the tape while it lasts, then the first, queueing the others."""

    __slots__ = ("_begun", "_heap", "_node", "_position", "_serial", "_tape", "scale", "weight", "withheld")
    joint = True

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int, int, _Node | None]] = [(-1.0, 0, 1, 1, None)]
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

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        """Return a throw that shows only its value."""
        value: int = self._branch(label, dice.law)
        return Throw(value, (), str(value))

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        """Return what may be read off the dice, as one question; there is no single throw of it."""
        from rpgres.dice.readings import joint_law

        if not readings:
            return None, ()
        found: tuple[int, ...] = self._branch(label, joint_law(dice, readings))
        return None, found

    def difference(self, own: Dice, other: Dice, label: str, count: int) -> int:
        """Return a difference of two rolls, as one question."""
        value: int = self._branch(label, difference(own, other))
        return value

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        """Return an index; those of weight 0 are not walked."""
        indices = tuple(index for index, weight in enumerate(weights) if weight)
        index: int = self._next(label, indices, tuple(weights[index] for index in indices), sum(weights))
        return index

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return a card; those that are alike to the rule are one answer, weighted by their number."""
        if self._position < len(self._tape):  # which cards are alike need not be worked out again
            firsts: tuple[str, ...] = cards
            sizes: tuple[int, ...] = ()
        else:
            from rpgres.cards import classes

            firsts, sizes = classes(cards, stack)
        card: str = self._next(label, firsts, sizes, len(cards))
        return card

    def _branch(self, label: str, law: Law | JointLaw) -> Any:
        is_fresh, weight, scale = self._position >= len(self._tape), self.weight, self.scale
        value = self._next(label, law.values, law.weights, law.total)
        if law.open and is_fresh:
            self.withhold(weight * law.open, scale * law.total)
        return value

    def _next(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
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
    leaves: int = LEAVES,
    seconds: float = SECONDS,
    clock: Callable[[], float] | None = None,
    recheck: int = 0,
) -> Odds:
    """Return the exact distribution of what `play` returns over everything that chance can answer.

    Runs that merge are gathered and go on together as the next layer. A layer that others follow may use half of what
    is left of the budget; the lightest courses it does not come to stay open.

    Args:
        play: runs the rule once with the dealer it is given and returns a hashable result.
        leaves: at most this many runs.
        seconds: stop after about this long.
        clock: tells the time in seconds; for tests.
        recheck: how many courses are run once more, to see that they come to the same.

    Raises:
        RuleError: the rule asks something else, or comes to something else, when it is run again on the same answers;
            or it asks without end.
    """
    try:
        return _explore(play, leaves=leaves, seconds=seconds, clock=clock, recheck=recheck)
    except Broken as broken:
        raise RuleError(f"the rule cannot be weighed: {broken.told}") from broken


def _explore(
    play: Callable[[WalkDealer], Hashable],
    *,
    leaves: int,
    seconds: float,
    clock: Callable[[], float] | None,
    recheck: int,
) -> Odds:
    from time import monotonic

    now = clock or monotonic
    dealer = WalkDealer()
    courses: list[tuple[_Node | None, Hashable]] = []
    found: dict[Hashable, dict[int, int]] = {}  # by result, then by scale: sums of whole weights
    until = now() + seconds
    runs = states = 0
    while True:
        joints: dict[object, tuple[dict[int, int], _Node | None]] = {}
        begun, began = runs, now()
        while dealer.has_more():
            share = 2 if joints else 1
            if runs - begun >= max(1, (leaves - begun) // share) or now() - began >= (until - began) / share:
                break
            if dealer.crowd() > 2 * (leaves - runs) + ROOM:  # the lightest could never have their turn
                dealer.drop(keep=leaves - runs)
            dealer.begin()
            runs += 1
            try:
                result = play(dealer)
            except Suspended:
                continue
            except Merged as merged:
                sums, _ = joints.setdefault(merged.key, ({}, dealer.node))
            else:
                dealer.end()
                sums = found.setdefault(result, {})
                if len(courses) < recheck:
                    courses.append((dealer.node, result))
            sums[dealer.scale] = sums.get(dealer.scale, 0) + dealer.weight
        dealer.drop()
        if not joints:
            break
        states += len(joints)
        for key, (sums, node) in joints.items():  # the next layer: one course for all that share a key
            mass = _fraction(sums)
            dealer.queue(mass.numerator, mass.denominator, (node, ("merge", key)))
        if runs >= leaves or now() >= until:
            dealer.drop()
            break
    for node, result in reversed(courses):  # in another order, so that what changes from run to run shows
        _run_again(play, node, result)
    masses = {result: _fraction(sums) for result, sums in found.items()}
    return Odds(masses=masses, open=_fraction(dealer.withheld), leaves=runs, states=states)


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
    """The probability of one outcome: as a float for reading, as an exact fraction for everything else."""

    probability: float
    exact: str


class ChoiceOdds(msgspec.Struct, frozen=True, kw_only=True):
    """What comes of one option of the first decision; who decides after it is told by `weighed` of the result."""

    label: str
    option: str
    success: Chance
    outcomes: dict[str, Chance]
    open: Chance
    sample: Sample | None = None

    @property
    def is_estimate(self) -> bool:
        """Whether the sample says more than what is known exactly."""
        return self.sample is not None and self.sample.success.high - self.sample.success.low < self.open.probability


class Estimate(msgspec.Struct, frozen=True):
    """How often something came, and between what its chance lies in 95 of 100 such samples."""

    share: float
    low: float
    high: float


class Sample(msgspec.Struct, frozen=True):
    """What came of an action in many games, in which policies decided for everybody."""

    runs: int
    outcomes: dict[str, Estimate]
    success: Estimate


class OddsResult(msgspec.Struct, frozen=True, kw_only=True):
    """The odds of an action or of a dice expression, as `rpgres odds --json` prints them."""

    format: Literal["rpgres.odds/1"] = "rpgres.odds/1"
    version: str
    ruleset: str | None
    action: str | None
    inputs: dict[str, Any]
    by: By = "outcome"
    outcomes: dict[str, Chance]
    method: Literal["exact", "sampled", "mixed"]
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
    leaves: int = LEAVES,
    seconds: float = SECONDS,
    by: By = "outcome",
) -> Odds:
    """Return the exact chances of an action's outcomes, by band in the ruleset's order; or of its margins or totals.

    Where margins decide, every band that a margin can give is there, the impossible ones at 0.

    Decisions after the outcome is fixed are not walked. Optional moments that nobody answers pass.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers what was not chosen; `""` for everybody.
        leaves, seconds: the budget.
        by: what the chances are of.

    Raises:
        NeedsPolicy: a decision has nobody to take it.
        UsageError: the action has no margin or total to be weighed by.
        RuleError: the ruleset's code failed; the message names the distribution that brought it.
    """
    check_labels(prepared.rules, prepared.action, given=EMPTY, choose=choose)
    prepared = laid(prepared)
    passed: set[str] = set()
    undecided: dict[str, Question] = {}

    def once(dealer: WalkDealer) -> str | int | None:
        seats = Seats(choose, policies=policies)
        try:
            outcome, _ = play(prepared, dealer=dealer, players=seats, band_only=True)
        except Settled as settled:
            return settled.band if by == "outcome" else settled.margin if by == "margin" else settled.total
        except NeedsAnswer as needs:
            undecided[needs.question.label] = needs.question
            return ""  # the walk goes on, to tell every decision that is missing
        finally:
            passed.update(seats.passed)
        return outcome.band if by == "outcome" else outcome.margin if by == "margin" else outcome.total

    rules = prepared.rules
    recheck = 0 if is_ours(rules) else RECHECKED
    try:
        odds = _explore(once, leaves=leaves, seconds=seconds, clock=None, recheck=recheck)
    except Broken as broken:
        told = f"the rule {rules.id} {prepared.action} cannot be weighed: {broken.told}"
        raise blamed(RuleError(told), rules.ruleset) from broken
    if undecided:
        raise needs_policy(undecided.values(), seat=prepared.state.seat_of(prepared.actor), state=prepared.state)
    if not odds.masses:
        told = f"no course of the rule {rules.id} {prepared.action} came to an end"
        why = f"it asks without end, or needs a larger budget than {odds.leaves:,} runs in {seconds:g} seconds"
        raise blamed(RuleError(f"{told}: {why} (--leaves, --seconds)"), rules.ruleset)
    masses: dict[Any, Fraction]
    if by == "outcome":
        masses = in_order(prepared, odds.masses)
    else:
        _check_numbers(prepared, odds, by)
        masses = dict(sorted(odds.masses.items()))
    return msgspec.structs.replace(odds, masses=masses, passed=tuple(sorted(passed)))


def _check_numbers(prepared: Prepared, odds: Odds, by: By) -> None:
    """Check that every course of an action came to a number.

    Raises:
        UsageError: one did not, or runs went on as one that have different totals.
    """
    name = f"{prepared.rules.id} {prepared.action}"
    if None in odds.masses:
        raise UsageError(f"{name} has no {by} in odds, so it cannot be weighed by it; leave --by out")
    if by == "total" and odds.states:
        raise UsageError(f"{name} goes on as one where only the outcome is the same; weigh it --by margin")


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


BEST_TOO = "; --best has whoever acts decide as well as can be, --each only the first time"


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
        f"the odds depend on who decides: {'; '.join(asked)}. Answer with --choose {labels[0]}=..., "
        f"or let a policy decide with --auto or --policy NAME{BEST_TOO if is_own else ''}",
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
    return OddsResult(
        version=__version__,
        ruleset=prepared.rules.id,
        action=prepared.action,
        inputs=prepared.inputs,
        by=by,
        outcomes={str(name): chance_record(mass) for name, mass in odds.masses.items()},
        method="exact",
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        passed=list(odds.passed),
        policies=dict(policies),
        switches=prepared.rules.switches,
        weighed=weighed,
        choices=list(choices),
        note=note,
    )


def chance_record(mass: Fraction) -> Chance:
    """Return a probability for the JSON.

    >>> from fractions import Fraction
    >>> chance_record(Fraction(1, 4)).exact
    '1/4'
    """
    return Chance(float(mass), str(mass))
