"""Batches: runs from one number to another, played by a worker that rebuilds the job once. All of it is picklable."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

import msgspec

from rpgres import errors
from rpgres.errors import RpgresError, UsageError
from rpgres.odds.exact import NeedsPolicy
from rpgres.rulesets import brought_by
from rpgres.simulate.jobs import Job, has_files, unpack
from rpgres.simulate.runners import Runner, rebuild
from rpgres.simulate.tallies import Tally, tally_of
from rpgres.version import __version__

# The class with which an error of a worker is raised again; others become RpgresError.
_ERRORS: dict[str, type[RpgresError]] = {
    kind.code: kind
    for kind in (
        *(errors.UsageError, errors.FileError, errors.RuleError, errors.PluginError, errors.ChoiceError),
        NeedsPolicy,
    )
}


_ALONE = Lock()  # a runner has one dealer, and a worker of a cluster may have several threads


class Batch(msgspec.Struct, frozen=True):
    """The results of the runs from `begin` to before `end`."""

    begin: int
    end: int
    tally: Tally
    seconds: float


class Failure(msgspec.Struct, frozen=True):
    """An error of a worker as data, since the error itself may hold what cannot be pickled.

    Attributes:
        code: the kind of error.
        message: the message, with inputs marked.
        details: data for programs.
    """

    code: str
    message: str
    details: dict[str, Any]

    @property
    def error(self) -> RpgresError:
        """The error to raise."""
        return _ERRORS.get(self.code, RpgresError)(self.message, **self.details)


def play_batch(job: bytes, folder: str, begin: int, end: int) -> Batch | Failure:
    """Play the runs from `begin` to before `end`, on a worker.

    Args:
        job: the job, encoded.
        folder: the folder with its files; empty for a worker that has to write them first.
    """
    try:
        with _ALONE:
            runner = ready(job, folder)
            start = perf_counter()
            tally = count_runs(runner, begin, end)
            seconds = perf_counter() - start
    except RpgresError as error:
        return Failure(error.code, error.raw, msgspec.to_builtins(error.details, enc_hook=str))
    return Batch(begin, end, tally, seconds)


def count_runs(runner: Runner, begin: int, end: int) -> Tally:
    """Return the counts of the runs from `begin` to before `end`."""
    return tally_of(runner.things, Counter(map(runner.play, range(begin, end))))


@lru_cache(maxsize=4)
def ready(job: bytes, folder: str) -> Runner:
    """Return the runner of a job, rebuilt once by each worker.

    Raises:
        RpgresError: it cannot be rebuilt here.
    """
    decoded = msgspec.json.decode(job, type=Job)
    return rebuild(decoded, Path(folder) if folder else _unpacked(decoded))


def _unpacked(job: Job) -> Path:
    """Return a folder of this worker with the files of a job; the worker removes it when it ends."""
    from tempfile import mkdtemp

    if not has_files(job):
        return Path("nowhere")

    try:
        root = import_module("distributed").get_worker().local_directory
    except (ImportError, ValueError, AttributeError):
        root = None
    folder = Path(mkdtemp(prefix="rpgres-", dir=root))
    unpack(job, folder)
    return folder


class Report(msgspec.Struct, frozen=True):
    """The answer of a worker to whether it can play a job.

    Attributes:
        version: its version of rpgres.
        fault: why it cannot play the job; empty when it can.
    """

    version: str
    fault: str = ""


def report(job: bytes) -> Report:
    """Return whether this worker can play a job: it has the ruleset, in the same version and with the same data."""
    decoded = msgspec.json.decode(job, type=Job)
    if decoded.rpgres != __version__:
        return Report(__version__)  # `cluster` compares it
    try:
        fault = _brought_otherwise(decoded)
        if not fault:
            with _ALONE:
                ready(job, "")
    except RpgresError as error:
        fault = error.typed
    return Report(__version__, fault)


def _brought_otherwise(job: Job) -> str:
    """Return the fault that the ruleset's code has another version here; empty for none."""
    if job.rules.own is not None:
        return ""
    from rpgres.plugins.discovery import find_ruleset

    try:
        here = brought_by(find_ruleset(job.rules.id))
    except UsageError:
        if not job.rules.brought_by:
            raise
        return f"it lacks the ruleset {job.rules.id} (pip install {job.rules.brought_by.replace(' ', '==')})"
    if here == job.rules.brought_by:
        return ""
    wanted = job.rules.brought_by or "rpgres itself"
    return f"the ruleset {job.rules.id} comes from {here or 'rpgres itself'} there and from {wanted} here"
