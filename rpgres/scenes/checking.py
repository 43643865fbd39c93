"""Diagnostics of a scene file.

`scene_diagnostics` is `scene check`: messages may name hidden things, and the text may be faulty. `check_scene` checks
a parsed scene before play. Both walk the steps once, with a table of the actions of earlier steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from rpgres.dice.seeds import read_seed
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.lint.paths import Known, read_faults
from rpgres.lint.reachable import outcome_faults
from rpgres.model.state import EMPTY, GM, State
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.effects import with_tracks
from rpgres.scenes.playing import with_joining
from rpgres.scenes.program import EMPTY_PROGRAM, Scene, program_of, split_conditions
from rpgres.scenes.reading import (
    Deciders,
    Including,
    Part,
    folder_of,
    installed,
    names_in,
    with_part,
)
from rpgres.scenes.records import End, SceneFile, Step
from rpgres.scenes.step_checks import (
    answer_faults,
    kind_faults,
    path_faults_in,
    set_faults,
    step_faults,
    step_warnings,
    texts_in,
)
from rpgres.toml.diagnostics import (
    Diagnostic,
    Fault,
    KeyPath,
    diagnostics_error,
    diagnostics_in,
    errors_in,
    unknown_name,
)
from rpgres.toml.reading import Source, located, parse


def scene_diagnostics(
    source: Source,
    *,
    find_ruleset: Callable[[str], Any] | None = None,
    folder: Path | None = None,
    switches: Mapping[str, str] = EMPTY,
    extra: Sequence[Path] = (),
) -> list[Diagnostic]:
    """Return all diagnostics of the text of a scene, in line order.

    Args:
        find_ruleset, folder, extra: as of `read_scene`.
        switches: house rules that override those of the scene.

    Raises:
        FileError, PluginError: the text is not TOML, or the ruleset is faulty.
    """
    from rpgres.toml.faults import faults, mend_keys

    wrong = faults(data := parse(source), SceneFile)
    mend_keys(data, wrong)
    found, said = located(wrong, source), data.get("ruleset")
    if not isinstance(said, str):
        return _in_order(found)
    names = {key: list(data[key]) if isinstance(data.get(key), dict) else [] for key in ("characters", *_PLACED)}
    file = _sound_parts(data)
    try:
        code = find_ruleset(said) if find_ruleset is not None else installed(said, extra)
    except UsageError as error:
        return _in_order([*found, *located([Fault("unknown-name", ("ruleset",), error.message)], source)])
    rules = _rules(lambda chosen: load_rules(code, switches={**chosen, **switches}, extra=extra), file, source, found)
    try:
        read_seed(file.seed)
    except UsageError as error:
        found += _diagnostics_of(error, source, "wrong-value", "seed")
    folder = folder_of(source, folder)
    deciders = Deciders()
    deciders.add("", file.policy, folder, source)
    state = _table(rules, Part(file, source, folder), Including(said, source, folder, extra), deciders, found)
    scene = Scene(file, source, rules, state, {}, EMPTY_PROGRAM, folder, extra)
    walk = _Walk(scene, names["characters"], found)
    walk.all()
    texts = tuple(text for _, step in walk.own for text in texts_in(step))
    known = Known(rules, scene.state, walk.characters, texts=(*names["tracks"], *names["things"], *texts))
    later = cache(lambda: replace(known, state=with_joining(scene, walk.played)))
    walk.take(path_faults_in(file, walk.own, texts, known, later), source)
    walk.take(step_warnings(rules, walk.own, walk.characters), source)
    for at, step in walk.own:
        if step.expect is None or step.expect.error is None:  # else the scene expects that it is refused
            walk.take(set_faults(later, step), source, *at)
            walk.take(answer_faults(later, step), source, *at)
    found += _faults_of_deciders(deciders, source, replace(known, characters=names_in(rules, walk.played)))
    return _in_order(found)


def _rules(
    load: Callable[[Mapping[str, str]], Rules], file: SceneFile, source: Source, found: list[Diagnostic]
) -> Rules:
    """Return the rules with all valid switches; add faults of the others to `found`."""
    rules, chosen = load({}), dict[str, str]()
    for name, value in file.switches.items():
        try:
            rules = load({**chosen, name: value})
            chosen[name] = value
        except RpgresError as error:
            found += _diagnostics_of(error, source, "unknown-name", "switches", name)
    return rules


def check_scene(scene: Scene) -> list[Diagnostic]:
    """Return the diagnostics of a parsed scene, in line order."""
    walk = _Walk(scene, [], [])
    walk.all()
    return _in_order(walk.found)


def require_sound(scene: Scene) -> None:
    """Raise all diagnostics of a parsed scene as one `FileError`."""
    found = check_scene(scene)
    if found:
        raise diagnostics_error(found)


_PLACED = ("tags", "tracks", "things")


def _sound_parts(data: dict[str, Any]) -> SceneFile:
    """Return the valid parts of a scene: faulty entries are removed, and a faulty step becomes a note."""
    from rpgres.toml.faults import faults

    before = list[Fault]()
    while wrong := faults(data, SceneFile):
        if wrong == before or not all(fault.path for fault in wrong):  # such as tables that are nested too deep
            return SceneFile(ruleset=data["ruleset"])
        before = wrong
        for fault in wrong:
            _remove(data, fault.path)
    return msgspec.convert(data, SceneFile)


def _remove(data: dict[str, Any], path: KeyPath) -> None:
    holder: Any = data
    group: Any = None
    while len(path) > 1 and path[0] == "steps" and isinstance(path[1], int) and isinstance(holder, dict):
        group, number, path = holder.get("steps"), path[1], path[2:]
        if not isinstance(group, list):
            return
        holder = group[number]
    if holder is data:
        name, *inner = path
        section = data.get(str(name))
        if inner and isinstance(section, dict):
            section.pop(inner[0], None)
        else:
            data.pop(str(name), None)
        return
    step = holder if isinstance(holder, dict) else {}
    steps = step.get("steps") if path[:1] != ("steps",) else None  # valid steps of a faulty group
    id_ = {"id": step["id"]} if isinstance(step.get("id"), str) else {}
    group[number] = {**id_, **({"steps": steps} if steps and isinstance(steps, list) else {"note": "faulty"})}


def _diagnostics_of(error: RpgresError, source: Source, code: str, *path: str | int) -> list[Diagnostic]:
    return diagnostics_in(error) if "problems" in error.details else located([Fault(code, path, error.message)], source)


def _in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    found = list(found)
    wrong = {(one.file, one.key) for one in errors_in(found)}  # an error replaces warnings of its key
    told = [one for one in found if one.severity == "error" or (one.file, one.key) not in wrong]
    return sorted(dict.fromkeys(told), key=lambda problem: (problem.file, problem.line or 0))


def _table(rules: Rules, own: Part, including: Including, deciders: Deciders, found: list[Diagnostic]) -> State:
    """Return a table with all valid parts of a scene; add policies and orders to `deciders`, faults to `found`."""

    def refuse(error: RpgresError, source: Source, path: KeyPath) -> None:
        found.extend(_diagnostics_of(error, source, "refused", *path))

    with suppress(FileError):  # reported by the walk
        program_of(own.file.steps, own.source, ends={}, included=including)
    state = State()
    for part in (own, *including.parts):
        try:
            state = with_part(rules, state, part, deciders, refuse)
        except RpgresError as error:  # of a tag, track or thing
            found += diagnostics_in(error)
            rest = replace(part.file, tags={}, tracks={}, things={})
            state = with_part(rules, state, part._replace(file=rest), deciders, refuse)
    return with_tracks(rules, state)


def _faults_of_deciders(deciders: Deciders, source: Source, known: Known) -> Iterator[Diagnostic]:
    from rpgres.engine.deciders import check_deciders

    for who, wrong in check_deciders(known, sets=deciders.sets, users=deciders.policies, on_sheets=deciders.orders):
        if isinstance(wrong, Diagnostic):
            yield wrong
        elif isinstance(wrong, Fault):
            yield from located([wrong], deciders.sources.get(str(wrong.path[1]), source))
        else:
            at = ("characters", who, "policy") if who else ("policy",)
            yield from _diagnostics_of(wrong, deciders.texts.get(who, source), "unknown-name", *at)


class _Walk:
    """The faults of all steps, endings and tables, included scenes as well.

    Attributes:
        characters: all names of characters, even with a faulty sheet.
        actions: the action of each earlier step, by its id.
        played: the steps with a known action.
        own: the steps of the scene itself, with their key paths.
        is_unread: whether the ids and characters of a faulty included scene are unknown.
    """

    def __init__(self, scene: Scene, names: Sequence[str], found: list[Diagnostic]) -> None:
        self.scene, self.found = scene, found
        self.characters = tuple(dict.fromkeys((*scene.state.characters, *names)))
        self.including = Including(scene.file.ruleset, scene.source, scene.folder, scene.extra)
        self.actions: dict[str, str] = {}
        self.played: list[Step] = []
        self.own: list[tuple[KeyPath, Step]] = []
        self.is_unread = False  # whether an included scene is faulty, so that its ids and characters are unknown

    def all(self) -> None:
        self.steps(self.scene.file.steps, self.scene.source, ("steps",))
        self.ends(self.scene.file.ends)
        self.table()

    def take(self, faults: Iterable[Fault], source: Source, *at: str | int) -> None:
        self.found += located((fault.under(*at) for fault in faults), source)

    def steps(self, steps: Sequence[Step], source: Source, at: KeyPath) -> None:
        is_own = source is self.scene.source
        for number, step in enumerate(steps):
            place = (*at, number)
            self.take(self._conditions(step.when), source, *place, "when")
            if is_own:
                self.own.append((place, step))
                if step.id in self.actions:
                    told = f"an earlier step has the id {step.id!r}"
                    self.take([Fault("taken-name", ("id",), told)], source, *place)
            if step.include:
                try:
                    other, inner = self.including(step, source, (*place, "include"))
                    self.steps(inner, other, ("steps",))
                except FileError as error:
                    self.found += diagnostics_in(error)
                    self.is_unread = True
            elif step.steps:
                self.steps(step.steps, source, (*place, "steps"))
                self.take(self._conditions(step.repeat.until if step.repeat else {}), source, *place, "repeat", "until")
            else:
                self.take(self._step(step), source, *place)
            if step.id:
                self.actions[step.id] = step.played

    def _step(self, step: Step) -> Iterator[Fault]:
        rules, characters = self.scene.rules, self.characters
        if step.actor and step.actor not in characters and not self.is_unread:
            told = f"no character in this scene is named {step.actor!r}"
            yield unknown_name(("actor",), told, step.actor, characters)
        action = rules.file.actions.get(step.played)
        if action is not None and action.procedure == bool(step.procedure):
            self.played.append(step)
        yield from step_faults(self.scene, step, absent={*characters} - self.scene.state.characters.keys())

    def ends(self, ends: Mapping[str, End]) -> None:
        always = ""
        for name, end in ends.items():
            if always:
                told = f"this ending never comes: {always!r} comes before it and always holds"
                self.take([Fault("never-matches", ("ends", name), told)], self.scene.source)
            self.take(self._conditions(end.when), self.scene.source, "ends", name, "when")
            always = always or ("" if end.when else name)

    def _conditions(self, when: Mapping[str, Any]) -> Iterator[Fault]:
        rules = self.scene.rules
        outcomes, paths = split_conditions(when, self.actions)
        for key, wanted in outcomes.items():
            if key in self.actions:
                for band in map(str, wanted):
                    yield from outcome_faults(rules, self.actions[key], band, (key,))
            elif not self.is_unread:
                yield unknown_name((key,), f"there is no earlier step with the id {key!r}", key, self.actions)
        yield from read_faults(rules, paths)

    def table(self) -> None:
        file, seats, source = self.scene.file, (*self.characters, GM), self.scene.source
        said: list[tuple[str, KeyPath]] = []
        for section in _PLACED:
            ones = getattr(file, section).items()
            said += [(seat, (section, name, "seen-by")) for name, one in ones for seat in one.seen_by or ()]
        for name, tag in file.tags.items():
            self.take(kind_faults(self.scene.rules, tag.kind), source, "tags", name, "kind")
            said += [(holder, ("tags", name, "uses")) for holder in tag.uses]
            said += [(tag.on, ("tags", name, "on"))] if tag.on else []
        strange = ((who, path) for who, path in said if who not in seats)
        told = "no character in this scene is named"
        self.take((unknown_name(path, f"{told} {who!r}", who, seats) for who, path in strange), source)
