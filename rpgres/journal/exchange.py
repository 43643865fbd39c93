"""What goes between a table and a player elsewhere: a view of it as a file, and the answer that comes back.

A view holds what its seat may see and nothing else; whoever holds the table's file holds everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.engine.players import NO
from rpgres.errors import FileError, UsageError, named
from rpgres.journal import store
from rpgres.journal.commitments import SealFile
from rpgres.journal.forms import AnswerFile, LinkRecord, RunEntry, ViewRecord
from rpgres.journal.history import History
from rpgres.journal.views import log_seen, table_record
from rpgres.model.serialization import read_state
from rpgres.model.state import State, slug
from rpgres.text.filenames import write_own
from rpgres.toml.reading import Source, convert, nearest, read_source


def view_of(history: History, path: Path, *, seat: str, now: State | None = None) -> ViewRecord:
    """Return all that a seat may see of a table, with the chain of hashes to hold it against later.

    Args:
        history: the journal.
        path: its file.
        seat: whose view it is.
        now: the table in the middle of a procedure; see `table_record`.
    """
    chain = [
        LinkRecord(row.number, row.public.decode("utf-8", "replace"), row.commitment.hex(), row.hash.hex())
        for row in store.read_rows(path)
        if row.number < len(history.entries)
    ]
    table = table_record(history, seat, now=now)
    return ViewRecord(seat=seat, table=table, log=log_seen(history, seat), chain=chain)


def read_view(file: str) -> ViewRecord:
    """Return a view from a file.

    Raises:
        FileError: it cannot be read, or is no view.
    """
    view: ViewRecord = _read(file, ViewRecord, "view")
    state_in(file, view)
    return view


def read_answer(file: str) -> AnswerFile:
    """Return a seat's answer from a file.

    Raises:
        FileError: it cannot be read, or is no answer.
    """
    answer: AnswerFile = _read(file, AnswerFile, "answer")
    return answer


def read_seal(file: str) -> SealFile:
    """Return what a seat sealed, from its own file.

    Raises:
        FileError: it cannot be read, or is no seal.
    """
    seal: SealFile = _read(file, SealFile, "seal")
    return seal


def _read(file: str, type_: Any, what: str) -> Any:
    text = read_source(Path(file)).text
    try:
        data = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise FileError(f"{file}: this is not a valid {what} file; it is not valid JSON:  {error}", file=file) from None
    form = data.get("format") if isinstance(data, dict) else None
    if form != f"rpgres.{what}/1":
        raise FileError(
            f'{file}: this is not a valid {what} file; one has "format": "rpgres.{what}/1", '
            + (f"and this is {form}" if isinstance(form, str) else f"see `rpgres schema {what}`"),
            file=file,
        )
    return convert(data, type_, sources=[Source(file, "")])  # lines are found in TOML alone


def state_in(file: str, view: ViewRecord) -> State:
    """Return the table as a view has it.

    Args:
        file: where the view comes from, for messages.
        view: the view.

    Raises:
        FileError: what it has is no table.
    """
    try:
        return read_state(view.table.state)
    except FileError as error:
        raise FileError(f"{file}: table.state: {error.message}", file=file) from None


def answer_for(
    view: ViewRecord, *, choose: Mapping[str, Sequence[str]], given: Mapping[str, Sequence[str]]
) -> AnswerFile:
    """Return the answer to what a view asks.

    Args:
        view: what the seat sees.
        choose: the choice, by label; further ones are for what may be asked after it.
        given: results read off real dice, by label.

    Raises:
        UsageError: the view asks nothing of its seat, or the choice is none of those it offers.
    """
    pending = view.table.pending
    question = pending.question if pending is not None else None
    if question is None or not question.label:
        raise UsageError(f"this view has no question for {view.seat}")
    chosen = choose.get(question.label)
    if not chosen:
        near = nearest(question.label, choose)
        hint = f", not {near!r}" if near else ""
        raise UsageError(f"{question.label!r} is asked{hint}: {named('choose')} {question.label}=OPTION")
    names = [*(option.name for option in question.options), *([NO] if question.optional else [])]
    if not question.form and chosen[0] not in names and slug(chosen[0]) not in names:
        near = nearest(chosen[0], names)
        hint = f"; did you mean {near!r}?" if near else ""
        raise UsageError(f"{question.label}={chosen[0]} is not offered; it is one of: {', '.join(names)}{hint}")
    waiting = [one for one in view.log if isinstance(one, RunEntry) and one.pending is not None and not one.undone]
    return AnswerFile(
        seat=view.seat,
        entry=waiting[-1].hash if waiting else "",
        choose={label: list(answers) for label, answers in choose.items()},
        given={label: list(answers) for label, answers in given.items()},
    )


def write_json(path: Path, record: Any, *, is_forced: bool = False) -> Path:
    """Write a record as JSON into a file.

    Raises:
        FileError: the file is there already and nothing said that it may be replaced, or it cannot be written.
    """
    text = msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"
    return write_text(path, text, is_forced=is_forced)


def write_text(path: Path, text: str, *, is_forced: bool = False) -> Path:
    """Write a text into a file for its owner alone, whole or not at all.

    Raises:
        FileError: the file is there already and nothing said that it may be replaced, or it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_own(path, text.encode("utf-8", "surrogatepass"), is_forced=is_forced)
    except FileExistsError:
        raise FileError(
            f"{path}: already exists; nothing was written. Name another file, or use {named('force')}", file=str(path)
        ) from None
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise FileError(f"{path}: cannot be written: {reason}", file=str(path)) from None
    return path


def write_files(folder: Path, files: Mapping[str, str], *, is_forced: bool = False) -> list[Path]:
    """Write texts into a folder: all of them, or none where one is there already.

    Args:
        folder: the folder; nothing is written outside it, also where something in it leads elsewhere.
        files: each text by its path in the folder.
        is_forced: whether files that are there may be replaced.

    Raises:
        FileError: a file is there already and nothing said that it may be replaced, or one cannot be written.
    """
    paths = {folder / name: text for name, text in files.items()}
    for path in paths:
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise FileError(f"{path}: this path is outside {folder}; nothing was written", file=str(path))
        if path.exists() and not is_forced:
            raise FileError(
                f"{path}: already exists; nothing was written. Name another folder, or use {named('force')}",
                file=str(path),
            )
    return [write_text(path, text, is_forced=is_forced) for path, text in paths.items()]
