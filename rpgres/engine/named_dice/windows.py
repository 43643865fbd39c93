"""Windows of actions with named dice: decisions of a kit between the roll and the band.

Formulas name the numbers of a window (`[windows.NAME]`); each is 0 until a decision in the window changes it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from rpgres.dice import LawSizeError
from rpgres.dice.groups import HIGHEST, Joining
from rpgres.dice.readings import JointLaw
from rpgres.engine.named_dice.inputs import Given
from rpgres.engine.named_dice.play import BoundAction, explain, roll_and_ask, roll_group
from rpgres.engine.named_dice.questions import Chosen
from rpgres.engine.named_dice.values import Die, Known, filled
from rpgres.engine.table import Table
from rpgres.model.state import GM
from rpgres.rulesets import STATE, Effect
from rpgres.rulesets.actions import OPPONENT, OPPOSED, OPPOSITION
from rpgres.rulesets.dice_plans import BAND, GroupPlan

MOST_STEPS = 12  # how many steps a kit searches for another band
MOST_KEPT = 200  # kinds of rolls whose laws are cached


def _windows(bound: BoundAction) -> dict[str, str]:
    """Return the numbers of windows that an action's formulas name, each with its window; cached in the rules."""
    key = f"window-names:{bound.action}"
    if key not in bound.rules.compiled:
        named, known = bound.plan.free_names(), bound.rules.file.window_names
        bound.rules.compiled[key] = {name: window for name, window in known.items() if name in named}
    found: dict[str, str] = bound.rules.compiled[key]
    return found


