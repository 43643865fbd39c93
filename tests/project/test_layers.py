"""The floors of the house: who may import whom. The contracts stand in pyproject.toml."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

PACKAGES = {"rpgres": ROOT / "rpgres"} | {path.name: path for path in (ROOT / "plugins").glob("rpgres_*")}


def contracts() -> dict[str, dict[str, object]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    return {contract["id"]: contract for contract in settings["contracts"]}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts on the packages that lie in a folder."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def copied(folder: Path) -> Path:
    for name, package in PACKAGES.items():
        shutil.copytree(package, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.slow
def test_contracts_are_kept_and_plugins_may_use_the_face_and_the_kits(tmp_path: Path) -> None:
    add(copied(tmp_path), "rpgres_fate/rules.py", "from rpgres import Table\nfrom rpgres.kits import aspects")
    add(tmp_path, "rpgres_fate/rules.py", "import rpgres.kits.harm")
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Contracts: {len(contracts())} kept, 0 broken." in done.stdout


def add(folder: Path, module: str, text: str) -> None:
    """Add lines to the end of a module, which may be new."""
    path = folder / module
    path.write_text((path.read_text("utf-8") if path.exists() else "") + f"\n{text}\n", "utf-8")


# Each: the contract that is broken, the module, the lines that are added to it, and what is told of them.
BROKEN = [
    ("floors", "rpgres/dice/seeds.py", "import rpgres.engine.table", "rpgres.dice.seeds -> rpgres.engine.table"),
    ("floors", "rpgres/errors.py", "import rpgres.version", "rpgres.errors -> rpgres.version"),
    (
        "floors",
        "rpgres/odds/exact.py",
        "def late():\n    from rpgres.render import words",
        "rpgres.odds.exact -> rpgres.render.words",
    ),
    (
        "commands",
        "rpgres/cli/commands/sheet.py",
        "from rpgres.cli.commands import ruleset",
        "rpgres.cli.commands.sheet -> rpgres.cli.commands.ruleset",
    ),
    (
        "face",
        "rpgres_fate/rules.py",
        "from rpgres.engine.run import play",
        "rpgres_fate.rules -> rpgres.engine.run",
    ),
    ("face", "rpgres_fate/__init__.py", "import rpgres.odds.exact", "rpgres_fate -> rpgres.odds.exact"),
    ("plugins", "rpgres/plugins/discovery.py", "import rpgres_fate", "rpgres.plugins.discovery -> rpgres_fate"),
    (
        "journal",
        "rpgres/journal/store.py",
        "from rpgres.journal import commands",
        "rpgres.journal.store -> rpgres.journal.commands",
    ),
    ("database", "rpgres/model/serialization.py", "import sqlite3", "rpgres.model.serialization -> sqlite3"),
]


@pytest.mark.slow
def test_contracts_break(tmp_path: Path) -> None:
    """All at once, each told by the import that breaks it."""
    copied(tmp_path)
    for _, module, text, _ in BROKEN:
        add(tmp_path, module, text)
    done = lint(tmp_path)
    assert done.returncode != 0
    for contract, _, _, told in BROKEN:
        assert f"{contracts()[contract]['name']} BROKEN" in done.stdout, done.stdout + done.stderr
        assert told in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "module", "added"),
    [
        ("floors", "rpgres/newcomer.py", ""),  # a module without a floor
        *(pytest.param(*broken[:3], marks=pytest.mark.exhaustive) for broken in BROKEN),
    ],
)
def test_one_import_alone_breaks_a_contract(tmp_path: Path, contract: str, module: str, added: str) -> None:
    add(copied(tmp_path), module, added)
    done = lint(tmp_path)
    assert done.returncode != 0
    assert f"{contracts()[contract]['name']} BROKEN" in done.stdout, done.stdout + done.stderr


def test_every_package_and_command_is_in_the_contracts() -> None:
    from rpgres.cli.root import COMMANDS

    packages = {path.name for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").exists()}
    assert packages | {"rpgres"} == set(PACKAGES)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    assert set(settings["root_packages"]) == set(PACKAGES)
    assert set(contracts()["face"]["source_modules"]) == packages
    assert set(contracts()["plugins"]["forbidden_modules"]) == packages
    modules = set(COMMANDS)
    files = [path.relative_to(ROOT / "rpgres/cli/commands") for path in (ROOT / "rpgres/cli/commands").rglob("*.py")]
    there = modules & {file.parts[0].removesuffix(".py") for file in files}
    assert set(contracts()["commands"]["modules"]) == {f"rpgres.cli.commands.{name}" for name in there}


def test_the_map_of_the_house_has_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    told = {line.split("`")[1].split("/")[0] for line in text.splitlines() if line.startswith("| `") and "/` |" in line}
    there = {path.parent.name for path in (ROOT / "rpgres").glob("*/__init__.py")}
    assert told == there


def test_the_map_of_the_house_names_what_is_there() -> None:
    """Modules by their path below `rpgres/` or the root, and after a colon something that is defined there."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## The map")[2].partition("## Recipes")[0]
    found = re.findall(r"`([\w/-]+\.py|[\w/-]+/[\w-]+\.toml)(?:: (\w+))?`", text)
    assert len(found) > 40
    for path, name in found:
        if "ID/" in path:
            continue
        file = next((one for one in (ROOT / "rpgres" / path, ROOT / path) if one.is_file()), None)
        assert file is not None, path
        assert re.search(rf"\b{name}\b", file.read_text("utf-8")), (path, name)


@pytest.mark.slow
def test_messages_of_errors_name_options_for_every_reader() -> None:
    """As `--vs` on a command line and `vs` elsewhere, by `named`; between backticks stands a line as it is typed."""
    written = re.compile(r"(?<![\w-])--[a-z]")
    found = []
    code = {path: path.read_text("utf-8") for path in sorted((ROOT / "rpgres").rglob("*.py"))}
    for path in filter(lambda one: written.search(code[one]), code):
        for node in ast.walk(ast.parse(code[path])):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name.endswith("Error") and node.args:
                texts = (one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant))
                message = "".join(text for text in texts if isinstance(text, str))
                if any(written.search(part) for part in message.split("`")[::2]):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {message}")
    assert not found
