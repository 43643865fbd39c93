"""Answers to requests of a batch with an `op`: the record that the command prints with `--json`, or an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import typer

from rpgres.cli.requests.keys import PLURAL, Keys, key_of_option, read_keys
from rpgres.cli.requests.operations import AS_REQUESTS, Operation, find_operation, prepared_run
from rpgres.cli.streams import Recording, recorded
from rpgres.engine.records import ERROR, Pending, error_record
from rpgres.engine.requests import discreet, resuming
from rpgres.errors import FileError, RpgresError, as_own, readable
from rpgres.formats.batches import SeveralRecord, TextRecord
from rpgres.journal.connections import keeper
from rpgres.journal.files import table_errors
from rpgres.journal.records import TableError
from rpgres.lines.options import GIVEN, read_answers
from rpgres.parameters.context import plain_names

# Operations that do nothing but add to a table: those that come together are written to the disk together.
ADDING = frozenset(
    f"table.{name}" for name in ("act", "answer", "pass", "set", "note", "begin", "end", "undo", "redo", "join")
)
TOGETHER = 64  # answers at most that wait for the disk
LONGEST = 0.2  # seconds for which no other process can write to the table


class Together:
    """Answers that wait until their entries are on the disk, while requests that add to a table come in a row.

    Args:
        say: writes an answer.
    """

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        self._say, self._table, self._since = say, "", 0.0
        self._waiting: list[dict[str, Any]] = []

    def prepare(self, request: Any, *, has_more: bool) -> None:
        """Have a request write later, where others come behind it or were before it; else those before it now."""
        op, table = (request.get("op"), request.get("table")) if isinstance(request, dict) else ("", "")
        table = table if isinstance(op, str) and op in ADDING and isinstance(table, str) else ""
        if self._waiting and table != self._table:
            self._settle()
        if not self._waiting:
            self._table, self._since = (table, monotonic()) if has_more else ("", 0.0)
        keeper().is_deferring = bool(self._table)

    def say(self, answer: dict[str, Any], *, has_more: bool) -> None:
        """Write an answer: now, or when its entry is on the disk."""
        if not self._table:
            self._say(answer)
            return
        self._waiting.append(answer)
        if not has_more or len(self._waiting) >= TOGETHER or monotonic() - self._since > LONGEST:
            self._settle()

    def _settle(self) -> None:
        """Commit the entries, then write their answers; where that fails, write the error in place of each."""
        fault: dict[str, Any] | None = None
        try:
            with table_errors(Path(self._table)):
                keeper().settle()
        except TableError as error:
            fault = error_record(error)
        keeper().is_deferring = False
        self._tell(fault)

    def give_up(self) -> None:
        """Answer that what is not on the disk is undone, before the process ends; called in another thread."""
        message = f"{self._table}: undone, as a later request ended the process before this was written; send it again"
        self._tell(error_record(TableError(message, file=self._table)))

    def _tell(self, fault: Mapping[str, Any] | None) -> None:
        """Write the answers that wait; with a fault, that in place of those of entries."""
        waiting, self._waiting, self._table = self._waiting, [], ""
        for answer in waiting:
            is_undone = fault is not None and answer.get("format") != ERROR
            self._say({**({"id": answer["id"]} if "id" in answer else {}), **(fault or {})} if is_undone else answer)


def answer_operation(request: Mapping[str, Any], *, folders: Sequence[Path] = ()) -> dict[str, Any]:
    """Return the answer to a request with an `op`, as plain data for JSON; nothing is raised.

    Args:
        folders: where rulesets are sought first.
    """
    told = {key: value for key, value in request.items() if key not in ("op", "id")}
    try:
        operation = find_operation(request["op"])
        found = _done(operation, told, folders)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # one bad request must not stop a batch, not even with SystemExit
        found = error_record(_discreet(_placed(as_own(error), told), told), wording=AS_REQUESTS)
    if request.get("id") is None:
        return found
    if "id" in found:  # of a ruleset, which is not that of the request
        found = _plain(SeveralRecord(answers=[found]))
    return {"id": request["id"], **found}


def _done(operation: Operation, told: Mapping[str, Any], folders: Sequence[Path]) -> dict[str, Any]:
    code = 0
    with recorded() as said, plain_names():
        try:
            prepared_run(operation, told, folders)()
        except typer.Exit as ended:
            code = ended.exit_code
    answer = _answer(said, code)
    request = _request(operation, told, said)
    if request is not None:
        answer["request"] = request
    if said.warnings:
        answer["notices"] = [readable(text, AS_REQUESTS) for text in said.warnings]
    return answer


def _answer(said: Recording, code: int) -> dict[str, Any]:
    records = [_plain(record) for record in said.records]
    if len(records) == 1:
        return records[0]
    if records:
        return _plain(SeveralRecord(answers=records))
    return _plain(TextRecord(text=said.text.getvalue(), exit=code))


def _plain(record: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(record, str_keys=True)
    return plain


def _discreet(error: BaseException, told: Mapping[str, Any]) -> BaseException:
    """Return an error that quotes no file but those that the request names as the command does; sheets it may not."""
    named = {str(value) for key, value in told.items() if key not in PLURAL.values()}
    problems = (error.details.get("problems") or [error.details]) if isinstance(error, FileError) else [{}]
    is_named = all(isinstance(one, Mapping) and one.get("file") in named for one in problems)
    return error if is_named or isinstance(error, TableError) else discreet(error)


def _placed(error: BaseException, told: Mapping[str, Any]) -> BaseException:
    """Return an error that knows where in the request its input stands."""
    inputs = told.get("with")
    if isinstance(error, RpgresError) and error.path and error.path[0] not in told and isinstance(inputs, Mapping):
        error.path = ("with", *error.path)
    return error


# ---------------------------------------------------------------------------------------------------------------------
# The request that resumes a pending decision


def _request(operation: Operation, told: Mapping[str, Any], said: Recording) -> dict[str, Any] | None:
    """Return the request that goes on where a decision waits, once the answer is added to its `choose`."""
    last = said.records[-1] if len(said.records) == 1 else None
    if operation.name.startswith("table."):
        return _table_request(operation, told, last)
    if not isinstance(last, Pending):
        return None
    keys = Keys((key_of_option(GIVEN),), {"given": ()})
    given = read_answers(read_keys(keys, {"given": told.get("given", {})}, of="")["given"], option="given")
    return {"op": operation.name, **told, "seed": last.seed, **resuming(last, given)}


def _table_request(operation: Operation, told: Mapping[str, Any], last: Any) -> dict[str, Any] | None:
    plain = last if isinstance(last, dict) else _plain(last) if last is not None else {}
    question = plain.get("question") or (plain.get("pending") or {}).get("question")
    if not question or not question.get("label"):
        return None  # nothing waits, or it is another seat's to know
    kept = {key: told[key] for key in ("table", "as", "rulesets") if key in told}
    return {"op": "table.answer", **kept, "choose": {question["key"] or question["label"]: []}}
