"""Diagnostics of settings, in full, and changes to the settings file: loaded where they are shown or faulty."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from rpgres.cli.settings import KEYS, Loaded, alias_fault, read_value, words_of_alias
from rpgres.errors import UsageError, called, writing
from rpgres.formats.settings import Setting, Settings, SettingsList
from rpgres.rulesets import unknown
from rpgres.text.filenames import write_own
from rpgres.toml.diagnostics import Fault, key_text
from rpgres.toml.editing import set_value, unset_value
from rpgres.toml.faults import faults
from rpgres.toml.reading import Source, locate, located, read_source

HEAD = "# Settings of rpgres; `rpgres config show` lists them all.\n"


def list_settings(loaded: Loaded) -> SettingsList:
    """Return all settings with where each value comes from, and what is wrong with them."""
    values = {key: getattr(loaded.settings, key.replace("-", "_")) for key in KEYS if key != "aliases"}
    values |= {f"aliases.{name}": text for name, text in loaded.settings.aliases.items()}
    found = [Setting(key=key, value=value, origin=_origin(loaded, key)) for key, value in values.items()]
    problems = [*loaded.problems, *_unusable(loaded)]
    exists = bool(loaded.path) and os.path.exists(loaded.path)
    return SettingsList(file=loaded.path, exists=exists, settings=found, problems=problems)


def _origin(loaded: Loaded, key: str) -> str:
    origin = loaded.origins.get(key, "default")
    if origin != loaded.path or not loaded.text:
        return origin
    return f"{origin}:{locate(loaded.text, tuple(key.split('.', 1)))}"


def _unusable(loaded: Loaded) -> Iterable[str]:
    """Yield the values that name what is not there."""
    for key, values in {
        "ruleset": [loaded.settings.ruleset] if loaded.settings.ruleset else [],
        "rulesets": loaded.settings.rulesets,
        **{f"aliases.{name}": [text] for name, text in loaded.settings.aliases.items()},
    }.items():
        for value in values:
            try:
                _require_known(key, value, loaded.settings)
            except UsageError as error:
                yield f"{_origin(loaded, key)}: {key}: {error.message}"


def _require_known(key: str, value: str, settings: Settings) -> None:
    """Check that a value names something that is there."""
    from rpgres.cli.root import COMMANDS
    from rpgres.plugins.discovery import ruleset_names

    if key == "rulesets" and not os.path.isdir(os.path.expanduser(value)):
        raise UsageError(f"there is no folder {value}")
    if key == "ruleset":
        known = [one.id for one in ruleset_names()]
        if value not in known:
            raise UsageError(unknown("ruleset", value, known, of="rpgres"))
    if key.startswith("aliases."):
        first = words_of_alias(value)[0]
        if first not in COMMANDS and first not in settings.aliases:
            rulesets = [one.id for one in ruleset_names()]
            if first not in rulesets:
                raise UsageError(unknown("command", first, [*COMMANDS, *settings.aliases, *rulesets], of="rpgres"))


def without_faults(data: dict[str, Any], source: Source, reserved: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """Return what a settings file says without what is faulty, and what is: all of it at once."""
    found = faults(data, Settings)
    data = dict(data)
    aliases = data.get("aliases")
    if isinstance(aliases, dict):
        data["aliases"] = {name: text for name, text in aliases.items() if isinstance(text, str)}
        told = {name: alias_fault(name, data["aliases"], reserved) for name in data["aliases"]}
        found += [Fault("wrong-value", ("aliases", name), message) for name, message in told.items() if message]
        data["aliases"] = {name: text for name, text in data["aliases"].items() if not told[name]}
    for fault in found:
        if fault.path[:1] != ("aliases",) or not isinstance(aliases, dict):
            data.pop(str(fault.path[0]), None)
    return data, [diagnostic.text for diagnostic in located(found, source)]


# ---------------------------------------------------------------------------------------------------------------------
# Changes


def path_of(key: str) -> tuple[str, ...]:
    """Return the key of a setting, as it is typed, as a path in the settings file.

    Raises:
        UsageError: there is no such setting.
    """
    table, dot, name = key.partition(".")
    if dot and name and table in ("aliases", "alias"):
        return ("aliases", name)
    known = key.replace("_", "-")
    if known in KEYS and known != "aliases":
        return (known,)
    raise UsageError(unknown("setting", key, [*(one for one in KEYS if one != "aliases"), "aliases.NAME"], of="rpgres"))


def set_setting(loaded: Loaded, key: str, texts: Sequence[str], reserved: Collection[str]) -> Any:
    """Write a setting into the settings file, which is made where there is none, and return its value.

    Raises:
        UsageError: there is no such setting, or it has no such value.
        FileError: the file is not TOML, or cannot be written.
    """
    path = path_of(key)
    value = read_value(path[0] if len(path) == 1 else key_text(path), texts)
    if path[0] == "aliases":
        message = alias_fault(path[1], {**loaded.settings.aliases, path[1]: value}, reserved)
        if message:
            raise UsageError(f"{path[1]}: {message}")
    if path[0] == "rulesets":
        value = [os.path.abspath(os.path.expanduser(one)) for one in value]
    for one in value if isinstance(value, list) else [value] if value != "" else []:
        if isinstance(one, str):
            _require_known(".".join(path), one, loaded.settings)
    _write(loaded, set_value(_source(loaded), path, value))
    return value


def unset_setting(loaded: Loaded, key: str) -> None:
    """Remove a setting from the settings file; one that is unknown to rpgres, too.

    Raises:
        UsageError: the file does not set it.
        FileError: the file is not TOML, or cannot be written.
    """
    source = _source(loaded)
    table, dot, name = key.partition(".")
    for path in ((key,), (key.replace("_", "-"),), (table, name) if dot else (key,)):
        try:
            return _write(loaded, unset_value(source, path))
        except (KeyError, TypeError):
            continue
    raise UsageError(f"{loaded.path} does not set {key}; `{called('config show')}` lists what is set, and where")


def _source(loaded: Loaded) -> Source:
    if not loaded.path:
        raise UsageError("RPGRES_CONFIG is empty, so that there is no settings file; unset it, or name a file")
    if not os.path.exists(loaded.path):
        from rpgres.formats.editors import schema_line

        return Source(loaded.path, schema_line("config") + HEAD)
    return read_source(Path(loaded.path))


def _write(loaded: Loaded, text: str) -> None:
    path = Path(os.path.realpath(loaded.path))  # a link stays one
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_own(path, text.encode(), is_forced=True)
