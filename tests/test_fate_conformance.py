"""The scenes that ship with Fate, as tests; and that between them they play every row, option and switch there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rpgres.plugins import find_ruleset
from rpgres.rulesets import Rules, builtin_folder, load_rules
from rpgres.scenes import Scene, check_scene, prove_scene, read_scene, run_scene
from rpgres.table import Decided, Outcome, Table
from rpgres.tomlfiles import read_source

SCENES = sorted((builtin_folder() / "fate" / "scenes").glob("*.toml"))
CONFORMANCE = [path for path in SCENES if path.stem.startswith("conformance-")]
STORIES = [path for path in SCENES if path not in CONFORMANCE]

Played = set[tuple[str, ...]]


def scene_of(path: Path, *, policy: str = "") -> Scene:
    return read_scene(read_source(path), find_ruleset=find_ruleset, policy=policy)


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_scene_holds(path: Path) -> None:
    scene = scene_of(path)
    assert check_scene(scene) == []
    checks, wrong = prove_scene(scene)
    assert wrong == []
    assert checks >= len([step for step in scene.file.steps if step.expect is not None]) > 0


def test_the_cases_come_from_the_text_and_from_fate_core() -> None:
    assert len(CONFORMANCE) >= 8
    steps = [step for path in CONFORMANCE for step in scene_of(path).file.steps]
    assert len(steps) > 230
    assert all(step.expect is not None for step in steps), "a step of a conformance scene expects something"
    named = " ".join(step.note for step in steps)
    for number in (1, 2, 3, 5, 6, 8, 9, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25, 26, 28, 31, 35, 36, 38, 43):
        assert f"case {number}" in named, f"case {number} is not among the scenes"


@pytest.fixture(scope="module")
def played() -> Played:
    """Every (table, band) and (table, band, label, option) that the conformance scenes play."""
    found: Played = set()
    settle = Table.settle

    def noting(table: Table, name: str, margin: int | None, **more: Any) -> Outcome:
        before = len(table.events)
        outcome = settle(table, name, margin, **more)
        found.add((name, outcome.band))
        decided = [event for event in table.events[before:] if isinstance(event, Decided)]
        found.update((name, outcome.band, event.label, event.answer) for event in decided)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "settle", noting)
        for path in CONFORMANCE:
            prove_scene(scene_of(path))
    return found


def _answers(rules: Rules, ask: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for label, question in ask.items():
        shown = rules.menu(question.menu) if question.menu else question
        for name, option in shown.options.items():
            yield label, name
            yield from _answers(rules, option.ask)


def test_every_row_and_option_is_played(played: Played) -> None:
    rules = load_rules(find_ruleset("fate"))
    wanted: Played = set()
    for table in rules.table_names():
        for band, row in rules.table(table).items():
            wanted.add((table, band))
            wanted.update((table, band, label, option) for label, option in _answers(rules, row.ask))
    assert len(wanted) > 80
    assert sorted(wanted - played) == []


def test_every_switch_is_played_both_ways() -> None:
    rules = load_rules(find_ruleset("fate"))
    used: dict[str, set[str]] = {name: set() for name in rules.file.switches}
    for path in CONFORMANCE:
        for name, value in scene_of(path).rules.switches.items():
            used[name].add(value)
    assert used == {name: set(switch.choices) for name, switch in rules.file.switches.items()}


def test_every_action_is_in_the_long_scene() -> None:
    scene = scene_of(next(path for path in STORIES if path.stem == "ledger"))
    assert {step.action for step in scene.file.steps} == set(scene.rules.file.actions)
    assert any(step.when for step in scene.file.steps)


@pytest.mark.parametrize("policy", ["sensible", "thrifty"])
@pytest.mark.parametrize("seed", range(12))
def test_the_long_scene_plays_out_with_any_seed(policy: str, seed: int) -> None:
    scene = scene_of(next(path for path in STORIES if path.stem == "ledger"), policy=policy)
    played = run_scene(scene, seed=str(seed))
    assert len(played.steps) == len(scene.file.steps)
    assert prove_scene(scene, seed=str(seed))[1] == [], "what is given and chosen holds with every seed"


def test_the_long_scene_takes_its_branch() -> None:
    scene = scene_of(next(path for path in STORIES if path.stem == "ledger"))
    taken = set()
    for seed in range(40):
        steps = {step["id"]: step for step in run_scene(scene, seed=str(seed)).steps}
        locked = steps["the-lock"]["outcome"] == "fail"
        assert ("outcome" in steps["bluff"]) is locked
        assert ("outcome" in steps["quiet-steps"]) is not locked
        taken.add(locked)
    assert taken == {True, False}
