"""The journal as an SQLite file: created, read, and added to in one transaction. It knows bytes and numbers, no rules.

The rollback journal of SQLite is used, not its write-ahead log: between two commands the table is a single file that
can be copied or sent, it works on network folders and on a read-only medium, and a few rows per action need no speed.
With `synchronous=FULL` an action that was reported as finished is on the disk. A process that dies leaves what SQLite
rolls back the next time the file is opened: the table before the action, never half of one.

Nothing in the file is ever changed. Of each entry it holds the number, salt and hash (see `chain`), and two packed
columns: `body` is the length of the public part in 4 bytes, the public part and the secret part; `change` is the table
after it, as the difference from that after the entry `base` (see `changes`). Now and then an entry is a base itself:
its whole table stands in `bases`, with `words`, the latest bodies by then. Packed is: deflated (RFC 1951), with the
base's table and words as preset dictionary; what stands in `bases` is deflated without one. What is packed is checked
by the hashes of what comes out.

An ordinary command reads the last entry, those that it names by hash, and one base: as much at entry 10,000 as at
entry 10. `rpgres table verify` reads everything.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from rpgres.errors import FileError, called, named
from rpgres.journal import files
from rpgres.journal.chain import START, commitment, digest, link, written
from rpgres.journal.changes import applied, difference
from rpgres.journal.connections import Connection
from rpgres.journal.files import check_format, damaged, table_errors
from rpgres.journal.history import Entries, History
from rpgres.journal.records import RUNNING, RUNS, Draft, Entry, Mark, TableError, marks_of
from rpgres.journal.rows import (
    LONGEST,
    UNREADABLE,
    Base,
    Row,
    packed,
    read_row,
    row_of,
    state_after,
    unpacked,
    words_of,
)
from rpgres.journal.status import stands_after
from rpgres.model.state import State
from rpgres.text.filenames import write_own

WHOLE = 1 << 27  # bytes of all entries that are read at once, unpacked: those of 70,000 actions with cards
HELD = 64  # entries that are held while a file stays open, until it is read anew
SHARE = 4  # a new base stands where what was kept since the last one takes so many times its bytes

_TABLES = """
CREATE TABLE entries (
  number INTEGER PRIMARY KEY,
  base INTEGER NOT NULL,
  body BLOB NOT NULL,
  change BLOB NOT NULL,
  salt BLOB NOT NULL,
  hash BLOB NOT NULL
);
CREATE TABLE bases (number INTEGER PRIMARY KEY, state BLOB NOT NULL, words BLOB NOT NULL);
"""
_ROWS = "SELECT number, base, body, change, salt, hash FROM entries WHERE number BETWEEN ? AND ? ORDER BY number"


def create(path: Path, draft: Draft, *, salt: bytes) -> Entry:
    """Make the file of a new table with its first entry, whole or not at all, for its owner alone.

    Raises:
        TableError: there is one already, or it cannot be written.
    """
    is_empty = os.path.isfile(path) and not os.path.getsize(path)  # as `mktemp` leaves one
    if os.path.exists(path) and not is_empty:
        raise TableError.at(path, f"a table already exists; {named('table')} PATH creates one in another file")
    with table_errors(path):
        connection = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
        try:
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA application_id={files.MARK}")
            _mark(connection)
            entry, _ = _add(_File(connection, path), draft, last=None, base=None, salt=salt)
            content = connection.serialize()
        finally:
            connection.close()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_own(path, content, is_forced=is_empty)
        except FileExistsError:
            raise TableError.at(path, "another process has just created a table here") from None
    return entry


def read(path: Path) -> History:
    """Return a journal: what stands after its last entry; the other entries are read when they are asked for.

    Raises:
        TableError: the file cannot be read, is no journal of this version, or has an entry that is not as it was
            written.
    """
    with _opened(path) as file:
        _begin(file)
        return _known(file)[0]


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the entries as they stand in the file, for checks.

    Raises:
        TableError: the file cannot be read, or is no journal of this version.
    """
    with _opened(path) as file:
        _begin(file)
        check_format(file.connection, path)
        yield from file.rows()


def base_numbers(path: Path) -> list[int]:
    """Return the numbers of the whole tables in the file, for checks."""
    with _opened(path) as file:
        return [number for (number,) in file.connection.execute("SELECT number FROM bases ORDER BY number")]


def read_state_after(path: Path, entry: Entry) -> State:
    """Return the table as it was after an entry.

    Raises:
        TableError: the file does not say.
    """
    with _opened(path) as file:
        return _state(file, entry)


def read_states_after(path: Path, entries: Iterable[Entry]) -> dict[int, State]:
    """Return the table after each of some entries, by number; one that cannot be read is left out."""
    found: dict[int, State] = {}
    with _opened(path) as file:
        for entry in entries:
            with suppress(TableError):
                found[entry.number] = _state(file, entry)
    return found


