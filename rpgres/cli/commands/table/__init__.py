"""`rpgres table`: a table that lasts, from what was typed to what is printed. What it is and does: `rpgres.journal`."""

from rpgres.cli.commands.table import changing, acting, answering, ordering, odds, looking  # noqa: I001  # the order of the help
from rpgres.cli.commands.table.common import app

__all__ = ["acting", "answering", "app", "changing", "looking", "odds", "ordering"]
