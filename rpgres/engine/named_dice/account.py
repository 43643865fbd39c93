"""Lines of the account that say what named dice count for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from rpgres.dice import Dice
from rpgres.dice.grammar import Pool
from rpgres.engine.named_dice.inputs import Given
from rpgres.engine.named_dice.values import Known, filled, read_off, roll_count
from rpgres.engine.table import Table
from rpgres.parameters.values import Opposition
from rpgres.rulesets.dice_plans import BAND, SLOT, DicePlan, GroupPlan
from rpgres.rulesets.formulas import Linear, linear


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