def write(
    path: Path,
    work: Callable[[History], list[Draft]],
    *,
    salt: Callable[[], bytes],
    is_mending: bool = False,
) -> tuple[History, list[Entry]]:
    """Add entries to a journal in one transaction, and return it as it is then, with the entries that are new.

    Args:
        work: returns what is to be added to a history; what it raises leaves the journal as it was.
        salt: returns fresh random bytes for each entry.
        is_mending: whether the last table may be one that cannot be read: then the last that can be stands for it.

    Raises:
        TableError: the file cannot be written, or another process is acting.
    """
    with _opened(path) as file:
        connection = file.connection
        with connection.adding(path):
            version = connection.version()
            history, base = _known(file) if not is_mending else _mended(file)
            drafts = work(history)
            added: list[Entry] = []
            if drafts:
                _mark(connection)
            base = base or next(file.rows(history.head.number, history.head.number)).base
            for draft in drafts:
                last = added[-1] if added else history.head
                entry, base = _add(file, draft, last=last, base=base, salt=salt())
                added.append(entry)
        history = History(history.entries.with_(added), drafts[-1].state if drafts else history.state, path)
        connection.keep(path, (history, base) if history.entries.held <= HELD else None, version)
    return history, added


def _mark(connection: Connection) -> None:
    """Give the file the format of what this version writes, so that an older one says that it is newer."""
    if connection.execute("PRAGMA user_version").fetchone() != (files.FORMAT,):
        connection.execute(f"PRAGMA user_version={files.FORMAT}")


def _mended(file: _File) -> tuple[History, None]:
    """Return what stands after the last entry, or after the last one that can be read."""
    file.connection.recall(file.path)
    return _history(file, is_mending=True), None


def _begin(file: _File) -> None:
    """Have all that is read next be of one state of the file."""
    if not file.connection.in_transaction:
        file.connection.execute("BEGIN")


def _known(file: _File) -> tuple[History, Base | None]:
    """Return what stands after the last entry, and the base of the next one, where they were read before."""
    found: tuple[History, Base | None] | None = file.connection.recall(file.path)
    if found is None:
        found = _history(file), None
        file.connection.keep(file.path, found, file.connection.version())
    return found


def _add(file: _File, draft: Draft, *, last: Entry | None, base: Base | None, salt: bytes) -> tuple[Entry, Base]:
    """Write an entry, and return it with the whole table that the next one is kept as a difference from."""
    number = last.number + 1 if last is not None else 0
    state = written(draft.state)
    stands = draft.secret.stands if last is None or draft.public.kind == "undo" else stands_after(last)
    secret_record = msgspec.structs.replace(draft.secret, state=digest(state), stands=stands)
    public, secret = written(draft.public), written(secret_record)
    hash_ = link(
        bytes.fromhex(last.hash) if last is not None else START,
        number=number,
        public=public,
        commitment=commitment(salt, secret),
    )
    raw = len(public).to_bytes(4, "big") + public + secret
    if max(len(raw), len(state)) > LONGEST:
        what = "this entry" if len(raw) > LONGEST else "the table after this"
        raise TableError(f"{file.path}: {what} takes more than {LONGEST:,} bytes; nothing was written")
    kept = _as_difference(file, base, raw, state)
    if base is None or kept is None:
        base = Base(number, state, words_of(file.raw_before(number)))
        kept = packed(raw, base.preset), packed(written([]), base.preset)
        values = (number, packed(base.state), packed(base.words))
        file.connection.execute("INSERT INTO bases (number, state, words) VALUES (?, ?, ?)", values)
    file.connection.execute(
        "INSERT INTO entries (number, base, body, change, salt, hash) VALUES (?, ?, ?, ?, ?, ?)",
        (number, base.number, *kept, salt, hash_),
    )
    return Entry(number, draft.public, secret_record, hash_.hex()), base


def _as_difference(file: _File, base: Base | None, raw: bytes, state: bytes) -> tuple[bytes, bytes] | None:
    """Return an entry and the table after it as they are kept beside a base; None where it is time for a new one."""
    if base is None:
        return None
    change = difference(base.table, msgspec.json.decode(state))
    if written(applied(base.table, change)) != state:  # the order of keys is nothing that a difference tells
        return None
    body, change_ = packed(raw, base.preset), packed(written(change), base.preset)
    since, whole = file.connection.execute(
        "SELECT (SELECT sum(length(body) + length(change)) FROM entries WHERE number >= ?), "
        "length(state) + length(words) FROM bases WHERE number = ?",
        (base.number, base.number),
    ).fetchone()
    return (body, change_) if since + len(body) + len(change_) <= SHARE * whole else None


