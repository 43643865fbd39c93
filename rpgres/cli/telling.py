"""The account of a scene told while it is played: each step as soon as it is over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import structs

from rpgres.cli.output import can_prompt, columns, flush, is_terminal, say
from rpgres.cli.render.account_lines import (
    WIDEST,
    WIDTH,
    chapter_heading,
    end_lines,
    heading_lines,
    turn_lines,
)
from rpgres.cli.render.account_words import words_of
from rpgres.cli.render.accounts import account_of, heading_of, step_title, turn_of
from rpgres.cli.render.scenes import step_question_lines
from rpgres.model.state import GM
from rpgres.scenes import PlayedStep, SceneResult, play_scene, scene_result, step_record

if TYPE_CHECKING:
    from rpgres.cli.prompt import Person
    from rpgres.scenes import Scene


def tell_scene(scene: Scene, *, seed: str, seat: str | None, is_plain: bool, auto: bool) -> list[PlayedStep]:
    """Play a scene, tell its account step by step as it goes, and return the steps.

    Args:
        scene: the scene.
        seed: what all chance is drawn from.
        seat: for whom it is told; None for the game master, with the seed.
        is_plain: without colours and drawn dice.
        auto: whether nobody is asked.
    """
    width, is_drawn = columns(default=WIDTH, at_most=WIDEST), is_terminal() and not is_plain
    told = heading_of(
        scene.rules,
        scene.state,
        title=scene.file.title or scene.source.path,
        summary=scene.file.summary,
        seed=seed if seat is None else None,
        seat=seat or GM,
    )
    say(heading_lines(told, width=width), is_plain=is_plain)
    words = words_of(scene.rules, scene.state)
    person = _person(is_plain=is_plain) if seat is None and not auto else None
    headed: set[int] = set()

    def head(number: int, *, is_skipped: bool = False) -> None:
        if number not in headed:
            headed.add(number)
            step = {"id": scene.file.steps[number].id} if is_skipped else _step(scene, number)
            title = step_title(step, len(headed))
            say(chapter_heading(title, len(headed), is_skipped=is_skipped), is_plain=is_plain)

    def begins(number: int) -> None:
        head(number)
        if person is not None:
            person.begin(step_question_lines(scene, number))

    steps: list[PlayedStep] = []
    counted: int | None = None
    for played in play_scene(scene, seed=seed, prompt=person.ask if person is not None else None, begins=begins):
        record = step_record(scene, played, seat=seat or GM)
        steps.append(played)
        if record is None:
            continue
        head(played.number, is_skipped=bool(record.get("skipped")))
        if not record.get("skipped"):
            turn, counted = turn_of(record, words, counted)
            say(turn_lines(turn, width=width, is_drawn=is_drawn), is_plain=is_plain)
        flush()
    account = account_of(result_told(scene, steps, seed=seed, seat=seat), scene.rules)
    say(end_lines(account, width=width), is_plain=is_plain)
    return steps


def result_told(scene: Scene, steps: Iterable[PlayedStep], *, seed: str, seat: str | None) -> SceneResult:
    """Return what is told of a scene: as a seat sees it, or as the game master does, who knows the seed as well."""
    result = scene_result(scene, steps, seed=seed, seat=seat or GM)
    return structs.replace(result, seed=seed) if seat is None else result


def _step(scene: Scene, number: int) -> dict[str, Any]:
    """Return what a step's title is made of, before it is played."""
    step = scene.file.steps[number]
    inputs = {step.moment[1]: step.moment[0]} if step.moment is not None else {}
    return {"id": step.id, "procedure": getattr(step, "procedure", ""), "action": step.action, "inputs": inputs}


def _person(*, is_plain: bool) -> Person | None:
    """Return who is asked, when there is somebody to ask."""
    if not can_prompt():
        return None
    from rpgres.cli.prompt import Person

    return Person(is_plain=is_plain)
