"""Cards: decks as data, piles that keep every card in exactly one place, draws that are fair, and hands nobody sees."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.events import Drawn
from rpgres.engine.piles import lay_out
from rpgres.engine.players import NO, preferred, uniform
from rpgres.engine.prepare import Prepared
from rpgres.engine.records import Result, answers_of, event_record
from rpgres.engine.run import play, run
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.stops import Broken, Settled
from rpgres.engine.table import Table
from rpgres.errors import GivenError, UsageError
from rpgres.model.cards import DeckFile, build_deck, unknown_card
from rpgres.model.serialization import read_state, state_record
from rpgres.model.state import FACE_DOWN, Pile, State, code_of
from rpgres.odds.exact import outcome_odds
from rpgres.odds.explorer import WalkDealer, explore
from tests.support.effort import examples
from tests.support.gambit import prepared, rules

DECK = Counter({"Re1+": 1, "Re2-": 2, "Re3+": 1, "St1+": 1, "St1-": 1, "St2+": 1, "St3-": 2, "Fo": 2})


def table_of(ready: Prepared, seed: str = "7", given: dict[str, list[str]] | None = None) -> Table:
    dealer = GivenDealer(given or {}, then=SeededDealer(Streams(seed)))
    return Table(Run(ready.rules, ready.state, dealer, Seats(policies={"": preferred}), lump=ready.lump), ready.rules)


def lying(state: State) -> Counter[str]:
    """Return how many of each card lie on the table."""
    return Counter(code_of(card) for pile in state.piles.values() for card in (*pile.cards, *pile.top))


# -- decks


def test_a_deck_has_the_cards_of_its_suits_and_the_lone_ones() -> None:
    deck = rules().layers.deck("little")
    assert deck.counts == DECK
    assert deck.size == 11
    assert deck.cards["Re2-"].value == 2
    assert deck.cards["Re2-"].attributes == {"mood": "sad"}
    assert deck.cards["Re2-"].title == "Reeds 2-"
    assert len(set(deck.copies())) == 11


def test_cards_are_typed_with_or_without_their_sign_in_any_case_and_by_name() -> None:
    cards = rules().cards
    assert cards.matching("st3-") == ("St3-",)
    assert cards.matching("ST1") == ("St1+", "St1-")
    assert cards.matching("RK") == ()
    assert cards.matching("ReK") == ("Re3+",)
    assert cards.matching("fool") == ("Fo",)
    assert cards.matching("St9") == ()


def test_several_cards_are_given_at_once_or_one_by_one() -> None:
    drawn = []
    for typed in (
        ["Re2,Fo", "St2"],
        ["Re2-", " fool", "ST2+"],
        ["Re2, ,Fo,St2"],
        ["Re2  fool St2"],
        ["Re2-", "fool St2"],
    ):
        table = table_of(prepared(), given={"draw": typed})
        drawn.append([card.code for _ in range(3) if (card := table.draw("deck", to="discard", label="draw"))])
    assert drawn == [["Re2-", "Fo", "St2+"]] * 5
    table = table_of(prepared(), given={"draw": ["Re2,Sx1"]})
    table.draw("deck", to="discard", label="draw")
    with pytest.raises(GivenError, match="`given` draw=Sx1: there is no card 'Sx1'"):
        table.draw("deck", to="discard", label="draw")
    dealer = GivenDealer({"draw": ["Re2,Fo"]}, then=SeededDealer(Streams("7")))
    run = Run(prepared().rules, prepared().state, dealer, Seats())
    Table(run, run.rules).draw("deck", to="discard", label="draw")
    assert list(dealer.unused()) == [("draw", "Fo")]


@pytest.mark.parametrize(
    ("typed", "code"),
    [("1+st", "St1+"), ("1St+", "St1+"), ("2st", "St2+"), ("1St", "St1"), ("KRe", "Re3+"), ("9St", ""), ("1" * 99, "")],
)
def test_a_card_typed_with_its_suit_behind_is_known(typed: str, code: str) -> None:
    assert rules().cards.matching(typed) == ()
    told = unknown_card(rules().cards, typed)
    assert (f"there is no card {typed!r}; did you mean {code}?" == told) == bool(code)
    if code:
        assert rules().cards.matching(code)


ONE: dict[str, Any] = {"suits": {"a": {"title": "A", "code": "A", "cards": [1]}}}
JOKER = {"title": "J", "code": "J"}
AURAS = {"signs": {"aura": {"+": "good", "n": "neutral"}}}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"suits": {"a": {"title": "A", "code": "A", "cards": ["x"]}}}, ("suits", "a", "cards", 0)),
        ({"suits": {"a": {"title": "A", "code": "A", "cards": []}}}, ("suits", "a", "cards")),
        ({}, ("suits",)),
        ({**ONE, "card": "{vale} of {suit}"}, ("card",)),
        ({**ONE, "card": "{value of {suit}"}, ("card",)),
        ({**AURAS, "cards": {"j": {**JOKER, "attributes": {"aura": "bad"}}}}, ("cards", "j", "attributes", "aura")),
        ({**AURAS, "cards": {"j": {**JOKER, "attributes": {"arua": "good"}}}}, ("cards", "j", "attributes", "arua")),
        ({"suits": {"a": {"title": "A", "code": "A", "cards": ["3*"]}}}, ("suits", "a", "cards", 0)),
        (
            {"suits": {**ONE["suits"], "b": {"title": "B", "code": "a"}}},
            ("suits", "b", "code"),
        ),
        (
            {**ONE, "cards": {"j": {"title": "J", "code": "A"}}},
            ("cards", "j", "code"),
        ),
        ({**ONE, "signs": {"mood": {"1": "one"}}}, ("signs", "mood", "1")),
    ],
)
def test_what_is_wrong_with_a_deck_is_told_by_key(data: dict[str, Any], path: tuple[str, ...]) -> None:
    file = msgspec.convert({"title": "T", **data}, DeckFile)
    assert [fault[0] for fault in build_deck(file)[1]] == [path]


def test_what_was_meant_in_a_deck_is_told() -> None:
    data = {**AURAS, **ONE, "card": "{vale} of {suit}", "cards": {"j": {**JOKER, "attributes": {"aura": "neutrl"}}}}
    told = [message for _, message in build_deck(msgspec.convert({"title": "T", **data}, DeckFile))[1]]
    assert told[0] == "{vale} is none of {suit}, {value}, {sign}; did you mean {value}?"
    assert told[1] == "'neutrl' is not a meaning of a sign (good, neutral); did you mean `neutral`?"


def test_an_attribute_without_signs_says_anything() -> None:
    file = msgspec.convert({"title": "T", **AURAS, "cards": {"j": {**JOKER, "attributes": {"mood": "x"}}}}, DeckFile)
    assert build_deck(file)[1] == []


# -- every card is in exactly one place


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(
    seed=st.text(alphabet="abc123", min_size=1, max_size=6),
    actions=st.integers(1, 6),
    refill=st.sampled_from(["yes", "no"]),
    suit=st.sampled_from(["reeds", "stones"]),
)
def test_every_card_is_in_exactly_one_place(seed: str, actions: int, refill: str, suit: str) -> None:
    state: State | None = None
    for step in range(actions):
        ready = prepared({"suit": suit, "need": 9}, state=state, refill=refill)
        result, state = run(ready, streams=Streams(seed), step=step, policies={"": uniform})
        assert isinstance(result, Result)
        assert lying(state) == DECK
        everywhere = [card for pile in state.piles.values() for card in pile.cards]
        assert len(everywhere) == len(set(everywhere))
        assert read_state(msgspec.json.decode(msgspec.json.encode(state_record(state)))) == state


def test_an_empty_deck_is_shuffled_anew_from_the_discard_or_stays_empty() -> None:
    for refill, expected in (("yes", True), ("no", False)):
        table = table_of(prepared(refill=refill))
        while table.count("deck"):
            assert table.draw("deck", to="discard") is not None
        assert (table.draw("deck", to="discard") is not None) is expected
        assert table.state.piles["deck"].shuffles == int(expected)
        assert lying(table.state) == DECK


def test_a_rule_can_only_move_what_is_there_and_look_at_what_lies_open() -> None:
    table = table_of(prepared())
    with pytest.raises(Broken, match="does not contain them"):
        table.move(["St3-"], source="discard", to="deck")
    with pytest.raises(Broken, match="face down"):
        table.cards("deck")
    with pytest.raises(Broken, match="not on the table; there are: deck, discard, hand:actor"):
        table.draw("shoe", to="discard")


# -- draws


def test_seeded_draws_are_fair() -> None:
    """Every order of a pile of three is as likely as any other: chi-square with 5 degrees of freedom, 0.1 percent."""
    orders: Counter[tuple[str, ...]] = Counter()
    pile = Pile(cards=("Fo", "Re1+", "St1+"), audience=())
    ready = prepared()
    state = msgspec.structs.replace(ready.state, piles=ready.state.piles.with_("deck", pile))
    for number in range(3000):
        table = table_of(msgspec.structs.replace(ready, state=state), seed=f"fair#{number}")
        drawn = [table.draw("deck", to="discard") for _ in range(3)]
        orders[tuple(card.code for card in drawn if card is not None)] += 1
    expected = 3000 / 6
    assert set(orders) == set(permutations(("Fo", "Re1+", "St1+")))
    assert sum((count - expected) ** 2 / expected for count in orders.values()) < 20.5


@pytest.mark.parametrize("is_given", [True, False])
def test_what_is_left_when_a_sign_was_left_out_is_fair(is_given: bool) -> None:
    """One of two cards of stones is gone, whichever: the other and the fool are as likely to come next."""
    pile = Pile(cards=("Fo", "St1+", "St1-"), audience=())
    ready = prepared()
    state = msgspec.structs.replace(ready.state, piles=ready.state.piles.with_("deck", pile))
    fools, runs = 0, 2000
    for number in range(runs):
        given = {"draw": ["st1"]} if is_given else None
        table = table_of(msgspec.structs.replace(ready, state=state), seed=f"left#{number}", given=given)
        if is_given:
            table.draw("deck", to="discard")
        else:
            table.place("hand:actor", ["st1"], option="--hand")
        card = table.draw("deck", to="discard")
        fools += card is not None and card.code == "Fo"
    assert abs(fools - runs / 2) < 3.3 * (runs / 4) ** 0.5  # 0.1 percent


def test_taking_one_card_out_leaves_the_order_of_the_others() -> None:
    ready = prepared()
    table = table_of(ready)
    order = [table.draw("deck", to="discard") for _ in range(11)]
    codes = [card.code for card in order if card is not None]
    other = table_of(ready, given={"draw": [codes[5]]})
    again = [other.draw("deck", to="discard") for _ in range(11)]
    assert [card.code for card in again if card is not None] == [codes[5], *codes[:5], *codes[6:]]


def test_cards_read_off_a_real_deck_are_drawn_and_impossible_ones_refused() -> None:
    ready = prepared()
    table = table_of(ready, given={"draw": ["st3", "fool", "fool", "fool"]})
    assert [table.draw("deck", to="discard").code for _ in range(3)] == ["St3-", "Fo", "Fo"]  # type: ignore[union-attr]
    with pytest.raises(GivenError, match="no such card is left in deck"):
        table.draw("deck", to="discard")
    with pytest.raises(GivenError, match="there is no card 'St7'"):
        table_of(ready, given={"draw": ["St7"]}).draw("deck", to="discard")


def test_a_hand_that_is_typed_is_taken_from_the_deck() -> None:
    ready = prepared({"hand": "Re1,St3,St3"})
    result, state = run(ready, streams=Streams("7"), choose={"play": ["re1p"], "more": [NO]})
    assert isinstance(result, Result)
    assert state.piles["hand:actor"].cards == ("St3-", "St3-.2")
    assert state.piles["discard"].cards == ("Re1+",)
    assert lying(state) == DECK


def test_the_cards_that_a_typed_hand_replaces_go_back_shuffled() -> None:
    """Three of the eight left were in hand before: the next to be drawn is one of them in three of eight cases."""
    ready, again, runs = prepared(), 0, 800
    for number in range(runs):
        table = table_of(ready, seed=f"back#{number}")
        table.deal("deck", to="hand:actor", count=3)
        before = table.state.piles["hand:actor"].cards
        codes = {code_of(card) for card in before}
        others = [card for card in sorted(table.state.piles["deck"].cards) if code_of(card) not in codes][:3]
        table.place("hand:actor", [code_of(card) for card in others], option="--hand")
        held = set(table.state.piles["hand:actor"].cards)
        assert lying(table.state) == DECK
        table.draw("deck", to="discard")
        assert not held & set(table.state.piles["discard"].cards)
        again += table.state.piles["discard"].cards[0] in before
    assert abs(again - runs * 3 / 8) < 4 * (runs * 15 / 64) ** 0.5
    table = table_of(ready)
    table.deal("deck", to="hand:actor", count=3)
    order = table.state.piles["deck"]
    table.place("hand:actor", [code_of(card) for card in table.state.piles["hand:actor"].cards], option="--hand")
    assert table.state.piles["deck"] == order  # what was in hand still is


@pytest.mark.parametrize(
    ("hand", "message"),
    [
        ("St3,St3,St3", "`hand`: no St3 is left in deck"),
        ("St3,Sx1", "`hand`: there is no card 'Sx1'"),
        ("Re9", "there is no card 'Re9'; there are such as Re1"),
        ("3St", "there is no card '3St'; did you mean St3-?"),
        ("1", "there is no card '1': the suit comes first, as in "),
    ],
)
def test_cards_that_cannot_be_in_a_hand_are_refused(hand: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(prepared({"hand": hand}), streams=Streams("7"))


def test_the_answers_of_a_run_replay_it() -> None:
    ready = prepared({"need": 8})
    first, after = run(ready, streams=Streams("11"), policies={"": uniform})
    assert isinstance(first, Result)
    scripts: dict[str, dict[str, list[str]]] = {"chance": {}, "decision": {}}
    for answer in first.answers:
        scripts[answer.kind].setdefault(answer.label, []).append(answer.value)
    again, state = run(ready, streams=Streams("12"), given=scripts["chance"], choose=scripts["decision"])
    assert isinstance(again, Result)
    assert again.answers == first.answers
    codes = {name: Counter(map(code_of, pile.cards)) for name, pile in after.piles.items()}
    assert {name: Counter(map(code_of, pile.cards)) for name, pile in state.piles.items()} == codes


# -- the top of a pile


def test_looking_at_the_top_tells_whoever_looks_and_nobody_else() -> None:
    table = table_of(prepared())
    seen = table.peek("deck", 2, by="actor")
    own, other = (table.state.seen_by(seat).piles["deck"] for seat in ("actor", "gm"))
    assert [code_of(card) for card in own.top] == [card.code for card in seen]
    assert other.cards == (FACE_DOWN,) * 11
    assert other.top == ()
    assert [event_record(event).others.card for event in table.run.events] == [FACE_DOWN] * 2
    assert [table.draw("deck", to="discard") for _ in range(2)] == list(seen)
    assert lying(table.state) == DECK


def test_what_was_looked_at_is_what_would_have_been_drawn() -> None:
    drawn = [table_of(prepared()).draw("deck", to="discard") for _ in range(1)]
    assert list(table_of(prepared()).peek("deck", by="actor")) == drawn


def test_somebody_else_who_looks_further_learns_both_and_the_first_no_more() -> None:
    table = table_of(prepared())
    table.peek("deck", 1, by="actor")
    both = table.peek("deck", 2, by="gm")
    first = table.state.seen_by("actor").piles["deck"].top
    assert [code_of(card) for card in first] == [both[0].code, FACE_DOWN]


def test_a_card_laid_on_top_is_drawn_next_and_known_to_whoever_laid_it() -> None:
    table = table_of(prepared({"hand": "Re1,St1+,Fo"}))
    table.place("hand:actor", ["Re1", "St1+", "Fo"], option="--hand")
    table.move(["St1+", "Fo"], source="hand:actor", to="deck", by="actor", on_top=True)
    assert [code_of(card) for card in table.state.seen_by("actor").piles["deck"].top] == ["St1+", "Fo"]
    assert table.state.seen_by("gm").piles["deck"].top == ()
    drawn = [table.draw("deck", to="discard") for _ in range(2)]
    assert [card.code for card in drawn if card is not None] == ["St1+", "Fo"]
    table.peek("deck", by="gm")
    table.shuffle("deck")
    assert table.state.piles["deck"].top == ()
    assert lying(table.state) == DECK


def test_what_is_known_of_the_top_is_drawn_again_from_what_was_written_down() -> None:
    """A draw of a card that lies on top is an answer as any other: those behind it are not shifted."""
    from rpgres.engine.dealers import GivenDealer, SeededDealer, TapedDealer

    def drawn(dealer: GivenDealer) -> list[str]:
        table = Table(Run(prepared().rules, table_of(prepared()).state, dealer, Seats()), prepared().rules)
        seen = [*table.peek("deck", 1, by="actor", label="draw"), *table.peek("deck", 2, by="actor", label="draw")]
        return [card.code for card in (*seen, *(table.draw("deck", to="discard") for _ in range(4))) if card]

    seeded = SeededDealer(Streams("12"))
    taped = TapedDealer({}, then=seeded)
    first = drawn(taped)
    assert len(taped.tape) == len(first) == 7
    assert drawn(GivenDealer({"draw": first}, then=SeededDealer(Streams("13")))) == first
    assert drawn(TapedDealer({"draw": first[::-1]}, then=SeededDealer(Streams("13")), tape=taped.tape)) == first


# -- odds


def test_odds_of_a_chain_agree_with_counting_orders() -> None:
    """Play the 1 of reeds and draw on while the suit holds: counted over every order of the ten others."""
    odds = outcome_odds(
        prepared({"hand": "Re1,St1-,Fo", "need": 6}), choose={"play": ["re1p"]}, policies={"": preferred_draws}
    )
    rest = list((DECK - Counter({"Re1+": 1, "St1-": 1, "Fo": 1})).elements())
    assert odds.masses["hit"] == _chance(rest, total=1, need=6)
    assert odds.open == 0


def preferred_draws(view: Any, question: Any) -> str:
    return str(question.options[0].name)


def _chance(rest: list[str], *, total: int, need: int) -> Fraction:
    if total >= need:
        return Fraction(1)
    hits = Fraction(0)
    for index, code in enumerate(rest):
        value = 0 if code == "Fo" else int(code[2])
        left = rest[:index] + rest[index + 1 :]
        won = total + value >= need
        hits += Fraction(1, len(rest)) * (
            1 if won else _chance(left, total=total + value, need=need) if code.startswith("Re") else 0
        )
    return hits


def test_leaving_out_what_is_alike_changes_no_answer() -> None:
    ready = prepared({"hand": "Re1,St1,Fo", "need": 7})
    choose, policies = {"play": ["re1p"]}, {"": preferred_draws}
    lumped = outcome_odds(ready, choose=choose, policies=policies)
    plain = outcome_odds(msgspec.structs.replace(ready, lump=None), choose=choose, policies=policies)
    assert lumped.masses == plain.masses
    assert lumped.leaves < plain.leaves


def test_cards_that_are_alike_may_be_exchanged_without_a_difference() -> None:
    """What `lump` promises, held by drawing another card of the class wherever one is drawn."""
    ready = prepared({"hand": "Re1,St1+,Fo", "need": 6})

    def once(dealer: WalkDealer) -> str:
        seats = Seats({"play": ["re1p"]}, policies={"": preferred_draws})
        try:
            return play(ready, dealer=dealer, players=seats, asked="outcome")[0].band
        except Settled as settled:
            return settled.band

    assert explore(once, WalkDealer(others=True)).masses == explore(once).masses


# -- secrets


def test_a_hand_is_seen_by_its_owner_and_counted_by_others() -> None:
    ready = prepared({"hand": "Re1,St1+,Fo"})
    result, state = run(ready, streams=Streams("7"), policies={"": uniform})
    assert isinstance(result, Result)
    own, others = state.seen_by("actor"), state.seen_by("gm")
    assert FACE_DOWN not in own.piles["hand:actor"].cards
    assert others.piles["hand:actor"].cards == (FACE_DOWN,) * 2
    assert own.piles["deck"].cards == (FACE_DOWN,) * len(state.piles["deck"])
    assert len(others.piles["deck"]) == len(state.piles["deck"])


def test_a_card_dealt_to_somebody_is_told_to_nobody_else() -> None:
    ready = prepared()
    _, table = play(ready, dealer=SeededDealer(Streams("7")), players=Seats(policies={"": uniform}))
    dealt = [event_record(event) for event in table.events if isinstance(event, Drawn)][:3]
    for record in dealt:
        assert record.audience == ["actor"]
        assert record.others.card == FACE_DOWN
        assert record.card != FACE_DOWN
    assert [answer.label for answer in answers_of(table.events)][:3] == ["deal"] * 3


@settings(max_examples=examples(80), deadline=None)
@given(order=st.permutations(sorted(DECK.elements())))
def test_two_tables_that_differ_in_a_hidden_hand_look_the_same(order: list[str]) -> None:
    base = lay_out(rules(), prepared().state)
    physical = sorted(base.piles["deck"].cards, key=lambda card: order.index(code_of(card)))
    state = base
    for name, cards in (("hand:actor", physical[:3]), ("deck", physical[3:])):
        pile = msgspec.structs.replace(base.piles[name], cards=tuple(sorted(cards)))
        state = msgspec.structs.replace(state, piles=state.piles.with_(name, pile))
    swapped = msgspec.structs.replace(base.piles["hand:actor"], cards=tuple(sorted(base.piles["deck"].cards)[:3]))
    rest = msgspec.structs.replace(base.piles["deck"], cards=tuple(sorted(base.piles["deck"].cards)[3:]))
    other = msgspec.structs.replace(base, piles=base.piles.with_("hand:actor", swapped).with_("deck", rest))
    assert state.seen_by("gm") == other.seen_by("gm")
    assert state_record(state.seen_by("gm")) == state_record(other.seen_by("gm"))
