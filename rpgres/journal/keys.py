"""The key of a seat, with which an answer that was made from the seat's view is authenticated.

A key is derived from the salt of the table's seed, which the host alone knows until the seed is revealed, and then
nothing is asked any more. It stands in the view of its seat and nowhere else.
"""

from __future__ import annotations

import hmac
from typing import TypeVar

import msgspec

from rpgres.journal.forms import AnswerFile
from rpgres.journal.history import History
from rpgres.journal.lines import DIGITS, OpenLine, Posted, SealLine, typed_in

MAC = 32  # hexadecimal digits of a message authentication code: 128 bits

Made = TypeVar("Made", AnswerFile, SealLine)


def key_of(history: History, seat: str) -> str:
    """Return the key of a seat, as hexadecimal digits."""
    salt = bytes.fromhex(history.new.secret.salt)
    return hmac.digest(salt, b"rpgres key of " + seat.encode("utf-8", "surrogatepass"), "sha256").hex()


def with_mac(one: Made, key: str) -> Made:
    """Return an answer or a seal with its message authentication code; as it is without a key, as in an older view."""
    return msgspec.structs.replace(one, mac=_mac_of(one, key)) if key else one


def _mac_of(one: AnswerFile | SealLine, key: str) -> str:
    said = (typed_in(one.choose), typed_in(one.given)) if isinstance(one, AnswerFile) else one.commitment
    text = msgspec.json.encode((one.seat, one.entry[:DIGITS], said), order="sorted")
    return hmac.digest(key.encode(), text, "sha256").hex()[:MAC]


def is_authentic(history: History, one: Posted) -> bool:
    """Tell whether an answer was made with the key of its seat; what opens a seal is proved by its salt."""
    return isinstance(one, OpenLine) or hmac.compare_digest(
        one.mac.encode(), _mac_of(one, key_of(history, one.seat)).encode()
    )
