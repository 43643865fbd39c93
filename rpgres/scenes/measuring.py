"""Scenes and procedures as subjects of odds: what `rpgres.odds.subjects` changes and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rpgres.engine.players import Question
from rpgres.engine.prepare import Prepared, answers_to
from rpgres.errors import UndealtError, named
from rpgres.model.state import EMPTY
from rpgres.odds.exact import NeedsPolicy, asked_words, needs_policy, success_in
from rpgres.odds.games import Game
from rpgres.odds.query import Query
from rpgres.odds.scenes import WORK, SceneOdds, Undecided, scene_odds
from rpgres.odds.subjects import (
    IN_ALL,
    Limits,
    Measured,
    Subject,
)
from rpgres.rulesets import Rules
from rpgres.scenes.odds_record import by_name
from rpgres.scenes.procedures import Answers, procedure_scene
from rpgres.scenes.program import Scene
from rpgres.scenes.reading import NO_OVERRIDES, Overrides, load_scene, read_scene
from rpgres.scenes.walking import ENDING, game_of
from rpgres.toml.reading import parse

T = TypeVar("T")

Reread = Callable[[Subject], Scene]  # returns the scene of a changed subject


def scene_subject(
    name: str,
    *,
    extra: Sequence[Path] = (),
    overrides: Overrides = NO_OVERRIDES,
    find_ruleset: Callable[[str], Any] | None = None,
    by: str = ENDING,
    leaves: int | None = None,
) -> tuple[Subject, Scene]:
    """Return a scene as a subject of odds, and the scene itself.

    Args:
        name: a file, `-`, or a shipped scene.
        extra: further folders with rulesets and overlays.
        overrides, find_ruleset: see `read_scene`.
        by: what the chances are of; see `game_of`.

    Raises:
        FileError: the scene is missing or faulty.
    """
    scene = load_scene(name, extra=extra, overrides=overrides, find_ruleset=find_ruleset)
    reread = partial(_reread, read=scene, overrides=overrides)
    subject = Subject(
        rules=scene.rules,
        evaluate=_evaluator(reread, by=by, leaves=leaves),
        scene=scene.source.path,
        document=parse(scene.source),
        switches={**scene.file.switches, **overrides.switches},
    )
    return subject, scene


def _reread(subject: Subject, *, read: Scene, overrides: Overrides) -> Scene:
    """Return the scene of a subject, with its changes."""

    def load(_code: Any, *, switches: Mapping[str, str], extra: object) -> Rules:
        chosen = {name: value for name, value in switches.items() if name not in subject.switches}
        return subject.rules.with_switches({**chosen, **subject.switches})

    return read_scene(
        read.source,
        data=subject.document,
        find_ruleset=str,  # not used: `load` has the rules
        folder=read.folder,
        extra=read.extra,
        overrides=msgspec.structs.replace(overrides, switches=EMPTY),  # those of the subject count
        load=load,
    )


def procedure_subject(query: Query) -> Subject:
    """Return a procedure as a subject of odds."""

    def scene_of(subject: Subject) -> Scene:
        fields = {"rules": subject.rules, "inputs": subject.inputs, "choose": subject.choose}
        return scene_of_procedure(msgspec.structs.replace(query, **fields))[0]

    return Subject(
        rules=query.rules,
        evaluate=_evaluator(scene_of, by=query.by, leaves=query.leaves),
        action=query.action,
        inputs=query.inputs,
        switches=query.switches,
        choose=query.choose,
        start=query.start,
    )


def scene_of_procedure(query: Query) -> tuple[Scene, Prepared]:
    """Return the scene that plays a procedure, and the procedure with its inputs read.

    Raises:
        UsageError, FileError: the inputs do not fit, or name a character that is not there.
    """
    prepared = query.prepared()
    policies, choose = query.deciding(prepared), answers_to(prepared, query.choose)
    answers = Answers(policies, choose=choose, told=query.named)
    state, actor = query.start.state, query.start.actor
    scene = procedure_scene(query.rules, query.action, query.inputs, answers, state=state, actor=actor)
    return scene, prepared


def _evaluator(scene_of: Callable[[Subject], Scene], *, by: str, leaves: int | None) -> Callable[..., Measured]:
    """Return the function that measures the scene of a subject."""

    def evaluate(subject: Subject, limits: Limits) -> Measured:
        scene = scene_of(subject)
        work = min(WORK, IN_ALL * WORK // limits.among)
        return _measured_scene(scene, odds_by(scene, by, leaves=leaves, seconds=limits.seconds, work=work), by=by)

    return evaluate


def undecided_error(scene: Scene, questions: Iterable[Question]) -> NeedsPolicy:
    """Return the error of decisions without an answer, in a scene or in a procedure without a file."""
    asked = list(questions)
    if not scene.source.text:
        return needs_policy(asked)
    return NeedsPolicy(
        f"the odds depend on who decides: {'; '.join(map(asked_words, asked))}. "
        f"Answer in the step with choose = {{ {asked[0].label} = "
        f'"..." }}, or let a policy or standing orders decide with {named("auto")}, {named("policy")} NAME or '
        f"{named('policy')} FILE.toml",
        labels=[one.label for one in asked],
    )


def odds_by(scene: Scene, by: str, **budget: Any) -> SceneOdds:
    """Return the exact odds of the endings of a scene, or of a value at its end.

    Args:
        by: what the chances are of; see `game_of`.
        budget: how much work; see `scene_odds`.

    Raises:
        NeedsPolicy: nothing answers a decision.
        UsageError: there is nothing of such a name.
    """
    try:
        return with_late_deals(scene, lambda game: scene_odds(game, **budget), by=(by,))
    except Undecided as undecided:
        raise undecided_error(scene, undecided.questions.values()) from None


def with_late_deals(scene: Scene, walk: Callable[[Game], T], **asked: Any) -> T:
    """Return the result of a walk through a scene whose hands are dealt when they are first looked at.

    Where a condition, or the value that is asked for, reads a hand, all hands are dealt at once.
    """
    try:
        return walk(game_of(scene, **asked))
    except UndealtError:
        return walk(game_of(scene, **asked, defers=False))


def _measured_scene(scene: Scene, odds: SceneOdds, *, by: str = ENDING) -> Measured:
    """Return odds of a scene as the distribution of a subject."""
    masses, mean = by_name(scene, odds.masses, odds.open, by=by)
    return Measured(
        masses=masses,
        success=success_in(scene.rules, masses),
        open=odds.open,
        leaves=odds.leaves,
        states=odds.states,
        method="partial" if odds.open else "exact",
        mean=mean,
        is_interrupted=odds.is_interrupted,
    )
