"""Scenes: a TOML script of actions at one table, run from start to end, checked, or tested against its `expect`s.

Nothing here prints, and nothing here knows a ruleset: an action of a scene is the action of `rpgres roll`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from rpgres.actions import Pending, Prepared, Result, check_labels, policy_of, prepare, run
from rpgres.chance import Streams, mint_seed
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.players import Policy, Prompt
from rpgres.rulesets import Id, Rules, builtin_folder, load_rules, overlay_roots, unknown
from rpgres.sheets import Sheet, find_sheet, make_sheet
from rpgres.state import EMPTY, GM, SCENE, Map, State, Tag
from rpgres.tomlfiles import Problem, Source, convert, locate, nearest, overlay, parse, problem_error, read_source
from rpgres.version import __version__

Answers = dict[str, str | list[str]]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


class SceneTag(_Record, frozen=True):
    """A text with game weight that lies on the table when the scene begins."""

    text: str
    kind: str
    on: str = SCENE
    uses: dict[str, int] = {}
    seen_by: list[str] | None = None


class Expect(_Record, frozen=True):
    """What a step must come to; only what is given is compared.

    `effects` are compared in order and number, each by the fields given. `asks` expects the run to wait for that
    decision, `error` expects it to be refused with a message that contains the text. `state` holds values after the
    step by path, as `characters.mara.counters.fate-points = 2`; `"absent"` for what must not be there.
    """

    outcome: str | None = None
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    effects: list[dict[str, Any]] | None = None
    asks: str | None = None
    error: str | None = None
    state: dict[str, Any] = {}


class Step(_Record, frozen=True):
    """One action of a scene. `fresh` plays it on the table as it was at the scene's beginning."""

    action: str
    actor: str = ""
    id: str = ""
    with_: dict[str, Any] = msgspec.field(default_factory=dict, name="with")
    given: Answers = {}
    choose: Answers = {}
    when: dict[str, str | list[str]] = {}
    expect: Expect | None = None
    note: str = ""
    fresh: bool = False


class SceneFile(_Record, frozen=True):
    """A scene as it stands in TOML."""

    ruleset: str
    title: str = ""
    summary: str = ""
    seed: str | None = None
    policy: str = ""
    switches: dict[str, str] = {}
    counters: dict[str, int] = {}
    characters: dict[Id, dict[str, Any]] = {}
    tags: dict[Id, SceneTag] = {}
    steps: list[Step] = []


class Scene(msgspec.Struct, frozen=True):
    """A scene that was read: its file, its text for pointing at faults, the rules, and the table at its beginning."""

    file: SceneFile
    source: Source
    rules: Rules
    state: State
    policies: dict[str, Policy]

    @property
    def folder(self) -> Path | None:
        """Where sheets are sought first: beside the scene."""
        return None if self.source.path == "-" else Path(self.source.path).parent

    def where(self, *path: str | int) -> str:
        """Return `FILE:LINE` of a key path."""
        return f"{self.source.path}:{locate(self.source.text, path) or 1}"

    def step_name(self, number: int) -> str:
        """Return what a step is called in messages."""
        step = self.file.steps[number]
        return f"step {step.id!r}" if step.id else f"step {number + 1}"


class SceneResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a scene, as `rpgres scene run --json` prints it."""

    format: Literal["rpgres.scene/1"] = "rpgres.scene/1"
    version: str
    ruleset: str
    rules: dict[str, Any]
    title: str
    seed: str
    switches: dict[str, str]
    steps: list[dict[str, Any]]
    state: dict[str, Any]


class Mismatch(msgspec.Struct, frozen=True):
    """An expectation that did not hold: where it stands, what was expected, what came."""

    where: str
    step: str
    what: str
    expected: Any
    found: Any


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def find_scene(name: str, *, extra: Sequence[Path] = ()) -> Path:
    """Return the file of a scene: a path, or one that ships with a ruleset as `RULESET/NAME`.

    Raises:
        FileError: there is none; names the nearest.
    """
    path = Path(name)
    if os.path.isfile(path):
        return path
    ruleset, _, scene = name.removesuffix(".toml").partition("/")
    known: list[str] = []
    for root in (*reversed(overlay_roots(extra)), builtin_folder()):
        folder = root / ruleset / "scenes"
        if scene and os.path.isfile(folder / f"{scene}.toml"):
            return folder / f"{scene}.toml"
        known += [f"{found.parent.parent.name}/{found.stem}" for found in sorted(root.glob("*/scenes/*.toml"))]
    near = nearest(name, known)
    hint = (
        f"; did you mean {near!r}?" if near else f"; scenes that ship by name: {', '.join(known[:12])}" if known else ""
    )
    raise FileError(f"there is no scene {name!r}{hint}", file=name)


def read_scene(
    source: Source,
    *,
    find_ruleset: Callable[[str], Any],
    switches: Mapping[str, str] = EMPTY,
    extra: Sequence[Path] = (),
    policy: str = "",
    auto: bool = False,
) -> Scene:
    """Return a scene from its text.

    Args:
        source: the text and where it stands.
        find_ruleset: gives a ruleset's code by id.
        switches: house rules chosen over the scene's own.
        extra: further folders with rulesets and overlays.
        policy: who answers for everybody who has no policy in the scene; in place of the scene's own for them.
        auto: let the ruleset's first policy do that when neither says.

    Raises:
        FileError: the file is faulty; all problems at once.
    """
    file: SceneFile = convert(parse(source), SceneFile, sources=[source])
    rules = load_rules(find_ruleset(file.ruleset), switches={**file.switches, **switches}, extra=extra)
    state = State(counters=Map(file.counters))
    folder = None if source.path == "-" else Path(source.path).parent
    policies: dict[str, Policy] = {}
    for name, described in file.characters.items():
        sheet, own = _character(rules, name, described, source=source, folder=folder)
        state = state.with_character(sheet.character)
        for tag in sheet.tags:
            if state.tag(tag.name) is not None:
                tag = msgspec.structs.replace(tag, name=f"{tag.name} ({name})")
            state = state.with_tag(tag)
        if own:
            policies[name] = policy_of(rules, own)
    for laid in file.tags.values():
        seen_by = None if laid.seen_by is None else tuple(laid.seen_by)
        state = state.with_tag(Tag(laid.text, laid.kind, laid.on, Map(laid.uses), seen_by))
    everybody = policy or file.policy
    if everybody or auto:
        policies[""] = policy_of(rules, everybody)
    return Scene(file, source, rules, state, policies)


def _character(
    rules: Rules, name: str, described: Mapping[str, Any], *, source: Source, folder: Path | None
) -> tuple[Sheet, str]:
    """Return a character of a scene and the name of its policy: its sheet, overlaid by what the scene says."""
    own = dict(described)
    policy = own.pop("policy", "")
    sheet = own.pop("sheet", None)
    prefix = ("characters", name)
    if not isinstance(policy, str) or not isinstance(sheet, str | None):
        raise FileError(f"{source.path}:{locate(source.text, prefix)}: sheet and policy of {name} are texts")
    if sheet is None:
        return make_sheet(rules, own, name=name, sources=[source], prefix=prefix), policy
    base = read_source(find_sheet(rules, sheet, beside=folder))
    make_sheet(rules, parse(base), name=name, sources=[base])  # faults of the sheet are the sheet's, not the scene's
    return make_sheet(rules, overlay(parse(base), own), name=name, sources=[source], prefix=prefix), policy


# ---------------------------------------------------------------------------------------------------------------------
# Running


class PlayedStep(NamedTuple):
    """A step that was played: its result (None when `when` did not hold), and the table after it."""

    number: int
    id: str
    result: Result | None
    state: State


def play_scene(scene: Scene, *, seed: str, prompt: Prompt | None = None) -> Iterator[PlayedStep]:
    """Yield what comes of each step of a scene, as it is played.

    Args:
        scene: the scene.
        seed: what all chance is drawn from.
        prompt: asks a person what nobody else answers.

    Raises:
        FileError: a step cannot be played, or a decision has nobody to take it; says which step and where.
    """
    streams = Streams(seed)
    state, outcomes = scene.state, dict[str, str]()
    for number, step in enumerate(scene.file.steps):
        if not _is_due(step, outcomes):
            yield PlayedStep(number, step.id, None, state)
            continue
        try:
            found, after = _play_step(scene, number, scene.state if step.fresh else state, streams, prompt=prompt)
        except RpgresError as error:
            raise _at_step(scene, number, error) from error
        if isinstance(found, Pending):
            raise _unanswered(scene, number, found)
        state = state if step.fresh else after
        if step.id and found.outcome is not None:
            outcomes[step.id] = found.outcome
        yield PlayedStep(number, step.id, found, state)


def seed_of(scene: Scene, seed: str | None) -> str:
    """Return the seed a scene is played from: the one asked for, its own, or a fresh one."""
    if seed is not None:
        return seed
    return scene.file.seed if scene.file.seed is not None else mint_seed()


def run_scene(scene: Scene, *, seed: str | None = None, prompt: Prompt | None = None) -> SceneResult:
    """Return what comes of a scene as a whole; see `play_scene`.

    Args:
        scene: the scene.
        seed: in place of the scene's own; without either a fresh one is minted.
        prompt: asks a person what nobody else answers.
    """
    seed = seed_of(scene, seed)
    steps: list[dict[str, Any]] = []
    state = scene.state
    for played in play_scene(scene, seed=seed, prompt=prompt):
        state = played.state
        what = {"skipped": True} if played.result is None else msgspec.to_builtins(played.result)
        steps.append({"id": played.id, **what})
    return SceneResult(
        version=__version__,
        ruleset=scene.rules.id,
        rules=scene.rules.identity(),
        title=scene.file.title,
        seed=seed,
        switches=scene.rules.switches,
        steps=steps,
        state=msgspec.to_builtins(state),
    )


def _is_due(step: Step, outcomes: Mapping[str, str]) -> bool:
    for earlier, wanted in step.when.items():
        outcome = outcomes.get(earlier)
        if outcome != wanted and not (isinstance(wanted, list) and outcome in wanted):
            return False
    return True


def _play_step(
    scene: Scene, number: int, state: State, streams: Streams, *, prompt: Prompt | None = None
) -> tuple[Result | Pending, State]:
    step = scene.file.steps[number]
    return run(
        _prepare_step(scene, step, state),
        streams=streams,
        step=number,
        given=_lists(step.given),
        choose=_lists(step.choose),
        policies=scene.policies,
        prompt=prompt,
        note=step.note or None,
    )


def _prepare_step(scene: Scene, step: Step, state: State) -> Prepared:
    if step.actor and step.actor not in state.characters:
        raise UsageError(unknown("character", step.actor, state.characters, of="the scene"))
    return prepare(scene.rules, step.action, step.with_, state=state, actor=step.actor, beside=scene.folder)


def _lists(answers: Answers) -> dict[str, list[str]]:
    return {label: [value] if isinstance(value, str) else value for label, value in answers.items()}


def _at_step(scene: Scene, number: int, error: RpgresError) -> FileError:
    where = scene.where("steps", number)
    if isinstance(error, FileError) and error.message.startswith(scene.source.path):
        return error
    return FileError(f"{where}: {scene.step_name(number)}: {error.message}", **error.details)


def _unanswered(scene: Scene, number: int, pending: Pending) -> FileError:
    question = pending.question
    names = ", ".join(option["name"] for option in question.options)
    return FileError(
        f"{scene.where('steps', number)}: {scene.step_name(number)} waits for a decision: {question.label} "
        f'({question.who} chooses among {names}); answer it with choose = {{ {question.label} = "..." }}, '
        f"or give {question.who} a policy",
        label=question.label,
        who=question.who,
        options=[option["name"] for option in question.options],
    )


# ---------------------------------------------------------------------------------------------------------------------
# Testing


def prove_scene(scene: Scene, *, seed: str | None = None) -> tuple[int, list[Mismatch]]:
    """Return how many expectations a scene has, and those that do not hold.

    Raises:
        FileError: a step that expects no fault cannot be played.
    """
    streams = Streams(seed or scene.file.seed or "0")
    state, outcomes = scene.state, dict[str, str]()
    checks, wrong = 0, []
    for number, step in enumerate(scene.file.steps):
        if not _is_due(step, outcomes):
            if step.expect is not None:
                checks += 1
                wrong.append(
                    Mismatch(scene.where("steps", number, "when"), scene.step_name(number), "when", "played", "skipped")
                )
            continue
        expect = step.expect or Expect()
        found: Result | Pending | RpgresError
        after = before = scene.state if step.fresh else state
        try:
            found, after = _play_step(scene, number, before, streams)
        except RpgresError as error:
            if expect.error is None:
                raise _at_step(scene, number, error) from error
            found = error
        if isinstance(found, Pending) and expect.asks is None:
            raise _unanswered(scene, number, found)
        for what, expected, came in _compare(expect, found, after):
            checks += 1
            if expected != came:
                where = scene.where("steps", number, "expect", *what.split(".", 1)[:1])
                wrong.append(Mismatch(where, scene.step_name(number), what, expected, came))
        if not step.fresh:
            state = after
        if step.id and isinstance(found, Result):
            outcomes[step.id] = found.outcome or ""
    return checks, wrong


def _compare(expect: Expect, found: Result | Pending | RpgresError, state: State) -> Iterator[tuple[str, Any, Any]]:
    """Yield every comparison of a step as (what, expected, found)."""
    if expect.error is not None:
        message = found.message if isinstance(found, RpgresError) else "no error"
        yield "error", expect.error, expect.error if expect.error in message else message
    if expect.asks is not None:
        yield "asks", expect.asks, found.question.label if isinstance(found, Pending) else "nothing"
    for what in ("outcome", "success", "margin", "total", "opposition"):
        expected = getattr(expect, what)
        if expected is not None:
            yield what, expected, getattr(found, what, None)
    if expect.effects is not None:
        effects = found.effects if isinstance(found, Result) else []
        yield "effects", expect.effects, _shown(expect.effects, effects)
    for path, expected in expect.state.items():
        yield f"state.{path}", expected, _look_up(state, path)


def _shown(expected: Sequence[Mapping[str, Any]], effects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the effects that came, each cut down to the fields the expectation names when they agree."""
    shown = []
    for number, effect in enumerate(effects):
        wanted = expected[number] if number < len(expected) else {}
        agrees = wanted and all(effect.get(key, _ABSENT) == value for key, value in wanted.items())
        shown.append(dict(wanted) if agrees else dict(effect))
    return shown


