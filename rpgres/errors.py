"""The errors that reach a user, told apart by whose fault they are. Nothing here knows a command or an exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from rpgres.text.harmless import in_line

LONGEST = 300  # characters of a message of third-party code
MOST_LISTED = 7  # names in a message
NEAR = 0.5  # difflib's measure of a name that may be meant


# A message holds names of inputs and commands to try as parts between characters of private use, so that what shows it
# writes them as its reader types them: `--vs` on a command line, `vs` in a scene or a request; `rpgres table undo 12`
# in a shell, `undo 12` at `rpgres play`.
_BEGIN, _END = "\ue000", "\ue001"
_COMMAND, _NEXT, _COMMAND_END = "\ue002", "\ue003", "\ue004"
_PLACE, _PLACE_END = "\ue005", "\ue006"  # around where something stands in code, which not every reader may know


def enumerated(names: Iterable[str], word: str = "", *, joint: str = "", none: str = "none") -> str:
    """Return names for a message, with commas between them: of many those nearest to a word, the nearest first.

    Args:
        word: what was typed in their place.
        joint: the word before the number of names that are left out; by default dots stand for them.
        none: what stands for no names.
    """
    known = [str(name) for name in names]
    rest = len(known) - MOST_LISTED
    if rest > 0 and word:
        from difflib import SequenceMatcher

        near = {name: SequenceMatcher(None, word[:80].casefold(), name[:80].casefold()).ratio() for name in known}
        known.sort(key=lambda name: -near[name] if near[name] >= NEAR else 0)
    more = f" {joint} {rest} more" if joint else ", ..."
    return ", ".join(known[:MOST_LISTED]) + (more if rest > 0 else "") or none


class Command(NamedTuple):
    """A command in a message, as `called` put it there.

    Attributes:
        name: its words: `table undo`.
        values: what stands behind them, and has no name.
        options: its options by name, with hyphens; a flag is an empty text.
    """

    name: str
    values: tuple[str, ...]
    options: dict[str, str]


class Wording(NamedTuple):
    """How the readers of a message type what it names.

    Attributes:
        name: writes the name of an input, or of an option.
        command: writes a command.
    """

    name: Callable[[str], str]
    command: Callable[[Command], str]


def named(name: str) -> str:
    """Return the name of an input, an action's or a command's, as it stands in a message."""
    return f"{_BEGIN}{name.replace('_', '-')}{_END}"


def called(name: str, *values: object, **options: object) -> str:
    """Return a command of rpgres as it stands in a message.

    >>> readable(f"`{called('table undo', 12)}` undoes it")
    '`rpgres table undo 12` undoes it'

    Args:
        name: its words.
        values: what stands behind them, and has no name.
        options: its options by name, with a `_` behind names that Python has; True for a flag.
    """
    shown = [f"{named(key.rstrip('_'))}{'' if value is True else value}" for key, value in options.items()]
    return _COMMAND + _NEXT.join([name, *map(str, values), *shown]) + _COMMAND_END


def as_key(name: str) -> str:
    """Return the name of an input as messages for scenes, requests and programs write it."""
    return f"`{name}`"


def as_option(name: str) -> str:
    """Return the name of an input as it is typed on a command line."""
    return f"--{name}"


def words_of(command: Command) -> list[str]:
    """Return a command as words of a command line, without that of the program."""
    options = [word for name, value in command.options.items() for word in (as_option(name), value) if word]
    return [*command.name.split(" "), *command.values, *options]


def as_command_line(command: Command) -> str:
    """Return a command as a line of a shell; what has to be quoted there is none of its words."""
    return " ".join(["rpgres", *words_of(command)])


AS_KEYS = Wording(as_key, as_command_line)
AS_OPTIONS = Wording(as_option, as_command_line)


def readable(text: str, wording: Wording = AS_KEYS) -> str:
    """Return a message for people.

    Args:
        text: the message, with names of inputs as `named` has them, and commands as `called`.
        wording: how its readers write them.
    """
    if not any(mark in text for mark in (_BEGIN, _COMMAND, _PLACE)):
        return text
    shown = _filled(text, _COMMAND, _COMMAND_END, lambda inner: wording.command(_read(inner)))
    return _filled(_filled(shown, _PLACE, _PLACE_END, str), _BEGIN, _END, wording.name)


def without_places(text: str) -> str:
    """Return a message as it stands, without the places in code that it names."""
    return _filled(text, _PLACE, _PLACE_END, lambda place: "")


def _filled(text: str, begin: str, end: str, write: Callable[[str], str]) -> str:
    """Return a text with its parts written; one that was cut off stays as it is."""
    first, *rest = text.split(begin)
    pieces = [piece.partition(end) for piece in rest]
    return first + "".join((write(inner) if is_whole else inner) + behind for inner, is_whole, behind in pieces)


def _read(inner: str) -> Command:
    name, *words = inner.split(_NEXT)
    options = (word[1:].partition(_END) for word in words if word.startswith(_BEGIN))
    values = tuple(word for word in words if not word.startswith(_BEGIN))
    return Command(name, values, {name: value for name, _, value in options})


class RpgresError(Exception):
    """Anything rpgres tells its user; the message is one short paragraph: what is wrong, where, what to try.

    Attributes:
        path: which input is at fault, as keys and numbers from the outside in: `("vs",)`, `("against", 0, "skill")`.
        reason: what kind of fault it is, where a program may want to know: `unknown`, `missing`, `type`, `range`.
        details: the same as data for JSON readers (for example `file`, `key`, `line`, `position`).
        raw: the message with names of inputs and commands marked; `message` has them as readers write them.
        wording: how these readers are.
        run: the run that failed, with the events so far; see `rpgres.engine.running`.
    """

    code = "error"
    run: Any = None
    wording = AS_KEYS

    def __init__(self, message: str, *, path: tuple[str | int, ...] = (), reason: str = "", **details: Any) -> None:
        super().__init__(readable(message))
        self.raw = message
        self.path = path
        self.reason = reason
        self.details = details

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the error in another process, whatever its class takes; the run stays here."""
        fields = {name: value for name, value in vars(self).items() if name != "run"}
        return _made_again, (type(self), self.args, fields)

    @property
    def message(self) -> str:
        """What is told, with inputs by their keys."""
        return readable(self.raw, self.wording)

    @property
    def typed(self) -> str:
        """What is told, with inputs as they are typed on a command line."""
        return readable(self.raw, AS_OPTIONS)

    def add(self, text: str) -> None:
        """Add to the end of the message."""
        self.raw += text


