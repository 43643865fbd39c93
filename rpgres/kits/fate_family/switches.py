"""The house rules of the family as its code reads them."""

from __future__ import annotations

from typing import Literal

import msgspec


class ContestSwitches(msgspec.Struct, frozen=True, gc=False):
    """The house rules that the code of contests reads; `kits/data/fate-family` explains them."""

    contest_double: Literal["no-other-style", "always"] = "no-other-style"


class ConflictSwitches(msgspec.Struct, frozen=True, gc=False):
    """The house rules that the code of conflicts reads; `kits/data/fate-family` explains them."""

    full_defense: Literal["exchange", "next-turn", "no"] = "exchange"
    turn_order: Literal["each", "together", "named"] = "each"
    concede_when: Literal["before-a-roll", "own-turn"] = "before-a-roll"
    attacks: Literal["anywhere", "conflicts"] = "anywhere"
