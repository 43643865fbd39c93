"""The records of a scene: as it stands in TOML, and as it was read. Nothing here reads or plays one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from rpgres.engine.players import Policy
from rpgres.model.paths import ABSENT as ABSENT  # what an expectation says of what must not be there
from rpgres.model.state import SCENE, State
from rpgres.rulesets import Id, Rules
from rpgres.toml.reading import Source, locate

Answers = dict[str, str | list[str]]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


class SceneTag(_Record, frozen=True):
    """A text with game weight that lies on the table when the scene begins.

    Attributes:
        text: the text as people say it.
        kind: the ruleset's word for what it is.
        on: the character that carries it; empty for the scene.
        uses: free uses by who holds them.
        seen_by: the seats that may know of it; everybody when left out.
    """

    text: str
    kind: str
    on: str = SCENE
    uses: dict[str, int] = {}
    seen_by: list[str] | None = None


class SceneTrack(_Record, frozen=True):
    """Boxes of the table itself when the scene begins: a clock that fills, for example.

    `boxes` is how many there are, each of size 1 and called by its number, or their sizes by name. `marks` is how many
    of them are marked, from the first on, or the names of those that are.

    Attributes:
        boxes: how many boxes, each of size 1, or their sizes by name.
        marks: how many are marked, from the first on, or the names of those that are.
        seen_by: the seats that may know of it; everybody when left out.
    """

    boxes: Annotated[int, msgspec.Meta(ge=1, le=1000)] | dict[str, int]
    marks: Annotated[int, msgspec.Meta(ge=0)] | list[str] = 0
    seen_by: list[str] | None = None


class SceneThing(_Record, frozen=True):
    """Something of the ruleset's own that lies on the table when the scene begins, under the name the ruleset knows.

    Attributes:
        value: what it is: a text, a whole number, a flag, a list or a table of these.
        seen_by: the seats that may know of it; everybody when left out.
    """

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

    Attributes:
        played: whether the step is played at all; by default a skipped step expects nothing.
        outcome: the band of the outcome, or one that it is as well.
        also: the band that the outcome is as well; "absent" for one that is no other.
        success: whether it is a success.
        margin: total less opposition.
        total: what the acting side came to.
        opposition: what it was up against.
        effects: every effect in order, each with the fields that matter.
        asks: the label of the decision that the step waits for.
        error: a part of the message with which the step is refused.
        state: values after the step, by path; "absent" for what must not be there.
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
    """One action of a scene, or the `begin` or `end` of a period. `fresh` plays it on the table as it was at first.

    Attributes:
        action: the action's name.
        begin: in place of an action: what begins, such as a scene or an exchange.
        end: in place of an action: what ends.
        actor: who acts: one of the scene's characters.
        id: a name, so that later steps can branch on what came of it.
        with_: the action's inputs, by parameter.
        given: results read off real dice, by label: one, or a list in the order of the questions.
        choose: answers to decisions, by label or WHO:LABEL, likewise.
        when: the step is played only after these outcomes: id of a step = outcome, or a list of outcomes.
        expect: what `scene test` checks.
        note: carried into the result.
        fresh: plays the step on the table as it was at the beginning, and leaves that as it is.
    """

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
    """A scene as it stands in TOML.

    Attributes:
        ruleset: the ruleset's id.
        title: what the scene is called.
        summary: what it is about, in a line.
        seed: any text, so that every run is the same; left out, each run has a fresh one.
        policy: who answers what nobody else does: the name of a policy of the ruleset.
        switches: house rules that are not at their default.
        counters: counters of the table, such as the game master's points, at the beginning.
        characters: who takes part, by short name: a sheet, or the keys of one, or both.
        tags: texts with game weight that lie on the table at the beginning, by short name.
        tracks: boxes of the table itself at the beginning, such as a clock that fills, by name.
        things: what else the ruleset keeps on the table, at the beginning, by the name it gives it.
        steps: the actions, in order.
    """

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
