"""The diagnostics of a scene: everything that can be checked without playing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from rpgres.dice.seeds import read_seed
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.lint.paths import Known, in_own_words, read_faults
from rpgres.lint.reachable import outcome_faults
from rpgres.model.paths import ABSENT, parse_path
from rpgres.model.paths import Path as StatePath
from rpgres.model.state import CHECKED, EMPTY, GM, Map, State
from rpgres.model.typed_paths import typed_path
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.corrections import kinds_of_tags
from rpgres.rulesets.effects import with_tracks
from rpgres.rulesets.orders import Order
from rpgres.rulesets.sheets import SheetOrders, find_sheet, seated
from rpgres.scenes.answers import answer_faults, expectation_faults, label_faults
from rpgres.scenes.deciding import Deciders, beside, names_in
from rpgres.scenes.places import all_steps, as_list, as_table, faults_of_paths, texts_in
from rpgres.scenes.playing import is_change, read_step, with_joining, with_value, wrong_key
from rpgres.scenes.program import EMPTY_PROGRAM, Scene, program_of, split_conditions
from rpgres.scenes.reading import (
    Including,
    faults_on_table,
    folder_of,
    installed,
    read_character,
    with_boxes_and_things,
    with_part,
    with_scene_tags,
)
from rpgres.scenes.records import SceneFile, SceneTag, SceneThing, SceneTrack, Step
from rpgres.scenes.warnings import step_warnings
from rpgres.toml.diagnostics import (
    Diagnostic,
    Fault,
    diagnostics_error,
    diagnostics_in,
    errors_in,
    nearest,
    unknown_name,
)
from rpgres.toml.diagnostics import KeyPath as Path_
from rpgres.toml.reading import Source, convert, located, parse

T = TypeVar("T")

_CHANGED = ("number", "data", "text")  # kinds of values that "+1" may set; of a text, "+1" is the new text
# Valid values in place of faulty required inputs, by the kind of parameter, so that the other inputs can be read.
_VALID = {"ability": 0, "opposition": 0, "integer": 0, "counter": 0}


def scene_diagnostics(
    source: Source,
    *,
    find_ruleset: Callable[[str], Any] | None = None,
    folder: Path | None = None,
    switches: Mapping[str, str] = EMPTY,
    extra: Sequence[Path] = (),
) -> list[Diagnostic]:
    """Return the diagnostics of the text of a scene, in line order. A faulty part does not hide faults of others.

    Args:
        find_ruleset: returns a ruleset's code by id; see `read_scene`.
        folder: where sheets are sought first; by default the folder of the text.
        switches: house rules that override those of the scene.
        extra: further folders with rulesets and overlays.

    Raises:
        FileError: the text is not TOML, or a file of the ruleset is faulty.
        PluginError: the ruleset cannot be used.
    """
    data, faults = _parsed(source)
    said = data.get("ruleset")
    if not isinstance(said, str):
        return faults.in_order()
    try:
        code = find_ruleset(said) if find_ruleset is not None else installed(said, extra)
    except UsageError as error:
        faults.add("unknown-name", error.message, "ruleset")
        return faults.in_order()
    rules = _switched(faults, data, lambda chosen: load_rules(code, switches={**chosen, **switches}, extra=extra))
    if isinstance(data.get("seed"), str):
        with _faults_of_errors(faults, "wrong-value", "seed"):
            read_seed(data["seed"])
    folder = folder_of(source, folder)
    state, on_sheets = _check_characters(faults, rules, data, folder=folder)
    tags = _sound_ones(data.get("tags"), SceneTag)
    state = with_scene_tags(state, tags.values())
    tracks, things = _sound_ones(data.get("tracks"), SceneTrack), _sound_ones(data.get("things"), SceneThing)
    _check_table(faults, rules, tags, tracks, things, (*_names(state, data), GM))
    if not any(faults_on_table(tracks, things)):
        state = with_boxes_and_things(state, tracks=tracks, things=things)
    state = with_tracks(rules, state)
    state = _with_included(rules, state, source, Including(said, source, folder, extra))
    scene = Scene(SceneFile(ruleset=said), source, rules, state, {}, EMPTY_PROGRAM, folder)
    checked = _Checked(faults, scene, _names(state, data), Including(said, source, folder, extra), [], [], [], {})
    checked.steps(as_list(data.get("steps")), ("steps",))
    checked.ends(as_table(data.get("ends")))
    texts = [*as_table(data.get("tracks")), *as_table(data.get("things"))]  # faulty ones, too: reported once
    texts += [text for _, step in all_steps(data.get("steps")) for text in texts_in(step)]
    known = Known(rules, state, _names(state, data), texts=tuple(texts))
    later = cache(lambda: replace(known, state=with_joining(scene, checked.played)))
    faults.take(faults_of_paths(data, tags, known, later))
    faults.take(step_warnings(rules, data, _names(state, data)))
    _check_set(faults, data, later)
    _check_answers(faults, rules, data, later)
    _check_deciders(faults, scene, data, on_sheets, replace(known, characters=names_in(rules, checked.played)))
    return faults.in_order()


def _parsed(source: Source) -> tuple[dict[str, Any], _Faults]:
    """Return the TOML of a scene with misspelt keys corrected, and the faults of its types."""
    from rpgres.toml.faults import faults, mend_keys

    found = faults(data := parse(source), SceneFile)
    mend_keys(data, found)
    return data, _Faults(source, located(found, source))


def _with_included(rules: Rules, state: State, source: Source, including: Including) -> State:
    """Return the table with what included scenes add; faulty files are ignored, as `_Checked.include` reports them."""
    with suppress(RpgresError):
        file: SceneFile = convert(parse(source), SceneFile, source=source)
        program_of(file.steps, source, ends={}, included=including)
        for part in including.parts:
            state = with_part(rules, state, part, Deciders())
    return state


def check_scene(scene: Scene) -> list[Diagnostic]:
    """Return the diagnostics of a parsed scene, in line order."""
    faults = _Faults(scene.source, [])
    names, data = tuple(scene.state.characters), parse(scene.source)
    including = Including(scene.file.ruleset, scene.source, scene.folder, scene.extra)
    checked = _Checked(faults, scene, names, including, [], [], [], {})
    checked.steps(as_list(data.get("steps")), ("steps",))
    checked.ends(as_table(data.get("ends")))
    _check_table(faults, scene.rules, scene.file.tags, scene.file.tracks, scene.file.things, (*names, GM))
    return faults.in_order()


def require_sound(scene: Scene) -> None:
    """Check a parsed scene.

    Raises:
        FileError: all diagnostics at once.
    """
    found = check_scene(scene)
    if found:
        raise diagnostics_error(found)


class _Faults(NamedTuple):
    """The diagnostics so far, and the text to which new faults belong."""

    source: Source
    found: list[Diagnostic]

    def add(self, code: str, message: str, *path: str | int) -> None:
        self.take([Fault(code, path, message)])

    def name(self, message: str, name: str, known: Iterable[str], *path: str | int) -> None:
        self.take([unknown_name(path, f"{message} {name!r}", name, known)])

    def take(self, faults: Iterable[Fault]) -> None:
        self.found.extend(located(faults, self.source))

    def refuse(self, error: RpgresError, code: str, *path: str | int) -> None:
        """Add an error: the diagnostics of a file one by one, or its message at a path of the scene."""
        if error.details.get("problems"):
            self.found.extend(diagnostics_in(error))
        else:
            self.add(code, error.message, *path)

    def in_order(self) -> list[Diagnostic]:
        wrong = {(one.file, one.key) for one in errors_in(self.found)}  # an error replaces warnings of its key
        told = [one for one in self.found if one.severity == "error" or (one.file, one.key) not in wrong]
        return sorted(dict.fromkeys(told), key=lambda problem: (problem.file, problem.line or 0))


# ---------------------------------------------------------------------------------------------------------------------
# The parts of a text with valid types; `_parsed` reports the others


def _sound(raw: Any, type_: type[T]) -> T | None:
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError:
        return None


def _sound_ones(value: Any, type_: type[T]) -> dict[str, T]:
    return {name: one for name, raw in as_table(value).items() if (one := _sound(raw, type_)) is not None}


def _as_step(raw: Any) -> Step | str:
    """Return a step, or the id of a faulty one, to which other steps may still refer.

    The steps of a group are left out, since each of them is checked by itself.
    """
    own = {**raw, "steps": [{"note": "a step"}]} if isinstance(raw, dict) and raw.get("steps") else raw
    id_ = as_table(raw).get("id")
    return _sound(own, Step) or (id_ if isinstance(id_, str) else "")


def _names(state: State, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return all characters of the scene, also those with a faulty sheet."""
    return tuple(dict.fromkeys((*state.characters, *as_table(data.get("characters")))))


