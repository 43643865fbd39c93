"""Hands that nobody looks into, held against every hand there can be, one by one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.engine.beliefs import Unseen, dealt, drawn, grown, preferred, with_known
from tests.support.effort import examples

Cards = tuple[tuple[str, int], ...]  # physical cards: kind and number
Belief = dict[tuple[Cards, Cards], Fraction]  # the chance of a hand and of the rest of the pile


def all_hands(kinds: dict[str, int], count: int) -> Belief:
    cards = tuple((kind, number) for kind, copies in kinds.items() for number in range(copies))
    hands = list(combinations(cards, count))
    return {(hand, tuple(card for card in cards if card not in hand)): Fraction(1, len(hands)) for hand in hands}


def by_kind(belief: Belief) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Fraction]:
    found: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    for (hand, rest), chance in belief.items():
        found[tuple(sorted(kind for kind, _ in hand)), tuple(sorted(kind for kind, _ in rest))] += chance  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


def spread(unseen: Unseen) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Fraction]:
    """Return what the record says, hand by hand."""
    found: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    for counts, weight in unseen.weights:
        hands: list[tuple[Cards, Cards]] = [((), ())]
        for block, count in zip(unseen.blocks, counts, strict=True):
            cards = tuple((kind, number) for kind, copies in block for number in range(copies))
            hands = [
                (hand + more, rest + tuple(card for card in cards if card not in more))  # type: ignore[operator]
                for hand, rest in hands
                for more in combinations(cards, count)
            ]
        for hand, rest in hands:
            key = tuple(sorted(str(kind) for kind, _ in hand)), tuple(sorted(str(kind) for kind, _ in rest))
            found[key] += weight
    total = sum(found.values())
    return {key: Fraction(weight, total) for key, weight in found.items()}


def played(belief: Belief, order: tuple[str | None, ...]) -> dict[str | None, tuple[Fraction, Belief]]:
    """Return what is played from each hand, any copy of the preferred kind alike."""
    found: dict[str | None, Belief] = {}
    for (hand, rest), chance in belief.items():
        kinds = {kind for kind, _ in hand}
        kind = next((one for one in order if one is None or one in kinds), None)
        copies = [card for card in hand if card[0] == kind]
        for card in copies or [None]:
            after = (tuple(one for one in hand if one != card), rest)
            into = found.setdefault(kind, {})
            into[after] = into.get(after, Fraction(0)) + chance / max(1, len(copies))
    return {kind: (sum(into.values()), normal(into)) for kind, into in found.items()}  # type: ignore[misc]


def normal(belief: Belief) -> Belief:
    total = sum(belief.values())
    return {key: chance / total for key, chance in belief.items()}


stocks = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 3), min_size=2, max_size=5).filter(
    lambda kinds: sum(kinds.values()) >= 5
)
moves = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.permutations([*"abcde", None])),
        st.tuples(st.just("grow"), st.none()),
        st.tuples(st.just("draw"), st.none()),
        st.tuples(st.just("known"), st.sampled_from("abcde")),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(kinds=stocks, count=st.integers(1, 4), moves=moves, data=st.data())
def test_what_is_known_is_what_counting_every_hand_gives(
    kinds: dict[str, int], count: int, moves: list[tuple[str, object]], data: st.DataObject
) -> None:
    unseen, belief = dealt("deck", kinds, count=count), all_hands(kinds, count)
    assert spread(unseen) == by_kind(belief)
    for move, what in moves:
        if move == "grow":
            if not unseen.left:
                continue
            unseen = grown(unseen)
            more: Belief = {}
            for (hand, rest), chance in belief.items():
                for card in rest:
                    key = (tuple(sorted((*hand, card))), tuple(one for one in rest if one != card))
                    more[key] = more.get(key, Fraction(0)) + chance / len(rest)
            belief = more
        elif move == "draw":
            if not unseen.left:
                continue
            into: dict[str, Belief] = {}
            for (hand, rest), chance in belief.items():
                for card in rest:
                    key = (hand, tuple(one for one in rest if one != card))
                    its = into.setdefault(card[0], {})
                    its[key] = its.get(key, Fraction(0)) + chance / len(rest)
            told = drawn(unseen)
            total = sum(one.weight for one in told)
            assert {one.kind: Fraction(one.weight, total) for one in told} == {
                kind: sum(its.values()) for kind, its in into.items()
            }
            one = data.draw(st.sampled_from(told))
            unseen, belief = one.after, normal(into[str(one.kind)])
        elif move == "play":
            order = tuple(what)  # type: ignore[arg-type]
            told = preferred(unseen, order)
            expected = played(belief, order)
            total = sum(one.weight for one in told)
            assert {one.kind: Fraction(one.weight, total) for one in told} == {
                kind: chance for kind, (chance, _) in expected.items()
            }
            one = data.draw(st.sampled_from(told))
            unseen, belief = one.after, expected[one.kind][1]  # type: ignore[index]
        else:
            after = with_known(unseen, what)
            held = {kind for hand, _ in belief for kind, _ in hand}
            assert (after is None) == (what not in held)
            if after is None:
                continue
            unseen, belief = after, played(belief, (str(what), None))[str(what)][1]
        assert spread(unseen) == by_kind(belief)
        if not unseen.size:
            break


def test_equal_knowledge_is_equal_data() -> None:
    """The order in which cards came to be known makes no record of its own."""
    one = preferred(dealt("deck", {"a": 1, "b": 2, "c": 3}, count=3), ("a", "b", "c"))
    assert len({told.after for told in one}) == len(one)
    again = preferred(dealt("deck", {"a": 1, "b": 2, "c": 3}, count=3), ("a", "b", "c"))
    assert [hash(told) for told in one] == [hash(told) for told in again]
