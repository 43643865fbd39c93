"""Finding ruleset plugins, and keeping a broken one from harming the rest. Nothing here knows a rule or plays one.

A ruleset is sought as built-in, then as a folder whose `ruleset.toml` begins with `standalone = true`, then among the
entry points of what is installed (group `rpgres`). Only the plugin that is asked for is imported. What goes wrong with
one becomes a `PluginError` that names its distribution and the stage: `find`, `import`, `register`, `yield` or
`validate`; `disabled` when `RPGRES_DISABLE` names it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec

from rpgres.errors import FileError, PluginError, RpgresError, UsageError, in_short, in_words, place_of
from rpgres.model.printed import Printed
from rpgres.plugins.spec import hookimpl
from rpgres.rulesets import API, Origin, Ruleset, builtin_folder, data_folders, merge_parts, overlay_roots, read_parts
from rpgres.rulesets.folders import BEGINS_SO
from rpgres.toml.reading import MAX_BYTES
from rpgres.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from types import FrameType

    from rpgres.toml.diagnostics import Diagnostic

__all__ = [
    "BUILTIN",
    "Entry",
    "PluginStatus",
    "RulesetName",
    "Stage",
    "claimed_ids",
    "contested",
    "find_ruleset",
    "folder_fault",
    "hookimpl",
    "installed_folders",
    "is_standalone",
    "list_rulesets",
    "misnamed_folders",
    "owner_of",
    "ruleset_names",
    "standalone_folder",
    "unknown_ruleset",
    "unused_disabled",
]

GROUP = "rpgres"  # the entry points' group, and the distribution that brings the built-ins
DISABLE = "RPGRES_DISABLE"
UNNAMED = "unnamed-distribution"  # stands for one whose metadata are damaged
MOST_RECORDS = 1000  # a plugin that yields more does not end

# What a scan of everything installed would find anyway; looking it up here spares each start the scan.
BUILTIN = {
    "fate": "rpgres_fate",
    "coppermane": "rpgres_coppermane",
    "saga": "rpgres_saga",
    "faith": "rpgres_faith",
    "nodice": "rpgres_nodice",
}

Stage = Literal["find", "import", "register", "yield", "validate", "disabled"]

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Entry(msgspec.Struct, frozen=True):
    """One entry point, whether or not it can be used.

    Attributes:
        id: its name, which is the ruleset's id; empty when a distribution's entry points cannot be read.
        module: the module it names.
        attribute: the dotted attribute of the module that is the plugin; empty for the module itself.
        distribution: what installed it.
        version: that distribution's version.
        builtin: whether it ships with rpgres.
        fault: why it cannot be used, as far as that can be told without importing it.
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
        """The distribution and its version; the folder of what nobody installed."""
        if not self.distribution:
            return self.folder
        return f"{self.distribution} {self.version}".rstrip()


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


class PluginStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one entry point when it was checked thoroughly.

    `stage` and `problem` say where and why it failed; they are None and empty when it is `ok`. Several problems of the
    data are on one line each. An entry point that could not be read has an empty `id`.

    Attributes:
        id: the ruleset; empty where the plugin could not be read.
        title: what people call it.
        summary: what it is, in a line.
        distribution: the package that brings it.
        version: that package's version.
        module: the module that has it.
        builtin: whether it ships with rpgres.
        ok: whether it can be used.
        stage: where it failed; null where it did not.
        problem: why it failed; empty where it did not.
    """

    id: str
    title: str = ""
    summary: str = ""
    distribution: str
    version: str
    module: str
    builtin: bool
    ok: bool
    stage: Stage | None = None
    problem: str = ""


class PluginList(Printed, frozen=True, kw_only=True, tag="rpgres.plugins/1"):
    """The plugins that bring rulesets, as `rpgres plugin list --json` prints them.

    Attributes:
        ok: whether every plugin can be used, those aside that were disabled.
        plugins: the plugins.
        warnings: what else should be known.
    """

    ok: bool
    plugins: Sequence[PluginStatus]
    warnings: Sequence[str]


# ---------------------------------------------------------------------------------------------------------------------
# One ruleset


def find_ruleset(ruleset_id: str, *, extra: Sequence[Path] = ()) -> Ruleset:
    """Return the code of a ruleset, importing the one plugin that has it.

    Its record is checked, its data are not: `load_rules` reads them, and `list_rulesets` holds them against the code.

    Args:
        ruleset_id: as typed.
        extra: the folders of `--rulesets`.

    Raises:
        UsageError: nothing has this id.
        PluginError: what has it cannot be used; the message names the distribution, the stage and what to do.
    """
    if ruleset_id in BUILTIN:
        return _load(_builtin_entry(ruleset_id))
    _refuse_notation(ruleset_id)
    standing = _standing(ruleset_id, extra)
    if standing and standing[0].builtin:
        return _load(standing[0])
    claims = _claims(ruleset_id, extra)
    if not claims:
        raise unknown_ruleset(ruleset_id, extra=extra)
    return _load(_only(claims))


def _builtin_entry(ruleset_id: str) -> Entry:
    return Entry(ruleset_id, BUILTIN[ruleset_id], builtin=True)


def _claims(ruleset_id: str, extra: Sequence[Path]) -> list[Entry]:
    """Return all that could be the ruleset of this id and does not ship with rpgres."""
    installed = [entry for entry in _installed() if entry.id == ruleset_id]
    standing = [entry for entry in _standing(ruleset_id, extra) if not entry.builtin]
    # Where a plugin's own data lie on the rulesets path, they are no second ruleset.
    own = [_likely_folder(entry) for entry in installed] if standing else []
    return [entry for entry in standing if not _is_one_of(Path(entry.folder), own)] + installed


def _is_one_of(folder: Path, others: Iterable[Path | None]) -> bool:
    place = os.path.realpath(folder)
    return any(other is not None and os.path.realpath(other) == place for other in others)


def _standing(ruleset_id: str, extra: Sequence[Path]) -> list[Entry]:
    """Return the folders of an id that are a whole ruleset; only the one that ships, when one does."""
    if os.path.basename(ruleset_id) != ruleset_id or ruleset_id in ("", os.curdir, os.pardir):
        return []
    return [entry for entry in _all_standing(extra, ruleset_id) if entry.id == ruleset_id]


def standalone_folder(ruleset_id: str, *, extra: Sequence[Path] = ()) -> Path | None:
    """Return the folder of a ruleset that is data alone, or None when this is no such ruleset."""
    standing = _standing(ruleset_id, extra) if ruleset_id not in BUILTIN else []
    return Path(standing[0].folder) if standing else None


def _all_standing(extra: Sequence[Path], ruleset_id: str | None = None) -> Iterator[Entry]:
    """Yield the folders that are whole rulesets, those that ship first; those of an id that ships are not of others.

    A folder with such an id is laid over what ships, and told as a fault where it says that it is a whole ruleset.
    """
    shipped = builtin_folder()
    taken = set(BUILTIN)
    places: set[str] = set()
    for root in (shipped, *overlay_roots(extra)):
        for name in _folders_in(root, ruleset_id):
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


def _folders_in(root: Path, name: str | None) -> list[str]:
    """Return the names in a folder, or the one asked for when it is there as it is spelt."""
    if name is not None and _ID.fullmatch(name):
        return [name]  # most: no other spelling of an id is one, so a file system that ignores case does no harm
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    return [found for found in names if name in (None, found)]


def folder_fault(name: str) -> str:
    """Return why a ruleset that is a folder cannot have this name, with what to call it; nothing when it can."""
    fault = _fault(name)
    if not fault or _ID.fullmatch(name):
        return fault
    better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return fault if _fault(better) else f"{fault}; rename the folder to {better!r}"


def misnamed_folders(*, extra: Sequence[Path] = ()) -> list[Diagnostic]:
    """Return the folders that are whole rulesets and whose names no ruleset can have.

    Args:
        extra: the folders of `--rulesets`.
    """
    from rpgres.toml.diagnostics import Diagnostic

    return [Diagnostic("bad-id", entry.fault, entry.folder) for entry in _all_standing(extra) if entry.fault]


def owner_of(folder: Path, *, extra: Sequence[Path] = ()) -> str | None:
    """Return the id of the ruleset whose own data are in this folder, as far as that is found without an import."""
    for entry in _all(extra):
        if not entry.fault and _is_one_of(folder, [_likely_folder(entry)]):
            return entry.id
    return None


def is_standalone(folder: Path) -> bool:
    """Tell whether a folder's `ruleset.toml` says that it is a whole ruleset, without code.

    What says anything but false is meant to be one; reading it tells that it should be `true`.
    """
    path = folder / "ruleset.toml"
    if not os.path.isfile(path):
        return False
    head = _head(path)
    return head.get("standalone", False) is not False if head else _says_standalone(path)


def _says_standalone(path: Path) -> bool:
    """Tell whether a file that is no TOML, or no UTF-8, was meant to be a whole ruleset, so that its fault is told."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES)
    except (OSError, ValueError):
        return False
    text = content.replace(b"\0", b"").decode("ascii", "ignore")  # the zeros of UTF-16
    return re.search(r"^\s*standalone\s*=\s*true\b", text, re.MULTILINE) is not None


