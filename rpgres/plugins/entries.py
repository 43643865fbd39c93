"""What may bring a ruleset, before anything of it is imported: entry points of what is installed, and folders."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from rpgres.errors import in_short, in_words
from rpgres.rulesets import builtin_folder, overlay_roots
from rpgres.rulesets.rows import is_id
from rpgres.toml.reading import MAX_BYTES
from rpgres.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from rpgres.toml.diagnostics import Diagnostic

GROUP = "rpgres"  # the entry points' group, and the distribution that brings the built-ins
DISABLE = "RPGRES_DISABLE"
UNNAMED = "unnamed-distribution"  # stands for one whose metadata are damaged
# What a scan of everything installed would find anyway; looking it up here spares each start the scan.
BUILTIN = {
    "fate": "rpgres_fate",
    "coppermane": "rpgres_coppermane",
    "saga": "rpgres_saga",
    "faith": "rpgres_faith",
    "nodice": "rpgres_nodice",
}
Stage = Literal["find", "import", "register", "yield", "validate", "disabled"]


class Entry(msgspec.Struct, frozen=True):
    """One entry point, whether or not it can be used.

    Attributes:
        id: its name, which is the ruleset's id; empty when a distribution's entry points cannot be read.
        module: the module it names.
        attribute: the dotted attribute of the module that is the plugin; empty for the module itself.
        distribution: what installed it.
        builtin: whether it ships with rpgres.
        fault: why it cannot be used, as far as that is known without importing it.
        folder: where it stands as data alone; empty for an entry point.
    """

    id: str
    module: str
    attribute: str = ""
    distribution: str = GROUP
    version: str = __version__
    builtin: bool = False
    fault: str = ""
    folder: str = ""

    @property
    def value(self) -> str:
        """What it names, as written: `module`, or `module:attribute`; the folder of what is data alone."""
        if self.folder:
            return self.folder
        return f"{self.module}:{self.attribute}" if self.attribute else self.module

    @property
    def origin(self) -> str:
        """The distribution and its version; the folder of what is not installed."""
        if not self.distribution:
            return self.folder
        return f"{self.distribution} {self.version}".rstrip()


ENDED: dict[Entry, str] = {}  # plugins that end the process that imports them, and how (`rpgres.plugins.probing`)


def installed_plugins() -> tuple[Entry, ...]:
    """Return the entry points of all third parties, sorted by id and distribution."""
    return _scan(tuple(sys.path))


@lru_cache(maxsize=8)
def _scan(_path: tuple[str, ...]) -> tuple[Entry, ...]:
    from importlib.metadata import distributions

    entries: dict[str, list[Entry]] = {}
    for distribution in distributions():
        try:
            text = distribution.read_text("entry_points.txt")
        except Exception:  # noqa: BLE001, S112  # a stranger's file that cannot be read makes no plugin of ours
            continue
        if text is None or f"[{GROUP}]" not in re.sub(r"\s", "", text):
            continue  # most: and reading what a distribution is called is the costly part
        name, version = _name_and_version(distribution)
        # Of a distribution that is there twice, Python imports the one that comes first on its path.
        entries.setdefault(normal(name), list(_entries(distribution, name, version)))
    every = (entry for found in entries.values() for entry in found)
    return tuple(sorted(every, key=lambda entry: (entry.id, entry.distribution, entry.value)))


def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    try:
        if distribution.metadata["Name"]:
            return str(distribution.metadata["Name"]), str(distribution.metadata["Version"] or "")
    except Exception:  # noqa: BLE001, S110  # metadata that are missing or damaged raise whatever they happen to
        pass
    folder = Path(getattr(distribution, "_path", "")).stem  # `name-1.0.dist-info`
    name, _, version = folder.partition("-")
    return name or UNNAMED, version


def _entries(distribution: Distribution, name: str, version: str) -> Iterator[Entry]:
    try:
        points = [point for point in distribution.entry_points if point.group == GROUP]
    except Exception as error:  # noqa: BLE001  # a faulty line of the file raises whatever it happens to
        yield Entry("", "", distribution=name, version=version, fault=f"entry_points.txt is faulty: {in_words(error)}")
        return
    for point in dict.fromkeys(points):
        if normal(name) == GROUP and BUILTIN.get(point.name) == point.value:
            continue
        value = re.fullmatch(r"\s*([\w.]+)\s*(?::\s*([\w.]+)\s*)?(?:\[.*\]\s*)?", point.value)
        module, attribute = (value[1], value[2] or "") if value else (point.value, "")
        fault = id_fault(point.name) if value else f"its value {in_short(repr(point.value))} is not a module"
        yield Entry(point.name, module, attribute, name, version, fault=fault)


def normal(name: str) -> str:
    """Return the name of a distribution as all spellings of it are compared."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def disabled_names() -> set[str]:
    return {normal(name) for name in os.environ.get(DISABLE, "").split(",") if name.strip()}


def is_disabled(entry: Entry) -> bool:
    """Tell whether `RPGRES_DISABLE` names the ruleset, or the distribution of a third party."""
    disabled = disabled_names()
    if not disabled:
        return False
    return entry.id in disabled or (not entry.builtin and normal(entry.distribution) in disabled)


