"""Odds of actions with named dice and decisions: a graph of rolls, questions and results, with equal nodes merged.

A node is a chance of other nodes, a question with a node for each option, or a result. Equal nodes are merged, so that
a pool with a decision needs few questions, whatever its size. Of a group of dice only the number of each kind is kept;
`rpgres.engine.named_dice.equivalence` says which dice are of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb, gcd, lcm
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice import Dice, LawSizeError
from rpgres.dice.grammar import Again
from rpgres.dice.groups import Faces, Joining, Vector, both, group_law
from rpgres.dice.readings import JointLaw
from rpgres.engine.decisions import ask
from rpgres.engine.named_dice.equivalence import Equivalence
from rpgres.engine.named_dice.odds import law_faces, law_of
from rpgres.engine.named_dice.play import BoundAction
from rpgres.engine.named_dice.questions import Chosen, Offer, kept
from rpgres.engine.named_dice.readings import evaluator, needed
from rpgres.engine.named_dice.values import Die, Known, Rolled, again_of, as_many, filled, is_pool, plain, roll_count
from rpgres.engine.running import DETAIL
from rpgres.engine.table import Table
from rpgres.errors import called
from rpgres.model.state import Map
from rpgres.rulesets import OUTCOME_ONLY, STATE
from rpgres.rulesets.dice_plans import BAND, OF_AN_OUTCOME, Formula
from rpgres.rulesets.formulas import Const, reduced

MOST_KEPT = 100  # inputs of an action whose paths are kept
MOST_NODES = 200_000  # of one action
MOST_PLACES = 300_000  # that are looked at for them: many may come to one node
MOST_ADDED = 400  # added dice that are followed
LEFT_OPEN = 1e-12  # the greatest chance of more added dice than are followed
HOLDS = (*OUTCOME_ONLY, "margin", "total", STATE)


class Chance(Struct, frozen=True):
    """A roll: the distribution of the nodes after it."""

    law: JointLaw


class Question(Struct, frozen=True):
    """A question: its options, its facts, the node where it is skipped, and the node after each option."""

    label: str
    offers: tuple[Offer, ...]
    facts: Map[str, Any]
    skipped: int
    then: tuple[int, ...]


class End(Struct, frozen=True):
    """A result: the values of names."""

    values: tuple[Any, ...]


Node: TypeAlias = Chance | Question | End
Part = tuple[int, int]  # a weight, and a node
ByGroup = tuple[tuple[str, tuple[Die, ...]], ...]  # dice by group


def evaluated(table: Table, bound: BoundAction) -> tuple[dict[str, Any], tuple[Chosen, ...]]:
    """Return the values of an action's names and the chosen options, in odds."""
    asked, plan = table.run.asked, bound.plan
    if asked.startswith(DETAIL):
        asked = bound.rules.file.actions[bound.action].told[asked.removeprefix(DETAIL)]
        names: tuple[str, ...] = (asked,)
    else:
        names = () if asked == "outcome" else (asked,) if asked in OF_AN_OUTCOME else (*OF_AN_OUTCOME, *plan.wanted)
    base = bound.known((), {})
    names = tuple(dict.fromkeys((BAND, *(name for name in names if name in plan.numbers or name in base))))
    paths = _paths_of(bound, names)
    first = number = paths.start()
    chosen: tuple[Chosen, ...] = ()
    while True:
        node = paths.nodes[number]
        if number != first and not isinstance(node, End):  # an end is merged where it is settled
            table.merge((paths.key, number, chosen), holds=HOLDS)
        match node:
            case Chance():
                (number,) = table.run.dealer.of_law("roll", node.law)
            case Question():
                answer = ask(table.run, bound.question(node.label, node.offers, node.facts))
                number = node.skipped
                for offer, then in zip(node.offers, node.then, strict=True):
                    if offer.answer == answer:
                        number, chosen = then, (*chosen, offer.chosen)
            case End():
                return dict(zip(names, node.values, strict=True)), chosen


def _paths_of(bound: BoundAction, names: tuple[str, ...]) -> Paths:
    """Return the paths of an action with its inputs, cached by everything on which they depend."""
    purse = bound.purse
    costs = ((label, of) for label, ask in purse.asks.items() for one in ask.options.values() for of in one.cost)
    key = bound.action, purse.roles, names, *bound.base.items(), *(purse.left(*one, ()) for one in costs)
    made: dict[Any, Paths] = bound.rules.compiled.setdefault(f"paths:{bound.action}", {})
    if key not in made:
        if len(made) >= MOST_KEPT:
            made.clear()
        made[key] = Paths(bound, names, key)
    return made[key]


