"""Scenes found and read from TOML, with their characters. Nothing here plays one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rpgres.dice.seeds import read_seed
from rpgres.engine.players import default_policy
from rpgres.errors import FileError, RpgresError, UsageError, enumerated
from rpgres.model.serialization import fault_in
from rpgres.model.state import EMPTY, NO_NAMES, ROLES, Box, Map, State, Tag, freeze, put, slug
from rpgres.odds.query import policies_record
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, builtin_folder, overlay_roots
from rpgres.rulesets.effects import with_tracks
from rpgres.rulesets.sheets import ORDERS, STDIN, Sheet, find_sheet, make_sheet, seated
from rpgres.scenes.deciding import Deciders, who_decides
from rpgres.scenes.program import Scene, program_of
from rpgres.scenes.records import SceneFile, SceneTag, SceneThing, SceneTrack, Step
from rpgres.toml.diagnostics import Fault, KeyPath, diagnostics_error, nearest
from rpgres.toml.reading import FOLDER_NAMED, Source, convert, located, overlay, parse, read_source


def find_scene(name: str, *, extra: Sequence[Path] = ()) -> Path:
    """Return the file of a scene: a path, or a scene of a ruleset as `RULESET/NAME`.

    Raises:
        FileError: there is none; the message has the nearest name.
        PluginError: the ruleset cannot be used.
    """
    found = scene_file(name, extra=extra)
    if found is not None:
        return found
    if os.path.isdir(name):  # unlike `Path.is_dir`, it accepts impossible names
        raise FileError(f"{name}: cannot be read: {FOLDER_NAMED}", file=name)
    known = scene_names(extra=extra)
    near = nearest(name, known) or next((one for one in known if one.endswith(f"/{name}")), None)
    samples = [one for one in known if not one.partition("/")[2].startswith("conformance")]
    ships = f"; scenes that ship by name: {enumerated(samples, name)}" if samples else ""
    hint = f"; did you mean {near!r}?" if near else ships
    raise FileError(f"there is no scene {name!r}{hint}", file=name)


def scene_file(name: str, *, extra: Sequence[Path] = ()) -> Path | None:
    """Return the file of a scene as `find_scene` does; None where there is none.

    Raises:
        PluginError: the ruleset cannot be used.
    """
    path = Path(name)
    if os.path.isfile(path):
        return path
    ruleset, _, scene = name.removesuffix(".toml").partition("/")
    if not scene:
        return None
    roots = [root / ruleset for root in (*reversed(overlay_roots(extra)), builtin_folder())]
    found = next((file for root in roots if os.path.isfile(file := root / "scenes" / f"{scene}.toml")), None)
    return found if found is not None or ruleset in BUILTIN else _installed_scene(ruleset, scene)


def installed(ruleset: str, extra: Sequence[Path] = ()) -> Any:
    """Return the code of a ruleset that is installed, or found in a further folder; see `find_ruleset`."""
    from rpgres.plugins.discovery import find_ruleset

    return find_ruleset(ruleset, extra=extra)


def _installed_scene(ruleset: str, scene: str) -> Path | None:
    """Return a scene of a third party's ruleset, from its data folder."""
    try:
        data = installed(ruleset).data
    except UsageError:  # there is no such ruleset
        return None
    path = data / "scenes" / f"{scene}.toml" if data is not None else None
    return path if path is not None and os.path.isfile(path) else None


def open_scene(name: str, *, extra: Sequence[Path] = ()) -> tuple[Source, Path | None]:
    """Return the text of a scene under its typed name, and its folder.

    Args:
        name: a file, `-` for standard input (which has no folder), or a shipped scene as `RULESET/NAME`.
        extra: further folders with rulesets and overlays.

    Raises:
        FileError: there is none, or it cannot be read.
    """
    if name == STDIN:
        return read_source(Path(name)), None
    path = find_scene(name, extra=extra)
    source = read_source(path)
    return (source if path == Path(name) else replace(source, path=name.removesuffix(".toml"))), path.parent


