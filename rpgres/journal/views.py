"""What a seat may see of a persistent table: its entries, its results and its pending decision.

The rule for all of it is that of `rpgres.engine.views`. The host sees what any seat may see, and no seed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.dealers import has_given
from rpgres.engine.records import Pending, Result
from rpgres.engine.views import HOST, event_seen, found_seen, hidden_in, input_seen, seats_of
from rpgres.journal.forms import (
    ActEntry,
    AnswerEntry,
    AnyEntry,
    BeginEntry,
    EndEntry,
    EntryRecord,
    JoinEntry,
    LogRecord,
    NewEntry,
    NoteEntry,
    OrdersEntry,
    OrdersRecord,
    PassEntry,
    PassRecord,
    RequestEntry,
    RevealEntry,
    RunEntry,
    SealEntry,
    SetEntry,
    TablePending,
    TableRecord,
    TableResult,
    UndoEntry,
)
from rpgres.journal.history import History
from rpgres.journal.records import Entry, Secret, allows, entries_words, events_in, found_in
from rpgres.journal.status import undone_in
from rpgres.model.events import DecisionEvent, DrawEvent, RollEvent
from rpgres.model.serialization import state_record
from rpgres.model.state import FACE_DOWN, State

# ---------------------------------------------------------------------------------------------------------------------
# Entries

# The kinds of entries that may be hidden.
_PRIVATE: dict[str, type[SetEntry | NoteEntry | PassEntry | OrdersEntry]] = {
    "set": SetEntry,
    "note": NoteEntry,
    "pass": PassEntry,
    "orders": OrdersEntry,
}


def entry_seen(history: History, entry: Entry, seat: str | None, *, undone: Container[int] | None = None) -> AnyEntry:
    """Return an entry as far as a seat, or the host, may see it.

    Args:
        undone: the numbers of the entries that do not stand, when they are known.
    """
    taken_back = undone if undone is not None else undone_in(history.entries[entry.number :])
    public, secret, by = entry.public, entry.secret, entry.secret.by
    seen: dict[str, Any] = {
        "number": entry.number,
        "at": public.at,
        "hash": entry.hash,
        "undone": entry.number in taken_back,
    }
    kind = _PRIVATE.get(entry.kind)
    readers = [by] if entry.kind == "pass" else secret.to
    if kind is not None and seat is not HOST and readers is not None and seat not in readers:
        return kind(**seen, is_hidden=True)
    match entry.kind:
        case "new":
            begun: dict[str, Any] = {"trust": public.trust, "commitment": public.commitment, "short": secret.short}
            return NewEntry(**seen, title=public.title, **begun)
        case "act" | "begin" | "end" | "request" | "answer":
            return _run_entry(history, entry, seat, seen)
        case "join":
            who, is_replaced = public.character, secret.is_replaced
            return JoinEntry(**seen, by=by, character=who, is_replaced=is_replaced, short=secret.short)
        case "undo":
            passes = secret.passes.get(seat or "", [])
            answer, taken = _answer_to_request(history, entry), history.taken_back_by(entry)
            taken = [one for one in taken if not answer or history.run_of(one).kind != "request"]
            seen |= {"by": by, "answer": answer, "undid": names_of(history, taken, seat), "passes": passes}
            return UndoEntry(**seen, before=public.before, is_alone=public.alone)
        case "seal":
            return SealEntry(**seen, by=public.seat, commitment=public.commitment, of=public.of)
        case "reveal":
            return RevealEntry(**seen, seed=public.seed, salt=public.salt)
        case "set":
            return SetEntry(**seen, by=by, path=secret.path, was=secret.was, value=secret.value, to=secret.to)
        case "note":
            return NoteEntry(**seen, by=by, text=secret.text, to=secret.to)
        case "pass":
            return PassEntry(**seen, by=by, label=secret.label, until=secret.until)
        case "orders":
            (whose,) = secret.to or ("",)
            return OrdersEntry(**seen, by=by, seat=whose, file=secret.label, text=secret.text)


def names_of(history: History, entries: Iterable[Entry], seat: str | None) -> list[str]:
    """Return entries in words, as far as a seat may see them: who did what, and the result at last."""
    words: dict[int, str] = {}
    entries = list(entries)
    numbers = {entry.number for entry in entries}
    for entry in entries:
        seen, run = entry_seen(history, entry, seat, undone=()), history.run_of(entry).number
        if seen.is_hidden:
            words[entry.number] = "(hidden)"
        elif isinstance(seen, RunEntry):
            begun = history.run_of(entry)
            if begun.kind == "request":
                words |= {run: f"request to {begun.name}"} if run == entries[0].number else {}
                continue
            name = f"{begun.public.actor} {begun.public.action}".strip() or f"{begun.kind} {begun.public.period}"
            outcome = seen.result.outcome if seen.result is not None else "waiting" if seen.pending is not None else ""
            part = "" if run in numbers else "early end of " if entry.public.stops else "answer in "
            words[run] = part + name + (": failed" if seen.attempt else f": {outcome}" if outcome else "")
        elif isinstance(seen, SetEntry):
            words[entry.number] = f"set {seen.path}"
        else:
            words[entry.number] = f"{entry.kind} {entry.public.character}".strip()
    return list(words.values())


def _answer_to_request(history: History, undo: Entry) -> str:
    """Return the answer to a request that an undo carries out, in words; empty for an undo without a request."""
    answer = history.entries[undo.number - 1]
    request = history.run_of(answer)
    if answer.kind != "answer" or request.kind != "request":
        return ""
    if allows(answer):
        return "allows it"
    first, last = request.public.asks
    stay = f"stay{'s' if first == last else ''}{' undone' if request.public.before is None else ''}"
    return f"refuses: {entries_words(first, last)} {stay}"


def _run_entry(history: History, entry: Entry, seat: str | None, common: Mapping[str, Any]) -> AnyEntry:
    run, secret, is_own = history.run_of(entry), entry.secret, seat in (HOST, entry.secret.by)
    begun, found = run.public, run_seen(history, entry, seat)
    seen: dict[str, Any] = {
        **common,
        "said_by": run.secret.by if run.kind == "act" else "",
        "attempt": entry.public.attempt,
        "text": secret.text if entry.public.attempt and is_own else _dropped_words(secret, seat),
        "given": sorted(label for label, texts in secret.given.items() if has_given(texts)),
        "laid": sorted(secret.laid.values()),
        "claimed": secret.claimed,
        "pending" if isinstance(found, Pending) else "result": found,
    }
    match entry.kind:
        case "act":
            return ActEntry(**seen, by=secret.by, action=begun.action, actor=begun.actor)
        case "begin" | "end":
            return (BeginEntry if entry.kind == "begin" else EndEntry)(**seen, by=secret.by, period=begun.period)
        case "request":
            return RequestEntry(**seen, by=secret.by, before=entry.public.before)
    return AnswerEntry(
        **seen,
        action=begun.action,
        actor=begun.actor,
        period=begun.period,
        of=entry.public.of,
        opens=entry.public.opens,
        stops=entry.public.stops,
        by=secret.by if is_own or entry.public.stops else "",  # who answered tells who was asked
        accepted=secret.accepted if is_own else "",
        salt=secret.salt if is_own and entry.public.opens is not None else "",
    )


def _dropped_words(secret: Secret, seat: str | None) -> str:
    """Return which answers that a seat had given in advance were not possible; the host reads of all."""
    known = secret.dropped if seat is HOST else {seat: secret.dropped.get(seat or "", [])}
    return ". ".join(f"{text} is not possible now" for texts in known.values() for text in texts)


def run_seen(history: History, entry: Entry, seat: str | None) -> Result | Pending:
    """Return the result of an entry, or the decision it waits for, as far as a seat may see it."""
    found = found_in(entry.secret)
    assert found is not None
    revealed = history.revealed
    shown = ((key, _input_seen(history, entry, key, value, seat)) for key, value in found.inputs.items())
    inputs = {key: value for key, value in shown if value is not None}
    seen = found_seen(found, seat, state=history.state, hidden=entry.secret.hidden, inputs=inputs)
    if seat is not HOST and isinstance(seen, Result):
        own = entry.secret.own.get(seat, {})  # what others said in advance is theirs
        seen = msgspec.structs.replace(seen, unused=[one for one in seen.unused if one.value in own.get(one.label, ())])
    return msgspec.structs.replace(seen, seed=revealed.public.seed if revealed is not None else None)


def run_record(history: History, entry: Entry, seat: str | None) -> TableResult | TablePending:
    """Return the result of an entry, or the decision it waits for, with what the journal says of the entry."""
    found = run_seen(history, entry, seat)
    fields: dict[str, Any] = {name: getattr(found, name) for name in found.__struct_fields__}
    fields |= {"said_by": history.run_of(entry).secret.by, "entry": entry.number, "hash": entry.hash}
    return TablePending(**fields) if isinstance(found, Pending) else TableResult(**fields)


def waiting_seen(history: History, seat: str | None) -> Pending | None:
    """Return the decision that waits, as far as a seat may see it; None where nothing does."""
    found = run_seen(history, history.pending, seat) if history.pending is not None else None
    return found if isinstance(found, Pending) else None


def _input_seen(history: History, entry: Entry, key: str, value: Any, seat: str | None) -> Any:
    """Return what a seat may read of something that was typed; None for nothing.

    What the rules make public is public when it is said, whatever hidden thing may be called so.
    """
    begun = history.run_of(entry)
    if seat in (HOST, begun.secret.by) or begun.kind != "act":
        return value
    fields = entry.secret.private.get(key)
    if fields is None and not history.new.public.trust:  # at older tables nothing was public
        fields = []
    return input_seen(value, entry.secret.laid.get(key), fields, state=history.state, seat=seat)


def log_seen(history: History, seat: str | None, *, last: int | None = None) -> list[AnyEntry]:
    """Return all entries, or only the last so many, as far as a seat may see them."""
    first = 0 if last is None else max(0, len(history.entries) - last)
    entries = history.entries[first:]
    undone = undone_in(entries)
    return [entry_seen(history, entry, seat, undone=undone) for entry in entries]


def log_record(history: History, seat: str | None, *, last: int | None = None) -> LogRecord:
    """Return the log, or only its last so many entries, for JSON."""
    public = history.new.public
    entries = log_seen(history, seat, last=last)
    return LogRecord(ruleset=public.ruleset, title=public.title, seat=seat, entries=entries)


def entry_record(history: History, entry: Entry, seat: str | None, *, warnings: Sequence[str] = ()) -> EntryRecord:
    """Return one entry for JSON."""
    view = entry_seen(history, entry, seat)
    return EntryRecord(ruleset=history.new.public.ruleset, seat=seat, entry=view, warnings=list(warnings))


def table_record(history: History, seat: str | None, *, now: State | None = None) -> TableRecord:
    """Return the table as it is now for JSON, as far as a seat may see it.

    Args:
        now: the table in the middle of a procedure that waits (`state_now`); by default as the journal has it.
    """
    now = history.state if now is None else now
    public = history.new.public
    pending = history.pending
    passes = [PassRecord(one.by, one.label, one.until) for one in history.passes_of(seat)]
    revealed = history.revealed
    return TableRecord(
        ruleset=public.ruleset,
        rules=history.head.public.rules,
        title=public.title,
        trust=public.trust,
        switches=public.switches,
        seat=seat,
        seats=seats_of(history.state),
        under_way=now is not history.state,
        entries=len(history.entries),
        head=history.head.hash,
        commitment=public.commitment,
        seed=revealed.public.seed if revealed is not None else None,
        state=state_record(now.seen_by(seat)),
        pending=waiting_seen(history, seat),
        said_by=history.run_of(pending).secret.by if pending is not None else "",
        passes=passes,
        orders={one.seat: one.number for one in history.stands.orders if seat in (HOST, one.seat)},
    )


def orders_record(history: History, seat: str | None) -> OrdersRecord:
    """Return the standing orders that a seat may see for JSON: its own; everybody's for the host."""
    views = [entry_seen(history, entry, seat, undone=()) for entry in history.orders_of(seat)]
    orders = [view for view in views if isinstance(view, OrdersEntry)]
    return OrdersRecord(ruleset=history.new.public.ruleset, seat=seat, orders=orders)


