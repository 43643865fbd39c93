"""Everything wrong with a scene that can be told without playing it."""

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
from rpgres.lint.paths import Known
from rpgres.model.conditions import condition_faults
from rpgres.model.paths import parse_path
from rpgres.model.state import EMPTY, GM, Map, State
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.effects import with_tracks
from rpgres.rulesets.orders import Order
from rpgres.rulesets.sheets import SheetOrders, find_sheet, seated
from rpgres.scenes.answers import answer_faults, expectation_faults, label_faults
from rpgres.scenes.deciding import Deciding, beside, names_in
from rpgres.scenes.places import all_steps, as_list, as_table, faults_of_paths, texts_in
from rpgres.scenes.playing import is_change, read_step, with_joining, with_value
from rpgres.scenes.program import EMPTY_PROGRAM, Scene, program_of
from rpgres.scenes.reading import (
    Including,
    faults_on_table,
    folder_of,
    installed,
    laid_out,
    read_character,
    set_out,
    with_part,
)
from rpgres.scenes.records import SceneFile, SceneTag, SceneThing, SceneTrack, Step
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_error, diagnostics_in, errors_in, unknown_name
from rpgres.toml.diagnostics import KeyPath as Path_
from rpgres.toml.reading import Source, convert, located, parse

T = TypeVar("T")

_CHANGED = ("number", "data", "text")  # kinds of places where "+1" may stand; of a text, it is all of it
# What stands in for a required input that is faulty, so that the others can be read.
_HARMLESS = {"ability": 0, "opposition": 0, "integer": 0, "counter": 0}


