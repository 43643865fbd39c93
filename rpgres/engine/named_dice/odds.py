"""The exact distribution of an action with named dice, as one question with weights.

Groups are evaluated one by one; a state is the vector of the readings so far. A large sum or count stays at a cap: its
possible values are then a span, and the cap is high enough where the result is the same for all of the span. Caps for
which it is not are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, lcm
from typing import Any

from msgspec.structs import replace

from rpgres.dice import Dice, LawSizeError
from rpgres.dice.distributions import EXPLOSION_OPEN
from rpgres.dice.grammar import Again
from rpgres.dice.groups import HIGHEST, Faces, Joining, Law, Vector, group_law, plain_faces
from rpgres.dice.readings import JointLaw
from rpgres.engine.named_dice.law_inputs import LawInputs, law_inputs
from rpgres.engine.named_dice.readings import Values, finite, needed
from rpgres.engine.named_dice.values import Die, Known, again_of, filled, is_pool, plain
from rpgres.errors import RuleError, called
from rpgres.model.state import EMPTY
from rpgres.rulesets.dice_plans import DicePlan
from rpgres.rulesets.spans import ANY, Span, span_of, within

FIRST_CAP = 1
GROWTH = 2
MOST_STEP = 1 << 12  # the farthest that a higher cap is searched
MOST_WHOLE = 400  # readings with a maximum up to this are followed to it
MOST_BLAMED = 40  # states without a result that are examined before caps grow
MOST_STATES = 200_000  # of one law
MOST_LAWS = 2_000  # of one action that are kept


def law_of(
    plan: DicePlan, base: Mapping[str, Any], names: tuple[str, ...], laws: dict[LawInputs, JointLaw] | None = None
) -> JointLaw:
    """Return the law of some names of an action without questions.

    Args:
        base: the values of names before the roll.
        laws: those of the same action that are known already: a scene asks for one again with other values of no
            consequence, such as more armies than dice.

    Raises:
        LawSizeError: it would take too much work.
    """
    inputs = law_inputs(plan, base, names)
    if laws is None:
        return LawBuilder(inputs).law()
    found = laws.get(inputs)
    if found is None:
        if len(laws) >= MOST_LAWS:
            laws.clear()
        found = laws[inputs] = LawBuilder(inputs).law()
    return found


class LawBuilder:
    """Computes a law from its inputs, and from nothing else.

    Attributes:
        plan: the plan of what is needed.
        needs: the needed readings and numbers.
        kinds: of each reading, how dice are joined: add, max or min.
        caps: of each, where it stays.
        most: of each, its maximum; infinite where added dice have no bound.
        slack: of each, how far dice can lower it again after it reached its cap.
        highs, falls: the same by group and reading.
    """

    def __init__(self, inputs: LawInputs) -> None:
        self.plan, self.asked = plan, asked = inputs.plan(), inputs.asked
        self.needs = needs = needed(plan, EMPTY, asked)
        self.kinds = needs.kinds
        self.groups = tuple({group for slot, _ in terms for group in plan.reads[slot].groups} for terms in needs.terms)
        self.caps: list[int] = [HIGHEST if name in needs.exact else FIRST_CAP for name in needs.names]
        self.highs: dict[tuple[str, int], float] = {}
        self.falls: dict[tuple[str, int], int] = {}
        self.beyond: dict[int, int] = {}  # of the highest and lowest, from where on explosions may be more
        self.changing: set[int] = set()  # readings that are not constant
        self.most: list[float] = []
        self.slack: list[int] = []

    def law(self) -> JointLaw:
        while True:
            states, total = self._states()
            if self._settle_constants():
                continue
            found: dict[tuple[Any, ...], int] = {}
            open_, unanswered = 0, list[Vector]()
            lost = total - sum(states.values())  # explosions that were not followed
            for vector, weight in states.items():
                key = self._answer(vector)
                if key is None:
                    open_ += weight
                    unanswered.append(vector)
                else:
                    found[key] = found.get(key, 0) + weight
            is_little = open_ * EXPLOSION_OPEN < total and not self._can_be_whole(unanswered)
            if is_little or not self._grow(unanswered):
                return JointLaw(tuple(found), tuple(found.values()), total, open_ + lost)

    def _settle_constants(self) -> bool:
        """Raise the caps of constant readings, and tell whether there were any."""
        low = [
            place
            for place, kind in enumerate(self.kinds)
            if kind == "add" and place not in self.changing and self.caps[place] < self.most[place] < inf
        ]
        for place in low:
            self.caps[place] = int(self.most[place])
        return bool(low)

    def _can_be_whole(self, unanswered: list[Vector]) -> bool:
        """Tell whether higher caps would leave nothing open: where the readings in question are bounded."""
        return bool(unanswered) and all(
            self.most[place] < MOST_WHOLE for vector in unanswered[:MOST_BLAMED] for place in self._blamed(vector)
        )

    def _grow(self, unanswered: list[Vector]) -> bool:
        """Raise the caps of states without a result, to the lowest cap with one as far as that is known.

        Returns:
            Whether there is one to raise.
        """
        wanted: dict[int, int] = {}
        for vector in unanswered[:: max(1, len(unanswered) // MOST_BLAMED)]:
            for place in (place for place in self._blamed(vector) if self.kinds[place] == "add"):
                wanted[place] = max(wanted.get(place, 0), self._enough(vector, place))
        for place, cap in wanted.items():
            self.caps[place] = int(min(cap + self.slack[place], self.most[place] + self.slack[place]))
        return bool(wanted)

    def _enough(self, vector: Vector, place: int) -> int:
        """Return the lowest cap of one reading with which a state has a result."""
        low = max(vector[place], self.caps[place] - self.slack[place])

        def is_enough(cap: int) -> bool:
            return self._is_answered((*vector[:place], cap, *vector[place + 1 :]), [place])

        step = 1
        while not is_enough(low + step):
            step *= 2
            if step > MOST_STEP:
                return max(low + 1, self.caps[place]) * GROWTH
        while step > 1:  # between the half, which is not enough, and all of it
            step //= 2
            low += 0 if is_enough(low + step) else step
        return low + 1

    # -- the states

    def _states(self) -> tuple[dict[Vector, int], int]:
        plan, nothing = self.plan, Joining(self.kinds, ()).nothing
        self.highs.clear()
        self.falls.clear()
        self.beyond.clear()
        states, total = {nothing: 1}, 1
        done = set[str]()
        for group in plan.stages:
            places = tuple(place for place, groups in enumerate(self.groups) if group in groups)
            if not places:  # no needed value depends on it
                done.add(group)
                continue
            depends = not plan.before(group).isdisjoint(done)
            known = [place for place, groups in enumerate(self.groups) if groups <= done]
            laws: dict[Vector, Law] = {}
            if not depends:
                one = self.law_of_group(group, places, self.known(nothing, ()))
                laws = dict.fromkeys(states, one)
            else:
                for vector in states:
                    laws[vector] = self.law_of_group(group, places, self.known(vector, known))
            states, total = self._joined(states, total, laws)
            done.add(group)
            if len(states) > MOST_STATES:
                raise LawSizeError(
                    f"these dice have more than {MOST_STATES:,} different results; use `{called('simulate')}` instead",
                    limit="MOST_STATES",
                )
        every = range(len(self.kinds))
        self.most = [sum(high for (_, one), high in self.highs.items() if one == place) for place in every]
        self.slack = [sum(fall for (_, one), fall in self.falls.items() if one == place) for place in every]
        return states, total

    def known(self, vector: Vector, places: Any) -> Known:
        known = Known(self.plan, EMPTY, {})
        for place in places:
            known[self.needs.names[place]] = finite(vector[place])
        return known

    def law_of_group(self, group: str, places: tuple[int, ...], known: Known) -> Law:
        """Return the law of the readings of one group."""
        dice = filled(known, group)
        if dice is None:
            return {Joining(self.kinds, ()).nothing: 1}, 1
        faces = self._faces(group, places, known, dice)
        lost = 0 if is_pool(dice) else dice.law.open
        beyond = self._beyond(group, places, dice) if lost else None
        if beyond is not None:
            faces, lost = replace(faces, first=(*faces.first, (lost, beyond, False))), 0
            self.highs.update(dict.fromkeys(((group, place) for place in places), inf))
            for place, least in zip(places, beyond, strict=True):
                self.beyond[place] = min(least, self.beyond.get(place, least))
        constant = _constant(faces, tuple(self.kinds[place] for place in places))
        varying = tuple(number for number, value in enumerate(constant) if value is None)
        self.changing.update(places[number] for number in varying)
        joining = Joining(
            tuple(self.kinds[places[number]] for number in varying), self._caps(tuple(places[one] for one in varying))
        )
        inner, total = group_law(_only(faces, varying), joining)
        total += lost
        whole = list(Joining(self.kinds, ()).nothing)
        for place, value, cap in zip(places, constant, self._caps(places), strict=True):
            if value is not None:
                whole[place] = value if cap is None else min(value, cap)
        found: dict[Vector, int] = {}
        for vector, weight in inner.items():
            for number, value in zip(varying, vector, strict=True):
                whole[places[number]] = value
            found[tuple(whole)] = weight
        return found, total

    def _caps(self, places: tuple[int, ...]) -> tuple[int | None, ...]:
        return tuple(self.caps[place] if self.kinds[place] == "add" else None for place in places)

    def _faces(self, group: str, places: tuple[int, ...], known: Known, dice: Dice) -> Faces:
        """Return the dice of a group with what each face contributes to the readings."""
        again, contribution = again_of(known, group, dice), self.needs.contribution
        faces = law_faces(dice, again, lambda die: contribution(known, group, die, places))
        for number, place in enumerate(places):
            if self.kinds[place] == "add":
                self._note(group, place, number, faces)
        return faces

    def _beyond(self, group: str, places: tuple[int, ...], dice: Dice) -> Vector | None:
        """Return what explosions that are not followed contribute at least; None where that says too little.

        For sums it suffices where they stay at a cap which this much reaches.
        """
        least, reads, found = dice.law.above, self.plan.reads, []
        if least is None or least < 0 or self.plan.groups[group].worth is not None:
            return None
        for place in places:
            terms = [(slot, factor) for slot, factor in self.needs.terms[place] if group in reads[slot].groups]
            if any(reads[slot].kind == "count" or reads[slot].of is not None or factor < 0 for slot, factor in terms):
                return None
            found.append(least * sum(factor for _, factor in terms))
            if self.kinds[place] == "add" and found[-1] < self.caps[place]:
                return None
        return tuple(found)

    def _note(self, group: str, place: int, number: int, faces: Faces) -> None:
        """Record how far a reading can rise and fall by a group, in whose vectors it has a number."""
        more = [vector[number] for _, vector, _ in faces.added]
        going_on = [vector[number] for _, vector, goes_on in (*faces.first, *faces.added) if goes_on]
        if min(going_on, default=0) < 0:
            raise RuleError("the worth of dice that add others may not be below 0, or sums are unbounded")
        is_endless = any(goes_on and vector[number] > 0 for _, vector, goes_on in faces.added)
        most = max(vector[number] + (max(0, *more) if goes_on else 0) for _, vector, goes_on in faces.first)
        high = inf if is_endless and going_on else faces.count * max(most, 0)
        fall = faces.count * max(0, -min(vector[number] for _, vector, _ in (*faces.first, *faces.added)))
        self.highs[group, place] = max(self.highs.get((group, place), 0), high)
        self.falls[group, place] = max(self.falls.get((group, place), 0), fall)

    def _joined(self, states: dict[Vector, int], total: int, laws: dict[Vector, Law]) -> tuple[dict[Vector, int], int]:
        """Return the states joined with those of one more group."""
        join = Joining(self.kinds, self._caps(tuple(range(len(self.kinds))))).join()
        scale = lcm(*{total for _, total in laws.values()})
        found: dict[Vector, int] = {}
        for so_far, weight in states.items():
            law, own = laws[so_far]
            times = weight * (scale // own)
            for vector, chance in law.items():
                key = join(so_far, vector)
                found[key] = found.get(key, 0) + times * chance
        return found, total * scale

    # -- results

    def values(self, vector: Vector, more: Mapping[str, Any]) -> Values:
        """Return the values of names in a state, with those of names that were not known before."""
        return self.needs.values(more, vector)

    def _stuck(self, vector: Vector) -> list[int]:
        """Return the readings of a state that are at their caps, and may be higher."""
        return [place for place, value in enumerate(vector) if self._may_be_higher(place, value)]

    def _may_be_higher(self, place: int, value: int) -> bool:
        if self.kinds[place] != "add":
            return self.beyond.get(place, HIGHEST) <= value < HIGHEST
        cap = self.caps[place] - self.slack[place]
        return value >= cap and self.most[place] > cap

    def _blamed(self, vector: Vector) -> list[int]:
        """Return the readings because of which a state has no result: those that suffice alone, else all capped."""
        stuck = self._stuck(vector)
        alone = [place for place in stuck if not self._is_answered(vector, [place])]
        return alone or stuck

    def _is_answered(self, vector: Vector, stuck: list[int]) -> bool:
        spans = _Spans(self, vector, stuck)
        return all(spans[name].is_certain for name in self.asked)

    def _answer(self, vector: Vector) -> tuple[Any, ...] | None:
        """Return the result of a state; None where readings at their caps leave it open."""
        stuck = self._stuck(vector)
        if not stuck:
            known = self.values(vector, EMPTY)
            return tuple(plain(known[name]) for name in self.asked)
        spans = _Spans(self, vector, stuck)
        found = [spans[name] for name in self.asked]
        if all(span.is_certain for span in found):
            return tuple(span.value for span in found)
        return None


def law_faces(dice: Dice, again: Again | None, vector: Callable[[Die], Vector]) -> Faces:
    """Return the dice of a group as their law needs them.

    Args:
        dice: the dice; those that are no pool are one die with their totals for faces.
        again: which faces add a die; None where none does.
    """
    pool = dice.pools[0] if is_pool(dice) else None
    shown = plain_faces(pool) if pool is not None else tuple(dice.law.items())
    first = tuple((weight, vector(Die(face)), again is not None and face in again.first) for face, weight in shown)
    added: tuple[tuple[int, Vector, bool], ...] = ()
    if again is not None:
        added = tuple((weight, vector(Die(face, is_first=False)), face in again.added) for face, weight in shown)
    count, keep = (pool.count, pool.kept if pool.keep else None) if pool is not None else (1, None)
    return Faces(count, first, added, keep)


class _Spans(dict[str, Span]):
    """The possible values of names where some readings are at their caps."""

    def __init__(self, builder: LawBuilder, vector: Vector, stuck: list[int]) -> None:
        super().__init__()
        names, self.numbers = builder.needs.names, builder.needs.numbers
        for name, value in zip(names, vector, strict=True):
            self[name] = span_of(finite(value))
        for place in stuck:
            self[names[place]] = Span(vector[place], builder.most[place])

    def __missing__(self, name: str) -> Span:
        found = self[name] = within(self.numbers[name], self.__getitem__) if name in self.numbers else ANY
        return found


def _constant(faces: Faces, kinds: tuple[str, ...]) -> list[int | None]:
    """Return the values of constant readings; None for each that is not constant."""
    found = list[int | None]()
    for number, kind in enumerate(kinds):
        shown = {vector[number] for _, vector, _ in faces.first}
        is_constant = kind == "add" and len(shown) == 1 and faces.kept is None
        is_constant = is_constant and not any(vector[number] for _, vector, _ in faces.added)
        found.append(shown.pop() * faces.count if is_constant else None)
    return found


def _only(faces: Faces, numbers: tuple[int, ...]) -> Faces:
    """Return dice with only some of their readings; equivalent faces are merged where all dice count."""
    first, added = (
        _merged([(weight, tuple(vector[one] for one in numbers), again) for weight, vector, again in shown])
        if faces.kept is None
        else tuple((weight, tuple(vector[one] for one in numbers), again) for weight, vector, again in shown)
        for shown in (faces.first, faces.added)
    )
    return Faces(faces.count, first, added, faces.kept)


def _merged(shown: list[tuple[int, Vector, bool]]) -> tuple[tuple[int, Vector, bool], ...]:
    found: dict[tuple[Vector, bool], int] = {}
    for weight, vector, again in shown:
        found[vector, again] = found.get((vector, again), 0) + weight
    return tuple((weight, vector, again) for (vector, again), weight in found.items())
