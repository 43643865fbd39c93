"""Answering what a persistent table asks: openly, sealed, from a file, in advance by skips and by standing orders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from rpgres.cli.annotations import RealDice, argument, option, spread
from rpgres.cli.asking.terminal import is_listening
from rpgres.cli.commands.table import posting
from rpgres.cli.commands.table.common import (
    AnswerOptions,
    app,
    finish_run,
    hand_for,
    run_at,
    say_entry,
    taken_back,
)
from rpgres.cli.output import say_record, warn
from rpgres.cli.tables import TableOptions
from rpgres.engine.deciders import orders_source
from rpgres.errors import FileError, UsageError, called, named
from rpgres.journal import commands
from rpgres.journal.commands import Done
from rpgres.journal.commands.pending import Left, require_own
from rpgres.journal.commitments import SealFile, sealed
from rpgres.journal.elsewhere import asked_in
from rpgres.journal.exchange import read_seal, seal_kept, write_json
from rpgres.journal.forms import SealEntry
from rpgres.journal.lines import has_line
from rpgres.journal.views import orders_record
from rpgres.lines.options import CHOOSE


@app.command("answer")
@spread
def give(
    pasted: Annotated[
        list[str] | None, argument("[OPTION]", help="The option; or a line that a seat sent: rpgres-answer: ...")
    ] = None,
    from_: Annotated[
        str | None,
        option(
            "--from",
            takes="FILE",
            help="Import what seats sent: an answer file, or a text with their lines; - is standard input.",
        ),
    ] = None,
    view: Annotated[str | None, option("--view", takes="FILE", help="Answer the question of a view file.")] = None,
    out: Annotated[str | None, option("--out", takes="FILE", help="Write the answer to this file instead.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="As the host: accept authenticated answers and their dice without confirmation."),
    ] = False,
    *,
    answers: AnswerOptions,
    options: TableOptions,
) -> None:
    """Answer the decision that the table waits for, and go on with the action.

    What is given is for what is rolled after the answer: dice that were rolled stay.

    A player elsewhere, who has only a view (`rpgres table view`), answers it with --view FILE, which checks the answer
    and prints it as a line to send. The host takes it as it stands, or a whole mail with --from -. Its seat, whether
    it is authenticated by the key in the view of that seat, and any dice in it are shown first: at a terminal you
    confirm them, elsewhere --accept does. Of an answer that is not authenticated, --as SEAT confirms the seat.
    """
    source = " ".join(pasted) if pasted else from_
    arguments = answers.arguments(options, is_asked=not answers.choose and source is None)
    if pasted and source and not answers.choose and not has_line(source):  # an option, of what waits
        label = _waiting(view, options)
        arguments["choose"], source = {label: [source.removeprefix(f"{label}=")]}, None
    if view is not None:
        posting.write_answer(view, out, options, choices=arguments["choose"], given=arguments["given"], is_forced=force)
        return
    if out is not None:
        raise UsageError(f"{named('out')} writes the answer to a view: name it with {named('view')} FILE")
    if source is not None:
        if answers.choose or answers.given or (pasted and from_ is not None):
            raise UsageError("what was sent already contains the answer; leave out everything else")
        posting.take_posted(
            posting.read_sent(source, is_line=bool(pasted)), source, options, is_accepted=accept, hand=arguments["hand"]
        )
        return
    try:
        run_at(options, commands.answer, **arguments)
    except Left:  # in `rpgres play` that is no error
        if not is_listening():
            raise


def _waiting(view: str | None, options: TableOptions) -> str:
    """Return the label of the decision that waits for an answer, here or in a view."""
    if view is not None:
        return asked_in(posting.view_in(view, options)).typed
    _, history = options.read()
    return require_own(history, options.who).typed


SealOut = Annotated[
    str | None,
    option(
        "--out",
        takes="FILE",
        help="Write answer and salt to this file, and keep it secret [default: kept for `open` on this computer].",
    ),
]


@app.command("seal")
@spread
def seal(
    choose: Annotated[str | None, option("--choose", takes=CHOOSE.metavar, help="The answer to seal.")] = None,
    out: SealOut = None,
    view: Annotated[
        str | None, option("--view", takes="FILE", help="Seal the answer to a view file, on another computer.")
    ] = None,
    commitment: Annotated[
        str | None, option("--commitment", takes="HASH", help="Enter a commitment that was made on another computer.")
    ] = None,
    *,
    options: TableOptions,
) -> None:
    """Commit a seat to an answer that is shown later: no other seat can know it before, and it cannot be changed.

    The table gets sha256(salt + LABEL=ANSWER), and sees whose it is. `rpgres table open` opens it, and takes no other
    answer. A player elsewhere seals the answer to a view (--view FILE): it is checked, and the commitment is printed as
    a line to send.
    """
    who = options.who
    if (choose is None and out is not None) or (choose is None) == (commitment is None):
        raise UsageError(f"give {named('choose')} LABEL=ANSWER, or a {named('commitment')} from another computer")
    if choose is None:
        if who is None or view is not None:
            raise UsageError(f"name the seat of the commitment: {named('as')} SEAT")
        say_entry(commands.seal(options.find(), commitment or "", seat=who), options)
        return
    label, sign, answer = choose.partition("=")
    if not sign or not label.strip() or not answer.strip():
        raise UsageError(f"{named('choose')} takes LABEL=ANSWER, not {choose!r}")
    if view is None and who is None:
        raise UsageError(
            f"name the seat of the answer: {named('as')} SEAT; without access to the table, use {named('view')} FILE"
        )
    if out is not None and Path(out).exists():
        raise FileError(f"{out}: already exists; nothing was sealed. Name another file", file=out)
    if view is not None:
        posting.seal_elsewhere(view, out, options, label=label.strip(), answer=answer.strip())
        return
    made = sealed(label.strip(), answer.strip(), salt=commands.fresh_salt(), seat=who or "")
    _seal_at(options, made, posting.file_of(made, out))


def _seal_at(options: TableOptions, made: SealFile, file: Path) -> None:
    """Write answer and salt to a file and give the table the commitment."""
    place = options.find()
    path = write_json(file, made)  # first, as a seal of which the salt is lost can never be opened
    try:
        done = commands.seal(place, made.commitment, seat=options.who or "", label=made.label, answer=made.answer)
    except BaseException:
        path.unlink()
        raise
    say_entry(done, options)


@app.command("open")
@spread
def open_(
    from_: Annotated[str | None, option("--from", takes="FILE", help="The file written by `seal`.")] = None,
    choose: Annotated[str | None, option("--choose", takes=CHOOSE.metavar, help="The answer that was sealed.")] = None,
    salt: Annotated[str | None, option("--salt", takes="HEX", help="The salt it was sealed with.")] = None,
    view: Annotated[
        str | None, option("--view", takes="FILE", help="Print the line that opens what was sealed to a view.")
    ] = None,
    elsewhere: Annotated[
        bool, typer.Option("--elsewhere", help="Only print the line that opens it, for the host.")
    ] = False,
    real_dice: RealDice = None,
    *,
    options: TableOptions,
) -> None:
    """Answer with what was sealed, and go on with the action; another answer is refused."""
    who = options.who
    if view is not None or (elsewhere and from_ is not None):
        if from_ is not None:
            posting.open_elsewhere(read_seal(from_), options)
        else:
            log = posting.view_in(view or "", options).log
            posting.open_elsewhere(seal_kept([one.commitment for one in log if isinstance(one, SealEntry)]), options)
        return
    if who is None:
        raise UsageError(f"name the seat of the sealed answer: {named('as')} SEAT")
    if (from_ is not None and choose is not None) or (choose is None) != (salt is None):
        raise UsageError(f"give {named('from')} FILE, or both {named('choose')} LABEL=ANSWER and {named('salt')} HEX")
    if choose is None:
        history = options.read()[1]
        own = [one.public.commitment for one in history.standing if one.kind == "seal" and one.secret.by == who]
        made = read_seal(from_) if from_ is not None else seal_kept(own)
        label, answer, salted = made.label, made.answer, made.salt
    else:
        label, _, answer = (part.strip() for part in (choose or "").partition("="))
        salted = salt or ""
    hand = hand_for(options, real_dice)
    run_at(options, commands.open_seal, seat=who, label=label, text=answer, salt=salted, hand=hand)


@app.command("pass")
@spread
def let_pass(
    label: Annotated[
        str, argument("[LABEL]", help="Labels of the decisions to skip [default: all optional ones].")
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
    real_dice: RealDice = None,
    *,
    options: TableOptions,
) -> None:
    """Skip optional questions in advance, so that the table does not wait for this seat.

    A pending optional decision of the seat is skipped too, and the action goes on. Required decisions are not
    touched. Without --as it is for the seat that is asked now, or, with --until, for all seats.
    """
    hand = hand_for(options, real_dice)
    with taken_back():
        _say_passed(commands.let_pass(options.find(), label, seat=options.who, until=until, hand=hand), label, options)


def _say_passed(done: Done, label: str, options: TableOptions) -> None:
    if label and not commands.may_pass(done.rules, label):
        warn(f"{label!r} is not an optional decision of {done.rules.id}; it is still asked")
    if done.entry.kind == "pass":
        for entry in done.entries:
            say_entry(msgspec.structs.replace(done, entries=(entry,)), options)
        return
    finish_run(done, options)


@app.command("orders")
@spread
def orders(
    deed: Annotated[
        Literal["show", "set", "clear"], typer.Argument(metavar="[show|set|clear]", help="What to do.")
    ] = "show",
    file: Annotated[
        str, argument("[FILE]", help="For set: a TOML file with the orders, - for standard input, or a policy.")
    ] = "",
    whose: Annotated[
        str, option("--for", takes="SEAT", help="The seat, where the host sets or shows its orders.")
    ] = "",
    real_dice: RealDice = None,
    *,
    options: TableOptions,
) -> None:
    """Show, set or clear standing orders: who decides for a seat while its player is away.

    Orders are their owner's alone: only the seat itself (--as) and the host (--for) can see or set them. What they
    decide is marked in the log. A decision of the seat that is pending now is taken by new orders.
    """
    if (deed == "set") != bool(file):
        line = called("table orders set", "FILE", as_="SEAT")
        raise UsageError(f"`set` takes a file, or the name of a policy: {line}; `show` and `clear` take none")
    if deed == "show":
        _show(options, whose)
        return

    source = orders_source(file) if file else None
    hand = hand_for(options, real_dice)
    with taken_back():
        done = commands.set_orders(options.find(), source, seat=options.who, whose=whose, hand=hand)
        if source is not None:
            for found in commands.orders_warnings(done, source, seat=options.who, whose=whose):
                warn(f"{found.severity}: {found.text}")
        finish_run(done, options)


def _show(options: TableOptions, whose: str) -> None:
    from rpgres.render.lines import line
    from rpgres.render.tables import orders_lines

    _, history = options.read()
    who = commands.owner_of(history, options.who, whose) if whose else options.who
    record = orders_record(history, who)
    shown = [one for entry in record.orders for one in orders_lines(entry)] or [line("no standing orders")]
    say_record(record, lambda: shown, as_json=options.as_json)
