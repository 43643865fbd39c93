"""Files with the account of a scene: which formats there are, what may be replaced, and how they are written."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rpgres.errors import FileError, UsageError, named, writing
from rpgres.text.filenames import write_own

if TYPE_CHECKING:
    from rpgres.formats.accounts import Account

STANDARD = "-"  # in the place of a file: standard output
SEARCHED = 4096  # bytes at the beginning of a file in which an account says that it is one


MARK = b"rpgres account"  # near the beginning of a file in each format


def require_files(files: Mapping[str, str | None], *, as_json: bool) -> dict[str, str]:
    """Return the files to write by format, after checking that they can be, before anything is played.

    Args:
        files: what was asked for; None for nothing.

    Raises:
        UsageError: two formats go to the same place.
        FileError: there is no such folder, or a file that is no account of rpgres.
    """
    wanted = {name: file for name, file in files.items() if file is not None}
    if as_json and STANDARD in wanted.values():
        raise UsageError(f"{named('json')} and a file - both write to standard output; name a file")
    taken: dict[str, str] = {}
    for name, file in wanted.items():
        place = file if file == STANDARD else os.path.abspath(file)
        if place in taken:
            raise UsageError(f"{named(taken[place])} and {named(name)} both write to {file}; give them different files")
        taken[place] = name
        if file != STANDARD:
            _require_place(Path(file))
    return wanted


def _require_place(path: Path) -> None:
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise FileError(f"{path}: there is no folder {path.parent}; make it first")
    try:
        found = path.stat()
        is_other = stat.S_ISREG(found.st_mode) and found.st_size and MARK not in path.read_bytes()[:SEARCHED]
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    if is_other:
        raise FileError(
            f"{path} exists and is not an account that rpgres wrote, so it is not replaced; "
            "give another name, or remove the file"
        )


def write_files(account: Account, files: Mapping[str, str]) -> None:
    """Write an account to files, each whole or not at all; `-` is standard output.

    Args:
        files: the files by format, as `require_files` returned them.

    Raises:
        FileError: a file cannot be written.
    """
    from rpgres.cli.output import say_text

    for name, file in files.items():
        text = _text(account, name)
        if file == STANDARD:
            say_text(text)
        else:
            with writing(file):
                write_own(Path(file), text.encode("utf-8", "replace"), is_forced=True)


def _text(account: Account, form: str) -> str:
    """Return an account in the format of an option."""
    match form:
        case "markdown":
            from rpgres.render.accounts.markdown import as_markdown

            return as_markdown(account)
        case "html":
            from rpgres.render.accounts.html import as_html

            return as_html(account)
    from rpgres.formats.lonelog import as_lonelog

    return as_lonelog(account)


def read_account(file: str, *, folders: tuple[Path, ...] = ()) -> Account:
    """Return the account in a file: an account as JSON, or the JSON of a scene that was played.

    Args:
        file: the file; `-` for standard input.
        folders: where rulesets are sought first, for the words of a scene that was played.

    Raises:
        FileError: the file cannot be read, or is neither.
    """
    import msgspec

    from rpgres.formats.accounts import Account
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules
    from rpgres.render.accounts.scenes import account_of
    from rpgres.scenes import SceneResult
    from rpgres.toml.reading import read_source

    source = read_source(Path(file))
    try:
        found = msgspec.json.decode(source.text, type=Account | SceneResult)
        if isinstance(found, Account):
            return found
        rules = load_rules(find_ruleset(found.ruleset, extra=folders), switches=found.switches, extra=folders)
        return account_of(found, rules, name=source.path)
    except (msgspec.DecodeError, AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise FileError(f"{source.path}: neither an account nor the JSON of a scene that was played: {error}") from None
