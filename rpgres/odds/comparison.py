"""Rules side by side: a subject, or grids of it, with and without changes, and the differences of the chances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.errors import UsageError, named
from rpgres.odds.chances import house_rules
from rpgres.odds.study import NEGLIGIBLE, Study
from rpgres.odds.subjects import Change, Evaluated, Measured, MeasuredOdds, changed, measured_fields
from rpgres.odds.variations import Axis, Grid, measured_grids

if TYPE_CHECKING:
    from fractions import Fraction

BASE = "base"  # the name of the subject as it was typed


class Difference(msgspec.Struct, frozen=True):
    """The difference of a chance from that of the base.

    Attributes:
        probability: from -1 to 1, for reading.
        exact: the same as a fraction, such as -10/81; null where a negligible probability remains.
    """

    probability: float
    exact: str | None


class ComparedOdds(MeasuredOdds, frozen=True, kw_only=True):
    """The odds of one case of a comparison, at one place of a grid.

    Attributes:
        differences: the difference of each chance from that of the base at the same place; null where more than a
            negligible probability remains, and in the base.
        success_difference: the same for success.
    """

    differences: dict[str, Difference] | None = None
    success_difference: Difference | None = None


class CaseOdds(ComparedOdds, frozen=True, kw_only=True):
    """The odds of one case of a comparison.

    Attributes:
        name: what is changed, as typed; `base` for what was typed without a change.
        changes: the same as data.
        house_rules: what differs from the ruleset as it ships, in this case.
    """

    name: str
    changes: list[Change] = []
    house_rules: list[str] = []


class Comparison(Evaluated, frozen=True, kw_only=True, tag="rpgres.comparison/1"):
    """Rules side by side, as `rpgres odds --compare` prints them with --json.

    Attributes:
        cases: what was compared, the base first.
    """

    cases: list[CaseOdds]

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each case, as `pandas.DataFrame` takes it: `case`, each outcome's probability, `success`."""
        return [{"case": case.name, **case.row()} for case in self.cases]


class GridCell(ComparedOdds, frozen=True, kw_only=True):
    """The odds of one case at one place of a grid.

    Attributes:
        at: the value of each axis, by its name.
    """

    at: dict[str, str]


class GridCase(msgspec.Struct, frozen=True, kw_only=True):
    """One case of several grids.

    Attributes:
        name: what is changed, as typed; `base` for what was typed without a change.
        changes: the same as data.
        house_rules: what differs from the ruleset as it ships, in this case.
        cells: the odds of each value, or of each pair; those of the last axis vary fastest.
    """

    name: str
    changes: list[Change] = []
    house_rules: list[str] = []
    cells: list[GridCell]


class Grids(Evaluated, frozen=True, kw_only=True, tag="rpgres.grids/1"):
    """Ranges of values under several rules, as `rpgres odds --vary --compare` prints them with --json.

    Attributes:
        axes: what takes several values: one thing, or two.
        cases: the grid of each case, the base first.
    """

    axes: list[Axis]
    cases: list[GridCase]


Cases = Sequence[tuple[str, Sequence[Change]]]  # the changes of each case, under a name


def compare(study: Study, cases: Cases) -> Comparison:
    """Return the odds of a subject as it is and in each case, with the differences.

    Raises:
        UsageError: a change is impossible.
    """
    found, is_complete = _cases(study, (), cases)
    records = [CaseOdds(**about, **fields) for about, cells in found for _, fields in cells]
    return Comparison(cases=records, **study.fields(complete=is_complete))


def compare_grids(study: Study, axes: Sequence[Axis], cases: Cases) -> Grids:
    """Return the odds of a subject for every value, or pair of values, as it is and in each case.

    Raises:
        UsageError: there are too many axes or values, or a value or a change is impossible.
    """
    varied = {axis.name.replace("-", "_") for axis in axes}
    for name, changes in cases:
        if varied & {change.name.replace("-", "_") for change in changes}:
            raise UsageError(f"{named('compare')} {name} changes what varies; compare something else")
    found, is_complete = _cases(study, axes, cases)
    grids = [GridCase(**about, cells=[GridCell(at=at, **fields) for at, fields in cells]) for about, cells in found]
    return Grids(axes=list(axes), cases=grids, **study.fields(complete=is_complete))


def _cases(
    study: Study, axes: Sequence[Axis], cases: Cases
) -> tuple[list[tuple[dict[str, Any], list[tuple[dict[str, str], dict[str, Any]]]]], bool]:
    """Return each case with the fields of its odds at each place, and whether nothing is missing."""
    every = [(BASE, ()), *cases]
    subjects = [study.others.get(name) or changed(study.subject, *changes) for name, changes in every]
    grids, is_complete = measured_grids(study, axes, subjects)
    records = [
        ({"name": name, "changes": list(changes), "house_rules": house_rules(subject.rules)}, _compared(grid, grids[0]))
        for (name, changes), subject, grid in zip(every, subjects, grids, strict=True)
    ]
    return records, is_complete


def _compared(grid: Grid, base: Grid) -> list[tuple[dict[str, str], dict[str, Any]]]:
    pairs = zip(grid, base, strict=False)
    return [(at, {**measured_fields(found), **_differences(found, its)}) for (at, found), (_, its) in pairs]


def _differences(found: Measured, base: Measured) -> dict[str, Any]:
    """Return the differences from the base as fields; nothing for the base itself."""
    if found is base or max(found.open, base.open) > NEGLIGIBLE:
        return {}
    differ = partial(difference, is_exact=not found.open and not base.open)
    has_success = base.success is not None or found.success is not None
    return {
        "differences": {name: differ(base.masses[name], mass) for name, mass in found.masses.items()},
        "success_difference": differ(base.success, found.success) if has_success else None,
    }


def difference(base: Fraction | None, other: Fraction | None, *, is_exact: bool = True) -> Difference:
    """Return the difference of two chances; None counts as 0.

    >>> from fractions import Fraction
    >>> difference(Fraction(1, 2), Fraction(1, 4)).exact
    '-1/4'
    """
    from fractions import Fraction

    found = (other or Fraction(0)) - (base or Fraction(0))
    return Difference(float(found), str(found) if is_exact else None)
