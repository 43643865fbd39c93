"""What is read off one throw beside its value: the natural die, the highest, how many sixes; and the exact joint law.

All but the total speak of the first pool of an expression, and of its kept dice alone, with nothing added.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice.distributions import die_law, followed, law_of, shown_law
from rpgres.dice.expression import Dice
from rpgres.dice.grammar import Node, Number, Pool, Sum, with_first
from rpgres.dice.groups import Faces, Joining, Law, Vector, both, check_steps, group_law
from rpgres.dice.rolling import DieFace, Reading, Throw


class JointLaw(Struct, frozen=True):
    """An exact distribution of several readings of one throw."""

    values: tuple[tuple[int, ...], ...]  # ascending, distinct
    weights: tuple[int, ...]  # positive
    total: int  # of the weights and what is open
    open: int = 0


def read_off(dice: Dice, throw: Throw, readings: tuple[Reading, ...]) -> tuple[int, ...]:
    """Return what is read off a throw, in the order of the readings."""
    kept = list(_kept(dice.pools[0], throw.faces[0])) if dice.pools else []
    return tuple(throw.value if reading.kind == "total" else _of_kept(reading, kept) for reading in readings)


def _kept(pool: Pool, faces: tuple[DieFace, ...]) -> Iterator[int]:
    """Yield the worth of every kept die: an exploded one is the sum of its faces."""
    die: list[int] = []
    for face in faces:
        if face.mark == "rerolled":
            continue
        die.append(face.face)
        if not face.exploded:
            if face.mark != "dropped":
                yield pool.joined(die)
            die = []


def _of_kept(reading: Reading, kept: list[int]) -> int:
    match reading.kind:
        case "natural":
            return sum(kept)
        case "highest":
            return max(kept, default=0)
        case "lowest":
            return min(kept, default=0)
        case _:
            return sum(1 for die in kept if reading.counts(die))


# ---------------------------------------------------------------------------------------------------------------------
# The joint law


@lru_cache(maxsize=1024)
def joint_law(dice: Dice, readings: tuple[Reading, ...]) -> JointLaw:
    """Return the exact distribution of several readings of one throw.

    Args:
        readings: what is read off; at least one.

    Raises:
        LawSizeError: there would be too many values to go through.
    """
    if all(reading.kind == "total" for reading in readings):
        law = dice.law
        return JointLaw(tuple((value,) * len(readings) for value in law.values), law.weights, law.total, law.open)
    if not dice.pools:
        total = dice.law.values[0]
        return JointLaw((tuple(total if one.kind == "total" else 0 for one in readings),), (1,), 1)
    found, total = _pool_law(dice.pools[0], readings)
    place = next((place for place, one in enumerate(readings) if one.kind == "total"), None)
    if place is None:
        return _law(found, total)
    rest = {value: law_of(with_first(dice.node, _number(value))) for value in {values[place] for values in found}}
    scale = next(iter(rest.values())).total
    joint: dict[tuple[int, ...], int] = {}
    for values, weight in found.items():
        law = rest[values[place]]
        for whole, chance in law.items():
            key = tuple(whole if one.kind == "total" else read for one, read in zip(readings, values, strict=True))
            joint[key] = joint.get(key, 0) + weight * chance * (scale // law.total if law.total != scale else 1)
    return _law(joint, total * scale)


def _law(weights: dict[tuple[int, ...], int], total: int) -> JointLaw:
    values = sorted(weights)
    known = tuple(weights[value] for value in values)
    return JointLaw(tuple(values), known, total, total - sum(known))


def _pool_law(pool: Pool, readings: tuple[Reading, ...]) -> Law:
    """Return the law of readings of a pool; the total is the value of the pool."""
    joining = Joining(tuple(_JOINED.get(one.kind, "add") for one in readings), (None,) * len(readings))
    if pool.explosion is not None and pool.explosion.apart:
        die, sides = _with_added(pool, readings, joining)
    else:
        law = die_law(replace(pool, target=None))  # a target would make one of all faces beyond it
        die, sides = [(weight, _shown(pool, readings, face)) for face, weight in law.items()], law.total
    faces = tuple((weight, vector, False) for weight, vector in die)
    found, _ = group_law(Faces(pool.count, faces, kept=pool.kept if pool.keep else None), joining)
    return found, sides**pool.count


def _with_added(pool: Pool, readings: tuple[Reading, ...], joining: Joining) -> tuple[list[tuple[int, Vector]], int]:
    """Return the law of one die with all that it adds, which count for themselves and are all kept."""
    shown, join = shown_law(pool), joining.join()
    depth = followed(shown, pool)
    die: dict[Vector, int] = {}
    chain = {joining.nothing: 1}
    for exploded in range(depth + 1):
        last: dict[Vector, int] = {}
        going_on: dict[Vector, int] = {}
        for face, weight in shown.items():
            goes_on = face in (pool.exploding_added if exploded else pool.exploding)
            group, vector = going_on if goes_on else last, _shown(pool, readings, face)
            group[vector] = group.get(vector, 0) + weight
        check_steps(len(chain) * len(shown.values))
        for vector, weight in both(chain, last, join).items():
            die[vector] = die.get(vector, 0) + weight * shown.total ** (depth - exploded)
        chain = both(chain, going_on, join)
    return [(weight, vector) for vector, weight in die.items()], shown.total ** (depth + 1)


_JOINED = {"highest": "max", "lowest": "min"}


def _shown(pool: Pool, readings: tuple[Reading, ...], face: int) -> Vector:
    """Return what one die contributes to each reading."""
    kinds = {"total": pool.worth(face)}
    return tuple(int(one.counts(face)) if one.kind == "count" else kinds.get(one.kind, face) for one in readings)


def _number(value: int) -> Node:
    return Number(value) if value >= 0 else Sum(((-1, Number(-value)),))
