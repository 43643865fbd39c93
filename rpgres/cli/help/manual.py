"""Commands found by their words, as `rpgres help table act` names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    ctx = context_of(root, "rpgres", None)
    for place, word in enumerate(words):
        ctx = context_of(_inside(ctx, word, words[place + 1 :]), word, ctx)
    return ctx


def context_of(command: Any, word: str, parent: Any) -> Any:
    """Return the context of a command below another one.

    Args:
        command: the command.
        word: its name as it is typed.
        parent: the context of the group that has it; None for the root.
    """
    if isinstance(command, LazyGroup):
        command.forget()
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
