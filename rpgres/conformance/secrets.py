"""Whether a ruleset keeps secrets: what a seat cannot see changes nothing that it is asked or told.

Each case is played twice for each seat: once as it is, and once with something else where that seat cannot look
(`variations`), with the same answers as far as they are offered. What the seat gets has to be the same, byte by byte,
up to where the game itself brings the difference to light: somebody else decides otherwise, a card is turned up, or
what was hidden is for the seat to see in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count, zip_longest
from math import inf
from operator import itemgetter

import msgspec
from msgspec import structs

from rpgres.conformance.behaviour import each
from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.subjects import Case, Subject
from rpgres.conformance.variations import AS_IT_IS, Said, Swapping, Variation, hidden_before, hidden_within
from rpgres.conformance.walks import Asked, noting, plain
from rpgres.dice.seeds import Streams
from rpgres.engine.effects import apply_effects
from rpgres.engine.events import Event, Told, seen
from rpgres.engine.players import NO, Policy, Question, Seats, View
from rpgres.engine.prepare import Prepared
from rpgres.engine.records import event_record
from rpgres.engine.run import play, result_of
from rpgres.engine.views import found_seen, hidden_in, seats_of
from rpgres.errors import RpgresError
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, MoveEvent, TurnEvent
from rpgres.model.state import EMPTY, State, slug
from rpgres.text.differences import Difference, first_difference
from rpgres.toml.diagnostics import Diagnostic

GAMES = 2  # in which the seat answers otherwise; in the first, everybody else lets optional moments pass
RUNS, FEWEST = 20, 3  # one variation for so many courses of a case, and how many at least
_ADVICE = (
    "build options, texts and errors from table.state.seen_by(seat); what is hidden comes to light by a card that is "
    "moved, by an audience that an effect changes, or to some seats alone by table.tell(..., audience=)"
)


def check_views(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what tells a seat of something that it cannot see: in questions, events, outcomes and errors."""
    compared, cases = 0, count()

    def of_case(case: Case) -> Iterator[Diagnostic]:
        nonlocal compared
        prepared, number_of_case, budget = case.prepared, next(cases), subject.budget(case) // RUNS
        for seat in sorted(seats_of(prepared.state)):
            before = list(hidden_before(seat, prepared))
            for number in range(GAMES):
                met = meet(prepared, seat, number)
                if met.refused is not None and met.refused.reason == "endless":
                    continue
                within = hidden_within(seat, met.happened, met.drawn, met.asked)
                others = [*before, *within]
                step = (
                    -(-len(others) // (max(budget, FEWEST) - number)) or 1
                )  # other cases of the action take the others
                for other in others[number_of_case % step :: step]:
                    compared += 1
                    message = leak(met, meet(prepared, seat, number, other, said=met.said), may_fail=other.may_fail)
                    if message and not leak(met, meet(prepared, seat, number)):  # or it goes otherwise by itself
                        yield finding(f"{message}, with {other.what}", case.place, _ADVICE)
                        return

    yield from each(subject, of_case)
    if not compared:
        raise NothingToCheck("nothing in the examples and scenes can be hidden")


class Met(msgspec.Struct, frozen=True):
    """What a seat meets in a run, and what it takes to run it again.

    Attributes:
        asked: every question that was asked of anybody.
        own: those among them that were asked of the seat.
        said: what everybody else answered.
        happened: everything that happened.
        drawn: its draws; see `Swapping`.
        events: what the seat sees of what happened.
        end: what the seat reads of the outcome, and of the table after it; empty where there is none.
        revealing: the places in `events` of lines that bring something to light.
        unasked: the decisions, by label and character, that may go without a question: optional, or without a choice.
        refused: why the action was refused; None where it was not.
        is_told: whether the seat is told that: it acts, or is asked.
        hidden: the names of what the seat could not see before the action.
        shown: the names of what it can see after it, or is gone then.
        varied: the names of what is otherwise on the table before the action; empty for what a run drew or was told.
    """

    asked: list[Asked]
    own: list[Asked]
    said: dict[Said, str]
    happened: list[Event]
    drawn: list[tuple[str, tuple[str, ...]]]
    events: list[EventRecord]
    end: bytes
    revealing: set[int]
    unasked: set[tuple[str, str]]
    refused: RpgresError | None
    is_told: bool
    hidden: set[str]
    shown: set[str]
    varied: set[str]


def meet(
    prepared: Prepared,
    seat: str,
    number: int,
    other: Variation = AS_IT_IS,
    *,
    said: Mapping[Said, str] = EMPTY,
) -> Met:
    """Return what a seat meets when an action is played.

    Args:
        prepared: the action.
        seat: whose seat.
        number: which game.
        other: what is otherwise where the seat cannot look.
        said: what everybody else answers, as far as it is offered.
    """
    state = after = other.state or prepared.state
    asked, answers = list[Asked](), dict[Said, str]()
    decide = _deciding(seat, number, {**said, **other.said}, answers)
    dealer, end, refused = Swapping(Streams(f"contract#{number}"), other.swapped), b"{}", None
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
        happened, questions = run.events, [*run.foregone.values(), *(one.question for one in asked)]
    except RpgresError as error:
        refused = error
    known = [event for event in happened if seen(event, seat) is not None]
    own = [one for one in asked if one.view.seat == seat]
    return Met(
        asked=asked,
        own=own,
        said=answers,
        happened=happened,
        drawn=dealer.drawn,
        events=events,
        revealing={place for place, event in enumerate(known) if isinstance(event, Told) and event.reveals},
        unasked={(its.label, its.who) for its in questions if its.optional or its.is_one},
        end=end,
        refused=refused,
        is_told=bool(own) or seat == state.seat_of(prepared.actor),
        hidden=_names(state) - _names(state.seen_by(seat)),
        shown=_names(after.seen_by(seat)) | (_names(state) - _names(after)),
        varied=_otherwise(prepared.state, state),
    )


def _deciding(seat: str, number: int, said: Mapping[Said, str], answers: dict[Said, str]) -> Policy:
    """Return who decides: the seat takes one option after the other, and everybody else what was said, if it can.

    Args:
        seat, number, said: see `meet`.
        answers: takes note of what everybody else answers.
    """
    counts, own = Counter[tuple[str, str]](), count(number)

    def decide(view: View, question: Question) -> str:
        names = [option.name for option in question.options] + [NO] * question.optional
        if view.seat == seat:
            return names[next(own) % len(names)]
        key = question.label, question.who, counts[question.label, question.who]
        counts[key[:2]] += 1
        answer = said.get(key, "")
        if answer not in names:
            answer = names[0] if number or not question.optional else NO
        answers[key] = answer
        return answer

    return decide


_EVENTS = ("events", "answers")  # what is compared event by event


def _names(state: State) -> set[str]:
    """Return the names of what can be hidden on a table."""
    return {slug(name) for name in (*(tag.name for tag in state.tags), *state.tracks, *state.things)}


def _otherwise(one: State, other: State) -> set[str]:
    """Return the names of the tags, tracks and things that are not the same on two tables."""
    tags = set(one.tags) ^ set(other.tags)
    found = {
        name
        for a, b in ((one.tracks, other.tracks), (one.things, other.things))
        for name in {*a, *b}
        if a.get(name) != b.get(name)
    }
    return {slug(name) for name in (*(tag.name for tag in tags), *found)}


def leak(one: Met, other: Met, *, may_fail: bool = False) -> str:
    """Return what tells a seat one run from another; nothing when nothing does, or the game itself brings it to light.

    Args:
        one, other: what the seat meets, with something otherwise where it cannot look.
        may_fail: whether the rule may be unable to make anything of what is otherwise.
    """
    varied = one.varied | other.varied
    is_refused = one.refused is not None or other.refused is not None
    if is_refused and ((may_fail and one.refused is None) or not (one.is_told and other.is_told)):
        return ""
    pairs = list(zip_longest(one.events, other.events)) if plain(one.events) != plain(other.events) else []
    alike = next((place for place, (left, right) in enumerate(pairs) if plain(left) != plain(right)), len(pairs))
    is_lit = alike < len(pairs) and _comes_to_light(alike, one, other)
    told = _questions(one, other, inf if is_refused or alike == len(pairs) else alike + (not is_lit))
    if told or is_refused:
        errors = [its.refused.message if its.refused is not None else "no error" for its in (one, other)]
        return told or ("" if errors[0] == errors[1] else f"hidden information changes an error: {' or '.join(errors)}")
    if alike < len(pairs):
        return "" if is_lit else _event_told(*pairs[alike])
    shown = _shown(one, other)
    if one.revealing or other.revealing or (shown & varied if varied else shown):
        return ""
    differs = None if one.end == other.end else _difference(one.end, other.end)
    return f"hidden information changes {differs.path}: {differs.one} or {differs.other}" if differs else ""


def _shown(one: Met, other: Met) -> set[str]:
    """Return the names of what the seat sees in the end, or when it is asked, and could not see before."""
    seen_when_asked = (_names(asked.view.state) for its in (one, other) for asked in its.own)
    return (one.hidden | other.hidden) & set().union(one.shown, other.shown, *seen_when_asked)


def _questions(one: Met, other: Met, alike: float) -> str:
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


def _comes_to_light(place: int, one: Met, other: Met) -> bool:
    """Tell whether two runs differ as the game has it: somebody decides otherwise, a card or a word reveals it."""
    left, right = (its.events[place] if place < len(its.events) else None for its in (one, other))
    if (
        isinstance(left, DecisionEvent)
        and isinstance(right, DecisionEvent)
        and (left.label, left.who) == (right.label, right.who)
        and left.answer != right.answer
    ):
        return True
    if isinstance(left, DrawEvent) and isinstance(right, DrawEvent):
        return structs.replace(left, card=right.card) == right
    if isinstance(left, MoveEvent) and isinstance(right, MoveEvent):
        return len(left.cards) == len(right.cards) and structs.replace(left, cards=right.cards) == right
    free = one.unasked | other.unasked
    own = {(asked.question.label, asked.question.who) for asked in (*one.own, *other.own)}
    if _shown(one, other) and any(isinstance(event, TurnEvent) for event in one.events[: place + 1]):
        return True  # an effect of a turn may have revealed it
    is_revealed = min((*one.revealing, *other.revealing), default=inf) <= place
    return is_revealed or any(
        isinstance(its, DecisionEvent) and (its.label, its.who) in free - own for its in (left, right)
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
