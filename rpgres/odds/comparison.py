"""Rules side by side: one subject as it is and with changes, and by how much the chances differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.odds.chances import house_rules
from rpgres.odds.study import NEGLIGIBLE, Study
from rpgres.odds.subjects import Change, Evaluated, Measured, MeasuredOdds, Subject, changed, measured_fields

if TYPE_CHECKING:
    from fractions import Fraction

BASE = "base"  # the name of the subject as it was typed


class Difference(msgspec.Struct, frozen=True):
    """By how much a chance differs from that of the base.

    Attributes:
        probability: from -1 to 1, for reading.
        exact: the same as a fraction, such as -10/81; null where a negligible probability remains.
    """

    probability: float
    exact: str | None


class CaseOdds(MeasuredOdds, frozen=True, kw_only=True):
    """The odds of one case of a comparison.

    Attributes:
        name: what is changed, as typed; `base` for what was typed without a change.
        changes: the same as data.
        house_rules: what differs from the ruleset as it ships, in this case.
        differences: by how much each chance differs from that of the base; null where more than a trace remains.
        success_difference: the same for success.
    """

    name: str
    changes: list[Change] = []
    house_rules: list[str] = []
    differences: dict[str, Difference] | None = None
    success_difference: Difference | None = None


class Comparison(Evaluated, frozen=True, kw_only=True, tag="rpgres.comparison/1"):
    """Rules side by side, as `rpgres odds --compare` prints them with --json.

    Attributes:
        cases: what was compared, the base first.
    """

    cases: list[CaseOdds]

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each case, as `pandas.DataFrame` takes it: `case`, each outcome's probability, `success`."""
        return [{"case": case.name, **case.row()} for case in self.cases]


def compare(study: Study, cases: Sequence[tuple[str, Sequence[Change]]]) -> Comparison:
    """Return the odds of a subject as it is and in each case, with the differences.

    Args:
        study: what is compared.
        cases: the changes of each case, under a name.

    Raises:
        UsageError: a change is impossible.
    """
    every = [(BASE, ()), *cases]
    subjects = [case_subject(study, name, changes) for name, changes in every]
    found = study.measured(subjects)
    records = [
        case_record(name, changes, one, its, base=found[0])
        for (name, changes), one, its in zip(every, subjects, found, strict=False)
    ]
    return Comparison(cases=records, **study.fields(complete=is_complete(found, len(every))))


def case_subject(study: Study, name: str, changes: Sequence[Change]) -> Subject:
    """Return the subject of a case.

    Raises:
        UsageError: a change is impossible.
    """
    return study.others.get(name) or changed(study.subject, *changes)


def is_complete(found: Sequence[Measured], planned: int) -> bool:
    """Tell whether every case was evaluated."""
    return len(found) == planned and not any(one.is_interrupted for one in found)


def case_record(name: str, changes: Sequence[Change], subject: Subject, found: Measured, *, base: Measured) -> CaseOdds:
    """Return the odds of a case with their differences from the base, which has none itself."""
    is_base = found is base
    sure = max(found.open, base.open) <= NEGLIGIBLE and not is_base
    is_exact = not found.open and not base.open
    differ = partial(difference, is_exact=is_exact)
    differences = {name: differ(base.masses[name], mass) for name, mass in found.masses.items()} if sure else None
    has_success = base.success is not None or found.success is not None
    won = differ(base.success, found.success) if sure and has_success else None
    return CaseOdds(
        name=name,
        changes=list(changes),
        house_rules=house_rules(subject.rules),
        differences=differences,
        success_difference=won,
        **measured_fields(found),
    )


def difference(base: Fraction | None, other: Fraction | None, *, is_exact: bool = True) -> Difference:
    """Return by how much a chance differs; what cannot happen has the chance 0.

    Args:
        base: the chance it differs from.
        other: the chance.
        is_exact: whether no probability remains in either.

    >>> from fractions import Fraction
    >>> difference(Fraction(1, 2), Fraction(1, 4)).exact
    '-1/4'
    """
    from fractions import Fraction

    found = (other or Fraction(0)) - (base or Fraction(0))
    return Difference(float(found), str(found) if is_exact else None)
