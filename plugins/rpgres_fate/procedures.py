"""The procedures of Fate: challenge, contest, conflict. The family's kit plays them, with the actions of this ruleset.

Line numbers of the seed text (`rulesets/fate/SOURCES.md`) as `A:n`. What plays them is imported when one is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from rpgres import Character, Form, Map, Opposition, Outcome, Rating, Table, Turn
from rpgres.kits.fate_family import Help, Moves, effort
from rpgres_fate.rules import Aim, create_advantage, discover, fate, overcome, strike

if TYPE_CHECKING:
    from rpgres.kits.fate_family.challenge import Challenge
    from rpgres.kits.fate_family.conflict import Conflict
    from rpgres.kits.fate_family.contest import Contest


def _effort(table: Table, actor: Character, action: str, rating: Rating, given: Any) -> int:
    return effort(table, actor, action, rating, given)


def _make(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, is_new: bool, **how: Any
) -> Outcome:
    variant = "new" if is_new else "existing"
    outcome: Outcome = create_advantage(table, actor, skill=rating, vs=vs, variant=variant, **how)
    return outcome


def _strike(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, track: str, **how: Any
) -> Outcome:
    return strike(table, actor, rating, vs, Aim(track, **how), {})


def _get_past(table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition]) -> Outcome:
    outcome: Outcome = overcome(table, actor, skill=rating, vs=vs)
    return outcome


def _look(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, variant: str = "reveal-aspect"
) -> Outcome:
    outcome: Outcome = discover(table, actor, skill=rating, vs=vs, variant=variant)
    return outcome


MOVES = Moves(effort=_effort, advantage=_make, attack=_strike, overcome=_get_past, discover=_look)


def turn_of_contest(table: Table, place: Contest) -> Turn | Outcome:
    """Take a turn of a contest."""
    from rpgres.kits.fate_family.contest import take_turn

    return take_turn(MOVES, table, place)


@fate.procedure("contest", turn=turn_of_contest)
def begin_contest(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    vs: Sequence[Opposition],
    victories: int,
    difficulty: int,
    track: str,
    exchanges: int | None = None,
    environment: int | None = None,
    under_fire: Sequence[Form] = (),
    defense: Rating | None = None,
    **given: Unpack[Help],
) -> Contest:
    """Reach a goal before others do (A:150, A:214, A:263, A:300)."""
    from rpgres.kits.fate_family import contest
    from rpgres.kits.fate_family.fighters import best_rating

    return contest.begin(
        table,
        actor,
        skill,
        vs,
        victories=victories,
        difficulty=difficulty,
        track=track,
        exchanges=exchanges,
        environment=environment,
        attackers=contest.attackers_of(table, under_fire, track),
        defense=defense or best_rating(table.rules, actor, track, "defense"),
        given=Map(given),
    )


def turn_of_conflict(table: Table, place: Conflict) -> Turn | Outcome:
    """Take a turn of a conflict."""
    from rpgres.kits.fate_family.conflict import take_turn

    return take_turn(MOVES, table, place)


@fate.procedure("conflict", turn=turn_of_conflict)
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
    """Fight until one side is out or has conceded (A:148-150, A:279, A:314-339)."""
    from rpgres.kits.fate_family.conflict import Said, begin

    said = Said(against, kind, kind, difficulty, ally, fighter, zones or "", order or "", exchanges)
    return begin(table, actor, said)


def turn_of_challenge(table: Table, place: Challenge) -> Turn | Outcome:
    """Take a turn of a challenge."""
    from rpgres.kits.fate_family.challenge import take_turn

    return take_turn(MOVES, table, place)


@fate.procedure("challenge", turn=turn_of_challenge)
def begin_challenge(table: Table, actor: Character, *, task: Sequence[Form], difficulty: int) -> Challenge:
    """Do several tasks, judged together (A:212, A:263, A:300; Fate Core, "Challenges")."""
    from rpgres.kits.fate_family.challenge import begin

    return begin(table, actor, task, difficulty=difficulty)


__all__ = ["fate"]
