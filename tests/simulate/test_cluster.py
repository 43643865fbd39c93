"""A Dask cluster on this machine: a real scheduler and workers in processes of their own, one of which dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rpgres.engine.prepare import prepare
from rpgres.errors import PluginError, RpgresError
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes import open_scene, read_scene
from rpgres.simulate import Crew, Job, Plan, Tally, action_job, blocks, scene_job, simulated
from rpgres.simulate.blocks import check_here, cluster
from rpgres.simulate.playing import ACTION_THINGS, scene_things
from tests.support.command_line import rpgres

RUNS = 1000


@contextmanager
def started(*args: str, folder: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a part of Dask until the block ends."""
    settings = {**os.environ, **environment, "DASK_LOGGING__DISTRIBUTED": "critical"}
    with (folder / f"{args[0]}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *args], cwd=folder, env=settings, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Run a scheduler and give its address."""
    import json

    file = folder / "scheduler.json"
    args = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file))
    with started("scheduler", *args, folder=folder) as process:
        (folder / "scheduler.pid").write_text(str(process.pid))
        limit = time.monotonic() + 60
        while not file.exists() or not file.read_text():
            assert time.monotonic() < limit, (folder / "scheduler.log").read_text()
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"]


def worker(address: str, folder: Path, **environment: str) -> Any:
    """Run a worker with one thread; without a nanny, so that nothing starts it again."""
    args = ("--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard", "--local-directory", str(folder))
    return started("worker", address, *args, folder=folder, **environment)


def wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)


def overcome() -> Job:
    prepared = prepare(load_rules(find_ruleset("fate")), "overcome", {"skill": 3, "vs": "4dF+2"})
    return action_job(prepared, seed="7", auto=True)


def with_cards() -> Job:
    """Return an action of which every run is resolved, as no dice alone decide it."""
    inputs = {"ability": "strength=4", "vs": 16, "edge": 3, "hand": "St6,Ag3,Wi7,In2"}
    return action_job(prepare(load_rules(find_ruleset("saga")), "act", inputs), seed="7", auto=True)


def on(address: str) -> Crew:
    return Crew(partial(cluster, address), is_asked=True, is_elsewhere=True)


def played(job: Job, runs: int, crew: Crew, things: Any = ACTION_THINGS) -> Tally:
    tally = Tally(0, {})
    for found in simulated(job, Plan(runs), crew=crew, start=tally):
        tally = found
    return tally


@pytest.mark.slow
def test_a_worker_that_dies_half_way_loses_nothing_and_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LARGEST", 50)  # many batches, however few runs there are
    job = with_cards()
    with scheduler(tmp_path) as address, worker(address, tmp_path) as first, worker(address, tmp_path):
        wait_for_workers(address, 2)
        tally, is_dead = Tally(0, {}), False
        for found in simulated(job, Plan(RUNS), crew=on(address), start=tally):
            tally = found
            if tally.runs > RUNS // 3 and not is_dead:
                is_dead = True
                first.send_signal(signal.SIGKILL)
        assert is_dead
        assert tally == played(job, RUNS, Crew())


