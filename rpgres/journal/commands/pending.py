"""The decision that waits: who is asked, what can be answered, and what cannot be done meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from rpgres.engine.players import NO
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, QuestionRecord, Result
from rpgres.engine.views import HOST, private_in
from rpgres.errors import UsageError, called, named
from rpgres.journal.commitments import seal_by
from rpgres.journal.history import History
from rpgres.journal.records import RUNNING, Entry, waits_in
from rpgres.journal.replay import asked_of, is_mid_procedure, put_to, questions_of, run_of
from rpgres.model.events import DecisionEvent
from rpgres.model.state import GM, State
from rpgres.rulesets import Rules

UNKNOWN = "that depends on what was typed for the action, and not everybody may know it"
MOST_LISTED = 6  # options that fit into a message


def require_pending(history: History) -> Entry:
    """Return the entry that waits for a decision."""
    pending = history.pending
    if pending is None:
        raise UsageError(f"no decision is pending; `{called('table show')}` shows the table")
    return pending


def prepared_for(rules: Rules, history: History, *, seat: str) -> Prepared:
    """Return the action that waits, at the table where it began.

    Raises:
        UsageError: nothing waits, or no action does; or something was typed for it that a seat may not know.
    """
    asked = run_of(history, require_pending(history))
    if asked.kind != "act":
        raise UsageError(f"{asked.name} is no action")
    if seat not in (GM, asked.by) and private_in(rules, asked.name, asked.inputs):
        raise UsageError(UNKNOWN)
    return prepare(rules, asked.name, asked.inputs, state=history.state, actor=asked.actor, sheets=asked.sheets)


def require_own(history: History, seat: str | None, *, at: str = "") -> QuestionRecord:
    """Return the decision that a seat has to take.

    Args:
        at: the hash of the entry that is answered, or its first digits, when the answer was given elsewhere.

    Raises:
        UsageError: nothing waits, or not what was answered elsewhere; or it is another seat's: the message says no
            more.
    """
    pending = require_pending(history)
    if at and not _asks_still(history, pending, seat, at=at):
        raise UsageError(
            f"this answer is for a question that is no longer pending; run `{called('table show')}` or use a new view"
        )
    asked = put_to(history, seat)
    if asked is None:
        raise UsageError(f"no decision of {seat} is pending; another seat is asked")
    return asked


def refuse_sealed(history: History, seat: str | None) -> None:
    """Refuse an answer of a seat that has sealed one; the host may answer for any seat."""
    seal = seal_by(history, seat)
    if seal is not None:
        how = "" if seat is not HOST else f"; the others answer with {named('as')}"
        sealed = f"{seal.public.seat} sealed an answer in entry {seal.number}"
        raise UsageError(f"{sealed}: `{called('table open')}` opens it{how}")


def require_mine(history: History, entries: Iterable[Entry], seat: str | None, *, what: str = "undo") -> None:
    """Check that a seat did some entries itself; the host and the game master may take back everybody's."""
    if seat in (HOST, GM):
        return
    for entry in entries:
        public = entry.public
        if entry.kind == "seal":
            raise UsageError(
                f"entry {entry.number} is sealed, and only the game master can {what} it: {named('as')} {GM}"
            )
        owners = {entry.secret.by, *_asked_before(history, entry)}
        if public.actor:
            owners.add(history.state.seat_of(public.actor))
        if seat not in owners:
            raise UsageError(
                f"entry {entry.number} was not made by {seat}, so {seat} cannot {what} it; the game master can, "
                f"with {named('as')} {GM}"
            )


def _asked_before(history: History, entry: Entry) -> set[str]:
    """Return the seats whose decisions an answer took; none for what is no answer."""
    asking = entry.secret.stands.pending
    if entry.kind != "answer" or entry.public.attempt or entry.public.stops or asking is None:
        return set()
    before, then = (waits_in(one.secret) for one in (history.entries[asking.number], entry))
    asked, left = ([(one.label, one.who) for one in (questions_of(waits) if waits else ())] for waits in (before, then))
    return {history.state.seat_of(who) for label, who in asked if (label, who) not in left}


def refuse_while_pending(history: History, what: str, seat: str | None) -> None:
    pending = history.pending
    if pending is None:
        return
    begun = history.run_of(pending)
    how = what_instead(history, seat)
    with suppress(UsageError):
        require_mine(history, history.undone_from(begun.number), seat)
        how += f", or undo the action with `{called('table undo', begun.number)}`"
    if seat in (HOST, GM) and begun.public.action and is_mid_procedure(history):
        end = called("table end", begun.public.action)
        how += f"; or end it with `{end}`, which keeps what its finished turns did, and {what} then"
    raise UsageError(f"cannot {what} now: entry {begun.number} ({thing_of(begun)}) waits for a decision, {how}")


def what_instead(history: History, seat: str | None) -> str:
    """Return in words who is asked now, as far as a seat may know it, and what the seat can do."""
    question = put_to(history, seat)
    if question is None:
        return "another seat is asked; wait for its answer"
    answers = called("table answer", choose=f"{question.label}={options_of(question)}")
    return f"{question.who} is asked {question.label!r}; answer it with `{answers}`"


def procedure_in(rules: Rules, history: History) -> Entry | None:
    """Return the entry that began the procedure that waits for a decision; None where none does."""
    begun = history.run_of(history.pending) if history.pending is not None else None
    return begun if begun is not None and begun.public.action in rules.ruleset.procedures else None


def refuse_when_revealed(history: History) -> None:
    if history.revealed is not None:
        raise UsageError(
            "the seed of this table was revealed, so nothing can be rolled fairly any more; "
            f"`{called('table export')}` writes the sheets as they are now, for a new table"
        )


def _asks_still(history: History, pending: Entry, seat: str | None, *, at: str) -> bool:
    """Tell whether an entry asks a seat what the pending one asks it, though others may have answered meanwhile."""
    if pending.hash.startswith(at):  # of a line in a mail, its first digits
        return True
    since = history.standing_from(history.run_of(pending).number)
    earlier = next((entry for entry in since if entry.hash.startswith(at) and entry.kind in RUNNING), None)
    if earlier is None or history.run_of(earlier) != history.run_of(pending):
        return False
    state, then, now = history.state, waits_in(earlier.secret), waits_in(pending.secret)
    if then is None or now is None:
        return False
    asked, asks = ((asked_of(state, one, seat), decided_by(state, one, seat)) for one in (then, now))
    return asked == asks


def decided_by(state: State, found: Pending | Result, seat: str | None) -> list[str]:
    """Return what a seat, or anybody for the host, has decided so far in an action, in order."""
    return [
        event.answer
        for event in found.events
        if isinstance(event, DecisionEvent) and seat in (HOST, state.seat_of(event.who))
    ]


class Left(UsageError):
    """A person left a decision undecided without answering anything."""


def undecided(left: QuestionRecord) -> UsageError:
    return UsageError(f"this leaves {left.label!r} undecided: {named('choose')} {left.label}={options_of(left)}")


def options_of(asked: QuestionRecord) -> str:
    names = [option.name for option in asked.options]
    names = [*names, *([asked.form] if asked.form else []), *([NO] if asked.optional else [])]
    return "|".join(names) if len(names) <= MOST_LISTED else "..."


def thing_of(begun: Entry) -> str:
    return f"{begun.kind} of the {begun.public.period}" if begun.public.period else begun.name
