"""What a seat may see of a table as records: the JSON of `rpgres table`, and the files that go to and fro."""

from __future__ import annotations

from typing import Any

import msgspec

from rpgres.engine.records import Pending, Result
from rpgres.model.printed import Printed


class EntryView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """An entry of the journal as far as a seat may see it; each kind of entry is a record of its own.

    Attributes:
        number: its number, from 0.
        at: when, as an ISO time in UTC.
        hash: its hash in the chain.
        undone: whether it was taken back.
        by: the seat that did it, as far as that may be known; empty for the host.
        is_hidden: whether what it says is not for this seat.
    """

    number: int
    at: str
    hash: str
    undone: bool = False
    by: str = ""
    is_hidden: bool = msgspec.field(default=False, name="hidden")


class NewEntry(EntryView, frozen=True, kw_only=True, tag="new"):
    """The table begins.

    Attributes:
        title: what people call the table.
        trust: whether claims count at once (players), or when the game master confirms them (gm).
        commitment: sha256(salt + seed).
        short: how many cards a hand is short of, by character: the deck had too few.
    """

    title: str = ""
    trust: str = ""
    commitment: str = ""
    short: dict[str, int] = {}


class RunEntry(EntryView, frozen=True, kw_only=True):
    """What has a result, or waits for a decision.

    Attributes:
        said_by: the seat that typed what the action was begun with; empty for the host.
        attempt: whether it failed after something was drawn, which stays known; nothing comes of it.
        text: of an attempt: why it failed.
        given: the labels under which results were read off real dice or cards, and not drawn from the seed.
        laid: the piles, counters and tags of which it was typed what lies there, which was not played.
        claimed: what was typed for the action and no sheet had.
        result: the result.
        pending: the decision it waits for.
    """

    said_by: str = ""
    attempt: bool = False
    text: str = ""
    given: list[str] = []
    laid: list[str] = []
    claimed: list[str] = []
    result: Result | None = None
    pending: Pending | None = None

    @property
    def found(self) -> Result | Pending | None:
        """The result, or the decision it waits for; None in a forged file alone."""
        return self.pending if self.pending is not None else self.result


class ActEntry(RunEntry, frozen=True, kw_only=True, tag="act"):
    """An action.

    Attributes:
        action: which action.
        actor: the actor.
    """

    action: str = ""
    actor: str = ""


class PeriodEntry(RunEntry, frozen=True, kw_only=True):
    """A period begins or ends.

    Attributes:
        period: what begins, or ends.
    """

    period: str = ""


class BeginEntry(PeriodEntry, frozen=True, kw_only=True, tag="begin"):
    """Something begins."""


class EndEntry(PeriodEntry, frozen=True, kw_only=True, tag="end"):
    """Something ends."""


class AnswerEntry(RunEntry, frozen=True, kw_only=True, tag="answer"):
    """A decision is answered, with which the action goes on.

    Attributes:
        action: which action.
        actor: the actor.
        period: in place of an action: what begins or ends.
        of: the number of the entry with which the action began.
        opens: the number of the seal that it opens.
        stops: whether it answers nothing, but ends a procedure before it is over.
        salt: of an opened seal: its salt, for its owner.
        accepted: of an answer from a file: what the host was shown of it and took.
    """

    action: str = ""
    actor: str = ""
    period: str = ""
    of: int | None = None
    opens: int | None = None
    stops: bool = False
    salt: str = ""
    accepted: str = ""


class PassEntry(EntryView, frozen=True, kw_only=True, tag="pass"):
    """A seat skips optional decisions in advance.

    Attributes:
        label: which decisions; left out for all.
        until: how long: action, always, or the name of a period.
    """

    label: str = ""
    until: str = ""


class OrdersEntry(EntryView, frozen=True, kw_only=True, tag="orders"):
    """A seat gives standing orders, or takes them back.

    Attributes:
        seat: whose orders.
        file: the name of the file they came from.
        text: the orders as TOML; left out where they are taken back.
    """

    seat: str = ""
    file: str = ""
    text: str = ""


class SetEntry(EntryView, frozen=True, kw_only=True, tag="set"):
    """A value of the table is set by hand.

    Attributes:
        path: where on the table.
        was: what stood there before.
        value: what stands there now.
        to: the seats that may know of it; left out where everybody may.
    """

    path: str = ""
    was: Any = None
    value: Any = None
    to: list[str] | None = None


class NoteEntry(EntryView, frozen=True, kw_only=True, tag="note"):
    """A note.

    Attributes:
        text: what it says.
        to: the seats that may know of it; left out where everybody may.
    """

    text: str = ""
    to: list[str] | None = None


class JoinEntry(EntryView, frozen=True, kw_only=True, tag="join"):
    """A character joins the table.

    Attributes:
        character: who sits down.
        is_replaced: whether it is a new sheet of a character who was there already.
        short: how many cards a hand is short of, by character: the deck had too few.
    """

    character: str = ""
    is_replaced: bool = msgspec.field(default=False, name="replaced")
    short: dict[str, int] = {}


class RequestEntry(RunEntry, frozen=True, kw_only=True, tag="request"):
    """A player asks to undo or redo what has shown dice or cards, and the game master allows or refuses it.

    Attributes:
        before: the number of the first entry to undo; null to redo.
    """

    before: int | None = None


