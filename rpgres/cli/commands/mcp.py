"""`rpgres mcp`: a seat at a table for a language model, by the Model Context Protocol. See `rpgres.cli.mcp`."""

from __future__ import annotations

from typing import Annotated

from rpgres.cli.annotations import Folders, option
from rpgres.cli.tables import AtTable, Table

INSTALL = "pip install 'rpgres[mcp]'"


def command(
    table: Table = None,
    seat: Annotated[
        str | None,
        option("--as", takes="SEAT", help="The seat: gm, or a character's name [required; env: RPGRES_SEAT]."),
    ] = None,
    rulesets: Folders = None,
) -> None:
    """Give a language model a seat at the table: a server of the Model Context Protocol on standard input and output.

    A program that talks to language models starts it. The model then acts, answers, looks, computes odds and looks up
    rules by tools, as the seat, and sees what the seat may see; nothing it says changes seat or table. It needs the
    package mcp: pip install 'rpgres[mcp]'. `rpgres help assistant` explains how a game master uses it.
    """
    import sys

    from rpgres.cli.play.seat import open_seat
    from rpgres.cli.streams import results
    from rpgres.errors import PluginError, UsageError, named

    at = AtTable(seat, table, rulesets)
    if at.who is None:
        raise UsageError(f"name the seat of the model: {named('as')} gm, or {named('as')} and a character's name")
    own = open_seat(at)
    try:
        from rpgres.cli.mcp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise PluginError(f"this needs the package mcp, version 2 or later: {INSTALL}") from None
    sys.stdout = results()  # the server takes it for the protocol, and has all else printed to standard error
    serve(own)
