"""The package's own tests, run against whatever rpgres is installed beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from rpgres_after_hours import after_hours, alarm, fill, left, move

import rpgres


def said(*args: str) -> Any:
    """Return what a command prints as JSON."""
    command = [sys.executable, "-m", "rpgres", *args, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def resolve(action: str, **inputs: Any) -> Any:
    return rpgres.resolve("after-hours", action, **inputs)


def test_a_clean_slip_moves_and_rings_nothing() -> None:
    result = resolve("slip", skill=2, to="vault", given={"roll": "6,3"})
    assert (result.outcome, result.margin) == ("clean", 3)
    assert result.effects == [{"kind": "move", "to": "actor", "room": "vault"}]


@pytest.mark.parametrize(("way", "kinds"), [("back", ["alarm"]), ("on", ["alarm", "move", "alarm"])])
def test_whoever_is_seen_may_run_on(way: str, kinds: list[str]) -> None:
    result = resolve("slip", skill=0, to="vault", given={"roll": "1,1"}, choose={"way": way})
    assert [effect["kind"] for effect in result.effects] == kinds


def test_the_alarm_fills_from_the_left_and_never_overflows() -> None:
    state = rpgres.State()
    for ticks, free in ((1, 3), (2, 1), (5, 0), (1, 0)):
        state = fill(state, rpgres.effect("alarm", ticks=ticks))
        assert left(alarm(state, {"alarm": 4})) == free
    assert [box.mark for box in state.tracks["alarm"]] == ["x"] * 4


def test_somebody_is_in_one_room_at_a_time() -> None:
    state = move(rpgres.State(), rpgres.effect("move", to="wren", room="hall"))
    state = move(state, rpgres.effect("move", to="wren", room="vault"))
    assert state.things == {"places": {"wren": "vault"}}


def test_a_lock_of_one_part_is_a_race_of_independent_rolls() -> None:
    """With a skill of 2 a part opens on 6 or more: 26 of 36; the fourth failure in a row is the end."""
    odds = said("odds", "after-hours", "crack", "--skill", "2", "--parts", "1")
    fails = Fraction(10, 36)
    assert Fraction(odds["outcomes"]["caught"]["exact"]) == fails**4
    assert Fraction(odds["outcomes"]["clean"]["exact"]) == (1 - fails) * (1 + fails)
    assert odds["passed"] == ["quit"]


def test_the_careful_leave_in_time() -> None:
    result = resolve("crack", skill=0, parts=2, given={"roll": ["1,1"] * 3}, auto=True)
    assert [answer.value for answer in result.answers][-1] == "leave"
    assert result.effects == [{"kind": "alarm", "ticks": 3}]


def test_every_action_and_effect_is_registered_and_described() -> None:
    shown = said("ruleset", "show", "after-hours")
    assert set(shown["actions"]) == set(after_hours.actions)
    assert set(shown["effects"]) == set(after_hours.effects)
