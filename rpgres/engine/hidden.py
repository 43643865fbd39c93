"""A table as a seat knows it, for odds: hidden things are removed, and cards that it does not see are in their deck.

Hands that a seat does not see are dealt anew in odds, and only when a rule turns to them (`engine.cards`): a
seat that knows nothing of a hand knows as little of the cards drawn after it. What is left out or counted here depends
only on what the seat sees, so that two tables that look the same to it have the same odds. What it saw of a card before
that went out of sight is not kept: such a card may be any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

import msgspec

from rpgres.engine.piles import dealt_from, lay_out
from rpgres.engine.players import OrdersPolicy, Policy
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY, Map, Pile, State, is_for, undealt_in, with_undealt
from rpgres.rulesets import Rules


class Start(msgspec.Struct, frozen=True):
    """The table at which odds of an action begin: an empty one, or a persistent one as a seat knows it.

    Attributes:
        actor: the actor there; empty for the one that the inputs name.
        seat: whose knowledge it is; None for the host, or where there is no table.
        orders: the standing orders that the seat knows of, by the seat they decide for.
    """

    state: State | None = None
    actor: str = ""
    seat: str | None = None
    orders: Mapping[str, Policy] = EMPTY

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `prepare`."""
        return {"state": self.state, "actor": self.actor}

    def deciding(self, policies: Mapping[str, Policy]) -> dict[str, Policy]:
        """Return policies with the standing orders, which decide for seats without a named policy."""
        found = {seat: OrdersPolicy(orders, policies.get("")) for seat, orders in self.orders.items()}
        return {**found, **policies}

    def record(self) -> Known | None:
        """Return what odds say of it; None where there is no table."""
        if self.state is None:
            return None
        undealt = {hand: undealt_in(pile) for hand, pile in self.state.piles.items()}
        return Known(self.seat, {hand: count for hand, count in undealt.items() if count > 0})


class Known(msgspec.Struct, frozen=True):
    """The knowledge of a persistent table that odds are based on.

    Attributes:
        seat: the seat; null for the host, who sees what any seat may see.
        averaged: the piles that the seat does not see, with how many cards each has: all that they may be counts.
    """

    seat: str | None
    averaged: dict[str, int] = {}


NO_TABLE = Start()


def known_to(rules: Rules, state: State, seat: str | None, *, actor: str = "") -> Start:
    """Return a table as a seat, or the host, knows it.

    Raises:
        UsageError: the seat does not see some cards, and nothing says which they may be.
    """
    state = lay_out(rules, state) if rules.file.piles else state
    hidden = {name: pile for name, pile in state.piles.items() if not is_for(pile.audience, seat)}
    sources = {name: _source(rules, name, pile) for name, pile in hidden.items()}
    for name, source in sources.items():
        if source not in hidden:
            raise _unknown(name, seat)
    known = {name: _known_top(pile, seat) for name, pile in hidden.items()}
    unseen = [card for name, pile in hidden.items() for card in (*pile.cards, *pile.top[known[name] :])]
    room: Counter[str] = Counter()
    for name, pile in hidden.items():
        room[sources[name]] += len(pile) - known[name]
    pools = _pools(rules, state, unseen, room, seat)
    piles, undealt = dict(state.piles), Counter[str]()
    for name, pile in hidden.items():
        top = {"top": pile.top[: known[name]], "knowers": pile.knowers[: known[name]]}
        if sources[name] == name:
            piles[name] = msgspec.structs.replace(pile, cards=tuple(sorted(pools.get(name, ()))), **top)
            continue
        piles[name] = msgspec.structs.replace(pile, cards=(), **top)
        undealt[name] += len(pile) - known[name]
        undealt[sources[name]] -= len(pile) - known[name]
    piles = {name: with_undealt(pile, undealt[name]) for name, pile in piles.items()}
    return Start(msgspec.structs.replace(state.seen_by(seat), piles=Map(piles)), actor, seat)


def _known_top(pile: Pile, seat: str | None) -> int:
    """Return how many top cards a seat knows in a row; a known card below an unknown one may lie anywhere."""
    return len(list(takewhile(lambda seats: is_for(seats, seat), pile.knowers)))


def _source(rules: Rules, name: str, pile: Pile) -> str:
    """Return the pile from which an unseen pile is dealt; a face-down deck is its own."""
    return dealt_from(rules, name, pile) or (name if pile.audience == () else "")


def _pools(
    rules: Rules, state: State, unseen: Iterable[str], room: Mapping[str, int], seat: str | None
) -> dict[str, list[str]]:
    """Return the cards that a seat does not see by the pile they are dealt from."""
    if len(room) == 1:
        return {name: list(unseen) for name in room}
    complete = lay_out(rules, State(characters=state.characters)).piles
    homes = {card: name for name, pile in complete.items() for card in pile.cards}
    pools: dict[str, list[str]] = {}
    for card in unseen:
        pools.setdefault(homes.get(card, ""), []).append(card)
    for name, count in room.items():
        if len(pools.get(name, ())) != count:
            raise _unknown(name, seat)
    return pools


def _unknown(pile: str, seat: str | None) -> UsageError:
    return UsageError(f"there are no odds as {seat or 'the host'} knows this table: nothing tells the cards in {pile}")
