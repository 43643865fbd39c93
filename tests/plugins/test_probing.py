"""A plugin that ends the process, or never comes back, is named by whatever lists plugins, and the rest is listed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rpgres.plugins import entries, probing
from tests.support.command_line import CHECKING, PROGRAM, rpgres

CODE = """
from rpgres import Ruleset, hookimpl
{at_import}
from pathlib import Path
tidy = Ruleset("{name}", data=Path(__file__).parent / "{name}")

@tidy.action("try")
def try_(table, actor):
    return table.settle("try", None)

@hookimpl
def rpgres_rulesets():
    {at_yield}
    yield tidy
"""
DATA = """
title = "Tidy"
summary = "It does nothing much."
version = "1"
[bands.done]
title = "Done"
unopposed = true
[actions.try]
summary = "Try."
tables = ["try"]
[outcomes.try.done]
text = "Done."
"""


def install(site: Path, name: str, *, at_import: str = "", at_yield: str = "pass") -> None:
    """Put a plugin on the path of modules, as pip would."""
    (site / f"rpgres_{name}.py").write_text(CODE.format(name=name, at_import=at_import, at_yield=at_yield), "utf-8")
    (site / name).mkdir()
    (site / name / "ruleset.toml").write_text(DATA, "utf-8")
    info = site / f"rpgres_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rpgres-{name}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[rpgres]\n{name} = rpgres_{name}\n", "utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the path of modules, with two good plugins around those of a test."""
    folder = tmp_path / "site"
    folder.mkdir()
    install(folder, "aright")
    install(folder, "zright")
    monkeypatch.syspath_prepend(str(folder))
    kept = dict(entries.ENDED)
    entries.ENDED.clear()
    yield folder
    entries.ENDED.clear()
    entries.ENDED.update(kept)


def said(site: Path, *args: str) -> tuple[int, str, str]:
    """Return what a command of its own process says, which a plugin may well end."""
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "80"}
    done = subprocess.run(
        [*(CHECKING if "check" in args else PROGRAM), *args],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_plugins_that_end_the_process_are_named(site: Path) -> None:
    install(site, "leaves", at_import="import os; os._exit(0)")
    install(site, "quits", at_import="import sys; sys.exit(4)")
    install(site, "yields", at_yield="import os; os._exit(7)")
    install(site, "dies", at_import="import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    code, out, err = said(site, "plugin", "list", "--json")
    assert (code, err) == (0, "")
    found = {plugin["id"]: plugin for plugin in json.loads(out)["plugins"]}
    assert all(found[name]["ok"] for name in ("aright", "zright", "fate"))
    for name, told in (("leaves", "exit code 0"), ("yields", "exit code 7"), ("dies", ""), ("quits", "SystemExit: 4")):
        assert not found[name]["ok"]
        assert f"rpgres-{name}" in found[name]["problem"]
        assert told in found[name]["problem"]
        does = "tried to" if name == "quits" else "terminated the importing process"
        assert does in found[name]["problem"]
    if sys.platform != "win32":
        assert "SIGTERM" in found["dies"]["problem"]
    code, out, _ = said(site, "ruleset", "list")
    assert code == 0
    assert "rpgres-leaves 1.0 cannot be used" in " ".join(out.split())
    assert "aright" in out
    assert "two-dice" in out
    code, out, _ = said(site, "deck", "list")
    assert (code, "leaves" in out, "faith" in out) == (0, True, True)


@pytest.mark.slow
def test_modules_in_the_current_folder_do_not_count(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "leaves", at_import="import os; os._exit(0)")
    monkeypatch.chdir(site.parent)
    for name in ("json", "msgspec", "typing", "rpgres"):
        Path(f"{name}.py").write_text("raise SystemExit('shadowed')\n", "utf-8")
    found = {plugin["id"]: plugin for plugin in json.loads(rpgres("plugin", "list", "--json").out)["plugins"]}
    assert "terminated the importing process" in found["leaves"]["problem"]
    assert found["aright"]["ok"]


@pytest.mark.slow
def test_a_plugin_that_waits_for_ever_is_named(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "waits", at_import="while True: pass")
    install(site, "waitsmore", at_yield="while True: pass")
    monkeypatch.setattr(probing, "SECONDS", 2.0)
    found = {plugin["id"]: plugin for plugin in json.loads(rpgres("plugin", "list", "--json").out)["plugins"]}
    assert all("took longer than 2 s" in found[name]["problem"] for name in ("waits", "waitsmore"))
    assert found["aright"]["ok"]


@pytest.mark.slow
def test_no_process_is_started_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_args: object, **_options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", start)
    assert rpgres("plugin", "list").code == 0
    assert rpgres("ruleset", "list").code == 0


def test_using_a_ruleset_starts_no_process_either(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    assert rpgres("roll", "aright", "try").code == 0
    assert rpgres("roll", "--help").code == 0


@pytest.mark.slow
def test_a_check_without_a_name_shows_on_a_terminal_what_it_does(site: Path) -> None:
    pty = pytest.importorskip("pty")
    install(site, "slow", at_import="import os, time; time.sleep(float(os.environ.get('IMPORTING', 0)))")
    master, slave = pty.openpty()
    early = "from rpgres.cli import progress; progress.LATE = 0.1\n"  # not half a second before anything is shown
    command = [*CHECKING[:-1], early + CHECKING[-1], "plugin", "check", "slow"]
    environment = {**os.environ, "PYTHONPATH": str(site), "TERM": "xterm", "IMPORTING": "0.6"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=environment) as process:
        os.close(slave)
        assert process.stdout is not None
        out = process.stdout.read().decode()
        shown = os.read(master, 65536).decode()
    os.close(master)
    assert "loading slow ..." in shown  # while it is
    assert "checking slow: " in shown
    assert shown.endswith("\r\x1b[K")
    assert "checking" not in out
    assert "\x1b" not in out
    piped = said(site, "plugin", "check", "slow")
    assert piped[2] == ""
