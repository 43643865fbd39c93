"""Exact odds by a call: of dice, of an action, of an action against every rung, and grids of odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, overload

from rpgres.arguments import told_by_kind
from rpgres.engine.resolve import Answers, Folders
from rpgres.errors import UsageError, named
from rpgres.library.reading import Policies, deciding, plain_inputs, query_of, require_limits
from rpgres.odds.actions import odds_of
from rpgres.odds.dice import DiceOdds, dice_odds
from rpgres.odds.exact import Decide, OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.odds.query import settled
from rpgres.rulesets import Rules, Ruleset


@overload
def odds(what: str, *, by: str = ..., note: str | None = ...) -> DiceOdds: ...


@overload
def odds(
    what: str | Ruleset,
    action: str,
    *,
    by: str = ...,
    decide: Decide | None = ...,
    choose: Answers | None = ...,
    auto: bool = ...,
    policies: Policies | None = ...,
    switches: Mapping[str, str] | None = ...,
    rulesets: Folders | None = ...,
    leaves: int | None = ...,
    seconds: float | None = ...,
    note: str | None = ...,
    **inputs: Any,
) -> OddsResult | LadderOdds: ...


@told_by_kind
def odds(
    what: str | Ruleset,
    action: str | None = None,
    *,
    by: Any = "outcome",
    decide: Decide | None = None,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    leaves: int | None = None,
    seconds: float | None = None,
    note: str | None = None,
    **inputs: Any,
) -> OddsResult | LadderOdds:
    """Return the exact odds of dice or of an action; without an opposition, those against every rung of the ladder.

    >>> odds("fate", "overcome", skill=3, vs=2).outcomes["fail"].exact
    '5/27'
    >>> odds("4d6kh3").mean_exact
    '15869/1296'

    Args:
        what: dice notation, or a ruleset: its id, or the record that a plugin's module holds.
        action: the action's name; left out for dice.
        by: what the chances are of: `outcome`, `margin`, `total`, or a number or word that the action tells beside its
            outcome (`tell`); of dice also the name of a part.
        decide: who decides for the actor: `policies`, `each` (every first choice, then policies) or `best`
            (optimally); by default policies where `auto` or everybody's policy is given, else as the action says.
        choose: answers to decisions, by label: one, or a list in the order of the questions.
        auto: whether the ruleset's policy answers what is left unanswered.
        policies: policy by name of a character (`gm`, `actor`); the default under an empty name.
        switches: house rules that are not at their default.
        rulesets: folders with overlays, as of `--rulesets`; the last is the nearest.
        leaves: the maximum number of paths; without it a default budget of work.
        seconds: a limit of time in seconds; what it leaves unresolved is in `open`, with an estimate.
        note: carried into the record.
        inputs: what the action takes, by name, with underscores for hyphens.

    Returns:
        The record of `rpgres odds --json`; its `table()` has a row for each outcome.

    Raises:
        NeedsPolicy: nothing answers a decision; its `labels` say which.
        UsageError: something named does not exist, or cannot be evaluated so.
        FileError: a sheet or a file of the ruleset is missing or faulty.
        RuleError: the ruleset's code failed.
    """
    require_limits(seconds, leaves)
    if action is None:
        unused: dict[str, Any] = {"decide": decide, "choose": choose, "auto": auto, "policies": policies}
        unused |= {"switches": switches, "rulesets": rulesets, "leaves": leaves, "seconds": seconds}
        return _of_dice(what, by, note, {**{name: one for name, one in unused.items() if one}, **plain_inputs(inputs)})
    if decide not in (None, *get_args(Decide)):
        raise UsageError(f"decide takes policies, each or best, not {decide!r}")
    who = deciding(choose=choose, auto=auto, policies=policies, switches=switches, rulesets=rulesets)
    query = query_of(what, action, inputs, who, by=by, leaves=leaves, seconds=seconds, note=note)
    require_action(query.rules, action)
    return odds_of(settled(query, decide))


def _of_dice(what: Any, by: str, note: str | None, inputs: Mapping[str, Any]) -> DiceOdds:
    if isinstance(what, str) and inputs:
        raise UsageError(
            f"odds of dice take no {', '.join(map(named, inputs))}; odds of an action are odds(RULESET, ACTION, ...)"
        )
    if not isinstance(what, str):
        raise UsageError(
            "dice are one text, such as odds('4d6kh3 vs 12'); odds of an action are odds(RULESET, ACTION, ...)"
        )
    return dice_odds(what, note=note, by=None if by == "outcome" else by)


def require_action(rules: Rules, action: str) -> None:
    """Check that there is such an action.

    Raises:
        UsageError: there is none, or it is a procedure, of which scenes have the odds.
    """
    rules.require_action(action)
    if rules.file.actions[action].procedure:
        raise UsageError(f"{action} is a procedure of several turns; odds_scene({rules.id!r}, {action!r}) evaluates it")
