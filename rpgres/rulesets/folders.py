"""Where a ruleset's data lie: its own folder, and the overlays laid over it. What is in them is told elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError
from rpgres.rulesets.records import RulesetFile
from rpgres.tomlfiles import Source, convert, overlay, parse, read_source


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
    """One folder's `ruleset.toml`: as text, to say where a fault is, and as data. Both empty when it has none."""

    folder: Path
    source: Source
    data: dict[str, Any]


def read_parts(folders: Sequence[Path], *, ruleset_id: str) -> list[Part]:
    """Return the `ruleset.toml` of every folder; only the first folder must have one.

    Raises:
        FileError: the first folder has none, or one is not TOML.
    """
    parts = []
    for folder in folders:
        path = folder / "ruleset.toml"
        if os.path.isfile(path):
            source = read_source(path)
            parts.append(Part(folder=folder, source=source, data=parse(source)))
        elif parts:
            parts.append(Part(folder=folder, source=Source(path=str(path), text=""), data={}))
        else:
            raise FileError(f"the ruleset {ruleset_id} has no ruleset.toml in {folder}", file=str(folder))
    return parts


def merge_parts(parts: Sequence[Part]) -> RulesetFile:
    """Return the data of a ruleset, nearer folders laid over farther ones.

    Raises:
        FileError: the result is not a ruleset; all problems at once.
    """
    data: dict[str, Any] = {}
    for part in parts:
        data = overlay(data, part.data)
    return convert(data, RulesetFile, sources=[part.source for part in parts])
