"""Windows of actions with named dice: what a kit lets people do once the dice lie, before the band is worked out.

Formulas name the numbers of a window (`[windows.NAME]`), each 0 until somebody does something in it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from rpgres.dice import LawSizeError
from rpgres.dice.groups import HIGHEST, Joining
from rpgres.dice.readings import JointLaw
from rpgres.engine.named_asks import Chosen, Die
from rpgres.engine.named_dice import Compiled, Course, Known, explain, filled, rolled, throw_of
from rpgres.engine.named_inputs import Given
from rpgres.engine.table import Table
from rpgres.model.state import GM, Character
from rpgres.rulesets import STATE, Effect, Rules
from rpgres.rulesets.actions import OPPOSITION
from rpgres.rulesets.dice_plans import BAND, GroupPlan
from rpgres.rulesets.formulas import Name
from rpgres.rulesets.numbers import OPPONENT, OPPOSED

MOST_STEPS = 12  # that are looked ahead for another band
MOST_KEPT = 200  # kinds of rolls of which odds keep what they have worked out


def _windows(rules: Rules, compiled: Compiled) -> dict[str, str]:
    """Return the numbers of windows that an action's formulas name, each with its window; worked out once."""
    known: dict[int, tuple[Compiled, dict[str, str]]] = rules.compiled.setdefault("windows", {})
    if id(compiled) not in known:
        named = compiled.plan.free_names()
        found = {name: window for name, window in rules.file.window_names.items() if name in named}
        known[id(compiled)] = compiled, found
    return known[id(compiled)][1]


class Roll:
    """An action's dice as they lie, for those who do something in a window.

    Args:
        table: where it is played.
        actor: who acts.
        course: the action with its inputs.

    Attributes:
        actor: who acts.
        given: what was typed.
        opponent: whoever is in the way: a character, or the game master.
        values: what the numbers of windows are at.
        chosen: what was answered before the dice lay.
    """

    def __init__(self, table: Table, actor: Character, course: Course) -> None:
        self.table, self.actor, self.course = table, actor, course
        self.given, self.compiled = course.given, course.compiled
        self.opponent: str = self.given.roles()[OPPONENT]
        if self.opponent not in table.state.characters:
            self.opponent = GM
        self.values = dict.fromkeys(_windows(table.rules, self.compiled), 0)
        self.chosen: tuple[Chosen, ...] = ()
        self.lies: _Shown | _Weighed | None = None
        base = tuple((name, value) for name, value in course.base.items() if name not in self.values)
        self.kept = course.action, base

    @property
    def laws(self) -> dict[Any, Any]:
        """What odds have worked out for such a roll, on whatever table."""
        kept: dict[Any, dict[Any, Any]] = self.table.rules.compiled.setdefault("windows:laws", {})
        if self.kept not in kept and len(kept) >= MOST_KEPT:
            kept.clear()
        return kept.setdefault(self.kept, {})

    def throw(self) -> None:
        """Throw the dice, and ask what the action asks meanwhile."""
        kind = _Shown if self.table.is_read or self.compiled.plan.asks else _Weighed
        self.lies = kind(self)
        self.chosen = self.lies.begin()
        self._explain()

    def number(self, name: str, **more: int) -> int | None:
        """Return what a number comes to; None where the action has none of this name.

        Args:
            name: the number's name.
            more: what is added to numbers of windows for this question alone.
        """
        found = self.known(more)[name] if name in self.compiled.numbers else None
        return found if isinstance(found, int) else None

    def known(self, more: Mapping[str, int] = {}) -> Mapping[str, Any]:
        """Return everything that is known now, by name."""
        assert self.lies is not None
        return self.lies.known({name: value + more.get(name, 0) for name, value in self.values.items()})

    def success(self, more: Mapping[str, int] = {}) -> tuple[str, bool | None]:
        """Return the band that the dice come to, and whether it is a success."""
        band = str(self.known(more)[BAND])
        its = self.table.rules.file.bands.get(band)
        return band, its.success if its is not None else None

    def key(self) -> Hashable:
        """Return all of it that matters from here on."""
        assert self.lies is not None
        return self.lies.key(), tuple(self.values.values()), self.chosen

    def spent(self, who: str, counter: str) -> int:
        """Return how much of a counter somebody has paid for answers before the dice lay."""
        asked = self.course.purse.who
        return sum(much for one in self.chosen if asked(one.label) == who for of, much in one.cost if of == counter)

    def mean(self, name: str) -> int:
        """Return what a number comes to on average while nobody does anything, rounded; 0 where that takes too long."""
        from rpgres.engine.named_odds import law_of

        kept = self.laws
        found: int | None = kept.get(("mean", name))
        if found is None:
            base = {**self.course.known((), {}), **dict.fromkeys(self.values, 0)}
            try:
                law = law_of(self.compiled, base, (name,))
                weighed = sum(value[0] * weight for value, weight in zip(law.values, law.weights, strict=True))
                found = (2 * weighed + sum(law.weights)) // (2 * sum(law.weights))
            except LawSizeError:
                found = 0
            kept["mean", name] = found
        return found

    def dice_of(self, *, acting: bool) -> tuple[str, ...]:
        """Return the groups of dice that a side throws."""
        groups = self.compiled.plan.groups.values()
        return tuple(group.name for group in groups if _is_opposing(group, self.given) is not acting)

    def has_dice(self, *, acting: bool) -> bool:
        """Tell whether a side throws anything."""
        known = self.course.known(self.chosen, {})
        found = (filled(known, group) for group in self.dice_of(acting=acting))
        return any(one is not None and one.pools for one in found)

    def throw_again(self, *, acting: bool) -> None:
        """Throw all dice of a side again."""
        assert self.lies is not None
        self.lies.throw(self.dice_of(acting=acting))
        self._explain()

    def _explain(self) -> None:
        """Say in the account what fresh dice count for by themselves: what windows add is told by those who add it."""
        if self.table.is_read and isinstance(self.lies, _Shown):
            known = self.lies.known(dict.fromkeys(self.values, 0))
            explain(self.table, known, self.course.given, dict.fromkeys(self.lies.fresh))
            self.lies.fresh.clear()


