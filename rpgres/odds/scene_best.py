"""Optimal decisions of one player over a whole scene: backward induction over its standings. Nothing names a ruleset.

Turns become trees of chance and of decisions, the standings are gone through forwards to find them all, and then
backwards, each decision taking what is worth most. That is only right where the one who decides sees all that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rpgres.model.state import EMPTY
from rpgres.odds.courses import Ahead, Course
from rpgres.odds.exact import Chance, chance_record
from rpgres.odds.explorer import Budget
from rpgres.odds.nodes import Memo, Node, changed
from rpgres.odds.scenes import ExactSceneOdds, Undecided
from rpgres.odds.standings import Parts
from rpgres.odds.trees import (
    Blind,
    Decide,
    Leaf,
    TooLarge,
    Tree,
    Trees,
    first_decisions,
    has_decision,
    leaves_of,
    seat_of,
    too_long,
)

if TYPE_CHECKING:
    from fractions import Fraction

WORK = 1_000_000  # default budget of answers: some 20 seconds
SHOWN = 5  # first decisions that are told, the most probable ones


class OptionValue(msgspec.Struct, frozen=True):
    """What an option of a decision is worth: the chance of the goal, or the mean, with optimal decisions afterwards.

    Attributes:
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


class _Step(NamedTuple):
    """A standing with the tree of its turn, and where each end of that leads."""

    tree: Tree
    after: dict[Leaf, Any]  # numbers of standings of the next layer, or results


