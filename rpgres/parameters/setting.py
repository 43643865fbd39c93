"""Where inputs are read: the table so far, who acts, where sheets are sought, and how somebody sits down."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError, UsageError
from rpgres.model.state import ROLES, State, Tag, put
from rpgres.rulesets import Rules
from rpgres.rulesets.sheets import Sheet, find_sheet, read_sheet, sheet_source, unique_name
from rpgres.toml.reading import Source

ACTOR = "actor"  # the name of somebody acting of whom no sheet is known
OPPONENT = "opponent"  # the other side when it is nobody with a sheet
SHEET = "sheet"  # the input that names the actor's sheet; every action takes it


class Setting(msgspec.Struct):
    """Where inputs are read: the table so far, who acts, and where sheets are sought. Reading adds to `state`.

    `confined` allows sheets by plain file name only, for inputs that strangers typed. `placed` are cards that somebody
    says lie in a pile, as (pile, cards, input). `sheets` are texts of sheets by the name that is typed: those that are
    known beforehand, whatever the files say now, and those that were read.
    """

    rules: Rules
    state: State
    actor: str = ACTOR
    beside: Path | None = None
    confined: bool = False
    placed: list[tuple[str, tuple[str, ...], str]] = []
    sheets: dict[str, Source] = {}

    def seat(self, sheet: Sheet) -> str:
        """Put a character and its tags on the table and return the name it has there."""
        character = sheet.character
        name = unique_name(character.name, taken=dict.fromkeys((*ROLES, *self.state.characters)))
        if name != character.name:
            character = msgspec.structs.replace(character, name=name)
        tags = sheet.tags if name == sheet.character.name else [_carried(tag, name) for tag in sheet.tags]
        self.state = lay_distinct(self.state.with_character(character), tags)
        return name

    def check_name(self, name: str) -> None:
        """Check that a sheet may be named so.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
        """
        if self.confined and (name != os.path.basename(name) or "\\" in name or ":" in name or name in ("-", "..")):
            raise UsageError(f"a sheet is named by its file's name here, not by a path: {name!r}")

    def read(self, name: str) -> Sheet:
        """Return a sheet by the name that was typed.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
            FileError: there is no such sheet, or it is faulty.
        """
        self.check_name(name)
        if name not in self.sheets:
            self.sheets[name] = sheet_source(self.rules, name, beside=self.beside)
        return read_sheet(self.rules, name, source=self.sheets[name])


def _carried(tag: Tag, name: str) -> Tag:
    return msgspec.structs.replace(tag, on=name)


def lay_distinct(state: State, tags: Iterable[Tag]) -> State:
    """Return the state with tags laid, each named after its owner too when there is one of the same text already."""
    laid = {tag.slug: tag for tag in state.tags}  # a sheet may bring thousands, so none is sought among all others
    for tag in tags:
        known = laid.get(tag.slug)
        if known is not None and known.audience is None:
            tag = msgspec.structs.replace(tag, name=f"{tag.name} ({tag.on or len(laid)})")
            known = laid.get(tag.slug)
        if known is not None and known.audience is not None:
            aside = msgspec.structs.replace(state, tags=tuple(laid.values())).with_room(tag.name)
            laid = {one.slug: one for one in aside.tags}
        laid[tag.slug] = tag
    return msgspec.structs.replace(state, tags=tuple(laid.values()))


def give_seat(setting: Setting, name: str, seat: str, *, before: Mapping[str, Any]) -> None:
    """Give a seat to somebody who has just come to the table; whoever was there before keeps the own one."""
    if name in setting.state.characters and name not in before:
        setting.state = put(setting.state, ("characters", name, "seat"), seat)


def seat_if_sheet(setting: Setting, name: str) -> str:
    """Return the name of somebody who is at the table or has a sheet, which sits down; else just the name."""
    if name in setting.state.characters:
        return name
    if setting.confined and name != os.path.basename(name):
        setting.check_name(name)
    if name not in setting.sheets:
        try:
            find_sheet(setting.rules, name, beside=setting.beside)
        except FileError:
            if name.endswith(".toml"):
                raise
            return name
    return setting.seat(setting.read(name))


def sheet_names(rules: Rules) -> list[str]:
    """Return the names of the sheets that come with a ruleset and its overlays."""
    return [path.stem for folder in rules.folders for path in sorted((folder / "sheets").glob("*.toml"))]


def sheet_offers(rules: Rules) -> list[tuple[str, str]]:
    """Return what a shell may offer as a sheet: those that come with the ruleset, and the TOML files here."""
    here = [path.name for path in sorted(Path().glob("*.toml"))]
    return [
        *((name, "comes with the ruleset") for name in dict.fromkeys(sheet_names(rules))),
        *((name, "") for name in here),
    ]