# ---------------------------------------------------------------------------------------------------------------------
# The parts of a scene


def _switched(faults: _Faults, data: Mapping[str, Any], load: Callable[[Mapping[str, str]], Rules]) -> Rules:
    """Return the rules with the valid switches of the scene."""
    rules = load({})
    chosen: dict[str, str] = {}
    for name, value in as_table(data.get("switches")).items():
        if not isinstance(value, str):
            continue
        with _faults_of_errors(faults, "unknown-name", "switches", name):
            rules = load({**chosen, name: value})
            chosen[name] = value
    return rules


def _check_deciders(
    faults: _Faults,
    scene: Scene,
    data: Mapping[str, Any],
    on_sheets: Mapping[str, SheetOrders],
    known: Known,
) -> None:
    """Check policies by name, sets of standing orders, and the orders of characters."""
    from rpgres.engine.deciders import check_deciders

    sets = _sound_ones(data.get("orders"), list[Order])
    places: dict[str, Path_] = {"": ("policy",)}
    said = {"": data.get("policy")}
    for name, described in as_table(data.get("characters")).items():
        places[name] = ("characters", name, "policy")
        said[name] = as_table(described).get("policy")
    users = {who: beside(its, scene.folder) for who, its in said.items() if isinstance(its, str) and its}
    for who, found in check_deciders(known, sets=sets, users=users, on_sheets=on_sheets):
        if isinstance(found, Fault):
            faults.take([found])
        elif isinstance(found, Diagnostic):
            faults.found.append(found)
        else:
            faults.refuse(found, "unknown-name", *places.get(who, ()))


