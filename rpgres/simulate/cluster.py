"""A Dask cluster as an executor of batches. Nothing else here knows Dask, which is an optional extra."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import msgspec

from rpgres.errors import PluginError, RpgresError, UsageError, named
from rpgres.simulate.batches import Report, report
from rpgres.simulate.jobs import Job, require_portable
from rpgres.simulate.workers import Workers
from rpgres.version import __version__

TIMEOUT = 10  # seconds in which the scheduler answers
_MISSING = re.compile(r"No module named '([\w.]+)'")
_SHOWN = 5  # workers that a message names


@contextmanager
def cluster(address: str, job: bytes, *, timeout: float = TIMEOUT) -> Iterator[Workers]:
    """Use the workers of a running cluster. Its scheduler gives the batches of a dead worker to another one.

    Args:
        address: the address of the scheduler, such as `tcp://host:8786`.
        job: what will be played; every worker is checked for it first.
        timeout: seconds to wait for the scheduler, and for a first worker.

    Raises:
        UsageError: Dask is not installed, the address is invalid, or the job needs files that only this machine has.
        PluginError: a worker lacks rpgres, the ruleset, or the same versions of them.
        RpgresError: there is no such cluster, or it has no workers.
    """
    require_portable(msgspec.json.decode(job, type=Job))
    distributed = _distributed()
    client = _connected(distributed, address, timeout)
    try:
        _check_workers(client, job, timeout=timeout)
        threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
        # What is handed out while a client looks for a scheduler that is gone is never cancelled.
        executor = client.get_executor(pure=False)
        yield Workers(executor, max(1, threads), has_folder=False, are_gone=lambda: client.status == "closed")
    finally:
        with suppress(Exception):  # the scheduler may have stopped
            client.close(timeout=2)


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise UsageError(f"{named('cluster')} needs Dask: pip install 'rpgres[dask]'") from None


def _connected(distributed: Any, address: str, timeout: float) -> Any:
    if "://" not in address:
        raise UsageError(
            f"{named('cluster')} takes the address of a Dask scheduler such as tcp://host:8786, not {address!r}"
        )
    # The messages below are enough; Dask would log pages, by loggers of which each has a level.
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RpgresError(
            f"no Dask scheduler answers at {address}: {reason}; start one with `dask scheduler`, "
            f"and workers with `dask worker {address}`"
        ) from None


def _check_workers(client: Any, job: bytes, *, timeout: float) -> None:
    """Check that every worker can play a job."""
    if not client.scheduler_info(n_workers=-1)["workers"]:
        with suppress(Exception):  # reported below
            client.wait_for_workers(1, timeout=timeout)
    answers: Mapping[str, Any] = client.run(report, job, on_error="return")
    if not answers:
        address = client.scheduler.address
        raise RpgresError(f"the cluster at {address} has no workers; start some with `dask worker {address}`")
    faults = {worker: fault for worker, answer in sorted(answers.items()) if (fault := _fault(answer))}
    if not faults:
        return
    told = [f"worker {worker}: {fault}" for worker, fault in list(faults.items())[:_SHOWN]]
    if len(faults) > _SHOWN:
        told.append(f"and {len(faults) - _SHOWN} more workers")
    raise PluginError(
        f"{len(faults)} of {len(answers)} workers cannot play this, and nothing was started:\n  " + "\n  ".join(told),
        workers=faults,
    )


def _fault(answer: Any) -> str:
    """Return why a worker cannot play a job, by its answer; empty when it can."""
    if isinstance(answer, Report):
        if answer.version != __version__:
            return f"it has rpgres {answer.version}, and this is rpgres {__version__}"
        return answer.fault
    lacking = _MISSING.search(str(answer))  # Dask may wrap the ImportError in another error
    if lacking:
        return f"it lacks the Python package {lacking[1]} (pip install 'rpgres[dask]=={__version__}')"
    return f"{type(answer).__name__}: {answer}"
