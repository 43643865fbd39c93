"""The record of a ruleset, imported from its plugin and checked as far as that needs no data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError, enumerated, in_short
from rpgres.plugins.entries import DISABLE, ENDED, Entry, head_of, is_disabled
from rpgres.plugins.failures import RENAME, at_stage, failure
from rpgres.rulesets import API, Origin, Ruleset
from rpgres.rulesets.folders import NAMING
from rpgres.rulesets.kits import Kit
from rpgres.rulesets.rows import is_id
from rpgres.toml.cache import parse_cached
from rpgres.toml.reading import read_source
from rpgres.version import __version__

KITS = "rpgres.kits"  # whose modules are the code of kits, each with a `KIT`
MOST_RECORDS = 1000  # a plugin that yields more does not end


def load(entry: Entry) -> Ruleset:
    check_entry(entry)
    return ruleset_of(entry)


def check_entry(entry: Entry) -> None:
    if is_disabled(entry):
        value = os.environ.get(DISABLE, "")
        raise failure(
            entry, "disabled", f"{DISABLE}={value} switches it off", advice=f"To use it, take it out of {DISABLE}."
        )
    if entry in ENDED:
        raise failure(entry, "import", ENDED[entry])
    if entry.fault:
        raise failure(entry, "find", entry.fault, advice=RENAME if entry.folder else None)


def ruleset_of(entry: Entry) -> Ruleset:
    """Return the record of a ruleset: its plugin's, or of a folder one with the code of the kits that it names."""
    return _of_folder(entry) if entry.folder else record_of(entry)


def _of_folder(entry: Entry) -> Ruleset:
    folder = Path(entry.folder)
    named = head_of(folder / "ruleset.toml").get("kits")
    if not isinstance(named, list) or not named:
        return _standing(entry, (), b"")
    settings: Any = {}
    with suppress(FileError):  # reported when the data are read
        settings = parse_cached(read_source(folder / "ruleset.toml")).get("settings", {})
    chosen = {kit: settings.get(kit, {}) for kit in named if isinstance(kit, str)} if isinstance(settings, dict) else {}
    return _standing(entry, tuple(chosen), msgspec.json.encode(chosen, enc_hook=str))


@lru_cache(maxsize=256)
def _standing(entry: Entry, kits: tuple[str, ...], settings: bytes) -> Ruleset:
    ruleset = Ruleset(entry.id, data=Path(entry.folder))
    for name in kits:
        kit = find_kit(name)
        if kit is None:
            continue  # data alone, or no kit, which is reported when the data are read
        said = msgspec.json.decode(settings)[name]
        names = {key: value for key, value in said.items() if key in NAMING} if isinstance(said, dict) else {}
        chosen = kit.settings()
        for one in (said, names):  # what is wrong is reported as a fault of the file
            with suppress(msgspec.ValidationError):
                chosen = msgspec.convert(one, kit.settings)
                break
        ruleset.use(kit, chosen)
    return ruleset


def find_kit(name: str) -> Kit | None:
    """Return the code of a kit by its name; None where it has none, or there is no such kit."""
    from importlib import import_module
    from importlib.util import find_spec

    module = f"{KITS}.{name.replace('-', '_')}"
    if not is_id(name) or find_spec(module) is None:
        return None
    found: Kit = import_module(module).KIT
    return found


# An exception is not kept, so a plugin mended while a program runs is found.
@lru_cache(maxsize=256)
def record_of(entry: Entry) -> Ruleset:
    """Return the record an entry point stands for, after the checks that need no data."""
    records = _records(_import(entry), entry)
    with at_stage(entry, "validate"):
        for reason, advice in _faults(records, entry):
            raise failure(entry, "validate", reason, advice=advice)
    found: Ruleset = next(record for record in records if record.id == entry.id)
    found.origin = Origin(entry.distribution, entry.version, entry.builtin)
    return found


def _import(entry: Entry) -> object:
    from importlib import import_module

    with at_stage(entry, "import"):
        plugin: object = import_module(entry.module)
        for name in filter(None, entry.attribute.split(".")):
            plugin = getattr(plugin, name)
    return plugin


def _records(plugin: object, entry: Entry) -> list[Any]:
    with at_stage(entry, "register"):
        records = _hook_of(plugin, entry)
    with at_stage(entry, "yield"):
        found = list(islice(records(), MOST_RECORDS + 1))
    if len(found) > MOST_RECORDS:
        raise failure(
            entry, "yield", f"its hook yields more than {MOST_RECORDS:,} records; it may be an endless generator"
        )
    return found


def _hook_of(plugin: Any, entry: Entry) -> Callable[[], Iterable[object]]:
    if entry.builtin:  # what ships needs no checks, and importing pluggy takes 3 ms of a one-shot command
        hook: Callable[[], Iterable[object]] = plugin.rpgres_rulesets
        return hook
    from rpgres.plugins.spec import register

    return register(plugin, name=entry.module)


def _faults(records: Sequence[Any], entry: Entry) -> Iterator[tuple[str, str | None]]:
    """Yield why records cannot be used, with what to do; the data of a ruleset are checked in `rpgres.lint.whole`."""
    for place, record in enumerate(records, 1):
        if not isinstance(record, Ruleset):
            yield f"what its hook yields as number {place} is not a rpgres.Ruleset but {in_short(repr(record))}", None
    found = [record for record in records if record.id == entry.id]
    if not found:
        has = enumerated((repr(record.id) for record in records), none="nothing")
        yield f"its hook yields {has} instead of the ruleset {entry.id!r} that the entry point declares", None
    if len(found) > 1:
        yield f"its hook yields {len(found)} rulesets with this id", None
    api, data = found[0].api, found[0].data
    if type(api) is not int or api < 1:
        yield f"its api is {in_short(repr(api))}, not a whole number from 1 to {API}", None
    if api > API:
        older = f"install an older {entry.distribution}"
        advice = f"To use it, upgrade rpgres (pip install --upgrade rpgres), or {older}."
        yield f"it was written for API {api} of rpgres, and rpgres {__version__} has API {API}", advice
    if not isinstance(data, Path) and not (entry.builtin and data is None):
        right = f"Ruleset({entry.id!r}, data=Path(__file__).parent)"
        yield f"its data folder is {in_short(repr(data))}; it should be a pathlib.Path, as in {right}", None
    for name in ("actions", "effects", "policies"):
        wrong = [key for key, function in getattr(found[0], name).items() if not callable(function)]
        if wrong:
            yield f"its {name} contain non-functions: {', '.join(wrong)}", None
