"""Answering what a lasting table waits for: openly, sealed, from a file, or by letting optional moments pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from rpgres.cli import options as opt
from rpgres.cli.annotations import spread
from rpgres.cli.commands.table.common import AnswerOptions, TableOptions, app, finish_run, say_entry, taken_back
from rpgres.cli.output import can_prompt, say, warn
from rpgres.errors import FileError, UsageError

if TYPE_CHECKING:
    from rpgres.journal.commitments import SealFile
    from rpgres.journal.forms import AnswerFile


@app.command("answer")
@spread
def give(
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="Import an answer that a seat wrote to a file.", show_default=False
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            "--view", metavar="FILE", help="Answer the question of a view file; needs --out.", show_default=False
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the answer to this file.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept the seat and the dice that the file states, without confirmation.")
    ] = False,
    *,
    answers: AnswerOptions,
    options: TableOptions,
) -> None:
    """Answer the decision that the table waits for, and go on with the action.

    What is given is for what is rolled after the answer: dice that were rolled stay.

    A player elsewhere, who has only a view (`rpgres table view`), writes the answer to a file with --view and --out,
    and the host imports it with --from. Its seat and any dice in it are shown first: at a terminal you confirm them,
    elsewhere --accept does; --as SEAT names the seat.
    """
    from rpgres.journal.commands import answer as hand_in

    arguments = answers.arguments(options, is_asked=not answers.choose and from_ is None)
    if view is not None or out is not None:
        _write_answer(view, out, arguments["choose"], arguments["given"], is_forced=force)
        return
    if from_ is not None:
        if answers.choose or answers.given:
            raise UsageError("--from already contains the answer; leave out --choose and --given")
        answer = _answer_in(from_, options.who)
        accepted = _take(from_, answer, is_named=options.who is not None, is_accepted=accept)
        arguments |= {
            "seat": answer.seat,
            "choose": _listed(answer.choose),
            "given": _listed(answer.given),
            "at": answer.entry,
            "accepted": accepted,
        }
    with taken_back():
        finish_run(hand_in(options.find(), **arguments), options)


def _write_answer(
    view: str | None,
    out: str | None,
    choices: dict[str, list[str]],
    given: dict[str, list[str]],
    *,
    is_forced: bool,
) -> None:
    from rpgres.cli.render.lines import line
    from rpgres.journal.exchange import answer_for, read_view, write_json

    if view is None or out is None:
        raise UsageError("answering from a view needs both --view FILE and --out FILE")
    if not choices:
        raise UsageError("choose an option: --choose LABEL=OPTION")
    path = write_json(Path(out), answer_for(read_view(view), choose=choices, given=given), is_forced=is_forced)
    say([line(f"{path}: written; the host imports it with: rpgres table answer --from {path}")])


def _take(file: str, answer: AnswerFile, *, is_named: bool, is_accepted: bool) -> str:
    """Return what of an answer file the host has been shown and takes.

    Raises:
        UsageError: the host does not take it, or was not asked and has not said so beforehand.
    """
    parts, dice = (
        [f"{label}={value}" for label, values in _listed(part).items() for value in values]
        for part in (answer.choose, answer.given)
    )
    message = f"{answer.seat}: {', '.join(parts)}" + (f"; given: {', '.join(dice)}" if dice else "")
    if is_accepted or (is_named and not dice):
        return message
    if not can_prompt():
        what = "states its seat" + (" and the dice rolled" if dice else "")
        named = "" if dice else f", or --as {answer.seat}"
        raise UsageError(f"{file} {what} ({message}): --accept confirms it{named}")
    from rpgres.cli.output import ask, flush, say_text
    from rpgres.text.harmless import in_line

    say_text(f"{in_line(file)} says, and it becomes what was answered: {in_line(message)}\n")
    flush()
    try:
        typed = ask("Accept it? [y/N] ")
    except EOFError:
        typed = ""
    if typed.strip().lower() not in ("y", "yes"):
        raise UsageError(f"{file} was not accepted; nothing was written")
    return message


def _answer_in(file: str, seat: str | None) -> AnswerFile:
    from rpgres.journal.exchange import read_answer

    found = read_answer(file)
    if seat not in (None, found.seat):
        raise UsageError(f"{file} is an answer of {found.seat}, not of {seat}")
    return found


def _listed(answers: Mapping[str, str | list[str]]) -> dict[str, list[str]]:
    return {label: [value] if isinstance(value, str) else value for label, value in answers.items()}


@app.command("seal")
@spread
def seal(
    choose: Annotated[
        str | None,
        typer.Option("--choose", metavar=opt.CHOOSE.metavar, help="The answer to seal.", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Write answer and salt to this file; keep it secret.", show_default=False
        ),
    ] = None,
    elsewhere: Annotated[
        bool, typer.Option("--elsewhere", help="Only write the file; the host enters the commitment.")
    ] = False,
    commitment: Annotated[
        str | None,
        typer.Option(
            "--commitment", metavar="HASH", help="Enter a commitment that was made elsewhere.", show_default=False
        ),
    ] = None,
    *,
    options: TableOptions,
) -> None:
    """Commit a seat to an answer that is told later, so that nobody can know it before and nobody can change it.

    The table gets sha256(salt + LABEL=ANSWER), and sees whose it is. `rpgres table open` opens it, and takes no other
    answer.
    """
    from rpgres.cli.render.lines import line
    from rpgres.journal.commands import fresh_salt
    from rpgres.journal.commands import seal as hand_in
    from rpgres.journal.commitments import sealed
    from rpgres.journal.exchange import write_json

    who = options.who
    if (choose is None) != (out is None) or (choose is None) == (commitment is None):
        raise UsageError("give --choose LABEL=ANSWER and --out FILE, or a --commitment that was made elsewhere")
    if choose is None or out is None:
        if who is None or elsewhere:
            raise UsageError("name the seat of the commitment: --as SEAT")
        say_entry(hand_in(options.find(), commitment or "", seat=who), options)
        return
    label, sign, answer = choose.partition("=")
    if not sign or not label.strip() or not answer.strip():
        raise UsageError(f"--choose takes LABEL=ANSWER, not {choose!r}")
    made = sealed(label.strip(), answer.strip(), salt=fresh_salt())
    if not elsewhere and who is None:
        raise UsageError("name the seat of the answer: --as SEAT; without access to the table, use --elsewhere")
    if Path(out).exists():
        raise FileError(f"{out}: already exists; nothing was sealed. Name another file", file=out)
    if elsewhere:
        write_json(Path(out), made)
        say([line(f"{out}: written; send the host this commitment: {made.commitment}")])
        return
    _seal_at(options, made, Path(out))


def _seal_at(options: TableOptions, made: SealFile, file: Path) -> None:
    """Write answer and salt to a file and give the table the commitment."""
    from rpgres.journal.commands import seal as hand_in
    from rpgres.journal.exchange import write_json

    place = options.find()
    path = write_json(file, made)  # first, as a seal of which the salt is lost can never be opened
    try:
        done = hand_in(place, made.commitment, seat=options.who or "", label=made.label, answer=made.answer)
    except BaseException:
        path.unlink()
        raise
    say_entry(done, options)


@app.command("open")
@spread
def open_(
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="The file written by `seal`.", show_default=False),
    ] = None,
    choose: Annotated[
        str | None,
        typer.Option("--choose", metavar=opt.CHOOSE.metavar, help="The answer that was sealed.", show_default=False),
    ] = None,
    salt: Annotated[
        str | None, typer.Option("--salt", metavar="HEX", help="The salt it was sealed with.", show_default=False)
    ] = None,
    *,
    options: TableOptions,
) -> None:
    """Answer with what was sealed, and go on with the action; another answer is refused."""
    from rpgres.journal.commands import open_seal
    from rpgres.journal.exchange import read_seal

    who = options.who
    if who is None:
        raise UsageError("name the seat of the sealed answer: --as SEAT")
    if (from_ is None) == (choose is None) or (choose is None) != (salt is None):
        raise UsageError("give --from FILE, or both --choose LABEL=ANSWER and --salt HEX")
    if from_ is not None:
        made = read_seal(from_)
        label, answer, salted = made.label, made.answer, made.salt
    else:
        label, _, answer = (part.strip() for part in (choose or "").partition("="))
        salted = salt or ""
    done = open_seal(options.find(), seat=who, label=label, text=answer, salt=salted)
    finish_run(done, options)


@app.command("pass")
@spread
def let_pass(
    label: Annotated[
        str,
        typer.Argument(
            metavar="[LABEL]", help="Labels of the decisions to skip [default: all optional ones].", show_default=False
        ),
    ] = "",
    until: Annotated[
        str,
        typer.Option(
            "--until",
            metavar="SPAN",
            help="How long: action (the current one, or else the next), a period such as scene (until it begins or "
            "ends), or always.",
        ),
    ] = "action",
    *,
    options: TableOptions,
) -> None:
    """Let optional moments go by in advance, so that nobody waits for this seat.

    Where such a moment of the seat is waited for now, it passes, and the action goes on. Decisions that have to be
    taken are not touched. Without --as it is for the seat that is asked now, or, with --until, for all seats.
    """
    from rpgres.journal.commands import let_pass as let
    from rpgres.journal.commands import may_pass

    done = let(options.find(), label, seat=options.who, until=until)
    if label and not may_pass(done.rules, label):
        warn(f"{label!r} is not an optional decision of {done.rules.id}; it is still asked")
    if done.entry.kind == "pass":
        for entry in done.entries:
            say_entry(msgspec.structs.replace(done, entries=(entry,)), options)
        return
    finish_run(done, options)
