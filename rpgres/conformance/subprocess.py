"""A ruleset's cases played in processes of their own, in which Python hashes texts in another way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from rpgres.conformance.walks import accounts
from rpgres.engine.prepare import Prepared
from rpgres.errors import RpgresError

HASH_SEEDS = ("1", "2")
MORE_HASH_SEEDS = tuple(str(seed) for seed in range(3, 7))  # with which examples alone are played
SEEDS = 2  # with which each case is played
SECONDS = 60.0

_PROGRAM = "from rpgres.conformance.subprocess import main; main()"


def digest(prepared: Prepared) -> str:
    """Return what is equal for two processes in which a case goes the same way."""
    whole = blake2b(digest_size=16)
    for lines in accounts(prepared, seeds=SEEDS):
        for line in lines:
            whole.update(line + b"\n")
    return whole.hexdigest()


def digests_elsewhere(ruleset_id: str, names: Sequence[str], examples: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the digests of cases by name for each of `HASH_SEEDS`, then those of examples for `MORE_HASH_SEEDS`.

    Raises:
        RpgresError: a process failed.
    """
    common = {"path": sys.path, "ruleset": ruleset_id}
    everything = json.dumps({**common, "names": list(names)})
    waiting = [(seed, everything) for seed in HASH_SEEDS]
    if examples:
        waiting += [(seed, json.dumps({**common, "examples": list(examples)})) for seed in MORE_HASH_SEEDS]
    running = list[tuple[subprocess.Popen[str], str]]()
    try:
        for seed, asked in waiting:
            running.append((_start(seed), asked))
            if len(running) == len(HASH_SEEDS):  # so many at once
                yield _finished(*running[0])
                del running[0]
        for process, asked in running:
            yield _finished(process, asked)
    finally:
        for process, _ in running:
            process.kill()


def _start(seed: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-P", "-c", _PROGRAM],  # -P: no module is taken from the current folder
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _finished(process: subprocess.Popen[str], asked: str) -> dict[str, str]:
    try:
        answer, complaint = process.communicate(asked, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise RpgresError(f"a process that plays the same cases did not end within {SECONDS:g} seconds") from None
    if process.returncode:
        last = (complaint.strip().splitlines() or ["no output"])[-1]
        raise RpgresError(f"a process that plays the same cases failed: {last}")
    digests: dict[str, str] = json.loads(answer)
    return digests


def main() -> None:
    """Play the cases that standard input names, and write their digests to standard output."""
    asked = json.load(sys.stdin)
    sys.path[:] = asked["path"]
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a plugin prints is no answer
    from rpgres.conformance.subjects import Case, open_subject
    from rpgres.plugins.discovery import find_ruleset

    subject = open_subject(find_ruleset(asked["ruleset"]))
    wanted = set(asked.get("names", asked.get("examples")))
    cases = subject.cases if "names" in asked else [case for case in subject.examples if isinstance(case, Case)]
    json.dump({case.name: digest(case.prepared) for case in cases if case.name in wanted}, answers)
    answers.flush()  # what ends a process flushes what `sys.stdout` is then
