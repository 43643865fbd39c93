"""A new plugin, written from the template that ships with rpgres. Nothing here prints or runs what was written.

The template is the folder `template`: real files, each with `.txt` behind its name so that no tool takes them for parts
of rpgres, and `$name`, `$package`, `$title` and `$version` where the plugin's own words come in.
"""

from __future__ import annotations

import keyword
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template

from rpgres.errors import FileError, OutputError, UsageError
from rpgres.plugins.discovery import ruleset_names
from rpgres.plugins.entries import id_fault
from rpgres.version import __version__

TEMPLATE = Path(__file__).parent / "template"
SUFFIX = ".txt"
PACKAGE = "package"  # what the package is called in the template's paths
LONGEST = 40  # characters of a name


def write_plugin(name: str, *, into: Path) -> Path:
    """Return the folder of a new plugin, `rpgres-NAME`, with everything it needs in it.

    Args:
        into: the folder in which it is made; has to be there.

    Raises:
        UsageError: no ruleset can have this id.
        FileError: there is something of that name already, or no such folder; nothing is written.
        OutputError: it cannot be written; nothing is left behind.
    """
    check_name(name)
    folder = into / f"rpgres-{name}"
    if not os.path.isdir(into):
        raise FileError(f"{into}: there is no such folder; nothing was written", file=str(into))
    write_folder(folder, files_of(name))
    return folder


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a new folder.

    Args:
        folder: where it is made.
        files: the text of every file, by its path with slashes.

    Raises:
        FileError: there is something of that name already; nothing is written.
        OutputError: it cannot be written; nothing is left behind.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        message = f"{folder}: already exists; nothing was written. Choose another name, or another folder with --into."
        raise FileError(message, file=str(folder)) from None
    except OSError as error:
        raise OutputError(f"cannot make {folder}: {error.strerror or error}") from None
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from None


def check_name(name: str) -> None:
    """Check that a new ruleset can have this id.

    Raises:
        UsageError: it cannot; says why.
    """
    for known in ruleset_names():
        if known.id == name:
            what = f"a ruleset shipped with rpgres: {known.title}" if known.builtin else "a ruleset installed here"
            raise UsageError(f"{name!r} is the id of {what}; choose another")
    fault = id_fault(name)
    if fault:
        raise UsageError(f"{name!r} cannot be an id: {fault}")
    if len(name) > LONGEST:
        raise UsageError(f"an id has at most {LONGEST} characters, and {name!r} has {len(name)}")
    if name == "rpgres" or name.startswith("rpgres-"):
        raise UsageError(f"leave out the prefix rpgres; the package of {name!r} gets it automatically")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise UsageError(f"{name!r} is a keyword or builtin of Python; choose another name")


def package_of(name: str) -> str:
    """Return the name of a plugin's package: `rpgres_a_b` for `a-b`."""
    return f"rpgres_{name.replace('-', '_')}"


def files_of(name: str) -> dict[str, str]:
    """Return the text of every file of a new plugin, by its path with slashes."""
    package = package_of(name)
    title = name.replace("-", " ").capitalize()
    words = {"name": name, "package": package, "title": title, "version": __version__}
    found = {}
    for path in sorted(TEMPLATE.rglob(f"*{SUFFIX}")):
        place = path.relative_to(TEMPLATE).as_posix().removesuffix(SUFFIX)
        text = Template(path.read_text("utf-8")).substitute(words)
        found[place.replace(f"test_{PACKAGE}", f"test_{package.removeprefix('rpgres_')}").replace(PACKAGE, package)] = (
            text
        )
    return found
