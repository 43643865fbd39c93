"""Lines typed at a persistent table, as at `rpgres play`: for bots in a chat, where options are not learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rpgres.cli.formats.batches import TextRecord
from rpgres.errors import RpgresError, UsageError

if TYPE_CHECKING:
    from rpgres.library.tables import PersistentTable

WIDTH = 80  # columns of help
FILES = ("orders", "seal", "open", "real")  # what a line at a terminal does with files or dice


def done_by(table: PersistentTable, line: str) -> Any:
    """Return what a line comes to: what is added, or the record of what is looked at.

    Args:
        table: the table, as a seat knows it.
        line: what was typed.

    Raises:
        UsageError: it means nothing here, is unclear, or the table refuses it.
    """
    from rpgres.cli.play.deeds import as_lines

    try:
        return _done(table, line)
    except RpgresError as error:
        error.raw = as_lines(error.raw)
        error.add("")
        raise


def _done(table: PersistentTable, line: str) -> Any:
    from rpgres.cli.options import read_answers
    from rpgres.cli.play.deeds import ADDED, acted, added, answers_of, meant, understood
    from rpgres.cli.play.helping import described, help_lines
    from rpgres.cli.play.room import Room
    from rpgres.cli.render.lines import plain_text
    from rpgres.cli.shell.words import words_of
    from rpgres.journal.commands import check_seat
    from rpgres.library.seated import told

    room = Room(table.path, table.seat, table.folders)
    words = words_of(line)
    match words:
        case ["show"]:
            return table.show()
        case ["log", *last]:
            return table.log(last=_number(last, "log 5"))
        case ["answer", option] | ["answer", "--choose", option]:
            return table.answer(option)
        case ["undo", *number]:
            return table.undo(_number(number, "undo 12"))
        case ["redo"]:
            return table.redo()[-1]
        case ["join", sheet]:
            return table.join(sheet)
        case ["help"]:
            return TextRecord(text=plain_text(help_lines(room, WIDTH, without=FILES)[:-1]))  # but how to leave
        case ["help", name] if name in room.actions:
            return TextRecord(text=described(room, name))
    if words and words[0] in ("answer", "join", *FILES):
        reads = {"answer": "answer OPTION", "join": "join SHEET"}.get(words[0])
        raise UsageError(f"type `{reads}`" if reads else f"`{words[0]}` is not typed here")
    check_seat(room.history, table.seat)
    arguments = understood(room, words) if words else []
    if arguments and arguments[0] in ADDED:
        return told(table, added(room, arguments, answers_of((), (), auto=False)))
    action = meant(room, words)
    if arguments[0] == "odds":
        choose = read_answers(action.spoken.get("choose") or (), option="choose")
        return table.odds(action.action, actor=action.actor, choose=choose, auto=True, **action.inputs)
    return told(table, acted(room, action))


def _number(words: list[str], example: str) -> int | None:
    """Return the number behind a word, None for none."""
    if words and not (len(words) == 1 and words[0].isdecimal()):
        raise UsageError(f"type a number, as in `{example}`")
    return int(words[0]) if words else None
