"""What happened in an action as records, one for each kind of event: how JSON and journals have it under `events`."""

from __future__ import annotations

from typing import Any

import msgspec


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """What all kinds of events have in common.

    Attributes:
        audience: the seats that may know of it; left out where everybody may.
    """

    audience: list[str] | None = None


class RollEvent(_Event, frozen=True, tag="roll"):
    """Dice that were rolled, or given.

    Attributes:
        label: the name under which the rule asked.
        by: who rolled; empty when that does not matter.
        dice: what was rolled, in notation.
        faces: the dice as `--given` takes them.
        value: what they came to.
        words: what was rolled, for people, where it is not the value of the dice that counts.
    """

    label: str
    by: str
    dice: str
    faces: str
    value: int
    words: str = ""


class DecisionEvent(_Event, frozen=True, tag="decision"):
    """Something that was decided.

    Attributes:
        label: the name under which the rule asked.
        who: whose decision it was.
        answer: the option chosen; `no` for a question that was skipped.
        text: what the option means.
        means: who answered: choose, policy, orders (standing ones), prompt, window for a question that was skipped, or
            at a persistent table the host for another player.
        of: whose decision it was, where another player answered it; left out elsewhere.
    """

    label: str
    who: str
    answer: str
    text: str
    means: str
    of: str = ""


class DrawEvent(_Event, frozen=True, tag="draw", rename={"source": "from", "target": "to"}):
    """A card that was drawn, or given.

    Attributes:
        label: the name under which the rule asked.
        by: who drew; empty when that does not matter.
        card: the card's code as `--given` takes it; ? for one that is face down.
        source: the pile it was drawn from.
        target: the pile it went to.
        others: the event as everybody else sees it, where not everybody may know of it.
    """

    label: str
    by: str
    card: str
    source: str
    target: str
    others: DrawEvent | None = None


class MoveEvent(_Event, frozen=True, tag="move", rename={"source": "from", "target": "to"}):
    """Cards that went from one pile to another.

    Attributes:
        cards: their codes; ? for one that is face down.
        by: who moved them; empty when that does not matter.
        label: what it is called; empty when it is not worth a line.
        source: the pile they lay in.
        target: the pile they went to.
        others: the event as everybody else sees it, where not everybody may know of it.
    """

    cards: list[str]
    by: str
    label: str
    source: str
    target: str
    others: MoveEvent | None = None


class TextEvent(_Event, frozen=True, tag="text"):
    """A line of the account.

    Attributes:
        text: the line.
    """

    text: str


class Sum(msgspec.Struct, frozen=True, gc=False):
    """How one side of a turn came to its total.

    Attributes:
        who: the character; empty for a difficulty.
        ability: what was rolled; empty for a difficulty.
        rating: the number of the ability, or the difficulty.
        faces: the dice; empty where none were rolled.
        more: everything else that was added.
        total: what it came to.
    """

    who: str
    ability: str
    rating: int
    faces: str
    more: int
    total: int


class TurnEvent(_Event, frozen=True, tag="turn"):
    """The outcome of a finished turn of a procedure, after the events that led to it.

    Attributes:
        turn: which one, from 0.
        by: who had it; empty for no one.
        action: what was done in it.
        outcome: the band of its outcome; null where it has none.
        success: whether the band is a success; null where it is neither.
        margin: total less opposition; null when nothing opposed it.
        total: what the acting side came to.
        opposition: what it was up against.
        effects: what it changed before the next turn, in order.
        texts: what the outcome means, in words.
        sums: how the acting side and its opposition came to their totals; none where that is not told.
    """

    turn: int
    by: str = ""
    action: str = ""
    outcome: str | None = None
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    effects: list[dict[str, Any]] = []
    texts: list[str] = []
    sums: list[Sum] = []


EventRecord = RollEvent | DecisionEvent | DrawEvent | MoveEvent | TextEvent | TurnEvent
