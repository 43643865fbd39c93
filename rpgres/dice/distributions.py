"""Exact distributions of dice expressions, with whole-number weights. Nothing here throws a die or reads notation.

Laws are composed, never enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping
from math import comb, gcd

from msgspec.structs import replace

from rpgres.dice.grammar import MOST_EXPLOSIONS, Best, Named, Node, Number, Pool, Product, Quotient, divide
from rpgres.dice.keeping import Keeping
from rpgres.dice.laws import Law, Work, from_weights, pack, unpack, width_of

EXPLOSION_OPEN = 10**9  # explosions are followed until at most one in this many is open: of each die, or of a sum


def law_of(node: Node) -> Law:
    """Return the distribution of the value of an expression.

    Raises:
        LawSizeError: it has too many values or would take too much work; its details name the limit.
    """
    return _law_of(node, Work())


def subtract(left: Law, right: Law) -> Law:
    """Return the distribution of the difference of two independent values.

    Raises:
        LawSizeError: see `law_of`.
    """
    return _add(left, _negative(right), Work())


def _law_of(node: Node, work: Work) -> Law:
    if isinstance(node, Number):
        return Law((node.value,), (1,), 1)
    if isinstance(node, Pool):
        return _pool_law(node, work)
    if isinstance(node, Named):
        return _law_of(node.node, work)
    if isinstance(node, Quotient):
        return _divided(_law_of(node.node, work), node.divisor)
    if isinstance(node, Best):
        return _kept_law(Counter(_law_of(one, work) for one in node.nodes), node.kept, work)
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
    return from_weights(weights, law.total)


def _negative(law: Law) -> Law:
    above = -law.under if law.under is not None else None
    under = -law.above if law.above is not None else None
    return Law(tuple(-value for value in reversed(law.values)), law.weights[::-1], law.total, law.open, above, under)


def _multiply(left: Law, right: Law, work: Work) -> Law:
    work.spend(_pairs_cost(left, right))
    weights: dict[int, int] = {}
    for a, weight in left.items():
        for b, other in right.items():
            weights[a * b] = weights.get(a * b, 0) + weight * other
    work.hold(len(weights))
    return from_weights(weights, left.total * right.total)


def _add(left: Law, right: Law, work: Work) -> Law:
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


def _added(left: Law, right: Law, work: Work) -> Law:
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
        return from_weights(sums, total)
    work.hold(span + 1)
    width = width_of(total)
    spans = [(law.values[-1] - law.values[0]) // step for law in (left, right)]
    work.spend(_product_cost(spans[0] * width, spans[1] * width) + 300 * span)
    return unpack(pack(left, step, width) * pack(right, step, width), low, step, span, width, total)


def _pairs_cost(left: Law, right: Law) -> int:
    size = (left.total.bit_length() * right.total.bit_length()) // 900
    return len(left.values) * len(right.values) * (200 + size)


def _product_cost(left: int, right: int) -> int:
    """Estimate the time of a product of integers of so many bytes, by the algorithm of Karatsuba."""
    small, large = sorted((left // 4 + 1, right // 4 + 1))
    return int(large / small * small**1.585 * 4.5)


def _pool_law(pool: Pool, work: Work) -> Law:
    work.spend(600 * len(pool.faces))
    low, high = pool.kept
    explosion = pool.explosion
    if high - low < pool.count:
        return _kept_law({die_law(pool, work): pool.count}, pool.kept, work, pool if pool.target else None)
    if explosion is not None and (explosion.apart or pool.target is None) and pool.count > 1:
        return _exploded_sum(pool, work)
    die = die_law(pool, work)
    if pool.target is None or (explosion is not None and explosion.apart):
        return _power(die, pool.count, work)
    if pool.double is None and pool.fails is None:
        return _count_law(die, pool, work)
    return _power(_mapped(die, pool.worth), pool.count, work)


def die_law(pool: Pool, work: Work | None = None) -> Law:
    """Return the distribution of what one die of a pool is worth, rolled again and exploded as the pool says."""
    die, explosion, work = shown_law(pool), pool.explosion, work or Work()
    if explosion is None:
        return die
    if not explosion.down:
        return _exploded(die, pool, work)
    # A low face is followed by a die that explodes upwards alone, and is subtracted.
    added = _exploded(die, replace(pool, target=None, explosion=replace(explosion, down=0)), work)
    work.spend(300 * explosion.down * len(added.values))
    weights = {value: weight * die.total for value, weight in added.items() if value > explosion.down}
    for face, ways in die.items():
        for value, weight in added.items() if face <= explosion.down else ():
            weights[face - value] = weights.get(face - value, 0) + ways * weight
    return from_weights(weights, die.total * added.total)


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
    return from_weights(weights, len(faces) ** 2)


def _exploded(die: Law, pool: Pool, work: Work) -> Law:
    """Follow the explosions of a die until hardly anything is open, or until the count of the pool is settled.

    The die is what its first face gives, then what each face in between gives, then the last one. A face that explodes
    and one that ends the die are told apart; where every new die counts for itself, a face gives its score.
    """
    explosion = pool.explosion
    assert explosion
    gains = _gains(pool)
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
    law = from_weights(weights, total)
    if not law.open or least < 0:
        return law
    return replace(law, above=first[0].values[0] + depth * least + min(least, later[1].values[0]))


def _gains(pool: Pool) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """Return what a face of a first die is worth, and one of a further die."""
    assert pool.explosion
    less = int(pool.explosion.penetrating)
    return (pool.worth, pool.worth) if pool.explosion.apart else (lambda face: face, lambda face: face - less)


def _exploded_sum(pool: Pool, work: Work) -> Law:
    """Return the distribution of the sum of dice that explode, by how many explosions there are in all.

    With E for the faces that explode, each worth what it adds, and F for those that end a die, n dice with k explosions
    add up as F^n E^k, in C(n + k - 1, k) orders.
    """
    shown, explosion, n = shown_law(pool), pool.explosion, pool.count
    assert explosion
    added = _part(shown, pool.exploding, _gains(pool)[1])
    if explosion.once or pool.exploding != pool.exploding_added or added.values[0] < 0:
        return _power(die_law(pool, work), n, work)
    ended = _power(_part(shown, pool.exploding, _gains(pool)[0], ends=True), n, work)
    orders = _orders(shown.total, sum(added.weights), n)
    most = len(orders) - 1
    spans = ended.values[-1] - ended.values[0], most * added.values[-1]
    span, total = sum(spans), shown.total ** (n + most)
    work.hold(span + 1)
    width = width_of(total)
    chain, face = 0, pack(added, 1, width) << 8 * width * added.values[0]
    for explosions in range(most, -1, -1):
        work.spend(_product_cost((most - explosions) * added.values[-1] * width, added.values[-1] * width) + 1_000)
        chain = chain * face + orders[explosions] * shown.total ** (most - explosions)
    work.spend(_product_cost(spans[0] * width, spans[1] * width) + 300 * span)
    law = unpack(chain * pack(ended, 1, width), ended.values[0], 1, span, width, total)
    # One more explosion than are followed; or one die, or all, that stay as they are after as many as they may have.
    least, low, limit = added.values[0], ended.values[0] // n, MOST_EXPLOSIONS + 1
    above = min((most + 1) * least + n * low, limit * least + (n - 1) * low, n * limit * least)
    return replace(law, above=above)


def _orders(faces: int, exploding: int, n: int) -> list[int]:
    """Return in how many orders dice explode 0, 1, 2 ... times, until more is hardly ever seen.

    Args:
        exploding: how many of them explode.
        n: how many dice there are, each of which explodes at most `MOST_EXPLOSIONS` times.
    """
    found: list[int] = []
    limit = MOST_EXPLOSIONS + 1
    left, scale = faces**n, (faces - exploding) ** n  # of all faces, and of those that end all dice
    while left * EXPLOSION_OPEN > faces ** (n + max(0, len(found) - 1)):
        k = len(found)
        all_orders = comb(n + k - 1, k)
        left = left * (faces if k else 1) - all_orders * scale * exploding**k
        beyond = (
            comb(n, long) * comb(n + k - long * limit - 1, n - 1) * (-1) ** long for long in range(1, k // limit + 1)
        )
        found.append(all_orders + sum(beyond))
    return found


def _part(die: Law, exploding: Container[int], gain: Callable[[int], int], *, ends: bool = False) -> Law:
    """Return what the faces of a die give that explode, or that end it; the others are open."""
    part = {face: weight for face, weight in die.items() if (face in exploding) != ends}
    return _mapped(from_weights(part, die.total), gain)


def followed(die: Law, pool: Pool) -> int:
    """Return how many explosions of a die are followed.

    Args:
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


