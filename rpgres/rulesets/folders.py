"""Where a ruleset's data lie: kits, its own folder, and the overlays laid over it. Their meaning is elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError
from rpgres.rulesets.schema import Action, Label, RulesetFile
from rpgres.toml.cache import parse_cached
from rpgres.toml.diagnostics import Fault, diagnostics_error, unknown_name
from rpgres.toml.reading import Source, convert, located, overlay, read_source

BEGINS_SO = "the ruleset.toml of a whole ruleset begins with `standalone = true`"

KITS = Path(__file__).parent.parent / "kits" / "data"  # the data of `rpgres.kits`, a folder for each


def data_folders(ruleset_id: str, *, own: Path | None, extra: Sequence[Path] = ()) -> list[Path]:
    """Return the folders with data of a ruleset, farthest first: the ruleset's own, then every overlay.

    Overlays are sought in the user's configuration folder, `./rulesets`, `RPGRES_RULESETS` and the folders of
    `--rulesets` (`extra`), the last being the nearest.
    """
    base = own if own is not None else builtin_folder() / ruleset_id
    folders = [base]
    for root in overlay_roots(extra):
        folder = root / ruleset_id
        if os.path.isdir(folder) and not any(_same(folder, known) for known in folders):
            folders.append(folder)
    return folders


def overlay_roots(extra: Sequence[Path] = ()) -> list[Path]:
    """Return the folders in which rulesets and overlays are sought, farthest first."""
    roots = [user_folder() / "rulesets", Path("rulesets")]
    roots += [Path(text) for text in reversed(os.environ.get("RPGRES_RULESETS", "").split(os.pathsep)) if text]
    roots += list(extra)
    return roots


def builtin_folder() -> Path:
    """Return the folder of the rulesets that ship with rpgres: in the wheel, or beside the package in a checkout."""
    package = Path(__file__).parent.parent
    shipped = package / "data"
    return shipped if os.path.isdir(shipped) else package.parent / "rulesets"


def user_folder() -> Path:
    """Return the user's configuration folder for rpgres (`XDG_CONFIG_HOME`, `APPDATA`, or `~/.config`)."""
    root = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return Path(root) / "rpgres" if root else Path(os.path.expanduser("~/.config/rpgres"))


def _same(one: Path, other: Path) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


class Part(msgspec.Struct, frozen=True):
    """One folder's `ruleset.toml`: as text, to say where a fault is, and as data. Both empty when it has none.

    `is_overlay` tells what is laid over a ruleset from what it brings: its own folder, and the kits it uses.
    """

    folder: Path
    source: Source
    data: dict[str, Any]
    is_overlay: bool = False


def read_parts(folders: Sequence[Path], *, ruleset_id: str) -> list[Part]:
    """Return the `ruleset.toml` of every folder, and before them those of the kits that the first one names.

    Only the first folder must have one.

    Raises:
        FileError: the first folder has none, one is not TOML, or there is no such kit.
    """
    path = folders[0] / "ruleset.toml"
    if not os.path.isfile(path):
        raise FileError(f"the ruleset {ruleset_id} has no ruleset.toml in {folders[0]}", file=str(folders[0]))
    own = _part(folders[0])
    parts = [*_kits(own), own]
    for folder in folders[1:]:
        if os.path.isfile(folder / "ruleset.toml"):
            parts.append(msgspec.structs.replace(_part(folder), is_overlay=True))
        else:
            source = Source(path=str(folder / "ruleset.toml"), text="")
            parts.append(Part(folder=folder, source=source, data={}, is_overlay=True))
    return parts


def _part(folder: Path) -> Part:
    source = read_source(folder / "ruleset.toml")
    return Part(folder=folder, source=source, data=parse_cached(source))


def _kits(own: Part) -> list[Part]:
    """Return the data of the kits that a ruleset names, in its order; an overlay cannot add one."""
    named = own.data.get("kits", [])
    parts = []
    for number, name in enumerate(named if isinstance(named, list) else []):
        is_name = isinstance(name, str) and name == os.path.basename(name)
        if not is_name or not os.path.isfile(KITS / name / "ruleset.toml"):
            known = sorted(path.name for path in KITS.iterdir())
            raise _faulty(own, unknown_name(("kits", number), f"there is no kit {name!r}", name, known))
        parts.append(_part(KITS / name))
    return parts


def _faulty(part: Part, fault: Fault) -> FileError:
    return diagnostics_error(located([fault], [part.source]))


def merge_parts(parts: Sequence[Part]) -> RulesetFile:
    """Return the data of a ruleset, nearer folders laid over farther ones.

    Raises:
        FileError: the result is not a ruleset; all problems at once.
    """
    data: dict[str, Any] = {}
    for part in parts:
        if part.is_overlay and part.data.get("standalone", False) is not False:
            first = next(other.folder for other in parts if not other.is_overlay and other.folder.parent != KITS)
            message = (
                f"{first} is a whole ruleset of the same id; take this line out, and what stands here is laid over it, "
                "or rename this folder to make it a ruleset of its own"
            )
            raise _faulty(part, Fault("taken-name", ("standalone",), message))
        if part.is_overlay and part.data.get("kits", data.get("kits")) != data.get("kits"):
            message = "which kits a ruleset uses is said in its own file alone; an overlay cannot change it"
            raise _faulty(part, Fault("useless", ("kits",), message))
        data = overlay(data, part.data)
    return _completed(convert(data, RulesetFile, sources=[part.source for part in parts]))


# What described actions roll, unless the data say it better.
_IMPLIED = {
    "roll": Label(kind="chance", help="the dice of whoever acts"),
    "opposition": Label(kind="chance", help="the dice of whoever is in the way"),
}


def _completed(file: RulesetFile) -> RulesetFile:
    """Return a ruleset in which described actions have what they need not say: their labels, a table of their name."""
    if not file.standalone and not any(action.roll for action in file.actions.values()):
        return file
    kinds = {parameter.name or key: parameter.kind for key, parameter in file.parameters.items()}
    actions = {name: _completed_action(file, name, action, kinds) for name, action in file.actions.items()}
    return msgspec.structs.replace(file, actions=actions, labels={**_IMPLIED, **file.labels})


def _may_roll(kinds: Mapping[str, str], vs: str) -> bool:
    """Tell whether what opposes may have dice: it has some, or it is what was typed as opposition."""
    from rpgres.rulesets.templates import names_in

    return bool(re.search(r"d[\dF%{]", vs)) or any(kinds.get(name) in ("opposition", "choice") for name in names_in(vs))


def _completed_action(file: RulesetFile, name: str, action: Action, kinds: Mapping[str, str]) -> Action:
    if not action.roll and not file.standalone:
        return action
    rolled = ["roll"] if action.roll else []
    if any(_may_roll(kinds, vs) for vs in (action.vs, *(other.vs for other in action.instead.values()))):
        rolled.append("opposition")
    labels = dict.fromkeys([*rolled, *action.labels])
    return msgspec.structs.replace(action, labels=list(labels), tables=action.tables or [name])
