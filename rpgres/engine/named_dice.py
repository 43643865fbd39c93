"""Actions whose dice have names: rolled in order, read, worked out; in odds one question with the law of all of it.

What `[actions.NAME.dice]` and what goes with it may say is in `rpgres.rulesets.actions`; it is written out in
`rpgres.rulesets.dice_plans`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice import Dice, dice
from rpgres.dice.grammar import Pool
from rpgres.dice.groups import Again, added_dice, can_bring, faces_of
from rpgres.engine.named_asks import (
    Asked,
    AskedOption,
    Chosen,
    Die,
    Offer,
    Purse,
    Thrown,
    answers,
    asked_of,
    effects_of,
    kept,
    picks,
    question_of,
    throws,
)
from rpgres.engine.named_inputs import Given, completed, given_of
from rpgres.engine.players import NO
from rpgres.engine.table import Outcome, Table
from rpgres.errors import NotationError, RuleError, UsageError
from rpgres.model.state import Character, Map
from rpgres.parameters.values import Opposition
from rpgres.rulesets import STATE, Effect, Rules
from rpgres.rulesets.actions import OPPOSITION
from rpgres.rulesets.dice_plans import BAND, GIVEN, OF_AN_OUTCOME, SLOT, DicePlan, GroupPlan, dice_plan
from rpgres.rulesets.formulas import Expr, Linear, Name, Value, linear, worker
from rpgres.rulesets.numbers import OPPOSED, sheet_names
from rpgres.rulesets.references import spoken_of

if TYPE_CHECKING:
    from rpgres.engine.named_kinds import Kinds

Worker = Callable[[Any], Any]


class Compiled(msgspec.Struct, frozen=True):
    """An action's plan, ready to be worked out.

    Attributes:
        plan: what the data say.
        numbers: works out each number.
        of_dice: by slot, which dice a reading is of; None for all.
        worth, again: by group, what a die counts for and whether it brings another.
        pieces: by group, its dice: text, and what works out the formulas between.
        asks: its questions, by label.
        wanted: what rows of outcomes and their effects speak of, and effects of answers.
    """

    plan: DicePlan
    numbers: dict[str, Worker]
    of_dice: tuple[Worker | None, ...]
    worth: dict[str, Worker]
    again: dict[str, Worker]
    pieces: dict[str, tuple[str | Worker, ...]]
    asks: dict[str, Asked]
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

    def of_die(self, work: Worker, die: Die) -> Any:
        """Return what a formula comes to for one die."""
        self["face"], self["added"], self["thrown"] = die.face, int(not die.is_first), die.thrown
        return work(self)

    def counts(self, group: str, die: Die) -> int:
        """Return what a die counts for in sums, and what the highest and lowest go by."""
        worth = self.compiled.worth.get(group)
        return die.face if worth is None else int(self.of_die(worth, die) or 0)

    def read_of(self, place: int, group: str, die: Die) -> int | None:
        """Return what a die brings to a reading; None where it does not belong to it."""
        read, fits = self.compiled.plan.reads[place], self.compiled.of_dice[place]
        if group not in read.groups or (fits is not None and not self.of_die(fits, die)):
            return None
        return 1 if read.kind == "count" else self.counts(group, die)


def read_off(known: Known, place: int, *, alone: str = "") -> int:
    """Return a reading of dice that lie; of one group alone where its name is given."""
    read = known.compiled.plan.reads[place]
    brought = (
        known.read_of(place, group, die)
        for group in ((alone,) if alone else read.groups)
        for die in known.thrown.get(group, ())
    )
    found = [one for one in brought if one is not None]
    match read.kind:
        case "sum" | "count":
            return sum(found)
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
            {label: asked_of(ask, plan) for label, ask in plan.asks.items()},
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
    if not rules.file.actions[action].dice:
        facts = Map(_facts(base, given))
        outcome = table.settle(rules.file.actions[action].tables[0], None, roles=given.roles(), facts=facts)
        return completed(table, outcome, given)
    course = Course(rules, action, compiled, base, given, Purse(rules, action, table.state, given.roles()))
    windowed = None
    if rules.file.windows:
        from rpgres.engine.named_windows import played_with_windows

        windowed = played_with_windows(table, actor, course)
    found, chosen, costs = windowed if windowed is not None else (*played(table, actor, course), ())
    return _settled(table, action, found, given, chosen, costs)


def _has(known: Known, name: str) -> bool:
    return name in known or name in known.compiled.numbers


def _settled(
    table: Table,
    action: str,
    found: Mapping[str, Any],
    given: Given,
    chosen: tuple[Chosen, ...],
    costs: tuple[Effect, ...],
) -> Outcome:
    rules, band, told = table.rules, found[BAND], table.rules.file.actions[action].told
    if band is None and found.get("margin") is None and OPPOSITION in rules.file.actions[action].groups:
        raise UsageError(f"{rules.id} {action} needs an opposition; the ruleset defines no unopposed outcome")
    if band not in rules.file.bands:
        raise RuleError(f"{rules.id} {action} comes to {band!r}, which is no band of the ruleset")
    numbers = {name: plain(found.get(name)) for name in found if name != BAND}
    total, margin, opposition = (numbers.get(name) for name in OF_AN_OUTCOME)
    facts = _facts(numbers, given)
    details = {name: numbers[number] for name, number in told.items() if numbers.get(number) not in (None, "")}
    table.merge((action, band, Map(facts), total, margin, chosen, costs), holds=(STATE,))
    shown = ", ".join(f"{name.replace('-', ' ')} {value}" for name, value in details.items() if name != "total")
    if shown and table.is_read:
        table.tell(shown)
    margin, total, opposition = (one if isinstance(one, int) else None for one in (margin, total, opposition))
    table_name = rules.file.actions[action].tables[0]
    outcome = table.settle(
        table_name, margin, total=total, opposition=opposition, roles=given.roles(), facts=Map(facts), band=band
    )
    outcome = outcome.plus(effects_of(rules, action, chosen, margin, Map(facts))) if chosen else outcome
    outcome = completed(table, outcome, given, costs)
    return msgspec.structs.replace(outcome, details=Map({**outcome.details, **details})) if details else outcome


def _facts(numbers: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """Return what rows of outcomes know: numbers, and flags and choices as words."""
    known = {name: value for name, value in numbers.items() if value is not None and name != "margin"}
    return {**known, **given.typed(), **given.meanings()}


def plain(value: Value) -> Value:
    """Return a value as rows have it: a flag as 1 or 0."""
    return int(value) if isinstance(value, bool) else value


# ---------------------------------------------------------------------------------------------------------------------
# What is known before the roll


def base_of(compiled: Compiled, given: Given) -> dict[str, Any]:
    """Return what the names of an action come to before its dice lie, with those that stand for dice (`dice:NAME`)."""
    base: dict[str, Any] = {}
    on_sheets = {*sheet_names(given.rules.file), *given.actor.abilities, *given.actor.counters}
    for name in compiled.wanted:
        if (name in on_sheets or name.startswith(OPPOSED)) and name not in compiled.numbers:
            base[name] = given.value(name)
    for name in compiled.plan.free_names():
        if name.startswith(GIVEN):
            base[name] = int(given.values.get(name.removeprefix(GIVEN)) is not None)
        else:
            base[name] = given.value(name)
    for group in compiled.plan.groups.values():
        for piece in group.pieces:
            if isinstance(piece, Name) and not piece.name.startswith(SLOT):
                name = piece.name
                is_number = name in compiled.numbers
                base[f"dice:{name}"] = Later(name) if is_number else given.in_dice(name)
    return base


class Later(str):
    """A number's name, where dice might have been named."""

    __slots__ = ()


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
        if isinstance(value, Later):
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
        frozenset(face for face in pool.faces if known.of_die(brings, Die(face, is_first)))
        for is_first in (True, False)
    )
    if first and added >= {*pool.faces}:
        raise UsageError(f"the dice {group} are {found.text} here, and every face explodes forever")
    return Again(first, added) if first else None


