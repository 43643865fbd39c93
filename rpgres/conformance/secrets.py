"""Whether a ruleset keeps secrets: what a seat cannot see changes nothing that it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import Any

from msgspec import structs

from rpgres.conformance.behaviour import each
from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.subjects import Case, Subject
from rpgres.conformance.walks import Asked, noting, plain
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.piles import added, without
from rpgres.engine.players import NO, Question, Seats, View, preferred
from rpgres.engine.records import event_record
from rpgres.engine.run import Prepared, play
from rpgres.engine.running import NeedsAnswer
from rpgres.errors import RpgresError
from rpgres.model.state import GM, SCENE, Box, Map, State, Tag, code_of, put
from rpgres.rulesets import Rules
from rpgres.toml.diagnostics import Diagnostic

SEEDS = 2

Met = tuple[list[Asked], list[bytes]]  # what a seat is asked in a run, and the events that it may know of

_ADVICE = "build the options of a seat from table.state.seen_by(seat), not from table.state"


def check_views(subject: Subject) -> Iterator[Diagnostic]:
    """Yield questions that tell a seat of something it cannot see: it is asked, or offered, something else."""

    compared = 0

    def of_case(case: Case) -> Iterator[Diagnostic]:
        nonlocal compared
        state = case.prepared.state
        met = cache(partial(_met, case.prepared))  # one table is compared with many
        for seat in sorted({GM, *(state.seat_of(name) for name in state.characters)}):
            for hidden in hidden_from(seat, case.prepared):
                compared += 1
                for number in range(SEEDS):
                    message = leak(case.prepared, hidden, seat=seat, seed=f"contract#{number}", met=met)
                    if message:
                        yield finding(message, case.place, _ADVICE)
                        return
            for hidden in other_things(seat, state):
                compared += 1
                message = ""
                with suppress(RpgresError):  # what such a thing says is the rule's own, and may mean nothing now
                    message = leak(case.prepared, hidden, seat=seat, seed="contract#0", met=met)
                if message:
                    yield finding(message, case.place, _ADVICE)
                    return

    yield from each(subject, of_case)
    if not compared:
        raise NothingToCheck("nothing in the examples and scenes can be hidden")


def hidden_from(seat: str, prepared: Prepared) -> Iterator[State]:
    """Yield tables that differ from that of an action only in what a seat cannot see."""
    state = prepared.state
    others = tuple(sorted({GM, *(state.seat_of(name) for name in state.characters)} - {seat}))
    if not others:
        return
    uses = Map(dict.fromkeys(dict.fromkeys((*others, *state.characters)), 1))
    for on in (SCENE, prepared.actor):
        changed = state
        for number, kind in enumerate(kinds_of_tags(prepared.rules, state)):
            changed = changed.with_tag(Tag(f"Unseen Thing {number}", kind, on, uses, others))
        if changed is not state:
            yield changed
    known = state.seen_by(seat).tags
    if known is not state.tags:
        yield structs.replace(state, tags=known)  # what it cannot see is gone
    for name, seats in state.audiences.items():
        if seat not in seats and name in state.tracks:
            yield put(state, ("tracks", name), _other_marks(state.tracks[name]))
    if not prepared.placed:  # what is laid at the beginning has to be where it is taken from
        yield from _other_hands(seat, prepared)


def other_things(seat: str, state: State) -> Iterator[State]:
    """Yield the tables on which a thing that a seat cannot see is another, or is not there.

    What a thing is made of is known, and not what it means: a rule may be unable to play with it.
    """
    for name, seats in state.audiences.items():
        if seat in seats or name not in state.things:
            continue
        known = state.things[name]
        for change in _OTHERWISE:
            other = _changed(known, change)
            if other != known:
                yield put(state, ("things", name), other)
        yield structs.replace(state, things=state.things.without(name), audiences=state.audiences.without(name))


def _other_number(value: Any) -> Any:
    return value + 1 if isinstance(value, int) and not isinstance(value, bool) else value


def _smaller_number(value: Any) -> Any:
    return value - 1 if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value


def _other_flag(value: Any) -> Any:
    return not value if isinstance(value, bool) else value


def _other_text(value: Any) -> Any:
    return f"{value} else" if isinstance(value, str) else value


def _shorter(value: Any) -> Any:
    return value[:-1] if isinstance(value, tuple) else value


_OTHERWISE: tuple[Callable[[Any], Any], ...] = (_other_number, _smaller_number, _other_flag, _other_text, _shorter)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a thing in which everything that it is made of is changed; names in a `Map` stay."""
    if isinstance(value, Map):
        return Map({key: _changed(one, change) for key, one in value.items()})
    if isinstance(value, tuple):
        return change(tuple(_changed(one, change) for one in value))
    return change(value)


