"""Procedures: chains of short turns, such as a contest or a conflict. What a turn changes holds from the next turn on.

A procedure is registered like an action (`Ruleset.procedure`): its rule returns the first *place*, and its `turn`
function takes each place to the next, or to the outcome. A place is frozen data, and with the state it is everything
that still matters, so odds evaluate equal ones once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import takewhile
from typing import Any

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.effects import apply_effects, named
from rpgres.engine.events import Rolled, Turned
from rpgres.engine.prepare import Prepared, lay_placed
from rpgres.engine.running import EFFECTS, Run
from rpgres.engine.seats import Seats
from rpgres.engine.stops import Broken, NeedsAnswer, in_code
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, in_short
from rpgres.errors import named as as_input
from rpgres.model.events import Sum
from rpgres.model.state import State
from rpgres.rulesets import Effect, Rules
from rpgres.toml.diagnostics import unknown

PLACE = " place"  # in the key of a merge: no label begins with a blank


class Turn(msgspec.Struct, frozen=True, gc=False):
    """A finished turn of a procedure that goes on.

    Attributes:
        place: where the next turn begins: frozen, hashable data.
        outcome: the outcome of this turn, whose effects are applied before the next one; None for none.
        by: who had the turn, for the account.
        action: what was done in it, for the account; empty where there is nothing to tell.
        ratings: who rolled what at which rating, of the acting side and of its opposition, for the account.
    """

    place: Any
    outcome: Outcome | None = None
    by: str = ""
    action: str = ""
    ratings: tuple[tuple[str, str, int], ...] = ()


class Position(msgspec.Struct, frozen=True, gc=False):
    """Everything that still matters between two turns of a scene; equal ones go on alike.

    Attributes:
        at: which step comes next, and what of earlier ones is still spoken of; frozen data.
        place: the place of the procedure that is under way; None where none is.
    """

    state: State
    at: Any
    place: Any = None


def play_through(
    table: Table, procedure: str, first: Any, *, is_enough: Callable[[], bool] | None = None, stops: bool = False
) -> Outcome:
    """Return the outcome of a procedure, after all its turns; their effects are applied to the table's state.

    Args:
        is_enough: tells after each turn whether its outcome is what is asked for; the rest is not played then.
        stops: whether it ends at the first decision that nothing answers, once a turn is over; see `Ruleset.procedure`.
    """
    run, place = table.run, first
    check_place(place)
    while True:
        run.merge((PLACE, run.turn, run.state, place), holds=(EFFECTS,))
        try:
            found = take_turn(table, procedure, place)
        except NeedsAnswer:
            if not stops or not run.turn:
                raise
            return _stopped(table, procedure, place)
        if isinstance(found, Outcome):
            return found
        if is_enough is not None and is_enough():
            return found.outcome or Outcome("")
        place = found.place


def _stopped(table: Table, procedure: str, place: Hashable) -> Outcome:
    """Return the outcome of a procedure that ends in the middle of a turn, which has no effect."""
    stop = table.rules.ruleset.stops.get(procedure)
    if stop is None:
        return Outcome("")
    table.run.next_turn()  # what it rolls is no roll of the turn under way
    try:
        outcome: Outcome = stop(table, place)
    except NeedsAnswer as needs:
        raise Broken(f"the function that stops it asked {needs.question.label!r}; it must ask nothing") from needs
    return outcome


def check_place(place: object, *, is_watched: bool = False) -> None:
    """Make sure that a procedure is at a place which odds can tell from others.

    Args:
        is_watched: whether it may hold parts of a table whose reads are noted: then what it holds is not looked at, as
            a turn that has read more is looked up less often.

    Raises:
        Broken: it is None, or cannot be hashed.
    """
    if place is None:
        raise Broken("it returned no first place; return frozen data, such as a record")
    fault = "" if isinstance(place, Hashable) else f"unhashable type: {type(place).__name__!r}"
    if not fault and not is_watched:
        try:
            hash(place)
        except TypeError as error:
            fault = str(error)
    if fault:
        advice = "a place is a frozen record or dataclass, with tuples in place of lists"
        raise Broken(f"it returned a place that cannot be hashed ({fault}); {advice}")


def take_turn(table: Table, procedure: str, place: Hashable) -> Turn | Outcome:
    """Return the result of one turn of a procedure; effects of all but the last turn are applied to the state.

    Raises:
        Broken: the function returned something else.
    """
    run, rules = table.run, table.rules
    found = rules.ruleset.procedures[procedure](table, place)
    if type(found) is Outcome:
        return found
    if type(found) is not Turn:
        raise Broken(f"its turn returned {in_short(repr(found))}, neither rpgres.Turn nor an outcome")
    check_place(found.place, is_watched=run.asked != EFFECTS)
    _apply(run, rules, found)
    run.next_turn()
    return found


def _apply(run: Run, rules: Rules, turn: Turn) -> None:
    """Apply the effects of a turn, and take note of it."""
    outcome, before = turn.outcome, run.state
    run.dealer.applies()
    if outcome is not None:
        roles = outcome.roles
        effects = tuple([named(effect, roles) for effect in outcome.effects]) if roles else outcome.effects
        if effects:
            run.state = apply_effects(rules, before, Outcome("", effects=effects))
            run.applied += effects
    if not run.dealer.is_logged or not (outcome is not None or turn.action):
        return  # it is never read
    by, action = turn.by, turn.action
    if outcome is None:
        run.add(Turned(run.turn, by, action))
        return
    band, success, margin = outcome.band, outcome.success, outcome.margin
    compared = margin, outcome.total, outcome.opposition
    known = _by_audience(effects, before, run.state)
    public = tuple(known.pop(None, ()))
    sums = tuple(_sums(run, turn.ratings, compared[1:]))
    run.add(Turned(run.turn, by, action, band, success, *compared, public, outcome.texts, sums=sums))
    for audience, secret in known.items():
        run.add(Turned(run.turn, effects=tuple(secret), audience=audience))


def _sums(run: Run, ratings: Iterable[tuple[str, str, int]], totals: Iterable[int | None]) -> Iterator[Sum]:
    """Yield how the sides of a turn came to their totals, by the last dice of each."""
    rolled: dict[str, Rolled] = {}
    for event in takewhile(lambda event: not isinstance(event, Turned), reversed(run.events)):
        if isinstance(event, Rolled) and event.audience is None:
            rolled.setdefault(event.by, event)
    for (who, ability, rating), total in zip(ratings, totals, strict=False):
        if total is not None:
            own = rolled.get(who) if who else None
            faces, value = (own.throw.text or f"{own.value:+d}", own.value) if own is not None else ("", 0)
            yield Sum(who, ability, rating, faces, total - rating - value, total)


def _by_audience(effects: Iterable[Effect], *states: State) -> dict[tuple[str, ...] | None, list[Effect]]:
    """Return effects by audience: one that names something hidden is for those who know of that."""
    from rpgres.engine.views import hidden_in, words_in

    hidden, found = hidden_in(*states), dict[tuple[str, ...] | None, list[Effect]]()
    for effect in effects:
        named_in = [set(hidden[word]) for word in words_in(effect) if word in hidden] if hidden else []
        audience = tuple(sorted(set.intersection(*named_in))) if named_in else None
        found.setdefault(audience, []).append(effect)
    return found


def check_details(names: Iterable[str], known: Collection[str]) -> None:
    """Check that outcomes of procedures have details of these names, such as `exchanges`.

    Raises:
        UsageError: they have no such detail; says which they have.
    """
    for name in names:
        if name not in known:
            message = unknown("detail", name, known, of="the result of the procedure")
            raise UsageError(f"{as_input('by')} {name}: {message}", asked=name)


def play_turn(
    rules: Rules,
    procedure: str,
    state: State,
    place: Hashable,
    *,
    dealer: Dealer,
    players: Seats,
    asked: str = EFFECTS,
) -> tuple[Turn | Outcome, Run]:
    """Return the result of one turn, and its run, with the state after it (without the effects of a last outcome).

    Args:
        asked: what the run is for; see `Run.asked`.

    Raises:
        NeedsAnswer: nothing answers a decision; the exception carries the run as `run`.
        RuleError: the ruleset's code failed.
    """
    run = Run(rules, state, dealer, players, asked)
    with in_code(run, f"the procedure {rules.id} {procedure}"):
        found = take_turn(Table(run, rules), procedure, place)
    return found, run


def begin_procedure(prepared: Prepared, *, dealer: Dealer, players: Seats) -> tuple[Hashable, State]:
    """Return the first place of a procedure, and the state as its beginning and the cards of its inputs leave it.

    Raises:
        NeedsAnswer, RuleError: as for `play_turn`.
    """
    rules = prepared.rules
    run = Run(rules, prepared.state, dealer, players, EFFECTS)
    with in_code(run, f"the procedure {rules.id} {prepared.action}"):
        if prepared.placed:
            lay_placed(run, prepared.placed)
        actor = prepared.state.characters[prepared.actor]
        place = rules.ruleset.actions[prepared.action](Table(run, rules), actor, **prepared.arguments)
        check_place(place)
    return place, run.state
