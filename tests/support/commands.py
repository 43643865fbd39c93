"""The commands as the reference and the man pages describe them: each with what it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import typer.core
from msgspec import Struct

from rpgres.cli.commands.help import command_at, context_of
from rpgres.cli.dynamic import INPUTS, ActionCommand
from rpgres.cli.lazy import Command, LazyGroup
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.loading import read_ruleset


class Entry(Struct, frozen=True):
    """A command as a manual describes it.

    Attributes:
        path: as it is typed, with words in capitals for what differs: `rpgres roll RULESET ACTION`.
        usage: what stands behind the path: `[OPTIONS] FILE`.
        text: what it does; the first line is the summary.
        arguments: what each argument is, by its name in the usage.
        options: the help of each option, by its names and value: `--seed TEXT`.
    """

    path: str
    usage: str
    text: str
    arguments: Sequence[tuple[str, str]]
    options: Sequence[tuple[str, str]]


def entries(root: Command, names: Sequence[str]) -> Iterator[Entry]:
    """Yield every command in the order of the lists; one stands for what is made for each ruleset, dice or scene.

    Args:
        root: the command of everything.
        names: the commands of the root.
    """
    for name in names:
        yield from _below(command_at(root, (name,)))


def _below(ctx: Any) -> Iterator[Entry]:
    command = ctx.command
    yield _entry(ctx)
    if isinstance(command, typer.core.TyperGroup) and not isinstance(command, LazyGroup):
        for name, one in command.commands.items():
            yield from _below(context_of(one, name, ctx))
    verb = getattr(command, "verb", None)
    if verb is not None and isinstance(command, LazyGroup):
        yield from map(_entry, _samples(ctx, verb))


def _samples(ctx: Any, verb: Any) -> Iterator[Any]:
    """Yield the contexts of commands that are made when they are called: of an action, of dice, of a scene."""
    data = read_ruleset(next(iter(BUILTIN)))
    action: Any = ActionCommand(verb, data, next(iter(data.file.actions)))
    action.params = [one for one in action.params if getattr(one, "rich_help_panel", None) != INPUTS]
    action.help = "An action; `rpgres help RULESET ACTION` shows what it takes beside these."
    yield context_of(action, "ACTION" if verb.is_seated else "RULESET ACTION", ctx)
    if verb.dice_help:
        yield context_of(ctx.command.load("d6", ()), "DICE", ctx)
    if verb.scene is not None:
        yield context_of(verb.scene("scene.toml"), "SCENE", ctx)


def _entry(ctx: Any) -> Entry:
    command = ctx.command
    taken = [(one, one.get_help_record(ctx)) for one in command.get_params(ctx)]
    return Entry(
        path=ctx.command_path,
        usage=" ".join(command.collect_usage_pieces(ctx)),
        text=(command.help or command.short_help or "").replace("\b", "").strip(),
        arguments=[record for one, record in taken if record and isinstance(one, typer.core.TyperArgument)],
        options=[
            record
            for one, record in taken
            if record and isinstance(one, typer.core.TyperOption) and one.expose_value  # without those of every command
        ],
    )
