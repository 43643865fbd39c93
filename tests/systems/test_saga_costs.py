"""Saga between heroes and in battles: every question, card and cost, held against a referee of another make.

The referee is written from the rules alone (`rulesets/saga/SOURCES.md`). It is handed what was drawn and decided, and
says by itself what may be drawn, who may be asked what, where every card lies then, and what it has cost.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import Any

import msgspec
import pytest

from rpgres import GM
from rpgres.dice.seeds import Streams
from rpgres.engine.piles import lay_out
from rpgres.engine.players import Question, View, policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Result
from rpgres.engine.run import run
from rpgres.model.events import DrawEvent
from rpgres.model.state import Character, Map, State, blank_character, code_of
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from tests.support.effort import games

LEVEL = 4  # of difficulty
SUITS = {"strength": "St", "agility": "Ag", "intellect": "In", "willpower": "Wi"}
Asked = tuple[str, str, frozenset[str], str]  # the label, who, what may be answered, and the answer


@cache
def rules(**switches: str) -> Rules:
    return load_rules(find_ruleset("saga"), switches=switches)


def value(card: str) -> int:
    return int(card[2:])


def short(card: str) -> str:
    """Return a card without its aura and its number: neither matters here."""
    return code_of(card).rstrip("+-n")


class Hero:
    """A hero as the referee knows one.

    Attributes:
        size: how many cards fill the hand.
        locked: how many places are lost.
    """

    def __init__(self, name: str, abilities: dict[str, int], *, edge: int, size: int, helped: bool) -> None:
        self.name, self.abilities, self.edge, self.size, self.helped = name, abilities, edge, size, helped
        self.locked, self.is_out = 0, False
        self.hand: list[str] = []


class Foe:
    """Somebody with points."""

    def __init__(self, name: str, abilities: dict[str, int], *, health: int, weapon: int, defense: int) -> None:
        self.name, self.abilities, self.health, self.weapon, self.defense = name, abilities, health, weapon, defense
        self.is_out = False


Fighter = Hero | Foe


class Means(msgspec.Struct):
    """With which abilities a battle is fought, at which level, and whether heroes may push."""

    attack: str
    defend: str
    level: int
    dire: bool


class Referee:
    """Where every card lies, and what is to happen next.

    Args:
        switches: the house rules in force.
        piles: the cards of the deck, the discard and the bank.
        asked, drawn: what was asked and drawn, in order: the label, who drew, and the card.
    """

    def __init__(
        self, switches: dict[str, str], piles: dict[str, list[str]], asked: list[Asked], drawn: list[tuple[str, ...]]
    ) -> None:
        self.on, self.asked, self.drawn = switches, asked, drawn
        self.deck, self.discard, self.bank = Counter(piles["deck"]), list(piles["discard"]), list(piles["bank"])
        self.gm_card: str | None = None

    def says(self, switch: str, choice: str) -> bool:
        return self.on.get(switch, "") == choice

    def ask(self, label: str, who: str, options: Iterable[str], *, may_skip: bool = False) -> str:
        """Return what was answered; one option is no question."""
        offered = frozenset([*options, *(["no"] if may_skip else [])])
        if len(offered) == 1:
            return next(iter(offered))
        assert self.asked, (label, who, offered)
        assert self.asked[0][:3] == (label, who, offered)
        return self.asked.pop(0)[3]

    def draw(self, label: str, by: str) -> str | None:
        if not self.deck.total():
            self.deck, self.discard = Counter(self.discard), []
        if not self.deck.total():
            return None
        its, whose, card = self.drawn.pop(0)
        assert (its, whose) == (label, by)
        assert self.deck[card], f"{card} is not in the deck"
        self.deck[card] -= 1
        return card

    def fill(self, hero: Hero) -> None:
        while len(hero.hand) < hero.size - hero.locked:
            card = self.draw("redraw", hero.name)
            if card is None:
                return
            hero.hand.append(card)

    # The game master's cards

    def turned_up(self) -> int:
        if self.gm_card is None:
            self.gm_card = self.draw("gm-card", GM)
        return value(self.gm_card) if self.gm_card is not None else 0

    def put_away(self) -> None:
        if self.gm_card is not None:
            self.discard.append(self.gm_card)
        self.gm_card = None

    def doom(self, *, lead: int | None = None) -> int:
        """Return what the game master adds: before cards are played, or while the hero is still ahead."""
        raised = 0
        while self.bank and (lead is None or raised <= lead):
            chosen = self.ask("doom", GM, set(self.bank), may_skip=True)
            if chosen == "no":
                break
            self.bank.remove(chosen)
            self.discard.append(chosen)
            raised += value(chosen)
            if self.says("doom_max_per_action", "one"):
                break
        return raised

    def may_doom(self, used: int) -> bool:
        return not used or not self.says("doom_max_per_action", "one")

    def needed(self, difficulty: int) -> int:
        return difficulty + (1 if self.says("tie", "fail") else 0)

    # A hero's play

    def play(self, hero: Hero, ability: str, *, dire: bool) -> Played:
        """Return a play: push, a card, more by the edge, and draws for trumps."""
        played = Played(hero.abilities[ability])
        if dire and len(hero.hand) > 1:
            chosen = self.ask("push", hero.name, set(hero.hand), may_skip=True)
            if chosen != "no":
                hero.hand.remove(chosen)
                played.pushed.append(chosen)
        chosen = self.ask("play", hero.name, set(hero.hand))
        while chosen != "no":
            card = chosen
            hero.hand.remove(card)
            played.cards.append(card)
            while card[:2] == SUITS[ability]:
                if self.ask("trump", hero.name, ["draw"], may_skip=True) == "no":
                    break
                drawn = self.draw("draw", hero.name)
                if drawn is None:
                    break
                played.drawn.append(card := drawn)
            if value(played.cards[-1]) > hero.edge or not hero.hand:
                break
            chosen = self.ask("play", hero.name, set(hero.hand), may_skip=True)
        return played

    def clean_up(self, hero: Hero, played: Played) -> None:
        for kept, cards in (
            (True, played.cards),
            (self.says("bank_trump_doom", "yes"), played.drawn),
            (self.says("bank_push_doom", "yes"), played.pushed),
        ):
            for card in cards:
                (self.bank if kept and card.startswith("Do") else self.discard).append(card)
        hero.locked += len(played.pushed)

    # Hero against hero

    def versus(
        self, own: Hero, other: Hero, *, abilities: Sequence[str], difficulty: int, rounds: int, dire: bool
    ) -> bool:
        """Return whether the first hero wins; hands are filled after each round."""
        won: list[bool] = []
        with_ = {own.name: abilities[0], other.name: abilities[1]}
        for number in range(rounds):
            first, second = (own, other) if number % 2 == 0 else (other, own)
            is_first = self.round(first, second, with_, difficulty=difficulty, dire=dire)
            won.append(is_first is (first is own))
            self.fill(own)
            self.fill(other)
        ahead = 2 * sum(won) - rounds
        return ahead > 0 if rounds > 1 and self.says("rounds_decide", "most") and ahead else won[-1]

    def round(self, first: Hero, second: Hero, with_: dict[str, str], *, difficulty: int, dire: bool) -> bool:
        """Return whether the hero who plays first has the better of a round."""
        sign = {"subtract": -1, "none": 0}.get(self.on.get("hero_vs_hero_difficulty", ""), 1)
        must, any_time = self.says("active_must_succeed", "yes"), not self.says("doom_timing", "before_play")
        level = difficulty + (self.turned_up() if self.says("gm_card_in_pvp", "yes") else 0)
        used = self.doom() if not any_time and (sign or must) else 0
        played = self.play(first, with_[first.name], dire=dire)
        in_score = self.says("skill_in_pvp", "score")
        score = played.total + (LEVEL if first.helped and in_score else 0)
        if must:
            own = self.needed(level - (LEVEL if first.helped and not in_score else 0) + used)
            if score >= own and any_time:
                more = self.doom(lead=score - own)
                used, own = used + more, own + more
            if score < own:
                self.clean_up(first, played)
                if self.says("redraw_between", "yes"):
                    self.fill(first)
                self.put_away()
                return False
        target = score + sign * (level + used) - (LEVEL if second.helped else 0)
        if any_time and sign and self.may_doom(used):
            more = self.doom()
            used, target = used + more, target + sign * more
        if self.says("redraw_between", "yes"):
            first.locked += len(played.pushed)
            self.fill(first)
            first.locked -= len(played.pushed)
        need = self.needed(target)
        answer = self.play(second, with_[second.name], dire=dire)
        ahead = answer.total - need
        lead = ahead if sign > 0 else -1 - ahead
        if any_time and sign and self.may_doom(used) and lead >= 0:
            ahead -= sign * self.doom(lead=lead)
        self.clean_up(first, played)
        self.clean_up(second, answer)
        self.put_away()
        return ahead < 0

    # Battles

    def battle(self, heroes: Sequence[Hero], foes: Sequence[Foe], means: Means, *, exchanges: int) -> str:
        """Return how a battle ends."""
        for _ in range(exchanges):
            blows: list[tuple[Fighter, Fighter, int]] = []
            order: list[Fighter] = [*heroes, *foes] if not self.says("battle_first", "foes") else [*foes, *heroes]
            for one in [one for one in order if not one.is_out]:
                targets = [other for other in (foes if one in heroes else heroes) if not other.is_out]
                if one.is_out or not targets or (isinstance(one, Hero) and not one.hand):
                    continue
                asked = one.name if isinstance(one, Hero) else GM
                name = self.ask("target", asked, [other.name for other in targets])
                other = next(other for other in targets if other.name == name)
                if self.hits(one, other, means):
                    blows.append((one, other, one.abilities[means.attack]))
                    if self.says("battle_harm", "at_once"):
                        self.harm(*blows.pop())
            for blow in blows:
                self.harm(*blow)
            self.put_away()
            left = any(not one.is_out for one in heroes), any(not one.is_out for one in foes)
            if not all(left):
                return {(True, False): "won", (False, True): "lost", (False, False): "draw"}[left]
        return "undecided"

    def hits(self, one: Fighter, other: Fighter, means: Means) -> bool:
        """Return whether an attack hits: a hero's succeeds against the foe, a foe's unless the hero wards it off."""
        if isinstance(one, Hero):
            return self.action(one, means.attack, means, opposing=other.abilities[means.defend])
        assert isinstance(other, Hero)
        return not (other.hand and self.action(other, means.defend, means, opposing=one.abilities[means.attack]))

    def action(self, hero: Hero, ability: str, means: Means, *, opposing: int) -> bool:
        """Return whether a hero succeeds against what opposes; the hand is filled after it."""
        base = max(0, means.level - (LEVEL if hero.helped else 0))
        card = 0 if self.says("gm_card", "none") else self.turned_up()
        any_time = not self.says("doom_timing", "before_play")
        used = self.doom() if not any_time else 0
        need = self.needed(base + opposing + card + used)
        played = self.play(hero, ability, dire=means.dire)
        ahead = played.total - need
        if any_time and ahead >= 0:
            ahead -= self.doom(lead=ahead)
        self.clean_up(hero, played)
        if self.says("gm_card", "action"):
            self.put_away()
        self.fill(hero)
        return ahead >= 0

    def harm(self, by: Fighter, on: Fighter, amount: int) -> None:
        if on.is_out:
            return
        amount += by.weapon if isinstance(by, Foe) else 0
        amount = max(0, amount - (on.defense if isinstance(on, Foe) else 0))
        if isinstance(on, Foe):
            on.health = max(0, on.health - amount)
            on.is_out = not on.health
            return
        worth = {card: 1 if self.says("damage_mode", "count") else value(card) for card in on.hand}
        paid: list[str] = []
        whole = list(on.hand)
        while sum(worth[card] for card in paid) < amount and on.hand:
            ways = [
                pay
                for count in range(1, len(whole) + 1)
                for pay in combinations(whole, count)
                if sum(worth[card] for card in pay) >= amount
                and all(sum(worth[card] for card in pay) - worth[card] < amount for card in pay)
                and not Counter(paid) - Counter(pay)
            ]
            if not ways:
                self.ask("pay", on.name, ["all"])
                paid += on.hand
                on.hand = []
                break
            next_ones = {card for pay in ways for card in Counter(pay) - Counter(paid)}
            chosen = self.ask("pay", on.name, next_ones)
            on.hand.remove(chosen)
            paid.append(chosen)
        for card in paid:
            (self.bank if self.says("bank_damage_doom", "yes") and card.startswith("Do") else self.discard).append(card)
        on.locked += len(paid)
        on.is_out = bool(amount) and not on.hand


class Played:
    """What a hero has played: cards of the hand, cards drawn for trumps, and what was pushed."""

    def __init__(self, ability: int) -> None:
        self.ability = ability
        self.cards: list[str] = []
        self.drawn: list[str] = []
        self.pushed: list[str] = []

    @property
    def total(self) -> int:
        return self.ability + sum(map(value, (*self.cards, *self.drawn, *self.pushed)))


# ---------------------------------------------------------------------------------------------------------------------
# What is played, and what the referee makes of it


def somebody(
    name: str, abilities: dict[str, int], *, skills: bool = False, seat: str = "", **counters: int
) -> Character:
    blank = blank_character(name)
    records = Map({"skills": Map({"brawling": Map({"ability": "strength"})})}) if skills else blank.records
    return msgspec.structs.replace(
        blank,
        seat=seat or blank.seat,
        abilities=Map(abilities),
        counters=Map({**blank.counters, **counters}),
        records=records,
    )


class Case:
    """A random table: two heroes with hands, a short deck, a discard and a bank; and who is asked answers at random."""

    def __init__(self, chance: random.Random, choices: dict[str, Sequence[str]]) -> None:
        self.chance = chance
        self.switches = {name: chance.choice(all_) for name, all_ in choices.items() if chance.random() < 0.4}
        self.asked: list[Asked] = []
        whole = list(lay_out(rules(), State()).piles["deck"].cards)
        chance.shuffle(whole)
        self.heroes: list[Hero] = []
        self.state = lay_out(rules(**self.switches), State())
        piles = {}
        for name in ("ada", "bo"):
            edge, size = chance.randint(0, 4), chance.randint(2, 5)
            scores = {ability: chance.randint(0, 12) for ability in SUITS}
            hero = Hero(name, scores, edge=edge, size=size, helped=chance.random() < 0.4)
            cards, whole = whole[:size], whole[size:]
            hero.hand = [short(card) for card in cards]
            piles[f"hand:{name}"] = cards
            self.heroes.append(hero)
            own = {"hand-size": size, "edge": edge}
            self.state = self.state.with_character(somebody(name, scores, skills=hero.helped, **own))
        doom = [card for card in whole if card.startswith("Do")][: chance.choice((0, 0, 1, 2, 4))]
        whole = [card for card in whole if card not in doom]
        left = chance.choice((0, 3, 8, len(whole)))
        piles |= {"deck": whole[:left], "discard": whole[left:], "doom-bank": doom}
        self.state = lay_out(rules(**self.switches), self.state)
        laid = {
            name: msgspec.structs.replace(self.state.piles[name], cards=tuple(sorted(cards)))
            for name, cards in piles.items()
        }
        self.state = msgspec.structs.replace(self.state, piles=Map({**self.state.piles, **laid}))
        self.piles = {name: [short(card) for card in piles[pile]] for name, pile in PILES.items()}

    def answered(self, _view: View, question: Question) -> str:
        names = [option.name for option in question.listed] + (["no"] if question.optional else [])
        weights = [3 if name in ("draw", "no") else 2 for name in names]
        answer = self.chance.choices(names, weights)[0]
        offered = frozenset("no" if name == "stop" else name for name in names)
        self.asked.append((question.label, question.who, offered, "no" if answer == "stop" else answer))
        return answer

    def played(self, action: str, inputs: dict[str, Any]) -> tuple[Result, State, Referee]:
        """Return what came of an action, and a referee who knows what was decided and drawn in it."""
        ready = prepare(rules(**self.switches), action, inputs, state=self.state, actor="ada")
        seed = str(self.chance.randrange(10**6))
        result, after = run(ready, streams=Streams(seed), prompt=self.answered, identify=False)
        assert isinstance(result, Result)
        drawn = [(one.label, one.by, short(one.card)) for one in result.events if isinstance(one, DrawEvent)]
        return result, after, Referee(self.switches, self.piles, self.asked, drawn)

    def same(self, referee: Referee, after: State) -> None:
        """Check that every card and every cost is where the referee has it, and that nothing else was asked."""
        assert (referee.asked, referee.drawn) == ([], [])
        found = {name: Counter(map(short, after.piles[pile].cards)) for name, pile in PILES.items()}
        kept = {"deck": +referee.deck, "discard": Counter(referee.discard), "bank": Counter(referee.bank)}
        assert found == kept
        for hero in self.heroes:
            counters = after.characters[hero.name].counters
            assert Counter(map(short, after.piles[f"hand:{hero.name}"].cards)) == Counter(hero.hand)
            assert counters.get("lost", 0) + counters.get("pushed", 0) == hero.locked
            assert after.characters[hero.name].is_out is hero.is_out


PILES = {"deck": "deck", "discard": "discard", "bank": "doom-bank"}
BETWEEN_HEROES: dict[str, Sequence[str]] = {
    "hero_vs_hero_difficulty": ("subtract", "none"),
    "active_must_succeed": ("yes",),
    "gm_card_in_pvp": ("yes",),
    "redraw_between": ("yes",),
    "rounds_decide": ("most",),
    "skill_in_pvp": ("score",),
    "tie": ("fail",),
    "doom_timing": ("before_play",),
    "doom_max_per_action": ("one",),
    "bank_push_doom": ("yes",),
    "bank_trump_doom": ("yes",),
    "push_recovery": ("scene",),
}
IN_BATTLE: dict[str, Sequence[str]] = {
    "battle_harm": ("at_once",),
    "battle_first": ("foes",),
    "gm_card": ("action", "none"),
    "tie": ("fail",),
    "doom_timing": ("before_play",),
    "doom_max_per_action": ("one",),
    "damage_mode": ("count",),
    "bank_damage_doom": ("yes",),
    "bank_push_doom": ("yes",),
}


def versus_case(seed: int) -> None:
    chance = random.Random(seed)
    case = Case(chance, BETWEEN_HEROES)
    first, second = case.heroes
    abilities = chance.choice([*SUITS]), chance.choice([*SUITS])
    inputs: dict[str, Any] = {
        "ability": abilities[0],
        "vs": (difficulty := chance.randint(0, 12)),
        "against": f"bo:{abilities[1]}",
        "skilled": first.helped,
        "against-skilled": second.helped,
        "rounds": (rounds := chance.randint(1, 3)),
        "dire": (dire := chance.random() < 0.6),
    }
    result, after, referee = case.played("versus", inputs)
    is_won = referee.versus(first, second, abilities=abilities, difficulty=difficulty, rounds=rounds, dire=dire)
    assert result.success is is_won
    case.same(referee, after)


def battle_case(seed: int) -> None:
    chance = random.Random(seed)
    case = Case(chance, IN_BATTLE)
    foes = []
    for name in ("cur", "dog")[: chance.randint(1, 2)]:
        scores = {ability: chance.randint(0, 12) for ability in SUITS}
        own = {"health": chance.randint(1, 25), "weapon": chance.choice((0, 3)), "defense": chance.choice((0, 2))}
        foes.append(Foe(name, scores, health=own["health"], weapon=own["weapon"], defense=own["defense"]))
        case.state = case.state.with_character(somebody(name, scores, seat=GM, **own))
    means = Means(chance.choice([*SUITS]), chance.choice([*SUITS]), chance.choice((0, 2, 4, 8)), chance.random() < 0.6)
    inputs: dict[str, Any] = {
        "against": [foe.name for foe in foes],
        "beside": ["bo"],
        "skill": ["brawling"] if any(hero.helped for hero in case.heroes) else [],
        "exchanges": (exchanges := chance.randint(1, 4)),
        **msgspec.structs.asdict(means),
    }
    result, after, referee = case.played("battle", inputs)
    band = referee.battle(case.heroes, foes, means, exchanges=exchanges)
    assert result.outcome == band
    case.same(referee, after)
    for foe in foes:
        assert after.characters[foe.name].counters.get("health", 0) == foe.health
        assert after.characters[foe.name].is_out is foe.is_out


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_what_heroes_play_against_each_other_costs_what_the_rules_say(part: int) -> None:
    for number in range(games(50)):
        versus_case(8 * number + part)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_what_a_battle_costs_is_what_the_rules_say(part: int) -> None:
    for number in range(games(50)):
        battle_case(8 * number + part)


def drawn_in_every_order(switches: dict[str, str], chance: random.Random) -> tuple[Fraction, Fraction]:
    """Return the odds of three rounds between heroes of two cards each, and the same by drawing in every order."""
    chosen = rules(reshuffle="never", **switches)
    whole = lay_out(chosen, State()).piles["deck"].cards
    trumps, others = ([card for card in whole if card[:2] in suits] for suits in (("St",), ("Ag", "In", "Wi")))
    cards = [*chance.sample(trumps, 2), *chance.sample(others, 6)]  # enough for three rounds and what trumps draw
    chance.shuffle(cards)
    state = State()
    for name in ("ada", "bo"):
        state = state.with_character(somebody(name, {"strength": 5}, **{"hand-size": 2, "edge": 0}))

    def laid(**piles: dict[str, Any]) -> Prepared:
        whole = lay_out(chosen, state)
        hands = {"hand:ada": {"cards": tuple(sorted(cards[:2]))}, "hand:bo": {"cards": tuple(sorted(cards[2:4]))}}
        found = {name: msgspec.structs.replace(whole.piles[name], **its) for name, its in {**hands, **piles}.items()}
        here = msgspec.structs.replace(whole, piles=Map({**whole.piles, **found}))
        inputs = {"ability": "strength", "vs": 2, "against": "bo:strength", "rounds": 3}
        return prepare(chosen, "versus", inputs, state=here, actor="ada")

    policies = {"": policy_of(chosen, "sensible")}
    odds = outcome_odds(laid(deck={"cards": tuple(sorted(cards[4:]))}), policies=policies)
    assert not odds.open
    won = []
    for order in permutations(cards[4:]):
        ready = laid(deck={"cards": (), "top": order, "knowers": ((),) * len(order)})
        result, _ = run(ready, streams=Streams("1"), policies=policies, identify=False)
        assert isinstance(result, Result)
        won.append(bool(result.success))
    return odds.masses.get("succeed", Fraction(0)), Fraction(sum(won), len(won))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("by", ["last", "most"])
def test_odds_of_several_rounds_are_those_of_every_order_of_the_deck(by: str, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(2):
        exact, counted = drawn_in_every_order({"rounds_decide": by}, chance)
        assert exact == counted
