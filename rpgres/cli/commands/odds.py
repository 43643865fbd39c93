"""`rpgres odds`: the exact chances of an action, of dice, or of every rung of the ladder, printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from msgspec import Struct
from msgspec.structs import replace

from rpgres.cli import options as opt
from rpgres.cli.commands.scene_odds import PROCEDURE_OPTIONS, check_by, command_of_scene, weigh_procedure
from rpgres.cli.dynamic import PlayGroup, Verb
from rpgres.cli.output import say_json
from rpgres.cli.progress import ESTIMATED, LOWER_BOUND, NOTHING, interrupted, progress
from rpgres.cli.reporting import format_of
from rpgres.cli.rulesets import RulesetData
from rpgres.cli.studies import emit, run_study, study_of
from rpgres.engine.hidden import NO_TABLE, Start
from rpgres.errors import InterruptError, UsageError
from rpgres.odds.actions import missing_hand, require_hand
from rpgres.odds.exact import By, Decide, OddsResult, outcome_odds
from rpgres.odds.explorer import Odds
from rpgres.odds.ladder import LadderOdds, ladder_odds, missing_opposition
from rpgres.odds.sampling import GAMES
from rpgres.odds.subjects import Subject, measure_action
from rpgres.odds.variations import Axis, input_axes
from rpgres.rulesets import Rules, RulesetFile

if TYPE_CHECKING:
    from rpgres.engine.players import Policy
    from rpgres.engine.prepare import Prepared

ACTION_OPTIONS = (
    *(opt.CHOOSE, opt.BEST, opt.EACH, opt.BY, opt.AUTO, opt.POLICY),
    *(opt.COMPARE, opt.VARY, opt.FIND, opt.GOAL, opt.KNOCKOUT, opt.OUTCOME),
    *(opt.SWITCH, opt.RULESETS, opt.LEAVES, opt.SECONDS),
    *(opt.FORMAT, opt.OUT, opt.SVG, opt.JSON, opt.NOTE),
)
Sits = Callable[[dict[str, str]], "tuple[Rules, Start]"]
DICE_OPTIONS = (opt.VS, opt.DICE_BY, opt.FORMAT, opt.OUT, opt.SVG, opt.JSON, opt.NOTE)


class Line(Struct, kw_only=True):
    """What a line asks of an action's odds.

    Attributes:
        rules: the ruleset with its house rules.
        action: the action.
        inputs: what it takes, as typed.
        shared: the options of every action.
        decide: who decides for the actor: policies, or the optimum.
        named: policies by character, for the record; the default under `*`.
        choose: decisions that were typed.
        start: where the action begins.
    """

    rules: Rules
    action: str
    inputs: dict[str, Any]
    shared: dict[str, Any]
    decide: Decide
    named: dict[str, str]
    choose: dict[str, list[str]]
    start: Start = NO_TABLE

    @property
    def budget(self) -> dict[str, Any]:
        """The limits of the search."""
        return opt.read_budget(self.shared)

    def policies(self, prepared: Prepared) -> dict[str, Policy]:
        """Return the policies by character."""
        names, auto = self.shared["policy"], self.shared["auto"]
        return self.start.deciding(opt.read_policies(prepared, names=names, auto=auto, with_orders=True))


def weigh_action(data: RulesetData, action: str, values: dict[str, Any], *, sits: Sits | None = None) -> None:
    """Print the chances of an action's outcomes; without an opposition, those at every rung of the ladder.

    Args:
        values: what was typed.
        sits: of a persistent table, returns its rules with the switches that were typed, and where the action begins.
    """
    own = {name.replace("-", "_") for name in data.parameters(action)}  # which count before options of odds
    is_procedure = data.file.actions[action].procedure
    options = PROCEDURE_OPTIONS if is_procedure else ACTION_OPTIONS
    shared = {option.name: values.pop(option.name) if option.name not in own else option.off for option in options}
    if shared["goal"] is None and shared["find"]:
        shared["goal"] = _goal(values)
    axes, inputs = input_axes(opt.given_inputs(values))
    switches = opt.read_switches(shared["switch"])
    rules, start = sits(switches) if sits is not None else (data.rules(switches), NO_TABLE)
    if is_procedure:
        check_by(shared["by"])
        weigh_procedure(rules, action, inputs, shared, axes, start=start)
        return
    form, study = format_of(shared), study_of(shared, axes)
    line = _read_line(rules, action, inputs, shared, start)
    by = opt.read_by(shared["by"])
    if study:
        _study(study, line, axes, by, data)
        return
    opposition = missing_opposition(line.rules, action, line.inputs)
    if opposition is not None and by != "outcome":
        raise UsageError(f"--by needs one opposition: give --{opposition}")
    record: LadderOdds | OddsResult
    try:
        with progress("evaluating") as show:
            record = _action_odds(line, by) if opposition is None else _ladder(line, opposition)
    except KeyboardInterrupt:
        raise InterruptError(NOTHING) from None
    if show.is_stopped:
        record = replace(record, interrupted=True)
    _print(record, data.file, shared, form=form)
    if show.is_stopped:
        raise typer.Exit(interrupted(ESTIMATED if record.method == "sampled" else LOWER_BOUND))


def _goal(values: dict[str, Any]) -> str | None:
    """Return what an action's own `--target` says: beside --find it is the chance that is looked for."""
    typed = values.get("target")
    if isinstance(typed, str):
        values["target"] = None
        return typed
    return None


def _print(record: LadderOdds | OddsResult, file: RulesetFile | None, shared: Mapping[str, Any], *, form: str) -> None:
    """Print odds; only what is asked for is imported."""
    if form == "json" and shared["svg"] is None and shared["out"] is None:
        say_json(record)
    else:
        emit(record, file, shared)


