"""The scenes that ship with our rulesets, as tests; and that between them they play every row, option and switch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rpgres.engine.events import Decided
from rpgres.engine.table import Outcome, Table
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, builtin_folder
from rpgres.scenes import Overrides, Scene, check_scene, prove_scene, read_scene, run_scene
from rpgres.toml.reading import read_source

SCENES = sorted(builtin_folder().glob("*/scenes/*.toml"))
CONFORMANCE = [path for path in SCENES if path.stem.startswith("conformance")]
STORIES = [path for path in SCENES if path not in CONFORMANCE]
# A ruleset has a story with every action in it, and cases for every row of its tables.
LONG = {
    "fate": "ledger",
    "coppermane": "flooded-gate",
    "two-dice": "the-moving-light",
    "twenty-sided-advantage": "the-cold-ovens",
    "again-pool": "the-debt",
}
# The numbers of the cases are those of the digest of the rules that the project was built from.
CASES = {
    "fate": (1, 2, 3, 5, 6, 8, 9, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25, 26, 28, 31, 35, 36, 38, 43),
    "coppermane": (25, 30, 33, 40, 41),
    "faith": (
        *(1, 3, 5, 6, 8, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25, 26, 28, 30, 31, 33, 35, 36, 38, 40, 41, 43, 45, 48),
        *(50, 51, 53),
    ),
    "nodice": (1, 3, 5, 6, 8, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25, 26, 28, 30, 31, 33, 35, 36, 38, 40, 41),
}

Played = set[tuple[str, ...]]


def scene_of(path: Path, *, policy: str = "") -> Scene:
    return read_scene(read_source(path), find_ruleset=find_ruleset, overrides=Overrides(policies={"": policy}))


def cases_of(ruleset: str) -> list[Path]:
    return [path for path in CONFORMANCE if path.parts[-3] == ruleset]


def long_scene(ruleset: str, *, policy: str = "") -> Scene:
    return scene_of(next(path for path in STORIES if path.stem == LONG[ruleset]), policy=policy)


@pytest.mark.parametrize("path", SCENES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_scene_holds(path: Path) -> None:
    scene = scene_of(path)
    assert check_scene(scene) == []
    checks, wrong = prove_scene(scene)
    assert wrong == []
    is_case = path in CONFORMANCE
    assert not is_case or all(step.expect is not None for step in scene.file.steps), "a case expects something"
    assert checks >= len([step for step in scene.file.steps if step.expect is not None])
    assert checks > 0 or path in STORIES


@pytest.mark.parametrize("ruleset", CASES)
def test_the_cases_come_from_the_texts(ruleset: str) -> None:
    steps = [step for path in cases_of(ruleset) for step in scene_of(path).file.steps]
    named = " ".join(step.note for step in steps)
    for number in CASES[ruleset]:
        assert re.search(rf"case C?{number}\b", named), f"case {number} is not among the scenes"


@cache
def played(ruleset: str) -> Played:
    """Return every (table, band) and (table, band, label, option) that the conformance scenes play."""
    found: Played = set()
    settle = Table.settle

    def noting(table: Table, name: str, *given: Any, **more: Any) -> Outcome:
        before = len(table.run.events)
        outcome = settle(table, name, *given, **more)
        counted = {(band, row.counts_as) for band, row in table.rules.table(name).items() if row.counts_as}
        by_margin = table.rules.band_of(outcome.margin) if counted else ""
        row = by_margin if (by_margin, outcome.band) in counted else outcome.band
        found.add((name, row))
        decided = [event for event in table.run.events[before:] if isinstance(event, Decided)]
        found.update((name, row, event.label, event.answer) for event in decided)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "settle", noting)
        for path in cases_of(ruleset):
            prove_scene(scene_of(path))
    return found


def _answers(rules: Rules, ask: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for label, question in ask.items():
        shown = rules.menu(question.menu) if question.menu else question
        for name, option in shown.options.items():
            yield label, name
            yield from _answers(rules, option.ask)


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", LONG)
def test_every_row_and_option_is_played(ruleset: str) -> None:
    rules = load_rules(find_ruleset(ruleset))
    wanted: Played = set()
    for table in rules.layers.table_names():
        for band, row in rules.table(table).items():
            wanted.add((table, band))
            wanted.update((table, band, label, option) for label, option in _answers(rules, row.ask))
    assert len(wanted) > (60 if rules.ruleset.actions else 3)
    assert sorted(wanted - played(ruleset)) == []


@pytest.mark.parametrize("ruleset", LONG)
def test_every_switch_is_played_both_ways(ruleset: str) -> None:
    rules = load_rules(find_ruleset(ruleset))
    used: dict[str, set[str]] = {name: set() for name in rules.file.switches}
    for path in cases_of(ruleset):
        for name, value in scene_of(path).rules.chosen.items():
            used[name].add(value)
    assert used == {name: set(switch.choices) for name, switch in rules.file.switches.items()}


@pytest.mark.parametrize("ruleset", LONG)
def test_every_action_is_in_the_long_scene(ruleset: str) -> None:
    scene = long_scene(ruleset)
    assert {step.played for step in scene.file.steps} == set(scene.rules.file.actions)
    assert any(step.when for step in scene.file.steps)


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", LONG)
@pytest.mark.parametrize("policy", ["preferred", "uniform"])
def test_the_long_scene_plays_out_with_any_seed(ruleset: str, policy: str) -> None:
    own = {"preferred": "sensible", "uniform": "thrifty"} if find_ruleset(ruleset).actions else {}
    scene = long_scene(ruleset, policy=own.get(policy, policy))
    for seed in map(str, range(12)):
        played = run_scene(scene, seed=seed)
        assert len(played.steps) == len(scene.file.steps), seed
        assert prove_scene(scene, seed=seed)[1] == [], f"what is given and chosen holds with every seed: {seed}"


@pytest.mark.slow
def test_the_long_scene_takes_its_branch() -> None:
    scene = long_scene("fate")
    taken = set()
    for seed in range(40):
        steps = {step["id"]: step for step in run_scene(scene, seed=str(seed)).steps}
        locked = steps["the-lock"]["outcome"] == "fail"
        assert ("outcome" in steps["bluff"]) is locked
        assert ("outcome" in steps["quiet-steps"]) is not locked
        taken.add(locked)
    assert taken == {True, False}


@pytest.mark.slow
def test_what_an_epic_success_also_is_takes_the_branch_of_a_style() -> None:
    scene = long_scene("coppermane")
    found = set()
    for seed in range(120):
        steps = {step["id"]: step for step in run_scene(scene, seed=str(seed)).steps}
        outcome = steps["heave"]["outcome"]
        assert ("outcome" in steps["told-in-songs"]) is (outcome in ("style", "epic"))
        found.add(outcome)
    assert {"succeed", "style", "epic"} <= found