class Roll:
    """The dice of an action after the roll, for decisions in a window.

    Args:
        table: where it is played.
        bound: the action with its inputs.

    Attributes:
        opponent: the opposing character, or the game master.
        values: the numbers of windows.
        chosen: the options that were chosen inside the roll.
    """

    def __init__(self, table: Table, bound: BoundAction) -> None:
        self.table, self.actor, self.bound = table, bound.given.actor, bound
        self.given, self.plan = bound.given, bound.plan
        self.opponent: str = self.given.roles()[OPPONENT]
        if self.opponent not in table.state.characters:
            self.opponent = GM
        self.values = dict.fromkeys(_windows(bound), 0)
        self.chosen: tuple[Chosen, ...] = ()
        self.dice: _Faces | _Readings | None = None
        base = tuple((name, value) for name, value in bound.base.items() if name not in self.values)
        self.kept = bound.action, base

    @property
    def laws(self) -> dict[Any, Any]:
        """What odds have computed for this roll, on any table."""
        kept: dict[Any, dict[Any, Any]] = self.table.rules.compiled.setdefault("windows:laws", {})
        if self.kept not in kept and len(kept) >= MOST_KEPT:
            kept.clear()
        return kept.setdefault(self.kept, {})

    def start(self) -> None:
        """Roll the dice, with the questions inside the roll."""
        kind = _Faces if self.table.is_read or self.plan.asks else _Readings
        self.dice = kind(self)
        self.chosen = self.dice.start()
        self._explain()

    def number(self, name: str, **more: int) -> int | None:
        """Return the value of a number; None where the action has none of this name.

        Args:
            more: added to numbers of windows for this call only.
        """
        found = self.known(more)[name] if name in self.plan.numbers else None
        return found if isinstance(found, int) else None

    def known(self, more: Mapping[str, int] = {}) -> Mapping[str, Any]:
        """Return the values of names."""
        assert self.dice is not None
        return self.dice.known({name: value + more.get(name, 0) for name, value in self.values.items()})

    def success(self, more: Mapping[str, int] = {}) -> tuple[str, bool | None]:
        """Return the band of the dice, and whether it is a success."""
        band = str(self.known(more)[BAND])
        its = self.table.rules.file.bands.get(band)
        return band, its.success if its is not None else None

    def looked_ahead(self, name: str, step: int) -> list[tuple[str, bool | None]]:
        """Return band and success as of `success` after 0, 1, 2, ... increases of a number; kept in odds."""
        key = ("ahead", name, step, self.dice.joined, *self.values.values()) if isinstance(self.dice, _Readings) else ()
        found: list[tuple[str, bool | None]] | None = self.laws.get(key) if key else None
        if found is None:
            found = [self.success({name: step * count}) for count in range(MOST_STEPS)]
            if key:
                self.laws[key] = found
        return found

    def key(self) -> Hashable:
        """Return what later steps need of the roll."""
        assert self.dice is not None
        return self.dice.key(), tuple(self.values.values()), self.chosen

    def spent(self, who: str, counter: str) -> int:
        """Return how much of a counter a character has paid for options inside the roll."""
        owner = self.bound.purse.who
        return sum(much for one in self.chosen if owner(one.label) == who for of, much in one.cost if of == counter)

    def mean(self, name: str) -> int:
        """Return the rounded mean of a number without decisions in windows; 0 where that takes too long."""
        from rpgres.engine.named_dice.odds import law_of

        kept = self.laws
        found: int | None = kept.get(("mean", name))
        if found is None:
            base = {**self.bound.known((), {}), **dict.fromkeys(self.values, 0)}
            try:
                law = law_of(self.plan, base, (name,))
                whole = sum(value[0] * weight for value, weight in zip(law.values, law.weights, strict=True))
                found = (2 * whole + sum(law.weights)) // (2 * sum(law.weights))
            except LawSizeError:
                found = 0
            kept["mean", name] = found
        return found

    def dice_of(self, *, acting: bool) -> tuple[str, ...]:
        """Return the groups of dice of a side."""
        groups = self.plan.groups.values()
        return tuple(group.name for group in groups if _is_opposing(group, self.given) is not acting)

    def has_dice(self, *, acting: bool) -> bool:
        """Tell whether a side has dice."""
        known = self.bound.known(self.chosen, {})
        found = (filled(known, group) for group in self.dice_of(acting=acting))
        return any(one is not None and one.pools for one in found)

    def reroll(self, *, acting: bool) -> None:
        """Reroll all dice of a side."""
        assert self.dice is not None
        self.dice.roll_groups(self.dice_of(acting=acting))
        self._explain()

    def _explain(self) -> None:
        """Add to the account what fresh dice count for without the numbers of windows."""
        if self.table.is_read and isinstance(self.dice, _Faces):
            known = self.dice.known(dict.fromkeys(self.values, 0))
            explain(self.table, known, self.bound.given, dict.fromkeys(self.dice.fresh))
            self.dice.fresh.clear()


def _is_opposing(group: GroupPlan, given: Given) -> bool:
    """Tell whether dice are those of the opposition."""
    kinds = [given.parameters[name].kind for name in group.named if name in given.parameters]
    return group.name == OPPOSITION or "opposition" in kinds or any(name.startswith(OPPOSED) for name in group.named)


class _Faces:
    """Dice with their faces; in odds, too, where the action has questions inside the roll."""

    def __init__(self, roll: Roll) -> None:
        self.roll = roll
        self.rolled: dict[str, tuple[Die, ...]] = {}
        self.fresh: list[str] = []  # groups whose last roll is not explained yet
        self._known: dict[tuple[int, ...], Known] = {}

    def start(self) -> tuple[Chosen, ...]:
        its = self.roll
        self.rolled, chosen, self.fresh = roll_and_ask(its.table, its.bound)
        return chosen

    def roll_groups(self, groups: Collection[str]) -> None:
        its = self.roll
        for group in groups:
            known = its.bound.known(its.chosen, self.rolled)
            self.rolled[group] = roll_group(its.table, its.bound, known, group)
            self.fresh.append(group)
        self._known = {}

    def key(self) -> Hashable:
        return tuple(self.rolled.items())

    def known(self, values: Mapping[str, int]) -> Known:
        key, its = tuple(values.values()), self.roll
        if key not in self._known:
            base = its.bound.known(its.chosen, {})
            self._known[key] = Known(its.plan, {**base, **values}, self.rolled)
        return self._known[key]


