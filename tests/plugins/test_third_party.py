"""Packages of other people: a whole ruleset in use, and broken ones of every kind, which harm nobody else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from rpgres.plugins import entries, importing
from rpgres.plugins.entries import BUILTIN
from tests.support.checkout import ROOT
from tests.support.command_line import CHECKING, Ran, rpgres
from tests.support.effort import few
from tests.support.installed import crowded_environment
from tests.support.packages import AFTER_HOURS, BROKEN, project, put_on_path, quiet


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in, with every package of tests/packages on the path."""
    folder = tmp_path / "site"
    put_on_path(folder, AFTER_HOURS, *BROKEN)
    monkeypatch.syspath_prepend(str(folder))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    before = set(sys.modules)
    _forget()
    yield folder
    _forget()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def _forget() -> None:
    entries._scan.cache_clear()
    importing.record_of.cache_clear()


# ---------------------------------------------------------------------------------------------------------------------
# A ruleset with things of its own

SLIP = ("roll", "after-hours", "slip", "--sheet", "wren", "--skill", "quiet", "--to", "vault")

RUN = """\
To the vault and back

After Hours; seed: 7
Taking part: Wren; of the game master: The Night Porter

1. In
  Wren acts: slip, skill quiet, to hall.
    Roll (Wren): 4,4 = 8
  Noticed: 10 against 9, margin +1
  You are through. Did something move over there?
    * Move: for Wren, hall
    * Alarm: ticks 1
"""


@pytest.mark.slow
def test_a_ruleset_with_nouns_of_its_own_is_used_like_any_other(site: Path) -> None:
    assert re.search(
        r"^after-hours +After Hours: Slipping through a closed museum", rpgres("ruleset", "list").out, re.M
    )
    rolled = rpgres(*SLIP, "--given", "roll=5,4", "--seed", "7")
    assert (rolled.code, rolled.err) == (0, "")
    assert (
        rolled.out
        == """\
wren, slip: Clean
  11 against 8, margin +3
  roll (wren): 5,4 = 9
  You are through, and nobody knows.
  * move: for wren, vault
  seed: 7
"""
    )
    result = json.loads(rpgres(*SLIP, "--given", "roll=5,4", "--json").out)
    assert (result["format"], result["ruleset"], result["outcome"]) == ("rpgres.result/1", "after-hours", "clean")
    waiting = rpgres(*SLIP, "--given", "roll=1,1", "--seed", "7")
    assert waiting.code == 3
    assert "Answer it with --choose way=..." in waiting.out
    assert "way" in rpgres("roll", "after-hours", "slip", "--help").out
    assert rpgres("sheet", "show", "wren", "--ruleset", "after-hours").out.startswith("Wren (after-hours)\n")
    assert rpgres("schema", "scene", "after-hours").code == 0


def test_odds_of_a_chain_grow_with_its_states_and_not_with_its_paths(site: Path) -> None:
    odds = json.loads(rpgres("odds", "after-hours", "crack", "--skill", "2", "--parts", "6", "--json").out)
    assert odds["open"]["exact"] == "0"
    assert odds["states"] == 6 * 4  # parts opened, boxes filled
    assert odds["leaves"] < 500
    careful = json.loads(rpgres("odds", "after-hours", "crack", "--skill", "2", "--auto", "--json").out)
    assert careful["outcomes"]["caught"]["probability"] > odds["outcomes"]["clean"]["probability"] / 100


def test_its_scene_moves_people_fills_the_clock_and_hides_the_patrol(site: Path) -> None:
    scenes = ("after-hours/vault", "after-hours/walls")
    assert rpgres("scene", "check", *scenes).out == "after-hours/vault: ok\nafter-hours/walls: ok\n"
    tested = rpgres("scene", "test", *scenes).out
    assert tested == "after-hours/vault: ok (18 expectations)\nafter-hours/walls: ok (1 expectations)\n"
    assert "after-hours/vault" in rpgres("scene", "test", "after-hours/vaul").out
    shown = rpgres("scene", "run", "after-hours/vault").out
    assert shown.startswith(RUN)
    assert shown.endswith("""
On the table
  Alarm: 3 of 4
  Plan
    yard: hall
    hall: yard, vault
    vault: hall
  Places
    wren: vault
    porter: hall
  Patrol
    vault
    known to the game master
""")
    state = json.loads(rpgres("scene", "run", "after-hours/vault", "--json").out)["state"]
    assert state["things"]["places"] == {"wren": "vault", "porter": "hall"}
    assert [box["mark"] for box in state["tracks"]["alarm"]] == ["x", "x", "x", ""]
    assert state["audiences"] == {"patrol": ["gm"]}


