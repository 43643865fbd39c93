"""Sealed answers: a commitment is handed in, and opened later."""

from __future__ import annotations

import msgspec

from rpgres.engine.dealers import Hand
from rpgres.engine.decisions import accepted
from rpgres.engine.players import Question, View
from rpgres.engine.stops import NeedsAnswer
from rpgres.errors import UsageError, called
from rpgres.journal.commands.pending import require_own, require_pending
from rpgres.journal.commands.running import Typed, answer_draft, run_on
from rpgres.journal.commands.writing import Done, Place, Transaction, write
from rpgres.journal.commitments import check_opening, read_hex, seal_by
from rpgres.journal.history import History
from rpgres.journal.records import Draft, Secret
from rpgres.rulesets import RESERVED, Rules


def seal(place: Place, commitment: str, *, seat: str, answer: str | None = None, label: str = "", at: str = "") -> Done:
    """Hand in the commitment to an answer, which is given later, by opening it.

    Args:
        commitment: sha256(salt + LABEL=ANSWER), as 64 hexadecimal digits.
        seat: whose answer. Everybody sees that it sealed one.
        answer: the answer, if it is known here: it is tried, and not kept.
        at: the hash of the entry that is answered, or its first digits, when it was sealed elsewhere.

    Raises:
        UsageError: nothing is asked of the seat, it has sealed an answer already, or the answer cannot be given.
    """
    digits = read_hex(commitment, what="a commitment")

    def work(now: Transaction) -> list[Draft]:
        history = now.history
        asked = require_own(history, seat, at=at)
        if asked.label in RESERVED:
            example = called("table answer", choose=f"{asked.label}={asked.options[0].name}")
            raise UsageError(f"a {asked.label} is answered in the open: `{example}`")
        before = seal_by(history, seat)
        if before is not None:
            raise UsageError(f"{seat} already sealed an answer in entry {before.number}; open it instead")
        if answer is not None and label != asked.label:
            raise UsageError(f"{seat} is asked {asked.label!r}, not {label!r}")
        if answer is not None:
            _check_offered(now.rules, history, seat, answer)
        run = history.run_of(require_pending(history)).number
        return [now.draft("seal", Secret(), of=run, seat=seat, commitment=digits)]

    return write(place, seat, work)


def open_seal(place: Place, *, seat: str, label: str, text: str, salt: str, hand: Hand | None = None) -> Done:
    """Answer with what was sealed, and go on with the action.

    Args:
        label, text, salt: what was sealed.

    Raises:
        UsageError: nothing was sealed, this is something else, or it is no answer to what is asked.
    """
    salt = read_hex(salt, what="a salt")

    def work(at: Transaction) -> list[Draft]:
        require_own(at.history, seat)
        seal = seal_by(at.history, seat)
        if seal is None:
            raise UsageError(f"{seat} has no sealed answer for this question; use `{called('table answer')}`")
        check_opening(seal, label=label, answer=text, salt=salt)
        draft = answer_draft(at, Typed(choose={label: [text]}))
        if draft.public.attempt:
            return [draft]
        secret = msgspec.structs.replace(draft.secret, salt=salt, label=label, text=text)
        public = msgspec.structs.replace(draft.public, opens=seal.number)
        return [msgspec.structs.replace(draft, public=public, secret=secret)]

    return write(place, seat, work, hand=hand)


def _check_offered(rules: Rules, history: History, seat: str, choice: str) -> None:
    """Check that an answer is one that a seat is offered; nothing after the decision is run."""

    def once(view: View, question: Question) -> str | None:
        if view.seat == seat:
            accepted(question, choice)
        raise NeedsAnswer(question)

    run_on(rules, history, once)