_ABSENT = "absent"


def _look_up(state: State, path: str) -> Any:
    """Return what stands at a path of the state: attributes of records, keys of maps, tags and boxes by name."""
    value: Any = state
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key, _ABSENT)
        elif isinstance(value, tuple):
            value = next((one for one in value if getattr(one, "slug", getattr(one, "name", "")) == key), _ABSENT)
        else:
            value = getattr(value, key, _ABSENT)
        if value is None or value == _ABSENT:
            return _ABSENT
    found = msgspec.to_builtins(value)
    return list(found) if isinstance(found, tuple) else found


# ---------------------------------------------------------------------------------------------------------------------
# Checking without playing


def check_scene(scene: Scene) -> list[Problem]:
    """Return everything wrong with a scene that can be told without playing it."""
    faults = _Faults(scene.source, [])
    rules, ids = scene.rules, list[str]()
    bands, actions = rules.file.bands, rules.file.actions
    for number, step in enumerate(scene.file.steps):
        at = ("steps", number)
        if step.id in ids:
            faults.add(f"an earlier step has the id {step.id!r}", *at, "id")
        for earlier, wanted in step.when.items():
            if earlier not in ids:
                faults.name("no earlier step has the id", earlier, ids, *at, "when", earlier)
            for band in [wanted] if isinstance(wanted, str) else wanted:
                if band not in bands:
                    faults.name("no outcome is called", band, bands, *at, "when", earlier)
        if step.id:
            ids.append(step.id)
        outcome = step.expect.outcome if step.expect is not None else None
        if outcome is not None and outcome not in bands:
            faults.name("no outcome is called", outcome, bands, *at, "expect", "outcome")
        if step.action not in actions:
            faults.name(f"{rules.id} has no action", step.action, actions, *at, "action")
            continue
        try:
            check_labels(rules, step.action, given=step.given, choose=step.choose)
        except UsageError as error:
            faults.add(error.message, *at)
        characters = scene.state.characters
        is_known = not step.actor or step.actor in characters
        if not is_known:
            faults.name("nobody in this scene is called", step.actor, characters, *at, "actor")
        try:
            actor = step.actor if is_known else next(iter(characters), "")
            _prepare_step(scene, msgspec.structs.replace(step, actor=actor), scene.state)
        except RpgresError as error:
            if step.expect is None or step.expect.error is None:
                faults.add(error.message, *at, "with")
    seats = (*scene.state.characters, GM)
    for name, tag in scene.file.tags.items():
        for holder in (*tag.uses, *(tag.seen_by or ()), *([tag.on] if tag.on else ())):
            if holder not in seats:
                faults.name("nobody in this scene is called", holder, seats, "tags", name)
    return faults.found


class _Faults(NamedTuple):
    """What is wrong with a scene so far, and the text it is wrong in."""

    source: Source
    found: list[Problem]

    def add(self, message: str, *path: str | int, hint: str = "") -> None:
        line = locate(self.source.text, path)
        self.found.append(Problem(self.source.path, line, _dotted(path), message, hint))

    def name(self, message: str, name: str, known: Iterable[str], *path: str | int) -> None:
        self.add(f"{message} {name!r}", *path, hint=nearest(name, known) or "")


def _dotted(path: Sequence[str | int]) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def require_sound(scene: Scene) -> None:
    """Raise everything wrong with a scene that can be told without playing it.

    Raises:
        FileError: all problems at once.
    """
    problems = check_scene(scene)
    if problems:
        raise problem_error(problems)
