"""A journal as an SQLite file: made, read, added to in one transaction. It knows bytes and numbers, and no rules.

The rollback journal of SQLite is used, not its write-ahead log: between two commands the table is a single file that
can be copied or sent, it works on network folders and on a read-only medium, and a few rows per action need no speed.
With `synchronous=FULL` an action that was told as finished is on the disk. A process that dies leaves what SQLite rolls
back the next time the file is opened: the table before the action, never half of one.

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
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from rpgres.errors import FileError
from rpgres.journal.chain import START, commitment, digest, link, written
from rpgres.journal.changes import applied, difference
from rpgres.journal.history import Entries, History
from rpgres.journal.records import (
    RUNNING,
    RUNS,
    Draft,
    Entry,
    Mark,
    Public,
    Secret,
    TableError,
    check_entry,
    marks_of,
)
from rpgres.journal.standing import stands_after
from rpgres.model.serialization import read_state, state_record
from rpgres.model.state import State
from rpgres.text.filenames import write_own

FOLDER, FILE = ".rpgres", "table.db"
FORMAT = 3  # of the file and of what its entries say
MARK = 0x72706773  # SQLite's `application_id` of our files
SYNCHRONOUS = "FULL"  # what was told as finished is on the disk
WAIT = 5.0  # seconds until somebody else's action is waited for in vain
LONGEST = 1 << 26  # bytes of one entry, or of one table: more is an attack on whoever unpacks it
WINDOW = 1 << 15  # bytes of a preset dictionary
WORDS = 1 << 14  # bytes of earlier entries in it
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
_FOREIGN = (
    "SELECT 1 FROM sqlite_master "
    "WHERE type IN ('trigger', 'view') OR sql LIKE '%CONFLICT%' OR sql LIKE 'CREATE VIRTUAL%'"
)

# What may come of bytes that were not written by us, or not as they are now.
UNREADABLE = (
    msgspec.MsgspecError,
    FileError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    RecursionError,
    AttributeError,
    zlib.error,
)


class Base(msgspec.Struct, frozen=True):
    """A whole table, and what the entries after it are packed with."""

    number: int
    state: bytes
    words: bytes

    @property
    def preset(self) -> bytes:
        """The preset dictionary."""
        return (self.state + self.words)[-WINDOW:]


class Row(msgspec.Struct, frozen=True):
    """An entry as it stands in the file, unpacked, byte by byte; `fault` is why it cannot be unpacked."""

    number: int
    public: bytes
    secret: bytes
    salt: bytes
    hash: bytes
    base: Base | None
    change: bytes
    fault: str = ""

    @property
    def body(self) -> bytes:
        """Both parts as they are packed: the length of the public one first."""
        return len(self.public).to_bytes(4, "big") + self.public + self.secret

    @property
    def commitment(self) -> bytes:
        """What everybody may see of its secret part."""
        return commitment(self.salt, self.secret)

    def state(self) -> bytes:
        """Return the table after it.

        Raises:
            ValueError, zlib.error, TypeError, KeyError, IndexError: the file does not say.
        """
        if self.base is None:
            raise ValueError("the table that it is kept as a difference from is missing")
        change = msgspec.json.decode(unpacked(self.change, self.base.preset))
        return written(applied(msgspec.json.decode(self.base.state), change)) if change else self.base.state


def packed(data: bytes, preset: bytes = b"") -> bytes:
    """Return data deflated, with a preset dictionary."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, *([preset] if preset else []))
    return packer.compress(data) + packer.flush()


def unpacked(data: bytes, preset: bytes = b"") -> bytes:
    """Return data that were deflated.

    Raises:
        ValueError, zlib.error: they were not, or are longer than anything of ours.
    """
    unpacker = zlib.decompressobj(-15, preset) if preset else zlib.decompressobj(-15)
    found = unpacker.decompress(data, LONGEST)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("it is cut off, or longer than it can be")
    return found


def find_table(path: str | None = None) -> Path:
    """Return the file of the table: the one that is named, or the nearest `.rpgres/table.db` from here upwards.

    Args:
        path: a file, or a folder that has `.rpgres/table.db` in it.

    Raises:
        TableError: there is none.
    """
    if path:
        found = Path(path)
        if os.path.isdir(found):  # unlike `is_dir` it has no trouble with impossible names
            found = found / FILE if found.name == FOLDER else found / FOLDER / FILE
        if not os.path.isfile(found):
            raise TableError(f"{found}: there is no table; `rpgres table new` begins one", file=str(found))
        return found
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = folder / FOLDER / FILE
        if found.is_file():
            return found
    raise TableError(
        f"there is no table here: {FOLDER}/{FILE} is neither in {here} nor in a folder above it; "
        "`rpgres table new --ruleset ID --sheet FILE` begins one, --table PATH names one elsewhere"
    )


