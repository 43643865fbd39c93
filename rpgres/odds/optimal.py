"""Exact odds of an action whose actor decides as well as can be. Nothing here names a ruleset.

The rule is run on recorded answers, as in `odds`; what chance answers is weighed, and of what the actor's seat may
choose the option with the greatest chance of success is taken (of equal ones, that of the better outcomes, which are
those nearer to the end of the ruleset's list at which successes stand, and then the one with more ties), once for every
point that `Table.merge` tells apart. A chain of steps is taken up at each of its places (`Table.chain`), so that a
course costs one step and not the way there. Everybody else decides by a script or a policy; so does the actor from the
second decision on, where only the first is weighed. A seat that cannot see everything that was drawn or rolled may not
be weighed so: it would choose by what it cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.events import Decided, Event
from rpgres.engine.labels import check_labels
from rpgres.engine.players import Applied, Policies, Policy, Preference, Question, Script, Seats, View
from rpgres.engine.prepare import Prepared, with_piles
from rpgres.engine.run import play
from rpgres.engine.running import CHAIN, Chain, Run
from rpgres.engine.stops import Stop, fault_of
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY, State
from rpgres.odds.exact import ChoiceOdds, chance_record, in_order, needs_policy, success_of
from rpgres.odds.explorer import WORK, Budget, Node, Odds, Runs, TapeDealer, entries
from rpgres.odds.plans import Plan, Planned, answers_to
from rpgres.odds.sampling import Sample

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.engine.beliefs import Unseen

SEARCH = WORK // 2  # default budget here, where a question costs about twice as much: some 10 seconds with estimates
SUCCESS = "outcome"  # the question that is asked
DEEPEST = 200  # points of play in a course that are looked at; what is further on is left open


class Value(msgspec.Struct, frozen=True, gc=False):
    """What may come of a point of play: the chance of success, of each outcome by name, and what was left open."""

    success: Fraction
    masses: tuple[tuple[str, Fraction], ...]
    open: Fraction


class Choice(msgspec.Struct, frozen=True):
    """One option of the first decision, and the exact chances when everything after it is decided well."""

    option: str
    value: Value


class Best(msgspec.Struct, frozen=True):
    """The odds of deciding well.

    Attributes:
        label: the label of the first decision; empty when there was none.
        choices: its options, the best first.
        value: the chances of the best.
        leaves: how many courses were run.
        states: how many merged points were met.
        passed: labels of optional moments of others that nobody answered.
        partly: answers of the script that some paths do not offer.
        plan: the best options of the questions in the action's own data.
    """

    label: str
    choices: tuple[Choice, ...]
    value: Value
    leaves: int
    states: int
    passed: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    plan: tuple[Planned, ...] = ()

    def odds(self, prepared: Prepared) -> Odds:
        """Return the odds of the best choice, as `rpgres.odds.exact` has them."""
        masses = in_order(prepared, dict(self.value.masses))
        return Odds(masses, self.value.open, self.leaves, self.states, passed=self.passed, partly=self.partly)

    def records(self, prepared: Prepared, *, samples: Mapping[str, Sample] = EMPTY) -> list[ChoiceOdds]:
        """Return the odds of each first option for the JSON, the best first.

        Args:
            prepared: the action.
            samples: estimates, by option.
        """
        found = [
            ChoiceOdds(
                label=self.label,
                option=choice.option,
                success=chance_record(choice.value.success),
                outcomes={
                    name: chance_record(mass) for name, mass in in_order(prepared, dict(choice.value.masses)).items()
                },
                open=chance_record(choice.value.open),
                sample=samples.get(choice.option),
            )
            for choice in self.choices
        ]
        if any(choice.estimate for choice in found):
            found.sort(key=_likely, reverse=True)
        return found


def _likely(choice: ChoiceOdds) -> float:
    """Return how likely success is, as far as that is known."""
    found = choice.estimate
    return found.share if found is not None else choice.success.probability


class _Chance(Stop):
    """Chance is asked something new."""

    def __init__(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> None:
        super().__init__(label)
        self.label, self.values, self.weights, self.total = label, values, weights, total


class _Decision(Stop):
    """The seat that is weighed decides something new; `is_scripted` says whether a script has answers left for it."""

    def __init__(self, question: Question, *, is_scripted: bool) -> None:
        super().__init__(question.label)
        self.question = question
        self.is_scripted = is_scripted


class _Known(Stop):
    """The run came to a point whose value is known."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _Place(msgspec.Struct, frozen=True):
    """A place of a chain, with all that a step from there may turn to.

    Attributes:
        chain, place: the steps, and where they have led.
        before: what was answered before the chain began.
        state, unseen, undealt, has_secrets: the table's.
        hidden: what happened that the seat that is weighed did not see.
        left: what is left of the script.
        is_first: whether the seat that is weighed has not decided anything yet.
    """

    chain: Chain
    place: Any
    before: Node | None
    state: State
    unseen: Mapping[str, Unseen]
    undealt: Mapping[str, tuple[str, int]]
    has_secrets: bool
    hidden: tuple[Event, ...]
    left: Mapping[str, tuple[str, ...]]
    is_first: bool


