"""A query for odds: which action, who decides, what the chances are of, and the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.hidden import NO_TABLE, Start
from rpgres.engine.players import Policy, default_policy
from rpgres.engine.prepare import Prepared, policies_of, prepare
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY, pile_name
from rpgres.odds.exact import OUTCOME, Decide, check_told
from rpgres.parameters.kinds import metavar
from rpgres.rulesets import Rules


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A query for the odds of an action or a procedure. Nothing in it is parsed or checked yet.

    Attributes:
        inputs: its inputs by parameter, as typed.
        switches: the house rules that were chosen; those in `rules` have them already.
        choose: answers to decisions, by label, as typed.
        policies: policy by character; under an empty name the default.
        auto: whether the ruleset's policy decides for those without one.
        files: whether a policy that ends in `.toml` is a file of standing orders.
        decide: who decides for the actor of an action.
        by: what the chances are of: of an action see `outcome_odds`, of a procedure `game_of`.
        leaves: the maximum number of paths; None for the default budget.
        seconds: the time limit; None for none.
        start: the table on which the action begins.
    """

    rules: Rules
    action: str
    inputs: Mapping[str, Any]
    switches: Mapping[str, str] = EMPTY
    choose: Mapping[str, Sequence[str]] = EMPTY
    policies: Mapping[str, str] = EMPTY
    auto: bool = False
    files: bool = True
    decide: Decide = "policies"
    by: Any = OUTCOME
    leaves: int | None = None
    seconds: float | None = None
    note: str | None = None
    start: Start = NO_TABLE

    @property
    def named(self) -> dict[str, str]:
        """The policy of each character, for the record."""
        found = policies_record(self.rules, self.policies, auto=self.auto)
        return {**found, "actor": "best"} if self.decide == "best" else found

    def prepared(self) -> Prepared:
        """Return the action with its inputs read."""
        return prepare(self.rules, self.action, self.inputs, **self.start.arguments)

    def deciding(self, prepared: Prepared) -> dict[str, Policy]:
        """Return the policies by character, once it is known who takes part."""
        found = policies_of(prepared, self.policies, auto=self.auto, with_orders=True, files=self.files)
        return self.start.deciding(found)


def settled(query: Query, decide: Decide | None) -> Query:
    """Return a query with the deciders of the actor and of the others filled in.

    Args:
        query: the query; its own `decide` is ignored.
        decide: the decider of the actor that was asked for; None for the action's default, or for a named policy.

    Raises:
        UsageError: the action has no such number, a number is to be optimized, or a hand is missing.
    """
    check_told(query.rules, query.action, query.by)
    is_asked, is_named = decide is not None, query.auto or "" in query.policies
    if decide is None:
        decide = "policies" if is_named else query.rules.file.actions[query.action].odds
    if decide == "policies":
        return msgspec.structs.replace(query, decide=decide)
    if query.by != OUTCOME:
        raise UsageError(
            f"{named('by')} evaluates numbers and {named(decide)} evaluates success; use one of them, "
            f"or name a {named('policy')}"
        )
    if decide == "each" and not is_asked and _missing_hand(query):
        decide = "policies"  # without `--each` the totals over all hands are shown
    else:
        _require_hand(query)
    return msgspec.structs.replace(query, decide=decide, auto=query.auto or not is_named)  # for the others


def policies_record(rules: Rules, policies: Mapping[str, str], *, auto: bool) -> dict[str, str]:
    """Return the policy of each character for records: the default under `*`.

    Args:
        policies: policy by character, the default under an empty name.
        auto: whether the ruleset's policy decides for those without one.
    """
    default = {"*": default_policy(rules)} if auto else {}
    return default | {who or "*": name for who, name in policies.items()}


def _require_hand(query: Query) -> None:
    """Check that the cards of the hand are given where a decision depends on them."""
    name = _missing_hand(query)
    if name:
        parameter = query.rules.parameters(query.action)[name]
        raise UsageError(
            f"optimal decisions need {named(name)} {metavar(parameter, name)}: {parameter.help.partition(' (')[0]}, "
            f"or '' for none; with {named('auto')} a policy decides, and hands are dealt"
        )


def _missing_hand(query: Query) -> str:
    """Return the missing parameter for the cards of the actor's hand; empty where they are known."""
    rules, start = query.rules, query.start
    for name, parameter in rules.parameters(query.action).items():
        pile = rules.file.piles[parameter.pile] if parameter.kind == "cards" else None
        if pile is None or pile.face != "hand" or not pile.each:
            continue
        if query.inputs.get(name.replace("-", "_")) is not None:
            continue
        there = start.state.piles.get(pile_name(parameter.pile, start.actor)) if start.state is not None else None
        if there is None or not len(there):
            return name
    return ""


def missing_opposition(query: Query) -> str | None:
    """Return the required input of the opposition, when it is missing and the ruleset has a ladder."""
    rules, inputs = query.rules, query.inputs
    if not rules.file.ladder:
        return None
    for name, parameter in rules.parameters(query.action).items():
        is_missing = inputs.get(name.replace("-", "_"), inputs.get(name)) is None
        if parameter.kind == "opposition" and is_missing and name in rules.file.actions[query.action].required:
            return name
    return None
