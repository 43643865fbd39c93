"""Short lines: `mara attack thug with fight` as the options it stands for. Only what the ruleset declares decides.

A word behind an action is read so: the name of a parameter or label takes the next word (`bonus 2`, `price cost`), and
so does a word that the action's sentence has before a parameter (`with {skill}`), or `vs`, `with`, ... by its kind. Any
other word goes to the parameter that can read it, those that are required first, numbers in the order of the
parameters. Where that leaves two readings, the line is unclear: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rpgres.cli.options import hoist
from rpgres.cli.short.fitting import Reading, Scope, Words, hand_of, who_is_named
from rpgres.cli.short.line import Line, Unclear, typed_apart
from rpgres.errors import UsageError
from rpgres.model.state import State, slug
from rpgres.parameters.ability import ability_names
from rpgres.parameters.context import ACTOR, SHEET
from rpgres.parameters.plain import sheet_of
from rpgres.rulesets import Rules, unknown

if TYPE_CHECKING:
    from rpgres.cli.dynamic import ActionCommand, Verb
    from rpgres.plugins.data import RulesetData

__all__ = ["Reading", "Scope", "Unclear", "Words", "hand_of", "lengthened", "typed_apart", "who_is_named"]


def lengthened(scope: Scope, action: str, words: Sequence[str]) -> list[str]:
    """Return a line behind an action with options in place of its bare words; what was typed as options stays.

    Raises:
        Unclear: it could mean several things.
        UsageError: a word is unknown.
    """
    line = Line(Words(scope, action), _with_names(scope, words))
    options = [line.all[start].partition("=")[0] for start, _ in line.spans]
    if not line.bare or any(name not in scope.options for name in options if name != "--"):
        return list(words)  # an unknown option is reported where options are read
    line.bind_keywords()
    line.bind_rest()
    return line.written()


def _with_names(scope: Scope, words: Sequence[str]) -> list[str]:
    """Return a line in which the words of a name that is known, such as `Mara Quill`, are one."""
    people = scope.state.characters.values()
    titles = [one.title for one in people] + [tag.name for tag in scope.state.tags]
    titles += [*ability_names(scope.rules), *(name for one in people for name in one.abilities)]
    known = {slug(title): title for title in titles if "-" in slug(title)}
    longest = max((len(text.split("-")) for text in known), default=0)
    bare = typed_apart(words, scope.options)[0]
    joined: list[str] = []
    place = 0
    while place < len(words):
        lengths = range(min(longest, len(words) - place), 1, -1)
        spans = [length for length in lengths if all(place + more in bare for more in range(length))]
        said = ((length, slug(" ".join(words[place : place + length]))) for length in spans)
        length, name = next(((length, known[text]) for length, text in said if text in known), (1, words[place]))
        joined.append(name)
        place += length
    return joined


def scope_of(command: ActionCommand, words: Sequence[str]) -> Scope:
    """Return what may be named on the line of an action's command.

    Args:
        words: the line behind it, which may name the actor's sheet, or a table and the actor there.
    """
    verb, data = command.verb, command.data
    rules = data.without_code()
    state, actor = verb.table(words) if verb.table is not None else _with_sheet(rules, words)
    return Scope(rules, state, actor, command.takes, is_seated=verb.is_seated)


def _with_sheet(rules: Rules, words: Sequence[str]) -> tuple[State, str]:
    """Return a table with the actor of a line that names the actor's sheet, or with no character."""
    name = option_in(words, SHEET)
    character = sheet_of(rules, name) if name else None
    return (State(), ACTOR) if character is None else (State().with_character(character), character.name)


def option_in(words: Sequence[str], name: str) -> str:
    """Return the value of an option on a line that is not parsed yet; empty where it is not typed."""
    for place, word in enumerate(words):
        if word == f"--{name}" and place + 1 < len(words):
            return words[place + 1]
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
    return ""


def actor_behind(verb: Verb, data: RulesetData, args: Sequence[str]) -> list[str]:
    """Return a line that begins with who acts (`mara overcome ...`) with the action first, and an option for who.

    Raises:
        UsageError: a character is named, and no action behind it.
    """
    state = verb.table(args)[0] if verb.table is not None else State()
    who = who_is_named(data.without_code(), state, args[0].rstrip(":"))
    if who is None:
        return list(args)
    behind = hoist(args[1:], {name: one for one in verb.options for name in one.names})
    action, *rest = behind[1:] if behind[:1] == ["--"] else behind or [""]
    if action == "":
        raise UsageError(f"{who}: name an action: {', '.join(data.file.actions)}")
    if action not in data.file.actions:
        raise UsageError(unknown("action", action, data.file.actions, of=f"the ruleset {data.id}"))
    return [action, "--actor" if verb.is_seated else f"--{SHEET}", who, *rest]
