"""What a seat may see of a state, an event, a result or a pending decision; the same for scenes and persistent tables.

What a seat may know of the state it sees; an event with an audience is for that audience; an answer is its event's; an
effect that names something hidden is left out; what was typed is for everybody unless the rules say otherwise
(`seen-by`); of a decision that waits, its owner sees everything, the game master whose it is, and others only that
there is one. The host sees what any seat may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rpgres.engine.records import Pending, QuestionRecord, Result, answers_of
from rpgres.model.events import DrawEvent, EventRecord, MoveEvent, TurnEvent
from rpgres.model.state import EMPTY, GM, State, is_for, slug
from rpgres.parameters.kinds import kind_of
from rpgres.rulesets import CLAIM, REQUEST, Parameter, Rules, is_public

HOST: Final = None  # the view of the owner of the file: what any seat may see; people type `HOST_NAME`
ANOTHER_SEAT = "another seat"  # the name of the asked seat, for those who may not know it
NO_PILES = ("characters.", "counters.", "tags.")  # how the places begin that inputs lay something in, beside piles


def seats_of(state: State) -> list[str]:
    """Return the seats of a table, the game master's first."""
    return list(dict.fromkeys([GM, *(state.seat_of(name) for name in state.characters)]))


# ---------------------------------------------------------------------------------------------------------------------
# The state


def hidden_in(*states: State) -> dict[str, list[str]]:
    """Return what is hidden in some states, with the seats that may know of it in one of them, by slug.

    What everybody knows of in one of the states is not hidden.
    """
    hidden: dict[str, set[str]] = {}
    for state in states:
        for tag in state.tags:
            if tag.audience is not None:
                hidden.setdefault(tag.slug, set()).update(tag.audience)
        for name, seats in state.audiences.items():
            if name in state.tracks or name in state.things:
                hidden.setdefault(slug(name), set()).update(seats)
    if not hidden:
        return {}
    public = {tag.slug for state in states for tag in state.tags if tag.audience is None}
    named = {name for state in states for name in (*state.tracks, *state.things) if name not in state.audiences}
    public |= {slug(name) for name in named}
    return {name: sorted(seats) for name, seats in sorted(hidden.items()) if name not in public}


# ---------------------------------------------------------------------------------------------------------------------
# Results and pending decisions


def event_seen(event: EventRecord, seat: str | None) -> EventRecord | None:
    """Return what a seat, or the host, may know of an event; None when that is nothing."""
    if is_for(event.audience, seat):
        return event
    return event.others if isinstance(event, DrawEvent | MoveEvent) else None


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
        hidden: the seats that may know of what is hidden, by slug.
        inputs: what was typed, as far as it may be known.
    """
    events = [seen for event in found.events if (seen := event_seen(event, seat)) is not None]
    names = _unspoken(found, seat, state, hidden) - set(words_in(inputs))
    common: dict[str, Any] = {"events": events, "answers": list(answers_of(events)), "inputs": dict(inputs)}
    if isinstance(found, Pending):
        question, *together = _questions_seen(found, seat, state)
        return msgspec.structs.replace(found, **common, question=question, together=together, resume="")
    common["events"] = [
        msgspec.structs.replace(event, effects=[one for one in event.effects if not mentions(one, names)])
        if isinstance(event, TurnEvent)
        else event
        for event in events
    ]
    return msgspec.structs.replace(
        found,
        **common,
        effects=[effect for effect in found.effects if not mentions(effect, names)],
        details={key: value for key, value in found.details.items() if not mentions(value, names)},
    )


def _unspoken(found: Result | Pending, seat: str | None, state: State, hidden: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the hidden names that a seat may not meet in the result of an action.

    A name that was typed for it without knowing that something hidden has that name is only a word, and
    stays: were it left out, that would tell.
    """
    if seat is HOST:
        return set()
    actor = state.seat_of(found.actor or GM)
    typed = set(words_in(found.inputs))
    return {name for name, seats in hidden.items() if seat not in seats and not (name in typed and actor not in seats)}


def words_in(value: Any) -> Iterator[str]:
    """Yield the names, as slugs, that something typed, or an effect, is made of."""
    if isinstance(value, str):
        yield from {slug(text) for text in (value, *value.split("=")) if text}
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from words_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from words_in(inner)