def _refuse_notation(ruleset_id: str) -> None:
    from rpgres.dice import is_notation

    if is_notation(ruleset_id):
        raise UsageError(f"{ruleset_id!r} is dice notation, not a ruleset; to roll it: rpgres roll {ruleset_id}")


def _only(claims: Sequence[Entry]) -> Entry:
    """Return the one of these that is neither disabled nor impossible; when none is, one whose fault is to be told."""
    able = _able(claims)
    if len(able) > 1:
        raise _clash(able[0], able)
    rest = [entry for entry in claims if not _is_disabled(entry)] or claims
    return (able or rest)[0]


def _able(claims: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in claims if not entry.fault and not _is_disabled(entry)]


def _load(entry: Entry) -> Ruleset:
    _check_entry(entry)
    return _record(entry)


def _check_entry(entry: Entry) -> None:
    if _is_disabled(entry):
        value = os.environ.get(DISABLE, "")
        raise _failure(
            entry, "disabled", f"{DISABLE}={value} switches it off", advice=f"To use it, take it out of {DISABLE}."
        )
    if entry in ENDED:
        raise _failure(entry, "import", ENDED[entry])
    if entry.fault:
        raise _failure(entry, "find", entry.fault, advice=_RENAME if entry.folder else None)


ENDED: dict[Entry, str] = {}  # plugins that end the process that imports them, and how (`rpgres.plugins.probing`)


def installed_entries() -> list[Entry]:
    """Return the entry points of what is installed that can be imported, those that ship with rpgres left out."""
    return _able(_installed())


def ended_faults() -> list[str]:
    """Return what there is to tell of every plugin that is known to end the process that imports it."""
    return [_failure(entry, "import", told).message for entry, told in ENDED.items()]


def load_entry(entry: Entry) -> None:
    """Import a plugin as every use of it does, and let be whatever is wrong with it."""
    with suppress(PluginError):
        _record(entry)


# An exception is not kept, so a plugin mended while a program runs is found.
@lru_cache(maxsize=256)
def _record(entry: Entry) -> Ruleset:
    """Return the record an entry point stands for, after the checks that need no data."""
    if entry.folder:
        return Ruleset(entry.id, data=Path(entry.folder))
    records = _records(_import(entry), entry)
    with _stage(entry, "validate"):
        rulesets = [_checked(record, place, entry) for place, record in enumerate(records, 1)]
        found = [ruleset for ruleset in rulesets if ruleset.id == entry.id]
        if not found:
            has = ", ".join(repr(ruleset.id) for ruleset in rulesets) or "nothing"
            raise _failure(
                entry,
                "validate",
                f"its hook yields {has} instead of the ruleset {entry.id!r} that the entry point declares",
            )
        if len(found) > 1:
            raise _failure(entry, "validate", f"its hook yields {len(found)} rulesets with this id")
        _check_contract(found[0], entry)
    found[0].origin = Origin(entry.distribution, entry.version, entry.builtin)
    return found[0]


def _import(entry: Entry) -> object:
    from importlib import import_module

    with _stage(entry, "import"):
        plugin: object = import_module(entry.module)
        for name in filter(None, entry.attribute.split(".")):
            plugin = getattr(plugin, name)
    return plugin


def _records(plugin: object, entry: Entry) -> list[object]:
    with _stage(entry, "register"):
        records = _hook_of(plugin, entry)
    with _stage(entry, "yield"):
        found = list(islice(records(), MOST_RECORDS + 1))
    if len(found) > MOST_RECORDS:
        raise _failure(
            entry, "yield", f"its hook yields more than {MOST_RECORDS:,} records; it may be an endless generator"
        )
    return found


def _hook_of(plugin: Any, entry: Entry) -> Callable[[], Iterable[object]]:
    if entry.builtin:  # what ships needs no checks, and importing pluggy takes 3 ms of a one-shot command
        hook: Callable[[], Iterable[object]] = plugin.rpgres_rulesets
        return hook
    from rpgres.plugins.spec import register

    return register(plugin, name=entry.module)