def is_pool(found: Dice) -> bool:
    """Tell whether dice are one pool that can be read die by die; else only their value is read."""
    node = found.node
    return isinstance(node, Pool) and node.target is None and not node.explodes and not node.is_d66


def as_many(found: Dice, group: str, count: int) -> Dice:
    """Return so many of the dice of a group, to be thrown again.

    Raises:
        UsageError: they are no pool of which all dice count.
    """
    pool = found.node
    if not isinstance(pool, Pool) or not is_pool(found) or pool.keep:
        raise UsageError(f"the dice {group} are {found.text} here, and such dice cannot be thrown again one by one")
    return found if pool.count == count else Dice(msgspec.structs.replace(pool, count=count))


class Course:
    """An action with named dice and its inputs, as far as they stay the same while it is played.

    No record, as what is kept with the inputs refers to it.

    Args:
        rules, action, compiled: the action.
        base: what its names come to before its dice lie; see `base_of`.
        given: its inputs.
        purse: what those who are asked have to spend.
    """

    __slots__ = ("action", "base", "compiled", "given", "purse", "rules")

    def __init__(
        self, rules: Rules, action: str, compiled: Compiled, base: Mapping[str, Any], given: Given, purse: Purse
    ) -> None:
        self.rules, self.action, self.compiled = rules, action, compiled
        self.base, self.given, self.purse = base, given, purse

    def known(self, chosen: tuple[Chosen, ...], thrown: Thrown) -> Known:
        """Return what is known after some answers, when dice lie."""
        if not self.compiled.plan.asks:
            return Known(self.compiled, self.base, thrown)
        base = self.purse.after(self.base, chosen) if chosen else self.base
        return Known(self.compiled, {**base, **answers(self.compiled.plan, chosen)}, thrown)

    def offers(self, label: str, known: Known, chosen: tuple[Chosen, ...]) -> tuple[Offer, ...]:
        """Return what may be answered to a question as things stand; nothing where it is not asked."""
        asked, purse, found = self.compiled.asks[label], self.purse, list[Offer]()
        if not purse.who(label) or not asked.when(known):
            return ()
        for name, option in asked.options.items():
            if not option.when(known):
                continue
            cost = tuple((of, max(0, int(much(known) or 0))) for of, much in option.cost.items())
            if any(much > purse.left(label, of, chosen) for of, much in cost):
                continue
            answer = Chosen(label, name, cost)
            prefer = int(option.prefer(known) or 0)
            ways = self._ways(known, name, option)
            found += (Offer(typed, answer, prefer, _by_group(dice_, option.reroll)) for typed, dice_ in ways)
        return tuple(found)

    def _ways(self, known: Known, name: str, option: AskedOption) -> Iterator[tuple[str, list[tuple[str, Die]]]]:
        """Yield the ways to choose an option: what is typed, and the dice that are thrown again."""
        fitting = [
            (group, die)
            for group, fits in option.reroll.items()
            for die in known.thrown.get(group, ())
            if known.of_die(fits, die)
        ]
        fitting.sort(key=lambda one: (known.counts(*one), one[1].face))
        most = len(fitting) if option.most is None else max(0, int(option.most(known) or 0))
        least = fitting[:most]
        if least or not option.reroll:
            yield name, least
        if option.pick:
            alike = self.kinds.of
            first = sorted((group, alike(group, die)) for group, die in least)
            for dice_ in picks(fitting, most, alike):
                if sorted((group, alike(group, die)) for group, die in dice_) != first:
                    shown = (f"{group}-{die.face}" if len(option.reroll) > 1 else str(die.face) for group, die in dice_)
                    yield "-".join((name, *shown)), dice_

    @property
    def names(self) -> tuple[str, ...]:
        """What anybody asks for when the action is over."""
        told = self.rules.file.actions[self.action].told.values()
        wanted = dict.fromkeys((BAND, *OF_AN_OUTCOME, *self.compiled.wanted, *told))
        known = self.known((), {})
        return tuple(name for name in wanted if _has(known, name))

    @property
    def kinds(self) -> Kinds:
        """Which dice are alike."""
        from rpgres.engine.named_kinds import Kinds

        laws = self.given.laws
        if ("kinds",) not in laws:
            laws["kinds",] = Kinds(self, self.names)
        found: Kinds = laws["kinds",]
        return found

    def facts(self, label: str, known: Known) -> Map[str, Any]:
        """Return the numbers that a question is about."""
        told = {name: plain(known[name]) for name in self.compiled.asks[label].told}
        return Map({name: value for name, value in told.items() if value is not None})

    def next(self, place: int, chosen: tuple[Chosen, ...]) -> int:
        """Return the place of the step that follows a question that was answered: itself, or the next."""
        label = self.compiled.plan.steps[place]
        times = sum(1 for one in chosen if one.label == label)
        return place if times < self.rules.file.actions[self.action].ask[label].times else place + 1


