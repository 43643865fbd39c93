"""How large a scene the default budget of optimal decisions suffices for."""

import pytest

from rpgres.odds.scene_best import scene_best
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import course_of
from rpgres.toml.reading import Source

CONFLICT = """
ruleset = "fate"
policy = "sensible"
[characters.ana]
skills = { fight = 3 }
aspects = ["Quick", "Bold"]
fate-points = 1
[characters.bo]
skills = { fight = 2 }
aspects = ["Strong", "Slow"]
fate-points = 1
[[steps]]
procedure = "conflict"
actor = "ana"
with = { against = ["bo"], exchanges = 1 }
"""


@pytest.mark.slow
def test_an_exchange_of_two_with_a_fate_point_each_is_not_too_large() -> None:
    of = course_of(read_scene(Source("s.toml", CONFLICT), find_ruleset=find_ruleset), best="ana")
    found = scene_best(of, "ana", worth=lambda result: int(result[0] != "lost"))
    assert sum(found.masses.values()) == 1
    assert found.states > 5_000
