"""A ruleset of a third-party plugin on the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import as_json, complaint, rpgres

OVERCOME = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2")


COIN = {
    "rpgres_coin/__init__.py": """
from pathlib import Path
from rpgres import Outcome, Ruleset, hookimpl

coin = Ruleset("coin", data=Path(__file__).parent)

@coin.action("toss")
def toss(table, actor, needs):
    total = table.roll(table.rules.dice, by=actor.name)
    return table.settle("toss", total - needs, total=total, opposition=needs, roles={"actor": actor.name})

@hookimpl
def rpgres_rulesets():
    yield coin
""",
    "rpgres_coin/ruleset.toml": """
title = "Coin"
summary = "One coin."
version = "1"
dice = "1d2"
[bands]
lose = { title = "Lose", to = -1, success = false }
win = { title = "Win", from = 0, success = true }
[actions.toss]
summary = "Toss the coin."
parameters = ["needs"]
labels = ["roll"]
tables = ["toss"]
[parameters.needs]
kind = "integer"
default = 2
help = "what the coin has to show"
[labels.roll]
kind = "chance"
help = "the coin"
[outcomes.toss.lose]
text = "Tails."
[outcomes.toss.win]
text = "Heads."
""",
    "rpgres_coin-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: rpgres-coin\nVersion: 1.0\n",
    "rpgres_coin-1.0.dist-info/entry_points.txt": "[rpgres]\ncoin = rpgres_coin\nhole = rpgres_hole\n",
}


@pytest.fixture
def _coin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in COIN.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("_coin")
def test_a_third_partys_ruleset_is_played_like_any_other() -> None:
    assert rpgres("roll", "coin", "toss", "--given", "roll=2", "--seed", "1").out == (
        "Toss: Win\n  2 against 2, margin +0\n  roll: 2 = 2\n  Heads.\n  seed: 1\n"
    )
    assert exact(as_json("odds", "coin", "toss")) == {"lose": "1/2", "win": "1/2"}
    assert re.search(r"^  coin +Coin$", rpgres("roll", "--help").out, re.MULTILINE)
    assert "toss  Toss the coin." in rpgres("roll", "coin", "--help").out
    assert "--needs N" in rpgres("odds", "coin", "toss", "--help").out
    assert "did you mean 'coin'?" in complaint("roll", "coi")


def exact(found: Any) -> dict[str, str]:
    """Return the exact chances of an odds object."""
    return {name: chance["exact"] for name, chance in found["outcomes"].items()}


@pytest.mark.usefixtures("_coin")
def test_a_broken_plugin_is_named_and_harms_nothing_else() -> None:
    told = complaint("roll", "hole", "dig", code=1)
    assert "rpgres-coin 1.0" in told
    assert rpgres(*OVERCOME, "--auto").code == 0
