"""Who plays batches: this process, others on this machine, or a Dask cluster, all as `concurrent.futures.Executor`."""

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

AHEAD = 4  # batches handed out for each worker, so that none waits for the slowest


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
        """How many batches are handed out at most."""
        return AHEAD * self.count if self.count > 1 or not self.has_folder else 1


class HereExecutor(Executor):
    """Does what is submitted at once, in this process."""

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
    """Have batches played by an executor that goes on after the block.

    Args:
        executor: hands them out; only the pools of Python itself are known to see the files of this machine.

    Raises:
        UsageError: the job needs files that only this machine has, and the executor may be elsewhere.
    """
    from rpgres.simulate.jobs import Job, require_portable

    is_here = isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor)
    if not is_here:
        require_portable(msgspec.json.decode(job, type=Job))
    yield Workers(executor, count, has_folder=is_here)


@contextmanager
def processes(count: int, job: bytes = b"") -> Iterator[Workers]:
    """Have batches played by processes of their own, which end with the block.

    They are started afresh (`spawn`), which is safe with threads, and the same on every system.

    Args:
        job: what they are going to play; they see the same installation, so nothing needs asking.
    """
    from multiprocessing import active_children, get_context
    from multiprocessing.connection import wait

    before = set(active_children())
    executor = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_end_with_parent)
    children: set[BaseProcess] = set()
    try:
        with _deaf():
            started = [executor.submit(os.getpid) for _ in range(count)]
        children |= set(active_children()) - before  # one that is killed later is no active child any more
        for future in started:
            future.result()
        yield Workers(executor, count)
    finally:
        children |= set(active_children()) - before
        try:
            executor.shutdown(wait=False, cancel_futures=True)  # batches under way are not needed, and soon over
            # One that is killed while it waits for work keeps the lock of the queue, and the others wait for it without
            # end; the executor, told to end at that moment, does not look at who died any more.
            while (alive := [child for child in children if child.is_alive()]) and not any(
                child.exitcode for child in children
            ):
                wait([child.sentinel for child in alive])
            _terminate(alive)
            for child in alive:
                child.join()
        except BaseException:  # unless a rule does not end; then a second Ctrl-C or a limit of time ends them
            threading.excepthook = lambda _told: None  # the thread that waits for them would complain
            _terminate(set(active_children()) - before)
            raise


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
    """Have processes that are started meanwhile ignore Ctrl-C, which this one answers for all of them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread sets signals, and only it is interrupted
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
