"""`rpgres odds SCENE --best WHO`: the result of a scene with optimal decisions of one player, printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from rpgres.cli import options as opt
from rpgres.errors import UsageError

if TYPE_CHECKING:
    from rpgres.model.state import State
    from rpgres.scenes import Scene

STUDIES = ("compare", "vary", "find", "knockout", "simulate")


def with_goals(shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with what --best brings about as `goals`, and with `goal` as --find looks for it.

    Raises:
        UsageError: options exclude each other, or one is missing.
    """
    typed = shared["goal"]
    goals = [typed] if isinstance(typed, str) else list(typed or ())
    if shared["best"] is None:
        if goals and not shared["find"]:
            raise UsageError("--goal says what --best or --find looks for: name one of them too")
        if len(goals) > 1:
            raise UsageError("--find looks for one --target; several of them are for --best")
        return {**shared, "goal": goals[0] if goals else None, "goals": []}
    several = next((name for name in STUDIES if shared[name]), "")
    if several:
        raise UsageError(f"--best and --{several} exclude each other")
    return {**shared, "goal": None, "goals": goals}


def weigh_best(scene: Scene, people: State, shared: Mapping[str, Any], **told: Any) -> None:
    """Print the result of a scene with optimal decisions of one player.

    Args:
        people: the table with all who take part.
        shared: the options.
        told: who else decides, and what was typed; see `best_record`.
    """
    from rpgres.cli.commands.scene_odds import ENDING
    from rpgres.cli.progress import NOTHING, interrupted, progress
    from rpgres.cli.studies import emit
    from rpgres.scenes.optimal import best_record

    try:
        with progress("evaluating", is_plain=shared["plain"]):
            record = best_record(
                scene,
                people,
                best=shared["best"],
                goals=shared["goals"],
                by=shared["by"] or ENDING,
                note=shared["note"],
                leaves=opt.read_count(shared["leaves"], option="--leaves", default=0) or None,
                seconds=opt.read_seconds(shared["seconds"]),
                **told,
            )
    except KeyboardInterrupt:
        raise typer.Exit(interrupted(f"optimal decisions need the whole scene, so {NOTHING}")) from None
    emit(record, scene.rules.file, shared)
