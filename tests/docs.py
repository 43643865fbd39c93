"""Fenced blocks of the documentation, run as a reader would: files written, commands typed, output compared.

`python tests/docs.py FILE...` rewrites the output of every `console` block with what the commands print now.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROOT = Path(__file__).parent.parent


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it begins on."""

    language: str
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a Markdown text that name a language."""
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]


def commands_of(block: str) -> list[tuple[str, str]]:
    """Return the commands of a console block (lines that begin with `$ `), each with the output below it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            command, output = found.pop()
            found.append((command, output + line))
    return found


def reader_environment(home: Path) -> dict[str, str]:
    """Return the environment of a reader: this interpreter's scripts first, nothing of whoever runs the tests."""
    kept = {
        key: os.environ[key] for key in ("SYSTEMROOT", "LANG", "LC_ALL", "PYTHONDONTWRITEBYTECODE") if key in os.environ
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**kept, "PATH": path, "HOME": str(home), "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}


def type_in(command: str, *, folder: Path) -> str:
    """Return what a command prints, errors included, typed into a shell in a folder."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=reader_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return done.stdout.decode()


def write_file(block: str, *, folder: Path) -> None:
    """Write a block that begins with `# file: NAME` to that file."""
    first, _, _ = block.partition("\n")
    if first.startswith("# file: "):
        path = folder / first.removeprefix("# file: ").strip()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block, encoding="utf-8")


def run_python(block: str, *, name: str) -> list[str]:
    """Return what fails in a block of doctest examples."""
    failures: list[str] = []
    test = doctest.DocTestParser().get_doctest(block, {}, name, name, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    return failures


def rewrite(text: str) -> str:
    """Return a Markdown text whose console blocks show what their commands print now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def shown(match: re.Match[str]) -> str:
            if match[1] == "toml":
                write_file(match[2], folder=folder)
            if match[1] != "console":
                return match[0]
            typed = "".join(f"$ {command}\n{type_in(command, folder=folder)}" for command, _ in commands_of(match[2]))
            return f"```console\n{typed}```"

        return FENCE.sub(shown, text)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        page = Path(argument)
        page.write_text(rewrite(page.read_text(encoding="utf-8")), encoding="utf-8")
