"""Two accounts side by side, where there is room, else one under the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from rpgres.cli.render.lines import INDENT, Line, Piece, line
from rpgres.cli.render.results import pending_lines, result_lines
from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Changed, Dropped, WhatIf
from rpgres.rulesets import RulesetFile

WIDE = 100  # columns from which accounts stand side by side
BETWEEN = " \N{BOX DRAWINGS LIGHT VERTICAL} "


def what_if_lines(record: WhatIf, file: RulesetFile | None, *, columns: int = 0, is_drawn: bool = False) -> list[Line]:
    """Return a run as it was and with answers changed.

    Args:
        record: both.
        file: the ruleset's data, for its words.
        columns: the width of the terminal; 0 where it is none.
        is_drawn: whether dice are drawn.
    """
    lines = [line(Piece("What if", "title"), ": ", "; ".join(map(_changed, record.changed)))]
    first = _first_difference(record.before, record.after)
    if first:
        told = "step 1 is" if first == 1 else f"steps 1 to {first} are"
        lines.append(line(INDENT, Piece(f"{told} as before", "quiet")))
    before = list(_account(record.before[first:], file, is_drawn=is_drawn))
    after = list(_account(record.after[first:], file, is_drawn=is_drawn))
    if columns >= WIDE:
        lines += _beside(before, after, columns)
    else:
        lines += [line(), line(Piece("As it was", "title")), *_indented(before)]
        lines += [line(), line(Piece("With the change", "title")), *_indented(after)]
    ended = [f"ending: {record.endings[0] or 'none'}, now {record.endings[1] or 'none'}"] if record.endings else []
    notes = [*ended, *map(_dropped, record.dropped), *_fresh(record)]
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


def _fresh(record: WhatIf) -> Iterator[str]:
    if record.fresh:
        yield f"new dice (seed {record.seed}): {', '.join(record.fresh)}"


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


def _account(steps: Sequence[Mapping[str, Any]], file: RulesetFile | None, *, is_drawn: bool) -> Iterator[Line]:
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
            yield from pending_lines(msgspec.convert(data, Pending), is_drawn=is_drawn, how=[])
        else:
            found = msgspec.structs.replace(msgspec.convert(data, Result), seed=None, unused=[], note=None)
            yield from result_lines(found, file, is_drawn=is_drawn)


def _indented(lines: Sequence[Line]) -> list[Line]:
    return [line(INDENT, *pieces) for pieces in lines]


# ---------------------------------------------------------------------------------------------------------------------
# Side by side


def _beside(left: Sequence[Line], right: Sequence[Line], columns: int) -> Iterator[Line]:
    """Yield two accounts in two columns."""
    width = (columns - len(BETWEEN)) // 2
    heads = [line(Piece("As it was", "title"))], [line(Piece("With the change", "title"))]
    one, other = (
        [row for one in (*head, *lines) for row in wrapped(one, width)]
        for head, lines in zip(heads, (left, right), strict=True)
    )
    for first, second in zip_longest(one, other, fillvalue=()):
        room = width - sum(len(piece.text) for piece in first)
        yield line(*first, " " * room, Piece(BETWEEN, "quiet"), *second)


def wrapped(pieces: Line, width: int) -> list[Line]:
    """Return a line as several that are no wider than this; what is carried over is moved in.

    >>> ["".join(piece.text for piece in row) for row in wrapped(line("  one two three"), 10)]
    ['  one two', '    three']
    """
    rows, row, used = list[Line](), list[Piece](), 0
    text = "".join(piece.text for piece in pieces)
    indent = min(len(text) - len(text.lstrip(" ")) + 2, width // 2)
    for piece in pieces:
        for word in _words(piece.text):
            left = word
            if used + len(left.rstrip(" ")) > width and used > indent:
                rows.append(tuple(row))
                row, used, left = [Piece(" " * indent)], indent, left.lstrip(" ")
            while used + len(left.rstrip(" ")) > width:  # a word that no line has room for
                rows.append((*row, Piece(left[: width - used], piece.style)))
                left, row, used = left[width - used :], [Piece(" " * indent)], indent
            row.append(Piece(left, piece.style))
            used += len(left)
    return [_cut(tuple(one)) for one in (*rows, tuple(row))]


def _cut(row: Line) -> Line:
    """Return a line without blanks at its end."""
    pieces = list(row)
    while pieces and not pieces[-1].text.strip(" "):
        pieces.pop()
    if pieces:
        pieces[-1] = Piece(pieces[-1].text.rstrip(" "), pieces[-1].style)
    return tuple(pieces)


def _words(text: str) -> list[str]:
    """Return a text in pieces that are a word each, with the blanks behind it; blanks in front are one of them."""
    import re

    return re.findall(r"^ +|[^ ]+ *", text)
