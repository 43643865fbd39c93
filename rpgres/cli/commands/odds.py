"""`rpgres odds`: the exact chances of an action, of dice, or of every rung of the ladder, printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

from rpgres.cli import options as opt
from rpgres.cli.dynamic import PlayGroup, Verb
from rpgres.cli.output import is_terminal, say, say_json
from rpgres.cli.rulesets import RulesetData
from rpgres.errors import UsageError
from rpgres.odds.exact import EXACT_SHARE, Weighed, odds_record, outcome_odds
from rpgres.odds.explorer import Odds
from rpgres.odds.ladder import ladder_odds, missing_opposition
from rpgres.odds.sampling import GAMES
from rpgres.parameters.kinds import metavar
from rpgres.rulesets import Rules

if TYPE_CHECKING:
    from rpgres.engine.run import Prepared
    from rpgres.odds.optimal import Best
    from rpgres.odds.sampling import Sample

ACTION_OPTIONS = (
    *(opt.CHOOSE, opt.BEST, opt.EACH, opt.BY, opt.AUTO, opt.POLICY, opt.SWITCH, opt.RULESETS, opt.LEAVES, opt.SECONDS),
    *(opt.JSON, opt.PLAIN, opt.NOTE),
)
DICE_OPTIONS = (opt.JSON, opt.PLAIN, opt.NOTE)
REST = 1e-6  # what may be left open without an estimate: dice that explode leave less


def weigh_action(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Print the chances of an action's outcomes; without an opposition, those at every rung of the ladder."""
    from rpgres.engine.players import Policy
    from rpgres.engine.run import answers_to, prepare

    shared = {option.name: values.pop(option.name) for option in ACTION_OPTIONS}
    leaves = opt.read_count(shared["leaves"], option="--leaves", default=0) or None
    seconds = opt.read_seconds(shared["seconds"])
    choose = opt.read_answers(shared["choose"], option="--choose")
    from rpgres.plugins.loading import checked

    rules = checked(data.rules(opt.read_switches(shared["switch"])))
    inputs = opt.given_inputs(values)
    named = opt.policy_names(rules, names=shared["policy"], auto=shared["auto"])

    def policies(prepared: Prepared) -> dict[str, Policy]:
        return opt.read_policies(prepared, names=shared["policy"], auto=shared["auto"])

    by = opt.read_by(shared["by"])
    weighed = _weighed(rules, action, shared, is_named="*" in named)
    weigh: Callable[..., Odds] = partial(outcome_odds, games=GAMES)
    if weighed != "policies" and "*" not in named:  # the others decide by what they would do when nobody says
        shared["auto"] = True
        named = {**opt.policy_names(rules, names=(), auto=True), **named}
    if weighed == "each" and not shared["each"] and _missing_hand(rules, action, inputs):
        weighed = "policies"  # nobody asked for cards to be weighed, so what hands come to is told
    if weighed != "policies":
        _require_hand(rules, action, inputs)
        from rpgres.odds.optimal import weigh_best

        if weighed == "best":
            named = {**named, "actor": "best"}
        weigh = partial(weigh_best, only_first=weighed == "each")
    opposition = missing_opposition(rules, action, inputs)
    if opposition is not None and by != "outcome":
        raise UsageError(f"--by needs one opposition: give --{opposition}")
    if opposition is not None:
        ladder = ladder_odds(
            rules,
            action,
            inputs,
            opposition=opposition,
            choose=choose,
            policies=policies,
            named=named,
            leaves=leaves,
            seconds=seconds,
            note=shared["note"],
            weigh=weigh,
        )
        if shared["json"]:
            say_json(ladder)
            return
        from rpgres.cli.render.odds import ladder_lines

        say(ladder_lines(ladder, data.file), is_plain=shared["plain"])
        return
    prepared = prepare(rules, action, inputs)
    answers: dict[str, Any] = {"choose": answers_to(prepared, choose), "policies": policies(prepared)}
    if weighed != "policies":
        from rpgres.odds.optimal import best_odds

        end = monotonic() + seconds if seconds is not None else None
        exact = seconds * EXACT_SHARE if seconds is not None else None
        best = best_odds(prepared, **answers, leaves=leaves, seconds=exact, only_first=weighed == "each")
        odds = best.odds(prepared)
        choices = best.records(prepared, samples=_samples(prepared, best, answers, end=end))
    else:
        odds, choices = weigh(prepared, **answers, leaves=leaves, seconds=seconds, by=by), []
    record = odds_record(prepared, odds, policies=named, choices=choices, note=shared["note"], by=by, weighed=weighed)
    if shared["json"]:
        say_json(record)
        return
    from rpgres.cli.render.odds import odds_lines

    say(odds_lines(record, data.file, bars=_bars(is_plain=shared["plain"])), is_plain=shared["plain"])


def _weighed(rules: Rules, action: str, shared: Mapping[str, Any], *, is_named: bool) -> Weighed:
    """Return who decides for whoever acts.

    Raises:
        UsageError: it was said twice, or numbers are to be weighed, of which none is the best.
    """
    asked: list[Weighed] = [one for one in ("best", "each") if shared[one]]
    if len(asked) > 1:
        raise UsageError("--best has who acts decide well every time, --each only the first time; take one of them")
    weighed = asked[0] if asked else "policies" if is_named else rules.file.actions[action].odds
    if weighed != "policies" and shared["by"] is not None and shared["by"] != "outcome":
        raise UsageError(f"--by weighs numbers and --{weighed} weighs success; take one of them, or name a --policy")
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
    open_ones = [choice.option for choice in best.choices if choice.value.open > REST]
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
            f"odds of deciding well need --{name} {metavar(parameter, name)}: {parameter.help.partition(' (')[0]}; "
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

    record = dice_odds(notation, note=values["note"])
    if values["json"]:
        say_json(record)
        return
    from rpgres.cli.render.odds import dice_odds_lines

    say(dice_odds_lines(record, bars=_bars(is_plain=values["plain"])), is_plain=values["plain"])


def _bars(*, is_plain: bool) -> int:
    """Return how many columns there are for a bar, 0 where bars would be noise."""
    if is_plain or not is_terminal():
        return 0
    from shutil import get_terminal_size

    return max(8, min(50, get_terminal_size().columns - 46))


class OddsGroup(PlayGroup):
    """What can be weighed."""

    verb = Verb(
        "odds", ACTION_OPTIONS, DICE_OPTIONS, "Work out the exact chances of dice.", weigh_action, weigh_notation
    )


app = typer.Typer(
    cls=OddsGroup,
    add_completion=False,
    help="""Work out the exact chances of an action's outcomes, or of dice.

    `rpgres odds fate overcome --skill 3 --vs 4dF+2` follows the rules through everything the dice can show; without
    --vs it does so against every rung of the ladder, with advice on which to take.

    `rpgres odds 4d6kh3` weighs dice; `rpgres odds 4d6kh3 --help` explains the notation.""",
    short_help="Work out the exact chances of an action's outcomes, or of dice.",
    subcommand_metavar="RULESET ACTION [OPTIONS] | NOTATION [OPTIONS]",
)
