"""The man pages: those that are committed are current, say what the help says, and are roff without a fault."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from rpgres.cli.root import COMMANDS
from tests.manpages import FOLDER, pages
from tests.support.checkout import ROOT

made = cache(pages)  # not when tests are collected, which every process does


def shown(page: str) -> str:
    """Return a page as a reader sees it, without the overstrikes of bold letters."""
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", "-rLL=78n", "-rHY=0", str(FOLDER / page)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return " ".join(done.stdout.split())


def test_committed_pages_are_current() -> None:
    """When this fails: python tests/manpages.py"""
    assert {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()} == made()


def test_every_command_has_a_page() -> None:
    assert set(made()) == {"rpgres.1", *(f"rpgres-{name}.1" for name in COMMANDS)}


@pytest.mark.slow
def test_the_documented_command_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rpgres" / "guide").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    copy = shutil.copy(ROOT / "tests" / "manpages.py", tmp_path / "tests")
    done = subprocess.run([sys.executable, copy], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "rpgres" / "guide" / "man").iterdir()}
    assert written == made()


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_no_fault() -> None:
    files = [str(path) for path in sorted(FOLDER.iterdir())]
    lint = ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z"]
    done = subprocess.run([*lint, *files], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_a_page_says_what_the_help_says() -> None:
    page = shown("rpgres-config.1")
    assert "rpgres-config - show and change your settings and aliases" in page
    assert "rpgres config set [OPTIONS] {KEY} {VALUE...}" in page
    assert 'rpgres config set aliases.hit "roll fate attack --skill fight" makes rpgres hit --vs 2' in page
    assert "--given LABEL=FACES" in shown("rpgres-roll.1")
    whole = shown("rpgres.1")
    assert "130 interrupted" in whole
    assert "RPGRES_CONFIG" in whole
    assert "NdX are N dice" in shown("rpgres-roll.1")
