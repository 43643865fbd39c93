"""The values of names in the formulas of an action with named dice, before and after the roll.

`rpgres.rulesets.dice_plans` parses what `[actions.NAME.dice]` and the keys beside it say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rpgres.dice import Dice, dice, dice_left
from rpgres.dice.grammar import Again, Pool
from rpgres.dice.groups import as_many_dice, can_bring
from rpgres.engine.named_dice.inputs import Given
from rpgres.errors import NotationError, RuleError, UsageError
from rpgres.rulesets.actions import OPPOSED
from rpgres.rulesets.dice_plans import GIVEN, SLOT, TIMES, DicePlan, Formula
from rpgres.rulesets.formulas import OF_A_DIE, Value


class Die(NamedTuple):
    """A rolled die: its face, whether it is no added die, and the roll of its group that it is from, from 1."""

    face: int
    is_first: bool = True
    thrown: int = 1


Rolled = Mapping[str, tuple[Die, ...]]  # by group, the dice that count


class NumberError(RuleError):
    """An error in a formula, with the number that it computes."""


def at_number(error: RuleError, name: str) -> RuleError:
    """Return an error with the name of the number whose formula failed; that of the innermost one."""
    return error if isinstance(error, NumberError) or name.startswith(SLOT) else NumberError(f"{name}: {error.raw}")


class Known(dict[str, Any]):
    """The values of names in formulas; numbers and readings are computed at their first use."""

    def __init__(self, plan: DicePlan, base: Mapping[str, Any], rolled: Rolled) -> None:
        super().__init__(base)
        self.plan = plan
        self.rolled = rolled
        self._hidden = {name: base[name] for name in OF_A_DIE if name in base}

    def __missing__(self, name: str) -> Any:
        made = self.plan.numbers.get(name)
        try:
            value = made.work(self) if made is not None else read_off(self, int(name.removeprefix(SLOT)))
        except RuleError as error:
            raise at_number(error, name) from None
        self[name] = value
        return value

    def of_die(self, formula: Formula, die: Die) -> Any:
        """Return the value of a formula for one die, whose names hide others meanwhile (an ability called `face`)."""
        self["face"], self["added"], self["thrown"] = die.face, int(not die.is_first), die.thrown
        found = formula.work(self)
        if self._hidden:
            self.update(self._hidden)
        return found

    def counts(self, group: str, die: Die) -> int:
        """Return the value of a die in sums and for the highest and lowest."""
        worth = self.plan.groups[group].worth
        return die.face if worth is None else int(self.of_die(worth, die) or 0)

    def read_of(self, place: int, group: str, die: Die) -> int | None:
        """Return what a die contributes to a reading; None where the reading does not include it."""
        read, fits = self.plan.reads[place], self.plan.fits[place]
        if group not in read.groups or (fits is not None and not self.of_die(fits, die)):
            return None
        return 1 if read.kind == "count" else self.counts(group, die)


def read_off(known: Known, place: int, *, alone: str = "") -> int:
    """Return a reading of the rolled dice; of one group only where `alone` names it."""
    read = known.plan.reads[place]
    parts = (
        known.read_of(place, group, die)
        for group in ((alone,) if alone else read.groups)
        for die in known.rolled.get(group, ())
    )
    found = [one for one in parts if one is not None]
    match read.kind:
        case "sum" | "count":
            return sum(found)
        case "highest":
            return max(found, default=0)
        case _:
            return min(found, default=0)


def plain(value: Value) -> Value:
    """Return a value as outcome rows use it: a flag as 1 or 0."""
    return int(value) if isinstance(value, bool) else value


# ---------------------------------------------------------------------------------------------------------------------
# Before the roll


def base_of(plan: DicePlan, given: Given) -> dict[str, Any]:
    """Return the values of names before the roll, with those that stand for dice (`dice:NAME`)."""
    base: dict[str, Any] = {}
    on_sheets = {*given.rules.file.rated, *given.actor.abilities, *given.actor.counters}
    for name in plan.wanted:
        if (name in on_sheets or name.startswith(OPPOSED)) and name not in plan.numbers:
            base[name] = given.value(name)
    for name in plan.free_names():
        if name.startswith(GIVEN):
            base[name] = int(given.values.get(name.removeprefix(GIVEN)) is not None)
        else:
            base[name] = given.value(name)
    options = (option for ask in plan.asks.values() for option in ask.options.values())
    paid = {of for option in options for of in option.cost}  # of which less is left after an answer
    for name in (name for group in plan.groups.values() for name in group.named):
        is_later = name in plan.numbers or name.startswith(TIMES) or name in paid
        base[f"dice:{name}"] = Later(name) if is_later else given.in_dice(name)
    return base


class Later(str):
    """The name of what changes until the dice are rolled, in a place where dice could be named."""

    __slots__ = ()


def filled(known: Known, group: str) -> Dice | None:
    """Return the dice of a group with its formulas evaluated; None where there are none.

    Raises:
        UsageError: the text is no dice.
    """
    pieces = known.plan.groups[group].pieces
    text, has_none = "", False
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            text += piece
            continue
        try:
            value = piece.work(known)
            value = known[value] if isinstance(value, Later) else value
        except RuleError as error:
            raise at_number(error, f"dice {group}") from None
        if isinstance(value, bool):
            value = int(value)
        following = pieces[place + 1] if place + 1 < len(pieces) else ""
        is_count = isinstance(following, str) and following[:1] in ("d", "D") and not text.rstrip()[-1:].isalnum()
        if is_count and (value is None or int(value) < 1):
            value, has_none = 0, True
        negative = isinstance(value, int) and value < 0
        text += f"({value})" if negative else str(value or 0) if not isinstance(value, str) else value
    if not text.strip():
        return None
    try:
        return dice_left(text) if has_none else dice(text)
    except NotationError as error:
        template = known.plan.groups[group].template
        raise UsageError(f"the dice {group} are {template!r}, which is {text!r} here: {error.message}") from error


def again_of(known: Known, group: str, found: Dice) -> Again | None:
    """Return the faces of a group that add a die; None where none does."""
    adds = known.plan.groups[group].again
    if adds is None or not is_pool(found):
        return None
    pool = found.pools[0]
    if not can_bring(pool):
        raise UsageError(f"the dice {group} are {found.text} here, and such dice cannot add others")
    first, added = (
        frozenset(face for face in pool.faces if known.of_die(adds, Die(face, is_first))) for is_first in (True, False)
    )
    if first and added >= {*pool.faces}:
        raise UsageError(f"the dice {group} are {found.text} here, and every face explodes forever")
    return Again(first, added) if first else None


def is_pool(found: Dice) -> bool:
    """Tell whether dice are one pool that can be read die by die; otherwise only their total is read."""
    node = found.node
    return isinstance(node, Pool) and node.target is None and not node.explodes and not node.is_d66


def as_many(found: Dice, group: str, count: int) -> Dice:
    """Return `count` of the dice of a group, for a reroll.

    Raises:
        UsageError: they are no pool of which all dice count.
    """
    pool = found.node
    if not isinstance(pool, Pool) or not is_pool(found) or pool.keep:
        raise UsageError(f"the dice {group} are {found.text} here, and such dice cannot be rerolled one by one")
    return found if pool.count == count else as_many_dice(found, count)


def roll_count(dice: Iterable[Die]) -> int:
    """Return how many rolls of a group these dice come from."""
    return max((die.thrown for die in dice), default=1)
