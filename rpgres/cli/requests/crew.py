"""Requests of a batch answered by several processes: a slow one holds up no other, and each table keeps its order.

Every process is an ordinary batch, with its limit of time and its tables that stay open. One answers what is quick and
touches no table; one what is done at tables, in order; the others take one heavy request at a time. What was asked of a
table before a heavy request about it is answered before that begins, and what comes behind waits for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec

from rpgres.engine.records import error_record
from rpgres.errors import RpgresError, RuleError

# Operations that may take seconds. What is known to be quick has to wait for none of them.
HEAVY = ("odds", "simulate", "whatif", "scene", "table.odds", "table.verify", "table.export", "ruleset", "plugin")
MOST = 10_000  # requests that wait for an answer, before the next one is read

Say = Callable[[bytes], None]


class Job(msgspec.Struct):
    """A request that waits for its answer.

    Attributes:
        id: its id, for what the process that had it cannot answer any more.
        table: the file that it is about; empty for none.
        is_heavy: whether it may take long.
    """

    line: bytes
    id: Any
    table: str
    is_heavy: bool


class Lane(msgspec.Struct):
    """What is asked of one table: jobs that wait for others, and those that are being answered."""

    waiting: deque[Job]
    at_work: list[Job]


def job_of(request: Mapping[str, Any], line: bytes) -> Job:
    """Return what has to be known of a request."""
    op = str(request.get("op") or "")
    is_heavy = op in HEAVY or (op.partition(".")[0] in HEAVY and op not in ("ruleset.show", "ruleset.list"))
    return Job(line, request["id"], _table_of(request.get("table")) if op.startswith("table.") else "", is_heavy)


def _table_of(named: Any) -> str:
    """Return the file of a table as one name, whichever way it is named; whether there is one, its process tells."""
    from rpgres.journal.files import find_table, place_for
    from rpgres.journal.records import TableError

    try:
        found = find_table(named or None) if isinstance(named, str | None) else Path(str(named))
    except (TableError, OSError, ValueError):
        found = Path(str(named))
        with suppress(RpgresError, OSError, ValueError):
            found = place_for(str(named or ""))
    try:
        return os.path.realpath(found)
    except (OSError, ValueError):  # of a name that no file can have
        return str(found)


class Crew:
    """The processes of a batch.

    Args:
        command: starts one.
        heavy: how many heavy requests are worked on at a time.
        say: writes a line; one thread calls it at a time.
    """

    def __init__(self, command: Sequence[str], heavy: int, say: Say) -> None:
        self._say, self._room = say, threading.Condition()
        self._quick, self._tables = (_Worker(command, self._answered) for _ in range(2))
        self._idle = [_Worker(command, self._answered) for _ in range(heavy)]
        self._heavy, self._lanes = deque[Job](), dict[str, Lane]()
        self._waiting = 0
        self._fault: OSError | None = None  # why no more can be written

    def take(self, job: Job) -> None:
        """Have a request answered; wait first where too many wait already."""
        with self._room:
            self._room.wait_for(lambda: self._fault is not None or self._waiting < MOST)
            self._check()
            self._waiting += 1
            if job.table:
                self._lanes.setdefault(job.table, Lane(deque(), [])).waiting.append(job)
                self._go_on(job.table)
            else:
                self._start(job)

    def say(self, line: bytes) -> None:
        """Write a line that is no answer of a process."""
        with self._room:
            self._say(line)

    def finish(self) -> None:
        """Wait until everything is answered, and end the processes."""
        with self._room:
            self._room.wait_for(lambda: self._fault is not None or not self._waiting)
            self._check()
            workers = [self._quick, self._tables, *self._idle]
        for worker in workers:
            worker.end()

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _start(self, job: Job) -> None:
        if not job.is_heavy:
            (self._tables if job.table else self._quick).send(job)
        elif self._idle:
            self._idle.pop().send(job)
        else:
            self._heavy.append(job)

    def _go_on(self, table: str) -> None:
        """Start what need not wait any more at a table."""
        lane = self._lanes[table]
        while lane.waiting:
            job = lane.waiting[0]
            if lane.at_work and (job.is_heavy or lane.at_work[0].is_heavy):
                return
            lane.at_work.append(lane.waiting.popleft())
            self._start(job)
        if not lane.at_work:
            del self._lanes[table]

    def _answered(self, worker: _Worker, job: Job, line: bytes) -> None:
        with self._room:
            try:
                self._say(line)
            except OSError as fault:
                self._fault = fault
            self._waiting -= 1
            if job.table:
                self._lanes[job.table].at_work.remove(job)
                self._go_on(job.table)
            if worker not in (self._quick, self._tables):
                if self._heavy:
                    worker.send(self._heavy.popleft())
                else:
                    self._idle.append(worker)
            self._room.notify_all()


class _Worker:
    """A process that answers lines in order, and another one once it has ended.

    Args:
        command: starts it.
        answered: is called with each answer, in a thread.
    """

    def __init__(self, command: Sequence[str], answered: Callable[[_Worker, Job, bytes], None]) -> None:
        self._command, self._answered = command, answered
        self._jobs, self._lock = deque[Job](), threading.Lock()
        self._lines: SimpleQueue[bytes] | None = None  # what is still to be written to the process that runs
        self._threads = list[threading.Thread]()

    def send(self, job: Job) -> None:
        """Have a request answered; this waits for nothing."""
        with self._lock:
            self._jobs.append(job)
            if self._lines is None:
                self._begin()
            else:
                self._lines.put(job.line)

    def end(self) -> None:
        """End the process, when everything is answered."""
        with self._lock:
            if self._lines is not None:
                self._lines.put(b"")
        for thread in self._threads:
            thread.join()

    def _begin(self) -> None:
        """Start a process with all that is not answered."""
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        self._lines = SimpleQueue()
        for job in self._jobs:
            self._lines.put(job.line)
        works = (partial(_feed, process, self._lines), partial(self._listen, process))
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Hand on what a process answers; when it has ended, start another one for what it did not answer."""
        job, last = None, dict[str, Any]()  # what was answered last, and how
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                answer = _read(line)
                with self._lock:
                    if not self._jobs or "id" not in answer or answer["id"] != self._jobs[0].id:
                        continue  # what code of others has printed
                    job, last = self._jobs.popleft(), answer
                self._answered(self, job, line)
        is_given_up = process.wait() == 1 and last.get("code") == "time"  # and has said so
        with self._lock:
            behind, self._jobs = list(self._jobs), deque()
            # Behind one that was given up nothing was begun; only requests for its table wait for what was undone.
            stuck = job.table if is_given_up and job is not None else None
            lost = len(behind) if behind and behind[0].table else 1
            told = list[Job]()
            for place, one in enumerate(behind):
                is_told = bool(stuck) and one.table == stuck if is_given_up else place < lost
                (told if is_told else self._jobs).append(one)
            lines, self._lines = self._lines, None
            if lines is not None:
                lines.put(b"")
            if self._jobs:
                self._begin()
        for one in told:
            self._answered(self, one, _lost(one, process.returncode, is_begun=not is_given_up))


def _read(line: bytes) -> dict[str, Any]:
    """Return an answer; nothing of a line that is none."""
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}


def _feed(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes]) -> None:
    """Write lines to a process, in a thread, as that may have to wait."""
    assert process.stdin is not None
    with suppress(OSError), process.stdin:  # it has ended, which `_listen` notices
        while line := lines.get():
            process.stdin.write(line + b"\n")
            process.stdin.flush()


def _lost(job: Job, code: int, *, is_begun: bool) -> bytes:
    """Return the answer to a request that its process, which has ended with a code, did not answer."""
    if is_begun:
        done = "; the table's log shows whether it was done" if job.table else ""
        error = RuleError(f"the process that worked on this request ended with the code {code}{done}")
    else:
        error = RuleError("not begun, as an earlier request about this table ended the process; send it again")
    return msgspec.json.encode({"id": job.id, **error_record(error)}) + b"\n"


def command_of(folders: Sequence[os.PathLike[str]], seconds: float) -> list[str]:
    """Return what starts an ordinary batch like this one."""
    more = [word for folder in folders for word in ("--rulesets", os.fspath(folder))]
    return [sys.executable, "-P", "-m", "rpgres", "batch", "--seconds", f"{seconds:g}", *more]
