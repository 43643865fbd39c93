"""Outcomes of actions in TOML that never come: proved by exact odds over all inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from random import Random
from typing import Any

from msgspec import structs

from rpgres.conformance.subjects import place_of_key
from rpgres.engine.players import uniform
from rpgres.engine.prepare import prepare
from rpgres.errors import LawSizeError, RpgresError, UsageError
from rpgres.odds.exact import outcome_odds
from rpgres.rulesets import Parameter, Rules
from rpgres.rulesets.dice_plans import GIVEN, dice_plan
from rpgres.toml.diagnostics import Diagnostic

MOST = 1000  # combinations of inputs, for each of which odds are computed
WORK = 40_000  # paths for each action; what is not tried proves nothing
LEAVES = 2000  # paths of the odds of one combination


def unreached_outcomes(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the bands of actions in TOML that no input comes to, as warnings.

    This can be proved where every input has an end, and nothing else, such as a sheet, has a say.
    """
    for name, action in rules.file.actions.items():
        if action.dice and action.bands and not action.procedure:
            yield from _unreached(rules, name)


def _unreached(rules: Rules, name: str) -> Iterator[Diagnostic]:
    action, parameters = rules.file.actions[name], rules.parameters(name)
    values = {one: _values(its, is_needed=one in action.required) for one, its in parameters.items()}
    named = {one.removeprefix(GIVEN) for one in dice_plan(rules.file, name).free_names()}
    has_costs = any(option.cost for ask in action.ask.values() for option in ask.options.values())
    if rules.file.kits or has_costs or not named <= values.keys():
        return
    if not 0 < prod(map(len, values.values())) <= MOST:
        return
    left, work, every = set(action.conditions), 0, list(product(*values.values()))
    for some in Random(0).sample(every, len(every)):  # noqa: S311  # outcomes come sooner than in order
        try:
            prepared = prepare(rules, name, dict(zip(values, some, strict=True)))
            odds = outcome_odds(prepared, policies={"": uniform}, leaves=LEAVES)
        except LawSizeError:
            return  # they can be rolled all the same
        except UsageError:
            continue  # such inputs cannot be typed
        except RpgresError:
            return
        left -= {band for band, mass in odds.masses.items() if mass}
        work += odds.leaves
        if odds.open or work > WORK or not left:
            return
    if not work:
        return  # every input is refused, which is told elsewhere
    for band in (one for one in action.bands if one in left):
        found, told = place_of_key(rules, "actions", name, "bands", band), "this band never comes: its probability is 0"
        yield structs.replace(found, code="never-matches", message=f"{told} for all inputs", severity="warning")


def _values(parameter: Parameter, *, is_needed: bool) -> list[Any]:
    """Return all values of a parameter, None for one left out; nothing where there is no end of them."""
    absent = [] if is_needed else [None]
    match parameter.kind:
        case "flag":
            return [None, True]
        case "choice":
            return [*absent, *parameter.choices]
        case "integer" if parameter.among:
            return [*absent, *parameter.among]
        case "integer" if parameter.at_least is not None and parameter.at_most is not None:
            every = range(parameter.at_least, parameter.at_most + 1)
            return [*absent, *every] if len(every) <= MOST else []
    return []
