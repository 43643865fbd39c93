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


# ---------------------------------------------------------------------------------------------------------------------
# Numbers that touch


@pytest.mark.parametrize(
    ("formula", "place"),
    [
        ("2d10 + 1{trait} + {edge}", "        ^"),
        ("1{trait}d6 + {edge}", " ^"),
        ("2d10 + {trait}{edge}", "              ^"),
        ("2d10 + {trait}5 + {edge}", "              ^"),
        ("2d1{trait} + {edge}", "   ^"),
    ],
)
def test_numbers_that_touch_are_refused_before_anything_is_rolled(formula: str, place: str) -> None:
    path = grim(("2d10 + {trait} + {edge} - {weariness}", formula))
    said = f"{path}:15: actions.try.roll: an operator is missing before this: +, - or *"
    for found in (
        rpgres("ruleset", "check", "grim").out,
        rpgres("roll", "grim", "try", "--trait", "1", "--vs", "9").err,
    ):
        assert said in found
        assert found.endswith(f"\n  {formula}\n  {place}\n")


@pytest.mark.parametrize("formula", ["{trait}d6 + {edge}", "2d{trait}+{edge}", "9d6kh{trait} + {edge}*3 - 2*{edge}"])
def test_a_name_may_touch_the_letters_and_signs_of_dice(formula: str) -> None:
    grim(("2d10 + {trait} + {edge} - {weariness}", formula))
    assert told() == "grim: ok\n"


def test_numbers_that_touch_are_refused_wherever_dice_stand() -> None:
    row = 'text = "It is done."\nrolls = { harm = "1{trait}" }'
    grim(('text = "It is done."', row), ('help = "the number"', 'help = "the number"\nrolls = "1{rating}"'))
    assert told().startswith("grim: 2 problems\n")
    assert "parameters.vs.rolls: an operator is missing" in told()
    assert "outcomes.try.hit.rolls.harm: an operator is missing" in told()
