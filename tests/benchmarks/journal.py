"""What a lasting table costs as it grows to 10,000 entries. Records, asserts nothing.

    python tests/benchmarks/journal.py [--entries 10000] [--runs 15] [--json FILE]

Two tables are measured in turn, one with ten entries and one with as many as are asked for, so that a machine whose
speed drifts treats both alike; the ratios are of medians. In this process the time of the processor is counted, for
whole commands the time that passes. While a table is built the disk is not waited for.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from run import whole_process

from rpgres.journal import commands as sitting
from rpgres.journal import files, store
from rpgres.journal.commands import Place
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen, table_record

FEW = 10
ACT = {"ability": "strength", "vs": "average"}


def build(path: Path, entries: int) -> Place:
    """Return a table that is played at: of ten entries six are actions with cards, the others notes and values."""
    place = Place(path)
    sitting.begin_table(place, ruleset="saga", sheets=["brannagh", "ilse", "toll-warden"], seed="7")
    for number in range(1, entries):
        match number % 10:
            case 0 | 5:
                sitting.write_note(
                    place, f"The {number}th crow flies over the gate, and nobody says a word.", seat="gm"
                )
            case 3:
                sitting.set_value(place, "things.bell", str(number))
            case 7:
                sitting.let_pass(place, seat="ilse")
            case _:
                sitting.act(place, "act", ACT, actor="brannagh" if number % 2 else "ilse", auto=True)
    return place


def deeds(place: Place) -> dict[str, Callable[[], object]]:
    """Return what is measured in this process. What is written is taken back by the copy that it is done to."""
    return {
        "show": lambda: table_record(store.read(place.path), "gm"),
        "log --last 5": lambda: log_seen(store.read(place.path), "gm", last=5),
        "note": lambda: sitting.write_note(place, "x"),
        "act": lambda: sitting.act(place, "act", ACT, actor="brannagh", auto=True),
        "note and undo": lambda: (sitting.write_note(place, "x"), sitting.undo(place)),
    }


def commands(place: Place) -> dict[str, Callable[[], object]]:
    """Return the same as whole commands."""
    lines = {
        "command show": ["show"],
        "command log --last 5": ["log", "--last", "5"],
        "command act": ["act", "act", "--ability", "strength", "--vs", "average", "--actor", "brannagh", "--auto"],
    }
    program = [sys.executable, "-m", "rpgres", "table"]
    where = ["--table", str(place.path)]
    return {
        name: lambda line=line: whole_process([*program, *line, *where])  # type: ignore[misc]
        for name, line in lines.items()
    }


def seconds(deed: Callable[[], object]) -> float:
    """Return how long something takes: as it says itself, or the time of the processor."""
    begin = time.process_time()
    found = deed()
    return found if isinstance(found, float) else time.process_time() - begin


def compared(few: Callable[[], object], many: Callable[[], object], *, runs: int) -> tuple[float, float]:
    """Return the medians of two deeds done in turn."""
    few(), many()  # warm up
    pairs = [(seconds(few), seconds(many)) for _ in range(runs)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def measured(folder: Path, entries: int, runs: int) -> dict[str, Any]:
    """Return the figures."""
    files.SYNCHRONOUS, synchronous = "OFF", files.SYNCHRONOUS
    begin = time.process_time()
    long = build(folder / "long.db", entries)
    figures: dict[str, Any] = {
        "built in s": time.process_time() - begin,
        "bytes an entry": long.path.stat().st_size / entries,
    }
    short = build(folder / "short.db", FEW)
    files.SYNCHRONOUS = synchronous
    for make in (deeds, commands):
        for name in make(short):
            copies = [Place(Path(shutil.copy(one.path, folder / f"{one.path.stem}-copy.db"))) for one in (short, long)]
            for copy in copies:
                sitting.write_note(copy, "x")  # it came from elsewhere, and is read whole once
            few, many = compared(*(make(copy)[name] for copy in copies), runs=runs)
            figures |= {f"{name}, {FEW} entries: ms": few * 1e3, f"{name}, {entries} entries: ms": many * 1e3}
            figures[f"{name}: ratio"] = many / few
    print_figures(figures)
    for count in (entries // 4, entries):
        place = long if count == entries else build(folder / "part.db", count)
        copy = Place(Path(shutil.copy(place.path, folder / "whole.db")))
        figures[f"log of {count}: s"] = seconds(lambda: log_seen(store.read(copy.path), "gm"))  # noqa: B023
        figures[f"verify of {count}, seed secret: s"] = seconds(lambda: verify(copy.path))  # noqa: B023
        sitting.reveal(copy)
        figures[f"verify of {count}, all played again: s"] = seconds(lambda: verify(copy.path))  # noqa: B023
    return figures


def print_figures(figures: dict[str, Any]) -> None:
    """Print what was measured so far."""
    for name, value in figures.items():
        print(f"{name:44} {value:12,.2f}", flush=True)


def main() -> None:
    """Measure everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=10_000, help="of the long table (default 10000)")
    parser.add_argument("--runs", type=int, default=15, help="measurements of each side (default 15)")
    parser.add_argument("--json", type=Path, help="also write the figures to a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(Path(folder), options.entries, options.runs)
    print_figures(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
