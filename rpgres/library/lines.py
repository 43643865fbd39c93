"""Lines typed at a persistent table, as at `rpgres play`: for bots in a chat, where options are not learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rpgres.errors import RpgresError, UsageError
from rpgres.formats.batches import TextRecord

if TYPE_CHECKING:
    from rpgres.engine.players import Question, View
    from rpgres.library.tables import PersistentTable
    from rpgres.lines.seat import Seat
    from rpgres.render.lines import Line

WIDTH = 80  # columns of help
FILES = ("orders", "seal", "open", "real")  # what a line at a terminal does with files or dice


def done_by(table: PersistentTable, line: str, given: dict[str, list[str]]) -> Any:
    """Return the result of a line: the new entry, or the record of what is shown.

    Args:
        table: the table, as a seat knows it.
        line: what was typed.
        given: results of real dice, by label, beside those of the line.

    Raises:
        UsageError: it means nothing here, is unclear, or the table refuses it.
    """
    from rpgres.lines.acting import AS_LINES

    try:
        return _done(table, line, given)
    except RpgresError as error:
        error.wording = AS_LINES
        raise


def _done(table: PersistentTable, line: str, given: dict[str, list[str]]) -> Any:
    from rpgres.engine.players import NO
    from rpgres.journal.commands import sheets_to_name
    from rpgres.library.seated import place_of
    from rpgres.lines.helping import described, help_lines
    from rpgres.lines.seat import LEAVE, TABLE_COMMANDS, Seat
    from rpgres.lines.status import status
    from rpgres.lines.words import words_of
    from rpgres.render.lines import plain_text

    seat = Seat(table.path, table.seat, table.folders)
    words = words_of(line)
    plain, rolled = _without_given(words)
    if plain and seat.can_answer:
        typed = " ".join(plain) if rolled else line.strip()
        if (found := _at_question(table, seat, plain, typed, rolled | given)) is not None:
            return found
    words = seat.typed(words) if words else words
    match words:
        case ["show", name]:
            return TextRecord(text=plain_text(_shown(table, seat, name)))
        case ["status"]:
            return TextRecord(text=status(seat))
        case ["answer"] if seat.can_answer:
            return table.waiting()
        case [number] if number.isdecimal() or number == NO:
            return table.answer(number, given=given)
        case ["odds" | "why" | "?" as aside]:
            raise UsageError(f"`{aside}` alone is typed at a question of yours, and none waits")
        case [word] if word in LEAVE:
            raise UsageError(f"`{word}` leaves `rpgres play`; here nothing is left")
        case ["show"]:
            return table.show()
        case ["log", "--last", *last] | ["log", *last]:
            return table.log(last=_number(last, "log 5"))
        case ["answer", *_] if len(plain) == (3 if "--choose" in plain[1:2] else 2):
            return table.answer(plain[-1], given=rolled | given)
        case ["undo", *number]:
            return table.undo(_number(number, "undo 12"))
        case ["redo"]:
            return table.redo()[-1]
        case ["join"]:
            raise UsageError(sheets_to_name(place_of(table)))
        case ["join", sheet]:
            return table.join(sheet)
        case ["help"]:
            return TextRecord(text=plain_text(help_lines(seat, WIDTH, without=FILES)[:-1]))  # but how to leave
        case ["help", name] if name in seat.actions:
            return TextRecord(text=described(seat.rules, name))
        case ["help", name] if name in TABLE_COMMANDS and name not in FILES:
            return TextRecord(text=f"{name}: {seat.told()[name]}\n")
        case ["help", *topic]:
            raise UsageError(f"there is no help on {' '.join(topic)!r}; `help` lists what is typed here")
    if words and words[0] in ("answer", "join", *FILES):
        reads = {"answer": "answer OPTION", "join": "join SHEET"}.get(words[0])
        raise UsageError(f"type `{reads}`" if reads else f"`{words[0]}` is not typed here")
    return _acted(table, seat, words, given)


def _without_given(words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return a line without the results of real dice that it has as `--given LABEL=FACES`, and these."""
    from rpgres.lines.fitting import typed_apart
    from rpgres.lines.options import read_answers

    bare, spans = typed_apart(words, {"--given": True})
    typed = [(words[start].partition("="), words[start + 1 : end]) for start, end in spans]
    rolled = [value or "".join(behind) for (name, _, value), behind in typed if name == "--given"]
    return [*bare.values()] if len(rolled) == len(spans) else words, read_answers(rolled, option="given")


