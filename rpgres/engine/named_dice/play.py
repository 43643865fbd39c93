"""Actions with named dice: rolled and asked in order, then read and evaluated.

`rpgres.rulesets.actions` has the records of `[actions.NAME.dice]` and the keys beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice import Dice
from rpgres.dice.grammar import Pool
from rpgres.dice.groups import added_dice, faces_of
from rpgres.engine.decisions import ask
from rpgres.engine.named_dice.inputs import Given
from rpgres.engine.named_dice.questions import Chosen, Offer, Purse, answers, effects_of, kept, picks, question_of
from rpgres.engine.named_dice.values import (
    Die,
    Known,
    Rolled,
    again_of,
    as_many,
    base_of,
    filled,
    is_pool,
    plain,
    read_off,
    roll_count,
)
from rpgres.engine.players import NO, Question
from rpgres.engine.table import Outcome, Table, once
from rpgres.errors import RuleError, UsageError
from rpgres.model.state import Character, Map, State
from rpgres.parameters.values import Opposition
from rpgres.rulesets import STATE, Effect, Rules
from rpgres.rulesets.actions import OPPOSITION
from rpgres.rulesets.dice_plans import BAND, OF_AN_OUTCOME, SLOT, DicePlan, GroupPlan, OptionPlan
from rpgres.rulesets.formulas import Linear, linear
from rpgres.rulesets.references import plan_of

if TYPE_CHECKING:
    from rpgres.engine.named_dice.equivalence import Equivalence


def play_named(action: str, table: Table, actor: Character, /, **arguments: Any) -> Outcome:
    """Return the outcome of an action with named dice.

    Args:
        arguments: the action's inputs, by parameter with underscores.

    Raises:
        UsageError: the inputs make no dice, or the actor is out.
    """
    if actor.is_out:
        raise UsageError(f"{actor.name} is out, and cannot act in this scene any more")
    rules = table.rules
    bound = once(table, bound_of, rules, action, actor, arguments, table.state)
    given = bound.given
    if not rules.file.actions[action].dice:
        facts = Map(_facts(bound.base, given))
        outcome = table.settle(rules.file.actions[action].tables[0], None, roles=given.roles(), facts=facts)
        return _completed(table, outcome, given)
    windowed = None
    if rules.file.windows:
        from rpgres.engine.named_dice.windows import played_with_windows

        windowed = played_with_windows(table, bound)
    found, chosen, costs = windowed if windowed is not None else (*played(table, bound), ())
    return _settled(table, bound, found, chosen, costs)


def _settled(
    table: Table,
    bound: BoundAction,
    found: Mapping[str, Any],
    chosen: tuple[Chosen, ...],
    costs: tuple[Effect, ...],
) -> Outcome:
    rules, action, given, band = table.rules, bound.action, bound.given, found[BAND]
    described = rules.file.actions[action]
    if band is None and found.get("margin") is None and OPPOSITION in described.groups:
        raise UsageError(f"{rules.id} {action} needs an opposition; the ruleset defines no unopposed outcome")
    if band not in rules.file.bands:
        raise RuleError(f"{rules.id} {action} comes to {band!r}, which is no band of the ruleset")
    numbers = {name: plain(found.get(name)) for name in found if name != BAND}
    total, margin, opposition = (numbers.get(name) for name in OF_AN_OUTCOME)
    facts = Map(_facts(numbers, given))
    told = described.told.items()
    details = Map({name: numbers[number] for name, number in told if numbers.get(number) not in (None, "")})
    table.merge((action, band, facts, total, margin, chosen, costs), holds=(STATE,))
    shown = ", ".join(f"{name.replace('-', ' ')} {value}" for name, value in details.items() if name != "total")
    if shown and table.is_read:
        table.tell(shown)
    margin, total, opposition = (one if isinstance(one, int) else None for one in (margin, total, opposition))
    roles, name = given.roles(), described.tables[0]
    outcome = table.settle(
        name,
        margin,
        total=total,
        opposition=opposition,
        roles=roles,
        facts=facts,
        band=band,
        about=Map({name: details[name] for name, number in told if name in details and number in bound.plan.wanted}),
        details=details,
    )
    outcome = outcome.plus(effects_of(rules, action, chosen, margin, facts)) if chosen else outcome
    return _completed(table, outcome, given, costs)


def _completed(table: Table, outcome: Outcome, given: Given, costs: tuple[Effect, ...] = ()) -> Outcome:
    """Return an outcome completed by the kits of the ruleset, after the effects of costs."""
    for complete in table.rules.ruleset.completions:
        outcome = complete(table, outcome, given.values)
    return msgspec.structs.replace(outcome, effects=(*costs, *outcome.effects)) if costs else outcome


def _facts(numbers: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """Return the facts for conditions of outcome rows: numbers, and flags and choices as words."""
    known = {name: value for name, value in numbers.items() if value is not None and name != "margin"}
    return {**known, **given.typed(), **given.meanings()}


# ---------------------------------------------------------------------------------------------------------------------
# The roll


def bound_of(rules: Rules, action: str, actor: Character, arguments: Mapping[str, Any], state: State) -> BoundAction:
    """Return an action with its inputs."""
    return BoundAction(plan_of(rules, action), Given(rules, action, actor, arguments, state))


class BoundAction:
    """An action with named dice, with its inputs.

    Args:
        plan: the action.
        given: its inputs.

    Attributes:
        base: the values of names before the roll; see `base_of`.
        purse: the counters and tracks from which options are paid.
    """

    def __init__(self, plan: DicePlan, given: Given) -> None:
        self.rules, self.action, self.plan, self.given = given.rules, given.action, plan, given
        self.base = base_of(plan, given)
        self.purse = Purse(given.rules, given.action, given.state, given.roles())

    def known(self, chosen: tuple[Chosen, ...], rolled: Rolled) -> Known:
        """Return the values of names after some answers and rolls."""
        if not self.plan.asks:
            return Known(self.plan, self.base, rolled)
        base = self.purse.after(self.base, chosen) if chosen else self.base
        return Known(self.plan, {**base, **answers(self.plan, chosen)}, rolled)

    def offers(self, label: str, known: Known, chosen: tuple[Chosen, ...]) -> tuple[Offer, ...]:
        """Return the options of a question; none where it is not asked."""
        asked, purse, found = self.plan.asks[label], self.purse, list[Offer]()
        if not purse.who(label) or not asked.when.work(known):
            return ()
        for name, option in asked.options.items():
            if not option.when.work(known):
                continue
            cost = tuple((of, max(0, int(much.work(known) or 0))) for of, much in option.cost.items())
            if any(much > purse.left(label, of, chosen) for of, much in cost):
                continue
            answer = Chosen(label, name, cost)
            prefer = int(option.prefer.work(known) or 0)
            ways = self._ways(known, name, option)
            for typed, dice_ in ways:
                picked = tuple(sorted((group, self.face_of(group, die.face)) for group, die in dice_))
                again = _by_group(dice_, option.reroll)
                found.append(Offer(typed, answer, prefer, again, picked if option.pick else ()))
        return tuple(found)

    def face_of(self, group: str, face: int) -> int:
        """Return the face of the representative of the dice that show a face."""
        found = self.equivalence.of(group, Die(face))
        return found.face if found is not None else 0

    def question(self, label: str, offers: Iterable[Offer], facts: Map[str, Any]) -> Question:
        """Return a question with its options."""
        return question_of(self.purse.asks[label], label, self.purse.who(label), offers, facts, self.face_of)

    def _ways(self, known: Known, name: str, option: OptionPlan) -> Iterator[tuple[str, list[tuple[str, Die]]]]:
        """Yield the ways to choose an option: its name as typed, and the dice to reroll."""
        fitting = [
            (group, die)
            for group, fits in option.reroll.items()
            for die in known.rolled.get(group, ())
            if known.of_die(fits, die)
        ]
        fitting.sort(key=lambda one: (known.counts(*one), one[1].face))
        most = len(fitting) if option.most is None else max(0, int(option.most.work(known) or 0))
        least = fitting[:most]
        if least or not option.reroll:
            yield name, least
        if option.pick:
            kind = self.equivalence.of
            first = sorted((group, kind(group, die)) for group, die in least)
            for dice_ in picks(fitting, most, kind):
                if sorted((group, kind(group, die)) for group, die in dice_) != first:
                    shown = (f"{group}-{die.face}" if len(option.reroll) > 1 else str(die.face) for group, die in dice_)
                    yield "-".join((name, *shown)), dice_

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names whose values the outcome needs."""
        told = self.rules.file.actions[self.action].told.values()
        wanted = dict.fromkeys((BAND, *OF_AN_OUTCOME, *self.plan.wanted, *told))
        known = self.known((), {})
        return tuple(name for name in wanted if name in known or name in self.plan.numbers)

    @cached_property
    def equivalence(self) -> Equivalence:
        """Which dice are equivalent."""
        from rpgres.engine.named_dice.equivalence import Equivalence

        return Equivalence(self, self.names)

    def facts(self, label: str, known: Known) -> Map[str, Any]:
        """Return the facts of a question."""
        facts = {name: plain(known[name]) for name in self.plan.asks[label].facts}
        return Map({name: value for name, value in facts.items() if value is not None})

    def next(self, place: int, chosen: tuple[Chosen, ...]) -> int:
        """Return the step after an answered question: the question again, or the next step."""
        label = self.plan.steps[place]
        times = sum(1 for one in chosen if one.label == label)
        return place if times < self.purse.asks[label].times else place + 1


