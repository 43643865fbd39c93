"""What a result depends on: each switch, aspect, input and decision of a subject changed or removed alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

import msgspec

from rpgres.engine.players import NO, Question
from rpgres.errors import RpgresError, is_interrupt
from rpgres.odds.comparison import Difference, difference
from rpgres.odds.study import NEGLIGIBLE, Study, check_outcome, completed
from rpgres.odds.subjects import (
    SUCCESS,
    Change,
    Evaluated,
    Limits,
    Measured,
    MeasuredOdds,
    Subject,
    changed,
    measure,
    measured_fields,
    parts_on_table,
    prepared_subject,
    value_text,
)
from rpgres.parameters.context import SHEET
from rpgres.stopping import STOP


class Part(MeasuredOdds, frozen=True, kw_only=True):
    """The odds without one part, or with it changed.

    Attributes:
        text: the change in words.
        change: the same as data.
        difference: the change of the chance of `outcome`, or of the whole distribution where that is empty; null where
            more than a negligible probability remains.
        distance: the change of the whole distribution: half the sum of all differences, from 0 to 1. It is a lower
            bound where more than a negligible probability remains.
    """

    text: str
    change: Change
    difference: Difference | None
    distance: Difference


class Untried(msgspec.Struct, frozen=True):
    """A part that cannot be removed.

    Attributes:
        text: the change in words.
        change: the same as data.
        reason: why it is impossible.
    """

    text: str
    change: Change
    reason: str


class Knockout(Evaluated, frozen=True, kw_only=True, tag="rpgres.knockout/1"):
    """What a result depends on, as `rpgres odds --knockout` prints it with --json.

    Attributes:
        outcome: the chance that is compared: success, or an outcome; empty for the whole distribution.
        base: the odds with everything.
        parts: each part alone, the largest change first.
        untried: what cannot be removed alone, and why.
    """

    outcome: str
    base: MeasuredOdds
    parts: list[Part]
    untried: list[Untried] = []

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each part, as `pandas.DataFrame` takes it: `part`, and the odds without it."""
        return [{"part": part.text, **part.row()} for part in self.parts]


def knockout(study: Study, *, outcome: str = SUCCESS) -> Knockout:
    """Return how the chances of a subject change with each of its parts removed or changed alone.

    Args:
        study: what is evaluated.
        outcome: the chance that is compared; the whole distribution where nothing counts as a success.

    Raises:
        UsageError: the subject itself cannot be measured, or has no such outcome.
    """
    subject, seconds, asked = study.subject, study.seconds, dict[str, Question]()
    end = monotonic() + (seconds or 0.0)
    noticing = msgspec.structs.replace(subject, notice=lambda question: asked.setdefault(question.label, question))
    base = measure(noticing, Limits(seconds / 4 if seconds is not None else None))
    tried = list(parts_of(subject, asked))
    cases, untried, is_complete = list[tuple[str, Change, Measured]](), list[Untried](), True
    for number, (text, change) in enumerate(tried):
        limits = study.limits(number, len(tried), end)
        try:
            found = measure(changed(subject, change), limits)
        except RpgresError as error:
            untried.append(Untried(text, change, error.message))
        except KeyboardInterrupt as error:
            if not (STOP.is_asked or is_interrupt(error)):
                raise
            is_complete = False
            break
        else:
            if STOP.is_asked:
                is_complete = False
                break
            cases.append((text, change, found))
    base, *others = completed([base, *(found for _, _, found in cases)], subject)
    if outcome != SUCCESS:
        check_outcome(subject, outcome, [base])
    elif base.success is None:
        outcome = ""
    parts = [
        _part(text, change, base, one, outcome=outcome) for (text, change, _), one in zip(cases, others, strict=True)
    ]
    parts.sort(key=_weight, reverse=True)
    fields = study.fields(complete=is_complete)
    return Knockout(outcome=outcome, base=MeasuredOdds(**measured_fields(base)), parts=parts, untried=untried, **fields)


def _part(text: str, change: Change, base: Measured, found: Measured, *, outcome: str) -> Part:
    from fractions import Fraction

    nothing = Fraction(0)
    changes = [mass - base.masses[name] for name, mass in found.masses.items()]
    gained = sum((change for change in changes if change > 0), nothing)
    lost = -sum((change for change in changes if change < 0), nothing)
    moved = max(nothing, gained - base.open, lost - found.open)  # open probability may make up for a difference
    is_sure, is_exact = max(base.open, found.open) <= NEGLIGIBLE, not base.open and not found.open
    distance = Difference(float(moved), str(moved) if is_exact else None)
    differs = difference(base.of(outcome), found.of(outcome), is_exact=is_exact) if outcome else distance
    return Part(
        text=text,
        change=change,
        difference=differs if is_sure else None,
        distance=distance,
        **measured_fields(found),
    )


def _weight(part: Part) -> tuple[float, float]:
    return abs(part.difference.probability) if part.difference is not None else 0.0, part.distance.probability


# ---------------------------------------------------------------------------------------------------------------------
# What can be removed


def parts_of(subject: Subject, asked: Mapping[str, Question]) -> Iterator[tuple[str, Change]]:
    """Yield each change of one part of a subject, with a text for people.

    Args:
        asked: the decisions that policies answer, by label.
    """
    yield from _inputs(subject)
    if subject.parts is not None:
        yield from subject.parts(subject)
    else:
        typed = [str(one) for value in subject.inputs.values() for one in _several(value)]
        yield from parts_on_table(prepared_subject(subject).state, typed)  # but not what inputs put there
    for label, answers in subject.choose.items():
        yield f"decision {label}={value_text(answers)} not given", Change(kind="choose", name=label)
    for label, question in asked.items():
        yield from _decisions(label, question)
    chosen = subject.rules.chosen
    for name, switch in subject.rules.file.switches.items():
        for choice in switch.choices:
            if choice != chosen[name]:
                yield f"switch {name}={choice}", Change(kind="switch", name=name, value=choice)


def _inputs(subject: Subject) -> Iterator[tuple[str, Change]]:
    """Yield the removal of each optional input that was typed; of several values each alone."""
    if not subject.action:
        return
    required = subject.rules.file.actions[subject.action].required
    for key, value in subject.inputs.items():
        name = key.replace("_", "-")
        if name in required or name == SHEET:
            continue
        several = _several(value)
        for number, one in enumerate(several):
            others = tuple(several[:number] + several[number + 1 :])
            shown = name if one is True else f"{name} {value_text(one)}"
            yield f"without {shown}", Change(kind="input", name=name, value=others or None)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _decisions(label: str, question: Question) -> Iterator[tuple[str, Change]]:
    """Yield the fixed answers that a decision could have in place of its policy's."""
    if question.optional:
        yield f"decision {label} never taken", Change(kind="decision", name=label, value=NO)
        return
    for option in question.options:
        yield f"decision {label}={option.name} always", Change(kind="decision", name=label, value=option.name)
