"""Diagnostics of what never comes about: outcomes, counts and conditions that the dice of actions never meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rpgres.dice import Dice, dice
from rpgres.dice.grammar import Comparison, Pool
from rpgres.errors import NotationError
from rpgres.lint.conditions import CONDITIONS
from rpgres.lint.formulas import TRIED, Scope, filled, scope_of
from rpgres.lint.named_dice import bands_named, number_spans
from rpgres.rulesets.actions import Action
from rpgres.rulesets.numbers import described_actions, is_opposed
from rpgres.rulesets.provenance import located_in
from rpgres.rulesets.rows import Band, Condition, Range
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath

Span = tuple[int, int | None]  # the lowest and the highest number something can be; None for no highest


def reach_faults(rules: Rules) -> Iterator[Fault]:
    """Yield the bands that nothing can come to: without bounds or condition, behind another, or beyond the dice."""
    file = rules.file
    described = [name for name in described_actions(file) if file.actions[name].roll]
    common = [action for action in described if not file.actions[action].ranges]
    if file.standalone:
        yield from _unreached(rules)
    if common:
        yield from _faults(rules, ("bands",), file.bands, common)
    for action in described:
        yield from _faults(rules, ("actions", action, "bands"), file.actions[action].ranges, [action])
        yield from _counts(rules, action)


def _unreached(rules: Rules) -> Iterator[Fault]:
    """Yield the bands that neither say when they come about nor are named by anything else."""
    file = rules.file
    named = {band.also for band in file.bands.values()}
    named |= {band for action in file.actions.values() for band in action.ranges}
    for action in file.actions.values():
        if not action.is_described:  # its one row stands
            named |= {band for table in action.tables for band in rules.table(table)}
    named |= {band for name, action in file.actions.items() if action.dice for band in bands_named(rules, name)}
    named |= {row.name for plan in rules.plans.values() for row in (*plan.rows, *plan.also)}
    for name, band in file.bands.items():
        if type(band) is Band and not (band.has_bounds or band.when or band.unless or band.unopposed or name in named):
            message = "this band is unreachable: it has no bounds (from, to) and no condition (when)"
            yield Fault("never-matches", ("bands", name), message)


def _faults(
    rules: Rules, prefix: KeyPath, bands: Mapping[str, Band] | Mapping[str, Range], actions: Sequence[str]
) -> Iterator[Fault]:
    exceptions = {name: band for name, band in bands.items() if band.is_exception}
    played = [rules.file.actions[action] for action in actions]
    spans = [_spans(rules.file.actions[action], scope_of(rules, [action])) for action in actions]
    for name, band in bands.items():
        misses = [_missed(band, action, span) for action, span in zip(played, spans, strict=True)]
        if band.has_bounds and misses[0] is not None and all(misses):
            key, said = misses[0]
            yield Fault("never-matches", (*prefix, name, key), f"this band is unreachable: {said}")
    before: list[str] = []
    for name, band in exceptions.items():
        first = next((earlier for earlier in before if _covers(exceptions[earlier], band)), None)
        if first is not None:
            message = (
                f"this band is unreachable: whenever its condition holds, that of {first}, which comes first, holds too"
            )
            yield Fault("never-matches", (*prefix, name), message)
        before.append(name)
        for key, wanted in band.when.items():
            told_by = [_beyond(key, wanted, span) for span in spans]
            if all(told_by):
                message = f"this band is unreachable: {told_by[0]}"
                yield Fault("never-matches", (*prefix, name, "when", key), message)


def _counts(rules: Rules, name: str) -> Iterator[Fault]:
    """Yield the counts of dice that none of an action's dice can be among."""
    action = rules.file.actions[name]
    choices = scope_of(rules, [name]).choices
    possible: set[range] = set()
    for template in _rolls(action):
        by_number = [[_first(text)[0] for text in filled(template, number, choices)] for number in TRIED]
        faces = [[pool.row if pool is not None and not pool.explodes else None for pool in one] for one in by_number]
        if any(one != faces[0] or None in one for one in faces):
            return  # the faces depend on what is typed, or have no end
        possible |= set(filter(None, faces[0]))
    for count, text in action.counts.items():
        comparison = Comparison.read(text)
        if comparison is not None and not any(comparison.among(faces) for faces in possible):
            highest = max(faces[-1] for faces in possible)
            message = f"no die shows that, so the count is always 0: the highest face is {highest}"
            yield Fault("never-matches", ("actions", name, "counts", count), message)


