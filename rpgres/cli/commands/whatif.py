"""`rpgres whatif`: a run repeated with one answer changed and every other die as it fell, beside the first one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.cli.annotations import AsJson, Auto, Folders, Policies, option
from rpgres.cli.exits import WAITING, leave
from rpgres.cli.options import named_policies, read_folders
from rpgres.cli.output import say_record
from rpgres.cli.streams import screen_columns
from rpgres.cli.tables import AtTable
from rpgres.engine.records import Result
from rpgres.engine.rerun import Asked, WhatIf, result_what_if
from rpgres.errors import FileError, UsageError, called
from rpgres.journal.commands import check_seat, rules_of
from rpgres.journal.rerun import table_what_if
from rpgres.toml.reading import read_source

if TYPE_CHECKING:
    from rpgres.rulesets import RulesetFile

Found = tuple["WhatIf", "RulesetFile | None"]


Run = Annotated[
    str,
    typer.Argument(
        metavar="RESULT.json|TABLE#N",
        help="What `roll --json` or `scene run --json` printed: a file, the JSON itself, or - to read it; or an action "
        "of a persistent table.",
    ),
]
Choose = Annotated[
    list[str] | None, option("--choose", takes="LABEL[#N]=OPTION", help="Change a decision, or add one.")
]
Given = Annotated[list[str] | None, option("--given", takes="LABEL[#N]=FACES", help="Change dice or cards.")]
SceneFile = Annotated[str | None, option("--scene", takes="FILE", help="The scene, where it is not where it was.")]
Seat = Annotated[str | None, option("--as", takes="SEAT", help="Whose view of a persistent table [env: RPGRES_SEAT].")]


def command(
    run: Run,
    choose: Choose = None,
    given: Given = None,
    auto: Auto = False,
    policy: Policies = None,
    scene: SceneFile = None,
    seat: Seat = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Repeat a run with one answer changed and every other die as it fell.

    LABEL#2 is the second answer under that label; in a scene, STEP.LABEL is one of a step. Every other answer stays;
    what is asked again is rolled from the same seed and decided by the policies of the run, or waits (exit code 3).
    Answers that the changed run has no use for are listed. At a persistent table, new dice are not the table's own, so
    that they tell nothing of what it will roll. With --plain, one account follows the other.

    Examples: rpgres whatif result.json --choose price=cost; rpgres whatif .#4 --given roll=++0-
    """
    from rpgres.render.whatif import what_if_lines

    asked = Asked(given=given or (), choose=choose or (), policies=named_policies(policy), auto=auto)
    path, separator, number = run.rpartition("#")
    if separator and number.isascii() and number.isdecimal() and not os.path.isfile(run):
        record, file = _of_table(AtTable(seat, path, rulesets), int(number), asked)
    else:
        record, file = _of_result(run, asked, read_folders(rulesets), scene)
    say_record(record, lambda: what_if_lines(record, file, page=screen_columns()), as_json=as_json)
    leave(0 if record.complete else WAITING)


def _of_table(at: AtTable, number: int, asked: Asked) -> Found:
    if at.table == "TABLE" and not os.path.exists(at.table):
        raise UsageError(
            f"TABLE stands for the file or folder of a table: here it is `{called('whatif', f'.#{number}')}`"
        )
    place, history = at.read()
    check_seat(history, at.who)
    rules = rules_of(history, folders=place.folders)
    return table_what_if(place.path, history, rules, number, asked, seat=at.who), rules.file


def _is_table(name: str) -> bool:
    if not os.path.isfile(name):  # a pipe can be read only once
        return os.path.isdir(name)
    try:
        with open(name, "rb") as file:
            return file.read(15) == b"SQLite format 3"
    except (OSError, ValueError):
        return False  # reading it as a result then reports what is wrong with the file


def _of_result(name: str, asked: Asked, folders: tuple[Path, ...], scene: str | None) -> Found:
    import msgspec

    from rpgres.scenes import SceneResult

    if _is_table(name):
        line = called("whatif", f"{name}#N")
        raise UsageError(
            f"{name} is a table: name one of its actions, as in `{line}`; `{called('table log')}` lists them"
        )
    is_told = name.lstrip().startswith("{")
    text = name if is_told else read_source(Path(name)).text
    try:
        found = msgspec.json.decode(text.encode(), type=Result | SceneResult)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        fault = error if text.strip() else "it is empty"
        message = f"this is not what `rpgres roll --json` or `rpgres scene run --json` prints: {fault}"
        if is_told:
            raise UsageError(message, path=("run",)) from None
        raise FileError(f"{name}: {message}", file=name) from None
    if isinstance(found, SceneResult):
        from rpgres.scenes.rerun import file_what_if

        return file_what_if(found, asked, file=scene or "", folders=folders)

    return result_what_if(found, asked, folders=folders)
