"""Everything wrong with a scene that can be told without playing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from rpgres.actions import check_labels
from rpgres.errors import RpgresError, UsageError
from rpgres.scenes.playing import prepare_step
from rpgres.scenes.records import Scene
from rpgres.state import GM
from rpgres.tomlfiles import Problem, Source, locate, nearest, problem_error


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
            prepare_step(scene, msgspec.structs.replace(step, actor=actor), scene.state)
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
