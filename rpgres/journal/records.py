"""The entries of a journal as records, and what stands after all of them. Nothing here plays, reads or writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from rpgres.actions import Pending, Result
from rpgres.errors import UsageError
from rpgres.state import State

Kind = Literal["new", "act", "answer", "pass", "begin", "end", "set", "note", "join", "undo", "reveal", "seal"]
RUNS = ("act", "begin", "end")  # the kinds that may ask for chance, each with numbers of its own
SAID = ("note", "pass")  # the kinds that stay when what was done before them is taken back
RUNNING = (*RUNS, "answer")  # the kinds that have an outcome, or wait for a decision

ACTION, ALWAYS = "action", "always"  # how long a seat lets windows go by; else the name of a period


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
        of: of `answer` and `seal`: the number of the entry that waited.
        seat: of `seal`: who hands it in.
        opens: of `answer`: the number of the seal that it opens.
        before: of `undo`: the number of the first entry that no longer stands.
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
    of: int | None = None
    seat: str = ""
    opens: int | None = None
    before: int | None = None
    character: str = ""
    seed: str | None = None
    salt: str = ""


class Secret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rest of an entry, of which every seat sees its own part; in the chain stands a commitment to it.

    Attributes:
        state: the hash of the table after the entry.
        by: the seat that did it; empty for the host.
        inputs: what was typed for an action.
        sheets: file name and text of every sheet that was read, by the name that was typed.
        given: results read off real dice, by label; all of them, so that the run can be repeated.
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
        text: of `note`; of an `answer` that opens a seal: what was sealed, its `label` and `salt` beside it.
        to: the seats that a note, or a value that was set, is for; null for everybody.
        label, until: of `pass`: which windows (empty: all) are let go by, and for how long.
        passes: of `undo`: what a seat saw that cannot be unseen (`draw`, `reveal`), by seat; the host's is empty.
        seed, salt: of `new`: what the commitment is to; the salt also of an opened seal.
        folders: of `new`: further folders with rulesets and house rules.
    """

    state: str = ""
    by: str = ""
    inputs: dict[str, Any] = {}
    sheets: dict[str, tuple[str, str]] = {}
    given: dict[str, list[str]] = {}
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


class Draft(msgspec.Struct, frozen=True):
    """An entry that is to be written, and the table after it; `refused` is what is told when it is written."""

    public: Public
    secret: Secret
    state: State
    refused: UsageError | None = None


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


class History(msgspec.Struct, frozen=True):
    """All entries of a journal in order, and the table after the last one."""

    entries: tuple[Entry, ...]
    state: State

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
        """The entries that were not undone, in order; an undo itself is none of them."""
        found: list[Entry] = []
        for entry in self.entries:
            if entry.kind == "undo":
                gone = {one.number for one in self.undone_from(entry.public.before or 0, among=found)}
                found = [one for one in found if one.number not in gone]
            else:
                found.append(entry)
        return found

    def undone_from(self, before: int, *, among: list[Entry]) -> list[Entry]:
        """Return what an undo takes back: what was done from an entry on; a note or a pass is taken back alone.

        Args:
            before: the number of the entry.
            among: the entries that stand.
        """
        if self.entries[before].kind in SAID:
            return [one for one in among if one.number == before]
        return [one for one in among if one.number >= before and one.kind not in SAID]

    @property
    def pending(self) -> Entry | None:
        """The entry that waits for a decision, the last of its action; None when none does."""
        for entry in reversed(self.standing):
            if entry.kind in RUNNING:
                return entry if entry.secret.waits is not None else None
        return None

    @property
    def revealed(self) -> Entry | None:
        """The entry that told the seed; None while it is secret."""
        return next((entry for entry in self.standing if entry.kind == "reveal"), None)

    def run_of(self, entry: Entry) -> Entry:
        """Return the entry with which the action of an entry began: of an answer, what it answers."""
        return entry if entry.public.of is None else self.entries[entry.public.of]

    def step(self, run: Entry | None = None) -> int:
        """Return the number under which chance is drawn for an action that began, or for the next one.

        It counts the actions that stand, so that after an undo the same question gets the same dice.
        """
        end = run.number if run is not None else len(self.entries)
        earlier = History(self.entries[:end], self.state).standing
        return sum(entry.kind in RUNS for entry in earlier)

    def has_passed(self, seat: str, label: str) -> bool:
        """Tell whether a seat said in advance that it lets windows of a label go by, and that still holds."""
        return any(entry.secret.by == seat and entry.secret.label in ("", label) for entry in self._passes())

    def passes_of(self, seat: str | None) -> list[Entry]:
        """Return what a seat has said in advance and still holds; everybody's for the host."""
        return [entry for entry in self._passes() if seat in (None, entry.secret.by)]

    def _passes(self) -> Iterator[Entry]:
        standing = self.standing
        for place, entry in enumerate(standing):
            if entry.kind == "pass" and not any(_ends(entry.secret.until, later) for later in standing[place + 1 :]):
                yield entry


def _ends(until: str, later: Entry) -> bool:
    """Tell whether what a seat said in advance no longer holds after an entry."""
    if until == ALWAYS:
        return False
    if until == ACTION:
        return later.kind in RUNNING and later.secret.waits is None
    return later.kind in ("begin", "end") and later.public.period == until


def check_entry(entry: Entry) -> None:
    """Check that an entry has what its kind has, so that whoever reads it need not ask.

    Raises:
        ValueError, msgspec.ValidationError: it has not.
    """
    public, number = entry.public, entry.number
    has_found = found_in(entry.secret) is not None
    is_sound = (
        (entry.kind == "new") == (number == 0)
        and has_found == (entry.kind in RUNNING)
        and (entry.kind != "answer" or (public.of is not None and 0 < public.of < number))
        and (entry.kind in ("answer", "seal") or public.of is None)
        and (entry.kind != "undo" or (public.before is not None and 0 < public.before < number))
        and (entry.kind != "join" or bool(entry.secret.sheets))
    )
    if not is_sound:
        raise ValueError(f"entry {number} is no {entry.kind}")


def found_in(secret: Secret) -> Result | Pending | None:
    """Return what came of an entry, or the decision it waits for, with nothing left out; None where it has neither."""
    if secret.waits is not None:
        return msgspec.convert(secret.waits, Pending)
    return msgspec.convert(secret.result, Result) if secret.result is not None else None
