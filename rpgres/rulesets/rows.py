"""The records of outcome tables: what a row says, asks and changes, and which outcome comes about."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

ID = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"  # a name, as a pattern
BRACES = r"\{([^{}]*)\}"  # in a text: a name, a formula or dice; few texts have any, so nothing is compiled here
Id = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]


def is_id(text: str) -> bool:
    """Tell whether a text can be a name in a ruleset's data: lower-case words, numbers and hyphens."""
    return re.fullmatch(ID, text) is not None


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """A table in a ruleset's TOML."""


# What has to hold: bounds (`margin-from`, `NAME-to`), facts of the run, switches. A bound may name a number.
Condition = dict[str, str | int | list[str | int]]


class Bounds:
    """What the fields `at_least` and `at_most` of a record mean: the bounds of a number, both included."""

    __slots__ = ()
    at_least: int | None
    at_most: int | None

    def has(self, number: int) -> bool:
        """Tell whether a number is within the bounds."""
        return self.within(number) == number

    @property
    def words(self) -> str:
        """The bounds in words; nothing where there are none."""
        if self.at_least is None:
            return f"at most {self.at_most}" if self.at_most is not None else ""
        return f"at least {self.at_least}" if self.at_most is None else f"from {self.at_least} to {self.at_most}"

    def within(self, number: int) -> int:
        """Return the number within the bounds that is nearest to one."""
        if self.at_least is not None:
            number = max(number, self.at_least)
        return number if self.at_most is None else min(number, self.at_most)


class Bounded(Record, Bounds, frozen=True):
    """A number or a roll that never counts for less than `at-least`, nor for more than `at-most`.

    Attributes:
        value: dice, or a number, with names in braces.
        at_least: what it counts for when it comes to less.
        at_most: what it counts for when it comes to more.
    """

    value: str
    at_least: int | None = None
    at_most: int | None = None


Formula = str | Bounded  # dice or a number with names in braces; as a table with its bounds


def bounded(formula: Formula) -> Bounded:
    """Return a formula with its bounds, of which a plain one has none."""
    return Bounded(value=formula) if isinstance(formula, str) else formula


def templates(formulas: Mapping[str, Formula]) -> dict[str, str]:
    """Return formulas by name without their bounds."""
    return {name: bounded(formula).value for name, formula in formulas.items()}


class Band(Record, frozen=True, kw_only=True):
    """One of a ruleset's outcomes, and the margins that give it (`from` and `to` are included; left out means open).

    `unopposed` marks the band of an action that nothing opposes; a band with neither is only named elsewhere.
    `also` names a band that this one is as well: its rows in outcome tables hold here too, before the own ones.
    An action with `dice` and without `bands` goes by the bounds of its margin, or of its total where it has no margin.

    Attributes:
        title: the outcome as people say it.
        from_: the lowest margin of this outcome.
        to: the highest margin of this outcome.
        success: whether it is a success; left out where it is neither.
        unopposed: whether an action that nothing opposes ends in this band.
        also: the band that this one is as well: its rows hold here too.
    """

    title: str
    from_: int | None = msgspec.field(default=None, name="from")
    to: int | None = None
    success: bool | None = None
    unopposed: bool = False
    also: str = ""

    def has(self, number: int) -> bool:
        """Tell whether a number is within the bounds; nothing is within none."""
        is_above = self.from_ is None or number >= self.from_
        return self.has_bounds and is_above and (self.to is None or number <= self.to)

    @property
    def has_bounds(self) -> bool:
        """Whether numbers give it at all."""
        return self.from_ is not None or self.to is not None


class EffectHead(msgspec.Struct, frozen=True):
    """What is the same in all effects: the kind, and when they come about. Their other fields are the kind's own.

    Attributes:
        kind: which kind of change; its fields depend on it.
        when: what has to hold: margin-from, margin-to, a switch, or a fact that the rule tells.
        unless: what must not hold; written as `when`.
    """

    kind: str = ""
    when: Condition = {}
    unless: Condition = {}


