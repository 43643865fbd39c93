"""`rpgres table odds`: the exact chances of an action at a persistent table, as a seat knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from msgspec import structs

from rpgres.cli.commands.table.acting import ActGroup, seen_at
from rpgres.cli.commands.table.common import TableOptions, app
from rpgres.cli.dynamic import Verb
from rpgres.journal.commands import rules_of
from rpgres.lines.options import ACTOR, SEAT, TABLE

if TYPE_CHECKING:
    from rpgres.engine.hidden import Start
    from rpgres.plugins.data import RulesetData
    from rpgres.rulesets import Rules

OWN = (structs.replace(ACTOR, help="The character whose action it is, if the seat has several."), SEAT, TABLE)


def print_odds_at(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Print the chances of an action at the table."""
    from rpgres.cli.commands.odds import print_action_odds

    own = {option.name: values.pop(option.name) for option in OWN}
    options = TableOptions(own["as"], own["table"], rulesets=values["rulesets"])

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
        taken: dict[str, Any] = {"is_seated": True, "procedure_options": procedures, "table": seen_at}
        return Verb("table odds", actions, print_odds_at, **taken)


app.add_typer(
    typer.Typer(
        cls=OddsGroup,
        add_completion=False,
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
