"""The entries of a journal as records, and what stands after them. Nothing here plays, reads or writes.

Each entry carries what stands before it (`Standing`), so that the last entry alone says which decision waits, which
windows pass and how many actions count. An ordinary command reads the last entry and those that it names by hash; only
`rpgres table verify` reads all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, overload

import msgspec

from rpgres.engine.records import Pending, Result
from rpgres.errors import FileError, RpgresError
from rpgres.journal.chain import SALT
from rpgres.model.state import State

Kind = Literal["new", "act", "answer", "pass", "begin", "end", "set", "note", "join", "undo", "reveal", "seal"]
RUNS = ("act", "begin", "end")  # the kinds that may ask for chance, each with numbers of its own
SAID = ("note", "pass")  # the kinds that stay when what was done before them is taken back
RUNNING = (*RUNS, "answer")  # the kinds that have an outcome, or wait for a decision

ACTION, ALWAYS = "action", "always"  # how long a seat lets windows go by; else the name of a period


class TableError(FileError):
    """A table that cannot be used: it is not there, busy, damaged, or of another version."""

    code = "table"


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """An entry by its number and its hash: it can be read alone, and is still known to be the one that was meant."""

    number: int
    hash: str


class Pass(msgspec.Struct, frozen=True, array_like=True):
    """Windows that a seat lets go by: the number of the entry that says so, whose, which (empty: all), how long."""

    number: int
    by: str
    label: str
    until: str


class Known(msgspec.Struct, frozen=True, array_like=True):
    """What the seed has answered in a run that was undone, or failed: which questions of a label, by count.

    `step` and `deed` say of which run, `number` is the first entry that shows it.
    """

    step: int
    deed: str
    label: str
    places: tuple[int, ...]
    number: int


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of a journal counts at a moment, undone entries left out.

    Attributes:
        steps: how many actions, beginnings and ends there are; chance is drawn under this number.
        new: the first entry.
        pending: the entry that waits for a decision, the last of its action.
        run: the entry with which that action began.
        seals: the sealed answers to it that are not opened yet.
        revealed: the entry that told the seed.
        passes: what seats have said in advance and still holds.
        known: what the seed would roll, as far as it was seen in runs that were undone or failed.
    """

    steps: int = 0
    new: Mark | None = None
    pending: Mark | None = None
    run: Mark | None = None
    seals: tuple[Mark, ...] = ()
    revealed: Mark | None = None
    passes: tuple[Pass, ...] = ()
    known: tuple[Known, ...] = ()


