"""The odds of an action at every rung of a ladder, to set a difficulty by. Nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec

from rpgres.engine.hidden import NO_TABLE, Known, Start
from rpgres.engine.players import Policy
from rpgres.engine.prepare import Prepared, answers_to, prepare
from rpgres.model.printed import Printed
from rpgres.model.state import EMPTY
from rpgres.odds.exact import Chance, chance_record, house_rules, outcome_odds
from rpgres.odds.explorer import WORK, Method, Odds
from rpgres.odds.sampling import Sample
from rpgres.rulesets import Rules
from rpgres.stopping import STOP


class RungOdds(msgspec.Struct, frozen=True, kw_only=True):
    """The chances of every outcome against one rung; `sample` estimates them where something is left open.

    Attributes:
        name: the rung.
        value: its number.
        outcomes: the chance of every outcome, by its name.
        open: the chance of what the budget left unresolved.
        leaves: how many courses of the action were run to an end.
        sample: where the budget left something open: estimates of all chances, from games that go on from there.
    """

    name: str
    value: int
    outcomes: dict[str, Chance]
    open: Chance
    leaves: int
    sample: Sample | None = None


class LadderOdds(Printed, frozen=True, kw_only=True, tag="rpgres.odds-ladder/1"):
    """The odds of an action against each rung of the ladder, as `rpgres odds --json` prints them without a `--vs`.

    Attributes:
        ruleset: the ruleset's id.
        action: the action's name.
        inputs: what was typed, by parameter.
        ladder: every rung, the highest first.
        advice: how to choose a difficulty, line by line.
        method: how the chances were found: exact; partial, where each is an exact lower bound and what is open adds to
            one or another; sampled, where nothing was followed to an end, and there are estimates alone.
        policies: who decided by which policy.
        switches: every house rule and the choice in force.
        house_rules: what differs from the ruleset as it ships: what is laid over it, switches not at their default.
        interrupted: whether it was stopped before its end; what is known by then stands.
        known: at a persistent table, by whose knowledge of it; null elsewhere.
        note: the text of --note.
    """

    ruleset: str
    action: str
    inputs: dict[str, Any]
    ladder: list[RungOdds]
    advice: list[str]
    method: Method = "exact"
    policies: dict[str, str] = {}
    switches: dict[str, str] = {}
    house_rules: list[str] = []
    interrupted: bool = False
    known: Known | None = None
    note: str | None = None

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each rung, as `pandas.DataFrame` takes it: its name, `value`, each outcome's probability."""
        return [
            {"rung": rung.name, "value": rung.value, **{name: one.probability for name, one in rung.outcomes.items()}}
            for rung in self.ladder
        ]


def missing_opposition(rules: Rules, action: str, inputs: Mapping[str, Any]) -> str | None:
    """Return the required input that would say what is in the way, when it is missing and the ruleset has a ladder."""
    if not rules.file.ladder:
        return None
    for name, parameter in rules.parameters(action).items():
        is_missing = inputs.get(name.replace("-", "_"), inputs.get(name)) is None
        if parameter.kind == "opposition" and is_missing and name in rules.file.actions[action].required:
            return name
    return None


def ladder_odds(
    rules: Rules,
    action: str,
    inputs: Mapping[str, Any],
    *,
    opposition: str,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Callable[[Prepared], Mapping[str, Policy]] | None = None,
    named: Mapping[str, str] = EMPTY,
    leaves: int | None = None,
    seconds: float | None = None,
    note: str | None = None,
    evaluate: Callable[..., Odds] = outcome_odds,
    start: Start = NO_TABLE,
) -> LadderOdds:
    """Return the chances of an action's outcomes against every rung, the highest first.

    Args:
        rules, action: the ruleset in play, and the action's name.
        inputs: values by parameter name, without the opposition.
        opposition: the parameter that takes the rung.
        choose: answers to decisions, by label.
        policies, named: who answers what was not chosen, once it is known who is there; the same by name.
        leaves: the budget of each rung; seconds: that of all of them; see `Budget`.
        note: carried into the record.
        evaluate, start: works out the odds of one rung; where the action begins.

    Raises:
        UsageError: an input is missing or impossible.
        NeedsPolicy: a decision has no answer.
    """
    found, ladder = list[Odds](), sorted(rules.file.ladder.items(), key=lambda rung: -rung[1])
    end = monotonic() + seconds if seconds is not None else 0.0
    for number, (_, value) in enumerate(ladder):
        if found and STOP.is_asked:
            break
        prepared = prepare(rules, action, {**inputs, opposition: value}, **start.arguments)
        share = max(0.0, end - monotonic()) / (len(ladder) - number) if seconds is not None else None
        answers = {"choose": answers_to(prepared, choose), "policies": policies(prepared) if policies else EMPTY}
        found.append(evaluate(prepared, **answers, leaves=leaves, seconds=share, work=WORK // len(ladder)))
    return LadderOdds(
        ruleset=rules.id,
        action=action,
        inputs=dict(inputs),
        ladder=[_rung(name, value, odds) for (name, value), odds in zip(ladder, found, strict=False)],
        advice=list(rules.file.ladder_advice),
        method=_method_of(found),
        policies=dict(named),
        switches=rules.chosen,
        house_rules=house_rules(rules),
        known=start.record(),
        note=note,
    )


def _method_of(found: Sequence[Odds]) -> Method:
    methods = {odds.method for odds in found}
    return methods.pop() if len(methods) == 1 else "partial"


def _rung(name: str, value: int, odds: Odds) -> RungOdds:
    """Return the odds of a rung for the record."""
    outcomes = {str(band): chance_record(mass) for band, mass in odds.masses.items()}
    left = chance_record(odds.open)
    return RungOdds(name=name, value=value, outcomes=outcomes, open=left, leaves=odds.leaves, sample=odds.sample)
