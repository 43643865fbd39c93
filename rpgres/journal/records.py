"""The entries of a journal as records.

Each entry carries what stands before it (`Standing`), so that the last entry alone says which decision waits, which
decisions are skipped and how many actions count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.dealers import Given
from rpgres.engine.decisions import ALLOW
from rpgres.engine.records import Pending, Result, scripts_of
from rpgres.errors import FileError, RpgresError
from rpgres.journal.chain import SALT
from rpgres.model.events import DrawEvent, EventRecord
from rpgres.model.state import State
from rpgres.rulesets import REQUEST
from rpgres.toml.reading import Source

Kind = Literal[
    "new", "act", "answer", "pass", "orders", "begin", "end", "set", "note", "join", "undo", "request", "reveal", "seal"
]
RUNS = ("act", "begin", "end", "request")  # the kinds that an answer can belong to
SAID = ("note", "pass", "orders")  # the kinds that stay when what was done before them is taken back
RUNNING = (*RUNS, "answer")  # the kinds that have an outcome, or wait for a decision

if TYPE_CHECKING:
    Kept = Given
else:
    Kept = Given | str  # of older entries, the text alone

CARDS = ""  # the label of all cards in what is known

ACTION, ALWAYS = "action", "always"  # how long a seat skips decisions; else the name of a period


class TableError(FileError):
    """A table that cannot be used: it is not there, busy, damaged, or of another version."""

    code = "table"

    @classmethod
    def at(cls, path: object, why: str) -> TableError:
        """Return the error for the file of a table."""
        return cls(f"{path}: {why}", file=str(path))


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """An entry by its number and its hash: it can be read alone, and is still known to be the one that was meant."""

    number: int
    hash: str


class Pass(msgspec.Struct, frozen=True, array_like=True):
    """Decisions that a seat skips in advance: the number of the entry, whose, which (empty: all), how long."""

    number: int
    by: str
    label: str
    until: str


class OrdersMark(msgspec.Struct, frozen=True, array_like=True):
    """Standing orders of a seat: the number and the hash of the entry that has them, and whose they are.

    `is_set` is false where the entry takes them away.
    """

    number: int
    hash: str
    seat: str
    is_set: bool = True


Said = Pass | OrdersMark  # what a seat says in advance


class KnownMark(msgspec.Struct, frozen=True, array_like=True):
    """An undo or an attempt whose `known` tells what the seed has answered, and the last step of which it does."""

    number: int
    hash: str
    last: int


class KnownChance(msgspec.Struct, frozen=True, array_like=True):
    """What the seed has answered in runs that were undone, or failed: which questions of a step and label, by count.

    Cards have the label `CARDS` and are counted together, as it is their pile that holds them, whatever asks for them.
    `number` is the first entry that shows it.
    """

    step: int
    label: str
    places: tuple[int, ...]
    number: int


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of a journal counts at an entry, undone entries left out.

    Attributes:
        steps: how many actions, beginnings and ends there are; chance is drawn under this number.
        new: the first entry.
        pending: the entry that waits for a decision, the last of its action.
        run: the entry with which that action began.
        seals: the sealed answers to it that are not opened yet.
        revealed: the entry that revealed the seed.
        passes: what seats have said in advance and still holds.
        orders: the standing orders of seats.
        known: the entries that tell what the seed would roll, as far as it was seen in runs that were undone or failed;
            they are read only where results are given.
    """

    steps: int = 0
    new: Mark | None = None
    pending: Mark | None = None
    run: Mark | None = None
    seals: tuple[Mark, ...] = ()
    revealed: Mark | None = None
    passes: tuple[Pass, ...] = ()
    orders: tuple[OrdersMark, ...] = ()
    known: tuple[KnownMark, ...] = ()


