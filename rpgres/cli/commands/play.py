"""`rpgres play`: a person sits down at the lasting table; every line typed is a command of `rpgres table`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rpgres.cli.annotations import AsWords, Folders
from rpgres.cli.output import ask, blame, flush, listening, results, say, say_text, trace
from rpgres.cli.render.lines import Line, Piece, line
from rpgres.cli.shells import split_line
from rpgres.errors import UsageError
from rpgres.text.harmless import harmless

if TYPE_CHECKING:
    from rpgres.journal.history import History

SIGN = "> "
INTERRUPTED = 130  # what Typer makes of an interrupt
LEAVE = ("quit", "exit", "q")

# What may be typed beside an action, and what it does.
DEEDS: dict[str, str] = {
    "show": "the table as it is now",
    "log": "all entries (log --last 5)",
    "answer": "answer the pending decision",
    "pass": "skip optional decisions: pass invoke --until scene",
    "orders": "decide in advance: orders set brave.toml; orders show; orders clear",
    "seal": "commit to an answer without showing it: seal --choose declare=... --out sealed.json",
    "open": "reveal a sealed answer: open --from sealed.json",
    "begin": "begin a scene or another period: begin conflict",
    "end": "end the period that began last",
    "undo": "undo the last action, or an entry and everything after it: undo 12",
    "set": "change a value: set characters.mara.counters.fate-points=2",
    "note": "add a note: note The rain stops.",
    "join": "add a character: join --sheet venn",
}


def command(
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="PATH", help="The table [default: the nearest one in this folder or above]."),
    ] = None,
    seat: Annotated[
        str | None, typer.Option("--as", metavar="SEAT", help="Play as this seat [default: the host].")
    ] = None,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Sit down at the table that is kept here, and type what is done.

    A line is an action with its options, as `rpgres table act` takes it, or one of show, log, answer, pass, begin, end,
    undo, set, note, orders, join, help and quit. `mara: attack --skill fight --vs guards:fight` says who acts.
    Decisions are put to you as they come.
    """
    import os

    from rpgres.cli.options import read_folders
    from rpgres.journal.checking import require_whole
    from rpgres.journal.commands import Place, check_seat, rules_of
    from rpgres.journal.files import find_table
    from rpgres.journal.store import read

    path = find_table(table or os.environ.get("RPGRES_TABLE"))
    who = seat or os.environ.get("RPGRES_SEAT") or None
    history = read(path)
    require_whole(path, history)
    check_seat(history, who)
    actions = rules_of(history, folders=Place(path, read_folders(rulesets or ())).folders).file.actions
    common = ["--table", str(path), *(["--as", who] if who else []), *(["--plain"] if plain else [])]
    common += [word for folder in rulesets or () for word in ("--rulesets", folder)]
    summaries = {name: action.summary for name, action in actions.items()}
    with listening():
        _greet(history, plain=plain)
        while (words := _next_line(summaries, plain=plain)) is not None:
            _do(words, summaries, common)


def _greet(history: History, *, plain: bool) -> None:
    title = history.new.public.title or history.new.public.ruleset
    names = ", ".join(history.state.characters) or "nobody"
    told: list[Line] = [line(Piece(title, "title"), f": {names}. Type an action, or `help` or `quit`.")]
    if history.pending is not None:
        told.append(line("A decision is pending: `show` displays it, `answer` answers it."))
    say(told, is_plain=plain)


def _next_line(actions: Mapping[str, str], *, plain: bool) -> list[str] | None:
    """Return the words of the next line that does something; None when the person leaves."""
    while True:
        flush()
        try:
            words = words_of(ask(SIGN).strip())
        except EOFError:
            say_text("\n")
            return None
        except UsageError as error:
            blame(error, as_json=False)
            continue
        if not words or words[0].startswith("#"):
            continue
        if words[0] in LEAVE:
            return None
        if words == ["help"]:
            say(_help_lines(actions), is_plain=plain)
            continue
        return words


def words_of(typed: str) -> list[str]:
    """Return the words of a line as a shell has them; a note is one text, whatever stands in it.

    Raises:
        UsageError: a quote is not closed.
    """
    first, _, rest = typed.partition(" ")
    if first == "note" and rest.strip() and "--" not in rest and not rest.lstrip().startswith(('"', "'")):
        return ["note", rest.strip()]
    try:
        return split_line(typed)
    except ValueError:
        raise UsageError(f"missing closing quote: {harmless(typed)}") from None


def _help_lines(actions: Mapping[str, str]) -> list[Line]:
    width = max(len(name) for name in (*actions, *DEEDS))
    lines = [
        line(
            Piece("Actions", "title"),
            Piece(" (NAME: before an action sets the actor; help ACTION explains an action)", "quiet"),
        )
    ]
    lines += [line(f"  {name:<{width}}  {text}") for name, text in actions.items()]
    lines.append(line(Piece("The table", "title")))
    return [
        *lines,
        *(line(f"  {name:<{width}}  {text}") for name, text in DEEDS.items()),
        line(f"  {'quit':<{width}}  leave"),
    ]


def _do(words: list[str], actions: Mapping[str, str], common: Sequence[str]) -> None:
    """Carry out a line; what goes wrong is told, and the next line is read."""
    try:
        args = arguments(words, actions)
        # What code of others prints is no result; help is, and Typer prints it.
        with redirect_stdout(results() if "--help" in args else sys.stdout):
            code = _table().main(args=[*args, *common], prog_name="rpgres table", standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
    except (KeyboardInterrupt, EOFError):
        say_text("\ninterrupted; `show` displays the current state\n")
    except BaseException as error:  # a line that fails does not end the evening
        if isinstance(error, OSError | SystemExit | GeneratorExit):
            raise
        trace(error)
        blame(error, as_json=False)


def arguments(words: Sequence[str], actions: Mapping[str, str]) -> list[str]:
    """Return a typed line as the arguments of `rpgres table`.

    Args:
        words: the line; `NAME:` in front says who acts.
        actions: the actions there are.

    Raises:
        UsageError: the line begins with nothing that is known.
    """
    first, rest = words[0], list(words[1:])
    if first == "help" and rest:
        return ["act", rest[0], "--help"] if rest[0] in actions else [rest[0], "--help"]
    actor: list[str] = []
    if first.endswith(":") and rest:
        actor, first, rest = ["--actor", first[:-1]], rest[0], rest[1:]
    if first in actions:
        return ["act", first, *rest, *actor]
    if first in DEEDS and not actor:
        return [first, *rest]
    from rpgres.rulesets import unknown

    raise UsageError(unknown("action or command", first, [*actions, *DEEDS, *LEAVE[:1], "help"], of="this table"))


def _table() -> Any:
    from rpgres.cli.root import load_command

    return load_command("table")
