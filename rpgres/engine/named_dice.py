"""Actions whose dice have names: rolled in order, read, worked out; in odds one question with the law of all of it.

What `[actions.NAME.dice]` and what goes with it may say is in `rpgres.rulesets.actions`; it is written out in
`rpgres.rulesets.dice_plans`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice import Dice, dice
from rpgres.dice.grammar import Pool
from rpgres.dice.groups import Again, added_dice, can_bring, faces_of
from rpgres.engine.declarative import Given, completed, given_of, wanted_of
from rpgres.engine.table import Outcome, Table
from rpgres.errors import NotationError, RuleError, UsageError
from rpgres.model.state import Character, Map
from rpgres.parameters.values import Opposition
from rpgres.rulesets import STATE, Effect, Parameter, Rules
from rpgres.rulesets.dice_plans import BAND, GIVEN, OF_AN_OUTCOME, SLOT, DicePlan, GroupPlan, dice_plan
from rpgres.rulesets.formulas import Expr, Name, Value, worker

if TYPE_CHECKING:
    from rpgres.engine.named_windows import Roll

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
            wanted = tuple(wanted_of(rules, action))
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
    base = base_of(compiled, given)
    told = rules.file.actions[action].told
    costs: tuple[Effect, ...] = ()
    roll = _windowed(table, actor, given, compiled, base) if rules.file.windows else None
    if table.is_read or roll is not None:
        known: Any
        if roll is not None:
            from rpgres.engine.named_windows import play_windows

            roll.throw()
            costs, known = play_windows(roll), roll.known()
        else:
            known = Known(compiled, base, {})
            roll_groups(table, actor, known, given, compiled.plan.groups)
        found = {
            name: known[name]
            for name in dict.fromkeys((BAND, *OF_AN_OUTCOME, *compiled.wanted, *told.values()))
            if name in known or name in compiled.numbers
        }
        if table.is_read:
            _explain(table, known)
    else:
        from rpgres.engine.named_odds import law_of

        asked = table.run.asked
        names = () if asked == "outcome" else (asked,) if asked in OF_AN_OUTCOME else (*OF_AN_OUTCOME, *compiled.wanted)
        names = tuple(dict.fromkeys((BAND, *(name for name in names if name in compiled.numbers or name in base))))
        law = law_of(rules, compiled, base, names, given)
        found = dict(zip(names, table.run.dealer.of_law("roll", law), strict=True))  # type: ignore[attr-defined]
    return _settled(table, action, found, given, told, costs)


def _windowed(table: Table, actor: Character, given: Given, compiled: Compiled, base: Mapping[str, Any]) -> Roll | None:
    """Return the roll for those who do something when it lies; None in odds where nobody can, or where nobody may."""
    from rpgres.engine.named_windows import Roll, has_windows, opens

    if not has_windows(table.rules, compiled):
        return None
    names = dict.fromkeys((BAND, *OF_AN_OUTCOME, *compiled.wanted))
    asked = tuple(name for name in names if name in compiled.numbers or name in base)
    roll = Roll(table, actor, given, compiled, base, asked)
    return roll if table.is_read or opens(roll) else None


def _settled(
    table: Table,
    action: str,
    found: Mapping[str, Any],
    given: Given,
    told: Mapping[str, str],
    costs: tuple[Effect, ...],
) -> Outcome:
    rules, band = table.rules, found[BAND]
    if band not in rules.file.bands:
        raise RuleError(f"{rules.id} {action} comes to {band!r}, which is no band of the ruleset")
    numbers = {name: _plain(found.get(name)) for name in found if name != BAND}
    total, margin, opposition = (numbers.get(name) for name in OF_AN_OUTCOME)
    facts = {name: value for name, value in numbers.items() if value is not None and name not in ("margin",)}
    facts |= {**given.typed(), **given.meanings()}  # conditions know flags and choices as words
    details = {name: numbers[number] for name, number in told.items() if numbers.get(number) not in (None, "")}
    table.merge((action, band, Map(facts), total, margin, costs), holds=(STATE,))
    shown = ", ".join(f"{name.replace('-', ' ')} {value}" for name, value in details.items() if name != "total")
    if shown and table.is_read:
        table.tell(shown)
    margin, total, opposition = (one if isinstance(one, int) else None for one in (margin, total, opposition))
    table_name = rules.file.actions[action].tables[0]
    outcome = table.settle(
        table_name, margin, total=total, opposition=opposition, roles=given.roles(), facts=Map(facts), band=band
    )
    outcome = completed(table, outcome, given, costs)
    return msgspec.structs.replace(outcome, details=Map({**outcome.details, **details})) if details else outcome


def _plain(value: Value) -> Value:
    return int(value) if isinstance(value, bool) else value


# ---------------------------------------------------------------------------------------------------------------------
# What is known before the roll


def base_of(compiled: Compiled, given: Given) -> dict[str, Any]:
    """Return what the names of an action come to before its dice lie, with those that stand for dice (`dice:NAME`)."""
    base: dict[str, Any] = {}
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
        return _whole(given.number(name))
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


def roll_groups(table: Table, actor: Character, known: Known, given: Given, groups: Collection[str]) -> None:
    """Roll some groups in the order of the action, and note how they lie."""
    for group in known.compiled.plan.groups.values():
        if group.name not in groups:
            continue
        found = filled(known, group.name)
        if found is None:
            known.thrown[group.name] = ()
            continue
        again = again_of(known, group.name, found)
        rolled = added_dice(found, again) if again is not None else found
        if not rolled.pools:
            known.thrown[group.name] = ((rolled.law.values[0], True),)
            continue
        throw = table.run.roll(rolled, group.name, _roller(group, given) or actor.name, is_shown=True).throw
        known.thrown[group.name] = faces_of(throw) if is_pool(found) else ((throw.value, True),)
    known.pop("face", None)
    known.pop("added", None)


def _explain(table: Table, known: Known) -> None:
    """Say in the account what dice count for whose sum nobody reads: by the first reading that was worked out."""
    reads = known.compiled.plan.reads
    for group, dice_ in known.thrown.items():
        places = [place for place, read in enumerate(reads) if group in read.groups and f"{SLOT}{place}" in known]
        if dice_ and places and all(reads[place].kind != "sum" for place in places):
            table.explain(group, "", counts=read_off(known, places[0], alone=group))


def _roller(group: GroupPlan, given: Given) -> str:
    """Return who rolls a group: whoever opposes, where it is their dice."""
    for piece in group.pieces:
        value = given.values.get(piece.name) if isinstance(piece, Name) else None
        if isinstance(value, Opposition):
            return value.character
    return ""
