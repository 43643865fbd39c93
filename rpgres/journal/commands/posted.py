"""Answers of seats that play by post, checked against the journal before any is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rpgres.engine.dealers import Hand
from rpgres.errors import UsageError
from rpgres.journal import store
from rpgres.journal.commands.acting import answer
from rpgres.journal.commands.pending import decided_by, refuse_sealed, require_own
from rpgres.journal.commands.running import Typed, answer_draft
from rpgres.journal.commands.sealing import open_seal, seal
from rpgres.journal.commands.writing import Done, Place, Transaction, check_seat, rules_of
from rpgres.journal.commitments import seal_by
from rpgres.journal.forms import AnswerFile
from rpgres.journal.history import History
from rpgres.journal.lines import Posted, SealLine, typed_in
from rpgres.journal.records import RUNNING, Entry, found_in


def sort_posted(place: Place, posted: Iterable[Posted]) -> tuple[list[Posted], list[Posted]]:
    """Return the new answers among those that were sent, and those taken before: a reply quotes older mails.

    Args:
        posted: what was sent, in order; what stands there twice is to be taken once.

    Raises:
        UsageError: an answer would be refused, or a seat gives two to the same question. So nothing is half taken.
    """
    history = store.read(place.path)
    distinct: list[Posted] = []
    for one in posted:
        if one not in distinct:
            distinct.append(one)
    known = [one for one in distinct if _is_taken(history, one)]
    fresh = [one for one in distinct if one not in known]
    answers = [one for one in fresh if isinstance(one, AnswerFile)]
    if answers:
        _check_answers(Transaction(place, history, rules_of(history, folders=place.folders)), answers)
    return fresh, known


def take(place: Place, one: Posted, *, accepted: str, is_host: bool, hand: Hand | None = None) -> Done:
    """Write what a seat sent: its answer, a sealed one, or what opens that.

    Args:
        accepted: of an answer: what was shown of it and taken.
        is_host: whether the host takes it, and so confirms the results of real dice in it.

    Raises:
        UsageError: the table refuses it.
    """
    if isinstance(one, SealLine):
        return seal(place, one.commitment, seat=one.seat, at=one.entry)
    if isinstance(one, AnswerFile):
        about: dict[str, Any] = {"at": one.entry, "accepted": accepted, "is_host": is_host, "hand": hand}
        return answer(place, seat=one.seat, given=typed_in(one.given), choose=typed_in(one.choose), **about)
    return open_seal(place, seat=one.seat, label=one.label, text=one.answer, salt=one.salt, hand=hand)


def _check_answers(at: Transaction, answers: Sequence[AnswerFile]) -> None:
    """Try each answer on the table as it is: none can have seen what the others answer."""
    seats = [one.seat for one in answers]
    for one in answers:
        check_seat(at.history, one.seat)
        require_own(at.history, one.seat, at=one.entry)
        refuse_sealed(at.history, one.seat)
        if seats.count(one.seat) > 1:
            raise UsageError(f"there are two different answers of {one.seat} to this question; keep one of them")
        answer_draft(at.of(one.seat), Typed(typed_in(one.given), typed_in(one.choose)))


def _is_taken(history: History, one: Posted) -> bool:
    """Tell whether the journal has this answer, or another one to the same question."""
    if isinstance(one, AnswerFile):
        return _is_answered(history, one.seat, at=one.entry)
    if isinstance(one, SealLine):
        before = seal_by(history, one.seat)
        is_sealed = before is not None and before.public.commitment == one.commitment
        return is_sealed or _is_answered(history, one.seat, at=one.entry)
    return any(entry.kind == "answer" and entry.secret.salt == one.salt for entry in history.standing)


def _is_answered(history: History, seat: str, *, at: str) -> bool:
    """Tell whether a seat has decided since what an entry asked it; what was undone counts for nothing."""
    runs = [entry for entry in history.standing if entry.kind in RUNNING and not entry.public.attempt]
    asking = next((entry for entry in runs if at and entry.hash.startswith(at)), None)
    if asking is None or asking.secret.waits is None:
        return False
    begun = history.run_of(asking).number
    latest = [entry for entry in runs if history.run_of(entry).number == begun][-1]
    return _decisions(history, latest, seat) > _decisions(history, asking, seat)


def _decisions(history: History, entry: Entry, seat: str) -> int:
    found = found_in(entry.secret)
    return len(decided_by(history.state, found, seat)) if found is not None else 0
