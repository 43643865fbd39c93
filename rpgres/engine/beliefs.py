"""Beliefs about an unseen hand, for odds: the weight of every possible hand, updated by each card that is played.

Odds seen from one seat never deal another one's cards. The cards that may be in the hand fall into blocks of whole
kinds; for each way in which the hand may be shared out among the blocks there is a weight that all such hands have
alike. All is exact, in whole numbers. Who plays from the hand by an order of preference tells by a card that nothing
preferred was there. Nothing here knows a table.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from math import comb, gcd, lcm

import msgspec

Kind = Hashable  # the equivalence key of cards
Block = tuple[tuple[Kind, int], ...]  # kinds of cards, and how many there are of each, in the hand and beside it
Counts = tuple[int, ...]  # how many cards of each block are in the hand


class Unseen(msgspec.Struct, frozen=True, cache_hash=True):
    """What is known of a hand and of the face-down pile its cards came from.

    Attributes:
        source: the pile, in which the cards of the hand still lie.
        blocks: the cards of both.
        weights: by how many cards of each block are in the hand, the weight of every such hand.
    """

    source: str
    blocks: tuple[Block, ...]
    weights: tuple[tuple[Counts, int], ...]

    @property
    def size(self) -> int:
        """How many cards the hand has."""
        return sum(self.weights[0][0])

    @property
    def left(self) -> int:
        """How many cards are left in the pile."""
        return sum(map(_size, self.blocks)) - self.size

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of cards that may be in the hand."""
        return _kinds(self)


class Shown(msgspec.Struct, frozen=True):
    """A card that may be played or drawn: kind (None for none of those preferred), weight, and the belief after it."""

    kind: Kind | None
    weight: int
    after: Unseen


def dealt(source: str, kinds: Mapping[Kind, int], *, count: int) -> Unseen:
    """Return a hand of so many cards of a shuffled pile.

    Args:
        kinds: how many cards of each kind lie there, more than none of each.
        count: how many are dealt; at most all.
    """
    return _settled(source, [tuple(kinds.items())], {(count,): 1})


@lru_cache(maxsize=65536)
def _kinds(unseen: Unseen) -> frozenset[Kind]:
    return frozenset(
        kind
        for number, block in enumerate(unseen.blocks)
        if any(counts[number] for counts, _ in unseen.weights)
        for kind, _ in block
    )


@lru_cache(maxsize=65536)  # a walk asks the same of a hand in every path
def preferred(unseen: Unseen, order: tuple[Kind | None, ...]) -> tuple[Shown, ...]:
    """Return which card of a hand an order of preference plays, by weight, with the belief after each.

    Args:
        order: kinds of cards, the most preferred first; None in place of a kind stands for playing none.
    """
    found: list[Shown] = []
    better: list[tuple[Kind, int]] = []  # what the hand cannot have, if it came to this point of the order
    rests = [dict(block) for block in unseen.blocks]
    places = {kind: number for number, block in enumerate(unseen.blocks) for kind, _ in block}
    for kind in order:
        if kind is None:
            weight = sum(each * _ways(rests, counts) for counts, each in unseen.weights)
            if weight:
                weights = {(*counts, 0): each for counts, each in unseen.weights}
                after = _settled(unseen.source, [*(tuple(rest.items()) for rest in rests), tuple(better)], weights)
                found.append(Shown(None, weight, after))
            break
        place = places.get(kind)
        if place is None:
            continue
        before = {counts: _ways(rests, counts) for counts, _ in unseen.weights}
        copies = rests[place].pop(kind)
        weight = sum(each * (before[counts] - _ways(rests, counts)) for counts, each in unseen.weights)
        if weight:
            found.append(Shown(kind, weight, _without(unseen, rests, better, kind=kind, copies=copies, place=place)))
        better.append((kind, copies))
    return tuple(found)


@lru_cache(maxsize=65536)
def with_known(unseen: Unseen, kind: Kind) -> Unseen | None:
    """Return the belief after a card of a kind was played, whatever else was in the hand; None if it is impossible."""
    shown = preferred(unseen, (kind,))
    return shown[0].after if shown else None