def _by_group(dice_: list[tuple[str, Die]], groups: Iterable[str]) -> tuple[tuple[str, tuple[Die, ...]], ...]:
    """Return dice by group, in the order in which these are thrown again."""
    found = ((group, tuple(die for its, die in dice_ if its == group)) for group in groups)
    return tuple((group, its) for group, its in found if its)


def played(table: Table, actor: Character, course: Course) -> tuple[dict[str, Any], tuple[Chosen, ...]]:
    """Return what the names of an action come to, and what was answered."""
    if not table.is_read:
        from rpgres.engine.named_courses import weighed

        return weighed(table, course, 0, (), {})
    thrown, chosen, fresh = rolled(table, actor, course)
    known = course.known(chosen, thrown)
    found = {name: known[name] for name in course.names}
    explain(table, known, course.given, fresh)
    return found, chosen


def rolled(
    table: Table, actor: Character, course: Course
) -> tuple[dict[str, tuple[Die, ...]], tuple[Chosen, ...], list[str]]:
    """Roll and ask in the order of an action; return how its dice lie, what was answered, what is to be explained."""
    compiled, chosen = course.compiled, tuple[Chosen, ...]()
    plan, thrown, place = compiled.plan, dict[str, tuple[Die, ...]](), 0
    fresh = list[str]()  # groups whose last throw is still to be explained
    while place < len(plan.steps):
        step = plan.steps[place]
        known = course.known(chosen, thrown)
        if step in plan.groups:
            thrown[step] = throw_of(table, actor, course, known, step)
            fresh.append(step)
            place += 1
            continue
        offers = {offer.answer: offer for offer in course.offers(step, known, chosen)}
        if not offers:
            place += 1
            continue
        if table.is_read:
            explain(table, known, course.given, fresh)
        fresh.clear()
        asked = question_of(
            course.rules, course.action, step, course.purse.who(step), offers.values(), course.facts(step, known)
        )
        answer = table.run.ask(asked)
        if answer == NO:
            place += 1
            continue
        chosen = (*chosen, offers[answer].chosen)
        place = course.next(place, chosen)
        known = course.known(chosen, thrown)
        for group, again in offers[answer].again:
            stay = kept(thrown[group], again)
            fresh.append(group)
            thrown[group] = (*stay, *throw_of(table, actor, course, known, group, again))
    return thrown, chosen, fresh