def _other_hands(seat: str, prepared: Prepared) -> Iterator[State]:
    """Yield the tables on which somebody holds another card, and the one held lies in the face-down pile."""
    piles = prepared.state.piles
    for name, hand in piles.items():
        if hand.audience is None or seat in hand.audience or not hand.cards or not hand.audience:
            continue
        held = hand.cards[0]
        for place, stock in piles.items():
            other = next((card for card in stock.cards if code_of(card) != code_of(held)), "")
            if stock.audience == () and other:
                changed = {
                    name: added(structs.replace(hand, cards=without(hand.cards, (held,))), (other,)),
                    place: added(structs.replace(stock, cards=without(stock.cards, (other,))), (held,)),
                }
                yield structs.replace(prepared.state, piles=Map({**piles, **changed}))
                break


def _other_marks(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """Return a track with one box marked less; with one more when none is; never full, as that may mean something."""
    marked = [number for number, box in enumerate(boxes) if box.mark]
    changed = marked[-1] if marked else 0
    mark = "" if marked or len(boxes) < 2 else "x"
    return tuple(structs.replace(box, mark=mark) if number == changed else box for number, box in enumerate(boxes))


def kinds_of_tags(rules: Rules, state: State) -> list[str]:
    """Return every kind of tag that the ruleset's data or the table speak of."""
    file = rules.file
    kinds = [
        *(field.tag for field in file.sheet.values()),
        *(track.tag for track in file.tracks.values()),
        *(parameter.tag for parameter in file.parameters.values()),
        *(tag.kind for tag in state.tags),
    ]
    return list(dict.fromkeys(filter(None, kinds)))


def leak(prepared: Prepared, hidden: State, *, seat: str, seed: str, met: Callable[..., Met] | None = None) -> str:
    """Return what a seat can tell of a table that looks the same to it; nothing when it can tell nothing.

    Args:
        prepared: the action.
        hidden: the other table.
        seat: whose seat.
        seed: what both runs are played with.
        met: gives what a seat meets in a run of the action, where that is known already.
    """
    one, one_events = met(seat=seat, seed=seed) if met is not None else _met(prepared, seat=seat, seed=seed)
    other, other_events = _met(structs.replace(prepared, state=hidden), seat=seat, seed=seed)
    for left, right in zip(one, other, strict=False):
        if _seen(left) != _seen(right):
            return ""  # something came to light in between
        if plain(left.question) != plain(right.question):
            names = [", ".join(option.name for option in asked.question.options) for asked in (left, right)]
            message = f"{left.question.label} offers {names[0]}, and {right.question.label} {names[1]}"
            return f"hidden information changes what {seat} is asked: {message}"
    for fewer, more, events in ((one, other, one_events), (other, one, other_events)):
        if len(more) > len(fewer):
            extra = more[len(fewer)]
            before = _plain_events(extra.view)
            if before == events[: len(before)]:
                return f"hidden information changes whether {seat} is asked: {extra.question.label}"
    return ""


def _met(prepared: Prepared, *, seat: str, seed: str) -> Met:
    """Return what a seat is asked in a run, and the events that it may know of."""
    asked: list[Asked] = []

    def decide(view: View, question: Question) -> str:
        if view.seat != seat:
            return NO if question.optional else preferred(view, question)
        names = [option.name for option in question.options] + ([NO] if question.optional else [])
        return names[(len(asked) + int(seed.rpartition("#")[2])) % len(names)]

    policy = noting(asked, decide=decide)
    dealer = SeededDealer(Streams(seed))
    try:
        _, run = play(prepared, dealer=dealer, players=Seats(policies={"": policy}))
    except NeedsAnswer as needs:
        run = needs.run
    events = [plain(event_record(one)) for one in run.events if one.audience is None or seat in one.audience]
    return [one for one in asked if one.view.seat == seat], events


def _seen(asked: Asked) -> tuple[bytes, list[bytes]]:
    return plain(asked.view.state), _plain_events(asked.view)


def _plain_events(view: View) -> list[bytes]:
    """Return what a seat saw happen, before the last turn of a procedure too: that may explain what comes later."""
    return [plain(event_record(event)) for event in (*view.forgotten, *view.events)]
