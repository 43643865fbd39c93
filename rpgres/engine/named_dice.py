"""Actions whose dice have names: rolled in order, read, worked out; in odds one question with the law of all of it.

What `[actions.NAME.dice]` and what goes with it may say is in `rpgres.rulesets.actions`; it is written out in
`rpgres.rulesets.dice_plans`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from rpgres.dice import Dice, dice
from rpgres.dice.grammar import Pool
from rpgres.dice.groups import Again, added_dice, can_bring, faces_of
from rpgres.engine.named_inputs import Given, given_of
from rpgres.engine.table import Outcome, Table
from rpgres.errors import NotationError, RuleError, UsageError
from rpgres.model.state import Character, Map
from rpgres.parameters.values import Opposition
from rpgres.rulesets import STATE, Parameter, Rules
from rpgres.rulesets.actions import OPPOSITION
from rpgres.rulesets.dice_plans import BAND, GIVEN, OF_AN_OUTCOME, SLOT, DicePlan, GroupPlan, dice_plan
from rpgres.rulesets.formulas import Expr, Linear, Name, Value, linear, worker
from rpgres.rulesets.numbers import OPPOSED, sheet_names
from rpgres.rulesets.references import spoken_of

Worker = Callable[[Any], Any]


class Compiled(msgspec.Struct, frozen=True):
    """An action's plan, ready to be worked out.

    Attributes:
        plan: what the data say.
        numbers: works out each number.
        of_dice: by slot, which dice a reading is of; None for all.
        worth, again: by group, what a die counts for and whether it brings another.
        pieces: by group, its dice: text, and what works out the formulas between.
        wanted: what rows of outcomes and their effects speak of.
    """

    plan: DicePlan
    numbers: dict[str, Worker]
    of_dice: tuple[Worker | None, ...]
    worth: dict[str, Worker]
    again: dict[str, Worker]
    pieces: dict[str, tuple[str | Worker, ...]]
    wanted: tuple[str, ...]


class Known(dict[str, Any]):
    """What the names of formulas come to; numbers and readings are worked out when somebody asks for them."""

    def __init__(self, compiled: Compiled, base: Mapping[str, Any], thrown: Thrown) -> None:
        super().__init__(base)
        self.compiled = compiled
        self.thrown = thrown

    def __missing__(self, name: str) -> Any:
        made = self.compiled.numbers.get(name)
        value = made(self) if made is not None else read_off(self, int(name.removeprefix(SLOT)))
        self[name] = value
        return value

    def of_die(self, work: Worker, face: int, *, is_first: bool) -> Any:
        """Return what a formula comes to for one die."""
        self["face"], self["added"] = face, int(not is_first)
        return work(self)


Thrown = dict[str, tuple[tuple[int, bool], ...]]  # by group, the dice that count, each with whether it is a first one


def read_off(known: Known, place: int, *, alone: str = "") -> int:
    """Return a reading of dice that lie; of one group alone where its name is given."""
    compiled = known.compiled
    read, fits = compiled.plan.reads[place], compiled.of_dice[place]
    found = []
    for group in (alone,) if alone else read.groups:
        worth = compiled.worth.get(group)
        for face, is_first in known.thrown.get(group, ()):
            if fits is None or known.of_die(fits, face, is_first=is_first):
                found.append(face if worth is None else int(known.of_die(worth, face, is_first=is_first) or 0))
    match read.kind:
        case "sum":
            return sum(found)
        case "count":
            return len(found)
        case "highest":
            return max(found, default=0)
        case _:
            return min(found, default=0)


def compiled_of(rules: Rules, action: str) -> Compiled:
    """Return the plan of an action, made once for these rules.

    Raises:
        RuleError: a formula cannot be read.
    """
    key = f"dice:{action}"
    if key not in rules.compiled:
        try:
            wanted = tuple(dict.fromkeys(spoken_of(rules, action)))
            plan = dice_plan(rules.file, action, wanted=wanted)
        except RuleError as error:
            raise RuleError(f"{rules.id} {action}: {error.raw}") from None
        groups = plan.groups.values()
        rules.compiled[key] = Compiled(
            plan,
            {name: worker(expr) for name, expr in plan.numbers.items()},
            tuple(worker(read.of) if read.of is not None else None for read in plan.reads),
            {group.name: worker(group.worth) for group in groups if group.worth is not None},
            {group.name: worker(group.again) for group in groups if group.again is not None},
            {group.name: tuple(_piece(piece) for piece in group.pieces) for group in groups},
            wanted,
        )
    found: Compiled = rules.compiled[key]
    return found


def _piece(piece: str | Expr) -> str | Worker:
    if isinstance(piece, str):
        return piece
    # A name alone may stand for dice as they were typed.
    return (
        worker(Name(f"dice:{piece.name}"))
        if isinstance(piece, Name) and not piece.name.startswith(SLOT)
        else worker(piece)
    )


def play_named(action: str, table: Table, actor: Character, /, **arguments: Any) -> Outcome:
    """Return the outcome of an action with named dice.

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
    compiled = compiled_of(rules, action)
    given = given_of(rules, action, actor, arguments, table.state)
    described = rules.file.actions[action]
    base = base_of(compiled, given)
    if not described.dice:
        return table.settle(described.tables[0], None, roles=given.roles(), facts=Map(_facts(base, given)))
    told = described.told
    if table.is_read:
        known = _rolled(table, actor, Known(compiled, base, {}), given)
        found = {
            name: known[name]
            for name in dict.fromkeys((BAND, *OF_AN_OUTCOME, *compiled.wanted, *told.values()))
            if _has(known, name)
        }
        _explain(table, known, given)
    else:
        from rpgres.engine.named_odds import law_of

        asked = table.run.asked
        names = () if asked == "outcome" else (asked,) if asked in OF_AN_OUTCOME else (*OF_AN_OUTCOME, *compiled.wanted)
        names = tuple(dict.fromkeys((BAND, *(name for name in names if name in compiled.numbers or name in base))))
        law = law_of(rules, compiled, base, names, given)
        found = dict(zip(names, table.run.dealer.of_law("roll", law), strict=True))  # type: ignore[attr-defined]
    return _settled(table, action, found, given, told)