def _made_again(kind: type[RpgresError], args: tuple[Any, ...], fields: dict[str, Any]) -> RpgresError:
    error = kind.__new__(kind, *args)
    vars(error).update(fields)
    return error


@contextmanager
def located(*path: str | int) -> Iterator[None]:
    """Have every error that is raised meanwhile know that it is about this input."""
    try:
        yield
    except RpgresError as error:
        error.path = (*path, *error.path)
        raise


class UsageError(RpgresError):
    """What was typed is wrong: an unknown name, bad notation, an impossible answer. Exit code 2."""

    code = "usage"


class UndealtError(UsageError):
    """A condition or a path reads cards that odds have not dealt yet."""


class NotationError(UsageError):
    """A dice expression that cannot be read; `position` is the zero-based place of the fault in `text`."""

    code = "notation"

    def __init__(self, message: str, text: str, position: int, length: int = 1, **details: Any) -> None:
        length = max(1, length)  # a fault at the very end still has a place to point at
        super().__init__(message, text=text, position=position, length=length, **details)
        self.text = text
        self.position = position
        self.length = length


class LawSizeError(UsageError):
    """A distribution that would take too long to work out; `details["limit"]` names the limit."""

    code = "law-size"


class GivenError(UsageError):
    """A result that was read off real dice or cards and cannot have happened.

    Attributes:
        fault: what is wrong with it, without its label, where that is told apart; marked as `raw` is.
    """

    code = "given"
    fault = ""

    @classmethod
    def of(cls, label: str, result: object, fault: str, **details: Any) -> GivenError:
        """Return the error of a result that was given for a label."""
        error = cls(f"{named('given')} {label}={result}: {fault}", label=label, **details)
        error.fault = fault
        return error


class ChoiceError(UsageError):
    """An answer to a decision that the rule does not offer."""

    code = "choice"


class FileError(RpgresError):
    """A file that cannot be read or does not say what it should. Exit code 1."""

    code = "file"


@contextmanager
def writing(path: object, *, instead: str = "") -> Iterator[None]:
    """Raise what keeps a file from being written as an error of that file.

    Args:
        path: the file.
        instead: what to do beside naming another one, where it is there already; by default an option replaces it.

    Raises:
        FileError: it is there already, or cannot be written.
    """
    file = str(path)
    try:
        yield
    except FileExistsError:
        instead = instead or f", or use {named('force')}"
        raise FileError(f"{file}: already exists; nothing was written. Name another file{instead}", file=file) from None
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise FileError(f"{file}: cannot be written: {reason}", file=file) from None