def learned_from(
    history: History, undone: Iterable[Entry], before: State, after: Mapping[int, State]
) -> dict[str, list[str]]:
    """Return what seats have learned from entries that are undone, and cannot unlearn; the host's under an empty name.

    Args:
        before: the table before them.
        after: the table after each, where it can be read.
    """
    found: dict[str, set[str]] = {"": set()}
    for seat in seats_of(history.state):
        learned = found.setdefault(seat, set())
        for entry in undone:
            learned |= set(_learned(entry, seat))
            if entry.number in after and _shown(before, after[entry.number], seat):
                learned.add("reveal")
        found[""] |= learned
    return {seat: sorted(learned) for seat, learned in found.items() if learned}


def _learned(entry: Entry, seat: str) -> Iterator[str]:
    for event in events_in(entry.secret):
        seen = event_seen(event, seat)
        if seen is None:
            continue
        if isinstance(event, RollEvent):
            yield "draw"
        if isinstance(seen, DrawEvent):
            if seen.card != FACE_DOWN:
                yield "cards"
        elif not isinstance(event, DecisionEvent) and seen.audience is not None:
            yield "reveal"
    if entry.kind == "note" and entry.secret.to is not None and seat in entry.secret.to and seat != entry.secret.by:
        yield "reveal"


def _shown(before: State, after: State, seat: str) -> bool:
    """Tell whether a seat sees something in the one state that was hidden from it in the other."""
    hidden = _names(before) - _names(before.seen_by(seat))
    # Something else may be called so now: then what is hidden has stepped aside, see `State.with_room`.
    aside = {name for name in hidden if any(other.startswith(f"{name}-hidden-") for other in _names(after))}
    if any(name.startswith("things.") for name in hidden) and _public_things(before) != _public_things(after):
        return True  # what lies open may well be made of what was hidden
    return bool(_names(after.seen_by(seat)) & (hidden - aside))


def _public_things(state: State) -> dict[str, Any]:
    return {name: thing for name, thing in state.things.items() if name not in state.audiences}


def _names(state: State) -> set[str]:
    return (
        {f"tags.{tag.slug}" for tag in state.tags}
        | {*map("tracks.{}".format, state.tracks)}
        | {*map("things.{}".format, state.things)}
    )


def hidden_by(secret: Secret, *states: State) -> Secret:
    """Return the secret part of a run with what is hidden in the states around it noted, for views of it."""
    return msgspec.structs.replace(secret, hidden=hidden_in(*states))
