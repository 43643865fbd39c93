"""Connections to tables, kept open between commands of one process; changes by other processes are noticed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST = 16  # files that are open at a time

Now = tuple[int, ...]  # a value that changes when another process writes to the file


class Connection(sqlite3.Connection):
    """A connection to a journal, with what was read through it last.

    SQLite's `data_version` tells whether another connection has written; what the system says of the file, whether it
    is another one by now.
    """

    kept: Any = None
    seen: Now = ()
    is_lent = False
    is_ahead = False  # whether entries were added that are not in the file yet

    def recall(self, path: Path) -> Any:
        """Return what was kept, within a transaction, as long as the file is the same; else None."""
        if self.seen != (*self.version(), *_file(path)):
            self.kept = None
        return self.kept

    def version(self) -> tuple[int]:
        """Return a number that changes when another process writes."""
        (number,) = self.execute("PRAGMA data_version").fetchone()
        return (int(number),)

    def keep(self, path: Path, value: Any, version: tuple[int]) -> None:
        """Keep what the file says.

        Args:
            value: what it says; None forgets what was kept.
            version: that of the transaction in which it was read or written.
        """
        self.kept, self.seen = value, (*version, *_file(path))

    @contextmanager
    def adding(self, path: Path) -> Iterator[None]:
        """Add entries in a transaction; or in a part of one, where it is `settle` that ends it."""
        if not _keeper.takes(self, path):
            self.execute("BEGIN IMMEDIATE")
            yield
            self.execute("COMMIT")
            return
        if not self.in_transaction:
            self.execute("BEGIN IMMEDIATE")
        self.execute("SAVEPOINT entries")
        try:
            yield
        except BaseException:
            if self.in_transaction:  # SQLite ends it by itself where the disk is full
                self.execute("ROLLBACK TO entries")
                self.execute("RELEASE entries")
            raise
        self.execute("RELEASE entries")
        self.is_ahead = True


def _file(path: Path) -> Now:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class Keeper:
    """The files that stay open between commands.

    Args:
        most: how many; with none, a file is closed after each command.

    Attributes:
        is_deferring: whether commits to one table are deferred until `settle`. A caller that defers reports nothing as
            done before that has returned; no other process can write until then.
    """

    def __init__(self, most: int) -> None:
        self._most, self.is_deferring = most, False
        self._open: dict[Path, tuple[Now, Connection]] = {}
        self._together: tuple[Path, Connection] | None = None  # whose transaction is ended by `settle`

    def takes(self, connection: Connection, path: Path) -> bool:
        """Tell whether what is added now is committed later, with what was added before and comes behind."""
        if self._together is None and self.is_deferring and self._find(path) is connection:
            self._together = path, connection
        return self._together is not None and self._together[1] is connection

    def _find(self, path: Path) -> Connection | None:
        return self._open.get(Path(os.path.abspath(path)), ((), None))[1]

    def settle(self) -> None:
        """Commit what was deferred.

        Raises:
            sqlite3.Error: it cannot be written; then nothing of it was.
        """
        together, self._together = self._together, None
        if together is None:
            return
        path, connection = together
        connection.is_ahead = False
        try:
            if connection.in_transaction:
                connection.execute("COMMIT")
                connection.seen = (*connection.seen[:1], *_file(path))
        except BaseException:
            connection.seen = ()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @contextmanager
    def lent(self, path: Path, connect: Callable[[Path], Connection]) -> Iterator[Connection]:
        """Lend the connection to a file; one that is lent already, or is another file by now, is not lent again."""
        key, kept = Path(os.path.abspath(path)), self._find(path)
        if self._together is not None and self._together[1] is kept:
            yield self._together[1]
            return
        if kept is not None and self._open[key][0] != _file(path)[:2]:
            del self._open[key]
            if not kept.is_lent:
                kept.close()
            kept = None
        connection = kept if kept is not None and not kept.is_lent else connect(path)
        if kept is None and self._most:  # else several threads may have a connection each
            self._open[key] = _file(path)[:2], connection
        connection.is_lent = True
        try:
            yield connection
        finally:
            connection.is_lent = False
            if self._find(path) is not connection:
                connection.close()
            elif connection.in_transaction and (self._together is None or self._together[1] is not connection):
                connection.execute("ROLLBACK")
            idle = [one for one, (_, its) in self._open.items() if not its.is_lent]
            for one in idle[: max(0, len(self._open) - self._most)]:
                self._open.pop(one)[1].close()

    def close(self) -> None:
        """Close all files; what was not committed is lost."""
        for _, connection in self._open.values():
            connection.close()
        self._open.clear()


_keeper = Keeper(0)


def keeper() -> Keeper:
    """Return what keeps files open now."""
    return _keeper


@contextmanager
def kept_open() -> Iterator[None]:
    """Keep tables open between commands, for a process that runs many."""
    global _keeper
    before, _keeper = _keeper, Keeper(MOST)
    try:
        yield
    finally:
        _keeper.close()
        _keeper = before
