"""Hints for words that are no command or option here: the line or option that does it."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rpgres.lines.hints import option_for
from rpgres.model.state import GM
from rpgres.toml.diagnostics import nearest

if TYPE_CHECKING:
    from rpgres.journal.history import History

# The line to type, by the words that people type in place of a command.
_LINES = {
    "rpgres --version": "version about",
    "rpgres ruleset list": "list ls rulesets systems games",
    "rpgres roll 4dF+3": "dice r throw resolve do",
    "rpgres odds 4d6kh3": "probability probabilities prob chance chances stats statistics anydice",
    "rpgres scene run fate/bribe": "run script scenario encounter",
    "rpgres table new fate --sheet mara": "new init start campaign session",
    "rpgres sheet show mara": "character char pc npc",
    "rpgres deck list": "card cards",
    "rpgres deck draw standard": "draw deal",
    "rpgres ruleset show fate": "rule rules show",
    "rpgres table log": "log history",
    "rpgres table show": "save load continue resume next",
    "rpgres table status": "status",
    "rpgres table act": "act action",
    "rpgres table answer": "answer choose",
    "rpgres table undo": "undo",
    "rpgres table redo": "redo",
    "rpgres table set edda=absent": "leave kick remove",
    "rpgres config show": "settings options preferences",
    "rpgres help": "man manual docs doc guide tutorial ?",
    "rpgres play": "shell repl interactive sit",
}


def line_for(word: str) -> str:
    """Return the line for a word that is no command; empty where it is unknown."""
    if " " in word:
        return f"rpgres {word}"  # quotes made one word of the line
    return next((line for line, words in _LINES.items() if word.lower() in words.split()), "")


def lines_for_character(name: str, words: Sequence[str]) -> list[str]:
    """Return the lines for one that is typed as at `rpgres play`: a character, and what it does; else none."""
    from rpgres.catalog.listed import list_files
    from rpgres.catalog.sheets import sheet_ruleset
    from rpgres.cli.shell import join_line
    from rpgres.errors import RpgresError
    from rpgres.plugins.loading import read_ruleset
    from rpgres.rulesets.sheets import file_here

    table = _table_here()
    if table is not None and name in table.state.characters:
        is_action = bool(words) and words[0] in _actions(table)
        if not words:
            return [f"rpgres table show {name}"]
        return [join_line(["rpgres", "table", "act", name, *words]), "rpgres play"] if is_action else []
    sheets = [one.ruleset for one in list_files("sheet").files if one.name == name]
    if sheets and not words:
        return [f"rpgres sheet show {name}"]
    if not sheets and file_here(name) != name:
        with suppress(RpgresError):
            sheets = [sheet_ruleset(name)]
    having = [one for one in sheets if words[0] in read_ruleset(one).file.actions]
    return [join_line(["rpgres", "roll", one, words[0], "--sheet", name, *words[1:]]) for one in having[:1]]


def _table_here() -> History | None:
    """Return the journal of the table that is kept here; None where there is none."""
    from rpgres.cli.tables import AtTable
    from rpgres.errors import RpgresError
    from rpgres.journal.store import read

    try:
        return read(AtTable().look_up().path)
    except RpgresError:
        return None


def line_in_group(path: str, word: str, commands: Collection[str]) -> str:
    """Return the line that was meant by a word behind a group that names none of its commands; empty for none.

    Args:
        path: the group as typed: `rpgres scene`.
    """
    if (line := line_for(word)).startswith(f"{path} "):
        return line
    if word in ("create", "add", "make", "init") and "new" in commands:
        return f"{path} new"
    usual = next((name for name in ("run", "act", "show") if name in commands), "")  # what is done most with its things
    is_name = word not in ("list", "ls", "all", "new", "create", "add", "delete", "remove", "help")
    if not usual or not is_name or nearest(word, commands):
        return ""
    history = _table_here() if usual == "act" else None  # without one any word may begin a line of an action
    if history is not None and word not in history.state.characters and word not in _actions(history):
        return ""
    return f"{path} {usual} {word}"


def _actions(history: History) -> Collection[str]:
    """Return the actions at a table; none where its ruleset is not found, of which another message tells."""
    from rpgres.errors import RpgresError
    from rpgres.journal.files import folders_of
    from rpgres.plugins.loading import read_ruleset

    try:
        return read_ruleset(history.new.public.ruleset, extra=folders_of(history)).file.actions
    except RpgresError:
        return ()


def extra_word(word: str, context: Any) -> str:
    """Return what to say of a word that a command has no place for, with the way in which it takes such a one.

    Args:
        word: the first that is too much.
    """
    takes = context.command.get_params(context)
    options = {name for one in takes for name in one.opts}
    arguments = {one.metavar for one in takes if one.param_type_name == "argument"}
    if context.command_path == "rpgres play":
        return f"; {_play_line(word)}"
    if "PATH=VALUE" in arguments:
        return "; PATH=VALUE is one word, as in mara.fate-points=2; quotes make one of several"
    if "--sheet" in options:
        return f"; a sheet is named with --sheet {word}"
    if "TEXT" in arguments:
        return "; quotes make one text of several words"
    return f"; a file to write is named with --out {word}" if "--out" in options else ""


def _play_line(word: str) -> str:
    """Return what stands for a word behind `rpgres play`: a table, a seat at the one kept here, or a ruleset."""
    table = _table_here()
    if os.path.exists(word):
        return f"a table is named with --table {word}"
    if table is not None and word in (*table.state.characters, GM):
        return f"a seat is named with --as {word}"
    return "it needs an existing table: `rpgres table new RULESET --sheet FILE` creates one"


def _with_one_dash(typed: str, known: Collection[str]) -> str:
    """Return what an option with one dash means, as a phrase: the parser found its first letter alone."""
    words = [word.partition("=")[0] for word in sys.argv[1:] if word.startswith(typed) and len(word) > 2]
    meant = next((f"-{word}" for word in words if f"-{word}" in known), "")
    return f"options have two dashes: {meant}" if meant else ""


def no_option(path: str, option: str, context: Any) -> str:
    """Return what to say of an option that a command does not have, with the one that may be meant."""
    from rpgres.rulesets import unknown

    known = [name for param in context.command.get_params(context) for name in param.opts if name.startswith("--")]
    meant = _with_one_dash(option, known) if len(option) == 2 else option_for(option, known)
    message = f"{path} has no option {option!r}; {meant}" if meant else unknown("option", option, known, of=path)
    is_play = hasattr(context.command, "verb") and hasattr(context.command, "entries")
    return f"{message} (options of an action follow its name)" if is_play else message
