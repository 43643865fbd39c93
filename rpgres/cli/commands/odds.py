"""`rpgres odds`: the exact chances of an action, of dice, or of every rung of the ladder, printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer
from msgspec import Struct

from rpgres.cli import options as opt
from rpgres.cli.commands.scene_odds import PROCEDURE_OPTIONS, check_by, command_of_scene, weigh_procedure
from rpgres.cli.dynamic import PlayGroup, Verb
from rpgres.cli.output import say_json
from rpgres.cli.progress import ESTIMATED, LOWER_BOUND, NOTHING, interrupted, progress
from rpgres.cli.rulesets import RulesetData
from rpgres.cli.studies import emit, format_of, run_study, study_of
from rpgres.errors import UsageError
from rpgres.odds.exact import EXACT_SHARE, By, OddsResult, Weighed, odds_record, outcome_odds
from rpgres.odds.explorer import Odds
from rpgres.odds.ladder import LadderOdds, ladder_odds, missing_opposition
from rpgres.odds.sampling import GAMES
from rpgres.odds.subjects import Subject, measure_action
from rpgres.odds.variations import Axis, input_axes, is_target
from rpgres.parameters.kinds import metavar
from rpgres.rulesets import Rules, RulesetFile
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from rpgres.engine.players import Policy
    from rpgres.engine.run import Prepared
    from rpgres.odds.optimal import Best
    from rpgres.odds.sampling import Sample

ACTION_OPTIONS = (
    *(opt.CHOOSE, opt.BEST, opt.EACH, opt.BY, opt.AUTO, opt.POLICY),
    *(opt.COMPARE, opt.VARY, opt.FIND, opt.GOAL, opt.KNOCKOUT, opt.OUTCOME),
    *(opt.SWITCH, opt.RULESETS, opt.LEAVES, opt.SECONDS),
    *(opt.ODDS_FORMAT, opt.OUT, opt.SVG, opt.JSON, opt.PLAIN, opt.NOTE),
)
DICE_OPTIONS = (opt.VS, opt.DICE_BY, opt.ODDS_FORMAT, opt.OUT, opt.SVG, opt.JSON, opt.PLAIN, opt.NOTE)
REST = 1e-6  # what may be left open without an estimate: dice that explode leave less


class Line(Struct, kw_only=True):
    """What a line asks of an action's odds.

    Attributes:
        rules: the ruleset with its house rules.
        action: the action.
        inputs: what it takes, as typed.
        shared: the options of every action.
        weighed: who decides for whoever acts.
        named: policies by character, for the record; everybody's under `*`.
        choose: decisions that were typed.
    """

    rules: Rules
    action: str
    inputs: dict[str, Any]
    shared: dict[str, Any]
    weighed: Weighed
    named: dict[str, str]
    choose: dict[str, list[str]]

    @property
    def budget(self) -> dict[str, Any]:
        """The limits of the search."""
        leaves = opt.read_count(self.shared["leaves"], option="--leaves", default=0) or None
        return {"leaves": leaves, "seconds": opt.read_seconds(self.shared["seconds"])}

    def policies(self, prepared: Prepared) -> dict[str, Policy]:
        """Return the policies by character."""
        return opt.read_policies(prepared, names=self.shared["policy"], auto=self.shared["auto"], with_orders=True)


def weigh_action(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Print the chances of an action's outcomes; without an opposition, those at every rung of the ladder."""
    own = {name.replace("-", "_") for name in data.parameters(action)}  # which count before options of odds
    is_procedure = data.file.actions[action].procedure
    options = PROCEDURE_OPTIONS if is_procedure else ACTION_OPTIONS
    shared = {option.name: values.pop(option.name) if option.name not in own else option.off for option in options}
    shared["goal"] = shared["goal"] or _goal(values, shared["find"])
    axes, inputs = input_axes(opt.given_inputs(values))
    if is_procedure:
        check_by(shared["by"])
        weigh_procedure(data, action, inputs, shared, axes)
        return
    form, study = format_of(shared), study_of(shared, axes)
    line = _read_line(data, action, inputs, shared)
    by = opt.read_by(shared["by"])
    if study:
        _study(study, line, axes, by, data)
        return
    opposition = missing_opposition(line.rules, action, line.inputs)
    if opposition is not None and by != "outcome":
        raise UsageError(f"--by needs one opposition: give --{opposition}")
    record: LadderOdds | OddsResult
    try:
        with progress("evaluating", is_plain=shared["plain"]) as show:
            record = _action_odds(line, by) if opposition is None else _ladder(line, opposition)
    except KeyboardInterrupt:
        raise typer.Exit(interrupted(NOTHING)) from None
    _print(record, data.file, shared, form=form)
    if show.is_stopped:
        raise typer.Exit(interrupted(ESTIMATED if record.method == "sampled" else LOWER_BOUND))


