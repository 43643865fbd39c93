"""Reading lines in `rpgres play`: with editing, history and completion at a terminal, plainly everywhere else."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpgres.cli.asking.terminal import Choices, read_line
from rpgres.cli.output import READER
from rpgres.cli.play.offers import Offer, choice_offers, offers
from rpgres.cli.play.seat import CommandSeat
from rpgres.cli.streams import columns, has_person, raw, results
from rpgres.errors import RpgresError
from rpgres.journal.chain import digest
from rpgres.lines.status import status

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.history import History as Lines
    from prompt_toolkit.key_binding import KeyBindings

Offered = Callable[[str], list[Offer]]  # returns what may stand at the end of a line
REFRESH = 1.0  # seconds from one look at the table to the next, while a line is typed
MENU = 4  # rows kept free below the line for what Tab offers
DUMB = ("dumb", "unknown", "")


class Reader:
    """What reads the lines of an evening.

    Args:
        seat: the seat, and what it may know.

    Attributes:
        is_interactive: whether a person sits there who can be asked.
    """

    is_interactive = True

    def __init__(self, seat: CommandSeat) -> None:
        self._seat = seat

    def command(self, sign: str) -> str:
        """Return a line that says what is done."""
        return self._line(sign, lambda line: offers(self._seat, line), is_command=True)

    def read(self, sign: str, choices: Choices = ()) -> str:
        """Return a line that answers something; the choices are offered."""
        return self._line(sign, lambda line: choice_offers(choices, line), is_command=False)

    def _line(self, sign: str, offered: Offered, *, is_command: bool) -> str:
        raise NotImplementedError


class PlainReader(Reader):
    """Lines as the system reads them: in a pipe, at a terminal that cannot do more, and for people who listen.

    For these, Up and Tab work where the system has a library for it, and nothing is drawn.

    Args:
        seat: the seat, and what it may know.
        is_able: whether the terminal can move its cursor.
    """

    def __init__(self, seat: CommandSeat, *, is_able: bool) -> None:
        super().__init__(seat)
        self.is_interactive = has_person()
        self._offered: Offered = lambda _line: []
        if is_able:
            self._edit()

    def _line(self, sign: str, offered: Offered, *, is_command: bool) -> str:
        self._offered = offered
        return read_line(sign)

    def _edit(self) -> None:
        try:
            import readline
        except ImportError:  # on Windows, where the console does it
            return

        def complete(text: str, number: int) -> str | None:
            found = self._offered(readline.get_line_buffer()[: readline.get_endidx()])
            return found[number].text if number < len(found) and found[number].length == len(text) else None

        readline.set_completer(complete)
        readline.set_completer_delims(" ")
        is_editline = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if is_editline else "tab: complete")
        readline.parse_and_bind("set enable-bracketed-paste off")  # which would write more than what is typed


def reader_for(seat: CommandSeat) -> Reader:
    """Return what reads lines here."""
    term = os.environ.get("TERM", "") if sys.platform != "win32" else "windows"
    is_able = has_person() and term not in DUMB
    return EditingReader(seat) if is_able and not READER.is_plain else PlainReader(seat, is_able=is_able)


class EditingReader(Reader):
    """Lines that are edited: history, completion, a status line below."""

    def __init__(self, seat: CommandSeat) -> None:
        from prompt_toolkit.history import InMemoryHistory

        super().__init__(seat)
        self._pasted: deque[str] = deque()
        self._commands = self._session(_lines_kept(seat))
        self._answers = self._session(InMemoryHistory())

    def _line(self, sign: str, offered: Offered, *, is_command: bool) -> str:
        session = self._commands if is_command else self._answers
        if len(self._pasted) > 1:
            line = self._pasted.popleft()
            session.history.append_string(line)
            results().write(f"{sign}{line}\n")  # as if it had been typed
            return line
        self._seat.look()
        begun = self._pasted.popleft() if self._pasted else ""
        return session.prompt(
            sign,
            default=begun,
            completer=_completer(offered),
            bottom_toolbar=self._bar,
            refresh_interval=REFRESH,
        )

    def _bar(self) -> str:
        """Return the status line as the table is now: another seat may act while this one is asked."""
        with suppress(RpgresError):
            self._seat.look()
        return status(self._seat, columns(at_most=1000))

    def _paste(self, event: Any) -> None:
        """Have the first of several pasted lines carried out, and the others after it; the last one is begun."""
        first, *rest = event.data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        event.current_buffer.insert_text(first)
        self._pasted.extend(rest)
        if rest:
            event.current_buffer.validate_and_handle()

    def _session(self, lines: Lines) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.output import ColorDepth, create_output

        return PromptSession(
            history=lines,
            complete_while_typing=False,
            reserve_space_for_menu=MENU,
            key_bindings=_bindings(self._paste),
            output=create_output(stdout=raw(results())),
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
        )


def _bindings(paste: Callable[[Any], None]) -> KeyBindings:
    """Return the keys that differ: pasted lines are carried out one by one, and Ctrl-C first only clears the line."""
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.keys import Keys

    keys = KeyBindings()
    keys.add(Keys.BracketedPaste)(paste)

    @keys.add("c-c")
    def interrupt(event: Any) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return keys


def _completer(offered: Any) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class Offering(Completer):
        def get_completions(self, document: Any, _event: Any) -> Iterator[Completion]:
            found: list[Offer] = offered(document.text_before_cursor)
            for one in found:
                yield Completion(one.text, -one.length, display=one.shown, display_meta=one.help)

    return Offering()


def _lines_kept(seat: CommandSeat) -> Lines:
    """Return the lines typed at this table by this seat, which are kept in the user's state folder."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    from rpgres.text.folders import state_folder

    name = digest(f"{seat.path.resolve()}\n{seat.history.new.hash}\n{seat.name or ''}".encode())[:32]
    try:
        folder: Path = state_folder() / "lines"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / name
        file.touch(mode=0o600)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(file)