def unmet_rows(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the conditions of outcome tables that the dice never meet."""
    known = set(described_actions(rules.file))
    for table in dict.fromkeys(rules.layers.table_names()):
        actions = [name for name in rules.actions_by_table.get(table, ()) if name in known]
        spans = [_spans_of(rules, name) for name in actions]
        for text in rules.layers.table_texts(table) if spans else ():
            for path, wanted in walk(text.data):
                if len(path) < 2 or path[-2] not in CONDITIONS:
                    continue
                told_by = [_beyond(str(path[-1]), wanted, span) for span in spans]
                if all(told_by):
                    yield located_in(
                        [text], Fault("never-matches", path, f"this condition is unreachable: {told_by[0]}")
                    )


def _missed(band: Range, action: Action, spans: Mapping[str, Span]) -> tuple[str, str] | None:
    """Return the bound of a band that the dice never come to, and why; None when they may."""
    measures = {action.by, *(other.by for other in action.instead.values() if other.by)}
    measure = action.by or ("margin" if is_opposed(action) else "total")
    if len(measures) > 1 or measure not in spans:
        return None
    for key, bound in (("from", band.from_), ("to", band.to)):
        said = _beyond(f"{measure}-{key}", bound, spans) if bound is not None else ""
        if said:
            return key, said
    return None


def span_of_bands(rules: Rules, actions: Sequence[str]) -> Span | None:
    """Return from where to where the measure of some actions' bands goes; None where that depends on what is typed."""
    found: list[Span] = []
    for name in actions:
        action = rules.file.actions[name]
        measure = action.by or ("margin" if is_opposed(action) else "total")
        spans = _spans(action, scope_of(rules, [name])) if action.roll and not action.dice else {}
        if measure not in spans or any(other.by not in ("", measure) for other in action.instead.values()):
            return None
        found.append(spans[measure])
    highest = [high for _, high in found]
    top = None if None in highest else max(filter(None, highest), default=0)
    return (min(low for low, _ in found), top) if found else None


def _covers(earlier: Band | Range, later: Band | Range) -> bool:
    """Tell whether a band comes about whenever the later one would."""
    same_bounds = (earlier.from_, earlier.to) == (later.from_, later.to)
    is_wider = all(later.when.get(key) == wanted for key, wanted in earlier.when.items())
    is_barred = bool(earlier.unless) and earlier.unless != later.unless
    return is_wider and not is_barred and (same_bounds or not earlier.has_bounds)


# ---------------------------------------------------------------------------------------------------------------------
# What the dice can show


def _spans_of(rules: Rules, name: str) -> dict[str, Span]:
    action = rules.file.actions[name]
    return number_spans(rules, name) if action.dice else _spans(action, scope_of(rules, [name]))


def _spans(action: Action, scope: Scope) -> dict[str, Span]:
    """Return what can be read off the first dice of an action, as far as these do not depend on numbers."""
    pools: dict[tuple[Pool | None, bool], None] = {}  # the first of each roll, and whether it is all of it
    for template in _rolls(action):
        by_number = [[_first(text) for text in filled(template, number, scope.choices)] for number in TRIED]
        if any(found != by_number[0] for found in by_number):
            return {}
        pools |= dict.fromkeys(by_number[0])
    spans: dict[str, Span] = {}
    for pool, is_all in pools:
        if pool is None:
            return {}
        found = _read_off(pool, action)
        if all(alone for _, alone in pools) and is_all:
            found["total"] = (
                found["natural"] if pool.target is None else (pool.bounds[0], None if pool.explodes else pool.bounds[1])
            )
        for name, span in found.items():
            low, high = spans.get(name, span)
            top = None if high is None or span[1] is None else max(high, span[1])
            spans[name] = (min(low, span[0]), top)
    return spans


def _rolls(action: Action) -> Iterator[str]:
    """Yield the dice that an action may roll."""
    yield from filter(None, (action.roll, *(other.roll for other in action.instead.values())))


def _first(text: str) -> tuple[Pool | None, bool]:
    """Return the first pool of dice, and whether there is nothing else."""
    try:
        found: Dice = dice(text)
    except NotationError:
        return None, False
    return (found.pools[0] if found.pools else None), isinstance(found.node, Pool)


def _read_off(pool: Pool, action: Action) -> dict[str, Span]:
    low, high = pool.kept
    kept, faces = high - low, pool.row
    top = None if pool.explodes else faces[-1]
    spans: dict[str, Span] = {"highest": (faces[0], top), "lowest": (faces[0], top)}
    spans["natural"] = (faces[0] * kept, None if top is None else top * kept)
    for name, counted in action.counts.items():
        comparison = Comparison.read(counted)
        if comparison is not None:
            is_possible = pool.explodes or bool(comparison.among(faces))
            spans[name] = (0, kept if is_possible else 0)
    return spans


def _beyond(key: str, wanted: Condition | object, spans: Mapping[str, Span]) -> str:
    """Return why a condition can never hold, or nothing when it can."""
    name = key.removesuffix("-from").removesuffix("-to")
    if name not in spans:
        return ""
    low, high = spans[name]
    found = wanted if isinstance(wanted, list) else [wanted]
    numbers = [one for one in found if isinstance(one, int)]
    if len(numbers) < len(found) or not numbers:
        return ""  # what a name comes to is not known
    is_too_high = high is not None and min(numbers) > high and not key.endswith("-to")
    is_too_low = max(numbers) < low and not key.endswith("-from")
    if not (is_too_high or is_too_low):
        return ""
    return f"{name} is {low} to {high}" if high is not None else f"{name} is at least {low}"
