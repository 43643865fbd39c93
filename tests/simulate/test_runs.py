"""Simulated runs: the same as those of `roll --repeat`, in agreement with exact odds, whatever plays them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from multiprocessing import active_children
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.json import encode
from msgspec.structs import replace

from rpgres.dice.seeds import Streams
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import answers_to, policies_of, prepare
from rpgres.engine.run import run
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.odds.exact import NeedsPolicy, outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.simulate import Crew, Job, Plan, Tally, action_job, blocks, simulated
from rpgres.simulate.blocks import Workers, next_check, play_block, processes
from rpgres.simulate.playing import ACTION_THINGS
from rpgres.stopping import STOP
from tests.support.effort import examples, games

# An action of each kind that ships, with who decides. What is listed is all that `roll` would ask for.
ACTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("fate", "overcome", {"skill": 3, "vs": "4dF+2"}),
    ("fate", "overcome", {"sheet": "mara", "skill": "resources", "vs": "good"}),
    ("fate", "attack", {"sheet": "mara", "skill": "fight", "vs": "guards:fight"}),
    ("fate", "contest", {"sheet": "mara", "skill": "athletics", "vs": ["guard:fight"]}),
    ("fate", "conflict", {"sheet": "edda", "against": ["thug"]}),
    ("coppermane", "overcome", {"skill": 3, "vs": "4dF+2"}),
    ("saga", "act", {"ability": "strength=4", "vs": 16, "edge": 3, "hand": "St6,Ag3,Wi7,In2"}),
    ("nodice", "observe", {"int": 4, "target": ["attack:agi=2d4kl1,stack=action/weapon/location/bid"]}),
    ("highest-die", "check", {"pool": 3}),
    ("twenty-sided-advantage", "strike", {"bonus": 5, "vs": 15}),
]

WITH_CARDS = next(action for action in ACTIONS if action[0] == "saga")  # each run of which is played


def job_of(ruleset: str, action: str, inputs: dict[str, Any], *, seed: str = "7", by: tuple[str, ...] = ()) -> Job:
    rules = load_rules(find_ruleset(ruleset))
    return action_job(prepare(rules, action, inputs), seed=seed, by=by, auto=True)


def overcome(seed: str = "7", **more: Any) -> Job:
    return job_of("fate", "overcome", {"skill": 3, "vs": "4dF+2"}, seed=seed, **more)


def tally_of(job: Job, plan: Plan, *, crew: Crew | None = None, start: Tally | None = None) -> Tally:
    tally = start if start is not None else Tally(0, {})
    for found in simulated(job, plan, crew=crew or Crew(), start=tally):
        assert found.runs > tally.runs
        assert all(sum(counts.values()) == found.runs for counts in found.counts.values())
        tally = found
    return tally


def by_hand(ruleset: str, action: str, inputs: dict[str, Any], *, seed: str, runs: int) -> dict[str, Counter[Any]]:
    """Return what `rpgres roll --repeat` comes to, through records."""
    prepared = prepare(load_rules(find_ruleset(ruleset)), action, inputs)
    policies = policies_of(prepared, {}, auto=True)
    found: dict[str, Counter[Any]] = {name: Counter() for name in ACTION_THINGS}
    for number in range(runs):
        result, _ = run(prepared, streams=Streams(f"{seed}#{number}"), policies=policies)
        for name in ACTION_THINGS:
            found[name][getattr(result, name)] += 1
    return found


@pytest.mark.parametrize(("ruleset", "action", "inputs"), ACTIONS, ids=lambda value: str(value)[:24])
def test_a_simulation_is_the_runs_of_roll_repeat(ruleset: str, action: str, inputs: dict[str, Any]) -> None:
    job = job_of(ruleset, action, inputs)
    assert tally_of(job, Plan(40)).counts == by_hand(ruleset, action, inputs, seed="7", runs=40)


CLOSED = [one for one in ACTIONS if one[1] not in ("contest", "conflict")]  # of which exact odds leave nothing open


@pytest.mark.slow
@pytest.mark.parametrize(("ruleset", "action", "inputs"), CLOSED, ids=lambda value: str(value)[:24])
def test_exact_and_simulated_agree_within_five_standard_errors(
    ruleset: str, action: str, inputs: dict[str, Any]
) -> None:
    rules = load_rules(find_ruleset(ruleset))
    prepared = prepare(rules, action, inputs)
    odds = outcome_odds(prepared, policies={"": policy_of(rules)})
    assert odds.open == 0
    runs = games(4000)
    counts = tally_of(job_of(ruleset, action, inputs, seed="agreement"), Plan(runs)).counts["outcome"]
    assert set(counts) <= {band for band, mass in odds.masses.items() if mass}
    for band, mass in odds.masses.items():
        error = (float(mass) * (1 - float(mass)) / runs) ** 0.5
        assert abs(counts.get(band, 0) / runs - float(mass)) <= 5 * error, band


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(cuts=st.lists(st.integers(0, 300), max_size=6), seed=st.sampled_from(["7", "a#3", "rp1:x"]))
def test_blocks_do_not_matter(cuts: list[int], seed: str) -> None:
    encoded, tally = encode(overcome(seed)), Tally(0, {})
    for begin, end in pairwise(sorted({0, 300, *cuts})):
        tally = tally.plus(play_block(encoded, "", begin, end)[0])
    assert tally == play_block(encoded, "", 0, 300)[0]


def test_threads_of_one_worker_play_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = encode(overcome())
    subject, busy = blocks.runner_here(encoded, ""), Lock()

    def play(run: int) -> Any:
        assert busy.acquire(blocking=False), "another thread is in the middle of a run"
        sleep(0.001)
        busy.release()
        return subject.play(run)

    monkeypatch.setattr(blocks, "runner_here", lambda *_: subject._replace(play=play))
    tally = Tally(0, {})
    with ThreadPoolExecutor(4) as threads:
        for part, _ in threads.map(lambda begin: play_block(encoded, "", begin, begin + 5), range(0, 40, 5)):
            tally = tally.plus(part)
    assert tally == tally_of(overcome(), Plan(40))


def test_a_simulation_goes_on_where_another_ended() -> None:
    job = overcome()
    assert tally_of(job, Plan(777), start=tally_of(job, Plan(123))) == tally_of(job, Plan(777))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes play nearly all runs, in many blocks, however few runs there are."""
    monkeypatch.setattr(blocks, "BRIEF", 0.0)
    monkeypatch.setattr(blocks, "LARGEST", 50)