class UndoEntry(EntryView, frozen=True, kw_only=True, tag="undo"):
    """Entries are taken back.

    Attributes:
        before: the number of the first entry that was taken back.
        is_alone: whether that entry alone was taken back, a note or a pass.
        undid: what was taken back, in words: who did what, and the result.
        answer: the game master's answer to the request of a player that ends with this, in words.
        passes: what was seen and is taken back all the same: draw (rolls), cards, reveal.
    """

    before: int | None = None
    is_alone: bool = msgspec.field(default=False, name="alone")
    undid: list[str] = []
    answer: str = ""
    passes: list[str] = []


class RevealEntry(EntryView, frozen=True, kw_only=True, tag="reveal"):
    """The seed is revealed.

    Attributes:
        seed: where the dice came from.
        salt: the salt of the commitment.
    """

    seed: str | None = None
    salt: str = ""


class SealEntry(EntryView, frozen=True, kw_only=True, tag="seal"):
    """A seat hands in a sealed answer.

    Attributes:
        commitment: sha256(salt + LABEL=ANSWER).
        of: the number of the entry with which the action began.
    """

    commitment: str = ""
    of: int | None = None


AnyEntry = (
    NewEntry
    | ActEntry
    | AnswerEntry
    | PassEntry
    | OrdersEntry
    | BeginEntry
    | EndEntry
    | SetEntry
    | NoteEntry
    | JoinEntry
    | UndoEntry
    | RequestEntry
    | RevealEntry
    | SealEntry
)


class EntryRecord(Printed, frozen=True, kw_only=True, tag="rpgres.entry/1"):
    """What a command added to a table, as `rpgres table set --json` and the like print it.

    Attributes:
        ruleset: the ruleset's id.
        seat: whose view it is; null for the host.
        entry: what was added to the journal.
        warnings: why the ruleset still refuses the character that a value was set of.
    """

    ruleset: str
    seat: str | None
    entry: AnyEntry
    warnings: list[str] = []


class PassRecord(msgspec.Struct, frozen=True):
    """Windows that a seat lets go by, said in advance.

    Attributes:
        seat: whose decisions are skipped.
        label: which decisions; empty for all.
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
        head: the hash of the last entry; a copy of it shows later whether anything was cut off.
        commitment: sha256(salt + seed), said when the table was begun.
        seed: where the dice come from; null while it is secret.
        under_way: whether a procedure waits of which turns are over: they are in the state, and undone with it.
        state: what lies on the table, as far as the seat may know it.
        pending: the decision that is waited for, as far as the seat may know it; null when there is none.
        said_by: the seat that typed the action which waits; empty for the host, or when there is none.
        passes: the optional decisions that the seat skips in advance; everybody's for the host.
        orders: the entries with the seat's standing orders, by seat; everybody's for the host.
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
    under_way: bool = False
    state: dict[str, Any]
    pending: Pending | None
    said_by: str = ""
    passes: list[PassRecord]
    orders: dict[str, int] = {}


class OrdersRecord(Printed, frozen=True, kw_only=True, tag="rpgres.orders/1"):
    """Standing orders at a table, as `rpgres table orders --json` prints them.

    Attributes:
        ruleset: the ruleset's id.
        seat: whose view it is; null for the host.
        orders: the entries with the standing orders of the seat; everybody's for the host.
    """

    ruleset: str
    seat: str | None
    orders: list[OrdersEntry]


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
    entries: list[AnyEntry]


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
        began: where a procedure waits of which turns are over: the table before the first of them, so that an answer
            can be checked.
        key: the seat's key, a secret of the seat: it authenticates the answers that are made from this view.
    """

    seat: str
    table: TableRecord
    log: list[AnyEntry]
    chain: list[LinkRecord]
    began: dict[str, Any] | None = None
    key: str = ""


class AnswerFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="format", tag="rpgres.answer/1"
):
    """A seat's answer to the decision that waits, as `rpgres table answer --view` writes it, or a person does.

    Attributes:
        seat: who answers.
        entry: the hash of the entry that is answered, from the view; left out, it is whatever waits.
        choose: the answers by label: one, or several in order.
        given: results read off real dice, by label.
        mac: the message authentication code: HMAC-SHA256 of the above with the key in the seat's view, 32 hexadecimal
            digits; left out, the host has to know who wrote the answer.
    """

    seat: str
    entry: str = ""
    choose: dict[str, str | list[str]]
    given: dict[str, str | list[str]] = {}
    mac: str = ""


class TableResult(Result, frozen=True, kw_only=True):
    """How something ended at a persistent table, as far as its seat may know it: `rpgres table act --json`.

    Attributes:
        said_by: the seat that typed it; empty for the host.
        entry: the number of the journal entry.
        hash: the hash of the entry in the chain.
    """

    said_by: str = ""
    entry: int = 0
    hash: str = ""


class TablePending(Pending, frozen=True, kw_only=True):
    """A decision that waits at a persistent table, as far as its seat may know it: `rpgres table act --json`.

    Attributes:
        said_by: the seat that typed what waits; empty for the host.
        entry: the number of the journal entry that waits.
        hash: the hash of the entry in the chain.
    """

    said_by: str = ""
    entry: int = 0
    hash: str = ""