def _goal(values: dict[str, Any], find: str | None) -> str | None:
    """Return what an action's own `--target` says, where that can only be the chance that --find looks for."""
    typed = values.get("target")
    if not find or not isinstance(typed, str) or not is_target(typed):
        return None
    values["target"] = None
    return typed


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
        weighed=line.weighed,
        policies={who: name for who, _, name in (text.rpartition("=") for text in shared["policy"])},
        auto=shared["auto"],
        leaves=line.budget["leaves"],
    )
    subject = Subject(
        rules=line.rules,
        evaluate=evaluate,
        action=line.action,
        inputs=line.inputs,
        switches=opt.read_switches(shared["switch"]),
        choose=line.choose,
    )
    told = {"weighed": line.weighed, "policies": line.named}
    code = run_study(study, subject, axes, shared, told=told, file=data.file)
    if code:
        raise typer.Exit(code)


def _read_line(data: RulesetData, action: str, inputs: dict[str, Any], shared: dict[str, Any]) -> Line:
    from rpgres.plugins.loading import checked

    rules = checked(data.rules(opt.read_switches(shared["switch"])))
    named = opt.policy_names(rules, names=shared["policy"], auto=shared["auto"])
    weighed = _weighed(rules, action, shared, is_named="*" in named)
    if weighed != "policies" and "*" not in named:  # the others decide by what they would do when nobody says
        shared["auto"] = True
        named = {**opt.policy_names(rules, names=(), auto=True), **named}
    if weighed == "each" and not shared["each"] and _missing_hand(rules, action, inputs):
        weighed = "policies"  # nobody asked for cards to be weighed, so what hands come to is told
    if weighed != "policies":
        _require_hand(rules, action, inputs)
    if weighed == "best":
        named = {**named, "actor": "best"}
    choose = opt.read_answers(shared["choose"], option="--choose")
    return Line(rules=rules, action=action, inputs=inputs, shared=shared, weighed=weighed, named=named, choose=choose)


def _ladder(line: Line, opposition: str) -> LadderOdds:
    """Return the odds at every rung."""
    weigh: Callable[..., Odds] = partial(outcome_odds, games=GAMES)
    if line.weighed != "policies":
        from rpgres.odds.optimal import weigh_best

        weigh = partial(weigh_best, only_first=line.weighed == "each")
    return ladder_odds(
        line.rules,
        line.action,
        line.inputs,
        opposition=opposition,
        choose=line.choose,
        policies=line.policies,
        named=line.named,
        note=line.shared["note"],
        weigh=weigh,
        **line.budget,
    )


