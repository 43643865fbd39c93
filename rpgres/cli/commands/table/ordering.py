"""`rpgres table orders`: standing orders of a seat, given, shown and taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rpgres.cli.annotations import RealDice, argument, option, spread
from rpgres.cli.commands.table.common import TableOptions, app, finish_run, hand_for, say_entry, taken_back
from rpgres.cli.output import say, say_json, warn
from rpgres.errors import UsageError, called
from rpgres.journal.commands import orders_warnings, owner_of, set_orders
from rpgres.journal.views import orders_record
from rpgres.toml.reading import read_source


@app.command("orders")
@spread
def orders(
    deed: Annotated[
        Literal["show", "set", "clear"], typer.Argument(metavar="[show|set|clear]", help="What to do.")
    ] = "show",
    file: Annotated[
        str, argument("[FILE]", help="For set: a TOML file with the orders, or - for standard input.")
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
        raise UsageError(
            f"`set` takes a file: {called('table orders set', 'FILE', as_='SEAT')}; `show` and `clear` take none"
        )
    if deed == "show":
        _show(options, whose)
        return

    source = read_source(Path(file)) if file else None
    hand = hand_for(options, real_dice)
    with taken_back():
        done = set_orders(options.find(), source, seat=options.who, whose=whose, hand=hand)
        for found in orders_warnings(done, source, seat=options.who, whose=whose) if source is not None else ():
            warn(f"{found.severity}: {found.text}")
        if done.entry.kind == "orders":
            say_entry(done, options)
            return
        finish_run(done, options)


def _show(options: TableOptions, whose: str) -> None:
    from rpgres.render.lines import line
    from rpgres.render.tables import orders_lines

    _, history = options.read()
    who = owner_of(history, options.who, whose) if whose else options.who
    record = orders_record(history, who)
    if options.as_json:
        say_json(record)
        return
    shown = [one for entry in record.orders for one in orders_lines(entry)]
    say(shown or [line("no standing orders")])
