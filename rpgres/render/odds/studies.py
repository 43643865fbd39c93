"""Several odds at once as reports: compared, or varied over a grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpgres.odds.comparison import ComparedOdds, Comparison, Difference, Grids
from rpgres.odds.exact import Chance
from rpgres.odds.study import NEGLIGIBLE
from rpgres.odds.subjects import ANY_SUCCESS, SUCCESS, Evaluated, MeasuredOdds, in_order, value_text
from rpgres.render.odds.words import (
    above,
    fraction_text,
    heading,
    notes_text,
    open_text,
    outcome_style,
    short_fraction,
)
from rpgres.render.reports import Cell, Chart, Grid, Report, Series, Table, bars
from rpgres.render.words import outcome_titles, percent
from rpgres.rulesets import RulesetFile

MOST_PARTS = 9  # of a bar
WIDE = 100  # columns of two cases side by side, at most


def below_text(record: Any, *, unfinished: str = "") -> list[str]:
    """Return the lines under a report: whether something is missing, who decided, the note."""
    varied = _varied(record)
    same = {who: name for who, name in record.policies.items() if _policy_path(who) not in varied}
    return [*([unfinished] if unfinished else []), *notes_text(same, record.note)]


def _varied(record: Any) -> set[str]:
    """Return the names of what differs between the cases of a study."""
    axes = getattr(record, "axes", None) or [getattr(record, "axis", None)]
    changes = [change for case in getattr(record, "cases", ()) for change in case.changes]
    return {one.name for one in (*axes, *changes) if one is not None}


def _policy_path(who: str) -> str:
    """Return where a scene names the policy of a character, or of everybody else."""
    return "policy" if who == "*" else f"characters.{who}.policy"


def unfinished_text(record: Evaluated, done: int, of: int) -> str:
    """Return that something is missing."""
    return "" if record.complete else f"interrupted: {done} of {of} were evaluated"


def comparison_report(record: Comparison, file: RulesetFile | None) -> Report:
    """Return it as a report."""
    names = in_order([case.outcomes for case in record.cases])
    heads = outcome_heads(file, names, record.cases)
    shown = titles_of_cases(record)
    head = ["outcome", "probability", "exact", "difference", "exact"]
    table = Table(columns=head, rows=_grouped(record, heads, file))
    if len(record.cases) == 2:
        head = ["outcome", shown[0], "exact", shown[1], "exact", "difference", "exact"]
        beside = Table(columns=head, rows=_side_by_side(record, heads, file))
        table = beside if Grid(beside).width <= WIDE else table
    text = heading(record, what="odds compared")
    below = below_text(record, unfinished="" if record.complete else "interrupted: not all cases were evaluated")
    return Report(
        title=text,
        above=above(record),
        tables=[table],
        below=[*_means(record), *_open_cases(record), *below],
        chart=side_chart(record.cases, shown, {name: heads[name] for name in names}, title=text, axis="rules"),
    )


def side_chart(
    found: Sequence[MeasuredOdds], categories: Sequence[str], heads: Mapping[str, str], *, title: str, axis: str
) -> Chart:
    """Return several odds as a chart: a bar of all outcomes for each; of the mean, where outcomes are many numbers.

    Args:
        categories: what each is called.
        heads: what the outcomes are called that are shown.
    """
    means = [one.mean for one in found if one.mean is not None]
    if len(heads) > MOST_PARTS and len(means) == len(found):
        values, texts = [mean.probability for mean in means], [f"{mean.probability:.3f}" for mean in means]
        return bars(title, categories, values, of="mean", category_axis=axis, texts=texts, is_whole=False)
    series = [Series(head, [chance_of(one, name).probability for one in found]) for name, head in heads.items()]
    return Chart(kind="stacked", title=title, categories=list(categories), series=series, category_axis=axis)


def titles_of_cases(record: Comparison | Grids) -> list[str]:
    """Return the names of cases; the base goes by its scene among scenes, by its value where all change one thing."""
    changed = {(change.kind, change.name) for case in record.cases for change in case.changes}
    base = record.cases[0].name
    if record.scene and {kind for kind, _ in changed} == {"scene"}:
        base = record.scene
    elif len(changed) == 1:
        kind, name = next(iter(changed))
        known = record.switches if kind == "switch" else record.inputs if kind == "input" else {}
        if name in known:
            base = f"{name}={value_text(known[name])}"
    return [base, *(case.name for case in record.cases[1:])]


def mean_text(found: MeasuredOdds) -> str:
    """Return a mean, where there is one."""
    return f"{found.mean.probability:.3f}" if found.mean is not None else ""


def outcome_heads(file: RulesetFile | None, names: Sequence[str], found: Sequence[MeasuredOdds]) -> dict[str, str]:
    """Return what each outcome is called; success too, where several outcomes mean it."""
    heads = outcome_titles(file, names)
    is_success = [file.bands[name].success for name in names if name in file.bands] if file is not None else []
    if sum(map(bool, is_success)) > 1 and any(one.success is not None for one in found):
        heads[ANY_SUCCESS] = "Any success"
    return heads


def chance_of(found: MeasuredOdds, name: str) -> Chance:
    """Return the chance of an outcome, or of any success."""
    is_any = name in (ANY_SUCCESS, SUCCESS) and name not in found.outcomes
    chance = found.success if is_any else found.outcomes.get(name)
    return chance if chance is not None else Chance(0.0, "0")


def difference_of(case: MeasuredOdds, name: str) -> Difference | None:
    """Return by how much a chance differs from that of the base; None where that is not known."""
    if not isinstance(case, ComparedOdds) or case.differences is None:
        return None
    is_any = name in (ANY_SUCCESS, SUCCESS) and name not in case.differences
    return case.success_difference if is_any else case.differences.get(name)


def points(found: Difference | None) -> str:
    """Return a difference of chances in percentage points.

    >>> points(Difference(-0.125, "-1/8"))
    '-12.50'
    """
    if found is None:
        return ""
    if not found.probability:
        return "same"
    text = f"{100 * found.probability:+.2f}"
    return text if abs(found.probability) >= 0.00005 else "< 0.01" if found.probability > 0 else "> -0.01"


def _chance_cells(chance: Chance, left: Chance, style: str = "") -> list[Cell]:
    return [Cell(percent(chance.probability), style), Cell(fraction_text(chance, left=left), "quiet")]


def _difference_cells(found: Difference | None) -> list[Cell]:
    if found is None:
        return [Cell(""), Cell("")]
    way = "quiet" if not found.probability else "plus" if found.probability > 0 else "minus"
    exact = short_fraction(found.exact, found.probability) if found.exact is not None and found.probability else ""
    exact = f"+{exact}" if exact and not exact.startswith("-") else exact
    return [Cell(points(found), way), Cell(exact, "quiet")]


def _side_by_side(record: Comparison, heads: Mapping[str, str], file: RulesetFile | None) -> list[list[Cell]]:
    base, other = record.cases
    rows = []
    for name, text in heads.items():
        row = [Cell(text, outcome_style(file, name))]
        for case in (base, other):
            chance = chance_of(case, name)
            row += _chance_cells(chance, case.open)
        rows.append([*row, *_difference_cells(difference_of(other, name))])
    return rows


def _grouped(record: Comparison, heads: Mapping[str, str], file: RulesetFile | None) -> list[list[Cell]]:
    rows = []
    for name, text in heads.items():
        rows.append([Cell(text, outcome_style(file, name)), *(Cell("") for _ in range(4))])
        for case, shown in zip(record.cases, titles_of_cases(record), strict=True):
            cells = _chance_cells(chance_of(case, name), case.open)
            rows.append([Cell(f"  {shown}"), *cells, *_difference_cells(difference_of(case, name))])
    return rows


def _means(record: Comparison) -> Iterator[str]:
    """Yield the mean of each case, where outcomes are numbers."""
    for case, shown in zip(record.cases, titles_of_cases(record), strict=True):
        if case.mean is not None:
            yield f"mean of {shown}: {mean_text(case)}"


def _open_cases(record: Comparison) -> Iterator[str]:
    for case, shown in zip(record.cases, titles_of_cases(record), strict=True):
        for text in open_text(case.open):
            is_told = case.open.probability > NEGLIGIBLE
            yield f"{shown}: {text}{'; the differences are not exact and left out' if is_told else ''}"
