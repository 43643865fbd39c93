"""Acting at a persistent table: actions of its ruleset, their exact odds, and periods that begin and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs

from rpgres.cli.annotations import spread
from rpgres.cli.commands.table.common import AnswerOptions, app, run_at
from rpgres.cli.dynamic import RulesetGroup, Verb
from rpgres.cli.lazy import Command, LazyGroup
from rpgres.cli.options import folders_in, hoist, values_in
from rpgres.cli.output import READER
from rpgres.cli.tables import AtTable, TableOptions
from rpgres.errors import RpgresError, UsageError, enumerated
from rpgres.journal.commands import act, actor_of, rules_of, turn
from rpgres.lines.options import ACT_OPTIONS, ACTOR, SEAT, TABLE, given_inputs
from rpgres.plugins.loading import read_ruleset

if TYPE_CHECKING:
    from rpgres.engine.hidden import Start
    from rpgres.model.state import State
    from rpgres.plugins.loading import RulesetData
    from rpgres.rulesets import Rules


def act_with(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Resolve an action at the table and print the result; exit with the code it calls for."""
    from rpgres.cli.asking.real import plus_words
    from rpgres.render.results import action_lines

    shared = {option.name: values.pop(option.name) for option in ACT_OPTIONS}
    options = TableOptions(shared["as"], shared["table"], shared["rulesets"], shared["json"])
    real = shared["real_dice"]
    answers = AnswerOptions(shared["given"], shared["choose"], shared["auto"], shared["policy"], real)
    inputs, actor = given_inputs(values), shared["actor"] or ""
    heading = action_lines(action, actor=actor, inputs={key.replace("_", "-"): value for key, value in inputs.items()})
    plus = plus_words(data.file, action, inputs) if real else ""
    arguments = answers.arguments(options, heading=heading, actor=actor, plus=plus)
    arguments |= {"actor": actor, "note": shared["note"], "exit_code": shared["exit_code"]}
    run_at(options, act, action, inputs, **arguments)


def _typed(words: Sequence[str], name: str) -> str | None:
    return next(iter(values_in(words, name)), None)


def seen_at(words: Sequence[str]) -> tuple[State, str]:
    """Return the table that a line names, as its seat sees it, and who acts by it; empty where that is not clear."""
    options = AtTable(_typed(words, "as"), _typed(words, "table"))
    _, history = options.read()
    try:
        actor = actor_of(history, _typed(words, "actor") or "", options.who)
    except UsageError:
        actor = ""
    return history.state.seen_by(options.who), actor


ACT = Verb("act", ACT_OPTIONS, act_with, table=seen_at)


class ActGroup(LazyGroup):
    """The actions of the ruleset that is played at the table found here."""

    heading = "Actions"
    line: Sequence[str] = ()  # what was typed, which may name the table

    @property
    def verb(self) -> Verb:
        """What is done with an action."""
        return ACT

    def entries(self) -> Mapping[str, str]:
        """Return the actions with their summaries; none where there is no table."""
        try:
            return {name: action.summary for name, action in _data(self.line).file.actions.items()}
        except RpgresError:
            return {}

    def forget(self) -> None:
        """Forget the table that was named last."""
        self.line = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line up to the action."""
        self.line = tuple(args)
        READER.table = _typed(args, "table") or ""  # which the lines that a fault tells to type name, too
        return super().parse_args(ctx, hoist(args, self.verb.options))

    def missing(self, ctx: Any) -> str:
        """Return the message of a line that names no action."""
        return f"name an action: {enumerated(_data(self.line).file.actions)}; --help explains them"

    def load(self, name: str, args: Sequence[str]) -> Command:
        """Return the command of an action."""
        return RulesetGroup(self.verb, _data(args)).load(name, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command of the action that is called; before its name may stand who acts."""
        if ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        return RulesetGroup(self.verb, _data(args)).resolve_command(ctx, args)


def _data(args: Sequence[str]) -> RulesetData:
    """Return the data of the ruleset of the table that a line names, which is not parsed yet."""
    from rpgres.journal.commands.writing import needed

    ruleset, folders = AtTable(table=_typed(args, "table")).ruleset()
    with needed(ruleset):
        return read_ruleset(ruleset, extra=(*folders, *folders_in(args)))


app.add_typer(
    typer.Typer(
        cls=ActGroup,
        rich_markup_mode=None,
        help="Resolve an action at the table.",
        subcommand_metavar="ACTION [OPTIONS]",
    ),
    name="act",
)


# ---------------------------------------------------------------------------------------------------------------------
# `rpgres table odds`

OWN = (structs.replace(ACTOR, help="The character whose action it is, if the seat has several."), SEAT, TABLE)


def print_odds_at(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Print the chances of an action at the table."""
    from rpgres.cli.commands.odds import print_action_odds

    own = {option.name: values.pop(option.name) for option in OWN}
    options = AtTable(own["as"], own["table"], values["rulesets"])

    def sits(switches: dict[str, str]) -> tuple[Rules, Start]:
        from rpgres.journal.odds import start_at

        place, history = options.read()
        rules = rules_of(history, folders=place.folders)
        start = start_at(rules, history, action, actor=own["actor"] or "", seat=options.who)
        return (rules.with_switches({**rules.chosen, **switches}) if switches else rules), start

    print_action_odds(data, action, values, sits=sits)


class OddsGroup(ActGroup):
    """The actions of the ruleset that is played at the table found here, to be evaluated."""

    @property
    def verb(self) -> Verb:
        """What is done with an action; `rpgres odds`, whose options are taken, is imported only when it is called."""
        from rpgres.cli.commands import odds
        from rpgres.cli.commands.scene_odds import PROCEDURE_OPTIONS

        actions, procedures = (*OWN, *odds.ACTION_OPTIONS), (*OWN, *PROCEDURE_OPTIONS)
        return Verb("table odds", actions, print_odds_at, procedure_options=procedures, table=seen_at)


app.add_typer(
    typer.Typer(
        cls=OddsGroup,
        rich_markup_mode=None,
        help="""Compute the exact probabilities of an action at the table, with its state.

        Hands, points and aspects are those of the table, as far as the seat (--as) knows them: every hand that it does
        not see counts as all that it may be, and anything else that is hidden from it does not count. What is typed
        counts in place of what is there; while an action waits, it is the table before it. Nothing is written.""",
        short_help="Compute the exact probabilities of an action at the table.",
        subcommand_metavar="ACTION [OPTIONS]",
    ),
    name="odds",
)


# ---------------------------------------------------------------------------------------------------------------------
# Periods


@app.command("begin")
@spread
def begin(
    period: Annotated[
        str,
        typer.Argument(
            metavar="[PERIOD]", help="The period: a scene, or another one of the ruleset.", show_default="scene"
        ),
    ] = "",
    *,
    answers: AnswerOptions,
    options: TableOptions,
) -> None:
    """Begin a scene, an exchange, a round: the ruleset does what it does then."""
    run_at(options, turn, "begin", period, **answers.arguments(options))


@app.command("end")
@spread
def end(
    period: Annotated[
        str,
        typer.Argument(
            metavar="[PERIOD]",
            help="The period to end, with all that began in it; or a procedure that is under way, such as a conflict.",
            show_default="what began last",
        ),
    ] = "",
    *,
    answers: AnswerOptions,
    options: TableOptions,
) -> None:
    """End what began: the ruleset cleans up, boosts fade and the like.

    A procedure that waits for a decision ends before it is over: what its finished turns did stays, the turn under way
    has no effect. Only the game master, or the host, can end it.
    """
    run_at(options, turn, "end", period, **answers.arguments(options))
