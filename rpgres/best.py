"""Exact odds of an action whose actor decides as well as can be. Nothing here names a ruleset.

The rule is run on recorded answers, as in `odds`; what chance answers is weighed, and of what the actor's seat may
choose the option with the greatest chance of success is taken (of equal ones, that of the better outcomes, which are
those further down in the ruleset), once for every point that `Table.merge` tells apart.
Everybody else decides by a script or a policy. A seat that cannot see everything that was drawn or rolled may not
be weighed so: it would choose by what it cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.actions import Prepared, check_labels, laid, play
from rpgres.dice import Throw, difference
from rpgres.errors import UsageError
from rpgres.odds import LEAVES, SECONDS, ChoiceOdds, Odds, chance_record, in_order, needs_policy
from rpgres.players import NO, Answer, Policy, Preference, Question, Seats, View
from rpgres.state import EMPTY
from rpgres.table import Broken, Decided, NeedsAnswer, Settled, Stop, not_deterministic

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.cards import Stack
    from rpgres.dice import Dice
    from rpgres.dice.readings import Reading


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
    """

    label: str
    choices: tuple[Choice, ...]
    value: Value
    leaves: int
    states: int
    passed: tuple[str, ...] = ()

    def odds(self, prepared: Prepared) -> Odds:
        """Return the odds of the best choice, as `rpgres.odds` has them."""
        masses = in_order(prepared, dict(self.value.masses))
        return Odds(masses=masses, open=self.value.open, leaves=self.leaves, states=self.states, passed=self.passed)

    def records(self, prepared: Prepared) -> list[ChoiceOdds]:
        """Return the odds of each first option for the JSON, the best first."""
        return [
            ChoiceOdds(
                label=self.label,
                option=choice.option,
                success=chance_record(choice.value.success),
                outcomes={
                    name: chance_record(mass) for name, mass in in_order(prepared, dict(choice.value.masses)).items()
                },
                open=chance_record(choice.value.open),
            )
            for choice in self.choices
        ]


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


