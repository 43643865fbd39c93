"""After Hours: slipping through a closed museum while an alarm fills. Only procedure stands here; see `ruleset.toml`.

What lies on the table, all of it this ruleset's own:

- the track `alarm`: boxes that fill; when none is left, everybody is caught;
- the thing `plan`: the rooms, each with those it leads to;
- the thing `places`: who is in which room;
- the thing `patrol`: the rooms that are watched tonight, for the game master alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rpgres import (
    EMPTY,
    GM,
    NO,
    Box,
    Character,
    Effect,
    Map,
    Option,
    Outcome,
    Question,
    Rating,
    Ruleset,
    State,
    Table,
    UsageError,
    View,
    hookimpl,
    preferred,
    put,
)

after_hours = Ruleset("after-hours", data=Path(__file__).parent)


def places(state: State) -> Mapping[str, str]:
    """Return the room of everybody who is in one."""
    found: Mapping[str, str] = state.things.get("places", EMPTY)
    return found


def alarm(state: State, settings: Mapping[str, Any]) -> tuple[Box, ...]:
    """Return the boxes of the alarm; a table on which it was not set out has those of the settings, all free."""
    free = tuple(Box(str(number), 1) for number in range(1, settings["alarm"] + 1))
    return state.tracks.get("alarm", free)


def left(boxes: Iterable[Box]) -> int:
    """Return how many boxes are free."""
    return sum(not box.mark for box in boxes)


@after_hours.action("slip")
def slip(table: Table, actor: Character, skill: Rating, to: str) -> Outcome:
    """Move to another room; whoever is there to look out makes it harder, and so does the patrol."""
    state, settings = table.state, table.rules.file.settings
    here = places(state).get(actor.name)
    ways = state.things.get("plan", EMPTY).get(here)
    if ways is not None and to not in ways:
        raise UsageError(f"--to {to}: no way leads there from {here}; there are: {', '.join(ways)}")
    lookouts = [name for name, room in places(state).items() if room == to and state.seat_of(name) == GM]
    target = settings["target"] + len(lookouts)
    if to in state.things.get("patrol", ()):
        table.tell(f"The patrol is in the {to}.", reveals=("patrol",))
        target += settings["patrol"]
    total = table.roll(table.rules.dice, by=actor.name) + skill.value
    return table.settle(
        "slip",
        total - target,
        total=total,
        opposition=target,
        roles={"actor": actor.name},
        defaults={"move": {"room": to}},
    )


@after_hours.action("crack")
def crack(table: Table, actor: Character, skill: Rating, parts: int) -> Outcome:
    """Work through a lock part by part: a failure fills a box of the alarm, and with the last box it is over."""
    settings = table.rules.file.settings
    free = left(alarm(table.state, settings))
    done = ticks = 0
    while done < parts and ticks < free:
        # Only how far the lock and the alarm are matters from here on, not how they came there.
        table.merge((done, ticks))
        can_leave = (Option("leave", "Leave the lock as it is."),) if ticks else ()
        if table.ask("quit", actor.name, can_leave, optional=True, done=done, free=free - ticks) != NO:
            break
        is_open = table.roll(table.rules.dice, by=actor.name) + skill.value >= settings["target"]
        done, ticks = done + is_open, ticks + (not is_open)
    margin = free - ticks if done == parts else done - parts
    return table.settle("crack", margin, roles={"actor": actor.name}, defaults={"alarm": {"ticks": ticks}})


@after_hours.effect("alarm")
def fill(state: State, effect: Effect) -> State:
    """Mark so many free boxes of the alarm, the first ones first."""
    boxes, ticks = list(alarm(state, {"alarm": effect.get("of", 4)})), effect["ticks"]
    for number, box in enumerate(boxes):
        if ticks > 0 and not box.mark:
            boxes[number] = Box(box.name, box.size, "x")
            ticks -= 1
    return put(state, ("tracks", "alarm"), tuple(boxes))


@after_hours.effect("move")
def move(state: State, effect: Effect) -> State:
    """Put somebody into a room."""
    return put(state, ("things", "places"), Map({**places(state), effect["to"]: effect["room"]}))


@after_hours.policy("careful")
def careful(view: View, question: Question) -> str:
    """Leave a lock when the next failure would set off the alarm; otherwise do what is preferred."""
    if question.label == "quit":
        return "leave" if question.facts["free"] == 1 else NO
    return preferred(view, question)


@hookimpl
def rpgres_rulesets() -> Iterable[Ruleset]:
    """Yield the one ruleset of this package."""
    yield after_hours
