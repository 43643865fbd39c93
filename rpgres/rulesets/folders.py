"""The folders of a ruleset's data: kits, its own folder, and its overlays."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rpgres.errors import FileError, RpgresError
from rpgres.model.state import Deck
from rpgres.rulesets.actions import Action
from rpgres.rulesets.rows import ID
from rpgres.rulesets.schema import Label, RulesetFile
from rpgres.text.digest import blake2b
from rpgres.text.folders import settings_folder
from rpgres.toml.cache import parse_cached
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, diagnostics_error, unknown, unknown_name
from rpgres.toml.reading import Source, inside, located, overlay, read_source

BEGINS_SO = "a standalone ruleset.toml begins with `standalone = true`"

T = TypeVar("T")

KITS = Path(__file__).parent.parent / "kits" / "data"  # the data of `rpgres.kits`, a folder for each


def kit_names() -> list[str]:
    """Return the names of the kits that rulesets may name."""
    return sorted(path.parent.name for path in KITS.glob("*/ruleset.toml"))


def data_folders(ruleset_id: str, *, own: Path | None, extra: Sequence[Path] = ()) -> list[Path]:
    """Return the folders with data of a ruleset, farthest first: the ruleset's own, then every overlay.

    Overlays are sought in the user's configuration folder, `./rulesets`, `RPGRES_RULESETS` and the folders of
    `--rulesets` (`extra`), the last being the nearest. The folder from which an installed ruleset was packaged is no
    overlay of it: within a checkout, the installed ruleset is played.
    """
    base = own if own is not None else builtin_folder() / ruleset_id
    folders = [base]
    for root in overlay_roots(extra):
        folder = root / ruleset_id
        if not os.path.isdir(folder) or is_one_of(folder, folders):
            continue
        if not _is_packaged_from(root.parent / "pyproject.toml", ruleset_id):
            folders.append(folder)
    return folders


def _is_packaged_from(project: Path, ruleset_id: str) -> bool:
    """Whether the distribution that this project file builds brings the ruleset."""
    try:
        text = project.read_bytes() if os.path.isfile(project) else b""
    except OSError:
        return False
    import tomli

    try:
        said = tomli.loads(text.decode())["project"]
        if said["name"] == "rpgres" and os.path.isdir(builtin_folder() / ruleset_id):
            return True
        return ruleset_id in said["entry-points"]["rpgres"]
    except (ValueError, KeyError, TypeError):  # no project that can be read: its folders are overlays like any other
        return False


def overlay_roots(extra: Sequence[Path] = ()) -> list[Path]:
    """Return the folders in which rulesets and overlays are sought, farthest first."""
    roots = [Path(settings_folder()) / "rulesets", Path("rulesets")]
    roots += [Path(text) for text in reversed(os.environ.get("RPGRES_RULESETS", "").split(os.pathsep)) if text]
    roots += list(extra)
    return roots


def builtin_folder() -> Path:
    """Return the folder of the rulesets that ship with rpgres: in the wheel, or beside the package in a checkout."""
    package = Path(__file__).parent.parent
    shipped = package / "data"
    return shipped if os.path.isdir(shipped) else package.parent / "rulesets"


def is_one_of(folder: Path, others: Iterable[Path | None]) -> bool:
    """Tell whether a folder is one of some, however they are spelt."""
    place = os.path.realpath(folder)
    return any(other is not None and os.path.realpath(other) == place for other in others)


class Text(msgspec.Struct, frozen=True):
    """A table as one file writes it: the file, the table's data, and the key path under which it stands there."""

    source: Source
    data: Any
    prefix: tuple[str, ...] = ()


def merged(texts: Sequence[Text]) -> dict[str, Any]:
    """Return what the texts of one table say together, the farthest first, each overlaid by the next."""
    data: dict[str, Any] = {}
    for text in texts:
        data = overlay(data, text.data)
    return data


def read_as(texts: Sequence[Text], type_: type[T]) -> T:
    """Return what the texts of one table say together as a value of `type_`.

    Raises:
        FileError: they do not make one; all problems at once.
    """
    data = merged(texts)
    try:
        return msgspec.convert(data, type_, str_keys=True)
    except (msgspec.ValidationError, RpgresError, RecursionError, UnicodeError):
        from rpgres.toml.faults import faults
    raise faults_error(texts, faults(data, type_))


def faults_error(texts: Sequence[Text], faults: Iterable[Fault]) -> FileError:
    """Return the error that tells faults of a table with their files and lines, file by file in line order."""
    number = {text.source.path: number for number, text in enumerate(texts)}
    found = [located_in(texts, fault) for fault in faults]
    return diagnostics_error(sorted(found, key=lambda one: (number.get(one.file, 0), one.line or 0)))


