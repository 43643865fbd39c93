"""`rpgres help`: a page of the guide, or the help of a command, a ruleset or an action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer.core

from rpgres.cli.annotations import argument
from rpgres.cli.help import guide
from rpgres.cli.lazy import Command, LazyGroup
from rpgres.cli.output import say, say_text
from rpgres.cli.root import COMMANDS, root
from rpgres.cli.settings import active
from rpgres.dice import resembles_notation
from rpgres.errors import RpgresError, UsageError, called
from rpgres.plugins.discovery import ruleset_names
from rpgres.plugins.loading import read_ruleset
from rpgres.rulesets import unknown
from rpgres.toml.diagnostics import nearest

if TYPE_CHECKING:
    from rpgres.render.lines import Shown

_MOST_SECTIONS = 4  # of the guide that mention a word


def _offer() -> list[tuple[str, str]]:
    pages = [(topic, guide.page(topic).title) for topic in guide.TOPICS]
    return [*pages, *COMMANDS.items(), *((name.id, name.title) for name in ruleset_names())]


def command(
    words: Annotated[
        list[str] | None,
        argument(
            "[TOPIC]",
            help="A page of the guide, a heading in it, a command, a ruleset, or a ruleset and an action.",
            autocompletion=_offer,
        ),
    ] = None,
) -> None:
    """Show a page of the guide, or the help of a command, a ruleset or an action.

    \b
    rpgres help                   the pages and the commands
    rpgres help game-master       a page of the guide
    rpgres help table act         a command
    rpgres help fate overcome     an action of a ruleset
    """
    from rpgres.cli.help.pager import show_page

    topic = [word for typed in words or () for word in typed.split()]  # a heading may be typed in quotes
    if not topic:
        say(_overview())
        return
    found = _found(root(), topic)
    if isinstance(found, guide.Page):
        show_page(found.shown)
    else:
        say_text(f"{found}\n")


def _found(root: Any, words: Sequence[str]) -> guide.Page | str:
    """Return what is to be shown for these words: a page, or a help."""
    first = words[0]
    aliases = active().settings.aliases
    if first in aliases:
        return f"{first} is an alias of yours for: {aliases[first]}"
    if first in COMMANDS:
        try:
            return str(command_at(root, words).get_help())
        except UsageError:
            if not words[1:] or words[1] not in COMMANDS:
                raise
            each = " and ".join(f"`{called('help', word)}`" for word in words[:2])
            raise UsageError(f"{first} has nothing called {words[1]!r}; these are two commands: {each}") from None
    if len(words) == 1 and first in guide.TOPICS:
        return guide.page(first)
    rulesets = [name.id for name in ruleset_names(titles=False)]
    if first in rulesets:
        return str(command_at(root, ("roll", *words)).get_help())
    if resembles_notation(first):
        return str(command_at(root, ("roll", first)).get_help())
    return guide.section_on(words) or _action_of(root, rulesets, words)


def _action_of(root: Any, rulesets: Sequence[str], words: Sequence[str]) -> str:
    """Return the help of an action that was named without its ruleset."""
    having, known = [], dict[str, None]()
    for ruleset in rulesets:
        try:
            actions = read_ruleset(ruleset).file.actions
        except RpgresError:  # a broken ruleset is no reason to help with nothing
            continue
        known |= dict.fromkeys(actions)
        if words[0] in actions:
            having.append(ruleset)
    if len(having) == 1:
        return str(command_at(root, ("roll", having[0], words[0])).get_help())
    typed = " ".join(words)
    if having:
        commands = ", ".join(f"`{called('help', ruleset, words[0])}`" for ruleset in having)
        raise UsageError(f"{words[0]!r} is an action of several rulesets: {commands}")
    near = nearest(words[0], [*guide.TOPICS, *COMMANDS, *rulesets, *(one.topic for one in guide.sections()), *known])
    hint = f"did you mean `{called('help', near)}`?" if near else f"`{called('help')}` lists all topics"
    if not near and (told := guide.mentions(words)[:_MOST_SECTIONS]):
        pages = ", ".join(f"`{called('help', topic)}`" for topic in told)
        hint = f"it is mentioned in {pages}"
    raise UsageError(f"there is no help on {typed!r}; {hint}")


def _overview() -> list[Shown]:
    """Return the list of what there is help on."""
    from rpgres.render.lines import line, pairs

    return [
        line("Pages of the guide: rpgres help TOPIC"),
        *pairs([(topic, guide.page(topic).title) for topic in guide.TOPICS]),
        line(),
        line("What a command takes: rpgres help COMMAND"),
        *pairs([*COMMANDS.items()]),
        line(),
        line("A ruleset or an action: rpgres help fate, rpgres help fate overcome."),
        line("A heading of a page: rpgres help undo."),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Commands found by their words, as `rpgres help table act` names one


def command_at(root: Command, words: Sequence[str]) -> Any:
    """Return the context of the command that these words name, whose `get_help` is its help.

    Args:
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
        raise UsageError(unknown("command", word, commands, of=ctx.command_path))
    found: Command = commands[word]
    return found
