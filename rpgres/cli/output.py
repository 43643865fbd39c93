"""Where text leaves the process: standard output and error, JSON lines, and errors as people read them."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from rpgres.cli.requests.recording import Recording
from rpgres.errors import NotationError, OutputError, RpgresError, UsageError, as_option, as_own, readable
from rpgres.text.harmless import harmless, in_line, to_json

if TYPE_CHECKING:
    from rpgres.cli.render.lines import Look, Shown
    from rpgres.engine.records import Pending, Result
    from rpgres.rulesets import Rules

FALLBACK = "rpgres"  # the name of the error handler below

# What a terminal without Unicode gets instead.
_ASCII = {
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{FULL BLOCK}": "#",
    "\N{LEFT HALF BLOCK}": "-",
    "\N{LIGHT SHADE}": ".",
    "\N{MEDIUM SHADE}": ":",
    "\N{DARK SHADE}": "+",
    "\N{NO-BREAK SPACE}": " ",
}


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from unicodedata import normalize

    replaced = []
    for char in error.object[error.start : error.end]:
        plain = _ASCII.get(char)
        if plain is None:
            plain = normalize("NFKD", char).encode("ascii", "ignore").decode() or "?"
        replaced.append(plain)
    return "".join(replaced), error.end


codecs.register_error(FALLBACK, _in_ascii)


class _HarmlessStream:
    """A stream that makes harmless whatever is written to it, by rpgres, by Typer or by a ruleset's code."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        return self.stream.write(harmless(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def prepare_streams() -> None:
    """Have both output streams write nothing harmful, and in ASCII what their encoding lacks.

    What is typed that is no text comes in as lone surrogates, for `ask` to refuse.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=FALLBACK)
    if hasattr(sys.stdin, "reconfigure"):
        with suppress(ValueError):  # a reader that has read from it already keeps it as it is
            sys.stdin.reconfigure(errors="surrogateescape")
    sys.stdout, sys.stderr = _made_harmless(sys.stdout), _made_harmless(sys.stderr)


def _made_harmless(stream: TextIO) -> TextIO:
    is_ready = stream is None or isinstance(stream, _HarmlessStream)
    return stream if is_ready else cast("TextIO", _HarmlessStream(stream))


def raw(stream: TextIO) -> TextIO:
    """Return the stream itself, for what is made of our own: colours, and lines that are written anew."""
    return stream.stream if isinstance(stream, _HarmlessStream) else stream


_kept: TextIO | None = None  # where results go while `results_alone` holds


@contextmanager
def results_alone() -> Iterator[None]:
    """Keep standard output for results while code of others may run: what that prints goes to standard error."""
    global _kept
    before, _kept = _kept, results()
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout, _kept = _kept, before


def results() -> TextIO:
    """Return the stream that takes results."""
    return _kept if _kept is not None else sys.stdout


_recording: Recording | None = None


@contextmanager
def recorded() -> Iterator[Recording]:
    """Keep what is said as values in place of writing it; what code of others prints goes to standard error."""
    global _kept, _recording
    recording, before = Recording(), (sys.stdout, _kept, _recording)
    sys.stdout, _kept, _recording = sys.stderr, recording.text, recording
    try:
        yield recording
    finally:
        sys.stdout, _kept, _recording = before


def is_terminal() -> bool:
    """Tell whether a person reads standard output."""
    return results() is not None and results().isatty()


PAGE = 80  # columns of prose, in a pipe
WIDEST = 100  # columns of prose on a terminal: longer lines are hard to read


def screen_columns() -> int:
    """Return how many columns the terminal has: `COLUMNS`, or what it says itself."""
    import shutil

    return max(20, shutil.get_terminal_size((PAGE, 24)).columns)


def columns(*, default: int = PAGE, at_most: int = WIDEST) -> int:
    """Return how many columns a line of results has.

    Args:
        default: where it is unknown, as in a pipe.
        at_most: however wide the terminal is.
    """
    return min(screen_columns(), at_most) if is_terminal() else default


_GOES_ON = {"posix": "\\", "powershell": "`", "cmd": "^"}  # ends a line behind which a shell reads on
DICE_WORDS = "--dice-words"  # taken from any line before its command reads it


class _Reader:
    """How the reader wants to be told, whatever the command: set where a command line begins."""

    is_plain = False
    dice_words = False
    rules: Rules | None = None


def tell_as(*, is_plain: bool = False, dice_words: bool = False) -> None:
    """Have everything written as its reader wants it, from here on.

    Args:
        is_plain: without colours, drawn dice and bars.
        dice_words: dice in words, cards by their full names.
    """
    _Reader.is_plain, _Reader.dice_words, _Reader.rules = is_plain, dice_words, None


def is_told_plainly() -> bool:
    """Tell whether the reader wants plain text, whatever the command."""
    return _Reader.is_plain


def told_as(words: Sequence[str]) -> list[str]:
    """Return a line typed at a table without `--dice-words`, which has dice told in words from there on."""
    _Reader.dice_words = _Reader.dice_words or DICE_WORDS in words
    return [word for word in words if word != DICE_WORDS]


def know_cards(rules: Rules) -> None:
    """Have cards called as these rules do, where the reader wants dice and cards in words."""
    _Reader.rules = rules


def _card_names() -> Mapping[str, str]:
    if not _Reader.dice_words or _Reader.rules is None:
        return {}
    return {code: card.title for code, card in _Reader.rules.cards.by_code.items()}


def look(*, is_plain: bool = False, is_prose: bool = False) -> Look:
    """Return how lines are shown where results go.

    Args:
        is_plain: whether this line asks for plain text.
        is_prose: whether they are text to be read, which has no long lines anywhere.
    """
    from rpgres.cli.render.lines import Look
    from rpgres.cli.shell.quoting import shell_in_use

    is_aloud, words, names = is_plain or _Reader.is_plain, _Reader.dice_words, _card_names()
    if not is_terminal():
        return Look(width=PAGE if is_prose else 0, dice_words=words, is_aloud=is_aloud, card_names=names)
    return Look(
        width=min(screen_columns(), WIDEST if is_prose else sys.maxsize),
        is_terminal=True,
        is_drawn=not is_aloud,
        dice_words=words,
        is_aloud=is_aloud,
        card_names=names,
        goes_on=_GOES_ON[shell_in_use()],
    )


def fits(texts: Iterable[str]) -> bool:
    """Tell whether pictures that are made of these lines fit the terminal, moved in as results are."""
    return not is_terminal() or max(map(len, texts), default=0) + 2 <= screen_columns()


def say(lines: Iterable[Shown], *, is_plain: bool = False, is_prose: bool = False) -> None:
    """Write lines to standard output: coloured on a terminal, as plain text elsewhere and when that is asked for.

    Args:
        lines: what is written; none is wider than a terminal.
        is_plain: whether this line asks for plain text.
        is_prose: whether they are text to be read.
    """
    from rpgres.cli.render.lines import plain_text

    shown = look(is_plain=is_plain, is_prose=is_prose)
    if shown.is_drawn and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        from rich.console import Console

        from rpgres.cli.render.lines import styled

        console = Console(file=raw(results()), highlight=False, soft_wrap=True)
        text = styled(lines, shown, has_few_colours=console.color_system in ("standard", "windows"))
        console.print(text, end="")
        return
    results().write(plain_text(lines, shown))


def say_text(text: str) -> None:
    """Write a text to standard output."""
    results().write(text)


def show_progress(text: str) -> None:
    """Show on standard error, where that is a terminal, what is being done, in place of what was shown before.

    Args:
        text: what is being done; nothing clears the line, before results are written.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return
    flush()
    with suppress(OSError, ValueError):
        raw(stream).write(_cleared() + in_line(text)[: screen_columns() - 1])
        stream.flush()


