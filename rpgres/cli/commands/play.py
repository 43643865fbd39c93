"""`rpgres play`: interactive play at a persistent table; every line typed is a command of `rpgres table`."""

from __future__ import annotations

from rpgres.cli.annotations import RealDice, spread
from rpgres.cli.asking.terminal import listening
from rpgres.cli.tables import AtTable


@spread
def command(real_dice: RealDice = None, *, at: AtTable) -> None:
    """Sit down at the table that is kept here, and type what is done.

    A line says who does what: `mara attack thug with fight`, `mara overcome burglary 3`. Options work too, as `rpgres
    table act` takes them; what is unclear is asked. Other lines are show, log, undo, redo, note, begin, end, set and
    more: `help` lists them. Tab completes, Up brings back earlier lines. Decisions are put to you as they come.
    """
    from rpgres.cli.play.reader import reader_for
    from rpgres.cli.play.seat import open_seat
    from rpgres.cli.play.session import Session

    own = open_seat(at)
    common = ["--table", str(own.path), *(["--as", own.name] if own.name else [])]
    common += [word for folder in at.rulesets or () for word in ("--rulesets", folder)]
    reader = reader_for(own)
    session = Session(own, reader, common, real_dice=real_dice or "")
    with listening(session):
        session.run()
