"""Paths as people type them, taken apart: of a table (`characters.mara.counters.luck`) and of a scene's file.

`rpgres.model.paths` says what stands at a path of a table; here it is names, whatever they mean.
"""

from __future__ import annotations

import re

import msgspec

from rpgres.errors import UsageError

_IN_FILE = re.compile(r'"([^"]*)"|\[(\d+)\]|([^."\[\]]+)')


class TypedPath(msgspec.Struct, frozen=True):
    """A path as it was typed.

    Attributes:
        text: all of it.
        keys: its names, in order.
    """

    text: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def field(self) -> str:
        """The field of the table that it is about: `tags`, `characters`."""
        return self.keys[0] if self.keys else ""

    @property
    def name(self) -> str:
        """The name in that field; empty where there is none."""
        return self.keys[1] if len(self.keys) > 1 else ""

    @property
    def character(self) -> str:
        """The character that it is about; empty where it is about none."""
        return self.name if self.field == "characters" else ""

    @property
    def inner(self) -> str:
        """What follows behind the field; empty where nothing does."""
        return ".".join(self.keys[1:])

    def before(self, key: str) -> str:
        """Return what is typed before a name; nothing where the name is not in it."""
        return ".".join(self.keys[: self.keys.index(key)]) if key in self.keys else ""

    def with_no_gaps(self) -> TypedPath:
        """Return the path itself.

        Raises:
            UsageError: one of its names is empty.
        """
        if not all(key.strip() for key in self.keys):
            raise UsageError(f"{self.text!r}: a path is names joined by points, and one of these is empty")
        return self


def typed_path(text: str) -> TypedPath:
    """Return a path of a table."""
    return TypedPath(text, tuple(text.split(".")))


def path_of(*keys: str) -> TypedPath:
    """Return the path of some names."""
    return TypedPath(".".join(keys), keys)


def path_in_file(text: str) -> TypedPath:
    """Return a path of a scene's file, as messages write it; quoted keys may contain dots.

    >>> path_in_file('characters.mara.skills."two handed"').keys, path_in_file("steps[1].with.vs").keys
    (('characters', 'mara', 'skills', 'two handed'), ('steps', '1', 'with', 'vs'))
    """
    return TypedPath(text, tuple([quoted or number or bare.strip() for quoted, number, bare in _IN_FILE.findall(text)]))
