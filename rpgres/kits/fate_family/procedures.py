"""The procedures of the family, `challenge`, `contest` and `conflict`, registered with a ruleset and its own actions.

The modules that play them are imported when one is played: a single roll does not need them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, named
from rpgres.kits import aspects
from rpgres.kits.fate_family.moves import Moves
from rpgres.model.state import Character, Map
from rpgres.parameters.values import Form, Opposition, Rating
from rpgres.rulesets import Ruleset
from rpgres.rulesets.rules import Rules

if TYPE_CHECKING:
    from rpgres.engine.procedures import Turn
    from rpgres.kits.fate_family.challenge import Challenge
    from rpgres.kits.fate_family.conflict_state import Conflict
    from rpgres.kits.fate_family.contest import Contest


def register_procedures(
    ruleset: Ruleset,
    moves: Moves,
    *,
    rated: str,
    track_of: Callable[[Rules, str], str],
    fought: Moves | None = None,
) -> None:
    """Register the three procedures; their parameters are those of the kit's data.

    Args:
        fought: the ruleset's actions in a conflict, where they differ.
        rated: the parameter with the rating that an actor rolls in a contest, such as `skill`.
        track_of: returns the track for harm of a kind.
    """
    _register_challenge(ruleset, moves)
    _register_contest(ruleset, moves, rated, track_of)
    _register_conflict(ruleset, fought or moves, track_of)


def _register_challenge(ruleset: Ruleset, moves: Moves) -> None:
    @_procedure(ruleset, "challenge", moves)
    def begin(table: Table, actor: Character, *, task: Sequence[Form], difficulty: int) -> Challenge:
        from rpgres.kits.fate_family import challenge

        return challenge.begin(table, actor, task, difficulty=difficulty)


def _register_contest(ruleset: Ruleset, moves: Moves, rated: str, track_of: Callable[[Rules, str], str]) -> None:
    @_procedure(ruleset, "contest", moves)
    def begin(
        table: Table,
        actor: Character,
        *,
        vs: Sequence[Opposition],
        victories: int,
        difficulty: int,
        track: str = "physical",
        exchanges: int | None = None,
        environment: int | None = None,
        under_fire: Sequence[Form] = (),
        defense: Rating | None = None,
        **given: Any,
    ) -> Contest:
        from rpgres.kits.fate_family import contest

        rating = given.pop(rated, None)
        if rating is None:
            raise UsageError(f"{ruleset.id} contest needs {named(rated)} NAME|NAME=N|N: what is rolled")
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
            attackers=contest.attackers_of(table, actor, under_fire, track, defense),
            given=Map(given),
        )


def _register_conflict(ruleset: Ruleset, moves: Moves, track_of: Callable[[Rules, str], str]) -> None:
    @_procedure(ruleset, "conflict", moves)
    def begin(
        table: Table,
        actor: Character,
        *,
        against: Sequence[Form],
        kind: str,
        difficulty: int,
        ally: Sequence[Form] = (),
        zones: str = "",
        order: str = "",
        exchanges: int | None = None,
        **fighter: Any,
    ) -> Conflict:
        from rpgres.kits.fate_family import conflict
        from rpgres.kits.fate_family.fighters import sides_of

        stays = {"track": track_of(table.rules, kind), "difficulty": difficulty, "exchanges": exchanges}
        others = sides_of(ally, against)
        return conflict.begin(table, actor, fighter, others, kind=kind, row=zones, order=order, **stays)


def _procedure(ruleset: Ruleset, name: str, moves: Moves) -> Callable[..., Any]:
    """Return a decorator that registers a function as the beginning of a procedure; the module of its name plays it."""
    module = f"rpgres.kits.fate_family.{name}"

    def turn(table: Table, place: Any) -> Turn | Outcome:
        found: Turn | Outcome = import_module(module).take_turn(moves, table, place)
        return found

    def stop(table: Table, place: Any) -> Outcome:
        found: Outcome = import_module(module).stop(table, place)
        return found

    ruleset.idle(name)(aspects.idle_kinds)
    return ruleset.procedure(name, turn=turn, stop=stop)