class _Walk:
    """Answers chance and the decisions of one seat from a tape, and stops the run at the first that is not on it."""

    __slots__ = ("_known", "_position", "fresh_keys", "tape")
    joint = True

    def __init__(self, known: Mapping[Hashable, Value]) -> None:
        self._known = known
        self.tape: list[tuple[str, Any]] = []
        self._position = 0
        self.fresh_keys: list[Hashable] = []

    def begin(self, tape: list[tuple[str, Any]]) -> None:
        """Turn to another course."""
        self.tape, self._position, self.fresh_keys = tape, 0, []

    def _next(self, label: str) -> tuple[bool, Any]:
        if self._position == len(self.tape):
            return False, None
        asked, value = self.tape[self._position]
        if asked != label:
            raise Broken(not_deterministic(repr(asked), repr(label)))
        self._position += 1
        return True, value

    def chance(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        """Return the answer on the tape, or end the run at a new question."""
        is_known, value = self._next(label)
        if not is_known:
            raise _Chance(label, values, weights, total)
        return value

    def decide(self, question: Question, *, is_scripted: bool) -> str:
        """Return the option on the tape, or end the run at a new decision."""
        is_known, value = self._next(question.label)
        if not is_known:
            raise _Decision(question, is_scripted=is_scripted)
        chosen: str = value
        return chosen

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        law = dice.law
        value = self.chance(label, law.values, law.weights, law.total)
        return Throw(value, (), str(value))

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        from rpgres.dice.readings import joint_law

        if not readings:
            return None, ()
        law = joint_law(dice, readings)
        return None, self.chance(label, law.values, law.weights, law.total)

    def difference(self, own: Dice, other: Dice, label: str, count: int) -> int:
        law = difference(own, other)
        value: int = self.chance(label, law.values, law.weights, law.total)
        return value

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        indices = [index for index, weight in enumerate(weights) if weight]
        index: int = self.chance(label, indices, [weights[index] for index in indices], sum(weights))
        return index

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        is_known, value = self._next(label)
        if not is_known:
            from rpgres.cards import classes

            raise _Chance(label, *classes(cards, stack), len(cards))
        card: str = value
        return card

    def merge(self, key: object) -> None:
        if self._position < len(self.tape):
            return
        value = self._known.get(key)
        if value is not None:
            raise _Known(value)
        self.fresh_keys.append(key)


class _Seats:
    """Players among whom one seat's decisions are weighed and the others' are answered as usual."""

    __slots__ = ("_others", "_seat", "_walk")
    gathers = False

    def __init__(self, others: Seats, *, seat: str, walk: _Walk) -> None:
        self._others, self._seat, self._walk = others, seat, walk

    def answer(self, question: Question, view: View) -> Answer | None:
        """Return what the script says, what is weighed, or what the others answer."""
        scripted = self._others.scripted(question)
        if scripted is not None:
            return scripted
        if view.seat == self._seat:
            is_scripted = any(left for _, left in self._others.used())
            return Answer(self._walk.decide(question, is_scripted=is_scripted), "best")
        return self._others.answer(question, view)

    def scripted(self, question: Question) -> Answer | None:
        return self._others.scripted(question)

    def preference(self, who: str, seat: str) -> Preference | None:
        return None if seat == self._seat else self._others.preference(who, seat)

    def used(self) -> tuple[tuple[str, int], ...]:
        return self._others.used()


def best_odds(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    leaves: int = LEAVES,
    seconds: float = SECONDS,
    clock: Callable[[], float] | None = None,
    looks_at_all: bool = False,
    merges: bool = True,
) -> Best:
    """Return the exact chances of an action whose actor decides as well as can be, for each first option.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers for everybody else.
        leaves, seconds: the budget; what it leaves open counts for nothing.
        clock: tells the time in seconds; for tests.
        merges: whether points of play that the rule says are alike are looked at once; for tests.
        looks_at_all: whether even options that a rule says can be no better are looked at; for tests.

    Raises:
        NeedsPolicy: a decision of somebody else has nobody to take it.
        UsageError: the actor's seat cannot see all that chance answered.
        RuleError: the ruleset's code failed.
    """
    check_labels(prepared.rules, prepared.action, given=EMPTY, choose=choose)
    solver = _Solver(laid(prepared), choose, policies, leaves, seconds, clock)
    solver.looks_at_all, solver.merges = looks_at_all, merges
    return solver.solve()


def weigh_best(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    leaves: int = LEAVES,
    seconds: float = SECONDS,
) -> Odds:
    """Return the odds of deciding well alone; arguments and errors as for `best_odds`."""
    best = best_odds(prepared, choose=choose, policies=policies, leaves=leaves, seconds=seconds)
    return best.odds(prepared)


def _options(question: Question) -> list[str]:
    """Return what may be answered; letting a moment pass comes first, as it costs nothing to look at.

    Raises:
        UsageError: there are more answers than the options.
    """
    if question.reads is not None:
        raise UsageError(f"{question.label!r} has more answers than can be listed, so none is known to be the best one")
    names = [option.name for option in question.options]
    return [NO, *names] if question.optional else names


class _Solver:
    """One calculation: the points whose value is known, and what is left of the budget."""

    def __init__(
        self,
        prepared: Prepared,
        choose: Mapping[str, Sequence[str]],
        policies: Mapping[str, Policy],
        leaves: int,
        seconds: float,
        clock: Callable[[], float] | None,
    ) -> None:
        from fractions import Fraction
        from time import monotonic

        self._zero, self._one = Fraction(0), Fraction(1)
        self._prepared, self._choose, self._policies = prepared, choose, policies
        self._seat = prepared.state.seat_of(prepared.actor)
        self._known: dict[Hashable, Value] = {}
        self._walk = _Walk(self._known)
        self._now = clock or monotonic
        self._leaves, self._until = leaves, self._now() + seconds
        self._runs = 0
        self._passed: set[str] = set()
        self._undecided: dict[str, Question] = {}
        self._success = {name: band.success for name, band in prepared.rules.file.bands.items()}
        successes = [name for name, success in self._success.items() if success]
        self._successes = successes[::-1]
        self._success_band = successes[0] if len(successes) == 1 else ""  # else it is not known which one it would be
        self._settled: dict[str, Value] = {}
        self.looks_at_all, self.merges = False, True
        self.label = ""
        self._ended_before: list[tuple[Fraction, Value]] = []  # what comes to an end without any decision
        self._decided = self._zero  # how likely it is that there is a first decision
        self._firsts: dict[str, list[tuple[Fraction, Value]]] = {}  # by option: how likely it is offered, and its value

    def solve(self) -> Best:
        """Return the odds."""
        value = self._opened([], self._one)
        if self._undecided:
            raise needs_policy(self._undecided.values())
        choices = [Choice(option, self._sum([*parts, *self._ended_before])) for option, parts in self._firsts.items()]
        if any(sum(share for share, _ in parts) != self._decided for parts in self._firsts.values()):
            choices = []  # not every option is always offered, so they cannot be compared
        choices.sort(key=lambda choice: self._worth(choice.value), reverse=True)
        return Best(self.label, tuple(choices), value, self._runs, len(self._known), tuple(sorted(self._passed)))

    def _opened(self, tape: list[tuple[str, Any]], share: Fraction) -> Value:
        """Return the value of a point before the first decision, and add what each option of that comes to.

        Args:
            tape: what leads there.
            share: how likely that is.
        """
        from fractions import Fraction

        try:
            value = self._run(tape)
        except _Chance as chance:
            parts = [
                (
                    Fraction(weight, chance.total),
                    self._opened([*tape, (chance.label, answer)], share * weight / chance.total),
                )
                for answer, weight in zip(chance.values, chance.weights, strict=True)
            ]
            return self._sum(parts)
        except _Decision as decision:
            self._check_sight(decision)
            self.label = self.label or decision.question.label
            self._decided += share
            return self._first_chosen(tape, decision.question, share)
        self._ended_before.append((share, value))
        return value

    def _first_chosen(self, tape: list[tuple[str, Any]], question: Question, share: Fraction) -> Value:
        values = {}
        for name in _options(question):
            values[name] = self._value([*tape, (question.label, name)])
            self._firsts.setdefault(name, []).append((share, values[name]))
        return self._best_of(list(values.values()))

    def _is_best(self, value: Value) -> bool:
        """Tell whether nothing could be better."""
        return value.success == 1 and (self._success_band != "" or self._worth(value)[1] == 1)

    def _worth(self, value: Value) -> tuple[Fraction, ...]:
        """Return how good a point is: by the chance of success, then by those of better outcomes."""
        if self._success_band:
            return (value.success,)
        masses = dict(value.masses)
        return value.success, *(masses.get(band, self._zero) for band in self._successes)

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

    def _run(self, tape: list[tuple[str, Any]]) -> Value:
        """Run a course and return what it comes to, if it asks nothing new.

        Raises:
            _Chance, _Decision: it asks something new.
        """
        if self._runs >= self._leaves or self._now() >= self._until:
            return Value(self._zero, (), self._one)
        self._runs += 1
        self._walk.begin(tape)
        seats = Seats(self._choose, policies=self._policies)
        players = _Seats(seats, seat=self._seat, walk=self._walk)
        try:
            outcome, _ = play(self._prepared, dealer=self._walk, players=players, band_only=True)
        except Settled as settled:
            return self._ended(settled.band)
        except _Known as known:
            return known.value
        except NeedsAnswer as needs:
            self._undecided[needs.question.label] = needs.question
            return self._ended("")
        finally:
            self._passed |= seats.passed
        return self._ended(outcome.band)

    def _value(self, tape: list[tuple[str, Any]]) -> Value:
        """Return the value of the point that a tape leads to."""
        from fractions import Fraction

        try:
            return self._run(tape)
        except _Chance as chance:
            keys = self._walk.fresh_keys
            value = self._sum(
                [
                    (Fraction(weight, chance.total), self._value([*tape, (chance.label, answer)]))
                    for answer, weight in zip(chance.values, chance.weights, strict=True)
                ]
            )
        except _Decision as decision:
            keys = self._walk.fresh_keys
            self._check_sight(decision)
            value = self._chosen(tape, decision)
        if self.merges and not value.open:
            self._known.update(dict.fromkeys(keys, value))
        return value

    def _chosen(self, tape: list[tuple[str, Any]], decision: _Decision) -> Value:
        """Return the value of a decision: that of the option with the greatest chance of success."""
        question = decision.question
        if (
            not self.looks_at_all and not decision.is_scripted
        ):  # what a rule promises holds for whoever is free to choose
            if question.is_won and self._success_band:
                return self._ended(self._success_band)
            if question.dominant:
                return self._value([*tape, (question.label, question.dominant)])
        values = list[Value]()
        for name in _options(question):
            values.append(self._value([*tape, (question.label, name)]))
            if self._is_best(values[-1]):
                break
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

    def _check_sight(self, decision: _Decision) -> None:
        """Check that the seat that decides has seen all that chance answered."""
        drawn = {label for label, _ in self._walk.tape}
        for event in decision.table.events:
            is_hidden = event.audience is not None and self._seat not in event.audience and hasattr(event, "label")
            # What somebody else decided in secret tells nothing, unless weights were drawn from for it.
            if is_hidden and isinstance(event, Decided) and f"policy:{event.who}:{event.label}" not in drawn:
                continue
            if is_hidden:
                raise UsageError(
                    f"{self._seat} does not see everything that was drawn before {decision.question.label!r} is "
                    "decided, so there is no best choice; let a policy decide with --auto or --policy NAME"
                )
