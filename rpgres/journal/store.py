"""A journal as an SQLite file: made, read, added to in one transaction. It knows bytes and numbers, and no rules.

The rollback journal of SQLite is used, not its write-ahead log: between two commands the table is a single file that
can be copied or sent, it works on network folders and on a read-only medium, and a few rows per action need no speed.
With `synchronous=FULL` an action that was told as finished is on the disk. A process that dies leaves what SQLite rolls
back the next time the file is opened: the table before the action, never half of one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from rpgres.errors import FileError
from rpgres.journal.chain import START, commitment, digest, link, written
from rpgres.journal.records import Draft, Entry, History, Public, Secret, check_entry
from rpgres.keeping import read_state, state_record
from rpgres.state import State

FOLDER, FILE = ".rpgres", "table.db"
FORMAT = 1  # of the file and of what its entries say
MARK = 0x72706773  # SQLite's `application_id` of our files
SYNCHRONOUS = "FULL"  # what was told as finished is on the disk
WAIT = 5.0  # seconds until somebody else's action is waited for in vain

_TABLES = """
CREATE TABLE entries (
  number INTEGER PRIMARY KEY,
  public BLOB NOT NULL,
  secret BLOB NOT NULL,
  salt BLOB NOT NULL,
  commitment BLOB NOT NULL,
  hash BLOB NOT NULL
);
CREATE TABLE states (number INTEGER PRIMARY KEY, state BLOB NOT NULL);
"""


# What may come of bytes that were not written by us, or not as they are now.
UNREADABLE = (msgspec.MsgspecError, FileError, ValueError, TypeError, RecursionError)


class TableError(FileError):
    """A table that cannot be used: it is not there, busy, damaged, or of another version."""

    code = "table"


class Row(msgspec.Struct, frozen=True):
    """An entry as it stands in the file, byte by byte, and the table after it."""

    number: int
    public: bytes
    secret: bytes
    salt: bytes
    commitment: bytes
    hash: bytes
    state: bytes | None


def find_table(path: str | None = None) -> Path:
    """Return the file of the table: the one that is named, or the nearest `.rpgres/table.db` from here upwards.

    Args:
        path: a file, or a folder that has `.rpgres/table.db` in it.

    Raises:
        TableError: there is none.
    """
    if path:
        found = Path(path)
        if found.is_dir():
            found = found / FILE if found.name == FOLDER else found / FOLDER / FILE
        if not found.is_file():
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
    return found / FOLDER / FILE if found.is_dir() else found


def create(path: Path, draft: Draft, *, salt: bytes) -> Entry:
    """Make the file of a new table with its first entry, whole or not at all.

    Raises:
        TableError: there is one already, or it cannot be written.
    """
    if path.exists():
        raise TableError(f"{path}: there is a table already; --table PATH begins another elsewhere", file=str(path))
    made = path.with_name(f"{path.name}.{os.getpid()}.new")
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _connected(made, mode="rwc") as connection:
                connection.executescript(f"BEGIN;{_TABLES}")
                connection.execute(f"PRAGMA application_id={MARK}")
                connection.execute(f"PRAGMA user_version={FORMAT}")
                entry = _add(connection, draft, number=0, before=START, salt=salt)
                connection.execute("COMMIT")
            _put_in_place(made, path)
        finally:
            with suppress(OSError):
                made.unlink()
    return entry


def _put_in_place(made: Path, path: Path) -> None:
    """Give the finished file its name, never in place of another one."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise TableError(f"{path}: somebody else has just begun a table here", file=str(path)) from None
    except OSError:  # a file system without links
        os.rename(made, path)


def read(path: Path) -> History:
    """Return everything a journal says.

    Raises:
        TableError: the file cannot be read, is no journal of this version, or has an entry that is not as it was
            written.
    """
    with _told(path), _connected(path) as connection:
        connection.execute("BEGIN")
        return _history(connection, path)


def read_rows(path: Path) -> list[Row]:
    """Return the entries as they stand in the file; for whoever checks them.

    Raises:
        TableError: the file cannot be read, or is no journal of this version.
    """
    with _told(path), _connected(path) as connection:
        _check_format(connection, path)
        connection.execute("BEGIN")
        found = connection.execute(
            "SELECT entries.number, public, secret, salt, commitment, hash, state FROM entries "
            "LEFT JOIN states USING (number) ORDER BY number"
        )
        rows = [_row(*row) for row in found]
        known = {row.number for row in rows}
        left = [number for (number,) in connection.execute("SELECT number FROM states") if number not in known]
        # A state without an entry is what is left of an entry that was taken out.
        return rows + [Row(number, b"", b"", b"", b"", b"", b"") for number in sorted(left)]


def _row(number: int, *columns: object) -> Row:
    public, secret, salt, bound, hash_, state = (_bytes(column) for column in columns)
    return Row(number, public or b"", secret or b"", salt or b"", bound or b"", hash_ or b"", state)


def _bytes(column: object) -> bytes | None:
    """Return a column as bytes, whatever somebody else's tool made of it."""
    if column is None or isinstance(column, bytes):
        return column
    return str(column).encode()


def read_state_after(path: Path, number: int) -> State:
    """Return the table as it was after an entry.

    Raises:
        TableError: the file does not say.
    """
    with _told(path), _connected(path) as connection:
        return _state(connection, number, path)


