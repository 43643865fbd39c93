"""Odds of actions with named dice in which something is decided: every course of dice and answers, as few as will do.

A course is a node: a chance of other nodes, a question with a node for each answer, or an end. Nodes from which all is
alike are one, so that a pool with a decision is a handful of questions, however many dice there are. Of a group of dice
only the number at each kind of face is kept, faces being of one kind where nothing tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb, gcd, lcm
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice import Dice, LawSizeError
from rpgres.dice.groups import Again, Faces, Joining, Vector, group_law, plain_faces
from rpgres.dice.readings import JointLaw
from rpgres.engine.named_asks import Chosen, Die, Offer, Thrown, kept, question_of, throws
from rpgres.engine.named_dice import Course, Known, again_of, as_many, filled, is_pool, plain
from rpgres.engine.named_kinds import Kinds
from rpgres.engine.named_odds import KINDS, Worked, law_of, told, vector_of
from rpgres.engine.named_readings import needed, worked_out
from rpgres.engine.table import Table
from rpgres.model.state import Map
from rpgres.rulesets import OUTCOME_ONLY, STATE
from rpgres.rulesets.dice_plans import BAND, OF_AN_OUTCOME
from rpgres.rulesets.formulas import Const, Expr, reduced, worker

MOST_KEPT = 100  # inputs of an action whose courses are kept
MOST_NODES = 200_000  # of one action
MOST_BROUGHT = 400  # dice that others bring
LEFT_OPEN = 1e-12  # how likely more dice that others brought may be than are followed
HOLDS = (*OUTCOME_ONLY, "margin", "total", STATE)


class Chance(Struct, frozen=True):
    """Dice: the law of the nodes that they lead to."""

    law: JointLaw


class Question(Struct, frozen=True):
    """A question: what is offered, what it is about, the node where it passes, and that behind each offer."""

    label: str
    offers: tuple[Offer, ...]
    facts: Map[str, Any]
    passed: int
    then: tuple[int, ...]


class End(Struct, frozen=True):
    """What names come to."""

    values: tuple[Any, ...]


Node: TypeAlias = Chance | Question | End
Part = tuple[int, int]  # a weight, and a node
ByGroup = tuple[tuple[str, tuple[Die, ...]], ...]  # dice by group


def weighed(
    table: Table, course: Course, place: int, chosen: tuple[Chosen, ...], thrown: Thrown
) -> tuple[dict[str, Any], tuple[Chosen, ...]]:
    """Return what the names of an action come to, and what was answered, where all results of dice are weighed.

    Args:
        table: where it is played.
        course: the action.
        place: the step at which it is.
        chosen: what was answered before.
        thrown: the dice that lie.
    """
    asked, compiled = table.run.asked, course.compiled
    names = () if asked == "outcome" else (asked,) if asked in OF_AN_OUTCOME else (*OF_AN_OUTCOME, *compiled.wanted)
    base = course.known((), {})
    names = tuple(dict.fromkeys((BAND, *(name for name in names if name in compiled.numbers or name in base))))
    courses = _courses_of(course, names)
    number = courses.start(place, chosen, thrown)
    first = number
    while True:
        node = courses.nodes[number]
        if number != first and not isinstance(node, End):  # which merges where it is settled
            table.merge((courses.key, number, chosen), holds=HOLDS)
        match node:
            case Chance():
                (number,) = table.run.dealer.of_law("roll", node.law)  # type: ignore[attr-defined]
            case Question():
                who = course.purse.who(node.label)
                asks = question_of(course.rules, course.action, node.label, who, node.offers, node.facts)
                answer = table.run.ask(asks)
                number = node.passed
                for offer, then in zip(node.offers, node.then, strict=True):
                    if offer.answer == answer:
                        number, chosen = then, (*chosen, offer.chosen)
            case End():
                return dict(zip(names, node.values, strict=True)), chosen


def _courses_of(course: Course, names: tuple[str, ...]) -> Courses:
    """Return the courses of an action with its inputs; the same again where nothing that matters differs."""
    purse = course.purse
    costs = ((label, of) for label, ask in purse.asks.items() for one in ask.options.values() for of in one.cost)
    key = course.action, purse.roles, names, *course.base.items(), *(purse.left(*one, ()) for one in costs)
    made: dict[Any, Courses] = course.rules.compiled.setdefault(f"courses:{course.action}", {})
    if key not in made:
        if len(made) >= MOST_KEPT:
            made.clear()
        made[key] = Courses(course, names, key)
    return made[key]


def drawn(table: Table, course: Course, known: Known, group: str, again: tuple[Die, ...]) -> tuple[Die, ...]:
    """Return how dice of a group lie, one way for all that are alike, where all results of dice are weighed.

    Args:
        table: where it is played.
        course: the action.
        known: what is known before.
        group: the group.
        again: those of its dice that are thrown again; all for the first time where there are none.
    """
    courses = _courses_of(course, tuple(course.names))
    number = throws(known.thrown[group]) + 1 if again else 1
    law, total, open_ = courses.law(known, group, number, len(again))
    values: tuple[Any, ...] = tuple(dice for dice, _ in law)
    weighed = JointLaw(values, tuple(weight for _, weight in law), total, open_)
    found: tuple[Die, ...] = table.run.dealer.of_law(group, weighed)  # type: ignore[attr-defined]
    return found


class Courses:
    """The courses of an action with its inputs, from any place on.

    Args:
        course: the action.
        names: what is asked for.
        key: what tells these courses from others.

    Attributes:
        nodes: the nodes, by number.
    """

    def __init__(self, course: Course, names: tuple[str, ...], key: Any) -> None:
        self.course, self.names = course, names
        self.plan = course.compiled.plan
        self.kinds = Kinds(course, names)
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._known: dict[Any, int] = {}
        self._is_fixed = not any(self.kinds.is_moving(group) for group in self.plan.groups)
        self._of_answers: dict[Any, _Ends] = {}
        self._last: dict[Any, int] = {}
        self._laws: dict[Any, tuple[list[tuple[tuple[Die, ...], int]], int, int]] = {}
        self.key = key

    def start(self, place: int, chosen: tuple[Chosen, ...], thrown: Thrown) -> int:
        """Return the node of a place of an action with the dice that lie."""
        return self._at(place, chosen, {group: self.kinds.alike(group, dice) for group, dice in thrown.items()})

    def _at(self, place: int, chosen: tuple[Chosen, ...], thrown: Thrown) -> int:
        key = place, _key(chosen), *(thrown.get(group, ()) for group in self.plan.groups)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._worked_out(place, chosen, thrown)
        return found

    def _worked_out(self, place: int, chosen: tuple[Chosen, ...], thrown: Thrown) -> int:
        known = self.course.known(chosen, thrown)
        if place == len(self.plan.steps):
            return self._ended(chosen, thrown)
        step = self.plan.steps[place]
        if not thrown and not self._may_ask(place, known):
            law = law_of(self.course.compiled, known, self.names)
            ends = [(weight, self._node(End(values))) for values, weight in zip(law.values, law.weights, strict=True)]
            return self._chance(ends, law.total, law.open)
        if step in self.plan.groups:
            return self._thrown(known, step, place + 1, chosen, thrown)
        passed, offers = self._at(place + 1, chosen, thrown), self.course.offers(step, known, chosen)
        if not offers:
            return passed
        then = []
        for offer in offers:
            after = (*chosen, offer.chosen)
            then.append(self._again(offer.again, self.course.next(place, after), after, thrown))
        offers = tuple(replace(offer, again=()) for offer in offers)  # told by the courses behind them
        return self._node(Question(step, offers, self.course.facts(step, known), passed, tuple(then)))

    def _again(self, again: ByGroup, place: int, chosen: tuple[Chosen, ...], thrown: Thrown) -> int:
        """Return the node behind dice that are thrown again."""
        if place == len(self.plan.steps) and self._is_fixed:
            return self._ended(chosen, thrown, again)
        stay = {**thrown, **{group: kept(thrown[group], dice) for group, dice in again}}
        last = tuple((group, throws(thrown[group]) + 1, len(dice)) for group, dice in again)
        key = place, _key(chosen), *last, *(stay.get(group, ()) for group in self.plan.groups)
        if key not in self._last:
            self._last[key] = self._rethrown(last, place, chosen, stay)
        return self._last[key]

    def _rethrown(
        self, last: tuple[tuple[str, int, int], ...], place: int, chosen: tuple[Chosen, ...], thrown: Thrown
    ) -> int:
        """Return the node before dice of some groups are thrown again: group, in which throw, and how many."""
        if not last:
            return self._at(place, chosen, thrown)
        law, total, open_ = self.law(self.course.known(chosen, thrown), *last[0])
        parts = []
        for new, weight in law:
            after = {**thrown, last[0][0]: tuple(sorted((*thrown[last[0][0]], *new)))}
            parts.append((weight, self._rethrown(last[1:], place, chosen, after)))
        return self._chance(parts, total, open_)

    def _thrown(self, known: Known, group: str, place: int, chosen: tuple[Chosen, ...], thrown: Thrown) -> int:
        """Return the node before a group is thrown."""
        law, total, open_ = self.law(known, group, 1, 0)
        parts = [(weight, self._at(place, chosen, {**thrown, group: dice})) for dice, weight in law]
        return self._chance(parts, total, open_)

    def law(
        self, known: Known, group: str, number: int, count: int
    ) -> tuple[list[tuple[tuple[Die, ...], int]], int, int]:
        """Return how likely dice of a group are to lie, by what they are alike to; the weight of all, and what is open.

        Args:
            known: what is known before.
            group: the group.
            number: in which throw they fall.
            count: how many of them are thrown again; 0 for all of them, thrown for the first time.
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
        pool = dice.pools[0] if is_pool(dice) else None
        shown = plain_faces(pool) if pool is not None else tuple(dice.law.items())
        count = pool.count if pool is not None else 1
        kinds: dict[Die | None, int] = {None: -1}

        def kind(face: int, *, is_first: bool) -> int:
            return kinds.setdefault(self.kinds.of(group, Die(face, is_first, number)), len(kinds) - 1)

        first = [
            (weight, kind(face, is_first=True), again is not None and face in again.first) for face, weight in shown
        ]
        added = [(weight, kind(face, is_first=False), face in again.added) for face, weight in shown] if again else []
        size, cap = len(kinds) - 1, count + _more(count, again, len(shown)) if again is not None else None

        def faces(of: list[tuple[int, int, bool]]) -> tuple[tuple[int, tuple[int, ...], bool], ...]:
            return tuple((weight, tuple(int(one == place) for place in range(size)), more) for weight, one, more in of)

        keep = pool.kept if pool is not None and pool.keep else None
        law, total = group_law(Faces(count, faces(first), faces(added), keep), Joining(("add",) * size, (cap,) * size))
        total += 0 if is_pool(dice) else dice.law.open  # explosions that were not followed
        listed = [one for one in kinds if one is not None]
        found = [
            (tuple(sorted(one for one, many in zip(listed, vector, strict=True) for _ in range(many))), weight)
            for vector, weight in law.items()
            if cap is None or max(vector, default=0) < cap
        ]
        return found, total, total - sum(weight for _, weight in found)

    def _ends(self, chosen: tuple[Chosen, ...]) -> _Ends:
        """Return what dice come to after some answers, when nothing is asked any more."""
        key = _key(chosen)
        if key not in self._of_answers:
            self._of_answers[key] = _Ends(self.course.known(chosen, {}), self.names)
        return self._of_answers[key]

    def _ended(self, chosen: tuple[Chosen, ...], thrown: Thrown, again: ByGroup = ()) -> int:
        """Return the node at the end, or before dice that are thrown again for the last time."""
        if not self._is_fixed:
            known = self.course.known(chosen, thrown)
            return self._node(End(tuple(plain(known[name]) for name in self.names)))
        ends = self._ends(chosen)
        stay, last = dict(thrown), []
        for group, dice in again:
            stay[group] = kept(thrown[group], dice)
            last.append((group, throws(thrown[group]) + 1, len(dice)))
        so_far = ends.joined((group, die) for group, dice in stay.items() for die in dice)
        key = _key(chosen), so_far, *last
        if key not in self._last:
            known = self.course.known(chosen, thrown)
            states, total, open_ = {so_far: 1}, 1, 0
            for one in last:
                law, whole, lost = self.law(known, *one)
                open_ = open_ * whole + lost * (total - open_)
                total, states = total * whole, ends.after(states, one[0], law)
            parts = ((weight, self._node(End(ends.values(vector)))) for vector, weight in states.items())
            self._last[key] = self._chance(parts, total, open_)
        return self._last[key]

    def _may_ask(self, place: int, base: Mapping[str, Any]) -> bool:
        """Tell whether anything may be asked from a place on: somebody is there, and no condition rules it out."""
        of, purse = worked_out(self.plan, base), self.course.purse

        def never(expr: Expr) -> bool:
            found = reduced(expr, of)
            return isinstance(found, Const) and not found.value

        def is_dear(label: str, cost: Mapping[str, Expr]) -> bool:
            prices = {one: reduced(much, of) for one, much in cost.items()}
            return any(
                isinstance(its, Const) and isinstance(its.value, int) and its.value > purse.left(label, one, ())
                for one, its in prices.items()
            )

        asks = {label: self.plan.asks[label] for label in self.plan.steps[place:] if label in self.plan.asks}
        return any(
            purse.who(label)
            and not never(ask.when)
            and any(not (never(option.when) or is_dear(label, option.cost)) for option in ask.options.values())
            for label, ask in asks.items()
        )

    # -- nodes

    def _chance(self, parts: Iterable[Part], total: int, open_: int) -> int:
        """Return the node of a chance of others; the chances behind it are its own."""
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
                raise LawSizeError(
                    "these dice and answers come to too many courses (limit MOST_NODES); roll them many times instead",
                    limit="MOST_NODES",
                )
        return number