def _has(known: Known, name: str) -> bool:
    return name in known or name in known.compiled.numbers


def _settled(table: Table, action: str, found: Mapping[str, Any], given: Given, told: Mapping[str, str]) -> Outcome:
    rules, band = table.rules, found[BAND]
    if band is None and found.get("margin", 0) is None:
        raise UsageError(f"{rules.id} {action} needs an opposition; the ruleset defines no unopposed outcome")
    if band not in rules.file.bands:
        raise RuleError(f"{rules.id} {action} comes to {band!r}, which is no band of the ruleset")
    numbers = {name: _plain(found.get(name)) for name in found if name != BAND}
    total, margin, opposition = (numbers.get(name) for name in OF_AN_OUTCOME)
    facts = _facts(numbers, given)
    details = {name: numbers[number] for name, number in told.items() if numbers.get(number) not in (None, "")}
    table.merge((action, band, Map(facts), total, margin), holds=(STATE,))
    shown = ", ".join(f"{name.replace('-', ' ')} {value}" for name, value in details.items() if name != "total")
    if shown and table.is_read:
        table.tell(shown)
    margin, total, opposition = (one if isinstance(one, int) else None for one in (margin, total, opposition))
    table_name = rules.file.actions[action].tables[0]
    outcome = table.settle(
        table_name, margin, total=total, opposition=opposition, roles=given.roles(), facts=Map(facts), band=band
    )
    return msgspec.structs.replace(outcome, details=Map(details)) if details else outcome


