"""Diagnostics of the bounds of outcomes: whether they leave a gap, overlap, or end before they begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from rpgres.lint.reachable import Span
from rpgres.rulesets.numbers import described_actions
from rpgres.rulesets.provenance import owner
from rpgres.rulesets.rows import Range
from rpgres.rulesets.rules import Rules
from rpgres.toml.diagnostics import Fault, KeyPath


def range_faults(
    rules: Rules, prefix: KeyPath, ranges: Mapping[str, Range], *, within: Span | None = None
) -> Iterator[Fault]:
    """Yield where ranges leave a gap or overlap; those with conditions are not among them.

    Args:
        rules: the ruleset.
        prefix: the key path under which they stand.
        ranges: by band.
        within: from where to where the dice go, where that is known; a gap beyond is none.
    """
    ranged = {name: band for name, band in ranges.items() if band.has_bounds}
    if not ranged:
        return
    # Where a band begins or ends, and once beyond on either side, is everywhere that anything can change.
    edges = {edge for band in ranged.values() for edge in (band.from_, band.to) if edge is not None}
    margins = sorted({margin + step for margin in edges for step in (-1, 0, 1)})
    what = "numbers" if any(described_actions(rules.file)) else "margins"
    for margin, upto in _stretches(margins, lambda margin: [name for name, band in ranged.items() if band.has(margin)]):
        names = [name for name, band in ranged.items() if band.has(margin)]
        where = _stretch(margin, upto, first=margins[0], last=margins[-1])
        if not names and within is not None and (upto < within[0] or (within[1] is not None and margin > within[1])):
            continue
        if not names:
            yield Fault("margin-gap", _edge(rules, prefix, ranges, margin, upto), f"no band has the {what} {where}")
        elif len(names) > 1:
            path = newest(rules, [(*prefix, name, key) for name in names for key in ("from", "to")])
            yield Fault("margin-overlap", path, f"the bands {' and '.join(names)} share the {what} {where}")


def turned_faults(rules: Rules, prefix: KeyPath, ranges: Mapping[str, Range]) -> Iterator[Fault]:
    """Yield the ranges that end before they begin, those with conditions too.

    Args:
        rules: the ruleset.
        prefix: the key path under which they stand.
        ranges: by band.
    """
    what = "numbers" if any(described_actions(rules.file)) else "margins"
    for name, band in ranges.items():
        if band.from_ is not None and band.to is not None and band.from_ > band.to:
            path = newest(rules, [(*prefix, name, "from"), (*prefix, name, "to")])
            message = f"the band {name} goes from {band.from_} to {band.to}, which no {what[:-1]} reaches"
            yield Fault("bad-bounds", path, message)


def _stretches(margins: list[int], kind: Callable[[int], object]) -> Iterator[tuple[int, int]]:
    """Yield first and last of each run of margins of one kind."""
    start = margins[0]
    for before, margin in pairwise(margins):
        if kind(margin) != kind(start):
            yield start, before
            start = margin
    yield start, margins[-1]


def _stretch(start: int, end: int, *, first: int, last: int) -> str:
    if start == first:
        return f"up to {end}"
    if end == last:
        return f"from {start}"
    return str(start) if start == end else f"{start} to {end}"


def _edge(rules: Rules, prefix: KeyPath, ranges: Mapping[str, Range], margin: int, upto: int) -> KeyPath:
    """Return the key that leaves a gap: an edge beside it, or a band that was taken away."""
    beside = [
        (*prefix, name, key)
        for name, band in ranges.items()
        for key, edge in (("from", band.from_), ("to", band.to))
        if edge in (margin - 1, margin, upto, upto + 1)
    ]
    written = {name for text in rules.layers.texts() for name in _at(text.data, prefix)}
    removed = [(*prefix, name) for name in sorted(written - _at(msgspec.to_builtins(rules.file), prefix).keys())]
    return newest(rules, [*removed, *beside])


def _at(data: Mapping[str, Any], path: KeyPath) -> Mapping[str, Any]:
    """Return the table at a key path, or an empty one."""
    for part in path:
        inner = data.get(str(part), {})
        data = inner if isinstance(inner, Mapping) else {}
    return data


def newest(rules: Rules, paths: Iterable[KeyPath]) -> KeyPath:
    """Return the one of several key paths that the nearest file has: what was written last is what made the fault."""
    texts = rules.layers.texts()
    return max(paths, key=lambda path: owner(texts, path), default=("bands",))
