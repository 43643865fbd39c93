"""Where something that is played in turns stands between two of them: what odds merge, and simulations go through."""

from __future__ import annotations

from typing import Any

import msgspec

from rpgres.model.state import State


class Standing(msgspec.Struct, frozen=True, gc=False):
    """Everything that still matters between two turns of a scene; equal ones go on alike.

    Attributes:
        state: the table.
        at: which step comes next, and what of earlier ones is still spoken of; frozen data.
        place: the place of the procedure that is under way; None where none is.
    """

    state: State
    at: Any
    place: Any = None
