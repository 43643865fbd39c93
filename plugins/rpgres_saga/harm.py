"""Harm and healing: cards paid for harm, points of those without a hand, and places of the hand that come back.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import msgspec

from rpgres import Card, Character, Map, Option, Outcome, Rating, Table, effect
from rpgres_saga.hands import DECK, IN_PLAY, Hero, discard, fill, has_points, hero_of, lost
from rpgres_saga.playing import card_options
from rpgres_saga.switches import Switches

ALL = Option("all", "every card of the hand")


def damage(
    table: Table,
    actor: Character,
    *,
    amount: int,
    weapon: int = 0,
    defense: int | None = None,
    armor: str | None = None,
) -> Outcome:
    """Pay for harm with cards, none of which could be kept with the harm still covered (R:4.6, R:5)."""
    amount, details = _harm(table, actor, amount, weapon=weapon, defense=defense, armor=armor)
    return msgspec.structs.replace(_harmed(table, actor, amount), details=details)


def _harm(
    table: Table, actor: Character, amount: int, *, weapon: int, defense: int | None, armor: str | None
) -> tuple[int, Map[str, Any]]:
    """Return what is left of harm after the defense (R:5), never less than 0, and the same for readers of the JSON."""
    if defense is None:
        defense = actor.counters.get("defense", 0)
    if armor is not None:
        defense += table.rules.file.settings["armor"][armor]
    if table.rules.switches(Switches).damage_defense == "ignore":
        defense = 0
    harm = max(0, amount + weapon - defense)
    if weapon or defense:
        added = f" and {weapon}" if weapon else ""
        table.tell(f"{amount}{added}" + (f" less a defense of {defense}" if defense else "") + f": {harm} of harm")
    return harm, Map({"amount": amount, "weapon": weapon, "defense": defense, "harm": harm})


def _harmed(table: Table, actor: Character, amount: int) -> Outcome:
    roles = Map({"actor": actor.name})
    if not amount:
        return table.settle("damage-none", None, roles=roles)
    if has_points(actor):
        health = actor.counters.get("health", 0)
        outcome = table.settle("damage" if health > amount else "damage-out", None, roles=roles)
        return outcome.plus([effect("health", to=actor.name, change=-min(amount, health))])
    hero = hero_of(table, actor, Rating(0))
    paid: list[Card] = []
    covered = turned = 0
    while covered < amount and table.count(hero.hand):
        options = _payments(table, hero, paid, amount - turned)
        if not options:  # all there is does not suffice
            rest = table.cards(hero.hand)
            # Asked in any case: a missing question would reveal that the hand suffices.
            table.ask("pay", hero.name, [ALL], text="It is not enough.", hidden=True, owed=amount - covered)
            _pay(table, hero, rest)
            paid += rest
            break
        text = f"{amount - covered} still to be paid."
        is_hidden = table.count(hero.hand) > 1
        asked = card_options(options)
        chosen = table.ask("pay", hero.name, asked, text=text, hidden=is_hidden, owed=amount - covered)
        card = next(card for card in options if card.short == chosen)
        covered += _worth(table, card)
        _pay(table, hero, [card])
        paid.append(card)
        more = _damage_trump(table, hero, card) if covered < amount else 0
        covered, turned = covered + more, turned + more
    outcome = table.settle("damage" if table.count(hero.hand) else "damage-out", None, roles=roles)
    return outcome.plus(lost(actor.name, len(paid), "heal"))


def _worth(table: Table, card: Card) -> int:
    return 1 if table.rules.switches(Switches).damage_mode == "count" else card.value or 0


def _payments(table: Table, hero: Hero, paid: Sequence[Card], amount: int) -> list[Card]:
    """Return the cards that can be paid next so that no card of the whole payment is one too many.

    Args:
        hero: who pays.
        paid: what was paid already.
        amount: what all of it has to cover.
    """
    cards = table.cards(hero.hand)
    found: dict[int, Card] = {}
    before = [_worth(table, card) for card in paid]
    for size in range(1, len(cards) + 1):
        for chosen in combinations(range(len(cards)), size):
            worth = [*before, *(_worth(table, cards[index]) for index in chosen)]
            if sum(worth) >= amount > sum(worth) - min(worth):
                found |= {index: cards[index] for index in chosen}
    return [found[index] for index in sorted(found)]


def _pay(table: Table, hero: Hero, cards: Sequence[Card]) -> None:
    table.move(cards, source=hero.hand, to=IN_PLAY, by=hero.name, label="pay")
    discard(table, cards, source=IN_PLAY, banked=table.rules.switches(Switches).bank_damage_doom)


def _damage_trump(table: Table, hero: Hero, card: Card) -> int:
    """Return what a revealed card counts against harm, where the suit of the one paid allows it."""
    if card.suit != table.rules.switches(Switches).damage_trump_suit:
        return 0
    drawn = table.draw(DECK, to=IN_PLAY, label="trump-damage", by=hero.name)
    if drawn is None:
        return 0
    discard(table, [drawn], source=IN_PLAY, banked=False)
    return _worth(table, drawn)


NOTHING = "There is nothing to heal."


def heal(table: Table, actor: Character, *, amount: int) -> Outcome:
    """Get back lost places of the hand and draw cards for them; rates are not stated by any source at hand."""
    if has_points(actor):
        back = min(amount, actor.counters.get("hurt", 0))
        if not back:
            table.tell(NOTHING)
        outcome = table.settle("heal", None, roles=Map({"actor": actor.name}))
        return outcome.plus([effect("health", to=actor.name, change=back)])
    hero = hero_of(table, actor, Rating(0))
    missing = actor.counters.get("lost", 0) + actor.counters.get("pushed", 0)
    back = min(amount, missing)
    if not back:
        table.tell(NOTHING)
    outcome = table.settle("heal", None, roles=Map({"actor": actor.name}))
    fill(table, msgspec.structs.replace(hero, size=hero.size + back))
    return outcome.plus([effect("regain", to=actor.name, count=back)])
