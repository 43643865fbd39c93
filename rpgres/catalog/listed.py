"""The sheets and scenes that rulesets bring, and those that lie where overlays do: their names, and what they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from rpgres.errors import FileError
from rpgres.model.printed import Printed
from rpgres.plugins.discovery import find_ruleset, installed_folders, ruleset_names
from rpgres.plugins.entries import head_of, standalone_folder
from rpgres.rulesets import data_folders
from rpgres.toml.reading import read_source

CASES = "conformance"  # begins the names of scenes that only test a ruleset

Listed = Literal["sheet", "scene"]


class FileSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A sheet or a scene in a list.

    Attributes:
        name: by which commands know it.
        ruleset: the ruleset it is for.
        title: what it is called; empty where it does not say.
        summary: what it is, in a line; empty where it does not say.
        file: where it is.
    """

    name: str
    ruleset: str
    title: str
    summary: str
    file: str


class FileList(Printed, frozen=True, kw_only=True, tag="rpgres.files/1"):
    """Sheets or scenes, as `rpgres sheet list --json` and `rpgres scene list --json` print them.

    Attributes:
        kind: what is listed.
        ruleset: the ruleset whose files these are; null for all.
        files: the files, by ruleset and name.
    """

    kind: Listed
    ruleset: str | None
    files: list[FileSummary]


def list_files(
    kind: Listed, ruleset: str | None = None, *, extra: Sequence[Path] = (), with_cases: bool = False
) -> FileList:
    """Return the sheets or scenes there are; no ruleset is imported for it, unless it is named.

    Args:
        ruleset: only this one's.
        extra: the folders of `--rulesets`.
        with_cases: whether scenes that only test a ruleset are among them.

    Raises:
        UsageError: there is no such ruleset.
    """
    if ruleset is not None:
        find_ruleset(ruleset, extra=extra)
    ids = [ruleset] if ruleset else [name.id for name in ruleset_names(titles=False, extra=extra)]
    installed = installed_folders()
    found = []
    for id_ in ids:
        own = installed.get(id_) or standalone_folder(id_, extra=extra)
        of_id = {path.stem: path for path in _files(kind, data_folders(id_, own=own, extra=extra))}
        found += [_summary(kind, id_, path) for path in of_id.values()]  # the nearest of each name
    if not with_cases:
        found = [one for one in found if not os.path.basename(one.name).startswith(CASES)]
    return FileList(kind=kind, ruleset=ruleset, files=found)


def _files(kind: Listed, folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((folder / f"{kind}s").glob("*.toml"))


def _summary(kind: Listed, ruleset: str, path: Path) -> FileSummary:
    head = head_of(path)
    title, summary = (head.get(key, "") for key in (("title", "summary") if kind == "scene" else ("name", "")))
    return FileSummary(
        name=f"{ruleset}/{path.stem}" if kind == "scene" else path.stem,
        ruleset=ruleset,
        title=title if isinstance(title, str) else "",
        summary=summary if isinstance(summary, str) and summary else _comment(path),
        file=str(path),
    )


def _comment(path: Path) -> str:
    """Return the first sentence of the comment that begins a file, which says what it is."""
    try:
        source = read_source(path)
    except FileError:
        return ""
    found = None if source.is_linked else re.match(r"(?:#:.*\n)*((?:#.*\n)+)", source.text)
    told = " ".join(line.lstrip("# ") for line in found[1].splitlines()) if found else ""
    return re.split(r"(?<=\.) ", told)[0].strip()
