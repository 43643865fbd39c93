"""`rpgres odds SCENE`: what it prints, in a pipe and as JSON, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.command_line import as_json, rpgres

SCENE = """
ruleset = "fate"
title = "A wall"
[characters.mara]
sheet = "mara"
[[steps]]
id = "first"
actor = "mara"
action = "overcome"
with = { skill = 2, vs = 2 }
choose = { price = "fail" }
[[steps]]
id = "second"
when = { first = "fail" }
actor = "mara"
action = "overcome"
with = { skill = 2, vs = 2 }
choose = { price = "fail", invoke = "no" }
[ends.over]
when = { second = ["tie", "succeed", "style"] }
[ends.stuck]
when = { second = "fail" }
[ends.at-once]
"""


@pytest.fixture
def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("wall.toml")
    path.write_text(SCENE)
    return path


def test_a_scene_has_exact_odds(wall: Path) -> None:
    record = as_json("odds", "wall.toml")
    # 4dF + 2 against 2: 31 of 81 fail (closed form), and the second try is like the first
    assert {name: chance["exact"] for name, chance in record["outcomes"].items()} == {
        "at-once": "50/81",
        "over": "1550/6561",
        "stuck": "961/6561",
    }
    assert record["method"] == "exact"
    schema = json.loads(rpgres("schema", "scene-odds").out)
    jsonschema.validate(record, schema)


def test_people_read_percentages(wall: Path) -> None:
    found = rpgres("odds", "wall.toml", "--plain")
    assert found.code == 0
    assert "A wall: odds" in found.out
    assert "61.73 %" in found.out


def test_a_part_of_the_table_is_weighed(wall: Path) -> None:
    record = as_json("odds", "wall.toml", "--by", "characters.mara.counters.fate-points")
    assert list(record["outcomes"]) == ["3"]
    assert json.loads(json.dumps(record["mean"]))["exact"] == "3"


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (["odds", "walll.toml"], 1, "there is no scene 'walll.toml'"),
        (["odds", "wall.toml", "--by", "characters.mara.nothing"], 2, "nothing"),
        (["odds", "wall.toml", "--policy", "bold"], 2, "bold"),
    ],
)
def test_what_is_wrong_is_told(wall: Path, line: list[str], code: int, told: str) -> None:
    found = rpgres(*line)
    assert found.code == code
    assert told in found.err


def test_a_decision_without_anybody_to_take_it(wall: Path) -> None:
    wall.write_text(SCENE.replace('choose = { price = "fail" }', ""))
    found = rpgres("odds", "wall.toml")
    assert found.code == 3
    assert "price" in found.err
