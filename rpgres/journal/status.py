"""The status after an entry: which decision waits, what seats said in advance, what is known of chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec

from rpgres.engine.dealers import is_given
from rpgres.journal.records import (
    ACTION,
    ALWAYS,
    CARDS,
    RUNNING,
    SAID,
    Entry,
    KnownChance,
    KnownMark,
    Mark,
    OrdersMark,
    Pass,
    Said,
    Standing,
)
from rpgres.model.events import DrawEvent, EventRecord, RollEvent


def stands_after(entry: Entry) -> Standing:
    """Return the status after an entry."""
    stands, secret, mark = entry.secret.stands, entry.secret, Mark(entry.number, entry.hash)
    match entry.kind:
        case "new":
            return Standing(new=mark)
        case "pass" | "orders":
            return _with_said(stands, said_in(entry))
        case "seal":
            return msgspec.structs.replace(stands, seals=(*stands.seals, mark))
        case "reveal":
            return msgspec.structs.replace(stands, revealed=mark)
        case "act" | "begin" | "end" | "answer" if not entry.public.attempt:
            is_answer, waits = entry.kind == "answer", secret.waits is not None
            seals = [one for one in stands.seals if is_answer and waits and one.number != entry.public.opens]
            return msgspec.structs.replace(
                stands,
                steps=stands.steps + (not is_answer),
                pending=mark if waits else None,
                run=None if not waits else stands.run if is_answer else mark,
                seals=tuple(seals),
                passes=tuple(one for one in stands.passes if not _ends(one.until, entry)),
                known=tuple(one for one in stands.known if is_answer or one.last >= stands.steps),
            )
    if not secret.known:
        return stands
    known = KnownMark(entry.number, entry.hash, secret.known[-1].step)
    return msgspec.structs.replace(stands, known=(*_not_in(stands.known, secret.known), known))


def taken_back(
    first: Entry,
    said: Iterable[Said],
    alone: Container[int | None],
    known: Iterable[KnownChance],
    known_by: Callable[[KnownMark], Iterable[KnownChance]],
) -> tuple[Standing, tuple[KnownChance, ...]]:
    """Return the status after an undo of everything from an entry on; notes, passes and orders stay.

    With it comes what the seed has answered by then and the undo tells.

    Args:
        said: the passes and orders after it, taken back alone or not; nothing that could end them stands any more.
        alone: the numbers of passes and orders, before it and after, that were taken back alone since.
        known: what the seed has answered in all entries from that one on.
        known_by: returns what an earlier entry tells of that.
    """
    stands = first.secret.stands
    stands = _without_said(_with_said(stands, said), alone)
    answered = with_earlier(known, stands.known, known_by, least=step_of(first))
    kept = _not_in(stands.known, answered)
    return msgspec.structs.replace(stands, known=kept), answered


def without_said(stands: Standing, number: int) -> Standing:
    """Return the status after an undo of one note, pass, or set of standing orders."""
    return _without_said(stands, (number,))


def undone_in(later: Iterable[Entry]) -> set[int]:
    """Return the numbers of the entries that do not stand, among the last ones of a journal; undos are not counted."""
    done: list[int] = []
    undone: set[int] = set()
    for entry in later:
        before = entry.public.before or 0
        if entry.kind != "undo":
            if entry.kind not in SAID:
                done.append(entry.number)
        elif entry.public.alone:
            undone.add(before)
        else:
            while done and done[-1] >= before:
                undone.add(done.pop())
    return undone


# ---------------------------------------------------------------------------------------------------------------------
# What was said in advance


def said_in(entry: Entry) -> tuple[Said, ...]:
    """Return what an entry says in advance; nothing of most."""
    secret = entry.secret
    if entry.kind == "pass":
        return (Pass(entry.number, secret.by, secret.label, secret.until),)
    if entry.kind == "orders":
        return tuple(OrdersMark(entry.number, entry.hash, seat, bool(secret.text)) for seat in secret.to or ())
    return ()


def latest_said(said: Iterable[Said]) -> tuple[Said, ...]:
    """Return what was said without what was said again later, so that its amount is bounded: passes, then orders."""
    several = tuple(said)
    passes = [one for one in several if isinstance(one, Pass)]
    last = {(one.by, one.label, one.until): one.number for one in passes}
    orders = {one.seat: one for one in several if isinstance(one, OrdersMark)}
    return (*(one for one in passes if one.number in last.values()), *orders.values())


def _with_said(stands: Standing, said: Iterable[Said]) -> Standing:
    """Return what counts with what seats say in advance; of the orders of a seat the last ones count."""
    kept = latest_said((*stands.passes, *stands.orders, *said))
    orders = sorted((one for one in kept if isinstance(one, OrdersMark) and one.is_set), key=attrgetter("number"))
    passes = tuple(one for one in kept if isinstance(one, Pass))
    return msgspec.structs.replace(stands, passes=passes, orders=tuple(orders))


def _without_said(stands: Standing, numbers: Container[int | None]) -> Standing:
    return msgspec.structs.replace(
        stands,
        passes=tuple(one for one in stands.passes if one.number not in numbers),
        orders=tuple(one for one in stands.orders if one.number not in numbers),
    )


def _ends(until: str, later: Entry) -> bool:
    """Tell whether what a seat said in advance no longer holds after an entry."""
    if until == ALWAYS:
        return False
    if until == ACTION:
        return later.secret.waits is None
    return later.kind in ("begin", "end") and later.public.period == until


# ---------------------------------------------------------------------------------------------------------------------
# What is known of chance


def step_of(entry: Entry) -> int:
    """Return the step of an entry, under which chance is drawn: that of the pending action, or of the next one."""
    stands = entry.secret.stands
    return stands.steps - (stands.pending is not None)


def chance_in(events: Iterable[EventRecord]) -> Iterator[tuple[str, str]]:
    """Yield the label of each roll and draw, and the key under which it is counted: the label, or `CARDS`."""
    for event in events:
        match event:
            case RollEvent() if event.faces:
                yield event.label, event.label
            case DrawEvent():
                yield event.label, CARDS


def known_in(entry: Entry) -> Iterator[KnownChance]:
    """Yield what the seed has answered in an entry that ran; nothing of another one."""
    found = entry.secret.waits or entry.secret.result if entry.kind in RUNNING else None
    counts, places = Counter[str](), dict[str, list[int]]()
    for label, what in chance_in(msgspec.convert(found["events"], list[EventRecord]) if found else ()):
        if not is_given(entry.secret.given.get(label, []), counts[label]):
            places.setdefault(what, []).append(counts[what])
        counts.update({label, what})
    for what, numbers in places.items():
        yield KnownChance(step_of(entry), what, tuple(numbers), entry.number)


def with_earlier(
    known: Iterable[KnownChance],
    marks: Sequence[KnownMark],
    known_by: Callable[[KnownMark], Iterable[KnownChance]],
    *,
    least: int,
) -> tuple[KnownChance, ...]:
    """Return what is known, with all that earlier entries tell of the same steps, so that these need not be read again.

    Args:
        known: what is known by the entry that is to be written.
        known_by: returns what one of these tells.
        least: the first step that can still be drawn.
    """
    own = joined(known)
    kept = _not_in(marks, own)
    parts = [one for mark in marks if mark not in kept for one in known_by(mark) if one.step >= least]
    return joined([*own, *parts]) if parts else own


def joined(known: Iterable[KnownChance]) -> tuple[KnownChance, ...]:
    """Return what is known, once for each step and label."""
    found: dict[tuple[int, str], KnownChance] = {}
    for one in known:
        before = found.setdefault((one.step, one.label), one)
        if before is not one:
            places = tuple(sorted({*before.places, *one.places}))
            found[one.step, one.label] = KnownChance(one.step, one.label, places, min(before.number, one.number))
    return tuple(sorted(found.values(), key=attrgetter("step", "label")))


def _not_in(marks: Iterable[KnownMark], known: Sequence[KnownChance]) -> tuple[KnownMark, ...]:
    """Return the earlier entries about later steps, which are still needed."""
    return tuple(mark for mark in marks if not known or mark.last > known[-1].step)
