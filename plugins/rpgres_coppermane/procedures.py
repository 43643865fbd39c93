"""The procedures of Coppermane: contest. The kit of the family plays them, with the actions of this ruleset.

No source has them for this variant; they are those of Fate Accelerated and Fate Core. What plays them is imported when
one is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from rpgres import Character, Form, Map, Opposition, Outcome, Rating, Table, Turn, UsageError, named
from rpgres.kits.fate_family import Moves, best_rating
from rpgres_coppermane.rules import Deed, add_effort, attack, coppermane, create_advantage, overcome, track_of

if TYPE_CHECKING:
    from rpgres.kits.fate_family.contest import Contest


def _effort(table: Table, actor: Character, action: str, rating: Rating, given: Any) -> int:
    return add_effort(table, actor, action, {**given, "attribute": rating})  # type: ignore[typeddict-item]


def _make(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, name: str, on: str | None, is_new: bool
) -> Outcome:
    variant = "new" if is_new else "known"
    outcome: Outcome = create_advantage(table, actor, attribute=rating, vs=vs, variant=variant, name=name, on=on)
    return outcome


def _strike(
    table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], *, track: str, **how: Any
) -> Outcome:
    outcome: Outcome = attack(table, actor, attribute=rating, vs=vs, track=track, **how)
    return outcome


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


__all__ = ["coppermane"]
