"""Diagnostics of random tables: rows without a number, numbers without a row, links that lead nowhere or never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from rpgres.dice.grammar import ranges
from rpgres.errors import FileError, UsageError
from rpgres.lint.formulas import Scope, missing, scope_of, template_faults
from rpgres.lint.outcomes import comes_faults, readable_menus
from rpgres.model.cards import known_cards
from rpgres.rulesets.rows import is_id
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.table_plans import NO_END, RowPlan, TablePlan, closure
from rpgres.rulesets.tables import RandomTable, TableRow, fits, is_within, spans_of
from rpgres.rulesets.templates import names_in
from rpgres.toml.diagnostics import Fault, KeyPath

MOST_SHOWN = 10_000  # numbers of a die that has rows


def table_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with the random tables of a ruleset."""
    menus = readable_menus(rules) if rules.file.tables else None
    written = [part.data.get("actions") for part in rules.layers.parts]
    own = {name for actions in written if isinstance(actions, dict) for name in actions}
    for name, table in rules.file.tables.items():
        at = ("tables", name)
        if name in own:
            yield Fault("taken-name", at, f"{name!r} is already an action; a random table is one, too")
            continue
        rows = dict(table.items())
        scope = scope_of(rules, [name])._replace(is_open=False)
        yield from _rows(at, table, rows)
        for key, its in (("rows", rows), ("also", dict(table.beside()))):
            for fault in comes_faults(rules, its, menus, scope):
                yield msgspec.structs.replace(fault, path=(*at, key, *fault.path))
        if not rows or (not table.die and not table.cards and isinstance(table.rows, dict)):
            continue
        if table.cards and table.also:
            yield Fault("useless", (*at, "also"), "only what a die shows has something beside it")
        if table.cards:
            yield from _cards(rules, at, table, rules.plans[name])
        else:
            yield from _die(at, table, rules.plans[name], scope)
    yield from _too_few(rules.plans)
    yield from _endless(rules)


def _rows(at: KeyPath, table: RandomTable, rows: Mapping[str | int, TableRow]) -> Iterator[Fault]:
    is_list = isinstance(table.rows, list)
    if not rows:
        yield Fault("incomplete", (*at, "rows"), "it has no rows")
    elif table.die and table.cards:
        yield Fault("inconsistent", (*at, "cards"), "it has both `die` and `cards`; remove one of them")
    elif not is_list and not (table.die or table.cards):
        message = 'what is rolled is missing: die = "1d6", or cards = DECK; rows that are a list need neither'
        yield Fault("incomplete", at, message)
    elif is_list and (table.die or table.cards):
        given = "die" if table.die else "cards"
        message = f"rows that are a list need no `{given}`; write what it shows before each row, or remove `{given}`"
        yield Fault("inconsistent", (*at, given), message)
    named: dict[str, TableRow] = {}
    for key, row in rows.items():
        path = (*at, "rows", key)
        if row.weight != 1 and not is_list:
            yield Fault("useless", (*path, "weight"), "only rows of a list have weights; here the numbers count")
        if row.name and not is_id(row.name):
            message = f"{row.name!r} is not a name; names are lowercase letters, digits and hyphens"
            yield Fault("wrong-value", (*path, "name"), message)
        elif row.name and named.setdefault(row.name, row) != row:
            yield Fault("taken-name", (*path, "name"), f"another row of this table has the name {row.name!r}")
        if not (row.text or row.name or row.again or row.links):
            yield Fault("incomplete", path, "this row tells nothing: it has no `text`, and leads to no table")


# ---------------------------------------------------------------------------------------------------------------------
# What the die or the card shows


def _die(at: KeyPath, table: RandomTable, plan: TablePlan, scope: Scope) -> Iterator[Fault]:
    faults = list(template_faults((*at, "die"), table.die, scope)) if table.die else []
    yield from faults
    is_read = not faults
    for key, rows in (("rows", plan.rows if table.die else ()), ("also", plan.also)):
        for row in rows:
            if spans_of(str(row.key)) is None:
                is_read = False
                message = f"{row.key!r} is no number of the die; write 4, 1-3, 7.. or several with commas"
                yield Fault("wrong-value", (*at, key, row.key), message)
    if not is_read:
        return
    from rpgres.dice import dice

    try:
        shown = _shown(plan.die, plan)
    except UsageError as error:
        yield Fault("bad-dice", (*at, "die"), error.message)
        return
    yield from _numbers(at, plan, shown) if table.die else ()
    law = None if names_in(plan.die) else dice(plan.die).law
    if law is not None and law.open and plan.beyond(law) is None:
        yield Fault("bad-dice", (*at, "die"), f"{plan.die} {NO_END}")
    for row in plan.also:
        numbers = [number for number in shown if number is not None]
        if not names_in(plan.die) and not any(is_within(number, row.spans) for number in numbers):
            message = f"this row is unreachable: {plan.die} shows {_listed(numbers)}"
            yield Fault("never-matches", (*at, "also", row.key), message)


def _shown(die: str, plan: TablePlan) -> list[int | None]:
    """Return the numbers that a die can show; with names in it, those at the ends of rows, and None for any beyond."""
    if names_in(die):
        ends = {end for row in plan.rows for span in row.spans for end in span if end is not None}
        near = {number + step for number in ends for step in (-1, 0, 1)}
        return [None, *sorted(number for number in near if min(ends) <= number <= max(ends))]
    from rpgres.dice import dice

    low, high = dice(die).law.values[0], dice(die).law.values[-1]
    if high - low > MOST_SHOWN:
        raise UsageError(f"a table has at most {MOST_SHOWN:,} different numbers")
    return list(dice(die).law.values)


