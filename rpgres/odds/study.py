"""A study: a subject whose odds are evaluated in several cases, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec

from rpgres.errors import UsageError, is_interrupt
from rpgres.model.state import EMPTY
from rpgres.odds.subjects import SUCCESS, Limits, Measured, Subject, measure, subject_fields
from rpgres.rulesets import unknown
from rpgres.stopping import STOP

NEGLIGIBLE = 1e-9  # open probability with which differences are still reported: explosions never end
NUMBER = re.compile(r"-?\d+")  # the name of a result that is one
LEAST = 0.001  # seconds that a case may take where no time is left

Progress = Callable[[int, int], None]  # called with how many of how many are measured


class Study(msgspec.Struct, frozen=True):
    """What is evaluated in several cases, and how.

    Attributes:
        seconds: the time limit of all cases together; None for none.
        progress: called with how many of how many cases are done.
        told: further fields of the record.
        outcomes: the outcomes that were asked for by name.
        others: the subjects of cases that are not a change of `subject`, by the name of the case.
    """

    subject: Subject
    seconds: float | None = None
    progress: Progress | None = None
    told: Mapping[str, Any] = EMPTY
    outcomes: Sequence[str] = ()
    others: Mapping[str, Subject] = EMPTY

    def fields(self, *, complete: bool) -> dict[str, Any]:
        """Return the fields of a record that every study has."""
        return {**subject_fields(self.subject), **self.told, "complete": complete}

    def limits(self, number: int, cases: int, end: float) -> Limits:
        """Call `progress`, and return the budget of a case: an equal share of the time that is left.

        Args:
            number: the number of the case, from 0.
            end: the end of the time limit, by the monotonic clock.
        """
        if self.progress is not None:
            self.progress(number, cases)
        left = max(LEAST, end - monotonic()) / (cases - number) if self.seconds is not None else None
        return Limits(left, cases)

    def measured(self, subjects: Sequence[Subject]) -> list[Measured]:
        """Return the distribution of each case, all with the same results in the same order.

        An interrupt ends it early, but not before the first case is finished.

        Raises:
            UsageError: `outcomes` names an unknown result.
        """
        found = completed(list(self._measured(subjects)), self.subject)
        for outcome in self.outcomes:
            check_outcome(self.subject, outcome, found)
        return found

    def _measured(self, subjects: Sequence[Subject]) -> Iterator[Measured]:
        end = monotonic() + (self.seconds or 0.0)
        for number, subject in enumerate(subjects):
            limits = self.limits(number, len(subjects), end)
            try:
                found = measure(subject, limits)
            except KeyboardInterrupt as error:
                if not number or not (STOP.is_asked or is_interrupt(error)):
                    raise
                return
            is_stopped = found.is_interrupted or STOP.is_asked
            if is_stopped and number:
                return
            yield found
            if is_stopped:
                return


def completed(found: Sequence[Measured], subject: Subject) -> list[Measured]:
    """Return distributions with all results in each: outcomes in the ruleset's order, numbers ascending."""
    names = list(dict.fromkeys(name for one in found for name in one.masses))
    bands = {name: place for place, name in enumerate(subject.rules.file.bands)}
    if bands.keys() >= set(names):
        names.sort(key=bands.__getitem__)
    elif all(NUMBER.fullmatch(name) for name in names):
        names.sort(key=int)
    return [
        msgspec.structs.replace(one, masses={name: one.masses.get(name, one.open * 0) for name in names})
        for one in found
    ]


def check_outcome(subject: Subject, outcome: str, found: Sequence[Measured]) -> None:
    """Check that an outcome that was asked for is a result.

    Args:
        outcome: the name; it may also be `success` where a result counts as one.

    Raises:
        UsageError: there is no such result.
    """
    known = [*dict.fromkeys(name for one in found for name in one.masses)]
    if any(one.success is not None for one in found):
        known.append(SUCCESS)
    bands = subject.rules.file.bands.keys()
    # A declared outcome may have no chance here; but where chances are of numbers, no outcome is a result.
    if outcome not in known and (outcome not in bands or (known and bands.isdisjoint(known))):
        name = f"{subject.rules.id} {subject.action or subject.scene}"
        kind = "outcome" if subject.action or subject.rules.file.bands.keys() & set(known) else "ending"
        raise UsageError(unknown(kind, outcome, known, of=name if subject.action else f"the scene {subject.scene}"))