def place_for(path: str | None = None) -> Path:
    """Return the file a new table is to be kept in; see `find_table`."""
    if not path:
        return Path(FOLDER) / FILE
    found = Path(path)
    return found / FOLDER / FILE if os.path.isdir(found) else found


def create(path: Path, draft: Draft, *, salt: bytes) -> Entry:
    """Make the file of a new table with its first entry, whole or not at all, for its owner alone.

    Raises:
        TableError: there is one already, or it cannot be written.
    """
    if os.path.exists(path):
        raise TableError(f"{path}: there is a table already; --table PATH begins another elsewhere", file=str(path))
    with _told(path):
        connection = sqlite3.connect(":memory:", isolation_level=None)
        try:
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA application_id={MARK}")
            connection.execute(f"PRAGMA user_version={FORMAT}")
            entry, _ = _add(_File(connection, path), draft, last=None, base=None, salt=salt)
            content = connection.serialize()
        finally:
            connection.close()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_own(path, content)
        except FileExistsError:
            raise TableError(f"{path}: somebody else has just begun a table here", file=str(path)) from None
    return entry


def read(path: Path) -> History:
    """Return a journal: what stands after its last entry; the other entries are read when they are asked for.

    Raises:
        TableError: the file cannot be read, is no journal of this version, or has an entry that is not as it was
            written.
    """
    with _opened(path) as file:
        file.connection.execute("BEGIN")
        return _history(file)


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the entries as they stand in the file; for whoever checks them.

    Raises:
        TableError: the file cannot be read, or is no journal of this version.
    """
    with _opened(path) as file:
        file.connection.execute("BEGIN")
        _check_format(file.connection, path)
        yield from file.rows()


def read_bases(path: Path) -> dict[int, Base | None]:
    """Return the whole tables in the file, by number; None for one that cannot be unpacked. For whoever checks them."""
    with _opened(path) as file:
        numbers = file.connection.execute("SELECT number FROM bases ORDER BY number")
        return {number: file.base(number) for (number,) in numbers.fetchall()}


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
        path: the file.
        work: returns what is to be added to a history; what it raises leaves the journal as it was.
        salt: returns fresh random bytes for each entry.
        is_mending: whether the last table may be one that cannot be read: then the last that can be stands for it.

    Raises:
        TableError: the file cannot be written, or somebody else is acting.
    """
    with _opened(path) as file:
        connection = file.connection
        connection.execute("BEGIN IMMEDIATE")
        history = _history(file, is_mending=is_mending)
        drafts = work(history)
        added: list[Entry] = []
        base = next(file.rows(history.head.number, history.head.number)).base
        for draft in drafts:
            last = added[-1] if added else history.head
            entry, base = _add(file, draft, last=last, base=base, salt=salt())
            added.append(entry)
        connection.execute("COMMIT")
    return History(history.entries.with_(added), drafts[-1].state if drafts else history.state), added


def _add(file: _File, draft: Draft, *, last: Entry | None, base: Base | None, salt: bytes) -> tuple[Entry, Base]:
    """Write an entry, and return it with the whole table that the next one is kept as a difference from."""
    number = last.number + 1 if last is not None else 0
    state = written(state_record(draft.state))
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
    before = msgspec.json.decode(base.state)
    change = difference(before, msgspec.json.decode(state))
    if written(applied(before, change)) != state:  # the order of keys is nothing that a difference tells
        return None
    body, change_ = packed(raw, base.preset), packed(written(change), base.preset)
    since, whole = file.connection.execute(
        "SELECT (SELECT sum(length(body) + length(change)) FROM entries WHERE number >= ?), "
        "length(state) + length(words) FROM bases WHERE number = ?",
        (base.number, base.number),
    ).fetchone()
    return (body, change_) if since + len(body) + len(change_) <= SHARE * whole else None


def words_of(latest: Iterable[bytes]) -> bytes:
    """Return what stands beside a whole table in a preset dictionary: the latest entries that it has room for.

    Args:
        latest: the bodies of the entries before it, unpacked, the last one first.
    """
    words = b""
    for body in latest:
        if len(body) + len(words) > WORDS:
            break
        words = body + words
    return words