def _checked(record: object, place: int, entry: Entry) -> Ruleset:
    if not isinstance(record, Ruleset):
        raise _failure(
            entry,
            "validate",
            f"what its hook yields as number {place} is not a rpgres.Ruleset but {in_short(repr(record))}",
        )
    return record


def _check_contract(ruleset: Ruleset, entry: Entry) -> None:
    """Check what a record says of itself; the data are another matter (`rpgres.lint.whole`)."""
    api: object = ruleset.api
    if type(api) is not int or api < 1:
        raise _failure(entry, "validate", f"its api is {in_short(repr(api))}, not a whole number from 1 to {API}")
    if api > API:
        raise _failure(
            entry,
            "validate",
            f"it was written for API {api} of rpgres, and rpgres {__version__} has API {API}",
            advice="To use it, upgrade rpgres (pip install --upgrade rpgres), or install an older "
            f"{entry.distribution}.",
        )
    data: object = ruleset.data
    if not isinstance(data, Path) and not (entry.builtin and data is None):
        raise _failure(
            entry,
            "validate",
            f"its data folder is {in_short(repr(data))}; it should be a pathlib.Path, as in "
            f"Ruleset({entry.id!r}, data=Path(__file__).parent)",
        )
    for name in ("actions", "effects", "policies"):
        functions = getattr(ruleset, name)
        wrong = [key for key, function in functions.items() if not callable(function)]
        if wrong:
            raise _failure(entry, "validate", f"its {name} contain non-functions: {', '.join(wrong)}")


# ---------------------------------------------------------------------------------------------------------------------
# Failures


@contextmanager
def _stage(entry: Entry, stage: Stage) -> Iterator[None]:
    """Turn whatever a plugin raises into a `PluginError`, and keep it from the terminal while its code runs."""
    with _interrupts() as interrupts:
        try:
            if entry.builtin:
                yield
            else:
                with _muzzled():
                    yield
        except PluginError:
            raise
        except BaseException as error:  # SystemExit and the like too: a plugin must not end the program
            if isinstance(error, KeyboardInterrupt) and interrupts:
                raise
            told, advice = _told(error, stage, entry)
            raise _failure(entry, stage, told, advice=advice) from error


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Note the interrupts that come from the keyboard: whoever is here can tell theirs from one that code raises."""
    import signal
    import threading

    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield came  # nothing from the keyboard arrives here
        return

    def note(number: int, frame: FrameType | None) -> object:
        came.append(number)
        return before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _muzzled() -> Iterator[None]:
    # Standard output belongs to results; and a plugin that asks something when it is imported would hang every listing.
    from contextlib import redirect_stdout
    from io import StringIO

    typed, sys.stdin = sys.stdin, StringIO()
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdin = typed


def _told(error: BaseException, stage: Stage, entry: Entry) -> tuple[str, str]:
    """Return what a plugin's exception means, and what to do about it where that is known (else nothing)."""
    if stage == "import" and isinstance(error, ModuleNotFoundError) and error.name:
        if entry.module == error.name or entry.module.startswith(f"{error.name}."):
            return f"its module {error.name!r} does not exist", _reinstall(entry)
        return f"it needs the module {error.name!r}, which is not installed", _reinstall(entry)
    if stage == "import" and isinstance(error, ImportError) and error.name == GROUP:
        upgrade = f"pip install --upgrade {GROUP} {entry.distribution}"
        return (
            f"{in_words(error)}; it was written for another version of rpgres than {__version__}",
            f"Upgrade both: {upgrade}.",
        )
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return f"it tried to exit the program ({in_words(error)})", ""
    if isinstance(error, LookupError) and stage == "register":
        return str(error), ""
    if stage == "register":
        return f"{in_words(error)}; the hook `rpgres_rulesets` takes no argument, and there is no other hook", ""
    return f"{in_words(error)}{place_of(error)}", ""


def _reinstall(entry: Entry) -> str:
    return f"To repair it, reinstall it with its dependencies: pip install --force-reinstall {entry.distribution}."


