"""The possible values of numbers in an action with dice, for all inputs and rolls."""

from __future__ import annotations

import re
from functools import reduce
from math import inf

from rpgres.dice.grammar import Pool
from rpgres.rulesets.actions import OPPOSITION, Parameter
from rpgres.rulesets.dice_plans import BAND, GIVEN, NO, SLOT, TIMES, DicePlan, GroupPlan, pool_of
from rpgres.rulesets.formulas import Expr, Read
from rpgres.rulesets.references import readable_plan
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.spans import ANY, Span, span_of, truth, within

EITHER = Span(0, 1)
_THROWN = Span(1, inf)
ANY_WORD = "word"  # stands for whatever is typed


def bounded_actions(rules: Rules) -> dict[str, tuple[str, dict[str, Span]]]:
    """Return the actions that use the bounds of `[bands]`, with that number and the spans of all numbers."""
    found = {}
    for name, action in rules.file.actions.items():
        if action.dice and not action.bands and not action.band:
            is_opposed = OPPOSITION in action.groups or "margin" in action.numbers
            found[name] = ("margin" if is_opposed else "total", number_spans(rules, name))
    return found


def span_of_bands(rules: Rules) -> Span | None:
    """Return the span of the numbers to which the bounds of `[bands]` apply; None where it is unknown."""
    measured = bounded_actions(rules).values()
    found = [spans[number] for number, spans in measured if number in spans]
    return reduce(Span.plus, found) if found and len(found) == len(measured) else None


def number_spans(rules: Rules, name: str) -> dict[str, Span]:
    """Return the possible values of the numbers of an action; those without a minimum are left out."""
    plan = readable_plan(rules, name)
    if plan is None:
        return {}
    spans = Spans(rules, name, plan)
    found = {number: spans[number] for number in plan.numbers if number != BAND}
    return {number: span for number, span in found.items() if span.has_numbers and span.low > -inf}


class Spans(dict[str, Span]):
    """The possible values of names in an action, for all inputs and rolls, with what the data say of the action.

    Attributes:
        at: where these stand.
        parameters: what it takes.
    """

    def __init__(self, rules: Rules, name: str, plan: DicePlan) -> None:
        super().__init__()
        self.rules, self.name, self.plan = rules, name, plan
        self.action, self.at = rules.file.actions[name], ("actions", name)
        self.parameters = rules.file.parameters_of(name)

    def __missing__(self, name: str) -> Span:
        self[name] = ANY  # while it is computed, in case it depends on itself
        if name in self.plan.numbers:
            found = within(self.plan.numbers[name].tree, self.__getitem__)
        elif name.startswith(SLOT):
            found = self._read(self.plan.reads[int(name.removeprefix(SLOT))])
        elif name.startswith(GIVEN):
            found = self._given(name.removeprefix(GIVEN))
        elif name.startswith(TIMES):
            found = Span(0, self.action.ask[name.removeprefix(TIMES).partition(":")[0]].times)
        elif name in self.action.ask:
            found = Span(words=frozenset({NO, *self.action.ask[name].options}))
        elif name in self.parameters:
            found = _of_parameter(self.parameters[name], is_needed=name in self.action.required)
        elif name in self.rules.file.switches:
            found = Span(words=frozenset(self.rules.file.switches[name].choices))
        else:
            found = ANY
        self[name] = found
        return found

    def _given(self, name: str) -> Span:
        parameter = self.parameters.get(name)
        if parameter is None or parameter.kind == OPPOSITION:  # of which one may type that there is none
            return EITHER
        return Span(1, 1) if name in self.action.required or parameter.default is not None else EITHER

    def _read(self, read: Read) -> Span:
        found = [self._of_group(read, self.plan.groups[group]) for group in read.groups]
        if read.kind in ("sum", "count"):
            return Span(sum(one.low for one in found), sum(one.high for one in found))
        return Span(min(0, *(one.low for one in found)), max(0, *(one.high for one in found)))

    def _of_group(self, read: Read, group: GroupPlan) -> Span:
        """Return the possible values of a reading of one group."""
        pool, count = pool_of(group), self._count(group)
        if pool is None:
            return Span(0, inf) if read.kind == "count" else ANY
        if pool.keep:
            start, end = pool.kept
            count = Span(end - start, end - start)
        first = self._of_dice(read, group, pool, added=0)
        more = self._of_dice(read, group, pool, added=1) if group.again is not None else Span(0, 0)
        low, high = min(first.low, more.low), max(first.high, more.high)
        if read.kind in ("highest", "lowest"):
            is_sure = count.low > 0 and read.of is None
            return Span(low, high) if is_sure else Span(min(low, 0), max(high, 0))
        most = inf if more.high > 0 else count.high * first.high if first.high > 0 else count.low * first.high
        least = -inf if more.low < 0 else count.high * first.low if first.low < 0 else count.low * first.low
        return Span(least, most)

    def _of_dice(self, read: Read, group: GroupPlan, pool: Pool, *, added: int) -> Span:
        """Return what one die may contribute to a reading: a first or an added one."""
        low, high = inf, -inf
        for face in pool.faces:
            shown = span_of(face), span_of(added)
            fits = truth(self.of_die(read.of, *shown)) if read.of else True
            its = span_of(1 if read.kind == "count" else face)
            if read.kind != "count" and group.worth is not None:
                its = self.of_die(group.worth.tree, *shown)
            if fits is not True:
                its = Span(0, 0) if fits is False else its.plus(Span(0, 0))
            low, high = min(low, its.low), max(high, its.high)
        return Span(low, high)

    def of_die(self, expr: Expr, face: Span, added: Span = EITHER) -> Span:
        """Return the possible values of a formula of one die, with the possible values of its own names."""
        its = {"face": face, "added": added, "thrown": _THROWN}
        return within(expr, lambda name: its[name] if name in its else self[name])

    def _count(self, group: GroupPlan) -> Span:
        """Return how many dice a group may have."""
        first, *rest = group.pieces
        if isinstance(first, str) and first.strip():
            found = re.match(r"\s*(\d*)\s*[dD]", first)
            number = int(found[1] or 1) if found else None
            return Span(number, number) if number is not None else Span(0, inf)
        span = within(rest[0].tree, self.__getitem__) if rest and not isinstance(rest[0], str) else ANY
        return Span(max(span.low, 0), max(span.high, 0)) if span.has_numbers else Span(0, inf)


def _of_parameter(parameter: Parameter, *, is_needed: bool) -> Span:
    is_there = is_needed or parameter.default is not None
    if parameter.kind == "choice":
        return Span(words=frozenset(parameter.choices) | (frozenset() if is_there else {None}))
    if parameter.kind in ("text", "character"):
        return Span(words=frozenset([ANY_WORD, None]))
    if parameter.kind == "flag":
        return EITHER
    if parameter.kind != "integer":
        return ANY
    low = -inf if parameter.at_least is None else parameter.at_least
    high = inf if parameter.at_most is None else parameter.at_most
    if parameter.among:
        low, high = min(parameter.among), max(parameter.among)
    return Span(low, high) if is_there else Span(min(low, 0), max(high, 0))