def test_whoever_never_answers_is_not_awaited_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LOOKS", 0.01)
    asked = iter([False, True])

    @contextmanager
    def silent(_job: Job) -> Iterator[Workers]:
        yield Workers(lambda *_: Future(), 8, has_folder=False, are_gone=lambda: next(asked))

    with pytest.raises(RpgresError, match="the executor, or its cluster, gave up after run 0"):
        tally_of(overcome(), Plan(100), crew=Crew(silent, is_asked=True, is_elsewhere=True))


@pytest.mark.slow
def test_processes_do_not_matter(small_blocks: None) -> None:
    job = job_of(*WITH_CARDS)
    assert tally_of(job, Plan(1000), crew=Crew(partial(processes, 2), is_asked=True)) == tally_of(job, Plan(1000))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_dies_loses_nothing_and_counts_nothing_twice(small_blocks: None) -> None:
    job, tally, is_dead = job_of(*WITH_CARDS), Tally(0, {}), False
    for found in simulated(job, Plan(1000), crew=Crew(partial(processes, 2), is_asked=True), start=tally):
        tally = found
        children = active_children()
        if children and tally.runs > 300 and not is_dead:
            is_dead = True
            children[0].kill()
    assert is_dead
    assert tally == tally_of(job, Plan(1000))


