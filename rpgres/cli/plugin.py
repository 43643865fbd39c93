"""`rpgres plugin`: list the plugins that bring rulesets, and check them. How they are judged stands in `plugins`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.cli.annotations import AsJson, AsWords, complete_rulesets
from rpgres.errors import UsageError
from rpgres.version import __version__

if TYPE_CHECKING:
    from rpgres.plugins import PluginStatus

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="List the plugins that bring rulesets, and check them."
)


@app.command("list")
def list_all(
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a plugin is broken.")] = False,
    as_json: AsJson = False,
    plain: AsWords = False,
) -> None:
    """List every plugin, built in or installed, and what is wrong with the broken ones.

    This always works, however broken a plugin is. RPGRES_DISABLE=NAME,NAME switches off rulesets and distributions by
    name; --debug shows where plugins fail.
    """
    from rpgres.cli.output import trace
    from rpgres.plugins import list_rulesets

    _tell(list_rulesets(failed=trace), as_json=as_json, is_plain=plain, is_strict=check)


@app.command("check")
def check_some(
    ruleset: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULESET]",
            help="Check only what has this id.",
            show_default=False,
            autocompletion=complete_rulesets,
        ),
    ] = None,
    as_json: AsJson = False,
    plain: AsWords = False,
) -> None:
    """Check that the code and the data of plugins fit together.

    The exit code is 1 when a plugin is broken.
    """
    from rpgres.cli.output import trace
    from rpgres.plugins import list_rulesets, ruleset_names
    from rpgres.rulesets import unknown

    plugins = list_rulesets(ruleset, failed=trace)
    if ruleset is not None and not plugins:
        names = [name.id for name in ruleset_names(titles=False)]
        raise UsageError(unknown("ruleset", ruleset, names, of="what is installed"))
    _tell(plugins, as_json=as_json, is_plain=plain, is_strict=True)


def _tell(plugins: Sequence[PluginStatus], *, as_json: bool, is_plain: bool, is_strict: bool) -> None:
    from rpgres.cli.output import say, say_json
    from rpgres.render.rulesets import plugin_list_lines

    is_well = all(plugin.ok or plugin.stage == "disabled" for plugin in plugins)
    if as_json:
        say_json({"format": "rpgres.plugins/1", "version": __version__, "ok": is_well, "plugins": plugins})
    else:
        say(plugin_list_lines(plugins), is_plain=is_plain)
    if is_strict and not is_well:
        raise typer.Exit(1)
