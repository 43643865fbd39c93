"""The procedures of Coppermane: challenge, contest, conflict. The family's kit plays them, with this ruleset's actions.

No source has them for this variant; they are those of Fate Accelerated and Fate Core. What plays them is imported when
one is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from rpgres import Character, Form, Map, Opposition, Outcome, Rating, Table, Turn, UsageError, named
from rpgres.kits.fate_family import FULL_DEFENSE, Moves
from rpgres_coppermane.rules import Deed, add_effort, coppermane, create_advantage, overcome, strike, track_of

if TYPE_CHECKING:
    from rpgres.kits.fate_family.challenge import Challenge
    from rpgres.kits.fate_family.conflict import Conflict
    from rpgres.kits.fate_family.contest import Contest


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
    return strike(table, actor, _defended(vs, is_full=full_defense), track=track, deed={"attribute": rating})


def _get_past(table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition]) -> Outcome:
    outcome: Outcome = overcome(table, actor, attribute=rating, vs=vs)
    return outcome


MOVES = Moves(effort=_effort, advantage=_make, attack=_strike, overcome=_get_past)


def turn_of_contest(table: Table, place: Contest) -> Turn | Outcome:
    """Take a turn of a contest."""
    from rpgres.kits.fate_family.contest import take_turn

    return take_turn(MOVES, table, place)


@coppermane.procedure("contest", turn=turn_of_contest)
def begin_contest(
    table: Table,
    actor: Character,
    *,
    vs: Sequence[Opposition],
    victories: int,
    difficulty: int,
    track: str | None = None,
    exchanges: int | None = None,
    environment: int | None = None,
    under_fire: Sequence[Form] = (),
    defense: Rating | None = None,
    **deed: Unpack[Deed],
) -> Contest:
    """Reach a goal before others do (Fate Accelerated, "Contests")."""
    from rpgres.kits.fate_family import contest
    from rpgres.kits.fate_family.fighters import best_rating

    rating, kind = deed.pop("attribute", None), track or "physical"
    if rating is None:
        raise UsageError(f"coppermane contest needs {named('attribute')} NAME|NAME=N|N: what is rolled")
    return contest.begin(
        table,
        actor,
        rating,
        vs,
        victories=victories,
        difficulty=difficulty,
        track=track_of(table.rules, track),
        exchanges=exchanges,
        environment=environment,
        attackers=contest.attackers_of(table, under_fire, kind),
        defense=defense or best_rating(table.rules, actor, kind, "defense"),
        given=Map(deed),
    )


def turn_of_conflict(table: Table, place: Conflict) -> Turn | Outcome:
    """Take a turn of a conflict."""
    from rpgres.kits.fate_family.conflict import take_turn

    return take_turn(MOVES, table, place)


@coppermane.procedure("conflict", turn=turn_of_conflict)
def begin_conflict(
    table: Table,
    actor: Character,
    *,
    against: Sequence[Form],
    kind: str,
    difficulty: int,
    ally: Sequence[Form] = (),
    zones: str | None = None,
    order: str | None = None,
    exchanges: int | None = None,
    **fighter: Any,
) -> Conflict:
    """Fight until one side is out or has conceded (Fate Accelerated, "Conflicts")."""
    from rpgres.kits.fate_family.conflict import Said, begin

    track = track_of(table.rules, kind)
    said = Said(against, kind, track, difficulty, ally, fighter, zones or "", order or "", exchanges)
    return begin(table, actor, said)


def turn_of_challenge(table: Table, place: Challenge) -> Turn | Outcome:
    """Take a turn of a challenge."""
    from rpgres.kits.fate_family.challenge import take_turn

    return take_turn(MOVES, table, place)


@coppermane.procedure("challenge", turn=turn_of_challenge)
def begin_challenge(table: Table, actor: Character, *, task: Sequence[Form], difficulty: int) -> Challenge:
    """Do several tasks, judged together (Fate Accelerated, "Challenges")."""
    from rpgres.kits.fate_family.challenge import begin

    return begin(table, actor, task, difficulty=difficulty)


__all__ = ["coppermane"]
