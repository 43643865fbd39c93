"""Diagnostics of the bounds of outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from math import inf

from rpgres.lint.named_spans import bounded_actions
from rpgres.rulesets.folders import owner
from rpgres.rulesets.rows import Band
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.spans import Span
from rpgres.toml.diagnostics import Fault, KeyPath


def range_faults(rules: Rules, *, within: Span | None = None) -> Iterator[Fault]:
    """Yield where the bounds of outcomes leave a gap, overlap, or end before they begin.

    Args:
        within: what the numbers are that they hold, where that is known; a gap beyond is none.
    """
    ranged = {name: band for name, band in rules.file.bands.items() if band.has_bounds}
    what = "number" if any(rules.file.described) else "margin"
    for name, band in ranged.items():
        if band.from_ is not None and band.to is not None and band.from_ > band.to:
            path = newest(rules, [("bands", name, "from"), ("bands", name, "to")])
            message = f"the band {name} goes from {band.from_} to {band.to}, which no {what} reaches"
            yield Fault("bad-bounds", path, message)
    # Where a band begins or ends, and once beyond on either side, is everywhere that anything can change.
    edges = {edge for band in ranged.values() for edge in (band.from_, band.to) if edge is not None}
    margins = sorted({margin + step for margin in edges for step in (-1, 0, 1)})
    if not margins:
        return
    for names, run in groupby(margins, lambda margin: [name for name, band in ranged.items() if band.has(margin)]):
        stretch = [*run]
        margin, upto = stretch[0], stretch[-1]
        where = _stretch(margin, upto, first=margins[0], last=margins[-1])
        where = f"{what}{'s' if ' ' in where else ''} {where}"
        if not names and within is not None and (upto < within.low or margin > within.high):
            continue
        if not names:
            yield Fault("margin-gap", _edge(rules, margin, upto), f"no band has the {where}")
        elif len(names) > 1:
            path = newest(rules, [("bands", name, key) for name in names for key in ("from", "to")])
            yield Fault("margin-overlap", path, f"the bands {' and '.join(names)} share the {where}")
    yield from _against_margin(rules, ranged)


_WORTH = {False: (0, "a failure"), None: (1, "neither a success nor a failure"), True: (2, "a success")}


def _against_margin(rules: Rules, ranged: Mapping[str, Band]) -> Iterator[Fault]:
    """Yield outcomes that are better than one with higher margins: a success on the losing side, and the like."""
    if any(number != "margin" for number, _ in bounded_actions(rules).values()):
        return  # of some other number less may be better
    bands = sorted(ranged.items(), key=lambda one: -inf if one[1].from_ is None else one[1].from_)
    for (name, band), (other, above) in pairwise(bands):
        (worth, called), (next_worth, next_called) = _WORTH[band.success], _WORTH[above.success]
        if worth > next_worth:
            path = newest(rules, [("bands", name, "success"), ("bands", other, "success")])
            message = f"{name} is {called}, and {other}, with higher margins, {next_called}; higher margins are better"
            yield Fault("inconsistent", path, message)


def _stretch(start: int, end: int, *, first: int, last: int) -> str:
    if start == first:
        return f"up to {end}"
    if end == last:
        return f"from {start}"
    return str(start) if start == end else f"{start} to {end}"


def _edge(rules: Rules, margin: int, upto: int) -> KeyPath:
    """Return the key that leaves a gap: an edge beside it, or a band that was taken away."""
    beside: list[KeyPath] = [
        ("bands", name, key)
        for name, band in rules.file.bands.items()
        for key, edge in (("from", band.from_), ("to", band.to))
        if edge in (margin - 1, margin, upto, upto + 1)
    ]
    written = {name for text in rules.layers.parts for name in text.data.get("bands", ())}
    removed: list[KeyPath] = [("bands", name) for name in sorted(written - rules.file.bands.keys())]
    return newest(rules, [*removed, *beside])


def newest(rules: Rules, paths: Iterable[KeyPath]) -> KeyPath:
    """Return the one of several key paths that the nearest file has: what was written last is what made the fault."""
    texts = rules.layers.parts
    return max(paths, key=lambda path: owner(texts, path), default=("bands",))