def test_a_seat_that_may_not_know_of_the_patrol_sees_nothing_of_it(site: Path) -> None:
    """Two tables that differ in the patrol alone give the same view, up to what a roll against it tells."""
    from rpgres.dice.seeds import Streams
    from rpgres.engine.prepare import prepare
    from rpgres.engine.run import run
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules
    from rpgres.scenes import read_scene
    from rpgres.toml.reading import Source

    rules = load_rules(find_ruleset("after-hours"))
    text = (site / "rpgres_after_hours" / "scenes" / "vault.toml").read_text("utf-8")
    views = []
    for patrol in ('["vault"]', '["yard"]', "[]"):
        source = Source("vault.toml", text.replace('value = ["vault"]', f"value = {patrol}"))
        scene = read_scene(source, find_ruleset=find_ruleset, folder=site / "rpgres_after_hours" / "sheets")
        prepared = prepare(rules, "crack", {"skill": 0}, state=scene.state, actor="wren")
        seen: list[str] = []
        run(
            prepared,
            streams=Streams("7"),
            given={"roll": ["1,1"] * 3},
            policies={"": lambda view, question, seen=seen: seen.append(repr(view)) or "no"},  # type: ignore[misc]
        )
        views.append(seen)
    assert views[0]
    assert views[0] == views[1] == views[2]
    assert "patrol" not in views[0][0]


def test_completion_knows_its_actions_sheets_and_abilities(site: Path) -> None:
    def offered(*words: str) -> list[str]:
        line = " ".join(("rpgres", *words))
        done = rpgres(_RPGRES_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words)))
        return done.out.split()

    assert "after-hours" in offered("roll", "after-h")
    assert offered("roll", "after-hours", "sl") == ["slip"]
    assert offered("scene", "test", "after") == ["after-hours/vault", "after-hours/walls"]
    assert "wren" in offered("roll", "after-hours", "slip", "--sheet", "wr")
    assert offered("roll", "after-hours", "slip", "--sheet", "wren", "--skill", "qu") == ["quiet"]


# ---------------------------------------------------------------------------------------------------------------------
# Broken ones, all installed at once

# Where it shows, and what is told of it, by distribution.
STAGES = {
    "missing-module": ("import", "rpgres_missing_module/__init__.py, line 5). If it is yours, add the package of"),
    "failing-import": ("import", "RuntimeError: no museum today"),
    "wrong-hook": ("register", "takes no argument"),
    "failing-yield": ("yield", "RuntimeError: half way"),
    "twin-one": ("find", "claimed by rpgres-twin-one 0.3 (rpgres_twin_one) and rpgres-twin-two 0.3 (rpgres_twin_two)"),
    "twin-two": ("find", "claimed by rpgres-twin-one 0.3 (rpgres_twin_one) and rpgres-twin-two 0.3 (rpgres_twin_two)"),
    "impostor": ("find", "belongs to a ruleset shipped with rpgres"),
    "invalid-record": ("validate", "should be a pathlib.Path"),
    "unknown-effect": ("validate", "'thunder'"),
    "future-api": ("validate", "was written for API 99"),
}
IN_PLAY = {"failing-rule", "fickle-rule", "endless-rule", "talkative"}  # nothing is wrong with them until they play


def test_there_is_a_package_for_each_way() -> None:
    assert {folder.name for folder in BROKEN} == set(STAGES) | IN_PLAY


@pytest.mark.slow
def test_listing_names_every_broken_one_with_its_stage_and_what_to_do(site: Path) -> None:
    listed = rpgres("plugin", "list", "--json")
    assert listed.code == 0
    assert "Traceback" not in listed.err
    found = {one["distribution"]: one for one in json.loads(listed.out)["plugins"] if not one["builtin"]}
    for folder in BROKEN:
        one = found[f"rpgres-{folder.name}"]
        stage, told = STAGES.get(folder.name, (None, ""))
        assert (one["ok"], one["stage"], one["version"]) == (stage is None, stage, "0.3")
        assert told in one["problem"]
        if stage is not None:
            assert f"of rpgres-{folder.name} 0.3" in one["problem"] or folder.name.startswith("twin")
            assert re.search(r"pip (install|uninstall) .*|upgrade rpgres|RPGRES_DISABLE", one["problem"])
    assert found["rpgres-after-hours"]["ok"]
    text = rpgres("plugin", "list")
    assert text.code == 0
    for folder in BROKEN:
        assert f"rpgres-{folder.name} 0.3" in text.out
    assert rpgres("plugin", "list", "--check").code == 1


