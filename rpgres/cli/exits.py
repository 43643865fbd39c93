"""Errors as people read them, exit codes, and the end of the process."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

import typer

from rpgres.cli.output import READER, on_screen, worded
from rpgres.cli.streams import screen_columns
from rpgres.errors import NotationError, OutputError, RpgresError, UsageError, as_own, called, enumerated, named
from rpgres.text.harmless import harmless, in_line, to_json

if TYPE_CHECKING:
    from rpgres.engine.records import Pending, Result

_debugging = False


def debug(*, enabled: bool) -> None:
    """Have `trace` show where errors come from, or not."""
    global _debugging
    _debugging = enabled


def trace(error: BaseException) -> None:
    """Write where an error comes from to standard error, when that was asked for (`--debug`)."""
    if _debugging:
        import traceback

        traceback.print_exception(error)


def blame(error: BaseException, *, as_json: bool) -> int:
    """Write an error to standard error and return the exit code.

    Args:
        as_json: as one line of JSON in place of a paragraph.
    """
    shown = _as_own(error)
    from rpgres.engine.records import error_record, exit_code

    if as_json:
        text = to_json(error_record(shown, wording=READER.wording)).decode()
    elif isinstance(shown, RpgresError):
        text = on_screen(f"rpgres: {harmless(worded(shown.raw))}")
        if isinstance(shown, NotationError):
            text += "\n" + _caret(shown)
    else:
        text = on_screen(
            f"rpgres: internal error: {type(error).__name__}: {harmless(str(error))}; "
            "run it again with --debug for the traceback"
        )
    for stream in filter(None, (sys.stdout, sys.stderr)):
        # What cannot be written now is reported, or left out, by `finish`.
        with suppress(OSError, ValueError):
            stream.flush()
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text + "\n")
    return exit_code(shown)


def _as_own(error: BaseException) -> BaseException:
    """Return Typer's own complaints, and those of the system about files, as errors of rpgres, all else as it is."""
    if type(error).__name__ == "Abort" and type(error).__module__.startswith("typer"):
        return RpgresError("the input ended before the question was answered")
    if not hasattr(error, "format_message"):
        return as_own(error)
    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if type(error).__name__ == "NoSuchOption" and context is not None and option:
        from rpgres.cli.help.hints import no_option

        return UsageError(no_option(context.command_path, option, context), option=option)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:  # its message is all of the help
        path, known = context.command_path, enumerated(context.command.list_commands(context))
        return UsageError(f"{path}: a command is missing: {known}; `{_help_of(path)}` tells what they do")
    message = error.format_message().rstrip(".")
    message = _plain_number(message[:1].lower() + message[1:])
    if context is None:
        return UsageError(f"{message}; {named('help')} lists the options")
    extra = message.rpartition("(")[2].rstrip(")").split() if "unexpected extra argument" in message else []
    if extra:
        from rpgres.cli.help.hints import extra_word

        message += extra_word(extra[0], context)
    missing = getattr(error, "param", None)
    if type(error).__name__ == "MissingParameter" and missing is not None and missing.param_type_name == "option":
        message += f": `{context.command_path} {missing.opts[0]} {missing.metavar or missing.name.upper()}`"
    unknown_word = message.partition("no such command '")[2].partition("'")[0]
    if unknown_word:
        from rpgres.cli.help.hints import line_in_group

        line = line_in_group(context.command_path, unknown_word, context.command.list_commands(context))
        message += f"; you may want `{line}`" if line else ""
    return UsageError(f"{context.command_path}: {message}; `{_help_of(context.command_path)}` lists its options")


def _help_of(path: str) -> str:
    """Return the line that explains a command, by the words that call it: `rpgres table act`."""
    return called(path.removeprefix("rpgres "), help=True)


def _plain_number(message: str) -> str:
    """Return a message of Typer's about a number in the words of ours."""
    import re

    message = re.sub(r"is not a valid int(eger)?( range)?", "is not a whole number", message)
    return re.sub(r"is not in the range x>=(\d+)", r"is not a whole number from \1 on", message)


WIDTH = 72  # at most, of the piece of a dice expression that is shown with a caret


def _caret(error: NotationError) -> str:
    """Return the expression with carets under the fault, cut down to its surroundings."""
    from rpgres.render.lines import width_of

    width = min(WIDTH, screen_columns() - 8)
    start = max(0, error.position - width // 2)
    shown = error.text[start : start + width]
    before = in_line(shown)
    lead = "..." if start else ""
    rest = "..." if start + width < len(error.text) else ""
    offset = error.position - start
    fault = before[offset : offset + error.length]
    return f"  {lead}{before}{rest}\n  {' ' * (len(lead) + width_of(before[:offset]))}{'^' * max(1, width_of(fault))}"


# Errors that only writing can have.
_WRITE_FAULTS = frozenset((errno.ENOSPC, errno.EFBIG, errno.EBADF, getattr(errno, "EDQUOT", errno.ENOSPC)))


def require_output() -> None:
    """Check that there is a standard output to write to.

    Raises:
        OutputError: the parent process closed it.
    """
    if sys.stdout is None:
        raise OutputError("cannot write to standard output: it is closed")


def unwritten(error: OSError) -> OutputError | None:
    """Return the error that tells that standard output cannot be written; None when that is not what happened."""
    if error.filename is not None or sys.stdout is None:
        return None
    try:
        sys.stdout.flush()  # what could not be written waits, and fails again, unless the stream has no buffer
    except OSError:
        _give_up(sys.stdout)
        return _cannot_write(error)
    return _cannot_write(error) if error.errno in _WRITE_FAULTS else None


WAITING = 3  # exit code: a decision waits
FAILED, TIED = 10, 11  # exit codes of --exit-code


def exit_of(found: Result | Pending, *, with_codes: bool) -> int:
    """Return the exit code of a command that prints a result, or a decision that waits.

    Args:
        with_codes: whether a failure and a tie have codes of their own.
    """
    from rpgres.engine.records import Pending

    if isinstance(found, Pending):
        return WAITING
    if not with_codes:
        return 0
    if found.success is None:
        return TIED if found.margin is not None else 0
    return 0 if found.success else FAILED


def leave(code: int) -> None:
    """End the command here where its exit code says more than that all is well."""
    if code:
        raise typer.Exit(code)


def finish(code: Any, *, as_json: bool = False) -> Any:
    """Write what is still to be written and return the exit code; a reader that went away is no error."""
    try:
        _flush(sys.stdout)
    except (OSError, ValueError) as error:
        code = code or blame(_cannot_write(error), as_json=as_json)
    READER.entry = None
    try:
        _flush(sys.stderr)
    except (OSError, ValueError):
        return code or 1
    return code


def _cannot_write(error: Exception) -> OutputError:
    done = f"; entry {READER.entry} is in the journal: it is done" if READER.entry is not None else ""
    return OutputError(f"cannot write to standard output: {getattr(error, 'strerror', None) or error}{done}")


def _flush(stream: TextIO | None) -> None:
    if stream is None:
        return
    try:
        stream.flush()
    except BrokenPipeError:
        _give_up(stream)
    except (OSError, ValueError):
        _give_up(stream)
        raise


def _give_up(stream: TextIO) -> None:
    """Let what is left go nowhere: the interpreter flushes once more at its end, and would complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # a stream that is no file has nothing that could be left
        return