def _acted(table: PersistentTable, seat: Seat, words: list[str], given: dict[str, list[str]]) -> Any:
    """Return the result of a line that acts or adds something, by names and values as people type them."""
    from rpgres.journal.commands import check_seat
    from rpgres.library.calls import roll
    from rpgres.library.seated import result_of
    from rpgres.lines.acting import ADDED, add_entry, as_arguments, resolve, typed_action
    from rpgres.lines.options import answers_of, read_answers

    check_seat(seat.history, table.seat)
    arguments = as_arguments(seat, words) if words else []
    if arguments and arguments[0] in ADDED:
        return result_of(table, add_entry(seat, arguments, {**answers_of((), (), auto=False), "given": given}))
    if arguments and arguments[0] == "roll":  # dice that are no matter of the table
        return roll(" ".join(arguments[1:]))
    action = typed_action(seat, words)
    if arguments[0] == "odds":
        choose = read_answers(action.options.get("choose") or (), option="choose")
        return table.odds(action.action, actor=action.actor, choose=choose, auto=True, **action.inputs)
    rolled = [f"{label}={value}" for label, values in given.items() for value in values]
    return result_of(table, resolve(seat, action, given=rolled))


def _at_question(table: PersistentTable, seat: Seat, words: list[str], typed: str, given: dict[str, list[str]]) -> Any:
    """Return what a line does at the question that waits for the seat; None where it is another line."""
    from rpgres.engine.decisions import refused_by
    from rpgres.engine.players import Answer
    from rpgres.engine.stops import NeedsAnswer
    from rpgres.journal.commands import prepared_for, rules_of
    from rpgres.journal.commands.running import run_on
    from rpgres.lines.questions import ODDS, WHY, matching, odds_aside, why_aside
    from rpgres.render.lines import plain_text
    from rpgres.render.questions import LIST, question_lines
    from rpgres.render.words import listed

    met: list[tuple[Question, str]] = []

    def aside(view: View, question: Question) -> list[Line]:
        if words == [LIST]:
            return question_lines(question, has_enter=False)
        prepared = prepared_for(rules, seat.history, seat=view.seat)
        shown = odds_aside(prepared, view, question, has_enter=False) if words == [ODDS] else None
        return why_aside(prepared, question) if shown is None else shown

    def ask(view: View, question: Question) -> None:
        text = ""
        if met or table.seat not in (None, view.seat):
            raise NeedsAnswer(question)
        if words in ([LIST], [ODDS], [WHY]) and typed not in [option.name for option in question.offered]:
            text = plain_text(aside(view, question))
        met.append((question, text))
        raise NeedsAnswer(question)

    rules = rules_of(seat.history, folders=table.folders)
    run_on(rules, seat.history, ask)
    if not met:
        return None
    question, text = met[0]
    if text:
        return TextRecord(text=text)
    typed = typed.removeprefix("answer ").strip()
    found = matching(question, typed)
    if len(found) == 1:
        return table.answer(found[0], given=given)
    if found and not seat.is_line(words):
        raise UsageError(f"{typed!r} could be {listed(found)}")
    if typed.isdecimal():
        raise UsageError(f"{typed!r} is not offered; `?` lists the options")
    if question.reads is not None and (not seat.is_line(words) or refused_by(question, Answer(typed, "")) is None):
        return table.answer(typed, given=given)
    return None


def _shown(table: PersistentTable, seat: Seat, name: str) -> list[Line]:
    """Return one character of the table, as the seat may know it."""
    from rpgres.journal.commands import state_at
    from rpgres.render.tables import character_lines
    from rpgres.rulesets import unknown

    state = state_at(seat.history, folders=table.folders).seen_by(table.seat)
    meant = state.meant(name)
    if meant is None:
        raise UsageError(unknown("character", name, state.characters, of="this table"))
    return character_lines(state, meant, seat.rules.file)


def _number(words: list[str], example: str) -> int | None:
    """Return the number behind a word, None for none."""
    if words and not (len(words) == 1 and words[0].isdecimal()):
        raise UsageError(f"type a number, as in `{example}`")
    return int(words[0]) if words else None