@lru_cache(maxsize=65536)
def next_in_order(sizes: tuple[int, ...], at: int, used: int, left: int) -> tuple[int, ...]:
    """Return how likely each kind is to come next when a hand is dealt kind by kind, as weights.

    Args:
        at: the kind that came last.
    """
    after = [sum(sizes[kind:]) for kind in range(len(sizes) + 1)]
    first = at if not used else at + 1  # the first kind that may begin
    weights = [0] * first
    if used:
        counts = range(used + 1, used + left + 1)
        weights[at] = sum(comb(sizes[at], count) * comb(after[at + 1], used + left - count) for count in counts)
    ways = comb(sizes[at], used)  # of the cards of the last kind, if no more come
    weights += [ways * (comb(after[kind], left) - comb(after[kind + 1], left)) for kind in range(first, len(sizes))]
    return tuple(weights)


@lru_cache(maxsize=65536)
def grown(unseen: Unseen) -> Unseen:
    """Return the hand with one more card, drawn from the rest of the pile, of which there has to be one."""
    weights: dict[Counts, int] = {}
    for counts, each in unseen.weights:
        for number, block in enumerate(unseen.blocks):
            if counts[number] < _size(block):
                more = (*counts[:number], counts[number] + 1, *counts[number + 1 :])
                weights[more] = weights.get(more, 0) + each * (counts[number] + 1)
    return _settled(unseen.source, unseen.blocks, weights)


@lru_cache(maxsize=65536)
def drawn(unseen: Unseen) -> tuple[Shown, ...]:
    """Return which card is drawn from the rest of the pile to another place, by weight, with the belief after each."""
    found: list[Shown] = []
    for number, block in enumerate(unseen.blocks):
        for kind, copies in block:
            fewer = tuple((one, count - (one == kind)) for one, count in block)
            blocks = [*unseen.blocks[:number], fewer, *unseen.blocks[number + 1 :]]
            sizes = [_size(one) for one in blocks]
            weights = {counts: each for counts, each in unseen.weights if _fits(counts, sizes)}
            weight = copies * sum(each * _ways_of(sizes, counts) for counts, each in weights.items())
            if weight:
                found.append(Shown(kind, weight, _settled(unseen.source, blocks, weights)))
    return tuple(found)


def _without(
    unseen: Unseen,
    rests: list[dict[Kind, int]],
    better: Iterable[tuple[Kind, int]],
    *,
    kind: Kind,
    copies: int,
    place: int,
) -> Unseen:
    """Return the belief after a card of a kind was played and the hand had none that is preferred to it.

    The kind becomes a block of its own: how many more of it there are makes a difference of its own.
    """
    scale = lcm(*range(1, copies + 1))
    sizes = [sum(rest.values()) for rest in rests]
    weights: dict[Counts, int] = {}
    for counts, each in unseen.weights:
        for held in range(1, min(copies, counts[place]) + 1):
            rest = (*counts[:place], counts[place] - held, *counts[place + 1 :])
            if _fits(rest, sizes):  # any of the copies held may be the one that was played
                weights[(*rest, 0, held - 1)] = each * copies * (scale // held)
    blocks = [*(tuple(rest.items()) for rest in rests), tuple(better), ((kind, copies - 1),)]
    return _settled(unseen.source, blocks, weights)


def _settled(source: str, blocks: Iterable[Block], weights: Mapping[Counts, int]) -> Unseen:
    """Return the record in normal form: cards that are not in the hand are one block, weights have no common factor."""
    blocks = list(blocks)
    live = [number for number in range(len(blocks)) if any(counts[number] for counts in weights)]
    live.sort(key=lambda number: repr(blocks[number]))
    dead = [pair for number, block in enumerate(blocks) if number not in live for pair in block if pair[1]]
    kept = [tuple(pair for pair in blocks[number] if pair[1]) for number in live]
    factor = gcd(*weights.values())
    found = {
        tuple(counts[number] for number in live) + ((0,) if dead else ()): each // factor
        for counts, each in weights.items()
    }
    if dead:
        kept.append(tuple(sorted(dead, key=repr)))
    return Unseen(source, tuple(kept), tuple(sorted(found.items())))


def _size(block: Block) -> int:
    return sum(count for _, count in block)


def _fits(counts: Counts, sizes: list[int]) -> bool:
    return all(count <= size for count, size in zip(counts, sizes, strict=True))


def _ways(rests: list[dict[Kind, int]], counts: Counts) -> int:
    return _ways_of([sum(rest.values()) for rest in rests], counts)


def _ways_of(sizes: list[int], counts: Counts) -> int:
    ways = 1
    for size, count in zip(sizes, counts, strict=True):
        ways *= comb(size, count)
    return ways