def _questions_seen(found: Pending, seat: str | None, state: State) -> list[QuestionRecord]:
    """Return what is asked as far as a seat may know it, its own questions first.

    A seat that sees a claim knows that the game master is asked whether it counts; all seats see a request.
    """
    asked = [found.question, *found.together]
    own = [one for one in asked if seat in (HOST, state.seat_of(one.who))]
    first = found.question
    is_claim_seen = first.label == CLAIM and found.events and event_seen(found.events[-1], seat) is not None
    if not own and (is_claim_seen or first.label == REQUEST):
        return [QuestionRecord(label="", who=GM, text=first.text, options=[], words=first.words)]
    others = [one.who if seat == GM else ANOTHER_SEAT for one in asked if one not in own]
    return [*own, *(QuestionRecord(label="", who=who, text="", options=[]) for who in others)]


def mentions(value: Any, names: set[str]) -> bool:
    """Tell whether something names one of the things that are hidden."""
    if not names:
        return False
    if isinstance(value, str):
        return slug(value) in names if value else False
    if isinstance(value, Mapping):
        return any(mentions(inner, names) for pair in value.items() for inner in pair)
    return isinstance(value, list | tuple) and any(mentions(inner, names) for inner in value)


# ---------------------------------------------------------------------------------------------------------------------
# What was typed


def private_in(rules: Rules, action: str, inputs: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return which inputs are not for everybody, by the names that were typed: all of one, or some fields of a form."""
    found: dict[str, list[str]] = {}
    for key, parameter, _ in typed_inputs(rules, action, inputs):
        fields = [name for name, field in parameter.fields.items() if not is_public(field)]
        if fields or not is_public(parameter):
            found[key] = fields if is_public(parameter) else []
    return found


def without_fields(value: Any, fields: Sequence[str]) -> Any:
    """Return forms as typed without some of their fields.

    >>> without_fields(["bero:skill=3,hand=H9/S2"], ["hand"])
    ['bero:skill=3']
    """
    if isinstance(value, list | tuple):
        return [without_fields(one, fields) for one in value]
    if isinstance(value, Mapping):
        return {key: one for key, one in value.items() if key.replace("_", "-") not in fields}
    name, colon, _ = str(value).partition("=")[0].rpartition(":")
    parts = str(value)[len(name) + 1 :].split(",") if colon else []
    kept = [part for part in parts if part.partition("=")[0].strip().replace("_", "-") not in fields]
    return f"{name}:{','.join(kept)}" if kept else name if colon else value


def laid_by(rules: Rules, action: str, inputs: Mapping[str, Any], *, actor: str) -> dict[str, str]:
    """Return what the inputs of an action put on the table before it: the places, by the names that were typed.

    These are piles (`hand:mara`), counters and free uses; nothing of them comes from the seed.
    """
    return {key: ", ".join(places) for key, _, places in laying(rules, action, inputs, actor)}


def laying(
    rules: Rules, action: str, inputs: Mapping[str, Any], actor: str
) -> Iterator[tuple[str, Parameter, list[str]]]:
    """Yield the inputs that put something on the table: as typed, what they are, and the places."""
    for key, parameter, value in typed_inputs(rules, action, inputs):
        if places := kind_of(parameter).laid(rules, parameter, value, actor):
            yield key, parameter, places


def typed_inputs(rules: Rules, action: str, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Parameter, Any]]:
    """Yield the inputs of an action: as typed, what they are, and the value."""
    parameters = rules.parameters(action).items()
    named = {alias: one for name, one in parameters for alias in (name, *one.aliases)}
    for key, value in inputs.items():
        parameter = named.get(key.replace("_", "-"))
        if parameter is not None and value is not None:
            yield key, parameter, value


def input_seen(value: Any, place: str | None, fields: Sequence[str] | None, *, state: State, seat: str | None) -> Any:
    """Return what a seat that did not type it may read of something typed; None for nothing.

    Args:
        place: where it put something on the table, as `laid_by` has it; None for nowhere.
        fields: the fields that are not for everybody, as `private_in` has them; none where all of it is not, None where
            all of it is public.
        state: the table, for who may see that place.
    """
    if fields is None:
        return value
    if fields:
        return without_fields(value, fields)
    return value if place is not None and may_see(state, place, seat) else None


def may_see(state: State, place: str | None, seat: str | None) -> bool:
    """Tell whether a seat may see the contents of a place, or of several, as far as those are piles.

    Of a pile that is not there any more, the owner is unknown.
    """
    for name in (place or "").split(", "):
        pile = state.piles.get(name)
        if pile is None and not name.startswith(NO_PILES):
            return False
        if pile is not None and pile.audience is not None and seat not in pile.audience:
            return False
    return True