def _by_group(dice_: list[tuple[str, Die]], groups: Iterable[str]) -> tuple[tuple[str, tuple[Die, ...]], ...]:
    """Return dice by group, in the order in which groups are rerolled."""
    found = ((group, tuple(die for its, die in dice_ if its == group)) for group in groups)
    return tuple((group, its) for group, its in found if its)


def played(table: Table, bound: BoundAction) -> tuple[dict[str, Any], tuple[Chosen, ...]]:
    """Return the values of an action's names, and the chosen options."""
    if not table.is_read:
        from rpgres.engine.named_dice.paths import evaluated

        return evaluated(table, bound)
    rolled, chosen, fresh = roll_and_ask(table, bound)
    known = bound.known(chosen, rolled)
    found = {name: known[name] for name in bound.names}
    explain(table, known, bound.given, fresh)
    return found, chosen


def roll_and_ask(table: Table, bound: BoundAction) -> tuple[dict[str, tuple[Die, ...]], tuple[Chosen, ...], list[str]]:
    """Roll and ask in the order of an action.

    Returns:
        The dice by group, the chosen options, and the groups whose last roll the account does not explain yet.
    """
    chosen = tuple[Chosen, ...]()
    plan, rolled, place = bound.plan, dict[str, tuple[Die, ...]](), 0
    fresh = list[str]()  # groups whose last roll is not explained yet
    while place < len(plan.steps):
        step = plan.steps[place]
        known = bound.known(chosen, rolled)
        if step in plan.groups:
            rolled[step] = roll_group(table, bound, known, step)
            fresh.append(step)
            place += 1
            continue
        offers = {offer.answer: offer for offer in bound.offers(step, known, chosen)}
        if not offers:
            place += 1
            continue
        if table.is_read:
            explain(table, known, bound.given, fresh)
        fresh.clear()
        answer = ask(table.run, bound.question(step, offers.values(), bound.facts(step, known)))
        if answer == NO:
            place += 1
            continue
        chosen = (*chosen, offers[answer].chosen)
        place = bound.next(place, chosen)
        known = bound.known(chosen, rolled)
        for group, again in offers[answer].again:
            stay = kept(rolled[group], again)
            fresh.append(group)
            rolled[group] = (*stay, *roll_group(table, bound, known, group, again))
    return rolled, chosen, fresh


