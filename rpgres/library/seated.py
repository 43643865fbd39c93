"""What the methods of a persistent table share: its journal, records for its seat, errors without internals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from rpgres.arguments import require_short, told_by_kind
from rpgres.engine.requests import discreet
from rpgres.engine.resolve import Answers, listed_answers
from rpgres.engine.views import HOST
from rpgres.errors import RpgresError, UsageError
from rpgres.journal import commands, store
from rpgres.journal.commands import Done, Place
from rpgres.journal.forms import EntryRecord, TablePending, TableResult
from rpgres.journal.history import History
from rpgres.journal.records import RUNNING, TableError, found_in
from rpgres.journal.views import entry_record, run_record
from rpgres.library.reading import Policies
from rpgres.model.state import EMPTY
from rpgres.parameters.context import plain_names

if TYPE_CHECKING:
    from rpgres.library.tables import PersistentTable

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def clean_errors(method: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Have a method's errors hold nothing beside their message and details: no run, no cause, no frames inside.

    At a confined table they quote no file, sheets are named without a folder, and texts have a length at most.
    """

    checked = told_by_kind(method)

    @wraps(method)
    def call(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        is_confined = kwargs.get("confined") or (args and getattr(args[0], "confined", False))
        try:
            if is_confined:
                require_short(kwargs)
                require_short(args)
            with plain_names() if is_confined else nullcontext():
                return checked(*args, **kwargs)
        except RpgresError as error:
            shown = discreet(error) if is_confined and not isinstance(error, TableError) else error
            shown.run = shown.__cause__ = shown.__context__ = None
            raise shown.with_traceback(None) from None

    return call


def place_of(table: PersistentTable) -> Place:
    return Place(table.path, table.folders)


def owner_of(table: PersistentTable) -> str:
    if table.seat is HOST:
        raise UsageError("this is done as a seat: open the table with seat='gm' or a character's name")
    return table.seat


def history_of(table: PersistentTable) -> History:
    history = store.read(table.path)
    commands.check_seat(history, table.seat, is_looking=True)
    return history


def result_of(table: PersistentTable, done: Done) -> TableResult | TablePending | EntryRecord:
    """Return the result of the last entry, as far as the seat may know it; the entry itself if it has none."""
    return run_result(table, done) if found_in(done.entry.secret) is not None else entry_result(table, done)


def run_result(table: PersistentTable, done: Done) -> TableResult | TablePending:
    # The answer to a request is followed by what was undone.
    entry = next(one for one in reversed(done.entries) if one.kind in RUNNING)
    return run_record(done.history, entry, table.seat)


def entry_result(table: PersistentTable, done: Done) -> EntryRecord:
    return entry_record(done.history, done.entry, table.seat, warnings=commands.left_wrong(done))


def as_answer(history: History, seat: str | None, option: str) -> Answers:
    """Return an option as the answer to what is asked of a seat, before which its label may stand.

    Raises:
        UsageError: nothing waits, or it is another seat's.
    """
    question = commands.require_own(history, seat)
    return {question.typed: option.removeprefix(f"{question.typed}=")}


def journal_answers(
    given: Answers | None, choose: Answers | None, policies: Policies | None, *, auto: bool
) -> dict[str, Any]:
    """Return answers as the commands of the journal take them."""
    return {
        "given": listed_answers(given, "given"),
        "choose": listed_answers(choose, "choose"),
        "policies": dict(policies or EMPTY),
        "auto": auto,
    }
