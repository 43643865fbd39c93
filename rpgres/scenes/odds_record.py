"""The odds of a scene or a procedure as a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rpgres.engine.hidden import Known
from rpgres.odds.exact import chance_record, house_rules
from rpgres.odds.sampling import Sample
from rpgres.odds.scenes import SceneOdds
from rpgres.scenes.program import Scene
from rpgres.scenes.sampling import SceneOddsResult
from rpgres.scenes.walking import value_name

if TYPE_CHECKING:
    from fractions import Fraction


def scene_record(
    scene: Scene, odds: SceneOdds, *, sample: Sample | None = None, known: Known | None = None, **about: Any
) -> SceneOddsResult:
    """Return the odds of a scene as a record.

    Args:
        scene: what was evaluated.
        odds: its chances.
        sample: estimates of them, where it was played as well.
        known: what a seat knows of where it begins.
        about: what was evaluated and how; see `evaluated`.
    """
    return SceneOddsResult(
        sample=sample,
        **chances(odds.masses, odds.open),
        **evaluated(scene, **about),
        method="partial" if odds.open else "exact",
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        turns=odds.turns,
        interrupted=odds.is_interrupted,
        known=known,
    )


def chances(found: Mapping[Any, Fraction], left: Fraction) -> dict[str, Any]:
    """Return the chance of each value by its name, and the mean where all are numbers, for the record.

    Args:
        found: the chances of results.
        left: what is open.
    """
    masses, mean = by_name(found, left)
    return {
        "outcomes": {name: chance_record(mass) for name, mass in masses.items()},
        "mean": chance_record(mean) if mean is not None else None,
    }


def by_name(found: Mapping[Any, Fraction], left: Fraction) -> tuple[dict[str, Fraction], Fraction | None]:
    """Return the chance of each value by its name, numbers in ascending order; and the mean where all are numbers.

    Args:
        found: the chances of results, each with one value.
        left: what is open; there is no mean where anything is.
    """
    masses, mean = {key[0]: mass for key, mass in found.items()}, None
    if masses and all(type(value) is int for value in masses):
        masses = dict(sorted(masses.items()))
        mean = sum((value * mass for value, mass in masses.items()), left * 0) if not left else None
    names: dict[str, Fraction] = {}
    for value, mass in masses.items():
        name = value_name(value)
        names[name] = names.get(name, left * 0) + mass
    return names, mean


def evaluated(
    scene: Scene, *, by: str, policies: Mapping[str, str], inputs: Mapping[str, Any], note: str | None
) -> dict[str, Any]:
    """Return what was evaluated and how, for the record."""
    return {
        "ruleset": scene.rules.id,
        "scene": scene.source.path,
        "title": scene.file.title,
        "inputs": dict(inputs),
        "by": by,
        "policies": dict(policies),
        "switches": scene.rules.chosen,
        "house_rules": house_rules(scene.rules),
        "note": note,
    }