def _failure(entry: Entry, stage: Stage, told: str, *, advice: str | None = None) -> PluginError:
    if stage == "disabled":
        what = f"the ruleset {entry.id} of {entry.origin} is disabled: {told}"
    else:
        name = f"the ruleset {entry.id}" if entry.id else "a ruleset"
        point = f", entry point {entry.id} = {entry.value}" if entry.id and not entry.folder else ""
        what = f"{name} of {entry.origin} cannot be used (stage {stage}{point}): {told}"
    end = "\n" if "\n" in what else " " if what.endswith("?") else ". "
    return PluginError(f"{what}{end}{advice or _advice(entry)}", **_details(entry, stage))


def _details(entry: Entry, stage: Stage) -> dict[str, Any]:
    return {
        "plugin": entry.id,
        "distribution": entry.distribution,
        "version": entry.version,
        "module": entry.value,
        "stage": stage,
    }


def _advice(entry: Entry) -> str:
    if entry.folder and not entry.builtin:
        return f"`rpgres ruleset check {entry.id}` lists all faults."
    if entry.builtin:
        return f"The installation is damaged; to repair it: pip install --force-reinstall {entry.distribution}."
    folder = _edited_at(entry)
    if folder:
        return f"It is an editable installation; correct it in {folder}."
    remove = f"pip install --upgrade {entry.distribution}, or remove it: pip uninstall {entry.distribution}"
    return f"Try a newer version: {remove}, or switch it off: {DISABLE}={entry.distribution}."


_RENAME = "The folder is ignored until it is renamed."


def _edited_at(entry: Entry) -> str:
    """Return the folder that a distribution was installed from so that changes count at once; else nothing."""
    import json
    from importlib.metadata import distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        said = json.loads(distribution(entry.distribution).read_text("direct_url.json") or "{}")
        is_edited = said["dir_info"]["editable"] is True
        return url2pathname(urlsplit(said["url"]).path) if is_edited else ""
    except Exception:  # noqa: BLE001  # most have no such file, and a damaged one says nothing
        return ""


def _clash(entry: Entry, claims: Sequence[Entry]) -> PluginError:
    who = " and ".join(claim.folder or f"{claim.origin} ({claim.value})" for claim in claims)
    folders = [claim.folder for claim in claims if claim.folder]
    names = list(dict.fromkeys(claim.distribution for claim in claims if not claim.folder))
    ways = []
    if folders:
        ways.append(
            f"Rename the folder {folders[-1]}; or take `standalone = true` out of its ruleset.toml, and it is laid "
            "over the other"
        )
    if len(names) > 1 or (names and folders):
        remove = " or ".join(f"pip uninstall {name}" for name in names)
        ways.append(f"{'remove the plugin' if folders else 'Remove one'}: {remove}")
        ways.append(f"or switch {'it' if len(names) == 1 else 'one'} off: {DISABLE}={names[-1]}")
    elif names:
        ways.append(f"Remove it: pip uninstall {names[0]}")
    # Neither is to blame more than the other, so the message names no culprit.
    message = f"the ruleset {entry.id} cannot be used (stage find): this id is claimed by {who}. {'; '.join(ways)}."
    return PluginError(message, **_details(entry, "find"), distributions=names)


def unknown_ruleset(ruleset_id: str, *, extra: Sequence[Path] = ()) -> UsageError:
    """Return the error of an id that nothing has, with the nearest, all there are, and what a folder of it lacks.

    Args:
        ruleset_id: as typed.
        extra: the folders of `--rulesets`.
    """
    from rpgres.toml.reading import nearest

    names = [name.id for name in ruleset_names(titles=False, extra=extra)]
    near = nearest(ruleset_id, names)
    said = [f"there is no ruleset {ruleset_id!r}"]
    if near:
        said.append(f"did you mean {near!r}?")
    said.append(f"installed: {', '.join(names) or 'none'}")
    folder = _overlay_folder(ruleset_id, extra)
    if folder is not None:
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
    if not _ID.fullmatch(ruleset_id):
        return None  # what was typed may be a path
    folders = [root / ruleset_id for root in reversed(overlay_roots(extra))]
    return next((folder for folder in folders if os.path.isdir(folder)), None)  # unlike Path's, this never raises


# ---------------------------------------------------------------------------------------------------------------------
# What is installed


def _disabled() -> set[str]:
    return {_normal(name) for name in os.environ.get(DISABLE, "").split(",") if name.strip()}


def _is_disabled(entry: Entry) -> bool:
    """Tell whether `RPGRES_DISABLE` names the ruleset, or the distribution of a third party."""
    disabled = _disabled()
    if not disabled:
        return False
    return entry.id in disabled or (not entry.builtin and _normal(entry.distribution) in disabled)


