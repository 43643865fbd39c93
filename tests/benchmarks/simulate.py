"""How fast simulations are: runs per second, what processes and a Dask cluster add, and memory. Records, never asserts.

    python tests/benchmarks/simulate.py [--seconds 6] [--json FILE]

Run it with `pip install '.[dask]'` and nothing else going on. The scheduler and the workers of the cluster are
processes of this machine. What is compared is measured in turn, and ratios are medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import msgspec
from run import peak_memory

from rpgres.engine.prepare import prepare
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes import Overrides, open_scene, read_scene
from rpgres.simulate import Crew, Job, Plan, Tally, action_job, scene_job, simulated
from rpgres.simulate.blocks import cluster, count_runs, processes, runner_here

OPPOSED = ("overcome", {"skill": 3, "vs": "4dF+2"})
ACTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "opposed overcome": OPPOSED,
    "overcome with two sheets": ("overcome", {"sheet": "mara", "skill": "deceive", "vs": "guards:will"}),
    "conflict of two, decided by policies": ("conflict", {"sheet": "edda", "against": ["thug"]}),
}
SCENES = ("fate/bribe", "fate/ledger")


def action(name: str, inputs: dict[str, Any]) -> Job:
    """Return the job of a Fate action."""
    return action_job(prepare(load_rules(find_ruleset("fate")), name, inputs), seed="7", auto=True)


def scene(name: str) -> Job:
    """Return the job of a scene that ships."""
    source, folder = open_scene(name)
    overrides = Overrides(auto=True)
    scene = read_scene(source, find_ruleset=find_ruleset, folder=folder, overrides=overrides)
    return scene_job(scene, seed="7", overrides=overrides)


def rate(job: Job, seconds: float) -> float:
    """Return how many runs a processor plays in a second, without starting it."""
    from rpgres.simulate.jobs import unpack

    with tempfile.TemporaryDirectory() as folder:
        unpack(job, Path(folder))
        subject = runner_here(msgspec.json.encode(job), folder)
        runs, begin = 0, time.process_time()
        while time.process_time() - begin < seconds:
            count_runs(subject, runs, runs + 64)
            runs += 64
        return runs / (time.process_time() - begin)


def rates(seconds: float) -> dict[str, float]:
    """Return the runs per second of actions and scenes."""
    found = {f"{name}: /s": rate(action(*described), seconds) for name, described in ACTIONS.items()}
    for name in SCENES:
        job = scene(name)
        found[f"scene {name}: /s"] = rate(job, seconds)
    return found


class Cost(NamedTuple):
    """What a simulation takes: seconds that pass, and seconds of processors, starting the workers included."""

    passed: float
    computed: float


def cost(job: Job, runs: int, crew: Crew, *, others: Sequence[int] = ()) -> Cost:
    """Return what a simulation takes here and in other processes, by their ids."""
    begin, computed = time.perf_counter(), _computed(others)
    tally = Tally(0, {})
    for found in simulated(job, Plan(runs), crew=crew, start=tally):
        tally = found
    assert tally.runs == runs
    return Cost(time.perf_counter() - begin, _computed(others) - computed)


def _computed(others: Sequence[int]) -> float:
    """Return the seconds that processors spent on this process, on its children that ended, and on others."""
    from psutil import Process  # Dask brings it

    own = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    theirs = [Process(pid).cpu_times() for pid in others]
    return sum(one.ru_utime + one.ru_stime for one in own) + sum(one.user + one.system for one in theirs)


def compared(one: Callable[[], Cost], other: Callable[[], Cost], *, rounds: int = 3) -> tuple[Cost, Cost, Cost]:
    """Return the medians of two measurements taken in turn, and the medians of their ratios."""
    pairs = [(one(), other()) for _ in range(rounds)]

    def medians(costs: Iterable[Cost]) -> Cost:
        return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))

    ratios = [Cost(a.passed / b.passed, a.computed / b.computed) for a, b in pairs]
    return medians(a for a, _ in pairs), medians(b for _, b in pairs), medians(ratios)


def spread(seconds: float) -> dict[str, float]:
    """Return what two processes and a cluster of two workers make of it.

    On a machine that does something else meanwhile, what processors spend tells more than the time that passes: where
    two processes need as much of it as one, they are twice as fast.
    """
    job = action(*OPPOSED)
    runs = int(rate(job, 1.0) * seconds) // 8 * 8
    two = Crew(partial(processes, 2), is_asked=True)
    single, double, gain = compared(partial(cost, job, runs, Crew()), partial(cost, job, runs, two))
    figures = {"runs": float(runs), "one process: s": single.passed, "two processes: s": double.passed}
    figures |= {"speed-up": gain.passed, "speed-up, by what processors spent": 2 * gain.computed}
    with local_cluster() as (address, pids):
        there = Crew(partial(cluster, address), is_asked=True, is_elsewhere=True)
        dask, own, more = compared(partial(cost, job, runs, there, others=pids), partial(cost, job, runs, two))
    figures |= {"Dask, two workers: s": dask.passed, "two processes beside it: s": own.passed}
    return figures | {"overhead of Dask": more.passed - 1, "overhead, by what processors spent": more.computed - 1}


@contextmanager
def local_cluster() -> Iterator[tuple[str, list[int]]]:
    """Run a scheduler and two workers on this machine, and give its address and the ids of all three processes."""
    from distributed import Client

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))

        pids: list[int] = []

        def start(*args: str) -> None:
            command = [sys.executable, "-m", "dask", *args, "--host", "127.0.0.1", "--no-dashboard"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
            process = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
            stack.callback(process.wait)
            stack.callback(process.kill)
            pids.append(process.pid)

        file = folder / "scheduler.json"
        start("scheduler", "--port", "0", "--no-show", "--scheduler-file", str(file))
        while not file.exists() or not file.read_text():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        for _ in range(2):
            start("worker", address, "--no-nanny", "--nthreads", "1", "--local-directory", str(folder))
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, pids


def memory(runs: int) -> dict[str, float]:
    """Return the peak memory of a few and of many runs."""
    line = [sys.executable, "-m", "rpgres", "simulate", "fate", "overcome", "--skill", "3", "--vs", "4dF+2"]
    line += ["--seed", "7", "--workers", "1"]
    return {f"{count:,} runs: MiB": peak_memory([*line, "-n", str(count)]) for count in (runs // 10, runs)}


def main() -> None:
    """Measure everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6.0, help="length of a measured simulation (default 6)")
    parser.add_argument("--json", type=Path, help="also write the figures to a file")
    options = parser.parse_args()
    figures = {
        "runs per second of a processor": rates(options.seconds / 3),
        "two processes, and a cluster on the same machine": spread(options.seconds),
        "peak memory": memory(1_000_000),
    }
    for title, values in figures.items():
        print(title)
        for name, value in values.items():
            print(f"  {name:58} {value:14,.2f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
