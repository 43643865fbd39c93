"""Printing: lines as their reader wants them, JSON, warnings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import Struct

from rpgres.cli.streams import PAGE, WIDEST, is_terminal, raw, recording_now, results, screen_columns
from rpgres.errors import AS_OPTIONS, Command, Wording, as_option, readable, words_of
from rpgres.text.harmless import harmless, to_json

if TYPE_CHECKING:
    from rpgres.engine.records import Pending, Result
    from rpgres.render.lines import Look, Shown
    from rpgres.rulesets import Rules

PLAIN, DICE_WORDS = "--plain", "--dice-words"  # taken from any line before its command reads it


class _Reader(Struct):
    """How the reader wants text, whatever the command: set where a command line begins, and changed as it is read.

    Attributes:
        is_plain: whether without colours, drawn dice and bars.
        dice_words: whether dice are told in words, cards by their full names.
        typed: what of `--plain` and `--dice-words` was typed, for a line that does the same again.
        rules: those whose names cards have, where dice and cards are told in words.
        table: the table as typed, which lines that people are told to type name, too; empty where it was found.
        wording: the words in which messages name options and commands.
        entry: the one of a journal that is being told; that it is kept is said where it cannot be.
        spelled: how options were typed that have several names, such as `-n` for `runs`.
    """

    is_plain: bool = False
    dice_words: bool = False
    typed: Sequence[str] = ()
    rules: Rules | None = None
    table: str = ""
    wording: Wording = AS_OPTIONS
    entry: int | None = None
    spelled: dict[str, str] = {}

    def begin(self, *, is_plain: bool = False, dice_words: bool = False) -> None:
        """Forget the line before."""
        self.is_plain, self.dice_words, self.typed, self.rules = is_plain, dice_words, (), None
        self.table, self.wording, self.entry, self.spelled = "", IN_SHELL, None, {}

    def take(self, words: Sequence[str]) -> list[str]:
        """Return a line without `--plain` and `--dice-words`, which hold from there on, whatever the command."""
        self.typed = [word for word in (PLAIN, DICE_WORDS) if word in words or word in self.typed]
        self.is_plain = self.is_plain or PLAIN in words
        self.dice_words = self.dice_words or DICE_WORDS in words
        return [word for word in words if word not in (PLAIN, DICE_WORDS)]


def worded(text: str) -> str:
    """Return a message as its reader types what it names."""
    return readable(text, READER.wording)


def _in_shell(command: Command) -> str:
    """Return a command as a line for a shell, with the table that was named; one with a file of its own has it."""
    from rpgres.cli.shell import join_line

    words = ["rpgres", *(join_line([word]) if " " in word else word for word in words_of(command))]
    if READER.table and words[1] == "table" and not {"table", "view"} & {*command.options}:
        words.insert(3, join_line(["--table", READER.table]))
    return " ".join(words)


def _as_spelled(name: str) -> str:
    return READER.spelled.get(name) or as_option(name)


IN_SHELL = Wording(_as_spelled, _in_shell)
READER = _Reader()


def look(*, is_prose: bool = False) -> Look:
    """Return how lines are shown where results go.

    Args:
        is_prose: whether they are text to be read, which has no long lines anywhere.
    """
    from rpgres.render.lines import Look

    is_aloud, words = READER.is_plain, READER.dice_words
    cards = READER.rules.cards.by_code if words and READER.rules is not None else {}
    names = {code: card.title for code, card in cards.items()}
    if not is_terminal():
        width = PAGE if is_prose else 0
        return Look(width=width, dice_words=words, is_aloud=is_aloud, card_names=names, wording=READER.wording)
    return Look(
        width=min(screen_columns(), WIDEST if is_prose else sys.maxsize),
        is_terminal=True,
        is_drawn=not is_aloud,
        dice_words=words,
        is_aloud=is_aloud,
        card_names=names,
        wording=READER.wording,
    )


def fits(texts: Iterable[str]) -> bool:
    """Tell whether pictures that are made of these lines fit the terminal, moved in as results are."""
    return not is_terminal() or max(map(len, texts), default=0) + 2 <= screen_columns()


def say(lines: Iterable[Shown], *, is_prose: bool = False) -> None:
    """Write lines to standard output: coloured on a terminal, as plain text elsewhere and when that is asked for.

    Args:
        lines: what is written; none is wider than a terminal.
    """
    from rpgres.render.lines import plain_text

    shown = look(is_prose=is_prose)
    if shown.is_drawn and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        from rich.console import Console

        from rpgres.render.lines import styled

        console = Console(file=raw(results()), highlight=False, soft_wrap=True)
        text = styled(lines, shown, has_few_colours=console.color_system in ("standard", "windows"))
        console.print(text, end="")
        return
    results().write(plain_text(lines, shown))


def say_text(text: str) -> None:
    """Write a text to standard output."""
    results().write(text)


def flush() -> None:
    """Let what was written reach its reader."""
    results().flush()


def say_json(record: Any, *, indent: int = 0) -> None:
    """Write a record to standard output as one line of JSON, in UTF-8 whatever the terminal's encoding.

    Args:
        indent: by how many columns what is inside is moved in, on lines of its own.
    """
    recording = recording_now()
    if recording is not None:
        recording.records.append(record)
        return
    write_json(results(), record, indent=indent)


def say_record(record: Any, lines: Callable[[], Iterable[Shown]], *, as_json: bool, is_prose: bool = False) -> None:
    """Write a record to standard output: as JSON, or as lines for people, which are made only then."""
    if as_json:
        say_json(record)
    else:
        say(lines(), is_prose=is_prose)


def say_result(result: Result | Pending, rules: Rules | None, *, as_json: bool, skipped: Iterable[str] = ()) -> None:
    """Write the result of a roll to standard output, or the decision it waits for.

    Args:
        rules: the rules it was rolled by; None for dice.
        skipped: the labels of optional decisions that nobody took.
    """
    if as_json:
        say_json(result)
        return
    from rpgres.engine import records
    from rpgres.render import results as rendered
    from rpgres.render.words import house_rules

    file = rules.file if rules is not None else None
    if isinstance(result, records.Pending):
        first, *rest = rendered.pending_lines(result, file)
        say([first, *rendered.skipped_lines(skipped), *rest])
        return
    unasked = rendered.unasked_lines(result, file) if file is not None and is_terminal() else []
    told = house_rules(rules) if rules is not None else ""
    say([*rendered.result_lines(result, file, house_rules=told), *unasked, *rendered.skipped_lines(skipped)])


def write_json(out: TextIO, record: Any, *, indent: int = 0) -> None:
    """Write a record to a stream as `say_json` does, also while what is said is recorded."""
    text = to_json(record, indent=indent) + b"\n"
    out.flush()
    if hasattr(out, "buffer"):
        out.buffer.write(text)
    else:  # standard output was replaced by a text
        out.write(text.decode())


def warn(text: str) -> None:
    """Write a line on standard error about something that was done, but not as might be expected."""
    recording = recording_now()
    if recording is not None:
        recording.warnings.append(text)
    elif sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(on_screen(f"rpgres: {harmless(worded(text))}") + "\n")


def on_screen(text: str) -> str:
    """Return a message so that its lines fit the terminal, where a person reads it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return text
    from rpgres.render.lines import Look, line, plain_text

    return plain_text(map(line, text.split("\n")), Look(width=screen_columns())).rstrip("\n")
