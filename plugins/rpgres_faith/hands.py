"""Hands and decks: dealing, drawing, what happens to an empty hand or deck.

Rows of the restatement (`rulesets/faith/SOURCES.md`) as `R:n`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any

from rpgres import GM, Card, Map, Option, Rules, State, Table, pile_name
from rpgres_faith.switches import Switches

DEALT, DRAWN = "deal", "draw"


def hand_size(rules: Rules, state: State, who: str) -> int:
    """Return how many cards a character's full hand has (R:1.6, R:1.7)."""
    character = state.characters.get(who)
    settings = rules.file.settings
    own = character.counters.get("hand-size", 0) if character is not None else 0
    species = character.texts.get("species", "").lower() if character is not None else ""
    return int(own or settings["hand-sizes"].get(species, rules.switches(Switches).hand_size))


def deal_first(table: Table, who: str) -> None:
    """Deal a hand to a character who never had one."""
    hand, deck, discard = piles_of(who)
    if not table.count(hand) and not table.count(discard):
        table.deal(deck, to=hand, count=hand_size(table.rules, table.state, who), label=DEALT, by=who)


def fill(table: Table, who: str) -> None:
    """Draw until a character's hand is full (R:1.6)."""
    hand, deck, _ = piles_of(who)
    while (missing := hand_size(table.rules, table.state, who) - (held := table.count(hand))) > 0:
        table.deal(deck, to=hand, count=min(missing, table.count(deck) or 1), label=DEALT, by=who)
        if table.count(hand) == held:
            break
        renew(table, who)


@cache  # asked many times in every path of a walk
def piles_of(who: str) -> tuple[str, str, str]:
    """Return a character's hand, deck and discard; the game master's own."""
    if who == GM:
        return "gm-hand", "gm-deck", "gm-discard"
    return pile_name("hand", who), pile_name("deck", who), pile_name("discard", who)


def draw(table: Table, who: str, *, label: str = DRAWN, card_key: Callable[[Card], Hashable] | None = None) -> bool:
    """Draw a card into a character's hand, and tell whether there was one (R:1.9)."""
    hand, deck, _ = piles_of(who)
    card = table.draw(deck, to=hand, label=label, by=who, card_key=card_key, holds=("outcome", "margin", "total"))
    if card is not None:
        renew(table, who)
    return card is not None


def place_typed(table: Table, who: str, typed: str, *, option: str) -> None:
    """Lay the cards that were typed for a character's hand there: `H10/S4/D2`.

    Raises:
        UsageError: there is no such card, or it is somewhere else.
    """
    table.place(piles_of(who)[0], [text.strip() for text in typed.split("/") if text.strip()], option=option)


def renew(table: Table, who: str) -> None:
    """Shuffle the discard into a deck whose last card was drawn (R:1.9)."""
    _, deck, discard = piles_of(who)
    if table.rules.switches(Switches).reshuffle == "last_drawn" and not table.count(deck) and table.count(discard):
        table.move(table.cards(discard), source=discard, to=deck)
        table.shuffle(deck)


def worth(card: Card) -> int:
    """Return what a card counts: a joker nothing."""
    return card.value or 0


def is_joker(card: Card) -> bool:
    """Tell whether a card is a joker: the cards without a suit."""
    return not card.suit


def card_options(cards: Iterable[Card], *, draws: Sequence[str] = ()) -> list[Option]:
    """Return an option for each kind of card, by its code; `draws` are the suits that let its owner draw."""
    return list({card.short: _option(card, card.suit in draws) for card in cards}.values())


@cache  # else made again on every path of the odds
def _option(card: Card, draws: bool) -> Option:
    facts: Map[str, Any] = Map({"value": worth(card), "suit": card.suit, "draws": draws})
    return Option(card.short, card.title, facts=facts, aliases=(card.code,), brief=card.short)
