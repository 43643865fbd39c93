"""A journal as a sequence of entries, each read when it is needed; and which of them are not undone.

An ordinary command reads the last entry and those that it names by hash; only `rpgres table verify` reads all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

import msgspec

from rpgres.journal.records import SAID, Draft, Entry, KnownChance, KnownMark, Pass, Standing, TableError
from rpgres.journal.status import known_in, said_in, stands_after, taken_back, undone_in, without_said
from rpgres.model.state import State


class Entries(Sequence[Entry]):
    """The entries of a journal in order, each read when it is needed.

    What is read is known to be what was written: either its hash is named by a later entry that is known, or each entry
    up to one that is known follows from it.

    Args:
        count: how many there are.
        known: those that were read, by number; the last one is.
        first: the number from which on all were read.
        fetch: returns the entries from one number up to another, the last of which has this hash.
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

    @property
    def held(self) -> int:
        """How many were read."""
        return len(self._known)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Entry, ...]: ...

    def __getitem__(self, at: int | slice) -> Entry | tuple[Entry, ...]:
        if isinstance(at, slice):
            numbers = range(*at.indices(self._count))
            if any(number not in self._known for number in numbers):
                self._reach(min(numbers))
            return tuple(self._known[number] for number in numbers)
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

    def _reach(self, number: int) -> None:
        """Read on from the entries that are known back to one that is not."""
        if self._fetch is None or number >= self._first:
            raise TableError(f"entry {number} is missing")
        self._known.update((one.number, one) for one in self._fetch(number, self._first, self._known[self._first].hash))
        self._first = number

    def named(self, mark: KnownMark) -> Entry:
        """Return an entry that is known by its hash; no other is read."""
        if mark.number not in self._known and self._fetch is not None:
            self._known[mark.number] = self._fetch(mark.number, mark.number, mark.hash)[-1]
        return self[mark.number]

    def up_to(self, count: int) -> Entries:
        """Return the first entries alone; all of them have to be known."""
        return Entries(count, self._known)

    def with_(self, added: Iterable[Entry]) -> Entries:
        """Return the entries with others after them."""
        known = {**self._known, **{entry.number: entry for entry in added}}
        return Entries(self._count + len(known) - len(self._known), known, first=self._first, fetch=self._fetch)


class History(msgspec.Struct, frozen=True):
    """The entries of a journal in order, and the table after the last one.

    Attributes:
        state: the table after the last one.
        path: the file they were read from; None for a journal that is in none.
    """

    entries: Entries
    state: State
    path: Path | None = None

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

    def standing_from(self, number: int, *, until: int | None = None) -> list[Entry]:
        """Return the entries from a number on that were not undone, in order; an undo itself is none of them."""
        later = self.entries[number:until]
        undone = undone_in(later)
        return [entry for entry in later if entry.kind != "undo" and entry.number not in undone]

    def undone_from(self, before: int, *, until: int | None = None) -> list[Entry]:
        """Return what an undo takes back: what was done from an entry on; a note or a pass is taken back alone."""
        among = self.standing_from(before, until=until)
        if self.entries[before].kind in SAID:
            return among[:1]
        return [entry for entry in among if entry.kind not in SAID]

    def taken_back_by(self, undo: Entry) -> list[Entry]:
        """Return what an undo has taken back, in order."""
        return self.undone_from(undo.public.before or 0, until=undo.number)

    def to_redo(self) -> list[Entry]:
        """Return what the last undo took back that can be done again, in order: nothing but notes came after it."""
        first = len(self.entries) - 1
        while first > 0 and (
            self.entries[first].kind in ("undo", "note")
            or self.entries[first].public.again is not None
            or self.run_of(self.entries[first]).kind == "request"
        ):
            first -= 1
        left: list[list[Entry]] = []
        for entry in self.entries[first + 1 :]:
            if entry.kind == "undo":
                done = [one for one in self.taken_back_by(entry) if not one.public.attempt]
                left.append([one for one in done if self.run_of(one).kind != "request"])
                left = [one for one in left if one]
            elif left and left[-1] and entry.public.again == left[-1][0].number:
                left.pop()
        return left[-1] if left else []

    def without(self, before: int) -> tuple[Standing, tuple[KnownChance, ...]]:
        """Return what counts once everything from an entry on is taken back, or a note or a pass alone.

        With it comes what the seed has answered in what is taken back.
        """
        later = self.entries[before:]
        if later[0].kind in SAID:
            return without_said(self.stands, before), ()
        alone = {entry.public.before for entry in later if entry.kind == "undo"}
        said = [one for entry in later for one in said_in(entry)]
        known = [one for entry in later for one in known_in(entry)]
        return taken_back(later[0], said, alone, known, self.known_by)

    def known_by(self, mark: KnownMark) -> tuple[KnownChance, ...]:
        """Return what an entry tells of what the seed has answered."""
        return self.entries.named(mark).secret.known

    @property
    def pending(self) -> Entry | None:
        """The entry that waits for a decision, the last of its action; None when none does."""
        mark = self.stands.pending
        return self.entries[mark.number] if mark is not None else None

    @property
    def revealed(self) -> Entry | None:
        """The entry that revealed the seed; None while it is secret."""
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
        """Tell whether a seat skips decisions of a label in advance, and that still holds."""
        return any(one.by == seat and one.label in ("", label) for one in self.stands.passes)

    def passes_of(self, seat: str | None) -> list[Pass]:
        """Return what a seat has said in advance and still holds; everybody's for the host."""
        return [one for one in self.stands.passes if seat in (None, one.by)]

    def orders_of(self, seat: str | None) -> list[Entry]:
        """Return the entries with the standing orders of a seat; everybody's for the host."""
        return [self.entries[one.number] for one in self.stands.orders if seat in (None, one.seat)]

    def with_draft(self, draft: Draft) -> History:
        """Return the history as it will be when a draft is written; the entry has no hash yet."""
        secret = msgspec.structs.replace(draft.secret, stands=self.stands)
        return History(self.entries.with_([Entry(len(self.entries), draft.public, secret, "")]), draft.state, self.path)