class _Course(msgspec.Struct, frozen=True):
    """A course of the rule: the answers from its beginning on, or from a place of a chain.

    Attributes:
        tape: the answers, by label.
        at: the place.
        key: what is all that matters where it begins; None where that is not known.
    """

    tape: Node | None = None
    at: _Place | None = None
    key: Hashable = None

    def plus(self, label: str, answer: Any) -> _Course:
        """Return the course with one answer more."""
        return _Course((self.tape, (label, answer)), self.at)


class _Onward(Stop):
    """The rule came to a chain of steps."""

    def __init__(self, course: _Course, run: Run) -> None:
        super().__init__()
        self.course, self.run = course, run


class _Walk(TapeDealer):
    """Answers chance and the decisions of one seat from a tape, and stops the run at the first that is not on it.

    Attributes:
        keys: what all that matters was at the merges of the running course that are not on its tape.
        recalls: whether a point whose value is known is an end.
    """

    __slots__ = ("_known", "keys", "recalls")

    def __init__(self, known: Mapping[Hashable, Value]) -> None:
        super().__init__()
        self._known = known
        self.keys: list[Hashable] = []
        self.recalls = False

    def load(self, node: Node | None) -> None:
        super().load(node)
        self.keys = []

    def fresh(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        """End the run at a new question."""
        raise _Chance(label, values, weights, total)

    def decide(self, question: Question, *, is_scripted: bool) -> str:
        """Return the option on the tape, or end the run at a new decision."""
        if self.is_fresh:
            raise _Decision(question, is_scripted=is_scripted)
        chosen: str = self.recorded(question.label)
        return chosen

    def merge(self, key: object) -> None:
        """End the run where the value of what follows is known."""
        if not self.is_fresh:
            return
        value = self._known.get(key) if self.recalls else None
        if value is not None:
            raise _Known(value)
        self.keys.append(key)


class _Weighed(Policies):
    """Policies among which one seat's decisions are weighed, as the walk says.

    Args:
        others: the policies.
        seat: whose decisions are weighed.
        walk: where their answers come from.
        only_first: whether policies decide for that seat too, once it has decided.
        is_first: whether it has not.
    """

    __slots__ = ("_only_first", "_seat", "_walk", "is_first", "script")
    script: Script

    def __init__(
        self, others: Mapping[str, Policy], *, seat: str, walk: _Walk, only_first: bool, is_first: bool
    ) -> None:
        super().__init__(others)
        self._seat, self._walk = seat, walk
        self._only_first, self.is_first = only_first, is_first

    def of(self, who: str, seat: str) -> Policy | None:
        """Return the policy that decides for somebody: the walk for the seat that is weighed."""
        if seat == self._seat and (self.is_first or not self._only_first):
            return self._decide
        return super().of(who, seat)

    def _decide(self, view: View, question: Question) -> str:
        chosen = self._walk.decide(question, is_scripted=any(self.script.left.values()))
        self.is_first = False
        return chosen

    def preference(self, who: str, seat: str) -> Preference | None:
        """Return by which order of preference somebody else decides."""
        return None if seat == self._seat else super().preference(who, seat)


def best_odds(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = SEARCH,
    clock: Callable[[], float] | None = None,
    looks_at_all: bool = False,
    merges: bool = True,
    only_first: bool = False,
) -> Best:
    """Return the exact chances of an action whose actor decides as well as can be, for each first option.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers for everybody else.
        leaves, seconds, work, clock: see `Budget`; what is left open counts for nothing.
        merges: whether points of play that the rule says are alike are looked at once; for tests.
        looks_at_all: whether even options that a rule says can be no better are looked at; for tests.
        only_first: whether policies decide all that comes after the actor's first decision, so that only that one is
            the best.

    Raises:
        NeedsPolicy: a decision of somebody else has nobody to take it.
        UsageError: the actor's seat cannot see all that chance answered.
        RuleError: the ruleset's code failed.
    """
    check_labels(prepared.rules, prepared.action, given=EMPTY, choose=choose)
    budget = Budget(leaves, seconds, work=work, clock=clock)
    solver = _Solver(with_piles(prepared, asked=SUCCESS), choose, policies, budget)
    solver.looks_at_all, solver.merges, solver.only_first = looks_at_all, merges, only_first
    return solver.solve()


def weigh_best(prepared: Prepared, **how: Any) -> Odds:
    """Return the odds of deciding well alone; arguments and errors as for `best_odds`."""
    return best_odds(prepared, **how).odds(prepared)


class _Solver:
    """One calculation: the points whose value is known, and what is left of the budget."""

    def __init__(
        self,
        prepared: Prepared,
        choose: Mapping[str, Sequence[str]],
        policies: Mapping[str, Policy],
        budget: Budget,
    ) -> None:
        from fractions import Fraction

        self._zero, self._one = Fraction(0), Fraction(1)
        self._left_open = Value(self._zero, (), self._one)
        self._prepared, self._choose, self._policies = prepared, choose, policies
        self._seat = prepared.state.seat_of(prepared.actor)
        self._known: dict[Hashable, Value] = {}
        self._walk = _Walk(self._known)
        self._budget, self._leaves, self._runs = budget, 0, Runs()
        self._success = success_of(prepared)
        successes = [name for name, success in self._success.items() if success]
        neither = [name for name, success in self._success.items() if success is None]
        ranked = [*successes[::-1], *neither[::-1]] if len(successes) > 1 or neither else []
        is_falling = next((one for one in self._success.values() if one is not None), False)  # the best comes first
        self._ranked = [*successes, *neither] if ranked and is_falling else ranked
        self._success_band = successes[0] if len(successes) == 1 else ""  # else it is not known which one it would be
        self._settled: dict[str, Value] = {}
        self.plan = Plan()
        self._applied = Applied()
        self.looks_at_all, self.merges, self.only_first = False, True, False
        self._going: set[Hashable] = set()  # places whose value is being worked out
        self._depth = 0  # how many points are being looked at, each behind the one before
        self.label = ""
        self._ended_before: list[tuple[Fraction, Value]] = []  # what comes to an end without any decision
        self._decided = self._zero  # how likely it is that there is a first decision
        self._firsts: dict[str, list[tuple[Fraction, Value]]] = {}  # by option: how likely it is offered, and its value

    def solve(self) -> Best:
        """Return the odds."""
        value = self._value(_Course(), self._one)
        if self._runs.undecided:
            raise needs_policy(self._runs.undecided.values())
        choices = [Choice(option, self._sum([*parts, *self._ended_before])) for option, parts in self._firsts.items()]
        if any(sum(share for share, _ in parts) != self._decided for parts in self._firsts.values()):
            choices = []  # not every option is always offered, so they cannot be compared
        choices.sort(key=lambda choice: self._worth(choice.value), reverse=True)
        passed = tuple(sorted(self._runs.passed))
        plan = tuple(self.plan.records())
        partly = self._applied.partly(is_whole=not value.open)
        return Best(self.label, tuple(choices), value, self._leaves, len(self._known), passed, partly, plan)

    def _is_best(self, value: Value) -> bool:
        """Tell whether nothing could be better."""
        return value.success == 1 and (self._success_band != "" or self._worth(value)[1] == 1)

    def _worth(self, value: Value) -> tuple[Fraction, ...]:
        """Return how good a point is: by the chance of success, then by those of better outcomes, ties the last."""
        if not self._ranked:
            return (value.success,)
        masses = dict(value.masses)
        return value.success, *(masses.get(band, self._zero) for band in self._ranked)

    def _sum(self, parts: Sequence[tuple[Fraction, Value]]) -> Value:
        """Return the value of coming to points with these chances; what they lack to the whole is open."""
        masses: dict[str, Fraction] = {}
        success = met = open_ = self._zero
        for share, value in parts:
            met += share
            success += share * value.success
            open_ += share * value.open
            for band, mass in value.masses:
                masses[band] = masses.get(band, self._zero) + share * mass
        return Value(success, tuple(masses.items()), open_ + 1 - met)

    def _run(self, course: _Course) -> Value | _Course:
        """Run a course and return what it comes to, if it asks nothing new; or the course that goes on from there.

        Raises:
            _Chance, _Decision: it asks something new.
        """
        if self._budget.is_spent or self._depth > DEEPEST:
            return self._left_open
        self._leaves += 1
        at, before = course.at, self._runs.work
        self._walk.load(course.tape)
        once: Callable[..., tuple[Outcome, Run]]
        if at is not None:
            once = partial(self._step, at)
        else:
            once = partial(play, self._prepared, asked=SUCCESS, follow=self._followed if self.merges else None)
        try:
            return self._ended(self._runs.run(once, self._walk, self._players(at)))
        except _Known as known:
            return known.value
        except _Onward as onward:
            return onward.course
        finally:
            self._budget.spend(max(1, self._runs.work - before))

    def _players(self, at: _Place | None) -> Seats:
        script: Mapping[str, Sequence[str]] = self._choose if at is None else at.left
        is_first = at is None or at.is_first
        only_first = self.only_first
        policies = _Weighed(self._policies, seat=self._seat, walk=self._walk, only_first=only_first, is_first=is_first)
        seats = Seats(script, policies=policies, applied=self._applied)
        policies.script = seats.script
        return seats

    def _followed(self, table: Table, chain: Chain, start: Any) -> Any:
        """Return where a chain leads, if the tape has it; otherwise the run goes on from its first place."""
        if self._walk.is_fresh:
            raise _Onward(self._place(table, chain, start, before=self._walk.node), table.run)
        run, at = table.run, self._walk.recorded(CHAIN)
        run.state, run.unseen, run.undealt, run.has_secrets = at.state, at.unseen, at.undealt, at.has_secrets
        run.since = len(run.events)
        run.players = self._players(at)
        return at.place

    def _step(self, at: _Place, dealer: Dealer, players: Seats) -> NoReturn:
        """Take the next step of a chain.

        Raises:
            _Onward: to the course that goes on from there.
        """
        rules, chain = self._prepared.rules, at.chain
        run = Run(rules, at.state, dealer, players, SUCCESS, lump=self._prepared.lump_for(SUCCESS))
        run.unseen, run.undealt, run.has_secrets = at.unseen, at.undealt, at.has_secrets
        table = Table(run, rules)
        try:
            after = chain.step(table, at.place)
            if run.fault is not None:
                raise run.fault
            place = at.place if after is None else after
            found = self._place(table, chain, place, before=at.before, hidden=at.hidden)
        except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything
            raise fault_of(error, run, f"the rule {rules.id} {self._prepared.action}") from error.__cause__
        if after is None:
            found = _Course((at.before, (CHAIN, found.at)), key=("end", found.key))
        raise _Onward(found, run)

    def _place(
        self, table: Table, chain: Chain, place: Any, *, before: Node | None, hidden: tuple[Event, ...] = ()
    ) -> _Course:
        """Return the course that begins where a chain has led."""
        run = table.run
        players = run.players
        policies = players.policies
        assert isinstance(policies, _Weighed)
        hidden = (*hidden, *self._not_seen(run))
        number = sum(label == CHAIN for label, _ in entries(before))  # a rule may have several chains
        key = number, chain.step, chain.key(table, place), players.used(), bool(hidden)
        left = {label: tuple(answers) for label, answers in players.script.left.items()}
        state, is_first = run.state, policies.is_first
        at = _Place(chain, place, before, state, run.unseen, run.undealt, run.has_secrets, hidden, left, is_first)
        return _Course(at=at, key=key)

    def _value(self, course: _Course, share: Fraction | None = None) -> Value:
        """Return the value of the point that a course leads to.

        Args:
            course: the course.
            share: how likely it is, as long as the seat that is weighed has not decided anything.
        """
        if course.key is None or share is not None:  # what is known of a point holds once something has been decided
            return self._worked_out(course, share)
        known = self._known.get(course.key)
        if known is not None:
            return known
        if course.key in self._going:
            return self._left_open  # it may go round and round
        self._going.add(course.key)
        value = self._worked_out(course)
        self._going.discard(course.key)
        if not value.open:
            self._known[course.key] = value
        return value

    def _worked_out(self, course: _Course, share: Fraction | None = None) -> Value:
        self._depth += 1
        try:
            return self._looked_at(course, share)
        finally:
            self._depth -= 1

    def _looked_at(self, course: _Course, share: Fraction | None) -> Value:
        from fractions import Fraction

        self._walk.recalls = share is None
        try:
            found = self._run(course)
        except _Chance as chance:
            keys = self._walk.keys
            parts = list[tuple[Fraction, Value]]()
            for answer, weight in zip(chance.values, chance.weights, strict=True):
                its = Fraction(weight, chance.total)
                after = course.plus(chance.label, answer)
                parts.append((its, self._value(after, None if share is None else share * its)))
            value = self._sum(parts)
        except _Decision as decision:
            keys = self._walk.keys
            self._check_sight(decision, course)
            value = self._chosen(course, decision) if share is None else self._first(course, decision.question, share)
        else:
            if isinstance(found, _Course):
                return self._value(found, share)
            if share is not None:
                self._ended_before.append((share, found))
            return found
        if self.merges and share is None and not value.open:
            self._known.update(dict.fromkeys(keys, value))
        return value

    def _first(self, course: _Course, question: Question, share: Fraction) -> Value:
        """Return the value of a first decision, and add what each of its options comes to."""
        self.label = self.label or question.label
        self._decided += share
        values = list[Value]()
        for name in answers_to(question):
            values.append(self._value(course.plus(question.label, name)))
            self._firsts.setdefault(name, []).append((share, values[-1]))
        return self._planned(question, values)

    def _chosen(self, course: _Course, decision: _Decision) -> Value:
        """Return the value of a decision: that of the option with the greatest chance of success."""
        question = decision.question
        if not self.looks_at_all and not decision.is_scripted:  # a promise holds for whoever is free to choose
            if question.is_won and self._success_band:
                return self._ended(self._success_band)
            if question.dominant:
                return self._value(course.plus(question.label, question.dominant))
        values = list[Value]()
        for name in answers_to(question):
            values.append(self._value(course.plus(question.label, name)))
            if self._is_best(values[-1]):
                break
        return self._planned(question, values)

    def _planned(self, question: Question, values: Sequence[Value]) -> Value:
        """Return what deciding comes to; a question of the action's own data is noted in the plan."""
        if question.label in self._prepared.rules.file.actions[self._prepared.action].ask:
            best = max(range(len(values)), key=lambda place: self._worth(values[place]))
            self.plan.note(question, best, [(one.success, one.success + one.open) for one in values])
        return self._best_of(values)

    def _best_of(self, values: Sequence[Value]) -> Value:
        """Return what deciding among these comes to: the greatest success; open is what another may still change."""
        best = max(values, key=self._worth)
        rivals = [value for value in values if value is not best and value.success + value.open > best.success]
        if not rivals:
            return best
        # Any of them may turn out to be the one that is chosen: an outcome is as sure as the least of them says.
        masses = dict(best.masses)
        for value in rivals:
            found = dict(value.masses)
            masses = {band: min(mass, found.get(band, self._zero)) for band, mass in masses.items()}
        if self._success_band:
            masses[self._success_band] = best.success
        return Value(best.success, tuple(masses.items()), self._one - sum(masses.values()))

    def _ended(self, band: str) -> Value:
        known = self._settled.get(band)
        if known is None:
            success = self._one if self._success.get(band) else self._zero
            known = self._settled[band] = Value(success, ((band, self._one),), self._zero)
        return known

    def _check_sight(self, decision: _Decision, course: _Course) -> None:
        """Check that the seat that decides has seen all that chance answered."""
        if self._not_seen(decision.run) or (course.at is not None and course.at.hidden):
            raise UsageError(
                f"{self._seat} does not know everything drawn before {decision.question.label!r}, "
                f"so there is no optimal choice; let a policy decide with {named('auto')} or "
                f"{named('policy')} NAME"
            )

    def _not_seen(self, run: Run) -> list[Event]:
        """Return what happened of late that the seat that is weighed could not see."""
        if not run.has_secrets:
            return []
        drawn = {label for label, _ in self._walk.tape}
        found: list[Event] = []
        for event in run.events:
            is_hidden = event.audience is not None and self._seat not in event.audience and hasattr(event, "label")
            # What somebody else decided in secret tells nothing, unless weights were drawn from for it.
            if is_hidden and isinstance(event, Decided) and f"policy:{event.who}:{event.label}" not in drawn:
                continue
            if is_hidden:
                found.append(event)
        return found
