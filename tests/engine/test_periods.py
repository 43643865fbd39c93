"""Periods of play: what ends with a scene, or with another period, and what goes on."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.periods import play_moment
from rpgres.engine.seats import Seats
from rpgres.model.state import State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules

RULES = load_rules(find_ruleset("fate"))


@pytest.mark.parametrize(
    ("open_now", "ends", "left"),
    [
        ("session scene conflict", "scene", "session"),
        ("scene session conflict", "scene", "session"),  # the session was begun late, and is no part of the scene
        ("conflict session", "scene", "session"),  # of a scene that nobody said to begin
        ("session conflict exchange", "conflict", "session"),
        ("session scene conflict", "session", ""),
        ("session scene conflict", "conflict", "session scene"),
    ],
)
def test_what_began_in_a_period_ends_with_it(open_now: str, ends: str, left: str) -> None:
    state = replace(State(), periods=tuple(open_now.split()))
    dealer = SeededDealer(Streams("periods"))
    _, _, after = play_moment(RULES, state, period=ends, moment="end", dealer=dealer, players=Seats())
    assert after.periods == tuple(left.split())
