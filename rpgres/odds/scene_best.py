"""Optimal decisions of one player over a whole scene: backward induction over its standings. Nothing names a ruleset.

Turns become trees of chance and of decisions, the standings are gone through forwards to find them all, and then
backwards, each decision taking what is worth most. That is only right where the one who decides sees all that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rpgres.engine.events import Event, seen
from rpgres.engine.players import NO, Answer, Answerer, Question, View
from rpgres.engine.stops import NeedsAnswer
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY
from rpgres.odds.branching import Asked, BranchDealer, Fresh
from rpgres.odds.courses import Ahead, Course
from rpgres.odds.exact import Chance, chance_record
from rpgres.odds.explorer import Budget
from rpgres.odds.nodes import UNCHANGED, Delta, Memo, Node, changed
from rpgres.odds.scenes import WORK, ExactSceneOdds, Undecided
from rpgres.odds.watching import Parts
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from fractions import Fraction

CHOOSE = "choose:"  # before the label of a decision, on a tape
SHOWN = 5  # first decisions that are told, the most probable ones


class Blind(UsageError):
    """The one who should decide optimally does not see what matters: one view stands for several states."""

    code = "blind"


class Leaf(NamedTuple):
    """The end of a turn: what it changed, and the outcome of the step that it ended."""

    delta: Delta
    outcome: str = ""


class Random(NamedTuple):
    """Something random in a turn: trees by weight, of a total."""

    branches: tuple[tuple[int, Tree], ...]
    total: int


class Decide(NamedTuple):
    """A decision in a turn: trees by option."""

    question: Question
    branches: tuple[tuple[str, Tree], ...]


Tree = Leaf | Random | Decide


class OptionValue(msgspec.Struct, frozen=True):
    """What an option of a decision is worth: the chance of the goal, or the mean, with optimal decisions afterwards.

    Attributes:
        option: its name.
        value: what it is worth.
        text: what it means.
        outcome: the outcome that the step comes to with it; empty where that is open.
    """

    option: str
    value: Fraction
    text: str = ""
    outcome: str = ""


class Decision(msgspec.Struct, frozen=True):
    """One of the first decisions, with what each of its options is worth.

    Attributes:
        label: the question's label.
        text: the question.
        probability: how likely the scene comes to it.
        options: the options, the best first.
        who: whose decision it is.
        words: what it is about, in words; empty where facts say it.
        facts: what it is about.
    """

    label: str
    text: str
    probability: Fraction
    options: tuple[OptionValue, ...]
    who: str = ""
    words: str = ""
    facts: Mapping[str, Any] = EMPTY


class SceneBest(msgspec.Struct, frozen=True):
    """The odds of a scene when one player decides optimally.

    Attributes:
        value: the chance of the goal, or the mean.
        masses: the chance of each result.
        decisions: the first decisions, the most probable ones first.
        states: how many distinct standings there are.
        leaves: how many courses of single turns were run.
        turns: how many turns the longest course has.
    """

    value: Fraction
    masses: dict[Any, Fraction]
    decisions: tuple[Decision, ...]
    states: int
    leaves: int
    turns: int


class BestOption(msgspec.Struct, frozen=True):
    """What an option of one of the first decisions is worth.

    Attributes:
        option: its name.
        text: what it means.
        value: the chance of the goal, or the mean, with optimal decisions afterwards.
        cost: what it costs, against the best option; 0 for that one.
        outcome: the outcome that the step comes to with it; empty where that is open.
    """

    option: str
    text: str
    value: Chance
    cost: Chance
    outcome: str = ""


class BestDecision(msgspec.Struct, frozen=True):
    """One of the first decisions of the one who decides optimally.

    Attributes:
        label: the decision's label.
        who: whose it is.
        text: the question.
        words: what it is about, in words; empty where facts say it.
        facts: what it is about.
        probability: how likely the scene comes to it.
        options: its options, the best first.
    """

    label: str
    who: str
    text: str
    words: str
    facts: dict[str, Any]
    probability: Chance
    options: list[BestOption]


class SceneBestResult(ExactSceneOdds, frozen=True, kw_only=True, tag="rpgres.scene-best/1"):
    """The odds of a scene when one player decides optimally, as `rpgres odds scene.toml --best WHO --json` prints it.

    Attributes:
        best: who decides optimally.
        goal: the outcomes that count; empty where a mean is made as large as can be.
        value: the chance of the goal, or the mean.
        decisions: the first decisions, the most probable first, with what each option is worth.
    """

    best: str
    goal: list[str]
    value: Chance
    decisions: list[BestDecision]


def decision_record(decision: Decision) -> BestDecision:
    """Return one of the first decisions for the JSON."""
    best = decision.options[0].value
    return BestDecision(
        label=decision.label,
        who=decision.who,
        text=decision.text,
        words=decision.words,
        facts=dict(decision.facts),
        probability=chance_record(decision.probability),
        options=[
            BestOption(one.option, one.text, chance_record(one.value), chance_record(best - one.value), one.outcome)
            for one in decision.options
        ],
    )


class TreeDealer(BranchDealer):
    """Answers from a tape, and ends the run at the first question behind its end.

    Attributes:
        outcome: what the step of the turn came to; empty where it has no outcome, or is not over.
    """

    __slots__ = ("outcome",)

    def __init__(self) -> None:
        super().__init__()
        self.outcome = ""

    def came_to(self, outcome: str | None) -> None:
        self.outcome = outcome or ""

    def merge(self, key: object) -> None:
        """Go on: every branch of a turn is followed by itself."""


class _Step(NamedTuple):
    """A standing with the tree of its turn, and where each leaf of that leads, in order."""

    tree: Tree
    after: tuple[Any, ...]  # numbers of standings of the next layer, or results


def scene_best(
    course: Course,
    who: str,
    *,
    worth: Callable[[Any], Fraction | int],
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = WORK,
) -> SceneBest:
    """Return the odds of a scene when one player decides optimally over all of it.

    Args:
        course: the scene.
        who: the character, or the seat, that decides optimally; policies decide for the others.
        worth: what a result is worth to it.
        leaves, seconds, work: see `Budget`.

    Raises:
        Undecided: a decision of another player has no answer.
        Blind: one view of the one who decides stands for several states.
        UsageError: the budget does not suffice: nothing can be said of a part.
        RuleError: the ruleset's code failed.
    """
    return _Best(course, who, worth, Budget(leaves, seconds, work=work)).run()


class _Best:
    """The standings of a scene, layer by layer, with the trees of their turns."""

    def __init__(
        self,
        course: Course,
        who: str,
        worth: Callable[[Any], Fraction | int],
        budget: Budget,
    ) -> None:
        self.course, self.who, self.worth, self.budget = course, who, worth, budget
        self.parts = Parts()
        self.trees, self.hidden, self.ahead = Memo(), Memo(), Ahead(course, self.parts)
        self.undecided: dict[str, Question] = {}
        self.trails: dict[Hashable, tuple[Event, ...]] = {}  # of one turn: what happened, by what the seat saw of it
        self.leaves = 0
        self.reads = self.parts.reads(0)

    def run(self) -> SceneBest:
        """Go through all standings forwards, then backwards."""
        layers: list[list[tuple[Node, _Step]]] = []
        start = self._arrived(self.parts.node_of(self.course.start))
        ends: list[Any] = []
        layer: dict[Node, int] = {}
        if not isinstance(start, _Over):
            layer = {start: 0}
        else:
            ends = [start]
        while layer:
            steps, after = list[tuple[Node, _Step]](), dict[Node, int]()
            views = dict[Hashable, Node]()
            for node in layer:
                self._spend(1)
                tree = self._tree(node)
                self._check_view(node, tree, views)
                steps.append((node, _Step(tree, tuple(self._leads(node, tree, after)))))
            if self.undecided:
                raise Undecided(self.undecided)
            layers.append(steps)
            layer = after
        return self._backwards(layers, ends)

    def _spend(self, work: int) -> None:
        if STOP.is_asked:  # of what is evaluated from its end, nothing is known before the beginning is
            raise KeyboardInterrupt
        if self.budget.is_spent:
            raise UsageError(
                "optimal decisions need the whole scene, and the budget does not suffice for it; "
                f"raise {named('seconds')} or {named('leaves')}, or shorten the scene"
            )
        self.budget.spend(work)

    def _leads(self, node: Node, tree: Tree, after: dict[Node, int]) -> Iterator[int | Hashable]:
        """Yield where each leaf of a tree leads: the number of a standing of the next layer, or a result."""
        for delta, _ in _leaves(tree):
            arrived = self._arrived(changed(node, delta))
            yield arrived if isinstance(arrived, _Over) else after.setdefault(arrived, len(after))

    def _arrived(self, node: Node) -> Node | _Over:
        """Return a standing taken on to what is due next, or the result at the end."""
        delta, is_over = self.ahead.onward(node)
        node = changed(node, delta)
        return _Over(*self.ahead.result(node)) if is_over else node

    # -- the tree of a turn

    def _tree(self, node: Node) -> Tree:
        known: Tree | None = self.trees.find(node, self.parts)
        if known is None:
            reads, self.trails = self.parts.reads(node), {}
            self.reads = reads
            known = self._grown(node, self.parts.watched(node, reads), None)
            self.trees.keep(node, reads.parts, known, self.parts)
        return known

    def _grown(self, node: Node, standing: Any, tape: Any) -> Tree:
        """Return the tree behind the answers on a tape."""
        dealer = TreeDealer()
        dealer.load(tape)
        self.leaves += 1
        self._spend(1 + len(dealer.tape))
        try:
            after = self.course.turn(standing, dealer, self._decider(dealer))
        except Fresh as fresh:
            branches = tuple(
                (weight, self._grown(node, standing, (tape, (fresh.label, value))))
                for value, weight in zip(fresh.values, fresh.weights or (1,) * len(fresh.values), strict=True)
            )
            return Random(branches, fresh.total)
        except Asked as asked:
            return self._decision(node, standing, tape, asked)
        except NeedsAnswer as needs:
            self.undecided[needs.question.label] = needs.question
            return Leaf(UNCHANGED)
        return Leaf(self.parts.changes(node, after, self.reads), dealer.outcome)

    def _decision(self, node: Node, standing: Any, tape: Any, asked: Asked) -> Tree:
        question, run = asked.question, asked.run
        seat = run.state.seat_of(question.who)
        if run.has_secrets:
            told = question.label, tuple(one for event in run.events if (one := seen(event, seat)) is not None)
            if self.trails.setdefault(told, (*run.events,)) != (*run.events,):
                raise Blind(
                    f"{self.who} decides {question.label!r} after something happened that {seat} does not see, so "
                    "optimal decisions over the whole scene cannot be computed; use a policy or standing orders"
                )
        # A dominant option is one for the action at hand; what it costs may be missed later in the scene.
        names = [option.name for option in question.options]
        if question.optional and (question.passing is None or NO not in names):
            names = [NO, *(name for name in names if question.passing is None or name != question.passing.name)]
        branches = tuple(
            (name, self._grown(node, standing, (tape, (f"{CHOOSE}{question.label}", name)))) for name in names
        )
        return Decide(question, branches)

    def _decider(self, dealer: TreeDealer) -> Answerer:
        def decides(question: Question, view: View) -> Answer | None:
            if self.who not in (question.who, view.seat):
                return None
            if dealer.is_fresh:
                raise Asked(question)
            return Answer(dealer.recorded(f"{CHOOSE}{question.label}"), "best")

        return decides

    def _check_view(self, node: Node, tree: Tree, views: dict[Hashable, Node]) -> None:
        """Make sure that the one who decides in a turn knows in which state."""
        if not _decides(tree):
            return
        hides: bool | None = self.hidden.find(node, self.parts)
        if hides is None:
            reads = self.parts.reads(node)
            state = self.parts.watched(node, reads).state
            hides = state.seen_by(state.seat_of(self.who) if self.who in state.characters else self.who) is not state
            self.hidden.keep(node, reads.parts, hides, self.parts)
        if not hides:
            return
        standing = self.parts.standing(node)
        state = standing.state
        seat = state.seat_of(self.who) if self.who in state.characters else self.who
        view = state.seen_by(seat), standing.at, standing.place
        if views.setdefault(view, node) != node:
            raise Blind(
                f"what {self.who} sees stands for several states, so optimal decisions over the whole scene cannot be "
                "computed; use a policy or standing orders"
            )

    # -- backwards, and forwards again

    def _backwards(self, layers: list[list[tuple[Node, _Step]]], ends: list[Any]) -> SceneBest:
        from fractions import Fraction

        if not layers:
            result = ends[0].result
            return SceneBest(Fraction(self.worth(result)), {result: Fraction(1)}, (), 0, self.leaves, 0)
        values: list[list[Fraction]] = [[]]  # by layer, the last one first; behind the last there is nothing
        chosen: list[list[list[int]]] = []  # likewise, of each standing: the number of the best option of each decision
        for steps in reversed(layers):
            now, choices = list[Fraction](), list[list[int]]()
            for _, step in steps:
                worth = _Worth(step, values[-1], self.worth)
                now.append(worth.of(step.tree))
                choices.append(worth.picks)
            values.append(now)
            chosen.append(choices)
        values, chosen = values[::-1], chosen[::-1]
        masses: dict[Any, Fraction] = {}
        decisions: list[Decision] = []
        here = {0: Fraction(1)}
        for number, steps in enumerate(layers):
            after: dict[int, Fraction] = {}
            if not decisions:
                decisions = self._decisions(
                    [(steps[index][1], mass) for index, mass in here.items()], values[number + 1]
                )
            for index, mass in here.items():
                for share, lead in _followed(steps[index][1], chosen[number][index]):
                    found: dict[Any, Fraction] = masses if isinstance(lead, _Over) else after
                    key = lead.result if isinstance(lead, _Over) else lead
                    found[key] = found.get(key, Fraction(0)) + mass * share
            here = after
        ordered = dict(sorted(masses.items(), key=lambda item: -item[1]))
        states = sum(map(len, layers))
        return SceneBest(values[0][0], ordered, tuple(decisions), states, self.leaves, len(layers))

    def _decisions(self, steps: Sequence[tuple[_Step, Fraction]], after: Sequence[Fraction]) -> list[Decision]:
        """Return the decisions of some turns that come before any other there, the most probable ones first."""
        found = [one for step, mass in steps for one in _first_decisions(_Worth(step, after, self.worth), mass)]
        return sorted(_joined(found), key=lambda one: -one.probability)[:SHOWN]


def _joined(decisions: Sequence[Decision]) -> list[Decision]:
    """Return decisions in which those that are worth the same in every option are one, with the facts they share."""
    found: dict[Hashable, Decision] = {}
    for one in decisions:
        key = one.label, one.who, one.text, tuple(replace(option, outcome="") for option in one.options)
        other = found.get(key)
        if other is not None:
            facts = {name: value for name, value in one.facts.items() if other.facts.get(name) == value}
            words = one.words if one.words == other.words else ""
            options = tuple(
                mine if mine.outcome == its.outcome else replace(mine, outcome="")
                for mine, its in zip(one.options, other.options, strict=True)
            )
            probability = one.probability + other.probability
            one = replace(one, probability=probability, words=words, facts=facts, options=options)
        found[key] = one
    return list(found.values())


class _Over(NamedTuple):
    """A result, at the end."""

    result: Hashable


class _Worth:
    """What the trees of a turn are worth, leaf by leaf in order.

    Attributes:
        picks: of each decision, in order, the number of the option that is worth most.
    """

    def __init__(self, step: _Step, after: Sequence[Fraction], worth: Callable[[Any], Fraction | int]) -> None:
        self.step, self.after, self.worth = step, after, worth
        self.picks: list[int] = []
        self._leaf = 0

    def of(self, tree: Tree) -> Fraction:
        """Return what a tree is worth, and note which options are worth most."""
        from fractions import Fraction

        if isinstance(tree, Leaf):
            lead = self.step.after[self._leaf]
            self._leaf += 1
            return Fraction(self.worth(lead.result)) if isinstance(lead, _Over) else self.after[lead]
        if isinstance(tree, Random):
            values = [(weight, self.of(one)) for weight, one in tree.branches]
            common = lcm(*(value.denominator for _, value in values))
            total = sum(weight * value.numerator * (common // value.denominator) for weight, value in values)
            return Fraction(total, common * tree.total)
        place = len(self.picks)
        self.picks.append(0)
        found = [self.of(one) for _, one in tree.branches]
        best = self.picks[place] = max(range(len(found)), key=found.__getitem__)
        return found[best]


def _followed(step: _Step, picks: Sequence[int]) -> Iterator[tuple[Fraction, Any]]:
    """Yield where the best decisions of a turn lead, with the chances."""
    from fractions import Fraction

    leads, best = iter(step.after), iter(picks)

    def walk(tree: Tree, mass: Fraction) -> Iterator[tuple[Fraction, Any]]:
        if isinstance(tree, Leaf):
            lead = next(leads)
            if mass:
                yield mass, lead
        elif isinstance(tree, Random):
            for weight, one in tree.branches:
                yield from walk(one, mass * Fraction(weight, tree.total))
        else:
            chosen = next(best)
            for number, (_, one) in enumerate(tree.branches):
                yield from walk(one, mass if number == chosen else Fraction(0))

    return walk(step.tree, Fraction(1))


def _first_decisions(worth: _Worth, mass: Fraction) -> list[Decision]:
    """Return the decisions of a turn that come before any other, with what their options are worth."""
    from fractions import Fraction

    found: list[Decision] = []

    def walk(tree: Tree, share: Fraction) -> None:
        if isinstance(tree, Random):
            for weight, one in tree.branches:
                walk(one, share * Fraction(weight, tree.total))
        elif isinstance(tree, Decide):
            asked = tree.question
            texts = {option.name: option.text for option in asked.offered}
            options = [
                OptionValue(name, worth.of(one), texts.get(name, ""), _outcome(one)) for name, one in tree.branches
            ]
            options.sort(key=lambda option: -option.value)
            about = asked.who, asked.words, asked.facts
            found.append(Decision(asked.label, asked.text, share, tuple(options), *about))
        else:
            worth.of(tree)

    walk(worth.step.tree, mass)
    return found


def _outcome(tree: Tree) -> str:
    """Return the outcome that all leaves of a tree come to; empty where they differ, or have none."""
    leaves = _leaves(tree)
    first = next(leaves).outcome
    return first if all(one.outcome == first for one in leaves) else ""


def _leaves(tree: Tree) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    else:
        for _, one in tree.branches:
            yield from _leaves(one)


def _decides(tree: Tree) -> bool:
    if isinstance(tree, Decide):
        return True
    return isinstance(tree, Random) and any(_decides(one) for _, one in tree.branches)
