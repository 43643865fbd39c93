"""What a seat may see of a table as records: the JSON of `rpgres table`, and the files that go to and fro."""

from __future__ import annotations

from typing import Any

import msgspec

from rpgres.engine.records import Pending, Result
from rpgres.model.printed import Printed


class EntryView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the journal as far as a seat may see it.

    Attributes:
        number: its number, from 0.
        kind: what was done: new, act, answer, pass, begin, end, set, note, join, undo, reveal or seal.
        at: when, as an ISO time in UTC.
        hash: its hash in the chain.
        undone: whether it was taken back.
        by: the seat that did it, as far as that may be known; empty for the host.
        said_by: of act and answer: the seat that typed what the action was begun with; empty for the host.
        title: of new: what people call the table.
        trust: of new: whether claims count at once (players), or when the game master confirms them (gm).
        commitment: of new: sha256(salt + seed); of seal: sha256(salt + LABEL=ANSWER).
        action: of act and answer: which action.
        actor: of act and answer: who acts.
        period: of begin and end: of what.
        attempt: of a run: whether it failed after something was drawn, which stays known; nothing comes of it.
        of: of answer and seal: the number of the entry with which the action began.
        opens: of answer: the number of the seal that it opens.
        given: the labels under which results were read off real dice or cards, and not drawn from the seed.
        laid: the piles, counters and tags of which it was typed what lies there, which was not played.
        claimed: of act and answer: what was typed for the action and no sheet had.
        result: what came of it, in the form rpgres.result/1.
        pending: the decision it waits for, in the form rpgres.pending/1.
        path: of set: where on the table.
        was: of set: what stood there before.
        value: of set: what stands there now.
        text: of note: what it says; of an attempt: why it failed.
        to: the seats that may know of it; left out where everybody may.
        label: of pass: which moments; left out for all.
        until: of pass: how long.
        before: of undo: the number of the first entry that was taken back.
        is_alone: of undo: whether that entry alone was taken back, a note or a pass.
        passes: of undo: what was seen and is taken back all the same: draw, reveal.
        character: of join: who sits down.
        is_replaced: of join: whether it is a new sheet of somebody who sat there already.
        seed: of reveal: where the dice came from.
        salt: of reveal: the salt of the commitment; of an opened seal: its salt, for its owner.
        accepted: of an answer from a file: what the host was shown of it and took.
        is_hidden: whether what it says is not for this seat.
    """

    number: int
    kind: str
    at: str
    hash: str
    undone: bool = False
    by: str = ""
    said_by: str = ""
    title: str = ""
    trust: str = ""
    commitment: str = ""
    action: str = ""
    actor: str = ""
    period: str = ""
    attempt: bool = False
    of: int | None = None
    opens: int | None = None
    given: list[str] = []
    laid: list[str] = []
    claimed: list[str] = []
    result: Result | None = None
    pending: Pending | None = None
    path: str = ""
    was: Any = None
    value: Any = None
    text: str = ""
    to: list[str] | None = None
    label: str = ""
    until: str = ""
    before: int | None = None
    is_alone: bool = msgspec.field(default=False, name="alone")
    passes: list[str] = []
    character: str = ""
    is_replaced: bool = msgspec.field(default=False, name="replaced")
    seed: str | None = None
    salt: str = ""
    accepted: str = ""
    is_hidden: bool = msgspec.field(default=False, name="hidden")


class EntryRecord(Printed, frozen=True, kw_only=True, tag="rpgres.entry/1"):
    """What a command added to a table, as `rpgres table set --json` and the like print it.

    Attributes:
        ruleset: the ruleset's id.
        seat: whose view it is; null for the host.
        entry: what was added to the journal.
    """

    ruleset: str
    seat: str | None
    entry: EntryView


class PassRecord(msgspec.Struct, frozen=True):
    """Windows that a seat lets go by, said in advance.

    Attributes:
        seat: whose moments pass.
        label: which moments; empty for all.
        until: how long: action, always, or the name of a period.
    """

    seat: str
    label: str
    until: str


class TableRecord(Printed, frozen=True, kw_only=True, tag="rpgres.table/1"):
    """A table that lasts as a seat sees it, as `rpgres table show --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        rules: the hash of the rules that were in force last.
        title: what people call the table.
        trust: whether claims count at once (players), or when the game master confirms them (gm).
        switches: every house rule and the choice in force.
        seat: whose view it is; null for the host.
        seats: the seats there are, the game master's first.
        entries: how many entries the journal has.
        head: the hash of the last entry; whoever notes it can tell later whether anything was cut off.
        commitment: sha256(salt + seed), said when the table was begun.
        seed: where the dice come from; null while it is secret.
        state: what lies on the table, as far as the seat may know it.
        pending: the decision that is waited for, as far as the seat may know it; null when there is none.
        said_by: the seat that typed the action which waits; empty for the host, or when there is none.
        passes: the optional moments that the seat lets go by, said in advance; everybody's for the host.
    """

    ruleset: str
    rules: str
    title: str
    trust: str = ""
    switches: dict[str, str]
    seat: str | None
    seats: list[str]
    entries: int
    head: str
    commitment: str
    seed: str | None
    state: dict[str, Any]
    pending: Pending | None
    said_by: str = ""
    passes: list[PassRecord]


class LogRecord(Printed, frozen=True, kw_only=True, tag="rpgres.log/1"):
    """Everything that was done at a table, as `rpgres table log --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        title: what people call the table.
        seat: whose view it is; null for the host.
        entries: everything that was done, in order.
    """

    ruleset: str
    title: str
    seat: str | None
    entries: list[EntryView]


class LinkRecord(msgspec.Struct, frozen=True):
    """A link of the chain of hashes, from which anybody can work it out again.

    Attributes:
        number: the entry's number.
        public: what everybody may see of it, byte by byte.
        commitment: what binds to the rest: sha256(salt + rest).
        hash: sha256(hash before + number in 8 bytes + commitment + public part).
    """

    number: int
    public: str
    commitment: str
    hash: str


class ViewRecord(Printed, frozen=True, kw_only=True, tag="rpgres.view/1"):
    """All that a seat may see of a table, as `rpgres table view` writes it for a player elsewhere.

    Attributes:
        seat: whose view it is.
        table: the table as it is now.
        log: everything that was done, in order.
        chain: the chain of hashes, from which anybody can work it out again.
    """

    seat: str
    table: TableRecord
    log: list[EntryView]
    chain: list[LinkRecord]


class AnswerFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="format", tag="rpgres.answer/1"
):
    """A seat's answer to the decision that waits, as `rpgres table answer --view` writes it, or a person does.

    Attributes:
        seat: who answers.
        entry: the hash of the entry that is answered, from the view; left out, it is whatever waits.
        choose: the answers by label: one, or several in order.
        given: results read off real dice, by label.
    """

    seat: str
    entry: str = ""
    choose: dict[str, str | list[str]]
    given: dict[str, str | list[str]] = {}
