"""Two accounts side by side, where there is room, else one under the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Changed, Dropped, WhatIf
from rpgres.render.lines import INDENT, Line, Look, Piece, Shown, laid_out, line, text_of, width_of
from rpgres.render.results import pending_lines, result_lines
from rpgres.rulesets import RulesetFile

WIDE = 100  # columns from which accounts stand side by side
BETWEEN = " \N{BOX DRAWINGS LIGHT VERTICAL} "


def what_if_lines(record: WhatIf, file: RulesetFile | None) -> list[Shown]:
    """Return a run as it was and with answers changed."""
    lines: list[Shown] = [line(Piece("What if", "title"), ": ", "; ".join(map(_changed, record.changed)))]
    first = _first_difference(record.before, record.after)
    if first:
        told = "step 1 is" if first == 1 else f"steps 1 to {first} are"
        lines.append(line(INDENT, Piece(f"{told} as before", "quiet")))
    before = list(_account(record.before[first:], file))
    after = list(_account(record.after[first:], file))
    lines.append(Beside(("As it was", "With the change"), (before, after)))
    fresh = [f"new dice (seed {record.seed}): {', '.join(record.fresh)}"] if record.fresh else []
    ended = [f"ending: {record.endings[0] or 'none'}, now {record.endings[1] or 'none'}"] if record.endings else []
    notes = [*ended, *map(_dropped, record.dropped), *fresh]
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


def _account(steps: Sequence[Mapping[str, Any]], file: RulesetFile | None) -> Iterator[Line]:
    for step in steps:
        if step.get("id"):
            yield line(Piece(f"[{step['id']}]", "quiet"))
        if step.get("skipped"):
            yield line(INDENT, Piece("skipped", "quiet"))
            continue
        data = {key: value for key, value in step.items() if key != "id"}
        if "format" not in data:  # it plays nothing
            continue
        if "question" in data:
            yield from pending_lines(msgspec.convert(data, Pending), file, how=[])
        else:
            found = msgspec.structs.replace(msgspec.convert(data, Result), seed=None, unused=[], note=None)
            yield from result_lines(found, file)


class Beside(Struct, frozen=True):
    """Two accounts side by side, where there is room, else one under the other."""

    heads: tuple[str, str]
    sides: tuple[list[Line], list[Line]]

    def laid_out(self, look: Look) -> Iterator[Line]:
        """Yield the lines."""
        if look.width < WIDE or not look.is_drawn:
            for head, side in zip(self.heads, self.sides, strict=True):
                yield from (line(), line(Piece(head, "title")), *(line(INDENT, *pieces) for pieces in side))
            return
        width = (look.width - len(BETWEEN)) // 2
        narrow = replace(look, width=width)
        one, other = (
            list(laid_out([line(Piece(head, "title")), *side], narrow))
            for head, side in zip(self.heads, self.sides, strict=True)
        )
        for first, second in zip_longest(one, other, fillvalue=()):
            room = width - width_of(text_of(first))
            yield line(*first, " " * room, Piece(BETWEEN, "quiet"), *second)
