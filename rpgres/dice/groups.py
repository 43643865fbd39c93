"""Dice that bring further dice, each counted by itself, and exact laws of what is read off named groups of dice.

What is read off a die is a *vector*: a number for each reading. Vectors of dice are joined one by one: added, or the
higher or lower is taken. Where a sum or a count may grow without end, or only matters up to some number, it has a
*cap*: from there on it stays, so that all that follows is exact with a finite number of states.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import gcd, lcm, prod

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice.expression import Dice
from rpgres.dice.grammar import FATE, Again, Explosion, Pool
from rpgres.dice.rolling import Throw
from rpgres.errors import LawSizeError

MOST_STEPS = 3_000_000  # of joining states in one law, some seconds

Vector = tuple[int, ...]


@lru_cache(maxsize=1024)
def added_dice(plain: Dice, again: Again) -> Dice:
    """Return a pool of which some faces bring a further die, in rounds, until no die does; as it is where none does.

    Results are written die by die, each with what it brought: 6, 5 and 3, of which the 6 brought a 2, are `6,2,5,3`.
    """
    if not again.first:
        return plain
    return Dice(replace(plain.pools[0], explosion=Explosion(apart=True, again=again)))


@lru_cache(maxsize=1024)
def as_many_dice(pool: Dice, count: int) -> Dice:
    """Return a pool with this number of dice; equal ones are one object, and share a law and a table."""
    return Dice(replace(pool.pools[0], count=count))


def faces_of(pool: Pool, throw: Throw) -> tuple[tuple[int, bool], ...]:
    """Return the dice of a throw of one pool that count, each with whether it is one of the first."""
    limit = pool.explosion.limit if pool.explosion is not None else 0
    found, added = [], 0
    for one in throw.faces[0]:
        if one.mark == "kept":
            found.append((one.face, not added))
        goes_on = added < limit and one.face in (pool.exploding_added if added else pool.exploding)
        added = added + 1 if goes_on else 0
    return tuple(found)


# ---------------------------------------------------------------------------------------------------------------------
# Laws


class Joining(Struct, frozen=True):
    """How vectors of dice are joined.

    Attributes:
        kinds: of each reading: `add`, `max` or `min`.
        caps: of each: the number at which a sum stays; None where it has none.
    """

    kinds: tuple[str, ...]
    caps: tuple[int | None, ...]

    def join(self) -> Callable[[Vector, Vector], Vector]:
        """Return a function that joins two vectors."""
        kinds, caps = self.kinds, self.caps
        if all(kind == "add" for kind in kinds):
            if all(cap is None for cap in caps):
                return lambda a, b: tuple([x + y for x, y in zip(a, b, strict=True)])
            tops = [1 << 60 if cap is None else cap for cap in caps]
            return lambda a, b: tuple([x + y if x + y < top else top for x, y, top in zip(a, b, tops, strict=True)])
        ones = [
            max if kind == "max" else min if kind == "min" else _capped(cap)
            for kind, cap in zip(kinds, caps, strict=True)
        ]
        return lambda a, b: tuple([one(x, y) for one, x, y in zip(ones, a, b, strict=True)])

    @property
    def nothing(self) -> Vector:
        """The vector of no dice."""
        return tuple(0 if kind == "add" else LOWEST if kind == "max" else HIGHEST for kind in self.kinds)


def _capped(cap: int | None) -> Callable[[int, int], int]:
    return (lambda x, y: x + y) if cap is None else (lambda x, y: min(x + y, cap))


LOWEST, HIGHEST = -(1 << 60), 1 << 60  # of no dice; told as 0

Law = tuple[dict[Vector, int], int]  # weights, and of how many


class Faces(Struct, frozen=True):
    """A die as its law needs it: each face with its weight, its vector, and whether it brings a further die.

    Attributes:
        first: of a first die.
        added: of an added one.
        count: how many first dice there are.
        kept: which of them count, sorted from low to high as `Pool.kept` says; None for all.
    """

    count: int
    first: tuple[tuple[int, Vector, bool], ...]
    added: tuple[tuple[int, Vector, bool], ...] = ()
    kept: tuple[int, int] | None = None


@lru_cache(maxsize=2048)
def group_law(faces: Faces, joining: Joining) -> Law:
    """Return the law of the joined vectors of a group.

    Args:
        faces: its dice; with `kept`, faces stand in ascending order.
        joining: how vectors are joined.

    Raises:
        LawSizeError: it would take too much work.
    """
    join = joining.join()
    if faces.kept is not None:
        return _kept_law(faces, join, joining.nothing)
    if faces.added:
        return _bringing_law(faces, join, joining.nothing)
    die: dict[Vector, int] = {}
    for weight, vector, _ in faces.first:
        key = join(joining.nothing, vector)
        die[key] = die.get(key, 0) + weight
    powers, steps = [(1, die)], 0  # so many dice, and their law: doubled as long as that is less work than die by die
    while len(joining.kinds) == 1 and powers[-1][0] * 2 <= faces.count:
        number, law = powers[-1]
        steps += len(law) ** 2
        check_steps(steps)
        powers.append((2 * number, both(law, law, join)))
    states, left = {joining.nothing: 1}, faces.count
    for number, law in reversed(powers):
        while left >= number:
            steps += len(states) * len(law)
            check_steps(steps)
            states = both(states, law, join)
            left -= number
    return states, sum(weight for weight, _, _ in faces.first) ** faces.count


def both(
    left: Mapping[Vector, int], right: Mapping[Vector, int], join: Callable[[Vector, Vector], Vector]
) -> dict[Vector, int]:
    """Return the weights of two joined."""
    found: dict[Vector, int] = {}
    items = list(right.items())
    for so_far, weight in left.items():
        for vector, times in items:
            key = join(so_far, vector)
            found[key] = found.get(key, 0) + weight * times
    return found


def check_steps(steps: int) -> None:
    """Refuse a law that takes too many steps of joining.

    Raises:
        LawSizeError: it does.
    """
    if steps > MOST_STEPS:
        raise LawSizeError(
            f"to work out what is read off these dice together would take more than {MOST_STEPS:,} steps; "
            "use fewer dice or fewer sides, or roll them many times instead",
            limit="MOST_STEPS",
        )


def _bringing_law(faces: Faces, join: Callable[[Vector, Vector], Vector], nothing: Vector) -> Law:
    """Return the law of dice that bring others: die by die, and each with all that it brings, on the states so far.

    Weights are scaled so that they stay whole: an added die divides them by how many faces it has. Faces that bring a
    die and change nothing any more are a loop, which ends by all other faces in proportion.
    """
    added = faces.added
    depths: dict[Vector, int] = {}  # how many dice a state can bring one after another that still change it
    first, all_added = (sum(weight for weight, _, _ in shown) for shown in (faces.first, added))
    looping: dict[Vector, int] = {}
    parts: defaultdict[int, set[int]] = defaultdict(set)  # by depth, what weights are divided by there
    states, total, steps = {nothing: 1}, 1, 0
    for _ in range(faces.count):
        done: dict[Vector, int] = {}
        brought: dict[Vector, int] = {}
        for so_far, weight in states.items():
            for times, vector, goes_on in faces.first:
                to, key = brought if goes_on else done, join(so_far, vector)
                to[key] = to.get(key, 0) + weight * times
        total *= first
        deepest = max((_depth(one, added, join, depths, looping) for one in brought), default=-1)
        if deepest >= 0:
            for vector, depth in depths.items():
                parts[depth].add(all_added - looping[vector] or 1)
            scale = prod(lcm(*parts[depth]) for depth in range(deepest + 1))
            total *= scale
            done = {vector: weight * scale for vector, weight in done.items()}
            levels: list[dict[Vector, int]] = [{} for _ in range(deepest + 1)]
            for vector, weight in brought.items():
                levels[depths[vector]][vector] = weight * scale
            for level in reversed(levels):
                steps += len(level) * len(added)
                check_steps(steps)
                for so_far, weight in level.items():
                    _bring(so_far, weight, added, join, done, levels, depths, all_added - looping[so_far])
        states = done
    common = gcd(total, *states.values())
    return {vector: weight // common for vector, weight in states.items()}, total // common


def _bring(
    so_far: Vector,
    weight: int,
    added: tuple[tuple[int, Vector, bool], ...],
    join: Callable[[Vector, Vector], Vector],
    done: dict[Vector, int],
    levels: list[dict[Vector, int]],
    depths: dict[Vector, int],
    ways: int,
) -> None:
    """Throw an added die: it is done, or brings one more."""
    if not ways:  # every face brings a die, and nothing changes any more
        done[so_far] = done.get(so_far, 0) + weight
        return
    each = weight // ways
    for times, vector, goes_on in added:
        key = join(so_far, vector)
        if not goes_on:
            done[key] = done.get(key, 0) + each * times
        elif key != so_far:
            to = levels[depths[key]]
            to[key] = to.get(key, 0) + each * times


def _depth(
    start: Vector,
    added: tuple[tuple[int, Vector, bool], ...],
    join: Callable[[Vector, Vector], Vector],
    depths: dict[Vector, int],
    looping: dict[Vector, int],
) -> int:
    """Return how many added dice can follow one another from a state that still change it."""
    open_ = [start]
    while open_:
        so_far = open_[-1]
        if so_far in depths:
            open_.pop()
            continue
        reached = [(times, join(so_far, vector)) for times, vector, goes_on in added if goes_on]
        after = [key for _, key in reached if key != so_far]
        missing = [key for key in after if key not in depths]
        check_steps(len(depths))
        if missing:
            open_ += missing
            continue
        open_.pop()
        depths[so_far] = 1 + max((depths[key] for key in after), default=-1)
        looping[so_far] = sum(times for times, key in reached if key == so_far)
    return depths[start]


def _kept_law(faces: Faces, join: Callable[[Vector, Vector], Vector], nothing: Vector) -> Law:
    """Return the law of a group of which only some dice count, by the number of dice at each face, from high to low."""
    from math import comb

    assert faces.kept is not None
    low, high = faces.kept
    count, total = faces.count, sum(weight for weight, _, _ in faces.first)
    first, last = count - high, count - low
    states: dict[tuple[int, Vector], int] = {(0, nothing): 1}
    steps = 0
    for weight, vector, _ in reversed(faces.first):
        after: dict[tuple[int, Vector], int] = {}
        for (placed, so_far), ways in states.items():
            steps += count - placed + 1
            check_steps(steps)
            reached = so_far
            for more in range(count - placed + 1):
                if more and first < placed + more <= last:
                    reached = join(reached, vector)
                key = (placed + more, reached)
                after[key] = after.get(key, 0) + ways * comb(count - placed, more) * weight**more
        states = after
    return {vector: ways for (placed, vector), ways in states.items() if placed == count}, total**count


def plain_faces(pool: Pool) -> tuple[tuple[int, int], ...]:
    """Return the faces of one die of a pool with their weights, with the rerolls of the pool."""
    from rpgres.dice.distributions import die_law

    return tuple(die_law(Pool(pool.count, pool.sides, pool.reroll)).items())


def can_bring(pool: Pool) -> bool:
    """Tell whether faces of a pool may bring further dice: where all dice count, and none explodes or is a Fate die."""
    return not (pool.keep or pool.reroll or pool.explodes or pool.target or pool.is_d66 or pool.sides == FATE)
