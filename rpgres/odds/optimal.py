"""Exact odds of an action with optimal decisions of its actor. Nothing here names a ruleset.

The rule is run on recorded answers, as in `explorer`. Random results are averaged by their weights. Of the options of
the actor's seat, the one with the greatest chance of success is taken; of equal ones, that of the better outcomes,
which are nearer to the end of the ruleset's list at which successes stand, and then the one with more ties. This is
done once for every state that `Table.merge` tells apart. A chain of steps is resumed at each of its places
(`Table.chain`), so that a path costs one step and not the way there. Everybody else decides by a script or a policy;
so does the actor from the second decision on, where only the first is searched. A seat that cannot see everything that
was drawn or rolled is refused: it would choose by what it cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.events import Decided, Event
from rpgres.engine.labels import check_labels
from rpgres.engine.players import Policy, Question
from rpgres.engine.prepare import Prepared, with_piles
from rpgres.engine.run import play
from rpgres.engine.running import CHAIN, Chain, Run
from rpgres.engine.seats import Applied, Seats
from rpgres.engine.stops import fault_of
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY
from rpgres.odds.branching import Asked, ChainPlace, Fresh, Known, Onward, Path, SearchDealer, SearchedPolicies, Value
from rpgres.odds.exact import ChoiceOdds, chance_record, in_order, needs_policy, success_of
from rpgres.odds.explorer import WORK, Budget, Node, Odds, Runs, entries
from rpgres.odds.plans import Plan, Planned, answers_to
from rpgres.odds.sampling import Sample

if TYPE_CHECKING:
    from fractions import Fraction


SEARCH = WORK // 2  # default budget here, where a question costs about twice as much: some 10 seconds with estimates
SUCCESS = "outcome"  # the question that is asked
DEEPEST = 200  # points in a path that are looked at; what is further on is left open


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
        leaves: how many paths were run.
        states: how many merged points were met.
        passed: labels of optional decisions of others that were skipped.
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
        choose: answers to decisions, by label, used in order in every run.
        leaves, seconds, work, clock: see `Budget`; what is left open counts for nothing.
        merges: whether states that the rule says are alike are looked at once; for tests.
        looks_at_all: whether even options that a rule says can be no better, or are like another, are looked at; for
            tests.
        only_first: whether policies decide all that comes after the actor's first decision, so that only that one is
            the best.

    Raises:
        NeedsPolicy: a decision of another player has no answer.
        UsageError: the actor's seat cannot see all that chance answered.
        RuleError: the ruleset's code failed.
    """
    check_labels(prepared.rules, prepared.action, given=EMPTY, choose=choose)
    budget = Budget(leaves, seconds, work=work, clock=clock)
    solver = _Solver(with_piles(prepared, asked=SUCCESS), choose, policies, budget)
    solver.looks_at_all, solver.merges, solver.only_first = looks_at_all, merges, only_first
    return solver.solve()


def evaluate_best(prepared: Prepared, **how: Any) -> Odds:
    """Return the odds of deciding well alone; arguments and errors as for `best_odds`."""
    return best_odds(prepared, **how).odds(prepared)


