"""Checks of one step of a scene: names, inputs, answers, paths and changes. Nothing here plays one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

from msgspec import ValidationError, convert

from rpgres.dice import dice
from rpgres.engine.labels import check_labels
from rpgres.engine.periods import SCENE, period_names
from rpgres.engine.seats import EVERY
from rpgres.errors import FileError, GivenError, NotationError, RpgresError, UsageError, enumerated
from rpgres.lint.decisions import asked_of, decisions_of
from rpgres.lint.orders import option_faults
from rpgres.lint.paths import Known, in_own_words, path_faults, place_faults
from rpgres.lint.reachable import outcome_faults
from rpgres.model.conditions import read_condition
from rpgres.model.paths import ABSENT, parse_path
from rpgres.model.paths import Path as StatePath
from rpgres.model.state import CHECKED, EMPTY, State, slug
from rpgres.model.typed_paths import path_of, typed_path
from rpgres.rulesets import Rules
from rpgres.rulesets.corrections import kinds_of_tags
from rpgres.rulesets.dice_plans import dice_plan
from rpgres.rulesets.orders import Order
from rpgres.rulesets.rules import dice_of
from rpgres.scenes.playing import is_change, read_step, with_value, wrong_key
from rpgres.scenes.program import Scene
from rpgres.scenes.reading import names_in
from rpgres.scenes.records import Expect, SceneFile, Step, texts_of
from rpgres.toml.diagnostics import Fault, KeyPath, errors_in, nearest, unknown_name

Steps = Sequence[tuple[KeyPath, Step]]

_CHANGED = ("number", "data", "text")  # kinds of values that "+1" may set; of a text, "+1" is the new text
_YES = "yes"  # answers a question with a single option
_ONLY_BEGUN = "it can end only if an action began it"
_NUMBERS = re.compile(r"\d+(?:,\d+)*")  # faces of dice that have numbers
_COUNT = re.compile(r"\{[^{}]*\}(?=d\d)")  # how many dice, computed


def step_faults(scene: Scene, step: Step, *, absent: AbstractSet[str]) -> Iterator[Fault]:
    """Yield the faults of a single step; `absent` characters have a faulty sheet."""
    rules = scene.rules
    yield from _expectation_faults(rules, step, step.expect or Expect())
    if step.moment is not None:
        (period, moment), known = step.moment, period_names(rules)
        if period not in known:
            yield unknown_name((moment,), f"{rules.id} has no period {period!r}", period, known)
    for path, value in step.set.items():
        message = _set_fault(rules, path, value)
        if message:
            yield Fault("unknown-name", ("set", path), message)
    if not step.played:
        return
    kind = "procedure" if step.procedure else "action"
    actions = [name for name, one in rules.file.actions.items() if one.procedure == bool(step.procedure)]
    if step.played not in actions:
        message = wrong_key(rules, step)
        told = f"{rules.id} has no {kind} {step.played!r}"
        yield Fault("unknown-name", (kind,), message) if message else unknown_name((kind,), told, step.played, actions)
        return
    for key, label in [*(("given", one) for one in step.given), *(("choose", one) for one in step.choose)]:
        try:
            check_labels(rules, step.played, **{"given": EMPTY, "choose": EMPTY, key: {label: ""}})
        except UsageError as error:
            yield Fault("unknown-name", (key, label), error.message)
    expects_error = step.expect is not None and step.expect.error is not None
    if not expects_error and absent.isdisjoint(names_in(rules, [step])):
        yield from _input_faults(scene, step)


def _expectation_faults(rules: Rules, step: Step, expect: Expect) -> Iterator[Fault]:
    if expect.outcome is not None:
        yield from outcome_faults(rules, step.played, expect.outcome, ("expect", "outcome"))
    decisions = decisions_of(rules) if expect.asks is not None else {}
    if expect.asks is not None and expect.asks not in decisions:
        yield unknown_name(
            ("expect", "asks"), f"{rules.id} asks for no decision {expect.asks!r}", expect.asks, decisions
        )
    for number, effect in enumerate(expect.effects or ()):
        kind, kinds = effect.get("kind"), rules.file.effects
        if kind is not None and (not isinstance(kind, str) or kind not in kinds):
            told = f"{rules.id} has no kind of effect {kind!r}"
            yield unknown_name(("expect", "effects", number, "kind"), told, str(kind), kinds)
    for path, value in expect.state.items():
        if isinstance(value, int) and typed_path(path).keys[-2:-1] == ("tracks",):
            told = f"a track is a list of boxes; `{path}.marked` is how many are marked, `{path}.free` how many are not"
            yield Fault("wrong-type", ("expect", "state", path), told)
    others = (ABSENT, *{band.also for band in rules.file.bands.values() if band.also})
    if expect.also is not None and expect.also not in others:
        told = f"no outcome also counts as {expect.also!r}"
        yield Fault("unknown-name", ("expect", "also"), told, expect.also, others)


def _set_fault(rules: Rules, path: str, value: bool | int | str) -> str:
    try:
        found = parse_path(path)
    except UsageError as error:
        return in_own_words(rules, path, error.message)
    if found.is_computed:
        return f"{path} is computed and cannot be set{_boxes_of(found)}"
    if found.kind in _CHANGED or not (isinstance(value, str) and is_change(value)):
        return ""
    may = _boxes_of(found) or ("; set true or false" if found.kind == "flag" else "")
    return f"{path}: {value!r} changes a number, and there can be no number{may}"


def _boxes_of(path: StatePath) -> str:
    """Return a hint for the path of a track."""
    kinds = [place.kind for place in path.places]
    if "tracks" not in kinds:
        return ""
    track = ".".join(path.keys[: kinds.index("tracks") + 1])
    return f'; mark a box, as in "{track}.1" = "x", and clear it with "absent"'


def _input_faults(scene: Scene, step: Step) -> Iterator[Fault]:
    """Yield the faults of inputs: after the first fault, inputs are read again without the faulty one."""
    inputs, removed, replaced = dict(step.with_), set[str](), set[str]()
    parameters = scene.rules.parameters(step.played)
    is_actor_known = not step.actor or step.actor in scene.state.characters
    while True:
        try:
            read_step(scene, step, inputs, scene.state)
            return
        except RpgresError as error:
            path = tuple(error.path or ())
            key = _parameter(scene.rules, step, str(path[0])) if path else ""
            if error.reason == "missing" and key in removed and key not in replaced:
                inputs[key] = 0  # a valid value of a required number
                replaced.add(key)
                continue
            if key in removed:
                return
            typed = bool(path) and path[0] in inputs
            if is_actor_known or not typed or key not in parameters or parameters[key].kind != "ability":
                yield Fault("bad-input", ("with", *path) if typed else ("with",) if step.with_ else (), error.message)
            if not typed:
                return
            del inputs[str(path[0])]
            removed.add(key)


def _parameter(rules: Rules, step: Step, key: str) -> str:
    """Return the name of a parameter; `key` may be an alias."""
    name = key.replace("_", "-")
    parameters = rules.parameters(step.played).items()
    return next((known for known, one in parameters if name == known or name in one.aliases), name)


def kind_faults(rules: Rules, kind: str) -> Iterator[Fault]:
    """Yield a misspelt kind of tag; code may use undeclared kinds."""
    known = kinds_of_tags(rules, ())
    if kind not in known and nearest(kind, known):
        yield unknown_name((), f"there is no kind of tag {kind!r}", kind, known)


# ---------------------------------------------------------------------------------------------------------------------
# Checks against the table; `later` includes joining characters


def set_faults(later: Callable[[], Known], step: Step) -> Iterator[Fault]:
    """Yield invalid changes of numbers, tracks, kinds of tags, and of `is-out`; play may create other names."""
    for path, value in step.set.items():
        keys, known = typed_path(path).keys, later()
        state, rules = known.state or State(), known.rules
        change = isinstance(value, str) and is_change(value)  # the sum is known in play only
        match keys:
            case ["counters" | "abilities", _] | ["characters", _, "counters" | "abilities", _]:
                value = "+0" if change else value
            case ["tags", _] | ["tags", _, "kind"]:
                if value != ABSENT and value not in [tag.kind for tag in state.tags]:
                    yield from (fault.under("set", path) for fault in kind_faults(rules, str(value)))
                continue
            case _:
                if not _is_there(state, keys) or change or parse_path(path).is_computed:  # reported by `_set_fault`
                    continue
                value = CHECKED if isinstance(value, str) and value != ABSENT else value  # any mark fits a box
        try:
            with_value(rules, state, path, value)
        except RpgresError as error:
            yield Fault("refused", ("set", path), error.message)


def _is_there(state: State, keys: Sequence[str]) -> bool:
    match keys:
        case ["tracks", name, *_]:
            return name in state.tracks
        case ["characters", who, "tracks", _, *_] | ["characters", who, "is_out" | "is-out"]:
            return who in state.characters
    return False


def answer_faults(later: Callable[[], Known], step: Step) -> Iterator[Fault]:
    """Yield impossible answers: faces of dice, and options that are never offered."""
    if not (step.given or step.choose):
        return
    known = later()
    if step.played not in known.rules.file.actions:
        return
    for label, said in step.given.items():
        for at, text in _each(said):
            message = _impossible_faces(known.rules, step.played, label, text)
            if message:
                yield Fault("wrong-value", ("given", label, *at), message)
    for key, said in step.choose.items():
        asked = asked_of([key.rpartition(":")[2]], decisions_of(known.rules))
        for at, text in _each(said):
            if text != _YES or len(asked.every.options or ()) != 1:
                yield from option_faults(("choose", key, *at), [text.removesuffix(EVERY)], asked, known)


def _each(said: str | int | Sequence[str | int]) -> list[tuple[KeyPath, str]]:
    if isinstance(said, str | int):
        return [((), str(said))]
    return [((number,), str(one)) for number, one in enumerate(said)]


def _impossible_faces(rules: Rules, action: str, label: str, text: str) -> str:
    """Return why the declared dice of a label can never show faces; empty for possible or unknown ones."""
    try:
        if not rules.file.actions[action].dice:  # dice that a rule in code always rolls
            coded = dice_of(rules, label)
            _ = coded.read(text) if coded is not None else None
            return ""
        group = dice_plan(rules.file, action).groups.get(label)
        pools = dice(_COUNT.sub("1", group.template)).pools if group is not None else ()
    except GivenError as error:
        return error.message
    except (FileError, NotationError):  # faulty rulesets, and dice with computed sides
        return ""
    sides = sorted({pool.sides for pool in pools})
    if not (_NUMBERS.fullmatch(text) and sides and all(pool.sides and not pool.is_d66 for pool in pools)):
        return ""
    strange = next((face for face in text.split(",") if not any(_can_show(one, face) for one in sides)), "")
    rolls = " and ".join(f"d{one}" for one in sides)
    return f"no die of {label!r} can show {strange}: it rolls {rolls}" if strange else ""


def _can_show(sides: int, face: str) -> bool:
    with suppress(GivenError):
        dice(f"d{sides}").read(face)
        return True
    return False


def path_faults_in(
    file: SceneFile, steps: Steps, texts: Iterable[str], known: Known, later: Callable[[], Known]
) -> Iterator[Fault]:
    """Yield impossible paths, and keys of tags in place of their texts.

    Args:
        texts: the texts of tags that steps may create.
    """
    there = {slug(text) for text in (*texts, *(tag.text for tag in file.tags.values()))}
    for at, paths, check in _paths_in(file, steps):
        for path, wanted in paths.items():
            said = typed_path(path)
            if said.field == "tags" and said.name in file.tags and slug(said.name) not in there:
                meant = path_of("tags", slug(file.tags[said.name].text), *said.keys[2:])
                yield Fault("unknown-name", (*at, path), f"a path names a tag by its text: this one is {meant}")
            elif check is not None and said.name and check(path, wanted, known):
                yield from (fault.under(*at, path) for fault in check(path, wanted, later()))


def _paths_in(
    file: SceneFile, steps: Steps
) -> Iterator[tuple[KeyPath, Mapping[str, Any], Callable[[str, Any, Known], list[Fault]] | None]]:
    """Yield each table with paths as keys, and the check of its entries."""
    for name, end in file.ends.items():
        yield ("ends", name, "when"), end.when, _condition_faults
    for at, step in steps:
        yield (*at, "when"), step.when, _condition_faults
        yield (*at, "set"), step.set, None
        if step.repeat is not None:
            yield (*at, "repeat", "until"), step.repeat.until, _condition_faults
        if step.expect is not None:
            yield (*at, "expect", "state"), step.expect.state, _expected_path_faults
    lists: dict[KeyPath, Any] = {("orders", name): orders for name, orders in file.orders.items()}
    lists |= {("characters", name, "orders"): one.get("orders", []) for name, one in file.characters.items()}
    for at, orders in lists.items():
        with suppress(ValidationError):  # `check_deciders` checks the rest as their owner sees the table
            for number, order in enumerate(convert(orders, list[Order])):
                yield (*at, number, "when"), order.when, None


def _condition_faults(path: str, wanted: Any, known: Known) -> list[Fault]:
    try:
        return list(place_faults(read_condition(path, wanted), known))
    except UsageError:  # reported by `read_faults`
        return []


def _expected_path_faults(path: str, wanted: Any, known: Known) -> list[Fault]:
    """Return the faults of an expected path, without warnings."""
    try:
        return errors_in(path_faults(parse_path(path), known)) if wanted != ABSENT else []
    except UsageError as error:
        return [Fault("unknown-name", (), error.message.removeprefix(f"{path}: "))]


def texts_in(step: Step) -> Iterator[str]:
    """Yield the names that a step may create: inputs, answers, and paths of `set`."""
    for path, value in step.set.items():
        match typed_path(path).keys:
            case ["tags" | "things" | "tracks", name] if value != ABSENT:
                yield name
    for text in texts_of([step.with_, step.choose]):
        yield text.partition("=")[0]  # of `TEXT=USES`


# ---------------------------------------------------------------------------------------------------------------------
# Warnings of playable steps


def step_warnings(rules: Rules, steps: Steps, characters: Sequence[str]) -> Iterator[Fault]:
    """Yield warnings for missing actors, and for periods that end without a beginning.

    An action or a procedure begins the implied periods. Code of a ruleset may begin any period.
    """
    begun, is_played = {SCENE}, False
    for at, step in steps:
        if step.expect is not None and step.expect.error is not None:
            continue
        action, kind = rules.file.actions.get(step.played), "procedure" if step.procedure else "action"
        needs_actor = action is not None and not (action.anybody or step.actor or step.fresh)
        if needs_actor and rules.file.sheet and len(characters) > 1:
            message = f"no actor: name one of the scene's characters as `actor`: {enumerated(characters)}"
            yield Fault("missing-key", (*at, kind), message, severity="warning")
        is_played = is_played or bool(step.played)
        begun |= {step.begin, *rules.file.periods} if step.include else {step.begin}  # which may begin anything
        period = rules.file.periods.get(step.end)
        if period is not None and step.end not in begun and not (period.implied and is_played):
            then = (
                "what its end does is done all the same" if period.implied else "it can end only if an action began it"
            )
            message = f"no earlier step begins this {step.end}; {then}"
            yield Fault("missing-key", (*at, "end"), message, severity="warning")