def as_own(error: BaseException) -> BaseException:
    """Return what the system says of a file or folder as our own error; anything else as it is.

    Most such errors are met where they arise; this is for a name that is too long, or a disk that was removed.
    """
    if isinstance(error, OSError) and isinstance(error.filename, str | bytes):
        name = os.fsdecode(error.filename)
        shown = name if len(name) <= LONGEST else f"{name[:LONGEST]}..."
        return FileError(f"{shown}: {error.strerror or type(error).__name__}", file=name)
    return error


class OutputError(RpgresError):
    """A result that cannot be written where it should go. Exit code 1."""

    code = "output"


class PluginError(RpgresError):
    """A ruleset plugin that cannot be used; names the distribution and the stage at which it failed. Exit code 1."""

    code = "plugin"


class TimeError(RpgresError):
    """What was asked for takes longer than it may. Exit code 1."""

    code = "time"


class InterruptError(RpgresError):
    """Somebody stopped work of which nothing is known yet. Exit code 130."""

    code = "interrupted"


class RuleError(RpgresError):
    """A rule broke its contract with the table: it raised, asked otherwise when replayed, or never ended. Exit 1."""

    code = "rule"


# ---------------------------------------------------------------------------------------------------------------------
# Exceptions of third-party code


def as_data(value: object) -> str:
    """Return a value that was given as data, for a message: `true`, `false` and `null` as JSON writes them.

    >>> as_data(True), as_data("3")
    ('true', "'3'")
    """
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def counted(number: int, one: str, several: str = "") -> str:
    """Return how many there are of something, in words.

    >>> counted(1, "card"), counted(2, "card"), counted(0, "entry", "entries")
    ('1 card', '2 cards', '0 entries')

    Args:
        number: how many.
        one: what one is called.
        several: what several are called; by default with an s.
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def in_short(text: str) -> str:
    """Return a text as one line of printable characters, cut when it is long."""
    line = " ".join(in_line(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def in_words(error: BaseException) -> str:
    """Return an exception as one line: its type and what it says."""
    try:
        text = error.msg if isinstance(error, SyntaxError) and error.filename else str(error)
    except Exception:  # noqa: BLE001  # the `__str__` of a third-party exception may fail, too
        text = ""
    return in_short(f"{type(error).__name__}: {text}".removesuffix(": "))


def code_failed(what: str, error: BaseException) -> RuleError:
    """Return the error of a ruleset's code that raised something which is not meant for users, and where."""
    found = _place_of(error)
    place: dict[str, Any] = {"file": found[0], "line": found[1]} if found else {}
    return RuleError(f"{what}: {in_words(error)}{in_place(*found) if found else ''}", **place)


class TimeIsUpError(BaseException):
    """A limit of time is over. Not an `Exception`, so that a rule that catches those cannot swallow it."""


def is_interrupt(error: BaseException) -> bool:
    """Tell whether a person or a limit of time interrupts: a KeyboardInterrupt that code raises by itself is none."""
    if isinstance(error, TimeIsUpError):
        return True
    if not isinstance(error, KeyboardInterrupt):
        return False
    from dis import opmap
    from signal import SIGINT, getsignal

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    code = trace.tb_frame.f_code
    handler: Any = getsignal(SIGINT)
    handler = getattr(handler, "func", handler)  # asyncio has a partial function there
    return code is getattr(handler, "__code__", None) or code.co_code[trace.tb_lasti] != opmap["RAISE_VARARGS"]


def place_of(error: BaseException) -> str:
    """Return where in third-party code an exception was raised, as ` (FILE, line N)`; empty when nowhere there."""
    found = _place_of(error)
    return in_place(*found) if found else ""


def blame_code(error: RpgresError) -> None:
    """Add to an error where in third-party code it was raised, if it was."""
    found = _place_of(error)
    if found is not None:
        error.add(in_place(*found))
        error.details.update(file=found[0], line=found[1])


def in_place(file: str, line: int) -> str:
    """Return a place in code as it stands at the end of a message."""
    return f"{_PLACE} ({file}, line {line}){_PLACE_END}"


def _place_of(error: BaseException) -> tuple[str, int] | None:
    if isinstance(error, SyntaxError) and error.filename:  # what could not be read, and not who wanted to
        return error.filename, error.lineno or 1
    own, standard = os.path.dirname(__file__) + os.sep, os.path.dirname(os.__file__) + os.sep
    place, caller, trace = None, None, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(("<", own)):
            place = file, trace.tb_lineno
            if not file.startswith(standard) or "site-packages" in file:
                caller = place  # of the standard library, which is hardly to blame
        trace = trace.tb_next
    return caller or place