def located_in(texts: Sequence[Text], fault: Fault) -> Diagnostic:
    """Return a fault of a table as a diagnostic, in the nearest of the files that have its key path."""
    from rpgres.toml.places import spot

    if not texts:
        return fault.placed("", None, None)
    text = texts[owner(texts, fault.path)]
    return fault.placed(text.source.path, *spot((*text.prefix, *fault.path), text.source.text), prefix=text.prefix)


def owner(texts: Sequence[Text], path: KeyPath) -> int:
    """Return the number of the nearest text that has a key path.

    For a key that is missing everywhere it is the farthest that comes closest: an overlay of three lines is not at
    fault for what the file below it never said.
    """
    chosen, longest, covered = len(texts) - 1, -1, 0
    for number in reversed(range(len(texts))):
        reached, whole = _reach(path, texts[number].data)
        if whole is not None and whole <= covered:
            break  # replaced by something nearer, so neither this nor what lies below it is seen
        if reached == len(path):
            return number
        if reached >= longest:
            chosen, longest = number, reached
        covered = max(covered, reached)
    return chosen


def _reach(path: KeyPath, value: Any) -> tuple[int, int | None]:
    """Return how many parts of a path are there, and at how many parts stands what overlays replace whole."""
    whole = None
    for depth, part in enumerate(path):
        if whole is None and (not isinstance(value, dict) or value == {"remove": True}):
            whole = depth
        try:
            value = value[part]
        except (LookupError, TypeError):
            return depth, whole
    return len(path), whole


class Part(Text, frozen=True, kw_only=True):
    """One folder's `ruleset.toml`; its text and data are empty when it has none.

    `is_overlay` tells an overlay from what a ruleset brings: its own folder, and the kits it uses.
    """

    folder: Path
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
    return [*parts, *map(overlay_part, folders[1:])]


def overlay_part(path: Path) -> Part:
    """Return what a house rule says that is not found by its place: a folder of a ruleset, or a TOML file alone.

    Raises:
        FileError: it is missing or no TOML.
    """
    if not os.path.isdir(path):
        source = read_source(path)
        if path.parent.name in ("outcomes", "decks") or path.name == "menus.toml":  # whose place says what it is
            return Part(folder=path, source=Source(path=str(path), text=""), data={}, is_overlay=True)
        return Part(folder=path, source=source, data=parse_cached(source), is_overlay=True)
    if os.path.isfile(path / "ruleset.toml"):
        return msgspec.structs.replace(_part(path), is_overlay=True)
    return Part(folder=path, source=Source(path=str(path / "ruleset.toml"), text=""), data={}, is_overlay=True)


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
            raise _faulty(own, unknown_name(("kits", number), f"there is no kit {name!r}", name, kit_names()))
        part = _part(KITS / name)
        if own.data.get("standalone") is True and part.data.get("standalone") is False:
            message = f"the kit {name} is for rulesets with code; a file can use aspects and harm"
            raise _faulty(own, Fault("useless", ("kits", number), message))
        parts.append(msgspec.structs.replace(part, data=_fitted(name, part.data, own.data)))
    return parts


