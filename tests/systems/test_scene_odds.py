"""Exact odds of whole scenes of the rulesets that ship: looked up or not, they are the same, and play agrees."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from rpgres.odds.scenes import SceneOdds, scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import Scene, read_scene
from rpgres.scenes.walking import game_of, value_name
from rpgres.simulate.playing import plays_of
from rpgres.toml.reading import Source
from tests.support.effort import few, games
from tests.support.plain_walk import plain_odds

DUEL = """
ruleset = "{ruleset}"
policy = "{policy}"
[characters.ana]
{skills} = {{ {one} = 3, {two} = 2 }}
[characters.bo]
{skills} = {{ {one} = 2, {two} = 2 }}
played-by = "gm"
[[steps]]
actor = "ana"
procedure = "{procedure}"
with = {{ {given} }}
"""
FATE = {"ruleset": "fate", "skills": "skills", "one": "fight", "two": "athletics"}
CONFLICT = {"procedure": "conflict", "given": 'against = ["bo"], exchanges = 1'}
CONTEST = {
    "procedure": "contest",
    "given": 'skill = "athletics", vs = { character = "bo", skill = "fight" }, exchanges = 1',
}

SCENES = {
    "conflict, sensible": DUEL.format(**FATE, **CONFLICT, policy="sensible"),
    "conflict, thrifty": DUEL.format(**FATE, **CONFLICT, policy="thrifty"),
    "conflict, preferred": DUEL.format(**FATE, **CONFLICT, policy="preferred"),
    "contest, sensible": DUEL.format(**FATE, **CONTEST, policy="sensible"),
}
BY = (
    "ending",
    "characters.bo.tracks.physical",
    "characters.ana.tracks.consequences",
    "tags.count",
    "counters.fate-points",
)


def scene_of(text: str) -> Scene:
    return read_scene(Source("s.toml", text), find_ruleset=find_ruleset)


def odds(scene: Scene, **options: Any) -> SceneOdds:
    return scene_odds(game_of(scene, by=BY), work=10**9, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", few([*SCENES][::-1], 2))
def test_looking_turns_up_changes_no_chance(name: str) -> None:
    scene = scene_of(SCENES[name])
    looked_up, run_anew = odds(scene), odds(scene, is_merged=False)
    assert looked_up.masses == run_anew.masses
    assert sum(looked_up.masses.values()) == 1
    assert looked_up.leaves <= run_anew.leaves


@pytest.mark.slow
@pytest.mark.parametrize("name", few([*SCENES][::-1], 2))
def test_a_plain_walk_comes_to_the_same(name: str) -> None:
    scene = scene_of(SCENES[name])
    assert odds(scene).masses == plain_odds(game_of(scene, by=BY))


TWO_ASPECTS = """
ruleset = "fate"
policy = "{policy}"
[characters.mara]
sheet = "mara"
[tags.zeta]
text = "Zeta"
kind = "aspect"
{hidden}
[tags.alpha]
text = "Alpha"
kind = "aspect"
{hidden}
[[steps]]
actor = "mara"
{step}
[[orders.greedy]]
ask = "invoke"
when = {{ "facts.margin" = "<= 0" }}
choose = "first"
[[orders.greedy]]
ask = "invoke"
choose = "no"
"""
FREE = "uses = { mara = 1 }"
OVERCOME = 'action = "overcome"\nwith = { skill = "fight", vs = "fair" }'
DISCOVER = 'action = "discover"\nwith = { variant = "reveal-aspect", skill = 3, vs = 0 }'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "hidden", "step", "by"),
    [
        pytest.param(
            *("sensible", FREE, OVERCOME, ("tags.alpha.uses.mara", "tags.zeta.uses.mara")), marks=pytest.mark.exhaustive
        ),
        ("thrifty", FREE, OVERCOME, ("tags.alpha.uses.mara", "tags.zeta.uses.mara")),
        ("greedy", FREE, OVERCOME, ("tags.alpha.uses.mara", "tags.zeta.uses.mara")),
        ("preferred", 'seen-by = ["gm"]', DISCOVER, ("tags.alpha.audience", "tags.zeta.audience")),
    ],
)
def test_which_aspect_is_taken_does_not_hang_on_which_came_first(
    policy: str, hidden: str, step: str, by: tuple[str, ...]
) -> None:
    scene = scene_of(TWO_ASPECTS.format(policy=policy, hidden=hidden, step=step))
    exact = scene_odds(game_of(scene, by=by)).masses
    assert exact == plain_odds(game_of(scene, by=by))
    plays = [plays_of(scene, by=name, seed="7") for name in by]
    named = {tuple(map(value_name, result)): mass for result, mass in exact.items()}
    assert all(named.get(tuple(play(run) for play in plays), 0) > 0 for run in range(200))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_play_comes_to_what_the_odds_say(name: str) -> None:
    scene, runs = scene_of(SCENES[name]), games(2_000)
    exact = odds(scene).masses
    plays = [plays_of(scene, by=name, seed="7") for name in BY]
    counted = Counter(tuple(play(run) for play in plays) for run in range(runs))
    named = {tuple(map(value_name, result)): mass for result, mass in exact.items()}
    assert set(counted) <= set(named)
    for result, mass in named.items():
        chance = float(mass)
        assert abs(counted.get(result, 0) - runs * chance) <= 5 * (runs * chance * (1 - chance)) ** 0.5 + 5
