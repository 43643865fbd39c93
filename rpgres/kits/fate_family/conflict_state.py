"""The state of a conflict: what stays through it, where it stands, and a turn under way."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from rpgres.engine.table import Table
from rpgres.kits.fate_family.fighters import Fighter
from rpgres.kits.fate_family.moves import Moves
from rpgres.model.state import Character
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import Effect

OWN_SIDE = 0  # the side from which a conflict is seen


class Setup(msgspec.Struct, frozen=True, cache_hash=True):
    """What stays as it is through a conflict.

    Attributes:
        fighters: who takes part, in the order of their turns.
        actor: from whose side it is seen.
        kind: physical or mental.
        track: which stress hits go to.
        difficulty: of what is tried against the surroundings.
        zones: the zones in a row, each with the difficulty of getting into it; none where it is all one place.
        exchanges: after how many the conflict ends undecided; None for no limit.
        keeps: whether a full defense holds until its owner's next turn, and not only to the end of the exchange.
    """

    fighters: tuple[Fighter, ...]
    actor: str
    kind: str
    track: str
    difficulty: int = 2
    zones: tuple[tuple[str, int], ...] = ()
    exchanges: int | None = None
    keeps: bool = False


class Conflict(msgspec.Struct, frozen=True):
    """Where a conflict stands.

    Attributes:
        setup: what stays.
        turn: whose turn it is, by the place in the order; behind the last one the exchange ends, and before the first
            exchange it is -1.
        exchange: which exchange it is, from 1; only the turns that begin or end one read it.
        full: who has given up the action for a full defense that still holds.
        conceded: whether the actor has conceded.
        again: whether the turn goes on: whom it was aimed at has conceded before the roll.
    """

    setup: Setup
    turn: int = -1
    exchange: int = 1
    full: tuple[str, ...] = ()
    conceded: bool = False
    again: bool = False


class TurnUnderWay(msgspec.Struct, gc=False):
    """One turn under way: who has it, and what has been done in it so far.

    Attributes:
        moves: the actions of the ruleset.
        place: where the conflict stood when the turn began.
        fighter, actor: whose turn it is: as a fighter, and as on the table.
        zone: where they are now; empty without zones.
        before, after: the effects of movement before the action, and after it.
        full: whether the action was given up for a full defense.
        conceded: whether the actor of the conflict has conceded in it.
        again: whether the turn goes on, as whom it was aimed at has conceded before the roll.
        ratings: who rolls what at which rating, on both sides; see `Turn.ratings`.
    """

    moves: Moves
    table: Table
    place: Conflict
    fighter: Fighter
    actor: Character
    zone: str = ""
    before: tuple[Effect, ...] = ()
    after: tuple[Effect, ...] = ()
    full: bool = False
    conceded: bool = False
    again: bool = False
    ratings: tuple[tuple[str, str, int], ...] = ()

    def compare(self, rating: Rating, vs: tuple[Opposition, ...]) -> tuple[Rating, tuple[Opposition, ...]]:
        """Return a rating and its opposition as they are, and take note of them for the account."""
        own = self.fighter.who, rating.name, rating.value
        self.ratings = (own, *[(one.character, one.ability, one.value) for one in vs])
        return rating, vs

    @property
    def setup(self) -> Setup:
        """What stays as it is through the conflict."""
        return self.place.setup

    @property
    def enemies(self) -> list[Fighter]:
        """Who fights on another side, and is not out."""
        characters, own = self.table.state.characters, self.fighter.side
        return [one for one in self.place.setup.fighters if one.side != own and not characters[one.who].is_out]


@lru_cache(maxsize=256)
def foes_of(setup: Setup, side: int) -> tuple[str, ...]:
    """Return the fighters of other sides, so that standing orders know who the enemies are."""
    return tuple(one.who for one in setup.fighters if one.side != side)
