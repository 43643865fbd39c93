"""Short lines on a command line: who acts, and what may be named by what stands there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rpgres.cli.options import hoist, values_in
from rpgres.errors import UsageError
from rpgres.lines.fitting import Scope, who_is_named
from rpgres.model.state import State
from rpgres.parameters.context import ACTOR, SHEET
from rpgres.parameters.plain import sheet_of
from rpgres.rulesets import unknown

if TYPE_CHECKING:
    from rpgres.cli.dynamic import ActionCommand, Verb
    from rpgres.plugins.data import RulesetData


def scope_of(command: ActionCommand, words: Sequence[str]) -> Scope:
    """Return what may be named on the line of an action's command.

    Args:
        words: the line behind it, which may name the actor's sheet, or a table and the actor there.
    """
    verb, data = command.verb, command.data
    rules = data.without_code()
    if verb.table is not None:
        return Scope(rules, *verb.table(words), command.takes, is_seated=True)
    names = values_in(words, SHEET)
    character = sheet_of(rules, names[0]) if names else None
    if character is None:
        return Scope(rules, State(), ACTOR, command.takes)
    return Scope(rules, State().with_character(character), character.name, command.takes)


def actor_behind(verb: Verb, data: RulesetData, args: Sequence[str]) -> list[str]:
    """Return a line that begins with who acts (`mara overcome ...`) with the action first, and an option for who.

    Raises:
        UsageError: a character is named, and no action behind it.
    """
    state = verb.table(args)[0] if verb.table is not None else State()
    who = who_is_named(data.without_code(), state, args[0].rstrip(":"))
    if who is None:
        return list(args)
    behind = hoist(args[1:], verb.options)
    action, *rest = behind[1:] if behind[:1] == ["--"] else behind or [""]
    if action == "":
        raise UsageError(f"{who}: name an action: {', '.join(data.file.actions)}")
    if action not in data.file.actions:
        raise UsageError(unknown("action", action, data.file.actions, of=f"the ruleset {data.id}"))
    return [action, "--actor" if verb.is_seated else f"--{SHEET}", who, *rest]
