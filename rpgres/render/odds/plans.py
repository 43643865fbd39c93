"""The table of an action's best options: rows with the same best options are merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rpgres.odds.plans import ChanceSpan, Planned
from rpgres.render.reports import Cell, Table
from rpgres.render.results import fact_words
from rpgres.render.words import percent

MOST_ROWS = 16
STYLES = ("name", "", "quiet")  # of the cells after the question
Facts = tuple[tuple[str, tuple[Any, ...]], ...]  # by name, the values of a row
Row = tuple[Facts, list[Planned]]


def plan_table(plan: Sequence[Planned], *, least: int) -> Table:
    """Return the best options of each question, by its facts."""
    rows: list[list[Cell]] = []
    for label in dict.fromkeys(one.label for one in plan):
        own = [one for one in plan if one.label == label]
        values = {name: _sorted(one.facts.get(name) for one in own) for one in own for name in one.facts}
        varying = {name: found for name, found in values.items() if len(found) > 1}
        for facts, merged in _merged(own, varying):
            lists = {name: _values(its, varying[name]) for name, its in facts if len(its) < len(varying[name])}
            about = ", ".join(filter(None, (label, fact_words(lists))))
            cells = " or ".join(merged[0].best), _span_text([one.value for one in merged]), _next_best(merged)
            rows.append([Cell(about), *(Cell(text, style) for text, style in zip(cells, STYLES, strict=True))])
    left = f"and {len(rows) - MOST_ROWS} rows more (--json has all)"
    return Table(
        caption="best answers, with the chance of success:",
        columns=["question", "best", "success", "next best"],
        rows=rows[:MOST_ROWS],
        notes=[left] if len(rows) > MOST_ROWS else [],
        align="<<<<",
        least=least,
    )


def _merged(plan: Iterable[Planned], varying: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Return rows, merged one fact after another where their best options and all other facts are the same."""
    rows: list[Row] = [(tuple((name, (one.facts.get(name),)) for name in varying), [one]) for one in plan]
    for place in reversed(range(len(varying))):
        found: dict[Any, Row] = {}
        for facts, own in rows:
            key = *own[0].best, None, *facts[:place], *facts[place + 1 :]
            before = found.get(key)
            if before is not None:
                name, values = before[0][place]
                joined = name, (*values, *facts[place][1])
                found[key] = (*before[0][:place], joined, *before[0][place + 1 :]), [*before[1], *own]
            else:
                found[key] = facts, own
        rows = [*found.values()]
    return rows


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(dict.fromkeys(values), key=lambda value: (type(value).__name__, value))


def _values(its: Iterable[Any], all_: Sequence[Any]) -> str:
    """Return the values of a fact: consecutive ones as a span, others as a list."""
    own = _sorted(its)
    if len(own) == 1:
        return str(own[0])
    start = all_.index(own[0])
    is_span = list(all_[start : start + len(own)]) == own and all(isinstance(one, int) for one in own)
    return f"{own[0]} to {own[-1]}" if is_span else " or ".join(map(str, own))


def _next_best(merged: Sequence[Planned]) -> str:
    """Return the best of the other options, with its chance."""
    spans: dict[str, list[ChanceSpan]] = {}
    for one in merged:
        for option, span in one.success.items():
            if option not in one.best:
                spans.setdefault(option, []).append(span)
    if not spans:
        return "not evaluated" if any(one.unevaluated for one in merged) else ""
    best = max(spans, key=lambda option: _bounds(spans[option])[::-1])
    return f"{best} {_span_text(spans[best])}"


def _bounds(spans: Iterable[ChanceSpan]) -> tuple[float, float]:
    pairs = [(span.low.probability, span.high.probability) for span in spans]
    return min(low for low, _ in pairs), max(high for _, high in pairs)


def _span_text(spans: Iterable[ChanceSpan]) -> str:
    low, high = _bounds(spans)
    return percent(low) if low == high else f"{percent(low)} to {percent(high)}"
