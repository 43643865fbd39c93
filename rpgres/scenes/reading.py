"""Scenes found and read from TOML, with their characters and deciders. Nothing here plays one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rpgres.dice.seeds import read_seed
from rpgres.engine.players import ORDERS_FILE, OrdersPolicy, Policy, default_policy, policy_names, policy_of
from rpgres.errors import FileError, RpgresError, UsageError, enumerated
from rpgres.lint.paths import Known
from rpgres.model.serialization import fault_in
from rpgres.model.state import EMPTY, GM, NO_NAMES, ROLES, Box, Map, State, Tag, freeze, put, slug
from rpgres.model.typed_paths import typed_path
from rpgres.odds.query import policies_record
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, builtin_folder, overlay_roots, unknown
from rpgres.rulesets.effects import with_tracks
from rpgres.rulesets.orders import Orders
from rpgres.rulesets.sheets import ORDERS, STDIN, Sheet, SheetOrders, find_sheet, make_sheet, seated
from rpgres.scenes.program import Scene, program_of
from rpgres.scenes.records import SceneFile, SceneThing, SceneTrack, Step, texts_of
from rpgres.toml.diagnostics import Fault, KeyPath, diagnostics_error, nearest
from rpgres.toml.reading import FOLDER_NAMED, Source, convert, located, overlay, parse, read_source


def find_scene(name: str, *, extra: Sequence[Path] = ()) -> Path:
    """Return the file of a scene by its path, or by `RULESET/NAME`; errors suggest the nearest name."""
    found = scene_file(name, extra=extra)
    if found is not None:
        return found
    if os.path.isdir(name):  # unlike `Path.is_dir`, it accepts impossible names
        raise FileError(f"{name}: cannot be read: {FOLDER_NAMED}", file=name)
    known = scene_names(extra=extra)
    near = nearest(name, known) or next((one for one in known if one.endswith(f"/{name}")), None)
    samples = [one for one in known if not one.partition("/")[2].startswith("conformance")]
    hint = f"; scenes that ship by name: {enumerated(samples, name)}" if samples else ""
    raise FileError(f"there is no scene {name!r}{f'; did you mean {near!r}?' if near else hint}", file=name)


def scene_file(name: str, *, extra: Sequence[Path] = ()) -> Path | None:
    """Return the file of a scene, or None for an unknown name."""
    path = Path(name)
    if os.path.isfile(path):
        return path
    ruleset, _, scene = name.removesuffix(".toml").partition("/")
    if not scene:
        return None
    folders = [root / ruleset for root in (*reversed(overlay_roots(extra)), builtin_folder())]
    found = _scene_in(folders, scene)
    if found is not None or ruleset in BUILTIN:
        return found
    try:
        data = installed(ruleset).data
    except UsageError:  # unknown ruleset
        return None
    return _scene_in([data] if data is not None else [], scene)


def _scene_in(folders: Iterable[Path], scene: str) -> Path | None:
    return next((file for folder in folders if os.path.isfile(file := folder / "scenes" / f"{scene}.toml")), None)


def installed(ruleset: str, extra: Sequence[Path] = ()) -> Any:
    """Return the code of a ruleset that is installed, or found in a further folder; see `find_ruleset`."""
    from rpgres.plugins.discovery import find_ruleset

    return find_ruleset(ruleset, extra=extra)


def open_scene(name: str, *, extra: Sequence[Path] = ()) -> tuple[Source, Path | None]:
    """Return the text of a scene under its typed name, and its folder; `-` is standard input, which has none."""
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
    """Choices that override those of a scene's file.

    Attributes:
        switches: house rules.
        policies: names of policies or files of orders by character, the default for others under an empty name.
        auto: whether the ruleset's first policy decides where neither these nor the file names one.
    """

    switches: Mapping[str, str] = EMPTY
    policies: Mapping[str, str] = EMPTY
    auto: bool = False


NO_OVERRIDES = Overrides()


def load_scene(name: str, *, extra: Sequence[Path] = (), **options: Any) -> Scene:
    """Return the scene of a name; see `open_scene`, and `read_scene` for the options."""
    source, folder = open_scene(name, extra=extra)
    return read_scene(source, folder=folder, extra=extra, **options)


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
    """Return a scene from its text, with its rules, sheets and policies.

    Args:
        find_ruleset: returns a ruleset's code by id; by default one that is installed, or found in a further folder.
        folder: where sheets are sought first; by default the folder of the text.
        extra: further folders with rulesets and overlays.
        load: returns the rules of a ruleset's code, as `load_rules` does; another may leave out overlays.
        data: the parsed TOML, if it differs from the text.

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
    state, deciders = State(), Deciders()
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


