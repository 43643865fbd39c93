"""Command groups whose commands are made when they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer.core

from rpgres.errors import RpgresError, UsageError
from rpgres.text.harmless import harmless

if TYPE_CHECKING:
    from typer.models import CommandInfo

Command = typer.core.TyperCommand | typer.core.TyperGroup


class Declared(Mapping[str, Command]):
    """The commands of a group by name, each made when it is asked for: of a dozen, one is called."""

    def __init__(
        self,
        declared: Iterable[CommandInfo],
        groups: Mapping[str, Any],
        make: Callable[[CommandInfo], Command],
    ) -> None:
        self._declared = {str(one.name): one for one in declared}
        self._made: dict[str, Command] = dict(groups)
        self._make = make
        self._names = [*self._declared, *groups]

    def __getitem__(self, name: str) -> Command:
        if name not in self._made:
            self._made[name] = self._make(self._declared[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class LazyGroup(typer.core.TyperGroup):
    """A group that knows the names and one-line helps of its commands, and makes a command when it is called.

    Help and completion list stand-ins, so that listing a command neither imports nor builds it.
    """

    heading = "Commands"  # over the list of them in help

    def entries(self) -> Mapping[str, str]:
        """Return the help of every command, by name, in the order of the list."""
        raise NotImplementedError

    def load(self, name: str, args: Sequence[str]) -> Command:
        """Return the command itself.

        Raises:
            UsageError: there is no such command.
        """
        raise NotImplementedError

    def missing(self, ctx: Any) -> str:
        """Return the message of a line that names no command; empty where that is no error."""
        return ""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named.

        Raises:
            UsageError: none is.
        """
        message = "" if ctx._protected_args else self.missing(ctx)
        if message:
            raise UsageError(message)
        return super().invoke(ctx)

    def forget(self) -> None:
        """Forget the line that was typed last: what comes now is about the command itself."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names."""
        return list(self.entries())

    def get_command(self, ctx: Any, cmd_name: str) -> typer.core.TyperCommand | None:
        """Return what stands for a command in lists."""
        summary = self.entries().get(cmd_name)
        if summary is None:
            return None
        return typer.core.TyperCommand(cmd_name, help=summary, short_help=summary, rich_markup_mode=None)

    def get_help(self, ctx: Any) -> str:
        """Return the help; what rulesets say in it is made harmless here, as Typer may write past our stream."""
        return harmless(super().get_help(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands under the group's own heading."""
        records = list(self.entries().items())
        if records:
            with formatter.section(self.heading):
                formatter.write_dl(records)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is called, with its name and what is left of the line."""
        try:
            return args[0], self.load(args[0], args[1:]), args[1:]
        except RpgresError:
            if ctx.resilient_parsing:  # completion of a line that says something unknown: there is nothing to offer
                return None, None, args
            raise
