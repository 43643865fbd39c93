"""Saga: whole battles with a deck of nine cards, against a program that follows the text and knows no engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.support.effort import few

Cards = tuple[str, ...]
DECK = ["St2", "St5", "Ag1", "Ag4", "In3", "In6", "Wi7", "Do3", "Do8"]
OVERLAY = """
suits.strength.cards = ["2n", "5n"]
suits.agility.cards = ["1n", "4n"]
suits.intellect.cards = ["3n", "6n"]
suits.willpower.cards = ["7n"]
suits.doom.cards = ["3+", "8+"]
"""


def value(card: str) -> int:
    return int(card[2:])


@dataclass(frozen=True)
class Rules:
    """One hero against foes: scores, the pile of a foe's points, and what everybody does.

    Attributes:
        strength, agility, size, edge: of the hero.
        foes: strength, agility and health of each.
        plays, pays: whether the highest or the lowest card is chosen.
        dooms: whether the game master raises difficulties while that helps.
    """

    hand: str
    strength: int = 5
    agility: int = 3
    size: int = 2
    edge: int = 0
    foes: tuple[tuple[int, int, int], ...] = ((4, 2, 6),)
    bank: str = ""
    exchanges: int = 1
    plays: str = "highest"
    pays: str = "highest"
    dooms: bool = False
    reshuffles: bool = True
    at_once: bool = False

    def picked(self, how: str, cards: Cards) -> str:
        return (max if how == "highest" else min)(cards, key=value)


@dataclass(frozen=True)
class Fight:
    """Where the cards are, what places of the hand are lost, and what harm is still to be paid."""

    deck: Cards
    hand: Cards
    health: tuple[int, ...]
    bank: Cards = ()
    discard: Cards = ()
    turned: Cards = ()
    lost: int = 0
    is_out: bool = False
    owed: tuple[int, ...] = ()
    dealt: tuple[tuple[int, int], ...] = field(default=())

    def put(self, **piles: Cards) -> Fight:
        return replace(self, **{name: tuple(sorted(cards)) for name, cards in piles.items()})


Ways = Iterator[tuple[Fraction, Any]]


def without(cards: Cards, card: str) -> Cards:
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]


def drawn(rules: Rules, fight: Fight) -> Ways:
    """Yield each card that may be drawn, and the table without it; the discard is the deck where that is empty."""
    if not fight.deck and rules.reshuffles:
        fight = fight.put(deck=fight.discard, discard=())
    if not fight.deck:
        yield Fraction(1), (None, fight)
    for card in fight.deck:
        yield Fraction(1, len(fight.deck)), (card, fight.put(deck=without(fight.deck, card)))


def trumps(rules: Rules, fight: Fight, card: str, suit: str) -> Ways:
    """Yield the cards drawn on a card, and the table: on and on while the suit is right, the last one counts too."""
    if card[:2] != suit:
        yield Fraction(1), ((), fight)
        return
    for share, (more, after) in drawn(rules, fight):
        if more is None:
            yield share, ((), after)
            continue
        for part, (others, then) in trumps(rules, after, more, suit):
            yield share * part, ((more, *others), then)


def plays(rules: Rules, fight: Fight, suit: str) -> Ways:
    """Yield what was played, what was drawn for it, and the table."""
    card = rules.picked(rules.plays, fight.hand)
    for share, (found, after) in trumps(rules, fight.put(hand=without(fight.hand, card)), card, suit):
        if value(card) > rules.edge or not after.hand:
            yield share, ((card,), found, after)
            continue
        for part, (played, others, then) in plays(rules, after, suit):
            yield share * part, ((card, *played), (*found, *others), then)


def refilled(rules: Rules, fight: Fight) -> Ways:
    if len(fight.hand) >= rules.size - fight.lost:
        yield Fraction(1), fight
        return
    for share, (card, after) in drawn(rules, fight):
        if card is None:
            yield share, after
            continue
        for part, then in refilled(rules, after.put(hand=(*after.hand, card))):
            yield share * part, then


def acts(rules: Rules, fight: Fight, score: int, suit: str, against: int) -> Ways:
    """Yield whether an action of the hero succeeds, and the table after it; without a card it fails."""
    if not fight.hand:
        yield Fraction(1), (False, fight)
        return
    needed = 4 + against + sum(map(value, fight.turned))
    for share, (played, found, after) in plays(rules, fight, suit):
        total, need, bank, spent = score + sum(map(value, played + found)), needed, after.bank, ()
        while rules.dooms and bank and total >= need:
            doom = rules.picked("highest", bank)
            bank, spent, need = without(bank, doom), (*spent, doom), need + value(doom)
        banked = tuple(card for card in played if card[:2] == "Do")
        gone = (*after.discard, *spent, *found, *(card for card in played if card[:2] != "Do"))
        for part, then in refilled(rules, after.put(bank=(*bank, *banked), discard=gone)):
            yield share * part, (total >= need, then)


def payment(rules: Rules, hand: Cards, owed: int) -> Cards:
    """Return the cards that pay: all, or some of which none could be taken back."""

    def covers(cards: Cards) -> bool:
        return sum(map(value, cards)) >= owed

    some = [cards for count in range(len(hand) + 1) for cards in combinations(hand, count) if covers(cards)]
    legal = [set(cards) for cards in some if not any(covers(without(cards, card)) for card in cards)]
    gone: Cards = ()
    while legal and set(gone) not in legal:
        legal = [cards for cards in legal if {*gone} <= cards]
        gone = (*gone, rules.picked(rules.pays, tuple(sorted(set.union(*legal) - {*gone}))))
    return gone if legal else hand


def paid(rules: Rules, fight: Fight) -> Fight:
    """Return the table after the hero paid for each blow with cards, the places of which are lost."""
    for owed in fight.owed:
        gone = payment(rules, fight.hand, owed)
        hand = tuple(card for card in fight.hand if card not in gone)
        fight = fight.put(hand=hand, discard=(*fight.discard, *gone))
        fight = replace(fight, lost=fight.lost + len(gone), is_out=fight.is_out or not hand)
    health = list(fight.health)
    for foe, harm in fight.dealt:
        health[foe] = max(0, health[foe] - harm)
    return replace(fight, owed=(), dealt=(), health=tuple(health))


Spread = dict[Fight, Fraction]


def spread(fights: Spread, way: Callable[[Fight], Ways]) -> Spread:
    after: defaultdict[Fight, Fraction] = defaultdict(Fraction)
    for fight, mass in fights.items():
        for share, then in way(fight):
            after[then] += mass * share
    return after


def turns_card(rules: Rules, fight: Fight) -> Ways:
    for share, (card, after) in drawn(rules, fight):
        yield share, after.put(turned=(card,) if card else ())


def attacks(rules: Rules, fight: Fight) -> Ways:
    """Attack the foe who can bear least, the first of equal ones."""
    standing = [foe for foe, health in enumerate(fight.health) if health]
    target = min(standing, key=lambda foe: fight.health[foe])
    for share, (hits, after) in acts(rules, fight, rules.strength, "St", rules.foes[target][1]):
        then = replace(after, dealt=((target, rules.strength),)) if hits else after
        yield share, paid(rules, then) if rules.at_once else then


def answers(rules: Rules, fight: Fight, foe: int) -> Ways:
    if fight.is_out or not fight.health[foe]:
        yield Fraction(1), fight
        return
    strength = rules.foes[foe][0]
    for share, (is_warded, after) in acts(rules, fight, rules.agility, "Ag", strength):
        then = after if is_warded else replace(after, owed=(*after.owed, strength))
        yield share, paid(rules, then) if rules.at_once else then


def battle(rules: Rules) -> dict[tuple[str, int], Fraction]:
    """Return the chance of each end, with the exchange in which it comes."""
    hand, bank = tuple(rules.hand.split()), tuple(rules.bank.split())
    deck = tuple(sorted(set(DECK) - {*hand, *bank}))
    fights: Spread = {Fight(deck, tuple(sorted(hand)), tuple(foe[2] for foe in rules.foes), bank): Fraction(1)}
    ends: defaultdict[tuple[str, int], Fraction] = defaultdict(Fraction)
    for exchange in range(1, rules.exchanges + 1):
        fights = spread(fights, lambda fight: turns_card(rules, fight))
        fights = spread(fights, lambda fight: attacks(rules, fight))
        for foe in range(len(rules.foes)):
            fights = spread(fights, lambda fight, foe=foe: answers(rules, fight, foe))  # type: ignore[misc]
        left: defaultdict[Fight, Fraction] = defaultdict(Fraction)
        for fight, mass in fights.items():
            done = paid(rules, fight)
            done = done.put(discard=(*done.discard, *done.turned), turned=())
            if not done.is_out and any(done.health) and exchange < rules.exchanges:
                left[done] += mass
                continue
            named = {(True, True): "undecided", (True, False): "won", (False, True): "lost", (False, False): "draw"}
            ends[named[not done.is_out, any(done.health)], exchange] += mass
        fights = left
    return ends


def scene(rules: Rules) -> str:
    doom = '{ highest = "value" }' if rules.dooms else '"no"'
    harm, refill = "at_once" if rules.at_once else "results", "on_empty" if rules.reshuffles else "never"
    signed = {name: ",".join(f"{card}{'+' if card[:2] == 'Do' else 'n'}" for card in cards.split()) for name, cards in
              (("hand", rules.hand), ("bank", rules.bank))}  # fmt: skip
    foes = "".join(
        f'[characters.foe-{number}]\nname = "Foe {number}"\nplayed-by = "gm"\nhealth = {health}\n'
        f"abilities = {{ strength = {strength}, agility = {agility} }}\n"
        for number, (strength, agility, health) in enumerate(rules.foes)
    )
    bank = f', bank = "{signed["bank"]}"' if rules.bank else ""
    return f"""
