"""Man pages made from the help of the commands: `rpgres.1`, and one for each command.

`python tests/manpages.py` writes them anew; the wheel has them in `share/man/man1`. What is written is roff with the
macros of man(7), as groff and mandoc read it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rpgres.cli.help import guide
from rpgres.cli.options import DICE_WORDS, PLAIN
from rpgres.cli.root import COMMANDS, OVERVIEW, root
from rpgres.cli.settings import VARIABLES
from rpgres.formats.descriptions import field_texts
from rpgres.formats.settings import Settings
from tests.support.commands import Entry, entries

FOLDER = Path(__file__).resolve().parent.parent / "rpgres" / "guide" / "man"

OVERRULING = "Overrule plain = true in the settings; --no-dice-words does the same for dice-words."
FILES = {
    "~/.config/rpgres/config.toml": "Settings; rpgres config path prints the place.",
    "~/.config/rpgres/rulesets/": "Own rulesets and house rules; those in ./rulesets are nearer.",
    ".rpgres/table.db": "The table of a folder, and of those below it.",
}


def pages() -> dict[str, str]:
    """Return every man page by the name of its file."""
    found = {"rpgres.1": _page("rpgres", "resolve what happens at a role-playing table", _of_all())}
    by_command = groupby(entries(root(), list(COMMANDS)), key=lambda entry: entry.path.split()[1])
    for name, group in by_command:
        summary = COMMANDS[name].rstrip(".")
        found[f"rpgres-{name}.1"] = _page(f"rpgres-{name}", summary[:1].lower() + summary[1:], _of_command(list(group)))
    return found


def _page(name: str, summary: str, body: Iterable[str]) -> str:
    head = [
        '.\\" Made by tests/manpages.py from the help of the commands.',
        f'.TH {_escaped(name.upper())} 1 "" "rpgres" "User Commands"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(summary)}",
    ]
    return "\n".join([*head, *body]) + "\n"


def _of_all() -> Iterator[str]:
    yield from (".SH SYNOPSIS", r"\fBrpgres\fR \fICOMMAND\fR [\fIOPTIONS\fR]", ".SH DESCRIPTION")
    yield from _paragraphs(OVERVIEW)
    yield ".SH OPTIONS"
    yield from _listed([("--version", "Show the version and exit."), ("-h, --help", "Show help and exit.")])
    yield from _listed((", ".join(one.names), one.help) for one in (PLAIN, DICE_WORDS))
    yield from _listed([("--debug", "Show the traceback of an internal error."), ("--no-plain", OVERRULING)])
    yield ".SH COMMANDS"
    yield from _listed([(f"rpgres-{name}(1)", text) for name, text in COMMANDS.items()])
    sections = {"EXIT STATUS": _rows("scripts", "| exit code"), "ENVIRONMENT": _environment(), "FILES": FILES.items()}
    for title, records in sections.items():
        yield f".SH {title}"
        yield from _listed(list(records))
    yield from (".SH SEE ALSO", _escaped("rpgres help shows the guide: rpgres help game-master."))


def _environment() -> Iterator[tuple[str, str]]:
    """Yield the variables of the environment: those of settings, and those of the guide."""
    texts = field_texts(Settings)
    yield from ((name, f"Overrules the setting {key}: {texts[key]}") for key, name in VARIABLES.items())
    yield from _rows("settings", "## Environment variables")


def _rows(page: str, above: str) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table of two columns that stands below a line of a page of the guide."""
    below = guide.page(page).text.partition(f"\n{above}")[2]
    for row in below.partition("|---|---|\n")[2].partition("\n\n")[0].splitlines():
        _, name, text, _ = row.split("|")
        yield name.strip().strip("`"), text.strip()


def _of_command(found: Sequence[Entry]) -> Iterator[str]:
    first, *inner = found
    yield ".SH SYNOPSIS"
    for entry in found:
        yield from (_synopsis(entry), ".br")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(first.text)
    if first.arguments or first.options:
        yield ".SH OPTIONS"
        yield from _listed([*first.arguments, *first.options])
    if inner:
        yield ".SH COMMANDS"
    for entry in inner:
        yield f".SS {_escaped(entry.path)}"
        yield from _paragraphs(entry.text)
        yield from _listed([*entry.arguments, *entry.options])
    yield from (".SH SEE ALSO", r"\fBrpgres\fR(1)")


def _synopsis(entry: Entry) -> str:
    return f"\\fB{_escaped(entry.path)}\\fR {_escaped(entry.usage)}"


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.strip("\n").splitlines()
        yield ".PP"
        if any("  " in line.strip() for line in lines) or all(line.startswith("rpgres ") for line in lines):
            yield from (".nf", *map(_escaped, lines), ".fi")
        else:
            yield _flowing(" ".join(part.split()))


def _listed(records: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in records:
        yield from (".TP", f"\\fB{_escaped(name)}\\fR", _flowing(" ".join(text.split())) or "\\&")


def _flowing(text: str) -> str:
    """Return a text in which what stands in backquotes is bold."""
    quoted = text.split("`")
    return "".join(f"\\fB{_escaped(part)}\\fR" if place % 2 else _escaped(part) for place, part in enumerate(quoted))


def _escaped(text: str) -> str:
    r"""Return a text as roff shows it as it is, with hyphens that can be copied.

    >>> print(_escaped(".x --y 'z' C:\\"))
    \&.x \-\-y \(aqz\(aq C:\e
    """
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti").replace("`", "\\(ga")
    return f"\\&{text}" if text.startswith(".") else text


def write() -> None:
    """Write the pages anew."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{len(pages())} pages in {FOLDER}\n")
