"""What a seat may see of a table that lasts: of its state, its entries, its results and its pending decision.

One rule for all: what a seat may know of the state it sees; an event with an audience is for that audience; an answer
is its event's; an effect that names something hidden is left out; what was typed is for everybody unless the rules say
otherwise (`seen-by`); of a decision that waits, its owner sees everything, the game master whose it is, and others only
that somebody is asked. The host sees what any seat may see, and no seed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from rpgres.engine.records import AnswerRecord, Pending, QuestionRecord, Result
from rpgres.journal.history import History
from rpgres.journal.permissions import without_fields
from rpgres.journal.records import Entry, Secret, found_in
from rpgres.journal.standing import undone_in
from rpgres.model.serialization import state_record
from rpgres.model.state import EMPTY, FACE_DOWN, GM, Map, State, slug
from rpgres.version import __version__

HOST: Final = None  # whoever has the file: what any seat may see
SOMEBODY = "another seat"  # who is asked, for those who may not know
NO_PILES = ("characters.", "counters.", "tags.")  # how the places begin that inputs lay something in, beside piles


class EntryView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the journal as far as a seat may see it."""

    number: int
    kind: str
    at: str
    hash: str
    undone: bool = False
    by: str = ""
    said_by: str = ""
    title: str = ""
    trust: str = ""
    commitment: str = ""
    action: str = ""
    actor: str = ""
    period: str = ""
    attempt: bool = False
    of: int | None = None
    opens: int | None = None
    given: list[str] = []
    laid: list[str] = []
    claimed: list[str] = []
    result: dict[str, Any] | None = None
    pending: dict[str, Any] | None = None
    path: str = ""
    was: Any = None
    value: Any = None
    text: str = ""
    to: list[str] | None = None
    label: str = ""
    until: str = ""
    before: int | None = None
    is_alone: bool = msgspec.field(default=False, name="alone")
    passes: list[str] = []
    character: str = ""
    is_replaced: bool = msgspec.field(default=False, name="replaced")
    seed: str | None = None
    salt: str = ""
    accepted: str = ""
    is_hidden: bool = msgspec.field(default=False, name="hidden")


class EntryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a command added to a table, as `rpgres table set --json` and the like print it."""

    format: Literal["rpgres.entry/1"] = "rpgres.entry/1"
    version: str
    ruleset: str
    seat: str | None
    entry: EntryView


class PassRecord(msgspec.Struct, frozen=True):
    """Windows that a seat lets go by, said in advance."""

    seat: str
    label: str
    until: str


class TableRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A table that lasts as a seat sees it, as `rpgres table show --json` prints it."""

    format: Literal["rpgres.table/1"] = "rpgres.table/1"
    version: str
    ruleset: str
    rules: str
    title: str
    trust: str = ""
    switches: dict[str, str]
    seat: str | None
    seats: list[str]
    entries: int
    head: str
    commitment: str
    seed: str | None
    state: dict[str, Any]
    pending: Pending | None
    said_by: str = ""
    passes: list[PassRecord]


class LogRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was done at a table, as `rpgres table log --json` prints it."""

    format: Literal["rpgres.log/1"] = "rpgres.log/1"
    version: str
    ruleset: str
    title: str
    seat: str | None
    entries: list[EntryView]


class LinkRecord(msgspec.Struct, frozen=True):
    """A link of the chain of hashes, from which anybody can work it out again."""

    number: int
    public: str
    commitment: str
    hash: str


class ViewRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All that a seat may see of a table, as `rpgres table view` writes it for a player elsewhere."""

    format: Literal["rpgres.view/1"] = "rpgres.view/1"
    version: str
    seat: str
    table: TableRecord
    log: list[EntryView]
    chain: list[LinkRecord]


class AnswerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seat's answer to the decision that waits, as `rpgres table answer --view` writes it, or a person does."""

    format: Literal["rpgres.answer/1"] = "rpgres.answer/1"
    seat: str
    entry: str = ""
    choose: dict[str, str | list[str]]
    given: dict[str, str | list[str]] = {}