def roll_in_odds(table: Table, bound: BoundAction, known: Known, group: str, again: tuple[Die, ...]) -> tuple[Die, ...]:
    """Return the dice of a group in odds: one result for all equivalent ones.

    Args:
        known: the values of names before.
        again: its dice to reroll; none for the first roll, of all of them.
    """
    paths = _paths_of(bound, tuple(bound.names))
    number = roll_count(known.rolled[group]) + 1 if again else 1
    law, total, open_ = paths.law(known, group, number, len(again))
    values: tuple[Any, ...] = tuple(dice for dice, _ in law)
    found: tuple[Die, ...] = table.run.dealer.of_law(
        group, JointLaw(values, tuple(weight for _, weight in law), total, open_)
    )
    return found


class Paths:
    """The paths of an action with its inputs.

    Args:
        bound: the action.
        names: the names whose values are needed.
        key: identifies these paths in a merge.

    Attributes:
        nodes: the nodes, by number.
    """

    def __init__(self, bound: BoundAction, names: tuple[str, ...], key: Any) -> None:
        self.bound, self.names = bound, names
        self.plan = bound.plan
        self.equivalence = Equivalence(bound, names)
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._known: dict[Any, int] = {}
        self._is_fixed = not any(self.equivalence.is_moving(group) for group in self.plan.groups)
        self._of_answers: dict[Any, _Ends] = {}
        self._last: dict[Any, int] = {}
        self._laws: dict[Any, tuple[list[tuple[tuple[Die, ...], int]], int, int]] = {}
        self.key = key

    def start(self) -> int:
        """Return the number of the first node."""
        return self._at(0, (), {})

    def _at(self, place: int, chosen: tuple[Chosen, ...], rolled: Rolled) -> int:
        key = place, _key(chosen), *(rolled.get(group, ()) for group in self.plan.groups)
        found = self._known.get(key)
        if found is None:
            if len(self._known) + len(self._last) >= MOST_PLACES:
                raise _too_many("MOST_PLACES", MOST_PLACES)
            found = self._known[key] = self._made(place, chosen, rolled)
        return found

    def _made(self, place: int, chosen: tuple[Chosen, ...], rolled: Rolled) -> int:
        known = self.bound.known(chosen, rolled)
        if place == len(self.plan.steps):
            return self._ended(chosen, rolled)
        step = self.plan.steps[place]
        if not rolled and not self._may_ask(place, known):
            laws = self.bound.rules.compiled.setdefault(f"laws:{self.bound.action}", {})
            law = law_of(self.plan, known, self.names, laws)
            ends = [(weight, self._node(End(values))) for values, weight in zip(law.values, law.weights, strict=True)]
            return self._chance(ends, law.total, law.open)
        if step in self.plan.groups:
            return self._before_roll(known, step, place + 1, chosen, rolled)
        skipped, offers = self._at(place + 1, chosen, rolled), self.bound.offers(step, known, chosen)
        if not offers:
            return skipped
        then = []
        for offer in offers:
            after = (*chosen, offer.chosen)
            then.append(self._again(offer.again, self.bound.next(place, after), after, rolled))
        offers = tuple(replace(offer, again=()) for offer in offers)  # the nodes after them say so
        return self._node(Question(step, offers, self.bound.facts(step, known), skipped, tuple(then)))

    def _again(self, again: ByGroup, place: int, chosen: tuple[Chosen, ...], rolled: Rolled) -> int:
        """Return the node before a reroll."""
        if place == len(self.plan.steps) and self._is_fixed:
            return self._ended(chosen, rolled, again)
        stay = {**rolled, **{group: kept(rolled[group], dice) for group, dice in again}}
        last = tuple((group, roll_count(rolled[group]) + 1, len(dice)) for group, dice in again)
        key = place, _key(chosen), *last, *(stay.get(group, ()) for group in self.plan.groups)
        if key not in self._last:
            self._last[key] = self._before_reroll(last, place, chosen, stay)
        return self._last[key]

    def _before_reroll(
        self, last: tuple[tuple[str, int, int], ...], place: int, chosen: tuple[Chosen, ...], rolled: Rolled
    ) -> int:
        """Return the node before rerolls: of which group, the number of the roll, and how many dice."""
        if not last:
            return self._at(place, chosen, rolled)
        law, total, open_ = self.law(self.bound.known(chosen, rolled), *last[0])
        parts = []
        for new, weight in law:
            after = {**rolled, last[0][0]: tuple(sorted((*rolled[last[0][0]], *new)))}
            parts.append((weight, self._before_reroll(last[1:], place, chosen, after)))
        return self._chance(parts, total, open_)

    def _before_roll(self, known: Known, group: str, place: int, chosen: tuple[Chosen, ...], rolled: Rolled) -> int:
        """Return the node before the first roll of a group."""
        law, total, open_ = self.law(known, group, 1, 0)
        parts = [(weight, self._at(place, chosen, {**rolled, group: dice})) for dice, weight in law]
        return self._chance(parts, total, open_)

    def law(
        self, known: Known, group: str, number: int, count: int
    ) -> tuple[list[tuple[tuple[Die, ...], int]], int, int]:
        """Return the weights of a roll by kinds of dice, their total, and the weight of what is not followed.

        Args:
            known: the values of names before.
            number: the number of the roll, from 1.
            count: how many dice are rerolled; 0 for the first roll, of all of them.
        """
        dice = filled(known, group)
        if dice is None:
            return [((), 1)], 1, 0
        dice = as_many(dice, group, count) if count else dice
        again = again_of(known, group, dice)
        key = group, number, dice.text, again
        if key not in self._laws:
            self._laws[key] = self._law_of(dice, again, group, number)
        return self._laws[key]

    def _law_of(
        self, dice: Dice, again: Again | None, group: str, number: int
    ) -> tuple[list[tuple[tuple[Die, ...], int]], int, int]:
        kinds: dict[Die | None, int] = {None: -1}

        def kind(die: Die) -> Vector:
            return (kinds.setdefault(self.equivalence.of(group, die._replace(thrown=number)), len(kinds) - 1),)

        rolled = law_faces(dice, again, kind)
        size = len(kinds) - 1
        cap = rolled.count + _more(rolled.count, again, len(rolled.first)) if again is not None else None
        first, added = (
            tuple((weight, tuple(int(one == place) for place in range(size)), more) for weight, (one,), more in of)
            for of in (rolled.first, rolled.added)
        )
        faces = Faces(rolled.count, first, added, rolled.kept)
        law, total = group_law(faces, Joining(("add",) * size, (cap,) * size))
        total += 0 if is_pool(dice) else dice.law.open  # explosions that were not followed
        listed = [one for one in kinds if one is not None]
        found = [
            (tuple(sorted(one for one, many in zip(listed, vector, strict=True) for _ in range(many))), weight)
            for vector, weight in law.items()
            if cap is None or max(vector, default=0) < cap
        ]
        return found, total, total - sum(weight for _, weight in found)

    def _ends(self, chosen: tuple[Chosen, ...]) -> _Ends:
        """Return the results of dice after the last question."""
        key = _key(chosen)
        if key not in self._of_answers:
            self._of_answers[key] = _Ends(self.bound.known(chosen, {}), self.names)
        return self._of_answers[key]

    def _ended(self, chosen: tuple[Chosen, ...], rolled: Rolled, again: ByGroup = ()) -> int:
        """Return the node of a result, or before the last reroll."""
        if not self._is_fixed:
            known = self.bound.known(chosen, rolled)
            return self._node(End(tuple(plain(known[name]) for name in self.names)))
        ends = self._ends(chosen)
        stay, last = dict(rolled), []
        for group, dice in again:
            stay[group] = kept(rolled[group], dice)
            last.append((group, roll_count(rolled[group]) + 1, len(dice)))
        so_far = ends.joined((group, die) for group, dice in stay.items() for die in dice)
        key = _key(chosen), so_far, *last
        if key not in self._last:
            known = self.bound.known(chosen, rolled)
            states, total, open_ = {so_far: 1}, 1, 0
            for one in last:
                law, whole, lost = self.law(known, *one)
                open_ = open_ * whole + lost * (total - open_)
                total, states = total * whole, ends.after(states, one[0], law)
            parts = ((weight, self._node(End(ends.values(vector)))) for vector, weight in states.items())
            self._last[key] = self._chance(parts, total, open_)
        return self._last[key]

    def _may_ask(self, place: int, base: Mapping[str, Any]) -> bool:
        """Tell whether any question can be asked from a step on: its role has a character, its condition may hold."""
        of, purse = evaluator(self.plan, base), self.bound.purse

        def never(formula: Formula) -> bool:
            found = reduced(formula.tree, of)
            return isinstance(found, Const) and not found.value

        def is_unaffordable(label: str, cost: Mapping[str, Formula]) -> bool:
            prices = {one: reduced(much.tree, of) for one, much in cost.items()}
            return any(
                isinstance(its, Const) and isinstance(its.value, int) and its.value > purse.left(label, one, ())
                for one, its in prices.items()
            )

        asks = {label: self.plan.asks[label] for label in self.plan.steps[place:] if label in self.plan.asks}
        return any(
            purse.who(label)
            and not never(ask.when)
            and any(not (never(option.when) or is_unaffordable(label, option.cost)) for option in ask.options.values())
            for label, ask in asks.items()
        )

    # -- nodes

    def _chance(self, parts: Iterable[Part], total: int, open_: int) -> int:
        """Return the node of a chance of others, with chances directly behind it merged into it."""
        masses: dict[int, int] = {}
        for weight, number in parts:
            masses[number] = masses.get(number, 0) + weight
        laws = {number: one.law for number in masses if isinstance(one := self.nodes[number], Chance)}
        scale = lcm(*(law.total for law in laws.values()))
        found: dict[int, int] = {}
        total, open_ = total * scale, open_ * scale
        for number, mass in masses.items():
            law = laws.get(number, JointLaw(((number,),), (1,), 1))
            each = mass * (scale // law.total)
            open_ += each * law.open
            for (reached,), weight in zip(law.values, law.weights, strict=True):
                found[reached] = found.get(reached, 0) + each * weight
        if len(found) == 1 and not open_:
            return next(iter(found))
        common = gcd(total, open_, *found.values())
        values = tuple((number,) for number in found)
        return self._node(
            Chance(JointLaw(values, tuple(one // common for one in found.values()), total // common, open_ // common))
        )

    def _node(self, node: Node) -> int:
        number = self._numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            if number > MOST_NODES:
                raise _too_many("MOST_NODES", MOST_NODES)
        return number


def _too_many(name: str, limit: int) -> LawSizeError:
    return LawSizeError(
        f"these dice and decisions have more than {limit:,} paths; use `{called('simulate')}` instead", limit=name
    )


class _Ends:
    """The results of dice after the last question, where each die contributes whatever the others show.

    Args:
        known: the values of names after the answers.
        names: the names whose values are needed.
    """

    def __init__(self, known: Known, names: tuple[str, ...]) -> None:
        self.known, self.asked = known, names
        self.needs = needed(known.plan, known, names)
        joining = Joining(self.needs.kinds, (None,) * len(self.needs.kinds))
        self.join, self.nothing, self.places = joining.join(), joining.nothing, range(len(self.needs.kinds))
        self._parts: dict[tuple[str, Die], Vector] = {}
        self._values: dict[Vector, tuple[Any, ...]] = {}
        self._base = dict(known)

    def joined(self, dice: Iterable[tuple[str, Die]]) -> Vector:
        """Return the readings of some dice."""
        found = self.nothing
        for one in dice:
            if one not in self._parts:
                self._parts[one] = self.needs.contribution(self.known, *one, self.places)
            found = self.join(found, self._parts[one])
        return found

    def after(
        self, states: Mapping[Vector, int], group: str, law: Iterable[tuple[tuple[Die, ...], int]]
    ) -> dict[Vector, int]:
        """Return states after a roll of a group, by its law."""
        own: dict[Vector, int] = {}
        for dice, weight in law:
            vector = self.joined((group, die) for die in dice)
            own[vector] = own.get(vector, 0) + weight
        return both(states, own, self.join)

    def values(self, vector: Vector) -> tuple[Any, ...]:
        """Return the values of the needed names."""
        if vector not in self._values:
            known = self.needs.values(self._base, vector)
            self._values[vector] = tuple(plain(known[name]) for name in self.asked)
        return self._values[vector]


def _key(chosen: tuple[Chosen, ...]) -> tuple[Any, ...]:
    """Return what later steps need of the answers: how often each was given, its cost, and the last of each label."""
    last = {one.label: one.option for one in chosen}
    return *sorted(chosen), *sorted(last.items())


def _more(count: int, again: Again, faces: int) -> int:
    """Return how many added dice are followed: more of them have a chance below `LEFT_OPEN`."""
    chance = max(len(again.first), len(again.added)) / faces
    more = 1
    while comb(count + more, more) * chance**more > LEFT_OPEN and more < MOST_ADDED:
        more += 1
    return more
