"""What every test can rely on: no settings of whoever runs them, and nothing left behind by the test before."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import count
from typing import Any

import pytest

from rpgres.cli import MANY
from rpgres.journal import files
from rpgres.journal.commands import writing
from tests.support import effort
from tests.support.kept import keep_rulesets


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--exhaustive", action="store_true", help="check with thousands of seeds, not with a sample")
    parser.addoption("--secrecy", type=int, default=2000, metavar="N", help="make N comparisons in tests/safety")
    parser.addoption("--secrecy-seed", default="1", metavar="TEXT", help="the seed of the commands compared there")


def pytest_configure(config: pytest.Config) -> None:
    """Have Ctrl-C and a closed window interrupt, here and in what tests start: jobs in the background may ignore both.

    Search less often for garbage; and whoever wants no compiled files beside the sources has them where pytest keeps
    what it has found, since each of hundreds of processes would compile everything anew.
    """
    effort.is_exhaustive = bool(config.getoption("exhaustive"))
    cache = getattr(config, "cache", None)
    if cache and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(cache.mkdir("compiled"))
        sys.dont_write_bytecode = False
    with suppress(ImportError):  # packages below are tested where they are installed, without what tests here need
        _prepare_hypothesis()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    gc.set_threshold(MANY, 20, 20)  # as the command line does
    if "PYTEST_XDIST_WORKER" in os.environ:  # a process that has told all that it found takes nothing apart
        atexit.register(os._exit, 0)


def _prepare_hypothesis() -> None:
    """Have as many examples as this run asks for, however fast they come: other work makes no test fail."""
    from hypothesis import HealthCheck, settings

    count = effort.examples(settings().max_examples)
    settings.register_profile(
        "any machine", max_examples=count, suppress_health_check=[HealthCheck.too_slow], deadline=None
    )
    settings.load_profile("any machine")


def pytest_collection_finish() -> None:
    """Leave what is there by now to the end of the process out of every search for garbage."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # --random-order may do otherwise
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for --exhaustive, and run first what is slow: at the end one process would wait for another."""
    if not effort.is_exhaustive:
        left_out = [item for item in items if item.get_closest_marker("exhaustive")]
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have a process that is done take over what others have not begun, unless another way is asked for (--dist)."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Have one process more than there are processors (--numprocesses auto).

    Hundreds of tests wait for a terminal, a time limit, a process of their own or a disk, and leave a processor idle.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:  # which counts as ever
        return None
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@pytest.fixture
def exhaustive(request: pytest.FixtureRequest) -> bool:
    """Whether to check thousands of seeds (--exhaustive), for which a commit cannot wait."""
    return bool(request.config.getoption("exhaustive"))


def _own_salts(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Have salts, which the dice of a lasting table come from, differ from test to test and not from run to run."""
    salts = count()
    monkeypatch.setattr(writing, "urandom", lambda size: sha256(f"{name} {next(salts)}".encode()).digest()[:size])


@pytest.fixture(autouse=True, scope="module")
def module_salts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have what a whole module shares be the same in each run, too."""
    with pytest.MonkeyPatch.context() as patched:
        _own_salts(patched, request.node.nodeid)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Hide the rulesets and settings of whoever runs the tests, and return the folder of temporary ones."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.startswith("RPGRES_")]:
            patched.delenv(name)
        for kind, folder in (("CONFIG", "no-settings"), ("STATE", "state"), ("CACHE", "cache")):
            patched.setenv(f"XDG_{kind}_HOME", str(base / folder))
        yield str(base)


@pytest.fixture(autouse=True)
def own_world(request: pytest.FixtureRequest, no_settings: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep what tests would read again, and forget every module that a test loaded from a temporary folder."""
    _own_salts(monkeypatch, request.node.nodeid)
    if request.node.get_closest_marker("durable") is None:  # nobody pulls the plug
        monkeypatch.setattr(files, "SYNCHRONOUS", "OFF")
        monkeypatch.setattr(os, "fsync", lambda _: None)
    before = dict(sys.modules)
    if request.node.get_closest_marker("fresh") is None:
        keep_rulesets(monkeypatch)
    yield
    if sys.modules == before:  # which is by far the quickest to see
        return
    for name, module in list(sys.modules.items()):
        if before.get(name) is not module and str(getattr(module, "__file__", "") or "").startswith(no_settings):
            del sys.modules[name]


@pytest.fixture
def few_processes(exhaustive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `rpgres plugin check` start one process, and not six: tests/conformance proves what the others find."""
    if not exhaustive:
        monkeypatch.setattr("rpgres.conformance.subprocess.HASH_SEEDS", ("1",))
        monkeypatch.setattr("rpgres.conformance.subprocess.MORE_HASH_SEEDS", ())


# Packages of their own, with their own tests, which run where they are installed.
collect_ignore = ["packages"]
