"""Simulations: blocks of runs are handed to workers, and counted in the order of runs.

A worker is this process, another process of this machine, an executor of the caller, or a Dask cluster. Counts always
cover the first N runs: an interrupted simulation has the result of a shorter simulation, and the number of workers and
the size of blocks do not change the counts.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache, partial
from importlib import import_module
from math import ceil, inf
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory, mkdtemp
from time import perf_counter
from typing import Any, NamedTuple

import msgspec

from rpgres.dice.seeds import LANES
from rpgres.errors import PluginError, RpgresError, UsageError, named
from rpgres.odds.sampling import estimate
from rpgres.simulate.jobs import Job, unpack
from rpgres.simulate.playing import Runner, Value, runner_of
from rpgres.stopping import STOP
from rpgres.version import __version__

MOST_VALUES = 100_000  # the maximum number of different values of a counted thing
_SECONDS = 0.25  # the duration of a block: short for a user who pressed Ctrl-C
LARGEST = 1 << 20  # runs of a block
_FIRST, _GROWTH = 64, 8  # runs of the first block, and the maximum factor from one block to the next
FIRST_CHECK, _CHECKS_GROW = 1000, 1.1  # runs until the width of intervals is checked first, and the factor to the next
MEASURED = 0.05  # seconds of blocks in this process, to measure speed before other processes are started
BRIEF = 0.3  # seconds before the requested processes are started
WORTH = 1.5  # seconds of remaining work from which starting processes pays
LOOKS = 2.0  # seconds between two checks that a cluster is still there
_AHEAD = 4  # blocks queued for each worker, so that none waits for the slowest


_MISSING = re.compile(r"No module named '([\w.]+)'")  # Dask may wrap the ImportError in another error


class Tally(msgspec.Struct, frozen=True):
    """The counts of each value of each counted thing in the first runs."""

    runs: int
    counts: dict[str, dict[Value, int]]

    def plus(self, other: Tally) -> Tally:
        """Return the sum of two tallies."""
        counts = {name: dict(Counter(self.counts.get(name)) + Counter(new)) for name, new in other.counts.items()}
        for name, values in counts.items():
            if len(values) > MOST_VALUES:
                raise UsageError(
                    f"{name} has more than {MOST_VALUES:,} different values, which no summary shows; "
                    f"count something coarser with {named('by')}"
                )
        return Tally(self.runs + other.runs, counts)


EMPTY = Tally(0, {})


def count_runs(runner: Runner, begin: int, end: int) -> Tally:
    """Return the counts of the runs from `begin` to before `end`."""
    counts: dict[str, dict[Value, int]] = {name: {} for name in runner.things}
    for key, count in Counter(map(runner.play, range(begin, end))).items():
        for values, value in zip(counts.values(), key, strict=True):
            values[value] = values.get(value, 0) + count
    return Tally(end - begin, counts)


class Plan(NamedTuple):
    """The end of a simulation: a number of runs, or a maximum width of intervals."""

    runs: int | None
    width: float = 0.0
    things: tuple[str, ...] = ()

    def is_complete(self, tally: Tally) -> bool:
        """Return whether a simulation stops after these runs."""
        if self.runs is not None:
            return tally.runs >= self.runs
        return tally.runs > 0 and next_check(tally.runs - 1) == tally.runs and self._widest(tally) <= self.width

    def expected(self, tally: Tally) -> float:
        """Return the expected number of runs in all; infinite while it cannot be estimated."""
        if self.runs is not None:
            return self.runs
        if tally.runs < LANES:
            return inf
        return max(tally.runs * (self._widest(tally) / self.width) ** 2, FIRST_CHECK)

    def _widest(self, tally: Tally) -> float:
        shares = (estimate(count, tally.runs) for name in self.things for count in tally.counts[name].values())
        return max((share.high - share.low for share in shares), default=1.0)

    def block_end(self, begin: int, size: int) -> int:
        """Return the end of a block, at the latest the next check of the width or the last run."""
        end = (begin + size + LANES - 1) // LANES * LANES  # runs that share a hash stay together
        return min(end, next_check(begin) if self.runs is None else self.runs)


def next_check(runs: int) -> int:
    """Return the first number of runs above this one after which the width of intervals is checked.

    >>> next_check(0), next_check(1000), next_check(1104)
    (1000, 1104, 1216)
    """
    check = FIRST_CHECK
    while check <= runs:
        check = ceil(check * _CHECKS_GROW / LANES) * LANES
    return check


_ALONE = threading.Lock()  # a worker of a cluster may have several threads


def play_block(job: bytes, folder: str, begin: int, end: int) -> tuple[Tally, float]:
    """Play the runs from `begin` to before `end`, and return the counts and the duration in seconds.

    Args:
        job: the encoded job.
        folder: the folder with the files of the job; empty on other machines.
    """
    with _ALONE:
        runner = runner_here(job, folder)
        start = perf_counter()
        return count_runs(runner, begin, end), perf_counter() - start


@lru_cache(maxsize=4)
def runner_here(job: bytes, folder: str) -> Runner:
    """Return the runner of an encoded job, rebuilt once by each worker; see `play_block`."""
    decoded = msgspec.json.decode(job, type=Job)
    if not folder and decoded.files:
        import atexit
        import shutil

        folder = mkdtemp(prefix="rpgres-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        unpack(decoded, Path(folder))
    return runner_of(decoded, Path(folder or "nowhere"))


class Workers(NamedTuple):
    """Workers that play blocks, a `window` of them at a time; `are_gone` where their futures will never be done."""

    submit: Callable[..., Future[Any]]
    window: int
    has_folder: bool = True
    are_gone: Callable[[], bool] = bool


class Crew(NamedTuple):
    """The workers that continue a simulation after its first blocks, which this process plays.

    Attributes:
        open: starts the workers for a job; None for this process alone.
        is_asked: whether the user asked for the workers, which then also play short simulations.
        is_elsewhere: whether the workers are on other machines, and play all blocks.
    """

    open: Callable[[Job], AbstractContextManager[Workers]] | None = None
    is_asked: bool = False
    is_elsewhere: bool = False


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def kept(executor: Executor, count: int, _job: Job) -> Iterator[Workers]:
    """Use an executor of the caller, without shutting the executor down."""
    is_here = isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor)
    yield Workers(executor.submit, _AHEAD * count, has_folder=is_here)


@contextmanager
def processes(count: int, _job: Job | None = None) -> Iterator[Workers]:
    """Start processes, each with a pipe and a thread that waits for answers.

    The processes share no lock, so a killed process cannot block another process. All end when this process is killed.
    A block is submitted again once if the process died. The start method is `spawn`, which is safe with threads.
    """
    from multiprocessing import get_context

    spawn, idle, started, is_over = get_context("spawn"), SimpleQueue[Any](), list[Any](), threading.Event()

    def start() -> Any:
        here, there = spawn.Pipe()
        started.append(spawn.Process(target=_serve, args=(there,), daemon=True))
        started[-1].start()
        there.close()
        return here

    def call(*task: Any) -> Any:
        pipe, found = idle.get(), None
        for _ in range(2):
            try:
                pipe.send(task)
                found = pipe.recv()
                break
            except (EOFError, OSError):
                if is_over.is_set() or STOP.is_asked:
                    break
                pipe = start()
        idle.put(pipe)
        if found is None:
            advice = f"use fewer workers, or {named('workers')} 1 to see what happens"
            raise RpgresError(f"a worker process died twice on the same runs, perhaps for lack of memory; {advice}")
        if isinstance(found, RpgresError):
            raise found
        return found

    threads = ThreadPoolExecutor(count)
    is_main = threading.current_thread() is threading.main_thread()
    # The new processes ignore Ctrl-C, which this process handles.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    try:
        try:
            for _ in range(count):
                idle.put(start())
        finally:
            if is_main:
                signal.signal(signal.SIGINT, before)
        yield Workers(partial(threads.submit, call), _AHEAD * count)
    finally:
        is_over.set()
        for process in started:
            process.terminate()
        threads.shutdown(cancel_futures=True)
        for process in started:
            process.terminate()  # another one may have been started meanwhile
            process.join()


def _serve(pipe: Any) -> None:
    """Answer calls from a pipe until the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            function, *args = pipe.recv()
            try:
                pipe.send(function(*args))
            except RpgresError as error:
                try:
                    pipe.send(error)
                except Exception:  # noqa: BLE001  # details of plugins may raise any error
                    pipe.send(RpgresError(error.raw))


