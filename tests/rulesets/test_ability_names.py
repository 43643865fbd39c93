"""Abilities whose names have capitals and spaces: one name on the table, whatever a sheet or a line writes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from rpgres.engine.resolve import forget_rules
from tests.support.command_line import as_json, rpgres

RULESET = """
standalone = true
title = "Lore"
summary = "Two dice and a skill."
version = "1"

[bands]
no = { title = "No", to = -1, success = false }
yes = { title = "Yes", from = 0, success = true }

[actions.check]
summary = "Check."
parameters = ["skill", "vs"]
dice = { roll = "2d6", opposition = "{vs}" }
numbers = { total = "roll + skill + second-sight" }

[parameters.skill]
kind = "ability"
help = "what one is good at"
default = 0

[parameters.vs]
kind = "opposition"
help = "what is in the way"
default = 7

[sheet.skills]
kind = "abilities"
help = "what one is good at"

[tracks.nerve]
title = "Nerve"
boxes = 1
more = [{ ability = "Occult Lore", at = 3, boxes = { more = 1 } }]
"""
CLOSED = RULESET.replace("[sheet.skills]", '[sheet.skills]\nnames = ["Occult Lore"]').replace(" + second-sight", "")
SHEET = 'ruleset = "lore"\n[skills]\n"Occult Lore" = 3\n"Second Sight" = 1\n'
SCENE = """
ruleset = "lore"

[characters.mara]
sheet = "mara"

[[steps]]
action = "check"
actor = "mara"
with = { skill = "Occult Lore", vs = 11 }
given = { roll = "3,4" }
expect = { outcome = "yes", margin = 0, state = { "characters.mara.abilities.Occult Lore" = 3 } }

[[steps]]
when = { "characters.mara.abilities.Second Sight" = 0 }
action = "check"
actor = "mara"
given = { roll = "3,4" }
expect = { played = false }
"""


@pytest.fixture(autouse=True)
def _lore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sheets = tmp_path / "rulesets" / "lore" / "sheets"
    sheets.mkdir(parents=True)
    (sheets.parent / "ruleset.toml").write_text(RULESET)
    (sheets / "mara.toml").write_text(SHEET)
    (tmp_path / "guard.toml").write_text('ruleset = "lore"\n[skills]\n"Occult Lore" = 9\n')
    forget_rules()


@pytest.mark.parametrize(
    "typed",
    [
        "check --sheet mara --skill 'Occult Lore'",
        "check --sheet mara --skill occult-lore",
        "check --sheet mara --skill 'OCCULT LORE'",
        "check --sheet mara --skill 'Occult Lore=3'",
        "mara check occult-lore",
        "mara check 'Occult Lore'",
        "mara check occult lore",
        "mara check with Occult Lore",
    ],
)
def test_it_is_found_however_it_is_written(typed: str) -> None:
    result = as_json("roll", "lore", *shlex.split(typed), "--seed", "1")
    assert result["total"] - sum(map(int, result["events"][0]["faces"].split(","))) == 4


def test_somebody_opposes_with_it_by_number_where_the_ruleset_has_no_dice() -> None:
    result = as_json("roll", "lore", "mara", "check", "occult", "lore", "--vs", "guard.toml:Occult Lore")
    assert result["opposition"] == 9


def test_conditions_expectations_and_tracks_know_it() -> None:
    Path("s.toml").write_text(SCENE)
    assert rpgres("scene", "check", "s.toml").code == 0
    assert rpgres("scene", "run", "s.toml").code == 0
    shown = as_json("sheet", "show", "mara", "--ruleset", "lore")
    assert (shown["abilities"], [box["name"] for box in shown["tracks"]["nerve"]]) == (
        {"occult-lore": 3, "second-sight": 1},
        ["1", "more"],
    )


def test_a_list_of_names_may_have_capitals_too() -> None:
    Path("rulesets/lore/ruleset.toml").write_text(CLOSED)
    assert rpgres("sheet", "check", "guard.toml").code == 0
    assert rpgres("roll", "lore", "check", "--sheet", "guard.toml", "--skill", "Occult Lore").code == 0
    told = rpgres("sheet", "check", "rulesets/lore/sheets/mara.toml")
    assert (told.code, "Second Sight" in told.err + told.out) == (1, True)


def test_two_spellings_on_one_sheet_are_told_with_the_line() -> None:
    Path("twin.toml").write_text('ruleset = "lore"\n[skills]\n"Occult Lore" = 3\noccult-lore = 2\n')
    told = rpgres("sheet", "check", "twin.toml")
    assert told.code == 1
    assert "twin.toml:4: skills.occult-lore: 'Occult Lore' and 'occult-lore' are the same ability" in told.out
