"""A subject for every value of one thing, or of two: grids of odds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import msgspec

from rpgres.dice.hints import as_range
from rpgres.errors import UsageError, named
from rpgres.odds.document import plain_value
from rpgres.odds.study import Study
from rpgres.odds.subjects import (
    Evaluated,
    Measured,
    MeasuredOdds,
    Subject,
    changed,
    choices_of,
    measured_fields,
    named_change,
    value_text,
)

Grid = list[tuple[dict[str, str], Measured]]  # of each place the value of each axis, and the distribution there
MOST = 1000  # values of an axis, and cells of a grid
AXES = 2

_RANGE = re.compile(r"(?P<lead>(?:[^=]*=)?)(?P<low>[+-]?\d{1,6})\.\.(?P<high>[+-]?\d{1,6})")


class Axis(msgspec.Struct, frozen=True):
    """One thing that takes several values.

    Attributes:
        name: an input, a switch, or a path of a scene.
        values: the values in order, as typed.
    """

    name: str
    values: list[str]


class Cell(MeasuredOdds, frozen=True, kw_only=True):
    """The odds of one value, or of one pair of values.

    Attributes:
        at: the value of each axis, by its name.
    """

    at: dict[str, str]


class Variation(Evaluated, frozen=True, kw_only=True, tag="rpgres.variation/1"):
    """The odds for ranges of values, as `rpgres odds --vary` prints them with --json.

    Attributes:
        ruleset: the ruleset's id; null for dice notation.
        axes: what takes several values: one thing, or two; of dice `notation` and `vs`.
        cells: the odds of each value, or of each pair; those of the last axis vary fastest.
    """

    ruleset: str | None  # type: ignore[assignment]  # of dice there is none
    axes: list[Axis]
    cells: list[Cell]

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each cell, as `pandas.DataFrame` takes it: its values by axis, and the odds as its `row`."""
        return _rows(self.cells)


def _rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    return [{**{name: plain_value(value) for name, value in cell.at.items()}, **cell.row()} for cell in cells]


# ---------------------------------------------------------------------------------------------------------------------
# What is typed


def range_values(text: str) -> list[str]:
    """Return the values of a range, or of a list: `0..5`, `fight=0..5`, `fair,good,4dF+2`.

    >>> range_values("0..2"), range_values("fight=1..2"), range_values("2..1")
    (['0', '1', '2'], ['fight=1', 'fight=2'], ['2', '1'])

    Raises:
        UsageError: it has no value, or too many.
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        values = _listed(text)
        if not all(values):
            raise UsageError(f"values are a range such as 0..5, or a list such as fair,good; not {text!r}")
        if meant := as_range(text):
            raise UsageError(f"{text} is one value, a subtraction; a range is {meant}")
        return list(dict.fromkeys(values))
    low, high = int(match["low"]), int(match["high"])
    if abs(high - low) >= MOST:
        raise UsageError(f"the range {text} has {abs(high - low) + 1} values; at most {MOST} are evaluated")
    step = 1 if high >= low else -1
    return [f"{match['lead']}{value}" for value in range(low, high + step, step)]


def _listed(text: str) -> list[str]:
    """Return the values of a list; commas in parentheses belong to dice: `(d8,d6)kh1,12`."""
    values, depth = [""], 0
    for char in text:
        depth += (char in "({") - (char in ")}")
        if char == "," and depth <= 0:
            values.append("")
        else:
            values[-1] += char
    return [value.strip() for value in values]


def read_axis(text: str, *, option: str, subject: Subject | None = None) -> Axis:
    """Return what `NAME=LOW..HIGH`, or `NAME=VALUE,VALUE`, says; what has choices takes all of them by its name alone.

    Raises:
        UsageError: it is neither.
    """
    name, separator, values = text.partition("=")
    choices = choices_of(subject, name.strip()) if subject is not None and not values.strip() else []
    if choices:
        return Axis(name.strip(), choices)
    if not separator or not name.strip() or not values.strip():
        raise UsageError(f"{named(option)} takes NAME=LOW..HIGH or NAME=VALUE,VALUE such as vs=0..8, not {text!r}")
    return Axis(name.strip(), range_values(values))


def input_axes(inputs: Mapping[str, Any]) -> tuple[list[Axis], dict[str, Any]]:
    """Return the axes that stand among an action's inputs as ranges, and the inputs without them.

    Raises:
        UsageError: a range is one of several values of an input.
    """
    axes, others = list[Axis](), dict[str, Any]()
    for name, value in inputs.items():
        several = list(value) if isinstance(value, list | tuple) else [value]
        if not any(isinstance(one, str) and _RANGE.fullmatch(one) for one in several):
            others[name] = value
            continue
        if len(several) > 1:
            raise UsageError(f"{named(name)} takes one range and nothing beside it, not {value_text(value)}")
        axes.append(Axis(name.replace("_", "-"), range_values(several[0])))
    return axes, others


# ---------------------------------------------------------------------------------------------------------------------
# Results


def vary(study: Study, axes: Sequence[Axis]) -> Variation:
    """Return the odds of a subject for every value of an axis, or every pair of values of two.

    Raises:
        UsageError: there are too many axes or values, or a value is impossible.
    """
    (cells,), is_complete = measured_grids(study, axes, [study.subject])
    records = [Cell(at=at, **measured_fields(found)) for at, found in cells]
    return Variation(axes=list(axes), cells=records, **study.fields(complete=is_complete))


def measured_grids(study: Study, axes: Sequence[Axis], cases: Sequence[Subject]) -> tuple[list[Grid], bool]:
    """Return the grid of each case, those of an interrupted study with fewer cells; and whether nothing is missing.

    Args:
        axes: what varies; nothing for a grid of one cell.
        cases: the subjects, whose distributions have the same results in the same order.

    Raises:
        UsageError: there are too many axes or values, or a value is impossible.
    """
    names = [axis.name for axis in axes]
    if len(axes) > AXES or len(set(names)) < len(names):
        raise UsageError(f"at most two different things can vary at once, not {', '.join(names)}")
    places = [dict(zip(names, values, strict=True)) for values in product(*(axis.values for axis in axes))]
    if len(places) * len(cases) > MOST:
        of = f" of {len(cases)} cases" if len(cases) > 1 else ""
        raise UsageError(f"{len(places)} combinations{of} are too many; at most {MOST} are evaluated")
    subjects = [
        changed(case, *(named_change(case, name, value) for name, value in place.items()))
        for case in cases
        for place in places
    ]
    found = study.measured(subjects)
    starts = range(0, len(subjects), len(places))
    grids = [list(zip(places, found[start : start + len(places)], strict=False)) for start in starts]
    return grids, len(found) == len(subjects) and not any(one.is_interrupted for one in found)