def unused_disabled(*, extra: Sequence[Path] = ()) -> list[str]:
    """Return what `RPGRES_DISABLE` names that switches nothing off: one sentence for each, with the nearest name.

    Args:
        extra: the folders of `--rulesets`.
    """
    from rpgres.toml.reading import nearest

    entries = list(_all(extra))
    known = {entry.id for entry in entries} | {_normal(entry.distribution) for entry in entries if not entry.builtin}
    told = []
    for name in sorted(_disabled() - known):
        near = nearest(name, sorted(filter(None, known)))
        hint = f"; did you mean {near!r}?" if near else ""
        told.append(f"{DISABLE} names {name!r}, but there is no such ruleset or distribution{hint}")
    return told


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _installed() -> tuple[Entry, ...]:
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
        entries.setdefault(_normal(name), list(_entries(distribution, name, version)))
    return tuple(sorted((entry for found in entries.values() for entry in found), key=_order))


def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    try:
        if distribution.metadata["Name"]:
            return str(distribution.metadata["Name"]), str(distribution.metadata["Version"] or "")
    except Exception:  # noqa: BLE001, S110  # metadata that are missing or damaged raise whatever they happen to
        pass
    folder = Path(getattr(distribution, "_path", "")).stem  # `name-1.0.dist-info`
    name, _, version = folder.partition("-")
    return name or UNNAMED, version


def _order(entry: Entry) -> tuple[str, str, str]:
    return entry.id, entry.distribution, entry.value


def _entries(distribution: Distribution, name: str, version: str) -> Iterator[Entry]:
    try:
        points = [point for point in distribution.entry_points if point.group == GROUP]
    except Exception as error:  # noqa: BLE001  # a faulty line of the file raises whatever it happens to
        yield Entry("", "", distribution=name, version=version, fault=f"entry_points.txt is faulty: {in_words(error)}")
        return
    for point in dict.fromkeys(points):
        if _normal(name) == GROUP and BUILTIN.get(point.name) == point.value:
            continue
        value = re.fullmatch(r"\s*([\w.]+)\s*(?::\s*([\w.]+)\s*)?(?:\[.*\]\s*)?", point.value)
        module, attribute = (value[1], value[2] or "") if value else (point.value, "")
        fault = _fault(point.name) if value else f"its value {in_short(repr(point.value))} is not a module"
        yield Entry(point.name, module, attribute, name, version, fault=fault)


def _fault(ruleset_id: str) -> str:
    """Return why an entry point cannot have this name; nothing when it can."""
    from rpgres.dice import is_notation

    if ruleset_id in BUILTIN or (_ID.fullmatch(ruleset_id) and is_standalone(builtin_folder() / ruleset_id)):
        return "this id belongs to a ruleset shipped with rpgres, which stays in use; choose another"
    if is_notation(ruleset_id):
        return "this id would be read as dice notation; choose another"
    if not _ID.fullmatch(ruleset_id):
        return "an id consists of lowercase letters, digits and hyphens, and starts with a letter"
    return ""


# ---------------------------------------------------------------------------------------------------------------------
# All rulesets


def ruleset_names(*, titles: bool = True, extra: Sequence[Path] = ()) -> list[RulesetName]:
    """Return the rulesets that can be named, built-ins first, without importing any plugin.

    Args:
        extra: the folders of `--rulesets`.
        titles: whether to read title and summary, where they are found without an import.
    """
    claims: dict[str, list[Entry]] = {}
    for entry in _able(_all(extra)):
        claims.setdefault(entry.id, []).append(entry)
    return [
        RulesetName(ruleset_id, *(_title(able[0]) if titles and len(able) == 1 else ("", "")), able[0].builtin)
        for ruleset_id, able in claims.items()
    ]


def claimed_ids(*, extra: Sequence[Path] = ()) -> list[str]:
    """Return every id that something has, whether or not it can be used or is switched off.

    Args:
        extra: the folders of `--rulesets`.
    """
    return list(dict.fromkeys(entry.id for entry in _all(extra)))


def contested(ruleset_id: str, *, extra: Sequence[Path] = ()) -> str:
    """Return who claims an id and that it therefore cannot be used; nothing when at most one has it.

    Args:
        ruleset_id: the id.
        extra: the folders of `--rulesets`.
    """
    if ruleset_id in BUILTIN:
        return ""
    able = _able(_claims(ruleset_id, extra))
    return _clash(able[0], able).message if len(able) > 1 else ""


