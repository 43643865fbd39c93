"""The context in which inputs are read: the table so far, the actor, folders of sheets, and how a sheet joins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.errors import UsageError
from rpgres.model.state import NO_NAMES, State, put
from rpgres.rulesets import Rules
from rpgres.toml.reading import Source

if TYPE_CHECKING:
    from rpgres.rulesets.sheets import Sheet, SheetOrders

ACTOR = "actor"  # the name of an actor without a sheet
OPPONENT = "opponent"  # the name of an opponent without a sheet
SHEET = "sheet"  # the input that names the actor's sheet; every action takes it


_reading = local()  # `is_confined` while `plain_names` holds


@contextmanager
def plain_names() -> Iterator[None]:
    """Allow sheets by plain file name only while inputs are read: requests may come from untrusted senders."""
    before = getattr(_reading, "is_confined", False)
    _reading.is_confined = True
    try:
        yield
    finally:
        _reading.is_confined = before


def check_plain(name: str, *, always: bool = False) -> None:
    """Check that a sheet is named without a folder, where `plain_names` holds, or always.

    Raises:
        UsageError: the name is a path.
    """
    is_confined = always or getattr(_reading, "is_confined", False)
    if is_confined and (name != os.path.basename(name) or "\\" in name or ":" in name or name in ("-", "..")):
        raise UsageError(f"here a sheet is given by file name, without a path: {name!r}")


class InputContext(msgspec.Struct):
    """Where inputs are read: the table so far, who acts, and where sheets are sought. Reading adds to `state`.

    `confined` allows sheets by plain file name only, for untrusted inputs. `placed` are cards that a player
    says lie in a pile, as (pile, cards, input). `sheets` are texts of sheets by the name that is typed: those that are
    known beforehand, whatever the files say now, and those that were read. `orders` are standing orders on sheets, by
    character.
    """

    rules: Rules
    state: State
    actor: str = ACTOR
    beside: Path | None = None
    confined: bool = False
    placed: list[tuple[str, tuple[str, ...], str]] = []
    sheets: dict[str, Source] = {}
    orders: dict[str, SheetOrders] = {}

    def add_sheet(self, sheet: Sheet) -> str:
        """Put a character and its tags on the table and return the name it has there."""
        from rpgres.rulesets.sheets import seated, unique_name

        character = sheet.character
        name = unique_name(character.name, taken=dict.fromkeys((*NO_NAMES, *self.state.characters)))
        if name != character.name:
            character = msgspec.structs.replace(character, name=name)
            tags = tuple(msgspec.structs.replace(tag, on=name) for tag in sheet.tags)
            sheet = msgspec.structs.replace(sheet, character=character, tags=tags)
        self.state = seated(self.state, sheet)
        if sheet.orders is not None:
            self.orders[name] = sheet.orders
        return name

    def name_at_table(self, name: str) -> str:
        """Return the name of a character at the table; a sheet that is not there yet is read and joins it.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
            MissingSheet: there is no such sheet.
            FileError: it is faulty.
        """
        return name if name in self.state.characters else self.add_sheet(self.read(name))

    def read(self, name: str) -> Sheet:
        """Return a sheet by the name that was typed.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
            FileError: there is no such sheet, or it is faulty.
        """
        from rpgres.rulesets.sheets import read_sheet, sheet_source

        check_plain(name, always=self.confined)
        if name not in self.sheets:
            self.sheets[name] = sheet_source(self.rules, name, beside=self.beside)
        return read_sheet(self.rules, name, source=self.sheets[name])


def give_seat(context: InputContext, name: str, seat: str, *, before: Mapping[str, Any]) -> None:
    """Give a seat to a character who has just joined the table; the others keep theirs."""
    if name in context.state.characters and name not in before:
        context.state = put(context.state, ("characters", name, "seat"), seat)


def sheet_offers(rules: Rules) -> list[tuple[str, str]]:
    """Return what a shell may offer as a sheet: those that come with the ruleset, and the TOML files here."""
    from rpgres.rulesets.sheets import sheet_names

    shipped = [(name, "shipped with the ruleset") for name in dict.fromkeys(sheet_names(rules))]
    return [*shipped, *((path.name, "") for path in sorted(Path().glob("*.toml")))]