class _File:
    """A journal that is open, with the whole tables of it that were read."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection, self.path = connection, path
        self._bases: dict[object, Base | None] = {}

    def base(self, number: object) -> Base | None:
        """Return a whole table; None where the file has none of this number that can be unpacked."""
        if number not in self._bases:
            found = self.connection.execute("SELECT state, words FROM bases WHERE number = ?", (number,)).fetchone()
            with suppress(*UNREADABLE):
                self._bases[number] = None
                if found is not None and isinstance(number, int):
                    self._bases[number] = Base(number, *(unpacked(_bytes(column)) for column in found))
        return self._bases[number]

    def rows(self, first: int = -(1 << 63), last: int = (1 << 63) - 1) -> Iterator[Row]:
        """Yield entries as they stand in the file, from one number to another."""
        for number, base, *blobs in self.connection.execute(_ROWS, (first, last)):
            yield _row(number, self.base(base), *map(_bytes, blobs))

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
            raise _damaged(self.path, f"entry {number - 1} is missing")
        return _bytes(found[0])


def _row(number: int, base: Base | None, body: bytes, change: bytes, salt: bytes, hash_: bytes) -> Row:
    fault, raw = "what it is packed with is missing", b""
    if base is not None:
        try:
            fault, raw = "", unpacked(body, base.preset)
        except UNREADABLE:
            fault = "it is not as it was written, and cannot be unpacked"
    end = 4 + int.from_bytes(raw[:4], "big")
    return Row(number, raw[4:end], raw[end:], salt, hash_, base, change, fault)


def _bytes(column: object) -> bytes:
    """Return a column as bytes, whatever somebody else's tool made of it."""
    return column if isinstance(column, bytes) else b"" if column is None else str(column).encode()


def _history(file: _File, *, is_mending: bool = False) -> History:
    _check_format(file.connection, file.path)
    (last,) = file.connection.execute("SELECT max(number) FROM entries").fetchone()
    if not isinstance(last, int) or last < 0:
        raise _damaged(file.path, "entry 0 is missing")
    (head,) = _linked(file, last, last)
    known = {last: head}
    for mark in {*marks_of(head.secret.stands), *marks_of(stands_after(head))} - {Mark(last, head.hash)}:
        (known[mark.number],) = _linked(file, mark.number, mark.number, hash_=mark.hash)
    history = History(Entries(last + 1, known, first=last, fetch=_fetch(file.path)), State())
    fault = _standing_fault(history)
    if fault:
        raise _damaged(file.path, f"entry {last}: {fault}")
    for number in range(last, -1, -1):
        try:
            return History(history.entries, _state(file, history.entries[number]))
        except TableError:
            if not is_mending or not number:
                raise
    raise AssertionError("a journal has an entry")


def _standing_fault(history: History) -> str:
    """Return what is wrong with what the last entry says of others; empty when nothing is."""
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
    return "" if is_sound and is_whole and waits else "what it says of earlier entries is not so"


def _fetch(path: Path) -> Callable[[int, int, str], list[Entry]]:
    def fetch(first: int, last: int, hash_: str) -> list[Entry]:
        with _opened(path) as file:
            file.connection.execute("BEGIN")
            return _linked(file, first, last, hash_=hash_)

    return fetch


def _linked(file: _File, first: int, last: int, *, hash_: str = "") -> list[Entry]:
    """Return entries that follow one from the other, and the last of which has a hash that is known.

    Raises:
        TableError: they do not.
    """
    before, entries = file.hash_before(first), list[Entry]()
    for row in file.rows(first, last):
        number = first + len(entries)
        faults = [f"entry {number} is missing"] if row.number != number else row_faults(row, before)
        if faults:
            raise _damaged(file.path, faults[0])
        entries.append(entry_of(row))
        before = row.hash
    if len(entries) <= last - first:
        raise _damaged(file.path, f"entry {first + len(entries)} is missing")
    if hash_ and entries[-1].hash != hash_:
        raise _damaged(file.path, f"entry {last}: it is not the one that later entries follow on")
    return entries


def row_faults(row: Row, before: bytes) -> list[str]:
    """Return what is wrong with an entry as it stands in the file; nothing when it is as it was written.

    Args:
        row: the entry.
        before: the hash of the entry before it.
    """
    fault = row.fault
    if not fault and (
        row.number < 0 or link(before, number=row.number, public=row.public, commitment=row.commitment) != row.hash
    ):
        fault = "its hash does not follow from it and from the entry before"
    if not fault:
        try:
            entry_of(row)
        except UNREADABLE:
            fault = "it cannot be read"
    return [f"entry {row.number}: {fault}"] if fault else []


def entry_of(row: Row) -> Entry:
    """Return an entry from its parts as they stand in the file.

    Raises:
        msgspec.MsgspecError, ValueError: they say nothing that an entry says.
    """
    public, secret = msgspec.json.decode(row.public, type=Public), msgspec.json.decode(row.secret, type=Secret)
    entry = Entry(row.number, public, secret, row.hash.hex())
    check_entry(entry)
    return entry


