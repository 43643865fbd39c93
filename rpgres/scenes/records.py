"""The records of a scene: as it stands in TOML, and as it was read. Nothing here reads or plays one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from rpgres.engine.players import Policy
from rpgres.model.state import SCENE, State
from rpgres.rulesets import Id, Rules
from rpgres.toml.reading import Source, locate

Answers = dict[str, str | list[str]]
ABSENT = "absent"  # what an expectation says of what must not be there


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


class SceneTag(_Record, frozen=True):
    """A text with game weight that lies on the table when the scene begins."""

    text: str
    kind: str
    on: str = SCENE
    uses: dict[str, int] = {}
    seen_by: list[str] | None = None


class SceneTrack(_Record, frozen=True):
    """Boxes of the table itself when the scene begins: a clock that fills, for example.

    `boxes` is how many there are, each of size 1 and called by its number, or their sizes by name. `marks` is how many
    of them are marked, from the first on, or the names of those that are.
    """

    boxes: Annotated[int, msgspec.Meta(ge=1, le=1000)] | dict[str, int]
    marks: Annotated[int, msgspec.Meta(ge=0)] | list[str] = 0
    seen_by: list[str] | None = None


class SceneThing(_Record, frozen=True):
    """Something of the ruleset's own that lies on the table when the scene begins, under the name the ruleset knows."""

    value: Any
    seen_by: list[str] | None = None


class Expect(_Record, frozen=True):
    """What a step must come to; only what is given is compared, and only when the step is played.

    `played` holds a step to being played, or to being skipped.

    `outcome` may be one that the outcome is as well, as in `when`. `also` says which one that is, `"absent"` that it is
    no other; so both together tell them apart.

    `effects` are compared in order and number, each by the fields given. `asks` expects the run to wait for that
    decision, `error` expects it to be refused with a message that contains the text. `state` holds values after the
    step by path, as `characters.mara.counters.fate-points = 2`, in quotes or not; `"absent"` for what must not be
    there.
    """

    played: bool | None = None
    outcome: str | None = None
    also: str | None = None
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    effects: list[dict[str, Any]] | None = None
    asks: str | None = None
    error: str | None = None
    state: dict[str, Any] = {}


class Step(_Record, frozen=True):
    """One action of a scene, or the `begin` or `end` of a period. `fresh` plays it on the table as it was at first."""

    action: str = ""
    begin: str = ""
    end: str = ""
    actor: str = ""
    id: str = ""
    with_: dict[str, Any] = msgspec.field(default_factory=dict, name="with")
    given: Answers = {}
    choose: Answers = {}
    when: dict[str, str | list[str]] = {}
    expect: Expect | None = None
    note: str = ""
    fresh: bool = False

    def __post_init__(self) -> None:
        if sum(map(bool, (self.action, self.begin, self.end))) != 1:
            raise ValueError("a step has one of action, begin and end")

    @property
    def moment(self) -> tuple[str, Literal["begin", "end"]] | None:
        """The period that begins or ends, and which; None for an action."""
        if self.action:
            return None
        return (self.begin, "begin") if self.begin else (self.end, "end")


class SceneFile(_Record, frozen=True):
    """A scene as it stands in TOML."""

    ruleset: str
    title: str = ""
    summary: str = ""
    seed: str | None = None
    policy: str = ""
    switches: dict[str, str] = {}
    counters: dict[str, int] = {}
    characters: dict[Id, dict[str, Any]] = {}
    tags: dict[Id, SceneTag] = {}
    tracks: dict[Id, SceneTrack] = {}
    things: dict[Id, SceneThing] = {}
    steps: list[Step] = []


class Scene(msgspec.Struct, frozen=True):
    """A scene that was read.

    Attributes:
        file: what it says.
        source: its text, for pointing at faults.
        rules: the rules it is played by.
        state: the table at its beginning.
        policies: who decides when nobody else does, by character.
        folder: where sheets are sought first: beside the scene; None when it stands in no file.
    """

    file: SceneFile
    source: Source
    rules: Rules
    state: State
    policies: dict[str, Policy]
    folder: Path | None = None

    def where(self, *path: str | int) -> str:
        """Return `FILE:LINE` of a key path."""
        return f"{self.source.path}:{locate(self.source.text, path) or 1}"

    def step_name(self, number: int) -> str:
        """Return what a step is called in messages."""
        step = self.file.steps[number]
        return f"step {step.id!r}" if step.id else f"step {number + 1}"
