"""The loop of `rpgres play`: lines are read and carried out one by one, and errors are printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from textwrap import wrap

from rpgres.cli import INTERRUPTED
from rpgres.cli.exits import blame, trace
from rpgres.cli.output import READER, flush, say, say_text
from rpgres.cli.play.reader import Reader
from rpgres.cli.streams import columns, results
from rpgres.errors import UsageError
from rpgres.lines.acting import AT_PLAY
from rpgres.lines.fitting import Reading
from rpgres.lines.helping import command_help, help_lines
from rpgres.lines.seat import LEAVE, ODDS, TABLE_COMMANDS, Seat, Understood
from rpgres.lines.words import words_of
from rpgres.model.state import GM
from rpgres.render.lines import INDENT, Line, Piece, line
from rpgres.rulesets import unknown

SIGN = "> "
ROLLING = ("act", "answer", "begin", "end", "pass", "open", "orders")  # commands that may roll dice
EVERYBODY, NOBODY = ("all", "real"), ("off", "seeded")  # whose dice are real
WIDEST = 120  # columns of help, at most


class _InsteadError(Exception):
    """Another line was typed where one was to be completed, and has changed the table: the first one is dropped."""


class Session:
    """A person at a seat.

    Args:
        seat: the seat, and what it may know.
        reader: reads what is typed.
        common: the options of `rpgres table` that every line has.
        real_dice: whose dice are real; empty for no one's.
    """

    def __init__(self, seat: Seat, reader: Reader, common: Sequence[str], *, real_dice: str = "") -> None:
        self._real = self._checked(real_dice, seat)
        self._seat, self._reader, self._common = seat, reader, list(common)
        self._has_left = False  # the table, at a question
        self._is_left = False  # the question alone, unanswered
        self._is_at_question = False  # which is put again after the line that is carried out
        READER.rules = seat.rules
        READER.wording = AT_PLAY

    def run(self) -> None:
        """Read and carry out lines until the person leaves."""
        self._greet()
        self._put_open()
        while not self._has_left and (typed := self._next_line()) is not None:
            try:
                words = words_of(typed)
            except UsageError as error:
                blame(error, as_json=False)
                continue
            words = self._seat.typed(words) if words else words
            if words[:1] in ([name] for name in LEAVE):
                return
            if words and not words[0].startswith("#"):
                self._is_left = False
                self._do(words)
            self._is_left = self._is_left and bool(words)
            self._put_open()

    def read(self, sign: str, choices: Sequence[tuple[str, str]]) -> str:
        """Return an answer to a question, which the person may leave unanswered, or leave the table.

        Raises:
            EOFError: nothing is answered.
        """
        try:
            typed = self._reader.read(sign, choices)
        except (EOFError, KeyboardInterrupt):
            self._is_left = True
            raise
        word = typed.strip()
        self._has_left = self._is_left = word in LEAVE and not any(name.startswith(word) for name, _ in choices)
        if self._has_left:
            raise EOFError
        return typed

    def carry_out(self, typed: str) -> bool | None:
        """Carry out a line typed at a question, and tell whether the table has changed; None where it is no command."""
        try:
            words = self._seat.typed(words_of(typed)) if typed else []
        except UsageError:
            return None
        if not words or not self._seat.is_line(words):
            return None
        history = self._seat.look()
        before, pending = history.head.hash, history.pending
        if _answer_in(self._seat, words) and len(words) > 1:
            return None  # an answer that the question does not take
        if words == ["undo"] and pending is not None:
            words = ["undo", str(pending.number)]  # the last answer, and not the whole action
        if words != ["answer"]:
            was, self._is_at_question = self._is_at_question, True
            self._do(words)
            self._is_at_question = was
        return self._seat.look().head.hash != before

    def puts_next(self) -> bool:
        """Tell whether the decision that waits now is put to the person next, with what led to it."""
        self._seat.look()
        is_put = self._reader.is_interactive or self._is_at_question
        return is_put and self._seat.can_answer and not self._is_left

    def _put_open(self) -> None:
        """Put the question that is open to the person, where it is theirs."""
        if self.puts_next():
            self._do(["answer"])

    def _greet(self) -> None:
        history = self._seat.history
        title = history.new.public.title or history.new.public.ruleset
        names = ", ".join(self._seat.state.characters) or "nobody"
        told: list[Line] = [line(Piece(title, "title"), f": {names}. Type an action, or `help` or `quit`.")]
        if history.pending is not None and not (self._reader.is_interactive and self._seat.can_answer):
            how = "`show` displays it, `answer` answers it" if self._seat.can_answer else "another seat answers it"
            told.append(line(f"A decision is pending: {how}."))
        say(told)

    def _next_line(self) -> str | None:
        """Return the next line; None when the input ends."""
        self._seat.look()
        flush()
        while True:
            try:
                return self._reader.command(SIGN).strip()
            except EOFError:
                say_text("\n")
                return None
            except UsageError as error:
                blame(error, as_json=False)

    def _do(self, words: list[str]) -> None:
        """Carry out a line; an error is printed, and the next line is read."""
        words = READER.take(words)
        try:
            if words[0] == "help" and (len(words) == 1 or words[1] in (*self._seat.actions, *TABLE_COMMANDS)):
                width = columns(at_most=WIDEST)
                say(help_lines(self._seat, width) if len(words) == 1 else command_help(self._seat, words[1]))
                return
            if words[0] == "real":
                self._real = self._checked(" ".join(words[1:]) or "all", self._seat)
                told = f"real dice: {self._real}" if self._real else "the seed rolls all dice"
                say([line(INDENT, Piece(told, "quiet"))])
                return
            if _answer_in(self._seat, words):
                words = ["answer", *words]
            self._carry_out(self._seat.understood(words, self._ask))
        except _InsteadError:
            return
        except (KeyboardInterrupt, EOFError):
            if not self._has_left:
                say_text("\ninterrupted; `show` displays the current state\n")
        except BaseException as error:  # a line that fails does not end the evening
            if isinstance(error, OSError | SystemExit | GeneratorExit):
                raise
            trace(error)
            blame(error, as_json=False)

    @staticmethod
    def _checked(whom: str, seat: Seat) -> str:
        """Return whose dice are real, as `--real-dice` takes it."""
        names = whom.replace(",", " ").split()
        for name in names:
            if name not in (*seat.state.characters, *EVERYBODY, *NOBODY, GM):
                raise UsageError(unknown("character", name, [*seat.state.characters, "all", "off"], of="this table"))
        return "" if not set(NOBODY).isdisjoint(names) else ",".join(names)

    def _carry_out(self, understood: Understood) -> None:
        from rpgres.cli.root import load_command

        args = list(understood.arguments)
        common = self._common
        if self._real and args[0] in ROLLING and "--help" not in args and not _names_dice(args):
            common = ["--real-dice", self._real, *common]
        width = columns(at_most=WIDEST) - len(INDENT)
        for row in wrap(understood.long, width, subsequent_indent=INDENT, break_on_hyphens=False):
            say([line(INDENT, Piece(row, "quiet"))])
        for name in understood.joins:
            say([line(INDENT, Piece(f"{name} joins the table", "quiet"))])
        # What code of others prints is no result; help is, and Typer prints it.
        with redirect_stdout(results() if "--help" in args else sys.stdout):
            if args[0] in ("help", "roll"):  # a page of the guide, or dice outside the table
                named = f"rpgres {args[0]}"
                code = load_command(args[0]).main(args=args[1:], prog_name=named, standalone_mode=False)
            else:
                table = load_command("table")
                first = 2 if args[0] in ("act", ODDS) else 1  # before what was typed, which may end in `-- WORDS`
                typed = [*args[:first], *common, *args[first:]]
                code = table.main(args=typed, prog_name="rpgres table", standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt

    def _ask(self, text: str, readings: Sequence[Reading]) -> Reading | None:
        """Return what a person at a terminal means; None where there is none, or they do not say."""
        if not self._reader.is_interactive:
            return None
        # A number stays with what it stands for where the line is broken.
        listed = [Piece(f"  {number}\N{NO-BREAK SPACE}{one.text}") for number, one in enumerate(readings, 1)]
        shown = [line(text), *([line(*listed)] if listed else [])]
        say(shown)
        while True:
            flush()
            typed = self._reader.read(SIGN, [(one.text, "") for one in readings]).strip()
            if not typed:
                return None
            if typed in LEAVE:
                self._has_left = self._is_left = True
                raise EOFError
            meant = [one for number, one in enumerate(readings, 1) if typed in (str(number), one.text)]
            if not meant and self._is_line(typed):
                if self.carry_out(typed):
                    raise _InsteadError
                say(shown)
                continue
            if not readings:
                return Reading(typed, (typed,))
            meant = meant or [one for one in readings if typed.lower() in one.text.lower()]
            if len(meant) == 1:
                return meant[0]
            say([line(INDENT, f"Type 1 to {len(readings)}, press Enter to leave it, or type another line.")])

    def _is_line(self, typed: str) -> bool:
        """Tell whether what is typed where a line is completed is a line of its own; one word that answers is none."""
        try:
            words = words_of(typed)
        except UsageError:
            return False
        meant = self._seat.typed(words)
        is_name = len(words) == 1 and (len(meant) > 1 or meant[0] in self._seat.actions)  # `guards` would be shown
        return not is_name and self._seat.is_line(meant)


def _answer_in(seat: Seat, words: Sequence[str]) -> str:
    """Return the action on a line that is an option of the decision that is pending; empty for none."""
    action, waits = seat.named_first(words)[1][0], seat.waits
    options = waits.question.options if waits is not None and seat.can_answer else ()
    return next((option.name for option in options if option.name == action), "")


def _names_dice(args: Sequence[str]) -> bool:
    """Tell whether a line says itself whose dice are real."""
    options = args[: args.index("--")] if "--" in args else args
    return any(word.partition("=")[0] in ("--real-dice", "--dice") for word in options)
