"""A plugin that fails: its exceptions become `PluginError`s that name the stage; its output is kept from results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from rpgres.errors import PluginError, called, in_words, place_of
from rpgres.plugins.entries import DISABLE, GROUP, Entry, Stage
from rpgres.rulesets.registry import edited_at
from rpgres.version import __version__

if TYPE_CHECKING:
    from types import FrameType

RENAME = "Rename the folder; until then it is ignored."


@contextmanager
def at_stage(entry: Entry, stage: Stage) -> Iterator[None]:
    """Turn whatever a plugin raises into a `PluginError`, and keep it from the terminal while its code runs."""
    # An interrupt can only come from the keyboard in code that ships; `signal` takes half a millisecond of a start.
    with nullcontext([True]) if entry.builtin else _interrupts() as interrupts:
        try:
            if entry.builtin:
                yield
            else:
                with silenced(sys.stderr):  # standard output belongs to results
                    yield
        except PluginError:
            raise
        except BaseException as error:  # SystemExit and the like too: a plugin must not end the program
            if isinstance(error, KeyboardInterrupt) and interrupts:
                raise
            reason, advice = _explained(error, stage, entry)
            raise failure(entry, stage, reason, advice=advice) from error


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Note the interrupts that come from the keyboard, to distinguish them from one that code raises."""
    import signal
    import threading

    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield came  # nothing from the keyboard arrives here
        return

    def note(number: int, frame: FrameType | None) -> object:
        came.append(number)
        return before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def silenced(into: TextIO) -> Iterator[None]:
    """Keep a plugin from the terminal: what it prints goes elsewhere, and there is nothing to read.

    One that asks something would hang whatever lists or checks plugins.

    Args:
        into: where to.
    """
    from contextlib import redirect_stdout
    from io import StringIO

    typed, sys.stdin = sys.stdin, StringIO()
    try:
        with redirect_stdout(into):
            yield
    finally:
        sys.stdin = typed


def _explained(error: BaseException, stage: Stage, entry: Entry) -> tuple[str, str]:
    """Return what a plugin's exception means, and what to do about it where that is known (else nothing)."""
    if stage == "import" and isinstance(error, ModuleNotFoundError) and error.name:
        if entry.module == error.name or entry.module.startswith(f"{error.name}."):
            return f"its module {error.name!r} does not exist", _reinstall(entry)
        add = f"If it is yours, add the package of {error.name!r} to `dependencies` in its pyproject.toml. "
        reason = f"it needs the module {error.name!r}, which is not installed{place_of(error)}"
        return reason, add + _reinstall(entry)
    if stage == "import" and isinstance(error, ImportError) and error.name == GROUP:
        upgrade = f"pip install --upgrade {GROUP} {entry.distribution}"
        return (
            f"{in_words(error)}; it was written for another version of rpgres than {__version__}",
            f"Upgrade both: {upgrade}.",
        )
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return f"it tried to exit the program ({in_words(error)})", ""
    if isinstance(error, LookupError) and stage == "register":
        return str(error), ""
    if stage == "register":
        return f"{in_words(error)}; the hook `rpgres_rulesets` takes no argument, and there is no other hook", ""
    return f"{in_words(error)}{place_of(error)}", ""


def _reinstall(entry: Entry) -> str:
    folder = edited_at(entry.distribution)
    if folder:
        return f"It is an editable installation; correct {folder}/pyproject.toml."
    return f"To repair it, reinstall it with its dependencies: pip install --force-reinstall {entry.distribution}."


def failure(entry: Entry, stage: Stage, reason: str, *, advice: str | None = None) -> PluginError:
    if stage == "disabled":
        what = f"the ruleset {entry.id} of {entry.origin} is disabled: {reason}"
    else:
        name = f"the ruleset {entry.id}" if entry.id else "a ruleset"
        point = f", entry point {entry.id} = {entry.value}" if entry.id and not entry.folder else ""
        what = f"{name} of {entry.origin} cannot be used (stage {stage}{point}): {reason}"
    end = "\n" if "\n" in what else " " if what.endswith("?") else ". "
    return PluginError(f"{what}{end}{advice or _advice(entry)}", **details(entry, stage))


def details(entry: Entry, stage: Stage) -> dict[str, Any]:
    return {
        "plugin": entry.id,
        "distribution": entry.distribution,
        "version": entry.version,
        "module": entry.value,
        "stage": stage,
    }


def _advice(entry: Entry) -> str:
    if entry.folder and not entry.builtin:
        return f"`{called('ruleset check', entry.id)}` lists all faults."
    if entry.builtin:
        return f"The installation is damaged; to repair it: pip install --force-reinstall {entry.distribution}."
    folder = edited_at(entry.distribution)
    if folder:
        return f"It is an editable installation; correct it in {folder}."
    remove = f"pip install --upgrade {entry.distribution}, or remove it: pip uninstall {entry.distribution}"
    return f"Try a newer version: {remove}, or switch it off: {DISABLE}={entry.distribution}."


def clash(entry: Entry, claims: Sequence[Entry]) -> PluginError:
    who = " and ".join(claim.folder or f"{claim.origin} ({claim.value})" for claim in claims)
    folders = [claim.folder for claim in claims if claim.folder]
    names = list(dict.fromkeys(claim.distribution for claim in claims if not claim.folder))
    ways = []
    if folders:
        ways.append(
            f"Rename the folder {folders[-1]}; or take `standalone = true` out of its ruleset.toml, and it is laid "
            "over the other"
        )
    if len(names) > 1 or (names and folders):
        remove = " or ".join(f"pip uninstall {name}" for name in names)
        ways.append(f"{'remove the plugin' if folders else 'Remove one'}: {remove}")
        ways.append(f"or switch {'it' if len(names) == 1 else 'one'} off: {DISABLE}={names[-1]}")
    elif names:
        ways.append(f"Remove it: pip uninstall {names[0]}")
    # Neither is to blame more than the other, so the message names no culprit.
    message = f"the ruleset {entry.id} cannot be used (stage find): this id is claimed by {who}. {'; '.join(ways)}."
    return PluginError(message, **details(entry, "find"), distributions=names)
