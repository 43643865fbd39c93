"""Every action that the conformance scenes play, with free dice and cards: exact odds and simulated runs agree."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from rpgres.errors import RpgresError
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import Overrides, Scene, open_scene, read_scene, scene_names
from rpgres.scenes.measuring import with_late_deals
from rpgres.scenes.walking import ENDING, value_name
from rpgres.simulate.playing import scene_runner
from tests.simulate.test_scenes import PEOPLE, compared
from tests.support.effort import few, games

CASES = sorted(name for name in scene_names() if "/conformance" in name)
LEFT = ("action", "procedure", "actor", "with")  # of a step; what is given, chosen, expected or spoken of is left out
AUTO = Overrides(auto=True)
LEAVES = 100  # the budget of each step: all of them take a minute
# Scenes with steps of which exact odds leave something open within the budget, by ruleset.
OPEN = {
    "aspects-and-stress": "-",
    "coppermane": (
        "actions challenge conflict contest defense house-rules house-rules-2 house-rules-"
        "procedures house-rules-procedures-2 legend lines rows scenes"
    ),
    "faith": (
        "confront hands house-rules-2 house-rules-4 house-rules-5 house-rules-6 house-rules-7 limits rounds rounds-2"
    ),
    "fate": (
        "attack challenge conflict conflict-overcome conflict-turns contest discover harm house-"
        "rules house-rules-procedures invoke lines overcome scenes"
    ),
    "feat-and-success-dice": "-",
    "hunger-pool": "-",
    "percentile-doubles": "-",
    "percentile-fractions": "-",
    "percentile-levels": "-",
    "push-pool": "-",
    "saga": (
        "act battle battle-2 deck doom-2 house-rules house-rules-2 house-rules-3 house-rules-4 "
        "house-rules-5 house-rules-6 limits older-game others"
    ),
    "solo-oracle": "-",
    "success-levels": "-",
    "twenty-over": "-",
    "twenty-sided-advantage": "house-rules strike",
}


def played_in(steps: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each different step that plays something and is not refused, alone."""
    found: list[dict[str, Any]] = []
    for step in steps:
        if "steps" in step:
            yield from played_in(step["steps"])
        bare = {key: step[key] for key in LEFT if key in step}
        if bare.keys() & {"action", "procedure"} and "error" not in step.get("expect", {}) and bare not in found:
            found.append(bare)
            yield bare


def agrees(scene: Scene, *, seed: str) -> bool:
    """Compare simulated runs with exact odds, and tell whether these leave nothing open."""
    odds = with_late_deals(scene, lambda game: scene_odds(game, leaves=LEAVES), by=(ENDING, PEOPLE))
    runs = 5 if odds.open else games(200) if len(odds.masses) > 1 else 5
    subject = scene_runner(scene, seed=seed, by=[PEOPLE])
    place = subject.things.index("last")
    counts = Counter((key[place] or "", str(key[-1])) for key in map(subject.play, range(runs)))
    masses = {(ending, value_name(people)): float(mass) for (ending, people), mass in odds.masses.items()}
    assert odds.open or counts.keys() <= masses.keys()
    for sure, found in compared(masses, counts):
        slack = 5 * (sure * (1 - sure) * runs) ** 0.5 + 3  # what is rare is no normal distribution
        assert sure * runs - slack <= found <= (sure + float(odds.open)) * runs + slack, (sure, found)
    return not odds.open


@pytest.mark.slow
@pytest.mark.parametrize("name", few(CASES, 12))
def test_exact_and_simulated_steps_agree(name: str) -> None:
    source, folder = open_scene(name)
    data = tomllib.loads(source.text)
    left_open = 0
    for number, step in enumerate(played_in(data["steps"])):
        alone = {key: value for key, value in data.items() if key != "ends"} | {"steps": [step]}
        try:
            scene = read_scene(source, find_ruleset=find_ruleset, folder=folder, overrides=AUTO, data=alone)
            left_open += not agrees(scene, seed=f"{name} {number}")
        except RpgresError:
            continue  # it builds on steps before it
    ruleset, _, case = name.partition("/conformance")
    assert bool(left_open) == ((case.removeprefix("-") or "-") in OPEN.get(ruleset, "").split())
