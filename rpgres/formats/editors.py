"""Schemas as files that editors find: those of every kind of TOML file, and the line in a file that names its own.

`python -m rpgres.formats.editors` writes those that ship anew; a test says when they are out of date.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rpgres.errors import OutputError, RpgresError
from rpgres.text.harmless import to_json

if TYPE_CHECKING:
    from rpgres.rulesets import Rules

FOLDER = ".schemas"  # beside the files, so that they can be moved and sent together
SHIPPED = Path(__file__).parent.parent / "schemas"
OF_RULES = ("sheet", "scene", "orders")  # which know the names of the ruleset that they are for


def file_kinds() -> list[str]:
    """Return the kinds of schemas that describe TOML files."""
    from rpgres.formats.schemas import KINDS

    return [kind for kind, described in KINDS.items() if described.is_file]


def file_name(kind: str, ruleset: str = "") -> str:
    """Return what the file of a schema is called, such as `sheet-fate.json`."""
    return f"{kind}-{ruleset}.json" if ruleset else f"{kind}.json"


def schema_line(kind: str, ruleset: str = "", *, up: int = 0) -> str:
    """Return the first line of a TOML file that tells an editor which schema it has.

    Args:
        ruleset: the id of the ruleset whose names the schema knows.
        up: how many folders above the file the schemas lie.
    """
    return f"#:schema {'../' * up or './'}{FOLDER}/{file_name(kind, ruleset)}\n"


_KINDS = {"ruleset.toml": "ruleset", "menus.toml": "menus", "outcomes": "outcomes", "decks": "deck"} | {
    f"{kind}s": kind for kind in ("sheet", "scene")
}  # by the file of a ruleset, or its folder there


def with_schema_line(place: str, text: str, ruleset: str) -> str:
    """Return the text of a file in the folder of a whole ruleset, naming its schema if it has one.

    Args:
        place: its path in the folder, with slashes.
    """
    above, _, name = place.rpartition("/")
    kind = _KINDS.get(above or name) if name.endswith(".toml") else None
    return text if kind is None else schema_line(kind, ruleset if kind in OF_RULES else "", up=bool(above)) + text


def write_schemas(folder: Path, kinds: Iterable[str], rules: Rules | None = None) -> list[Path]:
    """Write schemas into the folder `.schemas` of a folder, anew where they are there, and return their files.

    Raises:
        UsageError: there is no such kind, or it needs a ruleset.
        OutputError: they cannot be written.
    """
    texts = {file_name(kind, rules.id if rules else ""): schema_text(kind, rules) for kind in kinds}
    return [*_written(folder / FOLDER, texts)]


def write_own_schemas(folder: Path, rules: Rules) -> list[Path]:
    """Write the schemas of everything in the folder of a whole ruleset."""
    general = [kind for kind in file_kinds() if kind not in (*OF_RULES, "config")]
    return [*write_schemas(folder, general), *write_schemas(folder, OF_RULES, rules)]


def renew_schemas(folders: Iterable[Path]) -> None:
    """Bring the schemas up to date that lie in whole rulesets, whose sheets and scenes may be others now.

    Args:
        folders: folders of rulesets, or folders in which there are such.
    """
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.entries import is_standalone
    from rpgres.plugins.loading import load_rules

    for lying in sorted({one for folder in folders for one in (folder / FOLDER, *folder.glob(f"*/{FOLDER}"))}):
        folder = lying.parent
        if lying.is_dir() and is_standalone(folder):
            root = folder.absolute().parent
            with suppress(RpgresError):  # it is broken, or not ours to write to
                write_own_schemas(folder, load_rules(find_ruleset(folder.resolve().name, extra=[root]), extra=[root]))


def schema_text(kind: str, rules: Rules | None = None) -> str:
    """Return a schema as the text of its file."""
    from rpgres.formats.schemas import make_schema

    return to_json(make_schema(kind, rules=rules), indent=1).decode() + "\n"


def _written(folder: Path, texts: dict[str, str]) -> Iterator[Path]:
    try:
        os.makedirs(folder, exist_ok=True)
        for name, text in texts.items():
            path = folder / name
            if not path.is_file() or path.read_text("utf-8") != text:  # an editor reads anew what has changed
                path.write_text(text, encoding="utf-8", newline="\n")
            yield path
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from None


if __name__ == "__main__":
    list(_written(SHIPPED, {file_name(kind): schema_text(kind) for kind in file_kinds() if kind != "sheet"}))