def scene_diagnostics(
    source: Source,
    *,
    find_ruleset: Callable[[str], Any] | None = None,
    folder: Path | None = None,
    switches: Mapping[str, str] = EMPTY,
    extra: Sequence[Path] = (),
) -> list[Diagnostic]:
    """Return everything wrong with the text of a scene that can be told without playing it, in line order.

    A part that is faulty in itself does not keep the others from being checked.

    Args:
        find_ruleset: gives a ruleset's code by id; as of `read_scene`.
        folder: where sheets are sought first; by default where the text stands.
        switches: house rules chosen over the scene's own.
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
    state = laid_out(state, tags.values())
    tracks, things = _sound_ones(data.get("tracks"), SceneTrack), _sound_ones(data.get("things"), SceneThing)
    _check_table(faults, tags, tracks, things, (*_names(state, data), GM))
    if not any(faults_on_table(tracks, things)):
        state = set_out(state, tracks=tracks, things=things)
    state = with_tracks(rules, state)
    state = _with_included(rules, state, source, Including(said, source, folder, extra))
    scene = Scene(SceneFile(ruleset=said), source, rules, state, {}, EMPTY_PROGRAM, folder)
    checked = _Checked(faults, scene, _names(state, data), Including(said, source, folder, extra), [], [], [])
    checked.steps(as_list(data.get("steps")), ("steps",))
    checked.ends(as_table(data.get("ends")))
    texts = [*as_table(data.get("tracks")), *as_table(data.get("things"))]  # a faulty one is told once
    texts += [text for _, step in all_steps(data.get("steps")) for text in texts_in(step)]
    known = Known(rules, state, _names(state, data), texts=tuple(texts))
    later = cache(lambda: replace(known, state=with_joining(scene, checked.played)))
    faults.take(faults_of_paths(data, tags, known, later))
    _check_set(faults, data, later)
    _check_answers(faults, rules, data, later)
    _check_deciders(faults, scene, data, on_sheets, replace(known, characters=names_in(rules, checked.played)))
    return faults.in_order()


def _parsed(source: Source) -> tuple[dict[str, Any], _Faults]:
    """Return a scene as data, with the keys that are meant, and what is wrong with it in itself."""
    from rpgres.toml.faults import faults, mend_keys

    found = faults(data := parse(source), SceneFile)
    mend_keys(data, found)
    return data, _Faults(source, located(found, source))


def _with_included(rules: Rules, state: State, source: Source, including: Including) -> State:
    """Return the table with who and what included scenes bring; of a faulty file nothing, which its steps tell."""
    with suppress(RpgresError):
        file: SceneFile = convert(parse(source), SceneFile, source=source)
        program_of(file.steps, source, ends={}, included=including)
        for part in including.parts:
            state = with_part(rules, state, part, Deciding())
    return state


def check_scene(scene: Scene) -> list[Diagnostic]:
    """Return everything wrong with a scene that was read, without playing it, in line order."""
    faults = _Faults(scene.source, [])
    names, data = tuple(scene.state.characters), parse(scene.source)
    including = Including(scene.file.ruleset, scene.source, scene.folder, scene.extra)
    checked = _Checked(faults, scene, names, including, [], [], [])
    checked.steps(as_list(data.get("steps")), ("steps",))
    checked.ends(as_table(data.get("ends")))
    _check_table(faults, scene.file.tags, scene.file.tracks, scene.file.things, (*names, GM))
    return faults.in_order()


def require_sound(scene: Scene) -> None:
    """Raise everything wrong with a scene that can be told without playing it.

    Raises:
        FileError: all problems at once.
    """
    found = check_scene(scene)
    if found:
        raise diagnostics_error(found)


class _Faults(NamedTuple):
    """What is wrong with a scene so far, and the text it is wrong in."""

    source: Source
    found: list[Diagnostic]

    def add(self, code: str, message: str, *path: str | int) -> None:
        self.take([Fault(code, path, message)])

    def name(self, message: str, name: str, known: Iterable[str], *path: str | int) -> None:
        self.take([unknown_name(path, f"{message} {name!r}", name, known)])

    def take(self, faults: Iterable[Fault]) -> None:
        self.found.extend(located(faults, self.source))

    def refuse(self, error: RpgresError, code: str, *path: str | int) -> None:
        """Add what an error says: the diagnostics of a file one by one, or its message at a path of the scene."""
        if error.details.get("problems"):
            self.found.extend(diagnostics_in(error))
        else:
            self.add(code, error.message, *path)

    def in_order(self) -> list[Diagnostic]:
        wrong = {(one.file, one.key) for one in errors_in(self.found)}  # which says more than a warning
        told = [one for one in self.found if one.severity == "error" or (one.file, one.key) not in wrong]
        return sorted(dict.fromkeys(told), key=lambda problem: (problem.file, problem.line or 0))


# ---------------------------------------------------------------------------------------------------------------------
# What of a text is sound in itself; the rest is told by its types


def _sound(raw: Any, type_: type[T]) -> T | None:
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError:
        return None


def _sound_ones(value: Any, type_: type[T]) -> dict[str, T]:
    return {name: one for name, raw in as_table(value).items() if (one := _sound(raw, type_)) is not None}


def _as_step(raw: Any) -> Step | str:
    """Return a step, or the id of one that is faulty in itself, which others may still speak of.

    The steps of a group are left out: each is sound or not by itself.
    """
    own = {**raw, "steps": [{"note": "a step"}]} if isinstance(raw, dict) and raw.get("steps") else raw
    id_ = as_table(raw).get("id")
    return _sound(own, Step) or (id_ if isinstance(id_, str) else "")


def _names(state: State, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return everybody in the scene, those with a faulty sheet too."""
    return tuple(dict.fromkeys((*state.characters, *as_table(data.get("characters")))))


# ---------------------------------------------------------------------------------------------------------------------
# The parts of a scene


def _switched(faults: _Faults, data: Mapping[str, Any], load: Callable[[Mapping[str, str]], Rules]) -> Rules:
    """Return the rules with the scene's switches, as far as there are such."""
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
    """Check who decides: policies by name, sets of standing orders, and those of characters."""
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
    """Tell an error that is raised inside as a fault of the scene, at a path of it."""
    try:
        yield
    except RpgresError as error:
        faults.refuse(error, code, *path)


