"""`rpgres config`: show and change the settings of a user. What they are stands in `rpgres.cli.settings`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rpgres.cli.annotations import AsJson
from rpgres.cli.checks.settings import list_settings, path_of, set_setting, unset_setting
from rpgres.cli.exits import leave
from rpgres.cli.output import say_record, say_text, warn
from rpgres.cli.settings import CHOICES, KEYS, active
from rpgres.formats.descriptions import field_texts
from rpgres.formats.editors import write_schemas
from rpgres.formats.settings import Settings, SettingsList
from rpgres.plugins.discovery import ruleset_names
from rpgres.render.lines import INDENT, Line, Piece, line

app = typer.Typer(no_args_is_help=True)


def _complete_keys() -> list[tuple[str, str]]:
    told = field_texts(Settings)
    found = [(key, told.get(key, "")) for key in KEYS if key != "aliases"]
    return [*found, *((f"aliases.{name}", text) for name, text in active().settings.aliases.items())]


def _complete_values(ctx: typer.Context) -> list[str]:
    key = str(ctx.params.get("key") or next(iter(ctx.args), ""))
    return [one.id for one in ruleset_names()] if key == "ruleset" else [*CHOICES.get(key, ())]


Key = Annotated[
    str,
    typer.Argument(metavar="KEY", help="A setting, or aliases.NAME.", autocompletion=_complete_keys),
]


@app.command("show")
def show(as_json: AsJson = False) -> None:
    """List all settings, each with its value and with the file or variable that sets it.

    Exits with 1 when something is wrong with the settings.
    """
    found = list_settings(active())
    say_record(found, lambda: _lines(found), as_json=as_json)
    leave(int(bool(found.problems)))


def _lines(found: SettingsList) -> list[Line]:
    state = "" if found.exists else " (not there yet; `rpgres config set KEY VALUE` makes it)"
    lines = [line(f"{found.file}{state}" if found.file else "no settings file: RPGRES_CONFIG is empty"), line()]
    values = [_value_text(one.value) for one in found.settings]
    keys = max(len(one.key) for one in found.settings)
    width = min(max(map(len, values)), 40)
    for one, value in zip(found.settings, values, strict=True):
        origin = one.origin.replace(f"{found.file}:", "line ", 1)
        shown = Piece(value.ljust(width), "" if origin == "default" else "number")
        lines.append(line(Piece(one.key.ljust(keys), "name"), INDENT, shown, INDENT, Piece(origin, "quiet")))
    lines += [line()] if found.problems else []
    told = (text for problem in found.problems for text in problem.splitlines())
    return [*lines, *(line(Piece("problem: ", "bad"), text) for text in told)]


def _value_text(value: bool | str | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value or "-" if isinstance(value, str) else ", ".join(value) or "-"


@app.command("set")
def set_(
    key: Key,
    value: Annotated[
        list[str],
        typer.Argument(
            metavar="VALUE...", help="The value; `rulesets` takes several.", autocompletion=_complete_values
        ),
    ],
) -> None:
    """Set a value in your settings file, and leave its comments and all else as they are.

    `rpgres config set ruleset fate` lets `rpgres roll overcome` mean Fate's. `rpgres config set aliases.hit "roll fate
    attack --skill fight"` makes `rpgres hit --vs 2` a command of your own. Keys: plain, dice-words, colour, ruleset,
    dice, rulesets, aliases.NAME.
    """
    from rpgres.cli.root import reserved

    loaded = active()
    is_new = not os.path.exists(loaded.path)
    found = set_setting(loaded, key, value, reserved())
    if is_new:
        write_schemas(Path(loaded.path).parent, ["config"])
    name = ".".join(path_of(key))
    say_text(f"{name} = {_value_text(found)} ({loaded.path})\n")
    origin = loaded.origins.get(name, loaded.path)
    if origin != loaded.path:
        warn(f"{origin} in the environment is set, and wins over the file")


@app.command("unset")
def unset(key: Key) -> None:
    """Remove a setting from your settings file, so that its default counts again."""
    loaded = active()
    unset_setting(loaded, key)
    say_text(f"{key} is no longer set ({loaded.path})\n")


@app.command("path")
def path() -> None:
    """Print the path of your settings file, whether there is one or not. RPGRES_CONFIG names another file."""
    say_text(f"{active().path}\n")
