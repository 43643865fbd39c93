"""The settings file, and what lists all settings."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from rpgres.model.printed import Printed


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The settings of rpgres.

    Attributes:
        plain: print plain text, as --plain does: no colours, no drawn dice or bars.
        dice_words: print dice as words, as --dice-words does.
        colour: `auto` uses colours on a terminal, `never` does not, as NO_COLOR.
        ruleset: the ruleset that is meant where none is named, as in `rpgres roll overcome`.
        dice: whether rpgres rolls (`seeded`), or asks at a terminal what was rolled at the table (`real`).
        rulesets: folders in which rulesets and house rules are sought, the nearest first.
        aliases: your own commands, by name: the words each stands for. More words may follow the name.
    """

    plain: bool = False
    dice_words: bool = False
    colour: Literal["auto", "never"] = "auto"
    ruleset: str = ""
    dice: Literal["seeded", "real"] = "seeded"
    rulesets: list[str] = []
    aliases: dict[str, str] = {}


class Setting(Struct, frozen=True, kw_only=True):
    """A setting, its value, and where that comes from.

    Attributes:
        key: the key of the settings file; that of an alias is `aliases.NAME`.
        value: the value in force.
        origin: `default`, the file with its line, or the variable of the environment.
    """

    key: str
    value: bool | str | list[str]
    origin: str


class SettingsList(Printed, frozen=True, kw_only=True, tag="rpgres.config/1"):
    """All settings.

    Attributes:
        file: the settings file; empty where RPGRES_CONFIG is empty.
        exists: whether there is such a file.
        settings: the settings, aliases last.
        problems: what is wrong with the file and the variables.
    """

    file: str
    exists: bool
    settings: list[Setting]
    problems: list[str]
