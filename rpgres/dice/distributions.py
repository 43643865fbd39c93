"""Exact distributions of dice expressions, with whole-number weights. Nothing here throws a die or reads notation.

Laws are composed, never enumerated. A distribution over a dense range is packed into one big integer, a field of fixed
width for each value, so that adding independent dice is one multiplication of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from math import comb, gcd, prod
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice.grammar import MOST_EXPLOSIONS, Best, Named, Node, Number, Pool, Product, Quotient, divide
from rpgres.errors import LawSizeError

if TYPE_CHECKING:
    from fractions import Fraction

MOST_LAW_VALUES = 20_000  # from the lowest to the highest value of a distribution, or apart
MOST_LAW_WORK = 250_000_000  # about a quarter of a second, counted in estimated nanoseconds
EXPLOSION_OPEN = 10**9  # explosions are followed until what is open is at most one in this many, for each die


class Law(Struct, frozen=True):
    """An exact distribution: what is open belongs to explosions that were not followed to their end.

    Attributes:
        values: ascending, distinct.
        weights: positive.
        total: of the weights and what is open.
        open: the weight of what is open.
        above: what is open is at least this; None where that is not known.
        under: what is open is at most this; None where that is not known.
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    total: int
    open: int = 0
    above: int | None = None
    under: int | None = None

    def items(self) -> Iterator[tuple[int, int]]:
        """Return the values with their weights, ascending."""
        return zip(self.values, self.weights, strict=True)

    def probability(self, value: int) -> Fraction:
        """Return the chance of exactly `value`; what is open counts for none."""
        from bisect import bisect_left
        from fractions import Fraction

        place = bisect_left(self.values, value)
        found = place < len(self.values) and self.values[place] == value
        return Fraction(self.weights[place] if found else 0, self.total)

    def at_least(self, value: int) -> Fraction:
        """Return the chance of `value` or more; what is open counts for none."""
        from bisect import bisect_left
        from fractions import Fraction

        return Fraction(sum(self.weights[bisect_left(self.values, value) :]), self.total)

    def mean(self) -> Fraction:
        """Return the mean; nothing is renormalised, what is open adds nothing."""
        from fractions import Fraction

        return Fraction(sum(value * weight for value, weight in self.items()), self.total)

    def variance(self) -> Fraction:
        """Return the mean squared distance from the mean; what is open adds nothing."""
        from fractions import Fraction

        mean = self.mean()
        # Sum w (v - m)^2 with m = a / b in whole numbers: one fraction at the end instead of one for each value.
        top, bottom = mean.numerator, mean.denominator
        return Fraction(sum(w * (v * bottom - top) ** 2 for v, w in self.items()), self.total * bottom * bottom)

    def deviation(self) -> float:
        """Return the standard deviation."""
        from math import sqrt

        return sqrt(self.variance())


def law_of(node: Node) -> Law:
    """Return the distribution of the value of an expression.

    Raises:
        LawSizeError: it has too many values or would take too much work; its details name the limit.
    """
    return _law_of(node, _Work())


def subtract(left: Law, right: Law) -> Law:
    """Return the distribution of the difference of two independent values.

    Raises:
        LawSizeError: see `law_of`.
    """
    return _add(left, _negative(right), _Work())


class _Work:
    """What is left of the work that one distribution may take."""

    def __init__(self) -> None:
        self.left = MOST_LAW_WORK

    def spend(self, nanoseconds: int) -> None:
        self.left -= nanoseconds
        if self.left < 0:
            raise LawSizeError(
                f"the exact distribution of these dice would take more than {MOST_LAW_WORK / 1e9} seconds of work; "
                "use fewer dice or fewer sides, or roll them many times instead",
                limit="MOST_LAW_WORK",
            )

    def hold(self, values: int) -> None:
        if values > MOST_LAW_VALUES:
            raise LawSizeError(
                f"the exact distribution of these dice would have more than {MOST_LAW_VALUES} values; "
                "use fewer dice or fewer sides, or roll them many times instead",
                limit="MOST_LAW_VALUES",
            )