@contextmanager
def _faults_of_errors(faults: _Faults, code: str, *path: str | int) -> Iterator[None]:
    """Turn an error that is raised inside into a fault of the scene, at a path of it."""
    try:
        yield
    except RpgresError as error:
        faults.refuse(error, code, *path)


def _check_characters(
    faults: _Faults, rules: Rules, data: Mapping[str, Any], *, folder: Path | None
) -> tuple[State, dict[str, SheetOrders]]:
    """Return the table with every character that could be read, and their standing orders."""
    counters = {name: value for name, value in as_table(data.get("counters")).items() if type(value) is int}
    state, on_sheets = State(counters=Map(counters)), dict[str, SheetOrders]()
    for name, described in as_table(data.get("characters")).items():
        if not isinstance(described, dict):
            continue
        at: Path_ = ("characters", name)
        sheet, own = described.get("sheet"), dict(described)
        if isinstance(sheet, str):
            try:
                find_sheet(rules, sheet, beside=folder)
            except FileError as error:
                faults.add("unreadable-file", error.message, *at, "sheet")
                del own["sheet"]  # the keys in the scene itself can still be checked
        with _faults_of_errors(faults, "refused", *at, *(["sheet"] if "sheet" in own else [])):
            read, _ = read_character(rules, name, own, source=faults.source, folder=folder)
            state = seated(state, read)
            if read.orders is not None:
                on_sheets[name] = read.orders
    return state, on_sheets


