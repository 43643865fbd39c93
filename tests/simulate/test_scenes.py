"""Simulated scenes: endings, repeated steps, included files, and agreement with closed forms."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rpgres.engine.prepare import prepare
from rpgres.errors import RpgresError
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import Overrides, Scene, open_scene, read_scene, run_scene, scene_names
from rpgres.scenes.reading import procedure_scene
from rpgres.scenes.walking import ENDING, game_of, value_name
from rpgres.simulate import Crew, Plan, Tally, scene_job, simulated
from rpgres.simulate.blocks import count_runs
from rpgres.simulate.jobs import Job
from rpgres.simulate.playing import action_runner, is_of_step, main_things, scene_runner, scene_things
from tests.support import effort
from tests.support.battle import battle_rules, chance_to_win
from tests.support.command_line import rpgres
from tests.support.effort import few, games

TRIES = """
ruleset = "twenty-sided-advantage"
title = "Three tries"

[characters.ida]

[[steps]]
repeat = { until = { "try" = "success" }, at-most = 3 }

[[steps.steps]]
id = "try"
actor = "ida"
action = "check"
with = { bonus = 4, difficulty-class = 15 }

[ends.through]
when = { "try" = "success" }

[ends.stuck]
"""


def scene_of(path: Path, **more: Any) -> Scene:
    source, folder = open_scene(str(path))
    return read_scene(source, find_ruleset=find_ruleset, folder=folder, overrides=Overrides(**more))


def played(scene: Scene, runs: int, *, seed: str = "7", by: tuple[str, ...] = (), auto: bool = False) -> Tally:
    tally = Tally(0, {})
    job = scene_job(scene, seed=seed, by=by, overrides=Overrides(auto=auto))
    for found in simulated(job, Plan(runs), crew=Crew(), start=tally):
        tally = found
    return tally


@pytest.mark.slow
def test_endings_and_repeats_agree_with_the_closed_form(tmp_path: Path) -> None:
    path = tmp_path / "tries.toml"
    path.write_text(TRIES)
    scene = scene_of(path)
    assert scene_things(scene) == ["ending", "steps.try", "times.try"]
    assert main_things(scene_things(scene)) == ("ending",)
    runs, fails = games(3000), 10 / 20  # d20 + 4 against 15
    tally = played(scene, runs)
    expected = {
        "ending": {"through": 1 - fails**3, "stuck": fails**3},
        "times.try": {1: 1 - fails, 2: fails * (1 - fails), 3: fails**2},
    }
    for name, shares in expected.items():
        assert set(tally.counts[name]) == set(shares)
        for value, share in shares.items():
            error = (share * (1 - share) / runs) ** 0.5
            assert abs(tally.counts[name][value] / runs - share) < 5 * error, (name, value)


# Scenes that ship, and those of them of which exact odds leave something open within the default budget.
SHIPPED = sorted(name for name in scene_names() if "/conformance" not in name)
OPEN = {
    "coppermane/flooded-gate",
    "faith/shutter",
    "fate/ambush",
    "fate/ledger",
    "saga/broken-bridge",
    "saga/toll-gate",
}
PEOPLE = "characters"  # all of them as they are at the end: whatever a scene does to somebody


@pytest.mark.slow
@pytest.mark.parametrize("name", few(SHIPPED, 9))
def test_exact_and_simulated_scenes_agree(name: str) -> None:
    source, folder = open_scene(name)
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder, overrides=Overrides(auto=True))
    is_short = name in OPEN and not effort.is_exhaustive  # the whole budget is minutes of all of them
    by = (ENDING, PEOPLE)
    odds = scene_odds(game_of(scene, by=by), **({"leaves": 50} if is_short else {}))
    assert bool(odds.open) == (name in OPEN)
    runs = 100 if odds.open else 1000 if len(odds.masses) > 1 else 10  # what is open is long
    subject = scene_runner(scene, seed="agreement", by=[PEOPLE])
    place = subject.things.index(ENDING if scene.file.ends else "last")
    counts = Counter((key[place] or "", str(key[-1])) for key in map(subject.play, range(runs)))
    masses = {(ending, value_name(people)): float(mass) for (ending, people), mass in odds.masses.items()}
    assert odds.open or counts.keys() <= masses.keys()
    for sure, found in compared(masses, counts):
        error = (sure * (1 - sure) * runs) ** 0.5
        assert sure * runs - 5 * error <= found <= (sure + float(odds.open)) * runs + 5 * error, (sure, found)


def compared(
    masses: Mapping[tuple[str, str], float], counts: Mapping[tuple[str, str], int]
) -> Iterator[tuple[float, int]]:
    """Yield chances with how often each came: of each ending, of each likely end, and of all the others as one."""
    for ending in {ending for ending, _ in masses}:
        ends = [key for key in masses if key[0] == ending]
        yield sum(masses[key] for key in ends), sum(counts.get(key, 0) for key in ends)
    likely = [key for key, mass in masses.items() if mass > 0.01]
    yield from ((masses[key], counts.get(key, 0)) for key in likely)
    rest = [key for key in masses if key not in likely]
    yield sum(masses[key] for key in rest), sum(counts.get(key, 0) for key in rest)


CHOSEN_CARD = """
ruleset = "faith"
policy = "steady"
[characters.sable]
sheet = "sable"
[[steps]]
begin = "scene"
[[steps]]
actor = "sable"
action = "initiative"
choose = { lay = "S10" }
"""


def test_a_chosen_card_that_is_not_always_dealt_is_refused_with_what_to_try(tmp_path: Path) -> None:
    path = tmp_path / "laid.toml"
    path.write_text(CHOSEN_CARD)
    told = r"steps\[1\]: lay=S10 is not offered here; .* give these in the scene, or leave lay to a policy"
    with pytest.raises(RpgresError, match=told):
        scene_odds(game_of(scene_of(path)))
    ran = rpgres("simulate", str(path), "--seed", "7", "-n", "50")
    seed = re.search(told + r" \(run \d+, with the seed (7#\d+)\)", " ".join(ran.err.split()))
    assert seed, ran.err
    assert "lay=S10 is not offered here" in rpgres("scene", "run", str(path), "--seed", seed[1]).err


def test_a_simulation_of_a_scene_is_the_runs_of_scene_run(tmp_path: Path) -> None:
    path = tmp_path / "tries.toml"
    path.write_text(TRIES)
    scene = scene_of(path)
    found = [run_scene(scene, seed=f"7#{number}") for number in range(30)]
    tally = played(scene, 30)
    for ending in ("through", "stuck"):
        assert tally.counts["ending"].get(ending, 0) == sum(one.ending == ending for one in found)
    for times in (1, 2, 3):
        assert tally.counts["times.try"].get(times, 0) == sum(len(one.steps) == times for one in found)


@pytest.mark.slow
def test_battles_of_risk_agree_with_the_matrix_and_with_play() -> None:
    rules = battle_rules()
    inputs = {"attackers": 4, "defenders": 3}
    scene = procedure_scene(rules, "battle", inputs)
    by = ["counters.attackers", "rounds"]
    subject = scene_runner(scene, seed="7", by=by)
    assert subject.things == ("steps.battle", "last", *by)
    runs = games(3000)
    tally = count_runs(subject, 0, runs)
    share = float(chance_to_win(4, 3))
    assert abs(tally.counts["last"]["won"] / runs - share) < 5 * (share * (1 - share) / runs) ** 0.5
    exact = scene_odds(game_of(scene, by=by)).masses
    for place, name in enumerate(by):
        for value, count in tally.counts[name].items():
            mass = sum(float(mass) for key, mass in exact.items() if key[place] == value)
            assert abs(count / runs - mass) < 5 * (mass * (1 - mass) / runs) ** 0.5
    prepared = prepare(rules, "battle", inputs)
    job = Job(seed="7", by=by, ruleset=rules.id, action="battle", inputs=inputs)
    alone = action_runner(prepared, job, {})
    for run in range(40):
        outcome, _, attackers, rounds = subject.play(run)
        assert alone.play(run) == (outcome, None, None, attackers, rounds)
        state = run_scene(scene, seed=f"7#{run}").state
        assert state["counters"]["attackers"] == attackers


def test_what_a_scene_includes_travels_with_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hero.toml").write_text('name = "Hero"\n[skills]\nathletics = 1\n')
    (tmp_path / "parts" / "climb.toml").write_text(
        'ruleset = "fate"\n[characters.hero]\nsheet = "hero"\n[[steps]]\nid = "climb"\naction = "overcome"\n'
        'actor = "hero"\nwith = { skill = "athletics", vs = 1 }\n'
    )
    path = tmp_path / "wall.toml"
    path.write_text('ruleset = "fate"\npolicy = "sensible"\n[[steps]]\ninclude = "parts/climb.toml"\n')
    job = scene_job(scene_of(path), seed="7")
    assert {name.partition("/parts/")[2] for name in job.files} == {"climb.toml", "hero.toml"}
    expected = played(scene_of(path), 20)
    for file in (path, *(tmp_path / "parts").iterdir()):
        file.unlink()
    tally = Tally(0, {})
    for found in simulated(job, Plan(20), crew=Crew(), start=tally):
        tally = found
    assert tally == expected


def test_the_ending_comes_first_and_steps_are_listed_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "tries.toml"
    path.write_text(TRIES)
    lines = rpgres("simulate", str(path), "--seed", "7", "-n", "100").out.splitlines()
    assert lines[:2] == ["Three tries: 100 runs (twenty-sided-advantage)", "  ending"]
    assert {line.split()[0] for line in lines[2:4]} == {"Through", "Stuck"}
    assert not any("Success" in line for line in lines)
    listed = rpgres("simulate", str(path), "--seed", "7", "-n", "100", "--by", "steps.try").out
    assert "  try\n" in listed
    assert "Success" in listed


def test_a_decision_without_anybody_is_told_with_its_step(tmp_path: Path) -> None:
    path = tmp_path / "wall.toml"
    path.write_text(
        'ruleset = "fate"\n[characters.ida]\n[[steps]]\naction = "overcome"\nactor = "ida"\n'
        "with = { skill = 0, vs = 4 }\n"
    )
    ran = rpgres("simulate", str(path), "--seed", "7", "-n", "100")
    assert ran.code == 1
    assert "wall.toml:3: steps[0] waits for a decision: price" in ran.err


@pytest.mark.parametrize("workers", [(), ("--workers", "1")])
def test_a_scene_from_standard_input(workers: tuple[str, ...]) -> None:
    ran = rpgres("simulate", "-", "--seed", "7", "-n", "50", *workers, stdin=TRIES)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Three tries: 50 runs (twenty-sided-advantage)\n")


def test_steps_without_ids_are_counted_by_their_places_in_the_file(tmp_path: Path) -> None:
    """From 0, in groups too, and in a scene that is included with its name."""
    step = 'actor = "ada"\naction = "overcome"\nwith = { skill = 3, vs = 0 }\nchoose = { price = "fail" }\n'
    head = 'ruleset = "fate"\nseed = "7"\npolicy = "sensible"\n[characters.ada]\nskills = { fight = 1 }\n'
    (tmp_path / "door.toml").write_text(f"{head}[[steps]]\n{step}", "utf-8")
    inner = f'[[steps]]\nnote = "a night"\n[[steps]]\n[[steps.steps]]\n{step}[[steps]]\nid = "wall"\n{step}'
    (tmp_path / "s.toml").write_text(f'{head}{inner}[[steps]]\ninclude = "door.toml"\n', "utf-8")
    ran = rpgres("simulate", str(tmp_path / "s.toml"), "-n", "2", "--json")
    counted = [name for name in json.loads(ran.out)["counted"] if is_of_step(name)]
    assert counted == ["steps[1].steps[0]", "steps.wall", "steps.door:steps[0]"]