def _law_of(node: Node, work: _Work) -> Law:
    if isinstance(node, Number):
        return Law((node.value,), (1,), 1)
    if isinstance(node, Pool):
        return _pool_law(node, work)
    if isinstance(node, Named):
        return _law_of(node.node, work)
    if isinstance(node, Quotient):
        return _divided(_law_of(node.node, work), node.divisor)
    if isinstance(node, Best):
        return _best_law(node, work)
    if isinstance(node, Product):
        laws = [_law_of(factor, work) for factor in node.factors]
        product = laws[0]
        for law in laws[1:]:
            product = _multiply(product, law, work)
        return product
    laws = [_law_of(term, work) if sign > 0 else _negative(_law_of(term, work)) for sign, term in node.terms]
    while len(laws) > 1:  # neighbours first: big laws are multiplied as seldom as possible
        pairs = [_add(left, right, work) for left, right in zip(laws[::2], laws[1::2], strict=False)]
        laws = pairs + laws[len(pairs) * 2 :]
    return laws[0]


def _divided(law: Law, divisor: int) -> Law:
    above = divide(law.above, divisor) if law.above is not None else None
    under = divide(law.under, divisor) if law.under is not None else None
    return replace(_mapped(law, lambda value: divide(value, divisor)), above=above, under=under)


def _mapped(law: Law, change: Callable[[int], int]) -> Law:
    """Return the distribution of what is made of a value."""
    weights: dict[int, int] = {}
    for value, weight in law.items():
        found = change(value)
        weights[found] = weights.get(found, 0) + weight
    return _from_weights(weights, law.total)


def _negative(law: Law) -> Law:
    above = -law.under if law.under is not None else None
    under = -law.above if law.above is not None else None
    return Law(tuple(-value for value in reversed(law.values)), law.weights[::-1], law.total, law.open, above, under)


def _from_weights(weights: dict[int, int], total: int) -> Law:
    values = tuple(sorted(value for value, weight in weights.items() if weight))
    found = tuple(weights[value] for value in values)
    return Law(values, found, total, total - sum(found))


def _multiply(left: Law, right: Law, work: _Work) -> Law:
    work.spend(_pairs_cost(left, right))
    weights: dict[int, int] = {}
    for a, weight in left.items():
        for b, other in right.items():
            weights[a * b] = weights.get(a * b, 0) + weight * other
    work.hold(len(weights))
    return _from_weights(weights, left.total * right.total)


def _add(left: Law, right: Law, work: _Work) -> Law:
    added = _added(left, right, work)
    if not added.open:
        return added
    below = _above(_negative(left), _negative(right))
    return replace(added, above=_above(left, right), under=None if below is None else -below)


def _above(left: Law, right: Law) -> int | None:
    """Return what is at least reached where one of two values that are added is open."""
    least: list[int] = []
    for one, other in ((left, right), (right, left)):
        if one.open and (one.above is None or (other.open and other.above is None)):
            return None
        if one.open and one.above is not None:
            lows = [*other.values[:1], *([other.above] if other.open and other.above is not None else [])]
            least.append(one.above + min(lows, default=0))
    return min(least, default=None)


