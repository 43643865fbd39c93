"""What a stranger gets: the wheel's contents, and a bare installation that works outside the checkout."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from rpgres.cli.help import guide
from tests.support.checkout import ROOT
from tests.support.command_line import FEW_PROCESSES
from tests.support.installed import bare_environment, build, environment, install, tools_environment, wheel_of_rpgres
from tests.support.packages import quiet

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of_rpgres(tmp_path_factory)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_environment(tmp_path_factory)


def test_the_wheel_holds_code_plugins_rulesets_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("rpgres/__init__.py", "rpgres/py.typed", "rpgres_fate/__init__.py", "rpgres_fate/py.typed"):
        assert name in names
    ours = {path.relative_to(ROOT / "rulesets").as_posix() for path in (ROOT / "rulesets").rglob("*.toml")}
    assert ours
    assert {f"rpgres/data/{name}" for name in ours} <= names
    assert not [name for name in names if name.startswith(("tests/", "plugins/", "rulesets/"))]
    template = {path.relative_to(ROOT).as_posix() for path in (ROOT / "rpgres" / "plugins" / "template").rglob("*.txt")}
    assert template
    assert template <= names
    assert {f"rpgres/schemas/{kind}.json" for kind in ("ruleset", "outcomes", "deck", "scene", "config")} <= names
    pages = [path for path in (ROOT / "rpgres" / "guide").iterdir() if path.is_file()]
    assert {path.relative_to(ROOT).as_posix() for path in pages} <= names
    shared = {name.partition(".data/data/")[2] for name in names} - {""}
    assert shared == {f"share/man/man1/{path.name}" for path in (ROOT / "rpgres" / "guide" / "man").iterdir()}
    assert "share/man/man1/rpgres.1" in shared
    assert {f"rpgres/guide/{topic}.md" for topic in guide.TOPICS} <= names
    entry_points = next(name for name in names if name.endswith("entry_points.txt"))
    assert "fate = rpgres_fate" in zipfile.ZipFile(wheel).read(entry_points).decode()


def test_the_description_leads_nowhere_but_to_the_web(wheel: Path) -> None:
    """A package index shows it without the files of the repository."""
    archive = zipfile.ZipFile(wheel)
    metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    head, _, text = archive.read(metadata).decode().partition("\n\n")
    assert "\nDescription-Content-Type: text/markdown" in head
    assert text.startswith("# rpgres\n")
    assert "`rpgres help game-master`" in text
    assert not re.findall(r"\]\((?!https://)", text)
    assert "![" not in text
    server = json.loads((ROOT / "rpgres" / "cli" / "mcp" / "server.json").read_text("utf-8"))
    assert f"mcp-name: {server['name']} " in text  # by which the registry knows whose package it is


def test_a_bare_installation_does_the_main_jobs_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    rpgres = installed / "rpgres"
    rolled = quiet(rpgres, "roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--seed", "7", cwd=tmp_path)
    assert rolled.startswith("Overcome: Succeed\n")
    as_module = quiet(
        installed / "python",
        "-m",
        "rpgres",
        "roll",
        "fate",
        "overcome",
        "--skill",
        "3",
        "--vs",
        "2",
        "--seed",
        "7",
        cwd=tmp_path,
    )
    assert as_module == rolled
    odds = json.loads(quiet(rpgres, "odds", "fate", "attack", "--skill", "4", "--vs", "4dF+2", "--json", cwd=tmp_path))
    assert odds["outcomes"]["style"]["exact"] == "101/243"  # 2727 of 6561
    assert "# How to write a ruleset\n" in quiet(rpgres, "help", "plugins", cwd=tmp_path)
    assert ": ok (" in quiet(rpgres, "scene", "test", "fate/bribe", cwd=tmp_path)
    assert re.match(r"rpgres \d+\.\d+\.\d+\n", quiet(rpgres, "--version", cwd=tmp_path))
    assert "fate" in quiet(rpgres, "plugin", "list", cwd=tmp_path)
    library = "import rpgres; print(rpgres.resolve('fate', 'overcome', skill=3, vs=2, seed='7').outcome)"
    assert quiet(installed / "python", "-c", library, cwd=tmp_path) == "succeed\n"
    assert list(tmp_path.iterdir()) == []  # nothing was left behind


def test_the_seed_gives_the_same_run_whatever_python_hashes(installed: Path, tmp_path: Path) -> None:
    shown = {
        quiet(
            *(installed / "rpgres", "roll", "fate", "attack", "--sheet", "mara.toml", "--skill", "fight"),
            *("--vs", "guards.toml:fight", "--seed", "7", "--auto", "--json"),
            cwd=tmp_path,
            PYTHONHASHSEED=seed,
        )
        for seed in ("0", "1", "2")
    }
    assert len(shown) == 1


@pytest.mark.parametrize("is_isolated", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_a_new_plugin_works_at_once(
    is_isolated: bool, installed: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What `plugin new` says to type, typed, in an environment that no other test looks at.

    Where it is not isolated, what builds the plugin is already there, and so is what builds rpgres, by the same
    backend (`wheel_of_rpgres`).
    """
    tools = tools_environment(tmp_path_factory)
    python = environment(tmp_path, installed, tools)
    rpgres = python.parent / "rpgres"
    quiet(rpgres, "plugin", "new", "tide-pool", cwd=tmp_path)
    folder = tmp_path / "rpgres-tide-pool"
    [built] = build(tools / "python", folder, into=tmp_path / "wheels")
    names = set(zipfile.ZipFile(built).namelist())
    source = folder / "src"
    assert {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()} <= names
    install(python, *([] if is_isolated else ["--no-build-isolation"]), "--editable", f"{folder}[test]")
    rolled = quiet(rpgres, "roll", "tide-pool", "attempt", "--skill", "2", "--vs", "9", "--auto", cwd=tmp_path)
    assert rolled.startswith("Attempt: ")
    assert re.search("^tide-pool +ok ", quiet(rpgres, "plugin", "list", "--check", cwd=tmp_path), re.MULTILINE)
    (folder / "conftest.py").write_text(FEW_PROCESSES, "utf-8")
    assert " passed" in quiet(python, "-m", "pytest", cwd=folder)  # every check among them
