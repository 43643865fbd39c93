"""The file of a table: where it is found, how it is opened, and the messages of its errors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rpgres.errors import called, named
from rpgres.journal.connections import Connection, keeper
from rpgres.journal.history import History
from rpgres.journal.records import TableError
from rpgres.journal.rows import LONGEST

FOLDER, FILE = ".rpgres", "table.db"
FORMAT = 7  # of the file and of what its entries say; with each entry that is added the file has this one
# 4 has answers that end a procedure (`Public.stops`), 5 hands, 6 tells their cards, 7 who gave which result.
OLDEST = 3  # the first that is read
MARK = 0x72706773  # SQLite's `application_id` of our files
SYNCHRONOUS = "FULL"  # what was reported as finished is on the disk
WAIT = 5.0  # seconds to wait for another process

_FOREIGN = (
    "SELECT 1 FROM sqlite_master "
    "WHERE type IN ('trigger', 'view') OR sql LIKE '%CONFLICT%' OR sql LIKE 'CREATE VIRTUAL%'"
)


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
            raise TableError.at(found, f"there is no table; `{called('table new', 'ID')}` creates one")
        return found
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = folder / FOLDER / FILE
        if found.is_file():
            return found
    raise TableError(
        f"there is no table here: {FOLDER}/{FILE} is neither in {here} nor in a folder above it; "
        f"`{called('table new', 'ID', sheet='FILE')}` creates one, {named('table')} PATH names another file"
    )


def place_for(path: str | None = None) -> Path:
    """Return the file a new table is to be kept in; see `find_table`."""
    if not path:
        return Path(FOLDER) / FILE
    found = Path(path)
    return found / FOLDER / FILE if os.path.isdir(found) else found


def damaged(path: Path, why: str) -> TableError:
    """Return the error that tells what is wrong with a file."""
    how = f"run `{called('table verify')}` for details, or restore a copy"
    return TableError.at(path, f"this table is damaged: {why}; {how}")


def root_of(path: Path) -> Path:
    """Return the folder of a table: the one that has `.rpgres/table.db` in it, or the one of another file."""
    return path.parent.parent if (path.parent.name, path.name) == (FOLDER, FILE) else path.parent


def beside(path: Path) -> tuple[Path, ...]:
    """Return the folder `rulesets` of a table's folder, where there is one and it is not the one sought here anyway.

    So a table is played by the same rules wherever the command is typed.
    """
    folder = root_of(path) / "rulesets"
    return (folder,) if os.path.isdir(folder) and os.path.realpath(folder) != os.path.realpath("rulesets") else ()


def kept_folder(folder: Path, path: Path) -> str:
    """Return a folder as a table keeps it: within the table's own folder from there, so that both can be moved."""
    whole, root = folder.absolute(), root_of(path).absolute()
    return str(whole.relative_to(root) if whole.is_relative_to(root) else whole)


def folders_of(history: History, folders: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return where the rules of a table are sought, beside the usual places, the last being the nearest."""
    begun_with = map(Path, history.new.secret.folders)
    if history.path is None:
        return (*begun_with, *folders)
    return (*beside(history.path), *map(root_of(history.path).joinpath, begun_with), *folders)


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """Open the file for a while. Whatever was begun and not committed is as if it had never been."""
    with table_errors(path), keeper().lent(path, _connect) as connection:
        yield connection


def _connect(path: Path) -> Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None, factory=Connection)
    try:
        connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
        connection.execute("PRAGMA trusted_schema=OFF")  # the file may be forged
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * LONGEST)  # of what is packed, too
        connection.text_factory = bytes  # other tools may have rewritten the column
    except BaseException:
        connection.close()
        raise
    return connection


def check_format(connection: Connection, path: Path) -> None:
    """Check that a database is a journal of this version.

    Raises:
        TableError: it is not.
    """
    if not connection.is_ahead and not path.stat().st_size:
        how = called("table new", "ID", sheet="FILE")
        raise TableError.at(path, f"this file is empty; `{how}` makes a table of it")
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (format_,) = connection.execute("PRAGMA user_version").fetchone()
    size = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")]
    if not connection.is_ahead and path.stat().st_size < size[0] * size[1]:
        raise damaged(path, "its end is missing")
    if mark != MARK:
        raise TableError.at(path, "this is an SQLite database, but not a table of rpgres")
    if format_ < OLDEST:
        raise TableError.at(
            path,
            f"this table was written by an older rpgres (its format is {format_}, and this version "
            f"reads {OLDEST} to {FORMAT}); "
            f"play it with that version, or export its sheets with `{called('table export')}` for a new table",
        )
    if format_ > FORMAT:
        reads = f"its format is {format_}, and this version reads up to {FORMAT}"
        raise TableError.at(path, f"this table was written by a newer rpgres ({reads}); update rpgres")
    # A trigger or a conflict clause would change what is written; a view or a virtual table what is read.
    if connection.execute(_FOREIGN).fetchone() is not None:
        raise damaged(path, "the database contains triggers, views or other objects that rpgres did not create")


@contextmanager
def table_errors(path: Path) -> Iterator[None]:
    """Tell what goes wrong with the file in our own words."""
    try:
        yield
    except sqlite3.Error as error:
        raise TableError.at(path, _reason(error, path)) from error
    except MemoryError:
        raise damaged(path, "it does not fit into memory") from None
    except UnicodeDecodeError as error:  # a name in the file that is none
        raise TableError.at(path, "this table is damaged; restore it from a copy") from error
    except OSError as error:
        if error.filename is None and error.filename2 is None:
            raise
        where = error.filename or path  # what cannot be used need not be the table itself
        raise TableError(f"{where}: cannot be used: {error.strerror or error}", file=str(path)) from None


def _reason(error: sqlite3.Error, path: Path) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return (
                f"the table has been locked by another process for over {WAIT:g} seconds; nothing was written; "
                "try again"
            )
        case sqlite3.SQLITE_FULL:
            return "the disk is full; nothing was written, and everything before is kept"
        case sqlite3.SQLITE_NOTADB:
            return "this file is not a table of rpgres, or its header is damaged"
        case sqlite3.SQLITE_CORRUPT:
            return "this table is damaged; restore it from a copy"
        case sqlite3.SQLITE_READONLY:
            return "this table cannot be written here; check the permissions of the file and of its folder"
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            if path.exists() and not os.access(path, os.R_OK):
                return "this table cannot be read; check the permissions of the file"
            return "this table cannot be opened; check the permissions of the file and of its folder"
        case sqlite3.SQLITE_IOERR:
            return "the disk rejected the write (it is full or failing); nothing was changed"
    if isinstance(error, sqlite3.DatabaseError) and "no such" in str(error):
        return "this table is damaged: parts of it are missing"
    return f"this table cannot be used: {error}"
