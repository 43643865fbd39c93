"""Command lines as text, quoted for the shell in use; the line that resumes an action with a pending decision.

The shell is told by what it leaves in the environment; RPGRES_SHELL says it where that is wrong.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import structs

from rpgres.cli.output import READER, warn
from rpgres.errors import UsageError

if TYPE_CHECKING:
    from rpgres.engine.records import Pending
    from rpgres.rulesets import Rules

Shell = Literal["posix", "powershell", "cmd"]
SHELL_ENV = "RPGRES_SHELL"

_PLAIN = r"(?a)(?!-\w.*[.:])[\w./:=+\\-]+"  # what needs no quotes on Windows; PowerShell makes two words of -a.b
_QUOTES = "['\\u2018-\\u201b]"  # each of which ends a literal of PowerShell
# Every quote begins or ends what is quoted for cmd, even after a backslash: two keep it in step. It looks for %NAME%
# within quotes too, but nothing has the name that a caret outside of them makes. Backslashes count before a quote only.
_IN_CMD = {'"': '""', "%": '"^%"', "": ""}


def shell_in_use(environment: Mapping[str, str] = os.environ, *, is_windows: bool = os.name == "nt") -> Shell:
    """Return the shell that command lines are typed into.

    Args:
        is_windows: whether it runs on Windows, where PowerShell and cmd are told apart by the folders of modules that
            PowerShell adds for its own processes; a shell of MSYS or Cygwin is known by its own variables.
    """
    said = environment.get(SHELL_ENV, "").strip().lower()
    for known in get_args(Shell):
        if said == known:
            return known  # type: ignore[no-any-return]
    if not is_windows or environment.get("MSYSTEM") or environment.get("SHELL"):
        return "posix"
    return "powershell" if len(environment.get("PSModulePath", "").split(";")) > 2 else "cmd"


def join_line(words: Iterable[str], *, shell: Shell | None = None) -> str:
    """Return a command line that a shell splits into these words again.

    >>> join_line(["rpgres", "--vs", "O'Brien:fight", "C:\\\\my sheets\\\\a.toml"], shell="powershell")
    "rpgres --vs 'O''Brien:fight' 'C:\\\\my sheets\\\\a.toml'"
    """
    return " ".join(quoted(word, shell=shell or shell_in_use()) for word in words)


def quoted(word: str, *, shell: Shell) -> str:
    """Return a word as it is typed into a shell.

    PowerShell before 7.3 takes the double quotes out of a word that it hands to a program, however it is quoted.

    Raises:
        UsageError: the shell has no way to type it, a line break in cmd.
    """
    if shell == "posix":
        return shlex.quote(word)
    if re.fullmatch(_PLAIN, word):
        return word
    if shell == "powershell":
        return "'" + re.sub(_QUOTES, r"\g<0>\g<0>", word) + "'"
    if re.search(r"[\r\n]", word):
        raise UsageError(
            f"a line for cmd cannot have the line break of {word!r}; use PowerShell, or set {SHELL_ENV}=powershell"
        )
    return '"' + re.sub(r'(\\*)("|%|$)', lambda found: found[1] * 2 + _IN_CMD[found[2]], word) + '"'


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
    try:
        return structs.replace(pending, resume=join_line([*words, *more]))
    except UsageError as error:  # the question counts more than the line
        warn(f"no line to continue with is shown: {error.message}")
        return pending


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
