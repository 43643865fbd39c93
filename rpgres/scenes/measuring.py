"""The odds of scenes and procedures: as records, as subjects of studies (`rpgres.odds.subjects`), and at best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from rpgres.engine.hidden import Known
from rpgres.engine.players import Question
from rpgres.engine.prepare import Prepared, answers_to
from rpgres.engine.views import seats_of
from rpgres.errors import UndealtError, UsageError, counted, enumerated, named
from rpgres.model.state import EMPTY, State
from rpgres.odds.chances import chance_record, rules_fields
from rpgres.odds.decision_trees import TooLarge
from rpgres.odds.exact import NeedsPolicy, asked_words, needs_policy, success_in
from rpgres.odds.games import Game
from rpgres.odds.query import Query
from rpgres.odds.sampling import Sample
from rpgres.odds.scene_best import SceneBest, SceneBestResult, decision_record, scene_best
from rpgres.odds.scenes import WORK, ExactSceneOdds, SceneOdds, Undecided, scene_odds, too_many_words
from rpgres.odds.subjects import IN_ALL, Limits, Measured, Subject
from rpgres.rulesets import Rules, unknown
from rpgres.scenes.flow import leaf_at
from rpgres.scenes.program import Scene
from rpgres.scenes.reading import NO_OVERRIDES, Overrides, load_scene, procedure_scene, read_scene
from rpgres.scenes.records import texts_of
from rpgres.scenes.walking import ENDING, counting_steps, game_of, value_name
from rpgres.toml.reading import parse

if TYPE_CHECKING:
    from fractions import Fraction

T = TypeVar("T")


class SceneOddsResult(ExactSceneOdds, frozen=True, kw_only=True, tag="rpgres.scene-odds/1"):
    """The odds of a scene or a procedure, as `rpgres odds scene.toml --json` prints them.

    Attributes:
        sample: estimates of all chances from plays of the whole scene, if requested and some probability is open; the
            exact chances are then lower bounds.
        counted_by: the steps with the counted detail, if several; the value comes from the last one played.
    """

    sample: Sample | None = None
    counted_by: list[str] = []


def scene_record(
    scene: Scene, odds: SceneOdds, *, sample: Sample | None = None, known: Known | None = None, **about: Any
) -> SceneOddsResult:
    """Return the odds of a scene as a record; `about` as of `evaluated`."""
    counting = counting_steps(scene, about["by"])
    return SceneOddsResult(
        sample=sample,
        counted_by=counting if len(counting) > 1 else [],
        **chances(scene, odds.masses, odds.open, by=about["by"]),
        **evaluated(scene, **about),
        method="partial" if odds.open else "exact",
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        turns=odds.turns,
        interrupted=odds.is_interrupted,
        too_many=odds.too_many,
        known=known,
    )


def chances(scene: Scene, found: Mapping[Any, Fraction], left: Fraction, *, by: str) -> dict[str, Any]:
    """Return the fields `outcomes` and `mean` of a record; see `_by_name`."""
    masses, mean = _by_name(scene, found, left, by=by)
    return {
        "outcomes": {name: chance_record(mass) for name, mass in masses.items()},
        "mean": chance_record(mean) if mean is not None else None,
    }


def _by_name(
    scene: Scene, found: Mapping[Any, Fraction], left: Fraction, *, by: str
) -> tuple[dict[str, Fraction], Fraction | None]:
    """Return the chance of each named value, and the mean of numbers without an unexplored rest (`left`).

    Numbers are in ascending order; endings and outcomes in the order of their file.
    """
    masses, mean = {key[0]: mass for key, mass in found.items()}, None
    if masses and all(type(value) is int for value in masses):
        masses = dict(sorted(masses.items()))
        mean = sum((value * mass for value, mass in masses.items()), left * 0) if not left else None
    names: dict[str, Fraction] = {}
    for value, mass in masses.items():
        name = value_name(value)
        names[name] = names.get(name, left * 0) + mass
    if by == ENDING:
        file, ends = scene.rules.file, [end.name for end in scene.program.ends]
        declared = ends or _outcomes_of_last(scene)
        names |= {name: left * 0 for name in declared if name not in names}
        order = [*(ends or file.bands), ""]
        if set(names) <= {*order}:
            names = {name: names[name] for name in order if name in names}
    return names, mean


def _outcomes_of_last(scene: Scene) -> list[str]:
    """Return the outcomes of the last procedure of a scene, without the outcomes of turns."""
    file = scene.rules.file
    procedure = scene.program.leaves[-1].step.procedure if scene.program.leaves else ""
    tables = file.actions[procedure].tables if procedure else ()
    rows = {band for name in tables if f"{name}-".startswith(f"{procedure}-") for band in scene.rules.table(name)}
    return [name for name, band in file.bands.items() if name in rows and not band.has_bounds]


def evaluated(
    scene: Scene, *, by: str, inputs: Mapping[str, Any], note: str | None, policies: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the fields of a record about the scene, its result `by`, and its policies."""
    return {
        **rules_fields(scene.rules),
        "scene": scene.source.path,
        "title": scene.file.title,
        "inputs": dict(inputs),
        "by": by,
        "policies": dict(scene.told if policies is None else policies),
        "note": note,
    }


