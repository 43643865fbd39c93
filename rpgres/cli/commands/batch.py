"""`rpgres batch`: JSON lines in, JSON lines out. See `rpgres.engine.requests`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
import typer

from rpgres.cli.annotations import Folders, option
from rpgres.cli.output import write_json
from rpgres.cli.streams import results
from rpgres.errors import FileError, TimeError, UsageError

LONGEST = 1024 * 1024  # bytes of one request
CHUNK = 65536  # bytes that are read at once
SECONDS = 10  # for one request; an action of a table takes milliseconds


def command(
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="The requests; - is standard input.")] = "-",
    seconds: Annotated[
        str | None, option("--seconds", takes="S", help=f"Time for each request [default: {SECONDS}].")
    ] = None,
    rulesets: Folders = None,
) -> None:
    """Answer requests, one JSON object a line, with one JSON object a line.

    A request says what `rpgres roll` takes: {"ruleset": "fate", "action": "overcome", "with": {"skill": 3,
    "vs": 2}}, and may have seed, given, choose, switches, auto, policies, note and id. One that rolls dice says
    {"notation": "4d6kh3"}.

    With "op" a request is any other command that needs no terminal, with its options as keys: {"op": "table.act",
    "table": "bot.db", "as": "mara", "action": "overcome", "with": {"skill": 2, "vs": 3}}, {"op": "odds", ...},
    {"op": "table.show", ...}. The answer is what the command prints with --json. A table stays open between requests.
    Such requests read and write the files that they name, as the command would: take them only from people you trust
    with the command. `rpgres schema batch` has all requests, and the schema of each answer.

    Sheets are named without a folder (mara, mara.toml) and are sought here and among the ruleset's own.

    Each answer is a result, a pending decision, or an error (`rpgres schema error`), with the id of its request; an
    error without one names the line. What waits for a decision has a `request` that continues the same run once
    the answer is added under `choose`. Each is written at once, so a bot can keep one process and talk to it line by
    line. Blank lines are passed over.

    A request that takes longer than --seconds is stopped, and its answer is an error with the code "time". Where a
    ruleset's code cannot be stopped, as it catches every interrupt, that error is the last answer and the exit code 1.

    The exit code is 0 when every line was answered, whatever the answers were.
    """
    from rpgres.cli.options import read_folders, read_seconds

    folders, most = read_folders(rulesets), read_seconds(seconds) or SECONDS
    if file == "-":
        if sys.stdin is None:
            raise FileError("-: cannot be read: there is no standard input", file=file)
        _answer_all(sys.stdin.buffer, folders, most)
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115  # what goes wrong while answering is no fault of the file
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise FileError(f"{file}: cannot be read: {reason}", file=file) from None
    with stream:
        _answer_all(stream, folders, most)


def _answer_all(stream: BinaryIO, folders: tuple[Path, ...], seconds: float) -> None:
    from rpgres.cli.requests.answers import Together
    from rpgres.cli.requests.operations import kept
    from rpgres.cli.requests.timelimit import time_limit

    number, request = 0, None  # which `give_up` reports
    out = results()  # also for `give_up`, which is called while an operation's results are recorded

    def say(answer: dict[str, Any]) -> None:
        # One line at a time reaches the reader.
        write_json(out, answer)
        out.flush()

    together = Together(say)

    def give_up() -> None:
        together.give_up()
        say(_too_long(number, request, seconds, "cannot be interrupted, so the batch ends here"))

    with kept(), time_limit(seconds, give_up=give_up) as limit:
        for number, line, has_more in _lines(stream):
            request = _read(number, line)
            together.prepare(request, has_more=has_more)
            with _nothing_typed():
                answer = limit.within(partial(_answer, number, request, folders))
            together.say(answer if answer is not None else _too_long(number, request, seconds), has_more=has_more)


def _too_long(number: int, request: Any, seconds: float, end: str = "was stopped") -> dict[str, Any]:
    from rpgres.engine.records import error_record

    message = f"this request takes longer than {seconds:g} s and {end}; --seconds gives requests more time"
    answer = error_record(TimeError(message, seconds=seconds, line=number))
    if isinstance(request, dict) and request.get("id") is not None:
        del answer["details"]["line"]
        return {"id": request["id"], **answer}
    return answer


@contextmanager
def _nothing_typed() -> Iterator[None]:
    # The requests that are still to come are no answer to what a ruleset's code may ask.
    from io import StringIO

    typed, sys.stdin = sys.stdin, StringIO()
    try:
        yield
    finally:
        sys.stdin = typed


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield every line that is not blank, with its number and whether others are there; of a long one the beginning."""
    number, rest = 0, b""
    while chunk := stream.read1(CHUNK):  # type: ignore[attr-defined]  # what is there by now
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest[: LONGEST + 1]
        there = [place for place, line in enumerate(lines, number + 1) if line.strip()]
        for place in there:
            yield place, lines[place - number - 1], place != there[-1]
        number += len(lines)
    if rest.strip():
        yield number + 1, rest, False


def _read(number: int, line: bytes) -> Any:
    """Return a request as it stands in a line, or the error of one that cannot be read."""
    if len(line) > LONGEST:
        return UsageError(f"line {number} is longer than {LONGEST:,} bytes", line=number)
    try:
        return msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    except RecursionError:
        return UsageError(f"line {number} is nested too deeply", line=number)
    except (msgspec.DecodeError, UnicodeError) as error:
        return _unreadable(number, line, str(error))


def _unreadable(number: int, line: bytes, why: str) -> UsageError:
    """Return the error of a line that cannot be kept, with its `id` where one is found."""
    import json

    found: dict[str, Any] = {}
    why = f"is no JSON: {why}"
    with suppress(ValueError, RecursionError):  # of a line that is no JSON at all, nothing more is known
        request = json.loads(line)
        found = {"id": request["id"]} if isinstance(request, dict) and _can_be_told(request.get("id")) else {}
        if "out of range" in why:
            why = "has a number that is too large"
        elif not _can_be_told(request, with_nan=True):
            why = "has half of a character in a text (a lone surrogate, \\ud800 to \\udfff)"
    return UsageError(f"line {number} {why}", **(found or {"line": number}))


def _can_be_told(value: Any, *, with_nan: bool = False) -> bool:
    """Tell whether there is something that can be written as JSON."""
    import json

    try:
        return value is not None and bool(json.dumps(value, ensure_ascii=False, allow_nan=with_nan).encode())
    except ValueError:
        return False


def _answer(number: int, request: Any, folders: tuple[Path, ...]) -> dict[str, Any]:
    from rpgres.cli.requests.operations import AS_REQUESTS, RESOLVE
    from rpgres.engine.records import ERROR, error_record
    from rpgres.engine.requests import resolve_request

    if isinstance(request, UsageError):
        answer = error_record(request)
        return {"id": answer["details"].pop("id"), **answer} if "id" in answer["details"] else answer
    if isinstance(request, dict) and request.get("op", RESOLVE) != RESOLVE:
        from rpgres.cli.requests.answers import answer_operation

        answer = answer_operation(request, folders=folders)
    else:
        if isinstance(request, dict):
            request = {key: value for key, value in request.items() if key != "op"}
        answer = resolve_request(request, rulesets=folders, wording=AS_REQUESTS)
    if answer.get("format") == ERROR and "id" not in answer:  # the only way to tell whose error it is
        answer["details"] = {**answer["details"], "line": number}
    return answer
