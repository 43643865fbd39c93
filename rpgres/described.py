"""Actions that are described in data: dice over the sheet and parameters, opposition, a measure, bands. No procedure.

What `[actions.NAME] roll = ...` may say is in `rpgres.rulesets.records.Action`. What needs procedure is a rule in code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from rpgres.dice import Comparison, Dice, dice
from rpgres.dice.readings import Reading
from rpgres.errors import NotationError, RuleError, UsageError
from rpgres.inputs import ACTOR, Opposition, Rating
from rpgres.rulesets import Action, Instead, Parameter, Range, Row, RowQuestion, Rules
from rpgres.rulesets.numbers import (
    COMPARED,
    OPPONENT,
    OPPOSED,
    PLAIN,
    known_names,
    names_after_roll,
    names_of_comparison,
    sheet_names,
)
from rpgres.rulesets.rules import BOUNDS, NUMBER
from rpgres.rulesets.templates import dice_key, fill, names_in
from rpgres.state import GM, Character, Map, State
from rpgres.table import Outcome, Table

_READINGS: dict[str, Reading] = {
    "natural": Reading("natural"),
    "highest": Reading("highest"),
    "lowest": Reading("lowest"),
}


class Plan(msgspec.Struct, frozen=True):
    """What an action's data say, worked out once.

    Attributes:
        wanted: every name that bands, rows and numbers speak of.
        readings: what is read off the roll, by name.
        numbers: the numbers that are worked out, in an order in which each finds what it names.
        bands: when each band comes about, exceptions first.
    """

    wanted: frozenset[str]
    readings: dict[str, Reading]
    numbers: dict[str, str]
    bands: dict[str, Range]


class Rolled(msgspec.Struct, frozen=True):
    """Where a roll stands: what was read off it, and what it was compared with."""

    reads: dict[str, int]
    total: int | None
    opposition: int | None
    margin: int | None


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
        raise UsageError(f"{actor.name} is out, and takes no further part in this scene")
    rules = table.rules
    described = rules.file.actions[action]
    plan = plan_of(rules, action)
    given = _Given(rules, action, actor, arguments, table.state)
    facts = given.facts(plan.wanted)
    chosen = _instead(rules, described, facts)
    rolled = _roll(table, actor, chosen, plan, given)
    if rolled is None:
        known = {**facts, **given.meanings()}
        band = _unopposed_band(rules, action) if described.roll else ""
        return table.settle(described.tables[0], None, roles=given.roles(), facts=Map(known), band=band)
    numbers = _numbers(plan, given, rolled)
    facts = {**facts, **rolled.reads, **numbers}
    for name, number in (("total", rolled.total), ("opposition", rolled.opposition)):
        if number is not None:
            facts[name] = number
    band = _band(rules, action, plan, chosen.by, facts, rolled.margin)
    known = {name: value for name, value in facts.items() if name in plan.wanted}
    known |= {key: meant for key, meant in given.meanings().items() if names_in(key)[0] in plan.wanted}
    outcome = table.settle(
        described.tables[0],
        rolled.margin,
        total=_shown(chosen.by, facts, rolled.total),
        opposition=rolled.opposition,
        roles=given.roles(),
        facts=Map(known),
        band=band,
    )
    told = {name: facts[name] for name in (*plan.readings, *plan.numbers) if name in facts}
    return msgspec.structs.replace(outcome, details=Map(told)) if told else outcome


def _unopposed_band(rules: Rules, action: str) -> str:
    """Return the band of an action that nothing opposes.

    Raises:
        UsageError: the ruleset has none, so something has to.
    """
    if not any(band.unopposed for band in rules.file.bands.values()):
        raise UsageError(f"{rules.id} {action} needs something in the way; nothing is said of what it means without")
    return rules.unopposed_band()


def _shown(by: str, facts: Mapping[str, Any], total: int | None) -> int | None:
    """Return what the acting side came to: the measure, where it is something else than total or margin."""
    return total if by in ("", "total", "margin") else facts.get(by)


class _Given:
    """What was typed and what stands on sheets, as the names in braces mean it."""

    def __init__(self, rules: Rules, action: str, actor: Character, arguments: Mapping[str, Any], state: State) -> None:
        self.rules = rules
        self.action = action
        self.actor = actor
        self.state = state
        self.parameters = rules.parameters(action)
        self.numbers = rules.file.actions[action].numbers
        self.values = {key.replace("_", "-"): _single(value) for key, value in arguments.items()}

    def number(self, name: str) -> int | str:
        """Return what a name stands for: a number, or dice as text for a choice and for whoever opposes."""
        if name in self.parameters:
            parameter = self.parameters[name]
            if parameter.kind != "counter":
                return _meant(parameter, self.values.get(name))
            holder = self.actor if parameter.holder == ACTOR else self.state
            return holder.counters.get(parameter.counter, 0)
        if name in self.numbers:
            return _constant(self.numbers[name], self.number, what=f"{name} of {self.rules.id} {self.action}")
        if name.startswith(OPPOSED):
            other = self.opponent()
            return _on_sheet(other, name.removeprefix(OPPOSED)) if other is not None else 0
        return _on_sheet(self.actor, name, self.state)

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

    def facts(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Return what conditions may speak of before the roll: choices, flags and numbers of parameters and sheets."""
        facts: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            value = self.values.get(name)
            if parameter.kind == "flag":
                facts[name] = "yes" if value else "no"
            elif parameter.kind in ("choice", "text"):
                facts[name] = value or ""
            elif parameter.kind in ("ability", "integer", "counter"):
                facts[name] = self.number(name)
        for name in wanted:
            if name not in facts and (
                name.startswith(OPPOSED) or self._is_on_sheet(name) or self._is_known_before(name)
            ):
                facts[name] = self.number(name)
        return facts

    def _is_known_before(self, name: str) -> bool:
        """Tell whether a name is a number that can be worked out before the roll."""
        return name in self.numbers and name not in names_after_roll(self.rules.file.actions[self.action])

    def _is_on_sheet(self, name: str) -> bool:
        return name in sheet_names(self.rules.file) or name in self.actor.abilities or name in self.actor.counters


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _meant(parameter: Parameter, value: Any) -> int | str:
    if isinstance(value, Rating):
        return value.value
    if isinstance(value, Opposition):
        return value.value if value.dice is None else f"({value.dice.text} + {value.value})"
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
        if rules.holds(other.when, other.unless, None, Map(facts)):
            return Instead(roll=other.roll or found.roll, vs=other.vs or found.vs, by=other.by or found.by)
    return found


