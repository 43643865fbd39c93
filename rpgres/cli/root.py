"""The root command: the list of commands, each loaded when it is called, and how errors are reported."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import typer
import typer.core
import typer.main
from msgspec import structs
from typer.models import CommandInfo

from rpgres.cli import INTERRUPTED
from rpgres.cli.exits import blame, debug, finish, require_output, trace, unwritten
from rpgres.cli.lazy import Declared, LazyGroup
from rpgres.cli.options import StrictCommand
from rpgres.cli.output import READER, say, warn
from rpgres.cli.settings import FLAGS, Loaded, activate, active, expand, load_settings
from rpgres.cli.streams import prepare_streams, results_alone
from rpgres.errors import RpgresError, UsageError, called
from rpgres.text.harmless import in_line, is_line

if TYPE_CHECKING:
    from rpgres.render.lines import Line, Shown


# Every command with what it does, in one line. Its module in `commands` has `app`, a `typer.Typer` of several commands,
# or `command`, the function of a single one.
COMMANDS = {
    "roll": "Resolve an action of a ruleset, or roll dice.",
    "odds": "Compute exact probabilities of an action, or of dice.",
    "simulate": "Play an action or a scene many times, and summarise.",
    "whatif": "Repeat a run with one answer changed and every other die as it fell.",
    "scene": "List, play, check and test scripted scenes.",
    "table": "Keep a game in a file: act, answer, undo, show, verify.",
    "play": "Play at a persistent table, interactively.",
    "sheet": "List, create, check and show character sheets.",
    "deck": "List, show and draw from decks of cards.",
    "ruleset": "List, create, show and check rulesets and house rules.",
    "plugin": "List, create and check plugins that provide rulesets.",
    "schema": "Print the JSON Schema of a file or of an output.",
    "batch": "Answer JSON requests, one per line, for bots.",
    "mcp": "Give a language model a seat at a table.",
    "help": "Show the guide, or the help of a command, ruleset or action.",
    "config": "Show and change your settings and aliases.",
    "completions": "Print the completion script of a shell.",
}

_OFF = {f"--no-{name.replace('_', '-')}": name for name in FLAGS}  # what overrules a setting

COMPLETING = "_RPGRES_COMPLETE"  # the variable by which a shell asks what it may offer

OVERVIEW = "rpgres resolves actions of tabletop role-playing games: whole rule systems, not only dice."
EXAMPLES = {
    "rpgres roll 4dF+3": "roll dice",
    "rpgres roll fate overcome --skill 3 --vs fair": "resolve an action by its rules",
    "rpgres odds fate attack --skill 4 --vs 4dF+2": "the exact chances of every outcome",
    "rpgres roll fate --help": "the actions of a ruleset; any command takes --help, or -h",
    "rpgres ruleset list": "the installed rulesets",
    "rpgres help game-master": "a page of the guide",
}


class Root(LazyGroup):
    """The group of all commands. Its `main` is the boundary that no error passes as a traceback."""

    def entries(self) -> Mapping[str, str]:
        """Return every command with its one line of help, importing none, and the aliases."""
        aliases = {name: f"Alias: {text}" for name, text in active().settings.aliases.items()}
        rulesets = _ruleset_titles() if COMPLETING in os.environ else {}  # which stand for `roll` with them
        return {**rulesets, **COMMANDS, **aliases}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is called, by its name or an alias, with its name and what is left of the line."""
        return super().resolve_command(ctx, expand(args, active().settings.aliases))

    def load(self, name: str, args: Sequence[str]) -> Any:
        """Return a command, importing the one module that has it.

        A ruleset's id, and an action of the ruleset that the settings name, stand for `roll` with it.
        """
        if name in COMMANDS:
            return load_command(name)
        if not (name in reserved() or name in _ruleset_titles() or _is_default_action(name, args)):
            raise _no_command(name, args)
        return load_command("roll").load(name, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and exit with its code; every error becomes one paragraph, or JSON with `--json`."""
        loaded = load_settings(reserved)
        typed = expand(sys.argv[1:] if args is None else args, loaded.settings.aliases)
        options = typed[: typed.index("--")] if "--" in typed else typed
        debug(enabled="--debug" in options or bool(os.environ.get("RPGRES_DEBUG")))
        wants_json = not {"--json", "--format=json"}.isdisjoint(options) or ("--format", "json") in pairwise(options)
        taken = {"--debug", *(word for word in options if word in _OFF)}
        activate(_without(loaded, taken))
        prepare_streams()
        chosen = active().settings
        READER.begin(is_plain=chosen.plain, dice_words=chosen.dice_words)
        typed = READER.take([word for word in options if word not in taken]) + typed[len(options) :]
        if COMPLETING in os.environ:
            _know_shells()
        try:
            require_output()
            _check_text(typed)
            if loaded.problems and not _is_about_itself(typed):
                warn("\n".join(loaded.problems) + f"\n`{called('config show')}` lists all settings")
            code = super().main(
                typed,
                prog_name=prog_name,
                complete_var=complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
            code = code if isinstance(code, int) else 0
        except SystemExit as stopped:
            if isinstance(stopped.__context__, OSError):  # Typer's answer to a reader that went away: that is no error
                code = 0
            else:
                code = stopped.code
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BrokenPipeError:
            code = 0
        except BaseException as error:  # noqa: BLE001  # the boundary: nothing else may reach the user as a traceback
            trace(error)
            told = unwritten(error) if isinstance(error, OSError) else None
            code = blame(told or error, as_json=wants_json)
        sys.exit(finish(code, as_json=wants_json))


def _without(loaded: Loaded, taken: Collection[str]) -> Loaded:
    """Return the settings without those that are switched off by what was typed, such as `--no-plain`."""
    off = {name: False for option, name in _OFF.items() if option in taken}
    return structs.replace(loaded, settings=structs.replace(loaded.settings, **off)) if off else loaded


def _is_about_itself(typed: Sequence[str]) -> bool:
    """Tell whether a line only asks about rpgres, or corrects the settings: that never complains about them."""
    words = ("--help", "--version", "-h")
    return not typed or typed[0] in ("config", "help") or COMPLETING in os.environ or not set(words).isdisjoint(typed)


@cache
def reserved() -> frozenset[str]:
    """Return the names that no alias may have: commands, and the rulesets that ship with rpgres."""
    from rpgres.plugins.entries import BUILTIN

    return frozenset((*COMMANDS, *BUILTIN, "help"))


@lru_cache(maxsize=1)
def _know_shells() -> None:
    """Have Typer register the shells it can complete for, which it does only for apps with its own options for that.

    What they are offered is harmless: a name that has more than one line, or controls the terminal, is left out.
    """
    from typer._click.shell_completion import CompletionItem, ShellComplete
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()
    find = ShellComplete.get_completions

    def found(self: ShellComplete, args: list[str], incomplete: str) -> list[CompletionItem]:
        items = [item for item in find(self, args, incomplete) if is_line(str(item.value))]
        for item in items:
            item.help = in_line(item.help or "")
        return items

    ShellComplete.get_completions = found  # type: ignore[method-assign]  # every shell's class has it from there


def _check_text(args: Sequence[str]) -> None:
    for number, word in enumerate(args, 1):
        if any("\ud800" <= char <= "\udfff" for char in word):
            raise UsageError(f"argument {number} ({word!r}) is not text in this terminal's encoding", argument=number)


def _ruleset_titles() -> dict[str, str]:
    from rpgres.plugins.discovery import ruleset_names

    return {one.id: one.title for one in ruleset_names()}


def _is_default_action(name: str, args: Sequence[str]) -> bool:
    default = active().settings.ruleset
    if not default:
        return False
    from rpgres.cli.options import folders_in
    from rpgres.plugins.loading import read_ruleset

    try:
        return name in read_ruleset(default, extra=folders_in(args)).file.actions
    except RpgresError:  # reported where it is used
        return False


def _no_command(name: str, args: Sequence[str]) -> RpgresError:
    from rpgres.dice import resembles_notation
    from rpgres.rulesets import unknown

    if resembles_notation(name):
        from rpgres.cli.shell import join_line

        typed = join_line([name])
        return UsageError(
            f"to roll dice, use `{called('roll', typed)}`; for their probabilities `{called('odds', typed)}`"
        )
    from rpgres.cli.dynamic import rulesets_with
    from rpgres.cli.help.hints import line_for, lines_for_character

    having = rulesets_with(name)
    line = f"rpgres roll {having[0]} {name}" if having else line_for(name)
    lines = [line] if line else lines_for_character(name, args)
    if lines:
        return UsageError(f"rpgres has no command {name!r}; you may want {' or '.join(f'`{one}`' for one in lines)}")
    default = active().settings.ruleset
    known = [*COMMANDS, *active().settings.aliases, *(load_command("roll").entries() if default else ())]
    return UsageError(unknown("command", name, known, of="rpgres"))


@cache
def load_command(name: str) -> Any:
    """Return a command of the root, importing its module.

    Raises:
        ImportError: rpgres is incomplete.
    """
    from importlib import import_module

    module = import_module(f"rpgres.cli.commands.{name}")
    app = getattr(module, "app", None)
    if app is None:
        return _made(CommandInfo(name, callback=module.command))
    app.rich_markup_mode = None  # help is the same text on a terminal and in a pipe
    app.info.help = app.info.help or COMMANDS[name]
    declared, app.registered_commands = app.registered_commands, []  # Typer would make each command of the group
    group = typer.main.get_group(app)
    app.registered_commands = declared
    group.name = name
    group.commands = Declared(declared, group.commands, _made)  # type: ignore[assignment]
    return group


def _made(declared: CommandInfo) -> Any:
    """Return a command of a group as it was declared."""
    if not issubclass(declared.cls or object, StrictCommand):
        declared.cls = StrictCommand
    return _apart(typer.main.get_command_from_info(declared, pretty_exceptions_short=True, rich_markup_mode=None))


def _apart(command: Any) -> Any:
    """Return a command that keeps its results apart from what a ruleset's code may print."""
    if command.callback is not None:  # a group hands on to commands of its own
        command.callback = results_alone()(command.callback)
    return command


def _help_formatter(_context: Any) -> Any:
    from rpgres.cli.help.layout import HelpFormatter

    return HelpFormatter()


typer.core.TyperCommand.context_class.make_formatter = _help_formatter  # type: ignore[assignment]  # for all help

app = typer.Typer(cls=Root, invoke_without_command=True, add_completion=False, rich_markup_mode=None)


@app.callback(
    context_settings={"help_option_names": ["-h", "--help"]},  # of every command, as each has it from the one above
    epilog="Add --plain --dice-words to any command to have its results as text to be read aloud, --no-plain to "
    "overrule your settings, --debug for the traceback of an internal error.",
)
def overview(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, help="Show the version and exit."),
) -> None:
    """Resolve what happens at a role-playing table: rules, dice, scenes and exact odds."""
    if version:
        from rpgres.version import __version__

        sys.stdout.write(f"rpgres {__version__}\n")
    elif ctx.invoked_subcommand is None:
        from rpgres.render.lines import HANG, Pairs, line

        told: list[Shown] = [line(HANG, OVERVIEW), line(), Pairs(list(EXAMPLES.items()), widest=48), line()]
        say([*told, line("`rpgres help` lists all pages and commands."), *_settings_lines()])
    else:
        return
    raise typer.Exit


def _settings_lines() -> list[Line]:
    """Return which settings there are and what sets them; nothing where all is as it comes."""
    from rpgres.render.lines import HANG, line

    loaded = active()
    set_by: dict[str, list[str]] = {}
    for key, origin in loaded.origins.items():
        if key != "aliases":
            set_by.setdefault(origin, []).append(key)
    told = [f"{', '.join(keys)} ({origin})" for origin, keys in set_by.items()]
    if loaded.problems:
        told.append(f"with problems, see `rpgres config show` ({loaded.path})")
    return [line(), line(HANG, f"Your settings: {'; '.join(told)}.")] if told else []


def root() -> typer.core.TyperGroup:
    """Return the root command, ready to be run."""
    return typer.main.get_group(app)