class Public(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What everybody may see of an entry; in plain bytes it is a link of the chain.

    Attributes:
        kind: what was done.
        at: when, as an ISO time in UTC.
        rules: the hash of the rules in force.
        code: the versions of rpgres and of whatever brought the ruleset.
        format: of `new`: the version of what this journal writes.
        trust: of `new`: whether claims count at once (`players`), or when the game master has confirmed them (`gm`).
        ruleset, title, switches: of `new`: what is played here, and how.
        commitment: of `new`: sha256(salt + seed), in hexadecimal digits; of `seal`: sha256(salt + LABEL=ANSWER).
        action, actor: of `act`: which action, and who acts.
        period: of `begin` and `end`: of what.
        attempt: of a run: whether it failed after something was drawn, which stays known; nothing comes of it.
        of: of `answer` and `seal`: the number of the entry that waited.
        seat: of `seal`: who hands it in.
        opens: of `answer`: the number of the seal that it opens.
        before: of `undo`: the number of the first entry that no longer stands.
        alone: of `undo`: whether only that entry is taken back, as it is a note or a pass.
        character: of `join`: who sits down.
        seed, salt: of `reveal`: what the commitment was to.
    """

    kind: Kind
    at: str
    rules: str = ""
    code: str = ""
    format: int = 0
    trust: str = ""
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
    before: int | None = None
    alone: bool = False
    character: str = ""
    seed: str | None = None
    salt: str = ""


class Secret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rest of an entry, of which every seat sees its own part; in the chain stands a commitment to it.

    Attributes:
        state: the hash of the table after the entry.
        stands: what counts before the entry; of `undo`: after it.
        by: the seat that did it; empty for the host.
        inputs: what was typed for an action.
        sheets: file name and text of every sheet that was read, by the name that was typed.
        given: results read off real dice that were asked for, by label in the order of the questions; null where the
            seed has answered.
        later: results read off real dice that nothing has asked for so far, by label.
        tape: of what waits: everything that was rolled and drawn so far, in order, whoever answers next.
        laid: where inputs have put something on the table before the action, by the names that were typed.
        claimed: what of the inputs no sheet had, in words.
        private: inputs that not everybody may read, by the names that were typed: their fields, or none for all.
        choose, own: answers by label that no question took so far: of anybody, and of a seat alone.
        policies: who decides by which policy, by character or seat; everybody's under an empty name.
        note: the text of `--note`.
        result: what came of it, with nothing left out.
        waits: the decision it waits for, with nothing left out; null when it is finished.
        hidden: the seats that may know of what is hidden before or after a run, by the slug of its name.
        is_replaced: of `join`: whether there was a sheet of that character before.
        path, value, was: of `set`; `text` is the value as typed, `label` the seats it was typed for.
        text: of `note`; of an `answer` that opens a seal: what was sealed, its `label` and `salt` beside it; of an
            attempt: why it failed.
        accepted: of an `answer` from a file: what the host was shown of it and took.
        to: the seats that a note, or a value that was set, is for; null for everybody.
        label, until: of `pass`: which windows (empty: all) are let go by, and for how long.
        passes: of `undo`: what a seat saw that cannot be unseen (`draw`, `reveal`), by seat; the host's is empty.
        seed, salt: of `new`: what the commitment is to; the salt also of an opened seal.
        folders: of `new`: further folders with rulesets and house rules.
    """

    state: str = ""
    stands: Standing = Standing()
    by: str = ""
    inputs: dict[str, Any] = {}
    sheets: dict[str, tuple[str, str]] = {}
    given: dict[str, list[str | None]] = {}
    later: dict[str, list[str]] = {}
    tape: list[str] = []
    laid: dict[str, str] = {}
    claimed: list[str] = []
    private: dict[str, list[str]] = {}
    choose: dict[str, list[str]] = {}
    own: dict[str, dict[str, list[str]]] = {}
    policies: dict[str, str] = {}
    note: str | None = None
    result: dict[str, Any] | None = None
    waits: dict[str, Any] | None = None
    hidden: dict[str, list[str]] = {}
    is_replaced: bool = False
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


class Draft(msgspec.Struct, frozen=True):
    """An entry that is to be written, and the table after it; `refused` is what is told when it is written."""

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


class Entries(Sequence[Entry]):
    """The entries of a journal in order. Those that nobody asks for are not read.

    What is read is known to be what was written: either its hash is named by a later entry that is known, or each entry
    up to one that is known follows from it.

    Args:
        count: how many there are.
        known: those that were read, by number; the last one is.
        first: the number from which on all were read.
        fetch: returns the entries from one number up to another, which is where the known ones begin.
    """

    __slots__ = ("_count", "_fetch", "_first", "_known")

    def __init__(
        self,
        count: int,
        known: dict[int, Entry],
        *,
        first: int = 0,
        fetch: Callable[[int, int, str], list[Entry]] | None = None,
    ) -> None:
        self._count, self._known, self._first, self._fetch = count, known, first, fetch

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Entry, ...]: ...

    def __getitem__(self, at: int | slice) -> Entry | tuple[Entry, ...]:
        if isinstance(at, slice):
            return tuple(self[number] for number in self._in_reach(range(*at.indices(self._count))))
        number = range(self._count)[at]
        if number not in self._known:
            self._reach(number)
        return self._known[number]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._count, self[-1].hash))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self[:])

    def _in_reach(self, numbers: range) -> range:
        if numbers and any(number not in self._known for number in numbers):
            self._reach(min(numbers))
        return numbers

    def _reach(self, number: int) -> None:
        """Read on from the entries that are known back to one that is not."""
        if self._fetch is None or number >= self._first:
            raise TableError(f"entry {number} is missing")
        found = self._fetch(number, self._first, self._known[self._first].hash)
        self._known.update((entry.number, entry) for entry in found)
        self._first = number

    def up_to(self, count: int) -> Entries:
        """Return the first entries alone; all of them have to be known."""
        return Entries(count, self._known)

    def with_(self, added: Iterable[Entry]) -> Entries:
        """Return the entries with others after them."""
        known = {**self._known, **{entry.number: entry for entry in added}}
        return Entries(self._count + len(known) - len(self._known), known, first=self._first, fetch=self._fetch)


