"""Estimates of how a scene ends, from playing all of it many times, where exact odds leave something open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from rpgres.odds.sampling import SEED, Sample, estimate
from rpgres.scenes.program import Scene
from rpgres.scenes.walking import ENDING, path_reader, value_name
from rpgres.simulate.subjects import LAST, Reader, field_of, scene_subject
from rpgres.stopping import STOP

_EVERY = 256  # runs between two reports


def sample_scene(
    scene: Scene, *, runs: int, by: str = ENDING, tells: Callable[[int, int], None] | None = None
) -> Sample | None:
    """Return how often each value came in plays of a whole scene, with intervals; None where not one was played.

    Args:
        scene: the scene; its policies answer what its steps do not.
        runs: how often it is played.
        by: the ending, a path of the table at the end, or what the last procedure counts in its places.
        tells: is told how often it was played, and how often it will be; an interrupt there ends the plays.
    """
    play, found = plays_of(scene, by=by), Counter[str]()
    try:
        for run in range(runs):
            found[value_name(play(run))] += 1
            if tells is not None and not run % _EVERY:
                tells(run, runs)
            if STOP.is_asked:
                break
    except KeyboardInterrupt:
        pass
    played = found.total()
    return Sample(played, {name: estimate(count, played) for name, count in found.items()}) if played else None


def plays_of(scene: Scene, *, by: str = ENDING, seed: str = SEED) -> Callable[[int], Any]:
    """Return what plays a run of a scene by its number, and returns the ending or another value, as odds have it."""
    if by != ENDING:
        subject = scene_subject(scene, seed=seed, by=(by,), reader_of=_reader)
        return lambda run: subject.play(run)[-1]
    subject = scene_subject(scene, seed=seed)
    place = subject.things.index(ENDING if ENDING in subject.things else LAST)
    return lambda run: subject.play(run)[place] or ""


def _reader(name: str) -> Reader:
    if "." not in name:
        field = field_of(name)
        return lambda _state, place: getattr(place, field, None)
    read: Callable[..., Any] = path_reader(name)
    return lambda state, _place: read(state)
