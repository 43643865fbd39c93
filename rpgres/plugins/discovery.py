"""Finding ruleset plugins, and keeping a broken one from harming the rest. Nothing here knows a rule or plays one.

A ruleset is sought as built-in, then as a folder whose `ruleset.toml` begins with `standalone = true`, then among the
entry points of what is installed (group `rpgres`). Only the plugin that is asked for is imported. What goes wrong with
one becomes a `PluginError` that names its distribution and the stage: `find`, `import`, `register`, `yield` or
`validate`; `disabled` when `RPGRES_DISABLE` names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from rpgres.errors import FileError, UsageError, called, enumerated
from rpgres.plugins.entries import (
    BUILTIN,
    DISABLE,
    ENDED,
    Entry,
    disabled_names,
    head_of,
    installed_plugins,
    is_disabled,
    normal,
    standalone_entries,
    standalone_of,
)
from rpgres.plugins.failures import clash, failure
from rpgres.plugins.importing import load
from rpgres.rulesets import Ruleset, builtin_folder, data_folders, overlay_roots
from rpgres.rulesets.folders import BEGINS_SO, is_one_of
from rpgres.rulesets.rows import is_id


class RulesetName(msgspec.Struct, frozen=True):
    """A ruleset for help and completion. `title` and `summary` are empty where only an import could tell them.

    Attributes:
        id: by which commands know it.
        title: what people call it.
        summary: what it is, in a line.
        builtin: whether it ships with rpgres.
    """

    id: str
    title: str = ""
    summary: str = ""
    builtin: bool = False


def find_ruleset(ruleset_id: str, *, extra: Sequence[Path] = ()) -> Ruleset:
    """Return the code of a ruleset, importing the one plugin that has it.

    Its record is checked, its data are not: `load_rules` reads them, and `list_rulesets` holds them against the code.

    Args:
        extra: the folders of `--rulesets`.

    Raises:
        UsageError: nothing has this id.
        PluginError: what has it cannot be used; the message names the distribution, the stage and what to do.
    """
    if ruleset_id in BUILTIN:
        return load(_builtin_entry(ruleset_id))
    from rpgres.dice import is_notation

    if is_notation(ruleset_id):
        raise UsageError(f"{ruleset_id!r} is dice notation, not a ruleset; to roll it: {called('roll', ruleset_id)}")
    standalone = standalone_of(ruleset_id, extra)
    if standalone and standalone[0].builtin:
        return load(standalone[0])
    claims = claims_of(ruleset_id, extra)
    if not claims:
        raise unknown_ruleset(ruleset_id, extra=extra)
    return load(_only(claims))


def _builtin_entry(ruleset_id: str) -> Entry:
    return Entry(ruleset_id, BUILTIN[ruleset_id], builtin=True)


def claims_of(ruleset_id: str, extra: Sequence[Path]) -> list[Entry]:
    """Return all that could be the ruleset of this id and does not ship with rpgres."""
    installed = [entry for entry in installed_plugins() if entry.id == ruleset_id]
    standalone = [entry for entry in standalone_of(ruleset_id, extra) if not entry.builtin]
    # Where a plugin's own data lie on the rulesets path, they are no second ruleset.
    own = [_likely_folder(entry) for entry in installed] if standalone else []
    return [entry for entry in standalone if not is_one_of(Path(entry.folder), own)] + installed


def _only(claims: Sequence[Entry]) -> Entry:
    """Return the one of these that is neither disabled nor impossible; when none is, one to report the fault of."""
    able = usable(claims)
    if len(able) > 1:
        raise clash(able[0], able)
    rest = [entry for entry in claims if not is_disabled(entry)] or claims
    return (able or rest)[0]


def usable(claims: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in claims if not entry.fault and not is_disabled(entry)]


def unknown_ruleset(ruleset_id: str, *, extra: Sequence[Path] = ()) -> UsageError:
    """Return the error of an id that nothing has, with the nearest, else all there are, and what a folder of it lacks.

    Args:
        extra: the folders of `--rulesets`.
    """
    from rpgres.toml.diagnostics import nearest

    names = [name.id for name in ruleset_names(titles=False, extra=extra)]
    near = nearest(ruleset_id, names)
    said = [f"there is no ruleset {ruleset_id!r}"]
    if near:
        said.append(f"did you mean {near!r}? `{called('ruleset list')}` describes all")
    else:
        said.append(f"installed: {enumerated(names)} (`{called('ruleset list')}` describes them)")
    folder = _overlay_folder(ruleset_id, extra)
    if folder is not None:
        if nothing := _nothing_in(folder / "ruleset.toml"):
            return UsageError(nothing, ruleset=ruleset_id, known=names)
        said.append(f"the folder {folder} is an overlay for a ruleset of that name, which is not installed")
        if os.path.isfile(folder / "ruleset.toml"):
            said.append(BEGINS_SO)
    elif os.path.isfile(os.path.join(ruleset_id, "ruleset.toml")) or os.path.basename(ruleset_id) == "ruleset.toml":
        place = Path(ruleset_id).absolute()
        place = place.parent if place.name == "ruleset.toml" else place
        where = os.path.relpath(place.parent)
        said.append(f"to use the ruleset in this folder, give its id and its location: {place.name} --rulesets {where}")
    return UsageError("; ".join(said), ruleset=ruleset_id, known=names)


def _overlay_folder(ruleset_id: str, extra: Sequence[Path]) -> Path | None:
    if not is_id(ruleset_id):
        return None  # what was typed may be a path
    folders = [root / ruleset_id for root in reversed(overlay_roots(extra))]
    return next((folder for folder in folders if os.path.isdir(folder)), None)  # unlike Path's, this never raises


def _nothing_in(path: Path) -> str:
    """Return why a file says nothing of a ruleset: it is empty, or cannot be read; nothing where it says something."""
    from rpgres.toml.reading import read_source

    if not os.path.isfile(path):
        return ""
    try:
        lines = read_source(path).text.splitlines()
    except FileError as error:
        return error.message
    return "" if any(line.strip() and not line.startswith("#") for line in lines) else f"{path} is empty; {BEGINS_SO}"


def unused_disabled(*, extra: Sequence[Path] = ()) -> list[str]:
    """Return what `RPGRES_DISABLE` names that switches nothing off: one sentence for each, with the nearest name.

    Args:
        extra: the folders of `--rulesets`.
    """
    from rpgres.toml.diagnostics import nearest

    entries = list(all_entries(extra))
    known = {entry.id for entry in entries} | {normal(entry.distribution) for entry in entries if not entry.builtin}
    parts = []
    for name in sorted(disabled_names() - known):
        near = nearest(name, sorted(filter(None, known)))
        hint = f"; did you mean {near!r}?" if near else ""
        parts.append(f"{DISABLE} names {name!r}, but there is no such ruleset or distribution{hint}")
    return parts


def ended_faults() -> list[str]:
    """Return what there is to tell of every plugin that is known to end the process that imports it."""
    return [failure(entry, "import", reason).message for entry, reason in ENDED.items()]


def ruleset_names(*, titles: bool = True, extra: Sequence[Path] = ()) -> list[RulesetName]:
    """Return the rulesets that can be named, built-ins first, without importing any plugin.

    Args:
        extra: the folders of `--rulesets`.
        titles: whether to read title and summary, where they are found without an import.
    """
    claims: dict[str, list[Entry]] = {}
    for entry in usable(all_entries(extra)):
        claims.setdefault(entry.id, []).append(entry)
    return [
        RulesetName(ruleset_id, *(title_of(able[0]) if titles and len(able) == 1 else ("", "")), able[0].builtin)
        for ruleset_id, able in claims.items()
    ]


def claimed_ids(*, extra: Sequence[Path] = ()) -> list[str]:
    """Return every id that something has, whether or not it can be used or is switched off.

    Args:
        extra: the folders of `--rulesets`.
    """
    return list(dict.fromkeys(entry.id for entry in all_entries(extra)))


def contested(ruleset_id: str, *, extra: Sequence[Path] = ()) -> str:
    """Return who claims an id and that it therefore cannot be used; nothing when at most one has it.

    Args:
        extra: the folders of `--rulesets`.
    """
    if ruleset_id in BUILTIN:
        return ""
    able = usable(claims_of(ruleset_id, extra))
    return clash(able[0], able).message if len(able) > 1 else ""


def owner_of(folder: Path, *, extra: Sequence[Path] = ()) -> str | None:
    """Return the id of the ruleset whose own data are in this folder, as far as that is found without an import."""
    for entry in all_entries(extra):
        if not entry.fault and is_one_of(folder, [_likely_folder(entry)]):
            return entry.id
    return None


def all_entries(extra: Sequence[Path] = ()) -> Iterable[Entry]:
    installed = installed_plugins()
    ids = {entry.id for entry in installed}
    standalone = [
        entry
        for entry in standalone_entries(extra)
        if entry.builtin or entry.id not in ids or entry in claims_of(entry.id, extra)
    ]
    return (*map(_builtin_entry, BUILTIN), *standalone, *installed)


def installed_folders() -> dict[str, Path]:
    """Return where third parties' rulesets have their data, by id, as far as that is found without an import."""
    found = {entry.id: _likely_folder(entry) for entry in usable(installed_plugins())}
    return {ruleset_id: folder for ruleset_id, folder in found.items() if folder is not None}


