"""What a user sets once for all commands: the settings file, its variables in the environment, and aliases.

What is typed wins over the environment, the environment over the file, the file over the defaults. A faulty file stops
no command: each faulty key is reported and left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError, UsageError
from rpgres.formats.settings import Settings
from rpgres.text.folders import settings_folder

FILE = "config.toml"
FLAGS = ("plain", "dice_words")  # the settings that are options of many commands
FOLDERS = "RPGRES_RULESETS"  # replaces the setting `rulesets`
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


KEYS = Settings.__struct_encode_fields__
CHOICES = {  # the values that a setting can have, where they are few
    **dict.fromkeys(("plain", "dice-words"), ("true", "false")),
    "colour": ("auto", "never"),
    "dice": ("seeded", "real"),
}
VARIABLES = {key: f"RPGRES_{key.upper().replace('-', '_')}" for key in KEYS if key not in ("aliases", "rulesets")}


class Loaded(msgspec.Struct, frozen=True):
    """The settings in force.

    Attributes:
        path: the settings file, whether there is one or not; empty where none is looked for.
        text: what the file says; None where it cannot be read.
        origins: where each value comes from that is set: the path of the file, or a variable.
        problems: what is wrong with the file and the variables.
    """

    settings: Settings = Settings()
    path: str = ""
    text: str | None = None
    origins: Mapping[str, str] = {}
    problems: tuple[str, ...] = ()


_active = Loaded()


def active() -> Loaded:
    """Return the settings in force for the command that runs."""
    return _active


def activate(loaded: Loaded) -> None:
    """Have these settings in force from now on, for the processes that this one starts, too."""
    global _active
    _active = loaded
    if loaded.settings.colour == "never":
        os.environ["NO_COLOR"] = "1"
    if loaded.settings.rulesets and loaded.origins.get("rulesets") != FOLDERS:
        os.environ[FOLDERS] = os.pathsep.join(loaded.settings.rulesets)


def settings_path() -> str:
    """Return the path of the settings file: RPGRES_CONFIG, or the platform's; empty where there is to be none."""
    chosen = os.environ.get("RPGRES_CONFIG")
    return os.path.join(settings_folder(), FILE) if chosen is None else os.path.expanduser(chosen)


def load_settings(reserved: Callable[[], Collection[str]] = tuple) -> Loaded:
    """Return the settings of the environment and of the file. Faults in them are reported, not raised.

    Args:
        reserved: returns the names that no alias may have; called only where there are aliases.
    """
    path = settings_path()
    data: dict[str, Any] = {}
    text: str | None = None
    problems: list[str] = []
    if path and os.path.isfile(path):
        data, text, problems = _read(path, reserved)
    origins = dict.fromkeys((*data, *(f"aliases.{name}" for name in data.get("aliases", ()))), path)
    for key, name in VARIABLES.items():
        if os.environ.get(name):
            try:
                data[key] = read_value(key, [os.environ[name]])
                origins[key] = name
            except UsageError as error:
                problems.append(f"{name} in the environment: {error.message}")
    if os.environ.get(FOLDERS):
        data["rulesets"] = [folder for folder in os.environ[FOLDERS].split(os.pathsep) if folder]
        origins["rulesets"] = FOLDERS
    return Loaded(msgspec.convert(data, Settings) if data else Settings(), path, text, origins, tuple(problems))


def _read(path: str, reserved: Callable[[], Collection[str]]) -> tuple[dict[str, Any], str | None, list[str]]:
    """Return what a file says without what is faulty, its text, and what is wrong with it."""
    from rpgres.toml.cache import parse_cached
    from rpgres.toml.reading import read_source

    text = None
    try:
        source = read_source(Path(path))
        text = source.text
        data = parse_cached(source)
    except FileError as error:
        return {}, text, [f"{error.message}\nthis settings file is not used until that is corrected"]
    problems: list[str] = []
    if _is_faulty(data, reserved):
        from rpgres.cli.checks.settings import without_faults

        data, problems = without_faults(data, source, reserved())
    if data.get("rulesets"):
        data["rulesets"] = [os.path.join(os.path.dirname(path), os.path.expanduser(one)) for one in data["rulesets"]]
    return data, text, problems


