"""Bounds of bands beside what the dice can show: a gap that no roll reaches is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import rpgres

RULESET = """
standalone = true
title = "One die"
summary = "A die."
version = "1"

[bands]
bad = { title = "Bad", from = 1, to = 3, success = false }
mixed = { title = "Mixed", from = 4, to = 5 }
good = { title = "Good", from = 6, to = 6, success = true }

[actions.roll-it]
summary = "Roll."
dice = "1d6"
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", ""),
        ('"1d6"', '"2d6kh1"', ""),
        ('"1d6"', '"1d6!"', "no band has the numbers from 7"),
        ('"1d6"', '"1d6+1"', "no band has the numbers from 7"),
        ("from = 4", "from = 5", "no band has the number 4"),
        ("from = 1, to = 3", "from = 2, to = 3", "no band has the numbers up to 1"),
        ("from = 6, to = 6", "from = 7, to = 7", "no band has the number 6"),
    ],
)
def test_a_gap_is_told_where_the_dice_may_fall_into_it(
    old: str, new: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = RULESET.replace(old, new) if old else RULESET
    folder = Path("rulesets/one-die")
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(text)
    ran = rpgres("ruleset", "check", "rulesets/one-die")
    assert (ran.code, told in ran.out) == (1 if told else 0, True), ran.out


NEUTRAL = """
[actions.try]
summary = "Try."
dice = "1d6"
bands = { won = "roll >= 4", lost = "else" }
"""


def checked(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    folder = Path("rulesets/one-die")
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(text)
    return rpgres("ruleset", "check", "rulesets/one-die").out


def test_bands_with_bounds_may_all_be_neither_success_nor_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = RULESET.replace(", success = false", "").replace(", success = true", "")
    text = text.replace("from = 1, ", "").replace(
        "[bands]", '[bands]\nwon = { title = "Won", success = true }\nlost = { title = "Lost", success = false }'
    )
    assert checked(text + NEUTRAL, tmp_path, monkeypatch) == "one-die: ok\n"


def test_the_outcome_may_be_a_number_that_is_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = RULESET[: RULESET.index("[bands]")] + (
        '[bands]\nwon = { title = "Won", success = true }\nlost = { title = "Lost", success = false }\n'
        '[actions.try]\nsummary = "Try."\ndice = "1d6"\nband = "end"\n'
        "numbers = { end = \"if(roll >= 4, 'won', other)\", other = \"if(roll > 1, 'lost', 'lots')\" }\n"
    )
    told = checked(text, tmp_path, monkeypatch)
    assert "actions.try.band: " in told
    assert "'lots'; did you mean `lost`?" in told
    assert "unreachable" not in told
