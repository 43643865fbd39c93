"""Fresh environments with packages installed by pip: each made once in a test run, whichever of its processes asks."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import effort
from tests.support.checkout import ROOT
from tests.support.packages import AFTER_HOURS, BROKEN, quiet

PATIENCE = 600  # seconds that a process waits for what another one makes


def made_once(session: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that all processes of a test run share, made by the first that asks.

    Args:
        session: the test run's temporary folders.
        name: the folder's.
        make: fills it.
    """
    base = session.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done, failed = (shared / f"{name}{ending}" for ending in ("", ".done", ".failed"))
    try:
        folder.mkdir()
    except FileExistsError:
        limit = time.monotonic() + PATIENCE
        while not done.exists():
            assert not failed.exists(), f"{name} could not be made; the process that tried tells why"
            assert time.monotonic() < limit, f"{name} was not made in time"
            time.sleep(0.1)
        return folder
    try:
        make(folder)
    except BaseException:
        failed.touch()
        raise
    done.touch()
    return folder


def wheel_of_rpgres(session: pytest.TempPathFactory) -> Path:
    """Return the wheel of this checkout; with --exhaustive pip fetches what builds it, as the checkout requires it."""

    def make(folder: Path) -> None:
        if not effort.is_exhaustive:
            build(tools_environment(session) / "python", ROOT, into=folder)
            return
        quiet(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)

    return next(made_once(session, "wheel", make).glob("*.whl"))


def bare_environment(session: pytest.TempPathFactory) -> Path:
    """Return the scripts of an environment in which nothing but the wheel was installed."""

    def make(folder: Path) -> None:
        install(environment(folder), wheel_of_rpgres(session))

    return scripts_of(made_once(session, "bare", make))


def tools_environment(session: pytest.TempPathFactory) -> Path:
    """Return the scripts of an environment that has pytest and what builds packages."""

    def make(folder: Path) -> None:
        install(environment(folder), "hatchling", "editables", "pytest")

    return scripts_of(made_once(session, "tools", make))


def crowded_environment(session: pytest.TempPathFactory) -> Path:
    """Return the scripts of an environment with rpgres, after-hours and every broken package, built and installed."""

    def make(folder: Path) -> None:
        tools = tools_environment(session)
        for package in (AFTER_HOURS, *BROKEN):  # copies, since building may leave files behind
            shutil.copytree(package, folder / "src" / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        wheels = build(tools / "python", *sorted((folder / "src").iterdir()), into=folder / "wheels")
        install(environment(folder, bare_environment(session), tools), "--no-index", "--no-deps", *wheels)

    return scripts_of(made_once(session, "crowded", make))


def build(python: Path, *packages: Path, into: Path) -> list[Path]:
    """Build wheels, each as pip has the backend do it, and all by one process of an interpreter that has hatchling."""
    code = "import os, sys; from hatchling.build import build_wheel\nfor package in sys.argv[2:]: os.chdir(package); "
    quiet(python, "-c", f"{code}build_wheel(sys.argv[1])", into, *packages, cwd=python.parent)
    return sorted(into.glob("*.whl"))


def environment(folder: Path, *others: Path) -> Path:
    """Make a virtual environment without pip, which costs as much as the rest, and return its interpreter.

    Args:
        folder: where it is made.
        others: scripts of environments whose packages it has too, where they are, so that they are unpacked and
            compiled once.
    """
    quiet(sys.executable, "-m", "venv", "--without-pip", folder / "v", cwd=folder)
    python = scripts_of(folder) / "python"
    if others:
        (packages_of(python) / "others.pth").write_text("".join(f"{packages_of(one / 'python')}\n" for one in others))
        script = (others[0] / "rpgres").read_text("utf-8")
        (python.parent / "rpgres").write_text(script.replace(str(others[0] / "python"), str(python)), "utf-8")
        (python.parent / "rpgres").chmod(0o755)
    return python


def packages_of(python: Path) -> Path:
    """Return the folder into which an interpreter's packages are installed."""
    return Path(
        quiet(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=python.parent).strip()
    )


def install(python: Path, *what: str | Path) -> None:
    """Install something into an environment with the pip of these tests.

    What is not imported there need not be compiled.
    """
    command = (sys.executable, "-m", "pip", "--quiet", "--python", python, "install", "--no-compile")
    quiet(*command, *what, cwd=python.parent)


def scripts_of(folder: Path) -> Path:
    """Return the folder with the scripts of an environment that was made in a folder."""
    return folder / "v" / ("Scripts" if os.name == "nt" else "bin")
