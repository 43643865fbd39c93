"""`rpgres simulate`: an action or a scene played many times, from what was typed to what is printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from msgspec import Struct

from rpgres.cli import options as opt
from rpgres.cli.dynamic import PlayGroup, Verb, scene_command
from rpgres.cli.exits import exit_of, leave
from rpgres.cli.lazy import Command
from rpgres.cli.options import SectionedCommand
from rpgres.cli.output import say_json, say_result, warn
from rpgres.cli.progress import interrupted, progress
from rpgres.cli.reporting import emit_report, format_of
from rpgres.cli.studies import read_query
from rpgres.dice.seeds import Streams, read_seed, run_seed
from rpgres.engine.players import policies_named
from rpgres.engine.prepare import Prepared
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.errors import RpgresError, UsageError, called, named
from rpgres.lines.options import AUTO, CHOOSE, JSON, NOTE, POLICY, RULESETS, given_inputs
from rpgres.plugins.loading import RulesetData
from rpgres.scenes.walking import nothing_there
from rpgres.simulate import Crew, Job, Plan, SimulationResult, Tally, simulated
from rpgres.simulate.playing import main_things
from rpgres.simulate.saving import read_saved, resumed, write_saved
from rpgres.simulate.simulation import RUNS, Simulation, action_simulation, scene_simulation
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from rpgres.odds.query import Query
    from rpgres.rulesets import Rules
    from rpgres.scenes import Scene

ACTION_OPTIONS = (
    *(opt.SEED, CHOOSE, AUTO, POLICY, opt.COUNT, opt.SWITCH, RULESETS),
    *(opt.RUNS, opt.UNTIL_WIDTH, opt.WORKERS, opt.CLUSTER, opt.SAVE, opt.SHOW),
    *(opt.FORMAT, opt.OUT, JSON, opt.SVG, NOTE),
)
SCENE_OPTIONS = tuple(option for option in ACTION_OPTIONS if option is not CHOOSE)


Show = Callable[[str], None]  # prints one run of a seed


def simulate_action(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Play an action many times and print the result."""
    shared = {option.name: values.pop(option.name) for option in ACTION_OPTIONS}
    rules, inputs = data.rules(opt.read_switches(shared["switch"])), given_inputs(values)
    query = read_query(rules, action, inputs, shared)
    prepared = query.prepared()

    def show(seed: str) -> None:
        if query.rules.file.actions[action].procedure:
            _show_procedure(query, prepared, inputs, seed, as_json=shared["json"])
            return
        by: dict[str, Any] = {"policies": query.deciding(prepared), "choose": query.choose, "note": query.note}
        found, _ = run(prepared, streams=Streams(seed), identify=shared["json"], **by)
        _show_result(found, query.rules, as_json=shared["json"])

    _simulate(action_simulation(query, prepared, by=shared["by"] or ()), shared, show)


def _show_result(found: Result | Pending, rules: Rules, *, as_json: bool, command: Sequence[str] = ()) -> None:
    """Print the result of an action, or for which decision it waits; exit with its code."""
    if isinstance(found, Pending):
        from rpgres.cli.shell import resumed

        found = resumed(found, rules, command=command)
    say_result(found, rules, as_json=as_json)
    leave(exit_of(found, with_codes=False))


def _show_procedure(query: Query, prepared: Prepared, inputs: Mapping[str, Any], seed: str, *, as_json: bool) -> None:
    """Print one run of a procedure as the account of a scene; exit with its code."""
    from rpgres.scenes import Unanswered
    from rpgres.scenes.reading import procedure_scene

    rules, procedure = prepared.rules, prepared.action
    answers: dict[str, Any] = {"choose": query.choose, "named": policies_named(rules, query.policies, auto=query.auto)}
    try:
        scene = procedure_scene(rules, procedure, inputs, query.deciding(prepared), **answers, note=query.note)
        _show_scene(scene, seed, as_json=as_json, people=prepared.state, inputs=prepared.inputs)
    except Unanswered as waiting:
        command = ("scene", "run", f"{rules.id}/{procedure}")
        _show_result(waiting.pending, rules, as_json=as_json, command=command)


def simulate_scene(name: str, values: dict[str, Any]) -> None:
    """Play a scene many times and print the result."""
    from rpgres.scenes import Overrides, load_scene, require_sound

    shared = dict(values)
    switches, policies = opt.read_switches(shared["switch"]), opt.named_policies(shared["policy"])
    overrides = Overrides(switches, policies, shared["auto"])
    scene = load_scene(name, extra=opt.read_folders(shared["rulesets"]), overrides=overrides)
    require_sound(scene)
    simulation = scene_simulation(scene, by=shared["by"] or (), overrides=overrides, note=shared["note"])
    _simulate(
        simulation, shared, lambda seed: _show_scene(scene, seed, as_json=shared["json"]), own_seed=scene.file.seed
    )