def seats_of(state: State) -> list[str]:
    """Return the seats of a table, the game master's first."""
    return list(dict.fromkeys([GM, *(state.seat_of(name) for name in state.characters)]))


# ---------------------------------------------------------------------------------------------------------------------
# The state


def state_seen(state: State, seat: str | None) -> State:
    """Return what a seat, or the host, may know of the state."""
    if seat is not HOST:
        return state.seen_by(seat)
    unknown = {name for name, seats in state.audiences.items() if not seats}
    return msgspec.structs.replace(
        state,
        tags=tuple(tag for tag in state.tags if tag.audience != ()),
        tracks=_without(state.tracks, unknown),
        things=_without(state.things, unknown),
        audiences=_without(state.audiences, unknown),
        piles=Map({name: pile.seen_by_somebody() for name, pile in state.piles.items()}),
    )


def _without(named: Map[str, Any], names: set[str]) -> Map[str, Any]:
    return Map({name: value for name, value in named.items() if name not in names}) if names else named


def hidden_in(*states: State) -> dict[str, list[str]]:
    """Return what is hidden in some states, with the seats that may know of it in one of them, by slug.

    What everybody knows of in one of the states is not hidden.
    """
    hidden: dict[str, set[str]] = {}
    public: set[str] = set()
    for state in states:
        for tag in state.tags:
            if tag.audience is None:
                public.add(tag.slug)
            else:
                hidden.setdefault(tag.slug, set()).update(tag.audience)
        for name in (*state.tracks, *state.things):
            if name in state.audiences:
                hidden.setdefault(slug(name), set()).update(state.audiences[name])
            else:
                public.add(slug(name))
    return {name: sorted(seats) for name, seats in sorted(hidden.items()) if name not in public}


# ---------------------------------------------------------------------------------------------------------------------
# Results and pending decisions


def event_seen(event: Mapping[str, Any], seat: str | None) -> dict[str, Any] | None:
    """Return what a seat, or the host, may know of an event; None when that is nothing."""
    audience = event.get("audience")
    is_for = audience is None or (bool(audience) if seat is HOST else seat in audience)
    if is_for:
        return dict(event)
    others = event.get("others")
    return dict(others) if others is not None else None


def found_seen(
    found: Result | Pending,
    seat: str | None,
    *,
    state: State,
    hidden: Mapping[str, Iterable[str]] = EMPTY,
    inputs: Mapping[str, Any] = EMPTY,
) -> Result | Pending:
    """Return a result, or a pending decision, as far as a seat or the host may know it.

    Args:
        found: with nothing left out.
        seat: who looks.
        state: the table, for whose seat is whose.
        hidden: the seats that may know of what is hidden, by slug.
        inputs: what was typed, as far as it may be known.
    """
    events = [seen for event in found.events if (seen := event_seen(event, seat)) is not None]
    names = _unspoken(found, seat, state, hidden) - set(_words(inputs))
    common: dict[str, Any] = {"events": events, "answers": list(_answers(events)), "inputs": dict(inputs)}
    if isinstance(found, Pending):
        question, *together = _questions_seen(found, seat, state)
        return msgspec.structs.replace(found, **common, question=question, together=together, resume="")
    return msgspec.structs.replace(
        found,
        **common,
        effects=[effect for effect in found.effects if not _mentions(effect, names)],
        details={key: value for key, value in found.details.items() if not _mentions(value, names)},
    )


