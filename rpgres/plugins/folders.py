"""Folders that may be whole rulesets: what the head of their `ruleset.toml` says, read without the rest."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from rpgres.toml.reading import MAX_BYTES


def is_standalone(folder: Path) -> bool:
    """Tell whether a folder's `ruleset.toml` says that it is a whole ruleset, without code.

    What says anything but false is meant to be one; reading it tells that it should be `true`.
    """
    path = folder / "ruleset.toml"
    if not os.path.isfile(path):
        return False
    head = head_of(path)
    return head.get("standalone", False) is not False if head else _says_standalone(path)


def _says_standalone(path: Path) -> bool:
    """Tell whether a file that is no TOML, or no UTF-8, was meant to be a whole ruleset, to report its fault."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES)
    except (OSError, ValueError):
        return False
    text = content.replace(b"\0", b"").decode("ascii", "ignore")  # the zeros of UTF-16
    return re.search(r"^\s*standalone\s*=\s*true\b", text, re.MULTILINE) is not None


def head_of(path: Path) -> dict[str, object]:
    """Return the keys of a TOML file that stand before its first table; nothing when it cannot be read."""
    try:
        known = os.stat(path)
    except (OSError, ValueError):
        return {}
    return _head_at(path, (known.st_mtime_ns, known.st_size, known.st_ino))


@lru_cache(maxsize=256)  # a list asks for each several times: whether it is whole, whose it is, what it is called
def _head_at(path: Path, _stamp: tuple[int, ...]) -> dict[str, object]:
    import tomli

    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError):
        return {}
    head = re.split(r"^\s*\[", text, maxsplit=1, flags=re.MULTILINE)[0]
    for part in (head, text):  # a bracket may also begin a line of a list or a long text
        try:
            return tomli.loads(part)
        except (ValueError, RecursionError):  # what is no TOML, and numbers of too many digits
            continue
    return {}