def _check_characters(
    faults: _Faults, rules: Rules, data: Mapping[str, Any], *, folder: Path | None
) -> tuple[State, dict[str, SheetOrders]]:
    """Return the table with every character that could be read, and the standing orders of these."""
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
                del own["sheet"]  # what the scene says itself can still be checked
        with _faults_of_errors(faults, "refused", *at, *(["sheet"] if "sheet" in own else [])):
            read, _ = read_character(rules, name, own, source=faults.source, folder=folder)
            state = seated(state, read)
            if read.orders is not None:
                on_sheets[name] = read.orders
    return state, on_sheets


def _check_set(faults: _Faults, data: Mapping[str, Any], later: Callable[[], Known]) -> None:
    """Check the counters and ratings that steps set. Those are there from the beginning; all else may come in play."""
    for at, step in all_steps(data.get("steps")):
        if as_table(step.get("expect")).get("error") is not None:
            continue  # that it cannot be set is what the scene expects
        for path, value in as_table(step.get("set")).items():
            keys = path.split(".")
            of = keys[0] if len(keys) == 2 else keys[2] if keys[0] == "characters" and len(keys) == 4 else ""
            if of in ("counters", "abilities") and isinstance(value, bool | int | str):
                known, change = later(), isinstance(value, str) and is_change(value)  # from what is known in play only
                with _faults_of_errors(faults, "refused", *at, "set", path):
                    with_value(known.rules, known.state or State(), path, "+0" if change else value)


def _check_answers(faults: _Faults, rules: Rules, data: Mapping[str, Any], later: Callable[[], Known]) -> None:
    """Check the faces and options that steps answer with, where the ruleset's data say which there can be."""
    for at, raw in all_steps(data.get("steps")):
        step = _as_step(raw)
        if isinstance(step, Step) and step.played in rules.file.actions and (step.given or step.choose):
            faults.take(fault.under(*at) for fault in answer_faults(later(), step))


def _check_table(
    faults: _Faults,
    tags: Mapping[str, SceneTag],
    tracks: Mapping[str, SceneTrack],
    things: Mapping[str, SceneThing],
    seats: Sequence[str],
) -> None:
    """Check what lies on the table at the beginning, and that all who are named there take part."""
    faults.take(faults_on_table(tracks, things))
    said: list[tuple[str, Path_]] = []
    for kind, ones in (("tags", tags), ("tracks", tracks), ("things", things)):
        said += [(seat, (kind, name, "seen-by")) for name, one in ones.items() for seat in one.seen_by or ()]
    said += [(holder, ("tags", name, "uses")) for name, tag in tags.items() for holder in tag.uses]
    said += [(tag.on, ("tags", name, "on")) for name, tag in tags.items() if tag.on]
    for who, path in said:
        if who not in seats:
            faults.name("no character in this scene is named", who, seats, *path)


