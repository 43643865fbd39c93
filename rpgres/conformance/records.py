"""The records of a check: what it is, what it finds, and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from rpgres.errors import AS_OPTIONS, readable
from rpgres.model.printed import Printed
from rpgres.plugins.listing import PluginStatus
from rpgres.toml.diagnostics import Diagnostic


def place(file: str = "", line: int | None = None, key: str = "") -> Diagnostic:
    """Return where something stands, as far as that is known: a diagnostic that says nothing yet."""
    return Diagnostic("", "", file, line, key=key)


NOWHERE = place()


def finding(what: str, where: Diagnostic = NOWHERE, advice: str = "", *, is_note: bool = False) -> Diagnostic:
    """Return what a check has to tell; its code is the name of the check, which `run_check` puts in.

    Args:
        what: what is wrong, in one sentence; names of inputs may be marked, and are told as options.
        is_note: whether it is only worth knowing, and no reason to fail.
    """
    severity: Literal["note", "error"] = "note" if is_note else "error"
    return msgspec.structs.replace(where, message=readable(what, AS_OPTIONS), advice=advice, severity=severity)


class NothingToCheck(Exception):  # it names a fact and is no fault
    """Raised by a check that had nothing to look at; says why, so that nobody takes it for passed."""


class Check(msgspec.Struct, frozen=True):
    """One clause of the contract.

    Attributes:
        name: how it is called in commands and tests.
        title: what holds when it passes, in one line.
        find: yields what is wrong with a `Subject`; raises `NothingToCheck` when there is nothing to look at.
    """

    name: str
    title: str
    find: Callable[[Any], Iterable[Diagnostic]]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one check.

    Attributes:
        name: the check.
        title: what holds when it passes.
        ok: whether nothing was found to be wrong.
        unchecked: why there was nothing to check; empty when there was.
        problems: why it failed.
        notes: what is worth knowing, and no reason to fail.
        seconds: how long it took.
    """

    name: str
    title: str
    ok: bool
    unchecked: str = ""
    problems: list[Diagnostic] = []
    notes: list[Diagnostic] = []
    seconds: float = 0.0


class PluginReport(PluginStatus, frozen=True, kw_only=True):
    """What became of one entry point, and of every check; none is run for one that cannot be used.

    Attributes:
        ok: whether it can be used and failed no check.
        checks: what came of each check; empty when it cannot be used.
    """

    checks: list[Verdict] = msgspec.field(default_factory=list)


class PluginCheck(Printed, frozen=True, kw_only=True, tag="rpgres.plugin-check/2"):
    """What came of checking plugins, as `rpgres plugin check --json` prints it.

    Attributes:
        ok: whether every plugin that is not disabled can be used and failed no check.
        plugins: every plugin that was checked.
    """

    ok: bool
    plugins: list[PluginReport]
