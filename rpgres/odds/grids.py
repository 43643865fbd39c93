"""Grids of odds side by side: one subject over ranges of values, as it is and with changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import msgspec

from rpgres.errors import UsageError, named
from rpgres.odds.chances import house_rules
from rpgres.odds.comparison import BASE, Difference, case_record, case_subject, is_complete
from rpgres.odds.study import Study
from rpgres.odds.subjects import Change, Evaluated, changed
from rpgres.odds.variations import MOST, Axis, Cell, check_axes, named_changes


class GridCell(Cell, frozen=True, kw_only=True):
    """The odds of one case at one place of a grid.

    Attributes:
        differences: by how much each chance differs from that of the base at the same place; null where more than a
            trace of probability remains, and in the base.
        success_difference: the same for success.
    """

    differences: dict[str, Difference] | None = None
    success_difference: Difference | None = None


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


def compare_grids(study: Study, axes: Sequence[Axis], cases: Sequence[tuple[str, Sequence[Change]]]) -> Grids:
    """Return the odds of a subject for every value, or pair of values, as it is and in each case.

    Args:
        study: what is compared.
        axes: what varies, and through which values.
        cases: the changes of each case, under a name.

    Raises:
        UsageError: there are too many axes or values, or a value or a change is impossible.
    """
    check_axes(axes)
    varied = {axis.name.replace("-", "_") for axis in axes}
    for name, changes in cases:
        if varied & {change.name.replace("-", "_") for change in changes}:
            raise UsageError(f"{named('compare')} {name} changes what varies; compare something else")
    every = [(BASE, ()), *cases]
    places = list(product(*(axis.values for axis in axes)))
    if len(places) * len(every) > MOST:
        raise UsageError(f"{len(places)} combinations of {len(every)} cases are too many; at most {MOST} are evaluated")
    names = [axis.name for axis in axes]
    whole = [case_subject(study, name, changes) for name, changes in every]
    subjects = [changed(one, *named_changes(one, names, place)) for one in whole for place in places]
    found = study.measured(subjects)
    grids = []
    for number, ((name, changes), one) in enumerate(zip(every, whole, strict=True)):
        cells = []
        for place, base, its in zip(places, found, found[number * len(places) :], strict=False):
            case = case_record(name, changes, one, its, base=base)
            fields = {field: getattr(case, field) for field in GridCell.__struct_fields__ if field != "at"}
            cells.append(GridCell(at=dict(zip(names, place, strict=True)), **fields))
        grids.append(GridCase(name=name, changes=list(changes), house_rules=house_rules(one.rules), cells=cells))
    return Grids(axes=list(axes), cases=grids, **study.fields(complete=is_complete(found, len(subjects))))
