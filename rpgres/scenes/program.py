"""A parsed scene as a program: a flat list of operations, with groups and included scenes unfolded."""

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
from rpgres.toml.diagnostics import KeyPath, key_text
from rpgres.toml.reading import Source, locate


class Test(NamedTuple):
    """Compiled conditions: wanted outcomes by the id of an earlier step, and a predicate of the table."""

    outcomes: tuple[tuple[str, tuple[str, ...]], ...]
    holds: Callable[[Scope], bool] | None


class Leaf(msgspec.Struct, frozen=True):
    """A single step, without groups and includes.

    Attributes:
        source: the text of its file.
        path: its key path in the file.
        key: its id, or its key path; in an included scene after the name of the file: `part:steps[2].steps[0]`.
        number: its number among the steps, from 0.
        passes: the maximum passes of each group around it, from the outermost.
        due: the conditions of the step.
    """

    step: Step
    source: Source
    path: KeyPath
    key: str
    number: int
    passes: tuple[int, ...]
    due: Test

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"step {self.step.id!r}" if self.step.id else key_text(self.path)

    def where(self, *path: str | int) -> str:
        """Return `FILE:LINE` of a key of the step."""
        return f"{self.source.path}:{locate(self.source.text, (*self.path, *path)) or 1}"


class Open(msgspec.Struct, frozen=True):
    """The beginning of a group: conditions, end of repetition, index of the next operation."""

    due: Test
    until: Test | None
    at_most: int
    after: int


class Close(msgspec.Struct, frozen=True):
    """The end of a group; `opens` is the index of its `Open`."""

    opens: int


Op = Leaf | Open | Close
ALWAYS = Test((), None)


class Ending(NamedTuple):
    """A named ending: its conditions, and whether the scene ends as soon as they hold."""

    name: str
    due: Test
    at_once: bool


class Program(msgspec.Struct, frozen=True):
    """The steps of a scene, ready to be played.

    Attributes:
        ops: the steps, and the beginnings and ends of groups, in order.
        leaves: the steps among them.
        last_use: for each id that conditions read, the last index in `ops` of such a condition.
        ends: the endings, in order.
    """

    ops: tuple[Op, ...]
    leaves: tuple[Leaf, ...]
    last_use: Mapping[str, float]
    ends: tuple[Ending, ...]

    def number_of(self, leaf: Leaf, passes: Sequence[int]) -> int:
        """Return the number of a step in the streams of a seed, independent of other groups."""
        turn = 0
        for most, done in zip(leaf.passes, passes, strict=True):
            turn = turn * most + done
        return leaf.number + len(self.leaves) * turn


EMPTY_PROGRAM = Program((), (), EMPTY, ())


class Scene(msgspec.Struct, frozen=True):
    """A scene that was read.

    Attributes:
        source: its text, for error messages.
        state: the table at its beginning.
        policies: the policies for decisions without an answer, by character.
        program: its steps.
        folder: the folder of the scene file, searched first for sheets; None without a file.
        extra: further folders with rulesets and overlays.
        told: policies by character, the default under `*`, for records.
        named: the policies that were named beside the scene, by character; the default under an empty name.
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
    named: Mapping[str, str] = EMPTY


Included = Callable[[Step, Source, KeyPath], tuple[Source, Sequence[Step]]]


def program_of(steps: Sequence[Step], source: Source, *, ends: Mapping[str, End], included: Included) -> Program:
    """Return the steps of a scene with groups and includes unfolded; `included` reads an included scene.

    Raises:
        FileError: an included scene cannot be read, or a condition.
    """
    ops, leaves, ids, uses = list[Op](), list[Leaf](), dict[str, None](), dict[str, float]()

    def test(when: Mapping[str, Any], source: Source, at: KeyPath) -> Test:
        try:
            outcomes, paths = split_conditions(when, ids)
            wanted = tuple((key, tuple(map(str, bands))) for key, bands in outcomes.items())
            holds = compiled(paths) if paths else None
        except UsageError as error:
            where = f"{source.path}:{locate(source.text, at) or 1}"
            raise FileError(f"{where}: {error.message}", file=source.path) from None
        uses.update({name: len(ops) for name in outcomes})
        return Test(wanted, holds)

    def unfold(steps: Sequence[Step], source_: Source, above: KeyPath, passes: tuple[int, ...]) -> None:
        for number, step in enumerate(steps):
            at = (*above, number)
            due = test(step.when, source_, (*at, "when"))
            if step.include or step.steps:
                group(step, source_, at, due, passes)
            else:
                own = "" if source_ is source else f"{Path(source_.path).stem}:"
                leaf = Leaf(step, source_, at, step.id or own + key_text(at), len(leaves), passes, due)
                leaves.append(leaf)
                ops.append(leaf)
            if step.id:
                ids[step.id] = None

    def group(step: Step, source: Source, at: KeyPath, due: Test, passes: tuple[int, ...]) -> None:
        opens, repeat, until = len(ops), step.repeat, ALWAYS
        at_most = repeat.at_most if repeat is not None else 1
        inner, steps = included(step, source, (*at, "include")) if step.include else (source, step.steps)
        ops.append(Close(opens))  # a placeholder until the end of the group is known
        unfold(steps, inner, ("steps",) if step.include else (*at, "steps"), (*passes, at_most))
        if repeat is not None:
            until = test(repeat.until, source, (*at, "repeat", "until"))
        ops.append(Close(opens))
        ops[opens] = Open(due, until if until != ALWAYS else None, at_most, len(ops))
        if at_most > 1:  # conditions in a group are read again in its next pass
            uses.update({name: len(ops) for name, place in uses.items() if place > opens})

    unfold(steps, source, ("steps",), ())
    endings = [Ending(name, test(end.when, source, ("ends", name, "when")), end.at_once) for name, end in ends.items()]
    uses.update({id_: inf for end in endings for id_, _ in end.due.outcomes})
    return Program(tuple(ops), tuple(leaves), uses, tuple(endings))


def split_conditions(when: Mapping[str, Any], ids: Iterable[str]) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the conditions of a `when`: outcomes by the id of a step, and values by path."""
    known = set(ids)
    of_steps = {key: wanted for key, wanted in when.items() if key in known or "." not in key}
    outcomes = {key: wanted if isinstance(wanted, list) else [wanted] for key, wanted in of_steps.items()}
    return outcomes, {key: wanted for key, wanted in when.items() if key not in of_steps}