class Deciders(msgspec.Struct):
    """Policies and standing orders of a scene, included scenes as well."""

    policies: dict[str, str] = {}  # names, or files of orders, by character; the default under an empty name
    texts: dict[str, Source] = {}  # the text of the scene that names each policy
    orders: dict[str, SheetOrders] = {}  # the standing orders of characters, from sheets or from the scene
    sets: dict[str, Orders] = {}  # standing orders by name
    sources: dict[str, Source] = {}  # the text of each set

    def add(self, who: str, policy: str, folder: Path | None, source: Source) -> None:
        if policy:
            self.policies[who], self.texts[who] = beside(policy, folder), source

    def resolve(
        self, rules: Rules, state: State, named: Mapping[str, str], steps: list[Step], *, auto: bool
    ) -> dict[str, Policy]:
        """Return the policies by character, the default under an empty name.

        Args:
            named: policies that override those of the scene, by character.
            steps: the steps, whose inputs may bring further characters.
            auto: whether the ruleset's default policy decides for all others.
        """
        seats, known = (*state.characters, GM), (*self.sets, *policy_names(rules))
        strange = next((name for name in named if name not in ("", *seats)), None)
        if strange is not None:
            raise UsageError(unknown("character", strange, seats, of="the scene"))
        for who, its in self.policies.items():
            if named.get(who) is None and its not in known and not its.endswith(ORDERS_FILE):
                at = ("characters", who, "policy") if who else ("policy",)
                fault = Fault("unknown-name", at, unknown("policy", its, known, of=f"the ruleset {rules.id}"))
                raise diagnostics_error(located([fault], self.texts[who]))
        chosen = {**self.policies, **{name: policy for name, policy in named.items() if name or policy}}
        if auto:
            chosen.setdefault("", default_policy(rules))
        if not self.sets and not self.orders and not any(name.endswith(ORDERS_FILE) for name in chosen.values()):
            return {name: policy_of(rules, its) for name, its in chosen.items()}
        from rpgres.engine.deciders import policies_for

        on_sheets = {name: its for name, its in self.orders.items() if name not in named}
        put = tuple(typed_path(path).inner for step in steps for path in step.set)
        joining = Known(rules, state, names_in(rules, steps), texts=put)
        return policies_for(chosen, on_sheets, known=joining, sets=self.sets, sources=self.sources)


