"""A seat as a command line names it, whose lines are commands of `rpgres table` with all their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rpgres.cli.settings import active, expand_at_table
from rpgres.cli.tables import AtTable
from rpgres.journal.commands import check_seat
from rpgres.lines.seat import Seat

if TYPE_CHECKING:
    from rpgres.cli.dynamic import ActionCommand


class CommandSeat(Seat):
    """A seat at which lines have the options of commands, and the aliases of the person who types."""

    def command(self, action: str, verb: str = "act") -> ActionCommand:
        """Return the command of an action at this table: to `act`, or for its `odds`."""
        from rpgres.cli.root import load_command

        command: ActionCommand = load_command("table").commands[verb].load(action, ["--table", str(self.path)])
        return command

    def takes(self, action: str, verb: str = "act") -> Mapping[str, bool]:
        """Return whether each option of the command takes a value, by its name as typed."""
        return self.command(action, verb).takes

    def expanded(self, words: Sequence[str]) -> list[str]:
        """Return a line in which an alias of the settings is replaced by what it stands for."""
        return expand_at_table(words, active().settings.aliases, ruleset=self.rules.id)


def open_seat(at: AtTable) -> CommandSeat:
    """Return the seat of a table that a command line names.

    Raises:
        TableError: the table does not exist or is damaged.
        UsageError: it has no such seat.
    """
    place = at.find()
    opened = CommandSeat(place.path, at.who, place.folders)
    check_seat(opened.history, opened.name)
    return opened