def check_effects(**lists: list[dict[str, Any]]) -> None:
    """Check the heads of effects as their record is made, so that later code meets no other type.

    Raises:
        ValueError: one is faulty.
    """
    for name, effects in lists.items():
        try:
            if effects:
                msgspec.convert(effects, list[EffectHead])
        except (msgspec.ValidationError, RecursionError, UnicodeError):
            from rpgres.toml.diagnostics import key_text
            from rpgres.toml.faults import faults

            fault = faults({name: effects}, dict[str, list[EffectHead]])[0]
            raise ValueError(f"{key_text(fault.path)}: {fault.message}") from None


class RowBody(Record, frozen=True, kw_only=True):
    """What a row or an option of an outcome table rolls, changes and asks when it comes about.

    Attributes:
        text: what the outcome means; {1d6} in it is rolled, {NAME} is what is rolled under that label.
        rolls: what is rolled then: label = dice, with {NAME} for a number; effects may name the label.
        effects: what it changes, in order.
        table: the random table that is rolled on then, or several in order.
        ask: what it asks, by label.
    """

    text: str = ""
    rolls: dict[Id, Formula] = {}
    effects: list[dict[str, Any]] = []
    table: str | list[Id] = []  # a bounded text in a union of a record in itself lets msgspec crash at exit
    ask: dict[Id, "RowQuestion"] = {}

    def __post_init__(self) -> None:
        check_effects(effects=self.effects)

    @property
    def links(self) -> tuple[str, ...]:
        """The random tables that are rolled on when it comes about, in order."""
        return (self.table,) if isinstance(self.table, str) else tuple(self.table)


class RowOption(RowBody, frozen=True, kw_only=True):
    """One answer to a question of an outcome table: its meaning and its effects.

    Attributes:
        text: what it means.
        prefer: its rank for policies: the option with the greatest number is taken; only the order matters.
        when: what has to hold: margin-from, margin-to, a switch, or a fact that the rule tells.
        unless: what must not hold; written as `when`.
    """

    text: str
    prefer: int = 0
    when: Condition = {}
    unless: Condition = {}


class RowQuestion(Record, frozen=True):
    """A decision that an outcome asks for.

    Attributes:
        who: the role that answers (actor, opponent, gm, ...), or switch:NAME.
        text: the question as put to a person.
        optional: whether it may stay unanswered.
        options: what may be answered, by name.
        menu: the shared question, of `[menus.NAME]`, that stands here, in place of everything but the conditions.
        when: what has to hold: margin-from, margin-to, a switch, or a fact that the rule tells.
        unless: what must not hold; written as `when`.
    """

    who: str = ""
    text: str = ""
    optional: bool = False
    options: dict[Id, RowOption] = {}
    menu: str = ""
    when: Condition = {}
    unless: Condition = {}


class Row(RowBody, frozen=True):
    """What one band of an outcome table means: text, effects, and the questions it asks, by label.

    Attributes:
        counts_as: the outcome that this row counts as in place of its own, such as a tie that is a success.
    """

    counts_as: str = ""


OutcomeTable = dict[Id, Row]


def with_rolled_texts(table: str, rows: OutcomeTable) -> OutcomeTable:
    """Return the rows of a table with the dice in their texts among their rolls, under `TABLE-dice`."""
    return {name: _with_rolled_text(table, row) if "{" in row.text else row for name, row in rows.items()}


def _with_rolled_text(table: str, row: Row) -> Row:
    rolls = dict(row.rolls)

    def named(match: re.Match[str]) -> str:
        if is_id(match[1]):
            return match[0]
        label, number = f"{table}-dice", 1
        while label in rolls:
            number += 1
            label = f"{table}-dice-{number}"
        rolls[label] = match[1]
        return f"{{{label}}}"

    return msgspec.structs.replace(row, text=re.sub(BRACES, named, row.text), rolls=rolls)


def told(text: str, rolls: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return a text with what was rolled for it in place of the labels in braces."""
    if "{" not in text:
        return text

    def filled(match: re.Match[str]) -> str:
        return str(facts[match[1]]) if match[1] in rolls and match[1] in facts else match[0]

    return re.sub(BRACES, filled, text)