def title_of(entry: Entry) -> tuple[str, str]:
    own = _likely_folder(entry)
    if own is None:
        return "", ""
    heads = [head_of(folder / "ruleset.toml") for folder in data_folders(entry.id, own=own)]
    data = {key: value for head in heads for key, value in head.items()}
    title, summary = data.get("title"), data.get("summary")
    return (title if isinstance(title, str) else "", summary if isinstance(summary, str) else "")


def _likely_folder(entry: Entry) -> Path | None:
    return next((folder for folder in _likely_folders(entry) if os.path.isfile(folder / "ruleset.toml")), None)


def _likely_folders(entry: Entry) -> Iterator[Path]:
    """Yield where a plugin would keep its `ruleset.toml`; for sure only its record could say, after an import."""
    if entry.builtin or entry.folder:
        yield Path(entry.folder) if entry.folder else builtin_folder() / entry.id
        return
    from importlib.util import find_spec

    package, *inner = entry.module.split(".")
    try:
        spec = find_spec(package)  # of a package inside it, this would import the one around
    except Exception:  # noqa: BLE001  # an import hook of a stranger
        return
    for place in (spec and spec.submodule_search_locations) or ():
        for root in (Path(place, *inner), Path(place)):
            # Of a module with several rulesets, each is rather in a folder of its own than in the one they share.
            yield from (root / inside for inside in (entry.id, f"data/{entry.id}", f"rulesets/{entry.id}", "", "data"))
