"""Finding plugins whose import ends the process: they are imported in another process first."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from rpgres.errors import PluginError
from rpgres.plugins.discovery import usable
from rpgres.plugins.entries import ENDED, Entry, installed_plugins
from rpgres.plugins.importing import ruleset_of

SECONDS = 5.0  # within which a plugin is imported
READY, DONE = "ready", "done"
LATE = "Timeout ("  # what faulthandler writes first

_PROGRAM = "from rpgres.plugins.probing import main; main()"


class _Asked(msgspec.Struct):
    """What the other process is to do: import these, with this path of modules, each within so many seconds."""

    path: list[str]
    entries: list[Entry]
    seconds: float


def probe_plugins() -> None:
    """Import every installed plugin in a process of its own, and note those that end it, which are not imported here.

    Lists of all plugins call this first; it costs a start of Python where any plugin is installed, else nothing.
    """
    waiting: Sequence[Entry] = [entry for entry in usable(installed_plugins()) if entry not in ENDED]
    while waiting:
        done, message = _import_elsewhere(waiting)
        if done >= len(waiting):
            return
        ENDED[waiting[done]] = message
        waiting = waiting[done + 1 :]


def _import_elsewhere(entries: Sequence[Entry]) -> tuple[int, str]:
    """Return how many plugins another process has imported, and how it came to an end."""
    asked = msgspec.json.encode(_Asked(sys.path, list(entries), SECONDS))
    start: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        # -P: no module is taken from the current folder
        process = subprocess.Popen([sys.executable, "-P", "-c", _PROGRAM], **start)  # noqa: S603  # our own program
    except OSError:
        return len(entries), ""  # where no process can be started, none is noticed
    try:
        answer, _ = process.communicate(asked, timeout=SECONDS * len(entries) + SECONDS)
        code = process.returncode
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        message = f"it terminated the importing process ({how})"
    except subprocess.TimeoutExpired:  # a plugin has stopped the timer
        process.kill()
        answer, _ = process.communicate()
        message = f"importing it took longer than {SECONDS:g} s"
    except BaseException:  # an interrupt ends both
        process.kill()
        process.communicate()
        raise
    said, late, _ = answer.decode("ascii", "replace").partition(LATE)
    message = f"importing it took longer than {SECONDS:g} s" if late else message
    lines = said.split()
    return (lines.count(DONE), message) if READY in lines else (len(entries), "")


def main() -> None:
    """Import the plugins that standard input names, and say after each that this process is still there."""
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=_Asked)
    sys.path[:] = asked.path
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a plugin prints is no answer
    os.write(answers, f"{READY}\n".encode())
    for entry in asked.entries:
        faulthandler.dump_traceback_later(asked.seconds, exit=True, file=answers)  # also in a loop of C
        with suppress(PluginError):  # reported where it is used
            ruleset_of(entry)
        os.write(answers, f"{DONE}\n".encode())
    faulthandler.cancel_dump_traceback_later()
    os._exit(0)  # what plugins have planned for the end of a process is not waited for
