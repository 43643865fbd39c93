"""The window in which the sides of a roll may invoke aspects, as data: its sides, what is used up, what is offered."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from rpgres.dice import Dice
from rpgres.kits.aspects.names import DEFAULTS, AspectSettings
from rpgres.model.state import EMPTY, Map, Tag
from rpgres.rulesets import Effect, Option
from rpgres.rulesets.settling import Facts


class Side(msgspec.Struct, frozen=True, gc=False):
    """One side of a roll.

    Attributes:
        members: who may invoke for it, the one who rolls first; they share their free invocations.
        label: the label of its invoke window.
        dice_label: the label of its dice.
        total: dice and everything added.
        rolled: what the dice showed; None for a fixed difficulty.
        dice: what was rolled; None for a fixed difficulty.
        by: who rolled, for the account.
        floor: what others on this side came to, when the highest counts.
    """

    members: tuple[str, ...]
    label: str
    dice_label: str
    total: int
    rolled: int | None = None
    dice: Dice | None = None
    by: str = ""
    floor: int | None = None

    @property
    def height(self) -> int:
        """What the side comes to: its total, or what the others on it have when that is more."""
        return self.total if self.floor is None else max(self.total, self.floor)


NOBODY = Side((), "", "", 0)
Settles = tuple[str, Facts]  # an outcome table, and the facts by which its rows differ, or what compares sides


class Raising(Protocol):
    """The numbers behind the sides of a roll, for rolls that are more than the sum of dice and what was added."""

    def changed(self, side: Side, turn: int, bonus: int) -> Side:
        """Return a side raised by a bonus, or with its dice rerolled where that is 0."""
        ...

    def prospects(self, turn: int) -> dict[str, Any]:
        """Return what the next bonuses would bring a side, as facts for the decision."""
        ...

    def key(self) -> Hashable:
        """Return all of the roll that matters from here on."""
        ...


class Ledger(msgspec.Struct, frozen=True):
    """What has been used up on one roll, by all sides.

    Attributes:
        most_free: how many free invocations of one aspect a side may use on a roll, and none beside a paid one; None
            for any number, and one paid besides.
        has_absent: whether aspects of characters who are out of the scene can be invoked, too.
        settings: of the kit.
        pays: whether anybody pays for invocations; None where that, and for which aspect, is not known.
        uses: free uses by tag and holder.
        points: points paid, by purse.
        free: free invocations by side and tag.
        paid: sides and tags: an aspect is paid for once in a roll.
        effects: what that cost, in the order of use.
        raising: knows the numbers behind the sides, where these are more than the sum of dice and what was added.
        means: with what a member can invoke, by side and member; the same for every roll on this table.
        offers: what a side is offered with this used up, by its number, its members, whether it has dice and against
            whom.
        after: the ledgers with one more invocation: by side, name of the tag, member, whose free use it was, and
            whom against.
    """

    most_free: int | None = None
    has_absent: bool = False
    settings: AspectSettings = DEFAULTS
    pays: bool | None = None
    uses: Map[tuple[str, str], int] = EMPTY
    points: Map[str, int] = EMPTY
    free: Map[tuple[int, str], int] = EMPTY
    paid: frozenset[tuple[int, str]] = frozenset()
    effects: tuple[Effect, ...] = ()
    raising: Raising | None = None
    means: dict[tuple[tuple[str, ...], str], Means] = {}
    offers: dict[tuple[int, tuple[str, ...], bool, tuple[str, ...]], Offer] = {}
    after: dict[tuple[int, str, str, str, tuple[str, ...]], Ledger] = {}

    def with_(self, **changes: Any) -> Ledger:
        """Return the ledger with other values; it knows nothing yet of what is offered with these."""
        return replace(self, **changes, offers={}, after={})

    @property
    def used(self) -> Hashable:
        """What has been used up, in whatever order."""
        return self.uses, self.points, self.free, self.paid


class Window(msgspec.Struct, frozen=True, gc=False):
    """Where an invoke window stands.

    Attributes:
        sides: the sides in the order in which they are asked; each is up against the highest of the others.
        ledger: what has been used up.
        turn: which side is asked next.
        passes: how many sides have passed in a row.
        rerolls: the side whose dice are thrown anew before anything else; None for neither.
        settles: what settles the margin, where nothing else depends on that.
    """

    sides: tuple[Side, ...]
    ledger: Ledger
    turn: int = 0
    passes: int = 0
    rerolls: int | None = None
    settles: Settles | None = None


class Means(msgspec.Struct, frozen=True, gc=False):
    """With what a member of a side can invoke, before anything is used up: tags by slug, whose free uses, points."""

    tags: tuple[tuple[str, Tag], ...]
    holders: tuple[str, ...]
    purse: str
    points: int
    choices: tuple[Choice, ...]
    free: int  # uses

    def left(self, ledger: Ledger) -> int:
        """Return how many points are left."""
        return self.points - ledger.points.get(self.purse, 0)


class Choice(msgspec.Struct, frozen=True, gc=False):
    """One way to invoke: what, who does so, and whose free use that takes."""

    tag: Tag
    name: str  # the tag's slug
    member: str
    holder: str  # whose free use it would be; empty when it is paid for


class Menu(msgspec.Struct, frozen=True, gc=False):
    """What a member is offered: what can be invoked, by the tag's slug, and every way to do so."""

    member: str
    points: int  # to pay with
    choices: dict[str, Choice]
    options: tuple[Option, ...]


class Offer(msgspec.Struct, frozen=True, gc=False):
    """What the members of a side are offered who can invoke anything, and how often they can do so together."""

    menus: tuple[Menu, ...]
    uses: int
