"""The records of a scene file in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from rpgres.model.conditions import Wanted
from rpgres.model.paths import ABSENT as ABSENT  # the expected value of a missing path
from rpgres.model.state import SCENE
from rpgres.rulesets import Id
from rpgres.rulesets.orders import NamedOrders

Answers = dict[str, str | int | list[str | int]]  # by label: one, or several in order
When = dict[str, Wanted]  # outcomes by the id of an earlier step, and values by path of the table


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


class SceneTag(_Record, frozen=True):
    """A text with game weight that lies on the table when the scene begins.

    Attributes:
        text: the text of the tag.
        kind: its kind, such as an aspect.
        on: the character that carries it; empty for the scene.
        uses: free uses by their holder.
        seen_by: the seats that see it; by default all.
    """

    text: str
    kind: str
    on: str = SCENE
    uses: dict[str, int] = {}
    seen_by: list[str] | None = None


class SceneTrack(_Record, frozen=True):
    """A track of the table at the beginning, such as a clock.

    Attributes:
        boxes: the number of boxes of size 1, named 1, 2, 3, or sizes by name.
        marks: the number of marked boxes, from the first on, or their names.
        seen_by: the seats that see it; by default all.
    """

    boxes: Annotated[int, msgspec.Meta(ge=1, le=1000)] | dict[str, int]
    marks: Annotated[int, msgspec.Meta(ge=0)] | list[str] = 0
    seen_by: list[str] | None = None


class SceneThing(_Record, frozen=True):
    """Other data of the ruleset on the table at the beginning, under a name of the ruleset.

    Attributes:
        value: a text, a whole number, a flag, a list or a table of these.
        seen_by: the seats that see it; by default all.
    """

    value: Any
    seen_by: list[str] | None = None


class Expect(_Record, frozen=True):
    """The expected result of a played step; only given keys are compared.

    `outcome` also accepts the second outcome of `also`. `effects` are compared in order and number, each by the given
    fields. A path of `state` may be quoted or not: `characters.mara.counters.fate-points = 2`.

    Attributes:
        played: whether the step is played at all; by default a skipped step expects nothing.
        outcome: the outcome, or its second outcome.
        also: the second outcome, such as "succeed" for "succeed with style"; "absent" for none.
        success: whether it is a success.
        margin: total less opposition.
        total: the total of the acting side.
        opposition: the total or difficulty that it is compared with.
        effects: every effect in order, each with the fields to compare.
        asks: the label of the decision for which the step waits.
        error: a part of the expected error message.
        state: values after the step, by path; "absent" for a missing value.
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
    """How often a group of steps is repeated.

    Attributes:
        until: conditions as in `when`, checked before each pass; the group ends when all of them hold.
        at_most: the maximum number of passes.
    """

    until: When = {}
    at_most: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100


class End(_Record, frozen=True):
    """A possible ending of a scene: the first ending whose conditions hold counts.

    Attributes:
        when: conditions as in a step; by default always true.
        text: a description for the account.
        at_once: whether the scene ends as soon as they hold, even with steps left.
    """

    when: When = {}
    text: str = ""
    at_once: bool = False


_KINDS = ("action", "procedure", "begin", "end", "set", "include", "steps")

# Keys without effect in steps of a kind: they are refused, since an `expect` there would never fail.
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
    """An action, a procedure, the `begin` or `end` of a period, a change, a group of steps, or a `note`.

    Attributes:
        action: the name of an action.
        procedure: the name of a procedure, such as a conflict.
        begin: the name of a period, such as a scene or an exchange.
        end: the name of a period.
        set: new values on the table, by path; "+1" or "-2" in quotes changes a number.
        include: the file of another scene, whose steps are played here.
        steps: a group of steps, played once, or as `repeat` says.
        repeat: how often the group is repeated.
        actor: the acting character.
        id: a name for conditions of later steps.
        with_: the action's inputs, by parameter.
        given: results of real dice by label: one result, or a list in the order of questions.
        choose: answers to decisions, by label or WHO:LABEL, likewise; `OPTION*` answers every question of its label.
        when: conditions of the step: ID of an earlier step = outcome or list of outcomes; PATH of the table = value or
            comparison, such as "<= 1".
        expect: the expected result, for `scene test`.
        note: a text for the account.
        fresh: plays the step on a copy of the first table.
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
        """The name of the action or procedure; empty for other steps."""
        return self.action or self.procedure

    @property
    def moment(self) -> tuple[str, Literal["begin", "end"]] | None:
        """The period, with `begin` or `end`; None for other steps."""
        if self.begin:
            return self.begin, "begin"
        return (self.end, "end") if self.end else None


class SceneFile(_Record, frozen=True):
    """A scene file in TOML.

    Attributes:
        ruleset: the ruleset's id.
        title: the title of the scene.
        summary: one line about it.
        seed: any text; equal seeds give equal runs. By default each run has a fresh seed.
        policy: decides by default: a policy of the ruleset, orders of this scene by name, or a file of standing orders.
        orders: standing orders by name, for `policy`.
        switches: house rules that are not at their default.
        counters: counters of the table at the beginning, such as the game master's points.
        characters: the characters by short name: a sheet, or the keys of one, or both.
        tags: texts with game weight on the table at the beginning, by short name.
        tracks: tracks of the table at the beginning, such as a clock, by name.
        things: other data of the ruleset at the beginning, by name.
        steps: the actions, in order.
        ends: the possible endings by name, in order; the first whose conditions hold counts.
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