@contextmanager
def cluster(address: str, job: Job, *, timeout: float = 10) -> Iterator[Workers]:
    """Use the workers of a running cluster. Its scheduler gives the blocks of a dead worker to another one.

    Args:
        address: the address of the scheduler, such as `tcp://host:8786`.
        job: the job; every worker is checked for it first.
        timeout: seconds to wait for the scheduler, and for a first worker.

    Raises:
        UsageError: Dask is not installed, or the address is invalid.
        PluginError: a worker lacks a file, rpgres, the ruleset, or the same versions of them.
        RpgresError: the cluster does not answer, or has no workers.
    """
    client = _connected(address, timeout)
    try:
        with suppress(Exception):  # reported below
            client.wait_for_workers(1, timeout=timeout)
        answers: dict[str, Any] = client.run(check_here, msgspec.json.encode(job), on_error="return")
        if not answers:
            raise RpgresError(f"the cluster at {address} has no workers; start some with `dask worker {address}`")
        faults = {worker: _fault(answer) for worker, answer in sorted(answers.items()) if answer is not None}
        if faults:
            lines = "".join(f"\n  worker {worker}: {fault}" for worker, fault in [*faults.items()][:5])
            head = f"{len(faults)} of {len(answers)} workers cannot play this, and nothing was started:"
            raise PluginError(head + lines, workers=faults)
        window = _AHEAD * max(1, sum(client.nthreads().values()))
        # Futures that wait while the client looks for a scheduler that is gone never end.
        submit = client.get_executor(pure=False).submit
        yield Workers(submit, window, has_folder=False, are_gone=lambda: client.status == "closed")
    finally:
        with suppress(Exception):  # the scheduler may have stopped
            client.close(timeout=2)


