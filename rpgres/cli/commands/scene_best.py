"""`rpgres odds SCENE --best WHO`: the result of a scene with optimal decisions of one player, printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from rpgres.cli import options as opt
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.engine.hidden import Known
    from rpgres.model.state import State
    from rpgres.odds.scene_best import SceneBest
    from rpgres.scenes import Scene

STUDIES = ("compare", "vary", "find", "knockout", "simulate")


def with_goals(shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with what --best brings about as `goals`, and with `goal` as --find looks for it.

    Raises:
        UsageError: options exclude each other, or one is missing.
    """
    typed = shared["goal"]
    goals = [typed] if isinstance(typed, str) else list(typed or ())
    if shared["best"] is None:
        if goals and not shared["find"]:
            raise UsageError("--goal says what --best or --find looks for: name one of them too")
        if len(goals) > 1:
            raise UsageError("--find looks for one --target; several of them are for --best")
        return {**shared, "goal": goals[0] if goals else None, "goals": []}
    several = next((name for name in STUDIES if shared[name]), "")
    if several:
        raise UsageError(f"--best and --{several} exclude each other")
    return {**shared, "goal": None, "goals": goals}


def weigh_best(
    scene: Scene,
    people: State,
    shared: Mapping[str, Any],
    *,
    policies: Mapping[str, str],
    inputs: Mapping[str, Any] = EMPTY,
    actor: str = "",
    known: Known | None = None,
) -> None:
    """Print the result of a scene with optimal decisions of one player.

    Args:
        people: the table with all who take part.
        policies: who else decides by which policy, for the record.
        inputs: what was typed for a procedure.
        actor: who acts first, where no step says it.
        known: at a persistent table, by whose knowledge of it.
    """
    from rpgres.cli.commands.scene_odds import ENDING
    from rpgres.cli.studies import emit
    from rpgres.odds.exact import chance_record
    from rpgres.odds.scene_best import SceneBestResult, decision_record
    from rpgres.scenes.odds_record import chances, evaluated

    who, by = _who(scene, people, shared["best"], actor), shared["by"] or ENDING
    goals, worth = _goal(scene, shared["goals"], by)
    found = _found(scene, by, who, worth, shared)
    record = SceneBestResult(
        **chances(found.masses, found.value * 0),
        **evaluated(scene, by=by, policies={**policies, who: "best"}, inputs=inputs, note=shared["note"]),
        method="exact",
        open=chance_record(found.value * 0),
        leaves=found.leaves,
        states=found.states,
        turns=found.turns,
        known=known,
        best=who,
        goal=goals,
        value=chance_record(found.value),
        decisions=[decision_record(one) for one in found.decisions],
    )
    emit(record, scene.rules.file, shared)


def _found(
    scene: Scene, by: str, who: str, worth: Callable[[Any], Fraction | int], shared: Mapping[str, Any]
) -> SceneBest:
    """Return the result of a scene with optimal decisions of one player, showing progress."""
    from rpgres.cli.progress import NOTHING, interrupted, progress
    from rpgres.odds.scene_best import scene_best
    from rpgres.odds.scenes import Undecided
    from rpgres.scenes.measuring import nobody_decides
    from rpgres.scenes.walking import course_of

    budget: dict[str, Any] = {
        "leaves": opt.read_count(shared["leaves"], option="--leaves", default=0) or None,
        "seconds": opt.read_seconds(shared["seconds"]),
    }
    try:
        with progress("evaluating", is_plain=shared["plain"]):
            return scene_best(
                course_of(scene, by=(by,)),
                who,
                worth=lambda result: worth(result[0]),
                **budget,
            )
    except Undecided as undecided:
        raise nobody_decides(scene, undecided.questions.values()) from None
    except KeyboardInterrupt:
        raise typer.Exit(interrupted(f"optimal decisions need the whole scene, so {NOTHING}")) from None


def _who(scene: Scene, people: State, typed: str, actor: str) -> str:
    """Return who decides optimally: a character or a seat; by default the first actor.

    Raises:
        UsageError: there is no such character, or none acts.
    """
    from rpgres.engine.views import seats_of
    from rpgres.rulesets import unknown

    known = list(dict.fromkeys((*people.characters, *seats_of(people))))
    who = typed or actor or next((leaf.step.actor for leaf in scene.program.leaves if leaf.step.actor), "")
    if not who:
        raise UsageError(f"--best needs the name of whoever decides optimally: {', '.join(known)}")
    if who not in known:
        raise UsageError(f"--best: {unknown('character', who, known, of='the scene')}")
    return who


def _goal(scene: Scene, goals: Sequence[str], by: str) -> tuple[list[str], Callable[[Any], Fraction | int]]:
    """Return the outcomes that count, and what a result is worth.

    Raises:
        UsageError: there is no such ending, or nothing says which endings are good.
    """
    from rpgres.cli.commands.scene_odds import ENDING
    from rpgres.rulesets import unknown
    from rpgres.scenes.walking import value_name

    rules, ends = scene.rules, [end.name for end in scene.program.ends]
    if by != ENDING:
        if goals:
            return list(goals), lambda value: int(value_name(value) in goals)
        return [], lambda value: _number(value, by)
    if ends:
        if not goals:
            raise UsageError(
                f"the scene names its endings, and only you know which are good: say it with --goal, "
                f"such as --goal {ends[0]} (endings: {', '.join(ends)})"
            )
        strange = next((goal for goal in goals if goal not in ends), None)
        if strange is not None:
            raise UsageError(f"--goal: {unknown('ending', strange, ends, of='the scene')}")
        return list(goals), lambda value: int(value in goals)
    bands = rules.file.bands
    strange = next((goal for goal in goals if goal not in bands), None)
    if strange is not None:
        raise UsageError(f"--goal: {unknown('outcome', strange, bands, of=f'the ruleset {rules.id}')}")
    wanted = list(goals) or [name for name, band in bands.items() if band.success]
    return wanted, lambda value: int(any(rules.is_band(value, goal) for goal in wanted))


def _number(value: Any, by: str) -> int:
    """Return a value at the end as the number whose mean is looked for.

    Raises:
        UsageError: it is none.
    """
    from rpgres.scenes.walking import value_name

    if isinstance(value, int):
        return int(value)
    name = value_name(value)
    if isinstance(value, tuple) and name.isdecimal():  # a track, by how many of its boxes are marked
        return int(name)
    raise UsageError(
        f"--best with --by {by} makes a mean as large as can be, and at the end it may be {name}, which is no number; "
        f"say with --goal which of its values count"
    )
