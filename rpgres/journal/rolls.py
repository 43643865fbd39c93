"""Every roll and every card of a table as a row, for statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any

import msgspec

from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import is_given
from rpgres.engine.records import Result
from rpgres.engine.views import event_seen
from rpgres.journal.history import History
from rpgres.journal.records import RUNNING, Entry, events_in
from rpgres.journal.status import undone_in
from rpgres.journal.views import run_seen
from rpgres.model.events import DrawEvent, EventRecord, RollEvent, TurnEvent


class RollRow(msgspec.Struct, frozen=True, kw_only=True):
    """A roll, or a card that was drawn.

    Attributes:
        entry: the number of the entry that shows it.
        at: when, as an ISO time in UTC.
        who: whose roll it is; empty where that does not matter.
        action: for what: the action, or what begins or ends; new or join for the cards of who sits down.
        label: the name under which the rule asked.
        kind: roll, or card.
        dice: the dice in notation, or the pile that the card comes from.
        faces: the dice as they lie, or the card; ? for one that is face down.
        value: what the dice came to; empty for a card.
        total: what the acting side came to in the action, or in the turn of a procedure; empty while it waits.
        opposition: what it was up against.
        margin: total less opposition.
        outcome: the outcome.
        source: seed, or given for what was read off real dice and cards.
        place: where in the seed's numbers it stands, as step/label/count; for cards cards:PILE, as a pile has an order.
        stands: yes; undone, or failed for an attempt.
    """

    entry: int
    at: str
    who: str
    action: str
    label: str
    kind: str
    dice: str
    faces: str
    value: int | None
    total: int | None
    opposition: int | None
    margin: int | None
    outcome: str
    source: str
    place: str
    stands: str


SILENT = 20  # turns of a procedure that may go by with nothing to tell
COLUMNS = RollRow.__struct_fields__


def rolls_of(history: History, *, seat: str | None) -> list[RollRow]:
    """Return all rolls and cards of a table that a seat may know of, in order; what was undone too.

    Args:
        seat: who reads it; None for the host.
    """
    undone = undone_in(history.entries)
    latest: dict[int, Entry] = {}  # by the entry that an action began with: an answer shows all that was before it
    for entry in history.entries:
        run = history.run_of(entry).number if entry.kind in RUNNING else entry.number if entry.secret.dealt else -1
        if run >= 0 and (run not in latest or latest[run].number in undone or entry.number not in undone):
            latest[run] = entry
    return [row for entry in latest.values() for row in _rows(history, entry, seat, undone)]


def _rows(history: History, entry: Entry, seat: str | None, undone: Container[int]) -> Iterator[RollRow]:
    begun = history.run_of(entry) if entry.kind in RUNNING else entry
    found = run_seen(history, entry, seat) if entry.kind in RUNNING else None
    came = found if isinstance(found, Result) else None
    stands = "undone" if entry.number in undone else "failed" if entry.public.attempt else "yes"
    name = begun.public.action or begun.public.period or begun.kind
    seed, given, asked = _Seed(history, begun), entry.secret.given, Counter[str]()
    for events, turn in _turns(events_in(entry.secret)):  # what the seat may not know of has its place among them, too
        ends = turn if turn is not None else came
        for one in events:
            has_come = is_given(given.get(one.label, []), asked[one.label])
            asked[one.label] += 1
            place = seed.place(one, is_given=has_come, last=turn.turn if turn is not None else None)
            event = event_seen(one, seat)
            if not isinstance(event, DrawEvent | RollEvent):
                continue
            is_card = isinstance(event, DrawEvent)
            yield RollRow(
                entry=entry.number,
                at=entry.public.at,
                who=event.by,
                action=(turn.action if turn is not None else "") or name,
                label=event.label,
                kind="card" if is_card else "roll",
                dice=event.source if isinstance(event, DrawEvent) else event.dice,
                faces=event.card if isinstance(event, DrawEvent) else event.faces,
                value=None if isinstance(event, DrawEvent) else event.value,
                total=ends.total if ends is not None else None,
                opposition=ends.opposition if ends is not None else None,
                margin=ends.margin if ends is not None else None,
                outcome=(ends.outcome if ends is not None else None) or "",
                source="given" if has_come else "seed",
                place=place,
                stands=stands,
            )


class _Seed:
    """The places of an action's rolls in the seed's numbers.

    Which turn of a procedure rolled is not kept; it is the first one, from the last roll on, that has these dice.
    """

    def __init__(self, history: History, begun: Entry) -> None:
        secret = history.new.secret
        self._streams = Streams(secret.seed, salt=bytes.fromhex(secret.salt))
        self._step, self._turn = history.step(begun), 0
        self._counts: Counter[str] = Counter()

    def place(self, event: RollEvent | DrawEvent, *, is_given: bool, last: int | None) -> str:
        """Return the place of the next roll or card; nothing where the seed has not answered.

        Args:
            last: the turn that it was over with; None where that is not known.
        """
        if isinstance(event, DrawEvent):
            return "" if is_given else f"cards:{event.source}"
        for turn in range(self._turn, (last if last is not None else self._turn + SILENT) + 1):
            label = f"{event.label}@{turn}" if turn else event.label
            count = self._counts[label]
            numbers = self._streams.below(self._step, label, count)
            if is_given or dice(event.dice).throw(numbers).text == event.faces:
                self._turn = turn
                self._counts[label] += 1
                return "" if is_given else f"{self._step}/{label}/{count}"
        return ""


def _turns(events: Sequence[EventRecord]) -> Iterator[tuple[list[RollEvent | DrawEvent], TurnEvent | None]]:
    """Yield the rolls and cards of each logged turn of a procedure, with the turn; then those after the last."""
    found: list[RollEvent | DrawEvent] = []
    for event in events:
        if isinstance(event, TurnEvent) and event.audience is None:
            yield found, event
            found = []
        elif isinstance(event, DrawEvent) or (isinstance(event, RollEvent) and event.faces):
            found.append(event)
    yield found, None


def cells_of(row: RollRow) -> list[str]:
    """Return a row as texts, in the order of `COLUMNS`."""
    values: dict[str, Any] = msgspec.structs.asdict(row)
    return ["" if value is None else str(value) for value in values.values()]