def _show_scene(scene: Scene, seed: str, *, as_json: bool, **about: Any) -> None:
    """Print one run of a scene. `about` are further arguments of `play_and_print`."""
    from rpgres.cli.scene_output import play_and_print, play_silently

    if as_json:
        say_json(play_silently(scene, seed=seed).record(None))
    else:
        play_and_print(scene, seed=seed, seat=None, auto=True, **about)


# ---------------------------------------------------------------------------------------------------------------------
# What both have in common


def _simulate(simulation: Simulation, shared: Mapping[str, Any], show: Show, *, own_seed: str | None = None) -> None:
    """Do what a line asks for and print it; exit with the code it calls for."""
    format_of(shared)  # which refuses what cannot be, before anything is counted
    path = Path(shared["save"]) if shared["save"] else None
    saved = read_saved(path) if path is not None else None
    seeds = (shared["seed"], saved.job.seed if saved is not None else None, own_seed)
    known = next((one for one in seeds if one is not None), None)
    simulation = simulation.seeded(read_seed(known))
    job, plan, crew = simulation.job, _plan(simulation, shared), _crew(shared)
    is_shown, tally = shared["show"] is not None, Tally(0, {})
    if path is not None and saved is not None:
        tally = resumed(path, saved, job, runs=None if is_shown else plan.runs)
    if is_shown:
        show(_shown_seed(shared["show"], None if known is None and path is None else job.seed))
        return
    keeper = Keeper(path=path, job=job, kept=tally.runs if saved is not None else -1)
    tally, is_interrupted = _played(job, plan, crew, tally, keeper)
    if not tally.runs:
        raise KeyboardInterrupt
    record = simulation.record(tally, complete=not is_interrupted, wanted=plan.runs, width=plan.width or None)
    _print(record, simulation.rules, shared)
    for thing in simulation.job.by:
        if all(one.value is None for one in record.counted[thing].values):
            warn(nothing_there(thing, simulation.near.get(thing, "")))
    if is_interrupted:
        wanted = f" of {plan.runs:,}" if plan.runs is not None else ""
        later = f"; the same command with --save {path} goes on" if path is not None else ""
        leave(interrupted(f"{tally.runs:,}{wanted} runs{later}"))


def _played(job: Job, plan: Plan, crew: Crew, tally: Tally, keeper: Keeper) -> tuple[Tally, bool]:
    """Return the counts after all runs, and whether a person stopped them before."""
    keeper.keep(tally, is_last=True)  # a file that cannot be written is reported now and not at the end
    if plan.is_complete(tally):
        return tally, False
    runs = simulated(job, plan, crew=crew, start=tally)
    try:
        with progress("simulating", done=tally.runs) as shown:
            for tally in runs:
                keeper.keep(tally)
                shown(tally.runs, plan.expected(tally))
                if STOP.is_asked:
                    break
    except KeyboardInterrupt:
        pass
    except RpgresError as error:
        keeper.keep(tally, is_last=True)
        if keeper.path is not None and tally.runs:
            error.add(f" ({keeper.path} keeps the {tally.runs:,} runs before)")
        raise
    keeper.keep(tally, is_last=True)
    return tally, not plan.is_complete(tally)


SAVED_SECONDS = 5.0  # between two writings of the file


class Keeper(Struct):
    """Keeps the counts in a file, every few seconds and at the end.

    Attributes:
        path: the file; None for none.
        kept: how many runs the file has; -1 for none.
    """

    path: Path | None
    job: Job
    kept: int
    since: float = 0.0

    def keep(self, tally: Tally, *, is_last: bool = False) -> None:
        """Write the file if it is time."""
        self.since = self.since or monotonic()
        if self.path is None or tally.runs == self.kept:
            return
        if is_last or monotonic() - self.since >= SAVED_SECONDS:
            write_saved(self.path, self.job, tally)
            self.kept, self.since = tally.runs, monotonic()


