"""Files of tables that stay open between commands of one process. What others write to them is seen all the same."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST = 16  # files that are open at a time

Now = tuple[int, ...]  # what tells a file from what it is once somebody else has written to it


class Connection(sqlite3.Connection):
    """A connection to a journal, with what was read through it last.

    SQLite's `data_version` tells whether another connection has written; what the system says of the file, whether it
    is another one by now.
    """

    kept: Any = None
    seen: Now = ()
    is_lent = False

    def recall(self, path: Path) -> Any:
        """Return what was kept, within a transaction, as long as the file is the same; else None."""
        return self.kept if self.kept is not None and self.seen == (*self.version(), *_file(path)) else None

    def version(self) -> tuple[int]:
        """Return a number that is another one after somebody else has written."""
        (number,) = self.execute("PRAGMA data_version").fetchone()
        return (int(number),)

    def keep(self, path: Path, value: Any, version: tuple[int]) -> None:
        """Keep what the file says.

        Args:
            path: the file.
            value: what it says; None forgets what was kept.
            version: that of the transaction in which it was read or written.
        """
        self.kept, self.seen = value, (*version, *_file(path))


def _file(path: Path) -> Now:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class _Keeper:
    """The files that are open."""

    def __init__(self) -> None:
        self._open: dict[Path, tuple[Now, Connection]] = {}

    @contextmanager
    def lent(self, path: Path, connect: Callable[[Path], Connection]) -> Iterator[Connection]:
        """Lend the connection to a file; one that is lent already, or is another file by now, is not lent again."""
        key = Path(os.path.abspath(path))
        same = _file(path)[:2]
        before, connection = self._open.get(key, ((), None))
        if connection is None or before != same:
            if connection is not None and not connection.is_lent:
                connection.close()
            connection = connect(path)
            self._open.pop(key, None)
            self._open[key] = same, connection
        elif connection.is_lent:
            connection = connect(path)
        connection.is_lent = True
        try:
            yield connection
        finally:
            connection.is_lent = False
            if self._open.get(key, ((), None))[1] is not connection:
                connection.close()
            elif connection.in_transaction:
                connection.execute("ROLLBACK")
            while len(self._open) > MOST:
                self._open.pop(next(iter(self._open)))[1].close()

    def close(self) -> None:
        """Close all files."""
        for _, connection in self._open.values():
            connection.close()
        self._open.clear()


_keeper: _Keeper | None = None


@contextmanager
def kept_open() -> Iterator[None]:
    """Have tables stay open between what is done at them, for a process that does much."""
    global _keeper
    before, _keeper = _keeper, _Keeper()
    try:
        yield
    finally:
        _keeper.close()
        _keeper = before


@contextmanager
def lent(path: Path, connect: Callable[[Path], Connection]) -> Iterator[Connection]:
    """Give the connection to a file for a while.

    Args:
        path: the file.
        connect: opens it.
    """
    if _keeper is not None:
        with _keeper.lent(path, connect) as connection:
            yield connection
        return
    connection = connect(path)
    try:
        yield connection
    finally:
        connection.close()
