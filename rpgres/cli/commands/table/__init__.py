"""`rpgres table`: the commands of a persistent table. See `rpgres.journal`."""

from rpgres.cli.commands.table import changing, acting, answering, looking  # noqa: I001  # the order of the help
from rpgres.cli.commands.table.common import app

__all__ = ["acting", "answering", "app", "changing", "looking"]
