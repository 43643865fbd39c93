"""For the tests of ruleset authors: the contract as pytest cases, and command lines run in the test's own process.

It needs pytest, which rpgres itself does not. Two lines put a ruleset to the contract, a case for each check::

    from rpgres.testing import contract_tests

    test_contract = contract_tests("coin")

One more line runs the vectors of a ruleset, a case for each of them::

    from rpgres.testing import vector_tests

    test_vectors = vector_tests("highest-die", "rulesets/highest-die/vectors/cases.jsonl")

With ``pytest_plugins = ["rpgres.testing"]`` in a ``conftest.py``, tests can take the fixture `command_line`::

    def test_a_toss(command_line):
        assert command_line("roll", "coin", "toss", "--given", "roll=2").out.startswith("Toss: Win")

It is no plugin that pytest finds by itself, so it costs nothing where it is not asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from rpgres.conformance import Check, Subject
    from rpgres.conformance.vectors import Case
    from rpgres.rulesets import Rules, Ruleset

__all__ = ["CommandLine", "Ran", "command_line", "contract_tests", "vector_tests"]


def contract_tests(ruleset: str | Ruleset) -> Callable[[Check], None]:
    """Return a test function with a case for each check of the contract, to be given a name that begins with `test`.

    A case that fails tells what `rpgres plugin check` tells; one that has nothing to check is skipped.

    Args:
        ruleset: the id of an installed ruleset, or the record that its module holds.
    """
    from rpgres.conformance import CHECKS

    @cache
    def subject() -> Subject:
        return _subject(ruleset)

    @pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
    def test_contract(check: Check) -> None:
        from rpgres.conformance import run_check
        from rpgres.errors import RpgresError

        unusable = ""
        try:
            verdict = run_check(check, subject())
        except RpgresError as error:
            unusable = error.message
        if unusable:  # told outside of the handler, so that pytest does not tell what led to it as well
            pytest.fail(unusable, pytrace=False)
        if verdict.unchecked:
            pytest.skip(verdict.unchecked)
        if not verdict.ok:
            pytest.fail("\n".join(problem.text for problem in verdict.problems), pytrace=False)

    return test_contract


def vector_tests(ruleset: str | Ruleset, *files: str | os.PathLike[str]) -> Callable[[Case], None]:
    """Return a test function with a case for each vector of some files, to be given a name that begins with `test`.

    A case that fails tells what differs, as `rpgres ruleset test` does. A file that is not there is one skipped case.

    Args:
        ruleset: the id of a ruleset, or the record that its module holds.
        files: files with one vector a line, as JSON.
    """
    from rpgres.conformance.vectors import read_vectors

    cases: list[Any] = []
    for file in map(Path, files):
        if not file.exists():
            skip = pytest.mark.skip(f"there is no file {file}")
            cases.append(pytest.param(None, id=file.name, marks=skip))
            continue
        cases += [pytest.param(case, id=case.id) for _, case in read_vectors(file)]

    @cache
    def rules() -> Rules:
        from rpgres.plugins.discovery import find_ruleset
        from rpgres.plugins.loading import load_rules

        return load_rules(find_ruleset(ruleset) if isinstance(ruleset, str) else ruleset)

    @pytest.mark.parametrize("case", cases)
    def test_vectors(case: Case) -> None:
        from rpgres.conformance.vectors import differences_of

        told = [*differences_of(rules(), case)]
        if told:
            pytest.fail("\n".join(told), pytrace=False)

    return test_vectors


def _subject(ruleset: str | Ruleset) -> Subject:
    from rpgres.conformance import open_subject
    from rpgres.errors import RpgresError
    from rpgres.plugins.discovery import find_ruleset

    if isinstance(ruleset, str):
        return open_subject(find_ruleset(ruleset))
    try:
        installed = find_ruleset(ruleset.id)
    except RpgresError:
        installed = None
    return open_subject(ruleset, is_installed=installed is ruleset)


# ---------------------------------------------------------------------------------------------------------------------
# Command lines


class Ran(NamedTuple):
    """What a command line left behind: the exit code, and what it wrote to standard output and to standard error."""

    code: int
    out: str
    err: str


class CommandLine(Protocol):
    """What the fixture `command_line` gives."""

    def __call__(self, *args: str, stdin: str | bytes | None = None) -> Ran:
        """Run `rpgres` with these arguments and return the result.

        Args:
            args: the words behind `rpgres`.
            stdin: what it can read from standard input.
        """


@pytest.fixture
def command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """Run command lines of rpgres in this process, in the empty folder `tmp_path` and without settings.

    Results are plain text, 80 columns wide. What a test does to the environment is undone after it.
    """
    before = _environment()
    for name in before:
        if name.startswith(("RPGRES_", "_RPGRES_")):
            monkeypatch.delenv(name)
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "no-settings"))
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    yield _run
    now = _environment()
    for name in now.keys() - before.keys():
        del os.environ[name]
    os.environ.update({name: value for name, value in before.items() if now.get(name) != value})


def _environment() -> dict[str, str]:
    """Return the environment without what pytest itself keeps changing."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _run(*args: str, stdin: str | bytes | None = None) -> Ran:
    from typer.testing import CliRunner

    from rpgres.cli.root import app

    done = CliRunner().invoke(app, args, input=stdin, prog_name="rpgres")
    return Ran(done.exit_code, done.stdout, done.stderr)