def names_in(rules: Rules, steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the names of characters that inputs may add: `guards` of `vs = "guards:fight"`."""
    found = dict.fromkeys(slug(text.partition(":")[0]) for text in texts_of([step.with_ for step in steps]))
    return tuple(name for name in found if name not in rules.file.rated and not name.isdigit())


def who_decides(file: SceneFile, policies: Mapping[str, Policy]) -> dict[str, str]:
    """Return the name of each character's policy, or `orders`."""
    found: dict[str, str] = {}
    for name, policy in policies.items():
        said = file.characters.get(name, {}).get("policy", "")
        is_named = said in file.orders or said.endswith(ORDERS_FILE)
        if name and isinstance(policy, OrdersPolicy) and not is_named:
            found[name] = f"orders, then {said}" if said else "orders"
        elif said:
            found[name] = said
    return found


def beside(policy: str, folder: Path | None) -> str:
    """Return a policy by name, or the path of a file of orders in the scene's folder."""
    return str(folder / policy) if policy.endswith(ORDERS_FILE) and folder is not None else policy


class Part(NamedTuple):
    """The record, text and folder of a scene or an included scene."""

    file: SceneFile
    source: Source
    folder: Path | None


class Including:
    """Reads included scenes, nested ones as well; `parts` lists them in order."""

    def __init__(self, ruleset: str, source: Source, folder: Path | None, extra: Sequence[Path]) -> None:
        self.parts: list[Part] = []
        self._ruleset, self._extra = ruleset, extra
        self._folders = {source.path: folder}
        self._above: dict[str, tuple[str, ...]] = {source.path: ()}

    def __call__(self, step: Step, source: Source, at: KeyPath) -> tuple[Source, Sequence[Step]]:
        """Return the text and the steps of an included scene."""
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


def with_part(
    rules: Rules,
    state: State,
    part: Part,
    deciders: Deciders,
    refuse: Callable[[RpgresError, Source, KeyPath], None] | None = None,
) -> State:
    """Return the table with the contents of a scene or an included scene; add its policies to `deciders`.

    Args:
        refuse: called with the error of a faulty character, its file and key path, in place of raising the error.
    """
    file, source = part.file, part.source
    for name, orders in file.orders.items():
        if name not in deciders.sets:
            deciders.sets[name], deciders.sources[name] = orders, source
    for name, described in file.characters.items():
        if name in state.characters:
            continue
        policy = described.get("policy", "")
        deciders.add(name, policy if isinstance(policy, str) else "", part.folder, source)
        try:
            sheet = _character(rules, name, described, source=source, folder=part.folder)
        except RpgresError as error:
            if refuse is None:
                raise
            refuse(error, source, ("characters", name, *(["sheet"] if "sheet" in described else [])))
            continue
        state = seated(state, sheet)
        if sheet.orders is not None:
            deciders.orders[name] = sheet.orders
    state = put(state, ("counters",), Map({**file.counters, **state.counters}))
    there = {tag.slug for tag in state.tags}
    for key, tag in file.tags.items():
        if slug(tag.text) in there:
            message = f"something called {tag.text!r} is already on the table; use another name"
            raise _faulty(source, "taken-name", ("tags", key), message)
        there.add(slug(tag.text))
    state = state.with_tags(
        Tag(tag.text, tag.kind, tag.on, Map(tag.uses), None if tag.seen_by is None else tuple(tag.seen_by))
        for tag in file.tags.values()
    )
    tracks = {name: track for name, track in file.tracks.items() if name not in state.tracks}
    things = {name: thing for name, thing in file.things.items() if name not in state.things}
    wrong = [*_faults_on_table(tracks, things)]
    if wrong:
        raise diagnostics_error(located(wrong, source))
    for name, track in tracks.items():
        state = put(state, ("tracks", name), _boxes(track))
    for name, thing in things.items():
        state = put(state, ("things", name), freeze(thing.value))
    placed: list[tuple[str, SceneTrack | SceneThing]] = [*tracks.items(), *things.items()]
    hidden = {name: tuple(one.seen_by) for name, one in placed if one.seen_by is not None}
    return put(state, ("audiences",), Map({**state.audiences, **hidden}))


def _faults_on_table(tracks: Mapping[str, SceneTrack], things: Mapping[str, SceneThing]) -> Iterator[Fault]:
    for name, track in tracks.items():
        boxes, marks = [box.name for box in _boxes(track)], track.marks
        strange = [box for box in marks if box not in boxes] if isinstance(marks, list) else []
        if strange:
            message = f"this track has the boxes {enumerated(boxes)}; there is no {strange[0]!r}"
            yield Fault("unknown-name", ("tracks", name, "marks"), message)
        elif isinstance(marks, int) and marks > len(boxes):
            message = f"{marks} boxes cannot be marked where there are {len(boxes)}"
            yield Fault("wrong-value", ("tracks", name, "marks"), message)
    for name, thing in things.items():
        if message := fault_in(State(things=Map({name: freeze(thing.value)}))):
            yield Fault("wrong-value", ("things", name, "value"), message)
        if name in tracks:
            yield Fault("taken-name", ("things", name), f"there is already a track {name!r}; use another name")


def _boxes(track: SceneTrack) -> tuple[Box, ...]:
    sizes, marks = track.boxes, track.marks
    if isinstance(sizes, int):
        sizes = {str(number): 1 for number in range(1, sizes + 1)}
    marked = list(sizes)[:marks] if isinstance(marks, int) else marks
    return tuple(Box(box, size, "x" if box in marked else "") for box, size in sizes.items())


def folder_of(source: Source, folder: Path | None = None) -> Path | None:
    """Return the first folder for sheets: by default the folder of the scene's file."""
    return folder if folder is not None or source.path == STDIN else Path(source.path).parent


def _faulty(source: Source, code: str, at: KeyPath, message: str) -> FileError:
    return diagnostics_error(located([Fault(code, at, message)], source))


def _character(rules: Rules, name: str, described: Mapping[str, Any], *, source: Source, folder: Path | None) -> Sheet:
    """Return a character of a scene: its sheet, overlaid with the keys in the scene."""
    own, prefix = dict(described), ("characters", name)
    policy, sheet = own.pop("policy", ""), own.pop("sheet", None)
    if name in NO_NAMES:
        kind = "a role in actions" if name in ROLES else "a view"
        raise _faulty(source, "taken-name", prefix, f"{name!r} is the name of {kind}; rename the character")
    if not isinstance(policy, str) or not isinstance(sheet, str | None):
        raise _faulty(source, "wrong-type", prefix, f"sheet and policy of {name} are texts")
    if sheet is None:
        return make_sheet(rules, own, name=name, source=source, prefix=prefix)
    try:
        path = find_sheet(rules, sheet, beside=folder)
    except RpgresError as error:
        raise _faulty(source, "unreadable-file", (*prefix, "sheet"), error.message) from None
    base = read_source(path)
    # Faults of the sheet are reported for its file; its orders hold unless the scene has others.
    of_sheet = make_sheet(rules, parse(base), name=name, source=base)
    made = make_sheet(rules, overlay(parse(base), own), name=name, source=source, prefix=prefix)
    return made if ORDERS in own else replace(made, orders=of_sheet.orders)


# ---------------------------------------------------------------------------------------------------------------------
# A procedure without a file, such as `fate/conflict`: a scene of one step


def procedure_scene(
    rules: Rules,
    procedure: str,
    inputs: Mapping[str, Any],
    policies: Mapping[str, Policy] = EMPTY,
    *,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    told: Mapping[str, str] = EMPTY,
    named: Mapping[str, str] = EMPTY,
    note: str | None = None,
    state: State | None = None,
    actor: str = "",
) -> Scene:
    """Return the scene that plays one procedure.

    Args:
        policies: the policies for decisions without an answer, by character; the default under an empty name.
        given, choose: results and answers by label, in order.
        told: policies by character, for records.
        named: the policies by name, as they were typed; the default under an empty name.
        state: the table, by default an empty one; inputs add characters.
    """
    step = Step(
        procedure=procedure,
        id=procedure,
        actor=actor,
        with_={key: value for key, value in inputs.items() if value is not None},
        given={label: list(values) for label, values in given.items()},
        choose={label: list(values) for label, values in choose.items()},
        note=note or "",
    )
    file = SceneFile(ruleset=rules.id, title=procedure.replace("-", " ").capitalize(), steps=[step])
    source = Source(f"{rules.id}/{procedure}", "")  # without a text, so that no error names a line
    program = program_of(file.steps, source, ends={}, included=Including(rules.id, source, None, ()))
    told = {**who_decides(file, policies), **told}
    return Scene(file, source, rules, state or State(), dict(policies), program, told=told, named=named)