def roll_group(
    table: Table, bound: BoundAction, known: Known, group: str, again: tuple[Die, ...] = ()
) -> tuple[Die, ...]:
    """Roll a group, or reroll some of its dice, and return those that count; in odds one of each kind of result."""
    if not table.is_read:
        from rpgres.engine.named_dice.paths import roll_in_odds

        return roll_in_odds(table, bound, known, group, again)
    found = filled(known, group)
    if found is None:
        return ()
    number = roll_count(known.rolled[group]) + 1 if again else 1
    found = as_many(found, group, len(again)) if again else found
    again_on = again_of(known, group, found)
    dice = added_dice(found, again_on) if again_on is not None else found
    plan_of = known.plan.groups[group]
    other = opposing(plan_of, bound.given)
    if not dice.pools:
        if other is not None:
            explain_opposition(table, plan_of, other, found)
        return (Die(dice.law.values[0]),)
    by = other.character if other is not None else "" if group == OPPOSITION else bound.given.actor.name
    throw = table.run.roll(dice, group, by, is_shown=True).throw
    if other is not None:
        explain_opposition(table, plan_of, other, found)
    if not is_pool(found):
        return (Die(throw.value),)
    return tuple(Die(face, is_first, number) for face, is_first in faces_of(dice.pools[0], throw))


