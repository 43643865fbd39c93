"""`rpgres ruleset`: list rulesets and show what is in one. What that is, is told by `rpgres.descriptions`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rpgres.cli.annotations import AsJson, AsWords, Folders, RulesetId
from rpgres.cli.options import SWITCH

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List rulesets and show what is in one.")


@app.command("list")
def list_all(as_json: AsJson = False, plain: AsWords = False) -> None:
    """List the rulesets there are."""
    from rpgres.cli.output import say, say_json
    from rpgres.descriptions import RulesetList
    from rpgres.plugins import ruleset_names
    from rpgres.render.rulesets import ruleset_list_lines

    names = ruleset_names()
    if as_json:
        say_json(RulesetList(rulesets=names))
    else:
        say(ruleset_list_lines(names), is_plain=plain)


def _complete_actions(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    from rpgres.plugins import find_ruleset
    from rpgres.rulesets import load_rules

    typed: dict[str, Any] = ctx.params
    actions = load_rules(find_ruleset(typed.get("ruleset") or "")).file.actions
    return [(name, action.summary) for name, action in actions.items() if name.startswith(incomplete)]


@app.command("show")
def show(
    ruleset: RulesetId,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="[ACTION]",
            help="Show this action with its outcome tables.",
            show_default=False,
            autocompletion=_complete_actions,
        ),
    ] = None,
    switch: Annotated[
        list[str] | None, typer.Option("--switch", metavar=SWITCH.metavar, help=SWITCH.help, show_default=False)
    ] = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Show what is in a ruleset: actions, outcomes, labels, house rules, policies and effects.

    Labels are the names behind --given and --choose.
    """
    from rpgres.cli.options import read_folders, read_switches
    from rpgres.cli.output import say, say_json
    from rpgres.descriptions import ActionDescription, describe_action, describe_ruleset
    from rpgres.plugins import find_ruleset
    from rpgres.render.rulesets import action_lines, ruleset_lines
    from rpgres.rulesets import load_rules

    folders = read_folders(rulesets or ())
    rules = load_rules(find_ruleset(ruleset, extra=folders), switches=read_switches(switch or ()), extra=folders)
    described = describe_ruleset(rules) if action is None else describe_action(rules, action)
    if as_json:
        say_json(described)
    elif isinstance(described, ActionDescription):
        say(action_lines(described, rules.switches), is_plain=plain)
    else:
        say(ruleset_lines(described), is_plain=plain)