def _connected(address: str, timeout: float) -> Any:
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise UsageError(f"{named('cluster')} needs Dask: pip install 'rpgres[dask]'") from None
    if "://" not in address:
        raise UsageError(
            f"{named('cluster')} takes the address of a Dask scheduler such as tcp://host:8786, not {address!r}"
        )
    # Dask would log pages beside the messages below. Each logger has a level of its own.
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        advice = f"start one with `dask scheduler`, and workers with `dask worker {address}`"
        raise RpgresError(f"no Dask scheduler answers at {address}: {reason}; {advice}") from None


def check_here(job: bytes) -> None:
    """Check that this worker can play a job."""
    version = msgspec.json.decode(job, type=Job).rpgres
    if version != __version__:
        raise PluginError(f"it has rpgres {__version__}, and this is rpgres {version}")
    runner_here(job, "")


def _fault(error: Exception) -> str:
    """Return why a worker cannot play a job."""
    if isinstance(error, RpgresError):
        return error.typed
    if missing := _MISSING.search(str(error)):
        return f"it lacks the Python package {missing[1]} (pip install 'rpgres[dask]=={__version__}')"
    return f"{type(error).__name__}: {error}"


def simulated(job: Job, plan: Plan, *, crew: Crew, start: Tally = EMPTY) -> Iterator[Tally]:
    """Yield the counts after each block, in the order of runs, until the plan is complete.

    Raises:
        RpgresError: a run failed, or workers cannot be reached, or not any more.
    """
    tally, size, spent, encoded = start, _FIRST, 0.0, msgspec.json.encode(job)
    with TemporaryDirectory(prefix="rpgres-", ignore_cleanup_errors=True) as folder:
        unpack(job, Path(folder))
        while not crew.is_elsewhere:
            found, seconds = play_block(encoded, folder, tally.runs, plan.block_end(tally.runs, size))
            tally, spent, size = tally.plus(found), spent + seconds, _next_size(size, found.runs, seconds)
            yield tally
            if plan.is_complete(tally):
                return
            left = (plan.expected(tally) - tally.runs) * seconds / found.runs
            is_worth = left > WORTH or (crew.is_asked and spent >= BRIEF)
            if crew.open is not None and spent >= MEASURED and is_worth:
                break
        assert crew.open is not None
        with crew.open(job) as workers:
            yield from _by_workers(encoded, folder if workers.has_folder else "", plan, workers, tally, size)


def _next_size(size: int, runs: int, seconds: float) -> int:
    return max(1, min(int(runs / max(seconds, 1e-9) * _SECONDS), size * _GROWTH, LARGEST))


def _by_workers(job: bytes, folder: str, plan: Plan, workers: Workers, tally: Tally, size: int) -> Iterator[Tally]:
    waiting, begin = deque[Future[tuple[Tally, float]]](), tally.runs
    try:
        while not plan.is_complete(tally):
            while len(waiting) < workers.window and (plan.runs is None or begin < plan.runs):
                end = plan.block_end(begin, size)
                waiting.append(workers.submit(play_block, job, folder, begin, end))
                begin = end
            found, seconds = _result(waiting.popleft(), workers)
            tally, size = tally.plus(found), _next_size(size, found.runs, seconds)
            yield tally
    except (BrokenExecutor, CancelledError) as error:
        reason = f": {error}" if isinstance(error, BrokenExecutor) else ""
        raise RpgresError(f"the executor, or its cluster, gave up after run {tally.runs:,}{reason}") from None
    except RpgresError:
        if not STOP.is_asked:  # a signal may have ended the workers, too
            raise
    finally:
        for future in waiting:
            future.cancel()


def _result(future: Future[tuple[Tally, float]], workers: Workers) -> tuple[Tally, float]:
    while not wait([future], timeout=LOOKS).done:
        if workers.are_gone():
            raise CancelledError
    return future.result()
