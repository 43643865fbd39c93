"""An action of a persistent table once more with an answer changed; the table stays as it is. See `engine.rerun`.

A seat learns nothing by it: its run begins with the table as that seat sees it, and where something happened that the
seat may not know, there is none. New dice do not come from the table's seed, which would tell what it holds.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from rpgres.engine.hidden import known_to
from rpgres.engine.players import NO
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Result
from rpgres.engine.rerun import Answered, Asked, WhatIf, answers_in, run_changed
from rpgres.engine.views import HOST, event_seen, found_seen
from rpgres.errors import RpgresError, UsageError, called
from rpgres.journal.history import History
from rpgres.journal.records import Entry, found_in
from rpgres.journal.replay import run_of, trust_at
from rpgres.journal.store import read_state_after
from rpgres.journal.views import run_seen
from rpgres.model.events import DecisionEvent, EventRecord
from rpgres.model.state import State
from rpgres.rulesets import CLAIM, Rules
from rpgres.toml.reading import Source


def table_what_if(
    path: Path,
    history: History,
    rules: Rules,
    number: int,
    asked: Asked,
    *,
    seat: str | None,
) -> WhatIf:
    """Return an action of a table as it was and with answers changed, as far as a seat may see it.

    Args:
        number: the entry of the action, or of an answer to it.
        seat: who asks; None for the host.

    Raises:
        UsageError: there is no such entry, it is no finished action, or the seat may not know all of it.
    """
    begun, ended = _action(history, number)
    before = found_in(ended.secret)
    assert isinstance(before, Result)
    if seat is not HOST and any(_is_hidden(event, seat) for event in before.events):
        raise UsageError(
            f"in entry {number} something happened that {seat} may not know, so nothing may be tried there"
        )
    start = read_state_after(path, history.entries[begun.number - 1])
    prepared = _prepared(rules, begun, ended, start, number, seat)
    trust = trust_at(rules, history, run_of(history, begun), start)
    prepared = msgspec.structs.replace(prepared, trust=trust)
    seen = [event for event in before.events if seat is HOST or event_seen(event, seat) is not None]
    answers = answers_in(seen)  # that others skipped a hidden decision would show that there was one
    decided = [event for event in seen if isinstance(event, DecisionEvent) and event.label == CLAIM]
    claims = [  # whether each counted is an answer of the run, which nobody changes
        Answered(kind="decision", label=CLAIM, number=1, value=one.answer, who=one.who, means=one.means)
        for one in decided
    ]
    again, record = run_changed(
        prepared,
        msgspec.structs.replace(before, unused=[], note=None),
        answers,
        asked,
        seed=f"what-if:{ended.hash[:16]}",
        kept=claims,
    )
    shown = run_seen(history, ended, seat)
    found = found_seen(again.found, seat, state=history.state, hidden=ended.secret.hidden, inputs=shown.inputs)
    after = msgspec.structs.replace(found, seed=None)
    return msgspec.structs.replace(record, before=[msgspec.to_builtins(shown)], after=[msgspec.to_builtins(after)])


def _is_hidden(event: EventRecord, seat: str | None) -> bool:
    """Tell whether a seat may not know of an event; a skipped question reveals nothing here."""
    is_pass = isinstance(event, DecisionEvent) and event.answer == NO
    return not is_pass and event_seen(event, seat) != event


def _action(history: History, number: int) -> tuple[Entry, Entry]:
    """Return the entry with which an action began, and the one with its result."""
    if not 0 <= number < len(history.entries):
        raise UsageError(f"the table has the entries 0 to {len(history.entries) - 1}, and no entry {number}")
    begun = history.run_of(history.entries[number])
    if begun.kind != "act":
        raise UsageError(f"entry {number} is no action; `{called('table log')}` lists the entries")
    later = [entry for entry in history.entries[begun.number :] if entry is begun or entry.public.of == begun.number]
    done = [entry for entry in later if entry.secret.result is not None]
    if not done or begun.public.attempt:
        raise UsageError(f"the action of entry {number} came to no result")
    if done[-1].public.stops:
        raise UsageError(f"the {begun.public.action} of entry {number} was ended early, so it cannot be repeated")
    return begun, done[-1]


def _prepared(rules: Rules, begun: Entry, ended: Entry, state: State, number: int, seat: str | None) -> Prepared:
    """Return the action at the table as a seat knows it: cards that it does not see are in their deck."""
    sheets = {name: Source(*text) for name, text in {**begun.secret.sheets, **ended.secret.sheets}.items()}
    try:
        return prepare(
            rules,
            begun.public.action,
            begun.secret.inputs,
            state=state if seat is HOST else known_to(rules, state, seat).state,
            actor=begun.public.actor,
            sheets=sheets,
        )
    except RpgresError as error:
        if seat is HOST:
            raise
        raise UsageError(f"entry {number} cannot be repeated from what {seat} may see") from error