class Public(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What everybody may see of an entry; in plain bytes it is a link of the chain.

    Attributes:
        kind: what was done.
        at: when, as an ISO time in UTC.
        rules: the hash of the rules in force.
        code: the versions of rpgres and of whatever brought the ruleset.
        format: of `new`: the version of what this journal writes.
        trust: of `new`: whether claims count at once (`players`), or when the game master has confirmed them (`gm`).
        dice: of `new`: `real` where a language model may give results of real dice and cards.
        deals: of `new`: whether who sits down is dealt a hand, where the rules say so.
        ruleset, title, switches: of `new`: what is played here, and how.
        commitment: of `new`: sha256(salt + seed), in hexadecimal digits; of `seal`: sha256(salt + LABEL=ANSWER).
        action, actor: of `act`: which action, and who acts.
        period: of `begin` and `end`: of what.
        attempt: of a run: whether it failed after something was drawn, which stays known; nothing comes of it.
        of: of `answer` and `seal`: the number of the entry that waited.
        seat: of `seal`: who hands it in.
        opens: of `answer`: the number of the seal that it opens.
        stops: of `answer`: whether it answers nothing, but ends a procedure before it is over.
        before: of `undo`: the number of the first entry that no longer stands; of a `request` for one: that would not;
            null for a request to redo.
        asks: of a `request`: the numbers of the first and the last entry that it would undo or redo.
        again: of what is done again after an undo: the number of the entry that it repeats.
        alone: of `undo`: whether only that entry is taken back, as it is a note, a pass, or standing orders.
        character: of `join`: who sits down.
        seed, salt: of `reveal`: what the commitment was to.
    """

    kind: Kind
    at: str
    rules: str = ""
    code: str = ""
    format: int = 0
    trust: str = ""
    dice: str = ""
    deals: bool = False
    ruleset: str = ""
    title: str = ""
    switches: dict[str, str] = {}
    commitment: str = ""
    action: str = ""
    actor: str = ""
    period: str = ""
    attempt: bool = False
    of: int | None = None
    seat: str = ""
    opens: int | None = None
    stops: bool = False
    before: int | None = None
    asks: tuple[int, int] = (0, 0)
    again: int | None = None
    alone: bool = False
    character: str = ""
    seed: str | None = None
    salt: str = ""


class Secret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rest of an entry, of which every seat sees its own part; in the chain stands a commitment to it.

    Attributes:
        state: the hash of the table after the entry.
        stands: what counts before the entry; of `undo`: after it, but for what is known by itself.
        by: the seat that did it; empty for the host.
        inputs: what was typed for an action.
        sheets: file name and text of every sheet that was read, by the name that was typed.
        given: results read off real dice that were asked for, by label in the order of the questions; null where the
            seed has answered.
        later: results read off real dice that nothing has asked for so far, by label.
        tape: of what waits: everything that was rolled and drawn so far, in order.
        laid: where inputs have put something on the table before the action, by the names that were typed.
        claimed: what of the inputs no sheet had, in words.
        said: of `act`: the results of dice and cards that a player gave with it, in words.
        private: inputs that not everybody may read, by the names that were typed: their fields, or none for all.
        choose, own: answers by label that no question took so far: of anybody, and of a seat alone.
        dropped: by seat, the answers given in advance (`LABEL=ANSWER`) that were not possible when they were due; the
            host's under an empty name.
        policies: policies by character or seat; the default under an empty name.
        note: the text of `--note`.
        names: of a run that begins: whether the seat that typed it is asked for the names of what it makes.
        result: the result, with nothing left out.
        waits: the decision it waits for, with nothing left out; null when it is finished.
        hidden: the seats that may know of what is hidden before or after a run, by the slug of its name.
        is_replaced: of `join`: whether there was a sheet of that character before.
        dealt: of `new` and `join`: the cards that were dealt to those who sat down, in order.
        short: of `new` and `join`: how many cards a hand is short of, by character, where the deck had too few.
        path, value, was: of `set`; `text` is the value as typed, `label` the seats it was typed for.
        text: of `note`; of `orders`: their text, empty where they are taken away, with the file's name as `label`;
            of an `answer` that opens a seal: what was sealed, its `label` and `salt` beside it; of an
            attempt: why it failed.
        accepted: of an `answer` from a file: what the host was shown of it and took.
        known: of `undo` and of an attempt: what the seed has answered in what is undone, or has failed, and what
            earlier entries said of the same steps.
        to: the seats that a note, or a value that was set, is for; null for everybody. Of `orders`: the seat whose they
            are.
        label, until: of `pass`: which decisions (empty: all) are skipped, and for how long.
        passes: of `undo`: what a seat saw that cannot be unseen (`draw`, `cards`, `reveal`), by seat; the host's is
            empty.
        seed, salt: of `new`: what the commitment is to; the salt also of an opened seal.
        folders: of `new`: further folders with rulesets and house rules.
    """

    state: str = ""
    stands: Standing = Standing()
    by: str = ""
    inputs: dict[str, Any] = {}
    sheets: dict[str, tuple[str, str]] = {}
    given: dict[str, list[Kept | None]] = {}
    later: dict[str, list[Kept]] = {}
    tape: list[str] = []
    laid: dict[str, str] = {}
    claimed: list[str] = []
    said: list[str] = []
    private: dict[str, list[str]] = {}
    choose: dict[str, list[str]] = {}
    own: dict[str, dict[str, list[str]]] = {}
    dropped: dict[str, list[str]] = {}
    policies: dict[str, str] = {}
    note: str | None = None
    names: bool = False
    result: dict[str, Any] | None = None
    waits: dict[str, Any] | None = None
    hidden: dict[str, list[str]] = {}
    is_replaced: bool = False
    dealt: tuple[DrawEvent, ...] = ()
    short: dict[str, int] = {}
    path: str = ""
    value: Any = None
    was: Any = None
    text: str = ""
    to: list[str] | None = None
    label: str = ""
    until: str = ""
    passes: dict[str, list[str]] = {}
    seed: str = ""
    salt: str = ""
    folders: list[str] = []
    accepted: str = ""
    known: tuple[KnownChance, ...] = ()

    def __post_init__(self) -> None:
        queues: list[list[Any]] = [*self.given.values(), *self.later.values()]
        for results in queues:
            results[:] = [Given(one) if isinstance(one, str) else one for one in results]


class Draft(msgspec.Struct, frozen=True):
    """An entry that is to be written, and the table after it; `refused` is the error shown when it is written."""

    public: Public
    secret: Secret
    state: State
    refused: RpgresError | None = None


class Entry(msgspec.Struct, frozen=True):
    """An entry that was written: its number, its parts, and its hash in the chain as hexadecimal digits."""

    number: int
    public: Public
    secret: Secret
    hash: str

    @property
    def kind(self) -> Kind:
        """What was done."""
        return self.public.kind

    @property
    def name(self) -> str:
        """The action or period that begins, or what is requested in words."""
        public = self.public
        return asked_words(public.before, public.asks) if self.kind == "request" else public.action or public.period


def asked_words(before: int | None, asks: tuple[int, int]) -> str:
    """Return what a request asks for, such as `undo entries 1 to 3`; see `Public`."""
    return f"{'undo' if before is not None else 'redo'} {entries_words(*asks)}"


def entries_words(first: int, last: int) -> str:
    """Return a range of entries in words.

    >>> entries_words(1, 3), entries_words(4, 4)
    ('entries 1 to 3', 'entry 4')
    """
    return f"entries {first} to {last}" if first != last else f"entry {first}"


def allows(answer: Entry) -> bool:
    """Whether an answer allows the request that it belongs to."""
    found = found_in(answer.secret)
    return found is not None and any((one.label, one.value) == (REQUEST, ALLOW) for one in found.answers)


def check_entry(entry: Entry) -> None:
    """Check that an entry has what its kind has, so that its reader need not ask.

    Raises:
        ValueError, msgspec.ValidationError: it has not.
    """
    public, number, secret = entry.public, entry.number, entry.secret
    has_found = secret.waits is not None or secret.result is not None
    found_in(secret)
    is_sound = (
        (entry.kind == "new") == (number == 0)
        and has_found == (entry.kind in RUNNING)
        and (entry.kind != "answer" or (public.of is not None and 0 < public.of < number))
        and (entry.kind in ("answer", "seal") or public.of is None)
        and (entry.kind != "undo" or public.before is not None)
        and (public.before is None or 0 < public.before < number)
        and (entry.kind != "join" or bool(secret.sheets))
        and (entry.kind != "orders" or (secret.to is not None and len(secret.to) == 1))
        and (entry.kind != "new" or len(bytes.fromhex(secret.salt)) == SALT)
        and all(0 <= mark.number < number for mark in marks_of(secret.stands))
        and all(0 <= mark.number < number for mark in secret.stands.known)
    )
    if not is_sound:
        raise ValueError(f"entry {number} is no {entry.kind}")


def marks_of(stands: Standing) -> list[Mark]:
    """Return the entries that an ordinary command needs, as what counts names them."""
    single = (stands.new, stands.pending, stands.run, stands.revealed)
    orders = [Mark(one.number, one.hash) for one in stands.orders]
    return [*(mark for mark in single if mark is not None), *stands.seals, *orders]


def base_name(path: str) -> str:
    """Return the name of a file without its folders, which are the host's own matter."""
    return path.replace("\\", "/").rpartition("/")[2]


def kept_sheets(texts: Mapping[str, Source]) -> dict[str, tuple[str, str]]:
    """Return sheets as an entry keeps them: file name and text, by the name that was typed."""
    return {name: (base_name(source.path), source.text) for name, source in texts.items()}


def found_in(secret: Secret) -> Result | Pending | None:
    """Return the result of an entry, or the decision it waits for, with nothing left out; None where it has neither."""
    return waits_in(secret) or (msgspec.convert(secret.result, Result) if secret.result is not None else None)


def waits_in(secret: Secret) -> Pending | None:
    """Return the decision that an entry waits for, with nothing left out; None where it waits for none."""
    return msgspec.convert(secret.waits, Pending) if secret.waits is not None else None


def events_in(secret: Secret) -> Sequence[EventRecord]:
    """Return what happened in an entry, with nothing left out: in its run, or as hands were dealt."""
    found = found_in(secret)
    return found.events if found is not None else secret.dealt


def drawn_in(found: Result | Pending) -> dict[str, list[str]]:
    """Return what a run has rolled and drawn, by label and in order."""
    return scripts_of(found.answers)[0]
