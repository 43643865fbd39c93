"""The base of all records that `--json` prints: each has a tag with its kind and version."""

from __future__ import annotations

import sys

import msgspec

from rpgres.errors import UsageError
from rpgres.version import __version__

LONGEST = 60  # characters of a text in `repr`


class Printed(msgspec.Struct, frozen=True, kw_only=True, tag_field="format"):
    """A record that `--json` prints.

    Attributes:
        version: the version of rpgres.
    """

    version: str = __version__

    def __repr__(self) -> str:
        """Return the record in a line: its numbers, names, texts and inputs, without lists and tables."""
        shown = ((name, getattr(self, name)) for name in self.__struct_fields__ if name != "version")
        parts = (f"{name}={_clipped(value)}" for name, value in shown if _is_short(name, value))
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str | None:
        """Return the record as HTML; notebooks call it, and show None as `repr` has it."""
        # How a record looks is decided far above; the public face, which is loaded by then, knows where.
        try:
            shown: str = sys.modules["rpgres"].html_of(self)
        except UsageError:
            return None
        return shown


def _is_short(name: str, value: object) -> bool:
    return value != "" if isinstance(value, str | int | float) else name == "inputs" and bool(value)


def _clipped(value: object) -> str:
    if isinstance(value, str) and len(value) > LONGEST:
        return repr(f"{value[:LONGEST]}...")
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
