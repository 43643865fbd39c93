"""Standing orders of a seat, which decide for it while its player is away."""

from __future__ import annotations

from contextlib import suppress

from rpgres.engine.dealers import Hand
from rpgres.engine.deciders import orders_diagnostics, read_orders
from rpgres.engine.views import HOST
from rpgres.errors import UsageError, named
from rpgres.journal.commands.pending import refuse_sealed
from rpgres.journal.commands.running import Typed, answer_draft
from rpgres.journal.commands.writing import Done, Place, Transaction, check_seat, write
from rpgres.journal.history import History
from rpgres.journal.records import Draft, Secret, base_name
from rpgres.journal.replay import put_to
from rpgres.lint.paths import Known
from rpgres.rulesets import Rules
from rpgres.toml.diagnostics import Diagnostic
from rpgres.toml.reading import Source


def set_orders(
    place: Place, source: Source | None, *, seat: str | None = HOST, whose: str = "", hand: Hand | None = None
) -> Done:
    """Give standing orders to a seat in place of those it had, or take them away.

    A decision of the seat that waits now is taken by them, where they say something of it.

    Args:
        source: the orders and where they stand; None takes them away.
        seat: who types: the seat itself, or the host.
        whose: the seat whose orders they are; the one that types by default.
        hand: asks a person for results of real dice, where a decision is taken now.

    Raises:
        UsageError: the orders are another seat's, there is no such seat, or there is nothing to take away.
        FileError: they are faulty; all problems at once.
    """

    def work(at: Transaction) -> list[Draft]:
        history = at.history
        owner = owner_of(history, seat, whose)
        if source is None:
            if not history.orders_of(owner):
                raise UsageError(f"{owner} has no standing orders")
            return [at.draft("orders", Secret(to=[owner]))]
        read_orders(source, _known(history, at.rules, owner))
        drafts = [at.draft("orders", Secret(to=[owner], label=base_name(source.path), text=source.text))]
        if put_to(history, owner) is not None:
            with suppress(UsageError):  # where they say nothing of what waits
                refuse_sealed(history, owner)
                drafts.append(answer_draft(at.after(drafts[0]), Typed()))
        return drafts

    return write(place, seat, work, hand=hand)


def orders_warnings(done: Done, source: Source, *, seat: str | None = HOST, whose: str = "") -> list[Diagnostic]:
    """Return what may be wrong with orders that were set, such as the name of an aspect that is not there yet."""
    return orders_diagnostics(source, _known(done.history, done.rules, owner_of(done.history, seat, whose)))


def _known(history: History, rules: Rules, owner: str) -> Known:
    """Return what orders of a seat may speak of: a check must not reveal what is hidden from it."""
    return Known(rules, history.state.seen_by(owner), who=owner, seat=owner)


def owner_of(history: History, seat: str | None, whose: str) -> str:
    """Return whose orders are meant.

    Raises:
        UsageError: there is no such seat, or it is another's.
    """
    owner = whose or seat
    if owner is HOST:
        raise UsageError(f"name the seat whose orders they are: {named('for')} SEAT, or {named('as')} SEAT")
    check_seat(history, owner)
    if seat not in (HOST, owner):
        raise UsageError(f"orders are their owner's alone; only {owner} or the host can see or set those of {owner}")
    return owner