def _added(left: Law, right: Law, work: _Work) -> Law:
    total = left.total * right.total
    if len(left.values) == 1 or len(right.values) == 1:
        one, many = (left, right) if len(left.values) == 1 else (right, left)
        shift, times = one.values[0], one.weights[0]
        values = tuple(value + shift for value in many.values)
        weights = many.weights if times == 1 else tuple(weight * times for weight in many.weights)
        return Law(values, weights, total, total - times * (many.total - many.open))
    if not left.values or not right.values:
        return Law((), (), total, total)
    low = left.values[0] + right.values[0]
    step = gcd(*(v - left.values[0] for v in left.values), *(v - right.values[0] for v in right.values))
    span = (left.values[-1] + right.values[-1] - low) // step
    pairs = len(left.values) * len(right.values)
    if span > 2 * pairs or pairs < 64:
        work.spend(_pairs_cost(left, right))
        sums: dict[int, int] = {}
        for a, weight in left.items():
            for b, other in right.items():
                sums[a + b] = sums.get(a + b, 0) + weight * other
        work.hold(len(sums))
        return _from_weights(sums, total)
    work.hold(span + 1)
    width = _width(total)
    spans = [(law.values[-1] - law.values[0]) // step for law in (left, right)]
    work.spend(_product_cost(spans[0] * width, spans[1] * width) + 300 * span)
    return _unpack(_pack(left, step, width) * _pack(right, step, width), low, step, span, width, total)


def _pairs_cost(left: Law, right: Law) -> int:
    size = (left.total.bit_length() * right.total.bit_length()) // 900
    return len(left.values) * len(right.values) * (200 + size)


def _product_cost(left: int, right: int) -> int:
    """Estimate the time of a product of integers of so many bytes, by the algorithm of Karatsuba."""
    small, large = sorted((left // 4 + 1, right // 4 + 1))
    return int(large / small * small**1.585 * 4.5)


def _width(total: int) -> int:
    """Return the bytes of a field that no weight of this total can overflow."""
    return total.bit_length() // 8 + 1


def _pack(law: Law, step: int, width: int) -> int:
    low = law.values[0]
    fields = bytearray(((law.values[-1] - low) // step + 1) * width)
    for value, weight in law.items():
        place = (value - low) // step * width
        fields[place : place + width] = weight.to_bytes(width, "little")
    return int.from_bytes(fields, "little")


def _unpack(packed: int, low: int, step: int, span: int, width: int, total: int) -> Law:
    fields = packed.to_bytes((span + 1) * width, "little")
    found = [int.from_bytes(fields[at : at + width], "little") for at in range(0, len(fields), width)]
    values = tuple(low + place * step for place, weight in enumerate(found) if weight)
    weights = tuple(weight for weight in found if weight)
    return Law(values, weights, total, total - sum(weights))


def _pool_law(pool: Pool, work: _Work) -> Law:
    work.spend(600 * len(pool.faces))
    die = _die_law(pool, work)
    low, high = pool.kept
    if high - low < pool.count:
        return _kept_law(die, pool, work)
    if pool.target is None:
        return _power(die, pool.count, work)
    if pool.double is None and pool.fails is None and not (pool.explosion and pool.explosion.apart):
        return _count_law(die, pool, work)
    # A die that is followed by others has been counted already.
    is_counted = pool.explosion is not None and pool.explosion.apart
    return _power(die if is_counted else _mapped(die, pool.worth), pool.count, work)


def die_law(pool: Pool) -> Law:
    """Return the distribution of what one die of a pool is worth, rolled again and exploded as the pool says."""
    return _die_law(pool, _Work())


def _die_law(pool: Pool, work: _Work) -> Law:
    die = shown_law(pool)
    return _exploded(die, pool, work) if pool.explosion else die


def shown_law(pool: Pool) -> Law:
    """Return the distribution of the face that one die of a pool shows when no face is rolled again any more."""
    faces = pool.faces
    if pool.reroll is None:
        return Law(tuple(faces), (1,) * len(faces), len(faces))
    if not pool.reroll.once:
        staying = pool.staying
        return Law(staying, (1,) * len(staying), len(staying))
    stays = set(pool.staying)
    again = len(faces) - len(stays)
    weights = {face: again + (len(faces) if face in stays else 0) for face in faces}
    return _from_weights(weights, len(faces) ** 2)


def _exploded(die: Law, pool: Pool, work: _Work) -> Law:
    """Follow the explosions of a die until hardly anything is open, or until the count of the pool is settled.

    The die is what its first face gives, then what each face in between gives, then the last one. A face that explodes
    and one that ends the die are told apart; where every new die counts for itself, a face gives its score.
    """
    explosion = pool.explosion
    assert explosion
    less = int(explosion.penetrating)
    gains = (pool.worth, pool.worth) if explosion.apart else (lambda face: face, lambda face: face - less)
    first, later = [
        (_part(die, exploding, gain), _part(die, exploding, gain, ends=True))
        for exploding, gain in zip((pool.exploding, pool.exploding_added), gains, strict=True)
    ]
    least = min(later[0].values, default=0)
    depth, limit = _depth(die, pool, least)
    total = die.total ** (depth + 1)
    weights: dict[int, int] = {}
    chain = None
    for exploded in range(depth + 1):
        ends = later[1] if chain else first[1]
        if explosion.once and exploded == 1:
            ends = _part(die, (), gains[1], ends=True)
        ended = _add(chain, ends, work) if chain else ends
        scale = die.total ** (depth - exploded)
        for value, weight in ended.items():
            value = value if limit is None else min(value, limit)
            weights[value] = weights.get(value, 0) + weight * scale
        chain = _clipped(_add(chain, later[0], work) if chain else first[0], limit and limit - min(0, die.values[0]))
    if limit is not None and not explosion.once:
        weights[limit] = weights.get(limit, 0) + sum(chain.weights if chain else ())
    law = _from_weights(weights, total)
    if not law.open or least < 0:
        return law
    return replace(law, above=first[0].values[0] + depth * least + min(least, later[1].values[0]))


def _part(die: Law, exploding: Container[int], gain: Callable[[int], int], *, ends: bool = False) -> Law:
    """Return what the faces of a die give that explode, or that end it; the others are open."""
    part = {face: weight for face, weight in die.items() if (face in exploding) != ends}
    return _mapped(_from_weights(part, die.total), gain)


def followed(die: Law, pool: Pool) -> int:
    """Return how many explosions of a die are followed.

    Args:
        die: what one face shows.
        pool: which of its faces explode.
    """
    kinds = (pool.exploding, pool.exploding_added)
    depth, weight = 0, max(sum(weight for face, weight in die.items() if face in exploding) for exploding in kinds)
    while depth < MOST_EXPLOSIONS and weight ** (depth + 1) * EXPLOSION_OPEN > die.total ** (depth + 1):
        depth += 1
    return depth


def _depth(die: Law, pool: Pool, least: int) -> tuple[int, int | None]:
    """Return how many explosions are followed, and the value from which on all values are one."""
    explosion = pool.explosion
    assert explosion
    if explosion.once:
        return 1, None
    if pool.target and not explosion.apart and least > 0:
        # All totals beyond the number fit the comparison, or none does: they are one value, and nothing stays open.
        low, number = die.values[0] - int(explosion.penetrating), pool.target.number
        if number < MOST_EXPLOSIONS * least + low:
            return max(0, (number - low) // least), number + 1
    return followed(die, pool), None


def _clipped(law: Law, limit: int | None) -> Law:
    """Return a distribution in which all values beyond the limit are the limit."""
    if limit is None or not law.values or law.values[-1] <= limit:
        return law
    return _mapped(law, lambda value: min(value, limit))


def _count_law(die: Law, pool: Pool, work: _Work) -> Law:
    assert pool.target
    fit = sum(weight for value, weight in die.items() if pool.target.fits(value))
    rest = die.total - die.open - fit
    n = pool.count
    work.spend(n * n * (5 + 3 * die.total.bit_length()))
    weights = {hits: comb(n, hits) * fit**hits * rest ** (n - hits) for hits in range(n + 1)}
    return _from_weights(weights, die.total**n)


def _power(die: Law, n: int, work: _Work) -> Law:
    """Return the distribution of the sum of `n` such dice."""
    if n == 1:
        work.hold(len(die.values))
        return die
    low, span = die.values[0], die.values[-1] - die.values[0]
    work.hold(n * span + 1)
    total = die.total**n
    if die.total == span + 1 == len(die.values):
        work.spend(n * span * (200 + total.bit_length() // 6))
        weights = _uniform_power(die.total, n)
        return Law(tuple(range(n * low, n * die.values[-1] + 1)), weights, total)
    width = _width(total)
    size = n * span * width
    work.spend(_product_cost(size // 2, size // 2) * 3 // 2 + 300 * n * span)
    law = _unpack(_pack(die, 1, width) ** n, n * low, 1, n * span, width, total)
    return replace(law, above=_least_of(die, n)) if law.open else law


def _least_of(die: Law, n: int) -> int | None:
    """Return what some dice add up to at least when one of them is open."""
    return None if die.above is None else die.above + (n - 1) * min(die.values[0], die.above)


def _uniform_power(sides: int, n: int) -> tuple[int, ...]:
    """Return the weights of the sum of `n` dice with the faces 0 to `sides` - 1, all of them.

    With P = ((1 - x^s) / (1 - x))^n, comparing coefficients in (1 - x) (1 - x^s) P' = n P (1 - s x^(s-1) + (s-1) x^s)
    gives each weight from three earlier ones. The second half mirrors the first.
    """
    top = n * (sides - 1)
    weights = [1]
    for k in range(top // 2):
        following = (k + n) * weights[k]
        if k >= sides - 1:
            following += (k - sides + 1 - n * sides) * weights[k - sides + 1]
        if k >= sides:
            following += (n * sides - n - k + sides) * weights[k - sides]
        weights.append(following // (k + 1))
    return (*weights, *weights[: top + 1 - len(weights)][::-1])


def _kept_law(die: Law, pool: Pool, work: _Work) -> Law:
    """Return the distribution of the dice that stay when some are dropped.

    The values of a die are visited from one end; a state keeps how many dice have been placed and the
    packed distribution of those of them that stay. How many dice show a value is one step, so that dice are never told
    apart.
    """
    n = pool.count
    low, high = pool.kept
    # From the end with fewer dropped dice in front: these are counted one by one.
    from_top = n - high <= low
    first, last = (n - high, n - low) if from_top else (low, high)
    values = die.values[::-1] if from_top else die.values
    weights = die.weights[::-1] if from_top else die.weights
    worth = [pool.worth(value) for value in values]
    base = min(worth)
    total = die.total**n
    bits = 8 * _width(total)
    span = (last - first) * (max(worth) - base)
    work.hold(span + 1)
    work.spend(len(values) * last * (last + 1) // 2 * (1_500 + span * bits // 30) + 300 * span)

    below = die.total - die.open
    placed: dict[int, int] = {0: 1}
    done = 0
    for gain, weight in zip(worth, weights, strict=True):
        below -= weight
        shift = bits * (gain - base)
        following: dict[int, int] = {}
        for before, packed in placed.items():
            free = n - before
            closing = (weight + below) ** free
            for dice in range(last - before):
                ways = comb(free, dice) * weight**dice
                closing -= ways * below ** (free - dice)
                after = before + dice
                kept = max(0, after - max(first, before))
                following[after] = following.get(after, 0) + (packed * ways << shift * kept)
            # All cases in which the last die that stays is placed here: the rest may show what it likes.
            done += packed * closing << shift * (last - max(first, before))
        placed = following
    law = _unpack(done, (last - first) * base, 1, span, bits // 8, total)
    # Of the highest dice, one that is open is among the kept, or those are all higher.
    is_highest = high == n and pool.target is None
    return replace(law, above=_least_of(die, high - low)) if law.open and is_highest else law


def _best_law(node: Best, work: _Work) -> Law:
    """Return the distribution of the highest or the lowest of several values, added.

    A state holds the values that are extreme so far, from the better end: those up to the last that is kept; or where
    all are kept but some at the other end, those that are dropped, with the sum of all others.
    """
    laws = [_law_of(one, work) for one in node.nodes]
    low, high = node.kept
    sign = 1 if len(laws) - high <= low else -1
    first, last = (len(laws) - high, len(laws) - low) if sign > 0 else (low, high)
    is_rest = not first and len(laws) - last < last
    sign, held = (-sign, len(laws) - last) if is_rest else (sign, last)
    opens = [law.above for law in laws if law.open]
    bound = min((one for one in opens if one is not None), default=0)  # what is open is at least this
    is_bounded = None not in opens and bool(opens)
    states: dict[tuple[tuple[int, ...], int, bool], int] = {((), 0, False): 1}
    for law in laws:
        faces = [*law.items(), (_BEYOND, law.open)] if is_bounded and law.open else [*law.items()]
        work.spend(len(states) * len(faces) * (800 + 100 * held))
        following: dict[tuple[tuple[int, ...], int, bool], int] = {}
        for (extreme, rest, is_open), weight in states.items():
            for value, times in faces:
                ranked = sorted((*extreme, sign * value))
                out = sign * ranked.pop(0) if len(ranked) > held else 0
                key = tuple(ranked), rest + out * is_rest, is_open or value == _BEYOND
                following[key] = following.get(key, 0) + weight * times
        states = following
    weights: dict[int, int] = {}
    for (extreme, rest, is_open), weight in states.items():
        kept = (rest,) if is_rest else tuple(sign * one for one in extreme[: held - first])
        if is_open and (is_rest or max(kept) >= bound):
            continue
        weights[sum(kept)] = weights.get(sum(kept), 0) + weight
    work.hold(len(weights))
    found = _from_weights(weights, prod(law.total for law in laws))
    if not is_bounded or (is_rest and high < len(laws)):
        return found
    lows = sorted(min(law.values[0], bound) for law in laws)
    return replace(found, above=bound + sum(lows[: high - low - 1]))


_BEYOND = 10**15  # in place of a value that is open