def write(
    path: Path,
    work: Callable[[History], list[Draft]],
    *,
    salt: Callable[[], bytes],
    is_slow: bool = False,
    is_mending: bool = False,
) -> tuple[History, list[Entry]]:
    """Add entries to a journal in one transaction, and return it as it is then, with the entries that are new.

    Args:
        path: the file.
        work: returns what is to be added to a history; what it raises leaves the journal as it was.
        salt: returns fresh random bytes for each entry.
        is_slow: whether the work waits for a person. Others may act meanwhile, and then nothing is written; otherwise
            others have to wait.
        is_mending: whether the last table may be one that cannot be read: then the last that can be stands for it.

    Raises:
        TableError: the file cannot be written, somebody else is acting, or has acted while a person was waited for.
    """
    with _told(path), _connected(path) as connection:
        connection.execute("BEGIN" if is_slow else "BEGIN IMMEDIATE")
        history = _history(connection, path, is_mending=is_mending)
        if is_slow:
            connection.execute("COMMIT")  # nobody is kept waiting by somebody who thinks
        drafts = work(history)
        if is_slow:
            connection.execute("BEGIN IMMEDIATE")
            if _head(connection) != history.head.hash:
                raise TableError(
                    f"{path}: somebody else acted at this table while a decision was made here, so nothing of "
                    "yours was written; look at it with `rpgres table show`, and do it again",
                    file=str(path),
                )
        added: list[Entry] = []
        for draft in drafts:
            last = added[-1] if added else history.head
            before = bytes.fromhex(last.hash)
            added.append(_add(connection, draft, number=last.number + 1, before=before, salt=salt()))
        connection.execute("COMMIT")
    state = drafts[-1].state if drafts else history.state
    return History((*history.entries, *added), state), added


def _add(connection: sqlite3.Connection, draft: Draft, *, number: int, before: bytes, salt: bytes) -> Entry:
    state = written(state_record(draft.state))
    secret_record = msgspec.structs.replace(draft.secret, state=digest(state))
    public, secret = written(draft.public), written(secret_record)
    bound = commitment(salt, secret)
    hash_ = link(before, number=number, public=public, commitment=bound)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", (number, public, secret, salt, bound, hash_))
    connection.execute("INSERT INTO states VALUES (?, ?)", (number, state))
    return Entry(number, draft.public, secret_record, hash_.hex())


def _history(connection: sqlite3.Connection, path: Path, *, is_mending: bool = False) -> History:
    _check_format(connection, path)
    found = connection.execute("SELECT number, public, secret, salt, commitment, hash FROM entries ORDER BY number")
    entries: list[Entry] = []
    before = START
    for place, columns in enumerate(found):
        row = _row(*columns, None)
        if row.number != place:
            raise _damaged(path, f"entry {place} is missing")
        faults = row_faults(row, before)
        if faults:
            raise _damaged(path, f"entry {place}: {faults[0]}")
        entries.append(entry_of(row))
        before = row.hash
    if not entries:
        raise _damaged(path, "entry 0 is missing")
    last = len(entries) - 1
    while True:
        try:
            return History(tuple(entries), _state(connection, last, path, recorded=entries[last].secret.state))
        except TableError:
            if not is_mending or not last:
                raise
            last -= 1


def row_faults(row: Row, before: bytes) -> list[str]:
    """Return what is wrong with an entry as it stands in the file; nothing when it is as it was written.

    Args:
        row: the entry.
        before: the hash of the entry before it.
    """
    faults = []
    if commitment(row.salt, row.secret) != row.commitment:
        faults.append("its secret part is not the one that was committed to")
    if row.number < 0 or link(before, number=row.number, public=row.public, commitment=row.commitment) != row.hash:
        faults.append("its hash does not follow from it and from the entry before")
    if faults:
        return faults
    try:
        entry_of(row)
    except UNREADABLE:
        return ["it cannot be read"]
    return []


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


def _head(connection: sqlite3.Connection) -> str:
    (hash_,) = connection.execute("SELECT hash FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    return bytes(hash_).hex()


def _state(connection: sqlite3.Connection, number: int, path: Path, *, recorded: str = "") -> State:
    row = connection.execute("SELECT state FROM states WHERE number = ?", (number,)).fetchone()
    try:
        data = _bytes(row[0]) if row is not None else None
        if data is None:
            why = "is missing"
        elif recorded and digest(data) != recorded:
            why = "is not the one that was recorded"
        else:
            return state_of(data)
    except FileError as error:
        why = f"cannot be read ({error.message})"
    raise _damaged(path, f"the table after entry {number} {why}; `rpgres table undo {number}` takes that entry back")


def _damaged(path: Path, why: str) -> TableError:
    return TableError(
        f"{path}: this table is damaged: {why}; `rpgres table verify` tells more, and a copy made before may be whole",
        file=str(path),
    )


@contextmanager
def _connected(path: Path, *, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Open the file for a while. Whatever was begun and not committed is as if it had never been."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None)
    try:
        connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
        connection.execute("PRAGMA trusted_schema=OFF")  # the file may come from somebody else
        connection.text_factory = bytes  # what somebody else's tool has made of our bytes
        yield connection
    finally:
        connection.close()


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (format_,) = connection.execute("PRAGMA user_version").fetchone()
    if mark != MARK:
        raise TableError(f"{path}: this is a database, but no table of rpgres", file=str(path))
    if format_ > FORMAT:
        raise TableError(
            f"{path}: this table was written by a newer rpgres (its format is {format_}, and "
            f"{FORMAT} is the last one known here); update rpgres",
            file=str(path),
        )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Tell what goes wrong with the file in our own words."""
    try:
        yield
    except sqlite3.Error as error:
        raise TableError(f"{path}: {_reason(error, path)}", file=str(path)) from error
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
