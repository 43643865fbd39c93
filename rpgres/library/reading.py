"""Arguments of calls as the packages below take them: rules, answers, policies, inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rpgres.engine.resolve import Answers, Folders, folders_of, listed_answers, rules_for
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY
from rpgres.odds.query import Query
from rpgres.plugins.loading import checked
from rpgres.rulesets import Rules, Ruleset

LONGEST = 1e9  # seconds of a limit
What = str | os.PathLike[str] | Ruleset  # a scene by its file or name, or a ruleset by its id or as a record
Policies = Mapping[str, str]  # policy by character; everybody's under an empty name


def read_rules(ruleset: What, switches: Mapping[str, str] | None, rulesets: Folders | None) -> Rules:
    """Return the rules of a ruleset with its house rules, linted where they have overlays.

    Raises:
        UsageError, FileError, PluginError: there are none, or they are faulty.
    """
    if isinstance(ruleset, os.PathLike):
        raise UsageError(f"a ruleset is named by its id, and not by a path such as {os.fspath(ruleset)!r}")
    return checked(rules_for(ruleset, switches or EMPTY, folders_of(rulesets)))


def require_limits(seconds: float | None, leaves: int | None = None) -> None:
    """Check the limits of exact odds.

    Raises:
        UsageError: there is no such time, or no branch may be followed.
    """
    if seconds is not None and not 0 < seconds < LONGEST:
        raise UsageError(f"{named('seconds')} takes a number of seconds over 0, not {seconds!r}", path=("seconds",))
    if leaves is not None and leaves < 1:
        raise UsageError(f"{named('leaves')} takes a number of branches from 1 on, not {leaves!r}", path=("leaves",))


def typed_changes(answers: Answers | None, what: str) -> list[str]:
    """Return changed answers as `LABEL=VALUE`, see `rpgres.engine.rerun.read_changes`.

    Raises:
        UsageError: one is no answer.
    """
    return [f"{label}={value}" for label, values in listed_answers(answers, what).items() for value in values]


def query_of(
    rules: Rules,
    action: str,
    inputs: Mapping[str, Any],
    *,
    choose: Answers | None,
    policies: Policies | None,
    switches: Mapping[str, str] | None,
    **asked: Any,
) -> Query:
    """Return what is asked of an action or a procedure, from the arguments of a call."""
    return Query(
        rules=rules,
        action=action,
        inputs=plain_inputs(inputs),
        switches=dict(switches or EMPTY),
        choose=listed_answers(choose, "choose"),
        policies=dict(policies or EMPTY),
        **asked,
    )


def plain_inputs(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs without those that are None: they count as left out."""
    return {name: value for name, value in inputs.items() if value is not None}