class _Ends:
    """What dice come to when nothing is asked any more, by what is read off them, each die whatever the others show.

    Args:
        known: what is known of the answers.
        names: what is asked for.
    """

    def __init__(self, known: Known, names: tuple[str, ...]) -> None:
        plan = known.compiled.plan
        needs = needed(plan, known, names)
        self.known, self.asked, self.names = known, names, tuple(needs.readings)
        self.terms, reads = tuple(needs.readings.values()), plan.reads
        self.kinds = tuple(KINDS[reads[terms[0][0]].kind] for terms in self.terms)
        self.workers = {name: worker(expr) for name, expr in needs.numbers.items()}
        joining = Joining(self.kinds, (None,) * len(self.kinds))
        self.join, self.nothing = joining.join(), joining.nothing
        self._brought: dict[tuple[str, Die], Vector] = {}
        self._values: dict[Vector, tuple[Any, ...]] = {}
        self._base = dict(known)

    def joined(self, dice: Iterable[tuple[str, Die]], start: Vector | None = None) -> Vector:
        """Return what is read off some dice."""
        found = self.nothing if start is None else start
        for one in dice:
            if one not in self._brought:
                self._brought[one] = vector_of(self.known, *one, self.terms, self.kinds)
            found = self.join(found, self._brought[one])
        return found

    def after(
        self, states: Mapping[Vector, int], group: str, law: Iterable[tuple[tuple[Die, ...], int]]
    ) -> dict[Vector, int]:
        """Return states with dice of a group that are thrown, by their law."""
        own: dict[Vector, int] = {}
        for dice, weight in law:
            vector = self.joined((group, die) for die in dice)
            own[vector] = own.get(vector, 0) + weight
        found: dict[Vector, int] = {}
        for so_far, weight in states.items():
            for vector, times in own.items():
                key = self.join(so_far, vector)
                found[key] = found.get(key, 0) + weight * times
        return found

    def values(self, vector: Vector) -> tuple[Any, ...]:
        """Return what the names that are asked for come to."""
        if vector not in self._values:
            known = Worked(self.workers, self._base)
            known.update(zip(self.names, map(told, vector), strict=True))
            self._values[vector] = tuple(plain(known[name]) for name in self.asked)
        return self._values[vector]


def _key(chosen: tuple[Chosen, ...]) -> tuple[Any, ...]:
    """Return what of the answers matters later: how often each was given, at what cost, and the last of each label."""
    last = {one.label: one.option for one in chosen}
    return *sorted(chosen), *sorted(last.items())


def _more(count: int, again: Again, faces: int) -> int:
    """Return how many dice that others bring are followed: so many that hardly ever there are more."""
    chance = max(len(again.first), len(again.added)) / faces
    more = 1
    while comb(count + more, more) * chance**more > LEFT_OPEN and more < MOST_BROUGHT:
        more += 1
    return more
