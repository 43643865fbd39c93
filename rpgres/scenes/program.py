"""A scene that was read, with its steps in the order in which they come: groups and included scenes unfolded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rpgres.engine.players import Policy
from rpgres.errors import FileError, UsageError
from rpgres.model.conditions import compiled
from rpgres.model.paths import Scope
from rpgres.model.state import EMPTY, State
from rpgres.rulesets import Rules
from rpgres.scenes.records import End, SceneFile, Step
from rpgres.toml.diagnostics import KeyPath
from rpgres.toml.reading import Source, locate


class Test(NamedTuple):
    """Conditions that were read: outcomes of earlier steps by their id, and what has to stand on the table."""

    outcomes: tuple[tuple[str, tuple[str, ...]], ...]
    holds: Callable[[Scope], bool] | None


class Leaf(msgspec.Struct, frozen=True):
    """A step that is played, or done at once: no group, and no include.

    Attributes:
        path: where in it.
        number: its place among the steps, from 0.
        passes: for each group it is in, from the outermost, how often that is gone through at most.
        name: what messages call it.
    """

    step: Step
    source: Source
    path: KeyPath
    number: int
    passes: tuple[int, ...]
    due: Test
    name: str

    def where(self, *path: str | int) -> str:
        """Return `FILE:LINE` of the step, or of a key of it."""
        return f"{self.source.path}:{locate(self.source.text, (*self.path, *path)) or 1}"


class Open(msgspec.Struct, frozen=True):
    """Where a group of steps begins: when it is played, how long, and where it goes on after the group."""

    due: Test
    until: Test | None
    at_most: int
    after: int


class Close(msgspec.Struct, frozen=True):
    """Where a group of steps ends: at `opens` it is told whether there is another pass."""

    opens: int


Op = Leaf | Open | Close
ALWAYS = Test((), None)


class Ending(NamedTuple):
    """A named ending: when it is the one, and whether the scene is then over at once."""

    name: str
    due: Test
    at_once: bool


class Program(msgspec.Struct, frozen=True):
    """The steps of a scene, ready to be played.

    Attributes:
        ops: the steps and the ends of groups, in order.
        leaves: the steps among them.
        last_use: for each id that conditions speak of, the last place in `ops` at which one does.
        ends: the endings, in order.
    """

    ops: tuple[Op, ...]
    leaves: tuple[Leaf, ...]
    last_use: Mapping[str, float]
    ends: tuple[Ending, ...]

    def number_of(self, leaf: Leaf, passes: Sequence[int]) -> int:
        """Return a step's number among the draws of a seed, on these passes of the groups it is in.

        It does not depend on how often other groups were gone through.
        """
        turn = 0
        for most, done in zip(leaf.passes, passes, strict=True):
            turn = turn * most + done
        return leaf.number + len(self.leaves) * turn


EMPTY_PROGRAM = Program((), (), EMPTY, ())


class Scene(msgspec.Struct, frozen=True):
    """A scene that was read.

    Attributes:
        source: its text, for pointing at faults.
        state: the table at its beginning.
        policies: who decides when nothing else does, by character.
        program: its steps in the order in which they come.
        folder: where sheets are sought first: beside the scene; None when it stands in no file.
        extra: further folders with rulesets and overlays.
        told: by which policy each character decides, for records: the default under `*`.
    """

    file: SceneFile
    source: Source
    rules: Rules
    state: State
    policies: dict[str, Policy]
    program: Program
    folder: Path | None = None
    extra: Sequence[Path] = ()
    told: Mapping[str, str] = EMPTY

    def where(self, *path: str | int) -> str:
        """Return `FILE:LINE` of a key path."""
        return f"{self.source.path}:{locate(self.source.text, path) or 1}"


Included = Callable[[Step, Source, KeyPath], tuple[Source, Sequence[Step]]]


def program_of(steps: Sequence[Step], source: Source, *, ends: Mapping[str, End], included: Included) -> Program:
    """Return the steps of a scene, groups and includes unfolded.

    Args:
        included: returns the text and the steps of an included scene.

    Raises:
        FileError: an included scene cannot be read, or a condition.
    """
    unfolding = _Unfolding(included)
    unfolding.steps(steps, source, ("steps",))
    endings = []
    for name, end in ends.items():
        due = unfolding.test(end.when, source, ("ends", name, "when"))
        unfolding.uses.update({id_: inf for id_, _ in due.outcomes})
        endings.append(Ending(name, due, end.at_once))
    return Program(tuple(unfolding.ops), tuple(unfolding.leaves), unfolding.uses, tuple(endings))


def _test_of(when: Mapping[str, Any], ids: Iterable[str]) -> Test:
    """Return conditions that were read: outcomes by the id of a step, what has to stand at paths of the table."""
    known = set(ids)
    outcomes = tuple(
        (key, tuple(wanted) if isinstance(wanted, list) else (str(wanted),))
        for key, wanted in when.items()
        if key in known or "." not in key
    )
    places = {key: wanted for key, wanted in when.items() if key not in known and "." in key}
    return Test(outcomes, compiled(places) if places else None)


class _Unfolding:
    """The steps of a scene so far."""

    def __init__(self, included: Included) -> None:
        self.included = included
        self.ops: list[Op] = []
        self.leaves: list[Leaf] = []
        self.ids: dict[str, None] = {}
        self.uses: dict[str, float] = {}
        self.passes: tuple[int, ...] = ()

    def steps(self, steps: Sequence[Step], source: Source, at: KeyPath) -> None:
        for number, step in enumerate(steps):
            self.step(step, source, (*at, number))

    def step(self, step: Step, source: Source, at: KeyPath) -> None:
        due = self.test(step.when, source, (*at, "when"))
        if step.include:
            other, steps = self.included(step, source, (*at, "include"))
            self._group(step, source, at, due, lambda: self.steps(steps, other, ("steps",)))
        elif step.steps:
            self._group(step, source, at, due, lambda: self.steps(step.steps, source, (*at, "steps")))
        else:
            number = len(self.leaves)
            name = f"step {step.id!r}" if step.id else f"step {number + 1}"
            self.leaves.append(Leaf(step, source, at, number, self.passes, due, name))
            self.ops.append(self.leaves[-1])
        if step.id:
            self.ids[step.id] = None

    def _group(self, step: Step, source: Source, at: KeyPath, due: Test, inner: Callable[[], None]) -> None:
        opens, repeat, before = len(self.ops), step.repeat, self.passes
        at_most = repeat.at_most if repeat is not None else 1
        self.ops.append(Close(opens))  # holds its place until the group is known
        self.passes = (*before, at_most)
        inner()
        self.passes = before
        until = self.test(repeat.until, source, (*at, "repeat", "until")) if repeat is not None else ALWAYS
        self.ops.append(Close(opens))
        self.ops[opens] = Open(due, until if until != ALWAYS else None, at_most, len(self.ops))
        if at_most > 1:  # what is asked in a group is asked again on its next pass
            self.uses.update({name: len(self.ops) for name, place in self.uses.items() if place > opens})

    def test(self, when: Mapping[str, Any], source: Source, at: KeyPath) -> Test:
        try:
            test = _test_of(when, self.ids)
        except UsageError as error:
            where = f"{source.path}:{locate(source.text, at) or 1}"
            raise FileError(f"{where}: {error.message}", file=source.path) from None
        self.uses.update({name: len(self.ops) for name, _ in test.outcomes})
        return test
