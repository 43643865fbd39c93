"""The procedures of Fate, played by the family's kit with the actions of this ruleset.

Line numbers of the seed text (`rulesets/fate/SOURCES.md`): challenge A:212, A:263, A:300; contest A:150, A:214, A:263,
A:300; conflict A:148-150, A:279, A:314-339.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpgres import Character, Opposition, Outcome, Rating, Table
from rpgres.kits.fate_family.moves import Moves
from rpgres.kits.fate_family.procedures import register_procedures
from rpgres.kits.fate_family.rolls import Aim, Defender, effort
from rpgres_fate.rules import create_advantage, cross, discover, fate, overcome, strike


def _make(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, is_new: bool, **how: Any
) -> Outcome:
    variant = "new" if is_new else "existing"
    outcome: Outcome = create_advantage(table, actor, skill=rating, vs=vs, variant=variant, **how)
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
    return strike(table, actor, rating, vs, Aim(track, Defender(full_defense=full_defense)), {})


def _get_past(table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], **how: Any) -> Outcome:
    outcome: Outcome = overcome(table, actor, skill=rating, vs=vs, **how)
    return outcome


def _look(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, variant: str = "reveal-aspect"
) -> Outcome:
    outcome: Outcome = discover(table, actor, skill=rating, vs=vs, variant=variant)
    return outcome


MOVES = Moves(effort=effort, advantage=_make, attack=_strike, overcome=_get_past, cross=cross, discover=_look)


register_procedures(fate, MOVES, rated="skill", track_of=lambda _rules, kind: kind)

__all__ = ["fate"]
