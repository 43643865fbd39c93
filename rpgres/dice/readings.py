"""What is read off one throw beside its value: the natural die, the highest, how many sixes; and the exact joint law.

All but the total speak of the first pool of an expression, and of its kept dice alone, with nothing added.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb
from operator import add

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice.distributions import LawSizeError, die_law, followed, law_of, shown_law
from rpgres.dice.expression import Dice
from rpgres.dice.grammar import Node, Number, Pool, Sum, with_first
from rpgres.dice.rolling import DieFace, Reading, Throw

MOST_JOINT_STEPS = 1_000_000  # that a joint law may take, about two seconds


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
    less = int(pool.explosion is not None and pool.explosion.penetrating)
    worth = 0
    for face in faces:
        if face.mark == "rerolled":
            continue
        worth += face.face
        if face.exploded:
            worth -= less
        else:
            if face.mark != "dropped":
                yield worth
            worth = 0


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
        dice: what is thrown.
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
    pool = dice.pools[0]
    needs_value = any(reading.kind == "total" for reading in readings)
    found, total = _pool_states(pool, readings, needs_value=needs_value)
    if not needs_value:
        return _law({values: weight for (_, values), weight in found.items()}, total)
    rest = {value: law_of(with_first(dice.node, _number(value))) for value in {value for value, _ in found}}
    scale = next(iter(rest.values())).total
    joint: dict[tuple[int, ...], int] = {}
    for (value, values), weight in found.items():
        law = rest[value]
        for whole, chance in law.items():
            key = tuple(whole if one.kind == "total" else read for one, read in zip(readings, values, strict=True))
            joint[key] = joint.get(key, 0) + weight * chance * (scale // law.total if law.total != scale else 1)
    return _law(joint, total * scale)


def _law(weights: dict[tuple[int, ...], int], total: int) -> JointLaw:
    values = sorted(weights)
    known = tuple(weights[value] for value in values)
    return JointLaw(tuple(values), known, total, total - sum(known))


_State = tuple[int, tuple[int, ...]]  # the pool's value (0 where it is not read), and the readings so far


def _pool_states(pool: Pool, readings: tuple[Reading, ...], *, needs_value: bool) -> tuple[dict[_State, int], int]:
    """Return the weight of every joint result of a pool, and the weight of all.

    Faces are visited from high to low with the number of dice at each, so that the place of a die says whether it
    is kept; states that agree in all that is asked go on as one.
    """
    if pool.explosion is not None and pool.explosion.apart:
        return _again_states(pool, readings)
    die = die_law(replace(pool, target=None))  # a target would make one of all faces beyond it
    low, high = pool.kept
    first, last = pool.count - high, pool.count - low  # places of the kept dice, counted from the highest
    steps = 0
    states: dict[tuple[int, _State], int] = {(0, (0, (0,) * len(readings))): 1}
    for face, weight in sorted(die.items(), reverse=True):
        powers = [weight**count for count in range(pool.count + 1)]
        fits = tuple(one.counts(face) for one in readings)
        worth = pool.worth(face)
        after: dict[tuple[int, _State], int] = {}
        for (placed, state), so_far in states.items():
            left = pool.count - placed
            steps += left + 1
            _check(steps)
            for count in range(left + 1):
                kept = max(0, min(placed + count, last) - max(placed, first))
                so = state
                if kept:
                    values = tuple(
                        _grown(one.kind, value, face, kept, is_fit=fit, is_first=placed <= first)
                        for one, value, fit in zip(readings, state[1], fits, strict=True)
                    )
                    so = (state[0] + (worth * kept if needs_value else 0), values)
                reached = (placed + count, so)
                after[reached] = after.get(reached, 0) + so_far * comb(left, count) * powers[count]
        states = after
    done = {state: weight for (placed, state), weight in states.items() if placed == pool.count}
    return done, die.total**pool.count


def _check(steps: int) -> None:
    if steps > MOST_JOINT_STEPS:
        raise LawSizeError(
            f"to work out what is read off these dice together would take more than {MOST_JOINT_STEPS:,} steps; "
            "use fewer dice or fewer sides, or roll them many times instead",
            limit="MOST_JOINT_STEPS",
        )


def _again_states(pool: Pool, readings: tuple[Reading, ...]) -> tuple[dict[_State, int], int]:
    """Return the same where some dice bring others, which count for themselves and are all kept."""
    shown = shown_law(pool)
    faces: tuple[dict[_State, int], dict[_State, int]] = ({}, {})  # of dice that are the last ones, and of the others
    for face, weight in shown.items():
        values = (_grown(one.kind, 0, face, 1, is_fit=one.counts(face), is_first=True) for one in readings)
        state = (pool.worth(face), tuple(values))
        group = faces[face in pool.exploding]
        group[state] = group.get(state, 0) + weight
    depth = followed(shown, pool)
    die: dict[_State, int] = {}
    chain = faces[1]
    for exploded in range(depth + 1):
        ended = _together(chain, faces[0], readings) if exploded else faces[0]
        chain = _together(chain, faces[1], readings) if exploded else chain
        for state, weight in ended.items():
            die[state] = die.get(state, 0) + weight * shown.total ** (depth - exploded)
    found = die
    for _ in range(pool.count - 1):
        found = _together(found, die, readings)
    return found, shown.total ** ((depth + 1) * pool.count)


def _together(some: dict[_State, int], others: dict[_State, int], readings: tuple[Reading, ...]) -> dict[_State, int]:
    """Return what two groups of dice show together."""
    _check(len(some) * len(others))
    joins = [{"highest": max, "lowest": min}.get(one.kind, add) for one in readings]
    found: dict[_State, int] = {}
    for (worth, values), weight in some.items():
        for (other, shown), chance in others.items():
            state = (worth + other, tuple(join(a, b) for join, a, b in zip(joins, values, shown, strict=True)))
            found[state] = found.get(state, 0) + weight * chance
    return found


def _grown(kind: str, so_far: int, face: int, kept: int, *, is_fit: bool, is_first: bool) -> int:
    """Return a reading after a number of further kept dice of one face; faces come from high to low."""
    match kind:
        case "natural":
            return so_far + face * kept
        case "count":
            return so_far + (kept if is_fit else 0)
        case "lowest":
            return face
        case "highest":
            return face if is_first else so_far
        case _:
            return 0


def _number(value: int) -> Node:
    return Number(value) if value >= 0 else Sum(((-1, Number(-value)),))
