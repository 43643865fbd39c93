"""Arguments of calls as the packages below take them: rules, answers, policies, inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rpgres.engine.rerun import Asked
from rpgres.engine.resolve import Answers, Folders, folders_of, listed_answers, rules_for
from rpgres.errors import UsageError, named
from rpgres.model.state import EMPTY
from rpgres.odds.query import Query
from rpgres.plugins.loading import checked
from rpgres.rulesets import Rules, Ruleset

if TYPE_CHECKING:
    from rpgres.scenes.reading import Overrides

LONGEST = 1e9  # seconds of a limit
What = str | os.PathLike[str] | Ruleset  # a scene by its file or name, or a ruleset by its id or as a record
Policies = Mapping[str, str]  # policy by character; the default under an empty name


class Deciding(NamedTuple):
    """Who decides in what a call plays or evaluates, and by which house rules.

    Attributes:
        choose: answers to decisions, by label.
        auto: whether the ruleset's policy answers what is left unanswered.
        policies: policy by character; the default under an empty name.
        switches: house rules that are not at their default.
        folders: folders with overlays; the last is the nearest.
    """

    choose: dict[str, list[str]]
    auto: bool
    policies: dict[str, str]
    switches: dict[str, str]
    folders: tuple[Path, ...]

    @property
    def overrides(self) -> Overrides:
        """What is chosen over what the file of a scene says."""
        from rpgres.scenes.reading import Overrides

        return Overrides(self.switches, self.policies, self.auto)


def deciding(
    *,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
) -> Deciding:
    """Return who decides, from the arguments of a call."""
    answers = listed_answers(choose, "choose")
    return Deciding(answers, auto, dict(policies or EMPTY), dict(switches or EMPTY), folders_of(rulesets))


def read_rules(ruleset: What, who: Deciding) -> Rules:
    """Return the rules of a ruleset with its house rules, linted where they have overlays.

    Raises:
        UsageError, FileError, PluginError: there are none, or they are faulty.
    """
    if isinstance(ruleset, os.PathLike):
        raise UsageError(f"a ruleset is named by its id, and not by a path such as {os.fspath(ruleset)!r}")
    return checked(rules_for(ruleset, who.switches, who.folders))


def require_limits(seconds: float | None, leaves: int | None = None) -> None:
    """Check the limits of exact odds.

    Raises:
        UsageError: there is no such time, or no path may be followed.
    """
    if seconds is not None and not 0 < seconds < LONGEST:
        raise UsageError(f"{named('seconds')} takes a number of seconds over 0, not {seconds!r}", path=("seconds",))
    if leaves is not None and leaves < 1:
        raise UsageError(f"{named('leaves')} takes a number of paths from 1 on, not {leaves!r}", path=("leaves",))


def typed_changes(given: Answers | None, choose: Answers | None, policies: Policies | None, *, auto: bool) -> Asked:
    """Return what a call changes in a run.

    Raises:
        UsageError: one is no answer.
    """

    def typed(answers: Answers | None, what: str) -> list[str]:
        return [f"{label}={value}" for label, values in listed_answers(answers, what).items() for value in values]

    changes = typed(given, "given"), typed(choose, "choose")
    return Asked(given=changes[0], choose=changes[1], policies=dict(policies or EMPTY), auto=auto)


def query_of(ruleset: What, action: str, inputs: Mapping[str, Any], who: Deciding, **asked: Any) -> Query:
    """Return what is asked of an action or a procedure, from the arguments of a call."""
    return Query(
        rules=read_rules(ruleset, who),
        action=action,
        inputs=plain_inputs(inputs),
        switches=who.switches,
        choose=who.choose,
        policies=who.policies,
        auto=who.auto,
        **asked,
    )


def plain_inputs(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs without those that are None: they count as left out."""
    return {name: value for name, value in inputs.items() if value is not None}