def state_of(data: bytes) -> State:
    """Return a table from its bytes.

    Raises:
        FileError: they are no table; the message names the place.
    """
    try:
        return read_state(msgspec.json.decode(data))
    except FileError:
        raise
    except UNREADABLE as error:
        raise FileError(f"these are not the data of a table: {error}") from None


def _state(file: _File, entry: Entry) -> State:
    number = entry.number
    row = next(file.rows(number, number), None)
    try:
        if row is None:
            raise FileError("is missing")
        return state_after(row, entry.secret.state)
    except FileError as error:
        why = f"the table after entry {number} {error.message}; `rpgres table undo {number}` takes that entry back"
        raise _damaged(file.path, why) from None


def state_after(row: Row, recorded: str) -> State:
    """Return the table after an entry.

    Args:
        row: the entry.
        recorded: the hash of the table.

    Raises:
        FileError: it is not the one that was recorded, or cannot be read.
    """
    try:
        data = row.state()
    except UNREADABLE:
        data = b""
    if digest(data) != recorded:
        raise FileError("is not the one that was recorded")
    try:
        return state_of(data)
    except FileError as error:
        raise FileError(f"cannot be read ({error.message})") from None


def _damaged(path: Path, why: str) -> TableError:
    return TableError(
        f"{path}: this table is damaged: {why}; `rpgres table verify` tells more, and a copy made before may be whole",
        file=str(path),
    )


@contextmanager
def _opened(path: Path) -> Iterator[_File]:
    """Open the file for a while. Whatever was begun and not committed is as if it had never been."""
    with _told(path):
        uri = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None)
        try:
            connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
            connection.execute("PRAGMA trusted_schema=OFF")  # the file may come from somebody else
            connection.text_factory = bytes  # what somebody else's tool has made of our bytes
            yield _File(connection, path)
        finally:
            connection.close()


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (format_,) = connection.execute("PRAGMA user_version").fetchone()
    size = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")]
    if path.stat().st_size < size[0] * size[1]:
        raise _damaged(path, "its end is missing")
    if mark != MARK:
        raise TableError(f"{path}: this is a database, but no table of rpgres", file=str(path))
    if format_ < FORMAT:
        raise TableError(
            f"{path}: this table was written by an older rpgres (its format is {format_}, and {FORMAT} is read here); "
            "that version still plays it, and its `rpgres table export` writes the sheets for a new table",
            file=str(path),
        )
    if format_ > FORMAT:
        raise TableError(
            f"{path}: this table was written by a newer rpgres (its format is {format_}, and "
            f"{FORMAT} is the last one known here); update rpgres",
            file=str(path),
        )
    # A trigger or a conflict clause would change what is written; a view or a virtual table what is read.
    if connection.execute(_FOREIGN).fetchone() is not None:
        raise _damaged(path, "somebody has added something to the database that changes what is written or read")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Tell what goes wrong with the file in our own words."""
    try:
        yield
    except sqlite3.Error as error:
        raise TableError(f"{path}: {_reason(error, path)}", file=str(path)) from error
    except UnicodeDecodeError as error:  # a name in the file that is none
        raise TableError(f"{path}: this table is damaged; restore it from a copy", file=str(path)) from error
    except OSError as error:
        if error.filename is None and error.filename2 is None:
            raise
        where = error.filename or path  # what cannot be used need not be the table itself
        raise TableError(f"{where}: cannot be used: {error.strerror or error}", file=str(path)) from None


def _reason(error: sqlite3.Error, path: Path) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"somebody else is acting at this table for over {WAIT:g} seconds; nothing was written, try again"
        case sqlite3.SQLITE_FULL:
            return "the disk is full; nothing was written, and everything before is kept"
        case sqlite3.SQLITE_NOTADB:
            return "this file is no table of rpgres, or it is damaged from its first byte on"
        case sqlite3.SQLITE_CORRUPT:
            return "this table is damaged; restore it from a copy"
        case sqlite3.SQLITE_READONLY:
            return "this table cannot be written here; check the permissions of the file and of its folder"
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            if path.exists() and not os.access(path, os.R_OK):
                return "this table may not be read; check the permissions of the file"
            return "this table cannot be opened; check the permissions of the file and of its folder"
        case sqlite3.SQLITE_IOERR:
            return "the disk does not take what is written (it is full, or failing); nothing was changed"
    if isinstance(error, sqlite3.DatabaseError) and "no such" in str(error):
        return "this table is damaged: parts of it are missing"
    return f"this table cannot be used: {error}"
