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
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from rpgres.errors import FileError
from rpgres.journal import store
from rpgres.journal.chain import START, digest
from rpgres.journal.history import History
from rpgres.journal.records import SAID, Entry, Known, KnownMark, Pass, Standing, TableError
from rpgres.journal.standing import (
    joined,
    known_in,
    latest,
    pass_of,
    stands_after,
    step_of,
    taken_back,
    with_earlier,
    without_pass,
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


class _Since(msgspec.Struct, frozen=True):
    """An entry that stands and is no note or pass, with what was said and drawn from it on to the next such entry.

    What was drawn includes what was undone, by step and label.
    """

    entry: Entry
    passes: tuple[Pass, ...]
    known: dict[tuple[int, str], Known]

    def and_(self, later: _Since) -> _Since:
        """Return this and a later one as one; of what was drawn the smaller part is added to the larger one."""
        more, most = sorted((self.known, later.known), key=len)
        for key, one in more.items():
            most[key] = joined((most[key], one))[0] if key in most else one
        return _Since(self.entry, latest([*self.passes, *later.passes]), most)


class _Stands:
    """What stands after each entry, worked out from the beginning, in time that grows with the journal alone."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._done: list[_Since] = []
        self._said: set[int] = set()  # numbers of notes and passes that stand
        self._alone: set[int] = set()  # numbers of notes and passes that were taken back

    def fault(self, entry: Entry) -> str:
        """Return what an entry says of earlier ones that is not so; empty when all of it is. It is the next one."""
        secret, public, run = entry.secret, entry.public, entry.secret.stands.run
        is_sound = public.alone == (public.before in self._said)
        is_sound = is_sound and (public.of is None or (run is not None and public.of == run.number))
        is_sound = (secret.stands, secret.known) == self._expected(entry) and is_sound
        self._entries.append(entry)
        if entry.kind in SAID:
            self._said.add(entry.number)
            passes = (pass_of(entry),) if entry.kind == "pass" else ()
            self._done[-1] = self._done[-1].and_(_Since(entry, passes, {}))
        elif entry.kind != "undo":
            known = {(one.step, one.label): one for one in known_in(entry)}
            self._done.append(_Since(entry, (), known))
        return "" if is_sound else "what it says of earlier entries is not so"

    def _expected(self, entry: Entry) -> tuple[Standing, tuple[Known, ...]] | None:
        """Return what an entry should say of earlier ones; None of an undo of what does not stand."""
        if not self._entries:
            return Standing(), ()
        now, before = stands_after(self._entries[-1]), entry.public.before
        if entry.kind == "undo" and before is not None:
            return self._taken_back(now, before)
        known: tuple[Known, ...] = ()
        if entry.public.attempt:
            known = with_earlier(known_in(entry), now.known, self._known_by, least=step_of(entry))
        return now, known

    def _taken_back(self, now: Standing, before: int) -> tuple[Standing, tuple[Known, ...]] | None:
        if before in self._said:
            self._said.discard(before)
            self._alone.add(before)
            return without_pass(now, before), ()
        taken: _Since | None = None
        while self._done[-1].entry.number >= before:
            taken = self._done[-1].and_(taken) if taken is not None else self._done[-1]
            self._done.pop()
        if taken is None:
            return None
        found = taken_back(taken.entry, taken.passes, self._alone, taken.known.values(), self._known_by)
        self._done[-1] = self._done[-1].and_(taken)
        return found if taken.entry.number == before else None

    def _known_by(self, mark: KnownMark) -> tuple[Known, ...]:
        return self._entries[mark.number].secret.known