class _File:
    """A journal that is open, with the last whole tables of it that were read."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.connection, self.path = connection, path
        self._bases: dict[object, Base | None] = {}
        self._left = WHOLE

    def base(self, number: object) -> Base | None:
        """Return a whole table; None where the file has none of this number that can be unpacked."""
        if number not in self._bases:
            for old in list(self._bases)[:-1]:
                del self._bases[old]
            found = self.connection.execute("SELECT state, words FROM bases WHERE number = ?", (number,)).fetchone()
            with suppress(*UNREADABLE):
                self._bases[number] = None
                if found is not None and isinstance(number, int):
                    self._bases[number] = Base(number, *(unpacked(_bytes(column)) for column in found))
        return self._bases[number]

    def rows(self, first: int = -(1 << 63), last: int = (1 << 63) - 1) -> Iterator[Row]:
        """Yield entries as they stand in the file, from one number to another.

        Raises:
            TableError: with all that were read before they are longer than those of any table.
        """
        for number, base, *blobs in self.connection.execute(_ROWS, (first, last)):
            row = row_of(number, self.base(base), *map(_bytes, blobs))
            self._left -= len(row.body)
            if self._left < 0:
                raise damaged(self.path, f"its entries up to {number} take more than {WHOLE:,} bytes when unpacked")
            yield row

    def raw_before(self, number: int) -> Iterator[bytes]:
        """Yield the bodies of the entries before a number, unpacked, the last one first."""
        while number > 0:
            number -= 1
            row = next(self.rows(number, number), None)
            if row is None or row.fault:
                return
            yield row.body

    def hash_before(self, number: int) -> bytes:
        """Return the hash that an entry follows on, as it stands in the file."""
        if number == 0:
            return START
        found = self.connection.execute("SELECT hash FROM entries WHERE number = ?", (number - 1,)).fetchone()
        if found is None:
            raise damaged(self.path, f"entry {number - 1} is missing")
        return _bytes(found[0])


def _bytes(column: object) -> bytes:
    """Return a column as bytes, even if another tool wrote a text."""
    return column if isinstance(column, bytes) else b"" if column is None else str(column).encode()


@contextmanager
def _opened(path: Path) -> Iterator[_File]:
    with files.opened(path) as connection:
        yield _File(connection, path)


def _history(file: _File, *, is_mending: bool = False) -> History:
    check_format(file.connection, file.path)
    (last,) = file.connection.execute("SELECT max(number) FROM entries").fetchone()
    if not isinstance(last, int) or last < 0:
        raise damaged(file.path, "entry 0 is missing")
    (head,) = _linked(file, last, last)
    known = {last: head}
    for mark in {*marks_of(head.secret.stands), *marks_of(stands_after(head))} - {Mark(last, head.hash)}:
        (known[mark.number],) = _linked(file, mark.number, mark.number, hash_=mark.hash)
    history = History(Entries(last + 1, known, first=last, fetch=_fetch(file.path)), State())
    fault = _standing_fault(history)
    if fault:
        raise damaged(file.path, f"entry {last}: {fault}")
    for number in range(last, -1, -1):
        try:
            return History(history.entries, _state(file, history.entries[number]), file.path)
        except TableError:
            if not is_mending or not number:
                raise
    raise AssertionError("a journal has an entry")


def _standing_fault(history: History) -> str:
    """Return the fault of the references of the last entry; empty for none."""
    stands, entries = history.stands, history.entries
    expected: list[tuple[Mark | None, Iterable[str]]] = [
        (stands.new, ("new",)),
        (stands.pending, RUNNING),
        (stands.run, RUNS),
        (stands.revealed, ("reveal",)),
        *((mark, ("seal",)) for mark in stands.seals),
    ]
    is_sound = all(mark is None or entries[mark.number].kind in kinds for mark, kinds in expected)
    is_whole = stands.new is not None and (stands.pending is None) == (stands.run is None)
    waits = history.pending is None or history.pending.secret.waits is not None
    return "" if is_sound and is_whole and waits else "its references to earlier entries are wrong"


def _fetch(path: Path) -> Callable[[int, int, str], list[Entry]]:
    def fetch(first: int, last: int, hash_: str) -> list[Entry]:
        with _opened(path) as file:
            _begin(file)
            return _linked(file, first, last, hash_=hash_)

    return fetch


def _linked(file: _File, first: int, last: int, *, hash_: str = "") -> list[Entry]:
    """Return entries that follow one from the other, and the last of which has a hash that is known."""
    before, entries = file.hash_before(first), list[Entry]()
    for row in file.rows(first, last):
        number = first + len(entries)
        if row.number != number:
            raise damaged(file.path, f"entry {number} is missing")
        entry, fault = read_row(row, before)
        if entry is None:
            raise damaged(file.path, f"entry {number}: {fault}")
        entries.append(entry)
        before = row.hash
    if len(entries) <= last - first:
        raise damaged(file.path, f"entry {first + len(entries)} is missing")
    if hash_ and entries[-1].hash != hash_:
        raise damaged(file.path, f"entry {last}: it is not the entry that later entries refer to")
    return entries


def _state(file: _File, entry: Entry) -> State:
    number = entry.number
    row = next(file.rows(number, number), None)
    try:
        if row is None:
            raise FileError("is missing")
        return state_after(row, entry.secret.state)
    except FileError as error:
        why = f"the table after entry {number} {error.message}; `{called('table undo', number)}` undoes that entry"
        raise damaged(file.path, why) from None