def scene_names(*, extra: Sequence[Path] = ()) -> list[str]:
    """Return the scenes of all rulesets as `RULESET/NAME`, without importing a ruleset."""
    from rpgres.plugins.discovery import installed_folders

    folders = [folder for root in (builtin_folder(), *overlay_roots(extra)) for folder in sorted(root.glob("*"))]
    named = [*((folder.name, folder) for folder in folders), *installed_folders().items()]
    found = [f"{name}/{path.stem}" for name, folder in named for path in sorted((folder / "scenes").glob("*.toml"))]
    return list(dict.fromkeys(found))


class Overrides(msgspec.Struct, frozen=True):
    """What is chosen over what a scene's file says.

    Attributes:
        switches: house rules.
        policies: policies by character, the default for others under an empty name. Names of policies, or files of
            standing orders.
        auto: whether the ruleset's first policy decides where neither these nor the file names one.
    """

    switches: Mapping[str, str] = EMPTY
    policies: Mapping[str, str] = EMPTY
    auto: bool = False


NO_OVERRIDES = Overrides()


def load_scene(
    name: str,
    *,
    extra: Sequence[Path] = (),
    overrides: Overrides = NO_OVERRIDES,
    find_ruleset: Callable[[str], Any] | None = None,
) -> Scene:
    """Return the scene of a name, with its rules, sheets and policies.

    Args:
        name: see `open_scene`.
        extra: further folders with rulesets and overlays.
        overrides, find_ruleset: see `read_scene`.

    Raises:
        FileError: there is none, or it is faulty.
    """
    source, folder = open_scene(name, extra=extra)
    return read_scene(source, folder=folder, extra=extra, overrides=overrides, find_ruleset=find_ruleset)


def read_scene(
    source: Source,
    *,
    find_ruleset: Callable[[str], Any] | None = None,
    folder: Path | None = None,
    extra: Sequence[Path] = (),
    overrides: Overrides = NO_OVERRIDES,
    load: Callable[..., Rules] = load_rules,
    data: Mapping[str, Any] | None = None,
) -> Scene:
    """Return a scene from its text.

    Args:
        find_ruleset: returns a ruleset's code by id; by default one that is installed, or found in a further folder.
        folder: where sheets are sought first; by default the folder of the text.
        extra: further folders with rulesets and overlays.
        overrides: what is chosen over what the text says.
        load: returns the rules of a ruleset's code, as `load_rules` does; another may leave out overlays.
        data: the TOML of the scene, where it is not that of the text.

    Raises:
        FileError: the file is faulty; all problems at once.
    """
    file: SceneFile = convert(parse(source) if data is None else data, SceneFile, source=source)
    if file.seed is not None:
        try:
            read_seed(file.seed)
        except UsageError as error:
            raise _faulty(source, "wrong-value", ("seed",), error.message) from None
    folder = folder_of(source, folder)
    including = Including(file.ruleset, source, folder, extra)
    program = program_of(file.steps, source, ends=file.ends, included=including)
    try:
        code = find_ruleset(file.ruleset) if find_ruleset is not None else installed(file.ruleset, extra)
    except UsageError as error:
        raise _faulty(source, "unknown-name", ("ruleset",), error.message) from None
    rules = load(code, switches={**file.switches, **overrides.switches}, extra=extra)
    state, deciders = State(counters=Map(file.counters)), Deciders()
    deciders.add("", file.policy, folder, source)
    for part in (Part(file, source, folder), *including.parts):
        state = with_part(rules, state, part, deciders)
    state = with_tracks(rules, state)
    policies, auto = overrides.policies, overrides.auto
    decided = deciders.resolve(rules, state, policies, [leaf.step for leaf in program.leaves], auto=auto)
    own = {"": file.policy} if file.policy else {}
    told = {**who_decides(file, decided), **policies_record(rules, {**own, **policies}, auto=auto)}
    named = {"": default_policy(rules)} if auto and "" not in deciders.policies else {}
    named |= {who: name for who, name in policies.items() if who or name}
    return Scene(file, source, rules, state, decided, program, folder, tuple(extra), told, named)


