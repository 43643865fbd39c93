"""Battles of Risk, a ruleset in one file and a scene that repeats, against a recursion that knows no engine."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from rpgres.engine.named_dice.odds import LawBuilder
from rpgres.odds.scenes import SceneOdds, scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import open_scene, read_scene
from rpgres.scenes.walking import game_of

RISK = """
standalone = true
title = "Risk"
summary = "Rounds of a battle as the board game has them: dice in pairs, from the highest down, ties to the defender."
version = "1"

[bands.taken]
title = "The attacker loses nothing"
success = true
[bands.both]
title = "Both lose"
[bands.held]
title = "The defender loses nothing"
success = false

[parameters.against]
kind = "character"
help = "who defends"

[actions.attack]
summary = "Attack with up to three dice, against up to two."
parameters = ["against"]
required = ["against"]
tell = ["attacker-loss", "defender-loss"]
dice = { red = "{red-dice}d6", blue = "{blue-dice}d6" }

[actions.attack.numbers]
red-dice = "min(3, armies)"
blue-dice = "min(2, opponent.armies)"
pairs = "min(red-dice, blue-dice)"
second = "if(red-dice = 3, red - highest(red) - lowest(red), lowest(red))"
defender-loss = "(highest(red) > highest(blue)) + (pairs = 2 and second > lowest(blue))"
attacker-loss = "pairs - defender-loss"

[actions.attack.bands]
held = "defender-loss = 0"
taken = "attacker-loss = 0"
both = "else"

[effects.lose]
help = "armies fall"
does = "counter"
counter = "armies"
words = "{to}: {change} armies"
numbers = ["change"]

[sheet.name]
kind = "text"
help = "name"
[sheet.armies]
kind = "counter"
help = "armies"
at-least = 0

[outcomes.attack.taken]
effects = [{ kind = "lose", to = "against", change = "-defender-loss" }]
[outcomes.attack.both]
effects = [{ kind = "lose", to = "actor", change = "-attacker-loss" },
  { kind = "lose", to = "against", change = "-defender-loss" }]
[outcomes.attack.held]
effects = [{ kind = "lose", to = "actor", change = "-attacker-loss" }]
"""

BATTLE = """
ruleset = "risk"
title = "A battle"
[characters.red]
armies = {red}
[characters.blue]
armies = {blue}
[[steps]]
repeat = {{ at-most = 60 }}
[[steps.steps]]
actor = "red"
action = "attack"
with = {{ against = "blue" }}
[ends.taken]
when = {{ "characters.blue.counters.armies" = 0 }}
at-once = true
[ends.held]
when = {{ "characters.red.counters.armies" = 0 }}
at-once = true
"""


@cache
def fallen(red: int, blue: int) -> dict[tuple[int, int], Fraction]:
    """Return the chances of what red and blue lose in a round, by every die."""
    found = dict[tuple[int, int], int]()
    for dice in product(range(1, 7), repeat=red + blue):
        pairs = list(zip(sorted(dice[:red])[::-1], sorted(dice[red:])[::-1], strict=False))
        won = sum(mine > theirs for mine, theirs in pairs)
        lost = len(pairs) - won
        found[lost, won] = found.get((lost, won), 0) + 1
    return {key: Fraction(count, 6 ** (red + blue)) for key, count in found.items()}


@cache
def left(red: int, blue: int) -> dict[tuple[int, int], Fraction]:
    """Return the chances of what is left of red and blue in the end."""
    if not red or not blue:
        return {(red, blue): Fraction(1)}
    found = dict[tuple[int, int], Fraction]()
    for (lost, won), chance in fallen(min(red, 3), min(blue, 2)).items():
        for key, mass in left(red - lost, blue - won).items():
            found[key] = found.get(key, Fraction(0)) + chance * mass
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "rulesets" / "risk"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(RISK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def odds_of_battle(here: Path, red: int, blue: int, by: list[str]) -> SceneOdds:
    path = here / "battle.toml"
    path.write_text(BATTLE.format(red=red, blue=blue))
    source, folder = open_scene(str(path))
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder)
    return scene_odds(game_of(scene, by=by))


def test_three_dice_against_two_are_those_of_7776() -> None:
    assert fallen(3, 2) == {(0, 2): Fraction(2890, 7776), (1, 1): Fraction(2611, 7776), (2, 0): Fraction(2275, 7776)}


@pytest.mark.slow
@pytest.mark.parametrize(("red", "blue"), [(1, 1), (3, 2), (2, 5), (9, 7)])
def test_whole_battles_are_the_recursion(here: Path, red: int, blue: int) -> None:
    odds = odds_of_battle(here, red, blue, ["characters.red.counters.armies", "characters.blue.counters.armies"])
    assert odds.masses == left(red, blue)


def test_equal_dice_of_a_scene_are_evaluated_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[object]()
    law = LawBuilder.law
    monkeypatch.setattr(LawBuilder, "law", lambda builder: made.append(builder) or law(builder))
    odds_of_battle(here, 7, 6, [])
    assert len(made) == 6  # one to three dice against one or two, however many armies are behind them