def _check_set(faults: _Faults, data: Mapping[str, Any], later: Callable[[], Known]) -> None:
    """Check what steps set of numbers, tracks, kinds of tags, and who is out; all else may still be created in play."""
    for at, step in all_steps(data.get("steps")):
        if as_table(step.get("expect")).get("error") is not None:
            continue  # the scene expects that it cannot be set
        for path, value in as_table(step.get("set")).items():
            keys = typed_path(path).keys
            if not isinstance(value, bool | int | str):
                continue
            match keys:
                case ["counters" | "abilities", _] | ["characters", _, "counters" | "abilities", _]:
                    is_rated = True
                case _:
                    is_rated = False
            known, change = later(), isinstance(value, str) and is_change(value)  # the sum is known in play only
            state = known.state or State()
            if is_rated:
                with _faults_of_errors(faults, "refused", *at, "set", path):
                    with_value(known.rules, state, path, "+0" if change else value)
            elif keys[0] == "tags" and keys[2:] in ((), ("kind",)) and value != ABSENT:
                if value not in [tag.kind for tag in state.tags]:
                    _check_kind(faults, str(value), known.rules, *at, "set", path)
            elif _is_there(state, keys) and not (change or parse_path(path).is_computed):  # these are told already
                text = CHECKED if isinstance(value, str) and value != ABSENT else value  # whatever is written in a box
                with _faults_of_errors(faults, "refused", *at, "set", path):
                    with_value(known.rules, state, path, text)


def _is_there(state: State, keys: Sequence[str]) -> bool:
    """Tell whether keys lead into a track that is there from the beginning, or to whether a character is out."""
    match keys:
        case ["tracks", name, *_]:
            return name in state.tracks
        case ["characters", who, "tracks", _, *_] | ["characters", who, "is_out" | "is-out"]:
            return who in state.characters
    return False


def _check_answers(faults: _Faults, rules: Rules, data: Mapping[str, Any], later: Callable[[], Known]) -> None:
    """Check the faces and options of answers, where the ruleset's data declare the possible ones."""
    for at, raw in all_steps(data.get("steps")):
        step = _as_step(raw)
        if isinstance(step, Step) and step.played in rules.file.actions and (step.given or step.choose):
            faults.take(fault.under(*at) for fault in answer_faults(later(), step))


def _check_table(
    faults: _Faults,
    rules: Rules,
    tags: Mapping[str, SceneTag],
    tracks: Mapping[str, SceneTrack],
    things: Mapping[str, SceneThing],
    seats: Sequence[str],
) -> None:
    """Check tags, tracks and things at the beginning, and that the characters that they name take part."""
    faults.take(faults_on_table(tracks, things))
    for name, tag in tags.items():
        _check_kind(faults, tag.kind, rules, "tags", name, "kind")
    said: list[tuple[str, Path_]] = []
    for kind, ones in (("tags", tags), ("tracks", tracks), ("things", things)):
        said += [(seat, (kind, name, "seen-by")) for name, one in ones.items() for seat in one.seen_by or ()]
    said += [(holder, ("tags", name, "uses")) for name, tag in tags.items() for holder in tag.uses]
    said += [(tag.on, ("tags", name, "on")) for name, tag in tags.items() if tag.on]
    for who, path in said:
        if who not in seats:
            faults.name("no character in this scene is named", who, seats, *path)


def _check_kind(faults: _Faults, kind: str, rules: Rules, *path: str | int) -> None:
    """Check that the kind of a tag is none that is known, misspelt; a ruleset's code may have others."""
    known = kinds_of_tags(rules, ())
    if kind not in known and nearest(kind, known):
        faults.name("there is no kind of tag", kind, known, *path)


