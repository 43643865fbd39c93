"""Checks that a journal is complete: every hash, and every reference to earlier entries.

An ordinary command checks the entries that it reads: their hashes must lead to the last one. `rpgres table verify`
checks all of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError, called
from rpgres.journal import store
from rpgres.journal.chain import START, digest
from rpgres.journal.history import Entries
from rpgres.journal.records import SAID, Entry, KnownChance, KnownMark, Said, Standing
from rpgres.journal.rows import UNREADABLE, WORDS, Row, entry_of, read_row, state_of, words_of
from rpgres.journal.status import (
    joined,
    known_in,
    latest_said,
    said_in,
    stands_after,
    step_of,
    taken_back,
    with_earlier,
    without_said,
)
from rpgres.stopping import STOP

RECENT = 4  # entries that are kept as they were read


class RawEntries(Entries):
    """Entries as bytes, each of which is read anew when it is asked for: so a journal takes little more than its bytes.

    Args:
        rows: the entries as they stand in the file.
        count: how many of them; all by default, and those that are added.
    """

    __slots__ = ("_rows", "_up_to")

    def __init__(self, rows: list[Row], count: int | None = None) -> None:
        super().__init__(0, {})
        self._rows, self._up_to = rows, count

    def __len__(self) -> int:
        return len(self._rows) if self._up_to is None else self._up_to

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self[number] for number in range(len(self))[at])
        number = range(len(self))[at]
        if number not in self._known:
            for old in list(self._known)[: -RECENT + 1]:
                del self._known[old]
            self._known[number] = entry_of(self._rows[number])
        return self._known[number]

    def __iter__(self) -> Iterator[Entry]:
        return map(self.__getitem__, range(len(self)))

    def up_to(self, count: int) -> RawEntries:
        return RawEntries(self._rows, count)


class Chain(msgspec.Struct, frozen=True):
    """A journal read from its beginning.

    Attributes:
        rows: as far as they are as they were written.
        hashes: of all of them.
        problems: what is not as it was written.
        unreadable: tables after entries that are as they were written, and cannot be read: a rule's fault.
    """

    rows: list[Row]
    hashes: list[str]
    problems: list[str]
    unreadable: list[str]

    @property
    def entries(self) -> RawEntries:
        """The entries, when there is no problem."""
        return RawEntries(self.rows)


def chain_of(path: Path) -> Chain:
    """Return a journal with what does not fit in it: by number, in order. Every byte that counts is hashed.

    Raises:
        TableError: the file cannot be read at all.
    """
    found = Chain([], [], [], [])
    before, latest, stands = START, deque[bytes](), _Stands(found.entries)
    for row in store.read_rows(path):
        place = len(found.hashes)
        if row.number != place and not found.problems:
            found.problems.append(f"entry {place} is missing")
        entry, fault = read_row(row, before)
        if entry is not None:
            fault, unreadable = _table_fault(row, entry, latest)
            found.unreadable.extend([unreadable] if unreadable else [])
        if not row.fault:
            latest.appendleft(row.body)
            if sum(map(len, latest)) > 2 * WORDS + len(row.body):
                latest.pop()
        if entry is not None and not fault and not found.problems:
            fault = stands.fault(entry)
            found.rows.append(msgspec.structs.replace(row, base=None, change=b""))
        if fault:
            found.problems.append(f"entry {row.number}: {fault}")
        found.hashes.append(row.hash.hex())
        before = row.hash
        STOP.tick()
        if STOP.is_asked:
            return found
    missing = [number for number in store.base_numbers(path) if number not in range(len(found.hashes))]
    found.problems.extend(f"entry {number} is missing; the table after it is there" for number in missing)
    if not found.hashes:
        found.problems.append("there is no entry")
    return found


def _table_fault(row: Row, entry: Entry, latest: Iterable[bytes]) -> tuple[str, str]:
    """Return what is wrong with the table after an entry or with what others are packed with; and that it is no table.

    The latter is a rule's fault: it is as it was written.
    """
    try:
        data = row.state()
        is_recorded = digest(data) == entry.secret.state
    except UNREADABLE:
        is_recorded = False
    if not is_recorded:
        return "the state after it is not the recorded one", ""
    if row.base is not None and row.base.number == row.number and row.base.words != words_of(latest):
        return "the compression dictionary of later entries does not match", ""
    try:
        state_of(data)
    except FileError as error:
        return "", (
            f"entry {row.number}: the table after it cannot be read ({error.message}); "
            f"`{called('table undo', row.number)}` undoes it"
        )
    return "", ""


class _Since(msgspec.Struct, frozen=True):
    """The number of an entry that stands and is no note or pass, with what was said and drawn up to the next such one.

    What was drawn includes what was undone, by step and label.
    """

    number: int
    said: tuple[Said, ...]
    known: dict[tuple[int, str], KnownChance]

    def and_(self, later: _Since) -> _Since:
        """Return this and a later one as one; of what was drawn the smaller part is added to the larger one."""
        more, most = sorted((self.known, later.known), key=len)
        for key, one in more.items():
            most[key] = joined((most[key], one))[0] if key in most else one
        return _Since(self.number, latest_said((*self.said, *later.said)), most)


class _Stands:
    """The status after each entry, computed from the beginning in linear time.

    Args:
        entries: those that were found in order so far.
    """

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._now: Standing | None = None
        self._done: list[_Since] = []
        self._said: set[int] = set()  # numbers of notes and passes that stand
        self._alone: set[int] = set()  # numbers of notes and passes that were taken back

    def fault(self, entry: Entry) -> str:
        """Return the fault of the references of the next entry to earlier ones; empty for none."""
        secret, public, run = entry.secret, entry.public, entry.secret.stands.run
        is_sound = public.alone == (public.before in self._said)
        is_sound = is_sound and (public.of is None or (run is not None and public.of == run.number))
        is_sound = (secret.stands, secret.known) == self._expected(entry) and is_sound
        self._now = stands_after(entry)
        if entry.kind in SAID:
            self._said.add(entry.number)
            self._done[-1] = self._done[-1].and_(_Since(entry.number, said_in(entry), {}))
        elif entry.kind != "undo":
            known = {(one.step, one.label): one for one in known_in(entry)}
            self._done.append(_Since(entry.number, (), known))
        return "" if is_sound else "its references to earlier entries are wrong"

    def _expected(self, entry: Entry) -> tuple[Standing, tuple[KnownChance, ...]] | None:
        """Return the references that an entry should have; None for an undo of what does not stand."""
        now, before = self._now, entry.public.before
        if now is None:
            return Standing(), ()
        if entry.kind == "undo" and before is not None:
            return self._taken_back(now, before)
        known: tuple[KnownChance, ...] = ()
        if entry.public.attempt:
            known = with_earlier(known_in(entry), now.known, self._known_by, least=step_of(entry))
        return now, known

    def _taken_back(self, now: Standing, before: int) -> tuple[Standing, tuple[KnownChance, ...]] | None:
        if before in self._said:
            self._said.discard(before)
            self._alone.add(before)
            return without_said(now, before), ()
        taken: _Since | None = None
        while self._done[-1].number >= before:
            taken = self._done[-1].and_(taken) if taken is not None else self._done[-1]
            self._done.pop()
        if taken is None:
            return None
        found = taken_back(self._entries[taken.number], taken.said, self._alone, taken.known.values(), self._known_by)
        self._done[-1] = self._done[-1].and_(taken)
        return found if taken.number == before else None

    def _known_by(self, mark: KnownMark) -> tuple[KnownChance, ...]:
        return self._entries[mark.number].secret.known