def _count_law(die: Law, pool: Pool, work: Work) -> Law:
    assert pool.target
    fit = sum(weight for value, weight in die.items() if pool.target.fits(value))
    rest = die.total - die.open - fit
    n = pool.count
    work.spend(n * n * (5 + 3 * die.total.bit_length()))
    weights = {hits: comb(n, hits) * fit**hits * rest ** (n - hits) for hits in range(n + 1)}
    return from_weights(weights, die.total**n)


def _power(die: Law, n: int, work: Work) -> Law:
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
    width = width_of(total)
    size = n * span * width
    work.spend(_product_cost(size // 2, size // 2) * 3 // 2 + 300 * n * span)
    law = unpack(pack(die, 1, width) ** n, n * low, 1, n * span, width, total)
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


def _kept_law(kinds: Mapping[Law, int], kept: tuple[int, int], work: Work, pool: Pool | None = None) -> Law:
    """Return the distribution of the values that stay when some are dropped, added.

    Args:
        kinds: how many values there are of each distribution.
        kept: which of them stay when all are sorted from low to high.
        work: what is left of it.
        pool: whose dice these are, where they are counted in place of added.
    """
    keeping = Keeping(kinds, kept, pool.worth if pool else None, work)
    found = keeping.law(keeping.follow())
    if not found.open or keeping.bound is None or pool:
        return found
    # Where what is open matters, one of the values that stay is at least the bound.
    lows = sorted(min(*law.values[:1], keeping.bound) for law, count in kinds.items() for _ in range(count))
    return replace(found, above=keeping.bound + sum(lows[: kept[1] - kept[0] - 1]))
