"""Entries as bytes in the file of a table: packed, unpacked, and read.

A file may come from anybody, so that nothing is unpacked that is longer than anything of ours.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from rpgres.errors import FileError
from rpgres.journal.chain import commitment, digest, link, written
from rpgres.journal.changes import applied
from rpgres.journal.records import Entry, Public, Secret, check_entry
from rpgres.model.serialization import read_state
from rpgres.model.state import State

LONGEST = 1 << 23  # bytes of one entry, or of one table; an action of as many questions as there may be takes 2 million
WINDOW = 1 << 15  # bytes of a preset dictionary
WORDS = 1 << 14  # bytes of earlier entries in it

# What may come of bytes that were not written by us, or not as they are now.
UNREADABLE = (
    msgspec.MsgspecError,
    FileError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    RecursionError,
    AttributeError,
    zlib.error,
)


class Base(msgspec.Struct, frozen=True, dict=True):
    """A whole table, and what the entries after it are packed with."""

    number: int
    state: bytes
    words: bytes

    @property
    def preset(self) -> bytes:
        """The preset dictionary."""
        return (self.state + self.words)[-WINDOW:]

    @cached_property
    def table(self) -> Any:
        """The table as plain data, not to be changed.

        Raises:
            msgspec.MsgspecError, RecursionError: it is none.
        """
        return msgspec.json.decode(self.state)


class Row(msgspec.Struct, frozen=True):
    """An entry as it stands in the file, unpacked, byte by byte; `fault` is why it cannot be unpacked."""

    number: int
    public: bytes
    secret: bytes
    salt: bytes
    hash: bytes
    base: Base | None
    change: bytes
    fault: str = ""

    @property
    def body(self) -> bytes:
        """Both parts as they are packed: the length of the public one first."""
        return len(self.public).to_bytes(4, "big") + self.public + self.secret

    @property
    def commitment(self) -> bytes:
        """What everybody may see of its secret part."""
        return commitment(self.salt, self.secret)

    def state(self) -> bytes:
        """Return the table after it.

        Raises:
            ValueError, zlib.error, TypeError, KeyError, IndexError: the file does not say.
        """
        if self.base is None:
            raise ValueError("the base state of its delta is missing")
        change = msgspec.json.decode(unpacked(self.change, self.base.preset))
        return written(applied(self.base.table, change)) if change else self.base.state


def packed(data: bytes, preset: bytes = b"") -> bytes:
    """Return data deflated, with a preset dictionary."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, *([preset] if preset else []))
    return packer.compress(data) + packer.flush()


def unpacked(data: bytes, preset: bytes = b"") -> bytes:
    """Return data that were deflated.

    Raises:
        ValueError, zlib.error: they were not, or are longer than anything of ours.
    """
    unpacker = zlib.decompressobj(-15, preset) if preset else zlib.decompressobj(-15)
    found = unpacker.decompress(data, LONGEST)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("it is truncated or too long")
    return found


def words_of(latest: Iterable[bytes]) -> bytes:
    """Return the latest entries that fit into a preset dictionary beside a whole table.

    Args:
        latest: the bodies of the entries before it, unpacked, the last one first.
    """
    words = b""
    for body in latest:
        if len(body) + len(words) > WORDS:
            break
        words = body + words
    return words


def row_of(number: int, base: Base | None, body: bytes, change: bytes, salt: bytes, hash_: bytes) -> Row:
    """Return an entry from its columns, unpacked as far as it can be."""
    fault, raw = "its compression dictionary is missing", b""
    if base is not None:
        try:
            fault, raw = "", unpacked(body, base.preset)
        except UNREADABLE:
            fault = "it is corrupt and cannot be decompressed"
    end = 4 + int.from_bytes(raw[:4], "big")
    return Row(number, raw[4:end], raw[end:], salt, hash_, base, change, fault)


def read_row(row: Row, before: bytes) -> tuple[Entry | None, str]:
    """Return an entry, and what is wrong with it as it stands in the file: empty when it is as it was written.

    Args:
        before: the hash of the entry before it.
    """
    if row.fault:
        return None, row.fault
    if row.number < 0 or link(before, number=row.number, public=row.public, commitment=row.commitment) != row.hash:
        return None, "its hash does not match its content and the previous entry"
    try:
        return entry_of(row), ""
    except UNREADABLE:
        return None, "it cannot be read"


def entry_of(row: Row) -> Entry:
    """Return an entry from its parts as they stand in the file.

    Raises:
        msgspec.MsgspecError, ValueError: they say nothing that an entry says.
    """
    public, secret = msgspec.json.decode(row.public, type=Public), msgspec.json.decode(row.secret, type=Secret)
    entry = Entry(row.number, public, secret, row.hash.hex())
    check_entry(entry)
    return entry


def state_of(data: bytes) -> State:
    """Return a table from its bytes.

    Raises:
        FileError: they are no table; the message names the place.
    """
    try:
        return read_state(msgspec.json.decode(data))
    except FileError:
        raise
    except UNREADABLE as error:
        raise FileError(f"invalid data of a table: {error}") from None


def state_after(row: Row, recorded: str) -> State:
    """Return the table after an entry.

    Args:
        recorded: the hash of the table.

    Raises:
        FileError: it is not the one that was recorded, or cannot be read.
    """
    try:
        data = row.state()
    except UNREADABLE:
        data = b""
    if digest(data) != recorded:
        raise FileError("is not the recorded one")
    try:
        return state_of(data)
    except FileError as error:
        raise FileError(f"cannot be read ({error.message})") from None
