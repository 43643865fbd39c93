"""Looking at a persistent table: its state, its log, its verification, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.cli.annotations import argument, option, spread
from rpgres.cli.asking.terminal import is_listening
from rpgres.cli.commands.table.common import app, rules_to_read, state_to_read
from rpgres.cli.commands.table.posting import answer_words, view_in
from rpgres.cli.exits import leave
from rpgres.cli.options import exclusive
from rpgres.cli.output import fits, look, say, say_json, say_record, warn
from rpgres.cli.progress import interrupted, progress
from rpgres.cli.tables import AtTable, TableOptions
from rpgres.engine.views import seats_of
from rpgres.errors import RpgresError, UsageError, named
from rpgres.formats.batches import TextRecord
from rpgres.journal.commands import rules_of, state_at
from rpgres.journal.exchange import read_view, state_in, view_of, write_files, write_json
from rpgres.journal.exporting import misfits
from rpgres.journal.files import folders_of
from rpgres.journal.forms import LogRecord, ViewRecord
from rpgres.journal.verifying import SHORTEST
from rpgres.journal.verifying import verify as check
from rpgres.journal.views import log_record, table_record
from rpgres.render.lines import line
from rpgres.render.tables import character_lines, log_lines, show_lines, verdict_lines
from rpgres.rulesets import Rules, pictured, unknown
from rpgres.text.filenames import file_name

if TYPE_CHECKING:
    from rpgres.journal.commands import Place
    from rpgres.journal.history import History

View = Annotated[str | None, option("--view", takes="FILE", help="Show a view file in place of a table.")]


@app.command("show")
@spread
def show(
    who: Annotated[str, argument("[NAME]", help="Show only this character [default: all].")] = "",
    view: View = None,
    *,
    options: TableOptions,
) -> None:
    """Show the table as it is now, and what it waits for. A player elsewhere reads a view file with --view."""
    if view is not None:
        found = view_in(view, options)
        if options.as_json:
            say_json(found.table)
            return
        rules = rules_to_read(found.table.ruleset, found.table.switches, options.folders)
        say(show_lines(found.table, state_in(view, found), rules.file, answer=answer_words(view, found)))
        return
    place, history = options.read()
    now = state_to_read(place, history)
    record = table_record(history, options.who, now=now)
    if options.as_json:
        say_json(record)
        return
    state, rules = now.seen_by(options.who), _rules_here(place, history)
    pictures = pictured(rules.ruleset, state, is_drawn=look().is_drawn)
    if not fits([text for lines in pictures.values() for text in lines]):
        pictures = pictured(rules.ruleset, state, is_drawn=False)
    if who:
        meant = state.meant(who)
        if meant is None:
            raise UsageError(unknown("character", who, state.characters, of="this table"))
        say(character_lines(state, meant, rules.file))
        return
    say(show_lines(record, state, rules.file, pictures=pictures, is_put=is_listening()))


@app.command("status")
@spread
def status(*, options: TableOptions) -> None:
    """Show in one line who has what, and what the table waits for."""
    from rpgres.lines.seat import Seat
    from rpgres.lines.status import status as status_of

    place = options.read()[0]
    record = TextRecord(text=status_of(Seat(place.path, options.who, place.folders)))
    say_record(record, lambda: [line(record.text)], as_json=options.as_json)


@app.command("log")
@spread
def log(
    times: Annotated[bool, typer.Option("--times", help="Show the time of each entry.")] = False,
    last: Annotated[int | None, option("--last", takes="N", help="Show only the last N entries.", min=1)] = None,
    view: View = None,
    *,
    options: TableOptions,
) -> None:
    """Show everything that was done at the table, in order; undone entries are marked."""
    if view is not None:
        found = view_in(view, options)
        its = found.table
        record = LogRecord(
            version=its.version,
            ruleset=its.ruleset,
            title=its.title,
            seat=found.seat,
            entries=found.log[-last:] if last is not None else found.log,
        )
        rules = None if options.as_json else rules_to_read(its.ruleset, its.switches, options.folders)
    else:
        place, history = options.read()
        record = log_record(history, options.who, last=last)
        rules = None if options.as_json else _rules_here(place, history)
    if rules is None:
        say_json(record)
    else:
        say(log_lines(record.entries, rules.file, is_timed=times))


def _rules_here(place: Place, history: History) -> Rules:
    new = history.new
    return rules_to_read(new.public.ruleset, new.public.switches, folders_of(history, place.folders))


@app.command("verify")
@spread
def verify(
    head: Annotated[str, option("--head", takes="HASH", help="A hash you noted earlier, or its first digits.")] = "",
    *,
    options: TableOptions,
) -> None:
    """Check that the journal is what was played: its chain of hashes and, after `reveal`, every roll and result.

    The exit code is 0 when it is in order, 20 when the rolls cannot be checked yet as the seed is secret, 21 when it
    was tampered with or has no entry of a noted hash, 22 when the rules have changed since.
    """
    if head and (len(head) < SHORTEST or any(char not in "0123456789abcdefABCDEF" for char in head)):
        raise UsageError(
            f"{named('head')} takes the hash of an entry, or its first {SHORTEST} digits or more, not {head!r}"
        )
    place = options.find()
    with progress("verifying", units="entries") as show:
        verdict = check(place.path, head=head, folders=place.folders)
    say_record(verdict, lambda: verdict_lines(verdict), as_json=options.as_json)
    leave(interrupted("the rest was not checked") if show.is_stopped else verdict.exit)


@app.command("view")
@spread
def view(
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE", help="Write the view to this file; - is standard output. With --all: a folder."
        ),
    ],
    every: Annotated[
        bool, typer.Option("--all", help="Write the view of every seat, as SEAT.view.json; older ones are replaced.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    *,
    at: AtTable,
) -> None:
    """Write all that a seat may see into a file, for a player elsewhere: the table, the log, what is asked.

    The player reads it with `rpgres table show --view FILE`, which says how to answer; the host takes the
    line that comes back with `rpgres table answer`.
    """
    if every and at.seat is not None:
        raise exclusive("as", "all", "one writes a seat's view, the other every seat's")
    who = None if every else at.who
    if (who is None) != every or (every and out == "-"):
        raise UsageError(
            f"name the seat: {named('as')} SEAT; or write every seat's view into a folder: "
            f"{named('all')} {named('out')} DIR"
        )
    place, history = at.read()
    now = state_at(history, folders=place.folders)
    if out == "-":
        say_json(view_of(history, place.path, seat=who or "", now=now))
        return
    for one, path in _view_files(history, who, Path(out)).items():
        record = view_of(history, place.path, seat=one, now=now)
        write_json(path, record, is_forced=force or (every and _is_renewed(path, record)))
        asked = "; it waits for an answer" if every and answer_words("", record) else ""
        say([line(f"{path}: written; it contains only what {one} may see{asked}")])


def _is_renewed(path: Path, record: ViewRecord) -> bool:
    """Tell whether a file is an older view of the same seat of the same table, so that nothing is lost with it."""
    try:
        there = read_view(str(path))
    except RpgresError:
        return False
    return there.seat == record.seat and there.chain[:1] == record.chain[:1]


def _view_files(history: History, seat: str | None, out: Path) -> dict[str, Path]:
    """Return the files of views by seat: the one that was named, or every seat's in a folder."""
    if seat is not None:
        return {seat: out}
    names: dict[str, str] = {}
    for one in seats_of(history.state):
        names[one] = file_name(one, ending=".view.json", taken=names.values())
    return {one: out / name for one, name in names.items()}


@app.command("export")
@spread
def export(
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    *,
    at: AtTable,
) -> None:
    """Write the sheets as they are now, an account of everything that was done, and a table of all rolls.

    The account is Markdown (account.md), one HTML page (account.html), and a log in Lonelog notation
    (journal.log.md), with a chapter for each scene. rolls.csv has a row for each roll and card: entry, at, who, action,
    label, kind, dice, faces, value, total, opposition, margin, outcome, source (seed or given), place (in the seed's
    numbers), stands (yes, undone or failed). What was undone and done again stands there twice, once as undone.

    With --as SEAT, what the seat may not know of is in none of them. What a sheet of the ruleset does not take, such as
    a number past its bounds, is written all the same, with a note above it and on standard error.
    """
    from rpgres.render.accounts.tables import table_files

    place, history = at.read()
    rules = rules_of(history, folders=place.folders)
    files = table_files(history, rules, seat=at.who, now=state_at(history, folders=place.folders))
    for path in write_files(Path(out), files, is_forced=force):
        say([line(f"{path}: written")])
    for name, text in files.items():
        for fault in misfits(rules, str(Path(out) / name), text) if name.startswith("sheets/") else ():
            warn(fault)