def _numbers(at: KeyPath, plan: TablePlan, shown: list[int | None]) -> Iterator[Fault]:
    numbers = [number for number in shown if number is not None]
    rows_of: dict[int, list[RowPlan]] = {number: [] for number in numbers}
    reached, lowest, highest = set[int](), min(numbers, default=0), max(numbers, default=0)
    for row in plan.rows:
        for low, high in row.spans:
            first = lowest if low is None else max(low, lowest)
            last = highest if high is None else min(high, highest)
            for number in range(first, last + 1):
                if number in rows_of and row not in rows_of[number]:
                    rows_of[number].append(row)
                    reached.add(row.number)
    gap = [number for number in numbers if not rows_of[number]]
    if gap:
        yield Fault("margin-gap", (*at, "rows"), f"no row has {_listed(gap)}")
    if None in shown:
        for end, is_open in (("..N", _is_open(plan, 0)), ("N..", _is_open(plan, 1))):
            if not is_open:
                message = f"the die depends on what is typed, so one row needs an open end ({end})"
                yield Fault("margin-gap", (*at, "rows"), message)
    for row in plan.rows:
        if row.number not in reached:
            message = f"this row is unreachable: {plan.die} shows {_listed(numbers)}"
            yield Fault("never-matches", (*at, "rows", row.key), message)
    clashes: dict[tuple[int, int], list[int]] = {}
    for number, rows in rows_of.items():
        for other in rows[1:]:
            clashes.setdefault((rows[0].number, other.number), []).append(number)
    for (first_row, other_row), both in clashes.items():
        message = f"{_listed(both)} is also in the row {str(plan.rows[first_row].key)!r}"
        yield Fault("margin-overlap", (*at, "rows", plan.rows[other_row].key), message)


def _is_open(plan: TablePlan, end: int) -> bool:
    return any(span[end] is None for row in plan.rows for span in row.spans)


def _listed(numbers: list[int]) -> str:
    return ranges(numbers, " to ")


def _cards(rules: Rules, at: KeyPath, table: RandomTable, plan: TablePlan) -> Iterator[Fault]:
    try:
        if table.cards not in rules.layers.deck_names():
            yield missing((*at, "cards"), "deck", table.cards, rules.layers.deck_names())
            return
        deck = rules.layers.deck(table.cards)
    except FileError:
        return  # told where the deck stands
    cards, known = list(deck.cards.values()), known_cards([deck])
    rows = {card.code: next((row for row in plan.rows if fits(card, str(row.key), known)), None) for card in cards}
    lacking = [card.title for card in cards if rows[card.code] is None]
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        message = f'no row has {", ".join(lacking[:3])}{more}; "else" is a row for all others'
        yield Fault("margin-gap", (*at, "rows"), message)
    for row in plan.rows:
        if row not in rows.values():
            is_card = any(fits(card, str(row.key), known) for card in cards)
            why = (
                "rows before it have its cards"
                if is_card
                else f"the deck {table.cards} has no such card, suit or value"
            )
            yield Fault("never-matches", (*at, "rows", row.key), f"this row is unreachable: {why}")


# ---------------------------------------------------------------------------------------------------------------------
# Links


def _too_few(plans: Mapping[str, TablePlan]) -> Iterator[Fault]:
    """Yield the rows that ask for more different rows of a table than it has."""
    for name, plan in plans.items():
        for row in plan.rows:
            for link in sorted({*row.links} & {*plans}) if row.row.distinct else ():
                is_again = link == name and row.row.again > 0
                left = sum(
                    not (is_again and one == name and other.row.again)
                    for one in closure(link, plans)
                    for other in plans[one].rows
                    if not other.passes_to
                )
                if row.links.count(link) > left:
                    path = ("tables", name, "rows", row.key, "again" if is_again else "table")
                    message = f"{row.links.count(link)} different rows are asked for, and {link} has {left}"
                    yield Fault("inconsistent", path, message)


def _endless(rules: Rules) -> Iterator[Fault]:
    """Yield the tables of which every row leads on, and on, without an end."""
    plans, ending = rules.plans, set[str]()
    while True:
        more = {name for name, plan in plans.items() if name not in ending and _ends(plan, ending, plans)}
        if not more:
            break
        ending |= more
    for name, plan in plans.items():
        if name not in ending and plan.rows:
            row = plan.rows[0]
            key = "again" if row.row.again else "table"
            path = ("tables", name, "rows", row.key, key)
            onward = " -> ".join(_course(name, plans, ending))
            yield Fault(
                "endless", path, f"rolling on this table never ends: {onward}; it needs a row that leads nowhere"
            )


def _ends(plan: TablePlan, ending: set[str], plans: Mapping[str, TablePlan]) -> bool:
    """Tell whether a row of a table leads only to tables that end."""
    return any(
        not row.row.again and all(link in ending or link not in plans for link in row.links) for row in plan.rows
    )


def _course(name: str, plans: Mapping[str, TablePlan], ending: set[str]) -> list[str]:
    course = [name]
    while course[-1] not in course[:-1]:
        row = plans[course[-1]].rows[0]
        course.append(next(link for link in row.links if link in plans and link not in ending))
    return course
