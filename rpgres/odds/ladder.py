"""The odds of an action at every rung of a ladder, for choosing a difficulty."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

import msgspec

from rpgres.engine.hidden import Known
from rpgres.engine.prepare import answers_to
from rpgres.odds.chances import Asked, Chance, chance_record, rules_fields
from rpgres.odds.exact import outcome_odds
from rpgres.odds.explorer import WORK, Method, Odds
from rpgres.odds.query import Query
from rpgres.odds.sampling import GAMES, Sample
from rpgres.stopping import STOP


class RungOdds(msgspec.Struct, frozen=True, kw_only=True):
    """The chances of every outcome against one rung.

    Attributes:
        name: the rung.
        value: its number.
        outcomes: the chance of every outcome, by its name.
        open: the remaining probability, which the budget left unresolved.
        leaves: how many paths of the action were run to their end.
        sample: where the budget left something open: estimates of all chances, from games that continue there.
    """

    name: str
    value: int
    outcomes: dict[str, Chance]
    open: Chance
    leaves: int
    sample: Sample | None = None


class LadderOdds(Asked, frozen=True, kw_only=True, tag="rpgres.odds-ladder/1"):
    """The odds of an action against each rung of the ladder, as `rpgres odds --json` prints them without a `--vs`.

    Attributes:
        ladder: every rung, the highest first.
        advice: how to choose a difficulty, line by line.
        method: how the chances were found: exact; partial, where each is an exact lower bound; sampled, where no path
            was followed to its end, and there are only estimates.
        interrupted: whether it was interrupted; the chances are what was known by then.
        known: the seat whose knowledge of a persistent table counts; null without a table.
    """

    ladder: list[RungOdds]
    advice: list[str]
    method: Method = "exact"
    interrupted: bool = False
    known: Known | None = None

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each rung, as `pandas.DataFrame` takes it: its name, `value`, each outcome's probability."""
        return [
            {"rung": rung.name, "value": rung.value, **{name: one.probability for name, one in rung.outcomes.items()}}
            for rung in self.ladder
        ]


def ladder_odds(query: Query, opposition: str) -> LadderOdds:
    """Return the chances of an action's outcomes against every rung, the highest first.

    Args:
        query: the query without the opposition; its budget of paths is for each rung, its time limit for all together.

    Raises:
        UsageError: an input is missing or impossible.
        NeedsPolicy: a decision has no answer.
    """
    rules, seconds, evaluate = query.rules, query.seconds, _evaluator(query)
    found, ladder = list[Odds](), sorted(rules.file.ladder.items(), key=lambda rung: -rung[1])
    end = monotonic() + seconds if seconds is not None else 0.0
    for number, (_, value) in enumerate(ladder):
        if found and STOP.is_asked:
            break
        prepared = msgspec.structs.replace(query, inputs={**query.inputs, opposition: value}).prepared()
        share = max(0.0, end - monotonic()) / (len(ladder) - number) if seconds is not None else None
        answers = {"choose": answers_to(prepared, query.choose), "policies": query.deciding(prepared)}
        found.append(evaluate(prepared, **answers, leaves=query.leaves, seconds=share, work=WORK // len(ladder)))
    methods = {odds.method for odds in found}
    return LadderOdds(
        **rules_fields(rules),
        action=query.action,
        inputs=dict(query.inputs),
        ladder=[_rung(name, value, odds) for (name, value), odds in zip(ladder, found, strict=False)],
        advice=list(rules.file.ladder_advice),
        method=methods.pop() if len(methods) == 1 else "partial",
        policies=query.named,
        known=query.start.record(),
        note=query.note,
    )


def _evaluator(query: Query) -> Callable[..., Odds]:
    """Return the function that evaluates one rung."""
    if query.decide == "policies":
        return partial(outcome_odds, games=GAMES)
    from rpgres.odds.optimal import Search, evaluate_best

    return partial(evaluate_best, search=Search(only_first=query.decide == "each"))


def _rung(name: str, value: int, odds: Odds) -> RungOdds:
    """Return the odds of a rung for the record."""
    outcomes = {str(band): chance_record(mass) for band, mass in odds.masses.items()}
    left = chance_record(odds.open)
    return RungOdds(name=name, value=value, outcomes=outcomes, open=left, leaves=odds.leaves, sample=odds.sample)
