"""Many runs of one line as a report: how often each outcome and each total came, as a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from rpgres.dice.seeds import run_seed
from rpgres.engine.records import Pending, Result
from rpgres.render.odds.words import heading, outcome_style
from rpgres.render.reports import Cell, Report, Table, bars
from rpgres.render.words import outcome_titles, who_is
from rpgres.rulesets import RulesetFile

WAITING = "waiting"  # in place of an outcome
MOST_ROWS = 30  # of totals; more are counted in ranges


class Tally(Struct):
    """What runs came to, counted one by one.

    Attributes:
        outcomes: how often each outcome came, by its name.
        labels: what decisions runs wait for.
    """

    outcomes: dict[str, int] = field(default_factory=dict)
    labels: dict[str, None] = field(default_factory=dict)
    totals: dict[int, int] = field(default_factory=dict)
    runs: int = 0

    def count(self, found: Result | Pending) -> None:
        """Count a run."""
        self.runs += 1
        if isinstance(found, Pending):
            self.labels[f"{found.question.label} ({who_is(found.question.who)})"] = None
        outcome = WAITING if isinstance(found, Pending) else found.outcome
        if outcome is not None:
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        if isinstance(found, Result):
            for total in getattr(found, "each", []) or [found.total]:
                if total is not None:
                    self.totals[total] = self.totals.get(total, 0) + 1


def sample_report(
    tally: Tally, first: Result | Pending, file: RulesetFile | None, *, seed: str, house_rules: str = ""
) -> Report:
    """Return counted runs as a report.

    Args:
        first: the first of them, which says what was rolled.
        file: the ruleset's data, for its words; None for dice.
        house_rules: those in force, in words; empty for none.
    """
    tables = []
    if tally.outcomes:
        order = dict.fromkeys([*(file.bands if file is not None else ()), *tally.outcomes])
        names = [name for name in order if name in tally.outcomes]
        rows = [(Cell(text, outcome_style(file, name)), name) for name, text in outcome_titles(file, names).items()]
        waits = [f"waiting for {', '.join(tally.labels)}; --choose or --auto answers"] if tally.labels else []
        tables.append(_table([(cell, tally.outcomes[name]) for cell, name in rows], tally.runs, notes=waits))
    if tally.totals:
        numbers = sum(tally.totals.values())
        mean = sum(total * count for total, count in tally.totals.items()) / numbers
        spread = f"mean {mean:.2f}, lowest {min(tally.totals)}, highest {max(tally.totals)}"
        counted = [(Cell(text), count) for text, count in in_ranges(tally.totals).items()]
        caption = "totals" if tables else ""
        tables.append(_table(counted, numbers, caption=caption, align=">>>", notes=[spread], is_whole=False))
    last = min(3, tally.runs)
    return Report(
        title=heading(first, what=f"a sample of {tally.runs:,} run{'s' if tally.runs > 1 else ''}"),
        above=[f"house rules: {house_rules}"] if house_rules else [],
        tables=tables,
        below=[f"seed: {seed}; run {last} alone: --seed {run_seed(seed, last - 1)}"],
    )


def _table(counted: Sequence[tuple[Cell, int]], runs: int, *, is_whole: bool = True, **more: Any) -> Table:
    shares = [count / runs for _, count in counted]
    rows = [[cell, Cell(f"{count:,}"), Cell(f"{100 * count / runs:.1f} %")] for cell, count in counted]
    names = [cell.text for cell, _ in counted]
    chart = bars("", names, shares, is_whole=is_whole)
    return Table(columns=["", "runs", "share"], rows=rows, bars=chart, is_headed=False, **more)


def in_ranges(totals: Mapping[int, int]) -> dict[str, int]:
    """Return how often each total came, in ascending order; of many totals, how often each range did.

    >>> in_ranges({3: 2, 5: 1})
    {'3': 2, '4': 0, '5': 1}
    >>> list(in_ranges(dict.fromkeys(range(100), 1)).items())[:2]
    [('0 to 4', 5), ('5 to 9', 5)]
    """
    low, high = min(totals), max(totals)
    step = 1
    while (high - low) // step >= MOST_ROWS:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2  # 1, 2, 5, 10, ...
    if step == 1:
        return {str(number): totals.get(number, 0) for number in range(low, high + 1)}
    found: dict[str, int] = {}
    for start in range(low // step * step, high + 1, step):
        found[f"{start} to {start + step - 1}"] = sum(totals.get(start + place, 0) for place in range(step))
    return found
