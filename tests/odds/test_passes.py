"""Passes through a scene: bounds hold, more budget knows more, and an interruption keeps what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.engine.players import COMMON_POLICIES, preferred
from rpgres.odds import scenes as module
from rpgres.odds.games import Game
from rpgres.odds.scene_best import scene_best
from rpgres.odds.scenes import SceneOdds, scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.support.plain_walk import plain_odds

CONFLICT = """
ruleset = "fate"
policy = "{policy}"
[characters.ana]
skills = {{ fight = 4, athletics = 2 }}
[characters.bo]
skills = {{ fight = 1, athletics = 1 }}
played-by = "gm"
[[steps]]
actor = "ana"
procedure = "conflict"
with = {{ against = ["bo"], exchanges = {exchanges} }}
{more}
"""
LATER = {"counters.fate-points-later", "counters.fate-points-after"}
BY = ("ending", "characters.bo.tracks.consequences")


def game(policy: str = "preferred", *, exchanges: int = 2, by: tuple[str, ...] = BY, more: str = "") -> Game:
    text = CONFLICT.format(policy=policy, exchanges=exchanges, more=more)
    return game_of(read_scene(Source("s.toml", text), find_ruleset=find_ruleset), by=by)


@pytest.fixture(scope="module")
def exact() -> SceneOdds:
    """The whole answer, of one pass in which nothing is dropped."""
    found = module._Walk(game(), module.Budget(work=10**9), is_merged=True)
    found._go_through(whole := module._Pass(module.EVERY, module.EVERY, 1))
    assert whole.open() == 0
    return SceneOdds(whole.masses(), whole.open(), 0, whole.states, 0)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with a threshold that drops nearly all, and have it fall slowly."""
    for name, value in {"FEW": 1, "LEAST": 2, "KNOWN": 2, "FALL": 3, "SPARE": 0.0}.items():
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The passes of walks."""
    found, go_through = list[Any](), module._Walk._go_through

    def noted(self: Any, now: Any) -> None:
        found.append(now)
        go_through(self, now)

    monkeypatch.setattr(module._Walk, "_go_through", noted)
    return found


def check_bounds(found: SceneOdds, exact: SceneOdds) -> None:
    assert sum(found.masses.values()) + found.open == 1
    assert all(mass <= exact.masses[result] for result, mass in found.masses.items())


def test_a_small_scene_is_done_in_one_pass(passes: list[Any]) -> None:
    assert scene_odds(game(exchanges=1)).open == 0
    assert len(passes) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_passes_come_to_the_whole_answer(passes: list[Any], exact: SceneOdds) -> None:
    found = scene_odds(game(), work=10**9)
    assert found.masses == exact.masses
    assert (found.open, found.states) == (0, exact.states)
    left = [one.open() for one in passes]
    assert len(left) > 5
    assert left == sorted(left, reverse=True)
    assert left[0] > left[-2] > left[-1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["preferred", "thrifty"])
def test_more_budget_never_leaves_more_open(policy: str, exact: SceneOdds) -> None:
    whole = exact if policy == "preferred" else scene_odds(game(policy, exchanges=1), work=10**9)
    of = game(policy, exchanges=2 if policy == "preferred" else 1)
    runs = [scene_odds(of, work=work) for work in (200, 1_000, 3_000, 9_000, 10**6)]
    for found in runs:
        check_bounds(found, whole)
    left = [found.open for found in runs]
    assert left == sorted(left, reverse=True)
    assert left[0] > 0 == left[-1]


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_the_pass_that_leaves_the_least_is_told(passes: list[Any], exact: SceneOdds) -> None:
    cut = 0
    for work in (1_000, 2_000, 5_000):
        passes.clear()
        found = scene_odds(game(), work=work)
        check_bounds(found, exact)
        best = min(reversed(passes), key=lambda one: one.open())
        assert (found.open, found.states) == (best.open(), best.states)
        cut += best is not passes[-1]
    assert cut  # one was cut short, and left more than the one before it


@pytest.mark.slow
def test_the_same_budget_has_the_same_answer() -> None:
    assert scene_odds(game(), work=5_000) == scene_odds(game(), work=5_000)


@pytest.mark.slow
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("calls", [0, 1, 40, 200])
def test_an_interruption_keeps_what_is_known(
    calls: int, passes: list[Any], exact: SceneOdds, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned, left = module._Walk._turned, iter(range(calls))

    def interrupted(self: Any, node: int) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return turned(self, node)

    monkeypatch.setattr(module._Walk, "_turned", interrupted)
    found = scene_odds(game(), work=10**9)
    assert found.is_interrupted
    check_bounds(found, exact)
    assert found.open == min(one.open() for one in passes)
    assert found.open == 1 or calls > 1


@pytest.mark.slow
@pytest.mark.parametrize("by", [("ending",), BY, (*BY, "tags.count")])
def test_boosts_that_nobody_uses_are_forgotten_and_change_nothing(by: tuple[str, ...]) -> None:
    of = game(exchanges=1, by=by)
    assert set(of.forgotten) == ({*LATER} if "tags.count" in by else {"boost", *LATER})
    assert scene_odds(of).masses == plain_odds(of) == scene_odds(of, is_merged=False).masses


@pytest.mark.parametrize(
    ("policy", "more"),
    [
        ("thrifty", ""),
        ("preferred", "choose = { invoke = ['boost-of-ana'] }"),
        ("preferred", "[[steps]]\nset = { 'counters.doom' = 1 }\nwhen = { 'tags.boost-of-ana.kind' = 'boost' }"),
        ("preferred", "[ends.boosted]\nwhen = { 'tags.boost-of-ana.kind' = 'boost' }\n[ends.plain]"),
        ("preferred", "[switches]\nboost_lifetime = 'next-chance'"),
    ],
)
def test_boosts_that_may_be_used_or_read_are_kept(policy: str, more: str) -> None:
    assert not {*game(policy, more=more).forgotten} - {*LATER}


@pytest.mark.parametrize(
    ("by", "is_kept"),
    [
        ("ending", False),
        ("exchanges", False),
        ("characters.bo.tracks.consequences", False),
        ("characters.bo.counters.fate-points", True),
        ("characters.bo", True),
        ("counters", True),
        ("counters.fate-points-later", True),
    ],
)
def test_points_for_later_are_forgotten_where_no_counters_are_asked_for(by: str, is_kept: bool) -> None:
    assert LATER.isdisjoint(game("sensible", by=(by,)).forgotten) == is_kept


def test_points_that_a_policy_may_read_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMON_POLICIES, "looks", lambda view, question: preferred(view, question))
    assert not game("looks").forgotten


def test_points_that_formulas_may_name_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A random table of a house rule may add a counter that sheets list to its die."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "rulesets" / "fate"
    folder.mkdir(parents=True)
    rows = 'rows = { "..2" = "nothing", "3.." = "more" }'
    (folder / "ruleset.toml").write_text(
        '[sheet.fate-points-later]\nkind = "counter"\nhelp = "points"\ndefault = 0\n'
        f'[tables.woe]\nsummary = "woe"\ndie = "1d2 + {{fate-points-later}}"\n{rows}\n'
        '[outcomes.attack.succeed]\ntable = "woe"\n'
    )
    assert {*game("sensible").forgotten} == LATER - {"counters.fate-points-later"}


@pytest.mark.slow
def test_points_for_later_that_are_forgotten_change_nothing() -> None:
    """Where aspects are invoked for points, and those of an opponent go to it later."""
    aspects = "[tags.tired]\ntext = 'Tired'\nkind = 'aspect'\non = 'bo'\n[tags.yard]\ntext = 'Yard'\nkind = 'aspect'\n"
    of = game("sensible", exchanges=1, by=("ending", "characters.bo.tracks.consequences"), more=aspects)
    assert LATER.issubset(of.forgotten)
    found, kept = scene_odds(of), scene_odds(msgspec.structs.replace(of, forgotten=()))
    assert found.open == kept.open == 0
    assert found.masses == kept.masses
    assert found.states < kept.states


def test_half_a_unit_of_work_is_one_more_run() -> None:
    share = module.Budget(work=1_001).share()
    share.spend(500)
    assert (share.work, share.is_spent, share.runs) == (0.5, False, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_branches_are_counted_where_turns_are_run_and_not_where_they_are_looked_up(
    passes: list[Any], exact: SceneOdds
) -> None:
    found = scene_odds(game(), leaves=2 * exact.leaves + 2 * exact.states)
    assert found.open == 0
    assert len(passes) > 5


def test_a_search_keeps_the_boosts_that_it_may_use() -> None:
    scene = read_scene(
        Source("s.toml", CONFLICT.format(policy="preferred", exchanges=1, more="")), find_ruleset=find_ruleset
    )
    assert {*game_of(scene).forgotten} == {"boost", *LATER}
    assert {*game_of(scene, best="ana").forgotten} == {*game_of(scene, best="gm").forgotten} == LATER


@pytest.mark.slow
def test_what_optimal_decisions_forget_changes_nothing() -> None:
    """Where an opponent invokes an aspect of the one who decides, who gets the point later."""
    aspect = "[tags.tired]\ntext = 'Tired'\nkind = 'aspect'\non = 'ana'\n"
    text = CONFLICT.format(policy="sensible", exchanges=1, more=aspect).replace("skills", "fate-points = 0\nskills")
    scene = read_scene(
        Source("s.toml", text.replace("'ana'\n", "'ana'\n[counters]\nfate-points = 1\n")), find_ruleset=find_ruleset
    )
    of = game_of(scene, by=("characters.bo.tracks.consequences",), best="ana")
    assert {*of.forgotten} == LATER
    kept_all = msgspec.structs.replace(of, forgotten=())
    found, kept = (scene_best(one, "ana", worth=lambda result: result[0]) for one in (of, kept_all))
    assert 0 < found.value == kept.value
    assert found.masses == kept.masses
    assert found.states < kept.states