# ---------------------------------------------------------------------------------------------------------------------
# Lines of the account that say what dice count for


def explain(table: Table, known: Known, given: Given, groups: Iterable[str]) -> None:
    """Add to the account what the last roll of groups counts for: its modifiers, or its reading.

    Of several readings it is the first on which the outcome depends.
    """
    plan = known.plan
    _ = known[BAND]
    used = [place for place in range(len(plan.reads)) if f"{SLOT}{place}" in known]
    total = linear(plan.numbers["total"].tree, partial(_terms, plan)) if "total" in plan.numbers else None
    slots = [plan.reads[int(name.removeprefix(SLOT))].groups for name in total or () if name.startswith(SLOT)]
    own = [group for groups in slots for group in groups if known.rolled.get(group)]
    for group in groups:
        dice_ = known.rolled[group]
        found = filled(known, group) if dice_ else None
        places = [place for place in used if group in plan.reads[place].groups]
        if found is None or opposing(plan.groups[group], given) is not None:
            continue
        if total is not None and own == [group]:
            words = "".join(_added(known, given, name, factor) for name, factor in total.items() if name[:1] != SLOT)
            if words:
                table.explain(group, f"{found.text}{words}", counts=known["total"])
        elif places and all(plan.reads[place].kind != "sum" for place in places):
            last = Known(plan, known, {group: tuple(die for die in dice_ if die.thrown == roll_count(dice_))})
            table.explain(group, "", counts=read_off(last, places[0], alone=group))


def explain_opposition(table: Table, group: GroupPlan, other: Opposition, found: Dice) -> None:
    """Add to the account the dice or the number of an opposition."""
    node, ability = found.node, other.ability.replace("-", " ")
    if not found.pools:
        if ability:
            more = "" if len(group.template.split()) > 1 else f" from {ability}"
            table.tell(f"{group.name} ({other.character}): {found.law.values[0]}{more}")
        return
    is_plain = isinstance(node, Pool) and not node.keep and node.target is None
    table.explain(group.name, ", ".join(filter(None, ("" if is_plain else found.text, ability))))


def _terms(plan: DicePlan, name: str) -> Linear | None:
    """Return what a name adds to the total: the terms of its formula, or itself."""
    if name.startswith(SLOT):
        read = plan.reads[int(name.removeprefix(SLOT))]
        return {name: 1} if read.kind == "sum" and read.of is None else None
    inner = linear(plan.numbers[name].tree, partial(_terms, plan)) if name in plan.numbers else None
    return {name: 1} if inner is None else inner


def _added(known: Known, given: Given, name: str, factor: int) -> str:
    """Return a modifier of dice as text: ` + 2 quick`."""
    value = known[name] if name else 1
    if not isinstance(value, int) or not value * factor:
        return ""
    times = f"{abs(factor)}*" if name and abs(factor) != 1 else ""
    shown = f"{times}{abs(value)} {given.called(name)}".rstrip() if name else str(abs(factor))
    return f" {'+' if value * factor > 0 else '-'} {shown}"


def opposing(group: GroupPlan, given: Given) -> Opposition | None:
    """Return the opposition whose dice these are, as typed."""
    found = (given.values.get(name) for name in group.named)
    return next((value for value in found if isinstance(value, Opposition)), None)
