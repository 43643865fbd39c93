"""The procedures of Coppermane, played by the family's kit with the actions of this ruleset.

No source has them for this variant: they are those of Fate Accelerated ("Contests", "Conflicts", "Challenges").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from rpgres import Character, Opposition, Outcome, Rating, Table
from rpgres.kits.fate_family.moves import Moves
from rpgres.kits.fate_family.procedures import register_procedures
from rpgres.kits.fate_family.rolls import FULL_DEFENSE, Aim
from rpgres_coppermane.rules import add_effort, coppermane, create_advantage, overcome, strike, track_of


def _effort(table: Table, actor: Character, action: str, rating: Rating, given: Any) -> int:
    return add_effort(table, actor, action, {**given, "attribute": rating})  # type: ignore[typeddict-item]


def _defended(vs: Sequence[Opposition], *, is_full: bool) -> Sequence[Opposition]:
    """Return what opposes, with what a full defense adds where the house rules have one."""
    return [msgspec.structs.replace(one, value=one.value + FULL_DEFENSE) for one in vs] if is_full else vs


def _make(
    table: Table,
    actor: Character,
    rating: Rating,
    vs: Sequence[Opposition],
    *,
    is_new: bool,
    full_defense: bool = False,
    **how: Any,
) -> Outcome:
    variant = "new" if is_new else "known"
    vs = _defended(vs, is_full=full_defense)
    outcome: Outcome = create_advantage(table, actor, attribute=rating, vs=vs, variant=variant, **how)
    return outcome


def _strike(
    table: Table,
    actor: Character,
    rating: Rating,
    vs: Sequence[Opposition],
    *,
    track: str,
    full_defense: bool = False,
) -> Outcome:
    return strike(table, actor, _defended(vs, is_full=full_defense), Aim(track), {"attribute": rating})


def _get_past(table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], **how: Any) -> Outcome:
    outcome: Outcome = overcome(table, actor, attribute=rating, vs=vs, **how)
    return outcome


MOVES = Moves(effort=_effort, advantage=_make, attack=_strike, overcome=_get_past, cross=_get_past)
_past = partial(_get_past, conflict=True)
FOUGHT = msgspec.structs.replace(MOVES, advantage=partial(_make, conflict=True), overcome=_past, cross=_past)


register_procedures(coppermane, MOVES, rated="attribute", track_of=track_of, fought=FOUGHT)

__all__ = ["coppermane"]