def _roll(table: Table, actor: Character, chosen: Instead, plan: Plan, given: _Given) -> Rolled | None:
    """Roll both sides and return where they stand; None when there is nothing to roll, or nothing in the way."""
    if not chosen.roll:
        return None
    other = _opposition(chosen.vs, given)
    described = table.rules.file.actions[given.action]
    if chosen.vs and other is None and (not chosen.by or chosen.by in names_of_comparison(described)):
        return None  # nothing is in the way
    is_under = described.under
    own = _dice(chosen.roll, given)
    who = other.character if other is not None else ""
    is_margin_all = not plan.readings and plan.wanted.isdisjoint(("total", "opposition"))
    if other is not None and other.dice is not None and is_margin_all and chosen.by in ("", "margin"):
        compared = table.versus(own, other.dice, other_add=other.value, by=(actor.name, who))
        margin = -compared.margin if is_under else compared.margin
        return Rolled({}, compared.total, compared.opposition, margin)
    readings = dict(plan.readings)
    if other is not None or chosen.by in ("", "total") or "total" in plan.wanted:
        readings["total"] = Reading("total")
    total, values = table.read(own, tuple(readings.values()), "roll", by=actor.name)
    reads = dict(zip(readings, values, strict=True))
    total = reads.get("total", total)
    if other is None:
        return Rolled(reads, total, None, None)
    opposition = other.value + (table.roll(other.dice, "opposition", by=who) if other.dice is not None else 0)
    assert total is not None
    return Rolled(reads, total, opposition, opposition - total if is_under else total - opposition)


def _opposition(template: str, given: _Given) -> Opposition | None:
    """Return what opposes: what was typed for the one name in the template, or what its dice come to.

    None when nothing does, which is so too when whoever should be part of it was left out, or typed as `none`.
    """
    names = names_in(template)
    typed = [name for name in names if name in given.parameters and given.parameters[name].kind == "opposition"]
    if not template or any(given.values.get(name) is None for name in typed):
        return None
    if typed and template.strip() == f"{{{typed[0]}}}":
        value: Opposition = given.values[typed[0]]
        return value
    read = _dice(template, given)
    who = given.opponent()
    name = who.name if who is not None else ""
    return Opposition(read.law.values[0], None, name) if read.constant else Opposition(0, read, name)


def _dice(template: str, given: _Given) -> Dice:
    text = fill(template, given.number)
    try:
        return dice(text)
    except NotationError as error:
        what = f"{given.rules.id} {given.action} rolls {template!r}, which is {text!r} here"
        raise UsageError(f"{what}: {error.message}") from error


