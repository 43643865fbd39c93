"""Command lines as text, quoted for the shell; the line that resumes an action with a pending decision."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from rpgres.cli.output import READER

if TYPE_CHECKING:
    from rpgres.engine.records import Pending
    from rpgres.rulesets import Rules

IS_WINDOWS = os.name == "nt" and not os.environ.get("SHELL")  # not a shell of MSYS or Cygwin
_PLAIN = re.compile(r"[\w./:=+\\-]+", re.ASCII)  # needs no quotes on Windows


def join_line(words: Iterable[str], *, is_windows: bool = IS_WINDOWS) -> str:
    """Return a command line that a shell splits into these words again.

    On Windows, words that need it are in double quotes, which cmd and PowerShell both know; cmd still replaces `%NAME%`
    in them, and PowerShell `$name`.

    >>> join_line(["rpgres", "--note", "two words", "C:\\sheets\\a.toml"], is_windows=True)
    'rpgres --note "two words" C:\\sheets\\a.toml'
    """
    if not is_windows:
        return shlex.join(words)
    return " ".join(word if _PLAIN.fullmatch(word) else _in_quotes(word) for word in words)


def _in_quotes(word: str) -> str:
    return '"' + re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), word) + '"'


# ---------------------------------------------------------------------------------------------------------------------
# The line that goes on


def resumed(pending: Pending, rules: Rules, *, command: Sequence[str] = (), more: Sequence[str] = ()) -> Pending:
    """Return what waits with the command line that runs it again up to its question, with the place for the answer.

    Every answer so far is repeated, decisions and dice, so that it is the same run however they were answered.

    Args:
        command: what stands before its inputs; by default it is rolled.
        more: what stands at the end.
    """
    words = ["rpgres", *(command or ("roll", pending.ruleset, pending.action))]
    for name, value in pending.inputs.items():
        words += _option(name, value)
    for name, value in pending.switches.items():
        words += ["--switch", f"{name}={value}"] if value != rules.default_switch(name) else []
    for answer in pending.answers:
        words += ["--given" if answer.kind == "chance" else "--choose", f"{answer.key}={answer.value}"]
    words += [f"--note={pending.note}"] if pending.note else []
    question = pending.question
    example = question.options[0].name if question.options else question.form or "..."
    words += [f"--seed={pending.seed}", "--choose", f"{question.typed}={example}"]
    for answer in pending.unused:
        words += ["--choose", f"{answer.key}={answer.value}"]
    return structs.replace(pending, resume=join_line([*words, *more]))


def _option(name: str, value: Any) -> list[str]:
    if value is True:
        return [f"--{name}"]
    if value is False:
        return []
    if isinstance(value, list | tuple):
        return [word for one in value for word in _option(name, one)]
    if isinstance(value, Mapping) and "name" in value:  # a form as a scene writes it
        said = ",".join(f"{key}={one}" for key, one in value.items() if key != "name")
        value = f"{value['name']}:{said}" if said else value["name"]
    elif isinstance(value, Mapping):  # an opposition as a scene writes it
        ability = next((part for key, part in value.items() if key != "character"), "")
        value = f"{value.get('character')}:{ability}"
    text = str(value)
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]


def kept_options(shared: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return options of a line that its resumed one needs as well, as words."""
    words = list(READER.typed)
    for name in names:
        value, typed = shared[name], f"--{name.replace('_', '-')}"
        several: Sequence[str] = value if isinstance(value, list | tuple) else [value] if isinstance(value, str) else ()
        words += [word for one in several for word in (typed, one)] or ([typed] if value is True else [])
    return words
