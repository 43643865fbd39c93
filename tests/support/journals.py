"""A persistent table of Fate for tests of its file; processes of their own import this, so it imports little."""

from __future__ import annotations

import itertools
from pathlib import Path

from rpgres.journal import commands as sitting
from rpgres.journal.commands import Place

GIVEN = {"roll": ["++++"]}


def begun(path: Path) -> Place:
    """Begin a table whose dice are the same each time."""
    salts = itertools.count(1)
    place = Place(path, salt=lambda: next(salts).to_bytes(32, "big"))
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda"], seed="7")
    sitting.let_pass(place, seat="gm", until="always")
    return place


def act(place: Place) -> None:
    """Finish an action, without rolling."""
    sitting.act(place, "overcome", {"skill": "2", "vs": ["1"]}, actor="mara", given=GIVEN, choose={"invoke": ["no"]})
