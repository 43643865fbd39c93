"""Files between a table and a player elsewhere: views, answers and seals.

A view holds what its seat may see and nothing else; the table's file holds everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError, UsageError, called, named, writing
from rpgres.journal import store
from rpgres.journal.commitments import SealFile
from rpgres.journal.forms import AnswerFile, LinkRecord, ViewRecord
from rpgres.journal.history import History
from rpgres.journal.keys import key_of
from rpgres.journal.lines import Posted, has_line, posted_in
from rpgres.journal.views import log_seen, table_record
from rpgres.model.serialization import read_state, state_record
from rpgres.model.state import State
from rpgres.text.filenames import write_own
from rpgres.toml.reading import Source, convert, read_source


def view_of(history: History, path: Path, *, seat: str, now: State | None = None) -> ViewRecord:
    """Return all that a seat may see of a table, with the chain of hashes to check it against later.

    Args:
        now: the table in the middle of a procedure; see `table_record`.
    """
    chain = [
        LinkRecord(row.number, row.public.decode("utf-8", "replace"), row.commitment.hex(), row.hash.hex())
        for row in store.read_rows(path)
        if row.number < len(history.entries)
    ]
    table = table_record(history, seat, now=now)
    began = state_record(history.state.seen_by(seat)) if table.under_way else None
    key = key_of(history, seat) if seat in table.seats else ""
    return ViewRecord(seat=seat, table=table, log=log_seen(history, seat), chain=chain, began=began, key=key)


def read_view(file: str) -> ViewRecord:
    """Return a view from a file.

    Raises:
        FileError: it cannot be read, or is no view.
    """
    view: ViewRecord = _record(file, read_source(Path(file)).text, ViewRecord, "view")
    state_in(file, view)
    return view


def read_posted(file: str) -> list[Posted]:
    """Return what seats wrote elsewhere: an answer file, or the lines in a mail.

    Args:
        file: a file, `-` for standard input, or such lines themselves.

    Raises:
        FileError: it cannot be read, or has no answer.
        UsageError: a line was cut off or changed on its way.
    """
    if has_line(file):
        return posted_in(file)
    text = read_source(Path(file)).text
    if has_line(text) or text.strip()[:1] not in ("", "{", "["):  # a mail may be encoded as a whole
        return posted_in(text)
    answer: AnswerFile = _record(file, text, AnswerFile, "answer")
    return [answer]


def read_seal(file: str) -> SealFile:
    """Return what a seat sealed, from its own file.

    Raises:
        FileError: it cannot be read, or is no seal.
    """
    seal: SealFile = _record(file, read_source(Path(file)).text, SealFile, "seal")
    return seal


def _record(file: str, text: str, type_: Any, what: str) -> Any:
    """Return what a file says, whose text is known, as a record of its format."""
    try:
        data = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError) as error:
        fault = f"it is not valid JSON: {error}" if text.strip() else "it is empty"
        raise FileError(f"{file}: this is not a valid {what} file; {fault}", file=file) from None
    form = data.get("format") if isinstance(data, dict) else None
    if form != f"rpgres.{what}/1":
        raise FileError(
            f'{file}: this is not a valid {what} file; one has "format": "rpgres.{what}/1", '
            + (f"and this is {form}" if isinstance(form, str) else f"see `{called('schema', what)}`"),
            file=file,
        )
    return convert(data, type_, source=Source(file, ""))  # lines are found in TOML alone


def state_in(file: str, view: ViewRecord) -> State:
    """Return the table as a view has it.

    Raises:
        FileError: what it has is no table.
    """
    try:
        return read_state(view.table.state)
    except FileError as error:
        raise FileError(f"{file}: table.state: {error.message}", file=file) from None


def write_json(path: Path, record: Any, *, is_forced: bool = False) -> Path:
    """Write a record as JSON into a file.

    Raises:
        FileError: the file is there already and nothing said that it may be replaced, or it cannot be written.
    """
    text = msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"
    return _write_text(path, text, is_forced=is_forced)


def kept_seal(commitment: str) -> Path:
    """Return the file in which a sealed answer is kept for its owner, where no other was named.

    Raises:
        UsageError: there is no folder for it.
    """
    from rpgres.text.folders import state_folder

    try:
        folder = state_folder() / "seals"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"the sealed answer cannot be kept ({error}): name a file for it, {named('out')} FILE"
        ) from None
    return folder / f"{commitment}.json"


def seal_kept(commitments: Iterable[str]) -> SealFile:
    """Return the last sealed answer of these commitments that is kept here.

    Raises:
        UsageError: there is none.
    """
    paths = [path for one in commitments if (path := kept_seal(one)).is_file()]
    if not paths:
        raise UsageError(f"no sealed answer is kept here: name its file, {named('from')} FILE")
    return read_seal(str(paths[-1]))


def _write_text(path: Path, text: str, *, is_forced: bool) -> Path:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_own(path, text.encode("utf-8", "surrogatepass"), is_forced=is_forced)
    return path


def write_files(folder: Path, files: Mapping[str, str], *, is_forced: bool = False) -> list[Path]:
    """Write texts into a folder: all of them, or none where one is there already.

    Args:
        folder: the folder; nothing is written outside it, also where something in it leads elsewhere.
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
    return [_write_text(path, text, is_forced=is_forced) for path, text in paths.items()]