_PARENT = """
import os, sys
from multiprocessing import active_children
from rpgres.simulate.blocks import processes
if __name__ == "__main__":
    with processes(2) as workers:
        print(*[child.pid for child in active_children()], flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found by /proc")
def test_workers_end_with_the_process_that_started_them_however_it_ends(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        workers = {int(text) for text in parent.stdout.readline().split()}
        assert len(workers) == 2
        assert all(Path(f"/proc/{pid}").exists() for pid in workers)
        parent.kill()
    limit = monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert monotonic() < limit
        sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_workers_that_end_by_a_signal_to_all_are_not_started_again(
    small_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = Tally(0, {})
    job = job_of(*WITH_CARDS)
    for found in simulated(job, Plan(100_000), crew=Crew(partial(processes, 2), is_asked=True), start=tally):
        tally = found
        if children := active_children():
            monkeypatch.setattr(STOP, "is_asked", True)
            for child in children:
                child.kill()
    assert 0 < tally.runs < 100_000
    assert tally == tally_of(job, Plan(tally.runs))
    assert not active_children()


@pytest.mark.slow
def test_what_a_worker_process_raises_is_raised_here_and_a_killed_one_holds_up_nothing() -> None:
    with processes(2) as workers:
        with pytest.raises(UsageError, match="fate has no action 'overcame'"):
            workers.submit(play_block, encode(replace(overcome(), action="overcame")), "", 0, 8).result()
        for child in active_children():
            child.kill()
        assert workers.submit(len, "four").result() == 4
    assert not active_children()


def test_the_state_is_counted_by_path() -> None:
    inputs = {"sheet": "mara", "skill": "deceive", "vs": "guards:will"}
    paths = ("characters.mara.counters.fate-points", "characters.guards.tracks.physical", "tags", "counters.none")
    counts = tally_of(job_of("fate", "overcome", inputs, by=paths), Plan(200)).counts
    assert set(counts[paths[0]]) <= {0, 1, 2, 3}
    assert len(counts[paths[0]]) > 1
    assert counts[paths[1]] == {0: 200}
    assert all(isinstance(json.loads(str(value)), list) for value in counts[paths[2]])
    assert counts[paths[3]] == {None: 200}


def test_a_width_stops_at_a_fixed_number_of_runs() -> None:
    job = overcome()
    plan = Plan(None, 0.03, ("outcome",))
    tally = tally_of(job, plan)
    assert plan.is_complete(tally)
    check = next_check(0)
    while check < tally.runs:
        assert not plan.is_complete(tally_of(job, Plan(check)))
        check = next_check(check)
    assert check == tally.runs
    assert tally_of(job, plan, start=tally_of(job, Plan(1500))) == tally
    assert next_check(999) == 1000


def test_nobody_to_decide_is_told_as_by_odds() -> None:
    rules = load_rules(find_ruleset("fate"))
    prepared = prepare(rules, "overcome", {"sheet": "mara", "skill": "deceive", "vs": "guards:will"})
    job = action_job(prepared, seed="7", by=["counters"])
    with pytest.raises(NeedsPolicy, match="a decision has no answer: price"):
        tally_of(job, Plan(500))


def test_choices_are_made_in_every_run() -> None:
    rules = load_rules(find_ruleset("fate"))
    prepared = prepare(rules, "overcome", {"sheet": "mara", "skill": "deceive", "vs": 9})
    choose = {"actor:price": ["cost"]}
    assert answers_to(prepared, choose) == {"mara:price": ["cost"]}
    job = action_job(prepared, seed="7", by=["tags"], choose=choose, auto=True)
    assert tally_of(job, Plan(50)).runs == 50


def test_other_data_than_those_of_the_job_are_refused() -> None:
    with pytest.raises(FileError, match="the data of the ruleset fate differ"):
        play_block(encode(replace(overcome(), hash="0" * 32)), "", 0, 8)


def test_a_folder_of_rules_travels_with_the_job(tmp_path: Path) -> None:
    overlay = tmp_path / "fate"
    (overlay / "outcomes").mkdir(parents=True)
    (overlay / "ruleset.toml").write_text("[bands.style]\nfrom = 2\n[bands.succeed]\nto = 1\n")
    rules = load_rules(find_ruleset("fate", extra=[tmp_path]), extra=[tmp_path])
    job = action_job(prepare(rules, "overcome", {"skill": 3, "vs": "4dF+2"}), seed="7", auto=True)
    for path in (overlay / "outcomes", overlay / "ruleset.toml", overlay):
        path.unlink() if path.is_file() else path.rmdir()
    counts = tally_of(job, Plan(200)).counts
    assert counts["outcome"]["style"] == sum(n for margin, n in counts["margin"].items() if int(margin or 0) >= 2)
