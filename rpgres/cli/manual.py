"""The commands as their help describes them: found by their words, and listed with their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer
import typer.core

from rpgres.cli.lazy import Command, LazyGroup
from rpgres.errors import UsageError


def command_at(root: Command, words: Sequence[str]) -> Any:
    """Return the context of the command that these words name, whose `get_help` is its help.

    Args:
        root: the command of everything.
        words: as typed behind `rpgres`: `table act overcome`.

    Raises:
        UsageError: there is no such command.
    """
    ctx = _context(root, "rpgres", None)
    for place, word in enumerate(words):
        ctx = _context(_inside(ctx, word, words[place + 1 :]), word, ctx)
    return ctx


def _context(command: Command, word: str, parent: Any) -> Any:
    return command.context_class(command, info_name=word, parent=parent, **command.context_settings)


def _inside(ctx: Any, word: str, args: Sequence[str]) -> Command:
    group: Command = ctx.command
    if isinstance(group, LazyGroup):
        return group.load(word, args)
    commands: Mapping[str, Any] = group.commands if isinstance(group, typer.core.TyperGroup) else {}
    if word not in commands:
        from rpgres.rulesets import unknown

        raise UsageError(unknown("command", word, commands, of=ctx.command_path))
    found: Command = commands[word]
    return found