class _Solver:
    """One calculation: the points whose value is known, and what is left of the budget."""

    def __init__(
        self, prepared: Prepared, choose: Mapping[str, Sequence[str]], policies: Mapping[str, Policy], budget: Budget
    ) -> None:
        from fractions import Fraction

        self._zero, self._one = Fraction(0), Fraction(1)
        self._left_open = Value(self._zero, (), self._one)
        self._prepared, self._choose, self._policies = prepared, choose, policies
        self._seat = prepared.state.seat_of(prepared.actor)
        self._known: dict[Hashable, Value] = {}
        self._undecided: dict[Hashable, Value] = {}  # of points with no decision before or behind
        self._dealer = SearchDealer()
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
        self._applied = Applied(choose)
        self.looks_at_all, self.merges, self.only_first = False, True, False
        self._going: set[Hashable] = set()  # places whose value is being worked out
        self._depth = 0  # how many points are being looked at, each behind the one before
        self.label = ""
        self._ended_before: list[tuple[Fraction, Value]] = []  # what comes to an end without any decision
        self._decided = self._zero  # how likely it is that there is a first decision
        self._firsts: dict[str, list[tuple[Fraction, Value]]] = {}  # by option: how likely it is offered, and its value

    def solve(self) -> Best:
        """Return the odds."""
        value = self._value(Path(), self._one)
        if self._runs.undecided:
            raise needs_policy(self._runs.undecided.values())
        choices = [Choice(option, self._sum([*parts, *self._ended_before])) for option, parts in self._firsts.items()]
        if any(sum(share for share, _ in parts) != self._decided for parts in self._firsts.values()):
            choices = []  # not every option is always offered, so they cannot be compared
        choices.sort(key=lambda choice: self._worth(choice.value), reverse=True)
        passed, states = tuple(sorted(self._runs.passed)), len(self._known) + len(self._undecided)
        plan = tuple(self.plan.records())
        partly = self._applied.partly(is_whole=not value.open)
        return Best(self.label, tuple(choices), value, self._leaves, states, passed, partly, plan)

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

    def _run(self, path: Path) -> Value | Path:
        """Run a path and return what it comes to, if it asks nothing new; or the path that goes on from there.

        Raises:
            Fresh, Asked: it asks something new.
        """
        if self._budget.is_spent or self._depth > DEEPEST:
            return self._left_open
        self._leaves += 1
        at, before = path.at, self._runs.work
        self._dealer.load(path.tape)
        once: Callable[..., tuple[Outcome, Run]]
        if at is not None:
            once = partial(self._step, at)
        else:
            once = partial(play, self._prepared, asked=SUCCESS, follow=self._followed if self.merges else None)
        try:
            return self._ended(self._runs.run(once, self._dealer, self._players(at)))
        except Known as known:
            return known.value
        except Onward as onward:
            return onward.path
        finally:
            self._budget.spend(max(1, self._runs.work - before))

    def _players(self, at: ChainPlace | None) -> Seats:
        script: Mapping[str, Sequence[str]] = self._choose if at is None else at.left
        is_first = at is None or at.is_first
        policies = SearchedPolicies(
            self._policies, seat=self._seat, dealer=self._dealer, only_first=self.only_first, is_first=is_first
        )
        seats = Seats(script, policies=policies, applied=self._applied)
        policies.script = seats.script
        return seats

    def _followed(self, table: Table, chain: Chain, start: Any) -> Any:
        """Return where a chain leads, if the tape has it; otherwise the run goes on from its first place."""
        if self._dealer.is_fresh:
            raise Onward(self._place(table, chain, start, before=self._dealer.node), table.run)
        run, at = table.run, self._dealer.recorded(CHAIN)
        run.state, run.unseen, run.has_secrets = at.state, at.unseen, at.has_secrets
        run.since = len(run.events)
        run.players = self._players(at)
        return at.place

    def _step(self, at: ChainPlace, dealer: Dealer, players: Seats) -> NoReturn:
        """Take the next step of a chain.

        Raises:
            Onward: to the path that goes on from there.
        """
        rules, chain = self._prepared.rules, at.chain
        run = Run(rules, at.state, dealer, players, SUCCESS, lump=self._prepared.lump_for(SUCCESS))
        run.unseen, run.has_secrets = at.unseen, at.has_secrets
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
            found = Path((at.before, (CHAIN, found.at)), key=("end", found.key))
        raise Onward(found, run)

    def _place(
        self, table: Table, chain: Chain, place: Any, *, before: Node | None, hidden: tuple[Event, ...] = ()
    ) -> Path:
        """Return the path that begins where a chain has led."""
        run = table.run
        players = run.players
        policies = players.policies
        assert isinstance(policies, SearchedPolicies)
        hidden = (*hidden, *self._not_seen(run))
        number = sum(label == CHAIN for label, _ in entries(before))  # a rule may have several chains
        key = number, chain.step, chain.key(table, place), players.used(), bool(hidden)
        left = {label: tuple(answers) for label, answers in players.script.left.items()}
        state, is_first = run.state, policies.is_first
        at = ChainPlace(chain, place, before, state, run.unseen, run.has_secrets, hidden, left, is_first)
        return Path(at=at, key=key)

    def _value(self, path: Path, share: Fraction | None = None) -> Value:
        """Return the value of the point that a path leads to.

        Args:
            share: how likely it is, as long as the optimal player has not decided anything.
        """
        if path.key is None or share is not None:  # what is known of a point holds once something has been decided
            return self._worked_out(path, share)
        known = self._known.get(path.key)
        if known is not None:
            return known
        if path.key in self._going:
            return self._left_open  # it may go round and round
        self._going.add(path.key)
        value = self._worked_out(path)
        self._going.discard(path.key)
        if not value.open:
            self._known[path.key] = value
        return value

    def _worked_out(self, path: Path, share: Fraction | None = None) -> Value:
        self._depth += 1
        try:
            return self._looked_at(path, share)
        finally:
            self._depth -= 1

    def _looked_at(self, path: Path, share: Fraction | None) -> Value:
        from fractions import Fraction

        known = self._dealer.known = self._known if share is None else self._undecided
        decided = self._decided
        try:
            found = self._run(path)
        except Fresh as chance:
            keys = self._dealer.keys
            parts = list[tuple[Fraction, Value]]()
            for answer, weight in zip(chance.values, chance.weights, strict=True):
                its = Fraction(weight, chance.total)
                after = path.plus(chance.label, answer)
                parts.append((its, self._value(after, None if share is None else share * its)))
            value = self._sum(parts)
        except Asked as decision:
            keys = self._dealer.keys
            self._check_sight(decision, path)
            value = self._chosen(path, decision) if share is None else self._first(path, decision.question, share)
        else:
            if isinstance(found, Path):
                return self._value(found, share)
            if share is not None:
                self._ended_before.append((share, found))
            return found
        if self.merges and not value.open and self._decided == decided:
            known.update(dict.fromkeys(keys, value))
        return value

    def _first(self, path: Path, question: Question, share: Fraction) -> Value:
        """Return the value of a first decision, and add what each of its options comes to."""
        self.label = self.label or question.label
        self._decided += share
        values = list[Value]()
        for name, value in self._by_option(path, question):
            values.append(value)
            self._firsts.setdefault(name, []).append((share, value))
        return self._planned(question, values)

    def _by_option(self, path: Path, question: Question) -> Iterator[tuple[str, Value]]:
        """Yield the value of each option of a decision; one that is like another has the value of that."""
        alike, known = question.alike, dict[str, Value]()
        for name in answers_to(question):
            value = known.get(alike.get(name, ""))
            if value is None or self.looks_at_all:
                value = self._value(path.plus(question.label, name))
            known[name] = value
            yield name, value

    def _chosen(self, path: Path, decision: Asked) -> Value:
        """Return the value of a decision: that of the option with the greatest chance of success."""
        question = decision.question
        if not self.looks_at_all and not decision.is_scripted:  # a promise holds for those who are free to choose
            if question.is_won and self._success_band:
                return self._ended(self._success_band)
            if question.dominant:
                return self._value(path.plus(question.label, question.dominant))
        values = list[Value]()
        for _, value in self._by_option(path, question):
            values.append(value)
            if self._is_best(value):
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

    def _check_sight(self, decision: Asked, path: Path) -> None:
        """Check that the seat that decides has seen all that chance answered."""
        if self._not_seen(decision.run) or (path.at is not None and path.at.hidden):
            raise UsageError(
                f"{self._seat} does not know everything drawn before {decision.question.label!r}, "
                f"so there is no optimal choice; let a policy decide with {named('auto')} or "
                f"{named('policy')} NAME"
            )

    def _not_seen(self, run: Run) -> list[Event]:
        """Return what happened of late that the optimal player could not see."""
        if not run.has_secrets:
            return []
        drawn = {label for label, _ in self._dealer.tape}
        found: list[Event] = []
        for event in run.events:
            is_hidden = event.audience is not None and self._seat not in event.audience and hasattr(event, "label")
            # What another player decided in secret shows nothing, unless weights were drawn from for it.
            if is_hidden and isinstance(event, Decided) and f"policy:{event.who}:{event.label}" not in drawn:
                continue
            if is_hidden:
                found.append(event)
        return found
