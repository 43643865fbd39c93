"""Simulations: batches are handed to workers, and counted in the order of runs.

The counts are always those of the first N runs. So an interrupted simulation has the result of a shorter one, and
neither the number of workers nor the size of batches changes a count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from rpgres.errors import RpgresError, named
from rpgres.simulate.batches import Batch, Failure, play_batch
from rpgres.simulate.jobs import Job, unpack
from rpgres.simulate.pace import Pace, Plan
from rpgres.simulate.tallies import Tally
from rpgres.simulate.workers import HereExecutor, Workers
from rpgres.stopping import STOP

Open = Callable[[bytes], AbstractContextManager[Workers]]  # given the job

MEASURED = 0.05  # seconds of batches in this process, to measure speed before other processes are started
BRIEF = 0.3  # seconds for which this process plays alone, even if others were asked for
WORTH = 1.5  # seconds of remaining work from which starting processes pays
LOOKS = 2.0  # seconds after which it is asked whether the workers of a batch are still there
_MOST_DEATHS = 5  # of worker processes in a row, without a finished batch


class Crew(msgspec.Struct, frozen=True):
    """The workers that continue a simulation after its first batches, which this process plays.

    Attributes:
        open: starts the workers; None for this process alone.
        is_asked: whether they were asked for, so that they play even if little work remains.
        is_elsewhere: whether they are on other machines, and play from the first batch on.
    """

    open: Open | None = None
    is_asked: bool = False
    is_elsewhere: bool = False


def simulated(job: Job, plan: Plan, *, crew: Crew, start: Tally) -> Iterator[Tally]:
    """Yield the counts after each batch, in the order of runs, until the plan is complete.

    Args:
        start: what was counted before; `empty_tally` at the beginning.

    Raises:
        RpgresError: a run failed, or workers cannot be reached, or not any more.
    """
    with folder_of(job) as folder:
        tally, pace, seconds = start, Pace(), 0.0
        encoded = job.encoded()
        first = _batches(encoded, str(folder), plan, Workers(HereExecutor(), 1), pace, begin=start.runs)
        for batch in () if crew.is_elsewhere else first:
            tally, seconds = tally.plus(batch.tally), seconds + batch.seconds
            yield tally
            if plan.is_complete(tally):
                return
            if seconds >= MEASURED and _is_worth(plan, tally, pace, crew, seconds):
                break
        if crew.open is None:
            return
        for batch in _with_others(encoded, str(folder), plan, crew.open, pace, begin=tally.runs):
            tally = tally.plus(batch.tally)
            yield tally
            if plan.is_complete(tally):
                return


def _is_worth(plan: Plan, tally: Tally, pace: Pace, crew: Crew, seconds: float) -> bool:
    """Tell whether other workers should play the remaining runs, after some seconds of work here."""
    if crew.open is None:
        return False
    return (crew.is_asked and seconds >= BRIEF) or (plan.expected(tally) - tally.runs) / pace.rate > WORTH


@contextmanager
def folder_of(job: Job) -> Iterator[Path]:
    """Provide a folder with the files of a job, for the workers of this machine."""
    with TemporaryDirectory(prefix="rpgres-", ignore_cleanup_errors=True) as folder:
        unpack(job, Path(folder))
        yield Path(folder)


def _with_others(encoded: bytes, folder: str, plan: Plan, open_: Open, pace: Pace, *, begin: int) -> Iterator[Batch]:
    """Yield batches that other processes play; those of processes that died are played again."""
    deaths = 0
    while True:
        try:
            with open_(encoded) as workers:
                for batch in _batches(encoded, folder, plan, workers, pace, begin=begin):
                    deaths, begin = 0, batch.end
                    yield batch
            return
        except BrokenProcessPool:
            if STOP.is_asked:  # by a signal that may have ended the workers, too
                return
            deaths += 1
            if deaths > _MOST_DEATHS:
                raise RpgresError(
                    f"a worker process died {deaths} times in a row after run {begin:,}, perhaps for lack of memory; "
                    f"use fewer workers, or {named('workers')} 1 to see what happens"
                ) from None


def _batches(encoded: bytes, folder: str, plan: Plan, workers: Workers, pace: Pace, *, begin: int) -> Iterator[Batch]:
    """Yield batches in the order of runs while later ones are played; without end where a width decides."""
    waiting: deque[Future[Batch | Failure]] = deque()
    done = begin
    place = folder if workers.has_folder else ""
    try:
        while True:
            while len(waiting) < workers.window and (plan.runs is None or begin < plan.runs):
                end = plan.end_after(begin, pace.size)
                waiting.append(workers.executor.submit(play_batch, encoded, place, begin, end))
                begin = end
            if not waiting:
                return
            found = _awaited(waiting[0], workers)
            if found is None:
                raise RpgresError(f"the executor, or its cluster, gave up after run {done:,}")
            waiting.popleft()
            if isinstance(found, Failure):
                raise found.error
            pace.take(found)
            done = found.end
            yield found
    finally:
        for future in waiting:
            future.cancel()


def _awaited(future: Future[Batch | Failure], workers: Workers) -> Batch | Failure | None:
    """Return what comes of a batch; None where nothing will, as of a cluster whose scheduler is gone."""
    while not wait([future], timeout=LOOKS).done:
        if workers.are_gone():
            return None
    try:
        return future.result()
    except CancelledError:  # not from here, where a batch is cancelled only when nothing is awaited any more
        return None