class Part(NamedTuple):
    """A scene, or one that it includes: its record, its text, and its folder."""

    file: SceneFile
    source: Source
    folder: Path | None


class Including:
    """Reads the scenes that a scene includes, and those that they include.

    Attributes:
        parts: the scenes that were read, in order.
    """

    def __init__(self, ruleset: str, source: Source, folder: Path | None, extra: Sequence[Path]) -> None:
        self.parts: list[Part] = []
        self._ruleset, self._extra = ruleset, extra
        self._folders = {source.path: folder}
        self._above: dict[str, tuple[str, ...]] = {source.path: ()}

    def __call__(self, step: Step, source: Source, at: KeyPath) -> tuple[Source, Sequence[Step]]:
        """Return the text and the steps of an included scene.

        Raises:
            FileError: there is none, it is faulty, for another ruleset, or includes itself.
        """
        beside = self._folders[source.path]
        path = beside / step.include if beside is not None else Path(step.include)
        try:
            other, folder = open_scene(str(path) if os.path.isfile(path) else step.include, extra=self._extra)
        except FileError as error:
            raise _faulty(source, "unreadable-file", at, error.message) from None
        above = (*self._above[source.path], source.path)
        if other.path in above:
            raise _faulty(source, "endless", at, f"{step.include!r} includes this scene, so it would never end")
        file: SceneFile = convert(parse(other), SceneFile, source=other)
        if file.ruleset != self._ruleset:
            message = f"{step.include!r} is for the ruleset {file.ruleset}, and this scene for {self._ruleset}"
            raise _faulty(source, "wrong-ruleset", at, message)
        self._above[other.path], self._folders[other.path] = above, folder
        self.parts.append(Part(file, other, folder))
        return other, file.steps


def with_part(rules: Rules, state: State, part: Part, deciders: Deciders) -> State:
    """Return the table with what a scene, or one that it includes, adds to it.

    Args:
        deciders: the policies and orders so far, to which those of the scene are added.
    """
    file, source = part.file, part.source
    deciders.add_sets(file.orders, source)
    for name, described in file.characters.items():
        if name in state.characters:
            continue
        sheet, own = read_character(rules, name, described, source=source, folder=part.folder)
        state = seated(state, sheet)
        deciders.add(name, own, part.folder, source)
        if sheet.orders is not None:
            deciders.orders[name] = sheet.orders
    state = put(state, ("counters",), Map({**file.counters, **state.counters}))
    there = {tag.slug for tag in state.tags}
    for key, tag in file.tags.items():
        if slug(tag.text) in there:
            message = f"something called {tag.text!r} is already on the table; use another name"
            raise _faulty(source, "taken-name", ("tags", key), message)
        there.add(slug(tag.text))
    state = with_scene_tags(state, file.tags.values())
    tracks = {name: track for name, track in file.tracks.items() if name not in state.tracks}
    things = {name: thing for name, thing in file.things.items() if name not in state.things}
    wrong = list(faults_on_table(tracks, things))
    if wrong:
        raise diagnostics_error(located(wrong, source))
    return with_boxes_and_things(state, tracks=tracks, things=things)


def folder_of(source: Source, folder: Path | None = None) -> Path | None:
    """Return the folder where the sheets of a scene are sought first: by default that of its text."""
    if folder is not None or source.path == STDIN:
        return folder
    return Path(source.path).parent


def _faulty(source: Source, code: str, at: KeyPath, message: str) -> FileError:
    """Return the error of a fault at a key path of a scene."""
    return diagnostics_error(located([Fault(code, at, message)], source))


