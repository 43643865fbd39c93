"""The records of a scene as it stands in TOML. Nothing here reads or plays one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from rpgres.model.conditions import Wanted
from rpgres.model.paths import ABSENT as ABSENT  # what an expectation says of what must not be there
from rpgres.model.state import SCENE
from rpgres.rulesets import Id
from rpgres.rulesets.orders import NamedOrders

Answers = dict[str, str | int | list[str | int]]  # by label: one, or several in order
When = dict[str, Wanted]  # by the id of an earlier step: outcomes; by a path of the table: what has to stand there


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


class Repeat(_Record, frozen=True):
    """How long a group of steps is played again and again.

    Attributes:
        until: conditions as in `when`, looked at before each pass; where all hold, the group is over.
        at_most: how many passes at the most.
    """

    until: When = {}
    at_most: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100


class End(_Record, frozen=True):
    """How a scene may end: the first of its endings whose conditions hold is the one.

    Attributes:
        when: conditions as in the `when` of a step; left out, they always hold.
        text: what that means, for the account.
        at_once: whether the scene is over as soon as they hold, whatever steps are left.
    """

    when: When = {}
    text: str = ""
    at_once: bool = False


_KINDS = ("action", "procedure", "begin", "end", "set", "include", "steps")

# What steps of a kind have no use for: said there it would be passed over, and an `expect` would never fail.
_OF_LEAVES = ("actor", "with", "given", "choose", "expect", "fresh")
_UNUSED = {
    "begin": ("actor", "with"),
    "end": ("actor", "with"),
    "set": ("actor", "with", "given", "choose"),
    "note": ("actor", "with", "given", "choose"),
    "include": _OF_LEAVES,
    "steps": _OF_LEAVES,
}


class Step(_Record, frozen=True):
    """One step of a scene: an action, a procedure, the `begin` or `end` of a period, a change, or a group of steps.

    `fresh` plays it on the table as it was at first. A step that has nothing but a `note` is a line of the account.

    Attributes:
        action: the action's name.
        procedure: in place of an action: a procedure of the ruleset, such as a conflict, which is played to its end.
        begin: in place of an action: what begins, such as a scene or an exchange.
        end: in place of an action: what ends.
        set: in place of an action: what stands at places of the table from now on, by path; "+1" or "-2" in quotes
            changes a number.
        include: in place of an action: the file of another scene, whose steps are played here.
        steps: in place of an action: a group of steps, played once, or as `repeat` says.
        repeat: how long the group is repeated.
        actor: who acts: one of the scene's characters.
        id: a name, so that later steps can branch on its outcome.
        with_: the action's inputs, by parameter.
        given: results read off real dice, by label: one, or a list in the order of the questions.
        choose: answers to decisions, by label or WHO:LABEL, likewise; `OPTION*` is for every question of its label.
        when: the step is played only where all of this holds: id of an earlier step = outcome, or a list of outcomes;
            a path of the table = a value, or a comparison such as "<= 1".
        expect: what `scene test` checks.
        note: carried into the result.
        fresh: plays the step on the table as it was at the beginning, and leaves that as it is.
    """

    action: str = ""
    procedure: str = ""
    begin: str = ""
    end: str = ""
    set: dict[str, bool | int | str] = {}
    include: str = ""
    steps: list[Step] = []
    repeat: Repeat | None = None
    actor: str = ""
    id: str = ""
    with_: dict[str, Any] = msgspec.field(default_factory=dict, name="with")
    given: Answers = {}
    choose: Answers = {}
    when: When = {}
    expect: Expect | None = None
    note: str = ""
    fresh: bool = False

    def __post_init__(self) -> None:
        kinds = [kind for kind in _KINDS if getattr(self, kind)]
        if len(kinds) > 1 or not (kinds or self.note):
            raise ValueError(f"a step has one of {', '.join(_KINDS[:-1])} and {_KINDS[-1]}, or a note alone")
        if self.repeat is not None and not self.steps:
            raise ValueError("only a group of steps has `repeat`: put them under `steps`")
        kind = kinds[0] if kinds else "note"
        unused = [key for key in _UNUSED.get(kind, ()) if getattr(self, "with_" if key == "with" else key)]
        if unused:
            raise ValueError(f"a step with `{kind}` takes no `{unused[0]}`: it belongs to a step that is played")

    @property
    def played(self) -> str:
        """The action or procedure that is played; empty for anything else."""
        return self.action or self.procedure

    @property
    def moment(self) -> tuple[str, Literal["begin", "end"]] | None:
        """The period that begins or ends, and which; None for anything else."""
        if self.begin:
            return self.begin, "begin"
        return (self.end, "end") if self.end else None


class SceneFile(_Record, frozen=True):
    """A scene as it stands in TOML.

    Attributes:
        ruleset: the ruleset's id.
        title: what the scene is called.
        summary: what it is about, in a line.
        seed: any text, so that every run is the same; left out, each run has a fresh one.
        policy: who answers what nothing else does: a policy of the ruleset, orders of this scene by name, or a file of
            standing orders.
        orders: standing orders by name, which a `policy` can name.
        switches: house rules that are not at their default.
        counters: counters of the table, such as the game master's points, at the beginning.
        characters: who takes part, by short name: a sheet, or the keys of one, or both.
        tags: texts with game weight that lie on the table at the beginning, by short name.
        tracks: boxes of the table itself at the beginning, such as a clock that fills, by name.
        things: what else the ruleset keeps on the table, at the beginning, by the name it gives it.
        steps: the actions, in order.
        ends: how the scene may end, by name, in order; the first whose conditions hold at its end is the one.
    """

    ruleset: str
    title: str = ""
    summary: str = ""
    seed: str | None = None
    policy: str = ""
    orders: NamedOrders = {}
    switches: dict[str, str] = {}
    counters: dict[str, int] = {}
    characters: dict[Id, dict[str, Any]] = {}
    tags: dict[Id, SceneTag] = {}
    tracks: dict[Id, SceneTrack] = {}
    things: dict[Id, SceneThing] = {}
    steps: list[Step] = []
    ends: dict[Id, End] = {}


def texts_of(value: Any) -> list[str]:
    """Return all texts in nested lists and tables."""
    found, left = list[str](), [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.append(one)
        left += one.values() if isinstance(one, Mapping) else one if isinstance(one, list | tuple) else ()
    return found
