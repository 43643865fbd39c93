"""Saga: exchanges and battles: what holds whoever plays, odds by counting the deck, and what a seat learns."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres import GM
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.events import Drawn, Turned, seen
from rpgres.engine.piles import lay_out
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import play, run
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Outcome
from rpgres.model.state import FACE_DOWN, Character, Map, State, blank_character, code_of
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.sheets import read_sheet
from tests.support.effort import examples


@cache
def rules(**switches: str) -> Rules:
    return load_rules(find_ruleset("saga"), switches=switches)


def somebody(name: str, *, seat: str = "", abilities: dict[str, int], **counters: int) -> Character:
    blank = blank_character(name)
    return msgspec.structs.replace(
        blank, seat=seat or blank.seat, abilities=Map(abilities), counters=Map({**blank.counters, **counters})
    )


def foe(name: str, *, strength: int, agility: int, health: int) -> Character:
    return somebody(name, seat=GM, abilities={"strength": strength, "agility": agility}, health=health)


def table_of(*others: Character, sheets: tuple[str, ...] = ("brannagh", "ilse")) -> State:
    state = State()
    for name in sheets:
        state = state.with_character(read_sheet(rules(), name).character)
    for other in others:
        state = state.with_character(other)
    return state


def played(prepared: Prepared, policy: str, *, seed: str = "1") -> tuple[Outcome, Run]:
    policies = {"": policy_of(prepared.rules, policy)}
    return play(prepared, dealer=SeededDealer(Streams(seed)), players=Seats(policies=policies))


WARDEN = foe("warden", strength=9, agility=6, health=15)
COUSIN = foe("cousin", strength=7, agility=8, health=12)


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
@given(
    seed=st.integers(0, 9999),
    policy=st.sampled_from(["sensible", "lavish", "uniform"]),
    switches=st.fixed_dictionaries(
        {},
        optional={
            "battle_harm": st.just("at_once"),
            "battle_first": st.just("foes"),
            "gm_card": st.sampled_from(["action", "none"]),
            "reshuffle": st.just("never"),
            "push_recovery": st.just("exchange"),
            "damage_mode": st.just("count"),
            "empty_hand_flip": st.just("yes"),
        },
    ),
    exchanges=st.integers(1, 8),
)
def test_whoever_plays_it_ends_and_every_card_lies_in_one_place(
    seed: int, policy: str, switches: dict[str, str], exchanges: int
) -> None:
    chosen = rules(**switches)
    inputs = {"beside": ["ilse"], "dire": True, "exchanges": exchanges}
    prepared = prepare(chosen, "battle", inputs, state=table_of(WARDEN, COUSIN), actor="brannagh")
    outcome, done = played(prepared, policy, seed=str(seed))
    state = apply_effects(chosen, done.state, outcome)
    cards = [card for pile in state.piles.values() for card in (*pile.cards, *pile.top)]
    assert sorted(cards) == sorted(lay_out(chosen, State()).piles["deck"].cards)
    for name in ("brannagh", "ilse"):
        counters = state.characters[name].counters
        limit = counters["hand-size"] - counters.get("lost", 0) - counters.get("pushed", 0)
        assert len(state.piles[f"hand:{name}"].cards) <= limit
    assert not state.piles["in-play"].cards
    assert not state.piles["gm-card"].cards
    standing = [
        any(not state.characters[name].is_out for name in side) for side in (("brannagh", "ilse"), ("warden", "cousin"))
    ]
    expected = {(True, True): "undecided", (True, False): "won", (False, True): "lost", (False, False): "draw"}
    assert outcome.band == expected[standing[0], standing[1]]


def drawn_for(run_: Run) -> list[int]:
    """Return how many cards of the game master were turned up before each action of a hero."""
    found, count = [], 0
    for event in run_.events:
        if isinstance(event, Drawn) and event.label == "gm-card":
            count += 1
        if isinstance(event, Turned) and event.action.startswith(("attack", "answer")):
            found.append(count)
    return found


@pytest.mark.parametrize(("gm_card", "expected"), [("exchange", [1, 1]), ("action", [1, 2]), ("none", [0, 0])])
def test_one_card_of_the_game_master_counts_for_all_of_an_exchange(gm_card: str, expected: list[int]) -> None:
    chosen = rules(gm_card=gm_card)
    strong = foe("giant", strength=1, agility=1, health=1000)
    prepared = prepare(chosen, "battle", {"exchanges": 3}, state=table_of(strong), actor="brannagh")
    _, done = played(prepared, "sensible")
    assert drawn_for(done)[:2] == expected
    assert drawn_for(done) == [count + turn * expected[1] for turn in range(3) for count in expected]


@pytest.mark.parametrize("harm", ["results", "at_once"])
def test_whoever_falls_has_acted_unless_harm_is_paid_at_once(harm: str) -> None:
    weak = foe("imp", strength=0, agility=0, health=1)
    prepared = prepare(rules(battle_harm=harm), "exchange", {}, state=table_of(weak), actor="brannagh")
    outcome, done = played(prepared, "sensible")
    actions = [event.action for event in done.events if isinstance(event, Turned)]
    assert outcome.band == "won"
    assert actions == (["attack imp", "answer imp", "harm"] if harm == "results" else ["attack imp", "harm"])


def test_harm_is_that_of_the_attackers_ability_and_weapon_less_the_defense() -> None:
    state = table_of(
        somebody("ogre", seat=GM, abilities={"strength": 16, "agility": 0}, health=20, weapon=6, defense=3)
    )
    armored = state.characters["brannagh"].counters.with_("defense", 4)
    state = state.with_character(msgspec.structs.replace(state.characters["brannagh"], counters=armored))
    _, done = played(prepare(rules(), "exchange", {}, state=state, actor="brannagh"), "sensible")
    told = [event.text for event in done.events if hasattr(event, "text") and "of harm" in event.text]
    assert told == ["14 less a defense of 3: 11 of harm", "16 and 6 less a defense of 4: 18 of harm"]


def test_a_hero_without_a_card_neither_attacks_nor_answers() -> None:
    """The deck is empty and stays so: the second hero of the exchange was dealt nothing."""
    base = lay_out(rules(reshuffle="never"), table_of(foe("imp", strength=2, agility=0, health=99)))
    deck = base.piles["deck"]
    hand = msgspec.structs.replace(base.piles["hand:brannagh"], cards=deck.cards[:5])
    empty = msgspec.structs.replace(deck, cards=())
    rest = msgspec.structs.replace(base.piles["discard"], cards=deck.cards[5:])
    piles = base.piles.with_("hand:brannagh", hand).with_("deck", empty).with_("discard", rest)
    state = msgspec.structs.replace(base, piles=piles)
    inputs = {"beside": ["ilse"]}
    prepared = prepare(rules(reshuffle="never"), "exchange", inputs, state=state, actor="brannagh")
    result, _ = run(prepared, streams=Streams("1"), policies={"": policy_of(rules())}, choose={"gm:target": ["ilse"]})
    assert isinstance(result, Result)
    texts = [event.text for event in result.events if hasattr(event, "text")]
    assert "ilse has no card to act with" in texts
    assert "ilse has no card to answer imp with" in texts


# -- odds


@pytest.mark.slow
@pytest.mark.parametrize("need", [3, 5, 7])
def test_odds_of_an_exchange_agree_with_counting_what_is_left_of_the_deck(need: int) -> None:
    """A dozen cards are left to be turned up; a foe who bears one blow falls where the card leaves the total enough."""
    left = ("Ag1n", "Ag3n", "In4n", "In5+", "In6-", "In7n", "Wi8+", "Do9+", "St1n")
    hand = ("In2+", "Wi2-")
    whole = lay_out(rules(), State()).piles["deck"].cards
    away = [card for card in whole if code_of(card) not in (*left, *hand)]
    hero = somebody("ada", abilities={"strength": 10, "agility": 99}, **{"hand-size": 2})
    state = State().with_character(hero).with_character(foe("imp", strength=0, agility=8 - need, health=1))
    inputs = {"hand": ",".join(hand), "discard": ",".join(map(code_of, away))}
    chosen = rules(battle_harm="at_once", reshuffle="never")
    prepared = prepare(chosen, "exchange", inputs, state=state, actor="ada")
    odds = outcome_odds(prepared, policies={"": policy_of(chosen)}, seconds=60)
    values = [int(code_of(card)[2]) for card in whole if code_of(card) in left]
    enough = sum(4 + (8 - need) + value <= 10 + 2 for value in values)
    assert not odds.open
    assert odds.masses["won"] == Fraction(enough, len(values))


# -- secrets


@settings(max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_two_battles_that_differ_in_what_a_hero_holds_look_the_same_to_others(data: st.DataObject) -> None:
    """Two cards are played, an attack's and an answer's; the other four of the hand nobody sees."""
    weak = foe("imp", strength=0, agility=0, health=99)
    base = lay_out(rules(), table_of(weak, sheets=("ilse", "brannagh")))
    deck = list(base.piles["deck"].cards)
    own = [next(card for card in deck if code_of(card) == code) for code in ("Do9+", "In9+")]
    drawn = [card for card in deck if code_of(card) in ("Wi1+", "Do1-", "Do2-")]
    rest = [card for card in deck if card not in (*own, *drawn) and card[:2] != "St"]
    told: list[Any] = []
    for _ in range(2):
        others = data.draw(st.lists(st.sampled_from(rest), min_size=4, max_size=4, unique=True))
        hand = msgspec.structs.replace(base.piles["hand:ilse"], cards=tuple(sorted([*own, *others])))
        left = tuple(sorted(card for card in deck if card not in (*own, *others)))
        stock = msgspec.structs.replace(base.piles["deck"], cards=left)
        state = msgspec.structs.replace(base, piles=base.piles.with_("hand:ilse", hand).with_("deck", stock))
        prepared = prepare(rules(), "exchange", {}, state=state, actor="ilse")
        by = {"given": {"gm-card": ["Wi1+"], "redraw": ["Do1-", "Do2-"]}, "choose": {"play": ["Do9", "In9"]}}
        done, after = run(prepared, streams=Streams("7"), identify=False, **by)  # type: ignore[arg-type]
        assert isinstance(done, Result)
        known = [getattr(event, "others", None) or event for event in done.events if event.audience is None]
        told.append((known, done.outcome, done.effects, after.seen_by(GM), after.seen_by("brannagh")))
    assert told[0] == told[1]


def test_others_see_of_a_hand_only_what_is_played() -> None:
    prepared = prepare(rules(), "exchange", {}, state=table_of(WARDEN), actor="brannagh")
    _, done = played(prepared, "sensible")
    dealt = [event for event in done.events if isinstance(event, Drawn) and event.target == "hand:brannagh"]
    assert len(dealt) > 5
    assert {getattr(seen(event, GM), "card", "") for event in dealt} == {FACE_DOWN}


# -- one after the other


def test_a_decision_of_a_later_turn_is_resumed() -> None:
    inputs = {"hand": "In9,Wi9,Wi6,In4,Ag3", "exchanges": 2}
    prepared = prepare(rules(), "battle", inputs, state=table_of(WARDEN), actor="brannagh")
    waits, _ = run(prepared, streams=Streams("7"), choose={"play": ["In9"]})
    assert isinstance(waits, Pending)
    assert (waits.question.label, waits.question.who) == ("play", "brannagh")
    assert [event.action for event in waits.events if hasattr(event, "action")] == ["attack warden"]
    result, _ = run(prepared, streams=Streams("7"), choose={"play": ["In9"]}, policies={"": policy_of(rules())})
    assert isinstance(result, Result)
