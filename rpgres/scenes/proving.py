"""Expectations of a scene, compared with the results of its steps. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.records import Pending, Result
from rpgres.errors import RpgresError
from rpgres.model.paths import ABSENT, value_at
from rpgres.model.state import State
from rpgres.scenes.flow import Cursor
from rpgres.scenes.playing import at_step, play_step, unanswered, walk
from rpgres.scenes.program import Leaf, Scene
from rpgres.scenes.records import Expect
from rpgres.text.differences import first_difference


class Mismatch(msgspec.Struct, frozen=True):
    """An expectation that did not hold.

    Attributes:
        where: the file and line of the expectation.
        step: the step's name, or its place in the file.
        what: the compared field, such as `outcome`.
        expected: the expected value.
        found: the value in the result.
    """

    where: str
    step: str
    what: str
    expected: Any
    found: Any

    @property
    def differs(self) -> str:
        """The first difference of lists, tables, or values with equal text."""
        expected, found = self.expected, self.found
        if not isinstance(expected, list | dict) and str(expected) != str(found):
            return ""
        first = first_difference(expected, found, self.what, named_only=True)
        return f" ({first.path}: expected {first.one}, found {first.other})" if first is not None else ""


class ProvedFile(msgspec.Struct, frozen=True, kw_only=True):
    """The test result of one scene.

    Attributes:
        file: the scene.
        ok: whether every expectation held.
        checks: how many expectations there are.
        failed: the expectations that did not hold.
        error: the message of a scene with a faulty step; null for complete runs.
    """

    file: str
    ok: bool
    checks: int = 0
    failed: list[Mismatch] = []
    error: str | None = None


class ProvedScenes(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="rpgres.scene-test/1"):
    """The test results of scenes, as `rpgres scene test --json` prints them.

    Attributes:
        ok: whether every expectation held.
        files: the result of each scene.
    """

    ok: bool
    files: list[ProvedFile]


def prove_scene(scene: Scene, *, seed: str | None = None) -> tuple[int, list[Mismatch]]:
    """Return the number of expectations, and all failed expectations.

    Raises:
        UsageError: the seed is empty, or has characters that cannot be typed.
        FileError: a step without an expected error cannot be played.
    """
    streams = Streams(read_seed(next((one for one in (seed, scene.file.seed) if one is not None), "0")))
    checks, wrong = 0, list[Mismatch]()

    def hold(leaf: Leaf, what: str, expected: Any, came: Any) -> None:
        nonlocal checks
        checks += 1
        if expected != came:
            wrong.append(Mismatch(leaf.where("expect", what.split(".", 1)[0]), leaf.name, what, expected, came))

    def run_leaf(leaf: Leaf, at: Cursor, before: State) -> tuple[Result | None, State]:
        expect, after = leaf.step.expect or Expect(), before
        found: Result | Pending | RpgresError | None
        try:
            found, after = play_step(scene, leaf, at, before, streams)
        except RpgresError as error:
            if expect.error is None:
                raise at_step(leaf, error) from error
            found = error
        if isinstance(found, Pending) and expect.asks is None:
            raise unanswered(leaf, found, after)
        for what, expected, came in _compare(expect, found, after):
            hold(leaf, what, expected, came)
        return found if isinstance(found, Result) else None, after

    for played in walk(scene, run_leaf):
        expect = played.leaf.step.expect
        if played.is_skipped and expect is not None and expect.played is not None:
            hold(played.leaf, "played", expect.played, False)
    return checks, wrong


def _compare(
    expect: Expect, found: Result | Pending | RpgresError | None, state: State
) -> Iterator[tuple[str, Any, Any]]:
    """Yield every comparison of a step as (what, expected, found)."""
    if expect.error is not None:
        message = found.message if isinstance(found, RpgresError) else "no error"
        yield "error", expect.error, expect.error if expect.error in message else message
    if expect.asks is not None:
        yield "asks", expect.asks, found.question.label if isinstance(found, Pending) else "nothing"
    outcome, also = getattr(found, "outcome", None), getattr(found, "also", None)
    effects = found.effects if isinstance(found, Result) else []
    came = {
        "played": True,
        "outcome": expect.outcome if expect.outcome == also else outcome,
        "also": also or (ABSENT if outcome else None),
        **{what: getattr(found, what, None) for what in ("success", "margin", "total", "opposition")},
        "effects": _shown(expect.effects or [], effects),
    }
    for what, value in came.items():
        if getattr(expect, what) is not None:
            yield what, getattr(expect, what), value
    for path, expected in _paths(expect.state):
        yield f"state.{path}", expected, value_at(state, path)


def _paths(expected: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value with its path, from quoted keys and from nested tables."""
    for key, value in expected.items():
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _shown(expected: Sequence[Mapping[str, Any]], effects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the effects of a result; matching ones have only the expected fields."""
    shown = []
    for number, effect in enumerate(effects):
        wanted = expected[number] if number < len(expected) else {}
        agrees = wanted and all(effect.get(key, ABSENT) == value for key, value in wanted.items())
        shown.append(dict(wanted) if agrees else dict(effect))
    return shown