def clear_progress() -> None:
    """Take the line of `show_progress` back."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with suppress(OSError, ValueError):
            raw(sys.stderr).write(_cleared())
            sys.stderr.flush()


def _cleared() -> str:
    """Return what clears the line that the cursor is on; consoles of Windows may know no escape sequences."""
    return f"\r{' ' * (screen_columns() - 1)}\r" if sys.platform == "win32" else "\r\x1b[K"


def flush() -> None:
    """Let what was written reach its reader."""
    results().flush()


def say_json(record: Any, *, indent: int = 0) -> None:
    """Write a record to standard output as one line of JSON, in UTF-8 whatever the terminal's encoding.

    Args:
        record: what is written.
        indent: by how many columns what is inside is moved in, on lines of its own.
    """
    if _recording is not None:
        _recording.records.append(record)
        return
    write_json(results(), record, indent=indent)


def write_json(out: TextIO, record: Any, *, indent: int = 0) -> None:
    """Write a record to a stream as `say_json` does, also while what is said is recorded."""
    text = to_json(record, indent=indent) + b"\n"
    out.flush()
    if hasattr(out, "buffer"):
        out.buffer.write(text)
    else:  # standard output was replaced by a text
        out.write(text.decode())


# ---------------------------------------------------------------------------------------------------------------------
# Errors and the end

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


def warn(text: str) -> None:
    """Write a line on standard error about something that was done, but not as might be expected."""
    if _recording is not None:
        _recording.warnings.append(readable(text))
    elif sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(_on_screen(f"rpgres: {harmless(text)}") + "\n")


def blame(error: BaseException, *, as_json: bool) -> int:
    """Write an error to standard error and return the exit code.

    Args:
        error: what ended the command.
        as_json: as one line of JSON in place of a paragraph.
    """
    shown = _as_own(error)
    from rpgres.engine.resolve import error_record, exit_code

    if as_json:
        text = to_json(error_record(shown, name=as_option)).decode()
    elif isinstance(shown, RpgresError):
        text = _on_screen(f"rpgres: {harmless(shown.typed)}")
        if isinstance(shown, NotationError):
            text += "\n" + _caret(shown)
    else:
        text = _on_screen(
            f"rpgres: internal error: {type(error).__name__}: {harmless(str(error))}; "
            "run it again with --debug for the traceback"
        )
    for stream in filter(None, (sys.stdout, sys.stderr)):
        # Whatever cannot be written now is told, or kept silent, by `finish`.
        with suppress(OSError, ValueError):
            stream.flush()
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text + "\n")
    return exit_code(shown)


def _on_screen(text: str) -> str:
    """Return a message so that its lines fit the terminal, where a person reads it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return text
    from rpgres.cli.render.lines import Look, line, plain_text

    return plain_text(map(line, text.split("\n")), Look(width=screen_columns())).rstrip("\n")


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
        from rpgres.cli.help.hints import without_command

        return UsageError(without_command(context.command_path, context.command.list_commands(context)))
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    if context is None:
        return UsageError(f"{message}; --help lists the options")
    extra = message.rpartition("(")[2].rstrip(")").split() if "unexpected extra argument" in message else []
    if extra and any("--sheet" in one.opts for one in context.command.get_params(context)):
        message += f"; a sheet is named with --sheet {extra[0]}"
    unknown_word = message.partition("no such command '")[2].partition("'")[0]
    if unknown_word:
        from rpgres.cli.help.hints import line_in_group

        line = line_in_group(context.command_path, unknown_word, context.command.list_commands(context))
        message += f"; you may want `{line}`" if line else ""
    return UsageError(f"{context.command_path}: {message}; `{context.command_path} --help` lists its options")


