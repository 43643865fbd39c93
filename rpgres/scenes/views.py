"""The view that a seat has of the result of a scene: the rules of `rpgres.engine.views`, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from rpgres.engine.records import Pending, Result
from rpgres.engine.views import ANOTHER_SEAT, found_seen, hidden_in, input_seen, laid_by, mentions, private_in, seats_of
from rpgres.errors import FileError, UsageError
from rpgres.model.state import EVERYBODY, GM, HOST_NAME, State
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules, unknown


class CannotSet(FileError):
    """A `set` step fails; the message may name something hidden.

    Attributes:
        place: the step with its file and line, which is all that a player may know.
    """

    place: str


class Unanswered(FileError):
    """A step waits for a decision without an answer; the message names the options.

    Attributes:
        pending: the decision, with what happened in the step so far.
        place: the step with its file and line.
        seat: the seat that decides; empty where it is unknown.
        is_interrupted: whether the person who was asked stopped the scene there.
    """

    pending: Pending
    place: str
    seat: str
    is_interrupted = False


@contextmanager
def told_to(seat: str | None) -> Iterator[None]:
    """Remove from errors what a seat may not know: the reason why a change fails may depend on hidden things."""
    try:
        yield
    except CannotSet as error:
        if seat in (None, GM, HOST_NAME):
            raise
        raise FileError(f"{error.place}: this change cannot be made; the game master can see why") from None
    except Unanswered as error:
        if seat in (None, HOST_NAME, error.seat):
            raise
        whose = error.pending.question.who if seat == GM else ANOTHER_SEAT
        told = Unanswered(
            f"{error.place} waits for a decision of {whose}; answer it with `choose`, or let a policy decide"
        )
        told.pending, told.place, told.seat = error.pending, error.place, error.seat
        raise told from None


def require_seat(seat: str, *states: State) -> None:
    """Check that a scene has a seat; `everybody` is the public view, `host` the full one.

    Args:
        states: the table at the beginning of the scene and after its steps, since characters may join.
    """
    seats = list(dict.fromkeys(one for state in states for one in seats_of(state)))
    if seat not in (*seats, EVERYBODY, HOST_NAME):
        raise UsageError(unknown("seat", seat, seats, of="the scene"), seat=seat, seats=seats)


def result_seen(rules: Rules, result: Result, seat: str, *, before: State, after: State) -> Result:
    """Return the result of a step as far as a seat may know it, without its seed.

    Inputs count as typed by the actor's seat, and others see the public ones. A hidden thing that the actor names is
    left out for seats that do not know of it. The note of a step, and answers that no question took, come from the
    author, who knows everything, so only the game master sees them.

    Args:
        result: with nothing left out.
        before, after: the table before the step and after it.
    """
    hidden = hidden_in(before, after)
    came = before if result.actor in before.characters else after  # an actor may join by the step itself
    actor = came.seat_of(result.actor or GM)
    inputs = dict(result.inputs)
    if result.action is not None and seat != actor:
        laid = laid_by(rules, result.action, inputs, actor=result.actor or GM)
        private = private_in(rules, result.action, inputs)
        shown = (
            (key, input_seen(value, laid.get(key), private.get(key), state=after, seat=seat))
            for key, value in inputs.items()
        )
        inputs = {key: value for key, value in shown if value is not None}
    secret = {name for name, seats in hidden.items() if seat not in seats and actor in seats}
    inputs = {key: value for key, value in inputs.items() if not mentions(value, secret)}
    seen = found_seen(result, seat, state=after, hidden=hidden, inputs=inputs)
    assert isinstance(seen, Result)
    note, unused = (result.note, result.unused) if seat == GM else (None, [])
    return msgspec.structs.replace(seen, seed=None, unused=unused, note=note)


def changes_seen(
    changes: Mapping[str, bool | int | str], seat: str, *, before: State, after: State
) -> dict[str, bool | int | str]:
    """Return the changes of a `set` step that a seat may know.

    Args:
        changes: the new values, by path.
        before, after: the table before the step and after it.
    """
    hidden = {name for name, seats in hidden_in(before, after).items() if seat not in seats}
    return {path: value for path, value in changes.items() if not mentions([*typed_path(path).keys, value], hidden)}