def with_scene_tags(state: State, tags: Iterable[SceneTag]) -> State:
    """Return the state with the tags of a scene."""
    return state.with_tags(
        Tag(tag.text, tag.kind, tag.on, Map(tag.uses), None if tag.seen_by is None else tuple(tag.seen_by))
        for tag in tags
    )


def faults_on_table(tracks: Mapping[str, SceneTrack], things: Mapping[str, SceneThing]) -> Iterator[Fault]:
    """Yield the diagnostics of the tracks and things of a scene."""
    for name, track in tracks.items():
        boxes = _box_sizes(track)
        strange = [box for box in track.marks if box not in boxes] if isinstance(track.marks, list) else []
        if strange:
            message = f"this track has the boxes {enumerated(boxes)}; there is no {strange[0]!r}"
            yield Fault("unknown-name", ("tracks", name, "marks"), message)
        elif isinstance(track.marks, int) and track.marks > len(boxes):
            message = f"{track.marks} boxes cannot be marked where there are {len(boxes)}"
            yield Fault("wrong-value", ("tracks", name, "marks"), message)
    for name, thing in things.items():
        fault = fault_in(State(things=Map({name: freeze(thing.value)})))
        if fault:
            yield Fault("wrong-value", ("things", name, "value"), fault)
        if name in tracks:
            message = f"there is already a track {name!r}; use another name"
            yield Fault("taken-name", ("things", name), message)


def with_boxes_and_things(state: State, *, tracks: Mapping[str, SceneTrack], things: Mapping[str, SceneThing]) -> State:
    """Return the state with the tracks and things of a scene, which are valid."""
    for name, track in tracks.items():
        marks = track.marks
        marked = list(_box_sizes(track))[:marks] if isinstance(marks, int) else marks
        boxes = tuple(Box(box, size, "x" if box in marked else "") for box, size in _box_sizes(track).items())
        state = put(state, ("tracks", name), boxes)
    for name, thing in things.items():
        state = put(state, ("things", name), freeze(thing.value))
    placed: list[tuple[str, SceneTrack | SceneThing]] = [*tracks.items(), *things.items()]
    hidden = {name: tuple(one.seen_by) for name, one in placed if one.seen_by is not None}
    return put(state, ("audiences",), Map({**state.audiences, **hidden}))


def _box_sizes(track: SceneTrack) -> dict[str, int]:
    if isinstance(track.boxes, int):
        return {str(number): 1 for number in range(1, track.boxes + 1)}
    return track.boxes


def read_character(
    rules: Rules, name: str, described: Mapping[str, Any], *, source: Source, folder: Path | None
) -> tuple[Sheet, str]:
    """Return a character of a scene, its sheet merged with the keys in the scene, and the name of its policy."""
    own = dict(described)
    policy = own.pop("policy", "")
    sheet = own.pop("sheet", None)
    prefix = ("characters", name)
    if name in NO_NAMES:
        what = "a role in actions" if name in ROLES else "a view"
        raise _faulty(source, "taken-name", prefix, f"{name!r} is the name of {what}; rename the character")
    if not isinstance(policy, str) or not isinstance(sheet, str | None):
        raise _faulty(source, "wrong-type", prefix, f"sheet and policy of {name} are texts")
    if sheet is None:
        return make_sheet(rules, own, name=name, source=source, prefix=prefix), policy
    try:
        path = find_sheet(rules, sheet, beside=folder)
    except RpgresError as error:
        raise _faulty(source, "unknown-name", (*prefix, "sheet"), error.message) from None
    base = read_source(path)
    # Faults of the sheet are reported for its file; its orders hold unless the scene has others.
    of_sheet = make_sheet(rules, parse(base), name=name, source=base)
    made = make_sheet(rules, overlay(parse(base), own), name=name, source=source, prefix=prefix)
    return (made if ORDERS in own else replace(made, orders=of_sheet.orders)), policy
