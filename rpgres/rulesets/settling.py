"""The result of an outcome table for one margin: its row, with conditions decided and values filled in."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import add, mul, sub
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice.grammar import divide
from rpgres.errors import FileError
from rpgres.model.state import EMPTY, Map, freeze
from rpgres.rulesets.registry import Effect
from rpgres.rulesets.rows import Bounded, Formula, OutcomeTable, Row, RowOption, RowQuestion, bounded, told

if TYPE_CHECKING:
    from rpgres.rulesets.rules import Rules


Heights = tuple[int, ...]  # what each side of a roll comes to
Compared = tuple[int, Map[str, Any], Hashable]  # the margin, what conditions may speak of, and what else decides
Facts = Map[str, Any] | Callable[[Heights], Compared]  # what conditions may speak of, or how sides are compared


class Option(msgspec.Struct, frozen=True):
    """One answer that a question offers.

    Attributes:
        name: the answer as typed.
        text: what it means.
        prefer: its rank for policies: the greatest is taken; only the order of the numbers matters.
        facts: what the option is about, for policies that look closer.
        aliases: other words for it.
        accepts: tells whether a typed word is another form of its name, where there are too many to list.
        passes: whether choosing it skips an optional question, as `NO` does; it is listed as the way to do so.
        brief: the same in a few words, for a question in one line; the text where it is empty.
        cost: what choosing it costs its owner; a person is shown the cheapest options first.
        price: the cost in words, such as `1 point`, told beside `brief`.
        of: whose thing it is, where options are of several characters; a person is shown their own first.
        like: an option before it that differs in its name alone: whatever comes of either has the same chances, so
            optimal decisions look at one of them.

    An option called `OTHER:HOW`, where there is an option `OTHER`, is another way to choose that one; a person is shown
    both together.
    """

    name: str
    text: str = ""
    prefer: int = 0
    facts: Mapping[str, Any] = EMPTY
    aliases: tuple[str, ...] = ()
    accepts: Callable[[str], bool] | None = None
    passes: bool = False
    brief: str = ""
    cost: int = 0
    price: str = ""
    of: str = ""
    like: str = ""


class RowRoll(msgspec.Struct, frozen=True):
    """What a row or an option rolls: the label, dice with every name filled in, the same in words, and the bounds."""

    label: str
    dice: str
    words: str
    formula: Bounded


class Choice(msgspec.Struct, frozen=True, gc=False):
    """One option of an outcome table, with conditions decided and values filled in.

    `rolls` are rolled first. Everything else is then worked out from the `option`, with the
    results among the facts: see `Rules.choice`.
    """

    text: str
    effects: tuple[Effect, ...] = ()
    asks: tuple[Ask, ...] = ()
    rolls: tuple[RowRoll, ...] = ()
    option: RowOption | None = None
    links: tuple[str, ...] = ()


class Ask(msgspec.Struct, frozen=True):
    """One question of an outcome table: who is asked under which label, and the effects of each option."""

    label: str
    who: str
    text: str
    optional: bool
    options: tuple[Option, ...]
    choices: dict[str, Choice]


class Settlement(msgspec.Struct, frozen=True, gc=False):
    """One row of an outcome table for one margin, with conditions decided and values filled in.

    `rolls` are rolled first; the row is then settled again, with the results among the facts. `links` are random tables
    that are rolled on. `outcome` is the band itself, or the one that the row counts as.
    """

    band: str
    outcome: str
    success: bool | None
    texts: tuple[str, ...]
    effects: tuple[Effect, ...]
    asks: tuple[Ask, ...]
    rolls: tuple[RowRoll, ...] = ()
    links: tuple[str, ...] = ()


class Settling:
    """Settles outcome tables of a ruleset; results are cached by margin.

    Args:
        rules: the ruleset in play, with its switches.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._fixed: dict[tuple[object, ...], bool] = {}
        self._settlements: dict[tuple[str, int | None, str], dict[Map[str, Any], Settlement]] = {}

    def settlement(self, table: str, margin: int | None, facts: Map[str, Any] = EMPTY, band: str = "") -> Settlement:
        """Return what a table says for a margin (None: nothing opposed the action), conditions decided.

        `facts` are what conditions (`when`) may speak of, beside switches and the margin, and the numbers that effects
        may name. With a `band`, that row stands whatever the margin is.
        """
        known = self._settlements.get((table, margin, band))
        if known is None:
            known = self._settlements[table, margin, band] = {}
        try:
            found = known.get(facts)
        except TypeError:  # code may give a dictionary
            facts = freeze(facts)
            found = known.get(facts)
        if found is None:
            found = self._settle(table, margin, facts, band)
            _keep(known, facts, found)
        return found

    def is_fixed(self, table: str, facts: Facts, heights: Heights, turn: int, most: int) -> bool:
        """Tell whether one side can add what it may and all comes to the same: band, texts, effects, questions.

        Args:
            facts: as of `settlement`, where the first of two sides acts; a function for other ways to compare sides,
                which only the differences between them may matter to.
        """
        own = heights[turn]
        key = table, facts, turn, most, tuple([height - own for height in heights])
        found = self._fixed.get(key)
        if found is None:
            rest = heights[turn + 1 :]
            try:
                first = self._at(table, facts, heights)
                found = all(
                    self._at(table, facts, (*heights[:turn], own + more, *rest)) == first for more in range(1, most + 1)
                )
            except FileError:  # which is told when it comes to that
                found = False
            _keep(self._fixed, key, found)
        return found

    def _at(self, table: str, facts: Facts, heights: Heights) -> tuple[Map[str, Any], Hashable, Settlement]:
        compared = (heights[0] - heights[1], facts, None) if isinstance(facts, Map) else facts(heights)
        margin, its, more = compared
        return its, more, self._settle(table, margin, its, "")

    def outcome_of(self, table: str, margin: int) -> str:
        """Return the outcome that an outcome table gives for a margin: its band, or what the row counts as."""
        band = self._rules.band_of(margin)
        return self._row(self._rules.table(table), band).counts_as or band

    def settled(self) -> set[tuple[str, str, bool]]:
        """Return the rows that runs came to so far, as (outcome table, band, whether the margin decided)."""
        return {
            (name, settlement.band, margin is not None and not band)
            for (name, margin, band), found in self._settlements.items()
            for settlement in found.values()
        }

    def _settle(self, name: str, margin: int | None, facts: Map[str, Any], band: str) -> Settlement:
        table = self._rules.table(name)
        if not band and margin is None and len(table) == 1:
            band = next(iter(table))
        band = band or self._rules.band_of(margin)
        row = self._row(table, band)
        outcome = row.counts_as or band
        return Settlement(
            band=band,
            outcome=outcome,
            success=self._rules.file.bands[outcome].success,
            texts=(told(row.text, row.rolls, facts),) if row.text else (),
            effects=self.filled(row.effects, margin, facts),
            asks=self._asks(row.ask, margin, facts),
            rolls=self._rolls(row.rolls, margin, facts),
            links=row.links,
        )

    def _rolls(self, rolls: Mapping[str, Formula], margin: int | None, facts: Map[str, Any]) -> tuple[RowRoll, ...]:
        if not rolls:
            return ()
        from rpgres.rulesets.templates import dice_key, fill, names_in

        numbers = {**facts, "margin": margin or 0}

        def value_of(name: str) -> int | str:
            found: int | str = numbers.get(dice_key(name), numbers.get(name, 0))
            return found

        def called(name: str, number: int) -> str:
            return f"{number} {name.replace('-', ' ')}"

        found = []
        for label, formula in rolls.items():
            template = bounded(formula).value
            words = " ".join(fill(template, value_of, show=called).split()) if names_in(template) else ""
            found.append(RowRoll(label, fill(template, value_of), words, bounded(formula)))
        return tuple(found)

    def _row(self, table: OutcomeTable, band: str) -> Row:
        """Return what a table says of a band; one that is also another has all of that one's, and its own after it."""
        row = table.get(band, Row())
        also = self._rules.file.bands[band].also
        if not also:
            return row
        base = table.get(also, Row())
        return Row(
            text=row.text or base.text,
            rolls={**base.rolls, **row.rolls},
            effects=[*base.effects, *row.effects],
            table=[*base.links, *row.links],
            ask={**base.ask, **row.ask},
            counts_as=row.counts_as,
        )

    def _asks(self, ask: Mapping[str, RowQuestion], margin: int | None, facts: Map[str, Any]) -> tuple[Ask, ...]:
        asks = []
        for label, question in ask.items():
            if not self.holds(question.when, question.unless, margin, facts):
                continue
            asked = self._rules.menu(question.menu) if question.menu else question
            who = asked.who
            if who.startswith("switch:"):
                who = self._rules.chosen[who.removeprefix("switch:")]
            options = {
                name: option
                for name, option in asked.options.items()
                if self.holds(option.when, option.unless, margin, facts)
            }
            if not asked.options:
                raise FileError(f"the question {label!r} of the ruleset {self._rules.id} has no options")
            if not options:
                continue  # conditions have ruled out every answer, so there is nothing to decide
            asks.append(
                Ask(
                    label,
                    who,
                    asked.text,
                    asked.optional,
                    tuple(Option(name, option.text, option.prefer) for name, option in options.items()),
                    {name: self._choice(option, margin, facts) for name, option in options.items()},
                )
            )
        return tuple(asks)

    def _choice(self, option: RowOption, margin: int | None, facts: Map[str, Any]) -> Choice:
        if option.rolls:
            return Choice(option.text, rolls=self._rolls(option.rolls, margin, facts), option=option)
        return self.choice(option, margin, facts)

    def choice(self, option: RowOption, margin: int | None, facts: Map[str, Any]) -> Choice:
        """Return the effects of an option once everything that it rolls is among the facts."""
        effects, asks = self.filled(option.effects, margin, facts), self._asks(option.ask, margin, facts)
        return Choice(option.text, effects, asks, links=option.links)

    def filled(
        self, effects: Sequence[Mapping[str, Any]], margin: int | None, facts: Map[str, Any]
    ) -> tuple[Effect, ...]:
        """Return the effects whose condition holds, with the margin and names of numbers replaced by the numbers."""
        filled = []
        for raw in effects:
            if self.holds(raw.get("when", EMPTY), raw.get("unless", EMPTY), margin, facts):
                fields = {key: value for key, value in raw.items() if key not in ("when", "unless")}
                filled.append(freeze(self.with_numbers(fields, margin, facts)))
        return tuple(filled)

    def with_numbers(self, effect: Mapping[str, Any], margin: int | None, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return an effect's fields with `margin` replaced by the number, and other numbers where its kind has some.

        Only in the fields that the kind of effect lists under `numbers` may another number be named; one that there is
        not this time, such as the opposition when nothing opposes, counts 0 like the margin.
        """
        known = self._rules.file.effects.get(effect.get("kind", ""))
        numeric = known.numeric if known is not None else ()
        filled = {}
        for key, value in effect.items():
            match = NUMBER.match(value) if key in numeric and isinstance(value, str) else None
            named = {match[2]: numbers.get(match[2], 0)} if match is not None else EMPTY
            filled[key] = value_of(value, margin, named)
        return filled

    def holds(
        self, when: Mapping[str, Any], unless: Mapping[str, Any], margin: int | None, facts: Map[str, Any]
    ) -> bool:
        """Tell whether a condition holds: everything in `when` is so, and not everything in `unless`."""
        return self._is_so(when, margin, facts) and not (unless and self._is_so(unless, margin, facts))

    def _is_so(self, condition: Mapping[str, Any], margin: int | None, facts: Map[str, Any]) -> bool:
        for key, wanted in condition.items():
            name, side = bounded_name(key)
            if side and key not in facts and key not in self._rules.chosen:
                number = margin if name == "margin" else facts.get(name)
                bound = _number(wanted, margin, facts)
                if not isinstance(number, int) or not isinstance(bound, int):
                    return False
                if number < bound if side == "from" else number > bound:
                    return False
            else:
                value = margin if key == "margin" else facts.get(key, self._rules.chosen.get(key, ""))
                choices = wanted if isinstance(wanted, list) else [wanted]
                if isinstance(value, int):
                    choices = [_number(one, margin, facts) for one in choices]
                if value not in choices:
                    return False
        return True


# The name of a number in an effect's value, with a sign and a simple sum: `margin`, `-damage`, `margin-1`, `half/2`.
NUMBER = re.compile(r"^(-?)([a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)(?:\s*([-+*/])\s*(\d+))?$")
BOUNDS = ("from", "to")  # how conditions bound a number: `margin-from`, `total-to`
MOST_SETTLED = 1000  # kept for one table and margin, or of what further margins come to: the last ones


def _keep(kept: dict[Any, Any], key: Hashable, value: object) -> None:
    """Keep a result in the place of the oldest, so that a process which runs for long has what it needs now."""
    if len(kept) >= MOST_SETTLED:
        kept.pop(next(iter(kept)), None)
    kept[key] = value


def bounded_name(key: str) -> tuple[str, str]:
    """Return the name that the key of a condition bounds, and the side; the key itself and no side if it bounds none.

    >>> bounded_name("margin-from"), bounded_name("weather")
    (('margin', 'from'), ('weather', ''))
    """
    name, _, side = key.rpartition("-")
    return (name, side) if name and side in BOUNDS else (key, "")


def _number(wanted: Any, margin: int | None, facts: Mapping[str, Any]) -> Any:
    """Return what a condition holds a number against: a number, or the one of that name."""
    if not isinstance(wanted, str):
        return wanted
    return margin if wanted == "margin" else facts.get(wanted)


def value_of(value: Any, margin: int | None, numbers: Mapping[str, Any] = EMPTY) -> Any:
    """Return an effect's value with `margin`, `-margin`, `margin-1` and the like replaced by the number.

    Division drops the fraction. What names no number stays as it is.

    >>> value_of("margin-1", 4)
    3
    >>> value_of("-damage", None, {"damage": 7})
    -7
    """
    if not isinstance(value, str):
        return value
    match = NUMBER.match(value)
    if match is None:
        return value
    sign, name, operator, operand = match.groups()
    number = (margin or 0) if name == "margin" else numbers.get(name)
    if not isinstance(number, int):
        return value
    number = -number if sign else number
    if not operator:
        return number
    return _OPERATORS[operator](number, int(operand)) if operator != "/" or int(operand) else value


_OPERATORS = {"+": add, "-": sub, "*": mul, "/": divide}
