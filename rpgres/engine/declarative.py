"""Actions that are described in data: dice over the sheet and parameters, opposition, a measure, bands. No procedure.

What `[actions.NAME] roll = ...` may say is in `rpgres.rulesets.schema.Action`. What needs procedure is a rule in code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

import msgspec

from rpgres.dice import Comparison, Dice, Reading, dice
from rpgres.dice.grammar import Pool
from rpgres.engine.table import Outcome, Table
from rpgres.errors import NotationError, RuleError, UsageError
from rpgres.model.state import EMPTY, GM, Character, Map, State
from rpgres.parameters.context import ACTOR
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import STATE, Action, Effect, Instead, Parameter, Range, Rules
from rpgres.rulesets.numbers import (
    COMPARED,
    NUMERIC,
    OPPONENT,
    OPPOSED,
    PLAIN,
    has_any_ability,
    known_names,
    names_of_comparison,
    sheet_names,
)
from rpgres.rulesets.references import spoken_of
from rpgres.rulesets.rows import bounded, templates
from rpgres.rulesets.templates import dice_key, fill, names_in, together

_READINGS: dict[str, Reading] = {
    "natural": Reading("natural"),
    "highest": Reading("highest"),
    "lowest": Reading("lowest"),
}


class Plan(msgspec.Struct, frozen=True):
    """What an action's data say, worked out once.

    Attributes:
        wanted: every name that bands, rows and numbers speak of, in the order of the data.
        readings: what is read off the roll, by name.
        numbers: the names among these of numbers that are worked out.
        bands: when each band comes about, exceptions first.
    """

    wanted: tuple[str, ...]
    readings: dict[str, Reading]
    numbers: tuple[str, ...]
    bands: dict[str, Range]


class Rolled(msgspec.Struct, frozen=True):
    """Where a roll stands: what was read off it, and what it was compared with."""

    reads: dict[str, int]
    total: int | None
    opposition: int | None
    margin: int | None

    @property
    def known(self) -> dict[str, int]:
        """Everything that is known now, by the names that data have for it."""
        compared = {"total": self.total, "opposition": self.opposition, "margin": self.margin}
        return self.reads | {name: number for name, number in compared.items() if number is not None}


def play_described(action: str, table: Table, actor: Character, /, **arguments: Any) -> Outcome:
    """Return the outcome of an action as its data describe it.

    Args:
        action: its name.
        table: where it is played.
        actor: who acts.
        arguments: the action's inputs, by parameter with underscores.

    Raises:
        UsageError: what was typed makes no dice, or who acts is out.
    """
    if actor.is_out:
        raise UsageError(f"{actor.name} is out, and cannot act in this scene any more")
    rules = table.rules
    described = rules.file.actions[action]
    plan = plan_of(rules, action)
    given = given_of(rules, action, actor, arguments, table.state)
    facts = given.before(plan.wanted)
    chosen = _instead(rules, described, facts)
    rolled = _roll(table, actor, chosen, plan, given)
    if rolled is None:
        known = {**facts, **given.meanings()}
        band = _unopposed_band(rules, action) if described.roll else ""
        outcome = table.settle(described.tables[0], None, roles=given.roles(), facts=Map(known), band=band)
        return completed(table, outcome, given)
    facts = given.after(rolled.known).facts(plan.wanted, known=facts)
    band = _band(rules, action, plan, chosen.by, facts, rolled.margin)
    known = {name: value for name, value in facts.items() if name in plan.wanted}
    known |= {key: meant for key, meant in given.meanings().items() if names_in(key)[0] in plan.wanted}
    table.merge((action, band, rolled.margin, Map(known)), holds=(STATE,))  # all that a table of outcomes goes by
    outcome = table.settle(
        described.tables[0],
        rolled.margin,
        total=_shown(chosen.by, facts, rolled),
        opposition=rolled.opposition,
        roles=given.roles(),
        facts=Map(known),
        band=band,
    )
    outcome = completed(table, outcome, given)
    told = {name: facts[name] for name in (*plan.readings, *plan.numbers) if name in facts}
    return msgspec.structs.replace(outcome, details=Map({**outcome.details, **told})) if told else outcome


def completed(table: Table, outcome: Outcome, given: Given, costs: tuple[Effect, ...] = ()) -> Outcome:
    """Return an outcome with what came before it and what the kits of the ruleset make of it.

    Args:
        table: where it is played.
        outcome: what the outcome table says.
        given: what was typed.
        costs: the effects of what was done before it was known.
    """
    for complete in table.rules.ruleset.completions:
        outcome = complete(table, outcome, given.values)
    return msgspec.structs.replace(outcome, effects=(*costs, *outcome.effects)) if costs else outcome


def _unopposed_band(rules: Rules, action: str) -> str:
    """Return the band of an action that nothing opposes.

    Raises:
        UsageError: the ruleset has none, so something has to.
    """
    if not any(band.unopposed for band in rules.file.bands.values()):
        raise UsageError(f"{rules.id} {action} needs an opposition; the ruleset defines no unopposed outcome")
    return rules.unopposed_band()


def _shown(by: str, facts: Mapping[str, Any], rolled: Rolled) -> int | None:
    """Return what the acting side came to: the measure, unless the margin is that of the total to something."""
    return rolled.total if rolled.margin is not None or by in ("", "total") else facts.get(by)


def given_of(rules: Rules, action: str, actor: Character, arguments: Mapping[str, Any], state: State) -> Given:
    """Return what the names of an action mean; the same again where it is the same run once more, as in odds."""
    key = f"given:{action}"
    last: Given | None = rules.compiled.get(key)
    if last is None or last.actor is not actor or last.state is not state or last.arguments != arguments:
        last = rules.compiled[key] = Given(rules, action, actor, arguments, state)
    return last


class Given:
    """What the names in braces mean: what was typed, what stands on sheets, and what the dice show once they lie."""

    def __init__(self, rules: Rules, action: str, actor: Character, arguments: Mapping[str, Any], state: State) -> None:
        self.rules = rules
        self.action = action
        self.actor = actor
        self.state = state
        self.arguments = arguments
        self.parameters = rules.parameters(action)
        self.described = rules.file.actions[action]
        self.values = {key.replace("_", "-"): _single(value) for key, value in arguments.items()}
        self.shown: Mapping[str, int] = EMPTY
        self._before: dict[str, Any] | None = None
        self._words: dict[str, str] = {}
        self._dice: dict[str, Dice] = {}
        self.laws: dict[tuple[str, ...], Any] = {}  # of an action with named dice, by what is asked for

    def after(self, shown: Mapping[str, int]) -> Given:
        """Return the same when the dice lie."""
        found = copy(self)
        found.shown = shown
        return found

    def number(self, name: str) -> int | str:
        """Return what a name stands for: a number, or dice as text for a choice and for whoever opposes.

        Raises:
            RuleError: it is worked out from others and cannot be.
        """
        if name in self.shown:
            return self.shown[name]
        if name in self.parameters:
            parameter = self.parameters[name]
            if parameter.kind != "counter":
                return _meant(parameter, self.values.get(name))
            holder = self.actor if parameter.holder == ACTOR else self.state
            return holder.counters.get(parameter.counter, 0)
        if name in self.described.numbers:
            return self._worked_out(name)
        if name.startswith(OPPOSED):
            other = self.opponent()
            return _on_sheet(other, name.removeprefix(OPPOSED)) if other is not None else 0
        return _on_sheet(self.actor, name, self.state)

    def _worked_out(self, name: str) -> int:
        formula = bounded(self.described.numbers[name])
        text = fill(formula.value, self.number)
        what = f"the number {name} of {self.rules.id} {self.action} is {text!r} here"
        try:
            read = dice(text)
        except NotationError as error:
            raise RuleError(f"{what}: {error.message}") from error
        if not read.constant:
            raise RuleError(f"{what}; it may not have dice")
        return formula.within(read.law.values[0])

    def knows(self, name: str) -> bool:
        """Tell whether there is what a name stands for: not before the roll, no margin where nothing opposes."""
        if name in self.described.numbers:
            return all(self.knows(need) for need in names_in(bounded(self.described.numbers[name]).value))
        return name in self.shown or not (name in PLAIN or name in COMPARED or name in self.described.counts)

    def called(self, name: str, number: int) -> str:
        """Return a number for people, with what it is: `2 quick`; one that is worked out as what it comes from."""
        words = name
        if name in self.parameters:
            value = self.values.get(name)
            if isinstance(value, Opposition):
                words = f"{value.ability} of {value.character}" if value.ability else ""
            elif isinstance(value, Rating) and value.name:
                words = value.name
        elif name in self.described.numbers:
            formula = bounded(self.described.numbers[name])
            is_free = formula.at_least is None and formula.at_most is None
            if is_free and names_in(formula.value) and self.number(name) == number:
                return together(self.words(formula.value))
        elif name.startswith(OPPOSED):
            other = self.opponent()
            words = f"{name.removeprefix(OPPOSED)} of {other.name if other is not None else OPPONENT}"
        return f"{number} {words.replace('-', ' ')}".rstrip()

    def words(self, template: str) -> str:
        """Return what is rolled, for people: `2d6 + 2 quick`."""
        if template not in self._words:
            words = " ".join(fill(template, self.number, show=self.called).split())
            is_one = template.strip() == f"{{{names_in(template)[0]}}}" if names_in(template) else False
            self._words[template] = words[1:-1] if is_one and words.startswith("(") else words
        return self._words[template]

    def dice(self, template: str) -> Dice:
        """Return the dice of a template.

        Raises:
            UsageError: what was typed makes none.
        """
        if template not in self._dice:
            text = fill(template, self.number)
            try:
                self._dice[template] = dice(text)
            except NotationError as error:
                what = f"{self.rules.id} {self.action} rolls {template!r}, which is {text!r} here"
                raise UsageError(f"{what}: {error.message}") from error
        return self._dice[template]

    def meanings(self) -> dict[str, int | str]:
        """Return what stands in dice for parameters that conditions know as words (choices, flags), by `dice_key`."""
        return {
            dice_key(name): _meant(parameter, self.values.get(name))
            for name, parameter in self.parameters.items()
            if parameter.kind in ("choice", "flag")
        }

    def opponent(self) -> Character | None:
        """Return whoever opposes or is aimed at, when it is somebody at the table."""
        for value in self.values.values():
            if isinstance(value, Opposition) and value.character:
                return self.state.characters[value.character]
        for name, parameter in self.parameters.items():
            if parameter.kind == "character" and self.values.get(name):
                return self.state.characters[self.values[name]]
        return None

    def roles(self) -> Map[str, str]:
        """Return who the roles of outcome tables stand for: a character's parameter is a role too."""
        opponent = self.opponent()
        named = {
            name: self.values[name]
            for name, parameter in self.parameters.items()
            if parameter.kind == "character" and self.values.get(name)
        }
        return Map({ACTOR: self.actor.name, OPPONENT: opponent.name if opponent else OPPONENT, GM: GM, **named})

    def before(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Return what conditions may speak of before the roll: choices, flags, numbers of parameters and sheets."""
        if self._before is None:
            self._before = self.facts(wanted, known=self.typed())
        return self._before

    def typed(self) -> dict[str, Any]:
        """Return choices, flags and numbers as conditions know them."""
        facts: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            value = self.values.get(name)
            if parameter.kind == "flag":
                facts[name] = "yes" if value else "no"
            elif parameter.kind in ("choice", "text"):
                facts[name] = value or ""
            elif parameter.kind in NUMERIC:
                facts[name] = self.number(name)
        return facts

    def facts(self, wanted: Iterable[str], *, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is known with every wanted number that there is by now."""
        facts = dict(known)
        for name in wanted:
            if name not in facts and name not in self.shown and self._is_number(name) and self.knows(name):
                facts[name] = self.number(name)
        return {**facts, **self.shown}

    def _is_number(self, name: str) -> bool:
        if name in self.described.numbers or name.startswith(OPPOSED):
            return True
        return name in self.actor.abilities or name in self.actor.counters or name in sheet_names(self.rules.file)


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _meant(parameter: Parameter, value: Any) -> int | str:
    if isinstance(value, Rating):
        return value.value
    if isinstance(value, Opposition):
        return value.value if value.dice is None else f"({value.dice.text}{value.value:+d})"
    if isinstance(value, bool) or value is None:
        return int(bool(value))
    if isinstance(value, str):
        return parameter.values.get(value, "0")
    return int(value)


def _on_sheet(character: Character, name: str, state: State | None = None) -> int:
    """Return an ability or counter; what nobody wrote down is 0, as on every sheet."""
    for numbers in (character.abilities, character.counters):
        if name in numbers:
            return numbers[name]
    return state.counters.get(name, 0) if state is not None else 0


# ---------------------------------------------------------------------------------------------------------------------
# The roll


def _instead(rules: Rules, described: Action, facts: Mapping[str, Any]) -> Instead:
    """Return the dice, opposition and measure that are in force under the circumstances."""
    found = Instead(roll=described.roll, vs=described.vs, by=described.by)
    for other in described.instead.values():
        if rules.settling.holds(other.when, other.unless, None, Map(facts)):
            return Instead(roll=other.roll or found.roll, vs=other.vs or found.vs, by=other.by or found.by)
    return found


def _roll(table: Table, actor: Character, chosen: Instead, plan: Plan, given: Given) -> Rolled | None:
    """Roll both sides and return where they stand; None when there is nothing to roll, or nothing in the way."""
    if not chosen.roll:
        return None
    other = _opposition(chosen.vs, given)
    described = given.described
    if chosen.vs and other is None and (not chosen.by or chosen.by in names_of_comparison(described)):
        return None  # nothing is in the way
    is_under = described.under
    own = given.dice(chosen.roll)
    who = other.character if other is not None else ""
    is_margin_all = not plan.readings and "total" not in plan.wanted and "opposition" not in plan.wanted
    if other is not None and other.dice is not None and is_margin_all and chosen.by in ("", "margin"):
        compared = table.versus(own, other.dice, other_add=other.value, by=(actor.name, who))
        margin = -compared.margin if is_under else compared.margin
        rolled = Rolled({}, compared.total, compared.opposition, margin)
    else:
        readings = dict(plan.readings)
        if other is not None or chosen.by in ("", "total") or "total" in plan.wanted:
            readings["total"] = Reading("total")
        total, values = table.read(own, tuple(readings.values()), "roll", by=actor.name)
        reads = dict(zip(readings, values, strict=True))
        rolled = Rolled(reads, reads.get("total", total), None, None)
        if other is not None:
            opposition = other.value + (table.roll(other.dice, "opposition", by=who) if other.dice is not None else 0)
            assert rolled.total is not None
            margin = opposition - rolled.total if is_under else rolled.total - opposition
            rolled = Rolled(reads, rolled.total, opposition, margin)
    if table.is_read:  # whoever weighs all runs reads no account
        _explain(table, chosen, own, other, given, rolled)
    return rolled


def _explain(table: Table, chosen: Instead, own: Dice, other: Opposition | None, given: Given, rolled: Rolled) -> None:
    """Say in the account what was added to the dice, which of them count, and where the opposition comes from."""
    words = given.words(chosen.roll)
    if chosen.by in rolled.reads and chosen.by != "total":
        table.explain("roll", f"{chosen.by.replace('-', ' ')} of {words}", counts=rolled.reads[chosen.by])
    elif not _is_plain(own):
        table.explain("roll", words)
    if other is None:
        return
    ability = other.ability.replace("-", " ")  # of somebody who was typed; else the dice stand in the data
    is_typed = _typed_alone(chosen.vs, given)
    words = str(other.value) if is_typed else given.words(chosen.vs)
    if other.dice is not None:
        shown = other.dice.text if is_typed else words
        table.explain("opposition", ", ".join(filter(None, ("" if _is_plain(other.dice) else shown, ability))))
    elif ability:
        table.tell(f"opposition ({other.character}): {other.value} from {ability}")
    elif words != str(other.value):
        whose = f" ({other.character})" if other.character else ""
        comes_to = "" if words.startswith(f"{other.value} ") else f" = {other.value}"
        table.tell(f"opposition{whose}: {words}{comes_to}")


def _is_plain(rolled: Dice) -> bool:
    """Tell whether all dice count and nothing else does, so that they speak for themselves."""
    node = rolled.node
    return isinstance(node, Pool) and not node.keep and node.target is None


def _opposition(template: str, given: Given) -> Opposition | None:
    """Return what opposes: what was typed for the one name in the template, or what its dice come to.

    None when nothing does, which is so too when whoever should be part of it was left out, or typed as `none`.
    """
    names = names_in(template)
    typed = [name for name in names if name in given.parameters and given.parameters[name].kind == "opposition"]
    if not template or any(given.values.get(name) is None for name in typed):
        return None
    if _typed_alone(template, given):
        value: Opposition = given.values[typed[0]]
        return value
    read = given.dice(template)
    who = given.opponent()
    name = who.name if who is not None else ""
    return Opposition(read.law.values[0], None, name) if read.constant else Opposition(0, read, name)


def _typed_alone(template: str, given: Given) -> bool:
    """Tell whether what opposes is what was typed for it, and nothing else."""
    parameter = given.parameters.get(template.strip()[1:-1]) if template.strip().startswith("{") else None
    return parameter is not None and parameter.kind == "opposition"


def _band(rules: Rules, action: str, plan: Plan, by: str, facts: Mapping[str, Any], margin: int | None) -> str:
    """Return the band that a roll comes to: the first exception that holds, else the one whose bounds hold it."""
    measure = by or ("margin" if margin is not None else "total")
    number = margin if measure == "margin" else facts.get(measure)
    known = Map(facts)
    for name, range_ in plan.bands.items():
        is_within = number is not None and range_.has(number)
        if not range_.is_exception:
            if is_within:
                return name
            continue
        if (is_within or not range_.has_bounds) and rules.settling.holds(range_.when, range_.unless, margin, known):
            return name
    raise RuleError(f"no band of {rules.id} {action} has the {measure} {number}")


# ---------------------------------------------------------------------------------------------------------------------
# What an action's data speak of


def plan_of(rules: Rules, action: str) -> Plan:
    """Return what an action's data say, worked out once for these rules."""
    key = f"described:{action}"
    if key not in rules.compiled:
        rules.compiled[key] = _plan(rules, action)
    plan: Plan = rules.compiled[key]
    return plan


def _plan(rules: Rules, action: str) -> Plan:
    described = rules.file.actions[action]
    bands = bands_of(rules, action)
    known, numbers = known_names(rules.file, action), templates(described.numbers)
    is_open = has_any_ability(rules.file)
    wanted: dict[str, None] = {}
    open_ = list(spoken_of(rules, action, bands))
    while open_:
        name = open_.pop(0)
        # Where abilities have any name, whatever is no switch may be one.
        if name not in wanted and (name in known or (is_open and name not in rules.file.switches)):
            wanted[name] = None
            open_ += names_in(numbers.get(name, ""))
    readings = {name: reading for name, reading in _READINGS.items() if name in wanted}
    for name, counted in described.counts.items():
        if name in wanted:
            readings[name] = Reading("count", Comparison.read(counted))
    return Plan(tuple(wanted), readings, tuple(name for name in numbers if name in wanted), bands)


def bands_of(rules: Rules, action: str) -> dict[str, Range]:
    """Return when each band comes about, exceptions first: by the action's own bands, or the ruleset's."""
    found: Mapping[str, Range] = rules.file.actions[action].ranges or rules.file.bands
    return dict(sorted(found.items(), key=lambda item: not item[1].is_exception))


def wanted_of(rules: Rules, action: str) -> Iterator[str]:
    """Yield every number that the rows of an action speak of."""
    known = known_names(rules.file, action)
    yield from dict.fromkeys(name for name in spoken_of(rules, action, {}) if name in known)
