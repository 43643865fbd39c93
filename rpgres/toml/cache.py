"""Parsed TOML of rulesets, kept in the user's cache folder: a start need not parse again what has not changed.

A file there is named after a hash of the text it was made from, and begins with a hash of its own content. So one that
is stale is not found, and one that is broken is not used; nothing that is wrong with the cache is ever an error. Sheets
and scenes are not kept: they may hold secrets. `RPGRES_CACHE` names another folder; empty, nothing is kept.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

import msgspec

from rpgres.text.digest import blake2b
from rpgres.toml.reading import Source, parse

FORMAT = b"1"  # of the files, to be raised when what `parse` returns for the same text changes
DIGEST = 32  # bytes
MOST = 200  # files; then the oldest give way
_OWN = rf"[0-9a-f]{{{2 * DIGEST}}}(\.[0-9]+)?"  # how files are named, those of a killed process included
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)


def parse_cached(source: Source) -> dict[str, Any]:
    """Return what `parse` returns for a file of a ruleset, from the cache where it has it.

    Raises:
        FileError: the text is not TOML.
    """
    folder = _folder()
    if not folder:
        return parse(source)
    text = source.text.encode("utf-8", "surrogatepass")
    path = os.path.join(folder, blake2b(text, digest_size=DIGEST, person=FORMAT).hexdigest())
    found = _read(path)
    if found is None:
        found = parse(source)
        with suppress(OSError, TypeError, ValueError, OverflowError, RecursionError):
            _write(folder, path, found)
    return found


def _folder() -> str:
    """Return the folder of the cache; nothing where none is wanted."""
    chosen = os.environ.get("RPGRES_CACHE")
    if chosen is not None:
        return chosen
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    return os.path.join(root, "rpgres", "toml") if os.path.isabs(root) else ""


def _read(path: str) -> dict[str, Any] | None:
    if not os.path.isfile(path):  # a pipe would be waited for
        return None
    try:
        with open(path, "rb") as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None  # in a folder that others write to, they could plant rules
            content = file.read()
        packed = content[DIGEST:]
        if content[:DIGEST] != blake2b(packed, digest_size=DIGEST).digest():
            return None
        found = msgspec.msgpack.decode(packed)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _write(folder: str, path: str, data: dict[str, Any]) -> None:
    packed = msgspec.msgpack.encode(data)
    if msgspec.msgpack.decode(packed) != data:  # a date would come back as text
        return
    os.makedirs(folder, mode=0o700, exist_ok=True)
    made = f"{path}.{os.getpid()}"
    try:
        with open(os.open(made, _NEW, 0o600), "wb") as file:
            file.write(blake2b(packed, digest_size=DIGEST).digest() + packed)
        os.replace(made, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(made)
        raise
    _limit(folder)


def _limit(folder: str) -> None:
    entries = (entry for entry in os.scandir(folder) if re.fullmatch(_OWN, entry.name))  # others are not ours to delete
    files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    if len(files) > MOST:
        files.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
        for entry in files[: len(files) - MOST + MOST // 8]:  # room for a few more writes
            os.unlink(entry.path)