@pytest.mark.slow
def test_everything_else_goes_on_working(site: Path) -> None:
    assert rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--auto").code == 0
    assert rpgres("roll", "4dF+2").code == 0
    assert rpgres(*SLIP, "--auto").code == 0
    names = rpgres("ruleset", "list")
    assert names.code == 0
    assert {"after-hours", "failing-rule", *BUILTIN} <= {line.split()[0] for line in names.out.splitlines() if line}
    for command in (["--help"], ["roll", "--help"], ["roll", "after-hours", "slip", "--help"], ["plugin", "--help"]):
        assert rpgres(*command).code == 0


@pytest.mark.parametrize("name", [name for name in STAGES if not name.startswith(("twin", "impostor", "unknown"))])
def test_using_a_broken_one_tells_what_is_wrong_and_no_traceback_unless_asked(name: str, site: Path) -> None:
    stage, told = STAGES[name]
    for command in (["roll", name, "try"], ["odds", name, "try"], ["ruleset", "show", name]):
        done = rpgres(*command)
        assert (done.code, done.out) == (1, "")
        assert f"the ruleset {name} of rpgres-{name} 0.3 cannot be used (stage {stage}" in done.err
        assert told in done.err
        assert "Traceback" not in done.err
    shown = rpgres("roll", name, "try", "--debug").err
    assert "Traceback (most recent call last)" in shown
    assert told in shown
    as_json = rpgres("roll", name, "try", "--json")
    error = json.loads(as_json.err.splitlines()[-1])
    assert (error["code"], error["details"]["distribution"], error["details"]["stage"]) == (
        "plugin",
        f"rpgres-{name}",
        stage,
    )


@pytest.mark.slow
def test_debug_shows_where_plugins_that_are_listed_fail(site: Path) -> None:
    shown = rpgres("plugin", "list", "--json", "--debug")
    assert shown.code == 0
    assert json.loads(shown.out)["plugins"]
    assert shown.err.count("Traceback") >= len(STAGES)
    assert 'raise RuntimeError("half way")' in shown.err
    assert "Traceback" not in rpgres("plugin", "list").err