def throw_of(
    table: Table, actor: Character, course: Course, known: Known, group: str, again: tuple[Die, ...] = ()
) -> tuple[Die, ...]:
    """Roll a group, or some of its dice again, and return those that count; in odds one of each kind of result."""
    if not table.is_read:
        from rpgres.engine.named_courses import drawn

        return drawn(table, course, known, group, again)
    found = filled(known, group)
    if found is None:
        return ()
    number = throws(known.thrown[group]) + 1 if again else 1
    found = as_many(found, group, len(again)) if again else found
    brings = again_of(known, group, found)
    rolled = added_dice(found, brings) if brings is not None else found
    plan_of = known.compiled.plan.groups[group]
    other = _opposing(plan_of, course.given)
    if not rolled.pools:
        if other is not None:
            _explain_opposition(table, plan_of, other, found)
        return (Die(rolled.law.values[0]),)
    by = other.character if other is not None else "" if group == OPPOSITION else actor.name
    throw = table.run.roll(rolled, group, by, is_shown=True).throw
    if other is not None:
        _explain_opposition(table, plan_of, other, found)
    if not is_pool(found):
        return (Die(throw.value),)
    return tuple(Die(face, is_first, number) for face, is_first in faces_of(throw))


def explain(table: Table, known: Known, given: Given, groups: Iterable[str]) -> None:
    """Say in the account what the last throw of groups counts for: with what is added to it, or by what is read.

    Of several readings it is the first that the outcome depends on.
    """
    plan = known.compiled.plan
    _ = known[BAND]
    used = [place for place in range(len(plan.reads)) if f"{SLOT}{place}" in known]
    total = linear(plan.numbers["total"], partial(_terms, plan)) if "total" in plan.numbers else None
    slots = [plan.reads[int(name.removeprefix(SLOT))].groups for name in total or () if name.startswith(SLOT)]
    own = [group for groups in slots for group in groups if known.thrown.get(group)]
    for group in groups:
        dice_ = known.thrown[group]
        found = filled(known, group) if dice_ else None
        places = [place for place in used if group in plan.reads[place].groups]
        if found is None or _opposing(plan.groups[group], given) is not None:
            continue
        if total is not None and own == [group]:
            words = "".join(_added(known, given, name, factor) for name, factor in total.items() if name[:1] != SLOT)
            if words:
                table.explain(group, f"{found.text}{words}", counts=known["total"])
        elif places and all(plan.reads[place].kind != "sum" for place in places):
            last = Known(known.compiled, known, {group: tuple(die for die in dice_ if die.thrown == throws(dice_))})
            table.explain(group, "", counts=read_off(last, places[0], alone=group))


def _explain_opposition(table: Table, group: GroupPlan, other: Opposition, found: Dice) -> None:
    node, ability = found.node, other.ability.replace("-", " ")
    if not found.pools:
        if ability:
            more = "" if len(group.template.split()) > 1 else f" from {ability}"
            table.tell(f"{group.name} ({other.character}): {found.law.values[0]}{more}")
        return
    is_plain = isinstance(node, Pool) and not node.keep and node.target is None
    table.explain(group.name, ", ".join(filter(None, ("" if is_plain else found.text, ability))))


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