def _facts(numbers: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """Return what rows of outcomes know: numbers, and flags and choices as words."""
    known = {name: value for name, value in numbers.items() if value is not None and name != "margin"}
    return {**known, **given.typed(), **given.meanings()}


def _plain(value: Value) -> Value:
    return int(value) if isinstance(value, bool) else value


# ---------------------------------------------------------------------------------------------------------------------
# What is known before the roll


def base_of(compiled: Compiled, given: Given) -> dict[str, Any]:
    """Return what the names of an action come to before its dice lie, with those that stand for dice (`dice:NAME`)."""
    base: dict[str, Any] = {}
    on_sheets = {*sheet_names(given.rules.file), *given.actor.abilities, *given.actor.counters}
    for name in compiled.wanted:
        if (name in on_sheets or name.startswith(OPPOSED)) and name not in compiled.numbers:
            base[name] = _value(given, name)
    for name in compiled.plan.free_names():
        if name.startswith(GIVEN):
            base[name] = int(given.values.get(name.removeprefix(GIVEN)) is not None)
        else:
            base[name] = _value(given, name)
    for group in compiled.plan.groups.values():
        for piece in group.pieces:
            if isinstance(piece, Name) and not piece.name.startswith(SLOT):
                name = piece.name
                is_number = name in compiled.numbers
                base[f"dice:{name}"] = _Later(name) if is_number else _dice(given, name)
    return base


class _Later(str):
    """A number's name, where dice might have been named."""

    __slots__ = ()


def _value(given: Given, name: str) -> Value:
    parameter = given.parameters.get(name)
    if parameter is None:
        return given.rules.chosen.get(name) or _whole(given.number(name))
    value = given.values.get(name)
    if parameter.kind in ("choice", "text", "character"):
        return value or None
    if isinstance(value, Opposition):
        return value.value
    return _whole(given.number(name)) if parameter.kind != "dice" else 0


def _whole(value: int | str) -> int:
    return value if isinstance(value, int) else 0


def _dice(given: Given, name: str) -> str:
    """Return what a name is in dice: as typed, as its choice says, or its number."""
    parameter: Parameter | None = given.parameters.get(name)
    value = given.values.get(name)
    if isinstance(value, Dice):
        return value.text
    if parameter is not None and parameter.kind == "dice":
        return ""
    if isinstance(value, Opposition):
        return str(given.number(name))
    if parameter is not None and parameter.kind == "choice":
        return parameter.values.get(value or "", "")
    return str(_value(given, name) or 0)


# ---------------------------------------------------------------------------------------------------------------------
# The roll


def filled(known: Known, group: str) -> Dice | None:
    """Return the dice of a group, with its formulas worked out; None where there are none.

    Raises:
        UsageError: they make no dice.
    """
    pieces = known.compiled.pieces[group]
    text, is_count = "", False
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            text += piece
            continue
        value = piece(known)
        if isinstance(value, _Later):
            value = known[value]
        if isinstance(value, bool):
            value = int(value)
        following = pieces[place + 1] if place + 1 < len(pieces) else ""
        is_count = isinstance(following, str) and following[:1] in ("d", "D") and not text.rstrip()[-1:].isalnum()
        if is_count and (value is None or int(value) < 1):
            return None
        negative = isinstance(value, int) and value < 0
        text += f"({value})" if negative else str(value or 0) if not isinstance(value, str) else value
    if not text.strip():
        return None
    try:
        return dice(text)
    except NotationError as error:
        template = known.compiled.plan.groups[group].template
        raise UsageError(f"the dice {group} are {template!r}, which is {text!r} here: {error.message}") from error


def again_of(known: Known, group: str, found: Dice) -> Again | None:
    """Return which faces of a group bring a further die; None where none does."""
    brings = known.compiled.again.get(group)
    if brings is None or not is_pool(found):
        return None
    pool = found.pools[0]
    if not can_bring(pool):
        raise UsageError(f"the dice {group} are {found.text} here, and such dice cannot bring others")
    first, added = (
        frozenset(face for face in pool.faces if known.of_die(brings, face, is_first=is_first))
        for is_first in (True, False)
    )
    if first and added >= {*pool.faces}:
        raise UsageError(f"the dice {group} are {found.text} here, and every face explodes forever")
    return Again(first, added) if first else None


def is_pool(found: Dice) -> bool:
    """Tell whether dice are one pool that can be read die by die; else only their value is read."""
    node = found.node
    return isinstance(node, Pool) and node.target is None and not node.explodes and not node.is_d66


def _rolled(table: Table, actor: Character, known: Known, given: Given) -> Known:
    """Roll the groups in order, and return what is known then."""
    for group in known.compiled.plan.groups.values():
        found = filled(known, group.name)
        if found is None:
            known.thrown[group.name] = ()
            continue
        again = again_of(known, group.name, found)
        rolled = added_dice(found, again) if again is not None else found
        if not rolled.pools:
            known.thrown[group.name] = ((rolled.law.values[0], True),)
            continue
        other = _opposing(group, given)
        by = other.character if other is not None else "" if group.name == OPPOSITION else actor.name
        throw = table.run.roll(rolled, group.name, by, is_shown=True).throw
        known.thrown[group.name] = faces_of(throw) if is_pool(found) else ((throw.value, True),)
    known.pop("face", None)
    known.pop("added", None)
    return known


def _explain(table: Table, known: Known, given: Given) -> None:
    """Say in the account what was added to dice, what those count for whose sum nobody reads, and who opposes."""
    plan = known.compiled.plan
    total = linear(plan.numbers["total"], partial(_terms, plan)) if "total" in plan.numbers else None
    slots = [plan.reads[int(name.removeprefix(SLOT))].groups for name in total or () if name.startswith(SLOT)]
    own = [group for groups in slots for group in groups if known.thrown[group]]
    for group, dice_ in known.thrown.items():
        other, found = _opposing(plan.groups[group], given), filled(known, group) if dice_ else None
        places = [place for place, read in enumerate(plan.reads) if group in read.groups and f"{SLOT}{place}" in known]
        if found is None:
            continue
        if other is not None and not found.pools:
            if other.ability:
                table.tell(f"{group} ({other.character}): {dice_[0][0]} from {other.ability}")
        elif other is not None:
            node = found.node
            is_plain = isinstance(node, Pool) and not node.keep and node.target is None
            ability = other.ability.replace("-", " ")
            table.explain(group, ", ".join(filter(None, ("" if is_plain else found.text, ability))))
        elif total is not None and own == [group]:
            added = [_added(known, given, name, factor) for name, factor in total.items() if not name.startswith(SLOT)]
            words = "".join(added)
            if words:
                table.explain(group, f"{found.text}{words}", counts=known["total"])
        elif places and all(plan.reads[place].kind != "sum" for place in places):
            table.explain(group, "", counts=read_off(known, places[0], alone=group))


def _terms(plan: DicePlan, name: str) -> Linear | None:
    """Return what a name adds to the total: what it is the sum of, or itself."""
    if name.startswith(SLOT):
        read = plan.reads[int(name.removeprefix(SLOT))]
        return {name: 1} if read.kind == "sum" and read.of is None else None
    inner = linear(plan.numbers[name], partial(_terms, plan)) if name in plan.numbers else None
    return {name: 1} if inner is None else inner


def _added(known: Known, given: Given, name: str, factor: int) -> str:
    """Return what was added to dice, for people: ` + 2 quick`."""
    value = known[name] if name else 1
    if not isinstance(value, int) or not value * factor:
        return ""
    times = f"{abs(factor)}*" if name and abs(factor) != 1 else ""
    shown = f"{times}{abs(value)} {given.called(name)}".rstrip() if name else str(abs(factor))
    return f" {'+' if value * factor > 0 else '-'} {shown}"


def _opposing(group: GroupPlan, given: Given) -> Opposition | None:
    """Return what was typed to oppose, where these are its dice."""
    found = [given.values.get(piece.name) for piece in group.pieces if isinstance(piece, Name)]
    return next((value for value in found if isinstance(value, Opposition)), None)
