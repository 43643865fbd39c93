"""The forms of what a journal or a view says came of an action, checked whole before anything reads it.

A result holds events, effects and options as tables, since a ruleset may add to them. What rpgres itself looks up in
them has to be there, in files that came from elsewhere too.
"""

from __future__ import annotations

from typing import Any

import msgspec

from rpgres.engine.records import Pending, Result


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    audience: list[str] | None = None
    others: EventForm | None = None


class _Roll(_Event, frozen=True, kw_only=True, tag="roll"):
    label: str
    by: str
    dice: str
    faces: str
    value: int
    words: str = ""


class _Decision(_Event, frozen=True, kw_only=True, tag="decision"):
    label: str
    who: str
    answer: str
    text: str
    means: str


class _Draw(_Event, frozen=True, kw_only=True, tag="draw", rename={"from_": "from"}):
    label: str
    by: str
    card: str
    from_: str
    to: str


class _Move(_Event, frozen=True, kw_only=True, tag="move", rename={"from_": "from"}):
    label: str
    by: str
    cards: list[str]
    from_: str
    to: str


class _Text(_Event, frozen=True, kw_only=True, tag="text"):
    text: str


EventForm = _Roll | _Decision | _Draw | _Move | _Text


class _Effect(msgspec.Struct, frozen=True):
    kind: str


class _Option(msgspec.Struct, frozen=True):
    name: str
    text: str


class _Question(msgspec.Struct, frozen=True):
    options: list[_Option]


class _Result(msgspec.Struct, frozen=True):
    events: list[EventForm]
    effects: list[_Effect]


class _Pending(msgspec.Struct, frozen=True):
    events: list[EventForm]
    question: _Question
    together: list[_Question] = []


def result_from(record: Any) -> Result:
    """Return a result from plain data.

    Raises:
        msgspec.ValidationError: it is none.
    """
    msgspec.convert(record, _Result)
    return msgspec.convert(record, Result)


def pending_from(record: Any) -> Pending:
    """Return a pending decision from plain data.

    Raises:
        msgspec.ValidationError: it is none.
    """
    msgspec.convert(record, _Pending)
    return msgspec.convert(record, Pending)
