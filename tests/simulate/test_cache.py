"""What came of dice that fell before: the same as resolving it again, without doing so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rpgres.engine.prepare import prepare
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes import Overrides, open_scene, read_scene
from rpgres.simulate import action_job, cache, scene_job
from rpgres.simulate.cache import Turns
from rpgres.simulate.playing import Key, runner_of
from tests.support.effort import few

CASES: list[tuple[str, str, dict[str, Any], tuple[str, ...]]] = [
    ("fate", "overcome", {"skill": 3, "vs": "4dF+2"}, ()),
    (
        "fate",
        "attack",
        {"sheet": "mara", "skill": "fight", "vs": "guards:fight"},
        ("characters.guards.tracks.physical",),
    ),
    ("fate", "conflict", {"sheet": "edda", "against": ["thug"]}, ("exchanges", "characters.edda.tracks.physical")),
    # What parts of a turn come to, and what is left behind a merge, is shared by turns of several fighters.
    ("fate", "conflict", {"sheet": "mara", "against": ["venn"]}, ("characters.venn.counters.fate-points",)),
    (
        "fate",
        "conflict",
        {"sheet": "mara", "against": ["venn", "thug"], "ally": ["edda"], "zones": "dock, quay=2, ship"},
        (),
    ),
    ("fate", "contest", {"sheet": "mara", "skill": "athletics", "vs": ["guard:fight"]}, ()),
    ("highest-die", "check", {"pool": 2}, ()),
    ("twenty-sided-advantage", "strike", {"bonus": 5, "vs": 15}, ()),
]


def played(case: tuple[str, str, dict[str, Any], tuple[str, ...]], runs: int, **more: Any) -> list[Key]:
    ruleset, action, inputs, by = case
    rules = load_rules(find_ruleset(ruleset))
    job = action_job(prepare(rules, action, inputs), seed="7", by=by, auto=True, **more)
    return [*map(runner_of(job, Path("nowhere")).play, range(runs))]


@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_what_is_recalled_is_what_resolving_again_gives(
    case: Any, is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_long = case[1] == "conflict"  # of turns, each of which recalls what the ones before came to
    runs = 150 if is_whole else 12 if is_long else 60
    recalled = played(case, runs)
    assert len(Counter(recalled)) > 1
    monkeypatch.setattr(cache, "MOST_KEPT", 7)
    assert played(case, runs) == recalled
    monkeypatch.setattr(cache, "MOST_KEPT", 0)
    assert played(case, runs) == recalled
    monkeypatch.setattr(Turns, "play", lambda self, run: None)
    assert played(case, runs) == recalled


FIGHTS = """
ruleset = "fate"
title = "Two fights"

[characters.mara]
sheet = "mara"

[characters.thug]
sheet = "thug"

[[steps]]
id = "look"
actor = "mara"
action = "create-advantage"
with = { skill = "notice", vs = "fair", name = "Loose Boards" }

[[steps]]
when = { look = ["succeed", "style"] }
set = { "things.hurry" = 1 }

[[steps]]
repeat = { until = { race = ["won"] }, at-most = 3 }

[[steps.steps]]
id = "race"
actor = "mara"
procedure = "contest"
with = { skill = "athletics", vs = "thug:fight" }
given = { roll = "++00" }

[[steps]]
id = "fight"
actor = "mara"
procedure = "conflict"
with = { against = "thug", exchanges = 2 }

[[steps]]
fresh = true
actor = "thug"
action = "overcome"
with = { skill = "fight", vs = "fair" }

[ends.early]
at-once = true
when = { race = "won", "characters.mara.tracks.physical.1.mark" = "x" }

[ends.late]
"""


def played_scene(name: str, runs: int, **more: Any) -> list[Key]:
    source, folder = open_scene(name)
    overrides = Overrides(auto=True)
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder, overrides=overrides)
    job = scene_job(scene, seed="7", overrides=overrides, **more)
    return [*map(runner_of(job, Path("nowhere")).play, range(runs))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "by"),
    [
        (FIGHTS, ()),
        (FIGHTS, ("exchanges", "things.hurry", "characters.mara.tracks.physical")),
        *few([("fate/ambush", ()), ("fate/vault", ()), ("fate/break-in", ()), ("saga/toll-gate", ())], 1),
    ],
)
def test_scenes_are_recalled_turn_by_turn(
    name: str, by: tuple[str, ...], tmp_path: Path, exhaustive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = 60 if exhaustive else 20
    if name == FIGHTS:
        (tmp_path / "fights.toml").write_text(FIGHTS, encoding="utf-8")
        name = str(tmp_path / "fights.toml")
    told: list[object] = []
    play = Turns.play
    monkeypatch.setattr(Turns, "play", lambda self, run: told.append(found := play(self, run)) or found)
    recalled = played_scene(name, runs, by=by)
    is_whole = None in told or not told
    assert is_whole == (name == "saga/toll-gate")  # where cards are drawn
    assert len(Counter(recalled)) > 1
    monkeypatch.setattr(cache, "MOST_KEPT", 7)
    assert played_scene(name, runs, by=by) == recalled
    monkeypatch.setattr(Turns, "play", lambda self, run: None)
    assert played_scene(name, runs, by=by) == recalled


@pytest.mark.slow
def test_turns_of_a_scene_are_not_resolved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fights.toml").write_text(FIGHTS, encoding="utf-8")
    resolved: list[object] = []
    resolve = Turns._resolved
    monkeypatch.setattr(Turns, "_resolved", lambda self, *at: resolved.append(at) or resolve(self, *at))
    runs = 100
    played_scene(str(tmp_path / "fights.toml"), runs)
    assert len(resolved) < 8 * runs  # of some 20 turns a run, the first runs included


@pytest.mark.slow
def test_a_beginning_may_merge(monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[5]
    expected = played(case, 20)
    rules = load_rules(find_ruleset("fate"))
    begin = rules.ruleset.actions["contest"]

    def merging(table: Any, actor: Any, **inputs: Any) -> Any:
        table.carries("ready")
        table.merge("ready", holds=("effects",))
        assert table.part(lambda: "ready", lambda inner: 1) == 1
        return begin(table, actor, **inputs)

    told: list[object] = []
    play = Turns.play
    monkeypatch.setattr(Turns, "play", lambda self, run: told.append(found := play(self, run)) or found)
    monkeypatch.setitem(rules.ruleset.actions, "contest", merging)
    assert played(case, 20) == expected
    assert told
    assert None not in told


def test_dice_that_fell_before_are_not_resolved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[object] = []
    keep = cache.CachingDealer.keep
    monkeypatch.setattr(cache.CachingDealer, "keep", lambda self, found: kept.append(found) or keep(self, found))
    played(CASES[0], 3000)
    assert len(kept) <= 81  # the totals of four dice against those of four


def test_decisions_that_are_drawn_are_drawn_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    case = ("fate", "attack", {"sheet": "mara", "skill": "fight", "vs": "guards:fight"}, ("tags",))
    found = played(case, 150, policies={"": "uniform"})
    assert len(Counter(found)) > 3
    monkeypatch.setattr(cache, "MOST_KEPT", 0)
    assert played(case, 150, policies={"": "uniform"}) == found
