"""Diagnostics of what never comes about: outcomes and conditions that the dice of actions never meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf

from rpgres.lint.conditions import CONDITIONS
from rpgres.lint.named_dice import bands_named
from rpgres.lint.named_spans import bounded_actions, number_spans
from rpgres.rulesets.folders import located_in
from rpgres.rulesets.rows import Band, Condition
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.settling import bounded_name
from rpgres.rulesets.spans import Span
from rpgres.rulesets.table_plans import JOINT, results_of
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, unknown_name


def reach_faults(rules: Rules) -> Iterator[Fault]:
    """Yield the bands that nothing can come to: those that nothing names, and those with bounds beyond the dice."""
    file = rules.file
    if file.standalone:
        yield from _unreached(rules)
    measured = bounded_actions(rules)
    for name, band in file.bands.items():
        for key, bound in (("from", band.from_), ("to", band.to)):
            if bound is None or not measured:
                continue
            told_by = [_beyond(f"{number}-{key}", bound, spans) for number, spans in measured.values()]
            if all(told_by):
                yield Fault("never-matches", ("bands", name, key), f"this band is unreachable: {told_by[0]}")
                break


def outcome_faults(rules: Rules, name: str, wanted: str, path: KeyPath) -> Iterator[Fault]:
    """Yield that an action or a procedure never comes to an outcome, or to one that is this one as well.

    Args:
        name: the action; one that is unknown, or none, may have every outcome of the ruleset.
    """
    if name not in rules.file.actions:
        if wanted not in rules.file.bands:
            yield unknown_name(path, f"there is no outcome {wanted!r}", wanted, rules.file.bands)
        return
    known = _outcomes_of(rules, name)
    if any(rules.is_band(band, wanted) for band in known):
        return
    every = {table for action in rules.file.actions.values() for table in action.tables}
    if wanted in rules.file.bands and wanted not in _rows(rules, every) and not rules.file.actions[name].is_described:
        return  # without a row anywhere, rules in code name it
    yield unknown_name(path, f"{name} has no outcome {wanted!r}", wanted, known, there=f"{name} gives")


def _outcomes_of(rules: Rules, name: str) -> list[str]:
    """Return the bands that an action or a procedure can come to; more of them where the ruleset's data cannot tell.

    Rules in code settle by rows of the action's outcome tables, or by a margin. The tables of a procedure are those of
    its turns, too; its own begin with its name (`conflict-won`), and no margin gives their bands.
    """
    file, action = rules.file, rules.file.actions[name]
    if action.is_described:
        named = bands_named(rules, name)
    else:
        own = [table for table in action.tables if table == name or table.startswith(f"{name}-")]
        rows = _rows(rules, own) if action.procedure else set()
        named = {band for band in rows if not _is_measured(file.bands[band])} or _rows(rules, action.tables)
    if not named:
        return list(file.bands)
    is_measured = any(_is_measured(file.bands[band]) for band in named) and not action.is_described
    return [band for band, its in file.bands.items() if band in named or (is_measured and _is_measured(its))]


def _rows(rules: Rules, tables: Iterable[str]) -> set[str]:
    """Return the bands of all rows of outcome tables; of random ones also those of rows that are rolled together."""
    found = set[str]()
    for table in tables:
        joint = {JOINT.join(path) for path in results_of(table, rules.plans)} if table in rules.plans else set()
        found |= {*rules.table(table), *joint}
    return found & rules.file.bands.keys()


def _is_measured(band: Band) -> bool:
    """Tell whether a margin gives a band, or that there is none."""
    return band.has_bounds or band.unopposed


def _unreached(rules: Rules) -> Iterator[Fault]:
    """Yield the bands that neither say when they come about nor are named by anything else."""
    file = rules.file
    named = {band.also for band in file.bands.values()}
    for name, action in file.actions.items():
        if action.is_described:
            named |= bands_named(rules, name)
        else:  # its one row stands
            named |= {band for table in action.tables for band in rules.table(table)}
    named |= {row.name for plan in rules.plans.values() for row in plan.all_rows}
    for name, band in file.bands.items():
        if type(band) is Band and not (band.has_bounds or band.unopposed or name in named):
            message = "this band is unreachable: it has no bounds (from, to), and no action names it under `bands`"
            yield Fault("never-matches", ("bands", name), message)


def unmet_rows(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the conditions of outcome tables that the dice never meet."""
    known = set(rules.file.described)
    for table in rules.layers.table_names():
        spans = [number_spans(rules, name) for name in rules.actions_by_table.get(table, ()) if name in known]
        for text in rules.layers.table_texts(table) if spans else ():
            for path, wanted in walk(text.data):
                if len(path) < 2 or path[-2] not in CONDITIONS:
                    continue
                told_by = [_beyond(str(path[-1]), wanted, span) for span in spans]
                if all(told_by):
                    yield located_in(
                        [text], Fault("never-matches", path, f"this condition is unreachable: {told_by[0]}")
                    )


def _beyond(key: str, wanted: Condition | object, spans: Mapping[str, Span]) -> str:
    """Return why a condition can never hold, or nothing when it can."""
    name, side = bounded_name(key)
    if name not in spans:
        return ""
    low, high = spans[name].low, spans[name].high
    found = wanted if isinstance(wanted, list) else [wanted]
    numbers = [one for one in found if isinstance(one, int)]
    if len(numbers) < len(found) or not numbers:
        return ""  # what a name comes to is not known
    if not ((min(numbers) > high and side != "to") or (max(numbers) < low and side != "from")):
        return ""
    return f"{name} is at least {low}" if high == inf else f"{name} is {low} to {high}"