def test_twins_and_impostors(site: Path) -> None:
    done = rpgres("roll", "twins", "try")
    assert done.code == 1
    assert STAGES["twin-one"][1] in done.err
    assert "pip uninstall rpgres-twin-one or pip uninstall rpgres-twin-two" in done.err
    assert rpgres("roll", "twins", "try", RPGRES_DISABLE="rpgres-twin-two").code == 0
    ours = json.loads(rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--auto", "--json").out)
    assert ours["action"] == "overcome"


def test_an_effect_that_nobody_registered_is_told_in_play_with_its_distribution(site: Path) -> None:
    done = rpgres("roll", "unknown-effect", "try", "--given", "roll=6")
    assert (done.code, done.out) == (1, "")
    assert "effect of the kind 'thunder', for which no function is registered" in done.err
    assert "comes from rpgres-unknown-effect 0.3" in done.err
    assert rpgres("roll", "unknown-effect", "try", "--given", "roll=1").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("names", ["after-hours,failing-import", "rpgres-after-hours, RPGRES_failing.import"])
def test_what_is_disabled_by_name_is_not_there(names: str, site: Path) -> None:
    for ruleset in ("after-hours", "failing-import"):
        done = rpgres("roll", ruleset, "try", RPGRES_DISABLE=names)
        assert done.code == 1
        assert "is disabled: RPGRES_DISABLE=" in done.err
    listed = json.loads(rpgres("plugin", "list", "--json", RPGRES_DISABLE=names).out)["plugins"]
    assert {one["id"] for one in listed if one["stage"] == "disabled"} == {"after-hours", "failing-import"}
    assert "rpgres_after_hours" not in sys.modules
    assert "after-hours" not in rpgres("ruleset", "list", RPGRES_DISABLE=names).out


# ---------------------------------------------------------------------------------------------------------------------
# Broken ones that show it only in play


def blamed(done: Ran, name: str) -> str:
    """Return the message of a command that failed through the fault of a rule, after what all of these have to say."""
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    assert f"The ruleset {name} comes from rpgres-{name} 0.3" in done.err
    assert f"pip install --upgrade rpgres-{name}" in done.err
    assert f"RPGRES_DISABLE=rpgres-{name}" in done.err
    return done.err


@pytest.mark.parametrize("command", ["roll", "odds"])
def test_a_rule_that_raises_is_told_with_its_place_and_its_distribution(command: str, site: Path) -> None:
    told = blamed(rpgres(command, "failing-rule", "try"), "failing-rule")
    assert "the rule failing-rule try failed: ZeroDivisionError: " in told
    assert re.search(r"rpgres_failing_rule.__init__\.py, line \d+\)", told)
    assert "ZeroDivisionError" in rpgres(command, "failing-rule", "try", "--debug").err
    assert "Traceback" in rpgres(command, "failing-rule", "try", "--debug").err
    as_json = json.loads(rpgres(command, "failing-rule", "try", "--json").err)
    assert as_json["code"] == "rule"
    assert (as_json["details"]["distribution"], as_json["details"]["version"]) == ("rpgres-failing-rule", "0.3")


def test_a_batch_tells_the_distribution_and_no_path(site: Path) -> None:
    requests = '{"ruleset": "failing-rule", "action": "try"}\n{"notation": "1d1"}\n'
    first, second = map(json.loads, rpgres("batch", stdin=requests).out.splitlines())
    assert "comes from rpgres-failing-rule 0.3" in first["message"]
    assert str(site) not in json.dumps(first)
    assert second["total"] == 1


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("odds", "fickle-rule", "try"), "on the same answers it returned 'pass' and then 'fail'"),
        (("odds", "fickle-rule", "drift"), "on the same answers it asked 'roll' and then 'other'"),
        (("odds", "fickle-rule", "stray", "--choose", "way=left"), "on the same answers it asked"),
        (("roll", "fickle-rule", "stray"), "on the same answers it asked 'way' and then 'other'"),
    ],
)
def test_a_rule_that_is_not_deterministic_is_noticed_when_it_is_run_again(
    command: tuple[str, ...], told: str, site: Path
) -> None:
    message = blamed(rpgres(*command), "fickle-rule")
    assert told in message or told.replace("'pass' and then 'fail'", "'fail' and then 'pass'") in message
    assert "a rule must depend only on the table" in message


def test_answers_that_a_resumed_run_does_not_take_are_the_rules_fault_when_it_strays(site: Path) -> None:
    assert rpgres("roll", "fickle-rule", "drift").code == 0  # what is asked now is not asked the next time
    blamed(rpgres("roll", "fickle-rule", "drift", "--given", "roll=3"), "fickle-rule")
    ours = rpgres(
        "roll", "after-hours", "slip", "--skill", "2", "--to", "hall", "--given", "roll=6,6", "--given", "roll=1,1"
    )
    assert (ours.code, "was not used" in ours.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "action"), few(product([("roll",), ("odds", "--seconds", "1")], ["try", "many", "deaf"]), 3)
)
def test_a_rule_that_asks_for_ever_ends_within_bounds(action: str, command: tuple[str, ...], site: Path) -> None:
    import tracemalloc

    verb, *options = command
    tracemalloc.start()
    try:
        told = blamed(rpgres(verb, "endless-rule", action, *options), "endless-rule")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200 * 1024 * 1024
    assert "seems to loop" in told or "no run of the rule" in told


@pytest.mark.slow
@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_what_a_ruleset_prints_disturbs_no_result(json_: tuple[str, ...], site: Path) -> None:
    done = rpgres("roll", "talkative", "try", "--given", "roll=6", "--auto", "--seed", "7", *json_)
    assert done.code == 0
    assert "said" not in done.out
    assert done.err.splitlines() == [
        "said when it is imported",
        "said by the rule",
        "said by the policy",
        "said by the effect",
    ]
    if json_:
        assert json.loads(done.out)["outcome"] == "pass"
    for command in (["odds", "talkative", "try", "--auto"], ["plugin", "list"], ["ruleset", "show", "talkative"]):
        done = rpgres(*command, *json_)
        assert done.code == 0
        assert "said" not in done.out
    scene = 'ruleset = "talkative"\npolicy = "loud"\n[[steps]]\naction = "try"\ngiven = { roll = "6" }\n'
    done = rpgres("scene", "run", "-", *json_, stdin=scene)
    assert done.code == 0
    assert "said" not in done.out
    assert "said by the effect" in done.err
    requests = '{"ruleset": "talkative", "action": "try", "auto": true}\n' * 2
    done = rpgres("batch", stdin=requests)
    assert [json.loads(line)["format"] for line in done.out.splitlines()] == ["rpgres.result/1"] * 2


