"""Two accounts side by side, where there is room, else one under the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Changed, Dropped, WhatIf, answers_in
from rpgres.errors import counted, named
from rpgres.model.events import EventRecord
from rpgres.render.accounts.lines import chapter_heading, chapter_lines
from rpgres.render.accounts.scenes import Titles, chapter_of
from rpgres.render.accounts.words import Words, titled
from rpgres.render.lines import INDENT, Line, Look, Piece, Shown, laid_out, line, text_of, width_of
from rpgres.render.results import pending_lines, result_lines
from rpgres.rulesets import RulesetFile

NARROWEST = 72  # columns from which accounts stand side by side
AROUND = 3  # lines that are the same in both, shown around those that differ
SAME, OTHER = "  | ", " != "  # between two lines that are the same, and that differ


def what_if_lines(record: WhatIf, file: RulesetFile | None, *, page: int = 0) -> list[Shown]:
    """Return a run as it was and with answers changed.

    Args:
        page: columns where lines may be of any width; 0 to show the accounts there one under the other.
    """
    lines: list[Shown] = [line(Piece("What if", "title"), ": ", "; ".join(map(_changed, record.changed)))]
    first = _first_difference(record.before, record.after)
    if first:
        told = "step 1 is" if first == 1 else f"steps 1 to {first} are"
        lines.append(line(INDENT, Piece(f"{told} as before", "quiet")))
    words = Words(file, titled(record.people)) if record.people and file is not None else None
    before = list(_account(record.before, first, file, words))
    after = list(_account(record.after, first, file, words))
    lines.append(Beside(("As it was", "With the change"), (before, after), page))
    fresh = [f"new dice (seed {record.seed}): {', '.join(record.fresh)}"] if record.fresh else []
    is_other = len(set(record.endings)) > 1
    ended = [f"ending: {record.endings[0] or 'none'}, now {record.endings[1] or 'none'}"] if is_other else []
    notes = [*ended, *map(_dropped, record.dropped), *fresh, *_who_decides(record)]
    return [*lines, *([line()] if notes else []), *(line(INDENT, Piece(text, "quiet")) for text in notes)]


def _changed(change: Changed) -> str:
    where = f"{change.step}: " if change.step else ""
    who = f" ({change.who})" if change.who else ""
    was = f" instead of {change.was}" if change.was is not None else ""
    number = f"#{change.number}" if change.number > 1 else ""
    return f"{where}{change.label}{number}{who} {change.value}{was}"


def _dropped(one: Dropped) -> str:
    where = f"{one.step}: " if one.step else ""
    who = f"{one.who}:" if one.who else ""
    why = "no longer asked" if one.reason == "unasked" else "no longer possible"
    return f"{why}: {where}{who}{one.label}={one.value}"


def _who_decides(record: WhatIf) -> Iterator[str]:
    """Yield who decided what is new, or how a policy may."""
    if record.policies and (not record.complete or _new_decisions(record) > 0):
        told = ", ".join(f"{who}={name}" if who else name for who, name in record.policies.items())
        yield f"decisions that are new: policy {told}"
    elif not record.complete:
        yield f"a decision that is new waits: answer it with {named('choose')}, or add {named('auto')} for a policy"


def _new_decisions(record: WhatIf) -> int:
    """Return how many decisions came anew that no change answers: all but those that were there and are not dropped."""
    before, after = (
        sum(one.kind == "decision" for step in steps for one in answers_in(_events(step)))
        for steps in (record.before, record.after)
    )
    dropped = sum(bool(one.who) for one in record.dropped)
    typed = sum(one.kind == "decision" and one.was is None for one in record.changed)
    return after - typed - (before - dropped)


def _events(step: Mapping[str, Any]) -> list[EventRecord]:
    return msgspec.convert(step.get("events") or [], list[EventRecord])


def _first_difference(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> int:
    """Return how many steps of a scene are the same in both; at least the last is shown."""
    same = 0
    for one, other in zip(before, after, strict=False):
        if _told(one) != _told(other):
            break
        same += 1
    return min(same, len(before) - 1, len(after) - 1)


def _told(step: Mapping[str, Any]) -> Any:
    return [step.get(key) for key in ("skipped", "set", "outcome", "margin", "effects", "events", "question")]


def _account(
    steps: Sequence[Mapping[str, Any]], first: int, file: RulesetFile | None, words: Words | None
) -> Iterator[Line]:
    """Yield the account of the steps from the first that differs on.

    Args:
        words: those of the scene; None for a single action.
    """
    titles = Titles()
    for number, step in enumerate(steps):
        heading = titles.next(step)
        if number < first:
            continue
        waits = "question" in step
        if words is not None:
            if number > first:
                yield line()
            yield chapter_heading(heading, number + 1, is_skipped=bool(step.get("skipped")))[1]
            if not waits:
                yield from chapter_lines(chapter_of([step], words, heading))
        data = {key: value for key, value in step.items() if key != "id"}
        if waits:
            yield from pending_lines(msgspec.convert(data, Pending), file, how=[])
        elif words is None and "format" in data:
            found = replace(msgspec.convert(data, Result), seed=None, unused=[], note=None)
            yield from result_lines(found, file)


class Row(Struct, frozen=True):
    """A line of both accounts; None where one has none."""

    before: Line | None
    after: Line | None
    is_same: bool


class Beside(Struct, frozen=True):
    """Two accounts side by side, where there is room, else one under the other.

    Attributes:
        page: columns where lines may be of any width; 0 to show them there one under the other.
    """

    heads: tuple[str, str]
    sides: tuple[list[Line], list[Line]]
    page: int = 0

    def laid_out(self, look: Look) -> Iterator[Line]:
        """Yield the lines."""
        width = look.width or self.page
        if width < NARROWEST or look.is_aloud:
            for head, side in zip(self.heads, self.sides, strict=True):
                yield from (line(), line(Piece(head, "title")), *(line(INDENT, *pieces) for pieces in side))
            return
        narrow = replace(look, width=(width - len(SAME)) // 2)
        one, other = (line(Piece(head, "title")) for head in self.heads)
        yield line()
        yield from _pair(Row(one, other, is_same=True), narrow)
        for run in _runs(_rows(*self.sides)):
            if isinstance(run, int):
                yield line(INDENT, Piece(f"... {counted(run, 'line')} as before", "quiet"))
                continue
            yield from (shown for row in run for shown in _pair(row, narrow))


def _pair(row: Row, look: Look) -> Iterator[Line]:
    """Yield the lines that a row takes in two columns."""
    one, other = (list(laid_out([side], look)) if side is not None else [] for side in (row.before, row.after))
    for first, second in zip_longest(one, other, fillvalue=()):
        blank = " " * (look.width - width_of(text_of(first)))
        yield line(*first, blank, Piece(SAME, "quiet") if row.is_same else Piece(OTHER, "title"), *second)


def _rows(before: Sequence[Line], after: Sequence[Line]) -> list[Row]:
    """Return the lines of two accounts with each other, as far as they are the same."""
    from difflib import SequenceMatcher

    one_side, other_side = ([text_of(pieces) for pieces in side] for side in (before, after))
    rows = list[Row]()
    for kind, first, last, start, end in SequenceMatcher(None, one_side, other_side, autojunk=False).get_opcodes():
        pairs = zip_longest(before[first:last], after[start:end])
        rows += (Row(one, other, kind == "equal") for one, other in pairs)
    return rows


def _runs(rows: Sequence[Row]) -> Iterator[list[Row] | int]:
    """Yield rows, and how many are left out between them that are the same in both and far from any difference."""
    different = [number for number, row in enumerate(rows) if not row.is_same]
    near = {number for one in different for number in range(one - AROUND, one + AROUND + 1)}
    for is_near, group in groupby(enumerate(rows), key=lambda row: row[0] in near):
        run = [row for _, row in group]
        yield run if is_near or not different or len(run) < AROUND else len(run)