WIDTH = 72  # at most, of the piece of a dice expression that is shown with a caret


def _caret(error: NotationError) -> str:
    """Return the expression with carets under the fault, cut down to its surroundings."""
    width = min(WIDTH, screen_columns() - 8)
    start = max(0, error.position - width // 2)
    shown = error.text[start : start + width]
    before = in_line(shown)
    lead = "..." if start else ""
    rest = "..." if start + width < len(error.text) else ""
    offset = error.position - start
    length = max(1, min(error.length, len(shown) - offset))
    return f"  {lead}{before}{rest}\n  {' ' * (len(lead) + offset)}{'^' * length}"


# What only writing can come to.
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


def exit_of(found: Result | Pending, *, is_told: bool) -> int:
    """Return the exit code of a command that prints a result, or a decision that waits.

    Args:
        found: what is printed.
        is_told: whether a failure and a tie have codes of their own.
    """
    from rpgres.engine.records import Pending

    if isinstance(found, Pending):
        return WAITING
    if not is_told:
        return 0
    if found.success is None:
        return TIED if found.margin is not None else 0
    return 0 if found.success else FAILED


def finish(code: Any, *, as_json: bool = False) -> Any:
    """Write what is still to be written and return the exit code; a reader that went away is no error.

    Args:
        code: the exit code so far.
        as_json: whether errors are told as JSON.
    """
    try:
        _flush(sys.stdout)
    except (OSError, ValueError) as error:
        code = code or blame(_cannot_write(error), as_json=as_json)
    try:
        _flush(sys.stderr)
    except (OSError, ValueError):
        return code or 1
    return code


def _cannot_write(error: Exception) -> OutputError:
    return OutputError(f"cannot write to standard output: {getattr(error, 'strerror', None) or error}")


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
