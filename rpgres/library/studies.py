"""Exact odds of several cases by a call: grids and comparisons."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rpgres.arguments import told_by_kind
from rpgres.engine.resolve import Answers, Folders
from rpgres.errors import UsageError, named
from rpgres.library.reading import Deciding, Policies, What, deciding, query_of, require_limits
from rpgres.library.scenes import require_no_inputs
from rpgres.odds.comparison import Comparison, compare
from rpgres.odds.exact import Decide
from rpgres.odds.query import settled
from rpgres.odds.study import Study
from rpgres.odds.subjects import Change, Subject, action_subject, named_change, value_text
from rpgres.odds.variations import Axis, Variation, vary
from rpgres.scenes import require_sound
from rpgres.scenes.measuring import procedure_subject, scene_subject
from rpgres.scenes.walking import ENDING

Cases = Mapping[str, "Mapping[str, Any] | str | Path"]


@told_by_kind
def odds_table(
    what: What,
    action: str | None,
    over: Mapping[str, Iterable[Any]],
    *,
    by: str | None = None,
    decide: Decide = "policies",
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    seconds: float | None = None,
    note: str | None = None,
    **inputs: Any,
) -> Variation:
    """Return a grid of exact odds: for every value of one thing, or every pair of values of two.

    >>> grid = odds_table("fate", "overcome", {"skill": range(4)}, vs=2)
    >>> [round(row["fail"], 3) for row in grid.table()]
    [0.815, 0.617, 0.383, 0.185]

    Args:
        what: a ruleset: its id, or the record that a plugin's module holds. Or a scene.
        action: the action's name; None for a scene.
        over: the values of an input, a switch, or a path of the scene's TOML, by its name; of two things at most, and
            at most 1,000 cells.
        by: what the chances are of, as of `odds`: `margin`, or a number or word that the action tells; of a scene or
            procedure the path of what stands at its end. Without it they are of its outcomes or endings.
        decide: who decides for the actor: `policies`, `each` or `best`, as of `odds`.
        choose: answers to decisions, by label.
        auto: whether the ruleset's policy answers what is left unanswered.
        policies: policy by character; under an empty name the default.
        switches: house rules that are not at their default.
        rulesets: folders with overlays; the last is the nearest.
        seconds: a limit of time for all of it, in seconds.
        note: carried into the record.
        inputs: what else the action takes, by name, with underscores for hyphens.

    Returns:
        The record of `rpgres odds --vary ... --json`. `pandas.DataFrame(grid.table())` is a frame with a row a cell.

    Raises:
        NeedsPolicy: nothing answers a decision.
        UsageError: something named does not exist, or there are too many values.
        FileError: a file is missing or faulty.
        RuleError: the ruleset's code failed.
    """
    who = deciding(choose=choose, auto=auto, policies=policies, switches=switches, rulesets=rulesets)
    study = _study(what, action, inputs, who, decide, seconds, note, by)
    if not over:
        raise UsageError(
            f"{named('over')} takes the values of one thing or of two, under their names; it is empty", path=("over",)
        )
    return vary(study, [_axis(study.subject, name, values) for name, values in over.items()])


@told_by_kind
def odds_compare(
    what: What,
    action: str | None,
    cases: Cases,
    *,
    by: str | None = None,
    decide: Decide = "policies",
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    seconds: float | None = None,
    note: str | None = None,
    **inputs: Any,
) -> Comparison:
    """Return exact odds side by side: as it is, and in each case, with the differences.

    >>> found = odds_compare("fate", "overcome", {"better": {"skill": 4}}, skill=3, vs=2)
    >>> [(case.name, case.success.exact) for case in found.cases]
    [('base', '50/81'), ('better', '22/27')]

    Args:
        what, action: as of `odds_table`.
        cases: what is changed in each case, under a name: values of inputs, switches or paths of the scene's TOML by
            name; or the path of a house rule's file or folder.
        by, decide, choose, auto, policies, switches, rulesets, seconds, note, inputs: as of `odds_table`.

    Returns:
        The record of `rpgres odds --compare ... --json`.

    Raises:
        NeedsPolicy, UsageError, FileError, RuleError: as of `odds_table`.
    """
    who = deciding(choose=choose, auto=auto, policies=policies, switches=switches, rulesets=rulesets)
    study = _study(what, action, inputs, who, decide, seconds, note, by)
    if not cases:
        raise UsageError(
            f"{named('cases')} takes what is changed in each case, such as {{'better': {{'skill': 4}}}}; it is empty",
            path=("cases",),
        )
    changes = [(name, _changes(study.subject, one)) for name, one in cases.items()]
    return compare(study, changes)


# ---------------------------------------------------------------------------------------------------------------------


def _study(
    what: What,
    action: str | None,
    inputs: Mapping[str, Any],
    who: Deciding,
    decide: Decide,
    seconds: float | None,
    note: str | None,
    by: str | None = None,
) -> Study:
    require_limits(seconds)
    if action is None:
        require_no_inputs(inputs, who, decide=decide)
        subject, scene = scene_subject(
            os.fspath(what),  # type: ignore[arg-type]
            extra=who.folders,
            overrides=who.overrides,
            by=by or ENDING,
        )
        require_sound(scene)
        told: dict[str, Any] = {"policies": scene.told, "by": by or ENDING, "title": scene.file.title}
        return Study(subject, seconds, told={**told, "note": note})
    query = query_of(what, action, inputs, who, **({"by": by} if by else {}))
    query.rules.require_action(action)
    if not query.rules.file.actions[action].procedure:
        query = settled(query, decide)
        subject, told = action_subject(query), {"decide": decide, "policies": query.named, "by": query.by}
    elif decide == "policies":
        query = replace(query, by=by or ENDING)
        subject, told = procedure_subject(query), {"policies": query.named, "by": query.by}
    else:
        raise UsageError(f"decide={decide!r} is for an action; odds_best(...) has optimal play of a procedure")
    return Study(subject, seconds, told={**told, "note": note})


def _axis(subject: Subject, name: str, values: Iterable[Any]) -> Axis:
    """Return what varies, with its values."""
    name = name if subject.scene else name.replace("_", "-")
    found = [value_text(value) for value in values]
    if not found:
        raise UsageError(f"{named('over')} takes values for {name!r}, and there is none", path=("over",))
    return Axis(name, found)


def _changes(subject: Subject, case: Mapping[str, Any] | str | Path) -> list[Change]:
    if not isinstance(case, Mapping):
        if not isinstance(case, str | Path):
            raise UsageError(f"a case of {named('cases')} is a dictionary of what changes, or a file, not {case!r:.80}")
        return [Change(kind="rules", name=str(case))]
    changed = {name if subject.scene else name.replace("_", "-"): value for name, value in case.items()}
    return [named_change(subject, name, value_text(value)) for name, value in changed.items()]
