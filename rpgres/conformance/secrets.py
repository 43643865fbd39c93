"""Whether a ruleset keeps secrets: what a seat cannot see changes nothing that it is asked or told.

Each case is played twice for each seat: once as it is, and once with one thing otherwise where that seat cannot look
(a `Variation`), with the same answers as far as they are offered. What the seat receives has to be the same, byte by
byte, up to where the game itself reveals that very thing to it: somebody else decides otherwise, a card is turned up, a
line of the account names it, or it is for the seat to see in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count, zip_longest
from math import inf
from operator import itemgetter
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import structs

from rpgres.conformance.behaviour import each
from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.subjects import Case, Subject
from rpgres.conformance.variations import (
    AS_IT_IS,
    Said,
    Swapping,
    Variation,
    covers,
    hidden_before,
    hidden_within,
    kinds_of_tags,
)
from rpgres.conformance.walks import Asked, noting, plain
from rpgres.dice.seeds import Streams
from rpgres.engine.effects import apply_effects
from rpgres.engine.events import Event, Told, seen
from rpgres.engine.players import NO, Policy, Question, View
from rpgres.engine.prepare import Prepared
from rpgres.engine.records import event_record
from rpgres.engine.run import play, result_of
from rpgres.engine.seats import Seats
from rpgres.engine.stops import endless
from rpgres.engine.views import found_seen, hidden_in, seats_of
from rpgres.errors import RpgresError, RuleError
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, MoveEvent, TurnEvent
from rpgres.model.state import EMPTY, FACE_DOWN, State
from rpgres.text.differences import Difference, first_difference
from rpgres.toml.diagnostics import Diagnostic

GAMES = 2  # in which the seat answers otherwise; in the first, everybody else skips optional decisions
RUNS, FEWEST = 20, 3  # one variation for so many paths of a case, and how many at least
LONGEST = 500  # decisions of a run that is varied; a procedure whose seats never end it takes seconds for each run
_ADVICE = (
    "build options, texts and errors from table.state.seen_by(seat); what is hidden is revealed by a card that is "
    "moved, an audience that an effect changes, or a line that names it: table.tell(..., reveals=, audience=)"
)


def check_views(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what tells a seat of something that it cannot see: in questions, events, outcomes and errors."""
    compared = 0
    every = (kind for case in subject.steady for kind in kinds_of_tags(case.prepared.rules, case.prepared.state))
    kinds = list(dict.fromkeys(every))

    def of_case(case: Case) -> Iterator[Diagnostic]:
        nonlocal compared
        prepared, budget = case.prepared, subject.budget(case) // RUNS
        start = crc32(Path(case.name).name.encode())  # not by what is played before it
        for seat in sorted(seats_of(prepared.state)):
            before = list(hidden_before(seat, prepared, kinds))
            for game in range(GAMES):
                one = receive(prepared, seat, game, longest=LONGEST)
                if one.refused is not None and one.refused.reason == "endless":
                    continue
                variations = [*before, *hidden_within(seat, one.happened, one.drawn, one.asked)]
                share = max(budget, FEWEST) - game
                step = -(-len(variations) // share) or 1  # other cases of the action take the others
                for variation in variations[start % step :: step]:
                    compared += 1
                    other = receive(prepared, seat, game, variation, answers=one.answers)
                    message = leak(one, other, variation)
                    if message and not leak(one, receive(prepared, seat, game)):  # or it goes otherwise by itself
                        yield finding(f"{message}, with {variation.what}", case.place, _ADVICE)
                        return

    yield from each(subject, of_case)
    if not compared:
        raise NothingToCheck("nothing in the examples and scenes can be hidden")


# ---------------------------------------------------------------------------------------------------------------------
# What a seat receives


class Received(msgspec.Struct, frozen=True):
    """What a seat receives in a run, and what it takes to run it again.

    Attributes:
        asked: every question that was asked of anybody.
        own: those among them that were asked of the seat.
        answers: what everybody else answered.
        drawn: its draws; see `Swapping`.
        events: what the seat sees of what happened.
        revealed: what lines among `events` say that they reveal, by their places.
        end: what the seat reads of the outcome, and of the table after it; empty where there is none.
        skippable: the decisions, by label and character, that may go without a question: optional, or without a choice.
        refused: why the action was refused; None where it was not.
        is_told: whether the seat is told that: it acts, or is asked.
        hidden: the names of what the seat could not see before the action.
        shown: the names of what it can see after it, or when it was asked, or is gone then.
    """

    asked: list[Asked]
    own: list[Asked]
    answers: dict[Said, str]
    happened: list[Event]
    drawn: list[tuple[str, tuple[str, ...]]]
    events: list[EventRecord]
    revealed: dict[int, tuple[str, ...]]
    end: bytes
    skippable: set[tuple[str, str]]
    refused: RpgresError | None
    is_told: bool
    hidden: set[str]
    shown: set[str]


def receive(
    prepared: Prepared,
    seat: str,
    game: int,
    variation: Variation = AS_IT_IS,
    *,
    answers: Mapping[Said, str] = EMPTY,
    longest: float = inf,
) -> Received:
    """Return what a seat receives when an action is played.

    Args:
        game: which game, from 0.
        variation: what is otherwise where the seat cannot look.
        answers: what everybody else answers, as far as it is offered.
        longest: after how many decisions it is refused as endless.
    """
    state = after = variation.state or prepared.state
    asked, answered = list[Asked](), dict[Said, str]()
    decide = _deciding(seat, game, {**answers, **variation.said}, answered, longest)
    dealer, end, refused = Swapping(Streams(f"contract#{game}"), variation.swapped), b"{}", None
    events, happened, questions = list[EventRecord](), list[Event](), list[Question]()
    try:
        outcome, run = play(
            structs.replace(prepared, state=state),
            dealer=dealer,
            players=Seats(policies={"": noting(asked, decide=decide)}),
        )
        after = apply_effects(prepared.rules, run.state, outcome)
        result = result_of(prepared, {"streams": Streams("0"), "identify": False}, outcome, run, [])
        found = found_seen(result, seat, state=after, hidden=hidden_in(state, after), inputs=prepared.inputs)
        events = found.events
        told = {key: value for key, value in structs.asdict(found).items() if key not in _EVENTS}
        end = plain({**told, "table": after.seen_by(seat)})
        happened, questions = run.events, [*run.skipped.values(), *(one.question for one in asked)]
    except RpgresError as error:
        refused = error
    _check_lines(happened, (*seats_of(state), *seats_of(after)))
    own = [one for one in asked if one.view.seat == seat]
    looks = (after.seen_by(seat), *(one.view.state for one in own))
    return Received(
        asked=asked,
        own=own,
        answers=answered,
        happened=happened,
        drawn=dealer.drawn,
        events=events,
        revealed=_revealed(happened, seat),
        end=end,
        skippable={(its.label, its.who) for its in questions if its.optional or its.is_one},
        refused=refused,
        is_told=bool(own) or seat == state.seat_of(prepared.actor),
        hidden=_names(state) - _names(state.seen_by(seat)),
        shown=set().union(*map(_names, looks)) | (_names(state) - _names(after)),
    )


def _deciding(seat: str, game: int, wanted: Mapping[Said, str], answered: dict[Said, str], longest: float) -> Policy:
    """Return who decides: the seat takes one option after the other, and everybody else what is wanted, if it can.

    Args:
        seat, game, longest: see `receive`.
    """
    counts, own, taken = Counter[tuple[str, str]](), count(game), count()

    def decide(view: View, question: Question) -> str:
        if next(taken) >= longest:
            raise endless(question.label)
        names = [option.name for option in question.options] + [NO] * question.optional
        if view.seat == seat:
            return names[next(own) % len(names)]
        key = question.label, question.who, counts[question.label, question.who]
        counts[key[:2]] += 1
        answer = wanted.get(key, "")
        if answer not in names:
            answer = names[0] if game or not question.optional else NO
        answered[key] = answer
        return answer

    return decide


_EVENTS = ("events", "answers")  # what is compared event by event


def _revealed(happened: Iterable[Event], seat: str) -> dict[int, tuple[str, ...]]:
    """Return what lines say that they reveal, by their places among what a seat sees of what happened."""
    shown = [event for event in happened if seen(event, seat) is not None]
    lines = {place: event.reveals for place, event in enumerate(shown) if isinstance(event, Told)}
    return {place: names for place, names in lines.items() if names}


def _check_lines(events: Iterable[Event], seats: Collection[str]) -> None:
    """Check that lines of the account say rightly who reads them, and what they reveal."""
    for event in events:
        if isinstance(event, Told) and not isinstance(event.reveals, tuple):
            raise RuleError(f"table.tell(..., reveals={event.reveals!r}): it takes a tuple of names")
        for seat in event.audience or ():
            if seat not in seats:
                raise RuleError(
                    f"something is told to {seat!r}, which is no seat; table.state.seat_of(name) returns one"
                )


def _names(state: State) -> set[str]:
    """Return the names of what can be hidden on a table."""
    cards = (card for pile in state.piles.values() for card in (*pile.cards, *pile.top))
    return {*(tag.name for tag in state.tags), *state.tracks, *state.things, *cards} - {FACE_DOWN}


# ---------------------------------------------------------------------------------------------------------------------
# What tells two runs apart


def leak(one: Received, other: Received, variation: Variation = AS_IT_IS) -> str:
    """Return what tells a seat one run from another; nothing when nothing does, or the game reveals what is otherwise.

    Args:
        one, other: what the seat receives, without the variation and with it.
        variation: what is otherwise where the seat cannot look.
    """
    is_refused = one.refused is not None or other.refused is not None
    if is_refused and ((variation.may_fail and one.refused is None) or not (one.is_told and other.is_told)):
        return ""
    pairs = list(zip_longest(one.events, other.events)) if plain(one.events) != plain(other.events) else []
    place = next((place for place, (left, right) in enumerate(pairs) if plain(left) != plain(right)), None)
    is_revealed = place is not None and _is_revealed(place, one, other, variation)
    told = _questions(one, other, inf if is_refused or place is None else place + (not is_revealed))
    if told or is_refused:
        errors = [its.refused.message if its.refused is not None else "no error" for its in (one, other)]
        return told or ("" if errors[0] == errors[1] else f"hidden information changes an error: {' or '.join(errors)}")
    if place is not None:
        return "" if is_revealed else _event_told(*pairs[place])
    if _is_named(_shown(one, other), variation):
        return ""
    differs = None if one.end == other.end else _difference(one.end, other.end)
    return f"hidden information changes {differs.path}: {differs.one} or {differs.other}" if differs else ""


def _is_named(names: Iterable[str], variation: Variation) -> bool:
    """Tell whether what is otherwise is among some names, or a part of it."""
    return any(covers(name, its) for name in names for its in variation.names)


def _shown(one: Received, other: Received) -> set[str]:
    """Return the names of what the seat sees in the end, or when it is asked, and could not see before."""
    return (one.hidden | other.hidden) & (one.shown | other.shown)


def _questions(one: Received, other: Received, alike: float) -> str:
    """Return what a seat can tell by what it is asked, and when, while what it saw is `alike`: so many events."""
    for left, right in zip_longest(one.own, other.own):
        if left is None or right is None or _seen(left) != _seen(right):
            known = [(len(its.view.forgotten) + len(its.view.events), its) for its in (left, right) if its is not None]
            place, first = min(known, key=itemgetter(0))
            if place >= alike or len({place for place, _ in known}) < len(known):
                return ""  # something happened in between, which is told as such
            return f"hidden information changes whether {first.view.seat} is asked {first.question.label}"
        if plain(left.question) != plain(right.question):
            differs = _difference(plain(left.question), plain(right.question))
            where = f"{differs.path}: {differs.one} or {differs.other}" if differs else "its options"
            return f"hidden information changes what {left.view.seat} is asked ({left.question.label}), {where}"
    return ""


def _difference(one: bytes, other: bytes) -> Difference | None:
    return first_difference(msgspec.json.decode(one), msgspec.json.decode(other))


def _seen(asked: Asked) -> tuple[bytes, list[bytes]]:
    """Return what a seat saw when it was asked, before the last turn of a procedure too."""
    view = asked.view
    return plain(view.state), [plain(event_record(event)) for event in (*view.forgotten, *view.events)]


def _is_revealed(place: int, one: Received, other: Received, variation: Variation) -> bool:
    """Tell whether the game reveals what is otherwise by the first event that differs, or before it.

    A line of the account does so where it differs itself: one that is the same for both runs tells nothing.
    """
    left, right = (its.events[place] if place < len(its.events) else None for its in (one, other))
    by = {event.by for event in (left, right) if isinstance(event, DrawEvent | MoveEvent)}
    is_by_answer = any(name.startswith(f"{who}:") for name in variation.names for who in by)
    match left, right:
        case DecisionEvent(), DecisionEvent() if (left.label, left.who) == (right.label, right.who):
            return left.answer != right.answer
        case DrawEvent(), DrawEvent() if structs.replace(left, card=right.card) == right:
            return is_by_answer or _is_named((left.card, right.card), variation)
        case MoveEvent(), MoveEvent() if structs.replace(left, cards=right.cards) == right:
            is_same_number = len(left.cards) == len(right.cards)
            return is_same_number and (is_by_answer or _is_named((*left.cards, *right.cards), variation))
    if any(isinstance(event, TurnEvent) for event in one.events[: place + 1]) and _is_named(
        _shown(one, other), variation
    ):
        return True  # an effect of a turn may have revealed it
    own = {(asked.question.label, asked.question.who) for asked in (*one.own, *other.own)}
    skippable = (one.skippable | other.skippable) - own
    return _is_named((*one.revealed.get(place, ()), *other.revealed.get(place, ())), variation) or any(
        isinstance(its, DecisionEvent) and (its.label, its.who) in skippable for its in (left, right)
    )


def _event_told(left: EventRecord | None, right: EventRecord | None) -> str:
    names = [_named(event) for event in (left, right)]
    if names[0] != names[1] or left is None or right is None:
        return f"hidden information changes what happens: {names[0]} or {names[1]}"
    differs = _difference(plain(left), plain(right))
    where = f"{differs.path} is {differs.one} or {differs.other}" if differs else ""
    return f"hidden information changes what {names[0]} says: {where}"


def _named(event: EventRecord | None) -> str:
    """Return an event in words: its kind and label."""
    if event is None:
        return "nothing"
    kind, label = event.__struct_config__.tag, getattr(event, "label", "")
    return f"{'a line of the account' if kind == 'text' else kind} {label}".strip()