def odds_by(scene: Scene, by: str, **budget: Any) -> SceneOdds:
    """Return the exact odds of the endings of a scene, or of another result `by` (see `game_of`), within a budget.

    Raises:
        NeedsPolicy: nothing answers a decision.
        UsageError: unknown name of a result.
    """
    return with_late_deals(scene, lambda game: scene_odds(game, **budget), by=(by,))


def with_late_deals(scene: Scene, walk: Callable[[Game], T], **asked: Any) -> T:
    """Return the result of a walk with hands dealt at their first use.

    All hands are dealt at once for conditions and results that read a hand. `NeedsPolicy`: a decision has no answer.
    """
    try:
        try:
            return walk(game_of(scene, **asked))
        except UndealtError:
            return walk(game_of(scene, **asked, defers=False))
    except Undecided as undecided:
        raise _undecided(scene, undecided.questions.values()) from None


def _undecided(scene: Scene, questions: Iterable[Question]) -> NeedsPolicy:
    asked = list(questions)
    if not scene.source.text:  # a procedure without a file
        return needs_policy(asked)
    return NeedsPolicy(
        f"the odds depend on who decides: {'; '.join(map(asked_words, asked))}. "
        f'Answer in the step with choose = {{ {asked[0].label} = "..." }}, or let a policy or standing orders decide '
        f"with {named('auto')}, {named('policy')} NAME or {named('policy')} FILE.toml",
        labels=[one.label for one in asked],
    )


# ---------------------------------------------------------------------------------------------------------------------
# Subjects of studies


def scene_subject(
    name: str,
    *,
    overrides: Overrides = NO_OVERRIDES,
    by: str = ENDING,
    leaves: int | None = None,
    **options: Any,
) -> tuple[Subject, Scene]:
    """Return a subject of odds, and its scene; options as of `load_scene`."""
    read = load_scene(name, overrides=overrides, **options)

    def reread(subject: Subject) -> Scene:
        """Return the scene of a changed subject; its switches count."""

        def load(_code: Any, *, switches: Mapping[str, str], extra: object) -> Rules:
            return subject.rules.with_switches({**switches, **subject.switches})

        unswitched = msgspec.structs.replace(overrides, switches=EMPTY)
        about: dict[str, Any] = {"folder": read.folder, "extra": read.extra, "overrides": unswitched}
        return read_scene(read.source, data=subject.document, find_ruleset=str, load=load, **about)

    subject = Subject(
        rules=read.rules,
        evaluate=_evaluator(reread, by=by, leaves=leaves),
        scene=read.source.path,
        document=parse(read.source),
        switches={**read.file.switches, **overrides.switches},
    )
    return subject, read