def _study(study: str, line: Line, axes: Sequence[Axis], by: By, data: RulesetData) -> None:
    """Print the odds of several cases of an action."""
    if by != "outcome":
        raise UsageError("--by evaluates numbers; comparing, varying and searching evaluate outcomes: leave it out")
    shared = line.shared
    evaluate = partial(
        measure_action,
        decide=line.decide,
        policies=opt.named_policies(shared["policy"]),
        auto=shared["auto"],
        leaves=line.budget["leaves"],
    )
    subject = Subject(
        rules=line.rules,
        evaluate=evaluate,
        action=line.action,
        inputs=line.inputs,
        switches=opt.read_switches(shared["switch"]) if line.start.state is None else line.rules.chosen,
        choose=line.choose,
        start=line.start,
    )
    told = {"decide": line.decide, "policies": line.named}
    code = run_study(study, subject, axes, shared, told=told, file=data.file)
    if code:
        raise typer.Exit(code)


def _read_line(rules: Rules, action: str, inputs: dict[str, Any], shared: dict[str, Any], start: Start) -> Line:
    from rpgres.plugins.loading import checked

    rules = checked(rules)
    named = opt.policy_names(rules, names=shared["policy"], auto=shared["auto"])
    decide = _decide(rules, action, shared, is_named="*" in named)
    if decide != "policies" and "*" not in named:  # the others decide by default
        shared["auto"] = True
        named = {**opt.policy_names(rules, names=(), auto=True), **named}
    if decide == "each" and not shared["each"] and missing_hand(rules, action, inputs, start):
        decide = "policies"  # no choice was asked for, so the totals of hands are shown
    if decide != "policies":
        require_hand(rules, action, inputs, start)
    if decide == "best":
        named = {**named, "actor": "best"}
    choose = opt.read_answers(shared["choose"], option="--choose")
    told: dict[str, Any] = {"decide": decide, "named": named, "choose": choose, "start": start}
    return Line(rules=rules, action=action, inputs=inputs, shared=shared, **told)


def _ladder(line: Line, opposition: str) -> LadderOdds:
    """Return the odds at every rung."""
    evaluate: Callable[..., Odds] = partial(outcome_odds, games=GAMES)
    if line.decide != "policies":
        from rpgres.odds.optimal import evaluate_best

        evaluate = partial(evaluate_best, only_first=line.decide == "each")
    return ladder_odds(
        line.rules,
        line.action,
        line.inputs,
        opposition=opposition,
        choose=line.choose,
        policies=line.policies,
        named=line.named,
        note=line.shared["note"],
        evaluate=evaluate,
        start=line.start,
        **line.budget,
    )


def _action_odds(line: Line, by: By) -> OddsResult:
    """Return the odds against what was typed."""
    from rpgres.engine.prepare import prepare
    from rpgres.odds.actions import action_odds

    prepared = prepare(line.rules, line.action, line.inputs, **line.start.arguments)
    told: dict[str, Any] = {"named": line.named, "decide": line.decide, "note": line.shared["note"]}
    policies = line.policies(prepared)
    return action_odds(prepared, choose=line.choose, policies=policies, by=by, start=line.start, **told, **line.budget)


def _decide(rules: Rules, action: str, shared: Mapping[str, Any], *, is_named: bool) -> Decide:
    """Return who decides for the actor.

    Raises:
        UsageError: it was given twice, or odds are of numbers, of which none is the best.
    """
    asked: list[Decide] = [one for one in ("best", "each") if shared[one]]
    if len(asked) > 1:
        raise UsageError(
            "--best and --each exclude each other: --best lets the actor decide optimally every time, "
            "--each varies only the first choice"
        )
    decide = asked[0] if asked else "policies" if is_named else rules.file.actions[action].odds
    if decide != "policies" and shared["by"] is not None and shared["by"] != "outcome":
        raise UsageError(
            f"--by evaluates numbers and --{decide} evaluates success; use one of them, or name a --policy"
        )
    return decide


def weigh_notation(notation: str, values: dict[str, Any]) -> None:
    """Print the chance of every value of a dice expression."""
    from rpgres.odds.dice import dice_odds

    rolled = opt.read_dice(notation, values["vs"], values["note"])
    form, record = format_of(values), dice_odds(rolled, note=values["note"], by=values["by"])
    _print(record, None, values, form=form)


class OddsGroup(PlayGroup):
    """What odds can be of."""

    verb = Verb(
        "odds",
        ACTION_OPTIONS,
        weigh_action,
        DICE_OPTIONS,
        weigh_notation,
        "Compute the exact probabilities of dice.",
        scene=command_of_scene,
        procedure_options=PROCEDURE_OPTIONS,
    )


app = typer.Typer(
    cls=OddsGroup,
    add_completion=False,
    help="""Compute the exact probabilities of an action's outcomes, of a scene, or of dice.

    `rpgres odds fate overcome --skill 3 --vs 4dF+2` evaluates every result the dice can show; without
    --vs it does so for every rung of the ladder.

    `rpgres odds scene.toml` or `rpgres odds fate/bribe` evaluates how a whole scene ends.

    `rpgres odds 4d6kh3` evaluates dice; `rpgres odds 4d6kh3 --help` explains the notation.""",
    short_help="Compute the exact probabilities of an action, a scene or dice.",
    subcommand_metavar="RULESET ACTION [OPTIONS] | SCENE [OPTIONS] | NOTATION [OPTIONS]",
)
