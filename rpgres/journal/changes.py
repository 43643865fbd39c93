"""Differences between two pieces of plain data, as plain data: stored for each entry in place of the whole table.

A difference is a list: its first item says what is done, the rest with what.

===================================  ==========================================================
``[]``                               nothing
``[0, value]``                       put this value in its place
``[1, {key: difference}, [key]]``    of a dictionary: change these, take these away (left out where none is)
``[2, start, count, [items]]``       of a list: put these items in the place of so many, from a number on
``[3, {number: difference}]``        of a list: change these items
===================================  ==========================================================
"""

from __future__ import annotations

from typing import Any

VALUE, KEYS, SPAN, ITEMS = range(4)


def difference(before: Any, after: Any) -> list[Any]:
    """Return the difference that turns one piece of plain data into another."""
    if type(before) is type(after) and before == after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        changed = {
            key: difference(before[key], value) if key in before else [VALUE, value]
            for key, value in after.items()
            if key not in before or type(before[key]) is not type(value) or before[key] != value
        }
        removed = [key for key in before if key not in after]
        return [KEYS, changed, removed] if removed else [KEYS, changed]
    if isinstance(before, list) and isinstance(after, list):
        return _of_lists(before, after)
    return [VALUE, after]


def _of_lists(before: list[Any], after: list[Any]) -> list[Any]:
    shorter = min(len(before), len(after))
    start = next((place for place in range(shorter) if before[place] != after[place]), shorter)
    end = next((place for place in range(shorter - start) if before[-1 - place] != after[-1 - place]), shorter - start)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) == len(new) and all(isinstance(one, dict | list) for one in (*old, *new)):
        pairs = enumerate(zip(old, new, strict=True), start)
        return [ITEMS, {str(place): difference(*pair) for place, pair in pairs if pair[0] != pair[1]}]
    return [SPAN, start, len(old), new]


def applied(before: Any, change: Any) -> Any:
    """Return data with a difference applied; the original is not changed.

    Raises:
        ValueError, TypeError, KeyError, IndexError: the difference is none, or one of other data.
    """
    match change:
        case []:
            return before
        case [0, value]:
            return value
        case [1, dict() as changed, *removed]:
            rest = {key: value for key, value in before.items() if not removed or key not in removed[0]}
            return {**rest, **{key: applied(before.get(key), inner) for key, inner in changed.items()}}
        case [2, int() as start, int() as count, list() as items]:
            return [*before[:start], *items, *before[start + count :]]
        case [3, dict() as changed]:
            return [applied(one, changed.get(str(place), [])) for place, one in enumerate(before)]
    raise ValueError("this is no difference")
