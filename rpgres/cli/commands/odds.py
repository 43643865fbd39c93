"""`rpgres odds`: the exact chances of an action, of dice, or of every rung of the ladder, printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer
from msgspec.structs import replace

from rpgres.cli import options as opt
from rpgres.cli.commands.scene_odds import ENDING, PROCEDURE_OPTIONS, command_of_scene, print_procedure_odds
from rpgres.cli.dynamic import PlayGroup, Verb
from rpgres.cli.exits import leave
from rpgres.cli.progress import ESTIMATED, LOWER_BOUND, NOTHING, interrupted, progress
from rpgres.cli.reporting import format_of
from rpgres.cli.studies import emit, read_query, run_study, study_of
from rpgres.engine.hidden import NO_TABLE, Start
from rpgres.errors import InterruptError, named
from rpgres.lines.options import AUTO, CHOOSE, JSON, NOTE, POLICY, RULESETS, given_inputs
from rpgres.odds.actions import odds_of
from rpgres.odds.exact import OUTCOME, Decide
from rpgres.odds.query import settled
from rpgres.odds.subjects import action_subject
from rpgres.odds.variations import input_axes
from rpgres.plugins.loading import RulesetData
from rpgres.rulesets import Rules

ACTION_OPTIONS = (
    *(CHOOSE, opt.BEST, opt.EACH, opt.BY, AUTO, POLICY),
    *(opt.COMPARE, opt.VARY, opt.OUTCOME),
    *(opt.SWITCH, RULESETS, opt.LEAVES, opt.SECONDS),
    *(opt.FORMAT, opt.OUT, opt.SVG, JSON, NOTE),
)
Sits = Callable[[dict[str, str]], "tuple[Rules, Start]"]
DICE_OPTIONS = (opt.VS, opt.DICE_BY, opt.FORMAT, opt.OUT, opt.SVG, JSON, NOTE)


def print_action_odds(data: RulesetData, action: str, values: dict[str, Any], *, sits: Sits | None = None) -> None:
    """Print the chances of an action's outcomes; without an opposition, those at every rung of the ladder.

    Args:
        sits: of a persistent table, returns its rules with the switches that were typed, and where the action begins.
    """
    own = {name.replace("-", "_") for name in data.parameters(action)}  # which count before options of odds
    is_procedure = data.file.actions[action].procedure
    options = PROCEDURE_OPTIONS if is_procedure else ACTION_OPTIONS
    shared = {option.name: values.pop(option.name) if option.name not in own else option.off for option in options}
    axes, inputs = input_axes(given_inputs(values))
    switches = opt.read_switches(shared["switch"])
    rules, start = sits(switches) if sits is not None else (data.rules(switches), NO_TABLE)
    if is_procedure:
        query = read_query(rules, action, inputs, shared, by=shared["by"] or ENDING, start=start)
        print_procedure_odds(query, shared, axes)
        return
    format_of(shared)  # mistakes are reported before the work begins
    study, by = study_of(shared, axes), shared["by"] or OUTCOME
    query = settled(read_query(rules, action, inputs, shared, by=by, start=start), _asked(shared))
    if study:
        told = {"decide": query.decide, "policies": query.named, "by": query.by}
        run_study(study, action_subject(query), axes, shared, told=told, file=data.file)
        return
    try:
        with progress("evaluating") as show:
            record = odds_of(query)
    except KeyboardInterrupt:
        raise InterruptError(NOTHING) from None
    if show.is_stopped:
        record = replace(record, interrupted=True)
    emit(record, data.file, shared)
    if show.is_stopped:
        leave(interrupted(ESTIMATED if record.method == "sampled" else LOWER_BOUND))


def _asked(shared: Mapping[str, Any]) -> Decide | None:
    """Return who was asked to decide for the actor, which is refused where it was said twice."""
    asked: list[Decide] = [one for one in ("best", "each") if shared[one]]
    if len(asked) > 1:
        why = (
            f"{named('best')} lets the actor decide optimally every time, {named('each')} varies only the first choice"
        )
        raise opt.exclusive("best", "each", why)
    return asked[0] if asked else None


def print_dice_odds(notation: str, values: dict[str, Any]) -> None:
    """Print the chance of every value of a dice expression."""
    from rpgres.odds.dice import dice_grid, dice_odds

    format_of(values)  # a mistake is reported before the work begins
    told = {"note": values["note"], "by": values["by"]}
    grid = dice_grid(notation, values["vs"], **told)
    emit(grid or dice_odds(opt.read_dice(notation, values["vs"], values["note"]), **told), None, values)


class OddsGroup(PlayGroup):
    """What odds can be of."""

    verb = Verb(
        "odds",
        ACTION_OPTIONS,
        print_action_odds,
        DICE_OPTIONS,
        print_dice_odds,
        "Compute the exact probabilities of dice.",
        scene=command_of_scene,
        procedure_options=PROCEDURE_OPTIONS,
    )


app = typer.Typer(
    cls=OddsGroup,
    help="""Compute the exact probabilities of an action's outcomes, of a scene, or of dice.

    `rpgres odds fate overcome --skill 3 --vs 4dF+2` evaluates every result the dice can show; without
    --vs it does so for every rung of the ladder.

    `rpgres odds scene.toml` or `rpgres odds fate/bribe` evaluates how a whole scene ends, `rpgres odds fate/conflict` a
    procedure; `rpgres scene run --help` lists procedures.

    `rpgres odds 4d6kh3` evaluates dice; `rpgres odds 4d6kh3 --help` explains the notation.""",
    subcommand_metavar="RULESET ACTION [OPTIONS] | SCENE [OPTIONS] | NOTATION [OPTIONS]",
)
