"""The odds of a scene or a procedure as a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rpgres.engine.hidden import Known
from rpgres.odds.chances import chance_record, rules_fields
from rpgres.odds.sampling import Sample
from rpgres.odds.scenes import ExactSceneOdds, SceneOdds
from rpgres.scenes.program import Scene
from rpgres.scenes.walking import ENDING, counting_steps, value_name

if TYPE_CHECKING:
    from fractions import Fraction


class SceneOddsResult(ExactSceneOdds, frozen=True, kw_only=True, tag="rpgres.scene-odds/1"):
    """The odds of a scene or a procedure, as `rpgres odds scene.toml --json` prints them.

    Attributes:
        sample: estimates of all chances, from plays of the whole scene; null where nothing is open, or none were asked
            for. The exact chances beside them are lower bounds.
        counted_by: the steps whose procedures count what is asked for, where there are several: the last one that is
            played has the value.
    """

    sample: Sample | None = None
    counted_by: list[str] = []


def scene_record(
    scene: Scene, odds: SceneOdds, *, sample: Sample | None = None, known: Known | None = None, **about: Any
) -> SceneOddsResult:
    """Return the odds of a scene as a record.

    Args:
        sample: estimates, where the scene was simulated as well.
        known: the seat whose knowledge of a persistent table counts.
        about: what was evaluated and how; see `evaluated`.
    """
    counting = counting_steps(scene, about["by"])
    return SceneOddsResult(
        sample=sample,
        counted_by=counting if len(counting) > 1 else [],
        **chances(scene, odds.masses, odds.open, by=about["by"]),
        **evaluated(scene, **about),
        method="partial" if odds.open else "exact",
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        turns=odds.turns,
        interrupted=odds.is_interrupted,
        too_many=odds.too_many,
        known=known,
    )


def declared_endings(scene: Scene, by: str) -> list[str]:
    """Return the endings that a scene names, else the bands in the outcome tables of the procedure at its end.

    Args:
        by: what the chances are of; parts of the table and what a procedure counts have none.
    """
    ends, last = [end.name for end in scene.program.ends], scene.program.leaves[-1:]
    if by != ENDING or ends or not last or not last[0].step.procedure:
        return ends if by == ENDING else []
    procedure, file = last[0].step.procedure, scene.rules.file
    own = [table for table in file.actions[procedure].tables if f"{table}-".startswith(f"{procedure}-")]
    rows = {band for table in own for band in scene.rules.table(table)}  # other bands are those of its turns
    return [name for name, band in file.bands.items() if name in rows and not band.has_bounds]


def chances(scene: Scene, found: Mapping[Any, Fraction], left: Fraction, *, by: str) -> dict[str, Any]:
    """Return the chance of each value by its name, and the mean where all are numbers, for the record."""
    masses, mean = by_name(scene, found, left, by=by)
    return {
        "outcomes": {name: chance_record(mass) for name, mass in masses.items()},
        "mean": chance_record(mean) if mean is not None else None,
    }


def by_name(
    scene: Scene, found: Mapping[Any, Fraction], left: Fraction, *, by: str
) -> tuple[dict[str, Fraction], Fraction | None]:
    """Return the chance of each value by its name, and the mean where all are numbers.

    Numbers are in ascending order; endings as the scene names them, outcomes as the ruleset does.

    Args:
        scene: the scene; its endings are included even if they are impossible.
        found: the chances of results, each with one value.
        left: the remaining probability; there is no mean where it is not 0.
        by: what the chances are of.
    """
    masses, mean = {key[0]: mass for key, mass in found.items()}, None
    if masses and all(type(value) is int for value in masses):
        masses = dict(sorted(masses.items()))
        mean = sum((value * mass for value, mass in masses.items()), left * 0) if not left else None
    names: dict[str, Fraction] = {}
    for value, mass in masses.items():
        name = value_name(value)
        names[name] = names.get(name, left * 0) + mass
    declared = declared_endings(scene, by)
    names |= {name: left * 0 for name in declared if name not in names}
    order = declared if scene.program.ends else list(scene.rules.file.bands)
    if by == ENDING and set(names) <= {*order, ""}:
        names = {name: names[name] for name in (*order, "") if name in names}
    return names, mean


def evaluated(
    scene: Scene, *, by: str, inputs: Mapping[str, Any], note: str | None, policies: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what was evaluated and how, for the record; by default the scene says who decides."""
    return {
        **rules_fields(scene.rules),
        "scene": scene.source.path,
        "title": scene.file.title,
        "inputs": dict(inputs),
        "by": by,
        "policies": dict(scene.told if policies is None else policies),
        "note": note,
    }
