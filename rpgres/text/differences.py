"""The first place at which two values of plain data differ, so that a message need not show both whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """Where two values differ, as keys joined by points with places in brackets, and what each has there."""

    path: str
    one: str
    other: str


NOTHING = "nothing"


def first_difference(one: Any, other: Any, path: str = "", *, named_only: bool = False) -> Difference | None:
    """Return where two values of plain data differ first; None where they are the same, types and orders included.

    Args:
        named_only: whether of two tables only the keys count that the first one has, in any order.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in one if named_only else dict.fromkeys((*one, *other)):
            place = f"{path}.{key}" if path else str(key)
            if key not in one or key not in other:
                return Difference(place, *(repr(its[key]) if key in its else NOTHING for its in (one, other)))
            found = first_difference(one[key], other[key], place, named_only=named_only)
            if found is not None:
                return found
        is_same = named_only or list(one) == list(other)
        return None if is_same else Difference(f"the order of keys of {path or 'it'}", repr([*one]), repr([*other]))
    if _is_list(one) and _is_list(other):
        for number, (left, right) in enumerate(zip(one, other, strict=False)):
            found = first_difference(left, right, f"{path}[{number}]", named_only=named_only)
            if found is not None:
                return found
        if len(one) == len(other):
            return None
        number = min(len(one), len(other))
        ends = (repr(its[number]) if len(its) > number else NOTHING for its in (one, other))
        return Difference(f"{path}[{number}]", *ends)
    if type(one) is type(other) and one == other:
        return None
    left, right = repr(one), repr(other)
    if left == right:  # the same to look at
        left, right = f"{left} ({type(one).__name__})", f"{right} ({type(other).__name__})"
    return Difference(path, left, right)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
