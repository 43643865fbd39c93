"""What `ruleset check` finds in a ruleset in one file that could be played, and would not do what its author meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rpgres
from test_described import here, write

__all__ = ["here"]  # a fixture that every test here uses

# Two tens and a trait of any name, over a number.
GRIM = """
standalone = true
title = "Grim"
summary = "Two tens over a number."
version = "1"

[bands]
miss = { title = "Miss", to = -1, success = false }
hit = { title = "Hit", from = 0, success = true }

[actions.try]
summary = "Try."
parameters = ["trait", "vs", "edge"]
required = ["trait", "vs"]
roll = "2d10 + {trait} + {edge} - {weariness}"
vs = "{vs}"
example = "rpgres roll grim try --trait void=2 --vs 10"

[parameters.trait]
kind = "ability"
help = "what counts"

[parameters.vs]
kind = "opposition"
help = "the number"

[parameters.edge]
kind = "choice"
help = "what helps"
default = "none"
choices = { none = "nothing", some = "something" }
values = { none = "0", some = "1" }

[outcomes.try.hit]
text = "It is done."

[sheet.name]
kind = "text"
help = "who it is"

[sheet.traits]
kind = "abilities"
any-name = true
help = "any"
"""


def grim(*changes: tuple[str, str], more: str = "", sheet: str = "traits = { void = 2, fire = 3 }\n") -> Path:
    """Write the ruleset with some of its text changed, and with a character."""
    text = GRIM + more
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = write(text, name="grim")
    folder = path.parent / "sheets"
    folder.mkdir(exist_ok=True)
    (folder / "akodo.toml").write_text(f'name = "Akodo"\n{sheet}', encoding="utf-8")
    return path


def told() -> str:
    """Return what `ruleset check` says of it."""
    found = rpgres("ruleset", "check", "grim")
    assert found.code == (0 if found.out == "grim: ok\n" else 1), found
    return found.out


def test_there_is_nothing_to_tell_of_the_ruleset_itself() -> None:
    grim()
    assert told() == "grim: ok\n"


# ---------------------------------------------------------------------------------------------------------------------
# Names that count 0


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("{weariness}", "{viod}", "`void`"),  # on a sheet
        ("{weariness}", "{opponent.fier}", "`fire`"),
        ("{weariness}", "{trai}", "`trait`"),  # a parameter
        ("{weariness}", "{weariness} - {wearines}", "`weariness`"),  # in the same formula
        ('text = "It is done."', 'text = "It is done."\nrolls = { harm = "1d6 - {wearyness}" }', "`weariness`"),
    ],
)
def test_a_misspelt_name_is_told_where_sheets_may_have_any(old: str, new: str, hint: str) -> None:
    path = grim((old, new))
    said = told()
    assert said.startswith("grim: a problem\n")
    assert f"{path}:" in said
    assert "counts 0: no sheet, parameter or other formula has it" in said
    assert f"did you mean {hint}?" in said


def test_a_name_of_an_example_or_of_a_scene_is_one_that_is_near() -> None:
    path = grim(("{weariness}", "{viod}"), sheet="")
    assert "did you mean `void`?" in told()
    grim(("{weariness}", "{viod}"), ("--trait void=2", "--trait 2"), sheet="")
    assert told() == "grim: ok\n"
    (path.parent / "scenes").mkdir()
    scene = 'ruleset = "grim"\ntitle = "T"\nseed = "1"\n[characters.bo]\ntraits = { void = 1 }\n'
    (path.parent / "scenes" / "a.toml").write_text(scene, encoding="utf-8")
    assert "did you mean `void`?" in told()


@pytest.mark.parametrize(
    "changes",
    [
        [("{weariness}", "{viod}"), ("any-name = true", 'any-name = true\nnames = ["viod"]')],  # it is listed
        [("{weariness}", "{viod}"), ("void=2", "viod=2")],  # it is in an example
        [("{weariness}", "{haste}")],  # it is like no other
    ],
)
def test_a_name_that_is_meant_is_let_be(changes: list[tuple[str, str]]) -> None:
    grim(*changes)
    assert told() == "grim: ok\n"
