"""Calls that need no persistent table: dice, simulations, what-if, scenes, sheets, and the rulesets there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.dice import roll_dice
from rpgres.engine.records import Result
from rpgres.engine.resolve import Answers, Folders
from rpgres.errors import UsageError
from rpgres.library.reading import (
    Policies,
    plain_inputs,
    read_answers,
    read_folders,
    read_rules,
    told_policies,
    typed_changes,
)
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import RulesetName, find_ruleset, ruleset_names
from rpgres.rulesets import Rules, Ruleset

if TYPE_CHECKING:
    from rpgres.cli.formats.sheets import SheetRecord
    from rpgres.engine.rerun import WhatIf
    from rpgres.scenes import Scene, SceneResult
    from rpgres.simulate import Job, SimulationResult

RUNS = 10_000  # of a simulation, unless something else is asked for


def roll(
    notation: str, *, seed: str | int | None = None, given: Answers | None = None, note: str | None = None
) -> Result:
    """Return one result of a dice expression.

    >>> roll("4dF+3", given={"roll": "+0-+"}).total
    4

    Args:
        notation: the dice, as `rpgres roll` takes them: `4d6kh3`, `d20+5 vs 15`, `3x 2d6`.
        seed: any text or number; a fresh one by default, told by the result.
        given: what real dice showed, under `roll`, and under `opposition` for dice that they are compared with.
        note: carried into the result; by default the comment of the notation.

    Returns:
        The record of `rpgres roll --json`; `total` is the value of the dice.

    Raises:
        NotationError: the notation cannot be read; it tells the place.
        UsageError: what was given cannot have been rolled.
    """
    if not isinstance(notation, str):
        raise UsageError(f"dice are a text such as '4d6kh3', not {notation!r}")
    return roll_dice(notation, streams=Streams(read_seed(seed)), given=read_answers(given, "given"), note=note)


def simulate(
    what: str | Ruleset,
    action: str | None = None,
    *,
    runs: int = RUNS,
    seed: str | int | None = None,
    by: Sequence[str] = (),
    workers: int = 1,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
    note: str | None = None,
    **inputs: Any,
) -> SimulationResult:
    """Play an action or a scene many times, and return what was counted, with 95 % intervals: estimates, no odds.

    >>> found = simulate("fate", "overcome", runs=1000, seed=7, skill=3, vs=2)
    >>> found.runs, round(found.success.share, 2)
    (1000, 0.6)

    Args:
        what: a ruleset (its id, or the record that a plugin's module holds), or a scene: a file, or a shipped one such
            as `fate/bribe`.
        action: the action's name; left out for a scene.
        runs: how many, from 1 on. Run N, from 0, is the run with the seed `SEED#N`.
        seed: any text or number; a fresh one by default, told by the result.
        by: further things to count: paths of the table at the end, such as `characters.mara.counters.fate-points`.
        workers: how many processes; a script that asks for more than 1 needs `if __name__ == "__main__":`. The counts
            do not depend on it.
        choose: answers to decisions of an action, by label.
        auto: whether the ruleset's policy answers what nobody did.
        policies: policy by name of a character; everybody's under an empty name.
        switches: house rules that are not at their default.
        rulesets: folders with overlays; the last is the nearest.
        note: carried into the record.
        inputs: what the action takes, by name, with underscores for hyphens.

    Returns:
        The record of `rpgres simulate --json`; `counted` has the shares of each value.

    Raises:
        NeedsPolicy: a decision has nobody to take it.
        UsageError: something named does not exist.
        FileError: a file is missing or faulty.
        RuleError: the ruleset's code failed.
    """
    if not isinstance(runs, int) or runs < 1 or not isinstance(workers, int) or workers < 1:
        raise UsageError(f"runs and workers are whole numbers from 1 on, not {runs!r} and {workers!r}")
    named: dict[str, Any] = {"policies": dict(policies or {}), "auto": auto, "switches": dict(switches or EMPTY)}
    if action is None:
        job, things, told, rules = _scene_job(what, by, seed, named, rulesets, choose or inputs)
    else:
        job, things, told, rules = _action_job(what, action, by, seed, named, rulesets, choose, plain_inputs(inputs))
    return _counted(job, things, rules, runs, workers, {**told, "note": note})


def _counted(
    job: Job, things: Sequence[str], rules: Rules, runs: int, workers: int, told: Mapping[str, Any]
) -> SimulationResult:
    from rpgres.simulate import Crew, Plan, empty_tally, simulated, summed_up
    from rpgres.simulate.workers import processes

    crew = Crew(partial(processes, workers) if workers > 1 else None, is_asked=workers > 1)
    (counts,) = deque(simulated(job, Plan(runs), crew=crew, start=empty_tally(things)), maxlen=1)
    return summed_up(job, counts, rules=rules, complete=True, wanted=runs, **told)


def _action_job(
    what: str | Ruleset,
    action: str,
    by: Sequence[str],
    seed: str | int | None,
    named: Mapping[str, Any],
    rulesets: Folders | None,
    choose: Answers | None,
    inputs: Mapping[str, Any],
) -> tuple[Job, list[str], dict[str, Any], Rules]:
    from rpgres.engine.labels import check_labels
    from rpgres.engine.players import default_policy
    from rpgres.engine.run import answers_to, policies_of, prepare
    from rpgres.simulate import action_job
    from rpgres.simulate.subjects import ACTION_THINGS, require_paths

    rules, answers = read_rules(what, named["switches"], rulesets), read_answers(choose, "choose")
    prepared = prepare(rules, action, inputs)
    policies_of(prepared, named["policies"], auto=named["auto"], with_orders=True, files=True)
    check_labels(rules, action, given={}, choose=answers)
    answers_to(prepared, answers)
    require_paths(prepared.state, by, has_procedure=rules.file.actions[action].procedure)
    told = told_policies(named["policies"], default_policy(rules) if named["auto"] else "")
    job = action_job(prepared, seed=read_seed(seed), by=list(by), choose=answers, **named)
    return job, [*ACTION_THINGS, *by], {"policies": {**dict.fromkeys(prepared.orders, "orders"), **told}}, rules


def _scene_job(
    what: Any,
    by: Sequence[str],
    seed: str | int | None,
    named: Mapping[str, Any],
    rulesets: Folders | None,
    unused: Mapping[str, Any],
) -> tuple[Job, list[str], dict[str, Any], Rules]:
    from rpgres.engine.players import default_policy
    from rpgres.scenes.deciding import who_decides
    from rpgres.simulate import scene_job
    from rpgres.simulate.subjects import require_paths, scene_things

    if unused:
        raise UsageError(f"a scene takes no inputs and no choose; {', '.join(unused)} belongs to an action")
    scene = _read_scene(what, named["policies"], named["switches"], rulesets, auto=named["auto"])
    has_procedure = any(leaf.step.procedure for leaf in scene.program.leaves)
    require_paths(scene.state, by, has_procedure=has_procedure)
    everybody = scene.file.policy or (default_policy(scene.rules) if named["auto"] else "")
    told = {**who_decides(scene.file, scene.policies), **told_policies(named["policies"], everybody)}
    own = read_seed(seed if seed is not None else scene.file.seed)
    job = scene_job(scene, seed=own, by=list(by), **named)
    return job, [*scene_things(scene), *by], {"policies": told, "title": scene.file.title}, scene.rules


def _read_scene(
    file: Any, policies: Policies | None, switches: Mapping[str, str] | None, rulesets: Folders | None, *, auto: bool
) -> Scene:
    from rpgres.scenes import open_scene, read_scene, require_sound

    folders, named = read_folders(rulesets), dict(policies or {})
    if file == "-":
        raise UsageError("a scene is a file, or a shipped one such as 'fate/bribe'; a call reads no standard input")
    source, folder = open_scene(file, extra=folders)
    scene = read_scene(
        source,
        find_ruleset=lambda ruleset: find_ruleset(ruleset, extra=folders),
        folder=folder,
        switches=switches or EMPTY,
        extra=folders,
        policy=named.pop("", ""),
        named=named,
        auto=auto,
    )
    require_sound(scene)
    return scene


def run_scene(
    file: str,
    *,
    seed: str | int | None = None,
    seat: str | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    switches: Mapping[str, str] | None = None,
    rulesets: Folders | None = None,
) -> SceneResult:
    """Play a scene from start to end, and return what came of each step and the table at the end.

    >>> run_scene("fate/bribe", seed=7).steps[0]["outcome"]
    'fail'

    Args:
        file: the scene: a TOML file, or a shipped one such as `fate/bribe`.
        seed: any text or number; by default the scene's own, or a fresh one.
        seat: leave out what this seat may not know, and the seed; everything by default.
        auto: whether the ruleset's policy answers what neither the scene nor a policy does.
        policies: policy by name of a character; everybody's under an empty name.
        switches: house rules, over the scene's own.
        rulesets: folders with overlays; the last is the nearest.

    Returns:
        The record of `rpgres scene run --json`.

    Raises:
        Unanswered: a step waits for a decision that nobody takes; a `FileError` with the `pending` decision, which is
            None for a seat.
        FileError: the scene or a sheet is missing or faulty.
        UsageError: there is no such seat, policy or switch.
    """
    from rpgres.scenes import Unanswered
    from rpgres.scenes import run_scene as played

    scene = _read_scene(file, policies, switches, rulesets, auto=auto)
    try:
        return played(scene, seed=None if seed is None else str(seed), seat=seat)
    except Unanswered as error:
        if seat is None:
            raise
        error.pending = error.run = error.__context__ = None  # type: ignore[assignment]
        raise error.with_traceback(None) from None


def whatif(
    before: Result | SceneResult,
    *,
    given: Answers | None = None,
    choose: Answers | None = None,
    auto: bool = False,
    policies: Policies | None = None,
    scene: str = "",
    rulesets: Folders | None = None,
) -> WhatIf:
    """Repeat a run with an answer changed and every other die as it fell.

    >>> import rpgres
    >>> before = rpgres.resolve("fate", "overcome", skill=1, vs=2, seed=7, choose={"price": "fail"})
    >>> whatif(before, given={"roll": "++++"}).after[0]["outcome"]
    'style'

    Args:
        before: what `resolve` or `run_scene` returned, with nothing left out.
        given: changed dice or cards, by `LABEL` or `LABEL#N`, in a scene by `STEP.LABEL#N`.
        choose: changed or added decisions, likewise.
        auto: whether the ruleset's policy answers what is asked anew.
        policies: policy by name of a character.
        scene: the scene's file, where it is not where it was.
        rulesets: folders with overlays; the last is the nearest.

    Returns:
        The record of `rpgres whatif --json`: `before` and `after` step by step, and answers that found no use.

    Raises:
        UsageError: nothing is changed, no such answer was given, or `before` leaves out its seed.
        FileError: a file of the ruleset, a sheet or the scene is missing or faulty.
    """
    from rpgres.engine.rerun import result_what_if
    from rpgres.scenes import SceneResult
    from rpgres.scenes.rerun import file_what_if

    changes: dict[str, Any] = {"given": typed_changes(given, "given"), "choose": typed_changes(choose, "choose")}
    how: dict[str, Any] = {"policies": dict(policies or {}), "auto": auto, "folders": read_folders(rulesets)}
    if isinstance(before, SceneResult):
        return file_what_if(before, file=scene, **changes, **how)[0]
    if not isinstance(before, Result):
        raise UsageError(f"whatif takes what resolve or run_scene returned, not a {type(before).__name__}")
    return result_what_if(before, **changes, **how)[0]


def load_sheet(sheet: str, ruleset: str | Ruleset | None = None, *, rulesets: Folders | None = None) -> SheetRecord:
    """Return the character of a sheet, checked.

    >>> load_sheet("mara", "fate").abilities["stealth"]
    3

    Args:
        sheet: a TOML file, or the name of a sheet that ships with a ruleset.
        ruleset: its ruleset; by default the one that the file names, in whose folder it lies, or that ships it.
        rulesets: folders with overlays; the last is the nearest.

    Returns:
        The record of `rpgres sheet show --json`.

    Raises:
        FileError: the sheet is missing or faulty; all problems at once.
        UsageError: nothing tells whose ruleset it is.
    """
    from rpgres.cli.formats.sheets import sheet_record, sheet_ruleset
    from rpgres.rulesets.sheets import find_sheet, read_sheet
    from rpgres.toml.reading import read_source

    if sheet == "-":
        raise UsageError("a sheet is a file, or the name of one that ships; a call reads no standard input")
    if ruleset is None:
        from pathlib import Path

        ruleset = sheet_ruleset(sheet, text=read_source(Path(sheet)).text if Path(sheet).is_file() else "")
    rules = read_rules(ruleset, EMPTY, rulesets)
    return sheet_record(rules, read_sheet(rules, sheet, source=read_source(find_sheet(rules, sheet))))


def rulesets(*, folders: Folders | None = None) -> list[RulesetName]:
    """Return the rulesets there are: those that ship, installed plugins, and folders of TOML.

    >>> [one.title for one in rulesets() if one.id == "fate"]
    ['Fate (five actions)']

    Args:
        folders: further folders with rulesets.
    """
    return ruleset_names(extra=read_folders(folders))
