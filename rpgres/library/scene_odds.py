"""Exact odds of scenes and procedures by a call: how they end, and what optimal play is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpgres.arguments import told_by_kind
from rpgres.engine.prepare import Prepared
from rpgres.engine.resolve import Answers, Folders
from rpgres.errors import UsageError
from rpgres.library.reading import Deciding, Policies, What, deciding, query_of, require_limits
from rpgres.library.scenes import scene_in
from rpgres.model.state import EMPTY
from rpgres.odds.scene_best import SceneBestResult
from rpgres.scenes import Scene
from rpgres.scenes.measuring import (
    SceneOddsResult,
    best_record,
    odds_by,
    scene_of_procedure,
    scene_record,
)
from rpgres.scenes.walking import ENDING


@told_by_kind
def odds_scene(
    what: What,
    procedure: str | None = None,
    *,
    by: str = ENDING,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    leaves: int | None = None,
    seconds: float | None = None,
    note: str | None = None,
    **inputs: Any,
) -> SceneOddsResult:
    """Return the exact odds of how a scene or a procedure ends, over every result of its dice and cards.

    >>> odds_scene("fate/gate", auto=True).method
    'exact'
    >>> contest = odds_scene("fate", "contest", skill=3, vs=2, victories=1, exchanges=1, auto=True)
    >>> contest.outcomes["won"].exact
    '50/81'

    Args:
        what: the scene: a TOML file, or a shipped one such as `fate/gate`; or the ruleset of a procedure.
        procedure: the procedure's name; left out for a scene.
        by: what the chances are of: `ending`, a part of the table at the end, what the last procedure counts, or how
            often a step that repeats is played (`times.lock`).
        choose: answers to the decisions of a procedure, by label.
        auto: whether the ruleset's policy answers what neither the scene nor a policy does.
        policies: policy by character; under an empty name the default.
        switches: house rules, over the scene's own.
        rulesets: folders with overlays; the last is the nearest.
        leaves: the maximum number of paths; without it a default budget of work.
        seconds: a limit of time in seconds; what it leaves unresolved is in `open`.
        note: carried into the record.
        inputs: what a procedure takes, by name, with underscores for hyphens.

    Returns:
        The record of `rpgres odds SCENE --json`.

    Raises:
        NeedsPolicy: nothing answers a decision.
        FileError: the scene or a sheet is missing or faulty.
        UsageError: there is no such procedure, input, policy, switch or part of the table.
    """
    require_limits(seconds, leaves)
    who = deciding(choose=choose, auto=auto, policies=policies, switches=switches, rulesets=rulesets)
    scene, prepared = _played(what, procedure, inputs, who)
    found = odds_by(scene, by, leaves=leaves, seconds=seconds)
    return scene_record(scene, found, by=by, note=note, inputs=prepared.inputs if prepared is not None else EMPTY)


@told_by_kind
def odds_best(
    what: What,
    procedure: str | None = None,
    *,
    best: str = "",
    goal: str | Sequence[str] = (),
    by: str = ENDING,
    choose: Answers | None = None,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    leaves: int | None = None,
    seconds: float | None = None,
    note: str | None = None,
    **inputs: Any,
) -> SceneBestResult:
    """Return the odds of a scene or a procedure in which one player decides optimally, from start to end.

    >>> found = odds_best("again-pool/the-debt", best="ondra")
    >>> [option.option for option in found.decisions[0].options]
    ['spend', 'no']

    Args:
        what, procedure: as of `odds_scene`.
        best: who decides optimally: a character or a seat; by default the first actor.
        goal: the endings or outcomes that count, or values of what `by` names; by default successes, or as large a mean
            as can be.
        by: what the chances are of, as of `odds_scene`; also of play for an ending.
        policies: who else decides, by name of a character; the ruleset's policy for those without one.
        choose, switches, rulesets, leaves, seconds, note, inputs: as of `odds_scene`. Without the whole scene there is
            no result, so that a limit which is too small is an error.

    Returns:
        The record of `rpgres odds SCENE --best WHO --json`: `decisions` has what each first option is worth.

    Raises:
        NeedsPolicy, FileError: as of `odds_scene`.
        UsageError: there is no such player or ending, or the player does not see all that matters.
    """
    require_limits(seconds, leaves)
    who = deciding(choose=choose, auto=True, policies=policies, switches=switches, rulesets=rulesets)
    scene, prepared = _played(what, procedure, inputs, who)
    goals = [goal] if isinstance(goal, str) else list(goal)
    about: dict[str, Any] = {"leaves": leaves, "seconds": seconds, "note": note}
    return best_record(scene, prepared, best=best, goals=goals, by=by, **about)


# ---------------------------------------------------------------------------------------------------------------------


def _played(
    what: What, procedure: str | None, inputs: Mapping[str, Any], who: Deciding
) -> tuple[Scene, Prepared | None]:
    """Return a scene; or the one of a procedure, and that with its inputs as read."""
    if procedure is None:
        return scene_in(what, who, inputs), None
    query = query_of(what, procedure, inputs, who)
    query.rules.require_action(procedure)
    if not query.rules.file.actions[procedure].procedure:
        raise UsageError(f"{procedure} is no procedure; odds({query.rules.id!r}, {procedure!r}) evaluates it")
    return scene_of_procedure(query)
