"""What comes of a scene when somebody decides optimally, as lines and as tables. Values to text; nothing prints."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.cli.render.lines import INDENT, Line, Piece, line
from rpgres.cli.render.odds import percent
from rpgres.cli.render.reports import Cell, Table
from rpgres.cli.render.results import fact_words
from rpgres.cli.render.scene_odds import scene_odds_lines
from rpgres.cli.render.words import outcome_titles, who_is
from rpgres.odds.exact import Chance
from rpgres.odds.scene_best import BestDecision, SceneBestResult
from rpgres.rulesets import RulesetFile


def scene_best_lines(record: SceneBestResult, file: RulesetFile, *, bars: int = 0) -> list[Line]:
    """Return what comes of a scene: the distribution, and what each option of the first decisions is worth.

    Args:
        record: the odds.
        file: the ruleset's data, for its words.
        bars: columns for a bar; 0 for none.
    """
    lines = scene_odds_lines(record, file, bars=bars)
    head = 1 + bool(record.house_rules)
    lines[head:head] = [line(INDENT, value_text(record, file))]
    for decision in record.decisions:
        lines.append(line(INDENT, Piece(f"{who_is(decision.who)} decides first{about(decision)}", "title")))
        lines += _option_lines(record, decision)
    if not record.decisions:
        lines.append(line(INDENT, f"{who_is(record.best)} has nothing to decide"))
    return lines


def _option_lines(record: SceneBestResult, decision: BestDecision) -> Iterator[Line]:
    width = max(len(one.option) for one in decision.options)
    for number, one in enumerate(decision.options):
        cost = f"  costs {amount(record, one.cost, is_difference=True)}" if one.cost.exact != "0" else ""
        told = cost or ("  best" if not number else "  as good")
        name = Piece(f"{one.option:<{width}}", "good" if not cost else "name")
        yield line(INDENT * 2, name, f"  {amount(record, one.value):>9}", Piece(told, "quiet"))


def about(decision: BestDecision) -> str:
    """Return which decision it is, in words, with how likely the scene comes to it where that is not certain."""
    told = decision.words or fact_words(decision.facts)
    told = "; ".join(filter(None, (told, percent(decision.probability.probability) if _is_chance(decision) else "")))
    return f": {decision.text or decision.label}" + (f" ({told})" if told else "")


def _is_chance(decision: BestDecision) -> bool:
    return decision.probability.exact != "1"


def value_text(record: SceneBestResult, file: RulesetFile) -> str:
    """Return the chance of the goal, or the mean, in words."""
    value = amount(record, record.value)
    if not record.goal:
        return f"mean of {record.by}, as large as can be: {value}"
    names = list(outcome_titles(file, [one for one in record.goal if one in record.outcomes] or record.goal).values())
    return f"goal: {' or '.join(names)}: {value}"


def amount(record: SceneBestResult, value: Chance, *, is_difference: bool = False) -> str:
    """Return a chance, or a mean; a difference of chances in percentage points."""
    if not record.goal:
        return f"{value.probability:.3f}"
    return f"{100 * value.probability:.2f} points" if is_difference else percent(value.probability)


def decision_tables(record: SceneBestResult) -> list[Table]:
    """Return the first decisions as tables."""
    return [
        Table(
            caption=f"{who_is(decision.who)} decides first{about(decision)}",
            columns=["option", "value", "exact", "costs"],
            rows=[
                [
                    Cell(one.option),
                    Cell(amount(record, one.value)),
                    Cell(one.value.exact if len(one.value.exact) <= 24 else ""),
                    Cell("" if one.cost.exact == "0" else amount(record, one.cost, is_difference=True)),
                ]
                for one in decision.options
            ],
        )
        for decision in record.decisions
    ]
