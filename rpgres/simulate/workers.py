"""The workers that play batches: this process, others on this machine, or a Dask cluster, all as `Executor`."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")

AHEAD = 4  # batches queued for each worker, so that none waits for the slowest


class Workers(msgspec.Struct, frozen=True):
    """Workers that play batches.

    Attributes:
        count: how many are played at the same time.
        has_folder: whether they see the files of this machine.
        are_gone: tells whether they will never answer any more, where the executor itself does not.
    """

    executor: Executor
    count: int
    has_folder: bool = True
    are_gone: Callable[[], bool] = bool

    @property
    def window(self) -> int:
        """The maximum number of batches in progress."""
        return AHEAD * self.count if self.count > 1 or not self.has_folder else 1


class HereExecutor(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the result of a call, as a future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  # as every executor hands it on
            future.set_exception(error)
        return future


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def kept(executor: Executor, count: int, job: bytes) -> Iterator[Workers]:
    """Use an executor of the caller, which is not shut down.

    Args:
        executor: plays the batches; only the pools of the standard library are known to see the files of this machine.

    Raises:
        UsageError: the job needs files that only this machine has, and the executor may run on another one.
    """
    from rpgres.simulate.jobs import Job, require_portable

    is_here = isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor)
    if not is_here:
        require_portable(msgspec.json.decode(job, type=Job))
    yield Workers(executor, count, has_folder=is_here)


@contextmanager
def processes(count: int, job: bytes = b"") -> Iterator[Workers]:
    """Use processes, which end with the block.

    They are started by `spawn`, which is safe with threads and works on every system.

    Args:
        job: not used; the processes have the same installation, so nothing needs to be checked.
    """
    from multiprocessing import active_children, get_context
    from multiprocessing.connection import wait

    before = set(active_children())
    executor = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_end_with_parent)
    children: set[BaseProcess] = set()
    try:
        with _deaf():
            started = [executor.submit(os.getpid) for _ in range(count)]
        children |= set(active_children()) - before  # now, since a killed process is no active child any more
        for future in started:
            future.result()
        yield Workers(executor, count)
    finally:
        children |= set(active_children()) - before
        try:
            executor.shutdown(wait=False, cancel_futures=True)  # running batches are not needed, and soon end
            # A process that is killed while it waits for work keeps the lock of the queue, so that the others wait
            # forever; an executor that is shutting down no longer notices deaths.
            while (alive := [child for child in children if child.is_alive()]) and not any(
                child.exitcode for child in children
            ):
                wait([child.sentinel for child in alive])
            _terminate(alive)
            for child in alive:
                child.join()
        except BaseException:  # a rule never ends, and a second Ctrl-C or a time limit came
            threading.excepthook = lambda _told: None  # the thread that waits for them would print a traceback
            _terminate(set(active_children()) - before)
            raise


@contextmanager
def quiet_processes(count: int, job: bytes = b"") -> Iterator[Workers]:
    """Use processes as `processes` does, in a program of our own: after kill -9, nothing is printed.

    Python's resource tracker then removes the semaphores that the killed process has left, as it should, and warns of
    them. It is started here with a filter that no other process has. In another author's program the filter would hide
    warnings about that program's semaphores.
    """
    if os.name == "posix":
        import sys
        from multiprocessing import resource_tracker

        options = sys.warnoptions[:]
        sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")
        try:
            resource_tracker.ensure_running()
        finally:
            sys.warnoptions[:] = options
    with processes(count, job) as workers:
        yield workers


def _terminate(children: Iterable[BaseProcess]) -> None:
    for child in children:
        child.terminate()


def _end_with_parent() -> None:
    """End this worker when the process that started it is gone, as after kill -9.

    A worker waits for work at a pipe of which the others hold the end to write to, so that it would wait for ever.
    """
    from multiprocessing import parent_process

    def watch() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@contextmanager
def _deaf() -> Iterator[None]:
    """Make processes that are started in the block ignore Ctrl-C, which this process handles for all of them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread sets signals, and only it is interrupted
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
