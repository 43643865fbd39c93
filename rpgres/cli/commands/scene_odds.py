"""`rpgres odds SCENE`: the exact chances of how a scene or a procedure ends, printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from rpgres.cli import options as opt
from rpgres.cli.options import Option, SectionedCommand
from rpgres.cli.output import is_terminal, results_alone, say, say_json, warn
from rpgres.cli.rulesets import RulesetData
from rpgres.errors import UsageError

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.odds.scenes import SceneOdds, SceneOddsResult
    from rpgres.scenes import Scene

INTERRUPTED = 130  # exit code

BY = Option(
    "by",
    "Evaluate this instead of the ending: a part of the table at the end, or what the last procedure counts.",
    "PATH",
)
SCENE_OPTIONS = (
    *(BY, opt.AUTO, opt.POLICY, opt.SWITCH, opt.RULESETS, opt.LEAVES, opt.SECONDS),
    *(opt.JSON, opt.PLAIN, opt.NOTE),
)


def weigh_scene(name: str, shared: Mapping[str, Any]) -> None:
    """Print the chances of how a scene ends."""
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.scenes import open_scene, read_scene, require_sound

    folders = opt.read_folders(shared["rulesets"])
    named = opt.named_policies(shared["policy"])
    everybody = named.pop("", "")
    source, folder = open_scene(name, extra=folders)
    scene = read_scene(
        source,
        find_ruleset=lambda ruleset: find_ruleset(ruleset, extra=folders),
        folder=folder,
        switches=opt.read_switches(shared["switch"]),
        extra=folders,
        policy=everybody,
        named=named,
        auto=shared["auto"],
    )
    require_sound(scene)
    _weigh(scene, shared, policies=_policies(scene, shared))


def weigh_procedure(data: RulesetData, procedure: str, inputs: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
    """Print the chances of how a procedure ends."""
    from rpgres.engine.run import answers_to, prepare
    from rpgres.plugins.loading import checked
    from rpgres.scenes.procedures import procedure_scene

    rules = checked(data.rules(opt.read_switches(shared["switch"])))
    prepared = prepare(rules, procedure, inputs)
    choose = answers_to(prepared, opt.read_answers(shared["choose"], option="--choose"))
    policies = opt.read_policies(prepared, names=shared["policy"], auto=shared["auto"], with_orders=True)
    scene = procedure_scene(rules, procedure, inputs, policies=policies, choose=choose)
    _weigh(scene, shared, policies=_policies(scene, shared), inputs=prepared.inputs)


def _policies(scene: Scene, shared: Mapping[str, Any]) -> dict[str, str]:
    """Return who decides by which policy; everybody else under `*`."""
    from rpgres.scenes.deciding import who_decides

    own = who_decides(scene.file, scene.policies)
    everybody = {"*": scene.file.policy} if scene.file.policy else {}
    return {**own, **everybody, **opt.policy_names(scene.rules, names=shared["policy"], auto=shared["auto"])}


def _weigh(
    scene: Scene, shared: Mapping[str, Any], *, policies: Mapping[str, str], inputs: Mapping[str, Any] | None = None
) -> None:
    from rpgres.cli.progress import progress
    from rpgres.odds.exact import needs_policy
    from rpgres.odds.scenes import Undecided, scene_odds
    from rpgres.scenes.walking import ENDING, course_of

    by = shared["by"] or ENDING
    budget: dict[str, Any] = {
        "leaves": opt.read_count(shared["leaves"], option="--leaves", default=0) or None,
        "seconds": opt.read_seconds(shared["seconds"]),
    }
    try:
        with progress("evaluating", is_plain=shared["plain"]) as show:
            odds = scene_odds(course_of(scene, by=(by,)), **budget, tells=lambda done, left: show(done, done + left))
    except Undecided as undecided:
        raise needs_policy(undecided.questions.values()) from None
    record = _record(scene, odds, by=by, policies=policies, inputs=inputs or {}, note=shared["note"])
    if shared["json"]:
        say_json(record)
    else:
        from rpgres.cli.render.scene_odds import scene_odds_lines

        say(scene_odds_lines(record, scene.rules.file, bars=_bars(is_plain=shared["plain"])), is_plain=shared["plain"])
    if odds.is_interrupted:
        warn("interrupted; what is known so far is printed, and the rest is open")
        raise typer.Exit(INTERRUPTED)


def _record(
    scene: Scene,
    odds: SceneOdds,
    *,
    by: str,
    policies: Mapping[str, str],
    inputs: Mapping[str, Any],
    note: str | None,
) -> SceneOddsResult:
    from rpgres.odds.exact import chance_record
    from rpgres.odds.scenes import SceneOddsResult
    from rpgres.scenes.walking import value_name

    masses = {key[0]: mass for key, mass in odds.masses.items()}
    numbers = [value for value in masses if type(value) is int]
    mean = sum(value * masses[value] for value in numbers) if len(numbers) == len(masses) and not odds.open else None
    if numbers and len(numbers) == len(masses):
        masses = dict(sorted(masses.items()))
    named: dict[str, Fraction] = {}
    for value, mass in masses.items():
        name = value_name(value)
        named[name] = named.get(name, odds.open * 0) + mass
    return SceneOddsResult(
        ruleset=scene.rules.id,
        scene=scene.source.path,
        title=scene.file.title,
        inputs=dict(inputs),
        by=by,
        outcomes={name: chance_record(mass) for name, mass in named.items()},
        mean=chance_record(mean) if mean is not None and masses else None,  # type: ignore[arg-type]  # a fraction
        method="partial" if odds.open else "exact",
        open=chance_record(odds.open),
        leaves=odds.leaves,
        states=odds.states,
        turns=odds.turns,
        policies=dict(policies),
        switches=scene.rules.chosen,
        interrupted=odds.is_interrupted,
        note=note,
    )


def _bars(*, is_plain: bool) -> int:
    """Return how many columns there are for a bar, 0 where bars would be noise."""
    if is_plain or not is_terminal():
        return 0
    from shutil import get_terminal_size

    return max(8, min(50, get_terminal_size().columns - 46))


def scene_command(name: str) -> SectionedCommand:
    """Return the command that evaluates a scene."""

    @results_alone()
    def call(**values: Any) -> None:
        weigh_scene(name, values)

    summary = "Compute the exact probabilities of how this scene ends."
    return SectionedCommand(
        name,
        callback=call,
        params=[option.build() for option in SCENE_OPTIONS],
        help=f"{summary}\n\n{WALKED}",
        short_help=summary,
        rich_markup_mode=None,
    )


WALKED = """\
Every result of dice and cards is followed, turn by turn, and standings that are equal are followed once. Decisions come
from the steps of the scene, from the policies and standing orders of its characters, and from --policy or --auto."""


def check_by(by: str | None) -> None:
    """Refuse what only odds of actions can be asked by."""
    if by in ("margin", "total"):
        raise UsageError(
            f"--by {by} is for an action; of a scene, name a part of the table at the end, or leave it out"
        )
