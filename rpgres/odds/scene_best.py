"""Optimal decisions of one player over a whole scene: backward induction over its positions. Nothing names a ruleset.

Turns become trees of chance and of decisions, the positions are gone through forwards to find them all, and then
backwards, each decision taking what is worth most. That is only right where the one who decides sees all that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rpgres.model.state import EMPTY
from rpgres.odds.decision_trees import (
    Blind,
    Decide,
    Leaf,
    Random,
    Rest,
    Secrets,
    TooLarge,
    Tree,
    endless_scene,
    too_long,
)
from rpgres.odds.exact import Chance, chance_record
from rpgres.odds.explorer import Budget
from rpgres.odds.games import Ahead, Game
from rpgres.odds.nodes import Memo, Node, changed
from rpgres.odds.positions import Parts
from rpgres.odds.scenes import ExactSceneOdds, Undecided
from rpgres.odds.trees import Trees, seat_of

if TYPE_CHECKING:
    from fractions import Fraction

WORK = 1_000_000  # default budget of answers: some 20 seconds
LOOKED = 4  # trees that are looked at take as long as an answer of a path
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
        states: how many distinct states were evaluated.
        leaves: how many paths of single turns were run.
        turns: how many turns the longest evaluated path has.
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


class _Over(NamedTuple):
    """A result, at the end."""

    result: Hashable


class _Timed(Exception):  # it is no fault: the player may still know what the time tells
    """What the player sees stands for several states, unless it tells how many turns were played."""


def scene_best(
    game: Game,
    who: str,
    *,
    worth: Callable[[Any], Fraction | int],
    most: int | None = None,
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = WORK,
) -> SceneBest:
    """Return the odds of a scene when one player decides optimally over all of it.

    Args:
        who: the character, or the seat, that decides optimally; policies decide for the others.
        most: what a result is worth at most; None where that is not known. Who is sure of it need not look further.
        leaves, seconds, work: see `Budget`.

    Raises:
        Undecided: a decision of another player has no answer.
        Blind: one view of the one who decides stands for several states.
        TooLarge: the budget does not suffice: nothing can be said of a part.
        UsageError: a turn is too long.
        RuleError: the ruleset's code failed.
    """
    budget = Budget(leaves, seconds, work=work)
    is_shared, is_timed = True, False
    while True:
        try:
            return _Best(game, who, worth, most, budget, is_shared=is_shared, is_timed=is_timed).run()
        except Secrets:
            is_shared = False
        except _Timed:
            is_timed = True
        except RecursionError:
            raise too_long() from None


class _Turn:
    """A turn whose worth is being worked out.

    Attributes:
        node, time: where it stands, and after how many turns, where that is told apart.
        worth: what its trees are worth, as far as that is known.
        due: positions that have to be known first.
    """

    __slots__ = ("due", "node", "time", "worth")

    def __init__(self, node: Node, time: int, worth: _Worth) -> None:
        self.node, self.time, self.worth = node, time, worth
        self.due: list[Node] = []


class _Best:
    """The positions of a scene, each worked out when another one needs it, with the trees of their turns.

    Args:
        is_shared: see `Trees`.
        is_timed: whether equal positions after another number of turns are told apart.
    """

    def __init__(
        self,
        game: Game,
        who: str,
        worth: Callable[[Any], Fraction | int],
        most: int | None,
        budget: Budget,
        *,
        is_shared: bool,
        is_timed: bool,
    ) -> None:
        self.game, self.who, self.worth, self.most = game, who, worth, most
        self._is_timed = is_timed
        self.parts = Parts(game.canons, forgotten=game.forgotten)
        self.trees = Trees(game, who, self.parts, budget, is_shared=is_shared)
        self._hidden, self.ahead = Memo(), Ahead(game, self.parts)
        self._values: dict[tuple[int, Node], Fraction] = {}
        self._heights: dict[tuple[int, Node], int] = {}  # how many turns there are from there on at most
        self._views: dict[Hashable, Node] = {}

    def run(self) -> SceneBest:
        """Work out the beginning, and then go through what comes of the best decisions."""
        from fractions import Fraction

        start = self._arrived(self.parts.node_of(self.game.start))
        if isinstance(start, _Over):
            value = Fraction(self.worth(start.result))
            return SceneBest(value, {start.result: Fraction(1)}, (), 0, self.trees.leaves, 0)
        value = self._settled(self._turn(start, 0), None)
        masses: dict[Any, Fraction] = {}
        decisions: list[Decision] = []
        here, time = {start: Fraction(1)}, 0
        while here:
            after: dict[Node, Fraction] = {}
            turns = [(self._turn(node, time), mass) for node, mass in here.items()]
            for turn, mass in turns:
                for leaf, share in turn.worth.followed(turn.worth.tree).items():
                    lead = turn.worth.lead(leaf)
                    found: dict[Any, Fraction] = masses if isinstance(lead, _Over) else after
                    key = lead.result if isinstance(lead, _Over) else lead
                    found[key] = found.get(key, Fraction(0)) + mass * share
            if not decisions:
                decisions = self._decisions(turns)
            here, time = after, time + 1
        ordered = dict(sorted(masses.items(), key=lambda item: -item[1]))
        height = self._heights[self.key(start, 0)]
        return SceneBest(value, ordered, tuple(decisions), len(self._values), self.trees.leaves, height)

    def key(self, node: Node, time: int) -> tuple[int, Node]:
        return time if self._is_timed else 0, node

    def value(self, node: Node, time: int) -> Fraction | None:
        """Return what a position is worth; None where that is not known yet."""
        return self._values.get(self.key(node, time))

    def _turn(self, node: Node, time: int) -> _Turn:
        return _Turn(node, time, _Worth(self, node, time))

    def _settled(self, first: _Turn, tree: Tree | None) -> Fraction:
        """Return what a tree of a turn is worth, or the whole turn; all that it needs is worked out before.

        Raises:
            UsageError: a position leads to itself, so there may be no end.
        """
        turns, under_way = [first], {self.key(first.node, first.time)}
        while True:
            turn = turns[-1]
            while turn.due:
                node, time = turn.due.pop(), turn.time + 1
                if self.value(node, time) is None:
                    if self.key(node, time) in under_way:
                        raise endless_scene()
                    under_way.add(self.key(node, time))
                    turn = self._turn(node, time)
                    turns.append(turn)
            value = self._value_of(turn, tree if turn is first else None, turns)
            if value is None:
                continue
            if turn is first and tree is not None:
                return value
            key = self.key(turn.node, turn.time)
            self._values[key] = value
            self._heights[key] = 1 + max([self._heights[one] for one in turn.worth.met], default=0)
            under_way.discard(key)
            turns.pop()
            if not turns:
                return value

    def _value_of(self, turn: _Turn, tree: Tree | None, turns: Sequence[_Turn]) -> Fraction | None:
        """Return what a turn is worth, or a tree of it; None where positions are due before."""
        try:
            before = turn.worth.looked
            value = turn.worth.of(tree if tree is not None else turn.worth.tree, turn.due)
            self.trees.spend(1 + (turn.worth.looked - before) // LOOKED)
            if self.trees.undecided:
                raise Undecided(self.trees.undecided)
        except TooLarge as error:
            trees = self.trees
            error.at, error.leaves, error.turns = self.parts.position(turn.node).at, trees.leaves, len(turns) - 1
            error.states = len(self._values)
            error.decision = next((label for label, _ in trees.decisions.most_common(1)), "")
            raise
        return value

    def led(self, node: Node, leaf: Leaf) -> Node | _Over:
        """Return where an end of a turn leads: a position, or a result."""
        return self._arrived(changed(node, leaf.value.delta))

    def _arrived(self, node: Node) -> Node | _Over:
        """Return a position taken on to what is due next, or the result at the end."""
        delta, is_over = self.ahead.onward(node)
        node = changed(node, delta)
        return _Over(*self.ahead.result(node)) if is_over else node

    def check_view(self, node: Node, time: int) -> None:
        """Make sure that the one who decides in a turn knows in which state."""
        hides: bool | None = self._hidden.find(node, self.parts)
        if hides is None:
            reads = self.parts.reads(node)
            state = self.parts.watched(node, reads).state
            hides = state.seen_by(seat_of(state, self.who)) is not state
            self._hidden.keep(node, reads.parts, hides, self.parts)
        if not hides:
            return
        position = self.parts.position(node)
        state = position.state
        view = time if self._is_timed else 0, state.seen_by(seat_of(state, self.who)), position.at, position.place
        if self._views.setdefault(view, node) == node:
            return
        if not self._is_timed:
            raise _Timed
        raise Blind(
            f"what {self.who} sees stands for several states, so optimal decisions over the whole scene cannot be "
            "computed; use a policy or standing orders"
        )

    def _decisions(self, turns: Sequence[tuple[_Turn, Fraction]]) -> list[Decision]:
        """Return the decisions of some turns that come before any other there, the most probable ones first."""
        found = list[Decision]()
        for turn, mass in turns:
            for share, decide in turn.worth.first_decisions():
                for _, one in decide.branches:
                    self._settled(turn, one)
                found.append(turn.worth.told(decide, mass * share))
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
    """What the trees of a turn are worth, as far as that is known.

    Args:
        best: knows what positions are worth.
        node, time: where the turn begins.

    Attributes:
        looked: how often a tree was looked at whose worth was not known.
        met: the positions that were looked at.
    """

    def __init__(self, best: _Best, node: Node, time: int) -> None:
        self._best, self._node, self._time = best, node, time
        self._known: dict[Tree, Fraction] = {}
        self._chosen: dict[Decide, Tree] = {}
        self._leads: dict[Leaf, Node | _Over] = {}
        self._shares: dict[Tree, dict[Leaf, Fraction]] = {}
        self._is_seen = False
        self.looked = 0
        self.met = set[tuple[int, Node]]()

    @property
    def tree(self) -> Tree:
        """The tree of the whole turn."""
        return self._best.trees.of(self._node)

    def lead(self, leaf: Leaf) -> Node | _Over:
        """Return where an end leads."""
        found = self._leads.get(leaf)
        if found is None:
            found = self._leads[leaf] = self._best.led(self._node, leaf)
        return found

    def _behind(self, rest: Rest) -> Tree:
        return self._best.trees.of(self._node, rest)

    def of(self, tree: Tree, due: list[Node]) -> Fraction | None:
        """Return what a tree is worth; None where that is not known before some positions are.

        Args:
            due: takes these.
        """
        found = self._known.get(tree)
        if found is None:
            self.looked += 1
            if isinstance(tree, Leaf):
                found = self._of_leaf(tree, due)
            elif isinstance(tree, Decide):
                found = self._of_decision(tree, due)
            else:
                found = self._of_random(tree, due)
            if found is not None:
                self._known[tree] = found
        return found

    def _of_leaf(self, leaf: Leaf, due: list[Node]) -> Fraction | None:
        from fractions import Fraction

        if isinstance(leaf.value, Rest):
            return self.of(self._behind(leaf.value), due)
        lead = self.lead(leaf)
        if isinstance(lead, _Over):
            return Fraction(self._best.worth(lead.result))
        value = self._best.value(lead, self._time + 1)
        if value is None:
            due.append(lead)
        else:
            self.met.add(self._best.key(lead, self._time + 1))
        return value

    def _of_decision(self, decide: Decide, due: list[Node]) -> Fraction | None:
        if not self._is_seen:
            self._best.check_view(self._node, self._time)
            self._is_seen = True
        best: Fraction | None = None
        for _, one in decide.branches:
            value = self.of(one, due)
            if value is None:
                return None
            if best is None or value > best:
                best, self._chosen[decide] = value, one
                if best == self._best.most:
                    break
        return best

    def _of_random(self, tree: Random, due: list[Node]) -> Fraction | None:
        from fractions import Fraction

        values = [(weight, self.of(one, due)) for weight, one in tree.branches]
        found = [(weight, value) for weight, value in values if value is not None]
        if len(found) < len(values):
            return None
        common = lcm(*{value.denominator for _, value in found})
        total = sum([weight * value.numerator * (common // value.denominator) for weight, value in found])
        return Fraction(total, common * tree.total)

    def followed(self, tree: Tree) -> dict[Leaf, Fraction]:
        """Return the chances of the ends of a tree with the best decisions, when all that it needs is known."""
        from fractions import Fraction

        found = self._shares.get(tree)
        if found is None:
            self.of(tree, [])
            if isinstance(tree, Leaf):
                found = self.followed(self._behind(tree.value)) if isinstance(tree.value, Rest) else {tree: Fraction(1)}
            elif isinstance(tree, Decide):
                found = self.followed(self._chosen[tree])
            else:
                found = {}
                for weight, one in tree.branches:
                    for leaf, share in self.followed(one).items():
                        found[leaf] = found.get(leaf, Fraction(0)) + share * Fraction(weight, tree.total)
            self._shares[tree] = found
        return found

    def first_decisions(self) -> list[tuple[Fraction, Decide]]:
        """Return the decisions of the turn that come before any other, with their chances."""
        from fractions import Fraction

        found: dict[Decide, Fraction] = {}
        left: list[tuple[Fraction, Tree]] = [(Fraction(1), self.tree)]
        while left:
            share, tree = left.pop()
            if isinstance(tree, Decide):
                found[tree] = found.get(tree, Fraction(0)) + share
            elif isinstance(tree, Random):
                left += [(share * Fraction(weight, tree.total), one) for weight, one in reversed(tree.branches)]
            elif isinstance(tree.value, Rest):
                left.append((share, self._behind(tree.value)))
        return [(share, decide) for decide, share in found.items()]

    def told(self, decide: Decide, probability: Fraction) -> Decision:
        """Return a decision with what its options are worth."""
        asked = decide.question
        texts = {option.name: option.text for option in asked.offered}
        options = [
            OptionValue(name, self._known[one], texts.get(name, ""), self._outcome(one))
            for name, one in decide.branches
        ]
        options.sort(key=lambda option: -option.value)
        return Decision(asked.label, asked.text, probability, tuple(options), asked.who, asked.words, asked.facts)

    def _outcome(self, tree: Tree) -> str:
        """Return the outcome that all ends of a tree come to; empty where they differ, or have none."""
        outcomes, met, left = set[str](), {tree}, [tree]
        while left and len(outcomes) < 2:
            one = left.pop()
            if not isinstance(one, Leaf):
                new = [inner for _, inner in one.branches if inner not in met]
            elif isinstance(one.value, Rest):
                new = [behind] if (behind := self._behind(one.value)) not in met else []
            else:
                new = []
                outcomes.add(one.value.outcome)
            met.update(new)
            left += new
        return outcomes.pop() if len(outcomes) == 1 else ""
