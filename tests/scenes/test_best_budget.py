"""How large a scene the default budget of optimal decisions suffices for."""

import pytest

from rpgres.odds.scene_best import WORK, scene_best
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source

CONFLICT = """
ruleset = "fate"
policy = "sensible"
[characters.ana]
skills = {{ fight = 3 }}
aspects = ["Quick", "Bold"]
fate-points = {0}
[characters.bo]
skills = {{ fight = 2 }}
aspects = ["Strong", "Slow"]
fate-points = 1
[[steps]]
procedure = "conflict"
actor = "ana"
with = {{ against = ["bo"], exchanges = 1 }}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "part", "states"),
    [
        pytest.param(1, 1, 5_000, marks=pytest.mark.exhaustive),
        (0, 7, 2_500),  # a seventh of the budget, in a seventh of the time
    ],
)
def test_an_exchange_of_two_with_a_fate_point_each_is_not_too_large(points: int, part: int, states: int) -> None:
    scene = read_scene(Source("s.toml", CONFLICT.format(points)), find_ruleset=find_ruleset)
    found = scene_best(
        game_of(scene, best="ana"), "ana", worth=lambda result: int(result[0] != "lost"), work=WORK // part
    )
    assert sum(found.masses.values()) == 1
    assert found.states > states
