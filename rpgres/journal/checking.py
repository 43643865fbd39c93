"""Whether a journal is whole: every hash of it, and what each entry says of earlier ones.

An ordinary command trusts what it does not read. That is sound for a journal that only this machine has written to, and
for no other: so before anything is played, answered or exported, a journal is read whole once, and that it was whole is
remembered outside of it (`remember`): for each path, the hash of its last entry, and size and time of the file when it
was last written here or found in order. As long as these are the same, nothing is read again. Whoever gives the file
its old time again may change older entries unnoticed until one of them is read, and then it is noticed at once, as
every entry that is read has to lead to the last one; `rpgres table verify` reads all. What is remembered lies in
`$XDG_STATE_HOME/rpgres/tables`; where nothing can be written, each action reads all.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from rpgres.errors import FileError
from rpgres.journal import store
from rpgres.journal.chain import START, digest
from rpgres.journal.records import (
    SAID,
    Entry,
    History,
    Pass,
    Standing,
    TableError,
    pass_of,
    stands_after,
    taken_back,
)
from rpgres.journal.store import Row


def require_whole(path: Path, history: History) -> None:
    """Check that a journal is whole, unless it was when this machine last wrote or read it.

    Args:
        path: the file.
        history: what it says now.

    Raises:
        TableError: it is not.
    """
    if is_known(path, history):
        return
    problems = chain_of(path).problems
    if problems:
        raise TableError(
            f"{path}: this table is damaged, or somebody changed it elsewhere: {problems[0]}; nothing was done, and "
            "`rpgres table verify` tells more",
            file=str(path),
        )
    remember(path, history.new.hash, history.head.hash)


def remember(path: Path, new: str, head: str) -> None:
    """Note that a journal was whole up to an entry; where nothing can be noted, it is read whole again.

    Args:
        path: the file.
        new, head: the hashes of its first entry, and of that one.
    """
    with suppress(OSError, RuntimeError):
        memory, known = _memory(path, new), _known(path, head)
        try:
            memory.write_text(known, "utf-8")
        except FileNotFoundError:
            memory.parent.mkdir(parents=True, mode=0o700)
            memory.write_text(known, "utf-8")


def is_known(path: Path, history: History) -> bool:
    """Tell whether a journal is as this machine last wrote it or found it in order."""
    with suppress(OSError, RuntimeError, ValueError):
        return _memory(path, history.new.hash).read_text("utf-8") == _known(path, history.head.hash)
    return False


def _known(path: Path, head: str) -> str:
    file = path.stat()
    return f"{head} {file.st_size} {file.st_mtime_ns}"


def _memory(path: Path, new: str) -> Path:
    """Return the file in which it is noted of a table: in $XDG_STATE_HOME, or where programs keep such things."""
    folder = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.local/state"
    return Path(folder).expanduser() / "rpgres" / "tables" / digest(f"{path.resolve()}\n{new}".encode())[:32]


class Chain(msgspec.Struct, frozen=True):
    """A journal read from its beginning.

    Attributes:
        entries: as far as they can be read.
        hashes: of all of them.
        problems: what is not as it was written.
        unreadable: tables after entries that are as they were written, and cannot be read: a rule's fault.
    """

    entries: list[Entry]
    hashes: list[str]
    problems: list[str]
    unreadable: list[str]


def chain_of(path: Path) -> Chain:
    """Return a journal with what does not fit in it: by number, in order. Every byte that counts is hashed.

    Raises:
        TableError: the file cannot be read at all.
    """
    found = Chain([], [], [], [])
    before, latest, stands = START, deque[bytes](), _Stands()
    for row in store.read_rows(path):
        faults = store.row_faults(row, before)
        place = len(found.hashes)
        if row.number != place and not found.problems:
            faults.insert(0, f"entry {place} is missing")
        if not faults:
            faults = [f"entry {row.number}: {fault}" for fault in _faults(row, latest)]
            found.unreadable.extend(_unreadable(row) if not faults else ())
        if not row.fault:
            latest.appendleft(row.body)
            if sum(map(len, latest)) > 2 * store.WORDS + len(row.body):
                latest.pop()
        if not faults:
            entry = store.entry_of(row)
            fault = stands.fault(entry) if not found.problems else ""
            faults = [f"entry {row.number}: {fault}"] if fault else []
            found.entries.append(entry)
        found.problems.extend(faults)
        found.hashes.append(row.hash.hex())
        before = row.hash
    missing = [number for number in store.read_bases(path) if number not in range(len(found.hashes))]
    found.problems.extend(f"entry {number} is missing; the table after it is there" for number in missing)
    if not found.hashes:
        found.problems.append("there is no entry")
    return found


def _faults(row: Row, latest: Iterable[bytes]) -> Iterator[str]:
    """Yield what is wrong with the table after an entry, and with what others are packed with."""
    try:
        is_recorded = digest(row.state()) == store.entry_of(row).secret.state
    except store.UNREADABLE:
        is_recorded = False
    if not is_recorded:
        yield "the table after it is not the one that was recorded"
    if row.base is not None and row.base.number == row.number and row.base.words != store.words_of(latest):
        yield "what later entries are packed with is not what was written before it"


def _unreadable(row: Row) -> Iterator[str]:
    try:
        store.state_of(row.state())
    except FileError as error:
        yield (
            f"entry {row.number}: the table after it cannot be read ({error.message}); "
            f"`rpgres table undo {row.number}` takes it back"
        )


class _Stands:
    """What stands after each entry, worked out from the beginning."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._done: list[int] = []  # numbers of what stands, but for notes and passes
        self._said: set[int] = set()  # numbers of notes and passes that stand
        self._passes: list[Pass] = []  # of all that was said in advance, taken back or not
        self._alone: set[int] = set()  # numbers of notes and passes that were taken back

    def fault(self, entry: Entry) -> str:
        """Return what an entry says of earlier ones that is not so; empty when all of it is. It is the next one."""
        before, public = entry.public.before, entry.public
        is_sound = public.alone == (before in self._said) and entry.secret.stands == self._expected(entry)
        if entry.kind == "undo":
            is_sound = is_sound and (before in self._said or before in self._done)
        if public.of is not None:
            run = entry.secret.stands.run
            is_sound = is_sound and run is not None and public.of == run.number
        self._add(entry)
        return "" if is_sound else "what it says of earlier entries is not so"

    def _expected(self, entry: Entry) -> Standing:
        if not self._entries:
            return Standing()
        now, before = stands_after(self._entries[-1]), entry.public.before
        if entry.kind != "undo" or before is None:
            return now
        if before in self._said:
            return msgspec.structs.replace(now, passes=tuple(one for one in now.passes if one.number != before))
        later = self._passes[bisect_left(self._passes, before, key=lambda one: one.number) :]
        return taken_back(self._entries[before:], later, self._alone)

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        before = entry.public.before or 0
        if entry.kind == "pass":
            self._passes.append(pass_of(entry))
        if entry.kind in SAID:
            self._said.add(entry.number)
        elif entry.kind != "undo":
            self._done.append(entry.number)
        elif before in self._said:
            self._said.discard(before)
            self._alone.add(before)
        else:
            while self._done and self._done[-1] >= before:
                self._done.pop()