class _Over(NamedTuple):
    """A result, at the end."""

    result: Hashable


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
        who: the character, or the seat, that decides optimally; policies decide for the others.
        leaves, seconds, work: see `Budget`.

    Raises:
        Undecided: a decision of another player has no answer.
        Blind: one view of the one who decides stands for several states.
        TooLarge: the budget does not suffice: nothing can be said of a part.
        UsageError: a turn is too long.
        RuleError: the ruleset's code failed.
    """
    try:
        return _Best(course, who, worth, Budget(leaves, seconds, work=work)).run()
    except RecursionError:
        raise too_long() from None


class _Best:
    """The standings of a scene, layer by layer, with the trees of their turns."""

    def __init__(
        self,
        course: Course,
        who: str,
        worth: Callable[[Any], Fraction | int],
        budget: Budget,
    ) -> None:
        self.course, self.who, self.worth = course, who, worth
        self.parts = Parts(course.canons, forgotten=course.forgotten)
        self.trees = Trees(course, who, self.parts, budget)
        self.hidden, self.ahead = Memo(), Ahead(course, self.parts)

    def run(self) -> SceneBest:
        """Go through all standings forwards, then backwards."""
        layers: list[list[_Step]] = []
        start = self._arrived(self.parts.node_of(self.course.start))
        layer: dict[Node, int] = {} if isinstance(start, _Over) else {start: 0}
        while layer:
            steps, after = list[_Step](), dict[Node, int]()
            views = dict[Hashable, Node]()
            for node in layer:
                try:
                    self.trees.spend(1)
                    tree = self.trees.of(node)
                except TooLarge as error:
                    self._tell(error, node, layers, steps)
                    raise
                self._check_view(node, tree, views)
                steps.append(_Step(tree, {leaf: self._lead(node, leaf, after) for leaf in leaves_of(tree)}))
            if self.trees.undecided:
                raise Undecided(self.trees.undecided)
            layers.append(steps)
            layer = after
        if isinstance(start, _Over):
            from fractions import Fraction

            value = Fraction(self.worth(start.result))
            return SceneBest(value, {start.result: Fraction(1)}, (), 0, self.trees.leaves, 0)
        return self._backwards(layers)

    def _tell(self, error: TooLarge, node: Node, layers: Sequence[Sequence[_Step]], steps: Sequence[_Step]) -> None:
        """Add to an error how far it came."""
        trees = self.trees
        error.at, error.leaves, error.turns = self.parts.standing(node).at, trees.leaves, len(layers)
        error.states = sum(map(len, layers)) + len(steps)
        error.decision = next((label for label, _ in trees.decisions.most_common(1)), "")

    def _lead(self, node: Node, leaf: Leaf, after: dict[Node, int]) -> int | _Over:
        """Return where an end of a turn leads: the number of a standing of the next layer, or a result."""
        arrived = self._arrived(changed(node, leaf.value.delta))
        return arrived if isinstance(arrived, _Over) else after.setdefault(arrived, len(after))

    def _arrived(self, node: Node) -> Node | _Over:
        """Return a standing taken on to what is due next, or the result at the end."""
        delta, is_over = self.ahead.onward(node)
        node = changed(node, delta)
        return _Over(*self.ahead.result(node)) if is_over else node

    def _check_view(self, node: Node, tree: Tree, views: dict[Hashable, Node]) -> None:
        """Make sure that the one who decides in a turn knows in which state."""
        if not has_decision(tree):
            return
        hides: bool | None = self.hidden.find(node, self.parts)
        if hides is None:
            reads = self.parts.reads(node)
            state = self.parts.watched(node, reads).state
            hides = state.seen_by(seat_of(state, self.who)) is not state
            self.hidden.keep(node, reads.parts, hides, self.parts)
        if not hides:
            return
        standing = self.parts.standing(node)
        state = standing.state
        view = state.seen_by(seat_of(state, self.who)), standing.at, standing.place
        if views.setdefault(view, node) != node:
            raise Blind(
                f"what {self.who} sees stands for several states, so optimal decisions over the whole scene cannot be "
                "computed; use a policy or standing orders"
            )

    # -- backwards, and forwards again

    def _backwards(self, layers: list[list[_Step]]) -> SceneBest:
        from fractions import Fraction

        values: list[list[Fraction]] = [[]]  # by layer, the last one first; behind the last there is nothing
        for steps in reversed(layers):
            values.append([_Worth(step, values[-1], self.worth).of(step.tree) for step in steps])
        values.reverse()
        masses: dict[Any, Fraction] = {}
        decisions: list[Decision] = []
        here = {0: Fraction(1)}
        for number, steps in enumerate(layers):
            after: dict[int, Fraction] = {}
            for index, mass in here.items():
                worth = _Worth(steps[index], values[number + 1], self.worth)
                for leaf, share in worth.followed(steps[index].tree).items():
                    lead = steps[index].after[leaf]
                    found: dict[Any, Fraction] = masses if isinstance(lead, _Over) else after
                    key = lead.result if isinstance(lead, _Over) else lead
                    found[key] = found.get(key, Fraction(0)) + mass * share
            if not decisions:
                decisions = self._decisions([(steps[index], mass) for index, mass in here.items()], values[number + 1])
            here = after
        ordered = dict(sorted(masses.items(), key=lambda item: -item[1]))
        states = sum(map(len, layers))
        return SceneBest(values[0][0], ordered, tuple(decisions), states, self.trees.leaves, len(layers))

    def _decisions(self, steps: Sequence[tuple[_Step, Fraction]], after: Sequence[Fraction]) -> list[Decision]:
        """Return the decisions of some turns that come before any other there, the most probable ones first."""
        found = [
            _Worth(step, after, self.worth).told(decide, mass * share)
            for step, mass in steps
            for share, decide in first_decisions(step.tree)
        ]
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


class _Worth:
    """What the trees of a turn are worth."""

    def __init__(self, step: _Step, after: Sequence[Fraction], worth: Callable[[Any], Fraction | int]) -> None:
        from fractions import Fraction

        self._known: dict[Tree, Fraction] = {
            leaf: Fraction(worth(lead.result)) if isinstance(lead, _Over) else after[lead]
            for leaf, lead in step.after.items()
        }
        self._shares: dict[Tree, dict[Leaf, Fraction]] = {}

    def of(self, tree: Tree) -> Fraction:
        """Return what a tree is worth."""
        from fractions import Fraction

        found = self._known.get(tree)
        if found is None:
            assert not isinstance(tree, Leaf)
            if isinstance(tree, Decide):
                found = max([self.of(one) for _, one in tree.branches])
            else:
                values = [(weight, self.of(one)) for weight, one in tree.branches]
                common = lcm(*{value.denominator for _, value in values})
                total = sum([weight * value.numerator * (common // value.denominator) for weight, value in values])
                found = Fraction(total, common * tree.total)
            self._known[tree] = found
        return found

    def followed(self, tree: Tree) -> dict[Leaf, Fraction]:
        """Return the chances of the ends of a tree with the best decisions."""
        from fractions import Fraction

        if isinstance(tree, Leaf):
            return {tree: Fraction(1)}
        found = self._shares.get(tree)
        if found is None:
            if isinstance(tree, Decide):
                found = self.followed(max([one for _, one in tree.branches], key=self.of))
            else:
                found = {}
                for weight, one in tree.branches:
                    for leaf, share in self.followed(one).items():
                        found[leaf] = found.get(leaf, Fraction(0)) + share * Fraction(weight, tree.total)
            self._shares[tree] = found
        return found

    def told(self, decide: Decide, probability: Fraction) -> Decision:
        """Return a decision with what its options are worth."""
        asked = decide.question
        texts = {option.name: option.text for option in asked.offered}
        options = [OptionValue(name, self.of(one), texts.get(name, ""), _outcome(one)) for name, one in decide.branches]
        options.sort(key=lambda option: -option.value)
        return Decision(asked.label, asked.text, probability, tuple(options), asked.who, asked.words, asked.facts)


def _outcome(tree: Tree) -> str:
    """Return the outcome that all ends of a tree come to; empty where they differ, or have none."""
    outcomes = {leaf.value.outcome for leaf in leaves_of(tree)}
    return outcomes.pop() if len(outcomes) == 1 else ""