def _numbers(plan: Plan, given: _Given, rolled: Rolled) -> dict[str, int]:
    """Return the numbers that the action works out; one that names what there is not is left out."""
    found: dict[str, int] = dict(rolled.reads)
    compared = {"total": rolled.total, "opposition": rolled.opposition, "margin": rolled.margin}
    found |= {name: number for name, number in compared.items() if number is not None}
    numbers: dict[str, int] = {}
    for name, template in plan.numbers.items():
        needs = names_in(template)
        if any(need not in found and (need in COMPARED or need in plan.numbers or need in PLAIN) for need in needs):
            continue
        numbers[name] = found[name] = _constant(
            template,
            lambda need: found[need] if need in found else given.number(need),
            what=f"{name} of {given.rules.id} {given.action}",
        )
    return numbers


def _constant(template: str, value_of: Callable[[str], int | str], *, what: str) -> int:
    """Return what a number is worked out to.

    Raises:
        RuleError: it cannot be worked out.
    """
    text = fill(template, value_of)
    try:
        read = dice(text)
    except NotationError as error:
        raise RuleError(f"the number {what} is {text!r} here: {error.message}") from error
    if not read.constant:
        raise RuleError(f"the number {what} is {text!r}: it may not have dice")
    return read.law.values[0]


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
        has_bounds = range_.from_ is not None or range_.to is not None
        if (is_within or not has_bounds) and rules.holds(range_.when, range_.unless, margin, known):
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
    known = known_names(rules.file, action)
    wanted = {name for name in spoken_of(rules, action, bands) if name in known}
    numbers = _in_order(described.numbers, wanted)
    for template in numbers.values():
        wanted |= set(names_in(template)) - described.numbers.keys()
    readings = {name: reading for name, reading in _READINGS.items() if name in wanted}
    for name, counted in described.counts.items():
        if name in wanted:
            readings[name] = Reading("count", Comparison.read(counted))
    return Plan(frozenset(wanted), readings, numbers, bands)


def bands_of(rules: Rules, action: str) -> dict[str, Range]:
    """Return when each band comes about, exceptions first: by the action's own bands, or the ruleset's."""
    own = rules.file.actions[action].bands
    found = own or {
        name: Range(from_=band.from_, to=band.to, when=band.when, unless=band.unless)
        for name, band in rules.file.bands.items()
    }
    return dict(sorted(found.items(), key=lambda item: not item[1].is_exception))


def _in_order(numbers: Mapping[str, str], wanted: set[str]) -> dict[str, str]:
    """Return the numbers that are spoken of, and those they name in turn, each after what it names."""
    found: dict[str, str] = {}

    def add(name: str, path: tuple[str, ...]) -> None:
        if name in found or name not in numbers:
            return
        if name in path:
            raise RuleError(f"the number {name} is worked out from itself")
        for need in names_in(numbers[name]):
            add(need, (*path, name))
        found[name] = numbers[name]

    for name in numbers:
        if name in wanted:
            add(name, ())
    return found


def spoken_of(rules: Rules, action: str, bands: Mapping[str, Range]) -> Iterator[str]:
    """Yield every name that an action's measure, bands and rows speak of, numbers and others."""
    described = rules.file.actions[action]
    yield from filter(None, (described.by, *(other.by for other in described.instead.values())))
    for other in described.instead.values():
        yield from _in_conditions(other.when, other.unless)
    for range_ in bands.values():
        yield from _in_conditions(range_.when, range_.unless)
    for name in rules.file.actions[action].tables:
        for row in rules.table(name).values():
            yield from _in_row(rules, row)


def _in_row(rules: Rules, row: Row) -> Iterator[str]:
    for template in row.rolls.values():
        yield from names_in(template)
    yield from _in_effects(rules, row.effects)
    yield from _in_questions(rules, row.ask, ())


def _in_questions(rules: Rules, ask: Mapping[str, RowQuestion], menus: tuple[str, ...]) -> Iterator[str]:
    for question in ask.values():
        yield from _in_conditions(question.when, question.unless)
        if question.menu in menus:
            continue
        asked = rules.menu(question.menu) if question.menu else question
        for option in asked.options.values():
            yield from _in_conditions(option.when, option.unless)
            for template in option.rolls.values():
                yield from names_in(template)
            yield from _in_effects(rules, option.effects)
            yield from _in_questions(rules, option.ask, (*menus, question.menu))


def _in_effects(rules: Rules, effects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for effect in effects:
        yield from _in_conditions(effect.get("when", {}), effect.get("unless", {}))
        known = rules.file.effects.get(effect.get("kind", ""))
        for key in known.numbers if known is not None else ():
            value = effect.get(key)
            match = NUMBER.match(value) if isinstance(value, str) else None
            if match is not None:
                yield match[2]


def _in_conditions(*conditions: Mapping[str, Any]) -> Iterator[str]:
    for condition in conditions:
        for key, wanted in condition.items():
            name, _, side = key.rpartition("-")
            yield name if side in BOUNDS and name else key
            yield key
            for one in wanted if isinstance(wanted, list) else [wanted]:
                if isinstance(one, str):
                    yield one