def standalone_of(ruleset_id: str, extra: Sequence[Path]) -> list[Entry]:
    """Return the folders of an id that are a whole ruleset; only the one that ships, when one does."""
    if os.path.basename(ruleset_id) != ruleset_id or ruleset_id in ("", os.curdir, os.pardir):
        return []
    return [entry for entry in standalone_entries(extra, ruleset_id) if entry.id == ruleset_id]


def standalone_folder(ruleset_id: str, *, extra: Sequence[Path] = ()) -> Path | None:
    """Return the folder of a ruleset that is data alone, or None when this is no such ruleset."""
    standalone = standalone_of(ruleset_id, extra) if ruleset_id not in BUILTIN else []
    return Path(standalone[0].folder) if standalone else None


def standalone_entries(extra: Sequence[Path], ruleset_id: str | None = None) -> Iterator[Entry]:
    """Yield the folders that are whole rulesets, those that ship first; no other folder can have an id that ships.

    A folder with such an id is laid over what ships, and reported as a fault where it says that it is a whole ruleset.
    """
    shipped = builtin_folder()
    taken = set(BUILTIN)
    places: set[str] = set()
    for root in (shipped, *overlay_roots(extra)):
        for name in folders_in(root, ruleset_id):
            folder = root / name
            if name in taken or not is_standalone(folder) or (place := os.path.realpath(folder)) in places:
                continue
            places.add(place)
            if root == shipped:
                taken.add(name)
                yield Entry(name, "", builtin=True, folder=str(folder))
            else:
                fault = folder_fault(name)
                yield Entry(name, "", distribution="", version="", fault=fault, folder=str(folder))


def folders_in(root: Path, name: str | None) -> list[str]:
    """Return the names in a folder, or the one asked for when it is there as it is spelt."""
    if name is not None and is_id(name):
        return [name]  # most: no other spelling of an id is one, so a file system that ignores case does no harm
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    return [found for found in names if name in (None, found)]


def folder_fault(name: str) -> str:
    """Return why a ruleset that is a folder cannot have this name, with what to call it; nothing when it can."""
    fault = id_fault(name)
    if not fault or is_id(name):
        return fault
    better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return fault if id_fault(better) else f"{fault}; rename the folder to {better!r}"


def misnamed_folders(*, extra: Sequence[Path] = ()) -> list[Diagnostic]:
    """Return the folders that are whole rulesets and whose names no ruleset can have.

    Args:
        extra: the folders of `--rulesets`.
    """
    from rpgres.toml.diagnostics import Diagnostic

    return [Diagnostic("bad-id", entry.fault, entry.folder) for entry in standalone_entries(extra) if entry.fault]


def id_fault(ruleset_id: str) -> str:
    """Return why an entry point cannot have this name; nothing when it can."""
    from rpgres.dice import is_notation

    if ruleset_id in BUILTIN or (is_id(ruleset_id) and is_standalone(builtin_folder() / ruleset_id)):
        return "this id belongs to a ruleset shipped with rpgres, which stays in use; choose another"
    if is_notation(ruleset_id):
        return "this id would be read as dice notation; choose another"
    if not is_id(ruleset_id):
        return "an id consists of lowercase letters, digits and hyphens, and starts with a letter"
    return ""


# ---------------------------------------------------------------------------------------------------------------------
# Folders that may be whole rulesets


def is_standalone(folder: Path) -> bool:
    """Tell whether a folder's `ruleset.toml` says that it is a whole ruleset, without code.

    What says anything but false is meant to be one; reading it tells that it should be `true`.
    """
    path = folder / "ruleset.toml"
    if not os.path.isfile(path):
        return False
    head = head_of(path)
    return head.get("standalone", False) is not False if head else _says_standalone(path)


def _says_standalone(path: Path) -> bool:
    """Tell whether a file that is no TOML, or no UTF-8, was meant to be a whole ruleset, to report its fault."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES)
    except (OSError, ValueError):
        return False
    text = content.replace(b"\0", b"").decode("ascii", "ignore")  # the zeros of UTF-16
    return re.search(r"^\s*standalone\s*=\s*true\b", text, re.MULTILINE) is not None


def head_of(path: Path) -> dict[str, object]:
    """Return the keys of a TOML file that stand before its first table; nothing when it cannot be read."""
    try:
        known = os.stat(path)
    except (OSError, ValueError):
        return {}
    if not stat.S_ISREG(known.st_mode):  # a pipe would be waited for
        return {}
    return _head_at(path, (known.st_mtime_ns, known.st_size, known.st_ino))


@lru_cache(maxsize=256)  # a list asks for each several times: whether it is whole, whose it is, what it is called
def _head_at(path: Path, _stamp: tuple[int, ...]) -> dict[str, object]:
    import tomli

    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError):
        return {}
    head = re.split(r"^\s*\[", text, maxsplit=1, flags=re.MULTILINE)[0]
    for part in (head, text):  # a bracket may also begin a line of a list or a long text
        try:
            return tomli.loads(part)
        except (ValueError, RecursionError):  # what is no TOML, and numbers of too many digits
            continue
    return {}
