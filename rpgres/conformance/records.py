"""What a check is, what it finds, and what came of it. Nothing here checks anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from rpgres.plugins.discovery import PluginStatus
from rpgres.toml.diagnostics import Diagnostic


class Place(NamedTuple):
    """Where something stands: file, line from 1 and key path, as far as they are known."""

    file: str = ""
    line: int | None = None
    key: str = ""


NOWHERE = Place()


def finding(what: str, where: Place = NOWHERE, advice: str = "", *, is_note: bool = False) -> Diagnostic:
    """Return what a check has to tell; its code is the name of the check, which `run_check` puts in.

    Args:
        what: what is wrong, in one sentence.
        where: where it stands.
        advice: what to try.
        is_note: whether it is only worth knowing, and no reason to fail.
    """
    return Diagnostic(
        "", what, where.file, where.line, key=where.key, advice=advice, severity="note" if is_note else "error"
    )


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
    """What came of one check."""

    name: str
    title: str
    ok: bool
    unchecked: str = ""
    problems: list[Diagnostic] = []
    notes: list[Diagnostic] = []
    seconds: float = 0.0


class PluginReport(PluginStatus, frozen=True, kw_only=True):
    """What became of one entry point, and of every check; none is run for one that cannot be used."""

    checks: list[Verdict] = msgspec.field(default_factory=list)


class PluginCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What came of checking plugins, as `rpgres plugin check --json` prints it."""

    format: Literal["rpgres.plugin-check/2"] = "rpgres.plugin-check/2"
    version: str
    ok: bool
    plugins: list[PluginReport]
