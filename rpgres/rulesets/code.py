"""The code of a ruleset as its plugin registers it: rules, effects, policies. What they mean in play is elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpgres.state import Map

if TYPE_CHECKING:
    from rpgres.players import Policy
    from rpgres.rulesets.rules import Rules
    from rpgres.state import Character, State
    from rpgres.table import Outcome

API = 1  # the version of the contract between rpgres and a ruleset's code

Rule = Callable[..., "Outcome"]
ApplyEffect = Callable[["State", "Effect"], "State"]
Prepare = Callable[["Rules", "Character"], "Character"]
Effect = Map[str, Any]


def effect(kind: str, **fields: Any) -> Effect:
    """Return an effect: what a finished action changes, as data that the ruleset's function for its kind applies."""
    return Map({"kind": kind, **fields})


class Ruleset:
    """The code of one ruleset: rules by action, functions by kind of effect, policies by name.

    A plugin module makes one, fills it with the decorators below, and yields it from its `rpgres_rulesets` hook.
    Everything a game designer would change is in the data folder, read only when the ruleset is used.

    Args:
        id: the name on the command line; also the entry point's name and the data folder's.
        data: the folder that holds `ruleset.toml`; None for a ruleset that ships with rpgres.
        api: the version of this contract that the code was written for.
    """

    def __init__(self, id: str, *, data: Path | None = None, api: int = API) -> None:  # noqa: A002  # the field's word
        self.id = id
        self.data = data
        self.api = api
        self.actions: dict[str, Rule] = {}
        self.effects: dict[str, ApplyEffect] = {}
        self.policies: dict[str, Policy] = {}
        self.preparations: list[Prepare] = []

    def action(self, name: str) -> Callable[[Rule], Rule]:
        """Register the decorated function as the rule of an action: `rule(table, actor, **parameters) -> Outcome`."""

        def register(rule: Rule) -> Rule:
            self.actions[name] = rule
            return rule

        return register

    def effect(self, kind: str) -> Callable[[ApplyEffect], ApplyEffect]:
        """Register the decorated pure function `(state, effect) -> state` for a kind of effect."""

        def register(apply: ApplyEffect) -> ApplyEffect:
            self.effects[kind] = apply
            return apply

        return register

    def policy(self, name: str) -> Callable[[Policy], Policy]:
        """Register the decorated function `(view, question) -> option name or weights`; the first one is `--auto`'s."""

        def register(policy: Policy) -> Policy:
            self.policies[name] = policy
            return policy

        return register

    def prepare(self, change: Prepare) -> Prepare:
        """Register the decorated function `(rules, character) -> character`, called when a sheet is read."""
        self.preparations.append(change)
        return change