def _unspoken(found: Result | Pending, seat: str | None, state: State, hidden: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the hidden names that a seat may not meet in what came of an action.

    A name that was typed for it by somebody who does not know that something hidden is called so is only a word, and
    stays: were it left out, that would tell.
    """
    if seat is HOST:
        return set()
    actor = state.seat_of(found.actor or GM)
    typed = set(_words(found.inputs))
    return {name for name, seats in hidden.items() if seat not in seats and not (name in typed and actor not in seats)}


def _words(value: Any) -> Iterator[str]:
    """Yield the names, as slugs, that something typed is made of."""
    if isinstance(value, str):
        yield from {slug(text) for text in (value, *value.split("=")) if text}
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)


def _questions_seen(found: Pending, seat: str | None, state: State) -> list[QuestionRecord]:
    """Return what is asked as far as a seat may know it, its own questions first."""
    asked = [found.question, *found.together]
    own = [one for one in asked if seat in (HOST, state.seat_of(one.who))]
    others = [one.who if seat == GM else SOMEBODY for one in asked if one not in own]
    return [*own, *(QuestionRecord(label="", who=who, text="", options=[]) for who in others)]


def _answers(events: Iterable[Mapping[str, Any]]) -> Iterator[AnswerRecord]:
    """Yield the answers of events: whoever sees an event sees its answer."""
    for event in events:
        match event["event"]:
            case "roll" if event["faces"]:
                yield AnswerRecord(event["label"], "chance", event["faces"])
            case "draw" if event["card"] != FACE_DOWN:
                yield AnswerRecord(event["label"], "chance", event["card"])
            case "decision":
                yield AnswerRecord(event["label"], "decision", event["answer"])


def _mentions(value: Any, names: set[str]) -> bool:
    """Tell whether something names one of the things that are hidden."""
    if not names:
        return False
    if isinstance(value, str):
        return slug(value) in names if value else False
    if isinstance(value, Mapping):
        return any(_mentions(inner, names) for pair in value.items() for inner in pair)
    return isinstance(value, list | tuple) and any(_mentions(inner, names) for inner in value)


# ---------------------------------------------------------------------------------------------------------------------
# Entries


def entry_seen(history: History, entry: Entry, seat: str | None, *, undone: Container[int] | None = None) -> EntryView:
    """Return an entry as far as a seat, or the host, may see it.

    Args:
        history: the journal.
        entry: one of its entries.
        seat: who looks.
        undone: the numbers of the entries that do not stand, when they are known.
    """
    gone = undone if undone is not None else undone_in(history.entries[entry.number :])
    public, secret = entry.public, entry.secret
    common: dict[str, Any] = {
        "number": entry.number,
        "kind": entry.kind,
        "at": public.at,
        "hash": entry.hash,
        "undone": entry.number in gone,
    }
    match entry.kind:
        case "new":
            return EntryView(**common, title=public.title, trust=public.trust, commitment=public.commitment)
        case "act" | "begin" | "end" | "answer":
            return EntryView(**common, **_run_seen(history, entry, seat))
        case "join":
            return EntryView(**common, by=secret.by, character=public.character, is_replaced=secret.is_replaced)
        case "undo":
            passes = secret.passes.get(seat or "", [])
            return EntryView(**common, by=secret.by, before=public.before, is_alone=public.alone, passes=passes)
        case "seal":
            return EntryView(**common, by=public.seat, commitment=public.commitment, of=public.of)
        case "reveal":
            return EntryView(**common, seed=public.seed, salt=public.salt)
        case "set" if _is_for(secret.to, seat):
            return EntryView(**common, by=secret.by, path=secret.path, was=secret.was, value=secret.value, to=secret.to)
        case "note" if _is_for(secret.to, seat):
            return EntryView(**common, by=secret.by, text=secret.text, to=secret.to)
        case "pass" if seat in (HOST, secret.by):
            return EntryView(**common, by=secret.by, label=secret.label, until=secret.until)
    return EntryView(**common, is_hidden=True)


def _is_for(to: list[str] | None, seat: str | None) -> bool:
    return seat is HOST or to is None or seat in to


def _run_seen(history: History, entry: Entry, seat: str | None) -> dict[str, Any]:
    run = history.run_of(entry)
    begun = run.public
    seen: dict[str, Any] = {"action": begun.action, "actor": begun.actor, "period": begun.period, "of": entry.public.of}
    seen["said_by"] = run.secret.by if run.kind == "act" else ""
    if entry.public.opens is not None:
        seen["opens"] = entry.public.opens
        seen["salt"] = entry.secret.salt if seat in (HOST, entry.secret.by) else ""
    if entry.kind != "answer" or seat in (HOST, entry.secret.by):  # who answered tells who was asked
        seen["by"] = entry.secret.by
        seen["accepted"] = entry.secret.accepted
    if entry.public.attempt:
        seen["attempt"] = True
        seen["text"] = entry.secret.text if seat in (HOST, entry.secret.by) else ""
    seen["given"] = sorted(entry.secret.given)
    seen["laid"] = sorted(entry.secret.laid.values())
    seen["claimed"] = entry.secret.claimed
    found = run_seen(history, entry, seat)
    name = "pending" if isinstance(found, Pending) else "result"
    return {**seen, name: msgspec.to_builtins(found)}


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


def _input_seen(history: History, entry: Entry, key: str, value: Any, seat: str | None) -> Any:
    """Return what a seat may read of something that was typed; None for nothing.

    What the rules make public is public when it is said, whatever hidden thing may be called so.
    """
    begun = history.run_of(entry)
    if seat in (HOST, begun.secret.by) or begun.kind != "act":
        return value
    place, fields = entry.secret.laid.get(key), entry.secret.private.get(key)
    if fields is None and history.new.public.trust:  # at older tables nothing was public
        return value
    if fields:
        return without_fields(value, fields)
    return value if place is not None and _may_see(history.state, place, seat) else None  # cards


def _may_see(state: State, place: str | None, seat: str | None) -> bool:
    """Tell whether a seat may see what was said to lie in a place, or in several, as far as those are piles.

    Of a pile that is not there any more, nobody can tell for whom it was.
    """
    for name in (place or "").split(", "):
        pile = state.piles.get(name)
        if pile is None and not name.startswith(NO_PILES):
            return False
        if pile is not None and pile.audience is not None and seat not in pile.audience:
            return False
    return True


def log_seen(history: History, seat: str | None, *, last: int | None = None) -> list[EntryView]:
    """Return all entries, or only the last so many, as far as a seat may see them."""
    first = 0 if last is None else max(0, len(history.entries) - last)
    entries = history.entries[first:]
    undone = undone_in(entries)
    return [entry_seen(history, entry, seat, undone=undone) for entry in entries]


def log_record(history: History, seat: str | None, *, last: int | None = None) -> LogRecord:
    """Return the log, or only its last so many entries, for JSON."""
    public = history.new.public
    entries = log_seen(history, seat, last=last)
    return LogRecord(version=__version__, ruleset=public.ruleset, title=public.title, seat=seat, entries=entries)


def entry_record(history: History, entry: Entry, seat: str | None) -> EntryRecord:
    """Return one entry for JSON."""
    view = entry_seen(history, entry, seat)
    return EntryRecord(version=__version__, ruleset=history.new.public.ruleset, seat=seat, entry=view)


def table_record(history: History, seat: str | None) -> TableRecord:
    """Return the table as it is now for JSON, as far as a seat may see it."""
    public = history.new.public
    pending = history.pending
    waits = run_seen(history, pending, seat) if pending is not None else None
    passes = [PassRecord(one.by, one.label, one.until) for one in history.passes_of(seat)]
    revealed = history.revealed
    return TableRecord(
        version=__version__,
        ruleset=public.ruleset,
        rules=history.head.public.rules,
        title=public.title,
        trust=public.trust,
        switches=public.switches,
        seat=seat,
        seats=seats_of(history.state),
        entries=len(history.entries),
        head=history.head.hash,
        commitment=public.commitment,
        seed=revealed.public.seed if revealed is not None else None,
        state=state_record(state_seen(history.state, seat)),
        pending=waits if isinstance(waits, Pending) else None,
        said_by=history.run_of(pending).secret.by if pending is not None else "",
        passes=passes,
    )


def passed(
    history: History, undone: Iterable[Entry], before: State, after: Mapping[int, State]
) -> dict[str, list[str]]:
    """Return what seats have learned from entries that are undone, and cannot unlearn; the host's under an empty name.

    Args:
        history: the journal.
        undone: the entries.
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
    found = found_in(entry.secret)
    for event in found.events if found is not None else ():
        seen = event_seen(event, seat)
        if seen is None:
            continue
        if event["event"] in ("roll", "draw"):
            yield "draw"
        if event["event"] != "decision" and seen.get("audience") is not None:
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
