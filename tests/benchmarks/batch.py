"""What `rpgres batch` answers in a second, and how its memory grows over very many requests. Records, never asserts.

    python tests/benchmarks/batch.py [--requests 1000000] [--seconds 5]

Each kind of request is answered by a process of its own: those that are sent in a row, and for tables also one at a
time, where each waits for the answer before it. Then one process answers requests of four kinds, and its memory is
printed at each tenth. The time of `import rpgres` is that over bare Python, the least of several starts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ACTION = {"ruleset": "fate", "action": "overcome"}
Makes = Callable[[int], dict[str, Any]]


def resolve(number: int) -> dict[str, Any]:
    """Return a request that touches nothing."""
    return {"id": number, **ACTION, "with": {"skill": number % 5, "vs": 2}, "auto": True, "seed": number}


def odds(number: int) -> dict[str, Any]:
    """Return a request for exact odds."""
    return {"id": number, "op": "odds", **ACTION, "with": {"skill": number % 5, "vs": number % 7}}


def act_at(table: str) -> Makes:
    """Return what makes actions at a table."""
    inputs = {"skill": "burglary", "vs": 2}
    told = {"op": "table.act", "table": table, "action": "overcome", "with": inputs, "auto": True}
    return lambda number: {"id": number, **told}


def begin(folder: str) -> str:
    """Begin a table in a folder, and return its file."""
    table = str(Path(folder) / "t.db")
    line = {"op": "table.new", "table": table, "ruleset": "fate", "sheets": ["mara"], "trust": "players"}
    subprocess.run([*BATCH], input=json.dumps(line), text=True, stdout=subprocess.DEVNULL, check=True)
    return table


BATCH = (sys.executable, "-m", "rpgres", "batch")


def in_a_row(make: Makes, seconds: float) -> float:
    """Return answers a second where requests do not wait for answers.

    Args:
        make: makes a request by its number.
        seconds: how long they are sent.
    """
    with subprocess.Popen(BATCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        until = time.perf_counter() + 3600

        def send() -> None:
            assert batch.stdin is not None
            number = 0
            while time.perf_counter() < until:
                batch.stdin.write(json.dumps(make(number)) + "\n")
                number += 1
            batch.stdin.close()

        threading.Thread(target=send).start()
        batch.stdout.readline()
        begun, until = time.perf_counter(), time.perf_counter() + seconds
        answers = sum(1 for _ in batch.stdout)
        return answers / (time.perf_counter() - begun)


def one_at_a_time(make: Makes, seconds: float) -> float:
    """Return answers a second where each request waits for the answer before it."""
    with subprocess.Popen(BATCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        number, begun = 0, 0.0
        while number < 2 or time.perf_counter() < begun + seconds:
            batch.stdin.write(json.dumps(make(number)) + "\n")
            batch.stdin.flush()
            assert '"rpgres.error/1"' not in batch.stdout.readline()
            begun = begun or time.perf_counter()
            number += 1
        took = time.perf_counter() - begun
        batch.stdin.close()
        return (number - 1) / took


def memory_over(requests: int, table: str) -> Iterator[tuple[int, float]]:
    """Yield how much memory one process holds, in MiB, at each tenth of very many requests of four kinds."""
    makes: list[Makes] = [resolve, odds, lambda number: {"id": number, "notation": "4d6kh3", "seed": number}]
    makes.append(lambda number: {"id": number, "op": "table.show", "table": table})
    with subprocess.Popen(BATCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None

        def send() -> None:
            assert batch.stdin is not None
            for number in range(requests):
                batch.stdin.write(json.dumps(makes[number % len(makes)](number)) + "\n")
            batch.stdin.close()

        threading.Thread(target=send).start()
        step = max(1, requests // 10)
        for number, _ in enumerate(batch.stdout, 1):
            if number == 1000 or number % step == 0:
                pages = int(Path(f"/proc/{batch.pid}/statm").read_text().split()[1])
                yield number, pages * 4096 / 2**20


def import_time(runs: int = 15) -> float:
    """Return the milliseconds of `import rpgres` over bare Python."""

    def least(code: str) -> float:
        times = []
        for _ in range(runs):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - begun)
        return min(times)

    return (least("import rpgres") - least("pass")) * 1e3


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1_000_000, help="over which memory is watched")
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement (default 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, seconds = begin(folder), options.seconds
        print(f"import rpgres over bare Python: {import_time():.1f} ms")
        print(f"resolve: {in_a_row(resolve, seconds):,.0f}/s", flush=True)
        print(f"exact odds: {in_a_row(odds, seconds):,.0f}/s", flush=True)
        print(f"durable table.act in a row: {in_a_row(act_at(table), seconds):,.0f}/s", flush=True)
        print(f"durable table.act one at a time: {one_at_a_time(act_at(table), seconds):,.0f}/s", flush=True)
        for number, size in memory_over(options.requests, table):
            print(f"resident memory after {number:,} requests: {size:.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
