"""The command line as tests run it: in this process, with the terminal's width and colours fixed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import Any, NamedTuple

from typer.testing import CliRunner

from rpgres.cli.root import app
from rpgres.cli.streams import is_terminal

FIXED = {
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "XDG_CONFIG_HOME": os.devnull,  # nobody's own house rules
    "RPGRES_RULESETS": "",
    "RPGRES_DEBUG": "",
}


class Ran(NamedTuple):
    """What a command line left behind."""

    code: int
    out: str
    err: str


def rpgres(*args: str, stdin: str | bytes | None = None, **environment: str) -> Ran:
    """Run a command line in this process. Standard output is no terminal."""
    done = CliRunner().invoke(app, args, input=stdin, env={**FIXED, **environment}, prog_name="rpgres")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


def on_screen(*args: str, columns: int = 80, **environment: str) -> Ran:
    """Run a command line in this process as if its output were a terminal of so many columns, without colours."""
    code = is_terminal.__code__
    try:
        # Not by `patch`: modules that are loaded here for the first time would keep by name what stands in for it.
        is_terminal.__code__ = (lambda: True).__code__
        return rpgres(*args, COLUMNS=str(columns), **environment)
    finally:
        is_terminal.__code__ = code


def as_json(*args: str, code: int = 0) -> Any:
    """Return the one JSON object that a command line prints."""
    ran = rpgres(*args, "--json")
    assert (ran.code, ran.err) == (code, "")
    return json.loads(ran.out)


def complaint(*args: str, code: int = 2, **settings: Any) -> str:
    """Return what a faulty command line is told; nothing goes to standard output."""
    ran = rpgres(*args, **settings)
    assert ran.code == code, ran
    assert ran.out == ""
    assert ran.err.startswith("rpgres: ")
    assert "Traceback" not in ran.err
    return ran.err.removeprefix("rpgres: ").removesuffix("\n")


def completions(line: str) -> list[str]:
    """Return what a shell would offer at the end of a line."""
    words = line.split(" ")
    environment = {"_RPGRES_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return rpgres(**environment).out.split()


PROGRAM = [sys.executable, "-P", "-c", "from rpgres.cli import main; main()"]

# What other hash seeds find is tested in tests/conformance.
FEW_PROCESSES = "from rpgres.conformance import subprocess as own\nown.HASH_SEEDS, own.MORE_HASH_SEEDS = ('1',), ()\n"
CHECKING = [*PROGRAM[:-1], FEW_PROCESSES + PROGRAM[-1]]  # of plugins, by one process more and not by six


def in_shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in a shell of its own, where its streams can be closed."""
    program = shlex.join(PROGRAM)
    return subprocess.run(
        ["sh", "-c", line.replace("rpgres", program, 1)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **FIXED},
    )
