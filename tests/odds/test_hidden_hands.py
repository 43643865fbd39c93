"""Odds at a table of which a seat does not see all cards, held against every table that looks the same to it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from msgspec import structs

from rpgres.engine.hidden import known_to
from rpgres.engine.piles import lay_out
from rpgres.engine.players import Question, View
from rpgres.engine.prepare import prepare
from rpgres.errors import UsageError
from rpgres.model.state import Character, Map, Pile, State
from rpgres.odds.exact import outcome_odds
from rpgres.odds.optimal import best_odds
from tests.support import gambit


def greedy(view: View, question: Question) -> str:
    """Play the card whose name comes first, and draw whenever that can be done."""
    return min(option.name for option in question.options)


def table(rules: gambit.Rules, *, a: int, b: int, discard: int = 1) -> State:
    """Return a table at which two hold so many cards."""
    state = lay_out(rules, State(characters=Map({name: Character(name) for name in "ab"})))
    cards = list(state.piles["deck"].cards)
    cards = cards[::3] + cards[1::3] + cards[2::3]
    return with_cards(state, hand_a=cards[:a], hand_b=cards[a : a + b], discard=cards[a + b : a + b + discard])


def with_cards(state: State, *, hand_a: list[str], hand_b: list[str], discard: list[str]) -> State:
    every = [card for pile in state.piles.values() for card in pile.cards]
    lie = {"hand:a": hand_a, "hand:b": hand_b, "discard": discard}
    lie["deck"] = [card for card in every if card not in {*hand_a, *hand_b, *discard}]
    piles = {name: structs.replace(pile, cards=tuple(sorted(lie[name]))) for name, pile in state.piles.items()}
    return structs.replace(state, piles=Map(piles))


def every_table(state: State, hidden: str) -> list[State]:
    """Return all tables that differ in which cards a hand has, each as likely as another."""
    hand, deck = state.piles[f"hand:{hidden}"].cards, state.piles["deck"].cards
    other = "b" if hidden == "a" else "a"
    seen = list(state.piles[f"hand:{other}"].cards)
    found = []
    for cards in combinations((*hand, *deck), len(hand)):
        hands = {f"hand_{hidden}": list(cards), f"hand_{other}": seen}
        found.append(with_cards(state, **hands, discard=list(state.piles["discard"].cards)))
    return found


def odds(rules: gambit.Rules, start: State | None, need: int, **more: object) -> Counter[str]:
    arguments = {"state": start, "actor": "a", **more}
    prepared = prepare(rules, "chase", {"need": need}, **arguments)
    return Counter(outcome_odds(prepared, policies={"": greedy}).masses)


@pytest.mark.parametrize("need", [3, 7, 12])
@pytest.mark.parametrize(("seat", "hidden"), [("b", "a"), ("a", "b")])
@pytest.mark.parametrize("held", [(3, 2), (3, 6)])  # with six in the other hand the deck runs out and is made anew
def test_every_hand_that_a_seat_does_not_see_counts_alike(
    seat: str, hidden: str, need: int, held: tuple[int, int]
) -> None:
    rules = gambit.rules()
    state = table(rules, a=held[0], b=held[1])
    tables = every_table(state, hidden)
    expected: Counter[str] = Counter()
    for one in tables:
        for band, mass in odds(rules, one, need).items():
            expected[band] += mass * Fraction(1, len(tables))
    start = known_to(rules, state, seat, actor="a")
    assert odds(rules, start.state, need) == expected
    for one in tables[::7]:  # which of them it is makes no difference
        assert known_to(rules, one, seat, actor="a") == start


def test_the_host_knows_every_hand() -> None:
    rules = gambit.rules()
    state = table(rules, a=3, b=2)
    start = known_to(rules, state, None, actor="a")
    assert start.state == state


def test_hands_that_are_typed_count_in_place_of_hidden_ones() -> None:
    rules = gambit.rules()
    state = table(rules, a=3, b=2)
    start = known_to(rules, state, "b", actor="a")
    hand = [card.partition(".")[0] for card in state.piles["hand:a"].cards]
    prepared = prepare(rules, "chase", {"need": 7, "hand": ",".join(hand)}, **start.arguments)
    typed = outcome_odds(prepared, policies={"": greedy}).masses
    others = [one for one in every_table(state, "b") if one.piles["hand:a"] == state.piles["hand:a"]]
    assert typed == odds(rules, others[0], 7)  # what b holds b sees


def test_a_card_that_a_seat_knows_on_top_stays_there() -> None:
    rules = gambit.rules()
    state = table(rules, a=3, b=2)
    deck = state.piles["deck"]
    for knowers, count in ((("b",), 1), (("a",), 0)):
        known = Pile(deck.cards[1:], (), top=deck.cards[:1], knowers=(knowers,))
        start = known_to(rules, structs.replace(state, piles=state.piles.with_("deck", known)), "b", actor="a")
        assert start.state is not None
        assert len(start.state.piles["deck"].top) == count
        assert sum(odds(rules, start.state, 7).values()) == 1


def test_who_acts_decides_by_its_own_hand_which_another_seat_does_not_see() -> None:
    """Optimal decisions of a, asked by b: the mean of what a can do with every hand."""
    rules = gambit.rules()
    state = table(rules, a=3, b=4)
    tables = every_table(state, "a")
    mean = Fraction(0)
    for one in tables:
        found = best_odds(prepare(rules, "chase", {"need": 5}, state=one, actor="a"))
        mean += found.value.success / len(tables)
    start = known_to(rules, state, "b", actor="a")
    assert best_odds(prepare(rules, "chase", {"need": 5}, **start.arguments)).value.success == mean


def test_cards_that_nothing_accounts_for_are_refused() -> None:
    rules = gambit.rules()
    state = table(rules, a=3, b=2)
    open_deck = structs.replace(state.piles["deck"], audience=None)
    with pytest.raises(UsageError, match="there are no odds as b knows this table: nothing tells the cards in hand:a"):
        known_to(rules, structs.replace(state, piles=state.piles.with_("deck", open_deck)), "b")
