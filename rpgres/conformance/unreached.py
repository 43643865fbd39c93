"""Outcomes of actions in TOML that never come: proved by exact odds over all inputs, or not met in those tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, product
from math import prod
from random import Random
from typing import Any

import msgspec

from rpgres.conformance.subjects import place_of_key, read_example
from rpgres.engine.players import uniform
from rpgres.engine.prepare import prepare
from rpgres.errors import RpgresError, UsageError
from rpgres.odds.exact import outcome_odds
from rpgres.rulesets import Parameter, Rules
from rpgres.rulesets.dice_plans import GIVEN, dice_plan
from rpgres.toml.diagnostics import Diagnostic

MOST = 1000  # combinations of inputs that are tried
WORK = 40_000  # branches for each action; what is left untried is no proof
LEAVES = 2000  # branches of the odds of one combination
WIDEST = 40  # values of a number that are all tried; of a wider one, its ends
_TRIED = (0, 1, 2, 3, 5, 8, 13, 20, 50, 100, -1, -5, -20)  # where a number has no end, and for a rating


def unreached_outcomes(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the bands of actions in TOML that no input comes to: a warning where that is sure, else a note.

    It is sure where every input has an end, and nothing else, such as a sheet, has a say.
    """
    for name, action in rules.file.actions.items():
        if action.dice and action.bands and not action.procedure:
            yield from _unreached(rules, name)


def _unreached(rules: Rules, name: str) -> Iterator[Diagnostic]:
    action = rules.file.actions[name]
    left = set(action.conditions)
    try:
        base = read_example(rules, name).inputs if action.example else {}
    except RpgresError:
        return  # other checks report a faulty example
    parameters = rules.parameters(name)
    ranges = {one: _values(its, is_needed=one in action.required) for one, its in parameters.items()}
    varied = [(one, values) for one, (values, _) in ranges.items() if values]
    plan = dice_plan(rules.file, name)
    is_sure = all(is_whole for _, is_whole in ranges.values()) and not rules.file.kits
    is_sure &= {one.removeprefix(GIVEN) for one in plan.free_names()} <= ranges.keys()
    is_sure &= not any(option.cost for ask in action.ask.values() for option in ask.options.values())
    tried = work = 0
    singly = [(one, value) for one, values in varied for value in values]
    names = [one for one, _ in varied]
    every = _combinations([values for _, values in varied])
    singles = ({one: value} for one, value in sorted(singly, key=lambda pair: ranges[pair[0]][0].index(pair[1])))
    for some in chain([{}], singles, (dict(zip(names, values, strict=True)) for values in every)):
        if not left:
            return
        if work > WORK:
            break
        try:
            prepared = prepare(rules, name, {**base, **some})
            odds = outcome_odds(prepared, policies={"": uniform}, leaves=LEAVES)
        except RpgresError as error:
            is_sure &= isinstance(error, UsageError)  # else such inputs cannot be typed
            continue
        tried, work = tried + 1, work + odds.leaves
        is_sure &= not odds.open
        left -= {band for band, mass in odds.masses.items() if mass}
    is_sure &= prod(len(values) for _, values in varied) <= MOST and work <= WORK
    if not tried or not (is_sure or tried > len(singly)):
        return  # too few for a note
    told = "this band never comes: its probability is 0 for all inputs"
    told = told if is_sure else f"this band may never come: its probability is 0 for the {tried:,} inputs tried"
    for band in (one for one in action.bands if one in left):
        found, severity = place_of_key(rules, "actions", name, "bands", band), "warning" if is_sure else "note"
        yield msgspec.structs.replace(found, code="never-matches", message=told, severity=severity)


def _combinations(ranges: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of values in random order, all of them where they are few."""
    random = Random(0)  # noqa: S311  # the same ones each time
    if prod(map(len, ranges)) <= MOST:
        yield from random.sample(found := list(product(*ranges)), len(found))
    else:
        yield from islice(iter(lambda: tuple(random.choice(values) for values in ranges), None), MOST)


def _values(parameter: Parameter, *, is_needed: bool) -> tuple[list[Any], bool]:
    """Return the values of a parameter that are tried, and whether these are all; None stands for one left out."""
    absent = [] if is_needed else [None]
    match parameter.kind:
        case "flag":
            return [None, True], True
        case "choice":
            return [*absent, *parameter.choices], True
        case "integer" if parameter.among:
            return [*absent, *parameter.among], True
        case "integer":
            low, high = parameter.at_least, parameter.at_most
            if low is not None and high is not None and high - low < WIDEST:
                return [*absent, *range(low, high + 1)], True
            ends = [one for one in (low, high) if one is not None]
            inside = [one for one in _TRIED if (low is None or one >= low) and (high is None or one <= high)]
            return [*absent, *dict.fromkeys([*ends, *inside])], False
        case "ability":
            return [*absent, *(one for one in _TRIED if one >= 0)], False
    return [], False
