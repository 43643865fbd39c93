"""Heroes and their hands: who plays with which ability, trump and edge, how many cards a hand holds, and filling it.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from rpgres import Card, Character, Effect, Rating, Rules, Table, UsageError, effect, pile_name, slug
from rpgres_saga.switches import Switches

DECK, DISCARD, IN_PLAY, BANK, GM_CARD, REMOVED = "deck", "discard", "in-play", "doom-bank", "gm-card", "removed"
OTHER_HAND = "other-hand"
TRUMPLESS = ("doom", "dragons")  # suits of no ability: played cards of the first go to the bank, of the second misfire


class Hero(msgspec.Struct, frozen=True, gc=False):
    """A character who plays cards.

    Attributes:
        name: the character.
        hand: the pile of its hand.
        ability: the score acted with.
        trump: the suit that is trump; empty when there is none.
        edge: a card up to this lets another follow.
        size: how many cards fill the hand.
    """

    name: str
    hand: str
    ability: int
    trump: str
    edge: int
    size: int


def hero_of(
    table: Table, who: Character | str, rating: Rating, *, trump: str | None = None, edge: int | None = None
) -> Hero:
    """Return who plays, and deal a hand to a character who has none yet.

    Args:
        who: the character; a name is a character without a place at the table.
        rating: the ability acted with.
        trump: the suit that is trump, in place of the ability's.
        edge: in place of the sheet's.

    Raises:
        UsageError: there is no such suit.
    """
    character = who if isinstance(who, Character) else Character(who)
    hand = OTHER_HAND if isinstance(who, str) else pile_name("hand", who.name)
    counters = character.counters
    if edge is None:
        edge = counters.get("edge", 0)
    held = table.count(hand)
    size = counters.get("hand-size", 0) or edge + table.rules.file.settings["hand-over-edge"]
    if "edge" not in counters:  # without a sheet, a hand that was typed is a full one
        size = max(size, held)
    size = max(0, size - counters.get("lost", 0) - counters.get("pushed", 0))
    suit = trump_of(table.rules, character, rating, trump)
    hero = Hero(character.name, hand, rating.value, suit, edge if table.rules.switches(Switches).edge else 0, size)
    if not held:
        table.deal(DECK, to=hand, count=size, by=hero.name, looks=True)
    return hero


def trump_of(rules: Rules, character: Character, rating: Rating, trump: str | None) -> str:
    """Return the suit that is trump: what was typed, the power's, or the ability's own; none for a bare number.

    Raises:
        UsageError: there is no such suit.
    """
    suits = rules.laid[DECK].suits
    power = next((power for name, power in powers_of(character) if slug(name) == rating.name), None)
    wanted = slug(trump) if trump else slug(power["trump"]) if power and power["trump"] else ""
    if not wanted:
        own = rating.name if rating.name in suits else rules.file.settings["trumps"].get(rating.name, "")
        return own if own in suits and own not in TRUMPLESS else ""
    found = wanted if wanted in suits else rules.file.settings["trumps"].get(wanted, "")
    if found not in suits or found in TRUMPLESS:
        known = ", ".join(suit for suit in suits if suit not in TRUMPLESS)
        raise UsageError(f"no suit of an ability is called {trump or wanted!r}; there are: {known}")
    return str(found)


def suits_of(rules: Rules, *names: str) -> frozenset[str]:
    """Return the suits that may be trump where abilities, suits or powers of these names are acted with.

    A power's suit stands on a sheet, which is not at hand here: it may be any.

    Args:
        names: as typed; empty ones name none.
    """
    suits, trumps = rules.laid[DECK].suits, rules.file.settings["trumps"]
    named = {name: name if name in suits else trumps.get(name, "") for name in map(slug, filter(None, names))}
    return frozenset(suits) if "" in named.values() else frozenset(named.values())


def powers_of(character: Character) -> Iterable[tuple[str, Any]]:
    """Return the powers of a sheet by name."""
    powers = character.records.get("powers")
    return powers.items() if powers is not None else ()


def require_able(actor: Character) -> None:
    """Check that a character is not out.

    Raises:
        UsageError: they are.
    """
    if actor.is_out:
        raise UsageError(f"{actor.name} is out, and cannot act before healing with `heal`")


def has_points(character: Character) -> bool:
    """Tell whether a character is harmed by points, as those whom the game master plays, and not by cards."""
    return bool(character.counters.get("health", 0) or character.counters.get("hurt", 0))


def fill(table: Table, hero: Hero, *, label: str = "redraw", places: int = 0) -> None:
    """Draw until the hand is full (S:8, S:10), as far as there are cards.

    Args:
        hero: whose hand.
        label: the label of the draws.
        places: how many places were lost meanwhile.
    """
    missing = hero.size - places - table.count(hero.hand)
    table.deal(DECK, to=hero.hand, count=max(0, missing), label=label, by=hero.name)


def is_doom(card: Card) -> bool:
    """Tell whether a card is of the suit that the game master keeps (S:11)."""
    return card.suit == TRUMPLESS[0]


def discard(table: Table, cards: Iterable[Card], *, source: str, banked: bool, by: str = "") -> None:
    """Move cards that are used up to the discard, those of doom to the bank where they are kept (S:11).

    Args:
        source: the pile they are in.
        banked: whether doom cards among them are kept, as long as there is a bank.
        by: who used them, for the account.
    """
    kept = banked and table.rules.switches(Switches).doom_bank
    cards = list(cards)
    table.move([card for card in cards if not (kept and is_doom(card))], source=source, to=DISCARD)
    table.move(
        [card for card in cards if kept and is_doom(card)], source=source, to=BANK, by=by, label="to the doom bank"
    )


def lost(who: str, count: int, recovery: str) -> tuple[Effect, ...]:
    """Return the words for places of a hand that are lost until `recovery`."""
    return (effect("lose", to=who, count=count, recovery=recovery),) if count else ()
