"""Optimal decisions over a whole scene, as a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.hidden import Known
from rpgres.engine.views import seats_of
from rpgres.errors import UsageError, counted, named
from rpgres.model.state import EMPTY, State
from rpgres.odds.decision_trees import TooLarge
from rpgres.odds.exact import chance_record
from rpgres.odds.games import Game
from rpgres.odds.scene_best import SceneBest, SceneBestResult, decision_record, scene_best
from rpgres.odds.scenes import Undecided, too_many_words
from rpgres.rulesets import unknown
from rpgres.scenes.flow import leaf_at
from rpgres.scenes.measuring import undecided_error, with_late_deals
from rpgres.scenes.odds_record import chances, evaluated
from rpgres.scenes.program import Scene
from rpgres.scenes.records import Step, texts_of
from rpgres.scenes.walking import ENDING, value_name

if TYPE_CHECKING:
    from fractions import Fraction


class BestQuery(msgspec.Struct, frozen=True):
    """What is asked of optimal decisions over a scene.

    Attributes:
        best: who decides optimally: a character or a seat; by default the first actor.
        goals: the endings, outcomes or values of `by` that count; by default successes, or the mean of numbers.
        by: what the chances are of; see `game_of`.
        leaves, seconds: see `Budget`.
        note: for the record.
    """

    best: str = ""
    goals: Sequence[str] = ()
    by: str = ENDING
    leaves: int | None = None
    seconds: float | None = None
    note: str | None = None


class Beginning(msgspec.Struct, frozen=True):
    """Who and what is there when a scene or a procedure begins.

    Attributes:
        people: the table, with those whom inputs bring along.
        actor: who acts first, where no step names an actor.
        inputs: those of a procedure, for the record.
        known: the seat whose knowledge of a persistent table counts.
    """

    people: State
    actor: str = ""
    inputs: Mapping[str, Any] = EMPTY
    known: Known | None = None


def best_record(scene: Scene, query: BestQuery, start: Beginning) -> SceneBestResult:
    """Return the result of a scene with optimal decisions of one player; its policies decide for everybody else.

    Raises:
        UsageError: there is no such player or ending, or the player does not see all that matters (`Blind`).
        NeedsPolicy: nothing answers a decision of another player.
    """
    who = _who(scene, start.people, query.best, start.actor)
    try:
        found, goals, shares = _played(scene, who, query)
    except TooLarge as error:
        error.add(_how_far(scene, error) + _what_helps(scene, who, error, start.people))
        raise
    policies = {**scene.told, who: "best"}
    return SceneBestResult(
        **shares,
        **evaluated(scene, by=query.by, policies=policies, inputs=start.inputs, note=query.note),
        method="exact",
        open=chance_record(found.value * 0),
        leaves=found.leaves,
        states=found.states,
        turns=found.turns,
        known=start.known,
        best=who,
        goal=goals,
        value=chance_record(found.value),
        decisions=[decision_record(one) for one in found.decisions],
    )


def _played(scene: Scene, who: str, query: BestQuery) -> tuple[SceneBest, list[str], dict[str, Any]]:
    """Return optimal play, the endings or values that count, and the chances of `by` for the record."""
    by = query.by
    wanted_by = by if not _are_endings(scene, query.goals) else ENDING
    goals, worth = _goal(scene, query.goals, wanted_by)

    def search(game: Game) -> SceneBest:
        most, leaves, seconds = 1 if goals else None, query.leaves, query.seconds
        return scene_best(game, who, worth=lambda one: worth(one[0]), most=most, leaves=leaves, seconds=seconds)

    try:
        found = with_late_deals(scene, search, by=tuple(dict.fromkeys((wanted_by, by))), best=who)
    except Undecided as undecided:
        raise undecided_error(scene, undecided.questions.values()) from None
    nothing = found.value * 0
    masses: dict[Any, Fraction] = {}
    for result, mass in found.masses.items():
        masses[result[-1:]] = masses.get(result[-1:], nothing) + mass
    shares = chances(scene, masses, nothing, by=by)
    if wanted_by != ENDING:
        _require_values(scene, goals, by, list(shares["outcomes"]))
    return found, goals, shares


def _how_far(scene: Scene, error: TooLarge) -> str:
    """Return where a search that was too large ended, and how far it came, in words."""
    where = "" if _is_bare(scene) else f" in {leaf_at(scene.program, error.at).name}"
    if error.chance:
        return f"; {too_many_words(error.chance)[0]}{where} has too many results"
    came = [counted(error.turns, "turn"), counted(error.states, "state"), counted(error.leaves, "path")]
    return f"; the search ended{where} after {', '.join(came[:-1])} and {came[-1]}"


def _taking_part(step: Step, people: State) -> set[str]:
    """Return the characters that a step names: who acts, and those among its inputs (`venn`, `venn:deceive`)."""
    texts = [text.partition(":")[0] for text in texts_of(step.with_)]
    return people.characters.keys() & {step.actor, *texts}


def _what_helps(scene: Scene, who: str, error: TooLarge, people: State) -> str:
    """Return hints for a scene that was too large."""
    leaf, tries = leaf_at(scene.program, error.at), list[str]()
    if error.chance and not _is_bare(scene):
        tries.append(too_many_words(error.chance)[1])
    elif error.chance:
        tries.append("smaller hands or pools")
    if not error.chance and len(_taking_part(leaf.step, people)) > 2:
        tries.append("fewer characters")
    if leaf is not scene.program.leaves[0]:
        tries.append(f"a scene that ends before {leaf.name}")
    if error.decision and not error.chance and not _is_bare(scene):
        tries.append(f"an answer to {error.decision!r} in the steps (choose)")
    if not error.chance:
        tries.append(f"a larger {named('seconds')} or {named('leaves')}")
    tries.append(f"a policy for {who} in place of {named('best')}, with {named('simulate')} N for estimates")
    return f". Try {', '.join(tries[:-1])}{', or ' if len(tries) > 1 else ''}{tries[-1]}"


def _is_bare(scene: Scene) -> bool:
    """Tell whether a scene is a procedure without a file."""
    return not scene.program.leaves[0].source.text


def _who(scene: Scene, people: State, typed: str, actor: str) -> str:
    """Return who decides optimally: a character or a seat; by default the first actor."""
    known = list(dict.fromkeys((*people.characters, *seats_of(people))))
    who = typed or actor or next((leaf.step.actor for leaf in scene.program.leaves if leaf.step.actor), "")
    if not who:
        raise UsageError(f"{named('best')} needs the name of the player with optimal decisions: {', '.join(known)}")
    if who not in known:
        raise UsageError(f"{named('best')}: {unknown('character', who, known, of='the scene')}")
    return who


def _are_endings(scene: Scene, goals: Sequence[str]) -> bool:
    """Tell whether goals are endings of the scene, and not values of a part of the table."""
    return bool(goals) and set(goals) <= {*([end.name for end in scene.program.ends] or scene.rules.file.bands)}


def _require_values(scene: Scene, goals: Sequence[str], by: str, values: Sequence[str]) -> None:
    """Check that a part of the table may have one of the goals as its value."""
    if goals and set(goals).isdisjoint(values):
        known = ", ".join(dict.fromkeys((*(end.name for end in scene.program.ends), *values)))
        raise UsageError(
            f"{named('goal')} {goals[0]} is no ending, and {by} never is that at the end; there are {known}"
        )


def _goal(scene: Scene, goals: Sequence[str], by: str) -> tuple[list[str], Callable[[Any], Fraction | int]]:
    """Return the outcomes that count, and the function that returns the value of a result.

    Raises:
        UsageError: there is no such ending, or the scene names endings and no goal was given.
    """
    rules, ends = scene.rules, [end.name for end in scene.program.ends]
    if by != ENDING:
        if goals:
            return list(goals), lambda value: int(value_name(value) in goals)
        return [], lambda value: _number(value, by)
    if ends:
        if not goals:
            raise UsageError(
                f"the scene names its endings, and only you know which are good: say it with {named('goal')}, "
                f"such as {named('goal')} {ends[0]} (endings: {', '.join(ends)})"
            )
        strange = next((goal for goal in goals if goal not in ends), None)
        if strange is not None:
            raise UsageError(f"{named('goal')}: {unknown('ending', strange, ends, of='the scene')}")
        return list(goals), lambda value: int(value in goals)
    bands = rules.file.bands
    strange = next((goal for goal in goals if goal not in bands), None)
    if strange is not None:
        raise UsageError(f"{named('goal')}: {unknown('outcome', strange, bands, of=f'the ruleset {rules.id}')}")
    wanted = list(goals) or [name for name, band in bands.items() if band.success]
    return wanted, lambda value: int(any(rules.is_band(value, goal) for goal in wanted))


def _number(value: Any, by: str) -> int:
    """Return a value at the end as a number, for its mean."""
    if isinstance(value, int):
        return int(value)
    name = value_name(value)
    if isinstance(value, tuple) and name.isdecimal():  # a track, by how many of its boxes are marked
        return int(name)
    raise UsageError(
        f"{named('best')} with {named('by')} {by} makes a mean as large as can be, and at the end it may be {name}, "
        f"which is no number; say with {named('goal')} which of its values count"
    )