def test_our_own_faults_are_told_as_our_own(site: Path) -> None:
    from rpgres.plugins.discovery import find_ruleset

    fate = find_ruleset("fate")
    kept = fate.actions["overcome"]
    fate.actions["overcome"] = lambda table, actor, **_: 1 // 0
    try:
        done = rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "2")
    finally:
        fate.actions["overcome"] = kept
    assert done.code == 1
    assert re.search(r"The ruleset fate ships with rpgres \(rpgres \d+\.\d+\.\d+\): please report this", done.err)
    assert "RPGRES_DISABLE" not in done.err


# ---------------------------------------------------------------------------------------------------------------------
# All of them installed with pip


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crowded_environment(tmp_path_factory)


@pytest.mark.slow
def test_everything_works_from_an_installation(fresh: Path, tmp_path: Path) -> None:
    def said(*args: str, **environment: str) -> str:
        return quiet(fresh / "rpgres", *args, cwd=tmp_path, **environment)

    assert "after-hours" in said("ruleset", "list")
    assert ": Clean\n" in said(*SLIP, "--given", "roll=6,6")
    assert json.loads(said(*SLIP, "--given", "roll=6,6", "--json"))["outcome"] == "clean"
    assert json.loads(said("odds", "after-hours", "crack", "--skill", "2", "--json"))["open"]["exact"] == "0"
    assert ": ok (" in said("scene", "test", "after-hours/vault")
    assert said("sheet", "show", "wren", "--ruleset", "after-hours").startswith("Wren (after-hours)")
    assert "--parts" in said("roll", "after-hours", "crack", "--help")
    completing = {"_RPGRES_COMPLETE": "complete_bash", "COMP_WORDS": "rpgres roll after-hours sl", "COMP_CWORD": "3"}
    assert said(**completing) == "slip\n"
    listed = {one["distribution"]: one for one in json.loads(said("plugin", "list", "--json"))["plugins"]}
    for folder in BROKEN:
        assert listed[f"rpgres-{folder.name}"]["stage"] == STAGES.get(folder.name, (None, ""))[0]
    assert listed["rpgres-after-hours"] == {**listed["rpgres-after-hours"], "ok": True, "version": "1.4"}
    assert "after-hours" in quiet(fresh / "python", *CHECKING[1:], "plugin", "check", "after-hours", cwd=tmp_path)
    assert "Fate" in said("ruleset", "show", "fate")
    assert said("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--auto").startswith("Overcome: ")
    assert "after-hours" not in said("ruleset", "list", RPGRES_DISABLE="after-hours")
    shown = json.loads(said("roll", "talkative", "try", "--auto", "--json"))
    assert shown["ruleset"] == "talkative"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_its_own_tests_pass_where_it_is_installed(fresh: Path, tmp_path: Path) -> None:
    tests = AFTER_HOURS / "tests"
    shown = quiet(
        *(fresh / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tests),
        cwd=tmp_path,
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert re.search(r"\d+ passed", shown)
    assert "failed" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failing-import", "failing-rule", "endless-rule", "fickle-rule"])
def test_what_is_broken_is_named_where_it_is_installed(name: str, fresh: Path, tmp_path: Path) -> None:
    verb = "odds" if name == "fickle-rule" else "roll"
    command = [str(fresh / "rpgres"), verb, name, "try", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    error = json.loads(done.stderr.splitlines()[-1])
    assert (error["details"]["distribution"], error["details"]["version"]) == (f"rpgres-{name}", "0.3")
    assert f"rpgres-{name} 0.3" in error["message"]


def test_no_test_package_is_part_of_the_wheel() -> None:
    described = (ROOT / "pyproject.toml").read_text("utf-8")
    for folder in (AFTER_HOURS, *BROKEN):
        assert project(folder)["name"].replace("-", "_") not in described
