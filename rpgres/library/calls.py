"""Calls that need no persistent table: dice, sheets, and the rulesets there are."""

from __future__ import annotations

import os

from rpgres.arguments import told_by_kind
from rpgres.catalog.sheets import SheetRecord, sheet_record, sheet_ruleset
from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.dice import roll_dice
from rpgres.engine.records import Result
from rpgres.engine.resolve import Answers, Folders, folders_of, listed_answers
from rpgres.errors import UsageError
from rpgres.library.reading import deciding, read_rules
from rpgres.plugins.discovery import RulesetName, ruleset_names
from rpgres.rulesets import Ruleset
from rpgres.rulesets.sheets import find_sheet, read_sheet
from rpgres.toml.reading import read_source


@told_by_kind
def roll(
    notation: str, *, seed: str | int | None = None, given: Answers | None = None, note: str | None = None
) -> Result:
    """Return one result of a dice expression.

    >>> roll("4dF+3", given={"roll": "+0-+"}).total
    4

    Args:
        notation: the dice, as `rpgres roll` takes them: `4d6kh3`, `d20+5 vs 15`, `2d6 3 times`.
        seed: any text or number; a fresh one by default, which the result has.
        given: what real dice showed, under `roll`, and under `opposition` for dice that they are compared with.
        note: carried into the result; by default the comment of the notation.

    Returns:
        The record of `rpgres roll --json`; `total` is the value of the dice.

    Raises:
        NotationError: the notation cannot be read; the message says where.
        UsageError: what was given cannot have been rolled.
    """
    if not isinstance(notation, str):
        raise UsageError(f"dice are a text such as '4d6kh3', not {notation!r}")
    return roll_dice(notation, streams=Streams(read_seed(seed)), given=listed_answers(given, "given"), note=note)


@told_by_kind
def load_sheet(
    sheet: str | os.PathLike[str], ruleset: str | Ruleset | None = None, *, rulesets: Folders | None = None
) -> SheetRecord:
    """Return the character of a sheet, checked.

    >>> load_sheet("mara", "fate").abilities["stealth"]
    3

    Args:
        sheet: a TOML file, or the name of a sheet that ships with a ruleset.
        ruleset: its ruleset; by default the one that the file names, in whose folder it lies, or that ships it.
        rulesets: folders with overlays; the last is the nearest.

    Returns:
        The record of `rpgres sheet show --json`.

    Raises:
        FileError: the sheet is missing or faulty; all problems at once.
        UsageError: nothing says which ruleset it is of.
    """
    sheet = os.fspath(sheet)
    if sheet == "-":
        raise UsageError("a sheet is a file, or the name of one that ships; a call reads no standard input")
    if ruleset is None:
        ruleset = sheet_ruleset(sheet)
    rules = read_rules(ruleset, deciding(rulesets=rulesets))
    return sheet_record(rules, read_sheet(rules, sheet, source=read_source(find_sheet(rules, sheet))))


@told_by_kind
def rulesets(*, folders: Folders | None = None) -> list[RulesetName]:
    """Return the rulesets there are: those that ship, installed plugins, and folders of TOML.

    >>> [one.title for one in rulesets() if one.id == "fate"]
    ['Fate (five actions)']

    Args:
        folders: further folders with rulesets.
    """
    return ruleset_names(extra=folders_of(folders))
