"""The result of a command at a persistent table, with its entry: the JSON of `rpgres table act`."""

from __future__ import annotations

from rpgres.engine.records import Pending, Result


class TableResult(Result, frozen=True, kw_only=True):
    """How something ended at a persistent table, as far as its seat may know it: `rpgres table act --json`.

    Attributes:
        said_by: the seat that typed it; empty for the host.
        entry: the number of the journal entry.
        hash: the hash of the entry in the chain.
    """

    said_by: str = ""
    entry: int = 0
    hash: str = ""


class TablePending(Pending, frozen=True, kw_only=True):
    """A decision that waits at a persistent table, as far as its seat may know it: `rpgres table act --json`.

    Attributes:
        said_by: the seat that typed what waits; empty for the host.
        entry: the number of the journal entry that waits.
        hash: the hash of the entry in the chain.
    """

    said_by: str = ""
    entry: int = 0
    hash: str = ""
