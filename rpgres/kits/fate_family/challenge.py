"""A challenge: several tasks, each with a skill of its own, judged as a whole when all are rolled.

A task is a turn for an advantage, if one is tried first, and a turn for the roll. Source: Fate Core, "Challenges"
(fate-srd.com); the text `fate` is made from, lines 148, 212, 263 and 300. There are no attacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rpgres.engine.procedures import Turn
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, enumerated, named
from rpgres.kits.fate_family.exchanges import check_none_open
from rpgres.kits.fate_family.moves import ADVANTAGE, TURN, AdvantageOn, Moves, ending, make_advantage, with_boosts_named
from rpgres.kits.fate_family.rolls import check_in
from rpgres.kits.fate_family.settling import roles_of
from rpgres.model.state import EMPTY, GM, Character, Map
from rpgres.parameters.ability import read_ability
from rpgres.parameters.values import Form, Opposition, Rating
from rpgres.rulesets import Option

_ROLL = Option("roll", "Roll for the task at once.", 1)
_TRY = Option(ADVANTAGE, "Try an advantage first; it does not do the task.")
_DISCOVER = "discover"


class Task(msgspec.Struct, frozen=True, gc=False):
    """One task: its name, who rolls which action with which rating, and its difficulty."""

    name: str
    who: str
    action: str
    rating: Rating
    difficulty: int


class Setup(msgspec.Struct, frozen=True, cache_hash=True):
    """The constants of a challenge: its tasks, its actor, and the difficulty of advantages on the scene."""

    tasks: tuple[Task, ...]
    actor: str
    difficulty: int


class Challenge(msgspec.Struct, frozen=True):
    """The state of a challenge.

    Attributes:
        setup: its constants.
        turn: two for each task: the decision to try an advantage, and the roll.
        done: for each finished task, the outcome, and whether its goal was reached.
    """

    setup: Setup
    turn: int = 0
    done: tuple[tuple[str, bool], ...] = ()


def begin(table: Table, actor: Character, forms: Sequence[Form], *, difficulty: int) -> Challenge:
    """Return the first state of a challenge.

    Raises:
        UsageError: two tasks have one name, or a skill is unknown.
    """
    check_none_open(table.state, "challenge")
    names = [form.name for form in forms]
    if len(set(names)) < len(names):
        raise UsageError(f"each {named('task')} has a name of its own")
    tasks = tuple(_task(table, actor, form) for form in forms)
    for task in tasks:
        check_in(table.state, task.who)
    return Challenge(Setup(tasks, actor.name, difficulty))


def _task(table: Table, actor: Character, form: Form) -> Task:
    said, state = form.values, table.state
    who = said.get("by") or actor.name
    option = f"{named('task')} {form.name}"
    if who not in state.characters:
        raise UsageError(
            f"{option}: nobody called {who!r} is at the table; there are: {enumerated(state.characters, who)}"
        )
    rating = read_ability(table.rules, said["with"], state=state, actor=who, option=option)
    return Task(form.name, who, said.get("action") or "overcome", rating, said["difficulty"])


def take_turn(moves: Moves, table: Table, place: Challenge) -> Turn | Outcome:
    """Take one turn of a challenge: an advantage before a task, or its roll."""
    setup = place.setup
    number, is_roll = divmod(place.turn, 2)
    if number == len(setup.tasks):
        return stop(table, place)
    task, after = setup.tasks[number], msgspec.structs.replace(place, turn=place.turn + 1)
    actor = table.state.characters[task.who]
    if not is_roll:
        if table.is_read:
            table.tell(f"Task: {task.name}")
        text = f"{task.name}: roll at once, or try an advantage first?"
        rating, against = task.rating.value, task.difficulty
        did = table.ask(TURN, task.who, (_ROLL, _TRY), text=text, rating=rating, difficulty=against)
        if did != ADVANTAGE:
            return Turn(after)
        vs = (Opposition(setup.difficulty),)
        outcome = make_advantage(table, moves, actor, task.rating, vs, on=AdvantageOn())
        return Turn(after, outcome, task.who, ADVANTAGE)
    play = moves.discover if task.action == _DISCOVER and moves.discover is not None else moves.overcome
    how: dict[str, Any] = {"variant": "reveal-information"} if play is moves.discover else {}
    outcome = play(table, actor, task.rating, (Opposition(task.difficulty),), **how)
    outcome = with_boosts_named(table.state, outcome)
    is_reached = any(one["kind"] in ("goal", "information") for one in outcome.effects)
    after = msgspec.structs.replace(after, done=(*place.done, (outcome.band, is_reached)))
    return Turn(after, outcome, task.who, task.action)


def stop(table: Table, place: Challenge) -> Outcome:
    """Return the outcome of a challenge, also of one that ended early: all, some or none of its goals are reached."""
    reached = sum(is_reached for _, is_reached in place.done)
    missed = len(place.setup.tasks) - reached
    end = "challenge-lost" if not reached else "challenge-partly" if missed else "challenge-won"
    tasks = Map({task.name: band for task, (band, _) in zip(place.setup.tasks, place.done, strict=False)})
    roles = roles_of(place.setup.actor, GM)
    return ending(table, end, reached - missed, roles=roles, facts=EMPTY, details=Map({"tasks": tasks}))