def _fitted(kit: str, data: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a kit's data as a ruleset uses it: called as its settings say, without the sheet's part of no track."""
    tracks, settings = own.get("tracks", {}), own.get("settings", {})
    chosen = settings.get(kit, {}) if isinstance(settings, dict) else {}
    for key, old in data.get("settings", {}).get(kit, {}).items():
        new = chosen.get(key) if isinstance(chosen, dict) else None
        if key in NAMING and isinstance(new, str) and new != old:
            data = _renamed(data, old, new)
    sheet = {name: its for name, its in data.get("sheet", {}).items() if its.get("track", "") in ("", *tracks)}
    return {**data, "sheet": sheet} if sheet != data.get("sheet", {}) else data


NAMING = ("points",)  # the settings of kits that are names, after which their data are called


def _renamed(value: Any, old: str, new: str) -> Any:
    """Return data in which keys and texts have a new name for an old one, in the plural and the singular."""
    one, other = old.removesuffix("s"), new.removesuffix("s")
    pattern = re.compile(rf"\b{one.replace('-', '([- ])')}(s?)\b(?!-(?!later|after))")

    def text(match: re.Match[str]) -> str:
        return (new if match[2] else other).replace("-", match[1])

    def within(value: Any) -> Any:
        if isinstance(value, dict):
            return {pattern.sub(text, key): within(its) for key, its in value.items()}
        if isinstance(value, list):
            return [within(one) for one in value]
        return pattern.sub(text, value) if isinstance(value, str) else value

    return within(value)


def _faulty(part: Part, fault: Fault) -> FileError:
    return diagnostics_error(located([fault], part.source))


def merge_parts(parts: Sequence[Part]) -> RulesetFile:
    """Return the data of a ruleset, nearer folders merged over farther ones.

    Raises:
        FileError: the result is not a ruleset; all problems at once.
    """
    kits: Any = None
    for part in parts:
        if part.is_overlay and part.data.get("standalone", False) is not False:
            first = next(other.folder for other in parts if not other.is_overlay and other.folder.parent != KITS)
            message = (
                f"{first} is a standalone ruleset of the same id; remove this line to make this folder an overlay, "
                "or rename the folder"
            )
            raise _faulty(part, Fault("taken-name", ("standalone",), message))
        if part.is_overlay and part.data.get("kits", kits) != kits:
            message = "only the ruleset's own file can set its kits; an overlay cannot change them"
            raise _faulty(part, Fault("useless", ("kits",), message))
        kits = part.data.get("kits", kits)
    own = next((part.folder.name for part in parts if not part.is_overlay and part.folder.parent != KITS), "")
    return _completed(read_as(parts, RulesetFile), own)


# What described actions roll, unless the data say it better.
_IMPLIED = {
    "roll": Label(kind="chance", help="the actor's dice"),
    "opposition": Label(kind="chance", help="the opponent's dice"),
}


def _completed(file: RulesetFile, ruleset_id: str) -> RulesetFile:
    """Return a ruleset in which described actions have what they need not say: their labels, a table of their name."""
    if file.tables:
        from rpgres.rulesets.table_plans import with_tables

        file = with_tables(file, ruleset_id)
    if not file.standalone and not any(action.is_described for action in file.actions.values()):
        return file
    actions = dict(file.actions)
    for name, action in file.actions.items():
        if action.is_described or file.standalone:
            labels = dict.fromkeys([*action.groups, *action.ask, *action.labels])
            action = msgspec.structs.replace(action, labels=list(labels), tables=action.tables or [name])
        actions[name] = _with_windows(file, action) if file.windows else action
    named = {name: Label(kind="chance", help="dice of an action") for one in actions.values() for name in one.groups}
    for label, its in ((label, its) for one in actions.values() for label, its in one.ask.items()):
        options = dict.fromkeys([*(named[label].options if label in named else ()), *its.options])
        options |= dict.fromkeys(f"{name}-*" for name, option in its.options.items() if option.pick)
        named[label] = Label(kind="decision", help=its.text, who=its.who, optional=True, options=[*options])
    return msgspec.structs.replace(file, actions=actions, labels={**named, **_IMPLIED, **file.labels})


def _with_windows(file: RulesetFile, action: Action) -> Action:
    """Return an action with the labels and parameters of the windows that its formulas name."""
    if not action.dice:
        return action
    texts = [action.band, *action.numbers.values(), *action.conditions.values(), *_OF_AN_OUTCOME]
    seen, names = set[str](), file.window_names
    while texts:
        for name in re.findall(ID, texts.pop()):
            if name not in seen:
                seen.add(name)
                its = file.definitions.get(name)
                texts += [its.value, *its.cases.values()] if its is not None else ()
    used = [file.windows[window] for window in dict.fromkeys(names[name] for name in names if name in seen)]
    return msgspec.structs.replace(
        action,
        labels=list(dict.fromkeys([*action.labels, *(one for its in used for one in its.labels)])),
        parameters=list(dict.fromkeys([*action.parameters, *(one for its in used for one in its.parameters)])),
    )


_OF_AN_OUTCOME = ("total", "margin", "opposition")  # definitions of these names count for every action


class Layers:
    """The data of a ruleset as its folders have them: kits, its own, and overlays, the farthest first.

    Args:
        ruleset_id: whose they are.
        file: what the `ruleset.toml` of all of them say together.
        parts: the `ruleset.toml` of each.
    """

    def __init__(self, ruleset_id: str, file: RulesetFile, parts: Sequence[Part]) -> None:
        self._id = ruleset_id
        self._file = file
        self.parts = tuple(parts)
        self.folders = tuple(part.folder for part in parts)
        self._read: dict[str, list[Text]] = {}
        self._decks: dict[str, Deck] = {}
        self._identity: dict[str, Any] | None = None

    @property
    def overlays(self) -> list[str]:
        """The folders of the ruleset's overlays, the last one nearest."""
        return [str(part.folder) for part in self.parts if part.is_overlay]

    def is_overlaid(self, file: str) -> bool:
        """Tell whether a file is an overlay's, not one that the ruleset brings."""
        return any(Path(file).is_relative_to(folder) for folder in self.overlays)

    @property
    def is_own(self) -> bool:
        """Whether all data ship with the ruleset, whose authors have checked them: no overlay, nothing homemade."""
        is_homemade = self._file.standalone and not self.folders[0].is_relative_to(builtin_folder())
        return not is_homemade and not any(part.is_overlay for part in self.parts)

    def is_of_kits(self, *path: str) -> bool:
        """Tell whether something at a path of `ruleset.toml` comes from a kit, so that a ruleset need not use it."""
        kits = [part for part in self.parts if part.folder.parent == KITS]
        return any(inside(part.data, path) is not None for part in kits)

    def table_texts(self, name: str) -> list[Text]:
        """Return an outcome table as each file writes it, the farthest first; nothing when none does."""
        return self._texts(f"outcomes/{name}.toml", "outcomes", name)

    def menu_texts(self) -> list[Text]:
        """Return the menus as each file writes them, the farthest first."""
        return self._texts("menus.toml", "menus")

    def _texts(self, file_name: str, *path: str) -> list[Text]:
        """Return what every folder says, in its `ruleset.toml` or in a file of its own; read once."""
        if file_name in self._read:
            return self._read[file_name]
        found: list[Text] = []
        for part in self.parts:
            inline = inside(part.data, path)
            if inline == {"remove": True}:
                found.clear()
            elif inline and isinstance(inline, dict):  # anything else is replaced by a nearer file, or was refused
                found.append(Text(part.source, inline, path))
            is_alone = f"/{part.folder.as_posix()}".endswith(f"/{file_name}")
            place = part.folder if is_alone else part.folder / file_name
            if os.path.isfile(place):
                source = read_source(place)
                found.append(Text(source, parse_cached(source)))
        self._read[file_name] = found
        return found

    def files(self, folder: str, pattern: str = "*.toml") -> list[Path]:
        """Return the files in the folders of a name, such as `scenes`, those of the farthest first."""
        return [path for root in self.folders for path in sorted((root / folder).glob(pattern))]

    def deck_texts(self, name: str) -> list[Text]:
        """Return a deck as each file writes it, the farthest first; nothing when none does."""
        return self._texts(f"decks/{name}.toml", "decks", name)

    def deck_names(self) -> list[str]:
        """Return the names of all decks: the ruleset's, those of its kits and overlays."""
        found = dict.fromkeys((*self._file.decks, *(path.stem for path in self.files("decks"))))
        return [name for name in found if _is_there(self.deck_texts, name)]

    def deck(self, name: str) -> Deck:
        """Return a deck by name, read on first use from `decks/NAME.toml` or `ruleset.toml`.

        Raises:
            FileError: there is no such deck, or its data are faulty (all problems at once).
        """
        if name not in self._decks:
            from rpgres.rulesets.decks import read_deck

            if not self.deck_texts(name):
                raise FileError(unknown("deck", name, self.deck_names(), of=f"the ruleset {self._id}"))
            self._decks[name] = read_deck(name, texts_of=self.deck_texts, names=self.deck_names)
        return self._decks[name]

    def table_names(self) -> list[str]:
        """Return the names of all outcome tables, those of `ruleset.toml` first."""
        found = dict.fromkeys((*self._file.outcomes, *(path.stem for path in self.files("outcomes"))))
        return [name for name in found if _is_there(self.table_texts, name)]

    def outcome_texts(self) -> Iterator[Text]:
        """Yield every outcome table, and the menus, as each file writes them."""
        for name in self.table_names():
            yield from self.table_texts(name)
        yield from self.menu_texts()

    def identity(self) -> dict[str, Any]:
        """Return what names these rules exactly: version, a hash of all their data, and the overlays in use."""
        if self._identity is None:
            digest = blake2b(digest_size=16)
            for folder in self.folders:
                for name in sorted(_files_of_rules(folder)):
                    with open(f"{folder}/{name}", "rb") as file:
                        text = file.read().replace(b"\r\n", b"\n")  # the same whatever a checkout does to lines
                    digest.update(name.encode() + b"\0" + text + b"\0")
            version, overlays = self._file.version, self.overlays
            self._identity = {"version": version, "hash": digest.hexdigest(), "overlays": overlays}
        return self._identity


def _is_there(texts_of: Callable[[str], list[Text]], name: str) -> bool:
    """Tell whether some file has a table or deck of a name; that it cannot be read is told when it is."""
    try:
        return bool(texts_of(name))
    except FileError:
        return True


def _files_of_rules(folder: Path) -> Iterator[str]:
    """Yield the TOML files in a folder, but its characters and stories: relative to it, with slashes."""
    root = str(folder)
    for path, folders, files in os.walk(root):  # objects for paths would cost more than reading the files
        within = path[len(root) + 1 :].replace(os.sep, "/")
        if not within:
            folders[:] = [name for name in folders if name not in ("sheets", "scenes")]
        for name in files:
            if os.path.normcase(name).endswith(".toml") and os.path.isfile(os.path.join(path, name)):
                yield f"{within}/{name}" if within else name