class _Checked(NamedTuple):
    """Checks the steps of a scene.

    Attributes:
        characters: the names of all characters.
        ids, played: the ids of earlier steps, and those that play an action.
        actions: the action of an earlier step, by its id.
        unread: faulty included files, whose steps and characters are unknown.
    """

    faults: _Faults
    scene: Scene
    characters: Sequence[str]
    including: Including
    ids: list[str]
    played: list[Step]
    unread: list[str]
    actions: dict[str, str]

    def steps(self, steps: Sequence[Any], at: Path_) -> None:
        """Check the TOML of steps, also those of groups."""
        for number, raw in enumerate(steps):
            step, place = _as_step(raw), (*at, number)
            if isinstance(step, str):
                self.steps(as_list(as_table(raw).get("steps")), (*place, "steps"))
                self.ids.extend(filter(None, [step]))
                continue
            self.conditions(step.when, (*place, "when"))
            if step.id in self.ids:
                self.faults.add("taken-name", f"an earlier step has the id {step.id!r}", *place, "id")
            if step.include:
                self.include(step, place)
            elif step.steps:
                self.steps(as_list(as_table(raw).get("steps")), (*place, "steps"))
                self.conditions(step.repeat.until if step.repeat else {}, (*place, "repeat", "until"))
            else:
                self.step(step, place)
            self.ids.extend(filter(None, [step.id]))
            self.actions[step.id] = step.played

    def ends(self, ends: Mapping[str, Any]) -> None:
        """Check the TOML of endings."""
        always = ""
        for name, raw in ends.items():
            when = as_table(as_table(raw).get("when"))
            if always:
                message = f"this ending never comes: {always!r} comes before it and always holds"
                self.faults.add("never-matches", message, "ends", name)
            self.conditions(when, ("ends", name, "when"))
            always = always or ("" if when else name)

    def conditions(self, when: Mapping[str, Any], at: Path_) -> None:
        """Check conditions: outcomes of earlier steps, and values at paths of the table."""
        rules = self.scene.rules
        outcomes, paths = split_conditions(when, self.ids)
        for key, wanted in outcomes.items():
            if key not in self.ids:
                if not self.unread:
                    self.faults.name("there is no earlier step with the id", key, self.ids, *at, key)
                continue
            for band in map(str, wanted):
                self.faults.take(outcome_faults(rules, self.actions.get(key, ""), band, (*at, key)))
        self.faults.take(fault.under(*at) for fault in read_faults(rules, paths))

    def include(self, step: Step, at: Path_) -> None:
        """Check an included scene and its steps, with the lines of its own file, and add its ids."""
        try:
            other, steps = self.including(step, self.scene.source, (*at, "include"))
            program = program_of(steps, other, ends={}, included=self.including)
        except FileError as error:
            self.unread.append(step.include)
            here = f"{self.scene.where(*at, 'include')}: "  # which the fault has, too
            self.faults.refuse(
                FileError(error.message.removeprefix(here), **error.details), "unreadable-file", *at, "include"
            )
            return
        self.ids.extend(leaf.step.id for leaf in program.leaves if leaf.step.id)
        self.actions.update((leaf.step.id, leaf.step.played) for leaf in program.leaves)
        for leaf in program.leaves:
            there = self._replace(faults=_Faults(leaf.source, self.faults.found))
            there.step(leaf.step, tuple(leaf.path))

    def step(self, step: Step, at: Path_) -> None:
        """Check a step that is no group and no include."""
        faults, rules, characters = self.faults, self.scene.rules, self.characters
        faults.take(fault.under(*at) for fault in expectation_faults(rules, step))
        if step.actor and step.actor not in characters and not self.unread:
            faults.name("no character in this scene is named", step.actor, characters, *at, "actor")
        if step.moment is not None:
            from rpgres.engine.periods import period_names

            known, (period, moment) = period_names(rules), step.moment
            if period not in known:
                faults.name(f"{rules.id} has no period", period, known, *at, moment)
            return
        for path, value in step.set.items():
            with _faults_of_errors(faults, "unknown-name", *at, "set", path):
                found = _parsed_path(rules, path)
                if found.is_computed:
                    raise UsageError(f"{path} is computed and cannot be set{_boxes_of(found)}")
                if found.kind not in _CHANGED and isinstance(value, str) and is_change(value):
                    may = _boxes_of(found) or ("; set true or false" if found.kind == "flag" else "")
                    raise UsageError(f"{path}: {value!r} changes a number, and there can be no number{may}")
        if not step.played:
            return
        kind = "procedure" if step.procedure else "action"
        known = [name for name, one in rules.file.actions.items() if one.procedure == bool(step.procedure)]
        if step.played not in known:
            if fault := wrong_key(rules, step):
                faults.add("unknown-name", fault, *at, kind)
            else:
                faults.name(f"{rules.id} has no {kind}", step.played, known, *at, kind)
            return
        faults.take(fault.under(*at) for fault in label_faults(rules, step))
        self.played.append(step)
        if step.expect is None or step.expect.error is None:
            for message, key in _input_faults(self.scene, step, characters=characters):
                faults.add("bad-input", message, *at, *key)