def _is_faulty(data: dict[str, Any], reserved: Callable[[], Collection[str]]) -> bool:
    try:
        aliases = msgspec.convert(data, Settings, str_keys=True).aliases
    except msgspec.ValidationError:
        return True
    return bool(aliases) and any(alias_fault(name, aliases, reserved()) for name in aliases)


# ---------------------------------------------------------------------------------------------------------------------
# Aliases


def expand(words: Sequence[str], aliases: Mapping[str, str]) -> list[str]:
    """Return a line of `rpgres` in which an alias at its beginning is replaced by what it stands for.

    Args:
        aliases: by name; none of them leads back to itself.
    """
    found = list(words)
    while found and found[0] in aliases:
        found = [*words_of_alias(aliases[found[0]]), *found[1:]]
    return found


def expand_at_table(words: Sequence[str], aliases: Mapping[str, str], *, ruleset: str) -> list[str]:
    """Return a line typed in `rpgres play` in which an alias is replaced; there, `roll fate attack` is `attack`.

    Args:
        aliases: by name; none of them leads back to itself.
    """
    found = expand(words, aliases)
    if found == list(words):
        return found
    for start in (["roll", ruleset], ["table", "act"], ["table"], [ruleset], ["roll"]):
        if found[: len(start)] == start and len(found) > len(start):
            return found[len(start) :]
    return found


def words_of_alias(text: str) -> list[str]:
    """Return the words that an alias stands for, split as a line of `rpgres play` is; `rpgres` may come first.

    Raises:
        UsageError: a quotation mark is not closed.
    """
    from rpgres.lines.words import split

    words = split(text)
    return words[1:] if words[:1] == ["rpgres"] else words


def alias_fault(name: str, aliases: Mapping[str, str], reserved: Collection[str]) -> str:
    """Return what is wrong with an alias; nothing where it can be used."""
    if name in reserved:
        return f"{name} is a command of rpgres, and an alias cannot replace one; choose another name"
    if not name or name.startswith("-") or not name.isprintable() or any(char.isspace() for char in name):
        return "the name of an alias is one word, and does not begin with a hyphen"
    seen = [name]
    while True:
        try:
            words = words_of_alias(aliases[seen[-1]])
        except UsageError as error:
            return error.message if len(seen) == 1 else ""
        if not words:
            return "it is empty; write the words of a command, such as roll fate attack"
        if words[0] not in aliases or words[0] in reserved:
            return ""
        if words[0] in seen:
            return f"it leads back to itself: {' -> '.join([*seen, words[0]])}" if words[0] == name else ""
        seen.append(words[0])


# ---------------------------------------------------------------------------------------------------------------------
# Values as they are typed


def read_value(key: str, texts: Sequence[str]) -> Any:
    """Return the value of a setting as it is typed.

    Args:
        key: the setting; `aliases.NAME` is one.
        texts: the words of the value; only `rulesets` takes several.

    Raises:
        UsageError: the setting has no such value.
    """
    if key == "rulesets":
        return list(texts)
    if len(texts) != 1:
        raise UsageError(f"{key} takes one value; put quotes around several words: {' '.join(texts)!r}")
    text = texts[0].strip()
    default = getattr(Settings(), key.replace("-", "_"), "")
    if isinstance(default, bool):
        if text.casefold() in (*_YES, *_NO):
            return text.casefold() in _YES
        raise UsageError(f"{key} takes true or false, not {text!r}")
    choices = CHOICES.get(key)
    if choices and text not in choices:
        from rpgres.rulesets import unknown

        raise UsageError(unknown("value", text, choices, of=key))
    return text