def _action_odds(line: Line, by: By) -> OddsResult:
    """Return the odds against what was typed."""
    from rpgres.engine.run import answers_to, prepare

    prepared, budget = prepare(line.rules, line.action, line.inputs), line.budget
    answers: dict[str, Any] = {"choose": answers_to(prepared, line.choose), "policies": line.policies(prepared)}
    if line.weighed == "policies":
        odds, choices = outcome_odds(prepared, **answers, **budget, games=GAMES, by=by), []
    else:
        from rpgres.odds.optimal import best_odds

        seconds = budget["seconds"]
        end = monotonic() + seconds if seconds is not None else None
        exact = seconds * EXACT_SHARE if seconds is not None else None
        is_each = line.weighed == "each"
        best = best_odds(prepared, **answers, leaves=budget["leaves"], seconds=exact, only_first=is_each)
        odds = best.odds(prepared)
        choices = best.records(prepared, samples=_samples(prepared, best, answers, end=end))
    named = {**dict.fromkeys(prepared.orders, "orders"), **line.named}
    told = {"policies": named, "choices": choices, "note": line.shared["note"], "weighed": line.weighed}
    return odds_record(prepared, odds, by=by, **told)


def _weighed(rules: Rules, action: str, shared: Mapping[str, Any], *, is_named: bool) -> Weighed:
    """Return who decides for whoever acts.

    Raises:
        UsageError: it was said twice, or numbers are to be weighed, of which none is the best.
    """
    asked: list[Weighed] = [one for one in ("best", "each") if shared[one]]
    if len(asked) > 1:
        raise UsageError(
            "--best and --each exclude each other: --best lets the actor decide optimally every time, "
            "--each varies only the first choice"
        )
    weighed = asked[0] if asked else "policies" if is_named else rules.file.actions[action].odds
    if weighed != "policies" and shared["by"] is not None and shared["by"] != "outcome":
        raise UsageError(
            f"--by evaluates numbers and --{weighed} evaluates success; use one of them, or name a --policy"
        )
    return weighed


def _samples(prepared: Prepared, best: Best, answers: Mapping[str, Any], *, end: float | None) -> dict[str, Sample]:
    """Return what comes of first choices in games that are played, where exact odds left something open.

    Args:
        prepared: the action.
        best: those odds.
        answers: who decides in the games.
        end: by when they have to be over, by the monotonic clock.
    """
    from rpgres.odds.sampling import sample

    played: dict[str, Sample] = {}
    open_ones = [] if STOP.is_asked else [choice.option for choice in best.choices if choice.value.open > REST]
    for number, name in enumerate(open_ones):
        until = inf if end is None else monotonic() + (end - monotonic()) / (len(open_ones) - number)
        found = sample(prepared, **answers, first=name, runs=GAMES // len(open_ones), until=until)
        if found is not None:
            played[name] = found
    return played


def _require_hand(rules: Rules, action: str, inputs: Mapping[str, Any]) -> None:
    """Make sure that somebody who decides by the cards in hand says which they are.

    Raises:
        UsageError: they are still to be dealt, and every hand would be another question.
    """
    name = _missing_hand(rules, action, inputs)
    if name:
        parameter = rules.parameters(action)[name]
        raise UsageError(
            f"optimal decisions need --{name} {metavar(parameter, name)}: {parameter.help.partition(' (')[0]}; "
            "with --auto a policy decides, and hands are dealt"
        )


def _missing_hand(rules: Rules, action: str, inputs: Mapping[str, Any]) -> str:
    """Return the parameter that would say which cards whoever acts holds, when it is not given."""
    for name, parameter in rules.parameters(action).items():
        pile = rules.file.piles[parameter.pile] if parameter.kind == "cards" else None
        if pile is not None and pile.face == "hand" and pile.each and inputs.get(name.replace("-", "_")) is None:
            return name
    return ""


def weigh_notation(notation: str, values: dict[str, Any]) -> None:
    """Print the chance of every value of a dice expression."""
    from rpgres.odds.dice import dice_odds

    weighed = opt.read_dice(notation, values["vs"], values["note"])
    form, record = format_of(values), dice_odds(weighed, note=values["note"], by=values["by"])
    _print(record, None, values, form=form)


class OddsGroup(PlayGroup):
    """What can be weighed."""

    verb = Verb(
        "odds",
        ACTION_OPTIONS,
        DICE_OPTIONS,
        "Compute the exact probabilities of dice.",
        weigh_action,
        weigh_notation,
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
