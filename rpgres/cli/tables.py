"""The table that a command line names, and the seat at it: by options, or by what the environment says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from rpgres.cli.annotations import AsJson, Folders, declared
from rpgres.cli.options import read_folders
from rpgres.cli.output import READER
from rpgres.journal.commands import Place, check_seat
from rpgres.journal.files import find_table, folders_of
from rpgres.journal.store import read
from rpgres.lines.options import SEAT, TABLE

if TYPE_CHECKING:
    from rpgres.journal.history import History

Table = Annotated[str | None, declared(TABLE)]
Seat = Annotated[str | None, declared(SEAT)]


class AtTable(Struct, frozen=True):
    """The table of a command line, and who is at it.

    Attributes:
        seat: as typed; `who` is the one that is meant.
        table: the path, as typed.
        rulesets: folders to look for rulesets in first.
    """

    seat: Seat = None
    table: Table = None
    rulesets: Folders = None

    @property
    def who(self) -> str | None:
        """The seat that is meant; None for the host."""
        return self.seat or os.environ.get("RPGRES_SEAT") or None

    def find(self) -> Place:
        """Return the table that is meant; lines that people are told to type name it from here on, if this one did.

        Raises:
            TableError: there is none.
        """
        READER.table = self.table or ""
        return self.look_up()

    def look_up(self) -> Place:
        """Return the table that is meant, for the words of a line and not to do what it says.

        Raises:
            TableError: there is none.
        """
        return Place(find_table(self.table or os.environ.get("RPGRES_TABLE")), self.folders)

    def read(self) -> tuple[Place, History]:
        """Return the table with its history, after making sure that it has such a seat."""
        place = self.find()
        history = read(place.path)
        check_seat(history, self.who, is_looking=True)
        return place, history

    def ruleset(self) -> tuple[str, tuple[Path, ...]]:
        """Return the id of the table's ruleset, and the folders where it is sought first.

        Raises:
            TableError: there is no table.
        """
        history = read(self.look_up().path)
        return history.new.public.ruleset, folders_of(history)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where rulesets are sought first."""
        return read_folders(self.rulesets)


class TableOptions(AtTable, frozen=True):
    """The same with how results print: `as_json` as JSON."""

    as_json: AsJson = False
