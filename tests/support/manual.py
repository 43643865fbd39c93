"""The sections of the guide that are made from the code: the list of pages, the commands, the actions of rulesets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from rpgres.cli.help import guide
from rpgres.cli.root import COMMANDS, root
from rpgres.cli.settings import FOLDERS, KEYS, VARIABLES
from rpgres.formats.descriptions import field_texts
from rpgres.formats.settings import Settings
from rpgres.plugins.entries import BUILTIN, standalone_folder
from rpgres.plugins.loading import read_ruleset
from tests.support.commands import Entry, entries


def pages_text() -> str:
    """Return the list of the guide's pages."""
    pages = map(guide.page, guide.TOPICS)
    return "\n" + "".join(f"- [{page.title}]({_link(page.topic)}): {page.summary}\n" for page in pages) + "\n"


def _link(topic: str) -> str:
    return f"../../{guide.ELSEWHERE[topic]}" if topic in guide.ELSEWHERE else f"{topic}.md"


def commands_text() -> str:
    """Return the reference of every command: what it does, and what it takes."""
    return "\n" + "\n".join("".join(_command(one)) for one in entries(root(), list(COMMANDS))) + "\n"


def _command(entry: Entry) -> Iterator[str]:
    depth = "##" if entry.path.count(" ") == 1 else "###"
    first, _, rest = entry.text.partition("\n\n")
    yield f"{depth} {entry.path}\n\n{_flowing(first)}\n\n```\n{entry.path} {entry.usage}\n```\n"
    if rest.strip():
        yield "\n" + "\n\n".join(_paragraph(one) for one in rest.strip().split("\n\n")) + "\n"
    rows = [*entry.arguments, *entry.options]
    if rows:
        yield f"\n| | |\n|---|---|\n{''.join(_row(*row) for row in rows)}"


def _paragraph(text: str) -> str:
    """Return a paragraph of help; one whose lines are laid out keeps them."""
    is_laid_out = any("  " in line.strip() for line in text.splitlines())
    return f"```\n{text.strip(chr(10))}\n```" if is_laid_out else _flowing(text)


def _flowing(text: str) -> str:
    return " ".join(text.split())


def _row(name: str, text: str) -> str:
    return f"| `{name.replace('|', chr(92) + '|')}` | {_flowing(text).replace('|', chr(92) + '|')} |\n"


def actions_text() -> str:
    """Return what the actions of the rulesets that ship are, and what they take."""
    return "\n" + "\n".join(_ruleset(name) for name in _shipped()) + "\n"


def _shipped() -> Iterable[str]:
    folders = sorted(path.name for path in guide.FOLDER.parents[1].joinpath("rulesets").iterdir() if path.is_dir())
    return [*BUILTIN, *(name for name in folders if name not in BUILTIN and standalone_folder(name))]


def _ruleset(name: str) -> str:
    data = read_ruleset(name)
    rows = []
    for action, described in data.file.actions.items():
        taken = data.parameters(action)
        inputs = ", ".join(f"`--{one}`" + ("" if one in described.required else "?") for one in taken) or "nothing"
        kind = " (a procedure)" if described.procedure else ""
        rows.append(f"| `{action}`{kind} | {described.summary} | {inputs} |\n")
    return (
        f"### {name}\n\n{data.file.title}. {data.file.summary}\n\n| action | | takes |\n|---|---|---|\n{''.join(rows)}"
    )


def settings_text() -> str:
    """Return the table of the settings, with the variable of each."""
    texts, off = field_texts(Settings), msgspec.to_builtins(Settings())
    rows = "".join(f"| `{key}` | {texts[key]} | {_off(off[key])} | {_variable(key)} |\n" for key in KEYS)
    return f"\n| key | | default | variable |\n|---|---|---|---|\n{rows}\n"


def _off(value: object) -> str:
    return f"`{str(value).lower()}`" if value not in ("", [], {}) else "none"


def _variable(key: str) -> str:
    return f"`{VARIABLES[key]}`" if key in VARIABLES else f"`{FOLDERS}`" if key == "rulesets" else "none"


SECTIONS = {"settings": settings_text, "pages": pages_text, "commands": commands_text, "actions": actions_text}
