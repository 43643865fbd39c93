"""Odds as rows for spreadsheets, each complete by itself."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.odds.comparison import Comparison, Difference, Grids
from rpgres.odds.exact import Chance, OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.odds.scenes import ExactSceneOdds
from rpgres.odds.subjects import ANY_SUCCESS, SUCCESS, MeasuredOdds
from rpgres.odds.variations import Variation
from rpgres.render.odds.studies import difference_of
from rpgres.render.words import input_words

Record = OddsResult | ExactSceneOdds | LadderOdds | Comparison | Variation | Grids


def csv_rows(record: Record) -> tuple[list[str], list[list[str]]]:
    """Return odds as a table whose rows are each complete: the heads, and the rows.

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
DIFFERENCE = ["difference", "difference_exact"]


def _csv(record: Record) -> tuple[list[str], list[list[str]]]:
    match record:
        case ExactSceneOdds():
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
            heads = ["rules", "outcome", *CHANCE, *DIFFERENCE]
            return heads, [[case.name, *row] for case in record.cases for row in _all(case, differs=True)]
        case Variation():
            rows = [[*cell.at.values(), *row] for cell in record.cells for row in _all(cell)]
            return [*(axis.name for axis in record.axes), "outcome", *CHANCE], rows
        case Grids():
            grids = [
                [case.name, *cell.at.values(), *row]
                for case in record.cases
                for cell in case.cells
                for row in _all(cell, differs=True)
            ]
            return ["rules", *(axis.name for axis in record.axes), "outcome", *CHANCE, *DIFFERENCE], grids


def _all(found: MeasuredOdds, *, differs: bool = False) -> Iterator[list[str]]:
    """Yield each outcome with its chance, and success; where it is compared, with the difference from the base."""
    won = {ANY_SUCCESS if SUCCESS in found.outcomes else SUCCESS: found.success} if found.success is not None else {}
    for name, chance in {**found.outcomes, **won}.items():
        yield [name, *_pair(chance), *(_pair(difference_of(found, name)) if differs else ())]


def _pair(found: Chance | Difference | None) -> list[str]:
    return ["", ""] if found is None else [repr(found.probability), found.exact or ""]
