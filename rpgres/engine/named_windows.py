"""Windows of actions with named dice: what a kit lets people do once the dice lie, before the band is worked out.

Formulas name the numbers of a window (`[windows.NAME]`), each 0 until somebody does something in it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from rpgres.dice import LawSizeError
from rpgres.dice.groups import HIGHEST, Joining
from rpgres.dice.readings import JointLaw
from rpgres.engine.declarative import Given
from rpgres.engine.named_dice import Compiled, Known, filled, roll_groups
from rpgres.engine.table import Table
from rpgres.model.state import GM, Character
from rpgres.rulesets import Effect, Rules
from rpgres.rulesets.dice_plans import BAND, GroupPlan
from rpgres.rulesets.formulas import Name
from rpgres.rulesets.numbers import OPPONENT, OPPOSED

MOST_STEPS = 12  # that are looked ahead for another band


def _windows(rules: Rules, compiled: Compiled) -> dict[str, str]:
    """Return the numbers of windows that an action's formulas name, each with its window; worked out once."""
    known: dict[int, tuple[Compiled, dict[str, str]]] = rules.compiled.setdefault("windows", {})
    if id(compiled) not in known:
        named = compiled.plan.free_names()
        found = {name: window for name, window in rules.file.window_names.items() if name in named}
        known[id(compiled)] = compiled, found
    return known[id(compiled)][1]


def has_windows(rules: Rules, compiled: Compiled) -> bool:
    """Tell whether an action's formulas name a number of a window."""
    return bool(rules.file.windows) and bool(_windows(rules, compiled))


class Roll:
    """An action's dice as they lie, for those who do something in a window.

    Args:
        table: where it is played.
        actor: who acts.
        given: what was typed.
        compiled: the action.
        base: what is known before the dice lie.
        asked: what will be asked of it, the band among it.

    Attributes:
        actor: who acts.
        opponent: whoever is in the way: a character, or the game master.
        values: what the numbers of windows are at.
    """

    def __init__(
        self,
        table: Table,
        actor: Character,
        given: Given,
        compiled: Compiled,
        base: Mapping[str, Any],
        asked: tuple[str, ...],
    ) -> None:
        self.table, self.actor, self.given, self.compiled = table, actor, given, compiled
        self.opponent: str = given.roles()[OPPONENT]
        if self.opponent not in table.state.characters:
            self.opponent = GM
        self.values = dict.fromkeys(_windows(table.rules, compiled), 0)
        self.base = {name: value for name, value in base.items() if name not in self.values}
        self.asked = asked
        self.lies: _Shown | _Weighed | None = None

    def throw(self) -> None:
        """Throw the dice."""
        kind = _Shown if self.table.is_read else _Weighed
        self.lies = kind(self)
        self.lies.throw(self.compiled.plan.groups)

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
        return self.lies.key(), tuple(self.values.values())

    def mean(self, name: str) -> int:
        """Return what a number comes to on average while nobody does anything, rounded; 0 where that takes too long."""
        from rpgres.engine.named_odds import law_of

        found: int | None = self.given.windows.get(("mean", name))
        if found is None:
            rules, base = self.table.rules, {**self.base, **dict.fromkeys(self.values, 0)}
            try:
                law = law_of(rules, self.compiled, base, (name,), self.given)
                weighed = sum(value[0] * weight for value, weight in zip(law.values, law.weights, strict=True))
                found = (2 * weighed + sum(law.weights)) // (2 * sum(law.weights))
            except LawSizeError:
                found = 0
            self.given.windows["mean", name] = found
        return found

    def dice_of(self, *, acting: bool) -> tuple[str, ...]:
        """Return the groups of dice that a side throws."""
        groups = self.compiled.plan.groups.values()
        return tuple(group.name for group in groups if _is_opposing(group, self.given) is not acting)

    def has_dice(self, *, acting: bool) -> bool:
        """Tell whether a side throws anything."""
        known = Known(self.compiled, {**self.base, **self.values}, {})
        found = (filled(known, group) for group in self.dice_of(acting=acting))
        return any(one is not None and one.pools for one in found)

    def throw_again(self, *, acting: bool) -> None:
        """Throw all dice of a side again."""
        assert self.lies is not None
        self.lies.throw(self.dice_of(acting=acting))


def _is_opposing(group: GroupPlan, given: Given) -> bool:
    """Tell whether dice are those of whoever is in the way."""
    named = [piece.name for piece in group.pieces if isinstance(piece, Name)]
    kinds = [given.parameters[name].kind for name in named if name in given.parameters]
    return "opposition" in kinds or any(name.startswith(OPPOSED) for name in named)


class _Shown:
    """Dice on the table, each with its face."""

    def __init__(self, roll: Roll) -> None:
        self.roll = roll
        self.known_of: dict[tuple[int, ...], Known] = {}
        self.thrown: dict[str, tuple[tuple[int, bool], ...]] = {}

    def throw(self, groups: Collection[str]) -> None:
        its, self.known_of = self.roll, {}
        known = Known(its.compiled, {**its.base, **its.values}, self.thrown)
        roll_groups(its.table, its.actor, known, its.given, groups)

    def key(self) -> Hashable:
        return tuple(self.thrown.items())

    def known(self, values: Mapping[str, int]) -> Known:
        key = tuple(values.values())
        if key not in self.known_of:
            self.known_of[key] = Known(self.roll.compiled, {**self.roll.base, **values}, self.thrown)
        return self.known_of[key]


class _Weighed:
    """Dice in odds: of each group, the readings that what is asked needs."""

    def __init__(self, roll: Roll) -> None:
        from rpgres.engine.named_odds import Weighing

        self.roll = roll
        kept = roll.given.windows
        if roll.asked not in kept:
            kept[roll.asked] = Weighing(roll.compiled, roll.base, roll.asked)
            kept[roll.asked].caps = [HIGHEST] * len(kept[roll.asked].caps)
        self.weighing: Weighing = kept[roll.asked]
        self.joining = Joining(self.weighing.kinds, (None,) * len(self.weighing.kinds))
        self.vectors: dict[str, tuple[int, ...]] = {}
        self.worked: dict[Hashable, Mapping[str, Any]] = kept.setdefault(("worked", *roll.asked), {})

    def throw(self, groups: Collection[str]) -> None:
        its, weighing = self.roll, self.weighing
        for group in its.compiled.plan.stages:
            places = tuple(place for place, of in enumerate(weighing.groups) if group in of)
            if group not in groups or not places:
                continue
            others = {name: vector for name, vector in self.vectors.items() if name != group}
            done = [place for place, of in enumerate(weighing.groups) if of <= others.keys()]
            vector = self._joined(others.values())
            key = (its.asked, group, tuple(vector[place] for place in done))
            law: JointLaw | None = its.given.windows.get(key)
            if law is None:
                found, total = weighing.law_of_group(group, places, weighing.known(vector, done))
                law = JointLaw(tuple(found), tuple(found.values()), total, total - sum(found.values()))
                its.given.windows[key] = law
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


def play_windows(roll: Roll) -> tuple[Effect, ...]:
    """Have what a kit offers done once the dice lie, and return what that cost."""
    table, costs = roll.table, list[Effect]()
    for name in dict.fromkeys(_windows(table.rules, roll.compiled).values()):
        costs += table.rules.ruleset.windows[name].play(table, roll)
    return tuple(costs)


def opens(roll: Roll) -> bool:
    """Tell whether anybody could do anything in a window of this roll."""
    rules = roll.table.rules
    names = dict.fromkeys(_windows(rules, roll.compiled).values())
    return any(rules.ruleset.windows[name].opens(roll.table, roll) for name in names)
