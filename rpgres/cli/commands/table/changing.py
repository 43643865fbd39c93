"""Changing a persistent table without an action: new, join, set, undo, note, reveal the seed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.cli import options as opt
from rpgres.cli.annotations import AsJson, Folders, Seed, Switches, argument, complete_rulesets, option, spread
from rpgres.cli.commands.table.common import app, say_entry
from rpgres.cli.output import READER, say, say_json, warn
from rpgres.cli.settings import active
from rpgres.cli.tables import Table, TableOptions
from rpgres.errors import UsageError, called
from rpgres.journal import commands
from rpgres.journal.commands import Done, Place
from rpgres.journal.files import place_for
from rpgres.journal.views import entry_record, names_of

if TYPE_CHECKING:
    from pathlib import Path


@app.command("new")
def new(
    named: Annotated[str | None, argument("[RULESET]", help="The ruleset.", autocompletion=complete_rulesets)] = None,
    ruleset: Annotated[
        str | None, option("--ruleset", takes="ID", help="The same.", autocompletion=complete_rulesets)
    ] = None,
    sheet: Annotated[
        list[str] | None, option("--sheet", takes="FILE", help="A character sheet; repeat for more characters.")
    ] = None,
    switch: Switches = None,
    seed: Seed = None,
    name: Annotated[str, option("--title", takes="TEXT", help="The title of the table.")] = "",
    trust: Annotated[
        str,
        option(
            "--trust",
            takes="players|gm",
            help=(
                "Whether a number that a player types and no sheet has counts at once, or after the game master "
                "confirmed it [default: as the ruleset says]."
            ),
        ),
    ] = "",
    dice: Annotated[
        str,
        option(
            "--dice",
            takes="seeded|real",
            help="Whether a language model at a seat may give results of real dice and cards [default: seeded].",
        ),
    ] = "",
    no_deal: Annotated[
        bool, typer.Option("--no-deal", help="Deal no hands; for real cards, which the actions name.")
    ] = False,
    table: Table = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Begin a table, in .rpgres/table.db here or at --table PATH.

    What is printed commits the table to its seed without showing it: sha256 of a salt and the seed, which are shown by
    `rpgres table reveal`.
    """
    path = place_for(table or os.environ.get("RPGRES_TABLE"))
    done = commands.begin_table(
        Place(path, opt.read_folders(rulesets)),
        ruleset=_one_of(named, ruleset),
        sheets=sheet or (),
        switches=opt.read_switches(switch),
        seed=seed,
        title=name,
        trust=trust,
        dice=dice,
        deals=not no_deal,
    )
    _say_new(done, path, as_json=as_json)


def _one_of(named: str | None, ruleset: str | None) -> str:
    """Return the ruleset that a line names, in one way or the other, or the settings do."""
    if named and ruleset and named != ruleset:
        raise UsageError(f"name one ruleset: {named} or {ruleset}")
    found = named or ruleset or active().settings.ruleset
    if not found:
        raise UsageError(
            f"name the ruleset: `{called('table new', 'fate', sheet='mara')}`; `{called('ruleset list')}` has them all"
        )
    return found


def _say_new(done: Done, path: Path, *, as_json: bool) -> None:
    READER.entry = done.entry.number
    if as_json:
        say_json(entry_record(done.history, done.entry, None))
        return
    from rpgres.render.lines import Piece, line
    from rpgres.render.tables import short_words

    names = ", ".join(done.history.state.characters) or "nobody yet"
    commitment = done.entry.public.commitment
    say([line(f"{path}: a table of {done.rules.file.title}; at it: {names}")])
    if done.entry.secret.short:
        warn(short_words(done.entry.secret.short))
    say([line(Piece(f"commitment to the seed: {commitment}", "quiet"))])


@app.command("undo")
@spread
def undo(
    number: Annotated[
        int | None,
        argument(
            "[NUMBER]",
            help="The first entry to undo [default: the last action, or the last answer if one more is awaited].",
        ),
    ] = None,
    *,
    options: TableOptions,
) -> None:
    """Take back what was done from an entry on.

    The journal keeps it. The same question asked again gets the same dice, and the entry says whether a roll or a
    secret that a player has seen is undone. Notes and passes stay, but for one whose number is given.
    """
    say_entry(commands.undo(options.find(), number, seat=options.who), options)


@app.command("redo")
@spread
def redo(*, options: TableOptions) -> None:
    """Do again what the last undo took back, as long as nothing else was done since.

    Every die stays as it fell. Several undos are redone one after the other.
    """
    from rpgres.render.tables import redone_line

    done = commands.redo(options.find(), seat=options.who)
    if options.as_json:
        for entry in done.entries:
            say_json(entry_record(done.history, entry, options.who))
        return
    names = names_of(done.history, done.entries, options.who)
    say([redone_line(done.entries[0].number, names)])


@app.command("set")
@spread
def set_(
    assignment: Annotated[
        str,
        typer.Argument(
            metavar="PATH=VALUE",
            help="Such as mara.fate-points=2, tags.On Fire=aspect, tags.on-fire=absent, tracks.alarm=4, or by the "
            "full path: characters.mara.counters.fate-points=2.",
        ),
    ],
    to: Annotated[
        list[str] | None,
        option("--to", takes="SEAT", help="The seats that may see this tag, track or thing from now on."),
    ] = None,
    *,
    options: TableOptions,
) -> None:
    """Correct or award something: put a value at a place of the table.

    The present value says which values fit; `rpgres table show --json` shows all places under `state`.
    """
    path, separator, text = assignment.partition("=")
    if not separator or not path.strip():
        raise UsageError(f"give PATH=VALUE, such as mara.fate-points=2, not {assignment!r}")
    done = commands.set_value(options.find(), path.strip(), text.strip(), seat=options.who, to=to or ())
    say_entry(done, options)
    for fault in commands.left_wrong(done):
        warn(fault)


@app.command("note")
@spread
def note(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text of the note.")],
    to: Annotated[list[str] | None, option("--to", takes="SEAT", help="Who may read it [default: everybody].")] = None,
    *,
    options: TableOptions,
) -> None:
    """Write something down in the journal."""
    done = commands.write_note(options.find(), text, seat=options.who, to=to or ())
    say_entry(done, options)


@app.command("join")
@spread
def join(
    named: Annotated[str | None, argument("[SHEET]", help="The character sheet to add: a file, or its name.")] = None,
    sheet: Annotated[str | None, option("--sheet", takes="FILE", help="The same.")] = None,
    *,
    options: TableOptions,
) -> None:
    """Add a character with its sheet, or replace the sheet of one.

    A seat replaces its own sheet alone; the host and the game master any.
    """
    if named and sheet and named != sheet:
        raise UsageError(f"name one sheet: {named} or {sheet}")
    place, found = options.find(), named or sheet
    if not found:
        raise UsageError(commands.sheets_to_name(place))
    say_entry(commands.join(place, found, seat=options.who), options)


@app.command("reveal")
@spread
def reveal(*, options: TableOptions) -> None:
    """Show the seed and its salt, so that every roll can be checked. The table rolls no more."""
    say_entry(commands.reveal(options.find(), seat=options.who), options)