def _is_opposing(group: GroupPlan, given: Given) -> bool:
    """Tell whether dice are those of whoever is in the way."""
    named = [piece.name for piece in group.pieces if isinstance(piece, Name)]
    kinds = [given.parameters[name].kind for name in named if name in given.parameters]
    return group.name == OPPOSITION or "opposition" in kinds or any(name.startswith(OPPOSED) for name in named)


class _Shown:
    """Dice on the table, each with its face; in odds too, where an action asks something before all of them lie."""

    def __init__(self, roll: Roll) -> None:
        self.roll = roll
        self.thrown: dict[str, tuple[Die, ...]] = {}
        self.fresh: list[str] = []  # groups whose last throw is still to be explained
        self._known: dict[tuple[int, ...], Known] = {}

    def begin(self) -> tuple[Chosen, ...]:
        its = self.roll
        self.thrown, chosen, self.fresh = rolled(its.table, its.actor, its.course)
        return chosen

    def throw(self, groups: Collection[str]) -> None:
        its = self.roll
        for group in groups:
            known = its.course.known(its.chosen, self.thrown)
            self.thrown[group] = throw_of(its.table, its.actor, its.course, known, group)
            self.fresh.append(group)
        self._known = {}

    def key(self) -> Hashable:
        return tuple(self.thrown.items())

    def known(self, values: Mapping[str, int]) -> Known:
        key, its = tuple(values.values()), self.roll
        if key not in self._known:
            base = its.course.known(its.chosen, {})
            self._known[key] = Known(its.compiled, {**base, **values}, self.thrown)
        return self._known[key]


class _Weighed:
    """Dice in odds: of each group, the readings that what is asked needs."""

    def __init__(self, roll: Roll) -> None:
        from rpgres.engine.named_odds import Weighing

        self.roll, kept = roll, roll.laws
        if "weighing" not in kept:
            base = {name: value for name, value in roll.course.base.items() if name not in roll.values}
            kept["weighing"] = weighing = Weighing(roll.compiled, base, roll.course.names)
            weighing.caps = [HIGHEST] * len(weighing.caps)
        self.weighing: Weighing = kept["weighing"]
        self.joining = Joining(self.weighing.kinds, (None,) * len(self.weighing.kinds))
        self.vectors: dict[str, tuple[int, ...]] = {}
        self.worked: dict[Hashable, Mapping[str, Any]] = kept.setdefault("worked", {})

    def begin(self) -> tuple[Chosen, ...]:
        self.throw(self.roll.compiled.plan.groups)
        return ()

    def throw(self, groups: Collection[str]) -> None:
        its, weighing = self.roll, self.weighing
        for group in its.compiled.plan.stages:
            places = tuple(place for place, of in enumerate(weighing.groups) if group in of)
            if group not in groups or not places:
                continue
            others = {name: vector for name, vector in self.vectors.items() if name != group}
            done = [place for place, of in enumerate(weighing.groups) if of <= others.keys()]
            vector = self._joined(others.values())
            key = (group, tuple(vector[place] for place in done))
            law: JointLaw | None = its.laws.get(key)
            if law is None:
                found, total = weighing.law_of_group(group, places, weighing.known(vector, done))
                law = JointLaw(tuple(found), tuple(found.values()), total, total - sum(found.values()))
                its.laws[key] = law
            self.vectors[group] = its.table.run.dealer.of_law(group, law)  # type: ignore[attr-defined]

    def _joined(self, vectors: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        found, join = self.joining.nothing, self.joining.join()
        for vector in vectors:
            found = join(found, vector)
        return found

    def known(self, values: Mapping[str, int]) -> Mapping[str, Any]:
        key = self._joined(self.vectors.values()), tuple(values.values())
        if key not in self.worked:
            self.worked[key] = self.weighing.worked(key[0], values)
        return self.worked[key]

    def key(self) -> Hashable:
        return tuple(self.vectors.items())


def played_with_windows(
    table: Table, actor: Character, course: Course
) -> tuple[dict[str, Any], tuple[Chosen, ...], tuple[Effect, ...]] | None:
    """Return what the names of an action come to, what was answered, and what was paid when its dice lay.

    None where the action has no window, or in odds where nobody could do anything in it.
    """
    windows = [
        table.rules.ruleset.windows[name] for name in dict.fromkeys(_windows(table.rules, course.compiled).values())
    ]
    roll = Roll(table, actor, course)
    if not windows or not (table.is_read or any(window.opens(table, roll) for window in windows)):
        return None
    names = course.names
    if table.run.asked == STATE:  # totals change nothing
        names = tuple(name for name in names if name in (BAND, "margin", *course.compiled.wanted))

    def play(inner: Table) -> tuple[tuple[Any, ...], tuple[Chosen, ...], tuple[Effect, ...]]:
        roll, costs = Roll(inner, actor, course), list[Effect]()
        roll.throw()
        for window in windows:
            costs += window.play(inner, roll)
        known = roll.known()
        return tuple(known[name] for name in names), roll.chosen, tuple(costs)

    def key() -> Hashable:
        means = [window.means(table, roll) for window in windows]
        return "windows", course.action, actor.name, roll.kept, names, *means

    found, chosen, costs = play(table) if course.compiled.plan.asks else table.part(key, play)
    return dict(zip(names, found, strict=True)), chosen, costs
