"""What the tools of a seat take and return, as flat records; their schemas are made from these and their docstrings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from rpgres.engine.records import OptionRecord

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]

# ---------------------------------------------------------------------------------------------------------------------
# What they take


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool."""


class ActionsArguments(Arguments, frozen=True, kw_only=True):
    """Which actions are listed.

    Attributes:
        action: describe this action alone: its inputs, dice and decisions.
    """

    action: str = ""


class LineArguments(Arguments, frozen=True, kw_only=True):
    """An action, as a short line or with its inputs one by one.

    Attributes:
        line: who does what, as the examples of the tool `actions` do. Either this or `action`.
        action: the action's name.
        actor: who acts; by default the seat's only character.
        inputs: what the action takes, each as NAME=VALUE: `vs=3`.
    """

    line: str = ""
    action: str = ""
    actor: str = ""
    inputs: list[str] = []


class ActArguments(LineArguments, frozen=True, kw_only=True):
    """What is done.

    Attributes:
        line: who does what, as the examples of the tool `actions` do. Or what `also` there lists: `note TEXT`,
            `pass`, `end`, `set PATH=VALUE`, as this seat may. Either this or `action`.
        given: results of real dice, each as LABEL=FACES: `roll=++0-`; only at a table with real dice.
        choose: decisions of this seat known in advance, each as LABEL=OPTION.
        auto: let the ruleset's policy take this seat's decisions.
        note: a text kept with the result.
    """

    given: list[str] = []
    choose: list[str] = []
    auto: bool = False
    note: str = ""


class AnswerArguments(Arguments, frozen=True, kw_only=True):
    """The answer to the decision that waits.

    Attributes:
        choice: one of the options of the question. Left out, the person at the client is asked by a form.
        label: the question's label; refused if something else is asked now.
        at: the `hash` under which the question was shown; refused if something else waits now.
        given: results of real dice for what is rolled after the answer, each as LABEL=FACES; see `act`.
        auto: let the ruleset's policy answer.
    """

    choice: str = ""
    label: str = ""
    at: str = ""
    given: list[str] = []
    auto: bool = False


class OddsArguments(LineArguments, frozen=True, kw_only=True):
    """The action whose odds are asked for; nothing is done.

    Attributes:
        by: what the chances are of.
        decide: who decides for the actor: the ruleset's policies (`policies`), or the optimum (`best`), for which each
            first choice is evaluated, too.
    """

    by: Literal["outcome", "margin", "total"] = "outcome"
    decide: Literal["policies", "best"] = "policies"


class UndoArguments(Arguments, frozen=True, kw_only=True):
    """What is undone.

    Attributes:
        entry: the first entry to undo; everything after it, too. Default: the last action or waiting answer.
        redo: do again what was undone last instead.
    """

    entry: AtLeastOne | None = None
    redo: bool = False


class ShowArguments(Arguments, frozen=True, kw_only=True):
    """Nothing: the whole table is shown."""


class LogArguments(Arguments, frozen=True, kw_only=True):
    """How much of the log is read.

    Attributes:
        last: how many of the last entries.
    """

    last: Annotated[int, msgspec.Meta(ge=1, le=200)] = 10


class RuleArguments(Arguments, frozen=True, kw_only=True):
    """What is looked up.

    Attributes:
        name: an action, a label, an outcome, a house rule, or words of the sources: `overcome`, `fail_chooser`.
    """

    name: str


# ---------------------------------------------------------------------------------------------------------------------
# What they return


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that waits.

    Attributes:
        yours: whether this seat answers it; if not, wait, and look with `show`.
        who: who is asked.
        label: its name; empty where this seat may not know.
        text: the question.
        options: what may be answered; `no` too if `optional`.
        form: how any other answer is written.
    """

    yours: bool
    who: str
    label: str = ""
    text: str = ""
    options: list[OptionRecord] = []
    optional: bool = False
    form: str = ""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The result.

    Attributes:
        status: `done`; `pending`, if a decision waits, which `question` tells.
        text: the same in words, with all that happened.
        entry: the number of the journal entry.
        hash: its hash, for `at` of `answer`.
        outcome: the outcome of an action that is done.
    """

    status: Literal["done", "pending"]
    text: str
    entry: int
    hash: str
    outcome: str | None = None
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    question: Question | None = None


class Actions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be done at the table.

    Attributes:
        characters: who can act for this seat.
        actions: every action with what it does, or the one that was asked for.
        also: what else `line` of `act` takes, and what it does.
        examples: lines as `act` takes them.
        text: the description of the one that was asked for.
    """

    seat: str
    ruleset: str
    characters: list[str]
    actions: dict[str, str]
    also: dict[str, str]
    examples: list[str]
    question: Question | None = None
    text: str = ""


class TableSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The table as this seat sees it.

    Attributes:
        text: the same in words.
        state: everything on the table: characters, tags, tracks, counters, cards.
        entries: how many entries the journal has.
        hash: that of the last one.
    """

    seat: str
    seats: list[str]
    ruleset: str
    text: str
    state: dict[str, Any]
    entries: int
    hash: str
    question: Question | None = None


class Odds(msgspec.Struct, frozen=True, kw_only=True):
    """The odds, as this seat knows the table.

    Attributes:
        method: `exact`; `partial`, if each chance is a lower bound and `open` adds to one or another; `sampled`, if
            there are only the estimates that `text` tells.
        chances: by outcome, or number: as exact fractions.
        percent: the same, rounded.
        choices: the chance of success after each first choice of the actor, as LABEL=OPTION, best first.
    """

    text: str
    method: str
    chances: dict[str, str]
    percent: dict[str, float]
    open: str
    choices: dict[str, str] = {}


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the log."""

    number: int
    kind: str
    undone: bool
    text: str


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """The last entries of the journal, the oldest first."""

    entries: list[LogEntry]


class RuleSource(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the ruleset's sources say.

    Attributes:
        where: file and line.
        text: what stands there.
    """

    where: str
    text: str


class RuleFound(msgspec.Struct, frozen=True, kw_only=True):
    """What the ruleset says of it, and where that comes from.

    Attributes:
        what: the kinds of thing that have the name.
        sources: what the list of sources says of it.
    """

    name: str
    what: list[str]
    text: str
    sources: list[RuleSource]
