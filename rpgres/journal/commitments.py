"""Sealed answers: a seat commits itself to an answer before it shows it.

A seal is sha256(salt + `LABEL=ANSWER`), the salt being 32 random bytes, so that a small bid cannot be found by trying.
"""

from __future__ import annotations

import msgspec

from rpgres.engine.views import HOST
from rpgres.errors import UsageError
from rpgres.journal.chain import SALT, commitment
from rpgres.journal.history import History
from rpgres.journal.records import Entry

DIGITS = 64  # of a commitment, and of a salt, in hexadecimal


class SealFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="format", tag="rpgres.seal/1"
):
    """A sealed answer with its salt, a secret of the seat, as `rpgres table seal --out` writes it.

    Attributes:
        label: the label of the question.
        answer: the answer as it was typed.
        salt: 32 random bytes, as hexadecimal digits.
        commitment: sha256(salt + LABEL=ANSWER), as hexadecimal digits.
        seat: who sealed it; empty where that was not known.
        entry: the hash of the entry that it is an answer to; empty where that was not known.
    """

    label: str
    answer: str
    salt: str
    commitment: str
    seat: str = ""
    entry: str = ""


def sealed(label: str, answer: str, *, salt: bytes, seat: str = "", entry: str = "") -> SealFile:
    """Return the seal of an answer.

    Args:
        salt: `SALT` random bytes, never used twice.
        seat, entry: who seals it, and the entry that is answered, as far as they are known.
    """
    digits = seal_of(label, answer, salt=salt)
    return SealFile(label=label, answer=answer, salt=salt.hex(), commitment=digits, seat=seat, entry=entry)


def seal_of(label: str, answer: str, *, salt: bytes) -> str:
    """Return the commitment to an answer as hexadecimal digits."""
    return commitment(salt, f"{label}={answer}".encode()).hex()


def read_hex(text: str, *, what: str) -> str:
    """Return a commitment or a salt as it is kept.

    Raises:
        UsageError: these are not so many hexadecimal digits.
    """
    digits = text.strip().lower()
    if len(digits) != DIGITS or any(digit not in "0123456789abcdef" for digit in digits):
        raise UsageError(f"{what} is {DIGITS} hexadecimal digits ({SALT} bytes), not {text!r}")
    return digits


def seal_by(history: History, seat: str | None) -> Entry | None:
    """Return the seal that a seat, or any for the host, has handed in for what waits; None where there is none."""
    if history.pending is None:
        return None
    run = history.run_of(history.pending).number
    seals = (history.entries[mark.number] for mark in history.stands.seals)
    return next((one for one in seals if one.public.of == run and seat in (HOST, one.public.seat)), None)


def check_opening(seal: Entry, *, label: str, answer: str, salt: str) -> None:
    """Check that an answer is the one that was sealed.

    Args:
        label, answer, salt: what was sealed, as given on opening.
    """
    if seal_of(label, answer, salt=bytes.fromhex(salt)) != seal.public.commitment:
        raise UsageError(
            f"this is not what {seal.public.seat} sealed in entry {seal.number}: sha256(salt + {label}=ANSWER) must "
            "equal its commitment; give the answer exactly as it was sealed"
        )
