"""The hash chain of a journal: bytes, digests, commitments and links.

All of it is SHA-256 over the bytes of the parts of an entry, so that anybody can check it with other tools (`store`
tells how they are packed in the file):

==========  ========================================================================================
commitment  sha256(salt + data), the salt being 32 random bytes
link        sha256(hash before + number in 8 bytes, most significant first + commitment + public part)
==========  ========================================================================================

The hash before entry 0 is 32 zero bytes. Everything in front of the public part has a fixed length, so that no two
entries can be the same bytes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

SALT = 32  # bytes of a salt: too many to be tried out
START = bytes(32)  # the hash before the first entry


def written(value: Any) -> bytes:
    """Return plain data as JSON in UTF-8."""
    return msgspec.json.encode(value)


def canonical(value: Any) -> bytes:
    """Return canonical JSON: equal data give equal bytes, whatever the order of keys."""
    return msgspec.json.encode(value, order="sorted")


def digest(data: bytes) -> str:
    """Return the hash of bytes as 64 hexadecimal digits."""
    return sha256(data).hexdigest()


def commitment(salt: bytes, data: bytes) -> bytes:
    """Return a commitment to data, which reveals nothing as long as the salt is secret.

    Args:
        salt: `SALT` random bytes, never used twice.
    """
    return sha256(salt + data).digest()


def link(before: bytes, *, number: int, public: bytes, commitment: bytes) -> bytes:
    """Return the hash of an entry, which depends on every entry before it.

    Args:
        before: the hash of the entry before; `START` for the first.
        public: what everybody may see of it, as bytes.
    """
    return sha256(before + number.to_bytes(8, "big") + commitment + public).digest()
