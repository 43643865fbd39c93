"""Records of odds as reports: headings that say what was evaluated, tables with exact fractions, and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpgres.cli.render.odds import above, fraction_text, heading, input_words, notes_text, percent
from rpgres.cli.render.reports import Cell, Chart, Report, Series, Table, table_width
from rpgres.cli.render.words import outcome_titles, style_of, title
from rpgres.odds.comparison import NEGLIGIBLE, CaseOdds, Comparison, Difference
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import Chance, OddsResult
from rpgres.odds.knockout import Knockout, Part
from rpgres.odds.ladder import LadderOdds
from rpgres.odds.scene_best import SceneBestResult
from rpgres.odds.scenes import SceneOddsResult
from rpgres.odds.subjects import SUCCESS, Evaluated, MeasuredOdds, in_order, value_text
from rpgres.odds.variations import Axis, FoundCell, Search, Variation
from rpgres.odds.variations import Cell as GridCell
from rpgres.rulesets import RulesetFile

ANY_SUCCESS = "any success"  # all outcomes that are one; no outcome's name has a blank, and one may be `success`
MOST_COLUMNS = 9  # of outcomes; the rest is for JSON and CSV
WIDE = 100  # columns, where there is no terminal
Record = OddsResult | SceneOddsResult | LadderOdds | Comparison | Variation | Search | Knockout


def report_of(record: Record, file: RulesetFile | None, *, outcomes: Sequence[str] = (), columns: int = WIDE) -> Report:
    """Return odds as a report.

    Args:
        record: the odds.
        file: the ruleset's data, for its words; None for dice.
        outcomes: what a grid shows, in place of success.
        columns: how wide a comparison may be that stands side by side.
    """
    match record:
        case OddsResult():
            return _single(record, file)
        case SceneOddsResult():
            return _scene(record, file)
        case LadderOdds():
            return _ladder(record, file)
        case Comparison():
            return _comparison(record, file, columns)
        case Variation():
            return _variation(record, file, outcomes)
        case Search():
            return _search(record, file)
        case Knockout():
            return _knockout(record, file)


def _below(record: Any, *, unfinished: str = "") -> list[str]:
    return [*([unfinished] if unfinished else []), *notes_text(record.policies, record.note)]


def _unfinished(record: Evaluated, done: int, of: int) -> str:
    return "" if record.complete else f"interrupted: {done} of {of} were evaluated"


# ---------------------------------------------------------------------------------------------------------------------
# One distribution


def _single(record: OddsResult, file: RulesetFile | None) -> Report:
    names = outcome_titles(file, record.outcomes) if file is not None and record.by == "outcome" else {}
    rows = [
        [Cell(names.get(name, name)), Cell(percent(one.probability)), Cell(fraction_text(one, left=record.open))]
        for name, one in record.outcomes.items()
    ]
    what = "odds" if record.by == "outcome" else f"odds by {record.by}"
    below = list(_open_text(record.open))
    if record.sample is not None:
        rows = [[*row, Cell(_interval(record, name))] for row, name in zip(rows, record.outcomes, strict=True)]
    heads = [record.by if record.action else "value", "probability", "exact", "estimate"][: len(rows[0])]
    tables = [Table(columns=heads, rows=rows)]
    if len(record.choices) > 1:
        tables.append(_choices(record, file))
    if isinstance(record, DiceOdds):
        below.append(f"mean {record.mean:.3f}, deviation {record.deviation:.3f}")
    values: list[float | None] = [one.probability for one in record.outcomes.values()]
    shown = [names.get(name, name) for name in record.outcomes]
    chart = Chart(kind="bars", title=heading(record, what=what), categories=shown, series=[Series("", values)])
    return Report(
        title=heading(record, what=what),
        above=above(record),
        tables=tables,
        below=[*below, *notes_text(record.policies, record.note)],
        chart=chart,
    )


def _scene(record: SceneOddsResult, file: RulesetFile | None) -> Report:
    from rpgres.cli.render.scene_odds import NEVER, likely_text, sample_text

    sample = getattr(record, "sample", None)
    outcomes = {**dict.fromkeys(sample.outcomes if sample is not None else (), NEVER), **record.outcomes}
    names = outcome_titles(file, outcomes)
    rows = [
        [
            Cell(names[name]),
            Cell(percent(one.probability)),
            Cell(fraction_text(one, left=record.open)),
            Cell(likely_text(sample, name)),
        ]
        for name, one in outcomes.items()
    ]
    text = heading(record, what="odds" if record.by == "ending" else f"odds by {record.by}")
    mean = [f"mean: {record.mean.probability:.3f}"] if record.mean is not None else []
    first: list[Table] = []
    if isinstance(record, SceneBestResult) and file is not None:
        from rpgres.cli.render.scene_best import decision_tables, value_text

        mean, first = [value_text(record, file)], decision_tables(record)
    walked = f"{record.turns:,} turns, {record.states:,} states, {record.leaves:,} branches"
    values: list[float | None] = [one.probability for one in outcomes.values()]
    heads = [record.by, "probability", "exact", "estimate" if sample is not None else ""]
    if sample is not None:
        mean.append(sample_text(sample))
    return Report(
        title=text,
        above=above(record),
        tables=[Table(columns=heads, rows=rows), *first],
        below=[*mean, *_open_text(record.open), walked, *notes_text(record.policies, record.note)],
        chart=Chart(kind="bars", title=text, categories=list(names.values()), series=[Series("", values)]),
    )


def _interval(record: OddsResult, name: str) -> str:
    assert record.sample is not None
    found = record.sample.outcomes[name]
    return f"~{percent(found.share)} ({percent(found.low)} to {percent(found.high)})"


def _choices(record: OddsResult, file: RulesetFile | None) -> Table:
    heads = outcome_titles(file, record.outcomes) if file is not None else {name: name for name in record.outcomes}
    rows = []
    for choice in record.choices:
        shares = [choice.outcomes.get(name) for name in heads]
        row = [choice.option, *(percent(one.probability) if one is not None else "" for one in shares)]
        rows.append([*map(Cell, row), Cell(percent(choice.success.probability)), Cell(choice.success.exact)])
    caption = f"By first choice ({record.choices[0].label})"
    return Table(caption=caption, columns=["option", *heads.values(), SUCCESS, "exact"], rows=rows)


def _open_text(left: Chance) -> Iterator[str]:
    if left.exact != "0":
        yield f"remaining: {percent(left.probability)}"


def _ladder(record: LadderOdds, file: RulesetFile | None) -> Report:
    bands = in_order([one.outcomes for one in record.ladder])
    heads = outcome_titles(file, bands)
    rows, categories = [], [f"{title(one.name)} ({one.value:+d})" for one in record.ladder]
    for name, one in zip(categories, record.ladder, strict=True):
        shares = [one.outcomes.get(band) for band in bands]
        rows.append([Cell(name), *(Cell(percent(found.probability) if found is not None else "") for found in shares)])
    series = [
        Series(heads[band], [one.outcomes[band].probability if band in one.outcomes else None for one in record.ladder])
        for band in bands
    ]
    text = heading(record, what="odds at every rung")
    return Report(
        title=text,
        above=above(record),
        tables=[Table(columns=["against", *heads.values()], rows=rows)],
        below=[*record.advice, *notes_text(record.policies, record.note)],
        chart=Chart(kind="stacked", title=text, categories=categories, series=series, category_axis="against"),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Comparisons


def _comparison(record: Comparison, file: RulesetFile | None, columns: int) -> Report:
    names = in_order([case.outcomes for case in record.cases])
    heads = _heads(file, names, record.cases)
    shown = _titles_of_cases(record)
    head = ["outcome", "probability", "exact", "difference", "exact"]
    table = Table(columns=head, rows=_grouped(record, heads, file))
    if len(record.cases) == 2:
        head = ["outcome", shown[0], "exact", shown[1], "exact", "difference", "exact"]
        beside = Table(columns=head, rows=_side_by_side(record, heads, file))
        table = beside if table_width(beside) <= columns else table
    series = [
        Series(heads[name], [_share(case, name) for case in record.cases]) for name in heads if name in names
    ]  # success is the sum of others
    text = heading(record, what="odds compared")
    planned = "interrupted: not all cases were evaluated"
    return Report(
        title=text,
        above=above(record),
        tables=[table],
        below=[*_means(record), *_open_cases(record), *_below(record, unfinished="" if record.complete else planned)],
        chart=Chart(kind="stacked", title=text, categories=shown, series=series, category_axis="rules"),
    )


def _titles_of_cases(record: Comparison) -> list[str]:
    """Return the names of cases; where all change one thing, the base is named by what that is at."""
    changed = {(change.kind, change.name) for case in record.cases for change in case.changes}
    base = record.cases[0].name
    if len(changed) == 1:
        kind, name = next(iter(changed))
        known = record.switches if kind == "switch" else record.inputs if kind == "input" else {}
        if name in known:
            base = f"{name}={value_text(known[name])}"
    return [base, *(case.name for case in record.cases[1:])]


def _heads(file: RulesetFile | None, names: Sequence[str], found: Sequence[MeasuredOdds]) -> dict[str, str]:
    """Return what each outcome is called; success too, where several outcomes mean it."""
    heads = outcome_titles(file, names)
    if _has_several_successes(file, names) and any(one.success is not None for one in found):
        heads[ANY_SUCCESS] = "Any success"
    return heads


def _has_several_successes(file: RulesetFile | None, names: Sequence[str]) -> bool:
    return file is not None and sum(bool(file.bands[name].success) for name in names if name in file.bands) > 1


def _chance(found: MeasuredOdds, name: str) -> Chance:
    chance = (
        found.success if name in (ANY_SUCCESS, SUCCESS) and name not in found.outcomes else found.outcomes.get(name)
    )
    return chance if chance is not None else Chance(0.0, "0")


def _share(found: MeasuredOdds, name: str) -> float | None:
    return _chance(found, name).probability


def _difference(case: CaseOdds, name: str) -> Difference | None:
    if case.differences is None:
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


def _of_difference(found: Difference | None) -> list[Cell]:
    if found is None:
        return [Cell(""), Cell("")]
    way = "quiet" if not found.probability else "plus" if found.probability > 0 else "minus"
    exact = found.exact if found.exact is not None and found.probability else ""
    return [Cell(points(found), way), Cell(_signed(exact) if exact else "", "quiet")]


def _signed(exact: str) -> str:
    return _short(exact if exact.startswith("-") else f"+{exact}")


def _short(exact: str) -> str:
    return exact if len(exact) <= 24 else ""


def _side_by_side(record: Comparison, heads: Mapping[str, str], file: RulesetFile | None) -> list[list[Cell]]:
    base, other = record.cases
    rows = []
    for name, text in heads.items():
        row = [Cell(text, _style(file, name))]
        for case in (base, other):
            chance = _chance(case, name)
            row += [Cell(percent(chance.probability)), Cell(fraction_text(chance, left=case.open), "quiet")]
        rows.append([*row, *_of_difference(_difference(other, name))])
    return rows


def _grouped(record: Comparison, heads: Mapping[str, str], file: RulesetFile | None) -> list[list[Cell]]:
    rows = []
    for name, text in heads.items():
        rows.append([Cell(text, _style(file, name)), *(Cell("") for _ in range(4))])
        for case, shown in zip(record.cases, _titles_of_cases(record), strict=True):
            chance = _chance(case, name)
            row = [Cell(f"  {shown}"), Cell(percent(chance.probability))]
            row.append(Cell(fraction_text(chance, left=case.open), "quiet"))
            rows.append([*row, *_of_difference(_difference(case, name))])
    return rows


def _means(record: Comparison) -> Iterator[str]:
    """Yield the mean of each case, where outcomes are numbers."""
    for case, shown in zip(record.cases, _titles_of_cases(record), strict=True):
        if case.mean is not None:
            yield f"mean of {shown}: {_mean(case)}"


def _open_cases(record: Comparison) -> Iterator[str]:
    for case in record.cases:
        for text in _open_text(case.open):
            is_told = case.open.probability > NEGLIGIBLE
            yield f"{case.name}: {text}{'; the differences are not exact and left out' if is_told else ''}"


def _style(file: RulesetFile | None, band: str) -> str:
    known = file.bands.get(band) if file is not None else None
    return style_of(known.success, 0) if known is not None else ""


# ---------------------------------------------------------------------------------------------------------------------
# Variations


def _variation(record: Variation, file: RulesetFile | None, outcomes: Sequence[str]) -> Report:
    text = heading(record, what=f"odds by {' and '.join(axis.name for axis in record.axes)}")
    planned = 1
    for axis in record.axes:
        planned *= len(axis.values)
    below = _below(record, unfinished=_unfinished(record, len(record.cells), planned))
    below = [*_open_cells(record.cells), *below]
    names = in_order([cell.outcomes for cell in record.cells])
    heads = _heads(file, names, record.cells)
    if len(record.axes) == 1:
        table, chart = _rows(record.cells, record.axes[0], heads, names, text)
        return Report(title=text, above=above(record), tables=[table], below=below, chart=chart)
    wanted = [ANY_SUCCESS if one == SUCCESS else one for one in outcomes] or (
        [ANY_SUCCESS] if any(cell.success is not None for cell in record.cells) else names
    )
    words = {**outcome_titles(file, names), ANY_SUCCESS: "any success" if ANY_SUCCESS in heads else SUCCESS}
    grids = [_grid(record, name, words.get(name, name)) for name in wanted]
    chart = _heat(record, wanted[0], f"{text}: {words.get(wanted[0], wanted[0])}")
    return Report(title=text, above=above(record), tables=grids, below=below, chart=chart)


def _open_cells(cells: Sequence[GridCell]) -> Iterator[str]:
    most = max(cells, key=lambda cell: cell.open.probability, default=None)
    if most is not None and most.open.exact != "0":
        yield f"remaining: up to {percent(most.open.probability)}; chances are lower bounds"


def _rows(
    cells: Sequence[GridCell], axis: Axis, heads: Mapping[str, str], names: Sequence[str], text: str
) -> tuple[Table, Chart]:
    shown = list(heads) if len(heads) <= MOST_COLUMNS else []
    rows = [
        [
            Cell(cell.at[axis.name]),
            *(Cell(f"{_bound(cell)}{percent(_share(cell, name) or 0.0)}") for name in shown),
            Cell(_mean(cell)),
        ]
        for cell in cells
    ]
    categories = [cell.at[axis.name] for cell in cells]
    series = [Series(heads[name], [_share(cell, name) for cell in cells]) for name in names]
    if ANY_SUCCESS in heads:
        series.append(Series(heads[ANY_SUCCESS], [_share(cell, ANY_SUCCESS) for cell in cells]))
    chart = Chart(kind="stacked", title=text, categories=categories, series=series, category_axis=axis.name)
    has_mean = any(cell.mean is not None for cell in cells)
    columns = [axis.name, *(heads[name] for name in shown), "mean" if has_mean else ""]
    return Table(columns=columns, rows=rows), chart


def _mean(found: MeasuredOdds) -> str:
    return f"{found.mean.probability:.3f}" if found.mean is not None else ""


def _grid(record: Variation, name: str, shown: str) -> Table:
    first, second = record.axes
    known = {(cell.at[first.name], cell.at[second.name]): cell for cell in record.cells}
    rows = []
    for value in first.values:
        row = [Cell(value)]
        for other in second.values:
            cell = known.get((value, other))
            share = _chance(cell, name).probability if cell is not None else None
            text = f"{_bound(cell)}{_in_percent(share)}" if cell is not None and share is not None else ""
            row.append(Cell(text, "", share))
        rows.append(row)
    columns = [" \\ ".join(_short_names(first, second)), *second.values]
    return Table(caption=f"{shown[:1].upper()}{shown[1:]}, in %", columns=columns, rows=rows)


def _bound(found: MeasuredOdds) -> str:
    """Return what stands before a chance that is only a lower bound, as its case was not followed to its end."""
    return ">=" if found.open.probability > NEGLIGIBLE else ""


def _short_names(first: Axis, second: Axis) -> tuple[str, str]:
    """Return what axes are called where there is little room: the last key of a path, with what tells them apart."""
    one, other = first.name.split("."), second.name.split(".")
    if one[-1] != other[-1]:
        return one[-1], other[-1]
    apart = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    return f"{one[apart]}.{one[-1]}", f"{other[apart]}.{other[-1]}"


def _in_percent(share: float) -> str:
    """Return a chance in a narrow cell; what is possible is never shown as 0, nor as certain.

    >>> _in_percent(0.25), _in_percent(1e-9), _in_percent(0.99999)
    ('25.0', '<0.1', '>99.9')
    """
    if 0 < share < 0.0005:
        return "<0.1"
    return ">99.9" if 0.9995 <= share < 1 else f"{100 * share:.1f}"


def _heat(record: Variation, name: str, text: str) -> Chart:
    first, second = record.axes
    known = {(cell.at[first.name], cell.at[second.name]): _share(cell, name) for cell in record.cells}
    series = [Series(other, [known.get((value, other)) for value in first.values]) for other in second.values]
    return Chart(
        kind="heat",
        title=text,
        categories=list(first.values),
        series=series,
        category_axis=first.name,
        series_axis=second.name,
    )


def _search(record: Search, file: RulesetFile | None) -> Report:
    target = record.target
    shown = target.outcome if target.outcome == SUCCESS else outcome_titles(file, [target.outcome])[target.outcome]
    text = heading(record, what=f"{record.axis.name} for {shown} at {percent(target.chance.probability)}")
    rows = [_found_row(record, cell) for cell in record.cells]
    chart = Chart(
        kind="bars",
        title=text,
        categories=[cell.at[record.axis.name] for cell in record.cells],
        series=[Series(shown, [cell.chance.probability for cell in record.cells])],
        category_axis=record.axis.name,
        mark=target.chance.probability,
    )
    table = Table(columns=[record.axis.name, shown, "exact", "off by", "nearest"], rows=rows)
    unfinished = _unfinished(record, len(record.cells), len(record.axis.values))
    below = [*search_texts(record, shown), *_below(record, unfinished=unfinished)]
    return Report(title=text, above=above(record), tables=[table], below=below, chart=chart)


def _found_row(record: Search, cell: FoundCell) -> list[Cell]:
    value = cell.at[record.axis.name]
    is_nearest = value in record.nearest
    chance = Cell(percent(cell.chance.probability), "good" if is_nearest else "")
    off = f"{100 * cell.distance.probability:.2f}"
    exact = fraction_text(cell.chance, left=cell.open)
    return [Cell(value), chance, Cell(exact, "quiet"), Cell(off), Cell("*" if is_nearest else "")]


ORDERS = {
    "rising": "rises with {}",
    "falling": "falls as {} rises",
    "constant": "is the same for every {}",
    "mixed": "neither rises nor falls throughout with {}; all values were evaluated",
}


def search_texts(record: Search, shown: str) -> list[str]:
    """Return what a search found, in sentences."""
    name, found = record.axis.name, record.nearest
    values = found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"
    equally = f"{name} {values} come equally near" if len(found) > 1 else f"{name} {values} comes nearest"
    texts = [f"{equally}.", f"{shown[:1].upper()}{shown[1:]} {ORDERS[record.order].format(name)}."]
    if not record.certain:
        texts.append("Something is left open, so another value may be nearer.")
    return texts


# ---------------------------------------------------------------------------------------------------------------------
# What a result hangs on


def _knockout(record: Knockout, file: RulesetFile | None) -> Report:
    shown = record.outcome if record.outcome == SUCCESS else outcome_titles(file, [record.outcome])[record.outcome]
    base = _chance(record.base, record.outcome)
    text = heading(record, what=f"what {shown} hangs on")
    first = [
        Cell("as typed"),
        Cell(percent(base.probability)),
        Cell(fraction_text(base, left=record.base.open), "quiet"),
    ]
    rows = [[*first, Cell(""), Cell(""), Cell("")]]
    rows += [_part_row(record, part) for part in record.parts if _matters(part)]
    idle = [part.text for part in record.parts if not _matters(part)]
    below = [f"no difference: {'; '.join(idle)}"] if idle else []
    below += [f"not taken out: {one.text}: {one.reason}" for one in record.untried]
    below += _below(record, unfinished="" if record.complete else "interrupted: not everything was taken out")
    telling = [part for part in record.parts if _matters(part)]
    values: list[float | None] = [part.difference.probability if part.difference else None for part in telling]
    chart = Chart(kind="bars", title=text, categories=[part.text for part in telling], series=[Series("", values)])
    heads = ["changed alone", shown, "exact", "difference", "exact", "all outcomes"]
    table = Table(columns=heads, rows=rows)
    return Report(title=text, above=above(record), tables=[table], below=below, chart=chart if telling else None)


def _matters(part: Part) -> bool:
    return part.distance.probability != 0


def _part_row(record: Knockout, part: Part) -> list[Cell]:
    chance = _chance(part, record.outcome)
    cells = [Cell(part.text), Cell(percent(chance.probability)), Cell(fraction_text(chance, left=part.open), "quiet")]
    return [*cells, *_of_difference(part.difference), Cell(f"{100 * part.distance.probability:.2f} moved", "quiet")]


# ---------------------------------------------------------------------------------------------------------------------
# Rows for spreadsheets


def csv_rows(record: Record) -> tuple[list[str], list[list[str]]]:
    """Return odds as a table in which every row stands for itself: the heads, and the rows.

    Chances are decimal numbers from 0 to 1, and fractions beside them.
    """
    own, rows = _csv(record)
    fixed = [
        record.ruleset or "",
        getattr(record, "scene", None) or getattr(record, "action", None) or "",
        input_words(record.inputs),
        ", ".join(record.house_rules),
    ]
    heads = ["ruleset", "evaluated", "inputs", "house_rules", *own]
    return heads, [[*fixed, *row] for row in rows]


CHANCE = ["probability", "exact"]


def _csv(record: Record) -> tuple[list[str], list[list[str]]]:
    match record:
        case SceneOddsResult():
            return [record.by, *CHANCE], [[name, *_pair(one)] for name, one in record.outcomes.items()]
        case OddsResult():
            head = [record.by if record.action else "value", *CHANCE]
            return head, [[name, *_pair(one)] for name, one in record.outcomes.items()]
        case LadderOdds():
            rungs = [
                [one.name, str(one.value), name, *_pair(chance)]
                for one in record.ladder
                for name, chance in one.outcomes.items()
            ]
            return ["rung", "value", "outcome", *CHANCE], rungs
        case Comparison():
            cases = [
                [case.name, name, *_pair(chance), *_pair(_difference(case, name))]
                for case in record.cases
                for name, chance in _all(case)
            ]
            return ["rules", "outcome", *CHANCE, "difference", "difference_exact"], cases
        case Variation():
            cells = [[*cell.at.values(), name, *_pair(chance)] for cell in record.cells for name, chance in _all(cell)]
            return [*(axis.name for axis in record.axes), "outcome", *CHANCE], cells
        case Search():
            found = [
                [*cell.at.values(), record.target.outcome, *_pair(cell.chance), *_pair(cell.distance)]
                for cell in record.cells
            ]
            return [record.axis.name, "outcome", *CHANCE, "distance", "distance_exact"], found
        case Knockout():
            parts = [
                [part.text, name, *_pair(chance), *_pair(_from_base(record, part, name))]
                for part in record.parts
                for name, chance in _all(part)
            ]
            return ["change", "outcome", *CHANCE, "difference", "difference_exact"], parts


def _all(found: MeasuredOdds) -> Iterator[tuple[str, Chance]]:
    yield from found.outcomes.items()
    if found.success is not None and SUCCESS not in found.outcomes:
        yield SUCCESS, found.success


def _pair(found: Chance | Difference | None) -> list[str]:
    return ["", ""] if found is None else [repr(found.probability), found.exact or ""]


def _from_base(record: Knockout, part: Part, name: str) -> Difference | None:
    if part.difference is None:
        return None
    from fractions import Fraction

    found = Fraction(_chance(part, name).exact) - Fraction(_chance(record.base, name).exact)
    return Difference(float(found), str(found) if part.difference.exact is not None else None)