class History(msgspec.Struct, frozen=True):
    """The entries of a journal in order, and the table after the last one."""

    entries: Entries
    state: State

    @property
    def stands(self) -> Standing:
        """What counts after the last entry."""
        return stands_after(self.head)

    @property
    def new(self) -> Entry:
        """The entry that began it."""
        return self.entries[0]

    @property
    def head(self) -> Entry:
        """The last entry."""
        return self.entries[-1]

    @property
    def standing(self) -> list[Entry]:
        """The entries that were not undone, in order; an undo itself is none of them. This reads all of them."""
        return self.standing_from(0)

    def standing_from(self, number: int) -> list[Entry]:
        """Return the entries from a number on that were not undone, in order; an undo itself is none of them."""
        later = self.entries[number:]
        gone = undone_in(later)
        return [entry for entry in later if entry.kind != "undo" and entry.number not in gone]

    def undone_from(self, before: int) -> list[Entry]:
        """Return what an undo takes back: what was done from an entry on; a note or a pass is taken back alone."""
        among = self.standing_from(before)
        if self.entries[before].kind in SAID:
            return among[:1]
        return [entry for entry in among if entry.kind not in SAID]

    def stands_without(self, before: int) -> Standing:
        """Return what counts once everything from an entry on is taken back, or a note or a pass alone."""
        later = self.entries[before:]
        if later[0].kind in SAID:
            now = self.stands
            return msgspec.structs.replace(now, passes=tuple(one for one in now.passes if one.number != before))
        alone = {entry.public.before for entry in later if entry.kind == "undo"}
        said = [pass_of(entry) for entry in later if entry.kind == "pass"]
        return taken_back(later, said, alone)

    @property
    def pending(self) -> Entry | None:
        """The entry that waits for a decision, the last of its action; None when none does."""
        mark = self.stands.pending
        return self.entries[mark.number] if mark is not None else None

    @property
    def revealed(self) -> Entry | None:
        """The entry that told the seed; None while it is secret."""
        mark = self.stands.revealed
        return self.entries[mark.number] if mark is not None else None

    def run_of(self, entry: Entry) -> Entry:
        """Return the entry that started this action (for an answer: the question it answers)."""
        return entry if entry.public.of is None else self.entries[entry.public.of]

    def step(self, run: Entry | None = None) -> int:
        """Return the number under which chance is drawn for an action that began, or for the next one.

        It counts the actions that stand, so that after an undo, or an attempt, the same question gets the same dice.
        """
        return (self.stands if run is None else run.secret.stands).steps

    def has_passed(self, seat: str, label: str) -> bool:
        """Tell whether a seat said in advance that it lets windows of a label go by, and that still holds."""
        return any(one.by == seat and one.label in ("", label) for one in self.stands.passes)

    def passes_of(self, seat: str | None) -> list[Pass]:
        """Return what a seat has said in advance and still holds; everybody's for the host."""
        return [one for one in self.stands.passes if seat in (None, one.by)]

    def with_draft(self, draft: Draft) -> History:
        """Return the history as it will be when a draft is written; the entry has no hash yet."""
        secret = msgspec.structs.replace(draft.secret, stands=self.stands)
        return History(self.entries.with_([Entry(len(self.entries), draft.public, secret, "")]), draft.state)


# ---------------------------------------------------------------------------------------------------------------------
# What stands


def stands_after(entry: Entry) -> Standing:
    """Return what counts after an entry."""
    stands, secret, mark = entry.secret.stands, entry.secret, Mark(entry.number, entry.hash)
    match entry.kind:
        case "new":
            return Standing(new=mark)
        case "pass":
            return msgspec.structs.replace(stands, passes=_latest([*stands.passes, pass_of(entry)]))
        case "seal":
            return msgspec.structs.replace(stands, seals=(*stands.seals, mark))
        case "reveal":
            return msgspec.structs.replace(stands, revealed=mark)
        case "act" | "begin" | "end" | "answer" if entry.public.attempt:
            return msgspec.structs.replace(stands, known=_all_known([*stands.known, *_known_in(entry)], least=0))
        case "act" | "begin" | "end" | "answer":
            is_answer, waits = entry.kind == "answer", secret.waits is not None
            seals = [one for one in stands.seals if is_answer and waits and one.number != entry.public.opens]
            return msgspec.structs.replace(
                stands,
                steps=stands.steps + (not is_answer),
                pending=mark if waits else None,
                run=None if not waits else stands.run if is_answer else mark,
                seals=tuple(seals),
                passes=tuple(one for one in stands.passes if not _ends(one.until, entry)),
                known=stands.known if is_answer else _all_known(stands.known, least=stands.steps),
            )
    return stands