class _Checked(NamedTuple):
    """The steps of a scene while they are checked.

    Attributes:
        everybody: who is in it.
        ids, played: the ids and the actions of earlier steps.
        unread: included files that are faulty, so that what their steps bring is not known.
    """

    faults: _Faults
    scene: Scene
    everybody: Sequence[str]
    including: Including
    ids: list[str]
    played: list[Step]
    unread: list[str]

    def steps(self, steps: Sequence[Any], at: Path_) -> None:
        """Check steps as they stand in TOML, those of groups too."""
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

    def ends(self, ends: Mapping[str, Any]) -> None:
        """Check the endings of a scene as they stand in TOML."""
        always = ""
        for name, raw in ends.items():
            when = as_table(as_table(raw).get("when"))
            if always:
                message = f"this ending never comes: {always!r} stands before it and always holds"
                self.faults.add("never-matches", message, "ends", name)
            self.conditions(when, ("ends", name, "when"))
            always = always or ("" if when else name)

    def conditions(self, when: Mapping[str, Any], at: Path_) -> None:
        """Check conditions: outcomes of earlier steps, and places of the table."""
        bands = self.scene.rules.file.bands
        for key, wanted in when.items():
            if key not in self.ids and "." not in key and not self.unread:
                message = "there is no earlier step with the id"
                self.faults.name(message, key, self.ids, *at, key)
            elif key in self.ids:
                for band in wanted if isinstance(wanted, list) else [wanted]:
                    if not isinstance(band, str) or band not in bands:
                        self.faults.name("there is no outcome", str(band), bands, *at, key)
        places = {key: wanted for key, wanted in when.items() if key not in self.ids and "." in key}
        self.faults.take(replace(fault, path=(*at, *fault.path)) for fault in condition_faults(places))

    def include(self, step: Step, at: Path_) -> None:
        """Check an included scene and its steps, each where it stands, and take note of its ids."""
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
        for leaf in program.leaves:
            there = self._replace(faults=_Faults(leaf.source, self.faults.found))
            there.step(leaf.step, tuple(leaf.path))

    def step(self, step: Step, at: Path_) -> None:
        """Check a step that is played, or only changes the table."""
        faults, rules, everybody = self.faults, self.scene.rules, self.everybody
        faults.take(fault.under(*at) for fault in expectation_faults(rules, step))
        if step.actor and step.actor not in everybody and not self.unread:
            faults.name("no character in this scene is named", step.actor, everybody, *at, "actor")
        if step.moment is not None:
            from rpgres.engine.periods import period_names

            known, (period, moment) = period_names(rules), step.moment
            if period not in known:
                faults.name(f"{rules.id} has no period", period, known, *at, moment)
            return
        for path, value in step.set.items():
            with _faults_of_errors(faults, "unknown-name", *at, "set", path):
                if parse_path(path).kind not in _CHANGED and isinstance(value, str) and is_change(value):
                    raise UsageError(f"{path}: {value!r} changes a number, and no number can stand there")
        if not step.played:
            return
        kind = "procedure" if step.procedure else "action"
        known = [name for name, one in rules.file.actions.items() if one.procedure == bool(step.procedure)]
        if step.played not in known:
            faults.name(f"{rules.id} has no {kind}", step.played, known, *at, kind)
            return
        faults.take(fault.under(*at) for fault in label_faults(rules, step))
        self.played.append(step)
        if step.expect is None or step.expect.error is None:
            for message, key in _input_faults(self.scene, step, everybody=everybody):
                faults.add("bad-input", message, *at, *key)


# ---------------------------------------------------------------------------------------------------------------------
# Inputs


def _input_faults(scene: Scene, step: Step, *, everybody: Sequence[str]) -> Iterator[tuple[str, Path_]]:
    """Yield what is wrong with a step's inputs, each with the key it stands under.

    Reading stops at the first fault, so the input at fault is taken out, or made harmless, and it is read again.
    """
    inputs = _readable(scene, step, everybody=everybody)
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
            return  # it was taken out for a fault that is told
        if key not in inputs:
            yield error.message, ("with",) if step.with_ else ()
            return
        yield error.message, ("with", *error.path)
        inputs = _without(scene, step, inputs, str(key))


def _without(scene: Scene, step: Step, inputs: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return inputs without one of them; something harmless stands for one that may be required."""
    rest = {name: value for name, value in inputs.items() if name != key}
    harmless = _HARMLESS.get(_kind(scene, step, key))
    return rest if harmless is None else {**rest, key: harmless}


def _readable(scene: Scene, step: Step, *, everybody: Sequence[str]) -> dict[str, Any]:
    """Return a step's inputs without those of a character whose own fault is reported already."""
    inputs = dict(step.with_)
    absent = set(everybody) - set(scene.state.characters)
    for key, value in inputs.items():
        kind = _kind(scene, step, key)
        is_actors = kind == "ability" and step.actor and step.actor not in scene.state.characters
        is_others = kind == "opposition" and _opposer(value) in absent
        if is_actors or is_others or (kind == "character" and isinstance(value, str) and value in absent):
            inputs[key] = 0 if kind in _HARMLESS else None
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
