"""`rpgres scene`: run, check and test, in an empty folder, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rpgres.cli.root import app

SCENE = """\
ruleset = "fate"
title = "At the gate"
seed = "7"

[characters.mara]
sheet = "mara.toml"

[characters.guards]
skills = { will = 0 }

[[steps]]
id = "bribe"
actor = "mara"
action = "overcome"
with = { skill = "resources", vs = { character = "guards", skill = "will" } }
given = { roll = "+-0+", opposition = "+0++" }
choose = { price = "fail" }
expect = { outcome = "fail", margin = -1 }

[[steps]]
id = "sneak"
when = { bribe = "fail" }
actor = "mara"
action = "overcome"
with = { skill = "stealth", vs = 1 }
given = { roll = "+0-0" }

[[steps]]
when = { sneak = "fail" }
actor = "mara"
action = "overcome"
with = { skill = "athletics", vs = 1 }
"""

RUN = """\
At the gate

Fate (five actions); seed: 7
Taking part: Mara Quill, Guards

1. Bribe
  Mara Quill tries to overcome what is in the way with resources, against the
  will of Guards.
    Roll (Mara Quill): +-0+ = +1
    Opposition (Guards): +0++ = +3
    Price (Mara Quill, chosen): fail
  Fail: Fair (+2) against Good (+3), margin -1
  You fall short. You do not get what you wanted.

2. Sneak
  Mara Quill tries to overcome what is in the way with stealth, against Average
  (+1).
    Roll (Mara Quill): +0-0 = +0
  Succeed: Good (+3) against Average (+1), margin +2
  You get what you wanted.
    * The goal is reached

3. Step 3  (skipped)

On the table
  Mara Quill
    refresh 3, fate points 3, physical stress 0 of 2, mental stress 0 of 3,
      consequences 0 of 3
    aspect: Smuggler with a Conscience; Wanted in Three Ports; Tobin Owes Me His
      Life; Silver Tongue, Empty Purse; I Know a Back Way
  Guards: refresh 3, fate points 3, physical stress 0 of 2, mental stress 0 of
    2, consequences 0 of 3
"""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_COLOR", "1")
    Path("gate.toml").write_text(SCENE, encoding="utf-8")


def rpgres(*args: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["scene", *args], input=typed)


def test_a_scene_is_played_step_by_step() -> None:
    done = rpgres("run", "gate.toml")
    assert (done.exit_code, done.stdout) == (0, RUN)


TABLE = """
[tracks.alarm]
boxes = 4
marks = 2
[tracks.locks]
boxes = { gate = 2 }
seen-by = ["gm"]
[things.zones]
value = { yard = ["mara", "guards"], hall = [], lit = true, doors = { north = "open", south = 2 } }
[things.weather]
value = "rain"
"""


def test_what_lies_on_the_table_is_told_at_the_end() -> None:
    Path("gate.toml").write_text(SCENE.replace("[[steps]]", TABLE + "[[steps]]", 1), encoding="utf-8")
    done = rpgres("run", "gate.toml")
    assert (
        done.stdout.removeprefix(RUN)
        == """\
  Alarm: 2 of 4
  Locks
    0 of 1
    known to the game master
  Zones
    yard: mara, guards
    hall: nothing
    lit: yes
    doors: north open, south 2
  Weather: rain
