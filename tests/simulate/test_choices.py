"""Typed answers in simulations: as in exact odds, they hold where they are offered, and the rest is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rpgres import odds, simulate
from rpgres.errors import ChoiceError
from tests.support.command_line import as_json, rpgres
from tests.support.declarative import here, write

__all__ = ["here"]  # a fixture that every test here uses

LAMPS = """
standalone = true
title = "Lamps"
summary = "Lamps and oil."
version = "1"

[bands]
light = { title = "Light", success = true }
dark = { title = "Dark", success = false }

[actions.light]
summary = "Light lamps."
dice = { own = "3d6" }

[actions.light.ask.spill]
text = "Spill oil?"
times = 2
options.spill = { text = "A lamp more.", when = "lit >= 1", prefer = 1 }
options.wipe = { text = "Nothing comes of it.", when = "lit = 0" }

[actions.light.numbers]
lit = "count(own, face = 6) + times(spill, 'spill')"

[actions.light.bands]
light = "lit >= 3"
dark = "else"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "auto", "partly"),
    [
        (["spill"], False, ["spill=spill"]),
        (["spill*"], False, ["spill=spill"]),
        (["spill", "no"], True, ["spill=spill"]),
        (["wipe*"], True, ["spill=wipe"]),
        (["no"], True, []),
    ],
)
def test_odds_and_simulations_take_an_answer_alike(answers: list[str], auto: bool, partly: list[str]) -> None:
    write(LAMPS, name="lamps")
    exact = odds("lamps", "light", choose={"spill": answers}, auto=auto)
    found = simulate("lamps", "light", choose={"spill": answers}, auto=auto, runs=2000, seed="7")
    assert found.partly == exact.partly == partly
    assert found.unasked == exact.unasked == []
    assert set(found.counted) == {"outcome", "margin", "total"}
    shares = {one.value: one for one in found.counted["outcome"].values}
    for name, chance in exact.outcomes.items():
        share = shares[name].share if name in shares else 0.0
        assert abs(share - chance.probability) <= 5 * (chance.probability * (1 - chance.probability) / 2000) ** 0.5


def test_an_answer_that_no_run_offers_is_refused_as_a_roll_refuses_it(tmp_path: Path) -> None:
    write(LAMPS, name="lamps")
    with pytest.raises(ChoiceError, match="spill=wine is not offered here; actor may choose: spill, no"):
        simulate("lamps", "light", choose={"spill": ["spill", "wine"]}, runs=50, seed="7")
    for _ in range(2):  # a saved simulation that is complete is refused too
        line = "simulate lamps light --choose spill=wine --runs 30 --seed 7 --save"
        ran = rpgres(*line.split(), str(tmp_path / "x"))
        assert ran.code == 2
        assert "spill=wine is not offered here" in ran.err


def test_answers_are_counted_over_all_that_plays_runs(tmp_path: Path) -> None:
    write(LAMPS, name="lamps")
    line = ["simulate", "lamps", "light", "--choose", "spill=spill", "--seed", "7", "--save"]
    assert rpgres(*line, str(tmp_path / "kept"), "--runs", "1").code == 0  # of which one answer came up, or the other
    ran = rpgres(*line, str(tmp_path / "kept"), "--runs", "200")
    assert "not offered on some paths: spill=spill (decided by a policy or skipped there" in ran.out
    assert as_json(*line, str(tmp_path / "kept"), "--runs", "200")["partly"] == ["spill=spill"]


@pytest.mark.slow
def test_one_answer_is_for_one_question_wherever_it_is_typed() -> None:
    """A question of `times = 2` is asked again, and takes a second answer; one that is for all has a star."""
    write(LAMPS.replace(', when = "lit >= 1"', ""), name="lamps")
    rolled = {"own": ["6,1,1"]}

    def typed(*answers: str) -> tuple[list[Any], list[Any]]:
        line = [part for one in answers for part in ("--choose", f"spill={one}")]
        ran = as_json("roll", "lamps", "light", *line, "--given", "own=6,1,1")
        asked = {"ruleset": "lamps", "action": "light", "given": rolled, "choose": {"spill": list(answers)}}
        batched = json.loads(rpgres("batch", stdin=json.dumps(asked)).out)
        assert batched["events"] == ran["events"]
        return [event["answer"] for event in ran["events"] if event["event"] == "decision"], ran["outcome"]

    assert typed("spill") == typed("spill", "no") == (["spill", "no"], "dark")
    assert typed("spill", "spill") == typed("spill*") == (["spill", "spill"], "light")
    for answers, most in ((["spill"], 1), (["spill"] * 2, 2), (["spill*"], 2), (["spill", "no"], 1)):
        lamps = sum((1, 3, 3, 1)[sixes] * 5 ** (3 - sixes) for sixes in range(3 - most, 4)) / 216
        exact = odds("lamps", "light", choose={"spill": answers}).outcomes["light"]
        assert exact.probability == pytest.approx(lamps)
        found = simulate("lamps", "light", choose={"spill": answers}, runs=400, seed="7")
        counts = {one.value: one.share for one in found.counted["outcome"].values}
        assert counts["light"] == pytest.approx(lamps, abs=0.1)
