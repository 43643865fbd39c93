"""The law of dice depends on its inputs alone: a ruleset in which names of a die are names on the sheet, too."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from rpgres.engine.named_dice.law_inputs import law_inputs
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets.references import plan_of
from rpgres.scenes import open_scene, read_scene
from rpgres.scenes.playing import play_scene
from rpgres.scenes.walking import game_of

FACES = """
standalone = true
title = "Faces"
summary = "Three dice of which those over a counter count, and a sheet with a face."
version = "1"

[bands]
win = { title = "Win", success = true }
lose = { title = "Lose", success = false }

[actions.try]
summary = "Roll three dice."
dice = { pool = "3d6" }
numbers = { hits = "count(pool, face >= skill)" }
bands = { win = "hits >= 2", lose = "else" }

[effects.gain]
help = "points"
does = "counter"
counter = "points"
numbers = ["change"]
words = "{to}: {change} points"

[effects.lose-edge]
help = "higher skill numbers are worse"
does = "counter"
counter = "skill"
numbers = ["change"]
words = "{to}: skill {change}"

[sheet]
name = { kind = "text", help = "name" }
face = { kind = "counter", help = "how pretty" }
skill = { kind = "counter", help = "what a die has to show" }
points = { kind = "counter", help = "points" }

[outcomes.try]
win.effects = [{ kind = "gain", to = "actor", change = "face" }, { kind = "lose-edge", to = "actor", change = 1 }]
lose.effects = [{ kind = "lose-edge", to = "actor", change = 1 }]
"""
SCENE = """
ruleset = "faces"
characters.red = { face = FACE, skill = 3, points = 0 }
[[steps]]
repeat = { at-most = 3 }
[[steps.steps]]
actor = "red"
action = "try"
"""
POINTS = "characters.red.counters.points"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rulesets" / "faces").mkdir(parents=True)
    (tmp_path / "rulesets" / "faces" / "ruleset.toml").write_text(FACES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def won(skill: int) -> Fraction:
    """Return the chance that two dice of three show a number or more."""
    return Fraction(sum(sum(one >= skill for one in dice) >= 2 for dice in product(range(1, 7), repeat=3)), 216)


@pytest.mark.parametrize("face", [0, 1, 9])
def test_an_ability_called_face_is_not_the_face_of_a_die(here: Path, face: int) -> None:
    (here / "scene.toml").write_text(SCENE.replace("FACE", str(face)))
    source, folder = open_scene(str(here / "scene.toml"))
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder)
    expected: dict[object, Fraction] = {}
    for wins in product((0, 1), repeat=3):
        chance = Fraction(1)
        for turn, is_won in enumerate(wins):
            chance *= won(3 + turn) if is_won else 1 - won(3 + turn)
        expected[face * sum(wins),] = expected.get((face * sum(wins),), Fraction(0)) + chance
    assert scene_odds(game_of(scene, by=(POINTS,))).masses == expected
    *_, last = play_scene(scene, seed="3")
    assert (last.state.characters["red"].counters["points"],) in expected


def test_what_a_law_does_not_depend_on_is_not_among_its_inputs(here: Path) -> None:
    plan = plan_of(load_rules(find_ruleset("faces")), "try")
    one, other = {"face": 2, "skill": 3, "points": 0}, {"face": 2, "skill": 3, "points": 7}
    assert law_inputs(plan, one, ("band",)) == law_inputs(plan, other, ("band",))
    assert law_inputs(plan, one, ("band",)) == law_inputs(plan, {**one, "face": 5}, ("band",))
    assert law_inputs(plan, one, ("band",)) != law_inputs(plan, {**one, "skill": 4}, ("band",))
    assert law_inputs(plan, one, ("band", "face")) != law_inputs(plan, {**one, "face": 5}, ("band", "face"))
