"""Estimates of how a scene ends from many plays of the whole, where exact odds leave something open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rpgres.odds.sampling import SEED, Sample, estimate
from rpgres.scenes.program import Scene
from rpgres.scenes.walking import ENDING, value_name
from rpgres.simulate.runners import LAST, scene_runner
from rpgres.stopping import STOP

_EVERY = 256  # runs between two reports


def sample_scene(
    scene: Scene, *, runs: int, by: str = ENDING, tells: Callable[[int, int], None] | None = None
) -> Sample | None:
    """Return how often each value came in plays of a whole scene, with intervals; None where not one was played.

    Args:
        scene: the scene; its policies answer what its steps do not.
        by: the ending, a path of the table at the end, or a detail of the last procedure's outcome.
        tells: called with the plays so far, and their number in all; an interrupt there ends them.
    """
    play, found = plays_of(scene, by=by), Counter[str]()
    try:
        for run in range(runs):
            found[play(run)] += 1
            if tells is not None and not run % _EVERY:
                tells(run, runs)
            if STOP.is_asked:
                break
    except KeyboardInterrupt:
        pass
    played = found.total()
    return Sample(played, {name: estimate(count, played) for name, count in found.items()}) if played else None


def plays_of(scene: Scene, *, by: str = ENDING, seed: str = SEED) -> Callable[[int], str]:
    """Return the function that plays a run of a scene by its number, and returns the name of its ending or value."""
    runner = scene_runner(scene, seed=seed, by=() if by == ENDING else (by,))
    if by != ENDING:
        return lambda run: value_name(runner.play(run)[-1])
    place = runner.things.index(ENDING if ENDING in runner.things else LAST)
    return lambda run: str(runner.play(run)[place] or "")
