"""A ruleset's cases played in processes of their own, in which Python hashes texts in another way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from hashlib import blake2b

from rpgres.conformance.walks import accounts
from rpgres.engine.run import Prepared
from rpgres.errors import RpgresError

HASH_SEEDS = ("1", "2")
SEEDS = 3  # with which each case is played
SECONDS = 60.0

_PROGRAM = "from rpgres.conformance.subprocess import main; main()"


def digest(prepared: Prepared) -> str:
    """Return what is equal for two processes in which a case goes the same way."""
    whole = blake2b(digest_size=16)
    for lines in accounts(prepared, seeds=SEEDS):
        for line in lines:
            whole.update(line + b"\n")
    return whole.hexdigest()


def digests_elsewhere(ruleset_id: str, names: Sequence[str]) -> list[dict[str, str]]:
    """Return the digests of cases by name, one answer for each of `HASH_SEEDS`.

    Args:
        ruleset_id: an installed ruleset.
        names: the cases.

    Raises:
        RpgresError: a process failed.
    """
    asked = json.dumps({"path": sys.path, "ruleset": ruleset_id, "names": list(names)})
    running = [_start(seed) for seed in HASH_SEEDS]  # both at once
    try:
        return [_finished(process, asked) for process in running]
    finally:
        for process in running:
            process.kill()


def _start(seed: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-c", _PROGRAM],
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
    from rpgres.conformance.subjects import open_subject
    from rpgres.plugins.discovery import find_ruleset

    wanted = set(asked["names"])
    subject = open_subject(find_ruleset(asked["ruleset"]))
    json.dump({case.name: digest(case.prepared) for case in subject.cases if case.name in wanted}, answers)
