"""Battles of Risk, a ruleset in one file and a scene that repeats, against a recursion that knows no engine."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import open_scene, read_scene
from rpgres.scenes.walking import course_of

# Of 7776 ways that three dice fall against two, 2890 cost the defender two armies and 2275 the attacker.
RISK = """
standalone = true
title = "Risk, three dice against two"
summary = "Rounds of a battle as the board game has them."
version = "1"

[bands.defender-loses-two]
title = "The defender loses two"
success = true
[bands.each-loses-one]
title = "Each loses one"
[bands.attacker-loses-two]
title = "The attacker loses two"
success = false

[parameters.against]
kind = "character"
help = "who defends"

[actions.attack]
summary = "Attack with three dice against two."
parameters = ["against"]
required = ["against"]
labels = ["roll"]
dice = "d7776"
[actions.attack.bands]
defender-loses-two = "roll <= 2890"
each-loses-one = "roll <= 5501"
attacker-loses-two = "else"

[labels.roll]
kind = "chance"
help = "the five dice"

[effects.lose]
help = "armies fall"
does = "counter"
counter = "armies"
words = "{to}: {change} armies"

[sheet.name]
kind = "text"
help = "name"
[sheet.armies]
kind = "counter"
help = "armies"
at-least = 0

[outcomes.attack.defender-loses-two]
text = "Two defenders fall."
effects = [{ kind = "lose", to = "against", change = -2 }]
[outcomes.attack.each-loses-one]
text = "One falls on each side."
effects = [{ kind = "lose", to = "actor", change = -1 }, { kind = "lose", to = "against", change = -1 }]
[outcomes.attack.attacker-loses-two]
text = "Two attackers fall."
effects = [{ kind = "lose", to = "actor", change = -2 }]
"""

BATTLE = """
ruleset = "risk"
title = "A battle"
[characters.red]
armies = {red}
[characters.blue]
armies = {blue}
[[steps]]
repeat = {{ at-most = 30 }}
[[steps.steps]]
actor = "red"
action = "attack"
with = {{ against = "blue" }}
[ends.taken]
when = {{ "characters.blue.counters.armies" = "<= 1" }}
at-once = true
[ends.repulsed]
when = {{ "characters.red.counters.armies" = "<= 3" }}
at-once = true
"""

ROUND = {(0, 2): Fraction(2890, 7776), (1, 1): Fraction(2611, 7776), (2, 0): Fraction(2275, 7776)}


@cache
def taken(red: int, blue: int) -> Fraction:
    """Return the chance that blue is left with at most one army before red is left with at most three."""
    if blue <= 1:
        return Fraction(1)
    if red <= 3:
        return Fraction(0)
    return sum((chance * taken(red - lost, blue - won) for (lost, won), chance in ROUND.items()), Fraction(0))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "rulesets" / "risk"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(RISK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("red", "blue"), [(4, 2), (9, 7), (12, 9)])
def test_whole_battles_are_the_recursion(here: Path, red: int, blue: int) -> None:
    path = here / "battle.toml"
    path.write_text(BATTLE.format(red=red, blue=blue))
    source, folder = open_scene(str(path))
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder)
    odds = scene_odds(course_of(scene))
    assert odds.masses.get(("taken",), Fraction(0)) == taken(red, blue)
    assert sum(odds.masses.values()) == 1
    assert odds.leaves < 7776 + 200  # the dice are followed once, whatever is left of the armies
