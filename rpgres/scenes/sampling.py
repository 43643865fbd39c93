"""Estimates of how a scene ends, from playing all of it many times, where exact odds leave something open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rpgres.dice.seeds import Streams, run_seed
from rpgres.engine.dealers import SeededDealer
from rpgres.odds.sampling import SEED, Sample, estimate
from rpgres.odds.scenes import ExactSceneOdds
from rpgres.scenes.program import Scene
from rpgres.scenes.walking import ENDING, play_through, scene_result, value_name
from rpgres.stopping import STOP

EVERY = 256  # runs between two reports


class SceneOddsResult(ExactSceneOdds, frozen=True, kw_only=True, tag="rpgres.scene-odds/1"):
    """The odds of a scene or a procedure, as `rpgres odds scene.toml --json` prints them.

    Attributes:
        sample: estimates of all chances, from plays of the whole scene; null where nothing is open, or none were asked
            for. Each exact chance stands as a lower bound beside its estimate.
    """

    sample: Sample | None = None


def sample_scene(
    scene: Scene, *, runs: int, by: str = ENDING, tells: Callable[[int, int], None] | None = None
) -> Sample | None:
    """Return how often each value came in plays of a whole scene, with intervals; None where not one was played.

    Args:
        scene: the scene; its policies answer what its steps do not.
        runs: how often it is played.
        by: the ending, a path of the table at the end, or a detail of the last procedure's outcome.
        tells: is told how often it was played, and how often it will be; an interrupt there ends the plays.
    """
    found: Counter[str] = Counter()
    try:
        for run in range(runs):
            streams = Streams(run_seed(SEED, run))
            standing = play_through(scene, lambda step, streams=streams: SeededDealer(streams, step=step), by=(by,))  # type: ignore[misc]  # a lambda has no types
            found[value_name(scene_result(scene, standing, by=(by,))[0])] += 1
            if tells is not None and not run % EVERY:
                tells(run, runs)
            if STOP.is_asked:
                break
    except KeyboardInterrupt:
        pass
    played = found.total()
    return Sample(played, {name: estimate(count, played) for name, count in found.items()}) if played else None