def _known_in(entry: Entry) -> Iterator[Known]:
    """Yield what the seed has answered in an entry that ran."""
    found, drawn = entry.secret.waits or entry.secret.result or {}, dict[str, int]()
    places: dict[str, list[int]] = {}
    for answer in found["answers"]:
        if answer["kind"] == "chance":
            label = answer["label"]
            place = drawn[label] = drawn.get(label, -1) + 1
            given = entry.secret.given.get(label, ())
            if place >= len(given) or given[place] is None:
                places.setdefault(label, []).append(place)
    step = entry.secret.stands.steps - (entry.kind == "answer")
    deed = deed_of(found["action"] or "", found["actor"] or "", found["inputs"])
    for label, its in places.items():
        yield Known(step, deed, label, tuple(its), entry.number)


def deed_of(action: str, actor: str, inputs: Mapping[str, Any]) -> str:
    """Return what tells a run from others that have the same dice: the action and who acts, or what begins or ends."""
    return f"{action} {actor}" if action else " ".join(f"{moment} {period}" for moment, period in inputs.items())


def _all_known(known: Iterable[Known], *, least: int) -> tuple[Known, ...]:
    """Return what is known of a step and of later ones, once for each label."""
    found: dict[tuple[int, str, str], Known] = {}
    for one in known:
        key = one.step, one.deed, one.label
        before = found.get(key, one)
        if one.step >= least:
            found[key] = msgspec.structs.replace(before, places=tuple(sorted({*before.places, *one.places})))
    return tuple(found.values())


def taken_back(later: Sequence[Entry], said: Iterable[Pass], alone: Iterable[int | None]) -> Standing:
    """Return what counts once everything is taken back that was done from an entry on; notes and passes stay.

    Args:
        later: that entry and all after it.
        said: the passes after it, taken back alone or not; nothing that could end them stands any more.
        alone: the numbers of passes, before it and after, that were taken back alone since.
    """
    stands, gone = later[0].secret.stands, set(alone)
    least = stands.steps - (later[0].kind == "answer")
    known = [*stands.known, *(one for entry in later if entry.kind in RUNNING for one in _known_in(entry))]
    passes = tuple(one for one in _latest([*stands.passes, *said]) if one.number not in gone)
    return msgspec.structs.replace(stands, passes=passes, known=_all_known(known, least=least))


def _latest(passes: list[Pass]) -> tuple[Pass, ...]:
    """Return passes without those that were said again later, for good: so there are never more than can differ."""
    last = {(one.by, one.label, one.until): one.number for one in passes}
    return tuple(one for one in passes if one.number in last.values())


def undone_in(later: Iterable[Entry]) -> set[int]:
    """Return the numbers of the entries that do not stand, among the last ones of a journal; undos are not counted."""
    done: list[int] = []
    gone: set[int] = set()
    for entry in later:
        before = entry.public.before or 0
        if entry.kind != "undo":
            if entry.kind not in SAID:
                done.append(entry.number)
        elif entry.public.alone:
            gone.add(before)
        else:
            while done and done[-1] >= before:
                gone.add(done.pop())
    return gone


def pass_of(entry: Entry) -> Pass:
    """Return what an entry says in advance."""
    return Pass(entry.number, entry.secret.by, entry.secret.label, entry.secret.until)


def _ends(until: str, later: Entry) -> bool:
    """Tell whether what a seat said in advance no longer holds after an entry."""
    if until == ALWAYS:
        return False
    if until == ACTION:
        return later.secret.waits is None
    return later.kind in ("begin", "end") and later.public.period == until


def check_entry(entry: Entry) -> None:
    """Check that an entry has what its kind has, so that whoever reads it need not ask.

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
        and (entry.kind != "undo" or (public.before is not None and 0 < public.before < number))
        and (entry.kind != "join" or bool(entry.secret.sheets))
        and (entry.kind != "new" or len(bytes.fromhex(entry.secret.salt)) == SALT)
        and all(0 <= mark.number < number for mark in marks_of(entry.secret.stands))
    )
    if not is_sound:
        raise ValueError(f"entry {number} is no {entry.kind}")


def marks_of(stands: Standing) -> list[Mark]:
    """Return the entries that are named by what counts."""
    single = (stands.new, stands.pending, stands.run, stands.revealed)
    return [*(mark for mark in single if mark is not None), *stands.seals]


def found_in(secret: Secret) -> Result | Pending | None:
    """Return what came of an entry, or the decision it waits for, with nothing left out; None where it has neither."""
    if secret.waits is not None:
        return msgspec.convert(secret.waits, Pending)
    return msgspec.convert(secret.result, Result) if secret.result is not None else None


def drawn_in(found: Result | Pending) -> dict[str, list[str]]:
    """Return what a run has rolled and drawn, by label and in order."""
    drawn: dict[str, list[str]] = {}
    for answer in found.answers:
        if answer.kind == "chance":
            drawn.setdefault(answer.label, []).append(answer.value)
    return drawn