def procedure_subject(query: Query) -> Subject:
    """Return a procedure as a subject of odds."""

    def scene_of(subject: Subject) -> Scene:
        fields = {"rules": subject.rules, "inputs": subject.inputs, "choose": subject.choose}
        return scene_of_procedure(msgspec.structs.replace(query, **fields))[0]

    return Subject(
        rules=query.rules,
        evaluate=_evaluator(scene_of, by=query.by, leaves=query.leaves),
        action=query.action,
        inputs=query.inputs,
        switches=query.switches,
        choose=query.choose,
        start=query.start,
    )


def scene_of_procedure(query: Query) -> tuple[Scene, Prepared]:
    """Return the scene that plays a procedure, and the procedure with its inputs read."""
    prepared = query.prepared()
    policies, choose = query.deciding(prepared), answers_to(prepared, query.choose)
    about: dict[str, Any] = {"told": query.named, "state": query.start.state, "actor": query.start.actor}
    scene = procedure_scene(query.rules, query.action, query.inputs, policies, choose=choose, **about)
    return scene, prepared


def _evaluator(scene_of: Callable[[Subject], Scene], *, by: str, leaves: int | None) -> Callable[..., Measured]:

    def evaluate(subject: Subject, limits: Limits) -> Measured:
        scene = scene_of(subject)
        work = min(WORK, IN_ALL * WORK // limits.among)
        odds = odds_by(scene, by, leaves=leaves, seconds=limits.seconds, work=work)
        masses, mean = _by_name(scene, odds.masses, odds.open, by=by)
        return Measured(
            masses=masses,
            success=success_in(scene.rules, masses),
            open=odds.open,
            leaves=odds.leaves,
            states=odds.states,
            method="partial" if odds.open else "exact",
            mean=mean,
            is_interrupted=odds.is_interrupted,
        )

    return evaluate


# ---------------------------------------------------------------------------------------------------------------------
# Optimal decisions of one player


def best_record(
    scene: Scene,
    prepared: Prepared | None = None,
    *,
    best: str = "",
    goals: Sequence[str] = (),
    by: str = ENDING,
    known: Known | None = None,
    note: str | None = None,
    **budget: Any,
) -> SceneBestResult:
    """Return the result of a scene with optimal decisions of one player; its policies decide for all other players.

    Args:
        prepared: the procedure of the scene; None for a scene file.
        best: the character or seat with optimal decisions; by default the first actor.
        goals: the endings, outcomes or values of `by` that count; by default successes, or the mean of numbers.
        by: see `game_of`.
        known: the seat whose knowledge of a persistent table counts.
        budget: `leaves` and `seconds`.

    Raises:
        UsageError: unknown player or ending, or relevant data hidden from the player (`Blind`).
    """
    ends, people = [end.name for end in scene.program.ends], prepared.state if prepared is not None else scene.state
    who = _player(scene, people, best or (prepared.actor if prepared is not None else ""))
    valued = ENDING if goals and set(goals) <= {*(ends or scene.rules.file.bands)} else by
    wanted, worth = _goal(scene, goals, valued)

    def search(game: Game) -> SceneBest:
        return scene_best(game, who, worth=lambda one: worth(one[0]), most=1 if wanted else None, **budget)

    try:
        found = with_late_deals(scene, search, by=tuple(dict.fromkeys((valued, by))), best=who)
    except TooLarge as error:
        error.add(_how_far(scene, error) + _what_helps(scene, who, error, people))
        raise
    nothing, masses = found.value * 0, dict[Any, Any]()
    for result, mass in found.masses.items():
        masses[result[-1:]] = masses.get(result[-1:], nothing) + mass
    shares = chances(scene, masses, nothing, by=by)
    if valued != ENDING and wanted and set(wanted).isdisjoint(shares["outcomes"]):
        told = f"is no ending, and {by} never is that at the end"
        values = enumerated(dict.fromkeys((*ends, *shares["outcomes"])))
        raise UsageError(f"{named('goal')} {wanted[0]} {told}; there are {values}")
    about: dict[str, Any] = {"inputs": prepared.inputs if prepared is not None else EMPTY, "note": note}
    return SceneBestResult(
        **shares,
        **evaluated(scene, by=by, policies={**scene.told, who: "best"}, **about),
        method="exact",
        open=chance_record(nothing),
        leaves=found.leaves,
        states=found.states,
        turns=found.turns,
        known=known,
        best=who,
        goal=wanted,
        value=chance_record(found.value),
        decisions=[decision_record(one) for one in found.decisions],
    )


def _player(scene: Scene, people: State, name: str) -> str:
    players = list(dict.fromkeys((*people.characters, *seats_of(people))))
    who = name or next((leaf.step.actor for leaf in scene.program.leaves if leaf.step.actor), "")
    if not who:
        raise UsageError(f"{named('best')} needs the name of the player with optimal decisions: {enumerated(players)}")
    if who not in players:
        raise UsageError(f"{named('best')}: {unknown('character', who, players, of='the scene')}")
    return who


def _how_far(scene: Scene, error: TooLarge) -> str:
    where = f" in {leaf_at(scene.program, error.at).name}" if scene.source.text else ""
    if error.chance:
        return f"; {too_many_words(error.chance)[0]}{where} has too many results"
    came = [counted(error.turns, "turn"), counted(error.states, "state"), counted(error.leaves, "path")]
    return f"; the search ended{where} after {', '.join(came[:-1])} and {came[-1]}"


def _what_helps(scene: Scene, who: str, error: TooLarge, people: State) -> str:
    """Return hints for a scene that was too large."""
    leaf, tries, is_file = leaf_at(scene.program, error.at), list[str](), bool(scene.source.text)
    if error.chance:
        tries.append(too_many_words(error.chance)[1] if is_file else "smaller hands or pools")
    names = {leaf.step.actor, *(text.partition(":")[0] for text in texts_of(leaf.step.with_))}
    if not error.chance and len(people.characters.keys() & names) > 2:
        tries.append("fewer characters")
    if leaf is not scene.program.leaves[0]:
        tries.append(f"a scene that ends before {leaf.name}")
    if error.decision and not error.chance and is_file:
        tries.append(f"an answer to {error.decision!r} in the steps (choose)")
    if not error.chance:
        tries.append(f"a larger {named('seconds')} or {named('leaves')}")
    tries.append(f"a policy for {who} in place of {named('best')}, with {named('simulate')} N for estimates")
    return f". Try {', '.join(tries[:-1])}{', or ' if len(tries) > 1 else ''}{tries[-1]}"


def _goal(scene: Scene, goals: Sequence[str], by: str) -> tuple[list[str], Callable[[Any], Fraction | int]]:
    """Return the goals, and a function for the value of a result."""
    rules, ends, bands = scene.rules, [end.name for end in scene.program.ends], scene.rules.file.bands
    if by != ENDING and goals:
        return list(goals), lambda value: int(value_name(value) in goals)
    if by != ENDING:
        return [], lambda value: _number(value, by)
    if ends and not goals:
        raise UsageError(
            f"the scene names its endings, and only you know which are good: say it with {named('goal')}, "
            f"such as {named('goal')} {ends[0]} (endings: {enumerated(ends)})"
        )
    strange = next((goal for goal in goals if goal not in (ends or bands)), None)
    if strange is not None:
        what, of = ("ending", "the scene") if ends else ("outcome", f"the ruleset {rules.id}")
        raise UsageError(f"{named('goal')}: {unknown(what, strange, ends or bands, of=of)}")
    if ends:
        return list(goals), lambda value: int(value in goals)
    wanted = list(goals) or [name for name, band in bands.items() if band.success]
    return wanted, lambda value: int(any(rules.is_band(value, goal) for goal in wanted))


def _number(value: Any, by: str) -> int:
    if isinstance(value, int):
        return int(value)
    name = value_name(value)
    if isinstance(value, tuple) and name.isdecimal():  # a track: the number of marked boxes
        return int(name)
    raise UsageError(
        f"{named('best')} with {named('by')} {by} makes a mean as large as can be, and at the end it may be {name}, "
        f"which is no number; say with {named('goal')} which of its values count"
    )
