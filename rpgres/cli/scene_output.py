"""A scene played, with its account printed step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from msgspec import structs

from rpgres.cli import INTERRUPTED
from rpgres.cli.asking.real import RealDice, plus_words
from rpgres.cli.asking.terminal import can_prompt
from rpgres.cli.output import READER, flush, say, say_text
from rpgres.engine.stops import TakenBack
from rpgres.engine.views import event_seen
from rpgres.errors import InterruptError, RpgresError
from rpgres.model.state import EMPTY, GM, HOST_NAME, State
from rpgres.parameters.context import ACTOR
from rpgres.render.accounts.lines import chapter_heading, chapter_lines, end_lines, heading_lines
from rpgres.render.accounts.scenes import Titles, account_of, chapter_of, heading_of
from rpgres.render.accounts.words import words_of
from rpgres.render.scenes import step_question_lines
from rpgres.scenes import Leaf, PlayedStep, Scene, SceneResult, Unanswered, play_scene, scene_result, step_record
from rpgres.scenes.playing import prepare_step
from rpgres.scenes.views import hides_nothing, told_to

if TYPE_CHECKING:
    from rpgres.cli.asking.prompt import Person
    from rpgres.engine.records import Pending
    from rpgres.formats.accounts import Account
    from rpgres.render.lines import Line


LEFT = "left here; nothing of this step is done\n"


class Played(NamedTuple):
    """A scene that was played.

    Attributes:
        seed: what all chance was drawn from.
        steps: the result of each step, with nothing left out.
        ending: the name of how it ended; empty where it has none.
    """

    scene: Scene
    seed: str
    steps: list[PlayedStep]
    ending: str

    def seen(self, seat: str) -> SceneResult:
        """Return its result as far as a seat may know; all of it for `host`."""
        return scene_result(self.scene, self.steps, ending=self.ending, seed=self.seed, seat=seat)

    def record(self, seat: str | None) -> SceneResult:
        """Return what is printed as JSON for a seat; for none, the game master's view, all of it if that hides nothing.

        Decisions that somebody let pass do not count for hidden: without them, no run can be repeated with one changed.
        """
        seen, whole = self.seen(seat or GM), self.seen(HOST_NAME)
        return whole if seat is None and hides_nothing(whole, seen) else seen

    def told(self, seat: str | None) -> SceneResult:
        """Return what an account is made of: likewise, without decisions that were passed."""
        return structs.replace(self.seen(seat or GM), seed=self.record(seat).seed)


def play_silently(scene: Scene, *, seed: str, seat: str | None = None) -> Played:
    """Play a scene without asking; errors say what a seat may know."""
    endings: list[str] = []
    with told_to(seat):
        steps = list(play_scene(scene, seed=seed, ended=endings.append))
    return Played(scene, seed, steps, endings[0])


def play_and_print(
    scene: Scene,
    *,
    seed: str,
    seat: str | None,
    auto: bool,
    real_dice: str = "",
    people: State | None = None,
    inputs: Mapping[str, Any] = EMPTY,
) -> Played:
    """Play a scene and print its account step by step.

    Args:
        seat: the seat of the reader; None for the game master, with the seed above it, since who plays the scene can
            play it again.
        real_dice: whose dice are real, as of `RealDice`; empty where none are.
        people: the table with everybody who takes part, where steps bring them; by default the scene's.
        inputs: what stands above the first question, where no step of a file says it.

    Raises:
        FileError: a step cannot be played.
        Unanswered: nothing answers a decision; for a procedure without a file, what comes before it is printed.
        InterruptError: the person who was asked stopped a scene of a file.
    """
    printer = _Printer(scene, people, seed=seed if seat in (None, HOST_NAME) else None, seat=seat or GM)
    person = _person(scene) if seat is None and not auto else None
    hand = RealDice(real_dice) if real_dice else None

    def begins(leaf: Leaf, state: State) -> None:
        printer.begins(leaf)
        if hand is not None:
            hand.begin(actor=leaf.step.actor or ACTOR, plus=_plus(scene, leaf))
        if person is not None:
            aid = (lambda _view: prepare_step(scene, leaf, state)) if leaf.step.played else None
            person.begin(step_question_lines(leaf, inputs), aid=aid)

    steps, endings = list[PlayedStep](), list[str]()
    asked: dict[str, Any] = {"hand": printer.above(hand)} if hand is not None else {}
    if person is not None:
        asked |= {"prompt": printer.above(person.ask), "rewinds": person.rewind}
    try:
        with told_to(seat):
            for played in play_scene(scene, seed=seed, **asked, begins=begins, ended=endings.append):
                steps.append(played)
                printer.step(step_record(scene, played, seat=seat or GM))
    except Unanswered as waiting:
        if people is not None and seat in (None, HOST_NAME) and person is None:  # a person has seen it
            printer.step(_so_far(waiting.pending, seat))
        raise _stopped(waiting, person, is_of_file=people is None) from None
    except TakenBack:
        say_text(LEFT)
        raise typer.Exit(INTERRUPTED) from None
    done = Played(scene, seed, steps, endings[0])
    printer.end(account_of(done.told(seat), scene.rules))
    return done


def _stopped(waiting: Unanswered, person: Person | None, *, is_of_file: bool) -> RpgresError:
    """Return the error of a decision without an answer: another one where a person stopped a scene of a file there."""
    waiting.is_interrupted = person is not None and person.is_interrupted
    return InterruptError(waiting.raw) if waiting.is_interrupted and is_of_file else waiting


def _plus(scene: Scene, leaf: Leaf) -> str:
    """Return what is added to what the actor of a step rolls, in words."""
    return plus_words(scene.rules.file, leaf.step.played, leaf.step.with_) if leaf.step.played else ""


class _Printer:
    """Prints the account of a scene as it is played; headings only once something stands below them.

    Args:
        people: everybody who takes part, where that is not the scene's table.
        seed: what stands above the account; None where the reader may not know it.
    """

    def __init__(self, scene: Scene, people: State | None, *, seed: str | None, seat: str) -> None:
        READER.rules = scene.rules
        people = people if people is not None else scene.state
        self.words = words_of(scene.rules, people)
        self.titles = Titles()
        self.step_begun: Mapping[str, Any] = EMPTY
        self.is_headed = False
        file, title = scene.file, scene.file.title or scene.source.path
        told = heading_of(scene.rules, people, title=title, summary=file.summary, seed=seed, seat=seat)
        self.heading = heading_lines(told)

    def begins(self, leaf: Leaf) -> None:
        """Take note of the step that is played next."""
        self.step_begun = _before(leaf)

    def above(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that asks a person, with the heading of the step above the first question."""

        def asking(*args: Any) -> Any:
            self.head(self.step_begun)
            return ask(*args)

        return asking

    def head(self, step: Mapping[str, Any]) -> None:
        """Print what stands above a step, once."""
        if not self.is_headed:
            title = self.titles.next(step)
            lines = chapter_heading(title, self.titles.count, is_skipped=bool(step.get("skipped")))
            say([*self._taken(), *lines], is_prose=True)
            self.is_headed = True

    def _taken(self) -> list[Line]:
        """Return the heading of the account, once."""
        heading, self.heading = self.heading, []
        return heading

    def step(self, record: Mapping[str, Any] | None) -> None:
        """Print the result of a step; nothing where the reader may not know it."""
        if record is None:
            self.is_headed = False
            return
        self.head(record)
        chapter = chapter_of([record], self.words, "Step")
        say(chapter_lines(chapter, is_aloud=READER.is_plain), is_prose=True)
        flush()
        self.is_headed = False

    def end(self, account: Account) -> None:
        """Print how it ended."""
        say([*self._taken(), *end_lines(account)], is_prose=True)


def _before(leaf: Leaf) -> dict[str, Any]:
    """Return what a step's title is made of, before it is played."""
    step = leaf.step
    inputs = {step.moment[1]: step.moment[0]} if step.moment is not None else {}
    return {"id": step.id, "action": step.played or None, "inputs": inputs, "note": step.note, "set": step.set}


def _so_far(pending: Pending, seat: str | None) -> dict[str, Any]:
    """Return the result of a step that waits for a decision so far, as the account for `host` or none reads it."""
    events = pending.events
    if seat != HOST_NAME:
        events = [seen for event in events if (seen := event_seen(event, GM)) is not None]
    return {"action": pending.action, "actor": pending.actor, "inputs": pending.inputs, "events": events}


def _person(scene: Scene) -> Person | None:
    """Return who is asked, if anyone."""
    if not can_prompt():
        return None
    from rpgres.cli.asking.prompt import Person

    return Person(may_withdraw=False, file=lambda: scene.rules.file)