ruleset = "saga"
policy = "plain"
switches = {{ battle_harm = "{harm}", reshuffle = "{refill}" }}
[characters.ada]
name = "Ada"
edge = {rules.edge}
hand-size = {rules.size}
abilities = {{ strength = {rules.strength}, agility = {rules.agility} }}
{foes}
[[steps]]
actor = "ada"
procedure = "battle"
with = {{ hand = "{signed["hand"]}", exchanges = {rules.exchanges}{bank} }}
[orders]
plain = [
  {{ ask = "play", choose = {{ {rules.plays} = "value" }} }},
  {{ ask = "pay", choose = {{ {rules.pays} = "value" }} }},
  {{ ask = "doom", choose = {doom} }},
  {{ ask = "trump", choose = "draw" }},
  {{ ask = "target", choose = "first" }},
]
"""


CASES = {
    "one exchange": Rules("St2 In6"),
    "two exchanges": Rules("St2 In6", exchanges=2),
    "harm at once": Rules("Do8 In6 St2", 7, 5, 3, foes=((4, 2, 10),), exchanges=2, at_once=True),
    "the deck runs out": Rules("Do8 In6 St2", 7, 5, 3, foes=((4, 2, 20),), exchanges=4, reshuffles=False),
    "doom": Rules("Do8 In6 St2", 7, 5, 3, foes=((6, 3, 11),), bank="Do3", dooms=True, reshuffles=False, exchanges=2),
    "two foes": Rules("Do8 In6 St2 St5", 7, 5, 4, foes=((4, 2, 7), (2, 1, 5)), exchanges=3, reshuffles=False),
    "low cards first": Rules("Do3 In6 St2", 7, 5, 3, 3, ((4, 2, 20),), plays="lowest", reshuffles=False, exchanges=2),
    "low cards pay": Rules("Do3 In6 St2 St5", 7, 5, 4, foes=((8, 5, 20),), pays="lowest", reshuffles=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", few(CASES, 4))
def test_a_battle_is_what_a_plain_program_makes_of_it(name: str, tmp_path: Path) -> None:
    overlay = tmp_path / "saga" / "decks" / "fate-96.toml"
    overlay.parent.mkdir(parents=True)
    overlay.write_text(OVERLAY, encoding="utf-8")
    read = read_scene(Source("s.toml", scene(CASES[name])), find_ruleset=find_ruleset, extra=(tmp_path,))
    found = scene_odds(game_of(read, by=("ending", "exchanges")), work=10**9)
    assert found.masses == battle(CASES[name])


def test_what_is_given_and_typed_at_the_beginning_of_a_procedure_is_used_there() -> None:
    """One of two cards is meant, as real cards say; the same answer is not there for a later question."""
    text = """
ruleset = "saga"
policy = "sensible"
[characters.ada]
name = "Ada"
hand-size = 1
abilities = { strength = 10, agility = 10 }
[characters.imp]
name = "Imp"
played-by = "gm"
health = 99
abilities = { strength = 0, agility = 0 }
[[steps]]
actor = "ada"
procedure = "battle"
with = { hand = "St5", exchanges = 1 }
given = { place = ["St5-"], gm-card = ["Wi9"], draw = ["Wi8"], redraw = ["Wi7n", "Ag1"] }
choose = { trump = "draw" }
"""
    read = read_scene(Source("s.toml", text), find_ruleset=find_ruleset)
    (found,) = scene_odds(game_of(read, by=("ending", "piles.discard"))).masses
    assert found[0] == "undecided"
    assert "St5-" in str(found[1])