def _parsed_path(rules: Rules, path: str) -> StatePath:
    """Return a path that was read; its error says what is meant where it is written as in the scene's file."""
    try:
        return parse_path(path)
    except UsageError as error:
        raise UsageError(in_own_words(rules, path, error.message)) from error


def _boxes_of(path: StatePath) -> str:
    """Return how to set the boxes of the track that a path leads to, or into; empty for any other."""
    kinds = [place.kind for place in path.places]
    if "tracks" not in kinds:
        return ""
    track = ".".join(path.keys[: kinds.index("tracks") + 1])
    return f'; mark a box, as in "{track}.1" = "x", and clear it with "absent"'


# ---------------------------------------------------------------------------------------------------------------------
# Inputs


def _input_faults(scene: Scene, step: Step, *, characters: Sequence[str]) -> Iterator[tuple[str, Path_]]:
    """Yield the faults of a step's inputs, each with its key.

    Reading stops at the first fault, so the faulty input is removed or replaced, and the rest is read again.
    """
    inputs = _readable(scene, step, characters=characters)
    for _ in range(len(inputs) + 1):
        error = _refusal(scene, step, inputs)
        if error is None:
            return
        key = error.path[0] if error.path else None
        if (
            error.reason == "missing"
            and key not in inputs
            and key in {_canonical(scene, step, one) for one in step.with_}
        ):
            return  # it was removed for a fault that is reported
        if key not in inputs:
            yield error.message, ("with",) if step.with_ else ()
            return
        yield error.message, ("with", *error.path)
        inputs = _without(scene, step, inputs, str(key))


def _without(scene: Scene, step: Step, inputs: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return inputs without one of them; a valid value replaces one that may be required."""
    rest = {name: value for name, value in inputs.items() if name != key}
    valid = _VALID.get(_kind(scene, step, key))
    return rest if valid is None else {**rest, key: valid}


def _readable(scene: Scene, step: Step, *, characters: Sequence[str]) -> dict[str, Any]:
    """Return a step's inputs without those of characters whose own faults are reported."""
    inputs = dict(step.with_)
    absent = set(characters) - set(scene.state.characters)
    for key, value in inputs.items():
        kind = _kind(scene, step, key)
        is_actors = kind == "ability" and step.actor and step.actor not in scene.state.characters
        is_others = kind == "opposition" and _opposer(value) in absent
        if is_actors or is_others or (kind == "character" and isinstance(value, str) and value in absent):
            inputs[key] = 0 if kind in _VALID else None
    return inputs


def _opposer(value: Any) -> str:
    name = value.get("character") if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def _kind(scene: Scene, step: Step, key: str) -> str:
    parameter = scene.rules.parameters(step.played).get(_canonical(scene, step, key))
    return parameter.kind if parameter is not None else ""


def _canonical(scene: Scene, step: Step, key: str) -> str:
    """Return a parameter's own name by a key of `with`, which may be an alias."""
    name = key.replace("_", "-")
    parameters = scene.rules.parameters(step.played).items()
    return next((known for known, one in parameters if name == known or name in one.aliases), name)


def _refusal(scene: Scene, step: Step, inputs: Mapping[str, Any]) -> RpgresError | None:
    try:
        read_step(scene, step, inputs, scene.state)
    except RpgresError as error:
        return error
    return None