def _shown_seed(typed: str, seed: str | None) -> str:
    """Return the seed of the run that is to be shown."""
    if seed is None:
        raise UsageError(
            f"{named('show')} needs the {named('seed')} of the simulation, which it prints at its end, "
            f"or its {named('save')} file"
        )
    text = typed.strip().replace("_", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise UsageError(f"{named('show')} takes the number of a run, from 0 on, not {typed!r}")
    return run_seed(seed, int(text))


def _plan(simulation: Simulation, shared: Mapping[str, Any]) -> Plan:
    if shared["until_width"] is None:
        return Plan(opt.read_count(shared["runs"], option=named("runs"), default=RUNS))
    if shared["runs"] is not None:
        raise opt.exclusive("runs", "until-width", "one says how many runs, the other how sure")
    return Plan(None, _width(shared["until_width"]), main_things(simulation.things))


def _width(text: str) -> float:
    """Return a width as a share."""
    number = 0.0
    with suppress(ValueError):
        number = float(text.strip().removesuffix("%"))
    if not 0.0001 <= number < 100:
        raise UsageError(
            f"{named('until-width')} takes a percentage from 0.0001 % to below 100 %, such as 0.1%, not {text!r}"
        )
    return number / 100


def _crew(shared: Mapping[str, Any]) -> Crew:
    from functools import partial

    from rpgres.simulate.blocks import cores, processes

    if shared["cluster"] is not None:
        from rpgres.simulate.blocks import cluster

        if shared["workers"] is not None:
            raise opt.exclusive("workers", "cluster", "a cluster has workers of its own")
        return Crew(partial(cluster, shared["cluster"]), is_asked=True, is_elsewhere=True)
    count = opt.read_count(shared["workers"], option=named("workers"), default=cores())
    if count > MOST_WORKERS:
        raise UsageError(
            f"{named('workers')} takes at most {MOST_WORKERS} processes; {cores()} would use every processor"
        )
    return Crew(partial(processes, count) if count > 1 else None, is_asked=shared["workers"] is not None)


MOST_WORKERS = 61 if os.name == "nt" else 512  # Windows waits for no more


def _print(record: SimulationResult, rules: Rules, shared: Mapping[str, Any]) -> None:
    from rpgres.render import simulations

    emit_report(
        record,
        lambda: simulations.simulation_report(record, rules.file),
        shared,
        rows=lambda: simulations.csv_rows(record),
        lines=lambda: simulations.simulation_lines(record, rules.file, detailed=shared["by"] or ()),
    )


# ---------------------------------------------------------------------------------------------------------------------
# The command


def _no_dice(notation: str, values: dict[str, Any]) -> NoReturn:
    runs = values.get("runs") or 1000
    raise UsageError(
        f"dice need no simulation: `{called('odds', notation)}` has their exact probabilities, and "
        f"`{called('roll', notation, repeat=runs)}` rolls them as often as -n {runs} would"
    )


def command_of_scene(name: str) -> SectionedCommand:
    """Return the command that simulates a scene."""
    summary = "Play this scene many times, and summarise."
    return scene_command(name, simulate_scene, SCENE_OPTIONS, summary=summary, details=COUNTED)


COUNTED = """\
Counted are the outcome of every step, and with --by any part of the state at the end: numbers, texts, and tracks by
how many boxes are marked."""


class SimulateGroup(PlayGroup):
    """What can be simulated."""

    verb = Verb("simulate", ACTION_OPTIONS, simulate_action, ACTION_OPTIONS, _no_dice, scene=command_of_scene)

    def load(self, name: str, args: Sequence[str]) -> Command:
        """Return the group of a ruleset, or the command of a scene."""
        return command_of_scene(name) if name == "-" else super().load(name, args)

    def missing(self, ctx: Any) -> str:
        """Return the message of a line that names nothing to simulate."""
        return (
            f"name what to simulate: a scene, as in `{called('simulate', 'fate/bribe')}`, or a ruleset and an action, "
            f"as in `{called('simulate', 'fate', 'overcome', skill='3', vs='4dF+2')}`"
        )


app = typer.Typer(
    cls=SimulateGroup,
    help="""Play an action or a scene many times, and summarise.

    `rpgres simulate fate overcome --skill 3 --vs 4dF+2 -n 1000000` plays an action, `rpgres simulate scene.toml` or
    `rpgres simulate fate/bribe` a scene, `rpgres simulate fate/conflict` a procedure; `rpgres scene run --help` lists
    procedures.

    Run N (from 0) is the run with the seed SEED#N, so the result depends only on the seed and the number of runs, not
    on the number of workers. Ctrl-C prints what is done so far.""",
    subcommand_metavar="RULESET ACTION [OPTIONS] | SCENE [OPTIONS]",
)