@pytest.mark.slow
def test_a_scheduler_that_dies_is_told_with_what_was_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with scheduler(tmp_path) as address, worker(address, tmp_path):
        wait_for_workers(address, 1)
        ran: list[Tally] = []

        def go_on() -> None:
            for found in simulated(with_cards(), Plan(10**9), crew=on(address), start=Tally(0, {})):
                ran.append(found)
                if len(ran) == 3:
                    os.kill(int((tmp_path / "scheduler.pid").read_text()), signal.SIGKILL)

        capfd.readouterr()
        with pytest.raises(RpgresError, match=r"the executor, or its cluster, gave up after run [\d,]+$") as told:
            go_on()
        assert f"{ran[-1].runs:,}" in told.value.message
        assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_scene_with_its_sheets_and_house_rules_is_played_there(tmp_path: Path) -> None:
    (tmp_path / "house" / "fate").mkdir(parents=True)
    (tmp_path / "house" / "fate" / "ruleset.toml").write_text("[bands.style]\nfrom = 2\n[bands.succeed]\nto = 1\n")
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets" / "ida.toml").write_text('name = "Ida"\n[skills]\nfight = 2\n')
    (tmp_path / "scenes").mkdir()
    path = tmp_path / "scenes" / "duel.toml"
    path.write_text(
        'ruleset = "fate"\npolicy = "sensible"\n[characters.ida]\nsheet = "../sheets/ida.toml"\n'
        '[[steps]]\nid = "swing"\naction = "overcome"\nactor = "ida"\nwith = { skill = "fight", vs = "4dF" }\n'
    )
    source, folder = open_scene(str(path))
    house = [tmp_path / "house"]
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder, extra=house)
    job = scene_job(scene, seed="7", by=["characters.ida.counters.fate-points"])
    things = [*scene_things(scene), *job.by]
    for file in (path, tmp_path / "sheets" / "ida.toml", tmp_path / "house" / "fate" / "ruleset.toml"):
        file.unlink()
    with scheduler(tmp_path) as address, worker(address, tmp_path):
        tally = played(job, 200, on(address), things)
    assert tally == played(job, 200, Crew(), things)
    assert tally.counts["steps.swing"]["style"] > 0


@pytest.mark.slow
def test_what_workers_lack_is_named_before_the_start(tmp_path: Path) -> None:
    from tests.support.lantern import installed

    bare = tmp_path / "bare" / "rpgres"
    bare.mkdir(parents=True)
    (bare / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'rpgres'\")\n")
    with ExitStack() as stack:
        address = stack.enter_context(scheduler(tmp_path))
        with pytest.raises(RpgresError, match="has no workers; start some with `dask worker tcp://127"):
            played(overcome(), 100, Crew(partial(cluster, address, timeout=1), is_asked=True, is_elsewhere=True))
        stack.enter_context(worker(address, tmp_path))
        stack.enter_context(worker(address, tmp_path, PYTHONPATH=str(bare.parent)))
        wait_for_workers(address, 2)
        with pytest.raises(PluginError, match="1 of 2 workers cannot play this") as refused:
            played(overcome(), 100, on(address))
        assert "it lacks the Python package rpgres (pip install 'rpgres[dask]==" in refused.value.message
        with installed(tmp_path / "lantern"):
            lantern = load_rules(find_ruleset("lantern"))
            job = action_job(prepare(lantern, "search", {"skill": 2}), seed="7")
            with pytest.raises(PluginError, match=r"it lacks the ruleset lantern \(pip install rpgres-lantern=="):
                played(job, 100, on(address))


def test_other_versions_are_faults() -> None:
    with pytest.raises(PluginError, match=r", and this is rpgres 0\.0\.9$"):
        check_here(msgspec.json.encode(replace(overcome(), rpgres="0.0.9")))
    plugin = replace(overcome(), ruleset="stormglass", brought_by="rpgres-stormglass 0.1.0")
    with pytest.raises(PluginError, match=r"it lacks the ruleset stormglass \(pip install rpgres-stormglass==0.1.0\)"):
        check_here(msgspec.json.encode(plugin))


@pytest.mark.slow
def test_no_cluster_and_no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("simulate", "fate", "overcome", "--skill", "3", "--vs", "2", "--cluster")
    wrong = rpgres(*line, "localhost:8786")
    assert wrong.code == 2
    assert "--cluster takes the address of a Dask scheduler such as tcp://host:8786, not 'localhost:8786'" in wrong.err
    monkeypatch.setitem(sys.modules, "distributed", None)
    lacking = rpgres(*line, "tcp://localhost:8786")
    assert lacking.code == 2
    assert "--cluster needs Dask: pip install 'rpgres[dask]'" in lacking.err
