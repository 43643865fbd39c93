"""Command lines as text, quoted for the shell in use.

The shell is told by what it leaves in the environment; RPGRES_SHELL says it where that is wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from rpgres.errors import UsageError

Shell = Literal["posix", "powershell", "cmd"]
SHELL_ENV = "RPGRES_SHELL"

_PLAIN = r"(?a)[\w./:=+@%,-]+"  # what needs no quotes
_PLAIN_WINDOWS = r"(?a)(?!-\w.*[.:])[\w./:=+\\-]+"  # PowerShell makes two words of -a.b
_QUOTES = "['\\u2018-\\u201b]"  # each of which ends a literal of PowerShell
# Every quote begins or ends what is quoted for cmd, even after a backslash: two keep it in step. It looks for %NAME%
# within quotes too, but nothing has the name that a caret outside of them makes. Backslashes count before a quote only.
_IN_CMD = {'"': '""', "%": '"^%"', "": ""}


def shell_in_use(environment: Mapping[str, str] = os.environ, *, is_windows: bool = os.name == "nt") -> Shell:
    """Return the shell that command lines are typed into.

    Args:
        environment: the variables of this process.
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
    if re.fullmatch(_PLAIN if shell == "posix" else _PLAIN_WINDOWS, word):
        return word
    if shell == "posix":
        return "'" + word.replace("'", "'\"'\"'") + "'"
    if shell == "powershell":
        return "'" + re.sub(_QUOTES, r"\g<0>\g<0>", word) + "'"
    if re.search(r"[\r\n]", word):
        raise UsageError(
            f"a line for cmd cannot have the line break of {word!r}; use PowerShell, or set {SHELL_ENV}=powershell"
        )
    return '"' + re.sub(r'(\\*)("|%|$)', lambda found: found[1] * 2 + _IN_CMD[found[2]], word) + '"'
