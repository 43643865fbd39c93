"""Fenced blocks of the documentation, run as a reader would: files written, commands typed, output compared.

A `console` block has commands behind `$ `; a `session` block has them, too, typed at a terminal, with answers behind
the questions that they ask; a `play` block is an evening at `rpgres play`, typed behind `> `. A `diff` block is what a
reader changes in a file.

`python tests/docs.py FILE...`, or `--all` (with the picture and the man pages), rewrites the output of every such block
with what is printed now, the `toml` blocks that show a file that ships (`# shipped: fate/gate`), and the sections
that are made from the code (`<!-- NAME -->` to `<!-- end -->`, see `faces` and `manual`). `python tests/docs.py --check
FILE...` types the commands in the folder where it runs, changes no page, and says what they print that differs.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GUIDE = sorted((ROOT / "rpgres" / "guide").glob("*.md"))
PAGES = [ROOT / "README.md", *GUIDE, ROOT / "rulesets" / "README.md", ROOT / "plugins" / "README.md"]
SECTION = re.compile(r"^<!-- (\w+) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
SHELL = "$`*?[]{}<>;&|~#!\\\n"  # what the shell does more with than to split words
TYPED = re.compile(r"(?:> |\w[\w ]*, [^?]*\? (?!\[))(\S.*)$")  # behind the sign, or behind `Mara, 4dF + Burglary?`
ASKED = re.compile(r"^[^$].*\? \[.*\] (?! )(.*)$", re.MULTILINE)  # a question with what Enter takes, and the answer
PASSING = re.compile(r"\r\x1b\[K(?:[^\r\n]*\r\x1b\[K)*")  # what a terminal shows only while work is done
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
        key: os.environ[key] for key in ("SYSTEMROOT", "LANG", "LC_ALL", "PYTHONPYCACHEPREFIX") if key in os.environ
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    installed = os.pathsep.join(str(info.parent) for info in sorted(home.glob("*/src/*.dist-info")))
    fixed = {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    own = {"HOME": str(home), "RPGRES_CONFIG": str(home / ".config" / "rpgres" / "config.toml")}  # on every platform
    return {**kept, **fixed, **own, "PATH": path, "PYTHONPATH": installed}


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
    return done.stdout.decode().replace(str(folder), "~")  # where the reader is at home


def type_quickly(command: str, *, folder: Path) -> str:
    """Return what `type_in` does; `rpgres` at the head of a line is run in this process, which spares its start.

    What the line pipes it into is left to the shell, and so is a line that begins with something else, in which the
    shell would have more to do than to split words.
    """
    reader = reader_environment(folder)
    head, _, rest = command.partition(" | ")
    name, *args = shlex.split(head) if head.count('"') % 2 == head.count("'") % 2 == 0 else [""]
    if name != "rpgres" or set(head) & set(SHELL):
        return type_in(command, folder=folder)
    from typer.testing import CliRunner

    from rpgres.cli.root import app

    environment = {**dict.fromkeys(os.environ), **reader, "TERM": "dumb"}
    with contextlib.chdir(folder), _installed(reader["PYTHONPATH"]):
        ran = CliRunner().invoke(app, args, env=environment, prog_name="rpgres")
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    if not rest:
        return ran.output.replace(str(folder), "~")
    done = subprocess.run(
        ["bash", "-c", rest], cwd=folder, env=reader, input=ran.stdout_bytes, stdout=subprocess.PIPE, check=False
    )
    return (ran.stderr + done.stdout.decode()).replace(str(folder), "~")


@contextlib.contextmanager
def _installed(path: str) -> Iterator[None]:
    """Have packages found, their code read anew and nothing written beside it, as in a process with this PYTHONPATH."""
    from rpgres.plugins import entries, importing

    if not path:
        yield
        return
    folders, modules, is_silent = path.split(os.pathsep), set(sys.modules), sys.dont_write_bytecode
    sys.path[:0], sys.dont_write_bytecode = folders, True
    caches = (entries._scan, importing.record_of)
    try:
        for cache in caches:
            cache.cache_clear()
        importlib.invalidate_caches()
        yield
    finally:
        del sys.path[: len(folders)]
        sys.dont_write_bytecode = is_silent
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(tuple(folders)):
                del sys.modules[name]
        for cache in caches:
            cache.cache_clear()


def played(block: str, *, folder: Path) -> str:
    """Return what a terminal shows of a `play` block: its first line starts `rpgres play`, others are typed there.

    Args:
        block: the command, then what is shown, in which a line that is typed begins with `> `, and the result of
            real dice stands behind the question for it.
        folder: where it is started.
    """
    from tests.support.screen import Screen

    first, *lines = block.splitlines()
    with contextlib.chdir(folder):
        screen = Screen(shlex.split(first)[2:], **{**reader_environment(folder), "COLUMNS": ""})
    for line in lines:
        if typed := TYPED.match(line):
            screen.enter(typed[1])
    shown, _, _ = screen.text.rpartition("\n>")  # where the next line is awaited
    screen.kill()
    return f"{first}\n{shown}\n"


def session(block: str, *, folder: Path) -> str:
    """Return what a terminal shows of a `session` block, each command of which may ask for answers.

    Args:
        block: the commands, and below each what is shown, with answers behind the questions.
        folder: where they are typed.
    """
    from tests.support.terminal import ENTER, Terminal

    shown = ""
    for command, told in commands_of(block):
        name, *args = shlex.split(command)
        assert name == "rpgres", command
        with contextlib.chdir(folder):
            terminal = Terminal(args, **{**reader_environment(folder), "TERM": "xterm-256color"})
        said = ""
        for answer in ASKED.findall(told):
            said += terminal.until("] ")
            terminal.type(answer + ENTER)
        said += terminal.end()[1]
        shown += f"$ {command}\n{PASSING.sub('', said)}"
    return shown


def change_file(block: str, *, folder: Path) -> None:
    """Make the change of a `diff` block: `--- FILE`, lines to take away (`-`), and what takes their place (`+`)."""
    first, *lines = block.splitlines(keepends=True)
    path = folder / first.removeprefix("--- ").strip()
    text = path.read_text(encoding="utf-8")
    old, new = ("".join(line[1:] for line in lines if line[0] in signs) for signs in ("- ", "+ "))
    assert text.count(old) == 1, f"{path} has {text.count(old)} times {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def write_file(block: str, *, folder: Path) -> bool:
    """Write a block that begins with `# file: NAME` or `# add to: NAME`; tell whether it was one."""
    first, _, rest = block.partition("\n")
    mode, _, name = first.removeprefix("# ").partition(": ")
    if not first.startswith("# ") or mode not in ("file", "add to"):
        return False
    path = folder / name.strip()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = block if mode == "file" else path.read_text(encoding="utf-8") + rest
    path.write_text(text, encoding="utf-8")
    return True


def shipped_text(block: str) -> str | None:
    """Return what a block that begins with `# shipped: RULESET/SCENE` has to say: that line, and the file."""
    first, _, _ = block.partition("\n")
    ruleset, _, scene = first.removeprefix("# shipped: ").partition("/")
    if not first.startswith("# shipped: "):
        return None
    return f"{first}\n{(ROOT / 'rulesets' / ruleset / 'scenes' / f'{scene}.toml').read_text('utf-8')}"


def install(block: str, *, folder: Path) -> None:
    """Do what `cd NAME && python -m pip install -e .` does, as far as it takes for a package of ours: its metadata."""
    for name in re.findall(r"^cd (\S+) && python -m pip install -e ", block, re.MULTILINE):
        put_metadata(folder / name, folder / name / "src")


def put_metadata(package: Path, site: Path) -> None:
    """Write what an installation tells of a package, into a folder of the path of modules."""
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(exist_ok=True)
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, "utf-8")
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["rpgres"].items())
    (info / "entry_points.txt").write_text(f"[rpgres]\n{points}", "utf-8")


def run_python(block: str, *, name: str) -> list[str]:
    """Return what fails in a block of doctest examples."""
    failures: list[str] = []
    test = doctest.DocTestParser().get_doctest(block, {}, name, name, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    return failures


def rewrite(text: str, folder: Path | None = None) -> str:
    """Return a Markdown text whose console blocks show what their commands print now.

    Args:
        text: the page.
        folder: where they are typed, each in a process of its own; by default an empty folder, and in this process.
    """
    run = type_quickly if folder is None else type_in
    with tempfile.TemporaryDirectory() as name:
        folder = folder or Path(name)

        def shown(match: re.Match[str]) -> str:
            if match[1] in ("toml", "python", "jsonl", "sh", "csv"):
                write_file(match[2], folder=folder)
                if match[1] == "sh":
                    install(match[2], folder=folder)
                return f"```toml\n{shipped}```" if (shipped := shipped_text(match[2])) else match[0]
            if match[1] == "diff":
                change_file(match[2], folder=folder)
            if match[1] == "session":
                return f"```session\n{session(match[2], folder=folder)}```"
            if match[1] == "play":
                return f"```play\n{played(match[2], folder=folder)}```"
            if match[1] != "console":
                return match[0]
            typed = "".join(f"$ {command}\n{run(command, folder=folder)}" for command, _ in commands_of(match[2]))
            return f"```console\n{typed}```"

        return SECTION.sub(made, FENCE.sub(shown, text))


def made(section: re.Match[str]) -> str:
    """Return a section that is made from the code, as it should be now."""
    from tests.support import assistant, faces, manual, samples

    sections = {**assistant.SECTIONS, **faces.SECTIONS, **manual.SECTIONS, **samples.SECTIONS}
    return f"<!-- {section[1]} -->\n{sections[section[1]]()}<!-- end -->"


def check(pages: Iterable[Path]) -> int:
    """Print how the pages differ from what their commands print in this folder, and return the exit code."""
    differences = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        now = rewrite(text, Path.cwd())
        differences += difflib.unified_diff(text.splitlines(), now.splitlines(), str(page), "printed now", lineterm="")
    print("\n".join(differences) or "every command prints what the page shows")
    return 1 if differences else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        if (ROOT / ".git").exists() and Path.cwd().is_relative_to(ROOT):
            sys.exit("the commands write files: run it in a copy of the checkout")
        sys.exit(check(map(Path, sys.argv[2:])))
    for page in PAGES if sys.argv[1:] == ["--all"] else map(Path, sys.argv[1:]):
        page.write_text(rewrite(page.read_text(encoding="utf-8")), encoding="utf-8")
    if sys.argv[1:] == ["--all"]:
        from tests import manpages
        from tests.support.picture import FILE, picture

        FILE.write_text(picture(), encoding="utf-8")
        manpages.write()
