"""What all records have in common that `--json` prints. Each is tagged with what it is and the version of its form."""

from __future__ import annotations

import msgspec

from rpgres.version import __version__


class Printed(msgspec.Struct, frozen=True, kw_only=True, tag_field="format"):
    """A record that `--json` prints.

    Attributes:
        version: the version of rpgres.
    """

    version: str = __version__