class _Readings:
    """Dice in odds: the needed readings of each group."""

    def __init__(self, roll: Roll) -> None:
        from rpgres.engine.named_dice.law_inputs import law_inputs
        from rpgres.engine.named_dice.odds import LawBuilder

        self.roll, kept = roll, roll.laws
        if "builder" not in kept:
            base = {name: value for name, value in roll.bound.base.items() if name not in roll.values}
            kept["builder"] = builder = LawBuilder(law_inputs(roll.plan, base, roll.bound.names))
            builder.caps = [HIGHEST] * len(builder.caps)
        self.builder: LawBuilder = kept["builder"]
        self.joining = Joining(self.builder.kinds, (None,) * len(self.builder.kinds))
        self.vectors: dict[str, tuple[int, ...]] = {}
        self.joined = self.joining.nothing
        self.found: dict[Hashable, Mapping[str, Any]] = kept.setdefault("found", {})

    def start(self) -> tuple[Chosen, ...]:
        self.roll_groups(self.roll.plan.groups)
        return ()

    def roll_groups(self, groups: Collection[str]) -> None:
        its, builder = self.roll, self.builder
        for group in its.plan.stages:
            places = tuple(place for place, of in enumerate(builder.groups) if group in of)
            if group not in groups or not places:
                continue
            others = {name: vector for name, vector in self.vectors.items() if name != group}
            done = [place for place, of in enumerate(builder.groups) if of <= others.keys()]
            vector = self._joined(others.values())
            key = (group, tuple(vector[place] for place in done))
            law: JointLaw | None = its.laws.get(key)
            if law is None:
                found, total = builder.law_of_group(group, places, builder.known(vector, done))
                law = JointLaw(tuple(found), tuple(found.values()), total, total - sum(found.values()))
                its.laws[key] = law
            self.vectors[group] = its.table.run.dealer.of_law(group, law)
        self.joined = self._joined(self.vectors.values())

    def _joined(self, vectors: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        found, join = self.joining.nothing, self.joining.join()
        for vector in vectors:
            found = join(found, vector)
        return found

    def known(self, values: Mapping[str, int]) -> Mapping[str, Any]:
        key = self.joined, tuple(values.values())
        if key not in self.found:
            self.found[key] = self.builder.values(self.joined, values)
        return self.found[key]

    def key(self) -> Hashable:
        return tuple(self.vectors.items())


def played_with_windows(
    table: Table, bound: BoundAction
) -> tuple[dict[str, Any], tuple[Chosen, ...], tuple[Effect, ...]] | None:
    """Return the values of an action's names, the chosen options, and the costs of decisions in windows.

    None where the action has no window, or in odds where no decision is possible in it.
    """
    windows = [table.rules.ruleset.windows[name] for name in dict.fromkeys(_windows(bound).values())]
    roll = Roll(table, bound)
    if not windows or not (table.is_read or any(window.opens(table, roll) for window in windows)):
        return None
    names = bound.names
    if table.run.asked == STATE:  # totals change nothing
        names = tuple(name for name in names if name in (BAND, "margin", *bound.plan.wanted))

    def play(inner: Table) -> tuple[tuple[Any, ...], tuple[Chosen, ...], tuple[Effect, ...]]:
        roll, costs = Roll(inner, bound), list[Effect]()
        roll.start()
        for window in windows:
            costs += window.play(inner, roll)
        known = roll.known()
        return tuple(known[name] for name in names), roll.chosen, tuple(costs)

    def key() -> Hashable:
        means = [window.means(table, roll) for window in windows]
        return "windows", bound.action, roll.actor.name, roll.kept, names, *means

    found, chosen, costs = play(table) if bound.plan.asks else table.part(key, play)
    return dict(zip(names, found, strict=True)), chosen, costs
