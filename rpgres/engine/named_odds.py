"""The exact law of an action with named dice: what it comes to, as one question with weights.

Groups of dice are gone through one by one, and what is kept of a state are the readings so far. A sum or count that is
large stays at a cap: what it may be beyond that is a span, and where the answer is the same for all of that, the cap is
high enough. Where it is not, the caps in question grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, lcm
from typing import Any

from rpgres.dice import Dice, LawSizeError
from rpgres.dice.distributions import EXPLOSION_OPEN
from rpgres.dice.groups import HIGHEST, LOWEST, Faces, Joining, Law, Vector, group_law, plain_faces
from rpgres.dice.readings import JointLaw
from rpgres.engine.declarative import Given
from rpgres.engine.named_dice import Compiled, Known, again_of, filled, is_pool
from rpgres.errors import RuleError
from rpgres.rulesets import Rules
from rpgres.rulesets.dice_plans import SLOT
from rpgres.rulesets.formulas import ANY, Span, span_of, within

FIRST_CAP = 4
GROWTH = 3
MOST_STATES = 200_000  # of one law
_KINDS = {"sum": "add", "count": "add", "highest": "max", "lowest": "min"}


def law_of(
    rules: Rules, compiled: Compiled, base: Mapping[str, Any], names: tuple[str, ...], given: Given
) -> JointLaw:
    """Return the law of some names of an action; made once for the same inputs.

    Args:
        rules: the ruleset in play.
        compiled: the action.
        base: what is known before its dice lie.
        names: what is asked for, the band among it.
        given: the inputs, with which the law is kept.

    Raises:
        LawSizeError: it would take too much work.
    """
    found: JointLaw | None = given.laws.get(names)
    if found is None:
        found = given.laws[names] = _Weighing(compiled, base, names).law()
    return found


class _Weighing:
    """The law of one action with its inputs.

    Attributes:
        caps: by reading, where it stays.
        most: by reading, the highest it can be; infinite where added dice have no end.
        falls: by reading, whether dice may take from it.
        highs: by group and reading, the highest that it brings.
    """

    def __init__(self, compiled: Compiled, base: Mapping[str, Any], names: tuple[str, ...]) -> None:
        self.compiled, self.base, self.names = compiled, base, names
        self.kinds = tuple(_KINDS[read.kind] for read in compiled.plan.reads)
        self.caps: list[int] = [FIRST_CAP] * len(self.kinds)
        self.most: list[float] = [0] * len(self.kinds)
        self.falls = [False] * len(self.kinds)
        self.highs: dict[tuple[str, int], float] = {}

    def law(self) -> JointLaw:
        while True:
            falls = [*self.falls]
            states, total = self._states()
            if self.falls != falls:  # sums may fall, and so have no caps
                continue
            found: dict[tuple[Any, ...], int] = {}
            open_, growing = 0, set[int]()
            for vector, weight in states.items():
                key = self._answer(vector, growing)
                if key is None:
                    open_ += weight
                else:
                    found[key] = found.get(key, 0) + weight
            if not growing or open_ * EXPLOSION_OPEN < total:
                return JointLaw(tuple(found), tuple(found.values()), total, open_)
            for place in growing:
                self.caps[place] *= GROWTH

    # -- the states

    def _states(self) -> tuple[dict[Vector, int], int]:
        plan = self.compiled.plan
        self.highs.clear()
        self.most, nothing = [0] * len(self.kinds), Joining(self.kinds, ()).nothing
        states, total = {nothing: 1}, 1
        done = list[str]()
        for group in plan.stages:
            places = tuple(place for place, read in enumerate(plan.reads) if group in read.groups)
            depends = not plan.before(group).isdisjoint(done)
            known = {place: read for place, read in enumerate(plan.reads) if set(read.groups) <= set(done)}
            laws: dict[Vector, Law] = {}
            if not depends:
                one = self._law(group, places, self._known(nothing, ()))
                laws = dict.fromkeys(states, one)
            else:
                for vector in states:
                    laws[vector] = self._law(group, places, self._known(vector, known))
            states, total = self._joined(states, total, laws, places)
            done.append(group)
            if len(states) > MOST_STATES:
                raise LawSizeError(
                    "these dice come to too many different results (limit MOST_STATES); roll them many times instead",
                    limit="MOST_STATES",
                )
        return states, total

    def _known(self, vector: Vector, places: Any) -> Known:
        known = Known(self.compiled, self.base, {})
        for place in places:
            known[f"{SLOT}{place}"] = _told(vector[place])
        return known

    def _law(self, group: str, places: tuple[int, ...], known: Known) -> Law:
        """Return the law of the readings of one group."""
        dice = filled(known, group)
        if dice is None:
            return {Joining(self.kinds, ()).nothing: 1}, 1
        faces = self._faces(group, places, known, dice)
        joining = Joining(tuple(self.kinds[place] for place in places), self._caps(places))
        inner, total = group_law(faces, joining)
        nothing = list(Joining(self.kinds, ()).nothing)
        whole: dict[Vector, int] = {}
        for vector, weight in inner.items():
            for place, value in zip(places, vector, strict=True):
                nothing[place] = value
            whole[tuple(nothing)] = weight
        return whole, total

    def _caps(self, places: tuple[int, ...]) -> tuple[int | None, ...]:
        return tuple(None if self.kinds[place] != "add" or self.falls[place] else self.caps[place] for place in places)

    def _faces(self, group: str, places: tuple[int, ...], known: Known, dice: Dice) -> Faces:
        """Return the dice of a group with what each face brings to the readings."""
        again, kept, count = again_of(known, group, dice), None, 1
        if is_pool(dice):
            pool = dice.pools[0]
            shown, count = plain_faces(pool), pool.count
            kept = pool.kept if pool.keep else None
        else:
            shown = tuple(dice.law.items())
        first = tuple(
            (weight, self._vector(group, places, known, face, is_first=True), again is not None and face in again.first)
            for face, weight in shown
        )
        added: tuple[tuple[int, Vector, bool], ...] = ()
        if again is not None:
            added = tuple(
                (weight, self._vector(group, places, known, face, is_first=False), face in again.added)
                for face, weight in shown
            )
        self._note(group, places, first, added, count)
        return Faces(count, first, added, kept)

    def _vector(self, group: str, places: tuple[int, ...], known: Known, face: int, *, is_first: bool) -> Vector:
        compiled = self.compiled
        worth = compiled.worth.get(group)
        counts = face if worth is None else int(known.of_die(worth, face, is_first=is_first) or 0)
        found = []
        for place in places:
            read, fits = compiled.plan.reads[place], compiled.of_dice[place]
            if fits is not None and not known.of_die(fits, face, is_first=is_first):
                found.append({"add": 0, "max": LOWEST, "min": HIGHEST}[self.kinds[place]])
            else:
                found.append(1 if read.kind == "count" else counts)
        return tuple(found)

    def _note(
        self,
        group: str,
        places: tuple[int, ...],
        first: tuple[tuple[int, Vector, bool], ...],
        added: tuple[tuple[int, Vector, bool], ...],
        count: int,
    ) -> None:
        """Take note of how far the readings of a group can go."""
        for number, place in enumerate(places):
            if self.kinds[place] != "add":
                continue
            high = max(vector[number] for _, vector, _ in first)
            more = max((vector[number] for _, vector, _ in added), default=0)
            low = min((vector[number] for _, vector, _ in (*first, *added)), default=0)
            if low < 0 and added:
                raise RuleError("what dice are worth that bring others may not be below 0, or sums have no end")
            if low < 0 and not self.falls[place]:
                self.falls[place] = True
            ends = count * max(high, 0) if more <= 0 else inf
            so_far = self.highs.get((group, place), 0)
            self.highs[group, place] = max(so_far, ends)
            self.most[place] += max(so_far, ends) - so_far if so_far < inf else 0

    def _joined(
        self, states: dict[Vector, int], total: int, laws: dict[Vector, Law], places: tuple[int, ...]
    ) -> tuple[dict[Vector, int], int]:
        """Return the states with those of one more group."""
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

    # -- what they come to

    def _answer(self, vector: Vector, growing: set[int]) -> tuple[Any, ...] | None:
        """Return what a state comes to; None where readings at their caps leave that open, which then grow."""
        stuck = [
            place
            for place, value in enumerate(vector)
            if self.kinds[place] == "add"
            and not self.falls[place]
            and value >= self.caps[place]
            and self.most[place] > self.caps[place]
        ]
        if not stuck:
            known = self._known(vector, range(len(vector)))
            return tuple(_plain(known[name]) for name in self.names)
        spans = _Spans(self, vector, stuck)
        found = [spans[name] for name in self.names]
        if all(span.is_certain for span in found):
            return tuple(span.value for span in found)
        growing.update(stuck)
        return None


class _Spans(dict[str, Span]):
    """What names may come to where some readings are at their caps."""

    def __init__(self, weighing: _Weighing, vector: Vector, stuck: list[int]) -> None:
        super().__init__()
        self.numbers, self.base = weighing.compiled.plan.numbers, weighing.base
        for place, value in enumerate(vector):
            self[f"{SLOT}{place}"] = span_of(_told(value))
        for place in stuck:
            self[f"{SLOT}{place}"] = Span(vector[place], weighing.most[place])

    def __missing__(self, name: str) -> Span:
        if name in self.numbers:
            found = within(self.numbers[name], self.__getitem__)
        else:
            found = span_of(self.base[name]) if name in self.base else ANY
        self[name] = found
        return found


def _told(value: int) -> int:
    return 0 if value in (LOWEST, HIGHEST) else value


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
