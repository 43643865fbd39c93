"""Dice that explode in actions with named dice: exact odds, where the number that decides is within reach."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import icepool
import pytest

import rpgres

WILD = """standalone = true
title = "Wild"
summary = "A trait die and a wild die, which explode."
version = "1"

[bands]
fail = {{ title = "Fail", success = false }}
ok = {{ title = "Success", success = true }}
raise = {{ title = "Raise", success = true }}

[actions.test]
summary = "Test a trait."
parameters = ["trait", "tn"]
required = ["trait"]
dice = {{ {dice} }}
numbers = {{ total = "{total}" }}
bands = {{ raise = "total >= tn + 4", ok = "total >= tn", fail = "else" }}

[parameters]
trait = {{ kind = "integer", at-least = 2, help = "the sides of the die" }}
tn = {{ kind = "integer", default = 4, help = "the number to reach" }}
"""


@pytest.mark.parametrize(
    ("dice", "total"),
    [
        ('both = "(d{trait}!,d6!)kh1"', "both"),
        ('own = "d{trait}!", wild = "d6!"', "max(own, wild)"),
        (
            'own = { roll = "d{trait}", again = "face = trait" }, wild = { roll = "d6", again = "face = 6" }',
            "max(sum(own), sum(wild))",
        ),
    ],
)
def test_the_best_of_two_dice_that_explode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dice: str, total: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("rulesets", "wild")
    folder.mkdir(parents=True)
    folder.joinpath("ruleset.toml").write_text(WILD.format(dice=dice, total=total), encoding="utf-8")
    best = icepool.highest(icepool.d(8).explode(depth=9), icepool.d6.explode(depth=9))
    found = rpgres.odds("wild", "test", trait=8, tn=6)
    assert found.method == "exact"
    assert [Fraction(chance.exact) for chance in found.outcomes.values()] == [
        best.probability("<", 6),
        best.probability(">=", 6) - best.probability(">=", 10),
        best.probability(">=", 10),
    ]
