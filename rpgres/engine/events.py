"""What happens in a run, event by event, and what a seat may know of an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rpgres.dice import Dice, Throw
from rpgres.model.events import Sum
from rpgres.model.state import FACE_DOWN
from rpgres.rulesets import Effect


class Rolled(msgspec.Struct, frozen=True, gc=False):
    """Event: dice were thrown. `throw` shows every die; `by` is the character who rolled.

    `counts` is what the roll counts for where that is not the value of the dice, such as the highest; `words` say for
    people what was rolled, with what was added.
    """

    label: str
    dice: Dice
    throw: Throw
    by: str = ""
    audience: tuple[str, ...] | None = None
    counts: int | None = None
    words: str = ""

    @property
    def value(self) -> int:
        """What the roll counts for."""
        return self.throw.value if self.counts is None else self.counts


class Decided(msgspec.Struct, frozen=True, gc=False):
    """Event: a question was answered. `means` says how: `choose`, `policy`, `orders`, `prompt`, `host`, or `window`.

    A `window` was skipped, which is its owner's alone: being asked can show what a player holds. `of` says whose it is
    where another player decides.
    """

    label: str
    who: str
    answer: str
    text: str = ""
    means: str = ""
    audience: tuple[str, ...] | None = None
    of: str = ""


class Drawn(msgspec.Struct, frozen=True, gc=False):
    """Event: a card was drawn from a face-down pile. Seats outside `audience` learn that it was, not which."""

    label: str
    card: str
    source: str
    target: str
    by: str = ""
    audience: tuple[str, ...] | None = None


class Moved(msgspec.Struct, frozen=True, gc=False):
    """Event: cards were moved. `label` is what the account calls it. Seats outside `audience` learn how many."""

    cards: tuple[str, ...]
    source: str
    target: str
    by: str = ""
    label: str = ""
    audience: tuple[str, ...] | None = None


class Told(msgspec.Struct, frozen=True, gc=False):
    """Event: a line of the account. `reveals` names what was hidden and comes to light by it; see `Table.tell`."""

    text: str
    audience: tuple[str, ...] | None = None
    reveals: tuple[str, ...] = ()


class Turned(msgspec.Struct, frozen=True, gc=False):
    """Event: a turn of a procedure is over. `number` counts them from 0; `by` had it, and `action` is what was done.

    The other fields are those of its outcome; effects have names in place of roles.
    """

    number: int
    by: str = ""
    action: str = ""
    band: str = ""
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    effects: tuple[Effect, ...] = ()
    texts: tuple[str, ...] = ()
    audience: tuple[str, ...] | None = None
    sums: tuple[Sum, ...] = ()


Event = Rolled | Decided | Told | Drawn | Moved | Turned
"""Type: one of what happens; `audience` holds the seats that may know of it, None is everybody."""


def seen(event: Event, seat: str) -> Event | None:
    """Return what a seat may know of an event: itself, cards face down in their places, or nothing."""
    if event.audience is None or seat in event.audience:
        return event
    if isinstance(event, Drawn):
        return msgspec.structs.replace(event, card=FACE_DOWN, audience=None)
    if isinstance(event, Moved):
        return msgspec.structs.replace(event, cards=(FACE_DOWN,) * len(event.cards), audience=None)
    return None


class Forgotten(Sequence[Event]):
    """What a seat saw before a merge, computed when it is read: of a long procedure that is a lot."""

    __slots__ = ("_events", "_seat", "_seen", "_until")

    def __init__(self, events: list[Event], until: int, seat: str) -> None:
        self._events, self._until, self._seat = events, until, seat
        self._seen: list[Event] | None = None

    def _known(self) -> list[Event]:
        if self._seen is None:
            earlier = self._events[: self._until]
            self._seen = [known for event in earlier if (known := seen(event, self._seat)) is not None]
        return self._seen

    def __getitem__(self, place: Any) -> Any:
        return self._known()[place]

    def __len__(self) -> int:
        return len(self._known())

    def __repr__(self) -> str:
        return repr(self._known())