"""
    )
    shown = json.loads(rpgres("run", "gate.toml", "--json").stdout)["state"]
    assert shown["things"]["zones"]["yard"] == ["mara", "guards"]
    assert shown["tracks"]["locks"] == [{"name": "gate", "size": 2, "mark": ""}]
    assert shown["audiences"] == {"locks": ["gm"]}


def test_a_scene_is_read_from_standard_input() -> None:
    done = rpgres("run", "-", typed=SCENE)
    assert (done.exit_code, done.stdout) == (0, RUN)


def test_json_holds_the_steps_and_the_state_after() -> None:
    done = rpgres("run", "gate.toml", "--json")
    shown = json.loads(done.stdout)
    assert shown["format"] == "rpgres.scene/1"
    assert [step.get("outcome") for step in shown["steps"]] == ["fail", "succeed", None]
    assert shown["steps"][2] == {"id": "", "skipped": True}
    assert set(shown["state"]["characters"]) == {"mara", "guards"}


def test_expectations_hold_or_are_told_with_their_line() -> None:
    assert rpgres("test", "gate.toml").stdout == "gate.toml: ok (2 expectations)\n"
    Path("gate.toml").write_text(SCENE.replace("margin = -1", "margin = 1"), encoding="utf-8")
    done = rpgres("test", "gate.toml")
    assert done.exit_code == 1
    assert done.stdout == (
        "gate.toml: 1 of 2 expectations failed\n  gate.toml:18: step 'bribe': margin: expected 1, found -1\n"
    )


def test_a_scene_of_which_nothing_is_expected_fails_its_test() -> None:
    Path("gate.toml").write_text(SCENE.replace('expect = { outcome = "fail", margin = -1 }', ""), encoding="utf-8")
    done = rpgres("test", "gate.toml")
    assert (done.exit_code, done.stdout) == (1, "gate.toml: it has no expectations\n")


def test_check_finds_everything_in_every_file_and_plays_nothing() -> None:
    Path("other.toml").write_text(SCENE.replace('"stealth"', '"stelth"').replace("actor", "acter", 1), encoding="utf-8")
    done = rpgres("check", "gate.toml", "other.toml")
    assert done.exit_code == 1
    assert done.stdout.startswith("gate.toml: ok\n")
    assert "other.toml:13: steps.bribe.acter" in done.stdout


def test_a_decision_nobody_takes_is_an_error_with_its_line() -> None:
    Path("gate.toml").write_text(SCENE.replace('choose = { price = "fail" }\n', ""), encoding="utf-8")
    done = rpgres("run", "gate.toml")
    assert done.exit_code == 1
    assert "gate.toml:11: step 'bribe' waits for a decision: price (mara chooses among fail, cost)" in done.stderr
    assert rpgres("run", "gate.toml", "--auto").exit_code == 0
    assert rpgres("run", "gate.toml", "--policy", "thrifty").exit_code == 0


def test_a_seed_and_a_switch_are_taken() -> None:
    free = SCENE.replace('given = { roll = "+0-0" }', "")
    Path("gate.toml").write_text(free, encoding="utf-8")
    runs = {rpgres("run", "gate.toml", "--auto", "--seed", str(seed)).stdout for seed in range(12)}
    assert len(runs) > 3
    done = rpgres("run", "gate.toml", "--switch", "opposers=one", "--json")
    assert json.loads(done.stdout)["switches"]["opposers"] == "one"
    assert rpgres("run", "gate.toml", "--switch", "opposer=one").exit_code == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('include = "nope.toml"', "gate.toml:3: steps[0].include: there is no scene 'nope.toml'"),
        ('include = "saga/toll-gate"', "gate.toml:3: steps[0].include: 'saga/toll-gate' is for the ruleset saga"),
        ('note = "x"', "gate.toml:1: ruleset: there is no ruleset 'fait'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_fault_is_told_with_its_place_once(command: str, line: str, told: str) -> None:
    ruleset = "fait" if "fait" in told else "fate"
    Path("gate.toml").write_text(f'ruleset = "{ruleset}"\n[[steps]]\n{line}\n', encoding="utf-8")
    done = rpgres(command, "gate.toml")
    said = done.stdout + done.stderr
    assert (done.exit_code, told in said, said.count("gate.toml:")) == (1, True, 1), said


def test_a_missing_scene_and_a_faulty_one_are_told() -> None:
    missing = rpgres("run", "gatt.toml")
    assert missing.exit_code == 1
    assert "there is no scene 'gatt.toml'" in missing.stderr
    faulty = rpgres("run", "-", typed="ruleset = [")
    assert faulty.exit_code == 1
    assert "Traceback" not in faulty.stderr


def test_check_and_test_as_json() -> None:
    Path("bad.toml").write_text(SCENE.replace('"stealth"', '"stelth"').replace("margin = -1", "margin = 1"), "utf-8")
    done = rpgres("check", "gate.toml", "bad.toml", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["format"], said["ok"]) == (1, "rpgres.check/1", False)
    assert [(file["file"], file["ok"]) for file in said["files"]] == [("gate.toml", True), ("bad.toml", False)]
    assert [(one["line"], one["key"]) for one in said["files"][1]["problems"]] == [(25, "steps.sneak.with.skill")]
    done = rpgres("test", "gate.toml", "bad.toml", "missing", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["format"], said["ok"]) == (1, "rpgres.scene-test/1", False)
    assert [(one["file"], one["ok"], one["checks"]) for one in said["files"]] == [
        ("gate.toml", True, 2),
        ("bad.toml", False, 0),
        ("missing", False, 0),
    ]


def test_an_opposition_ability_nobody_has_is_told_on_its_key() -> None:
    Path("bad.toml").write_text(SCENE.replace('skill = "will" }', 'skill = "wil" }'), "utf-8")
    assert rpgres("check", "bad.toml").stdout.startswith(
        "bad.toml:15: steps.bribe.with.vs.skill: guards's sheet has no ability"
    )


def test_a_shipped_scene_is_called_by_its_name() -> None:
    assert rpgres("check", "fate/bribe").stdout == "fate/bribe: ok\n"
    assert rpgres("test", "fate/bribe").stdout.startswith("fate/bribe: ok (")
    assert json.loads(rpgres("test", "fate/bribe", "--json").stdout)["files"][0]["file"] == "fate/bribe"


def test_answers_not_used_are_told_as_the_scene_says_them() -> None:
    more = 'given = { roll = "+0-0" }\nchoose = { invoke = "no", price = "fail" }'
    Path("gate.toml").write_text(SCENE.replace('given = { roll = "+0-0" }', more), "utf-8")
    shown = rpgres("run", "gate.toml").stdout
    assert [line.strip() for line in shown.splitlines() if "not used" in line] == [
        'not used: choose = { price = "fail" }'
    ]


def test_house_rules_stand_once_above_a_scene() -> None:
    shown = rpgres("run", "gate.toml", "--switch", "opposers=one").stdout
    assert shown.splitlines()[2] == "Fate (five actions); house rules: opposers=one; seed: 7"
    assert shown.count("house rules") == 1


@pytest.mark.parametrize("command", ["run", "test"])
def test_a_seed_that_is_none_is_refused(command: str) -> None:
    assert rpgres(command, "gate.toml", "--seed", " ").exit_code == 2
    Path("gate.toml").write_text(SCENE.replace('seed = "7"', 'seed = ""'), "utf-8")
    done = rpgres(command, "gate.toml")
    assert done.exit_code == 1
    assert "gate.toml:3: seed: the seed is empty" in done.stdout + done.stderr
