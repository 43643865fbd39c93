"""What came of dice that fell before: the same as resolving it again, without doing so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rpgres.engine.prepare import prepare
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.simulate import action_job, recall
from rpgres.simulate.subjects import Key, rebuild

CASES: list[tuple[str, str, dict[str, Any], tuple[str, ...]]] = [
    ("fate", "overcome", {"skill": 3, "vs": "4dF+2"}, ()),
    (
        "fate",
        "attack",
        {"sheet": "mara", "skill": "fight", "vs": "guards:fight"},
        ("characters.guards.tracks.physical",),
    ),
    ("fate", "conflict", {"sheet": "edda", "against": ["thug"]}, ("exchange", "characters.edda.tracks.physical")),
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
    return [*map(rebuild(job, Path("nowhere")).play, range(runs))]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_what_is_recalled_is_what_resolving_again_gives(
    case: Any, exhaustive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_long = case[1] == "conflict"  # of turns, each of which recalls what the ones before came to
    runs = 30 if is_long and not exhaustive else 150
    recalled = played(case, runs)
    assert len(Counter(recalled)) > 1
    monkeypatch.setattr(recall, "MOST_KEPT", 7)
    assert played(case, runs) == recalled
    monkeypatch.setattr(recall, "MOST_KEPT", 0)
    assert played(case, runs) == recalled


def test_dice_that_fell_before_are_not_resolved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    keep = recall.Tree.keep

    def noting(self: recall.Tree, noted: list[Any], found: Any) -> int:
        kept.append(keep(self, noted, found))
        return kept[-1]

    monkeypatch.setattr(recall.Tree, "keep", noting)
    played(CASES[0], 3000)
    assert len(kept) <= 81  # the totals of four dice against those of four
    assert sum(kept) == len(kept) + 10  # and the questions: the first dice, and behind each of nine totals the others


def test_decisions_that_are_drawn_are_drawn_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    case = ("fate", "attack", {"sheet": "mara", "skill": "fight", "vs": "guards:fight"}, ("tags",))
    found = played(case, 150, policies={"": "uniform"})
    assert len(Counter(found)) > 3
    monkeypatch.setattr(recall, "MOST_KEPT", 0)
    assert played(case, 150, policies={"": "uniform"}) == found
