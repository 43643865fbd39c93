"""`rpgres.testing`: what an author's tests get, run as an author would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpgres.conformance import CHECKS
from tests.support import pebble
from tests.support.command_line import FEW_PROCESSES

CONTRACT = """
from rpgres.testing import contract_tests

test_contract = contract_tests({ruleset})
"""

COMMANDS = """
import os
from pathlib import Path


def test_a_roll(command_line, tmp_path):
    assert Path.cwd() == tmp_path
    done = command_line("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--seed", "7")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Overcome: Succeed\\n")
    assert "house rules" not in done.out
    assert command_line("roll", "-", stdin="4dF\\n").code == 0


def test_a_fault(command_line):
    done = command_line("roll", "fate", "overcome")
    assert (done.code, done.out) == (2, "")
    assert "needs --skill" in done.err


def test_changes_to_the_environment(command_line):
    assert "RPGRES_DISABLE" not in os.environ
    os.environ["STRANGE"] = "1"
    os.environ["COLUMNS"] = "7"
    del os.environ["NO_COLOR"]
    os.environ["RPGRES_RULESETS"] = "nowhere"


def test_are_undone():
    assert "STRANGE" not in os.environ
    assert os.environ["COLUMNS"] == "33"
    assert os.environ["RPGRES_RULESETS"] == "rules"
    assert os.environ["RPGRES_DISABLE"] == "fate"
"""


ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def author(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in an author's folder, with nothing of this project's settings, and none of the plugins it uses."""
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site"), "COLUMNS": "33", **ALONE, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


@pytest.mark.slow
def test_the_contract_is_a_case_for_each_check(site: Path) -> None:
    pebble.install(site)
    (site.parent / "conftest.py").write_text(FEW_PROCESSES, "utf-8")
    (site.parent / "test_it.py").write_text(CONTRACT.format(ruleset="'pebble'"), "utf-8")
    done = author(site.parent, "-v")
    assert done.returncode == 0, done.stdout
    for check in CHECKS:
        assert f"test_it.py::test_contract[{check.name}] PASSED" in done.stdout
    assert f"{len(CHECKS)} passed" in done.stdout


@pytest.mark.slow
def test_a_case_that_fails_tells_the_problem_and_no_traceback(site: Path) -> None:
    pebble.install(site, [("ruleset.toml", 'help = "how good the arm is"', 'help = ""')])
    (site.parent / "test_it.py").write_text(CONTRACT.format(ruleset="'pebble'"), "utf-8")
    done = author(site.parent, "-k", "data or texts")
    assert done.returncode == 1
    assert "parameters.skill.help is empty; describe it in one line" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "run_check" not in done.stdout


@pytest.mark.slow
def test_a_record_is_put_to_the_contract_too(site: Path) -> None:
    pebble.install(site)
    text = "from rpgres_pebble import pebble" + CONTRACT.format(ruleset="pebble")
    (site.parent / "test_it.py").write_text(text, "utf-8")
    done = author(site.parent, "-k", "data or ends")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.slow
def test_a_ruleset_that_is_not_there_fails_with_what_roll_would_say(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(CONTRACT.format(ruleset="'pebbel'"), "utf-8")
    done = author(tmp_path, "-k", "data")
    assert done.returncode == 1
    assert "there is no ruleset 'pebbel'" in done.stdout


@pytest.mark.slow
def test_command_lines_run_with_nobodys_settings(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["rpgres.testing"]\n', "utf-8")
    (tmp_path / "test_it.py").write_text(COMMANDS, "utf-8")
    overlay = tmp_path / "settings" / "rpgres" / "rulesets" / "fate"
    overlay.mkdir(parents=True)
    (overlay / "ruleset.toml").write_text('dice = "3dF"\n', "utf-8")
    settings = {"XDG_CONFIG_HOME": str(tmp_path / "settings"), "RPGRES_RULESETS": "rules", "RPGRES_DISABLE": "fate"}
    done = author(tmp_path, **settings)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_pytest_does_not_load_it_by_itself(tmp_path: Path) -> None:
    text = (
        "import sys\n\n\ndef test_it():\n    assert not [name for name in sys.modules if name.startswith('rpgres')]\n"
    )
    (tmp_path / "test_it.py").write_text(text, "utf-8")
    assert author(tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="").returncode == 0