def _all(extra: Sequence[Path] = ()) -> Iterable[Entry]:
    installed = _installed()
    ids = {entry.id for entry in installed}
    standing = [
        entry
        for entry in _all_standing(extra)
        if entry.builtin or entry.id not in ids or entry in _claims(entry.id, extra)
    ]
    return (*map(_builtin_entry, BUILTIN), *standing, *installed)


def installed_folders() -> dict[str, Path]:
    """Return where third parties' rulesets have their data, by id, as far as that is found without an import."""
    found = {entry.id: _likely_folder(entry) for entry in _able(_installed())}
    return {ruleset_id: folder for ruleset_id, folder in found.items() if folder is not None}


def _title(entry: Entry) -> tuple[str, str]:
    own = _likely_folder(entry)
    if own is None:
        return "", ""
    heads = [_head(folder / "ruleset.toml") for folder in data_folders(entry.id, own=own)]
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


def _head(path: Path) -> dict[str, object]:
    """Return the keys of a TOML file that stand before its first table; nothing when it cannot be read."""
    try:
        known = os.stat(path)
    except (OSError, ValueError):
        return {}
    return _head_of(path, (known.st_mtime_ns, known.st_size, known.st_ino))


@lru_cache(maxsize=256)  # a list asks for each several times: whether it is whole, whose it is, what it is called
def _head_of(path: Path, _stamp: tuple[int, ...]) -> dict[str, object]:
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


def list_rulesets(
    ruleset_id: str | None = None,
    *,
    extra: Sequence[Path] = (),
    failed: Callable[[PluginError], None] | None = None,
    begins: Callable[[str], None] | None = None,
) -> list[PluginStatus]:
    """Return what becomes of every entry point, built-ins first, each imported and checked thoroughly. Raises nothing.

    Checked are a plugin's own data, without overlays, so that a fault found is the plugin's.

    Args:
        ruleset_id: only the entry points of this id, of which there may be none.
        extra: the folders of `--rulesets`.
        failed: is told the error of each that cannot be used, with what the plugin raised as its cause.
        begins: is told the id of each before it is checked.
    """
    entries = [entry for entry in _all(extra) if ruleset_id is None or entry.id == ruleset_id]
    found = []
    for entry in entries:
        if begins is not None:
            begins(entry.id)
        found.append(_status(entry, extra=extra, failed=failed))
    return found


def _status(entry: Entry, *, extra: Sequence[Path], failed: Callable[[PluginError], None] | None) -> PluginStatus:
    title, summary = _title(entry)
    try:
        _check_entry(entry)
        claims = [] if entry.builtin else _able(_claims(entry.id, extra))
        if len(claims) > 1:
            raise _clash(entry, claims)
        title, summary = _check_thoroughly(entry)
    except PluginError as error:
        stage, problem = error.details["stage"], error.message
        if failed is not None:
            failed(error)
    else:
        stage, problem = None, ""
    return PluginStatus(
        id=entry.id,
        title=title,
        summary=summary,
        distribution=entry.distribution,
        version=entry.version,
        module=entry.value,
        builtin=entry.builtin,
        ok=not problem,
        stage=stage,
        problem=problem,
    )


def _check_thoroughly(entry: Entry) -> tuple[str, str]:
    """Hold a ruleset's data against its code and return title and summary."""
    from rpgres.lint.whole import all_diagnostics
    from rpgres.rulesets import Rules

    ruleset = _record(entry)
    with _stage(entry, "validate"):
        try:
            parts = read_parts(data_folders(entry.id, own=ruleset.data)[:1], ruleset_id=entry.id)
            file = merge_parts(parts)
            found = all_diagnostics(Rules(ruleset, file=file, parts=parts))
            problems = list(dict.fromkeys(diagnostic.text for diagnostic in found))
        except RpgresError as error:
            problems = [error.message]
            if not isinstance(error, FileError):
                raise
        if problems:
            _refuse_data(entry, problems)
    return file.title, file.summary


def _refuse_data(entry: Entry, problems: Sequence[str]) -> NoReturn:
    head = "its data are faulty:" if entry.folder else "its data and its code do not match:"
    told = problems[0] if len(problems) == 1 else "\n".join((head, *problems))
    raise _failure(entry, "validate", told)
