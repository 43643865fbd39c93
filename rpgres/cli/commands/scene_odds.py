"""`rpgres odds SCENE`: the exact chances of how a scene or a procedure ends, with optimal decisions too (--best)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rpgres.cli import options as opt
from rpgres.cli.dynamic import scene_command
from rpgres.cli.exits import leave
from rpgres.cli.options import SectionedCommand
from rpgres.cli.progress import LOWER_BOUND, interrupted, progress
from rpgres.cli.reporting import format_of
from rpgres.cli.studies import STUDIES, emit, run_study, scenes_among, study_of
from rpgres.errors import InterruptError, UsageError, named
from rpgres.lines.options import AUTO, CHOOSE, JSON, NOTE, OTHER, POLICY, RULESETS, Option
from rpgres.model.paths import ABSENT
from rpgres.model.state import EMPTY

if TYPE_CHECKING:
    from rpgres.engine.hidden import Known
    from rpgres.engine.prepare import Prepared
    from rpgres.odds.query import Query
    from rpgres.odds.subjects import Subject
    from rpgres.odds.variations import Axis
    from rpgres.scenes import Scene

NOTHING_BEST = "interrupted: optimal decisions need the whole scene, so nothing is known yet"
ENDING = "ending"  # what a scene is evaluated by unless something else is asked for

BY = Option(
    "by",
    "Evaluate this instead of the ending: a part of the table at the end, what the last procedure counts (exchanges), "
    "or how often a step is played (times.STEP).",
    "PATH",
)
SIMULATE = Option(
    "simulate",
    "Where some probability remains, also play the whole scene N times, and estimate every chance.",
    "N",
    OTHER,
)
SCENE_OPTIONS = (
    *(BY, opt.BEST_WHO, opt.GOALS, AUTO, POLICY, opt.COMPARE, opt.VARY, opt.OUTCOME),
    *(opt.SWITCH, RULESETS, opt.LEAVES, opt.SECONDS, SIMULATE),
    *(opt.FORMAT, opt.OUT, opt.SVG, JSON, NOTE),
)
PROCEDURE_OPTIONS = (CHOOSE, *SCENE_OPTIONS)


def print_scene_odds(name: str, shared: Mapping[str, Any]) -> None:
    """Print the chances of how a scene ends."""
    study = _study(shared, ())
    from rpgres.scenes import Overrides, require_sound
    from rpgres.scenes.measuring import scene_subject

    switches, policies = opt.read_switches(shared["switch"]), opt.named_policies(shared["policy"])
    overrides = Overrides(switches, policies, shared["auto"] or shared["best"] is not None)

    def read(file: str) -> tuple[Subject, Scene]:
        found = scene_subject(
            file,
            extra=opt.read_folders(shared["rulesets"]),
            overrides=overrides,
            by=shared["by"] or ENDING,
            leaves=opt.read_count(shared["leaves"], option=named("leaves"), default=0) or None,
        )
        require_sound(found[1])
        return found

    subject, scene = read(name)
    if study:
        others = {one: read(one)[0] for one in scenes_among(shared["compare"])}
        told = {"policies": scene.told, "by": shared["by"] or ENDING, "title": scene.file.title}
        run_study(study, subject, (), shared, told=told, file=scene.rules.file, others=others)
    elif shared["best"] is not None:
        _print_best(scene, shared)
    else:
        _print_odds(scene, shared)


def print_procedure_odds(query: Query, shared: Mapping[str, Any], axes: Sequence[Axis] = ()) -> None:
    """Print the chances of how a procedure ends, from where it begins."""
    from rpgres.scenes.measuring import procedure_subject, scene_of_procedure

    if query.by in ("margin", "total"):
        raise UsageError(
            f"{named('by')} {query.by} is for an action; of a scene, name a part of the table at the end, "
            "or leave it out"
        )
    study = _study(shared, axes)
    if study:
        told: dict[str, Any] = {"policies": query.named, "by": query.by}
        run_study(study, procedure_subject(query), axes, shared, told=told, file=query.rules.file)
        return
    query = replace(query, auto=query.auto or shared["best"] is not None)
    scene, prepared = scene_of_procedure(query)
    known = query.start.record()
    if shared["best"] is not None:
        _print_best(scene, shared, prepared, known=known)
    else:
        _print_odds(scene, shared, inputs=prepared.inputs, known=known)


def _study(shared: Mapping[str, Any], axes: Sequence[Axis]) -> str:
    """Return which study the options ask for, which --goal and --best may exclude."""
    if shared["best"] is None:
        if shared["goal"]:
            raise UsageError(f"{named('goal')} says what {named('best')} looks for: name that too")
    else:
        several = next((name for name in (*STUDIES, "simulate") if shared[name]), "")
        if several:
            raise opt.exclusive("best", several)
    format_of(shared)  # mistakes are reported before the work begins
    return study_of(shared, axes)


def _print_odds(
    scene: Scene,
    shared: Mapping[str, Any],
    *,
    inputs: Mapping[str, Any] = EMPTY,
    known: Known | None = None,
) -> None:
    from rpgres.scenes.measuring import odds_by, scene_record
    from rpgres.scenes.walking import nearest_place, nothing_there
    from rpgres.simulate.playing import sample_scene

    by = shared["by"] or ENDING
    plays = opt.read_count(shared["simulate"], option=named("simulate"), default=0)
    with progress("evaluating"):
        odds = odds_by(scene, by, **opt.read_budget(shared))
    sample = None
    if plays and odds.open and not odds.is_interrupted:
        with progress("simulating") as show:
            sample = sample_scene(scene, runs=plays, by=by, tells=show)
    record = scene_record(scene, odds, sample=sample, known=known, by=by, inputs=inputs, note=shared["note"])
    near = nearest_place(scene.rules, scene.state, by) if record.outcomes.keys() == {ABSENT} else ""
    if near:  # misspelt; without a name nearby, that it is absent is the result
        raise UsageError(nothing_there(by, near))
    emit(record, scene.rules.file, shared)
    if odds.is_interrupted or (sample is not None and sample.runs < plays):
        leave(interrupted(LOWER_BOUND))


def _print_best(
    scene: Scene, shared: Mapping[str, Any], prepared: Prepared | None = None, *, known: Known | None = None
) -> None:
    """Print the result of a scene with optimal decisions of one player."""
    from rpgres.scenes.measuring import best_record

    about = {"best": shared["best"], "goals": shared["goal"], "by": shared["by"] or ENDING, "note": shared["note"]}
    about |= {"known": known, **opt.read_budget(shared)}
    try:
        with progress("evaluating"):
            record = best_record(scene, prepared, **about)
    except KeyboardInterrupt:
        raise InterruptError(NOTHING_BEST) from None
    emit(record, scene.rules.file, shared)


def command_of_scene(name: str) -> SectionedCommand:
    """Return the command that evaluates a scene."""
    summary = "Compute the exact probabilities of how this scene ends."
    return scene_command(name, print_scene_odds, SCENE_OPTIONS, summary=summary, details=WALKED)


WALKED = """\
Every result of dice and cards is followed, turn by turn, and equal states are evaluated once. Decisions come
from the steps of the scene, from the policies and standing orders of its characters, and from --policy or --auto."""
