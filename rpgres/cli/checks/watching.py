"""A command run again whenever files change, until Ctrl-C. Each run is a process of its own, so nothing is stale."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rpgres.cli import INTERRUPTED
from rpgres.cli.output import READER, flush, say
from rpgres.cli.streams import is_terminal, raw, results
from rpgres.render.lines import Piece, line

EVERY = 0.25  # seconds between two looks
LISTED = 3  # files that are named when more have changed at once
CLEAR = "\x1b[H\x1b[2J"

Stamps = dict[str, tuple[int, int]]  # when files were changed and how long they are, by path


def watch(args: Sequence[str], folders: Sequence[Path]) -> int:
    """Run a command line now, and again after each change; return the exit code when Ctrl-C ends it.

    Args:
        args: the words of the line behind `rpgres`.
        folders: where files are looked at; those that are not there may come later.
    """
    is_able = is_terminal() and os.environ.get("TERM") != "dumb" and sys.platform != "win32"
    clears = is_able and not READER.is_plain
    head = f"watching {_listed([str(folder) for folder in folders if folder.is_dir()])}; Ctrl-C ends"
    try:
        while True:
            seen = _stamps(folders)
            if clears:
                raw(results()).write(CLEAR)
            say([line(Piece(f"{time.strftime('%H:%M:%S')} {head}", "quiet"))])
            flush()
            # -P: no module is taken from the current folder
            subprocess.run([sys.executable, "-P", "-m", "rpgres", *args], check=False)  # noqa: S603
            head = f"{_listed([*_changes(seen, folders)])} changed"
    except KeyboardInterrupt:
        say([line()])
        return INTERRUPTED


def _changes(seen: Stamps, folders: Sequence[Path]) -> Iterator[str]:
    """Wait until something is otherwise than it was, and yield what."""
    while (now := _stamps(folders)) == seen:
        time.sleep(EVERY)
    while (later := _stamps(folders)) != now:  # an editor may write in several steps
        now = later
        time.sleep(EVERY / 5)
    yield from sorted(path for path in seen.keys() | now.keys() if seen.get(path) != now.get(path))


def _stamps(folders: Iterable[Path]) -> Stamps:
    found = {}
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if not name.startswith((".", "__"))]
            for name in names:
                if not name.startswith(".") and not name.endswith(("~", ".swp", ".tmp")):
                    with suppress(OSError):  # it was removed in the meantime
                        known = os.stat(os.path.join(place, name))
                        found[os.path.join(place, name)] = known.st_mtime_ns, known.st_size
    return found


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")
